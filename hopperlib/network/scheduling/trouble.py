"""A machine in trouble: nodes orphaned day after day, debug jobs that go first, and jobs for nearly all of it."""

from __future__ import annotations

import random
from typing import NamedTuple

from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.generator import draw_workload
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload

__all__ = ["LargeJob", "debug_queues", "full_jobs", "large_jobs", "troubled_machine"]

_DAY = 86_400
_ORPHANED_BLOCK = 32
# More than there is: the queue never empties.
_LOAD = 1.05
_SAMPLE_S = 3 * 3600


def debug_queues(debug_first: bool) -> tuple[Queue, ...]:
    """Return the queues: debug jobs before all others, or jobs for the whole machine before all others.

    Examples
    --------
    >>> [queue.priority for queue in debug_queues(True)]
    [1, 4, 4]
    """
    debug, full = (1, 4) if debug_first else (4, 3)
    return Queue(name="debug", priority=debug), Queue(name="regular", priority=4), Queue(name="full", priority=full)


def full_jobs(nodes: int, *, first_day: int, days: int) -> list[Job]:
    """Return a job of three hours on so many nodes at nine in the morning of every third day.

    Examples
    --------
    >>> [job.submit_time_s // 86400 for job in full_jobs(6100, first_day=1, days=8)]
    [1, 4, 7]
    """
    return [
        Job(100_000 + day, day * _DAY + 9 * 3600, nodes, 3 * 3600, 4 * 3600, 0, "full")
        for day in range(first_day, days, 3)
    ]


def troubled_machine(
    nodes: int,
    days: int,
    *,
    orphans_a_day: int,
    cleared_after_days: int,
    debug_share: float,
    debug_first: bool,
    full_nodes: int,
    seed: int = 1,
) -> Schedule:
    """Return some days of a machine whose queue is always full, with a record every three hours.

    Parameters
    ----------
    nodes, days : int
    orphans_a_day, cleared_after_days : int
        Blocks of 32 nodes that the scheduler believes busy from some time of each day on, and days until they are cleared.
    debug_share : float
        Share of the load that comes as debug jobs. [fraction]
    debug_first : bool
        As for `debug_queues`.
    full_nodes : int
        Nodes of the largest jobs.
    seed : int

    Examples
    --------
    >>> schedule = troubled_machine(6384, 3, orphans_a_day=5, cleared_after_days=1, debug_share=0.1, debug_first=True,
    ...                             full_nodes=6100)
    >>> sum(sample.unavailable_nodes for sample in schedule.samples) > 0
    True
    """
    rng = random.Random(seed)
    jobs = list(draw_workload("early", nodes=nodes, days=days, load=_LOAD, rng=rng, debug_fraction=debug_share))
    orphans = []
    for day in range(days):
        for _ in range(orphans_a_day):
            first = int(rng.random() * (nodes - _ORPHANED_BLOCK))
            start = day * _DAY + int(rng.random() * _DAY)
            end, last = start + cleared_after_days * _DAY, first + _ORPHANED_BLOCK
            orphans.append(Downtime(start_s=start, end_s=end, first_node=first, last_node=last, kind="orphan"))
    return simulate(
        Workload([*jobs, *full_jobs(full_nodes, first_day=1, days=days)]),
        nodes,
        queues=debug_queues(debug_first),
        downtimes=orphans,
        sample_every_s=_SAMPLE_S,
        until_s=days * _DAY,
    )


class LargeJob(NamedTuple):
    """A job for the whole machine: when it came [d], how long it waited [h], and whether it started."""

    submit_day: float
    wait_h: float
    started: bool


def large_jobs(schedule: Schedule, end_s: int) -> list[LargeJob]:
    """Return the jobs for the whole machine; one that has not started waits until the end.

    Parameters
    ----------
    schedule : Schedule
    end_s : int
        End of the time looked at. [s]

    Examples
    --------
    >>> jobs = Workload([Job(1, 0, 3, 7200, 7200), *full_jobs(4, first_day=0, days=1)])
    >>> large_jobs(simulate(jobs, 4, until_s=40_000), 40_000)
    [LargeJob(submit_day=0.375, wait_h=0.0, started=True)]
    """
    found = []
    for index, job in enumerate(schedule.workload):
        if job.queue == "full":
            started = schedule.status[index] != NOT_STARTED
            until = schedule.start_s[index] if started else end_s
            found.append(LargeJob(job.submit_time_s / _DAY, (until - job.submit_time_s) / 3600, started))
    return found
