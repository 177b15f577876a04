"""Forecasts for file systems: loading, striping, locks, calls, slow OSTs, and contention.

As in `hopperbook.forecasts.node`, a function for each kind of situation.
"""

import math
import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from hopperbook.forecasts.node import non_negative
from hopperlib.contention.saturation import users_for_share
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.iobuf import Costs as CallCosts
from hopperlib.storage.loading import load_time
from hopperlib.storage.lustre.client import user_file_system
from hopperlib.storage.lustre.dumps import osts_with_slow
from hopperlib.storage.lustre.node_rates import clients_rate_gb_s
from hopperlib.storage.lustre.rates import Costs, Pace, Writing

# Share of a ceiling from which on a curve counts as level.
_LEVEL = 0.95


def load_ratio(
    rng: random.Random, *, job: Mapping[str, Any], other: Mapping[str, Any], own_s: float, **drawn: float
) -> float:
    """Loading time of a job relative to another, including the serial work of every task. [ratio]

    Examples
    --------
    >>> job = {"method": "serial", "nodes": 100, "tasks_per_node": 10, "files": 100, "size_mb": 100.0, "server_gb_s": 10.0,
    ...        "link_gb_s": 10.0, "servers": 1, "tries": 10, "requests_per_s": 10000}
    >>> load_ratio(random.Random(1), job=job, other={"method": "cached"}, own_s=1.0) > 5
    True
    """
    return (_loading_s(job, drawn) + own_s) / (_loading_s({**job, **other}, drawn) + own_s)


def _loading_s(job: Mapping[str, Any], drawn: Mapping[str, float], **other: Any) -> float:
    """Return the loading time of a job, with an integer number of files. [s]"""
    settings = {**job, **drawn, **other}
    return float(load_time(**settings | {"files": round(settings["files"])}).total_s)


def load_seconds(rng: random.Random, *, job: Mapping[str, Any], **drawn: float) -> float:
    """Time until a job has loaded its files. [s]

    Examples
    --------
    >>> job = {"method": "serial", "nodes": 1, "tasks_per_node": 1, "files": 100, "size_mb": 1.0, "server_gb_s": 1.0,
    ...        "link_gb_s": 1.0, "servers": 1}
    >>> round(load_seconds(random.Random(1), job=job, tries=10, requests_per_s=1000.0), 3)
    1.001
    """
    return _loading_s(job, drawn)


def load_growth(rng: random.Random, *, times_s: Mapping[str, float], nodes: float, power: float) -> float:
    """Time on more nodes: that of one node, plus server time that grows as a power of the nodes from the last known
    point. [s]

    A power of 1 is one request after another, less is answers that are kept on the way.

    Examples
    --------
    >>> load_growth(random.Random(1), times_s={"1": 5.0, "100": 15.0}, nodes=500, power=1.0)
    55.0
    """
    last = max(map(int, times_s))
    alone = float(times_s["1"])
    grown: float = (nodes / last) ** power
    return alone + (float(times_s[str(last)]) - alone) * grown


def load_reach(
    rng: random.Random, *, job: Mapping[str, Any], own_s: float, message_s: float, most: float, **drawn: float
) -> float:
    """Number of nodes at which passing files along a tree takes as long as individual requests of all tasks of the job.
    [ratio]

    Each file is a separate message down the tree; no job has more than `most` times the nodes.

    Examples
    --------
    >>> job = {"nodes": 4, "tasks_per_node": 1, "files": 10, "size_mb": 1.0, "server_gb_s": 1.0, "link_gb_s": 1.0, "servers": 1}
    >>> load_reach(random.Random(1), job=job, own_s=0.0, message_s=1e-3, most=8, tries=10, requests_per_s=1e5)
    1.0
    """
    asking_s, factor = _loading_s(job, drawn, method="serial") + own_s, 1
    while factor < most:
        nodes = 2 * factor * job["nodes"]
        tree_s = _loading_s(job, drawn, method="broadcast", nodes=nodes)
        if tree_s + own_s + job["files"] * message_s * math.log2(nodes) > asking_s:
            break
        factor *= 2
    return min(float(factor), most)


def _system(osts: int, ost_gb_s: float, node_gb_s: float) -> FileSystem:
    """Return a file system of this many OSTs and node bandwidth."""
    scratch = Machine.load("toy").file_systems[0]
    return user_file_system(scratch, osts=osts, ost_rate_gb_s=ost_gb_s, client_rate_gb_s=node_gb_s)


def write_ratio(
    rng: random.Random,
    *,
    osts: int,
    cases: Sequence[Sequence[int]],
    node_mb: float,
    ranks_per_node: int,
    ost_gb_s: float,
    node_gb_s: float,
    lock_s: float,
    wide: float,
) -> float:
    """Rate of one collective write over another; each case is (nodes, stripe count). [ratio]

    Every node aggregates, as the locks of `hopperlib.storage.lustre.rates` allow; for a file on more than one OST, a share
    of their rate is reached, down to `wide` on all of them, since the slowest of many decides.

    Examples
    --------
    >>> write_ratio(random.Random(1), osts=12, cases=[[64, 12], [64, 1]], node_mb=1000, ranks_per_node=4, ost_gb_s=0.1,
    ...             node_gb_s=5.0, lock_s=0.0, wide=1.0) > 10
    True
    """

    def rate(nodes: int, count: int) -> float:
        size = round(node_mb * 1e6 * nodes)
        # More aggregators than stripes take each other's locks.
        writing = Writing(
            size_bytes=size,
            writers=nodes * ranks_per_node,
            nodes=nodes,
            pattern="collective",
            aggregators=max(nodes, min(count, nodes * ranks_per_node)),
        )
        slowed = ost_gb_s * (1 - (1 - wide) * math.log(count) / math.log(osts))
        pace = Pace(writing, _system(osts, slowed, node_gb_s), Costs(lock_s=lock_s, object_s=lock_s))
        return size / pace.time_s(count, 1 << 20)

    first, second = (rate(*case) for case in cases)
    return first / second


