"""Read run times from a CSV file: one numeric column, and an optional group column. Rows without a time are counted and
left out. An invalid time is an error that names its line: a wrong number would be worse than none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from hopperkit.frames import TableMixin
from hopperkit.readers.source import Source, lines_of
from hopperkit.readers.table import ABSENT, Skips, finite, read_table, typed_cell, whole_rows
from hopperlib.errors import InputError

_COLUMN = "run_time_s"
# Common names of the time column and of the group column, in lower case and without the unit.
TIME_NAMES = (
    "runtime",
    "elapsed",
    "elapsedtime",
    "elapsedraw",
    "walltime",
    "wallclock",
    "duration",
    "seconds",
    "time",
)
GROUP_NAMES = ("job", "jobid", "slurmjobid", "group")
# A unit at the end of a name, after an underscore or a space, with or without brackets.
UNIT = re.compile(r"(?:[_ ]|\s*[\[(])(ns|us|ms|s|sec|seconds|min|minutes|h|hours)[\])]?$", re.IGNORECASE)
UNITS = {"sec": "s", "seconds": "s", "minutes": "min", "hours": "h"}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
_LONGEST = 60
# Headings that state the unit without naming it at the end: those of sacct, and the plain word.
_IN_SECONDS = {"seconds", "elapsedraw", "cputimeraw"}
# Headings of columns with the date of a run.
_WHEN = {"date", "datetime", "time", "timestamp", "start", "start_time", "submit", "submit_time", "when", "day"}
CLOCK = re.compile(r"(?:(\d{1,6})-)?(\d{1,6}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunTimes(TableMixin):
    """Run times read from a file.

    Parameters
    ----------
    column : str
        Name of the column of times.
    times : tuple of n float
        All above 0, in the column's unit.
    group : str or None
        Name of the group column; None if there is none.
    groups : tuple of n str
        Group of each run; empty if there are none.
    skips : Skips
        Rows left out: reasons, counts, and the first of each.
    covariates : dict of str to tuple of n float, or of n str for categories
        The additional numeric columns requested.
    when : str
        Name of the column with the date of each run; empty if there is none.
    others : dict of str to tuple of n str
        All other columns, as written.
    clock : bool
        Whether every time is written as ``hh:mm:ss``, so that `times` are in seconds.
    """

    column: str
    times: tuple[float, ...]
    group: str | None = None
    groups: tuple[str, ...] = ()
    skips: Skips = field(default_factory=Skips)
    covariates: dict[str, tuple[float, ...] | tuple[str, ...]] = field(default_factory=dict)
    when: str = ""
    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    clock: bool = False

    @property
    def unit(self) -> str:
        """Unit of the times; empty if unknown.

        It is ``s`` for times such as ``01:30:00`` and for sacct's columns of seconds, otherwise the unit at the end of
        the column's name, such as ``min`` in ``elapsed [min]``.

        Examples
        --------
        >>> read_run_times(["JobID,Elapsed", "7,00:10:00"]).unit, read_run_times(["wall_min", "10"]).unit
        ('s', 'min')
        >>> read_run_times(["wall", "10"]).unit
        ''
        """
        if self.clock or self.column.casefold() in _IN_SECONDS:
            return "s"
        unit = UNIT.search(self.column)
        name = unit[1].lower() if unit else ""
        return UNITS.get(name, name)

    @property
    def understood(self) -> str:
        """Sentence that describes how the input was interpreted.

        Examples
        --------
        >>> read_run_times(["jobid,Elapsed [s]", "7,10.5", "7,11"]).understood
        '2 runs, column Elapsed [s] in s, grouped by jobid.'
        """
        unit = f" in {self.unit}" if self.unit else ", without a unit"
        runs = f"{len(self.times):,} run{'s' * (len(self.times) != 1)}"
        return f"{runs}, column {self.column}{unit}, {f'grouped by {self.group}' if self.group else 'without groups'}."

    def frame_data(self) -> dict[str, Sequence[Any]]:
        """Return the groups, the times, and every other column converted to numbers or timestamps.

        Times with a known unit are durations, in the column ``run_time``; others keep the name of their column.
        """
        columns: dict[str, Sequence[Any]] = {self.group: self.groups} if self.group else {}
        if self.unit:
            columns["run_time"] = [timedelta(seconds=time * SECONDS[self.unit]) for time in self.times]
        else:
            columns[self.column] = self.times
        return columns | {name: list(map(typed_cell, cells)) for name, cells in self.others.items()}


def heading_letters(name: str) -> str:
    """Return the letters of a heading in lower case: Wall time, wall_time and Walltime are equal.

    Parameters
    ----------
    name : str
        Heading of a column.

    Examples
    --------
    >>> heading_letters("Wall time"), heading_letters("wall_time")
    ('walltime', 'walltime')
    """
    return re.sub("[^a-z]", "", name.casefold())


def _shown(text: str) -> str:
    """Return a quoted text of bounded length."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")


