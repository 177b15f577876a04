"""Cost of a job's I/O.

Darshan adds up the time of all tasks in their calls. Time in MPI-IO includes the POSIX calls below it. The rest of
opening and closing a file is metadata. The rest of reading and writing is, for collective calls, waiting for other
tasks and data exchange with them; otherwise file locks, which Darshan does not count, or the library itself. No log has
the time that tasks outside I/O calls wait for one inside, so the slowest task is reported next to the mean: the run's
loss is between the two.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hopperkit.iologs.darshan_log import DAOS, DarshanLog, FileRecord
from hopperlib.text import digits, share

# Tolerance for differences between clocks and for the run time's rounding to seconds.
_CLOCKS = 1.05
_HOUR_S = 3600.0


class Cost(NamedTuple):
    """I/O time of all tasks, by purpose.

    Parameters
    ----------
    tasks : int
    run_time_s : float or None
        [s]
    transfer_s, metadata_s, waiting_s : float
        Reading and writing; opening, closing and seeking, including MPI-IO; reading and writing in MPI-IO minus the
        POSIX calls below it. Sums over all tasks. [s]
    slowest_s : float
        Lower bound of the slowest task's I/O time. [s]
    nodes : int or None
        Nodes of the job, if known.
    collective : bool
        Whether a call of MPI-IO was collective, or the log does not count them.
    """

    tasks: int
    run_time_s: float | None
    transfer_s: float
    metadata_s: float
    waiting_s: float
    slowest_s: float
    nodes: int | None = None
    collective: bool = True

    @property
    def task_s(self) -> float:
        """Time in I/O calls of all tasks together. [s]"""
        return self.transfer_s + self.metadata_s + self.waiting_s

    @property
    def seconds(self) -> float:
        """Time in I/O calls of a task on average. [s]"""
        return self.task_s / self.tasks

    @property
    def node_s(self) -> float | None:
        """Time in I/O calls of all nodes: the mean time of a task, for each node; None if their number is unknown. [s]"""
        return None if self.nodes is None else self.seconds * self.nodes

    @property
    def waiting_share(self) -> float:
        """Share of waiting and exchange in the time in calls. [fraction]"""
        return self.waiting_s / self.task_s if self.task_s else 0.0

    @property
    def impossible(self) -> bool:
        """Whether the tasks spent more time in calls than they ran: threads overlap, or the times are wrong."""
        return bool(self.run_time_s) and self.seconds > _CLOCKS * (self.run_time_s or 0.0) + 1

    @property
    def share(self) -> float | None:
        """Mean share of the run that a task spends in I/O calls; None if unknown. [fraction]"""
        if not self.run_time_s or self.impossible:
            return None
        return min(1.0, self.seconds / self.run_time_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as data: hours of all tasks, seconds of the run, shares."""
        return {
            "io_task_hours": round(self.task_s / _HOUR_S, 6),
            "io_node_hours": None if self.node_s is None else round(self.node_s / _HOUR_S, 6),
            "nodes": self.nodes,
            "io_s": round(self.seconds, 3),
            "io_slowest_s": round(self.slowest_s, 3),
            "io_share": None if self.share is None else round(self.share, 6),
            "transfer_task_hours": round(self.transfer_s / _HOUR_S, 6),
            "metadata_task_hours": round(self.metadata_s / _HOUR_S, 6),
            "waiting_task_hours": round(self.waiting_s / _HOUR_S, 6),
            "waiting_share": round(self.waiting_share, 4),
        }


def cost_of(log: DarshanLog) -> Cost:
    """Compute the I/O cost of a job.

    Parameters
    ----------
    log : DarshanLog
        Darshan log of the job.

    Examples
    --------
    Four tasks write for 10 s each below MPI-IO, and spend 25 s each in it:

    >>> posix = FileRecord(path="/a", tasks=4, shared=True, busy_s=40.0, meta_s=4.0, slowest_s=12.0)
    >>> above = FileRecord(path="/a", interface="MPI-IO", tasks=4, shared=True, busy_s=100.0, slowest_s=26.0)
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=50.0, modules=(), files=(posix,),
    ...     upper=(above,))
    >>> cost = cost_of(log)
    >>> cost.transfer_s, cost.metadata_s, cost.waiting_s, cost.seconds, cost.share
    (36.0, 4.0, 60.0, 25.0, 0.5)
    """
    above = above_by_path(log).values()
    metadata = sum(file.meta_s for file in log.files) + sum(each.metadata_s for each in above)
    transfer = sum(max(0.0, file.busy_s - file.meta_s) for file in log.files)
    waiting = sum(each.waiting_s for each in above)
    records = (*log.files, *(record for record in log.upper if record.interface == "MPI-IO"))
    slowest = max(slowest_s(log.files), max((record.slowest_s for record in records), default=0.0))
    tasks = log.tasks or 1
    # The slowest task of one file need not be the slowest overall, which is no faster than the mean.
    slowest = max(slowest, (transfer + metadata + waiting) / tasks)
    slowest = max(slowest, max(log.task_s.values(), default=0.0))
    return Cost(tasks, log.run_time_s, transfer, metadata, waiting, slowest, log.nodes, has_collective_calls(log))


