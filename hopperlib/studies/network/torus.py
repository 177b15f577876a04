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
from hopperlib.network.scheduling.aging import aged_machine, probe
from hopperlib.network.torus.allocation import bisection_bandwidth_gb_s, mean_hop_distance
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.studies.study import Check, Study

__all__ = ["JOB_NODES", "STUDY", "aged_hops", "ordered_places"]

#: Nodes of MILC on 8,192 cores, 24 a node.
JOB_NODES = 342


@cache
def ordered_places(order: str) -> tuple[Coordinates, ...]:
    """Coordinates of Hopper's compute nodes in an order.

    Examples
    --------
    >>> ordered_places("xyz")[:2]
    ((0, 0, 1), (0, 0, 1))
    """
    return tuple(node.coordinates for node in order_nodes(compute_nodes(Machine.load("hopper")), order))


@cache
def _probes() -> tuple[tuple[int, ...], ...]:
    """Positions that a job of `JOB_NODES` gets twice a day from the third day after a reboot on."""
    schedule = aged_machine("production", nodes=6384, days=14, load=0.95)
    found = []
    for half_day in range(6, 26):
        runs = probe(schedule, half_day * 43_200, JOB_NODES).runs
        found.append(tuple(position for low, high in runs for position in range(low, high)))
    return tuple(found)


@cache
def aged_hops(order: str) -> tuple[float, ...]:
    """Mean distance, Y double, of a job on an aged Hopper, placed again and again. [hops]

    Examples
    --------
    >>> len(aged_hops("nid"))
    20
    """
    torus, places = Torus((17, 8, 24), (1, 2, 1)), ordered_places(order)
    return tuple(mean_hop_distance([places[position] for position in job], torus) for job in _probes())


def _windows(order: str) -> list[list[Coordinates]]:
    """Placements of a job on an empty machine: windows of the order, side by side."""
    places = ordered_places(order)
    return [list(places[first : first + JOB_NODES]) for first in range(0, len(places) - JOB_NODES + 1, JOB_NODES)]


def _checks() -> tuple[Check, ...]:
    hopper = Machine.load("hopper")
    torus = Torus.of(hopper)
    graph = nearest_neighbors(grid_dimensions(8192), 24)
    whole = ordered_places("xyz")
    packed, spread = whole[:JOB_NODES], whole[:: len(whole) // JOB_NODES][:JOB_NODES]
    near, far = (hops_of_graph(graph, places, torus) for places in (packed, spread))
    nid = ordered_places("nid")[::2]
    nid_step = mean(torus.hops(a, b) for a, b in pairwise(nid))
    xyz_step = mean(torus.hops(a, b) for a, b in pairwise(whole[::2]))
    bisection = {
        order: mean(bisection_bandwidth_gb_s(window, hopper) for window in _windows(order))
        for order in ("xyz", "xyz_by2")
    }
    by2, xyz, without = aged_hops("xyz_by2"), aged_hops("xyz"), aged_hops("nid")
    farther = max(mean(xyz), mean(without)) / mean(by2) - 1
    # Of one code only it is printed to whom it talks: MILC. What it spends on that is calibrated in another study.
    milc, unseen = lost_order(), 0.03 / slowdown(1.0)
    calmer = mean(by2) < mean(without) and pstdev(by2) < pstdev(without)
    codes = (
        "which part of their time these codes spend on messages, and to whom, is not printed. A code that talks as MILC does and "
        f"waits for it less than {unseen:.0%} of its time would lose less than 3 %, and one that sends nothing, as Stream, "
        "nothing"
    )
    definition = "the definition here was chosen to fill as many dimensions"
    return (
        Check(id="torus.spread-jobs-slower", role="shape", reproduced=far > near),
        Check(
            id="torus.nid-order-no-topology",
            role="shape",
            reproduced=nid_step >= 2,
            explanation="the rule read off Titan's table numbers the nodes along the interleaved cables, so here NID order does "
            "know the torus; how Hopper numbered its nodes in 2011 is not known",
        ),
        Check(id="torus.xyz-knows-interleaving", role="shape", reproduced=xyz_step < 1.5),
        Check(id="torus.nid-and-xyz-dimensions", role="input", reason=definition),
        Check(id="torus.xyz-by2-dimensions", role="input", reason=definition),
        Check(id="torus.xyz-by2-uses-bisection", role="shape", reproduced=bisection["xyz_by2"] > bisection["xyz"]),
        Check(
            id="torus.xyz-by2-less-variation",
            role="shape",
            reproduced=calmer,
            explanation=""
            if calmer
            else "on an aged machine the holes decide more than the order: with blocks of 2 x 2 x 2 the mean distance is "
            f"{mean(by2):.2f} hops against {mean(without):.2f} by node number, its spread {pstdev(by2):.2f} against "
            f"{pstdev(without):.2f}",
        ),
        Check(id="torus.order-lost", role="input", reason="a date; the orders before and after it are compared"),
        Check(id="torus.unchanged-codes", role="not modelled", reason=codes),
        Check(
            id="torus.slowed-codes",
            role="not modelled",
            reason=f"of MILC alone it is printed to whom it talks; the model slows it by {milc:.0%}. To whom the other two talk, and "
            "how much, is not printed",
        ),
        Check(
            id="torus.slowdown",
            role="predicted",
            reproduced=100 * milc,
            reason=f"MILC on 8,192 cores of an aged machine, by the run-time model that another study calibrated: it waits for messages "
            f"{exchange_share():.0%} of its time, and without the order that wait grows by {slowdown(1.0):.0%}. "
            f"The mean distance would not tell: it grows by {farther:.0%}",
        ),
        Check(
            id="torus.order-restored",
            role="not modelled",
            reason="in the model the order is all that changed, so this would hold whatever the model gave",
        ),
        Check(id="torus.dimensions-nersc-variability", role="input", reproduced=float(len(torus.dimensions))),
        Check(
            id="torus.y-bandwidth-share",
            role="input",
            reason="distances count Y double; in the link table half of the Y links have half the bandwidth of X",
        ),
    )


STUDY = Study(
    name="torus",
    title="The torus and the order of its nodes",
    part="network",
    question="What is the order in which nodes are handed out worth, and to which codes?",
    checks=_checks,
    assumptions=(
        "xyz fills z first, then y, then x; no source prints its definition.",
        "xyz-by2 fills blocks of 2 x 2 x 2 Geminis, the blocks in the order of xyz; no source prints its definition.",
        "Hopper's node numbers and cables follow the rule read off Titan's table, on a floor of 17 columns and 4 rows.",
        "Where the service nodes sat is not printed; they are spread evenly.",
        "Link bandwidths are those printed for Titan, in GB/s.",
    ),
)
