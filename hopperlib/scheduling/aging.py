"""A machine that has run for a while: the location of a new job on it, and the effect of scheduler trouble.

After a reboot all nodes are free and a job gets one run of them. Jobs of many sizes end in a different order than they
began, so the free nodes break up into many runs. A probe is a job that requests nodes of such a machine without being
part of its schedule. Trouble means nodes orphaned every day, debug jobs with priority, and jobs for nearly all of the
machine.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from hopperlib.errors import refusal
from hopperlib.scheduling._free_nodes import free_list, length_of, pairs
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.generator import draw_workload
from hopperlib.scheduling.rules import Queue
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload


class Probe(NamedTuple):
    """Placement of a probe: its earliest start, and its runs of positions."""

    start_s: int
    runs: list[tuple[int, int]]


def aged_machine(
    mix: str,
    *,
    nodes: int,
    days: int,
    load: float,
    seed: int = 1,
    policy: str = "easy",
    allocation: str = "first",
    until_s: int | None = None,
) -> Schedule:
    """Return the schedule of a machine after a reboot.

    Parameters
    ----------
    mix : str
        A mix of `hopperlib.scheduling.generator.MIXES`.
    nodes, days : int
    load : float
        Requested node-hours over those available. [fraction]
    seed : int
        Same seed, same schedule.
    policy, allocation, until_s
        As for `hopperlib.scheduling.scheduler.simulate`: the beginning of a history is the same whenever it ends.

    Examples
    --------
    >>> schedule = aged_machine("production", nodes=6384, days=3, load=0.9)
    >>> len(free_runs(schedule, 0)), len(free_runs(schedule, 86400)) > 10
    (1, True)
    """
    workload, state = _drawn(mix, nodes, days, load, seed)
    rng = random.Random()
    rng.setstate(state)
    return simulate(workload, nodes, policy=policy, allocation=allocation, rng=rng, until_s=until_s)


@lru_cache(maxsize=1)
def _drawn(mix: str, nodes: int, days: int, load: float, seed: int) -> tuple[Workload, tuple[Any, ...]]:
    """Return the workload of a history, and the state in which drawing it leaves the generator."""
    rng = random.Random(seed)
    return draw_workload(mix, nodes=nodes, days=days, load=load, rng=rng), rng.getstate()


@lru_cache(maxsize=1)  # Views of an instant need its free runs and a probe.
def _bounds(schedule: Schedule, _known: int, time_s: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Return the bounds of the free runs at an instant, and (end, job) of running jobs, of a schedule that may
    continue.
    """
    running = [(schedule.end_s[index], index) for index in schedule.running(time_s)]
    # Free runs are between the runs of the jobs; where two are adjacent, drop both bounds.
    free = {0, schedule.nodes}
    for _, index in running:
        first = schedule.first_bound[index]
        free.symmetric_difference_update(schedule.bounds[first : first + 2 * schedule.run_count[index]])
    return tuple(sorted(free)), tuple(sorted(running))


def free_runs(schedule: Schedule, time_s: int) -> list[tuple[int, int]]:
    """Return the free runs of the node list at an instant.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    time_s : int
        The instant. [s]

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> free_runs(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8), 30)
    [(3, 8)]
    """
    return pairs(_bounds(schedule, len(schedule.bounds), time_s)[0])


def probe(schedule: Schedule, time_s: int, probe_nodes: int, *, allocation: str = "first", seed: int = 1) -> Probe:
    """Return the nodes of a job of this size if it were first in the queue at an instant.

    It starts when enough nodes are free; no other job starts in the meantime.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    time_s : int
        The instant. [s]
    probe_nodes : int
        Nodes of the probe.
    allocation : str, default 'first'
        Name of the allocation method.
    seed : int, default 1
        Seed of the random numbers.

    Raises
    ------
    ValueError
        If the job is wider than the machine, or the allocation is unknown.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 3, 60, 60), Job(2, 0, 3, 99, 99)])
    >>> probe(simulate(jobs, 8), 30, 4), probe(simulate(jobs, 8), 30, 2).runs
    (Probe(start_s=60, runs=[(0, 3), (6, 7)]), [(6, 8)])
    """
    if not 1 <= probe_nodes <= schedule.nodes:
        raise refusal("probe_nodes", probe_nodes, f"must be from 1 to {schedule.nodes}, the nodes of the machine")
    bounds, running = _bounds(schedule, len(schedule.bounds), time_s)
    free = free_list(allocation, list(bounds), random.Random(seed))
    start, ends = time_s, iter(running)
    # Running jobs end one by one until there is room.
    while free.room < probe_nodes:
        start, index = next(ends)
        taken = [bound for run in schedule.runs(index) for bound in run]
        free.release(taken, length_of(taken))
    return Probe(start, pairs(free.take(probe_nodes)))


