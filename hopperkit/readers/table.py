"""Text tables: rows of cells, cell types, and counts of skipped lines."""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from hopperlib.errors import InputError

# Texts that programs write for a missing value, in lower case.
ABSENT = frozenset({"", "nan", "na", "n/a", "null", "none", "-"})
_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}")
# A date with points, as in German and other languages.
_POINTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[T ]+(\d{1,2})(:\d\d(?::\d\d)?))?")
_DELIMITERS = (",", ";", "\t", "|")


class Table(NamedTuple):
    """A table with column names in its first line.

    Parameters
    ----------
    delimiter : str
    line : int
        Line with the column names.
    header : list of str
    rows : iterator of (int, list of str)
        Line number and cells of every nonempty row.
    """

    delimiter: str
    line: int
    header: list[str]
    rows: Iterator[tuple[int, list[str]]]


def read_table(lines: Iterable[str]) -> Table:
    """Read a table; its delimiter is the comma, semicolon, tab or vertical bar, whichever is most frequent in its first
    line.

    Parameters
    ----------
    lines : iterable of str
        Lines of the table, the first with column names.

    Raises
    ------
    InputError
        If there is no line or, when rows are read, one is not valid CSV.

    Examples
    --------
    >>> table = read_table(["", "job; run_time_s", "a; 10.5"])
    >>> table.header, list(table.rows)
    (['job', 'run_time_s'], [(3, ['a', '10.5'])])
    """
    lines = iter(lines)
    above, first = next(((n, line) for n, line in enumerate(lines) if line.strip("\ufeff \t\r\n")), (0, ""))
    if not first:
        raise InputError("the file is empty; the first line must name the columns")
    first = first.lstrip("\ufeff")
    delimiter = max(_DELIMITERS, key=first.count)
    rows = _rows(chain([first], lines), delimiter, above)
    return Table(delimiter, *next(rows), rows)


def _rows(lines: Iterable[str], delimiter: str, above: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and stripped cells of the rows after `above` lines."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num + above, [_cell(cell.strip(), delimiter) for cell in row]
    except csv.Error as error:
        raise InputError(f"line {reader.line_num + above + 1}: not readable as CSV: {error}") from None


def _cell(text: str, delimiter: str) -> str:
    """Return a cell with a decimal point in place of a decimal comma, and dates in ISO 8601."""
    if delimiter != "," and _COMMA.fullmatch(text):
        return text.replace(",", ".")
    if date := _POINTS.fullmatch(text):
        day, month, year, hour, rest = date.groups()
        return f"{year}-{month:0>2}-{day:0>2}" + (f"T{hour:0>2}{rest}" if hour else "")
    return text


def whole_rows(rows: Iterable[tuple[int, list[str]]], columns: int) -> Iterator[tuple[int, list[str]]]:
    """Yield nonempty rows; a delimiter at the end of a row does not begin another cell.

    Parameters
    ----------
    rows : Iterable[tuple[int, list[str]]]
        Line numbers and cells of the rows.
    columns : int
        Number of columns.

    Raises
    ------
    InputError
        If a row has fewer or more cells than columns.

    Examples
    --------
    >>> list(whole_rows([(2, ["a", "1", ""]), (3, ["", ""]), (4, ["b", "2"])], 2))
    [(2, ['a', '1']), (4, ['b', '2'])]
    """
    for line, row in rows:
        cells = row[:-1] if len(row) == columns + 1 and not row[-1] else row
        if any(cells):
            if len(cells) != columns:
                raise InputError(f"line {line} has {len(cells)} cells for {columns} columns")
            yield line, cells


def finite(text: str) -> float | None:
    """Return a cell as a number; None if it is invalid, infinite, or in Python-only notation.

    Parameters
    ----------
    text : str
        Cell of a table.

    Examples
    --------
    >>> finite("1.5"), finite("1_000"), finite("inf")
    (1.5, None, None)
    """
    try:
        number = float(text.replace("_", "?"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def typed_cell(text: str) -> Any:
    """Return a cell as a number or a time; None if it is empty, otherwise its text.

    Parameters
    ----------
    text : str
        Cell of a table.

    Examples
    --------
    >>> typed_cell("4"), typed_cell("0.5"), typed_cell("2026-03-01 08:00"), typed_cell("n/a"), typed_cell("intel")
    (4, 0.5, datetime.datetime(2026, 3, 1, 8, 0), None, 'intel')
    """
    number = finite(text)
    if number is not None:
        return int(text) if text.isdecimal() else number
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None if text.lower() in ABSENT else text


@dataclass(slots=True)
class Skips:
    """Skipped lines by reason: their number, and the first of each."""

    what: str = "job"
    fate: str = "skipped"
    counts: dict[str, int] = field(default_factory=dict)
    first_line: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, line: int) -> None:
        """Count a line."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first_line.setdefault(reason, line)

    def join(self, other: "Skips") -> None:
        """Add the counts of another record."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            self.first_line.setdefault(reason, other.first_line[reason])

    @property
    def total(self) -> int:
        """Number of skipped lines."""
        return sum(self.counts.values())

    def messages(self) -> list[str]:
        """Return one sentence per reason.

        Examples
        --------
        >>> skips = Skips()
        >>> skips.add("cancelled before it started", 7)
        >>> skips.messages()
        ['1 job skipped, cancelled before it started (first at line 7)']
        """
        return [
            f"{count:,} {self.what}{'s' * (count > 1)} {self.fate}, {reason} (first at line {self.first_line[reason]:,})"
            for reason, count in self.counts.items()
        ]
