"""One measured rate as a row of a table, from any tool and version.

Missing values are None; so are rates printed as zero, NaN or infinity, with a status that explains it.
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
# Start time of a run, as printed by IOR, mdtest and IO500, and as used in IO500's folder names.
_BEGAN = re.compile(
    r"\b(?:began|StartTime|started at|t_start)\W{1,25}(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}|[-/\d]{10} \d\d:\d\d:\d\d)"
    r"|/(\d{4}\.\d\d\.\d\d-\d\d\.\d\d\.\d\d)/",
    re.IGNORECASE,
)
_BEGIN_WORDS = ("began", "starttime", "started at", "t_start", "/")
# How far to look for the start time, which may follow text before the first banner. [characters]
_HEAD = 262_144
_CLOCKS = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y.%m.%d-%H.%M.%S")


def start_in(text: str) -> datetime | None:
    """Return the start of a run by the machine's clock (no tool prints its time zone); None if missing.

    Parameters
    ----------
    text : str
        Output of a run.

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
        File that it was read from.
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
        Total time of the access, including open and close. [s]
    statistic : {"max", "min", "mean"} or None
        Which statistic of the repetitions' rates this is, if a file does not print single ones.
    operations_s : float or None
        Rate of mdtest. [1/s]
    rank : int or None
        Task, in a file of rank details.
    reason : str or None
        Why the status is not ok; for rank details combined over all tasks, their range.
    planned_bytes, moved_bytes : int or None
        Of a stonewalled run: the requested bytes, and the moved bytes as reported by IOR or as rate times time. [bytes]
    start : datetime or None
        Start of the run by the machine's clock.
    flags : tuple of str or None
        Options of the command line, without their values; None if no command line is printed.
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
        """Return the row as plain data: all `KEYS`, plus any other fields that are set."""
        extra = {key: getattr(self, key) for key in _EXTRA_KEYS if getattr(self, key) is not None}
        return {key: getattr(self, key) for key in KEYS} | extra


_FIELDS = [parameter.name for parameter in fields(IoResult)]
_EXTRA_KEYS = _FIELDS[_FIELDS.index("statistic") : _FIELDS.index("start")]
# In the order of the parameters, the rate in both units.
KEYS = (*_FIELDS[: _FIELDS.index("seconds")], "rate_mb_s", "seconds")


def ranks_together(rows: Iterable[IoResult]) -> list[IoResult]:
    """Combine the rows of each file of rank details into one: the median rate, and the time of the slowest task.

    Parameters
    ----------
    rows : iterable of IoResult
        Rows of one or more files.

    Examples
    --------
    >>> rows = [IoResult(file="a.csv", access="read", rank=rank, rate_mib_s=rate) for rank, rate in enumerate((1.0, 4.0, 2.0))]
    >>> (row,) = ranks_together(rows)
    >>> row.tasks, row.rate_mib_s, row.reason
    (3, 2.0, '3 tasks: 1.0 to 4.0 MiB/s each')
    """
    # The statistics module is slow to import because it loads fractions and decimal.
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
    """Return the rows with the aggregate rate of a successful run.

    Parameters
    ----------
    rows : iterable of IoResult
        Rows of one or more files.

    Examples
    --------
    >>> len(measured_rows([IoResult(file="a", rate_mib_s=1.0, access="read"), IoResult(file="b", access="read")]))
    1
    """
    return [row for row in rows if row.status == "ok" and row.rate_mib_s is not None and row.rank is None]


def best_rates(rows: Iterable[IoResult]) -> dict[str, float]:
    """Return the best aggregate rate of each access. [MB/s]

    Parameters
    ----------
    rows : iterable of IoResult
        Rows of one or more files.

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
    """Return each access's coefficient of variation over repetitions with the same settings, and their number.

    Parameters
    ----------
    rows : iterable of IoResult
        Rows of one or more files.

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
            # Runs with different settings are not repetitions.
            settings = (row.api, row.type, row.tasks, row.nodes, row.block_bytes, row.transfer_bytes, row.segments)
            rates.setdefault((row.access, settings), []).append(row.rate_mb_s)
    # If an access has several runs, the one with the most repetitions counts.
    largest: dict[str, list[float]] = {}
    for (access, _), each in rates.items():
        if len(each) > len(largest.get(access, ())):
            largest[access] = each
    return {access: (stdev(each) / mean(each), len(each)) for access, each in largest.items() if len(each) > 1}


def results_csv(results: Iterable[IoResult]) -> str:
    """Return rows as CSV; extra columns are included if any row uses them, and unknown values are empty.

    Parameters
    ----------
    results : iterable of IoResult
        Rows of one or more files.

    Examples
    --------
    >>> print(results_csv([IoResult(file="a.txt", access="read", rate_mib_s=2.0)]), end="")
    file,status,version,api,access,type,tasks,nodes,tasks_per_node,block_bytes,transfer_bytes,segments,repetition,rate_mib_s,rate_mb_s,seconds
    a.txt,ok,,,read,,,,,,,,,2.0,2.097152,
    """
    rows = [result.to_dict() for result in results]
    return rows_csv(rows, (*KEYS, *(key for key in _EXTRA_KEYS if any(key in row for row in rows))))


def rows_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    r"""Return rows as CSV; missing cells are empty.

    Parameters
    ----------
    rows : Iterable[Mapping[str, Any]]
        The rows.
    columns : sequence of str
        Names of the columns.

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
    """Return a cell of a CSV file; text that a spreadsheet would take for a formula is prefixed with an apostrophe.

    Parameters
    ----------
    cell : Any
        Value of the cell.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell(-2.5), csv_cell("-")
    ("'=1+1", -2.5, '-')
    """
    return f"'{cell}" if isinstance(cell, str) and len(cell) > 1 and cell[0] in "=+-@\t\r" else cell
