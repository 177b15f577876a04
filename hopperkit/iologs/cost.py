"""What I/O cost a job, and what a finding's part of it is.

Darshan adds up the time of all tasks in their calls. Time in MPI-IO holds that of
the POSIX calls under it; what is left is waiting for other tasks and exchange of
data with them. Time of a task outside of I/O calls that waits for one inside is in no
log, so the slowest task is told beside the mean: a run loses something from the one
to the other.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hopperkit.iologs.darshan_log import DAOS, DarshanLog, FileRecord
from hopperlib.finding import LEVELS, Finding
from hopperlib.text import digits, share

# A finding below both is a note, and so is what takes less than a second: nobody changes a program for it.
FLOOR_SHARE, FLOOR_S, _LEAST_S = 0.01, 60.0, 1.0
# Clocks of tasks and the rounding of the run time to seconds leave so much.
_CLOCKS = 1.05
_HOUR_S = 3600.0


class Cost(NamedTuple):
    """Time of all tasks in I/O calls, by what it went for.

    Parameters
    ----------
    tasks : int
    run_time_s : float or None
        [s]
    transfer_s, metadata_s, waiting_s : float
        Reading and writing; opening, closing, seeking and asking; in MPI-IO and not in POSIX under it. Of all tasks
        together. [s]
    slowest_s : float
        What the slowest task spent in I/O calls at least. [s]
    nodes : int or None
        Nodes of the job, where they are known.
    """

    tasks: int
    run_time_s: float | None
    transfer_s: float
    metadata_s: float
    waiting_s: float
    slowest_s: float
    nodes: int | None = None

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
        """Time in I/O calls of all nodes: as long as a task on average, each node; None if their number is unknown. [s]"""
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
        """Share of the run that a task spends in I/O calls on average; None where the log cannot tell. [fraction]"""
        if not self.run_time_s or self.impossible:
            return None
        return min(1.0, self.seconds / self.run_time_s)

    def to_dict(self) -> dict[str, Any]:
        """Return it for a row of a table or a program: hours of all tasks, seconds of the run, shares."""
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
    """Return what I/O cost a job.

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
    metadata = sum(file.meta_s for file in log.files)
    transfer = sum(max(0.0, file.busy_s - file.meta_s) for file in log.files)
    waiting = sum(waiting_by_path(log).values())
    records = (*log.files, *(record for record in log.upper if record.interface == "MPI-IO"))
    slowest = max(slowest_s(log.files), max((record.slowest_s for record in records), default=0.0))
    tasks = log.tasks or 1
    # The slowest of one file need not be the slowest of all, who is no faster than the mean.
    slowest = max(slowest, (transfer + metadata + waiting) / tasks)
    return Cost(tasks, log.run_time_s, transfer, metadata, waiting, slowest, log.nodes)


def waiting_by_path(log: DarshanLog) -> dict[str, float]:
    """Return the time of all tasks in MPI-IO that is not in calls under it, by file; DAOS names files otherwise. [s]

    Examples
    --------
    >>> above = FileRecord(path="/a", interface="MPI-IO", busy_s=10.0)
    >>> waiting_by_path(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), upper=(above,),
    ...     files=(FileRecord(path="/a", busy_s=4.0),)))
    {'/a': 6.0}
    """
    daos = any(file.interface in DAOS for file in log.files)
    above: dict[str, float] = defaultdict(float)
    below: dict[str, float] = defaultdict(float)
    for record in log.upper:
        if record.interface == "MPI-IO":
            above["" if daos else record.path] += record.busy_s
    for file in log.files:
        below["" if daos else file.path] += file.busy_s
    return {path: max(0.0, busy - below[path]) for path, busy in above.items()}


def slowest_s(files: Iterable[FileRecord], way: str = "") -> float:
    """Return what the slowest task spent on files at least, in one direction or in all calls. [s]

    Examples
    --------
    >>> slowest_s([FileRecord(path=f"/{task}", busy_s=3.0 + task, written_by={task: 1}) for task in (0, 1)])
    4.0
    """
    shared, own = 0.0, defaultdict[int, float](float)
    for file in files:
        seconds = time_s(file, way)
        if file.shared:
            shared = max(shared, min(file.slowest_s or file.moved(way).time_s, seconds) if way else file.slowest_s)
        else:
            own[min((*file.written_by, *file.read_by), default=-1)] += seconds
    # Files whose task moved nothing through them name no task.
    own.pop(-1, None)
    return max(shared, *own.values()) if own else shared


def time_s(file: FileRecord, way: str = "") -> float:
    """Return the time of all tasks in the calls of one direction to a file, or in all its calls. [s]

    Examples
    --------
    >>> time_s(FileRecord(path="/a", busy_s=3.0, read_busy_s=2.0), "read")
    2.0
    """
    if not way:
        return file.busy_s
    busy = file.read_busy_s if way == "read" else file.write_busy_s
    return busy or file.moved(way).time_s


