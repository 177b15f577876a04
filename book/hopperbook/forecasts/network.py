"""Forecasts for networks and schedulers: messages, mappings, rings, merging, overlap, backfill.

As in `hopperbook.forecasts.node`, a function for each kind of situation.
"""

import math
import random
from collections.abc import Sequence
from functools import cache
from statistics import fmean

from hopperbook.forecasts.dragonfly import slowness
from hopperkit.readers.jobs.swf import read_swf
from hopperkit.traces.scheduler import simulate
from hopperlib.data_files import data_folder
from hopperlib.network.rank_order import best_block, off_node_pairs
from hopperlib.network.runtime.overlap import overlapped_s
from hopperlib.scheduling.workload import Job, Workload


def ping_pong_ratio(
    rng: random.Random, *, near_us: float, far_us: float, gb_s: float, message_kb: float, protocol: float
) -> float:
    """Rate of one message over a far way over a near way: latencies, and the same bandwidth. [ratio]

    A large message first requests permission: that many more trips.

    Examples
    --------
    >>> round(ping_pong_ratio(random.Random(1), near_us=1.0, far_us=2.0, gb_s=1.0, message_kb=1.0, protocol=0.0), 3)
    0.669
    """
    moving_us = 1024e-3 * message_kb / gb_s
    return (near_us * (1 + protocol) + moving_us) / (far_us * (1 + protocol) + moving_us)


@cache
def _kept_pairs(grid: tuple[int, ...], cores_per_node: int) -> float:
    """Return off-node pairs of the best blocks relative to the default rank order."""
    return best_block(grid, cores_per_node)[2] / off_node_pairs(range(math.prod(grid)), grid, cores_per_node)


def mapping_gain(
    rng: random.Random, *, grid: Sequence[int], cores_per_node: int, nearer: float, network: float, share: float
) -> float:
    """Saving of a mapping in the communication time, or in the run time by its share of communication. [%]

    The blocks of a node leave fewer off-node pairs, which have shorter paths on shared links; part of the communication
    time is in the network.

    Examples
    --------
    >>> 20 < mapping_gain(random.Random(1), grid=[16, 16, 16], cores_per_node=16, nearer=0.5, network=0.8, share=1.0) < 80
    True
    """
    kept = _kept_pairs(tuple(grid), cores_per_node) * nearer
    return 100 * share * network * (1 - kept)


def server_placement_gain(rng: random.Random, *, target_gb_s: float, far_gb_s: float, near: float) -> float:
    """Rate with close servers over that with servers anywhere: crossing streams fill links below the target. [ratio]

    Examples
    --------
    >>> server_placement_gain(random.Random(1), target_gb_s=120.0, far_gb_s=80.0, near=4.0)
    1.5
    """
    return min(target_gb_s, near * far_gb_s) / min(target_gb_s, far_gb_s)


def run_spread(
    rng: random.Random, *, pattern: str, nodes: int, runs: int, share: float, minimal: float, own: float
) -> float:
    """Longest over shortest run of a job that lands somewhere else on a dragonfly each time. [ratio]

    It sends for a share of its time if undisturbed; how slowly that goes is `hopperbook.forecasts.dragonfly.slowness`,
    by as much as routes stay minimal. Nodes and file systems add a spread of `own`.

    Examples
    --------
    >>> run_spread(random.Random(1), pattern="all-to-all", nodes=256, runs=5, share=0.0, minimal=0.5, own=0.0)
    1.0
    """
    slow = slowness(pattern, nodes)
    times = [
        (1 + share * minimal * (slow[int(rng.random() * len(slow))] - 1)) * (1 + own * rng.random())
        for _ in range(runs)
    ]
    return max(times) / min(times)


def ring_rate(rng: random.Random, *, nodes: float, ranks_per_node: int, node_gb_s: float, kept: float) -> float:
    """Rate of a rank that sends to both neighbors of a random ring, with the other ranks of its node. [GB/s]

    Those of its neighbors that are on other nodes share the interface; its rate falls to a share if all send at once.

    Examples
    --------
    >>> round(ring_rate(random.Random(1), nodes=16, ranks_per_node=24, node_gb_s=9.0, kept=1.0), 3)
    0.4
    """
    return kept * node_gb_s / ranks_per_node / (1 - 1 / nodes)


def ring_ratio(
    rng: random.Random,
    *,
    nodes: float,
    ranks_per_node: int,
    node_gb_s: float,
    inside_gb_s: float,
    kept: float,
    slowest: float,
) -> float:
    """Rate of a rank in the natural ring over that in a random one. [ratio]

    In the natural ring two messages of a node each way leave it, and the others share its memory.

    Examples
    --------
    >>> round(ring_ratio(random.Random(1), nodes=128, ranks_per_node=24, node_gb_s=9.0, inside_gb_s=1.2, kept=1.0, slowest=1.0), 1)
    3.2
    """
    natural = min(inside_gb_s, node_gb_s / 2) * slowest
    return natural / ring_rate(rng, nodes=nodes, ranks_per_node=ranks_per_node, node_gb_s=node_gb_s, kept=kept)


