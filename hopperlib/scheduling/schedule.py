"""Records of a simulated schedule: every job's start, end and nodes, the machine over time, and a summary."""

import hashlib
import sys
from array import array
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

from hopperlib.errors import InputError, refusal
from hopperlib.scheduling._free_nodes import joined, pairs
from hopperlib.scheduling.workload import Workload
from hopperlib.tables import Columns

NOT_STARTED, FINISHED, KILLED_AT_LIMIT, KILLED_BY_OUTAGE = range(4)
# : Names of the statuses.
STATUS = ("not started", "finished", "killed at limit", "killed by outage")


def runs_of(positions: Iterable[int]) -> list[tuple[int, int]]:
    """Return positions as runs (from, to not included), in order.

    Parameters
    ----------
    positions : iterable of int
        Positions in the node list.

    Examples
    --------
    >>> runs_of([7, 3, 4, 5, 9, 8])
    [(3, 6), (7, 10)]
    """
    return pairs(joined(positions))


class Sample(NamedTuple):
    """The machine at one instant.

    Parameters
    ----------
    time_s : int
    free_nodes, largest_free_run, free_runs : int
        Free nodes, their longest run in node order, and the number of runs.
    busy_nodes, waiting_jobs, waiting_nodes : int
        Nodes that run jobs, and waiting jobs with their nodes.
    unavailable_nodes : int
        Nodes held by outages, drains, downtimes and orphans.
    """

    time_s: int
    free_nodes: int
    largest_free_run: int
    free_runs: int
    busy_nodes: int
    waiting_jobs: int
    waiting_nodes: int
    unavailable_nodes: int


