"""What MILC would have taken with other neighbors, in one piece, or in another order of the nodes."""

from collections import Counter
from functools import cache
from statistics import mean
from typing import NamedTuple

import numpy as np

from hopperbook.studies.network.torus import JOB_NODES, aged_placements
from hopperbook.studies.network.variability import bands, metric_correlations
from hopperlib.analysis.regression import Interval
from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.runtime.milc import milc_jobs, run_times
from hopperlib.network.runtime.placed_jobs import milc_stream
from hopperlib.network.runtime.sharing import MIXES
from hopperlib.network.runtime.traffic import Graph, all_reduce_tree, grid_dimensions, nearest_neighbors


class TrafficCase(NamedTuple):
    """What an assumption on the neighbors' traffic gives, once it is calibrated.

    Parameters
    ----------
    traffic : str
    slowest : Interval
        Greatest of 100 runs. [s]
    best_r2 : float
        Of the metric that explains most.
    least_correlation, greatest_correlation : float
        Over the metrics.
    """

    traffic: str
    slowest: Interval
    best_r2: float
    least_correlation: float
    greatest_correlation: float


@cache
def traffic_cases() -> tuple[TrafficCase, ...]:
    """The same calibration with no traffic of neighbors, on grids only, with what is assumed, and with twice that.

    Examples
    --------
    >>> [case.traffic for case in traffic_cases()]
    ['none', 'stencils', 'assumed', 'double']
    """
    cases = []
    for traffic in ("none", *MIXES):
        placed = metric_correlations(milc_jobs(), run_times(traffic=traffic, calibrated_with=traffic))
        slowest = bands(100, traffic)["table-total-maximum"]
        cases.append(TrafficCase(traffic, slowest, max(map(abs, placed)) ** 2, min(placed), max(placed)))
    return tuple(cases)


class Allocation(NamedTuple):
    """What an allocation gives MILC on 8,192 cores."""

    name: str
    mean_s: float
    sd_s: float
    wait_h: float


@cache
def allocations() -> tuple[Allocation, ...]:
    """First free nodes beside one run of the list, in the same histories: run times, and the wait for it.

    Examples
    --------
    >>> [allocation.name for allocation in allocations()]
    ['first free nodes', 'one run or wait']
    """
    cases = []
    seeds = {job.seed for job in milc_jobs(allocation="contiguous")}
    for name, kind in (("first free nodes", "first"), ("one run or wait", "contiguous")):
        rows = zip(run_times(allocation=kind), milc_jobs(allocation=kind), strict=True)
        both = [(times, job.wait_h) for times, job in rows if job.seed in seeds]
        all_times = np.array([times for times, _ in both])
        cases.append(Allocation(name, float(all_times.mean()), float(all_times.std()), mean(wait for _, wait in both)))
    return tuple(cases)


class PatternCase(NamedTuple):
    """How much busier the busiest link of a job gets in an order than in xyz-by2 order, for one pattern of messages.

    Parameters
    ----------
    pattern : str
    xyz, nid : float
        [fraction]
    """

    pattern: str
    xyz: float
    nid: float


@cache
def patterns() -> tuple[PatternCase, ...]:
    """What losing the xyz-by2 order does to the busiest link of a job of 342 nodes, by whom its tasks talk to.

    The mean of twenty placements on an aged machine, without neighbors. What a
    code loses is that, times the share of its time that it waits for messages.

    Examples
    --------
    >>> [case.pattern for case in patterns()][:2]
    ['neighbors in four dimensions', 'neighbors in three dimensions']
    """
    links, tasks = LinkMap(Machine.load("hopper")), 8192
    graphs: dict[str, Graph] = {
        "neighbors in four dimensions": nearest_neighbors(grid_dimensions(tasks), 24),
        "neighbors in three dimensions": nearest_neighbors(grid_dimensions(tasks, 3), 24),
        "all-reduce": all_reduce_tree(JOB_NODES),
    }
    everybody = "everybody with everybody"
    loads: dict[str, dict[str, list[float]]] = {name: {} for name in (*graphs, everybody)}
    for order in ("xyz-by2", "xyz", "nid"):
        for places in aged_placements(order):
            for name, graph in graphs.items():
                streams = milc_stream(links, graph, places, 0.0).loads
                loads[name].setdefault(order, []).append(links.busiest(streams))
            nodes = Counter(places)
            loads[everybody].setdefault(order, []).append(links.busiest(links.between(nodes, nodes)))
    worst = {name: {order: mean(values) for order, values in each.items()} for name, each in loads.items()}
    return tuple(
        PatternCase(name, load["xyz"] / load["xyz-by2"] - 1, load["nid"] / load["xyz-by2"] - 1)
        for name, load in worst.items()
    )