def _place(header: Sequence[str], name: str, what: str) -> int:
    """Return the position of a column; an error lists the columns present."""
    columns = header.count(name)
    if columns == 1:
        return header.index(name)
    if columns:
        raise InputError(f"there are {columns} columns {name!r}: name each differently")
    # Compare spellings without case, so that Run_Time_S matches run_time_s.
    folded = {each.casefold(): each for each in header}
    close = get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {_shown(folded[close[0]])}?" if close else "."
    there = ", ".join(_shown(each) for each in header[:20]) + (", ..." if len(header) > 20 else "")
    raise InputError(f"there is no column {_shown(name)} for the {what}{hint} The columns are: {there}")


def number_of(text: str) -> float | None:
    """Return a number, or a duration such as ``01:30:00`` or ``2-12:00:00`` in seconds; None for anything else.

    Parameters
    ----------
    text : str
        Cell of a table.

    Examples
    --------
    >>> number_of("8.5"), number_of("00:01:30"), number_of("1-00:00:00"), number_of("soon")
    (8.5, 90.0, 86400.0, None)
    """
    clock = CLOCK.fullmatch(text)
    if clock is None:
        return finite(text)
    days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
    return ((24 * days + hours) * 60 + minutes) * 60 + seconds


def _time(text: str, where: str) -> float:
    """Return a cell as a time: a number, or ``hh:mm:ss``."""
    value = number_of(text)
    if value is not None and value > 0:
        return value
    if value is not None:
        rule = "above 0, as a run time must be"
    elif text.lstrip("+-").lower() in ("inf", "infinity"):
        rule = "a finite number"
    elif ":" in text:
        rule = "a number, nor a duration such as 01:30:00 or 2-12:00:00"
    else:
        rule = "a number" + "; write a point for decimals and nothing between thousands" * ("," in text)
    raise InputError(f"{where}: {_shown(text)} is not {rule}")


def _group_column(header: Sequence[str], column: str, group: str | None) -> tuple[str | None, int | None]:
    """Return the group column and its position; None if there is none."""
    if group is None:
        group = next((name for name in header if heading_letters(name) in GROUP_NAMES and name != column), None)
    if group == column:
        raise InputError(f"column {column!r} cannot hold both the times and the groups")
    return group, None if group is None else _place(header, group, "groups")


def _times_column(header: Sequence[str], column: str | None) -> tuple[int, str]:
    """Return the position and name of the time column: the one given, the only one, one with a common name, or the only
    one with a unit in brackets.
    """
    bare = [heading_letters(UNIT.sub("", name)) for name in header]
    usual = next((header[bare.index(name)] for name in TIME_NAMES if name in bare), "")
    with_unit = [name for name in header if UNIT.search(name) and name.endswith((")", "]"))]
    only = next((names[0] for names in (header, with_unit) if len(names) == 1), _COLUMN)
    column = column or (usual if usual and len(header) > 1 else only)
    return _place(header, column, "times"), column


def _when_column(header: Sequence[str], column: str) -> str:
    """Return the name of a column with the date of each run; empty if there is none."""
    return next((name for name in header if name.casefold() in _WHEN and name != column), "")


