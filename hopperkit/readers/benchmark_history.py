"""Read benchmark histories from CSV files, ReFrame logs, TOKIO summaries, Open XDMoD exports, and ``hopper io`` tables.

A file with column names in its first line gives one series for each value column and each combination of the columns
that identify a benchmark (``benchmark``, ``system``, ``environ``, ...); the others are covariates. ReFrame has written
such files since version 4.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, product
from statistics import median
from typing import Any, NamedTuple

from hopperkit.frames import TableMixin
from hopperkit.readers.run_times import TIME_NAMES, heading_letters, number_of
from hopperkit.readers.source import Source, lines_of
from hopperkit.readers.table import ABSENT, Skips, finite, read_table, typed_cell, whole_rows
from hopperlib.errors import InputError
from hopperlib.monitoring.changes import FEWEST
from hopperlib.monitoring.history import Better, History, better_of
from hopperlib.monitoring.simultaneous_changes import KINDS, kind_of

# Names of columns (in lower case) with the time of a run, most likely first; then those that identify a series.
_TIMES = (
    "job_completion_time", "completion_time", "time", "timestamp", "datetime", "date", "when", "day", "start",
    "started", "begin", "_datetime_start", "month", "quarter", "year", "commit", "build", "job_id", "run", "file",
)  # fmt: skip
_NAMES = (
    "benchmark", "series", "test", "unique_name", "short_name", "display_name", "name", "system", "partition",
    "system:partition", "environ", "metric", "api", "access", "type", "executable", "_file_system", "darshan_app",
)  # fmt: skip
# Columns with the measured value, even if others are numeric; most likely first.
_VALUES = ("value", "rate_mib_s", "operations_s", "darshan_agg_perf_by_slowest_posix")
# Columns that hold the settings of a run, not its speed.
_SETTINGS = re.compile(
    r"^(num_|n_|used_)?(nodes?|tasks?|cores?|threads?|ranks?|procs?|processes|cpus?|gpus?|size|temp|temperature|load|version"
    r"|queue|power|seed|compiler|driver|firmware|kernel|release|jobs?|repetitions?|iterations?|iter|count|line|segments|files|problems|(read|write)_calls|bytes_.*)(_.*)?$|^num_|_bytes$"
)
# A column with fewer distinct values than one per this many runs is a setting too: measured values seldom repeat.
_RUNS_A_SETTING = 12
# Runs that share their time with others, of the same series: more than half of them have several values for each time.
_MOST_ALONE = 0.5
# Share of the runs that a column must separate from the others of their time, and its values at most.
_APART, _MOST_OF_COLUMN = 0.95, 512
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
# Columns that count the repetitions of a run, which are runs of one series.
_REPEATS = re.compile(r"^(repeats?|repetitions?|reps?|trials?|iterations?|iter|runs?|no|nr|number|count|samples?)$")
# Columns that identify a job or line and are unrelated to the machine.
_LABELS = re.compile(
    r"^(.*jobid|job_id|id|index|line|.*_unix|job_submit_time|.*_ref|.*_(lower|upper)(_thres)?|.*_unit|unit|result)$"
)
# Cells that describe a series as a whole.
_DESCRIBED = ("_column", "better", "kind")


@dataclass(frozen=True, slots=True, repr=False)
class Histories(TableMixin):
    """The series in a file, and what was left out."""

    series: tuple[History, ...]
    skips: Skips = field(default_factory=lambda: Skips(what="value", fate="left out"))

    def frame_data(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each run of each series, with numeric and time cells converted."""
        for history in self.series:
            described = {"unit": history.unit, "better": history.better, "kind": history.kind or None}
            for run, (time, value) in enumerate(zip(history.times, history.values, strict=True)):
                settings = {name: typed_cell(values[run]) for name, values in history.covariates.items()}
                yield {"benchmark": history.name, "time": typed_cell(time), "value": value, **described, **settings}


class _Run(NamedTuple):
    """One value of one series."""

    line: int
    time: str
    value: float
    unit: str
    cells: dict[str, str]


def read_benchmark_history(
    source: Source, *, name: str = "", column: str | None = None, better: Better | None = None
) -> Histories:
    """Return the series in a file.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.lines_of`.
    name : str
        Name of a series without a name: for example, the file's name.
    column : str or None
        The column of the values; None uses ``value``, otherwise columns named as rates or times, otherwise all numeric
        columns.
    better : {"higher", "lower", None}
        Direction that is better; None uses a column ``better``, or names and units.

    Raises
    ------
    InputError
        If there is no such column, no value, or a cell of a value column is not a number.

    Examples
    --------
    >>> found = read_benchmark_history(["time,value,nodes", "2026-01-01,100,4", "2026-01-02,,4", "2026-01-03,99,8"])
    >>> found.series[0].values, found.series[0].covariates, found.skips.messages()
    ((100.0, 99.0), {'nodes': ('4', '8')}, ['1 value left out, there is none (first at line 3)'])
    """
    lines = ["" if line.startswith("#") else line.rstrip("\r\n") for line in lines_of(source)]
    if not any(map(str.strip, lines)):
        raise InputError("the file is empty")
    # Open XDMoD writes title and parameters first, and the table between two rules.
    if rules := [number for number, line in enumerate(lines) if line == "---------"]:
        lines = lines[rules[0] + 1 : (*rules, None)[1]]
    skips = Skips(what="value", fate="left out")
    series: dict[str, list[_Run]] = defaultdict(list)
    for key, run in _table_runs(lines, name, column, skips):
        series[key].append(run)
    histories = tuple(_history(key or name or "benchmark", runs_of_key, better) for key, runs_of_key in series.items())
    if not histories:
        raise InputError("the file has no value above 0")
    return Histories(histories, skips)


