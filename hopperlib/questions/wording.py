"""The words of an answer: what stands in the TOML file beside the module of a question, filled in from its case.

An answer computes a *case*: a record whose attributes are the numbers. How they are shown is data:

=====================  ==============================================================================
``[texts]``            sentences by name
``[[values]]``         numbers with label, badge, unit, decimals, note; None is left out, or a dash with ``dash``
``[findings.CODE]``    level, message, advice; those with ``when`` are found by the case itself
``[tables.NAME]``      caption, columns, folded, and rows of attributes, fixed or a name, and those marked
``[charts.NAME]``      title, alt, axes, references, marks, and series of attributes, fixed or a name
``[[copyables]]``      lines to copy: title, text, note
``[facts]``            named numbers for programs and self-checks
``[contract]``         what only programs read, with tables and lists inside: it is made when one asks
=====================  ==============================================================================

In a text, ``{best.cost_factor:.3g}`` is an attribute of the case or a word that the code adds; ``:size``,
``:n file`` and ``:.1 %`` write sizes, counted nouns and shares (`hopperlib.finding.Words` says how). ``value``,
``when``, ``unless`` and the entries of ``[facts]`` are such names without braces; a name that the case lacks is an error, never an empty text.
A name may go on with a part, ``found.rates[0]``, or with ``count``, ``several``, ``least``, ``most`` or ``mean`` of a list;
another part of a list or table is that part of each of its items, and `` %`` at the end multiplies by a hundred: ``=found.rates.share %``. A number that
is a share is shown in percent with ``factor = 100``; ``{needed:,|no number}`` has a word for None. A list is a text in
parts, of which ``{when = "lost", text = "; {lost} lost"}`` stands only where something is lost. `Said.result` is the
answer that the record states in full.

Where ``each`` names a list, an entry (a row, a number, a finding, a series, a part of a text) stands once for each of its
items, which it calls ``each``, numbered from 1 on as ``number``:
``{each = "found.rates", when = "each.limit", cells = ["{each.name}", "=each.rate"], mark = "each.short"}`` are the rows of
those with a limit, the short ones marked; ``{each = "found.short", text = "{each.name}", between = ", "}`` are their names.
In a contract ``"each.rate:6"`` is rounded to six decimals, and a table with ``when`` is null where that does not hold.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

from hopperlib.finding import Finding, Words
from hopperlib.package_data import read_beside
from hopperlib.questions.figures import Axis, Reference, Series, chart, layout
from hopperlib.questions.result import Column, Copyable, Facts, Figure, Result, Table, Value

# What says where and how often an entry stands.
_CONDITIONS = ("each", "when", "unless")
# What may be asked of a whole list.
_OF_LISTS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "count": len,
    "several": lambda items: len(items) > 1,
    "least": lambda items: min(items, default=None),
    "most": lambda items: max(items, default=None),
    "mean": lambda items: fmean(items) if items else None,
}


@cache
def record_of(module: str) -> dict[str, Any]:
    """Return the TOML file beside a module, by the module's ``__name__``.

    Examples
    --------
    >>> from hopperlib.questions.node import memory
    >>> record_of(memory.__name__)["title"]
    'Memory for each task'
    """
    return read_beside(str(sys.modules[module].__file__), f"{module.rpartition('.')[2]}.toml")


class Wording:
    """The words that stand beside one module."""

    def __init__(self, module: str):
        self._module = module

    def of(self, case: Any = None, **more: Any) -> "Said":
        """Return the words with the attributes of a case, and further ones, to fill them in."""
        return Said(record_of(self._module), case, more)


def wording(module: str) -> Wording:
    """Return the words that stand in the TOML file beside a module, which is read when they are first used.

    Parameters
    ----------
    module : str
        ``__name__`` of the module.

    Examples
    --------
    >>> from hopperlib.questions.monitoring import ssp
    >>> wording(ssp.__name__).of(total=2.5, rows=[1, 2]).text("improvement")
    'Scalable System Improvement: 2.5 times the reference machine, the geometric mean of 2 terms.'
    """
    return Wording(module)


class _Filling(Words):
    """Texts in braces, whose names are looked up in a case."""

    def __init__(self, said: "Said"):
        self._said = said

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Return what a name stands for."""
        return self._said.look_up(field_name), field_name