def _is_number(text: str) -> bool:
    """Whether Python parses a text as a number (including inf and nan), so that it is not a category."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _covariate(
    rows: Sequence[tuple[float, int, list[str]]], place: int, name: str
) -> tuple[float, ...] | tuple[str, ...]:
    """Return a covariate as numbers, or as categories if no cell is a number."""
    cells = [(finite(row[place]), row[place], line) for _, line, row in rows]
    if not any(map(_is_number, (text for _, text, _ in cells))):
        return tuple(text for _, text, _ in cells)
    for number, text, line in cells:
        if number is None:
            raise InputError(f"line {line}, column {name}: {_shown(text)} is not a finite number")
    return tuple(number for number, _, _ in cells if number is not None)


def read_run_times(
    source: Source, *, column: str | None = None, group: str | None = None, covariates: Sequence[str] = ()
) -> RunTimes:
    """Return the run times of a CSV file.

    The first line names the columns; the delimiter is the comma, semicolon, tab or vertical bar, whichever is most
    frequent there.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.lines_of`.
    column : str or None
        Column of the times; None means the only one, one called ``run_time``, ``elapsed``, ``walltime`` or the like, or
        the only one whose name ends in a unit of time in brackets.
    group : str or None
        Column of the group of each run; None uses ``job`` or ``jobid`` if present, otherwise no groups.
    covariates : sequence of str
        Other columns to read, with numbers or categories; rows that lack a value are left out.

    Raises
    ------
    InputError
        If a column is missing, a cell is not a time or a number, a row has too many or too few cells, or there are no
        times.

    Examples
    --------
    >>> table = read_run_times(["job,run_time_s", "a,10.5", "a,11", "b,12"])
    >>> table.times, table.groups
    ((10.5, 11.0, 12.0), ('a', 'a', 'b'))
    >>> read_run_times(["job,walltme", "a,10.5"])
    Traceback (most recent call last):
    hopperlib.errors.InputError: there is no column 'run_time_s' for the times. The columns are: 'job', 'walltme'
    """
    delimiter, _, header, rows = read_table(lines_of(source))
    if all(finite(cell) is not None for cell in header):
        raise InputError(f"the first line must name the columns, but {_shown(delimiter.join(header))} are numbers")
    at, column = _times_column(header, column)
    group, of = _group_column(header, column, group)
    numbers = {name: _place(header, name, "covariate") for name in covariates}
    needed = {place: f"no number in column {name}" for name, place in reversed(numbers.items())}
    needed |= {place: f"no group in column {group}" for place in (of,) if place is not None}
    needed |= {at: f"no time in column {column}"}
    skips = Skips("row", "left out")
    kept = list(_timed(whole_rows(rows, len(header)), needed, at, column, skips))
    if not kept:
        rest = f": {skips.total:,} rows lack it" if skips.total else ""
        raise InputError(f"there is no time in column {column!r}{rest}")
    return RunTimes(
        column=column,
        times=tuple(time for time, _, _ in kept),
        group=group,
        groups=_cells(kept, of),
        skips=skips,
        covariates={name: _covariate(kept, place, name) for name, place in numbers.items()},
        when=_when_column(header, column),
        others={name: _cells(kept, header.index(name)) for name in header if name not in ("", column, group)},
        clock=all(CLOCK.fullmatch(cell) for cell in _cells(kept, at)),
    )


def _cells(kept: Sequence[tuple[float, int, list[str]]], place: int | None) -> tuple[str, ...]:
    """Return a column of the rows kept; empty if there is none."""
    return () if place is None else tuple(row[place] for _, _, row in kept)


def _timed(
    rows: Iterable[tuple[int, list[str]]], needed: dict[int, str], at: int, column: str, skips: Skips
) -> Iterator[tuple[float, int, list[str]]]:
    """Yield the time, line and cells of complete rows; the others are counted."""
    for line, row in rows:
        # The first empty column is the reason; those added last come first.
        empty = next((place for place in reversed(needed) if row[place].casefold() in ABSENT), None)
        # An invalid time is an error even if the row lacks another value.
        time = 0.0 if empty == at else _time(row[at], f"line {line}, column {column}")
        if empty is None:
            yield time, line, row
        else:
            skips.add(needed[empty], line)
