"""What came out of a schedule in a few numbers: use of the machine, waits, and the pieces that jobs lie in."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.network.scheduling.schedule import Schedule

__all__ = ["Summary", "mean_wait_h", "summarize", "width_classes"]


class Summary(NamedTuple):
    """Some jobs of a schedule.

    Parameters
    ----------
    jobs : int
    span_s : int
        From the first start to the last end. [s]
    utilization : float or None
        Of the whole machine by all jobs in that span; None if it is empty. [fraction]
    mean_wait_s, median_wait_s, max_wait_s : float
        [s]
    mean_runs : float
        Runs of the node list that a job lies in.
    contiguous_fraction : float
        Share of the jobs that lie in one run.
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
    """Return the numbers of some jobs that started, by their indices; of all of them without.

    Raises
    ------
    InputError
        If no job started.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> summary = summarize(simulate(Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 4, 60, 60)]), 4))
    >>> summary.utilization, summary.mean_wait_s, summary.contiguous_fraction
    (1.0, 30, 1.0)
    """
    chosen = list(schedule.finished()) if jobs is None else jobs
    if not chosen:
        raise InputError("no job started")
    waits = [schedule.start_s[index] - schedule.workload.submit_time_s[index] for index in chosen]
    runs = [schedule.run_count[index] for index in chosen]
    start, end = min(schedule.start_s[index] for index in chosen), max(schedule.end_s[index] for index in chosen)
    return Summary(
        jobs=len(chosen),
        span_s=end - start,
        utilization=schedule.utilization(start, end) if end > start else None,
        mean_wait_s=mean(waits),
        median_wait_s=median(waits),
        max_wait_s=max(waits),
        mean_runs=mean(runs),
        contiguous_fraction=runs.count(1) / len(runs),
    )


def width_classes(schedule: Schedule) -> list[tuple[int, int, list[int]]]:
    """Return the jobs that started by their width: from, to, and indices, in powers of two.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> width_classes(simulate(Workload([Job(i, 0, width, 9, 9) for i, width in enumerate((1, 2, 3, 4))]), 10))
    [(1, 1, [0]), (2, 3, [1, 2]), (4, 7, [3])]
    """
    classes: dict[int, list[int]] = {}
    for index in schedule.finished():
        classes.setdefault(schedule.workload.nodes[index].bit_length(), []).append(index)
    return [(1 << bits - 1, (1 << bits) - 1, classes[bits]) for bits in sorted(classes)]


def mean_wait_h(schedule: Schedule, *, from_s: int = 0, from_nodes: int = 1) -> float | None:
    """Mean wait of the jobs of some width that were submitted from an instant on; None without any. [h]

    A job that never started counts as one that did not wait.

    Parameters
    ----------
    schedule : Schedule
    from_s : int
        [s]
    from_nodes : int

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
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