class Schedule(Columns):
    """The result of a simulation, in columns like the workload's.

    Parameters
    ----------
    workload : Workload
    nodes : int
        Nodes of the machine.

    Notes
    -----
    The nodes of job `i` are runs of positions in the node list: their bounds are in `bounds` from ``first_bound[i]``
    on, two per run, ``run_count[i]`` runs. Positions are not node numbers: a node order converts them after the run.
    """

    def __init__(self, workload: Workload, nodes: int) -> None:
        count = len(workload)
        self.workload = workload
        self.nodes = nodes
        self.start_s = array("q", bytes(8 * count))
        self.end_s = array("q", bytes(8 * count))
        self.status = array("b", bytes(count))
        self.first_bound = array("q", bytes(8 * count))
        self.run_count = array("i", bytes(4 * count))
        self.bounds = array("i")
        self.samples: list[Sample] = []
        # (job, start, end) of runs that an outage ended and that were restarted.
        self.lost: list[tuple[int, int, int]] = []
        # (start, end, nodes) of nodes unavailable to jobs.
        self.unavailable: list[tuple[int, int, int]] = []
        # Positions of these nodes when it began, as runs.
        self.unavailable_runs: list[list[tuple[int, int]]] = []
        # The simulation, if it has not ended.
        self.events: Generator[None, int] | None = None

    def resume(self, until_s: int = 1 << 62) -> None:
        """Resume the simulation until an instant or to the end: the schedule is the same as without a stop. [s]

        Parameters
        ----------
        until_s : int, default 1 << 62
            Time up to which to simulate; None for the end. [s]

        Examples
        --------
        >>> from hopperlib.scheduling.scheduler import simulate
        >>> from hopperlib.scheduling.workload import Job
        >>> schedule = simulate(Workload([Job(1, 0, 2, 60, 60), Job(2, 0, 3, 60, 60)]), 4, until_s=30)
        >>> schedule.resume()
        >>> schedule.start_s[1]
        60
        """
        try:
            if self.events:
                self.events.send(until_s)
        except StopIteration:
            self.events = None

    def __len__(self) -> int:
        return len(self.workload)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy: all events so far; an unfinished copy cannot be resumed."""
        return vars(self) | {"events": None}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Schedule({len(self):,} jobs on {self.nodes:,} nodes)"

    def frame_data(self) -> dict[str, Any]:
        """Return the columns of the workload, and start, end, wait, status and pieces of each job."""
        ran = [status != NOT_STARTED for status in self.status]
        return self.workload.frame_data() | {
            "start_time_s": [start if started else None for start, started in zip(self.start_s, ran, strict=True)],
            "end_time_s": [end if started else None for end, started in zip(self.end_s, ran, strict=True)],
            "wait_s": [self.wait_time_s(index) for index in range(len(self))],
            "status": [STATUS[status] for status in self.status],
            "runs": self.run_count,
        }

    def runs(self, index: int) -> list[tuple[int, int]]:
        """Return the nodes of a job as runs (from, to) of positions; empty if it never started.

        Parameters
        ----------
        index : int
            Index of the job.
        """
        if self.status[index] == NOT_STARTED:
            return []
        first = self.first_bound[index]
        return pairs(self.bounds[first : first + 2 * self.run_count[index]])

    def wait_time_s(self, index: int) -> int | None:
        """Return a job's wait, or None if it never started. [s]

        Parameters
        ----------
        index : int
            Index of the job.
        """
        if self.status[index] == NOT_STARTED:
            return None
        return self.start_s[index] - self.workload.submit_time_s[index]

    def finished(self) -> Iterator[int]:
        """Yield the indices of jobs that started, in order of submission."""
        return (index for index, status in enumerate(self.status) if status != NOT_STARTED)

    def running(self, time_s: int) -> list[int]:
        """Return the indices of the jobs that run at an instant.

        Parameters
        ----------
        time_s : int
            The instant. [s]
        """
        last = bisect_right(self.workload.arrival_s, time_s)  # No later job runs.
        columns = zip(self.start_s[:last], self.end_s[:last], self.run_count[:last], strict=True)
        return [index for index, (start, end, runs) in enumerate(columns) if runs and start <= time_s < end]

    def digest(self) -> str:
        """Return the SHA-256 of all starts, ends, states and nodes: a fingerprint of the whole schedule. The same
        workload and seed give the same fingerprint in every Python, including the browser's.

        Examples
        --------
        >>> from hopperlib.scheduling.scheduler import simulate
        >>> from hopperlib.scheduling.workload import Job
        >>> simulate(Workload([Job(1, 0, 2, 60, 60)]), 4).digest()[:12]
        '9caaaba6ac33'
        """
        digest = hashlib.sha256()
        for column in (self.start_s, self.end_s, self.status, self.first_bound, self.run_count, self.bounds):
            ordered = array(column.typecode, column)
            if sys.byteorder == "big":
                ordered.byteswap()
            digest.update(ordered.tobytes())
        return digest.hexdigest()

    def busy_node_seconds(self, start_s: int, end_s: int) -> int:
        """Node-seconds that jobs used between two instants. [s]

        Parameters
        ----------
        start_s, end_s : int
            The period. [s]
        """
        return sum(
            nodes * (min(end, end_s) - max(start, start_s))
            for nodes, start, end, status in zip(
                self.workload.nodes, self.start_s, self.end_s, self.status, strict=True
            )
            if status != NOT_STARTED and start < end_s and end > start_s
        )

    def utilization(self, start_s: int, end_s: int) -> float:
        """Node-hours used by jobs over those of the machine, including outages as in the source [1]_. [fraction]

        Parameters
        ----------
        start_s, end_s : int
            The period. [s]

        Raises
        ------
        InputError
            If the span is empty.

        References
        ----------
        .. [1] K. Antypas and Y. He, CUG 2011, sec. 1, Hopper Timeline and Usage.
        """
        if end_s <= start_s:
            raise refusal("end_s", end_s, f"must be after start_s={start_s}")
        return self.busy_node_seconds(start_s, end_s) / (self.nodes * (end_s - start_s))


class Summary(NamedTuple):
    """Summary of some jobs of a schedule.

    Parameters
    ----------
    jobs : int
    span_s : int
        From the first start to the last end. [s]
    utilization : float or None
        Utilization of the machine in that period; None if it is empty, or if only some jobs were selected. [fraction]
    mean_wait_s, median_wait_s, max_wait_s : float
        [s]
    mean_runs : float
        Runs of the node list allocated to a job.
    contiguous_fraction : float
        Share of the jobs in a single run.
    """

    jobs: int
    span_s: int
    utilization: float | None
    mean_wait_s: float
    median_wait_s: float
    max_wait_s: int
    mean_runs: float
    contiguous_fraction: float


def summarize(schedule: Schedule, jobs: Sequence[int] | None = None) -> Summary:
    """Return the summary of some jobs that started, or of all of them.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    jobs : sequence of int or None
        Indices of the jobs; None for all.

    Raises
    ------
    InputError
        If no job started.

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> summary = summarize(simulate(Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 4, 60, 60)]), 4))
    >>> summary.utilization, summary.mean_wait_s, summary.contiguous_fraction
    (1.0, 30, 1.0)
    """
    chosen = list(schedule.finished()) if jobs is None else jobs
    if not chosen:
        raise InputError("no job started")
    waits = [schedule.wait_time_s(index) or 0 for index in chosen]
    runs = [schedule.run_count[index] for index in chosen]
    start, end = min(schedule.start_s[index] for index in chosen), max(schedule.end_s[index] for index in chosen)
    return Summary(
        jobs=len(chosen),
        span_s=end - start,
        utilization=schedule.utilization(start, end) if jobs is None and end > start else None,
        mean_wait_s=mean(waits),
        median_wait_s=median(waits),
        max_wait_s=max(waits),
        mean_runs=mean(runs),
        contiguous_fraction=runs.count(1) / len(runs),
    )


def width_classes(schedule: Schedule) -> list[tuple[int, int, list[int]]]:
    """Return the jobs that started, by width: from, to, and indices, in powers of two.

    Parameters
    ----------
    schedule : Schedule
        The schedule.

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> width_classes(simulate(Workload([Job(i, 0, width, 9, 9) for i, width in enumerate((1, 2, 3, 4))]), 10))
    [(1, 1, [0]), (2, 3, [1, 2]), (4, 7, [3])]
    """
    classes: dict[int, list[int]] = {}
    for index in schedule.finished():
        classes.setdefault(schedule.workload.nodes[index].bit_length(), []).append(index)
    return [(1 << bits - 1, (1 << bits) - 1, classes[bits]) for bits in sorted(classes)]


def mean_wait_h(schedule: Schedule, *, from_s: int = 0, from_nodes: int = 1) -> float | None:
    """Mean wait of the jobs of at least some width submitted after an instant; None if there are none. [h] A job that
    never started counts as not waiting.

    Parameters
    ----------
    schedule : Schedule
    from_s : int
        [s]
    from_nodes : int

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> schedule = simulate(Workload([Job(1, 0, 4, 7200, 7200), Job(2, 0, 4, 60, 60)]), 4)
    >>> mean_wait_h(schedule), mean_wait_h(schedule, from_nodes=5)
    (1.0, None)
    """
    waits = [
        (schedule.wait_time_s(index) or 0) / 3600
        for index, width in enumerate(schedule.workload.nodes)
        if width >= from_nodes and schedule.workload.submit_time_s[index] >= from_s
    ]
    return sum(waits) / len(waits) if waits else None
