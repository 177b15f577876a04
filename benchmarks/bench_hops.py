"""Mean hop distance of a job's nodes; scipy's pdist beside it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy.spatial.distance import pdist

from benchmarks.side_by_side import Comparison
from hopperlib.machine import Machine
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes

JOB_NODES, JOB_RUNS = 342, 18


def best_s(call: Callable[[], Any], times: int, rounds: int = 50) -> float:
    """Best of many rounds: on a shared machine only the undisturbed one says how long the work takes. [s]"""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - start) / times)
    return best


def _a_job(nodes: int) -> list[tuple[int, int]]:
    """Return runs of positions, spread over the node list."""
    rng = random.Random(1)
    starts = sorted(rng.sample(range(0, nodes - 400, 25), JOB_RUNS))
    sizes = [JOB_NODES // JOB_RUNS] * JOB_RUNS
    return [(start, start + size) for start, size in zip(starts, sizes, strict=True)]


def measure() -> list[Comparison]:
    """Return the rows; every way gives the same mean."""
    machine = Machine.load("hopper")
    torus = Torus.of(machine, weights=(1, 2, 1))
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), "xyz")]
    counts, runs = PrefixCounts(places, torus), _a_job(len(places))
    nodes = np.array([place for low, high in runs for place in places[low:high]], dtype=float)

    def with_pdist() -> float:
        total = 0.0
        for axis, (size, weight) in enumerate(zip(torus.dimensions, torus.weights, strict=True)):
            apart = pdist(nodes[:, axis : axis + 1], "cityblock")
            total += weight * float(np.minimum(apart, size - apart).sum())
        return total / (len(nodes) * (len(nodes) - 1) / 2)

    assert counts.mean_hop_distance(runs) == with_pdist()
    peer, peer_s = f"scipy {scipy.__version__} pdist, an axis at a time", 1000 * best_s(with_pdist, 20)
    what, note = (
        f"a job of {JOB_NODES} nodes in {JOB_RUNS} runs, 1,000 times",
        "best of 50 rounds; pdist takes coordinates, ours runs of the list",
    )
    return [
        Comparison(
            what=f"mean hops, standard library, {what}",
            ours_s=1000 * best_s(lambda: counts.mean_hop_distance(runs), 100),
            peer=peer,
            peer_s=peer_s,
            note=note,
        ),
    ]