class Moment(NamedTuple):
    """A machine at one instant, with the placement of a probe.

    Parameters
    ----------
    time_s : int
        [s]
    free_runs, largest_free_run, probe_runs : int
        Number of free runs of the node list, nodes of the longest, and runs of the probe.
    probe_hops : float
        Mean distance of the probe's nodes. [hops]
    """

    time_s: int
    free_runs: int
    largest_free_run: int
    probe_runs: int
    probe_hops: float


def moments(
    schedule: Schedule,
    instants: Iterable[int],
    width: int,
    mean_hops: Callable[[list[tuple[int, int]]], float],
    *,
    allocation: str,
    seed: int = 1,
) -> list[Moment]:
    """Return the machine at some instants, with a probe of a given width.

    Parameters
    ----------
    schedule : Schedule
    instants : iterable of int
        [s]
    width : int
        Nodes of the probe.
    mean_hops : callable
        Function of runs of the node list that returns the mean distance of their nodes. [hops]
    allocation, seed
        As for `probe`.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> moments(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8), [30], 2, lambda runs: 1.0, allocation="first")
    [Moment(time_s=30, free_runs=1, largest_free_run=5, probe_runs=1, probe_hops=1.0)]
    """
    snapshots = []
    for instant in instants:
        free = free_runs(schedule, instant)
        landed = probe(schedule, instant, width, allocation=allocation, seed=seed).runs
        largest = max((high - low for low, high in free), default=0)
        snapshots.append(Moment(instant, len(free), largest, len(landed), mean_hops(landed)))
    return snapshots