def _goes_up(cells: Sequence[str]) -> bool:
    """Whether a column may count the runs: no numbers, or each above the one before."""
    numbers = [finite(cell) for cell in cells]
    known = [number for number in numbers if number is not None]
    return len(known) < len(numbers) or known == sorted(set(known))


def _value_columns(header: Sequence[str], rows: Sequence[dict[str, str]], times: str, column: str | None) -> list[str]:
    """Return the columns that hold the values of series."""
    if column is not None:
        if column not in header:
            raise InputError(
                f"there is no column {column!r}; the columns are: {', '.join(header)}", name="column", value=column
            )
        return [column]
    for known in _VALUES:
        if known in header and any(row[known].lower() not in ABSENT for row in rows):
            return [known]
    # Figures of merit as ReFrame writes them.
    return [name for name in header if name.endswith("_value")] or _measured_columns(header, rows, times)


def _measured_columns(header: Sequence[str], rows: Sequence[dict[str, str]], times: str) -> list[str]:
    """Return the columns of measured values by name, otherwise numeric columns with varied values, otherwise all
    numeric ones.
    """
    cells = {name: {row[name] for row in rows} for name in header if name != times and not _is_word(name)}
    numbers = {
        name: values for name, values in cells.items() if all(_is_number_or_absent(name, cell) for cell in values)
    }
    if not numbers:
        raise InputError(f"no column contains only numbers; the columns are: {', '.join(header)}")
    least = len(rows) // _RUNS_A_SETTING
    measured = [name for name, values in numbers.items() if len(values) > least and not _SETTINGS.match(name.lower())]
    return measured or list(numbers)


def _is_word(name: str) -> bool:
    """Whether a column's name shows that it names or labels series."""
    return name.lower() in _NAMES or bool(_LABELS.match(name.lower()))


def _is_number_or_absent(name: str, cell: str) -> bool:
    """Whether a cell is valid in a numeric column."""
    return _number(name, cell) is not None or cell.lower() in ABSENT


def _number(name: str, cell: str) -> float | None:
    """Return a cell as a number, or as seconds if a column of durations holds ``hh:mm:ss``; None if it is neither."""
    return number_of(cell) if heading_letters(name) in TIME_NAMES else finite(cell)


def _read_rows(lines: Sequence[str]) -> tuple[list[str], list[int], list[dict[str, str]]]:
    """Return the column names, and the rows with their line numbers."""
    _, line, header, body = read_table(lines)
    if any(finite(cell) is not None for cell in header[len(header) > 1 :]):
        # Without column names: time and value, the order of most tools.
        names = ["time", "value", *(f"column_{place}" for place in range(3, len(header) + 1))]
        body, header = chain([(line, header)], body), names if len(header) > 1 else ["value"]
    numbers, rows = [], []
    for number, cells in whole_rows(body, len(header)):
        numbers.append(number)
        rows.append(dict(zip(header, cells, strict=True)))
    return header, numbers, rows


def _times_column(header: Sequence[str], rows: Sequence[dict[str, str]], column: str | None) -> str:
    """Return the time column, found by its name or as the first increasing one; None if there is none."""
    lower = {name.lower(): name for name in reversed(header)}
    named = next((lower[name] for name in _TIMES if name in lower and lower[name] != column), "")
    first = header[0]
    counts = len(header) > 1 and first != column and _goes_up([row[first] for row in rows])
    return named or (first if counts else "")


def _table_runs(lines: Sequence[str], file: str, column: str | None, skips: Skips) -> Iterator[tuple[str, _Run]]:
    """Yield the values of a table, keyed by series name."""
    header, numbers, rows = _read_rows(lines)
    times = _times_column(header, rows, column)
    values = _value_columns(header, rows, times, column)
    keys, naming = _naming_columns(header, rows, times, len(values))
    if repeated := _repeated_column(header, rows, times, {*keys, *values}, naming):
        keys, naming = [*keys, repeated], [*naming, repeated]
    taken = {times, *keys, *values}
    others = [name for name in header if name not in taken and not _LABELS.match(name.lower())]
    for (number, row), name in product(zip(numbers, rows, strict=True), values):
        value = _measured(row, name, number, skips)
        if value is None:
            continue
        figure = name.removesuffix("_value")
        named = [row[key] for key in naming if row[key].lower() not in ABSENT]
        unnamed = len(values) == 1 and name == figure and ((named and not repeated) or name in _VALUES)
        label = " ".join(named if unnamed else [*named, figure])
        unit = row.get(f"{figure}_unit", row.get("unit", ""))
        settings = {other: row[other] for other in others} | {"_column": figure}
        yield label or file, _Run(number, row.get(times, "") or str(number), value, unit, settings)


