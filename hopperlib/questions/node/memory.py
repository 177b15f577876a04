"""Question: which layouts give each task its memory, and what each is charged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
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


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What was asked, zeros for what was not given, and the layouts found: the cheapest, and the plain one beside it."""

    need_gb: float
    tasks: int
    threads: int
    machine: str | Machine
    kind: str
    every_kind: bool
    files: int
    machine_file: str
    usable_gb: float
    thread_efficiency: float
    copied_fraction: float
    hours: float

    @cached_property
    def on(self) -> Machine:
        """The machine."""
        return chosen_machine(self.machine, self.machine_file)

    @cached_property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds of node to use; what is said to be usable holds for the first, the ordinary one."""
        kinds = (self.on.node(self.kind),) if self.kind else self.on.node_kinds
        first = replace(kinds[0], usable_memory_gb=self.usable_gb) if self.usable_gb else kinds[0]
        return (first, *kinds[1:]) if self.every_kind else (first,)

    @property
    def whole_gb(self) -> float:
        """Memory of a task, buffers included. [GB]"""
        return self.need_gb + buffer_memory(self.files)

    @property
    def asked_threads(self) -> int:
        """Threads of a task, one where nothing was asked."""
        return self.threads or 1

    @property
    def _asked(self) -> dict[str, Any]:
        """What the search for layouts takes."""
        return {"need_gb": self.whole_gb, "tasks": self.tasks, "threads": self.threads or None, "kinds": self.kinds}

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """Those that fit, the cheapest first."""
        return layouts(self.on, thread_efficiency=self.thread_efficiency, **self._asked)

    @cached_property
    def best(self) -> Layout | None:
        """The cheapest."""
        return cheapest(self.layouts)

    @cached_property
    def plain(self) -> Layout | None:
        """The cheapest on ordinary nodes without further threads."""
        return cheapest(self.layouts, threads=self.asked_threads, kind=self.kinds[0])

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """Why there is none."""
        return obstacle(self.on, **self._asked)

    @property
    def differs(self) -> bool:
        """Whether the plain layout is another one than the cheapest."""
        return self.plain is not None and self.plain is not self.best

    def row(self, layout: Layout) -> dict[str, Any]:
        """Return what a table shows of a layout."""
        return {
            "node_kind": layout.node_kind.name,
            "nodes": layout.nodes,
            "tasks_per_node": layout.tasks_per_node,
            "threads_per_task": layout.threads_per_task,
            "idle_cores_per_node": layout.idle_cores,
            "memory_per_task_gb": layout.memory_per_task_gb,
            "memory_is_local": layout.memory_is_local,
            "cost_factor": layout.cost_factor,
            "node_hours": layout.node_hours(self.hours, self.asked_threads),
            "core_hours": layout.core_hours(self.hours, self.asked_threads),
        }


def _answer(**asked: Any) -> Result:
    """Answer for one job."""
    job = _Job(**asked)
    fitting = job.layouts
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
    text = f"Cheapest on {job.on.title}: {_phrase(job.best)}, cost factor {job.best.cost_factor:.4g}."
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
        message = f"{job.on.title} has only {larger.count:,} {larger.name} nodes: a job on them may wait longer."
        yield Finding(code="larger-nodes", message=message, level="note")
    if job.plain is not None and not job.plain.memory_is_local:
        kind, tasks = job.plain.node_kind, job.plain.tasks_per_node
        room, crowd = kind.usable_memory_gb / kind.numa_nodes, -(-tasks // kind.numa_nodes)
        message = (
            f"{tasks} tasks a node put {crowd} on one NUMA node, which want {crowd * job.whole_gb:.2f} GB of "
            f"its {room:.2f} GB: some of their memory lies on other NUMA nodes and is slower."
        )
        yield Finding(code="memory-not-local", message=message, level="advice")


def _values(job: _Job) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    ordinary, threads = job.kinds[0], job.asked_threads
    badge, note = badge_of(job.on, f"node.{ordinary.name}.usable_memory_gb")
    if job.usable_gb:
        badge, note = "assumed", "as set above"
    usable = ordinary.usable_memory_gb
    yield Value(f"Memory that a {ordinary.name} node leaves to programs", usable, badge, "GB", note=note)
    packed, note = memory_per_task(ordinary, ordinary.cores), f"shared by {ordinary.cores} tasks"
    yield Value("For each task of a full node", packed, "predicted", "GB", 2, note=note)
    if job.files:
        note = f"{1024 * buffer_memory(job.files):g} MB of them are buffers of open files"
        yield Value("Memory of a task, buffers included", job.whole_gb, "predicted", "GB", 3, note=note)
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
        alt=f"Memory of a task against tasks a node: {ends}. The need of {job.whole_gb:.2f} GB is a horizontal line.",
        x=Axis(title="Tasks a node"),
        y=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        series=series,
        references=[Reference(name="need", y=job.whole_gb)],
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
        rows=[tuple(job.row(layout).values()) for layout in job.layouts[:_MOST_ROWS]],
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
        merged = merged_need(job.whole_gb, threads, job.copied_fraction)
        needed = copied_fraction_needed(kind, job.whole_gb, threads)
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
        "need_gb": job.whole_gb,
        "tasks": job.tasks,
        "machine": job.on.name,
        "usable_gb": ordinary.usable_memory_gb,
        "full_node_gb": memory_per_task(ordinary, ordinary.cores),
    }
    names = ("kind", "nodes", "tasks_per_node", "threads", "idle_cores", "_", "local", "cost")
    for which, layout in (("best", job.best), ("plain", job.plain)):
        shown = zip(names, job.row(layout).values(), strict=False) if layout is not None else ()
        facts |= {f"{which}_{name}": value for name, value in shown if name != "_"}
    return facts


def _contract(job: _Job) -> dict[str, Any]:
    """Return what programs read: the job, every layout, or why there is none."""
    reason = {} if job.obstacle is None else {"reason": job.obstacle.reason, "remedy": job.obstacle.remedy}
    return {
        "need_gb": round(job.whole_gb, 6),
        "threads": job.threads or None,
        "hours": job.hours,
        "thread_efficiency": job.thread_efficiency,
        "layouts": [
            {
                **{
                    key: round(value, 6) if isinstance(value, float) else value
                    for key, value in job.row(layout).items()
                },
                "launch_line": layout.launch_line,
                "cheapest": layout is job.best,
            }
            for layout in job.layouts
        ],
        **reason,
    }


QUESTION = declared(__name__, _answer)