class Fragmentation(NamedTuple):
    """Fragmentation of a machine over time, measured by a probe.

    Parameters
    ----------
    moments : list of Moment
    """

    moments: list[Moment]

    @property
    def late_hops(self) -> list[float]:
        """Mean distances of the probe without those of the first quarter, during which the machine fills. [hops]"""
        return [moment.probe_hops for moment in self.moments[len(self.moments) // 4 :]]

    @property
    def mean_hops(self) -> float:
        """Mean of the late distances. [hops]"""
        return fmean(self.late_hops)

    @property
    def step_hops(self) -> float:
        """Mean difference between consecutive late distances. [hops]"""
        return fmean(abs(following - before) for before, following in pairwise(self.late_hops))

    @property
    def max_probe_runs(self) -> int:
        """Largest number of runs of the probe."""
        return max(moment.probe_runs for moment in self.moments)

    @property
    def max_free_runs(self) -> int:
        """Largest number of free runs."""
        return max(moment.free_runs for moment in self.moments)


_DAY = 86_400
_ORPHANED_BLOCK = 32
# The machine fills during the first records.
_SAMPLES_A_DAY = 8
# More than is available, so the queue never empties.
_LOAD = 1.05
_SAMPLE_S = 3 * 3600


def debug_queues(debug_first: bool) -> tuple[Queue, ...]:
    """Return the queues, with either debug jobs or full-machine jobs before all others.

    Parameters
    ----------
    debug_first : bool
        Whether the debug queue has priority.

    Examples
    --------
    >>> [queue.priority for queue in debug_queues(True)]
    [1, 4, 4]
    """
    debug, full = (1, 4) if debug_first else (4, 3)
    return Queue(name="debug", priority=debug), Queue(name="regular", priority=4), Queue(name="full", priority=full)


def full_jobs(nodes: int, *, first_day: int, days: int) -> list[Job]:
    """Return a job of three hours at nine in the morning of every third day.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    first_day : int
        First day of the summary.
    days : int
        Number of days.

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
    until_s: int | None = None,
) -> Schedule:
    """Return some days of a machine whose queue is always full, with a record every three hours.

    Parameters
    ----------
    nodes, days : int
    orphans_a_day, cleared_after_days : int
        Blocks of 32 nodes per day that the scheduler considers busy from a random time, and days until they are
        cleared.
    debug_share : float
        Share of the load in debug jobs. [fraction]
    debug_first : bool
        As for `debug_queues`.
    full_nodes : int
        Nodes of the largest jobs.
    seed : int
    until_s : int or None
        Time to stop; None for the last day. [s]

    Examples
    --------
    >>> schedule = troubled_machine(6384, 3, orphans_a_day=5, cleared_after_days=1, debug_share=0.1, debug_first=True,
    ...                             full_nodes=6100)
    >>> sum(sample.unavailable_nodes for sample in schedule.samples) > 0
    True
    """
    drawn = _troubled(nodes, days, orphans_a_day, cleared_after_days, debug_share, full_nodes, seed)
    return simulate(
        drawn[0],
        nodes,
        queues=debug_queues(debug_first),
        downtimes=drawn[1],
        sample_every_s=_SAMPLE_S,
        until_s=days * _DAY if until_s is None else until_s,
    )


@lru_cache(maxsize=1)
def _troubled(
    nodes: int, days: int, orphans_a_day: int, cleared_after_days: int, debug_share: float, full_nodes: int, seed: int
) -> tuple[Workload, list[Downtime]]:
    """Return the jobs and the orphans of a troubled machine."""
    rng = random.Random(seed)
    drawn = draw_workload("early", nodes=nodes, days=days, load=_LOAD, rng=rng, debug_fraction=debug_share)
    columns = {name: list(getattr(drawn, name)) for name in Job._fields[:5]}
    columns["queue"] = [drawn.queues[number] for number in drawn.queue_number]
    for job in full_jobs(full_nodes, first_day=1, days=days):
        place = bisect_right(columns["submit_time_s"], job.submit_time_s)
        for name, column in columns.items():
            column.insert(place, getattr(job, name))
    orphans = []
    for day in range(days):
        for _ in range(orphans_a_day):
            first = int(rng.random() * (nodes - _ORPHANED_BLOCK))
            start = day * _DAY + int(rng.random() * _DAY)
            end, last = start + cleared_after_days * _DAY, first + _ORPHANED_BLOCK
            orphans.append(Downtime(start_s=start, end_s=end, first_node=first, last_node=last, kind="orphan"))
    return Workload.of_columns(**columns), orphans


class LargeJob(NamedTuple):
    """A full-machine job: its submission [d], its wait [h], and whether it started."""

    submit_day: float
    wait_h: float
    started: bool


def large_jobs(schedule: Schedule, end_s: int) -> list[LargeJob]:
    """Return the full-machine jobs; one that has not started waits until the end.

    Parameters
    ----------
    schedule : Schedule
    end_s : int
        End of the period considered. [s]

    Examples
    --------
    >>> jobs = Workload([Job(1, 0, 3, 7200, 7200), *full_jobs(4, first_day=0, days=1)])
    >>> large_jobs(simulate(jobs, 4, until_s=40_000), 40_000)
    [LargeJob(submit_day=0.375, wait_h=0.0, started=True)]
    """
    waits, workload = [], schedule.workload
    for index, (queue, submit) in enumerate(zip(workload.queue_number, workload.submit_time_s, strict=True)):
        if workload.queues[queue] == "full":
            wait = schedule.wait_time_s(index)
            waits.append(LargeJob(submit / _DAY, (end_s - submit if wait is None else wait) / 3600, wait is not None))
    return waits


class TroubledDays(NamedTuple):
    """Summary of a machine with outages.

    Parameters
    ----------
    time_d : list of float
        Time of each record. [d]
    busy, orphaned : list of float
        Shares of the nodes that run jobs, and that are orphaned, in each record. [fraction]
    orphaned_fraction, queue_full_fraction : float
        Mean share of orphaned nodes, and share of records with waiting jobs. [fraction]
    """

    time_d: list[float]
    busy: list[float]
    orphaned: list[float]
    orphaned_fraction: float
    queue_full_fraction: float

    @property
    def min_busy(self) -> float:
        """Smallest busy share, without the first day if there are more. [fraction]"""
        return min(self.busy[_SAMPLES_A_DAY:] or self.busy)


def troubled_days(schedule: Schedule, end_s: int) -> TroubledDays:
    """Return the summary of a schedule's records up to some time.

    Parameters
    ----------
    schedule : Schedule
        Schedule from `troubled_machine`.
    end_s : int
        [s]

    Examples
    --------
    >>> schedule = troubled_machine(6384, 1, orphans_a_day=9, cleared_after_days=1, debug_share=0.1, debug_first=True,
    ...                             full_nodes=6100)
    >>> days = troubled_days(schedule, 86_400)
    >>> len(days.time_d), round(days.min_busy, 3)
    (8, 0.0)
    """
    samples = [sample for sample in schedule.samples if sample.time_s < end_s]
    return TroubledDays(
        time_d=[round(sample.time_s / _DAY, 3) for sample in samples],
        busy=[sample.busy_nodes / schedule.nodes for sample in samples],
        orphaned=[sample.unavailable_nodes / schedule.nodes for sample in samples],
        orphaned_fraction=fmean(sample.unavailable_nodes for sample in samples) / schedule.nodes,
        queue_full_fraction=fmean(sample.waiting_jobs > 0 for sample in samples),
    )