def _naming_columns(
    header: Sequence[str], rows: Sequence[dict[str, str]], times: str, values: int
) -> tuple[list[str], list[str]]:
    """Return the columns that hold names, and those among them that distinguish the series."""
    keys = [name for name in header if name.lower() in _NAMES and name != times]
    # A name shared by all rows distinguishes nothing, unless it is the only one.
    varied = [name for name in keys if len({row[name] for row in rows}) > 1]
    return keys, varied if varied or values > 1 else keys[:1]


def _repeated_column(
    header: Sequence[str], rows: Sequence[dict[str, str]], times: str, taken: set[str], naming: Sequence[str]
) -> str:
    """Return the column whose values each have a run at most of the times, such as the node of a benchmark that runs on
    every node each day: each value is a series; empty if there is none.
    """
    if not times:
        return ""
    # Runs at several hours of one day are runs of that day.
    days = [_day(row[times]) for row in rows]
    named = [tuple(row[name] for name in naming) for row in rows]
    moments = Counter(zip(days, named, strict=True))
    if len(moments) > _MOST_ALONE * len(rows):
        return ""
    candidates = [
        name
        for name in header
        if name != times and name not in taken and not _is_word(name) and not _REPEATS.match(name.lower())
    ]
    # Texts before numbers: a node's name before its temperature.
    candidates.sort(key=lambda name: all(finite(row[name]) is not None for row in rows))
    return next((name for name in candidates if _has_a_run_each(name, rows, days, named)), "")


def _has_a_run_each(
    column: str, rows: Sequence[dict[str, str]], days: Sequence[str], named: Sequence[tuple[str, ...]]
) -> bool:
    """Whether each value of a column has about one run on a day, and runs enough for a series."""
    often = Counter(row[column] for row in rows)
    apart = set(zip(days, named, (row[column] for row in rows), strict=True))
    enough = median(often.values()) >= FEWEST and 2 <= len(often) <= _MOST_OF_COLUMN
    return enough and len(apart) >= _APART * len(rows)


def _day(time: str) -> str:
    """The day of a timestamp; any other time as it is."""
    return time[:10] if _DATED.match(time) else time


def _measured(row: dict[str, str], name: str, line: int, skips: Skips) -> float | None:
    """Return the measured value of a column; None if it is missing or 0, which is counted."""
    # A summary of `hopper io` has rows for the minimum and maximum of the same runs, which are not additional runs.
    if row.get("statistic", "") not in ("", "mean"):
        return None
    cell = row[name]
    value = _number(name, cell)
    if cell.lower() in ABSENT or value == 0:
        skips.add("it is 0" if value == 0 else "there is none", line)
        return None
    if value is None or value < 0:
        raise InputError(f"line {line}, column {name}: {cell!r} is not a number above 0")
    return value


def _moment(time: str) -> tuple[int, float]:
    """Return a time for sorting; unreadable times keep their position."""
    number = finite(time)
    if number is not None:
        return (1, number)
    try:
        moment = datetime.fromisoformat(time)
        # Timestamps from two time zones, or from summer and winter time, sort correctly only on one clock.
        return (1, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except ValueError:
        return (0, 0.0)


def _history(name: str, runs: list[_Run], better: Better | None) -> History:
    """Return one series in time order, if all its times can be read."""
    moments = [_moment(run.time) for run in runs]
    if all(readable for readable, _ in moments):
        runs = [run for _, run in sorted(zip(moments, runs, strict=True), key=lambda pair: pair[0])]
    column, unit = runs[0].cells.get("_column", ""), runs[0].unit
    kinds = {run.cells.get("kind", "") for run in runs}
    return History(
        name=name,
        values=tuple(run.value for run in runs),
        times=tuple(run.time for run in runs),
        unit=unit,
        better=better or _stated_better(runs) or better_of(f"{column} {name}", unit),
        kind=next((kind for kind in kinds if kind in KINDS), kind_of(f"{name} {column}")),
        covariates=_covariates(runs),
    )


def _covariates(runs: list[_Run]) -> dict[str, tuple[str, ...]]:
    """Return the settings that differ between runs."""
    settings = {name: tuple(run.cells[name] for run in runs) for name in runs[0].cells if name not in _DESCRIBED}
    return {name: values for name, values in settings.items() if len(set(values)) > 1}


def _stated_better(runs: list[_Run]) -> Better | None:
    """Return the better direction from the first run that states it; None if others disagree."""
    stated = next((run.cells["better"].lower() for run in runs if run.cells.get("better")), "")
    return {"higher": "higher", "lower": "lower"}.get(stated)  # type: ignore[return-value]
