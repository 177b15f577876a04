"""One measured rate as a row of a table, from any tool and version.

Nothing is invented: missing values are None, and a rate printed as zero, NaN or infinity is None too, with a status
that explains it.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal, get_args

from hopperlib.errors import refusal
from hopperlib.units import BYTES_PER_MIB

Status = Literal["ok", "failed", "incomplete", "no-rates", "not-run"]
# Measured without error; ended in an error; fewer results than requested, without an error; ended without a rate; a
# skipped phase.
STATUSES: tuple[Status, ...] = get_args(Status)
# When a run began, as IOR, mdtest and IO500 print it, and as IO500 names its folders.
_BEGAN = re.compile(
    r"\b(?:began|StartTime|started at|t_start)\W{1,25}(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}|[-/\d]{10} \d\d:\d\d:\d\d)"
    r"|/(\d{4}\.\d\d\.\d\d-\d\d\.\d\d\.\d\d)/",
    re.IGNORECASE,
)
_BEGIN_WORDS = ("began", "starttime", "started at", "t_start", "/")
# A run prints its start time at its beginning, after any text before the first banner. [characters]
_HEAD = 262_144
_CLOCKS = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y.%m.%d-%H.%M.%S")


def start_in(text: str) -> datetime | None:
    """Return the start of a run, by the machine's clock, whose zone no tool prints; None if missing.

    Examples
    --------
    >>> start_in("Began               : Sat Nov 21 03:55:43 2026"), start_in("results/2026.11.21-03.55.43/result.txt")
    (datetime.datetime(2026, 11, 21, 3, 55, 43), datetime.datetime(2026, 11, 21, 3, 55, 43))
    """
    lowered = text[:_HEAD].lower()
    if any(word in lowered for word in _BEGIN_WORDS) and (found := _BEGAN.search(text, 0, _HEAD)):
        for clock in _CLOCKS:
            with suppress(ValueError):
                return datetime.strptime(found[1] or found[2], clock)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class IoResult:
    """One row: the run and its result.

    Parameters
    ----------
    file : str
        Where it was read.
    status : str
        One of `STATUSES`.
    version : str or None
        ``IOR-4.0.0``, ``mdtest-4.0.0``.
    api, access : str or None
        ``POSIX``, ``MPIIO``; ``write``, ``read``, or the operation of mdtest.
    type : str or None
        ``shared`` or ``file per process``.
    tasks, nodes, tasks_per_node, segments, repetition : int or None
    block_bytes, transfer_bytes : int or None
        [bytes]
    rate_mib_s : float or None
        Aggregate rate, as printed. [MiB/s]
    seconds : float or None
        Whole time of the access, opening and closing included. [s]
    statistic : {"max", "min", "mean"} or None
        Of which repetitions' rates this is, where a file prints no single ones.
    operations_s : float or None
        Rate of mdtest. [1/s]
    rank : int or None
        Task, in a file of rank details.
    reason : str or None
        Why the status is not ok; of the tasks of a file of rank details together, how far they lie apart.
    planned_bytes, moved_bytes : int or None
        For a run with a stonewall: the requested bytes; the bytes reported by IOR, otherwise rate times time. [bytes]
    start : datetime or None
        When the run began, by the clock of its machine.
    flags : tuple of str or None
        Options of the command line, without their values; None where no command line is printed.
    unit : str or None
        Unit in which the rate is printed.

    Examples
    --------
    >>> result = IoResult(file="a.txt", access="write", rate_mib_s=1000.0)
    >>> result.rate_mb_s, result.status, list(result.to_dict()) == list(KEYS)
    (1048.576, 'ok', True)
    """

    file: str
    status: Status = "ok"
    version: str | None = None
    api: str | None = None
    access: str | None = None
    type: str | None = None
    tasks: int | None = None
    nodes: int | None = None
    tasks_per_node: int | None = None
    block_bytes: int | None = None
    transfer_bytes: int | None = None
    segments: int | None = None
    repetition: int | None = None
    rate_mib_s: float | None = None
    seconds: float | None = None
    statistic: str | None = None
    operations_s: float | None = None
    rank: int | None = None
    reason: str | None = None
    planned_bytes: int | None = None
    moved_bytes: int | None = None
    start: datetime | None = None
    flags: tuple[str, ...] | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise refusal("status", self.status, f"must be one of: {', '.join(STATUSES)}")

    @property
    def rate_mb_s(self) -> float | None:
        """The rate in units of 1,000,000 bytes. [MB/s]"""
        return None if self.rate_mib_s is None else round(self.rate_mib_s * BYTES_PER_MIB / 1e6, 6)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data: all `KEYS`, and the other parameters that are set."""
        extra = {key: getattr(self, key) for key in _EXTRA_KEYS if getattr(self, key) is not None}
        return {key: getattr(self, key) for key in KEYS} | extra


_FIELDS = [parameter.name for parameter in fields(IoResult)]
_EXTRA_KEYS = _FIELDS[_FIELDS.index("statistic") : _FIELDS.index("start")]
# In the order of the parameters, the rate in both units.
KEYS = (*_FIELDS[: _FIELDS.index("seconds")], "rate_mb_s", "seconds")


