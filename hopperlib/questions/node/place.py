"""Question: where the tasks of a launch line land, what is wrong, which line is better."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine, MachineError
from hopperlib.node.launch.components import LaunchError
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.review import Review, review_line
from hopperlib.node.review.slowdown import memory_need
from hopperlib.questions.node import placement_parts as parts
from hopperlib.questions.node.drawings import node_drawing, standalone_svg
from hopperlib.questions.question import declared
from hopperlib.questions.result import Result

__all__ = ["QUESTION"]


def _machine(name: str, text: str) -> Machine:
    """Return the chosen machine, or the one in the reader's file."""
    try:
        return Machine.from_toml(text) if text.strip() else Machine.load(name)
    except MachineError as error:
        raise InputError(str(error), name="machine_file") from error


def _review(line: str, machine: Machine, threads: int, core_cap_gb_s: float, memory_per_task_gb: float) -> Review:
    """Return the review of a line; a refusal points at the line. Zeros stand for what is not given."""
    if not line.strip():
        raise InputError("type a launch line, such as: aprun -n 24 ./a.out", name="line")
    try:
        return review_line(
            line,
            machine,
            threads=threads or None,
            core_cap_gb_s=core_cap_gb_s or None,
            memory_per_task_gb=memory_per_task_gb or None,
        )
    except LaunchError as error:
        raise InputError(error.message, name="line") from error


def _shown(placement: Placement, number: int) -> NodePlacement:
    """Return the node to draw."""
    if number >= len(placement.nodes):
        last = len(placement.nodes) - 1
        raise InputError(f"node={number} must be from 0 to {last}, the nodes of this job", name="node")
    return placement.nodes[number]


def _answer(
    *,
    line: str,
    machine: str,
    machine_file: str,
    threads: int,
    memory_per_task_gb: float,
    memory_bound_low: float,
    memory_bound_high: float,
    node: int,
    core_cap_gb_s: float,
    measured_s: float,
    measured_spread_s: float,
) -> Result:
    """Answer for one launch line."""
    if memory_bound_low > memory_bound_high:
        raise InputError(
            f"memory_bound_low={memory_bound_low:g} must not be above memory_bound_high={memory_bound_high:g}",
            name="memory_bound_low",
        )
    review = _review(line, _machine(machine, machine_file), threads, core_cap_gb_s, memory_per_task_gb)
    placement, cost = review.placement, review.cost
    kind, shown = placement.node_kind, _shown(placement, node)
    low, high = memory_bound_low, memory_bound_high
    each = cost.memory_per_task_gb[shown.component]
    need = memory_need(shown.pattern, kind, each) if each else None
    count = f"Node {shown.node} of {len(placement.nodes):,}" if len(placement.nodes) > 1 else "The node"
    tasks = len(shown.pattern)
    drawing = node_drawing(
        kind, shown, title=f"{count}: {tasks} {'task' if tasks == 1 else 'tasks'}", memory_need_gb=need
    )
    least, most = cost.slowdown_range(low, high)
    counts = [len(tasks) for tasks in placement.tasks_by_numa_node(node)]
    facts = {
        "tasks": placement.launch.tasks,
        "nodes": len(placement.nodes),
        "tasks_by_numa_node": counts,
        "most_tasks_on_a_numa_node": max(counts),
        "idle_numa_nodes": counts.count(0),
        "ratio": cost.worst.ratio,
        "slowdown_low": least,
        "slowdown_high": most,
        "remote_fraction": cost.worst.memory.remote_fraction,
        "problems": len(review.problems),
        "codes": [one.code for one in review.advice],
    }
    return Result(
        summary=parts.summary(review, low, high),
        findings=tuple(Finding(code=one.code, message=one.message, level=one.level) for one in review.advice),
        values=(
            *parts.values(review, low, high, cap_given=bool(core_cap_gb_s)),
            *parts.measured(cost, measured_s, measured_spread_s),
        ),
        drawings=(drawing,),
        figures=(parts.figure(review, low, high),),
        copyables=tuple(parts.copyables(review)),
        tables=tuple(parts.tables(placement)),
        downloads=tuple(parts.downloads(review, low, high, svg=standalone_svg(drawing))),
        facts=facts,
    )


QUESTION = declared(__name__, _answer)
