"""Question: which layouts give each task its memory, and what each is charged."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.launchers.judging.proposals import line_of
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Column, Facts, Figure, Result, Snippet, Table, Value, table
from hopperlib.finding import Finding
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.layouts import Layout, break_even_efficiency, layouts, obstacle
from hopperlib.placement.models.memory import memory_per_task, seats
from hopperlib.text import count, digits, share


class Job(ask.Setting):
    """The settings, zeros for omitted values, and the layouts found."""

    need_gb: float = ask.number(
        "Memory per task", 2.0, (0.01, 4096.0, 0.05), unit="GB", binary=True, option="need", required=True
    )
    tasks: int = ask.whole("MPI tasks", 384, (1, 10**9), required=True)
    threads: int = ask.whole(
        "Threads per task",
        0,
        (0, 1024),
        help="0 = one. The answer also shows the saving from more threads.",
    )
    machine: Machine = ask.machine()
    kind: str = ask.text(
        "Only this kind of node",
        max_length=60,
        placeholder="standard",
        help="Its name in the machine file; empty for every kind.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()
    hours: float = ask.number(
        "Run time",
        1.0,
        (0.01, 10_000.0, 0.5),
        unit="h",
        help="With one thread per task, or with as many as set above.",
        advanced=True,
    )

    @cached_property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds of node to use, the ordinary one first."""
        return (self.machine.node(self.kind),) if self.kind else self.machine.node_kinds

    @property
    def ordinary(self) -> NodeKind:
        """The ordinary kind of node."""
        return self.kinds[0]

    @property
    def requested_threads(self) -> int:
        """Threads per task, one by default."""
        return self.threads or 1

    @property
    def sought(self) -> dict[str, Any]:
        """Input of the layout search."""
        return {"need_gb": self.need_gb, "tasks": self.tasks, "threads": self.threads or None, "kinds": self.kinds}

    @cached_property
    def layouts(self) -> list[Layout]:
        """Layouts that fit: first the requested ones, by node-hours; then other kinds of node and numbers of threads."""
        fitting = layouts(self.machine, **self.sought)
        # Within a kind of node and a number of threads, `layouts` are in the order of node-hours.
        return sorted(
            fitting,
            key=lambda each: (not self._is_requested(each), 0 if self._is_requested(each) else each.node_hours(1)),
        )

    def _is_requested(self, layout: Layout) -> bool:
        """Whether a layout has the requested kind of node and number of threads."""
        return layout.node_kind == self.ordinary and layout.threads_per_task == self.requested_threads

    @cached_property
    def best(self) -> Layout | None:
        """The requested layout with the fewest node-hours; another one if none of those fits."""
        return next(iter(self.layouts), None)

    @cached_property
    def plain(self) -> Layout | None:
        """The cheapest on ordinary nodes without additional threads."""
        return self.best if self.best and self._is_requested(self.best) else None

    @cached_property
    def other(self) -> Layout | None:
        """A layout with other nodes or additional threads and fewer node-hours; None if there is none.

        One that needs no more threads comes first: its saving does not depend on the program.
        """
        best = self.best
        if best is None:
            return None
        cheaper = [each for each in self.layouts if each.node_hours(1) < best.node_hours(1)]
        return min(
            cheaper,
            key=lambda each: (each.threads_per_task > best.threads_per_task, each.node_hours(1), each.threads_per_task),
            default=None,
        )

    def node_hours(self, layout: Layout) -> float:
        """Node-hours that a layout is charged."""
        return layout.node_hours(self.hours, self.requested_threads)

    def core_hours(self, layout: Layout) -> float:
        """Core-hours that a layout is charged."""
        return layout.core_hours(self.hours, self.requested_threads)


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        The settings, zeros for omitted values, and the layouts found.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Job(need_gb=2.0, tasks=384)).facts['best_nodes']
    26
    """
    return Result(
        summary=_summary(job),
        findings=tuple(_findings(job)),
        values=tuple(_values(job)),
        figures=(_memory(job),),
        copyables=tuple(_lines(job)),
        tables=(_layouts(job),) if job.layouts else (),
        facts=_facts(job),
    )


def _summary(job: Job) -> str:
    best, other = job.best, job.other
    if not best:
        return f"No layout fits: {_obstacle(job)}"
    sentence = f"Cheapest on {job.machine.title}: {_phrase(best)}, cost factor {digits(best.cost_factor, 4)}."
    if other:
        sentence += f" {digits(job.node_hours(other), 3)} node-hours in place of {digits(job.node_hours(best), 3)}: "
        sentence += f"{_phrase(other)}{_assumed(job, other)}."
    return sentence


def _assumed(job: Job, other: Layout) -> str:
    """Return the assumptions of a cheaper layout."""
    rests = ["the queue has such nodes"] if other.node_kind != job.ordinary else []
    if job.best and other.threads_per_task > job.best.threads_per_task:
        # The node-hours hold for threads that are as good as tasks.
        rests.append("the program has threads that each do a task's work")
        # The ratio of two layouts is that of one thread to several on nodes of one kind.
        if job.best.threads_per_task == 1 and other.node_kind == job.best.node_kind:
            needed = share(break_even_efficiency(job.best, other))
            return f", if {', and '.join(rests)} (it saves if each additional one does more than {needed} of that)"
    return f", if {', and '.join(rests)}" if rests else ""


def _obstacle(job: Job) -> str:
    found = obstacle(job.machine, **job.sought)
    return f"{found.reason}. This would fit: {found.remedy}." if found else ""


def _phrase(layout: Layout) -> str:
    threads = f" of {layout.threads_per_task} threads" if layout.threads_per_task > 1 else ""
    nodes = count(layout.nodes, f"{layout.node_kind.name} node")
    return f"{count(layout.tasks_per_node, 'task')}{threads} per node on {nodes}"


def _findings(job: Job) -> Iterator[Finding]:
    plain, kind = job.plain, job.ordinary
    if stuck := _obstacle(job):
        yield Finding("no-layout", stuck, "problem")
    if plain and not plain.memory_is_local:
        # Tasks of the plain layout on its fullest NUMA node.
        crowd = -(-plain.tasks_per_node // kind.numa_nodes)
        yield Finding(
            "memory-not-local",
            f"{plain.tasks_per_node} tasks per node put {crowd} on one NUMA node, which want "
            f"{crowd * job.need_gb:.2f} GB of its {kind.usable_memory_gb / kind.numa_nodes:.2f} GB: "
            "some of their memory is on other NUMA nodes and is slower.",
        )


def _values(job: Job) -> Iterator[Value]:
    kind, best, other = job.ordinary, job.best, job.other
    full = memory_per_task(kind, kind.cores)
    yield Value(f"Memory per task of a full {kind.name} node", full, "predicted", "GB", 2)
    if best:
        yield Value("Core-hours charged, cheapest layout", job.core_hours(best), "predicted", "core h", 0)
    if other:
        label = f"The same on {other.node_kind.name} nodes, {count(other.threads_per_task, 'thread')} per task"
        yield Value(label, job.core_hours(other), "predicted", "core h", 0)


def _lines(job: Job) -> Iterator[Snippet]:
    best, other = job.best, job.other
    if best and (line := line_of(best)):
        larger = best.node_kind != job.ordinary
        note = f"on {best.node_kind.name} nodes, which the batch job requests" if larger else ""
        yield Snippet("The cheapest layout", line, note)
    if other and (line := line_of(other)):
        yield Snippet("The layout with fewer node-hours", line, _assumed(job, other).lstrip(", "))


def _memory(job: Job) -> Figure:
    """Return the chart of the memory of a task against tasks per node."""
    series = []
    for kind in job.kinds:
        counts = range(1, seats(kind, min(job.requested_threads, kind.cores)) + 1)
        series.append(Series(name=f"{kind.name} node", x=counts, y=[memory_per_task(kind, tasks) for tasks in counts]))
    seen = "; ".join(
        f"on a {each.name} {each.y[0]:.2f} GB with {each.x[0]} and {each.y[-1]:.2f} GB with {each.x[-1]}"
        for each in series
    )
    need = f"The need of {job.need_gb:.2f} GB is a horizontal line."
    return chart(
        title="Memory of a task",
        alt=f"Memory of a task against tasks per node: {seen}. {need}",
        x=Axis(title="Tasks a node"),
        y=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        series=series,
        references=[Reference("need", job.need_gb)],
    )


def _layouts(job: Job) -> Table:
    # Of layouts with the same number of nodes the first represents those with fewer tasks per node, at the same cost.
    first: dict[tuple[str, int, int], Layout] = {}
    for layout in job.layouts:
        first.setdefault((layout.node_kind.name, layout.nodes, layout.threads_per_task), layout)
    shown = list(first.values())[:12]
    return table(
        f"{count(len(job.layouts), 'layout')} that fit, the requested ones first, the cheapest on top, "
        "one for each number of nodes",
        shown,
        {
            "Kind": lambda layout: layout.node_kind.name,
            "Nodes": lambda layout: layout.nodes,
            "Tasks a node": lambda layout: layout.tasks_per_node,
            "Threads": lambda layout: layout.threads_per_task,
            Column("Memory", "GB", 2, "predicted"): lambda layout: layout.memory_per_task_gb,
            Column("Cost factor", "", 3, "predicted"): lambda layout: layout.cost_factor,
            Column("Core-hours", "", 0): job.core_hours,
        },
        marked=tuple(at for at, layout in enumerate(shown) if layout is job.best),
        marked_label="the cheapest",
    )


def _facts(job: Job) -> Facts:
    stuck = obstacle(job.machine, **job.sought)
    return Facts(
        {
            "need_gb": job.need_gb,
            "tasks": job.tasks,
            "machine": job.machine.name,
            "usable_gb": job.ordinary.usable_memory_gb,
            "full_node_gb": memory_per_task(job.ordinary, job.ordinary.cores),
            "fits": job.best is not None,
            **_named("best", job.best),
            **_named("plain", job.plain),
            **(stuck._asdict() if stuck else {}),
        },
        rest=lambda: _contract(job),
    )


def _named(name: str, layout: Layout | None) -> dict[str, Any]:
    """Return the facts of a layout, all None without one."""
    return {
        f"{name}_kind": layout and layout.node_kind.name,
        f"{name}_nodes": layout and layout.nodes,
        f"{name}_tasks_per_node": layout and layout.tasks_per_node,
        f"{name}_threads": layout and layout.threads_per_task,
        f"{name}_idle_cores": layout and layout.idle_cores,
        f"{name}_local": layout and layout.memory_is_local,
        f"{name}_cost": layout and layout.cost_factor,
    }


def _contract(job: Job) -> dict[str, Any]:
    """Return the additional output of `hopper memory --json`; its keys are stable."""
    return {
        "need_gb": round(job.need_gb, 6),
        "threads": job.threads or None,
        "hours": job.hours,
        "layouts": [
            {
                "node_kind": layout.node_kind.name,
                "nodes": layout.nodes,
                "tasks_per_node": layout.tasks_per_node,
                "threads_per_task": layout.threads_per_task,
                "idle_cores_per_node": layout.idle_cores,
                "memory_per_task_gb": round(layout.memory_per_task_gb, 6),
                "memory_is_local": layout.memory_is_local,
                "cost_factor": round(layout.cost_factor, 6),
                "node_hours": round(job.node_hours(layout), 6),
                "core_hours": round(job.core_hours(layout), 6),
                "launch_line": line_of(layout),
                "cheapest": layout is job.best,
            }
            for layout in job.layouts
        ],
    }


QUESTION = ask.declared(
    Job,
    answer,
    title="Memory for each task",
    examples={
        "The same, ordinary nodes only": {"need_gb": 2.0, "kind": "standard"},
        "1.8 GB on Franklin": {"need_gb": 1.8, "machine": "franklin"},
        "1.8 GB on Hopper": {"need_gb": 1.8, "machine": "hopper"},
        "More than any node has": {"need_gb": 70.0, "tasks": 16},
        "6 GB on Perlmutter": {"need_gb": 6.0, "tasks": 1024, "machine": "perlmutter"},
    },
)