class Above(NamedTuple):
    """Time of all tasks in MPI-IO that is not in calls under it.

    Parameters
    ----------
    metadata_s, waiting_s : float
        Opening and closing; the rest. [s]
    """

    metadata_s: float
    waiting_s: float


def above_by_path(log: DarshanLog) -> dict[str, Above]:
    """Return the time in MPI-IO that is not in calls under it, by file; DAOS names files differently. [s]

    Parameters
    ----------
    log : DarshanLog
        Darshan log of the job.

    Examples
    --------
    >>> above = FileRecord(path="/a", interface="MPI-IO", busy_s=10.0, meta_s=3.0)
    >>> above_by_path(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), upper=(above,),
    ...     files=(FileRecord(path="/a", busy_s=4.0, meta_s=1.0),)))
    {'/a': Above(metadata_s=2.0, waiting_s=4.0)}
    """
    daos = any(file.interface in DAOS for file in log.files)
    above: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in log.upper:
        if record.interface == "MPI-IO":
            times = above["" if daos else record.path]
            times[0] += record.meta_s
            times[1] += record.busy_s
    for file in log.files:
        path = "" if daos else file.path
        if path in above and file.interface != "MPI-IO":
            above[path][0] -= file.meta_s
            above[path][1] -= file.busy_s
    parts = {path: (max(0.0, meta), max(0.0, whole)) for path, (meta, whole) in above.items()}
    return {path: Above(min(meta, whole), max(0.0, whole - meta)) for path, (meta, whole) in parts.items()}


def waiting_by_path(log: DarshanLog) -> dict[str, float]:
    """Return the time of all tasks in MPI-IO that is not in calls under it, without opening and closing, by file. [s]

    Parameters
    ----------
    log : DarshanLog
        Darshan log of the job.

    Examples
    --------
    >>> above = FileRecord(path="/a", interface="MPI-IO", busy_s=10.0)
    >>> waiting_by_path(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), upper=(above,),
    ...     files=(FileRecord(path="/a", busy_s=4.0),)))
    {'/a': 6.0}
    """
    return {path: each.waiting_s for path, each in above_by_path(log).items()}


def has_collective_calls(log: DarshanLog, path: str | None = None) -> bool:
    """Whether any MPI-IO call, to one file or to all, was collective; true if the log counts no calls.

    Parameters
    ----------
    log : DarshanLog
        The Darshan log.
    path : str or None
        Path of the file; None for all files.

    Examples
    --------
    >>> record = FileRecord(path="/a", interface="MPI-IO", writes=40, counts={"COLL_WRITES": 0})
    >>> has_collective_calls(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), files=(),
    ...     upper=(record,)))
    False
    """
    records = [each for each in log.upper if each.interface == "MPI-IO" and path in (None, each.path)]
    collective = any(each.counts.get(name, 0) for each in records for name in ("COLL_READS", "COLL_WRITES"))
    return collective or not any(each.reads + each.writes for each in records)


def slowest_s(files: Iterable[FileRecord], way: str = "") -> float:
    """Return a lower bound of the slowest task's time on files, in one direction or in all calls. [s]

    Parameters
    ----------
    files : iterable of FileRecord
        Records of the files.
    way : str, default ''
        ``read``, ``write`` or all.

    Examples
    --------
    >>> slowest_s([FileRecord(path=f"/{task}", busy_s=3.0 + task, written_by={task: 1}) for task in (0, 1)])
    4.0
    """
    shared, single = 0.0, defaultdict[int, float](float)
    for file in files:
        seconds = time_s(file, way)
        if file.shared:
            shared = max(shared, min(file.slowest_s or file.moved(way).time_s, seconds) if way else file.slowest_s)
        else:
            single[min((*file.written_by, *file.read_by), default=-1)] += seconds
    # Files without transfers do not identify a task.
    single.pop(-1, None)
    return max(shared, *single.values()) if single else shared


