"""VASP and ``-S``: where twelve tasks land on a node of twenty-four cores.

Documented: the launch lines, where the tasks land with and without ``-S``, and
that it matters. The run times stood in a figure that is lost, so no number of
the slowdown is documented, and none is claimed here.
"""

from __future__ import annotations

from hopperlib.machine import Machine
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import Placement, place_tasks
from hopperlib.node.review.review import review_line
from hopperlib.node.review.slowdown import placement_cost
from hopperlib.studies.study import Check, Study

__all__ = ["BETTER_LINE", "HYBRID_LINE", "NAIVE_LINE", "STUDY", "packed_over_spread"]

BETTER_LINE = "aprun -n 384 -N 12 -S 3 vasp"
NAIVE_LINE = "aprun -n 384 -N 12 vasp"
HYBRID_LINE = "aprun -n 4 -S 1 -d 6 a.out"


def _place(line: str) -> Placement:
    """Return where a line puts its tasks on Hopper."""
    hopper = Machine.load("hopper")
    return place_tasks(read_launch(line, hopper), hopper)


def packed_over_spread(tasks_per_node: int) -> float:
    """Time of the memory-bound part on Hopper, packed by default over spread evenly. [ratio]

    Examples
    --------
    >>> [round(packed_over_spread(tasks), 2) for tasks in (4, 12, 24)]
    [1.0, 1.41, 1.0]
    """
    placement = _place(f"aprun -n {tasks_per_node} -N {tasks_per_node} a.out")
    return placement_cost(placement).worst.ratio


def _strict_memory_holds() -> bool:
    """Whether -ss makes memory beyond the task's NUMA node unreachable: 8 GB cannot hold 6 tasks of 2 GB."""
    found = review_line("aprun -n 12 -N 12 -ss a.out", Machine.load("hopper"), memory_per_task_gb=2.0)
    return any(one.code == "memory-out-of-reach" for one in found.problems)


def _checks() -> tuple[Check, ...]:
    naive, better, hybrid = _place(NAIVE_LINE), _place(BETTER_LINE), _place(HYBRID_LINE)
    crowd = [len(tasks) for tasks in naive.tasks_by_numa_node(0)]
    spread = [len(tasks) for tasks in better.tasks_by_numa_node(0)]
    sn = _place("aprun -n 12 -N 12 -sn 2 a.out")
    bound = [task.cores for task in _place("aprun -n 4 -N 4 -cc 0,6,12,18 a.out").nodes[0].tasks]
    partly = max(packed_over_spread(tasks) for tasks in (8, 12, 16))
    given = "a property of the machine that the model takes from its file"
    example = "an example in the text; nothing follows from it"
    component = better.launch.components[0]
    return (
        Check(id="placement.any-core-any-memory", role="input", reason=given),
        Check(id="placement.local-memory-faster", role="input", reason=f"{given}; by how much is assumed"),
        Check(id="placement.franklin-uniform", role="input", reason=given),
        Check(id="placement.partly-filled-needs-care", role="shape", reproduced=partly > packed_over_spread(24) == 1.0),
        Check(id="placement.few-tasks-example-low", role="not modelled", reason=example),
        Check(id="placement.few-tasks-example-high", role="not modelled", reason=example),
        Check(id="placement.default-fills-first-numa-node", role="input", reason="the rule by which aprun places"),
        Check(id="placement.spread-is-better", role="shape", reproduced=packed_over_spread(12) > 1.0),
        Check(id="placement.figure-5-tasks", role="not modelled", reason=example),
        Check(
            id="placement.vasp-atoms",
            role="not modelled",
            reason="the size of the problem decides how far it waits for memory, and no source says how",
        ),
        Check(id="placement.vasp-tasks", role="identity", reproduced=float(component.tasks)),
        Check(id="placement.vasp-nodes", role="predicted", reproduced=float(len(better.nodes))),
        Check(id="placement.vasp-tasks-per-node", role="identity", reproduced=float(len(better.nodes[0].tasks))),
        Check(id="placement.vasp-tasks-per-numa-node", role="identity", reproduced=float(spread[0])),
        Check(id="placement.vasp-launch-line", role="input", reason="the line that the study places"),
        Check(
            id="placement.vasp-effect-large",
            role="not modelled",
            reason="the run times are lost, and how far VASP waits for memory is not printed: "
            "the model gives a range that starts at no effect",
        ),
        Check(
            id="placement.vasp-default-cores",
            role="predicted",
            reproduced=float(len({core for task in naive.nodes[0].tasks for core in task.cores})),
        ),
        Check(
            id="placement.vasp-default-numa-nodes",
            role="predicted",
            reproduced=float(sum(count > 0 for count in crowd)),
        ),
        Check(
            id="placement.vasp-unused-numa-nodes",
            role="predicted",
            reproduced=float(sum(count == 0 for count in crowd)),
        ),
        Check(
            id="placement.vasp-default-contention",
            role="shape",
            reproduced=placement_cost(naive).worst.rate_gb_s < placement_cost(better).worst.rate_gb_s,
        ),
        Check(
            id="placement.vasp-default-remote-memory",
            role="shape",
            reproduced=placement_cost(naive, memory_per_task_gb=2.58).worst.ratio
            > placement_cost(naive, memory_per_task_gb=0.5).worst.ratio,
        ),
        Check(
            id="placement.option-sn",
            role="shape",
            reproduced=[len(tasks) > 0 for tasks in sn.tasks_by_numa_node(0)] == [True, True, False, False],
        ),
        Check(id="placement.option-ss", role="shape", reproduced=_strict_memory_holds()),
        Check(id="placement.option-cc", role="shape", reproduced=bound == [(0,), (6,), (12,), (18,)]),
        Check(
            id="placement.survey-options",
            role="not modelled",
            reason="what users answered; the reader of launch lines knows all four",
        ),
        Check(id="placement.survey-fewer-cores", role="not modelled", reason="what users answered"),
        Check(
            id="placement.spread-option",
            role="shape",
            reproduced=[len(tasks) for tasks in hybrid.tasks_by_numa_node(0)] == [1, 1, 1, 1],
        ),
        Check(id="placement.hybrid-launch-line", role="input", reason="the line that the study places"),
        Check(id="placement.hybrid-tasks", role="identity", reproduced=float(hybrid.launch.components[0].tasks)),
        Check(
            id="placement.hybrid-tasks-per-numa-node",
            role="predicted",
            reproduced=float(max(len(tasks) for tasks in hybrid.tasks_by_numa_node(0))),
        ),
        Check(
            id="placement.hybrid-threads",
            role="predicted",
            reproduced=float(len(hybrid.nodes[0].tasks[0].thread_cores)),
        ),
    )


STUDY = Study(
    name="placement",
    title="Where the tasks land",
    part="node",
    question="On which cores do the tasks of a launch line land, and what does that cost?",
    checks=_checks,
    assumptions=(
        "One core draws 5 GB/s at most; no source prints what a core of Hopper draws.",
        "Memory on another NUMA node is read at half the rate; no source prints the rate between NUMA nodes.",
        "How much of its time a program waits for memory is not written on a launch line: it stays a range.",
        "Where depth 4, 5 or more leaves cores over on every NUMA node, the tasks that remain take those cores in order.",
    ),
)
