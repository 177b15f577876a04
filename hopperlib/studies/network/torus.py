"""The torus and the order of its nodes: what an order is worth, and to whom.

Documented: three orders and how many dimensions each fills, the day on which
the best one was lost, which codes then slowed down and by how much at most.
The orders' definitions are not printed; the ones here are assumptions.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from statistics import mean, pstdev

from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import exchange_share, lost_order, slowdown
from hopperlib.network.runtime.traffic import grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.scheduling.aging import probe
from hopperlib.network.torus.allocation import bisection_bandwidth_gb_s, mean_hop_distance
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.studies.network.fragmentation import aged
from hopperlib.studies.study import Prediction, Study, Value

__all__ = ["JOB_NODES", "STUDY", "aged_hops", "aged_placements"]

#: Nodes of MILC on 8,192 cores, 24 a node.
JOB_NODES = 342


@cache
def _ordered_places(order: str) -> tuple[Coordinates, ...]:
    """Coordinates of Hopper's compute nodes in an order.

    Examples
    --------
    >>> _ordered_places("xyz")[:2]
    ((0, 0, 1), (0, 0, 1))
    """
    return tuple(node.coordinates for node in order_nodes(compute_nodes(Machine.load("hopper")), order))


@cache
def aged_placements(order: str) -> tuple[list[Coordinates], ...]:
    """Where a job of `JOB_NODES` lands on an aged Hopper, twice a day from the third day after a reboot on.

    Examples
    --------
    >>> len(aged_placements("nid")), len(aged_placements("nid")[0])
    (20, 342)
    """
    places = _ordered_places(order)
    runs = (probe(aged(), half_day * 43_200, JOB_NODES).runs for half_day in range(6, 26))
    return tuple([place for low, high in pieces for place in places[low:high]] for pieces in runs)


@cache
def aged_hops(order: str) -> tuple[float, ...]:
    """Mean distance, Y double, of a job on an aged Hopper, placed again and again. [hops]

    Examples
    --------
    >>> len(aged_hops("nid"))
    20
    """
    torus = Torus((17, 8, 24), (1, 2, 1))
    return tuple(mean_hop_distance(places, torus) for places in aged_placements(order))


def _windows(order: str) -> list[list[Coordinates]]:
    """Placements of a job on an empty machine: windows of the order, side by side."""
    places = _ordered_places(order)
    return [list(places[first : first + JOB_NODES]) for first in range(0, len(places) - JOB_NODES + 1, JOB_NODES)]


def _values() -> dict[str, Value]:
    hopper = Machine.load("hopper")
    torus = Torus.of(hopper)
    graph = nearest_neighbors(grid_dimensions(8192), 24)
    whole = _ordered_places("xyz")
    packed, spread = whole[:JOB_NODES], whole[:: len(whole) // JOB_NODES][:JOB_NODES]
    near, far = (hops_of_graph(graph, places, torus) for places in (packed, spread))
    # Every other node: two share a Gemini.
    nid_step, xyz_step = (
        mean(torus.hops(a, b) for a, b in pairwise(_ordered_places(order)[::2])) for order in ("nid", "xyz")
    )
    bisection_xyz, bisection_by2 = (
        mean(bisection_bandwidth_gb_s(window, hopper) for window in _windows(order)) for order in ("xyz", "xyz_by2")
    )
    by2, xyz, nid = (aged_hops(order) for order in ("xyz_by2", "xyz", "nid"))
    return {
        "spread-jobs-slower": far > near,
        "nid-order-no-topology": nid_step >= 2,
        "xyz-knows-interleaving": xyz_step < 1.5,
        "xyz-by2-uses-bisection": bisection_by2 > bisection_xyz,
        "xyz-by2-less-variation": mean(by2) < mean(nid) and pstdev(by2) < pstdev(nid),
        # Of one code only it is printed to whom it talks: MILC. What it spends on that another study calibrates.
        "slowdown": Prediction(
            100 * lost_order(), 100 * lost_order(), 100 * (max(mean(xyz), mean(nid)) / mean(by2) - 1)
        ),
        "milc": lost_order(),
        "exchange_share": exchange_share(),
        "wait_growth": slowdown(1.0),
        "unseen": 0.03 / slowdown(1.0),
        "farther": max(mean(xyz), mean(nid)) / mean(by2) - 1,
        "dimensions-nersc-variability": len(torus.dimensions),
    }


STUDY = Study.read("torus", _values)
