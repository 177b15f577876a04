"""Question: what a few nodes can write, on two machines, against the number of tasks."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.client import file_system_of, nodes_in_use, parting_point, write_curve

__all__ = ["QUESTION"]


class _Side:
    """One machine with its curve."""

    def __init__(self, name: str, tasks: int, task_rate_gb_s: float, ceiling: float, nodes: int) -> None:
        self.machine = Machine.load(name)
        self.title = name.capitalize()
        self.ceiling = ceiling or file_system_of(self.machine).node_write_ceiling_gb_s
        self.given = bool(ceiling)
        self.nodes = nodes or nodes_in_use(self.machine, tasks)
        self.curve = write_curve(
            self.machine, tasks, task_rate_gb_s=task_rate_gb_s, node_ceiling_gb_s=self.ceiling, nodes=nodes or None
        )

    @property
    def level_from(self) -> int | None:
        """Fewest tasks from which the curve stays level, None if it rises to the end."""
        flat = [number for number, rate in enumerate(self.curve, start=1) if rate >= self.curve[-1] * (1 - 1e-9)]
        return flat[0] if flat[0] < len(self.curve) else None

    def ceiling_value(self) -> Value:
        """Return the ceiling with its badge."""
        quantity = self.machine.provenance.get(
            f"file_system.{file_system_of(self.machine).name}.node_write_ceiling_gb_s"
        )
        sourced = not self.given and quantity is not None and quantity.source is not None
        note = "as set above" if self.given else ""
        if not self.given and quantity is not None:
            note = f"{quantity.source}, {quantity.at}" if quantity.source else (quantity.assumed or "")
        return Value(
            f"Ceiling of a {self.title} node",
            self.ceiling,
            "documented" if sourced else "assumed",
            "GB/s",
            2,
            note=note,
        )


def _figure(one: _Side, other: _Side, tasks: int) -> Figure:
    counts = list(range(1, tasks + 1))
    ends = f"{one.title} ends at {one.curve[-1]:.2f} GB/s, {other.title} at {other.curve[-1]:.2f} GB/s."
    return chart(
        title="Write rate against tasks",
        alt=f"Write rate of 1 to {tasks} tasks. {ends} A dotted line marks the ceiling of one {one.title} node, {one.ceiling:.2f} GB/s.",
        x=Axis(title="Tasks", low=0, high=tasks + 1),
        y=Axis(title="Write rate of all tasks", unit="GB/s", low=0, decimals=3),
        series=[
            Series(name=f"{side.title}, {side.nodes} node{'s' * (side.nodes > 1)}", x=counts, y=side.curve)
            for side in (one, other)
        ],
        references=(Reference(name=f"ceiling of one {one.title} node", y=one.ceiling),),
    )


def _answer(
    *,
    first: str,
    second: str,
    tasks: int,
    task_rate_mb_s: float,
    size_per_task_gb: float,
    nodes: int,
    first_ceiling_mb_s: float,
    second_ceiling_mb_s: float,
    apart_percent: float,
) -> Result:
    """Answer for one setting."""
    rate = task_rate_mb_s / 1000
    try:
        one = _Side(first, tasks, rate, first_ceiling_mb_s / 1000, nodes)
    except ValueError as error:
        raise InputError(str(error), name="nodes") from error
    other = _Side(second, tasks, rate, second_ceiling_mb_s / 1000, 0)
    parting = parting_point(one.curve, other.curve, apart=apart_percent / 100)
    close = (
        f"They are within {apart_percent:g} % of each other up to {parting - 1} tasks."
        if parting
        else f"They stay within {apart_percent:g} % of each other."
    )
    level = f"level from {one.level_from} tasks" if one.level_from else "still rising"
    notices = []
    if one.level_from:
        notices.append(
            Finding(
                code="client-ceiling",
                message=f"From {one.level_from} tasks the nodes of {one.title} pass on all they can: more tasks on them write "
                "no faster. Spread the writers over more nodes, or let fewer of them write.",
            )
        )
    total_gb = tasks * size_per_task_gb
    facts = {
        "tasks": tasks,
        "first_rate_gb_s": one.curve[-1],
        "second_rate_gb_s": other.curve[-1],
        "parting_point": parting or 0,
        "level_from": one.level_from or 0,
        "first_nodes": one.nodes,
        "second_nodes": other.nodes,
    }
    columns = (
        Column("Tasks"),
        *(
            Column(title, unit, 3 if unit else None)
            for side in (one, other)
            for title, unit in ((f"{side.title} nodes", ""), (side.title, "GB/s"))
        ),
    )
    rows = tuple(
        (
            count,
            min(count, nodes) if nodes else nodes_in_use(one.machine, count),
            one.curve[count - 1],
            nodes_in_use(other.machine, count),
            other.curve[count - 1],
        )
        for count in range(1, tasks + 1)
    )
    return Result(
        summary=f"{tasks} tasks write {one.curve[-1]:.2f} GB/s from {one.nodes} node{'s' * (one.nodes > 1)} of {one.title} ({level}) "
        f"and {other.curve[-1]:.2f} GB/s from {other.nodes} of {other.title}. {close}",
        findings=tuple(notices),
        values=(
            one.ceiling_value(),
            other.ceiling_value(),
            Value("Rate of one task", rate, "assumed", "GB/s", 3, note="no source prints it"),
            *(
                Value(f"Time to write {total_gb:,.0f} GB, {side.title}", total_gb / side.curve[-1], "predicted", "s", 0)
                for side in (one, other)
            ),
        ),
        figures=(_figure(one, other, tasks),),
        tables=(Table(caption="Write rate against tasks", columns=columns, rows=rows),),
        facts=facts,
    )


QUESTION = declared(__name__, _answer)
