"""Text tables: rows of cells, cell types, and an account of skipped lines."""

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
    """A table whose first line names its columns.

    Parameters
    ----------
    delimiter : str
    line : int
        Where the columns are named.
    header : list of str
    rows : iterator of (int, list of str)
        Line number and cells of every row that is not empty.
    """

    delimiter: str
    line: int
    header: list[str]
    rows: Iterator[tuple[int, list[str]]]


def read_table(lines: Iterable[str]) -> Table:
    """Read a table separated by commas, semicolons, tabs or bars, whichever is most frequent in its first line.

    Raises
    ------
    InputError
        If there is no line, or, if the rows are requested, one is not valid CSV.

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
    """Yield line number and stripped cells of the rows below that many lines."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num + above, [_cell(cell.strip(), delimiter) for cell in row]
    except csv.Error as error:
        raise InputError(f"line {reader.line_num + above + 1}: not readable as CSV: {error}") from None


def _cell(text: str, delimiter: str) -> str:
    """Return a cell with a point for decimals, which a comma is that parts no columns, and a date as in ISO 8601."""
    if delimiter != "," and _COMMA.fullmatch(text):
        return text.replace(",", ".")
    if date := _POINTS.fullmatch(text):
        day, month, year, hour, rest = date.groups()
        return f"{year}-{month:0>2}-{day:0>2}" + (f"T{hour:0>2}{rest}" if hour else "")
    return text


def whole_rows(rows: Iterable[tuple[int, list[str]]], columns: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold anything; a delimiter at the end of a row begins no cell.

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
    """Return a cell as the number or the time that it is; None where it holds none, else the text.

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
    """Lines that were not taken, by reason: how many, and the first of them."""

    what: str = "job"
    fate: str = "skipped"
    counts: dict[str, int] = field(default_factory=dict)
    first_line: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, line: int) -> None:
        """Count a line."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first_line.setdefault(reason, line)

    def join(self, other: "Skips") -> None:
        """Count the lines of another account too."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
            self.first_line.setdefault(reason, other.first_line[reason])

    @property
    def total(self) -> int:
        """Lines that were not taken."""
        return sum(self.counts.values())

    def messages(self) -> list[str]:
        """Return one sentence for each reason.

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
