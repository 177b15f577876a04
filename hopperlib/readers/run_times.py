"""Run times out of a CSV file: one column of numbers, and one that says which runs belong together.

A row without a time is counted and left out. A cell that is there and is no
time is an error with its line: a wrong number would be worse than none.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from typing import Any

from hopperlib.errors import InputError
from hopperlib.frames import Framed
from hopperlib.readers._skips import Skips
from hopperlib.readers.source import Source, lines_of

__all__ = ["RunTimes", "RunTimesError", "read_run_times"]

DEFAULT_COLUMN = "run_time_s"
DEFAULT_GROUP = "job"

# What programs write for a value that is not there.
_EMPTY = {"", "nan", "na", "n/a", "null", "none", "-"}
_DELIMITERS = (",", ";", "\t", "|")
_LONGEST = 60
# Headings of columns that say when a run was.
_WHEN = {"date", "datetime", "time", "timestamp", "start", "start_time", "submit", "submit_time", "when", "day"}
_CLOCK = re.compile(r"(?:(\d{1,6})-)?(\d{1,6}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)")
_COMMA = re.compile(r"\d{1,15},\d{1,15}")


class RunTimesError(InputError):
    """A file from which no run times can be taken; the message says why, with the line."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunTimes(Framed):
    """Run times as a file gives them.

    Parameters
    ----------
    column : str
        Name of the column of times.
    times : tuple of n float
        All above 0, in the column's unit.
    lines : tuple of n int
        Line of each.
    group : str or None
        Name of the column of groups; None if there is none.
    groups : tuple of n str
        Group of each; empty if there are none.
    skips : Skips
        Why rows were left out, how many, and the first of them.
    covariates : dict of str to tuple of n float
        The columns of numbers that were asked for besides.
    when : str
        Name of a column that says when a run was, by its heading; empty if there is none.
    """

    column: str
    times: tuple[float, ...]
    lines: tuple[int, ...]
    group: str | None = None
    groups: tuple[str, ...] = ()
    skips: Skips = field(default_factory=Skips)
    covariates: dict[str, tuple[float, ...]] = field(default_factory=dict)
    when: str = ""

    @property
    def unit(self) -> str:
        """Unit that the column's name ends in, such as ``s``; empty if it names none."""
        end = self.column.rpartition("_")[2]
        return end if end in ("ns", "us", "ms", "s", "min", "h") and "_" in self.column else ""

    def frame_data(self) -> dict[str, Sequence[Any]]:
        """Return the times, under the name of their column, behind the groups."""
        groups = {self.group: self.groups} if self.group else {}
        return {**groups, self.column: self.times}

    def messages(self) -> list[str]:
        """Return one sentence for each reason for which rows were left out.

        Examples
        --------
        >>> read_run_times(["run_time_s", "10", "nan", "", "12"]).messages()
        ['1 row left out, no time in column run_time_s (first at line 3)']
        """
        return self.skips.messages()


