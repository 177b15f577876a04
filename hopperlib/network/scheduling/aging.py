"""A machine that has run for a while, and where a new job would land on it.

After a reboot all nodes are free and a job gets one run of them. Jobs of many
sizes end in another order than they began, so that the free nodes come to lie
in many runs. A probe is a job that asks for nodes of such a machine without
being part of its schedule.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.scheduling._free_nodes import free_list, length_of, pairs
from hopperlib.network.scheduling.generator import draw_workload
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.torus.allocation import PrefixCounts

__all__ = ["Moment", "Probe", "aged_machine", "free_runs", "moments", "probe"]


class Probe(NamedTuple):
    """Where a probe lands: when it could start, and its runs of positions."""

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
) -> Schedule:
    """Return the schedule of a machine from a reboot on.

    Parameters
    ----------
    mix : str
        A mix of `hopperlib.network.scheduling.generator.MIXES`.
    nodes, days : int
    load : float
        Node-hours asked for over those there are. [fraction]
    seed : int
        Same seed, same schedule.
    policy, allocation : str
        As for `hopperlib.network.scheduling.scheduler.simulate`.

    Examples
    --------
    >>> schedule = aged_machine("production", nodes=6384, days=3, load=0.9)
    >>> len(free_runs(schedule, 0)), len(free_runs(schedule, 86400)) > 10
    (1, True)
    """
    rng = random.Random(seed)
    workload = draw_workload(mix, nodes=nodes, days=days, load=load, rng=rng)
    return simulate(workload, nodes, policy=policy, allocation=allocation, rng=rng)


def _bounds(schedule: Schedule, time_s: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the bounds of the free runs at an instant, and (end, job) of what runs."""
    starts, ends = schedule.start_s, schedule.end_s
    running = [
        (end, index)
        for index, (start, end) in enumerate(zip(starts, ends, strict=True))
        if start <= time_s < end and schedule.status[index] != NOT_STARTED
    ]
    # What is free lies between the runs of the jobs; where two touch, both bounds go.
    free = {0, schedule.nodes}
    for _, index in running:
        first = schedule.first_bound[index]
        free.symmetric_difference_update(schedule.bounds[first : first + 2 * schedule.run_count[index]])
    return sorted(free), sorted(running)


def free_runs(schedule: Schedule, time_s: int) -> list[tuple[int, int]]:
    """Return the free runs of the node list at an instant.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> free_runs(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8), 30)
    [(3, 8)]
    """
    return pairs(_bounds(schedule, time_s)[0])


def probe(schedule: Schedule, time_s: int, width: int, *, allocation: str = "first", seed: int = 1) -> Probe:
    """Return where a job of this width would land if it were first in the queue at an instant.

    It starts when enough nodes are free, with nothing else starting meanwhile.

    Raises
    ------
    ValueError
        If the job is wider than the machine, or the allocation is unknown.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 3, 60, 60), Job(2, 0, 3, 99, 99)])
    >>> probe(simulate(jobs, 8), 30, 4), probe(simulate(jobs, 8), 30, 2).runs
    (Probe(start_s=60, runs=[(0, 3), (6, 7)]), [(6, 8)])
    """
    if not 1 <= width <= schedule.nodes:
        raise refusal("width", width, f"must be from 1 to {schedule.nodes}, the nodes of the machine")
    free = free_list(allocation, schedule.nodes, random.Random(seed))
    bounds, running = _bounds(schedule, time_s)
    free.fill(bounds)
    start = time_s
    while free.room < width:
        start, index = running.pop(0)
        taken = [bound for run in schedule.runs(index) for bound in run]
        free.release(taken, length_of(taken))
    return Probe(start, pairs(free.take(width)))


class Moment(NamedTuple):
    """A machine at one instant, and where a probe would land.

    Parameters
    ----------
    time_s : int
        [s]
    free_runs, largest_free_run, probe_runs : int
        Free runs of the node list, the nodes of the longest, and the runs of the probe.
    probe_hops : float
        Mean distance of the probe's nodes. [hops]
    """

    time_s: int
    free_runs: int
    largest_free_run: int
    probe_runs: int
    probe_hops: float


def moments(
    schedule: Schedule, instants: Iterable[int], width: int, counts: PrefixCounts, *, allocation: str, seed: int = 1
) -> list[Moment]:
    """Return the machine at some instants, with a probe of some width.

    Parameters
    ----------
    schedule : Schedule
    instants : iterable of int
        [s]
    width : int
        Nodes of the probe.
    counts : PrefixCounts
        Of the node list.
    allocation, seed
        As for `probe`.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> from hopperlib.network.torus.distances import Torus
    >>> counts = PrefixCounts([(0, 0, z) for z in range(8)], Torus((1, 1, 8)))
    >>> moments(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8), [30], 2, counts, allocation="first")
    [Moment(time_s=30, free_runs=1, largest_free_run=5, probe_runs=1, probe_hops=1.0)]
    """
    found = []
    for instant in instants:
        free = free_runs(schedule, instant)
        landed = probe(schedule, instant, width, allocation=allocation, seed=seed).runs
        largest = max((high - low for low, high in free), default=0)
        found.append(Moment(instant, len(free), largest, len(landed), counts.mean_hop_distance(landed)))
    return found