def ranks_together(rows: Iterable[IoResult]) -> list[IoResult]:
    """Return rows with one for all tasks of a file of rank details: the median rate, and the time of the slowest.

    Examples
    --------
    >>> rows = [IoResult(file="a.csv", access="read", rank=rank, rate_mib_s=rate) for rank, rate in enumerate((1.0, 4.0, 2.0))]
    >>> (row,) = ranks_together(rows)
    >>> row.tasks, row.rate_mib_s, row.reason
    (3, 2.0, '3 tasks: 1.0 to 4.0 MiB/s each')
    """
    # With its fractions and decimals, statistics is slow to import.
    from statistics import median

    together: dict[tuple[str, str | None], list[IoResult]] = {}
    kept: list[IoResult] = []
    for row in rows:
        group = together.setdefault((row.file, row.access), []) if row.rank is not None else kept
        group.append(row)
    for ranks in together.values():
        rates = [row.rate_mib_s for row in ranks if row.rate_mib_s] or [0.0]
        apart = f"{len(ranks):,} tasks: {min(rates):,.1f} to {max(rates):,.1f} MiB/s each"
        seconds = max((row.seconds for row in ranks if row.seconds), default=None)
        whole: dict[str, Any] = {"tasks": len(ranks), "rate_mib_s": median(rates) or None, "seconds": seconds}
        whole |= {"statistic": "median of tasks", "reason": ranks[0].reason or apart}
        kept.append(replace(ranks[0], rank=None, repetition=None, **whole))
    return kept


def measured_rows(rows: Iterable[IoResult]) -> list[IoResult]:
    """Return the rows that hold an aggregate rate of a run that ended well.

    Examples
    --------
    >>> len(measured_rows([IoResult(file="a", rate_mib_s=1.0, access="read"), IoResult(file="b", access="read")]))
    1
    """
    return [row for row in rows if row.status == "ok" and row.rate_mib_s is not None and row.rank is None]


def best_rates(rows: Iterable[IoResult]) -> dict[str, float]:
    """Return the best aggregate rate of each access. [MB/s]

    Examples
    --------
    >>> best_rates(IoResult(file="a", access="write", rate_mib_s=rate) for rate in (1.0, 2.0))
    {'write': 2.097152}
    """
    best: dict[str, float] = {}
    for row in measured_rows(rows):
        if row.access and row.rate_mb_s is not None:
            best[row.access] = max(best.get(row.access, 0.0), row.rate_mb_s)
    return best


def variations(rows: Iterable[IoResult]) -> dict[str, tuple[float, int]]:
    """Return the coefficient of variation of each access over repetitions with the same settings, and how many there are.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", repetition=n, rate_mib_s=rate) for n, rate in enumerate((1.0, 3.0))]
    >>> {access: (round(variation, 3), runs) for access, (variation, runs) in variations(rows).items()}
    {'write': (0.707, 2)}
    """
    from statistics import mean, stdev

    rates: dict[tuple[str, tuple[Any, ...]], list[float]] = {}
    for row in measured_rows(rows):
        if row.access and row.repetition is not None and row.rate_mb_s:
            # Runs with other settings are not repetitions.
            settings = (row.api, row.type, row.tasks, row.nodes, row.block_bytes, row.transfer_bytes, row.segments)
            rates.setdefault((row.access, settings), []).append(row.rate_mb_s)
    # Of several runs of one access that with the most repetitions counts.
    largest: dict[str, list[float]] = {}
    for (access, _), each in rates.items():
        if len(each) > len(largest.get(access, ())):
            largest[access] = each
    return {access: (stdev(each) / mean(each), len(each)) for access, each in largest.items() if len(each) > 1}


def results_csv(results: Iterable[IoResult]) -> str:
    """Return rows as CSV; extra columns are included if any row uses them, and unknown values are empty.

    Examples
    --------
    >>> print(results_csv([IoResult(file="a.txt", access="read", rate_mib_s=2.0)]), end="")
    file,status,version,api,access,type,tasks,nodes,tasks_per_node,block_bytes,transfer_bytes,segments,repetition,rate_mib_s,rate_mb_s,seconds
    a.txt,ok,,,read,,,,,,,,,2.0,2.097152,
    """
    rows = [result.to_dict() for result in results]
    return rows_csv(rows, (*KEYS, *(key for key in _EXTRA_KEYS if any(key in row for row in rows))))


def rows_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    r"""Return rows as CSV, with nothing in a cell that a row lacks.

    Examples
    --------
    >>> rows_csv([{"a": 1}, {"b": "=2"}], ("a", "b"))
    "a,b\n1,\n,'=2\n"
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({key: csv_cell(cell) for key, cell in row.items()} for row in rows)
    return out.getvalue()


def csv_cell(cell: Any) -> Any:
    """Return a cell of a CSV file; a text that a spreadsheet would take for a formula gets an apostrophe in front.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell(-2.5), csv_cell("-")
    ("'=1+1", -2.5, '-')
    """
    return f"'{cell}" if isinstance(cell, str) and len(cell) > 1 and cell[0] in "=+-@\t\r" else cell