def _shown(text: str) -> str:
    """Return a text of the file, of bounded length."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and stripped cells of every row that is not empty."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise RunTimesError(f"line {reader.line_num + 1}: not readable as CSV: {error}") from None


def _place(header: Sequence[str], name: str, what: str) -> int:
    """Return where a column is, or say which there are."""
    columns = header.count(name)
    if columns == 1:
        return header.index(name)
    if columns:
        raise RunTimesError(f"there are {columns} columns {name!r}: name each differently")
    # Distance of spelling, case aside: Run_Time_S is meant by run_time_s.
    folded = {each.casefold(): each for each in header}
    close = get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {_shown(folded[close[0]])}?" if close else "."
    there = ", ".join(_shown(each) for each in header[:20]) + (", ..." if len(header) > 20 else "")
    raise RunTimesError(f"there is no column {_shown(name)} for the {what}{hint} The columns are: {there}")


def _number(text: str, line: int, column: str, delimiter: str = ",") -> float:
    """Return a cell as a time: a number, with a decimal comma where that parts no columns, or ``hh:mm:ss``."""
    given = text
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        text = repr(((24 * days + hours) * 60 + minutes) * 60 + seconds)
    elif delimiter != "," and _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        # Python reads 1_000 as a thousand; a file that holds it means something else.
        value = float(text.replace("_", "?"))
    except ValueError:
        rule = "a number"
        if ":" in text:
            rule += ", nor a duration such as 01:30:00 or 2-12:00:00"
        elif "," in text:
            rule += "; write a point for decimals and nothing between thousands"
    else:
        if math.isfinite(value) and value > 0:
            return value
        rule = "above 0, and a run takes time" if math.isfinite(value) else "a finite number"
    raise RunTimesError(f"line {line}, column {column}: {_shown(given)} is not {rule}")


# One pass over the lines: each of the ways in which a row may be wrong is refused where it is met, with its line.
def read_run_times(  # noqa: C901
    source: Source, *, column: str | None = None, group: str | None = None, covariates: Sequence[str] = ()
) -> RunTimes:
    """Return the run times of a CSV file.

    The first line names the columns; they are parted by commas, semicolons,
    tabs or bars, whichever the first line has most of.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperlib.readers.source.lines_of`.
    column : str or None
        Column of the times; None means the only one, or ``run_time_s``.
    group : str or None
        Column that says which runs belong together; None means ``job`` if there is such a column, else none.
    covariates : sequence of str
        Columns of numbers to read besides; a row that lacks one is left out.

    Raises
    ------
    RunTimesError
        If a column is missing, a cell is no time or no number, a row has too many or too few cells, or there is no time at all.

    Examples
    --------
    >>> table = read_run_times(["job,run_time_s", "a,10.5", "a,11", "b,12"])
    >>> table.times, table.groups
    ((10.5, 11.0, 12.0), ('a', 'a', 'b'))
    >>> read_run_times(["job,runtime_s", "a,10.5"])
    Traceback (most recent call last):
    hopperlib.readers.run_times.RunTimesError: there is no column 'run_time_s' ...
    """
    given = lines_of(source)
    skipped, first = next(((n, line) for n, line in enumerate(given) if line.strip("\ufeff \t\r\n")), (0, ""))
    if not first:
        raise RunTimesError("the file is empty; the first line must name the columns")
    first = first.lstrip("\ufeff")
    delimiter = max(_DELIMITERS, key=first.count)
    rows = _rows(chain([first], given), delimiter)
    _, header = next(rows)
    if all(_is_number(cell) for cell in header):
        raise RunTimesError(f"the first line must name the columns, and {_shown(first.strip())} are numbers")
    column = column or (header[0] if len(header) == 1 else DEFAULT_COLUMN)
    at = _place(header, column, "times")
    if group is None and DEFAULT_GROUP in header and column != DEFAULT_GROUP:
        group = DEFAULT_GROUP
    if group == column:
        raise RunTimesError(f"column {column!r} cannot hold both the times and the groups")
    of = None if group is None else _place(header, group, "groups")
    others = {name: (_place(header, name, "covariate"), list[float]()) for name in covariates}
    times: list[float] = []
    numbers: list[int] = []
    groups: list[str] = []
    skips = Skips("row", "left out")
    for number, row in rows:
        line = number + skipped
        if len(row) != len(header):
            if not any(row):
                continue
            raise RunTimesError(f"line {line} has {len(row)} cells, and the first line names {len(header)} columns")
        reason = ""
        if row[at].casefold() in _EMPTY:
            reason = f"no time in column {column}"
        elif of is not None and row[of].casefold() in _EMPTY:
            _number(row[at], line, column, delimiter)
            reason = f"no group in column {group}"
        for name, (place, _) in others.items():
            if not reason and row[place].casefold() in _EMPTY:
                reason = f"no number in column {name}"
        if reason:
            skips.add(reason, line)
            continue
        for name, (place, values) in others.items():
            values.append(_finite(row[place], line, name))
        times.append(_number(row[at], line, column, delimiter))
        numbers.append(line)
        if of is not None:
            groups.append(row[of])
    if not times:
        rest = f": {skips.total:,} rows have none" if skips.total else ""
        raise RunTimesError(f"there is no time in column {column!r}{rest}")
    return RunTimes(
        column=column,
        times=tuple(times),
        lines=tuple(numbers),
        group=group,
        groups=tuple(groups),
        skips=skips,
        covariates={name: tuple(values) for name, (_, values) in others.items()},
        when=next((name for name in header if name.casefold() in _WHEN and name != column), ""),
    )


def _finite(text: str, line: int, column: str) -> float:
    """Return a cell as a number of any sign."""
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RunTimesError(f"line {line}, column {column}: {_shown(text)} is not a finite number")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
