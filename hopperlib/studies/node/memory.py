"""Memory for each task: what half packing buys, what it costs, and the ways out.

Calibrated: the usable memory of a Franklin node, on the printed 3.77 GB of the
half-packed node. Predicted: everything that follows, the 1.88 GB of the packed
node first.
"""

from __future__ import annotations

from hopperlib.documented import documented
from hopperlib.machine import Machine
from hopperlib.node.free_cores import break_even_service, run_time_with_free_cores
from hopperlib.node.layouts import cheapest, layouts
from hopperlib.node.memory import memory_per_task, merged_need, most_tasks_per_node
from hopperlib.studies.study import Check, Study
from hopperlib.units import memory_tb

__all__ = ["STUDY", "VPIC_NODES", "cheapest_for", "franklin_usable_gb"]

# From the study of the trillion particles, which has the run.
VPIC_NODES = 5_000


def franklin_usable_gb() -> tuple[float, float]:
    """Usable memory of a Franklin node that gives both printed values, lowest and highest. [GB]

    Two tasks with 3.77 GB each, rounded, leave 7.53 to 7.55 GB; four with
    1.88 GB leave 7.50 to 7.54 GB.

    Examples
    --------
    >>> franklin_usable_gb()
    (7.53, 7.54)
    """
    half = documented("memory.franklin-per-task-half-packed").bounds()
    packed = documented("memory.franklin-per-task-packed").bounds()
    return max(2 * half[0], 4 * packed[0]), min(2 * half[1], 4 * packed[1])


def _vpic_node_gb(nodes: int) -> float:
    """Memory of a node of the VPIC run from its total, with 1,024 GB to the TB. [GB]"""
    total_tb = documented("memory.vpic-total").number
    assert total_tb is not None, "the row has a number"
    return total_tb * 1_024 / nodes