@cache
def _parts(path: str) -> tuple[str, tuple[str, ...], bool]:
    """Return the first name of a path, the parts after it, and whether it is shown in percent."""
    first, *parts = re.findall(r"[^.\[\]]+", path.removesuffix(" %"))
    return first, tuple(parts), path.endswith(" %")


@cache
def _is_table(kind: type) -> bool | None:
    """Whether values of a type have parts by name, True, or are lists, False; None for all others."""
    # Asked once for each type: the question takes longer than all else that a part of a cell takes.
    return True if issubclass(kind, Mapping) else False if issubclass(kind, Sequence) and kind is not str else None


def _part(value: Any, part: str) -> Any:
    """Return a part of a value; of a list an item, what may be asked of all of it, or that part of each item."""
    table = _is_table(value.__class__)
    if table:
        return value[part] if part in value else {name: _part(item, part) for name, item in value.items()}
    if table is False and part not in getattr(value, "_fields", ()):
        if part.lstrip("-").isdigit():
            return value[int(part)] if -len(value) <= int(part) < len(value) else None
        if part in _OF_LISTS:
            return _OF_LISTS[part](value)
        # A named tuple may have properties; what is asked of another list is meant of its items.
        if not hasattr(value, part):
            return [_part(item, part) for item in value]
    return None if value is None else getattr(value, part)


def _plain(value: Any) -> Any:
    """Return a value as data: records with all their parts, lists in place of tuples."""
    if hasattr(value, "to_dict") or hasattr(value, "_asdict"):
        return value.to_dict() if hasattr(value, "to_dict") else _plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


