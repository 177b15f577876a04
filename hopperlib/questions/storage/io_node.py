"""Question: what a few nodes can write, on two machines, against the number of tasks."""

from __future__ import annotations

from dataclasses import dataclass

from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import badge_of, chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.client import (
    client_findings,
    file_system_of,
    level_from,
    nodes_in_use,
    parting_point,
    write_curve,
)

__all__ = ["QUESTION"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One machine with its curve of rates; `most_nodes` is None if tasks fill one node after the other."""

    machine: Machine
    ceiling: Value
    most_nodes: int | None
    curve: list[float]

    @property
    def title(self) -> str:
        """How the machine is called."""
        return self.machine.title

    def nodes(self, tasks: int) -> int:
        """Return the nodes of so many tasks."""
        return nodes_in_use(self.machine, tasks) if self.most_nodes is None else min(tasks, self.most_nodes)


def _side(machine: str | Machine, tasks: int, task_rate_gb_s: float, ceiling_mb_s: float, nodes: int = 0) -> _Side:
    """Return one machine with its curve. Zeros stand for what is not given."""
    chosen = chosen_machine(machine)
    system = file_system_of(chosen)
    badge, note = badge_of(chosen, f"file_system.{system.name}.node_write_ceiling_gb_s")
    if ceiling_mb_s:
        badge, note = "assumed", "as set above"
    ceiling = ceiling_mb_s / 1000 or system.node_write_ceiling_gb_s
    return _Side(
        machine=chosen,
        ceiling=Value(f"Ceiling of a {chosen.title} node", ceiling, badge, "GB/s", 2, note=note),
        most_nodes=nodes or None,
        curve=write_curve(chosen, tasks, task_rate_gb_s=task_rate_gb_s, node_ceiling_gb_s=ceiling, nodes=nodes or None),
    )


def _answer(
    *,
    first: str | Machine,
    second: str | Machine,
    tasks: int,
    task_rate_mb_s: float,
    size_per_task_gb: float,
    nodes: int,
    first_ceiling_mb_s: float,
    second_ceiling_mb_s: float,
    apart_percent: float,
) -> Result:
    """Answer for one setting."""
    rate_gb_s, total_gb = task_rate_mb_s / 1000, tasks * size_per_task_gb
    one = _side(first, tasks, rate_gb_s, first_ceiling_mb_s, nodes)
    other = _side(second, tasks, rate_gb_s, second_ceiling_mb_s)
    parting, level = parting_point(one.curve, other.curve, apart=apart_percent / 100), level_from(one.curve)
    times = (
        Value(f"Time to write {total_gb:,.0f} GB, {side.title}", total_gb / side.curve[-1], "predicted", "s", 0)
        for side in (one, other)
    )
    return Result(
        summary=(
            f"{tasks} tasks write {one.curve[-1]:.2f} GB/s from {_counted(one.nodes(tasks))} of {one.title} "
            f"({f'level from {level} tasks' if level else 'still rising'}) and {other.curve[-1]:.2f} GB/s from "
            f"{other.nodes(tasks)} of {other.title}. They {'are' if parting else 'stay'} within {apart_percent:g} % "
            f"of each other{f' up to {parting - 1} tasks' if parting else ''}."
        ),
        findings=client_findings(one.title, one.curve),
        values=(
            one.ceiling,
            other.ceiling,
            Value("Rate of one task", rate_gb_s, "assumed", "GB/s", 3, note="no source prints it"),
            *times,
        ),
        figures=(_figure(one, other),),
        tables=(_table(one, other),),
        facts={
            "tasks": tasks,
            "first_rate_gb_s": one.curve[-1],
            "second_rate_gb_s": other.curve[-1],
            "parting_point": parting or 0,
            "level_from": level or 0,
            "first_nodes": one.nodes(tasks),
            "second_nodes": other.nodes(tasks),
        },
    )


def _counted(nodes: int) -> str:
    """Return a number of nodes in words."""
    return f"{nodes} node{'s' * (nodes > 1)}"


def _figure(one: _Side, other: _Side) -> Figure:
    """Return the rates of both machines against tasks."""
    tasks, ceiling = len(one.curve), one.ceiling.value
    return chart(
        title="Write rate against tasks",
        alt=(
            f"Write rate of 1 to {tasks} tasks. {one.title} ends at {one.curve[-1]:.2f} GB/s, {other.title} at "
            f"{other.curve[-1]:.2f} GB/s. A dotted line marks the ceiling of one {one.title} node, {ceiling:.2f} GB/s."
        ),
        x=Axis(title="Tasks", low=0, high=tasks + 1),
        y=Axis(title="Write rate of all tasks", unit="GB/s", low=0, decimals=3),
        series=[
            Series(name=f"{side.title}, {_counted(side.nodes(tasks))}", x=list(range(1, tasks + 1)), y=side.curve)
            for side in (one, other)
        ],
        references=(Reference(name=f"ceiling of one {one.title} node", y=ceiling),),
    )


def _table(one: _Side, other: _Side) -> Table:
    """Return nodes and rate of both machines for every number of tasks."""
    sides = (one, other)
    pairs = ((Column(f"{side.title} nodes"), Column(side.title, "GB/s", 3)) for side in sides)
    return Table(
        caption="Write rate against tasks",
        columns=(Column("Tasks"), *(column for pair in pairs for column in pair)),
        rows=tuple(
            (tasks, *(cell for side in sides for cell in (side.nodes(tasks), side.curve[tasks - 1])))
            for tasks in range(1, len(one.curve) + 1)
        ),
    )


QUESTION = declared(__name__, _answer)