def ring_growth(rng: random.Random, *, nodes: Sequence[int], congestion: float) -> float:
    """Rate of a rank in a random ring at more nodes over that at fewer, where the network takes a share. [ratio]

    Examples
    --------
    >>> round(ring_growth(random.Random(1), nodes=[4, 256], congestion=1.0), 3)
    0.753
    """
    few, many = (1 - 1 / count for count in nodes)
    return congestion * few / many


def merging_gain(
    rng: random.Random,
    *,
    cores: int,
    message_gb: float,
    gap_us: float,
    node_gb_s: float,
    copy_gb_s: float,
    share: float,
) -> float:
    """Saving from merging the messages of a node in an all-to-all, or in the run time by its share. [%]

    Each pair of nodes exchanges ``cores ** 2`` small messages, or one. A message costs the interface a gap and its
    bytes; merged ones are copied twice by the node.

    Examples
    --------
    >>> merging_gain(random.Random(1), cores=4, message_gb=1e-8, gap_us=2.0, node_gb_s=2.0, copy_gb_s=1.0, share=1.0) > 80
    True
    """
    bytes_gb = cores**2 * message_gb
    apart_s = cores**2 * gap_us * 1e-6 + bytes_gb / node_gb_s
    merged_s = gap_us * 1e-6 + bytes_gb / node_gb_s + 2 * bytes_gb / copy_gb_s
    return 100 * share * (1 - merged_s / apart_s)


def break_even_kb(rng: random.Random, *, cores: int, gap_us: float, copy_gb_s: float) -> float:
    """Message size from which copying merged messages costs more than fewer messages save. [KB]

    Examples
    --------
    >>> break_even_kb(random.Random(1), cores=4, gap_us=2.0, copy_gb_s=1.0)
    0.9375
    """
    return (cores**2 - 1) * gap_us * copy_gb_s / (2 * cores**2)


def hidden_time(rng: random.Random, *, all_s: float, beside_s: float, hidden: float) -> float:
    """Time with communication overlapped with computation as far as possible. [the unit given]

    Examples
    --------
    >>> hidden_time(random.Random(1), all_s=40.0, beside_s=8.0, hidden=0.5)
    36.0
    """
    return overlapped_s(all_s - beside_s, beside_s, hidden)


def weekly_clearing(rng: random.Random, *, longest_h: float, filled: float, backfill: float) -> float:
    """Utilization of a week in which the machine is cleared once, whose drain others fill in part. [%]

    Examples
    --------
    >>> weekly_clearing(random.Random(1), longest_h=24.0, filled=1.0, backfill=0.95)
    95.0
    """
    return 100 * backfill * (1 - longest_h / 2 * (1 - filled) / 168)


def backfill_gain(
    rng: random.Random,
    *,
    trace: str,
    nodes: int,
    jobs: int,
    windows: int,
    wanted: str,
    narrow: int = 1,
    stretch: float = 1.0,
) -> float:
    """Effect of backfilling on utilization, or on the mean bounded slowdown, over windows of a trace. [ratio]

    Each is the mean of as many windows, drawn from those all along the trace. Factor by which jobs may be narrower and more
    numerous; factor by which they may arrive more slowly.

    Examples
    --------
    >>> from inspect import signature
    >>> list(signature(backfill_gain).parameters)[-1]
    'stretch'
    """
    pairs = _window_results(trace, nodes, jobs, narrow, stretch)
    drawn = [pairs[int(rng.random() * len(pairs))] for _ in range(windows)]
    place = 0 if wanted == "utilization" else 1
    first, backfilled = (fmean(each[way][place] for each in drawn) for way in (0, 1))
    return backfilled / first if wanted == "utilization" else first / backfilled


@cache
def _window_results(
    trace: str, nodes: int, jobs: int, narrow: int, stretch: float
) -> tuple[tuple[tuple[float, float], tuple[float, float]], ...]:
    """Return utilization and mean bounded slowdown of windows all along a trace, without and with backfilling."""
    everything = [
        job._replace(submit_time_s=round(job.submit_time_s * stretch / narrow), nodes=-(-job.nodes // narrow))
        for job in read_swf(data_folder() / trace, cores_per_node=1).workload
    ]
    starts = range(0, len(everything) - jobs + 1, max(1, (len(everything) - jobs) // 40))
    return tuple(
        (_scheduled(everything[at : at + jobs], nodes, "fcfs"), _scheduled(everything[at : at + jobs], nodes, "easy"))
        for at in starts
    )


def _scheduled(jobs: Sequence[Job], nodes: int, policy: str) -> tuple[float, float]:
    """Return utilization from the first submission to the last end, and mean slowdown with a bound of 10 s."""
    schedule = simulate(Workload(jobs), nodes, policy=policy)
    done = list(schedule.finished())
    begin, end = min(job.submit_time_s for job in jobs), max(schedule.end_s[index] for index in done)
    runs = ((schedule.wait_time_s(index) or 0, schedule.end_s[index] - schedule.start_s[index]) for index in done)
    slow = fmean(max((wait + run) / max(run, 10), 1.0) for wait, run in runs)
    return schedule.utilization(begin, end), slow