def levels_at(rng: random.Random, *, steps: Sequence[int], one_gb_s: float, peak_gb_s: float, together: float) -> float:
    """Fewest writers, of those tried, that achieve 95 % of the file system's rate, by the saturation law.

    A writer keeps a share `together` of its rate alone, for reasons besides the ceiling.

    Examples
    --------
    >>> levels_at(random.Random(1), steps=[1, 2, 4, 8, 16], one_gb_s=1.0, peak_gb_s=6.0, together=1.0)
    16.0
    """
    enough = users_for_share(_LEVEL, one_gb_s * together, peak_gb_s)
    return float(next((step for step in steps if step >= enough), steps[-1]))


def share_of_peak(rng: random.Random, *, locks: float, slowest: float) -> float:
    """Rate relative to that of the servers: the part left by locks, and by the slowest of them. [ratio]

    Examples
    --------
    >>> share_of_peak(random.Random(1), locks=0.8, slowest=0.5)
    0.4
    """
    return locks * slowest


def over_known(rng: random.Random, *, nodes: int, node_gb_s: float, system_gb_s: float, known_gb_s: float) -> float:
    """Combined rate of nodes, by the saturation law, relative to a known one. [ratio]

    Examples
    --------
    >>> round(over_known(random.Random(1), nodes=100, node_gb_s=1.0, system_gb_s=80.0, known_gb_s=20.0), 2)
    3.34
    """
    return clients_rate_gb_s(nodes * node_gb_s, nodes, system_gb_s) / known_gb_s


def call_time(rng: random.Random, *, times_s: Mapping[str, float], size: int, noise: float) -> float:
    """Time in calls of a size: a cost for each call, and moving the bytes, fitted to times of other sizes. [s]

    Examples
    --------
    >>> round(call_time(random.Random(1), times_s={"4": 1.01, "8": 0.51, "16": 0.26}, size=100, noise=0.0), 4)
    0.05
    """
    sizes = [int(each) for each in times_s]
    values = np.array([times_s[str(each)] * (1 + noise * rng.gauss(0, 1)) for each in sizes])
    calls, moving = non_negative(np.array([[1 / each for each in sizes], [1.0] * len(sizes)]).T, values)
    return calls / size + moving


def buffer_ratio(rng: random.Random, *, small: int, large: int, call_bytes: float, share: float | None = None) -> float:
    """Time in small calls relative to large ones; with the write share of the run, the saving in percent.

    A call costs as much as moving `call_bytes`.

    Examples
    --------
    >>> round(buffer_ratio(random.Random(1), small=8192, large=131072, call_bytes=8192.0), 2)
    1.88
    """
    costs = CallCosts(task_rate_gb_s=1.0, call_cost_s=call_bytes * 1e-9, unaligned_extra=0.0)
    first, second = costs.seconds_per_gb(small), costs.seconds_per_gb(large)
    return first / second if share is None else 100 * share * (1 - second / first)


def slow_ost_ratio(rng: random.Random, *, osts: int, healthy_min: float, end_min: float) -> float:
    """Rate of the slowest OST relative to the others, all with equal data. [ratio]

    Examples
    --------
    >>> slow_ost_ratio(random.Random(1), osts=36, healthy_min=1.0, end_min=5.0)
    0.2
    """
    rates = osts_with_slow(osts, 1 / healthy_min, slow=1, slow_rate_gb_s=1 / end_min)
    return min(rates) / max(rates)


def load_spread(rng: random.Random, *, most: float, least: float, own: float, percent: bool = False) -> float:
    """Longest over shortest time of the same I/O with contention for a share of the file system, as a factor or in
    percent.

    Examples
    --------
    >>> load_spread(random.Random(1), most=0.75, least=0.5, own=2.0)
    4.0
    """
    factor = own * (1 - least) / (1 - most)
    return 100 * (factor - 1) if percent else factor


def rates_over_best(
    rng: random.Random, *, jobs: int, share: float, low_share: float, spread: float, wanted: str
) -> float:
    """Median of jobs' rates over the best of them, or how many in a hundred stay below half of it.

    Each has a share of the servers (`share` in the middle, below half in `low_share` of them), and OSTs that differ as a
    lognormal.

    Examples
    --------
    >>> 0.4 < rates_over_best(random.Random(1), jobs=42, share=0.84, low_share=0.05, spread=0.2, wanted="median") < 0.9
    True
    """
    # The others' loads are Weibull through both printed points: the middle one, and 0.5.
    usual = 1 - share
    shape: float = math.log(math.log(low_share) / math.log(0.5)) / math.log(0.5 / usual)
    loads = [usual * math.pow(math.log(1 - rng.random()) / math.log(0.5), 1 / shape) for _ in range(jobs)]
    drawn = [max(1 - load, 0.05) * rng.lognormvariate(0, spread) for load in loads]
    best = max(drawn)
    over = [rate / best for rate in drawn]
    return median(over) if wanted == "median" else 100 * sum(each < 0.5 for each in over) / jobs