def stake(
    files: Sequence[FileRecord], way: str = "", *, part: float = 1.0, won: float = 1.0, because: str = ""
) -> dict[str, Any]:
    """Return what a finding about files costs, as parts of its evidence.

    Parameters
    ----------
    files : sequence of FileRecord
    way : str
        ``read``, ``write``, or all calls.
    part : float
        Share of the time in these calls that the finding is about. [fraction]
    won : float
        Share of that which can be won back at most; nothing is promised at least. [fraction]
    because : str
        What this rests on.

    Examples
    --------
    >>> stake([FileRecord(path="/a", busy_s=8.0, tasks=2, shared=True, slowest_s=5.0)], part=0.5, won=0.5)
    {'cost_task_s': 4.0, 'cost_slowest_s': 2.5, 'win_low_task_s': 0.0, 'win_high_task_s': 2.0, 'win_rests_on': ''}
    """
    seconds = part * sum(time_s(file, way) for file in files)
    return staked(seconds, slowest=part * slowest_s(files, way), won=won * seconds, because=because)


def staked(task_s: float, *, slowest: float = 0.0, won: float, because: str = "") -> dict[str, Any]:
    """Return what a finding costs from the time of all tasks, that of the slowest, and what can be won back at most.

    Examples
    --------
    >>> staked(10.0, won=4.0)["win_high_task_s"]
    4.0
    """
    return {
        "cost_task_s": round(task_s, 3),
        "cost_slowest_s": round(slowest, 3),
        "win_low_task_s": 0.0,
        "win_high_task_s": round(won, 3),
        "win_rests_on": because,
    }


def weighed(findings: Iterable[Finding], log: DarshanLog) -> tuple[Finding, ...]:
    """Return findings by level, and those of one level the most expensive first; what costs next to nothing is a note.

    What has no cost, such as that the log is incomplete, stands before what has.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=1000.0, modules=(), files=())
    >>> cheap = Finding("stdio", "Much.", evidence=staked(2.0, won=1.0))
    >>> dear = Finding("metadata", "More.", evidence=staked(2000.0, won=1000.0))
    >>> [(each.code, each.level) for each in weighed([cheap, dear], log)]
    [('metadata', 'advice'), ('stdio', 'note')]
    """
    weighed = [_weighed(finding, log) for finding in findings]
    return tuple(
        sorted(weighed, key=lambda each: (LEVELS.index(each.level), -each.evidence.get("cost_task_s", math.inf)))
    )


def _weighed(finding: Finding, log: DarshanLog) -> Finding:
    """Return a finding with its level and its message by what it costs."""
    task_s = finding.evidence.get("cost_task_s", 0.0)
    if not task_s or finding.level == "ok":
        return finding
    seconds = max(task_s / (log.tasks or 1), finding.evidence["cost_slowest_s"])
    small = bool(log.run_time_s) and seconds < max(_LEAST_S, min(FLOOR_SHARE * (log.run_time_s or 0.0), FLOOR_S))
    level = "note" if small and finding.level == "advice" else finding.level
    evidence = {**finding.evidence, "cost_share": _share(task_s, log)}
    if log.nodes is not None:
        evidence["cost_node_s"] = round(task_s / (log.tasks or 1) * log.nodes, 3)
    return replace(finding, level=level, message=f"{finding.message} {_words(evidence, log)}", evidence=evidence)


def _share(task_s: float, log: DarshanLog) -> float:
    """Return the share of the run of all tasks; 0 if unknown. [fraction]"""
    return min(1.0, task_s / (log.tasks or 1) / log.run_time_s) if log.run_time_s else 0.0


def _words(evidence: dict[str, Any], log: DarshanLog) -> str:
    """Say what a finding costs, and what of it can be won back."""
    whole = f", {share(evidence['cost_share'])} of the run" if log.run_time_s else ""
    because = f" ({evidence['win_rests_on']})" if evidence["win_rests_on"] else ""
    hours = _of_nodes(evidence.get("cost_node_s"))
    most = evidence["win_high_task_s"]
    won = f"from 0 to {task_time(most)}" if most else "nothing of it"
    return f"This costs {task_time(evidence['cost_task_s'])}{hours}{whole}; {won} can be won back{because}."


def _of_nodes(node_s: float | None) -> str:
    """Say how much that is of nodes; nothing where their number is unknown."""
    return "" if node_s is None else f" ({task_time(node_s, 'node')})"


def task_time(seconds: float, of: str = "task") -> str:
    """Return the time of all tasks, or nodes, together in words.

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


def headline(cost: Cost) -> str:
    """Return in a sentence what I/O cost; empty where the log holds no time.

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
    """Yield how long I/O took, what most of it was, and the slowest task where it stands out."""
    run = f" of {cost.run_time_s:,.0f} s ({share(round(cost.share or 0.0, 4))})" if cost.run_time_s else " s"
    yield f"I/O took {digits(cost.seconds, 3)}{run}, {task_time(cost.task_s)}{_of_nodes(cost.node_s)}"
    parts = {
        "tasks that wait for each other or exchange data": cost.waiting_s,
        "metadata (opening, closing, asking)": cost.metadata_s,
        "reading and writing": cost.transfer_s,
    }
    most = max(parts, key=parts.__getitem__)
    yield f"{share(round(parts[most] / cost.task_s, 4))} of it is {most}"
    if cost.slowest_s > 2 * cost.seconds and cost.slowest_s - cost.seconds > 1:
        yield f"the slowest task spent {digits(cost.slowest_s, 3)} s at least, for which others may have waited"
