"""Threads per task: where three are the fastest, the loss at 12 and 24, and the effects that a test could have
detected.

Printed are shapes and the counts of threads; the times were in figures that are lost. No parameter of GTC is therefore
known, and the study determines the result in each part of a box of runs. The box is drawn again, with different edges,
for every seed.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from hopperbook.studies.study import Shares, Study, Value, predictions, ranges
from hopperlib.machine import Machine, NodeKind
from hopperlib.network.runtime.power import detectable_gain
from hopperlib.placement.models.free_cores import break_even_service
from hopperlib.placement.models.hybrid import VARIATION, RunShares, ThreadCost, best_threads, memory_times, thread_costs

# The counts that divide a NUMA node, a socket and a node evenly: 12 and 24 are printed, and all up to 6 belong to the
# "1 to 6" of the source.
THREADS = (1, 2, 3, 6, 12, 24)
_TASKS = 8192
_SEEDS = 200
_RUNS = 400
_TOUCHED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Results in one box of runs.

    Parameters
    ----------
    best : dict of int to float
        Share of the runs that each number of threads is the fastest in.
    fastest, fastest_without_numa : int
        Threads at which the median time is smallest, and the same without the effect of NUMA nodes.
    gaining : float
        Share that is faster with 3 threads than with 1, and with 6 than with 3.
    losing, losing_without_numa : float
        Share of those that is slower with 12 than with 6, and the same without the effect of NUMA nodes.
    lost, lost_perfect : tuple of float
        Median loss of those from 6 to 12 and from 6 to 24, as first touched and perfectly. [ratio]
    """

    best: dict[int, float]
    fastest: int
    fastest_without_numa: int
    gaining: float
    losing: float
    losing_without_numa: float
    lost: tuple[float, ...]
    lost_perfect: tuple[float, ...]


def _costs(kind: NodeKind, elsewhere: float) -> tuple[ThreadCost, ...]:
    """Return the documented counts of threads for one state of first touch."""
    return tuple(cost for cost in thread_costs(kind, _TASKS, elsewhere=elsewhere) if cost.threads in THREADS)


@cache
def box(seed: int) -> Box:
    """Return the results in the box of a seed, whose edges are drawn too.

    Examples
    --------
    >>> box(0).losing > box(0).losing_without_numa
    True
    """
    rng = random.Random(seed)
    edges = {name: each.low + (each.high - each.low) * rng.random() for name, each in ranges("hybrid").items()}
    return _box(edges, rng)


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the threads up to which typical runs gain: where the median time of a box is the least.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("hybrid").items()}
    >>> 1 < model(usual, random.Random(1))["gain-to-threads"] < 12
    True
    """
    times = [
        {cost.threads: cost.run_time(shares) for cost in costs}
        for costs, shares in _drawn(_by_touch(assumed), assumed, rng)
    ]
    return {"gain-to-threads": float(min(THREADS, key=lambda threads: median(run[threads] for run in times)))}


def _kind(assumed: Mapping[str, float]) -> NodeKind:
    """Return Hopper's node with the bandwidths of a box."""
    return replace(
        Machine.load("hopper").node(),
        numa_bandwidth_gb_s=assumed["numa_gb_s"],
        core_bandwidth_cap_gb_s=assumed["core_gb_s"],
    )


def _by_touch(assumed: Mapping[str, float]) -> list[tuple[ThreadCost, ...]]:
    """Return the costs of the documented counts of threads, from first touch that is perfect to none."""
    return [_costs(_kind(assumed), step / _TOUCHED) for step in range(_TOUCHED + 1)]


def _drawn(
    by_touch: Sequence[tuple[ThreadCost, ...]], assumed: Mapping[str, float], rng: random.Random
) -> Iterator[tuple[tuple[ThreadCost, ...], RunShares]]:
    """Yield the runs of a box: what threads cost each, and its shares."""
    for _ in range(_RUNS):
        shares = RunShares(
            # From a hundredth of the greatest share on, as many runs a decade.
            parallel_fraction=1 - assumed["serial"] * 0.01 ** rng.random(),
            mpi_share=assumed["mpi"] * rng.random(),
            memory_bound_fraction=rng.random(),
        )
        yield by_touch[int(rng.random() * (_TOUCHED + 1))], shares