def time_s(file: FileRecord, way: str = "") -> float:
    """Return the time of all tasks in the calls of one direction to a file, or in all its calls. [s]

    Parameters
    ----------
    file : FileRecord
        Record of the file.
    way : str, default ''
        ``read``, ``write`` or all.

    Examples
    --------
    >>> time_s(FileRecord(path="/a", busy_s=3.0, read_busy_s=2.0), "read")
    2.0
    """
    if not way:
        return file.busy_s
    busy = file.read_busy_s if way == "read" else file.write_busy_s
    return busy or file.moved(way).time_s


def task_time(seconds: float, of: str = "task") -> str:
    """Return the time of all tasks, or nodes, together in words.

    Parameters
    ----------
    seconds : float
        Sum over all tasks or nodes. [s]
    of : str, default "task"
        "task" or "node".

    Examples
    --------
    >>> task_time(7200), task_time(90), task_time(0.5, "node")
    ('2 task-hours', '1.5 task-minutes', '0.5 node-seconds')
    """
    unit, length = next(
        each for each in (("hour", _HOUR_S), ("minute", 60.0), ("second", 1.0)) if seconds >= each[1] or each[1] == 1
    )
    number = digits(seconds / length, 3)
    return f"{number} {of}-{unit}{'s' * (number != '1')}"


def of_nodes(node_s: float | None) -> str:
    """Return the number of nodes as text in parentheses; empty if unknown.

    Parameters
    ----------
    node_s : float or None
        Node-seconds; None if unknown. [s]

    Examples
    --------
    >>> of_nodes(7200.0), of_nodes(None)
    (' (2 node-hours)', '')
    """
    return "" if node_s is None else f" ({task_time(node_s, 'node')})"


def waiting_words(cost: Cost) -> str:
    """Return the name of MPI-IO time beyond the calls below it.

    Parameters
    ----------
    cost : Cost
        Cost of the job's I/O.

    Examples
    --------
    >>> waiting_words(Cost(4, 9.0, 1.0, 0.0, 3.0, 1.0, collective=False))
    'MPI-IO itself (locks of the file, or the library)'
    """
    if cost.collective:
        return "tasks that wait for each other or exchange data"
    return "MPI-IO itself (locks of the file, or the library)"


def headline(cost: Cost) -> str:
    """Return a sentence on the cost of I/O; empty if the log has no times.

    Parameters
    ----------
    cost : Cost
        Cost of the job's I/O.

    Examples
    --------
    >>> headline(Cost(2048, 659.0, 5e4, 0.0, 1.195e6, 610.0))
    'I/O took 608 of 659 s (92 %), 346 task-hours; 96 % of it is tasks that wait for each other or exchange data.'
    >>> headline(Cost(2048, 659.0, 5e4, 0.0, 1.195e6, 610.0, nodes=16)).partition(";")[0]
    'I/O took 608 of 659 s (92 %), 346 task-hours (2.7 node-hours)'
    """
    if not cost.task_s:
        return ""
    if cost.impossible:
        return (
            f"Tasks spent {task_time(cost.task_s)} in I/O calls, more than they ran: threads overlap, "
            "or the times in the log are wrong."
        )
    return "; ".join(_headline_parts(cost)) + "."


def _headline_parts(cost: Cost) -> Iterator[str]:
    """Yield the duration of I/O, its largest part, and the slowest task if it is an outlier."""
    run = f" of {cost.run_time_s:,.0f} s ({share(round(cost.share or 0.0, 4))})" if cost.run_time_s else " s"
    yield f"I/O took {digits(cost.seconds, 3)}{run}, {task_time(cost.task_s)}{of_nodes(cost.node_s)}"
    parts = {
        waiting_words(cost): cost.waiting_s,
        "metadata (opening, closing, querying)": cost.metadata_s,
        "reading and writing": cost.transfer_s,
    }
    most = max(parts, key=parts.__getitem__)
    yield f"{share(round(parts[most] / cost.task_s, 4))} of it is {most}"
    if cost.slowest_s > 2 * cost.seconds and cost.slowest_s - cost.seconds > 1:
        yield f"the slowest task spent {digits(cost.slowest_s, 3)} s or more, while others may have waited"
