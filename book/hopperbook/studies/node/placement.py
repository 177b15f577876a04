"""VASP and ``-S``: where twelve tasks land on a node of twenty-four cores.

Documented: the launch lines, where the tasks land with and without ``-S``, and
that it matters. The run times stood in a figure that is lost, so no number of
the slowdown is documented, and none is claimed here.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

from hopperbook.studies.study import Shares, Study, Value, ranges
from hopperlib.machine import Machine
from hopperlib.placement.launch_line import read_launch_line
from hopperlib.placement.placement import Placement, place_tasks
from hopperlib.placement.slowdown import placement_cost

BETTER_LINE = "aprun -n 384 -N 12 -S 3 vasp"
NAIVE_LINE = "aprun -n 384 -N 12 vasp"
_HYBRID_LINE = "aprun -n 4 -S 1 -d 6 a.out"
_DRAWS = 40


def _place(line: str) -> Placement:
    """Return where a line puts its tasks on Hopper."""
    hopper = Machine.load("hopper")
    return place_tasks(read_launch_line(line, hopper), hopper)


def _packed_over_spread(tasks_per_node: int, die_gb_s: float, core_gb_s: float) -> float:
    """Time of the memory-bound part on Hopper, packed by default over spread evenly. [ratio]

    Parameters
    ----------
    tasks_per_node : int
    die_gb_s, core_gb_s : float
        What a NUMA node gives and a core draws. [GB/s]

    Examples
    --------
    >>> [round(_packed_over_spread(tasks, 12.5, 5), 2) for tasks in (4, 12, 24)]
    [1.6, 2.0, 1.0]
    """
    placement = _place(f"aprun -n {tasks_per_node} -N {tasks_per_node} a.out")
    placement = placement._replace(node_kind=replace(placement.node_kind, numa_bandwidth_gb_s=die_gb_s))
    return placement_cost(placement, core_cap_gb_s=core_gb_s).worst.ratio


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return how many times as long the part of VASP's run takes that waits for memory, packed over spread.

    No source prints the number: it is on the page, so it is moved as those are that can be lost.

    Examples
    --------
    >>> model({"die_gb_s": 12.5, "core_gb_s": 3}, random.Random(1))
    {'vasp-effect-large': 1.44}
    """
    return {"vasp-effect-large": round(_packed_over_spread(12, assumed["die_gb_s"], assumed["core_gb_s"]), 6)}


def _shapes() -> dict[str, Value]:
    """Return in how many draws of the two rates packed tasks lose a tenth or more, and full nodes nothing."""
    rng, die, core = random.Random(1), ranges("placement")["die_gb_s"], ranges("placement")["core_gb_s"]
    draws = [
        (die.low + rng.random() * (die.high - die.low), core.low + rng.random() * (core.high - core.low))
        for _ in range(_DRAWS)
    ]
    losing = {tasks: [_packed_over_spread(tasks, *rates) > 1.1 for rates in draws] for tasks in (4, 8, 12, 16)}
    full = [_packed_over_spread(24, *rates) == 1.0 for rates in draws]
    partly = [any(cases) and even for *cases, even in zip(losing[8], losing[16], full, strict=True)]
    return {
        "partly-filled-needs-care": Shares(sum(partly), _DRAWS),
        "spread-is-better": Shares(sum(losing[4]), _DRAWS),
        "vasp-default-contention": Shares(sum(losing[12]), _DRAWS),
    }


def _values() -> dict[str, Value]:
    better, hybrid = _place(BETTER_LINE), _place(_HYBRID_LINE)
    return _shapes() | {
        "vasp-nodes": len(better.nodes),
        "hybrid-tasks-per-numa-node": max(len(tasks) for tasks in hybrid.tasks_by_numa_node(0)),
        "hybrid-threads": len(hybrid.nodes[0].tasks[0].thread_cores),
    }


STUDY = Study("placement", _values, model=model)