def _box(assumed: Mapping[str, float], rng: random.Random) -> Box:
    """Return the results in a box with these edges."""
    by_touch = _by_touch(assumed)
    best = dict.fromkeys(THREADS, 0)
    runs: list[tuple[dict[int, float], ...]] = []
    for costs, shares in _drawn(by_touch, assumed, rng):
        best[best_threads(costs, shares).threads] += 1
        # The same run if nothing waited for memory, near or far.
        flat = replace(shares, memory_bound_fraction=0.0)
        kinds = ((costs, shares), (by_touch[0], shares), (by_touch[0], flat))
        runs.append(tuple({cost.threads: cost.run_time(values) for cost in those} for those, values in kinds))
    whole = _kind(assumed).cores_per_numa_node
    # Only a run that gains up to a whole NUMA node has something to lose beyond it.
    gaining = [run for run in runs if run[0][whole] < run[0][3] < run[0][1]]

    def fastest(which: int) -> int:
        return min(THREADS, key=lambda threads: median(run[which][threads] for run in runs))

    def lost(which: int) -> tuple[float, ...]:
        return tuple(median(run[which][wide] / run[which][whole] - 1 for run in gaining) for wide in THREADS[4:])

    return Box(
        best={threads: count / _RUNS for threads, count in best.items()},
        fastest=fastest(0),
        fastest_without_numa=fastest(2),
        gaining=len(gaining) / _RUNS,
        losing=sum(run[0][12] > run[0][whole] for run in gaining) / len(gaining),
        losing_without_numa=sum(run[2][12] > run[2][whole] for run in gaining) / len(gaining),
        lost=lost(0),
        lost_perfect=lost(1),
    )


def _in_boxes(boxes: Sequence[Box]) -> dict[str, Value]:
    """Return the results in most boxes."""
    kept = [all(b < 0.2 * a for a, b in zip(each.lost, each.lost_perfect, strict=True)) for each in boxes]
    at_three = [each.best[3] for each in boxes]
    return {
        "perfect-first-touch-saves": Shares(sum(kept), len(boxes)),
        "best_at_one": median(each.best[1] for each in boxes),
        "best_at_three_low": min(at_three),
        "best_at_three_high": max(at_three),
        "best_within_six": median(sum(each.best[threads] for threads in THREADS if threads <= 6) for each in boxes),
        "losing": median(each.losing for each in boxes),
        "losing_without": median(each.losing_without_numa for each in boxes),
        "lost_socket": median(each.lost[0] for each in boxes),
        "lost_node": median(each.lost[1] for each in boxes),
        "lost_socket_perfect": median(each.lost_perfect[0] for each in boxes),
        "lost_node_perfect": median(each.lost_perfect[1] for each in boxes),
    }


def _values() -> dict[str, Value]:
    kind = Machine.load("hopper").node()
    boxes = [box(seed) for seed in range(_SEEDS)]
    without = float(median(each.fastest_without_numa for each in boxes))
    half_s, full_s = (memory_times(kind, tasks, 3)[1] for tasks in (4, 8))
    return {
        **_in_boxes(boxes),
        **predictions(model, ranges("hybrid"), {"gain-to-threads": without}, runs=_SEEDS, random_parts=True),
        "loss-threads-socket gtc-numa-threads": next(count for count in THREADS if count > kind.cores_per_numa_node),
        "full_penalty": memory_times(kind, 8, 3, spread=False)[1] / full_s,
        "half_penalty": memory_times(kind, 4, 3, spread=False)[1] / half_s,
        "spilled_penalty": memory_times(kind, 8, 3, spilled=1.0)[1] / full_s,
        "break_even": break_even_service(kind.cores, 1),
        "cores": float(kind.cores),
        "shown_by_three": detectable_gain(VARIATION, 3),
    }


STUDY = Study("hybrid", _values, model=model)