def _checks() -> tuple[Check, ...]:
    hopper, franklin = Machine.load("hopper"), Machine.load("franklin")
    node, quad = hopper.node(), franklin.node()
    packed = layouts(hopper, need_gb=1, tasks=384, threads=1, kinds=(node,))
    half = next(one for one in packed if one.tasks_per_node == 12)
    low, high = (2 * bound for bound in documented("memory.franklin-per-task-half-packed").bounds())
    free = 4
    about = "printed with ~ or about, as a whole number"
    return (
        Check(
            id="memory.system-takes-share",
            role="shape",
            reproduced=all(kind.usable_memory_gb < kind.memory_gb for kind in (*hopper.node_kinds, quad)),
        ),
        Check(
            id="memory.hopper-usable",
            role="input",
            reproduced=float(node.usable_memory_gb),
            tolerance=0.5,
            tolerance_reason=about,
        ),
        Check(id="memory.hopper-tasks-packed", role="input", reproduced=float(node.cores)),
        Check(
            id="memory.hopper-per-task-packed",
            role="predicted",
            reproduced=memory_per_task(node, node.cores),
            reason="31 GB shared by 24 tasks",
        ),
        Check(id="memory.hopper-tasks-half-packed", role="input", reproduced=node.cores / 2),
        Check(
            id="memory.hopper-per-task-half-packed",
            role="predicted",
            reproduced=memory_per_task(node, node.cores // 2),
            reason="31 GB shared by 12 tasks",
        ),
        Check(
            id="memory.franklin-per-task-packed",
            role="predicted",
            reproduced=(low / quad.cores, high / quad.cores),
            reason=(
                "from the printed 3.77 alone, which leaves 7.53 to 7.55 GB; "
                f"the {quad.usable_memory_gb:g} GB of the machine file give {memory_per_task(quad, quad.cores):.2f}"
            ),
        ),
        Check(id="memory.franklin-tasks-packed", role="input", reproduced=float(quad.cores)),
        Check(
            id="memory.franklin-per-task-half-packed",
            role="calibrated",
            reproduced=memory_per_task(quad, quad.cores // 2),
            reason="usable memory of a Franklin node, which no source prints",
        ),
        Check(id="memory.franklin-tasks-half-packed", role="input", reproduced=quad.cores / 2),
        Check(
            id="memory.some-franklin-codes-fail",
            role="shape",
            reproduced=most_tasks_per_node(quad, 1.5) == quad.cores and most_tasks_per_node(node, 1.5) < node.cores,
            reason="tasks of 1.5 GB fill a Franklin node, and too few of them fit on a Hopper node",
        ),
        Check(
            id="memory.charged-by-node",
            role="shape",
            reproduced=half.cost_factor > packed[0].cost_factor,
            reason=f"half packed costs {half.cost_factor:g} times as much",
        ),
        Check(
            id="memory.hybrid-lowers-need",
            role="shape",
            reproduced=all(merged_need(1, 6, share) < 6 * merged_need(1, 1, share) for share in (0.1, 0.5, 1.0)),
            reason="six threads need less than six tasks, whatever share of a task's memory is copies",
        ),
        Check(id="memory.psoci-free-cores", role="input", reproduced=float(free)),
        Check(
            id="memory.psoci-fewer-cores-help",
            role="shape",
            reproduced=run_time_with_free_cores(node.cores, free, 0.5) < run_time_with_free_cores(node.cores, 0, 0.5),
            reason=(
                f"where other work takes over {break_even_service(node.cores, free):g} of a core's time; "
                "how much it took is not printed"
            ),
        ),
        Check(
            id="memory.psoci-cores-small",
            role="not modelled",
            reason="the size of a run; 3,000 cores are 150 nodes of 20 tasks, and its time stood in a lost figure",
        ),
        Check(
            id="memory.psoci-cores-large",
            role="not modelled",
            reason="the size of a run; 6,000 cores are 300 nodes of 20 tasks, and its time stood in a lost figure",
        ),
        Check(
            id="memory.psoci-problems-differ", role="not modelled", reason="what the two problems were is not printed"
        ),
        Check(
            id="memory.vpic-memory-share",
            role="identity",
            reproduced=100 * _vpic_node_gb(VPIC_NODES) / node.memory_gb,
            tolerance=5.0,
            tolerance_reason="printed with about, in tens",
        ),
        Check(
            id="memory.vpic-per-node",
            role="identity",
            reproduced=_vpic_node_gb(VPIC_NODES),
            tolerance=0.5,
            tolerance_reason=about,
            reason=(
                f"142 TB over 5,000 nodes, with 1,024 GB to the TB; with 1,000 it is {memory_tb(142e6) / VPIC_NODES:.1f} GB"
            ),
        ),
        Check(id="memory.vpic-node-memory", role="identity", reproduced=float(node.memory_gb)),
        Check(id="memory.vpic-total", role="input", reason="divided by the nodes of the run"),
    )


def cheapest_for(need_gb: float, tasks: int) -> tuple[float, float]:
    """Cost on Hopper with one thread a task: on ordinary nodes, and on any. [ratio]

    Examples
    --------
    >>> cheapest_for(2.0, 384)
    (1.625, 1.0)
    """
    hopper = Machine.load("hopper")
    found = layouts(hopper, need_gb=need_gb, tasks=tasks, threads=1)
    ordinary, best = cheapest(found, kind=hopper.node()), cheapest(found)
    if ordinary is None or best is None:
        raise ValueError(f"need_gb={need_gb:g} is more than an ordinary node of {hopper.title} holds")
    return ordinary.cost_factor, best.cost_factor


STUDY = Study(
    name="memory",
    title="Memory for each task",
    part="node",
    question="How much memory has a task, what does more of it cost, and which layout is the cheapest that fits?",
    checks=_checks,
    assumptions=(
        "A Franklin node leaves 7.535 GB to programs. No source prints it: twice the printed 3.77 GB, rounded, is 7.53 to 7.55 GB.",
        "Every task of a job needs the same memory, and all tasks of a node share what is usable evenly.",
        "A further thread works as well as a task. No source prints how well; the share is a control.",
        "What share of a task's memory is a copy of what its neighbors hold is printed nowhere; the model gives the share needed.",
        "A node with more memory is charged like any other, as the center's tables of queues have it.",
        "In a program that waits at barriers, other work on a busy core delays every task.",
    ),
)