class Said:
    """The words of a case, filled in.

    Parameters
    ----------
    record : mapping
        The tables of the module docstring.
    case : object
        Its attributes fill the texts in.
    more : mapping
        Further words, before attributes of the same name.

    Examples
    --------
    >>> record = {"texts": {"size": "{nodes:n node}"}, "values": [{"label": "Nodes", "value": "nodes"}]}
    >>> said = Said(record, None, {"nodes": 2})
    >>> said.text("size"), said.values[0].text
    ('2 nodes', '2')
    """

    def __init__(self, record: Mapping[str, Any], case: Any, more: Mapping[str, Any]):
        self._record, self._case, self._more = record, case, more

    def also(self, **more: Any) -> "Said":
        """Return the same with further words."""
        # A copy, as the words of one row must not reach the next.
        return Said(self._record, self._case, {**self._more, **more})

    def __getitem__(self, name: str) -> Any:
        """A word: one that the code added, or an attribute of the case."""
        return self._more[name] if name in self._more else getattr(self._case, name)

    def look_up(self, path: str) -> Any:
        """Return what a name with dots and indices stands for; None has no parts but is None again."""
        first, parts, in_percent = _parts(path)
        value = self[first]
        for part in parts:
            value = _part(value, part)
        if not in_percent or value is None:
            return value
        return [100 * share for share in value] if isinstance(value, list) else 100 * value

    def _stated(self, entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple["Said", dict[str, Any]]]:
        """Yield the entries whose conditions hold, those with ``each`` once for each item, with the words to fill them in."""
        for entry in entries:
            left = {key: part for key, part in entry.items() if key not in _CONDITIONS}
            listed = self.look_up(entry["each"]) if "each" in entry else ()
            items = enumerate(listed.items() if isinstance(listed, Mapping) else listed, start=1)
            each = [self.also(each=item, number=number) for number, item in items] if "each" in entry else [self]
            # With a copy for each, since whoever gets it may take parts out.
            yield from ((said, dict(left)) for said in each if said._holds(entry))

    def fill(self, text: str | Sequence[Any]) -> str:
        """Return a text, or the parts of one whose conditions hold, with the braces filled in."""
        if isinstance(text, str):
            # Most texts have no braces, and to look for one costs less than to parse for them.
            return _Filling(self).vformat(text, (), {}) if "{" in text else text
        shown = ""
        for entry in ({"text": part} if isinstance(part, str) else part for part in text):
            shown += entry.get("between", "").join(said.fill(left["text"]) for said, left in self._stated([entry]))
        return shown

    def text(self, name: str, **more: Any) -> str:
        """Return the sentence of a name."""
        return self.also(**more).fill(self._record["texts"][name])

    def _holds(self, entry: Mapping[str, Any]) -> bool:
        """Whether what an entry asks for is so."""
        when, unless = entry.get("when"), entry.get("unless")
        return (when is None or bool(self.look_up(when))) and (unless is None or not self.look_up(unless))

    def _number(self, path: Any) -> Any:
        """Return what a name stands for; a number stands for itself."""
        return self.look_up(path) if isinstance(path, str) else path

    def _filled(self, entry: Mapping[str, Any], *paths: str) -> dict[str, Any]:
        """Return an entry with its texts filled in and its paths looked up, without its conditions."""
        return {
            key: self._number(part) if key in paths else self.fill(part) if isinstance(part, str | list) else part
            for key, part in entry.items()
            if key not in _CONDITIONS
        }

    @property
    def values(self) -> tuple[Value, ...]:
        """The numbers whose conditions hold and that are not None, unless those are said to be shown as a dash."""
        shown = (
            said._filled(entry, "value", "low", "high")
            for said, entry in self._stated(self._record.get("values", ()))
            if entry.pop("dash", False) or said._number(entry["value"]) is not None
        )
        return tuple(Value(**{"badge": None, **_scaled(**fields)}) for fields in shown)

    def finding(self, code: str, **more: Any) -> Finding:
        """Return the finding of a code."""
        return Finding(code=code, **self.also(**more)._filled(self._record["findings"][code]))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that state when they hold, and do."""
        stated = (
            (code, each) for code, each in self._record.get("findings", {}).items() if {"when", "each"} & each.keys()
        )
        return tuple(said.finding(code) for code, entry in stated for said, _ in self._stated([entry]))

    def _cell(self, cell: Any) -> Any:
        """Return a cell: a name after ``=`` looked up, another text filled in, a number as it is."""
        if isinstance(cell, str) and cell.startswith("="):
            return self.look_up(cell[1:])
        return self.fill(cell) if isinstance(cell, str | list) else cell

    @property
    def copyables(self) -> tuple[Copyable, ...]:
        """The lines to copy whose conditions hold."""
        stated = self._stated(self._record.get("copyables", ()))
        return tuple(Copyable(**said._filled(entry)) for said, entry in stated)

    def table(self, name: str, rows: Sequence[Sequence[Any]] | None = None, **fields: Any) -> Table:
        """Return the table of a name; without rows, those its entry states: cells are texts, numbers, or names after ``=``.

        Parameters
        ----------
        name : str
        rows : sequence of sequences or None
        **fields
            `marked`, and words for its texts.
        """
        entry = self._record["tables"][name]
        said = self.also(**fields)
        marked: Sequence[int] = fields.get("marked", ())
        if rows is None and isinstance(entry["rows"], str):
            rows = said.look_up(entry["rows"])
        elif rows is None:
            stated = list(said._stated(entry["rows"]))
            rows = [tuple(row_said._cell(cell) for cell in row["cells"]) for row_said, row in stated]
            marked = [
                at for at, (row_said, row) in enumerate(stated) if "mark" in row and row_said._number(row["mark"])
            ]
        marked = said.look_up(entry["marked"]) if "marked" in entry else marked
        columns = tuple(
            Column(said.fill(column)) if isinstance(column, str) else Column(**said._filled(column))
            for column in entry["columns"]
            if isinstance(column, str) or said._holds(column)
        )
        texts = {key: said.fill(entry[key]) for key in ("caption", "marked_label", "folded") if key in entry}
        return Table(columns=columns, rows=() if rows is None else rows, marked=tuple(marked), **texts)

    def chart(self, name: str, series: Sequence[Series] | None = None, **more: Any) -> Figure:
        """Return the chart of a name; without series, those its entry states: name, x, y, high, kind.

        Parameters
        ----------
        name : str
        series : sequence of Series or None
        **more
            Words for its texts, which may also name the ``series``.
        """
        said = self.also(**more, **({} if series is None else {"series": series}))
        entry = dict(said._record["charts"][name])
        lines = entry.pop("series", ())
        stated = (
            said.look_up(lines)
            if isinstance(lines, str)
            else [Series(**each._filled(line, "x", "y", "high")) for each, line in said._stated(lines)]
        )
        axes: dict[str, Any] = {
            side: Axis(**said._filled(entry.pop(side), "low", "high", "log", "decimals")) for side in ("x", "y")
        }
        lines = entry.pop("references", ())
        references = (
            said.look_up(lines)
            if isinstance(lines, str)
            else [Reference(each.fill(line["name"]), each._number(line["y"])) for each, line in said._stated(lines)]
        )
        marks = said._number(entry.pop("marks", {}))
        marks = {said.fill(label): said._number(path) for label, path in marks.items()}
        return chart(**axes, series=series or stated, references=references, marks=marks, **said._filled(entry))

    def heat(
        self, name: str, xs: Sequence[Any], ys: Sequence[Any], cells: Sequence[Any], rows: Sequence[Sequence[Any]]
    ) -> Figure:
        """Return the map of colors of a name, from 0 up, with the rows of the table of that name."""
        entry = self._record["charts"][name]
        x, y = (Axis(**self._filled(entry[side])) for side in ("x", "y"))
        most = max((cell for row in cells for cell in row if cell is not None), default=0) or 1
        scale = {"colorscale": "Cividis", "colorbar": {"title": {"text": self.fill(entry["scale"])}}}
        heat = {"type": "heatmap", "x": list(xs), "y": list(ys), "z": cells, "zmin": 0, "zmax": most, **scale}
        return Figure(
            title=self.fill(entry["title"]),
            alt=self.fill(entry["alt"]),
            data=[heat],
            layout=layout(x, y, height=420),
            table=self.table(name, rows),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The named numbers for programs."""
        return {name: self._data(path) for name, path in self._record.get("facts", {}).items()}

    @property
    def contract(self) -> dict[str, Any]:
        """What only programs read."""
        return {name: self._data(part) for name, part in self._record["contract"].items()}

    def _data(self, stated: Any) -> Any:
        """Return data for a program: of a name, of a table, or of a list of them."""
        if isinstance(stated, list):
            return [said._data(left) for said, left in self._stated(stated)]
        if isinstance(stated, Mapping):
            parts = {name: part for name, part in stated.items() if name != "when"}
            return {name: self._data(part) for name, part in parts.items()} if self._holds(stated) else None
        path, _, decimals = stated.partition(":")
        value = self.look_up(path)
        return round(value, int(decimals)) if decimals and value is not None else _plain(value)

    def facts_with(self, **more: Any) -> Facts:
        """Return the named numbers and further ones, with the contract where there is one."""
        # Only a program asks for the contract: a page that shows the same answer need not wait for it.
        return Facts(self.facts | more, rest=(lambda: self.contract) if "contract" in self._record else dict)

    def result(self, **parts: Any) -> Result:
        """Return the answer: what the record states in full, and the parts that the code makes.

        Parameters
        ----------
        **parts
            Fields of `Result`, which take the place of what is stated: the text ``summary``, findings, values, lines
            to copy, facts, and the charts and tables whose series and rows the record states.
        """
        stated: dict[str, Callable[[], Any]] = {
            "summary": lambda: self.text("summary"),
            "findings": lambda: self.findings,
            "values": lambda: self.values,
            "figures": lambda: tuple(self.chart(name) for name in self._whole("charts", "series")),
            "copyables": lambda: self.copyables,
            "tables": lambda: tuple(self.table(name) for name in self._whole("tables", "rows")),
            "facts": lambda: self.facts_with() if "contract" in self._record else self.facts,
        }
        return Result(**{name: part() for name, part in stated.items() if name not in parts}, **parts)

    def _whole(self, kind: str, content: str) -> list[str]:
        """Return the names of the charts or tables whose content is stated, and whose conditions hold."""
        entries = self._record.get(kind, {}).items()
        return [name for name, entry in entries if content in entry and self._holds(entry)]


def _scaled(value: Any, factor: float = 1, **fields: Any) -> dict[str, Any]:
    """Return the fields of a number, with the number and its bounds in the unit in which it is shown."""
    bounds = {name: factor * fields.pop(name) for name in ("low", "high") if fields.get(name) is not None}
    return {"value": value if factor == 1 or value is None else factor * value, **bounds, **fields}
