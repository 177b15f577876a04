"""The words of an answer: what stands in the TOML file beside the module of a question, filled in from its case.

An answer computes a *case*: a record whose attributes are the numbers. How they are shown is data:

=====================  ==============================================================================
``[texts]``            sentences by name
``[[values]]``         numbers with label, badge, unit, decimals, note; left out while they are None
``[findings.CODE]``    level, message, advice; those with ``when`` are found by the case itself
``[tables.NAME]``      caption, columns, folded, and rows of attributes where they are fixed
``[charts.NAME]``      title, alt, axes, references, marks
``[[copyables]]``      lines to copy: title, text, note
``[facts]``            named numbers for programs and self-checks
=====================  ==============================================================================

In a text, ``{best.cost_factor:.3g}`` is an attribute of the case or a word that the code adds; ``:size`` and
``:n file`` write sizes and counted nouns. ``value``, ``when``, ``unless`` and the entries of ``[facts]`` are such
names without braces; a name that the case lacks is an error, never an empty text.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from hopperlib.finding import Finding, Words
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.result import Column, Copyable, Figure, Table, Value

__all__ = ["Said", "Wording", "record_of", "wording"]


@cache
def record_of(module: str) -> dict[str, Any]:
    """Return the TOML file beside a module, by the module's ``__name__``.

    Examples
    --------
    >>> from hopperlib.questions.node import memory
    >>> record_of(memory.__name__)["title"]
    'Memory for each task'
    """
    import tomllib

    with open(os.path.splitext(str(sys.modules[module].__file__))[0] + ".toml", "rb") as file:
        return tomllib.load(file)


class Wording:
    """The words that stand beside one module."""

    def __init__(self, module: str):
        self._module = module

    def of(self, case: Any = None, **more: Any) -> Said:
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

    def also(self, **more: Any) -> Said:
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
            if value is not None:
                value = value[int(part)] if part.isdigit() else getattr(value, part)
        return value

    def fill(self, text: str) -> str:
        """Return a text with its braces filled in."""
        # A formatter only asks for one name at a time: nothing of a mapping but `__getitem__` is needed.
        return Words().vformat(text, (), cast("Mapping[str, Any]", self)) if "{" in text else text

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
            key: self._number(part) if key in paths else self.fill(part) if isinstance(part, str) else part
            for key, part in entry.items()
            if key not in ("when", "unless")
        }

    @property
    def values(self) -> tuple[Value, ...]:
        """The numbers whose conditions hold and that are not None."""
        stated = (entry for entry in self._record.get("values", ()) if self._holds(entry))
        shown = (
            self._filled(entry, "value", "low", "high") for entry in stated if self._number(entry["value"]) is not None
        )
        return tuple(Value(**{"badge": None, **fields}) for fields in shown)

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
        if rows is None:
            rows = [tuple(said._cell(cell) for cell in row["cells"]) for row in entry["rows"] if said._holds(row)]
        columns = tuple(
            Column(said.fill(column)) if isinstance(column, str) else Column(**said._filled(column))
            for column in entry["columns"]
        )
        texts = {key: said.fill(entry[key]) for key in ("caption", "marked_label", "folded") if key in entry}
        return Table(columns=columns, rows=rows, marked=fields.get("marked", ()), **texts)

    def chart(self, name: str, series: Sequence[Series], **more: Any) -> Figure:
        """Return the chart of a name.

        Parameters
        ----------
        name : str
        series : sequence of Series
        **more
            Words for its texts.
        """
        said = self.also(**more)
        entry = dict(said._record["charts"][name])
        axes: dict[str, Any] = {side: Axis(**said._filled(entry.pop(side), "low", "high")) for side in ("x", "y")}
        references = [
            Reference(said.fill(line["name"]), said._number(line["y"]))
            for line in entry.pop("references", ())
            if said._holds(line)
        ]
        marks = {said.fill(label): said.look_up(path) for label, path in entry.pop("marks", {}).items()}
        return chart(**axes, series=series, references=references, marks=marks, **said._filled(entry))

    @property
    def facts(self) -> dict[str, Any]:
        """The named numbers for programs."""
        return {name: self.look_up(path) for name, path in self._record.get("facts", {}).items()}
