"""Read the table of a benchmark suite: rates, or the values to compute them, and commitments.

A ReFrame performance log works too: its reference is the commitment.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hopperkit.readers.table import ABSENT, finite, read_table, whole_rows
from hopperlib.errors import InputError, attributed_to

# Possible names of each column; some are those of a ReFrame performance log.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("benchmark", "name", "code", "test", "display_name"),
    "rate": ("rate", "value", "current", "rate_value", "perf_value"),
    "commitment": ("commitment", "committed", "rate_ref", "reference_value", "required"),
    "reference": ("reference", "baseline"),
    "operations": ("operations", "flop", "tflop", "gflop", "count"),
    "time_s": ("time_s", "time", "seconds", "elapsed_s"),
    "processors": ("processors", "nodes", "tasks", "cores", "num_tasks"),
}
_WAYS = (frozenset({"rate"}), frozenset({"operations", "time_s", "processors"}))


class SuiteRow(NamedTuple):
    """One benchmark: its columns (None for an empty cell), and its number of rows."""

    name: str
    values: dict[str, float | None]
    rows: int = 1

    def need(self, column: str) -> float:
        """Return a column's value, which must be above 0.

        Raises
        ------
        InputError
            If there is none.

        Examples
        --------
        >>> SuiteRow("FT", {"rate": 822.0}).need("rate")
        822.0
        """
        value = self.values.get(column)
        if not value:
            raise InputError(f"{self.name} has no value above 0 for {column}", name="suite")
        return value


def read_suite(text: str) -> list[SuiteRow]:
    r"""Return the benchmarks in a table; if one has several rows, as in a log, the last row counts.

    Parameters
    ----------
    text : str
        Columns may be separated by commas, semicolons, tabs, or vertical bars.

    Raises
    ------
    InputError
        If a column is missing, or a row does not fit.

    Examples
    --------
    >>> read_suite("benchmark;rate\nFT;800\nFT;822\n")
    [SuiteRow(name='FT', values={'rate': 822.0}, rows=2)]
    """
    with attributed_to("suite"):
        table = read_table(text.splitlines())
        places = _places([cell.lower() for cell in table.header])
        if "name" not in places or not any(way <= places.keys() for way in _WAYS):
            raise InputError(
                "a suite needs a column benchmark, and rate, or operations, time_s and processors; "
                f"the columns are: {', '.join(table.header)}"
            )
        rows: dict[str, SuiteRow] = {}
        for line, cells in whole_rows(table.rows, len(table.header)):
            name = cells[places["name"]]
            values = {kind: _number(cells[place], line) for kind, place in places.items() if kind != "name"}
            rows[name] = SuiteRow(name, values, rows[name].rows + 1 if name in rows else 1)
        if not rows:
            raise InputError("a suite needs at least one benchmark")
    return list(rows.values())


def _places(header: Sequence[str]) -> dict[str, int]:
    """Return the column of each quantity present; the first matching name counts."""
    places: dict[str, int] = {}
    for kind, names in _COLUMNS.items():
        if found := [name for name in names if name in header]:
            places[kind] = header.index(found[0])
    # A log of ReFrame names its columns by the figure of merit: triad_value, triad_ref.
    if "rate" not in places and (values := _ending(header, "_value")):
        places["rate"] = values[0]
        if bounds := _ending(header, "_ref"):
            places["commitment"] = bounds[0]
    return places


def _ending(header: Sequence[str], suffix: str) -> list[int]:
    """Return the columns with names that end in a suffix."""
    return [place for place, name in enumerate(header) if name.endswith(suffix)]


def _number(text: str, line: int) -> float | None:
    """Return a cell as a number, None if it is empty or zero, which ReFrame writes for no reference."""
    number = finite(text)
    if number is None and text.lower() not in ABSENT:
        raise InputError(f"line {line}: {text!r} is not a number")
    return number or None
