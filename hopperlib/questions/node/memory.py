"""Question: which layouts give each task its memory, and what each is charged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hopperlib.finding import Finding
from hopperlib.machine import Machine, NodeKind
from hopperlib.node.layouts import Layout, Obstacle, break_even_efficiency, cheapest, layouts, obstacle
from hopperlib.node.memory import buffer_memory, copied_fraction_needed, memory_per_task, merged_need, seats
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import badge_of, chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Facts, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# Longer tables are cut and say so.
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What was asked, what is assumed of it, and the layouts found: the cheapest, and the plain one beside it."""

    machine: Machine
    kinds: tuple[NodeKind, ...]
    need_gb: float
    buffers_gb: float
    tasks: int
    threads: int | None
    usable_given: bool
    thread_efficiency: float
    copied_fraction: float
    hours: float
    layouts: tuple[Layout, ...]
    best: Layout | None
    plain: Layout | None
    obstacle: Obstacle | None

    @property
    def asked_threads(self) -> int:
        """Threads of a task, one where nothing was asked."""
        return self.threads or 1

    @property
    def differs(self) -> bool:
        """Whether the plain layout is another one than the cheapest."""
        return self.plain is not None and self.plain is not self.best


def _kinds(machine: Machine, kind: str, every_kind: bool, usable_gb: float) -> tuple[NodeKind, ...]:
    """Return the kinds of node to use; what is said to be usable holds for the first, the ordinary one."""
    kinds = (machine.node(kind),) if kind else machine.node_kinds
    first = replace(kinds[0], usable_memory_gb=usable_gb) if usable_gb else kinds[0]
    return (first, *kinds[1:]) if every_kind else (first,)


def _answer(
    *,
    need_gb: float,
    tasks: int,
    threads: int,
    machine: str | Machine,
    kind: str,
    every_kind: bool,
    files: int,
    machine_file: str,
    usable_gb: float,
    thread_efficiency: float,
    copied_fraction: float,
    hours: float,
) -> Result:
    """Answer for one job. Zeros stand for what is not given."""
    chosen = chosen_machine(machine, machine_file)
    kinds = _kinds(chosen, kind, every_kind, usable_gb)
    whole_gb, asked_threads = need_gb + buffer_memory(files), threads or None
    fitting = layouts(
        chosen,
        need_gb=whole_gb,
        tasks=tasks,
        threads=asked_threads,
        thread_efficiency=thread_efficiency,
        kinds=kinds,
    )
    job = _Job(
        machine=chosen,
        kinds=kinds,
        need_gb=whole_gb,
        buffers_gb=buffer_memory(files),
        tasks=tasks,
        threads=asked_threads,
        usable_given=bool(usable_gb),
        thread_efficiency=thread_efficiency,
        copied_fraction=copied_fraction,
        hours=hours,
        layouts=fitting,
        best=cheapest(fitting),
        plain=cheapest(fitting, threads=threads or 1, kind=kinds[0]),
        obstacle=obstacle(chosen, need_gb=whole_gb, tasks=tasks, threads=asked_threads, kinds=kinds),
    )
    return Result(
        summary=_summary(job),
        findings=tuple(_findings(job)),
        values=tuple(_values(job)),
        figures=(_memory_figure(job), *([_cost_figure(job)] if fitting else [])),
        copyables=tuple(_copyables(job)),
        tables=(*([_layout_table(job)] if fitting else []), _merged_table(job)),
        facts=Facts(_named_facts(job), rest=lambda: _contract(job)),
    )


def _phrase(layout: Layout) -> str:
    """Return a layout in a few words."""
    threads = f" of {layout.threads_per_task} threads" if layout.threads_per_task > 1 else ""
    nodes = "node" if layout.nodes == 1 else "nodes"
    return f"{_tasks(layout)}{threads} a node on {layout.nodes:,} {layout.node_kind.name} {nodes}"


def _tasks(layout: Layout) -> str:
    """Return how many tasks a node of a layout has."""
    return "1 task" if layout.tasks_per_node == 1 else f"{layout.tasks_per_node} tasks"


def _summary(job: _Job) -> str:
    """Return the answer in a sentence or two."""
    if job.best is None:
        assert job.obstacle is not None
        return f"No layout fits: {job.obstacle.reason}. What would do: {job.obstacle.remedy}."
    text = f"Cheapest on {job.machine.title}: {_phrase(job.best)}, cost factor {job.best.cost_factor:.4g}."
    if job.plain is not None and job.differs:
        how = "one thread" if job.asked_threads == 1 else f"{job.asked_threads} threads"
        kind, cost = job.plain.node_kind.name, job.plain.cost_factor
        text += f" On {kind} nodes with {how} a task: {_tasks(job.plain)} a node, cost factor {cost:.4g}."
    return text


