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
=====================  ==============================================================================

In a text, ``{best.cost_factor:.3g}`` is an attribute of the case or a word that the code adds; ``:size``,
``:n file`` and ``:.1 %`` write sizes, counted nouns and shares (`hopperlib.finding.Words` says how). ``value``,
``when``, ``unless`` and the entries of ``[facts]`` are such names without braces; a name that the case lacks is an error, never an empty text. A number that
is a share is shown in percent with ``factor = 100``; ``{needed:,|no number}`` has a word for None. A list is a text in
parts, of which ``{when = "lost", text = "; {lost} lost"}`` stands only where something is lost. `Said.result` is the
answer that the record states in full.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from hopperlib.finding import Finding, Words
from hopperlib.package_data import read_beside
from hopperlib.questions.figures import Axis, Reference, Series, chart, layout
from hopperlib.questions.result import Column, Copyable, Figure, Result, Table, Value


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
    >>> from hopperlib.questions.node import memory
    >>> wording(memory.__name__).of(most=40, count=57).text("cut")
    ' (the first 40 of 57)'
    """
    return Wording(module)


class _Filling(Words):
    """Texts in braces, whose names are looked up in a case."""

    def __init__(self, said: "Said"):
        self._said = said

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """Return what a name stands for."""
        return self._said.look_up(field_name), field_name


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
        return Said(self._record, self._case, {**self._more, **more})

    def __getitem__(self, name: str) -> Any:
        """A word: one that the code added, or an attribute of the case."""
        return self._more[name] if name in self._more else getattr(self._case, name)

    def look_up(self, path: str) -> Any:
        """Return what a name with dots and indices stands for; None has no parts but is None again."""
        first, *parts = re.findall(r"[^.\[\]]+", path)
        value = self[first]
        for part in parts:
            if isinstance(value, Mapping):
                value = value[part]
            elif value is not None:
                value = value[int(part)] if part.lstrip("-").isdigit() else getattr(value, part)
        return value

    def fill(self, text: str | Sequence[Any]) -> str:
        """Return a text, or the parts of one whose conditions hold, with the braces filled in."""
        if isinstance(text, str):
            return _Filling(self).vformat(text, (), {}) if "{" in text else text
        parts = ({"text": part} if isinstance(part, str) else part for part in text)
        return "".join(self.fill(part["text"]) for part in parts if self._holds(part))

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
            if key not in ("when", "unless")
        }

    @property
    def values(self) -> tuple[Value, ...]:
        """The numbers whose conditions hold and that are not None, unless those are said to be shown as a dash."""
        stated = (dict(entry) for entry in self._record.get("values", ()) if self._holds(entry))
        shown = (
            self._filled(entry, "value", "low", "high")
            for entry in stated
            if entry.pop("dash", False) or self._number(entry["value"]) is not None
        )
        return tuple(Value(**{"badge": None, **_scaled(**fields)}) for fields in shown)

    def finding(self, code: str, **more: Any) -> Finding:
        """Return the finding of a code."""
        return Finding(code=code, **self.also(**more)._filled(self._record["findings"][code]))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that state when they hold, and do."""
        stated = self._record.get("findings", {}).items()
        return tuple(self.finding(code) for code, entry in stated if "when" in entry and self._holds(entry))

    def _cell(self, cell: Any) -> Any:
        """Return a cell: a name after ``=`` looked up, another text filled in, a number as it is."""
        if not isinstance(cell, str):
            return cell
        return self.look_up(cell[1:]) if cell.startswith("=") else self.fill(cell)

    @property
    def copyables(self) -> tuple[Copyable, ...]:
        """The lines to copy whose conditions hold."""
        return tuple(
            Copyable(**self._filled(entry)) for entry in self._record.get("copyables", ()) if self._holds(entry)
        )

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
        if rows is None and isinstance(entry["rows"], str):
            rows = said.look_up(entry["rows"])
        elif rows is None:
            rows = [tuple(said._cell(cell) for cell in row["cells"]) for row in entry["rows"] if said._holds(row)]
        columns = tuple(
            Column(said.fill(column)) if isinstance(column, str) else Column(**said._filled(column))
            for column in entry["columns"]
            if isinstance(column, str) or said._holds(column)
        )
        texts = {key: said.fill(entry[key]) for key in ("caption", "marked_label", "folded") if key in entry}
        marked = tuple(said.look_up(entry["marked"])) if "marked" in entry else fields.get("marked", ())
        return Table(columns=columns, rows=() if rows is None else rows, marked=marked, **texts)

    def chart(self, name: str, series: Sequence[Series] | None = None, **more: Any) -> Figure:
        """Return the chart of a name; without series, those its entry states: name, x, y, high, kind.

        Parameters
        ----------
        name : str
        series : sequence of Series or None
        **more
            Words for its texts.
        """
        said = self.also(**more)
        entry = dict(said._record["charts"][name])
        lines = entry.pop("series", ())
        stated = (
            said.look_up(lines)
            if isinstance(lines, str)
            else [Series(**said._filled(line, "x", "y", "high")) for line in lines if said._holds(line)]
        )
        axes: dict[str, Any] = {
            side: Axis(**said._filled(entry.pop(side), "low", "high", "log", "decimals")) for side in ("x", "y")
        }
        lines = entry.pop("references", ())
        references = (
            said.look_up(lines)
            if isinstance(lines, str)
            else [Reference(said.fill(line["name"]), said._number(line["y"])) for line in lines if said._holds(line)]
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
        return {name: self.look_up(path) for name, path in self._record.get("facts", {}).items()}

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
            "facts": lambda: self.facts,
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
