"""Answer of an explorer: a sentence, numbers with badges, tables, figures.

Everything here turns into plain data (`Result.to_dict`) that means the same in
a worker of the browser, in JupyterLab and on the command line. Figures are
plain Plotly dicts: the plotly package is not needed to make one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeVar

from hopperkit.frames import TableMixin, column_name, to_frame
from hopperlib.finding import Finding

# Parts of a result that are tuples, in no order.
_PARTS = ("findings", "values", "drawings", "figures", "copyables", "listings", "tables", "downloads")
FIGURE_MIME_TYPE = "application/vnd.hopper.figure+json"

Badge = Literal["documented", "assumed", "calibrated", "predicted"]

BADGES: dict[str, str] = {
    "documented": "printed in a named source, or exact arithmetic on printed numbers",
    "assumed": "not in any source: our assumption, and a control where it matters",
    "calibrated": "a parameter was fitted so that the model gives this number",
    "predicted": "the model gives this number without having been fitted to it",
}


def format_number(value: Any, decimals: int | None = None) -> str:
    """Return a cell as text, with thousands separators and fixed decimals.

    Numbers are written here, not in the browser: JavaScript would print 5.0
    as 5, and locales would differ.

    Examples
    --------
    >>> format_number(153216), format_number(2.583333, 2), format_number(None), format_number(-0.001, 1)
    ('153,216', '2.58', '-', '0.0')
    """
    if value is None:
        return "-"
    # Before int, the base class of bool.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        # "z": no minus sign on what rounds to nothing; it would depend on the last bit.
        return f"{value:z,.{decimals}f}" if decimals is not None else f"{value:z,.6g}"
    return str(value)


class Comparable:
    """Base of the parts of an answer: objects of one class with the same content are equal.

    Written out, as a comparison made by `dataclass` for each class would cost every command some milliseconds.
    """

    __slots__ = ()

    @property
    def _content(self) -> tuple[str, ...]:
        """Names of the compared attributes."""
        return tuple(field.name for field in fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._content)

    # By address, as before: content may hold lists, and nobody looks an answer up by its content.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Value(Comparable):
    """One number the model gives, with its badge.

    Parameters
    ----------
    label : str
        Name of the number.
    value : float, int, str or None
        The number.
    badge : {"documented", "assumed", "calibrated", "predicted"} or None
        Its origin (`BADGES`); None for a word that makes no claim about a machine.
    unit : str
        Unit; empty for counts and ratios.
    decimals : int or None
        Decimals shown.
    low, high : float or None
        Range, where one exists.
    note : str
        Source, or why it is assumed.

    Examples
    --------
    >>> Value(label="Slowdown", value=1.2, badge="predicted", decimals=2, low=1.0, high=1.41).text
    '1.00 to 1.41'
    >>> Value(label="Slowdown", value=1.0, badge="predicted", decimals=2, low=1.0, high=1.0).text
    '1.00'
    """

    label: str
    value: Any
    badge: Badge | None
    unit: str = ""
    decimals: int | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.badge is not None and self.badge not in BADGES:
            raise ValueError(f"badge={self.badge!r} must be one of: {', '.join(BADGES)}")

    @property
    def text(self) -> str:
        """The number as text; the range where there is one, unless both ends are printed alike."""
        if self.low is not None and self.high is not None:
            low, high = (format_number(end, self.decimals) for end in (self.low, self.high))
            return low if low == high else f"{low} to {high}"
        return format_number(self.value, self.decimals)

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain data, its text made."""
        names = ("label", "text", "unit", "badge", "note", "value", "low", "high")
        return {name: getattr(self, name) for name in names}


