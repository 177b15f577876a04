"""Forecasts for nodes: memory shared by cores and NUMA nodes, tasks against threads, pages.

Each function answers one kind of situation of the blind test from models of `hopperlib.placement`. A function gets a
random generator first, then values from a row and values drawn for it.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.models.bandwidth import slowdown, task_bandwidth_gb_s
from hopperlib.placement.models.hybrid import memory_times, thread_costs
from hopperlib.placement.models.memory import merged_need


def node_kind(numa_nodes: int, cores: int, numa_gb_s: float, core_gb_s: float, remote: float = 0.5) -> NodeKind:
    """Kind of node with a number of NUMA nodes and of cores in each.

    Examples
    --------
    >>> node_kind(2, 12, 40.0, 10.0).cores
    24
    """
    return replace(
        Machine.load("toy").node(),
        sockets=1,
        numa_nodes_per_socket=numa_nodes,
        cores_per_numa_node=cores,
        reserved_cores=(),
        numa_bandwidth_gb_s=numa_gb_s,
        core_bandwidth_cap_gb_s=core_gb_s,
        remote_bandwidth_fraction=remote,
        numa_link_gb_s=None,
    )


def core_rate(rng: random.Random, *, tasks: int, lone_gb_s: float, peak_gb_s: float, attainable: float) -> float:
    """Rate of one core when that many of a NUMA node draw on its channels, which give a share of their peak. [GB/s]

    Examples
    --------
    >>> core_rate(random.Random(1), tasks=10, lone_gb_s=12.0, peak_gb_s=60.0, attainable=0.8)
    4.8
    """
    return task_bandwidth_gb_s(node_kind(1, tasks, attainable * peak_gb_s, lone_gb_s), tasks)


def numa_scaling(rng: random.Random, *, numa_nodes: int, channels_gb_s: float, core_gb_s: float, kept: float) -> float:
    """Rate of full NUMA nodes relative to one (or to one core, if its rate is given), of which a share is kept. [ratio]

    Examples
    --------
    >>> numa_scaling(random.Random(1), numa_nodes=8, channels_gb_s=9.0, core_gb_s=6.0, kept=1.0)
    12.0
    """
    return kept * numa_nodes * channels_gb_s / min(core_gb_s, channels_gb_s)


def first_touch_gain(
    rng: random.Random,
    *,
    numa_nodes: int,
    cores: int,
    all_gb_s: float,
    one_gb_s: float,
    core_gb_s: float,
    remote: float,
) -> float:
    """Rate with every worker's data on its local NUMA node relative to all data on one. [ratio]

    Examples
    --------
    >>> round(first_touch_gain(random.Random(1), numa_nodes=4, cores=6, all_gb_s=50, one_gb_s=12.5, core_gb_s=5, remote=0.5), 9)
    4.0
    """
    kind = node_kind(numa_nodes, cores, one_gb_s, core_gb_s, remote)
    all_s = memory_times(kind, 1, kind.cores, elsewhere=1.0)[1]
    return all_gb_s / (kind.cores / all_s)


def remote_share(
    rng: random.Random, *, cores: int, own_gb_s: float, links: float, link_gb_s: float, used: float
) -> float:
    """Rate of reading another socket's memory relative to the local one, all cores at once. [ratio]

    Examples
    --------
    >>> round(remote_share(random.Random(1), cores=10, own_gb_s=50.0, links=2, link_gb_s=16.0, used=0.75), 9)
    0.48
    """
    kind = replace(node_kind(2, cores, own_gb_s, own_gb_s, 1.0), numa_link_gb_s=used * round(links) * link_gb_s)
    local_s, remote_s = (memory_times(kind, cores, 1, spread=False, spilled=spilled)[1] for spilled in (0.0, 1.0))
    return local_s / remote_s


def time_ratio(rng: random.Random, *, bandwidth: float, compute: float, memory_bound: float) -> float:
    """Time on one node over that on another with that many times its bandwidth and computing. [ratio]

    Examples
    --------
    >>> time_ratio(random.Random(1), bandwidth=2.0, compute=4.0, memory_bound=1.0)
    2.0
    """
    return compute / slowdown(memory_bound, compute / bandwidth)


def packing(rng: random.Random, *, few: float, shared: float, messages: float) -> float:
    """Time packed over spread at more tasks, with a larger share of the time in messages. [ratio]

    The rest waits for memory as before; the tasks of a node share its interface.

    Examples
    --------
    >>> round(packing(random.Random(1), few=1.3, shared=2.0, messages=0.3), 2)
    1.51
    """
    return (1 - messages) * few + messages * shared


def task_time(rng: random.Random, *, times_s: Mapping[str, float], tasks: int, numa_nodes: int, spread: float) -> float:
    """Time of shared work with more tasks on a node, each slowed by those on its NUMA node. [s]

    A task's time grows with each neighbor as it did from the second largest to the largest known count. With `spread`
    the known ones were dealt over the NUMA nodes, else the first was filled.

    Examples
    --------
    >>> round(task_time(random.Random(1), times_s={"1": 100.0, "2": 50.0, "4": 25.0}, tasks=8, numa_nodes=1, spread=0), 1)
    12.5
    """
    before, last = sorted(map(int, times_s))[-2:]
    each = {count: times_s[str(count)] * count for count in (before, last)}
    seats = numa_nodes if spread > 0.5 else 1
    neighbors = {before: before / seats, last: last / seats, tasks: tasks / numa_nodes}
    grows = (each[last] - each[before]) / (neighbors[last] - neighbors[before])
    return (each[last] + grows * (neighbors[tasks] - neighbors[last])) / tasks


def hybrid_time(
    rng: random.Random,
    *,
    times_s: Mapping[str, float],
    tasks: int,
    cores: int,
    nodes_ratio: float,
    surface: float,
    messages: float,
    noise: float,
    threads: Sequence[int],
    serial: float | None = None,
) -> float:
    """Time with one number of threads relative to another on more nodes, or the fastest of more than two.

    The parts of the run (work, the serial part of a task, MPI cost per task) are fitted to the times on fewer nodes.
    The work shrinks with the nodes, the serial part as a power `-surface` of them, MPI grows as a power `messages`. The
    cost of MPI compared with threads is `hopperlib.placement.models.hybrid.thread_costs`. With `serial` given, the
    serial part, as a share of the work, is not fitted.

    Examples
    --------
    No time but work: as fast with any number of threads.

    >>> hybrid_time(random.Random(1), times_s={"1": 8.0, "2": 8.0, "4": 8.0}, tasks=64, cores=4, nodes_ratio=2,
    ...             surface=0.7, messages=0.0, noise=0.0, threads=[1, 4])
    1.0
    """
    kind = node_kind(1, cores, 1.0, 1.0)
    known = {cost.threads: cost.mpi for cost in thread_costs(kind, tasks)}
    wanted = {cost.threads: cost.mpi for cost in thread_costs(kind, round(tasks * nodes_ratio))}
    counts = [int(count) for count in times_s]
    measured = np.array([times_s[str(count)] * (1 + noise * rng.gauss(0, 1)) for count in counts])
    alone = [count - 1.0 for count in counts]
    columns = [[1.0] * len(counts), alone, [known[count] for count in counts]]
    if serial is not None:
        columns = [[1.0 + serial * each for each in alone], columns[2]]
    parts = non_negative(np.array(columns).T, measured)
    work, one_thread, mpi = (parts[0], parts[0] * serial, parts[1]) if serial is not None else parts

    def time_s(count: int) -> float:
        scaled = work / nodes_ratio + one_thread * nodes_ratio**-surface * (count - 1)
        return float(scaled + mpi * nodes_ratio**messages * wanted[count])

    if len(threads) == 2:
        return time_s(threads[0]) / time_s(threads[1])
    return float(min(threads, key=time_s))


def non_negative(columns: Any, values: Any) -> tuple[float, ...]:
    """Return the least-squares parts of a sum, none below 0, each row weighted by its value.

    Examples
    --------
    >>> [round(part, 9) for part in non_negative(np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([3.0, 5.0]))]
    [2.0, 1.0]
    """
    scaled, ones = columns / values[:, None], np.ones(len(values))
    best, left = np.zeros(columns.shape[1]), math.inf
    # So few columns: every choice of those that count is tried.
    for size in range(1, columns.shape[1] + 1):
        for chosen in map(list, combinations(range(columns.shape[1]), size)):
            found = np.linalg.lstsq(scaled[:, chosen], ones, rcond=None)[0]
            error = float(((scaled[:, chosen] @ found - ones) ** 2).sum())
            if found.min() >= 0 and error < left - 1e-12:
                best, left = np.zeros(columns.shape[1]), error
                best[chosen] = found
    return tuple(map(float, best))


def mpi_saving(rng: random.Random, *, mpi_share: float, threads: float, cores: int, tasks: int, work: float) -> float:
    """Gain of threads over pure MPI where MPI has a share of the run, in percent; no gain is the pure run kept. [%]

    Examples
    --------
    >>> mpi_saving(random.Random(1), mpi_share=0.0, threads=4, cores=4, tasks=64, work=1.1)
    0.0
    """
    cost = {each.threads: each.mpi for each in thread_costs(node_kind(1, cores, 1.0, 1.0), tasks)}[round(threads)]
    return max(100 * (1 / ((1 - mpi_share) * work + mpi_share * cost) - 1), 0.0)


def fewest_nodes(
    rng: random.Random, *, node_gb: float, ranks: int, threads: int, tried: Sequence[int], fits: int
) -> float:
    """Fewest of the tried nodes on which a job fits with more threads a rank; its memory is drawn.

    Drawn are the shared data and each rank's copy, evenly, until with one thread it fits on `fits` nodes and not on half.

    Examples
    --------
    >>> fewest_nodes(random.Random(1), node_gb=64, ranks=24, threads=24, tried=[128, 256], fits=256) in (128.0, 256.0)
    True
    """
    while True:
        shared, copies = fits * node_gb * rng.random(), node_gb * rng.random()
        if shared / fits + copies <= node_gb < 2 * shared / fits + copies:
            each = merged_need(copies / ranks, threads, 1.0) * ranks / threads
            return float(next((nodes for nodes in tried if shared / nodes + each <= node_gb), tried[-1]))


def page_gain(rng: random.Random, *, translation: float, network: float, harm: float, percent: bool = False) -> float:
    """Time with large pages over small ones, or the gain in percent: shares of the time that they save and cost.

    Examples
    --------
    >>> round(page_gain(random.Random(1), translation=0.1, network=0.05, harm=0.02), 2)
    0.87
    """
    ratio = 1 - translation - network + harm
    return 100 * (1 / ratio - 1) if percent else ratio
