"""The torus and the order of its nodes: the value of an order, and for which jobs.

Documented: three orders and how many dimensions each fills, the day on which
the best one was lost, which codes then slowed down and by how much at most.
The orders' definitions are not printed; the ones here are assumptions.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from statistics import fmean, mean, pstdev

from hopperbook.studies.network.fragmentation import aged, population
from hopperbook.studies.study import Shares, Study, Value, predictions, ranges
from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import fitted, model, sampled_conditions
from hopperlib.network.runtime.placed_jobs import PlacedJob
from hopperlib.network.torus.allocation import bisection_bandwidth_gb_s, mean_hop_distance
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.scheduling.aging import probe

#: Nodes of MILC on 8,192 cores, 24 per node.
JOB_NODES = 342
# Histories that one run of the prediction draws.
_DRAWN = 20


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
def aged_hops(order: str) -> tuple[float, ...]:
    """Mean distance, Y double, of a job on an aged Hopper, placed twice a day from the third day after a reboot on. [hops]

    Examples
    --------
    >>> len(aged_hops("nid"))
    20
    """
    places, torus = _ordered_places(order), Torus((17, 8, 24), (1, 2, 1))
    runs = (probe(aged(), half_day * 43_200, JOB_NODES).runs for half_day in range(6, 26))
    return tuple(
        mean_hop_distance([place for low, high in pieces for place in places[low:high]], torus) for pieces in runs
    )


def _windows(order: str) -> list[list[Coordinates]]:
    """Placements of a job on an empty machine: windows of the order, side by side."""
    places = _ordered_places(order)
    return [list(places[first : first + JOB_NODES]) for first in range(0, len(places) - JOB_NODES + 1, JOB_NODES)]


@cache
def _histories(order: str) -> dict[int, list[PlacedJob]]:
    """Return MILC's jobs in an order, by the seed of their history."""
    by_seed: dict[int, list[PlacedJob]] = {}
    for job in population(order):
        by_seed.setdefault(job.seed, []).append(job)
    return by_seed


def _times_s(jobs: Sequence[PlacedJob], runs: int = 100) -> list[float]:
    """Return the run times of jobs without noise, by the line that is calibrated on xyz-by2 order. [s]"""
    line = model(runs, jobs=population())
    return [line.run_time_s(run) for conditions in sampled_conditions(jobs) for run in conditions]


@cache
def exchange_share(runs: int = 100) -> float:
    """Share of MILC's mean time in which it sends, as calibrated on a sample of that many runs. [fraction]

    Examples
    --------
    >>> 0 < exchange_share() < 1
    True
    """
    return 1 - model(runs, jobs=population()).compute_s / fmean(_times_s(population(), runs))


@cache
def lost_order() -> float:
    """Relative increase of MILC's run time in NID order over xyz-by2 order, in the mean of all histories. [fraction]

    Examples
    --------
    >>> 0 < lost_order() < 1
    True
    """
    return fmean(_times_s(population("nid"))) / fmean(_times_s(population())) - 1


def lost_order_slowdown(share: float) -> float:
    """Relative increase of the run time of a code that communicates as MILC does for a share of its time. [fraction]

    Raises
    ------
    InputError
        If `share` is not from 0 to 1.

    Examples
    --------
    >>> lost_order_slowdown(0.0), lost_order_slowdown(1.0) > lost_order()
    (0.0, True)
    """
    if not 0 <= share <= 1:
        raise refusal("share", share, "must be from 0 to 1: it is a share of the run time")
    return share * lost_order() / exchange_share()


def _less_variation(seed: int) -> bool:
    """Whether in one history xyz-by2 brings the nodes of a job closer together than NID order, and its times too."""
    by2, nid = (_histories(order)[seed] for order in ("xyz-by2", "nid"))
    closer = fmean(job.hops_nodes for job in by2) < fmean(job.hops_nodes for job in nid)
    return closer and pstdev(_times_s(by2)) < pstdev(_times_s(nid))


def _model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the increase of MILC's run time in NID order, over some histories drawn from all. [%]"""
    seeds = list(_histories("nid"))
    drawn = [seeds[int(rng.random() * len(seeds))] for _ in range(_DRAWN)]
    kept, lost = (
        sampled_conditions(
            [job for seed in drawn for job in _histories(order)[seed]],
            assumed["traffic"],
            reductions=assumed["reductions"],
        )
        for order in ("xyz-by2", "nid")
    )
    line = fitted(kept, round(assumed["runs"]), run_noise=0.0)
    kept_s, lost_s = (fmean(line.run_time_s(run) for job in conditions for run in job) for conditions in (kept, lost))
    return {"slowdown": 100 * (lost_s / kept_s - 1)}


def _values() -> dict[str, Value]:
    hopper = Machine.load("hopper")
    torus = Torus.of(hopper)
    # Every other node: two share a Gemini.
    nid_step = mean(torus.hops(a, b) for a, b in pairwise(_ordered_places("nid")[::2]))
    bisection_xyz, bisection_by2 = (
        mean(bisection_bandwidth_gb_s(window, hopper) for window in _windows(order)) for order in ("xyz", "xyz-by2")
    )
    by2, nid = (fmean(job.hops_nodes for job in population(order)) for order in ("xyz-by2", "nid"))
    farther, seeds = nid / by2 - 1, list(_histories("nid"))
    measured = predictions(_model, ranges("torus"), {"slowdown": 100 * farther}, random_parts=True)
    return {
        "nid-order-no-topology": nid_step >= 2,
        "xyz-by2-uses-bisection": bisection_by2 > bisection_xyz,
        "xyz-by2-less-variation": Shares(sum(map(_less_variation, seeds)), len(seeds)),
        # Of one code only it is printed to whom it talks: MILC. Total of the communication time, which another study
        # calibrates.
        **measured,
        "milc": lost_order(),
        "exchange_share": exchange_share(),
        "wait_growth": lost_order() / exchange_share(),
        "unseen": 0.03 * exchange_share() / lost_order(),
        "farther": farther,
        "dimensions-nersc-variability": len(torus.dimensions),
    }


STUDY = Study("torus", _values, model=_model)