def _findings(job: _Job) -> Iterator[Finding]:
    """Yield what to know about the answer."""
    if job.obstacle is not None:
        message = f"{job.obstacle.reason}. What would do: {job.obstacle.remedy}."
        yield Finding(code="no-layout", message=message, level="problem")
        return
    if job.best is not None and job.best.node_kind != job.kinds[0]:
        larger = job.best.node_kind
        message = f"{job.machine.title} has only {larger.count:,} {larger.name} nodes: a job on them may wait longer."
        yield Finding(code="larger-nodes", message=message, level="note")
    if job.plain is not None and not job.plain.memory_is_local:
        kind, tasks = job.plain.node_kind, job.plain.tasks_per_node
        room, crowd = kind.usable_memory_gb / kind.numa_nodes, -(-tasks // kind.numa_nodes)
        message = (
            f"{tasks} tasks a node put {crowd} on one NUMA node, which want {crowd * job.need_gb:.2f} GB of "
            f"its {room:.2f} GB: some of their memory lies on other NUMA nodes and is slower."
        )
        yield Finding(code="memory-not-local", message=message, level="advice")


def _values(job: _Job) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    ordinary, threads = job.kinds[0], job.asked_threads
    badge, note = badge_of(job.machine, f"node.{ordinary.name}.usable_memory_gb")
    if job.usable_given:
        badge, note = "assumed", "as set above"
    usable = ordinary.usable_memory_gb
    yield Value(f"Memory that a {ordinary.name} node leaves to programs", usable, badge, "GB", note=note)
    packed, note = memory_per_task(ordinary, ordinary.cores), f"shared by {ordinary.cores} tasks"
    yield Value("For each task of a full node", packed, "predicted", "GB", 2, note=note)
    if job.buffers_gb:
        note = f"{1024 * job.buffers_gb:g} MB of them are buffers of open files"
        yield Value("Memory of a task, buffers included", job.need_gb, "predicted", "GB", 3, note=note)
    if job.best is None:
        return
    charged, note = (
        job.best.core_hours(job.hours, threads),
        f"{job.best.node_hours(job.hours, threads):,.1f} node-hours",
    )
    yield Value("Core-hours charged, cheapest layout", charged, "predicted", "core h", 0, note=note)
    if job.plain is None:
        return
    if job.differs:
        label = f"The same on {job.plain.node_kind.name} nodes, {threads} thread{'s' if threads > 1 else ''} a task"
        idle, hours = job.plain.idle_cores, job.plain.node_hours(job.hours, threads)
        note = f"{hours:,.1f} node-hours; {idle} cores of each node idle"
        yield Value(label, job.plain.core_hours(job.hours, threads), "predicted", "core h", 0, note=note)
    more_threads = tuple(layout for layout in job.layouts if layout.threads_per_task > threads)
    threaded = cheapest(more_threads, kind=ordinary)
    if threaded is not None and (share := break_even_efficiency(job.plain, threaded)) <= 1:
        label, note = "Work of each further thread from which threads are the cheaper way", _phrase(threaded)
        yield Value(label, share, "predicted", "tasks", 2, note=f"{note}, against {_phrase(job.plain)}")


def _memory_figure(job: _Job) -> Figure:
    """Return the chart of the memory of a task against tasks a node."""
    series = []
    for kind in job.kinds:
        counts = range(1, seats(kind, min(job.asked_threads, kind.cores)) + 1)
        series.append(Series(name=f"{kind.name} node", x=counts, y=[memory_per_task(kind, count) for count in counts]))
    ends = "; ".join(
        f"on a {line.name} {line.y[0]:.2f} GB with {line.x[0]} and {line.y[-1]:.2f} GB with {line.x[-1]}"
        for line in series
    )
    return chart(
        title="Memory of a task",
        alt=f"Memory of a task against tasks a node: {ends}. The need of {job.need_gb:.2f} GB is a horizontal line.",
        x=Axis(title="Tasks a node"),
        y=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        series=series,
        references=[Reference(name="need", y=job.need_gb)],
    )


def _cost_figure(job: _Job) -> Figure:
    """Return the chart of what more memory costs, among the layouts that fit."""
    series = []
    for kind in job.kinds:
        for threaded, name in ((False, f"{kind.name} nodes"), (True, f"{kind.name}, threads on idle cores")):
            drawn = [
                layout
                for layout in job.layouts
                if layout.node_kind == kind and (layout.threads_per_task > job.asked_threads) == threaded
            ]
            drawn.sort(key=lambda layout: layout.memory_per_task_gb)
            if drawn:
                x, y = [layout.memory_per_task_gb for layout in drawn], [layout.cost_factor for layout in drawn]
                series.append(Series(name=name, x=x, y=y, kind="points"))
    first, dearest = job.layouts[0], max(layout.cost_factor for layout in job.layouts)
    return chart(
        title="What more memory costs",
        alt=(
            f"Cost factor against the memory of a task for {len(job.layouts)} layouts that fit, both on logarithmic "
            f"scales; a factor of 1 means that every charged core works. The cheapest has {first.cost_factor:.4g} with "
            f"{first.memory_per_task_gb:.2f} GB, the dearest {dearest:.4g}."
        ),
        x=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        y=Axis(title="Cost factor", log=True, decimals=3),
        series=series,
        references=[Reference(name="every core at work", y=1.0)],
    )


def _copyables(job: _Job) -> Iterator[Copyable]:
    """Yield the lines to copy."""
    plain = job.plain if job.differs else None
    for title, layout in (("The cheapest layout", job.best), ("With no further threads, on ordinary nodes", plain)):
        if layout is not None and layout.launch_line is not None:
            kind = layout.node_kind
            note = "" if kind == job.kinds[0] else f"on {kind.name} nodes, which the batch job asks for"
            yield Copyable(title, layout.launch_line, note)


def _layout_table(job: _Job) -> Table:
    """Return the table of the layouts that fit."""
    count = len(job.layouts)
    return Table(
        caption="Layouts that fit, the cheapest first"
        + (f" (the first {_MOST_ROWS} of {count})" if count > _MOST_ROWS else ""),
        columns=(
            *(Column(title) for title in ("Kind", "Nodes", "Tasks a node", "Threads", "Idle cores")),
            Column("Memory", "GB", 2, "predicted"),
            Column("Near"),
            Column("Cost factor", decimals=3, badge="predicted"),
            Column("Node-hours", decimals=1),
            Column("Core-hours", decimals=0),
        ),
        rows=[
            (
                layout.node_kind.name,
                layout.nodes,
                layout.tasks_per_node,
                layout.threads_per_task,
                layout.idle_cores,
                layout.memory_per_task_gb,
                layout.memory_is_local,
                layout.cost_factor,
                layout.node_hours(job.hours, job.asked_threads),
                layout.core_hours(job.hours, job.asked_threads),
            )
            for layout in job.layouts[:_MOST_ROWS]
        ],
        marked=(job.layouts.index(job.best),) if job.best is not None else (),
        marked_label="the cheapest",
    )


def _merged_table(job: _Job) -> Table:
    """Return the table of tasks merged into fewer, larger ones with threads in their place."""
    kind = job.kinds[0]
    rows: list[tuple[Any, ...]] = []
    for threads in range(1, kind.cores_per_numa_node + 1):
        if kind.cores_per_numa_node % threads:
            continue
        room = kind.usable_memory_gb / seats(kind, threads)
        merged = merged_need(job.need_gb, threads, job.copied_fraction)
        needed = copied_fraction_needed(kind, job.need_gb, threads)
        shown = "never fits" if needed is None else ("fits anyhow" if needed == 0 else f"{needed:.1%}")
        rows.append((threads, seats(kind, threads), room, merged, merged <= room * (1 + 1e-9), shown))
    return Table(
        caption=(
            f"Tasks merged into fewer, larger ones on full {kind.name} nodes, "
            f"if {job.copied_fraction:.0%} of a task's memory is copies"
        ),
        columns=(
            Column("Tasks that become one, and its threads"),
            Column("Such tasks a node"),
            Column("Memory it can have", "GB", 2, "predicted"),
            Column("Memory it needs", "GB", 2, "assumed"),
            Column("Fits"),
            Column("Copies needed to fit"),
        ),
        rows=rows,
    )


def _named_facts(job: _Job) -> dict[str, Any]:
    """Return named numbers for self-checks."""
    ordinary = job.kinds[0]
    facts: dict[str, Any] = {
        "fits": job.best is not None,
        "need_gb": job.need_gb,
        "tasks": job.tasks,
        "machine": job.machine.name,
        "usable_gb": ordinary.usable_memory_gb,
        "full_node_gb": memory_per_task(ordinary, ordinary.cores),
    }
    for name, layout in (("best", job.best), ("plain", job.plain)):
        if layout is not None:
            facts |= {
                f"{name}_kind": layout.node_kind.name,
                f"{name}_nodes": layout.nodes,
                f"{name}_tasks_per_node": layout.tasks_per_node,
                f"{name}_threads": layout.threads_per_task,
                f"{name}_cost": layout.cost_factor,
                f"{name}_idle_cores": layout.idle_cores,
                f"{name}_local": layout.memory_is_local,
            }
    return facts


def _contract(job: _Job) -> dict[str, Any]:
    """Return what programs read: the job, every layout, or why there is none."""
    reason = {} if job.obstacle is None else {"reason": job.obstacle.reason, "remedy": job.obstacle.remedy}
    return {
        "need_gb": round(job.need_gb, 6),
        "threads": job.threads,
        "hours": job.hours,
        "thread_efficiency": job.thread_efficiency,
        "layouts": [
            {
                "node_kind": layout.node_kind.name,
                "nodes": layout.nodes,
                "tasks_per_node": layout.tasks_per_node,
                "threads_per_task": layout.threads_per_task,
                "memory_per_task_gb": round(layout.memory_per_task_gb, 6),
                "memory_is_local": layout.memory_is_local,
                "idle_cores_per_node": layout.idle_cores,
                "cost_factor": round(layout.cost_factor, 6),
                "node_hours": round(layout.node_hours(job.hours, job.asked_threads), 6),
                "core_hours": round(layout.core_hours(job.hours, job.asked_threads), 6),
                "launch_line": layout.launch_line,
                "cheapest": layout is job.best,
            }
            for layout in job.layouts
        ],
        **reason,
    }


QUESTION = declared(__name__, _answer)