class Column(NamedTuple):
    """One column of a table: its title, unit, decimals and badge."""

    title: str
    unit: str = ""
    decimals: int | None = None
    badge: Badge | None = None

    @property
    def heading(self) -> str:
        """Title with the unit in brackets."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(Comparable, TableMixin):
    """A table: caption, columns, rows of plain values.

    Parameters
    ----------
    caption : str
        Description of the table.
    columns : tuple of Column
    rows : sequence of sequences
        One value a column; numbers stay numbers, None is "-".
    marked : tuple of int
        Indices of rows to highlight (the cheapest, the best).
    marked_label : str
        Meaning of the mark, in words, as color alone is insufficient.
    folded : str
        The line shown for a collapsed table; empty if it is not collapsed.

    Examples
    --------
    >>> table = Table(caption="Nodes", columns=(Column(title="Node"), Column(title="Memory", unit="GB", decimals=1)),
    ...               rows=((0, 31.0),))
    >>> table.to_dict()["rows"]
    [['0', '31.0']]
    >>> print(table.to_csv(), end="")
    Node,Memory [GB]
    0,31.0
    """

    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    marked: tuple[int, ...] = ()
    marked_label: str = ""
    folded: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {number} of table {self.caption!r} has {len(row)} cells for {len(self.columns)} columns"
                )

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds a number."""
        return [any(isinstance(row[i], (int, float)) for row in self.rows) for i in range(len(self.columns))]

    def as_text(self, rows: int | None = None) -> list[list[str]]:
        """Return the cells as text, of all rows or of the first few."""
        return [
            [format_number(cell, column.decimals) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows[:rows]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data, its cells as text."""
        named = {name: getattr(self, name) for name in ("caption", "numeric", "marked_label", "folded")}
        columns = [{"heading": column.heading, "badge": column.badge} for column in self.columns]
        return named | {"columns": columns, "rows": self.as_text(), "marked": list(self.marked), "csv": self.to_csv()}

    def frame_data(self) -> dict[str, list[Any]]:
        """Return the columns, named by title and unit; a name that comes again gets a number."""
        columns: dict[str, list[Any]] = {}
        for place, column in enumerate(self.columns):
            name = column_name(column.title, column.unit)
            columns[f"{name}_{place}" if name in columns else name] = [row[place] for row in self.rows]
        return columns

    def to_csv(self) -> str:
        """Return the table as CSV with full precision."""
        import csv
        import io

        from hopperkit.readers.ior.results import csv_cell

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.heading for column in self.columns])
        writer.writerows([["" if cell is None else csv_cell(cell) for cell in row] for row in self.rows])
        return out.getvalue()


T = TypeVar("T")


def table(
    caption: str,
    items: Sequence[T],
    columns: Mapping[str | Column, Callable[[T], Any]],
    *,
    marked: tuple[int, ...] = (),
    marked_label: str = "",
    folded: str = "",
) -> Table:
    """Return a table with one row per item; columns are paired with functions of an item.

    Parameters
    ----------
    caption : str
    items : sequence
    columns : mapping
        A title, or a `Column`, -> the cell for an item.
    marked, marked_label, folded : tuple of int, str, str
        As of `Table`.

    Examples
    --------
    >>> table("Powers", [2, 3], {"Number": lambda base: base, Column("Square", "m"): lambda base: base**2}).rows
    [(2, 4), (3, 9)]
    """
    heads = tuple(Column(column) if isinstance(column, str) else column for column in columns)
    rows = [tuple(cell(item) for cell in columns.values()) for item in items]
    return Table(caption=caption, columns=heads, rows=rows, marked=marked, marked_label=marked_label, folded=folded)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Figure(Comparable, TableMixin):
    """A chart: a plain Plotly dict, its description, and its data.

    Parameters
    ----------
    title : str
    alt : str
        Description for a reader who cannot see the chart: axes, trend, the relevant numbers.
    data : list of dict
        Plotly traces.
    layout : dict
        Plotly layout; `hopperkit.questions.figures` adds the house's look.
    table : Table
        The numbers that are drawn.
    """

    title: str
    alt: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    table: Table

    def __post_init__(self) -> None:
        if len(self.alt) < 20:
            raise ValueError(f"figure {self.title!r} needs alt text that says what it shows")

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        # Programs may read which part of plotly.js draws it; all charts have two axes.
        named = {"title": self.title, "alt": self.alt, "bundle": "cartesian"}
        return named | {"figure": {"data": self.data, "layout": self.layout}, "table": self.table.to_dict()}

    def frame_data(self) -> Any:
        """Return the columns of the plotted data."""
        return self.table.frame_data()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the data that the book draws."""
        return {FIGURE_MIME_TYPE: self.to_dict(), "text/plain": self.alt}

    def to_plotly(self) -> Any:
        """Return the chart as a ``plotly.graph_objects.Figure`` for further work."""
        from plotly import graph_objects

        title = {"title": {"text": self.title}, "margin": {"t": 64}}
        return graph_objects.Figure({"data": self.data, "layout": self.layout | title})


class Drawing(Comparable):
    """A drawing as SVG text, with its description and, where characters can draw it, as plain text.

    The SVG is text, or a function that makes it on demand: a terminal never does. Its colors are classes in the page's
    style sheet, so that it adapts to light and dark. It must carry ``role="img"`` and a ``<title>``.
    """

    _content = ("title", "alt", "text", "svg")

    def __init__(self, *, title: str, alt: str, svg: str | Callable[[], str], text: str = "") -> None:
        self.title, self.alt, self.text = title, alt, text
        self._svg = svg

    @property
    def svg(self) -> str:
        """The drawing itself."""
        self._svg = self._svg if isinstance(self._svg, str) else self._svg()
        if not self._svg.startswith("<svg") or "<title" not in self._svg:
            raise ValueError(f"drawing {self.title!r} must be an <svg> with a <title>")
        return self._svg

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy: the drawing as text."""
        return vars(self) | {"_svg": self.svg}

    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as plain data."""
        return {"title": self.title, "alt": self.alt, "svg": self.svg}


class Snippet(NamedTuple):
    """A command or a piece of text that a reader will want to copy.

    Parameters
    ----------
    title, text, note : str
    before : str
        The reader's text that this one takes the place of: what changed is then shown, and the whole is copied.
    """

    title: str
    text: str
    note: str = ""
    before: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self._asdict()


class Download(Comparable):
    """A file that the reader can save; its text may be a function that makes it on demand."""

    _content = ("name", "media_type", "text")

    def __init__(self, name: str, text: str | Callable[[], str], media_type: str = "text/plain") -> None:
        self.name, self.media_type = name, media_type
        self._text = text

    @property
    def text(self) -> str:
        """Contents of the file."""
        return self._text if isinstance(self._text, str) else self._text()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy: the content as text."""
        return vars(self) | {"_text": self.text}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "text": self.text, "media_type": self.media_type}


class ListingLine(NamedTuple):
    """One numbered line of a text, marked or not (`mark` is a word, such as "cause")."""

    number: int
    text: str
    mark: str = ""


class Listing(NamedTuple):
    """Numbered lines of a text the reader gave, some of them marked."""

    title: str
    lines: tuple[ListingLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"title": self.title, "lines": [[line.number, line.text, line.mark] for line in self.lines]}


class Facts(Mapping[str, Any]):
    """Named values of an answer for programs; large ones are computed on demand.

    Parameters
    ----------
    named : mapping
        Small values: a page gets them with every answer, for its self-checks.
    rest : callable
        Returns additional values; the command prints them, Python looks them up.

    Examples
    --------
    >>> facts = Facts({"nodes": 2}, rest=lambda: {"tasks": [0, 1]})
    >>> facts["nodes"], facts["tasks"], len(facts), list(facts.named)
    (2, [0, 1], 2, ['nodes'])
    """

    def __init__(self, named: Mapping[str, Any], rest: Callable[[], Mapping[str, Any]] = dict) -> None:
        self.named = named
        self._rest = rest
        self._all: dict[str, Any] | None = None

    def _made(self) -> dict[str, Any]:
        """Return all values, those of `rest` last; their keys are stable."""
        if self._all is None:
            self._all = {**self.named, **self._rest()}
        return self._all

    def __getitem__(self, name: str) -> Any:
        """Return a value; the large ones are computed only if it is not among the others."""
        return self.named[name] if name in self.named else self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy: all values, computed."""
        return {"named": dict(self.named), "_rest": dict, "_all": self._made()}

    def __repr__(self) -> str:
        return f"Facts({dict(self.named)!r})"


def _is_table(rows: Any) -> bool:
    """Whether a fact is a list of records."""
    return isinstance(rows, list | tuple) and bool(rows) and isinstance(rows[0], Mapping)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Result(Comparable):
    """The whole answer of a question, in the order in which it is shown.

    Parameters
    ----------
    summary : str
        One sentence that answers the question; read out by screen readers
        after every change.
    findings, values, drawings, figures, copyables, listings, tables, downloads : tuples
        The next question.
    facts : mapping
        Named values for programs and for self-checks ("make the explorer reach X"); not displayed. `Facts` where some
        are large.
    watched : callable or None
        Makes the machine that it is about, for a page that shows it: an object with the methods of
        `hopperkit.questions.network.recording.Recorder`. No part of `to_dict`.

    Examples
    --------
    >>> Result(summary="6 tasks on each of NUMA nodes 0 and 1.").to_dict()["summary"]
    '6 tasks on each of NUMA nodes 0 and 1.'
    """

    summary: str
    findings: tuple[Finding, ...] = ()
    values: tuple[Value, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    figures: tuple[Figure, ...] = ()
    copyables: tuple[Snippet, ...] = ()
    listings: tuple[Listing, ...] = ()
    tables: tuple[Table, ...] = ()
    downloads: tuple[Download, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    watched: Callable[[], Any] | None = None

    @property
    def _content(self) -> tuple[str, ...]:
        return ("summary", *_PARTS, "facts")

    def to_frame(self, name: str = "") -> Any:
        """Return a table of the answer as a DataFrame.

        Parameters
        ----------
        name : str
            A list among the `facts`, or the beginning of a table's caption. Empty uses the longest of the lists and the
            first table; without a table, the data of the first chart; without either, the values.

        Raises
        ------
        KeyError
            If there is none of that name.

        Examples
        --------
        >>> from hopperkit.questions.question import load
        >>> frame = load("memory").run(need_gb=2.0, tasks=384).to_frame()
        >>> frame["cost_factor"].dtype, frame.loc[0, "nodes"].item()
        (dtype('float64'), 26)
        """
        tables: dict[str, Any] = {table.caption: table for table in self.tables}
        lists = {key: rows for key, rows in self.facts.items() if _is_table(rows)}
        if name:
            named = lists.get(name) or next((tables[caption] for caption in tables if caption.startswith(name)), None)
            if named is None:
                raise KeyError(f"there is no table {name!r}; there are: {', '.join([*lists, *tables])}")
            return to_frame(named)
        shown: list[Any] = [*self.tables[:1]] or [figure.table for figure in self.figures[:1]]
        candidates = [*lists.values(), *shown] or [self.values]
        return to_frame(max(candidates, key=lambda table: len(table.rows if isinstance(table, Table) else table)))

    def __repr__(self) -> str:
        return f"Result({self.summary!r})"

    def __getstate__(self) -> list[Any]:
        """Return the state for pickle and copy: all but the function for the page's machine, which holds a running
        program.
        """
        return [None if name == "watched" else getattr(self, name) for name in (field.name for field in fields(self))]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return (
            {"summary": self.summary}
            | {part: [item.to_dict() for item in getattr(self, part)] for part in _PARTS}
            | {"facts": dict(self.facts.named if isinstance(self.facts, Facts) else self.facts)}
        )


def joined(results: Sequence[Result], unread: Sequence[str] = ()) -> Result:
    """Combine several answers, and list the inputs that could not be read.

    Examples
    --------
    >>> joined([Result(summary="One."), Result(summary="Two.")], ["a.txt: is empty"]).summary
    'One. Two.'
    """
    more = tuple(Finding(code="not-read", message=f"Not read: {message}", level="unknown") for message in unread)
    # A single answer keeps its facts: lazy ones are not computed here.
    if len(results) == 1:
        return replace(results[0], findings=(*results[0].findings, *more))
    parts: dict[str, Any] = {
        part: tuple(chain.from_iterable(getattr(result, part) for result in results)) for part in _PARTS
    }
    facts = {name: value for result in results for name, value in result.facts.items()}
    parts["findings"] += more
    return Result(summary=" ".join(result.summary for result in results), **parts, facts=facts)
