"""The rubric of the project, and the points of a report's numbers."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hopperlib.errors import InputError, did_you_mean

# A report is a page of numbers; a much larger file is something else.
_LARGEST_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the rubric.

    Parameters
    ----------
    part, name : str
        Table and key of the report.
    points : float
    wanted : str
        Required entries of the report.
    kind : {"word", "number", "percent", "date", "table"}
        Comparison: a word; a number within a share of the key; a number within some percentage points; a date within
        some days; a table of words, with a share of the points for each.
    within : float
        The tolerance of the kind. Within twice of it half of the points are given.
    """

    part: str
    name: str
    points: float
    wanted: str
    kind: Literal["word", "number", "percent", "date", "table"] = "word"
    within: float = 0


RUBRIC = (
    Row(part="machine", name="field", points=5, wanted="the field of the machine file that is wrong"),
    Row(part="machine", name="right_value", points=5, wanted="what the listings say instead", kind="number"),
    Row(part="scripts", name="", points=10, wanted="for each script what is wrong with it, or that it is right", kind="table"),
    Row(part="jobs", name="longest_waiting_partition", points=5, wanted="the partition with the longest mean wait"),
    Row(part="jobs", name="mean_wait_h", points=4, wanted="that mean wait, in hours", kind="number", within=0.05),
    Row(part="jobs", name="used_percent", points=3, wanted="the use of the machine in the week", kind="percent", within=1),
    Row(part="jobs", name="at_time_limit", points=3, wanted="jobs that ran into their time limit", kind="number"),
    Row(part="outputs", name="", points=10, wanted="the cause of each output", kind="table"),
    Row(part="history", name="series", points=5, wanted="the benchmark that lost"),
    Row(part="history", name="first_day", points=5, wanted="the first day with the loss", kind="date", within=3),
    Row(part="history", name="percent", points=5, wanted="the size of the loss", kind="percent", within=2),
    Row(part="io", name="slow_run", points=4, wanted="the run that is far slower than its repeat"),
    Row(part="io", name="percent", points=3, wanted="by how much, against its repeat", kind="percent", within=2),
    Row(part="io", name="fastest", points=3, wanted="the fastest setting"),
)  # fmt: skip


class Mark(NamedTuple):
    """Points of one row of the rubric, and why."""

    part: str
    wanted: str
    points: float
    of: float
    why: str


def read_report(path: str | Path) -> dict[str, Any]:
    """Return the numbers of a report.

    Parameters
    ----------
    path : path
        A file like the ``report.toml`` of a pack.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, or has a table or a key that is not in the rubric.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "report.toml")
    >>> _ = file.write_text("jobs.at_time_limit = 12")
    >>> read_report(file)
    {'jobs': {'at_time_limit': 12}}
    """
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            raise InputError(
                f"{file.name}: is larger than {_LARGEST_BYTES:,} bytes; a report holds some numbers and words"
            )
        report = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file.name}: is not valid TOML: {error}") from error
    check_report(report, file.name)
    return report


def check_report(report: Mapping[str, Any], name: str = "report") -> None:
    """Reject tables and keys that are not in the rubric: a misspelled one would silently lose its points.

    Examples
    --------
    >>> check_report({"job": {}})
    Traceback (most recent call last):
    hopperlib.errors.InputError: report: 'job' is not a table of a report; did you mean 'jobs'?
    """
    parts = {row.part for row in RUBRIC}
    for part, given in report.items():
        if part not in parts:
            raise InputError(f"{name}: {part!r} is not a table of a report{did_you_mean(part, sorted(parts))}")
        if not isinstance(given, Mapping):
            raise InputError(f"{name}: {part} must be a table, [{part}]")
        known = {row.name for row in RUBRIC if row.part == part}
        for key in given:
            if known != {""} and key not in known:
                raise InputError(f"{name}: [{part}] has no key {key!r}{did_you_mean(key, sorted(known))}")


def grade(report: Mapping[str, Any], key: Mapping[str, Any]) -> tuple[Mark, ...]:
    """Return the points of a report by the rubric.

    Parameters
    ----------
    report : mapping
        The tables of a report; missing or empty entries get no points.
    key : mapping
        The same tables, as the pack's seed gives them.

    Raises
    ------
    InputError
        If the report has a table or a key that is not in the rubric.

    Examples
    --------
    >>> from hopperbook.project.pack import pack
    >>> key = pack(1).key
    >>> sum(mark.points for mark in grade(key, key)), sum(mark.points for mark in grade({}, key))
    (70.0, 0.0)
    """
    check_report(report)
    return tuple(_mark(row, report.get(row.part, {}), key[row.part]) for row in RUBRIC)


def _mark(row: Row, given: Mapping[str, Any], right: Mapping[str, Any]) -> Mark:
    """Return the points of one row."""
    if row.kind == "table":
        hits = sum(_same_word(given.get(name, ""), value) for name, value in right.items())
        share, why = hits / len(right), f"{hits} of {len(right)} right"
    elif given.get(row.name, "") == "":
        share, why = 0.0, "missing"
    else:
        share, why = _SHARES[row.kind](given[row.name], right[row.name], row.within)
    return Mark(row.part, row.wanted, round(row.points * share, 2), row.points, why)


def _same_word(given: Any, right: Any) -> bool:
    """Whether two words are the same except for case and blanks."""
    return isinstance(given, str) and given.strip().lower() == str(right).lower()


def _word(given: Any, right: Any, within: float) -> tuple[float, str]:
    return (1.0, "right") if _same_word(given, right) else (0.0, "not it")


def _near(off: float, within: float) -> tuple[float, str]:
    """Return the share of the points for a deviation."""
    # A hair more, as decimals are not exact in binary.
    if off <= within + 1e-9:
        return 1.0, "right"
    return (0.5, "close") if off <= 2 * within + 1e-9 else (0.0, "not it")


def _number(given: Any, right: Any, within: float) -> tuple[float, str]:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return 0.0, "must be a number"
    return _near(abs(given - right), within * abs(right))


def _percent(given: Any, right: Any, within: float) -> tuple[float, str]:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return 0.0, "must be a number"
    return _near(abs(given - right), within)


def _date(given: Any, right: Any, within: float) -> tuple[float, str]:
    try:
        day = given if isinstance(given, date) else date.fromisoformat(str(given).strip())
    except ValueError:
        return 0.0, "must be a date such as 2026-01-31"
    return _near(abs((date(day.year, day.month, day.day) - date.fromisoformat(right)).days), within)


_SHARES = {"word": _word, "number": _number, "percent": _percent, "date": _date}
