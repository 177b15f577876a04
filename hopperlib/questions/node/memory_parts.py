"""The parts of the memory explorer's answer: sentence, numbers, charts, tables, lines to copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.layouts import Layout, Obstacle, break_even_efficiency, cheapest
from hopperlib.node.memory import copied_fraction_needed, memory_per_task, merged_need, seats
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import badge_of
from hopperlib.questions.result import Column, Copyable, Figure, Notice, Table, Value

__all__ = ["Question", "copyables", "facts", "figures", "notices", "summary", "tables", "values"]

# Longer tables are cut and say so.
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the reader set: a job, the nodes it may use, and what is assumed of it."""

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


def _phrase(layout: Layout) -> str:
    """Return a layout in a few words."""
    threads = f" of {layout.threads_per_task} threads" if layout.threads_per_task > 1 else ""
    nodes = "node" if layout.nodes == 1 else "nodes"
    tasks = "1 task" if layout.tasks_per_node == 1 else f"{layout.tasks_per_node} tasks"
    return f"{tasks}{threads} a node on {layout.nodes:,} {layout.node_kind.name} {nodes}"


def summary(asked: Question, best: Layout | None, plain: Layout | None, hindered: Obstacle | None) -> str:
    """Return the answer in a sentence or two.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> print(EXPLORER.run(need_gb=2.0, tasks=384).summary)
    Cheapest on Hopper: 24 tasks a node on 16 large-memory nodes, cost factor 1. \
On standard nodes with one thread a task: 15 tasks a node, cost factor 1.625.
    """
    if best is None:
        assert hindered is not None
        return f"No layout fits: {hindered.reason}. What would do: {hindered.remedy}."
    text = f"Cheapest on {asked.machine.title}: {_phrase(best)}, cost factor {best.cost_factor:.4g}."
    if plain is not None and plain is not best:
        count = asked.threads or 1
        how = "one thread" if count == 1 else f"{count} threads"
        per_node = "1 task" if plain.tasks_per_node == 1 else f"{plain.tasks_per_node} tasks"
        text += f" On {plain.node_kind.name} nodes with {how} a task: {per_node} a node, cost factor {plain.cost_factor:.4g}."
    return text


def notices(asked: Question, best: Layout | None, plain: Layout | None, hindered: Obstacle | None) -> Iterator[Notice]:
    """Yield what to know about the answer.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> [notice.code for notice in EXPLORER.run(need_gb=2.0).warnings]
    ['larger-nodes', 'memory-not-local']
    """
    if hindered is not None:
        yield Notice(code="no-layout", message=f"{hindered.reason}. What would do: {hindered.remedy}.", level="problem")
        return
    if best is not None and best.node_kind != asked.kinds[0]:
        yield Notice(
            code="larger-nodes",
            message=f"{asked.machine.title} has only {best.node_kind.count:,} {best.node_kind.name} nodes: a job on them may wait longer.",
            level="note",
        )
    if plain is not None and not plain.memory_is_local:
        room = plain.node_kind.usable_memory_gb / plain.node_kind.numa_nodes
        crowd = -(-plain.tasks_per_node // plain.node_kind.numa_nodes)
        yield Notice(
            code="memory-not-local",
            message=(
                f"{plain.tasks_per_node} tasks a node put {crowd} on one NUMA node, which want {crowd * asked.need_gb:.2f} GB of "
                f"its {room:.2f} GB: some of their memory lies on other NUMA nodes and is slower."
            ),
            level="advice",
        )


def values(asked: Question, found: tuple[Layout, ...], best: Layout | None, plain: Layout | None) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> [f"{value.text} {value.badge}" for value in EXPLORER.run(need_gb=2.0).values[:2]]
    ['31 documented', '1.29 predicted']
    """
    ordinary = asked.kinds[0]
    badge, note = badge_of(asked.machine, f"node.{ordinary.name}.usable_memory_gb")
    if asked.usable_given:
        badge, note = "assumed", "as set above"
    yield Value(
        label=f"Memory that a {ordinary.name} node leaves to programs",
        value=ordinary.usable_memory_gb,
        badge=badge,
        unit="GB",
        note=note,
    )
    yield Value(
        label="For each task of a full node",
        value=memory_per_task(ordinary, ordinary.cores),
        badge="predicted",
        unit="GB",
        decimals=2,
        note=f"shared by {ordinary.cores} tasks",
    )
    if asked.buffers_gb:
        yield Value(
            label="Memory of a task, buffers included",
            value=asked.need_gb,
            badge="predicted",
            unit="GB",
            decimals=3,
            note=f"{1024 * asked.buffers_gb:g} MB of them are buffers of open files",
        )
    if best is None:
        return
    threads = asked.threads or 1
    yield Value(
        label="Core-hours charged, cheapest layout",
        value=best.core_hours(asked.hours, threads),
        badge="predicted",
        unit="core h",
        decimals=0,
        note=f"{best.node_hours(asked.hours, threads):,.1f} node-hours",
    )
    if plain is not None and plain is not best:
        yield Value(
            label=f"The same on {plain.node_kind.name} nodes, {threads} thread{'s' if threads > 1 else ''} a task",
            value=plain.core_hours(asked.hours, threads),
            badge="predicted",
            unit="core h",
            decimals=0,
            note=f"{plain.node_hours(asked.hours, threads):,.1f} node-hours; {plain.idle_cores} cores of each node idle",
        )
    threaded = cheapest(tuple(one for one in found if one.threads_per_task > threads), kind=ordinary)
    if plain is not None and threaded is not None:
        share = break_even_efficiency(plain, threaded)
        if share <= 1:
            yield Value(
                label="Work of each further thread from which threads are the cheaper way",
                value=share,
                badge="predicted",
                unit="tasks",
                decimals=2,
                note=f"{_phrase(threaded)}, against {_phrase(plain)}",
            )


def figures(asked: Question, found: tuple[Layout, ...]) -> list[Figure]:
    """Return the charts: memory of a task, and cost, against tasks a node.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> [figure.title for figure in EXPLORER.run().figures]
    ['Memory of a task', 'What more memory costs']
    """
    out = [_memory_figure(asked)]
    if found:
        out.append(_cost_figure(asked, found))
    return out


def _memory_figure(asked: Question) -> Figure:
    """Return the chart of the memory of a task."""
    series = []
    for kind in asked.kinds:
        counts = range(1, seats(kind, min(asked.threads or 1, kind.cores)) + 1)
        series.append(Series(name=f"{kind.name} node", x=counts, y=[memory_per_task(kind, count) for count in counts]))
    ends = "; ".join(
        f"on a {one.name} {one.y[0]:.2f} GB with {one.x[0]} and {one.y[-1]:.2f} GB with {one.x[-1]}" for one in series
    )
    return chart(
        title="Memory of a task",
        alt=f"Memory of a task against tasks a node: {ends}. The need of {asked.need_gb:.2f} GB is a horizontal line.",
        x=Axis(title="Tasks a node"),
        y=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        series=series,
        references=[Reference(name="need", y=asked.need_gb)],
    )


def _cost_figure(asked: Question, found: tuple[Layout, ...]) -> Figure:
    """Return the chart of what more memory costs, among the layouts that fit."""
    series = []
    for kind in asked.kinds:
        for threaded in (False, True):
            part = [
                one
                for one in found
                if one.node_kind == kind and (one.threads_per_task > (asked.threads or 1)) == threaded
            ]
            part.sort(key=lambda one: one.memory_per_task_gb)
            if part:
                name = f"{kind.name}, threads on idle cores" if threaded else f"{kind.name} nodes"
                x, y = [one.memory_per_task_gb for one in part], [one.cost_factor for one in part]
                series.append(Series(name=name, x=x, y=y, kind="points"))
    best = found[0]
    return chart(
        title="What more memory costs",
        alt=(
            f"Cost factor against the memory of a task for {len(found)} layouts that fit, both on logarithmic scales; a "
            f"factor of 1 means that every charged core works. The cheapest has {best.cost_factor:.4g} with "
            f"{best.memory_per_task_gb:.2f} GB, the dearest {max(one.cost_factor for one in found):.4g}."
        ),
        x=Axis(title="Memory of a task", unit="GB", log=True, decimals=2),
        y=Axis(title="Cost factor", log=True, decimals=3),
        series=series,
        references=[Reference(name="every core at work", y=1.0)],
    )


def copyables(asked: Question, best: Layout | None, plain: Layout | None) -> Iterator[Copyable]:
    """Yield the lines to copy.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> [copyable.text for copyable in EXPLORER.run(need_gb=2.0).copyables]
    ['aprun -n 384 -N 24 ./a.out', 'aprun -n 384 -N 15 -S 4 ./a.out']
    """
    for title, layout in (("The cheapest layout", best), ("With no further threads, on ordinary nodes", plain)):
        if layout is None or (layout is best and title != "The cheapest layout"):
            continue
        if layout.launch_line is not None:
            note = (
                ""
                if layout.node_kind == asked.kinds[0]
                else f"on {layout.node_kind.name} nodes, which the batch job asks for"
            )
            yield Copyable(title=title, text=layout.launch_line, note=note)


def tables(asked: Question, found: tuple[Layout, ...], best: Layout | None) -> Iterator[Table]:
    """Yield the tables of layouts and of merged tasks.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> layouts, merged = EXPLORER.run(need_gb=2.0).tables
    >>> layouts.rows[0][:4], layouts.marked
    (('large-memory', 16, 24, 1), (0,))
    """
    if found:
        cut = f" (the first {_MOST_ROWS} of {len(found)})" if len(found) > _MOST_ROWS else ""
        threads = asked.threads or 1
        yield Table(
            caption=f"Layouts that fit, the cheapest first{cut}",
            columns=(
                Column(title="Kind"),
                Column(title="Nodes"),
                Column(title="Tasks a node"),
                Column(title="Threads"),
                Column(title="Idle cores"),
                Column(title="Memory", unit="GB", decimals=2, badge="predicted"),
                Column(title="Near"),
                Column(title="Cost factor", decimals=3, badge="predicted"),
                Column(title="Node-hours", decimals=1),
                Column(title="Core-hours", decimals=0),
            ),
            rows=[
                (
                    one.node_kind.name,
                    one.nodes,
                    one.tasks_per_node,
                    one.threads_per_task,
                    one.idle_cores,
                    one.memory_per_task_gb,
                    one.memory_is_local,
                    one.cost_factor,
                    one.node_hours(asked.hours, threads),
                    one.core_hours(asked.hours, threads),
                )
                for one in found[:_MOST_ROWS]
            ],
            marked=(found.index(best),) if best is not None else (),
            marked_label="the cheapest",
        )
    yield _merged_table(asked)


def _merged_table(asked: Question) -> Table:
    """Return the table of tasks merged into fewer, larger ones with threads in their place."""
    kind = asked.kinds[0]
    rows: list[tuple[Any, ...]] = []
    for threads in range(1, kind.cores_per_numa_node + 1):
        if kind.cores_per_numa_node % threads:
            continue
        room = kind.usable_memory_gb / seats(kind, threads)
        merged = merged_need(asked.need_gb, threads, asked.copied_fraction)
        needed = copied_fraction_needed(kind, asked.need_gb, threads)
        shown = "never fits" if needed is None else ("fits anyhow" if needed == 0 else f"{needed:.1%}")
        rows.append((threads, seats(kind, threads), room, merged, merged <= room * (1 + 1e-9), shown))
    return Table(
        caption=(
            f"Tasks merged into fewer, larger ones on full {kind.name} nodes, "
            f"if {asked.copied_fraction:.0%} of a task's memory is copies"
        ),
        columns=(
            Column(title="Tasks that become one, and its threads"),
            Column(title="Such tasks a node"),
            Column(title="Memory it can have", unit="GB", decimals=2, badge="predicted"),
            Column(title="Memory it needs", unit="GB", decimals=2, badge="assumed"),
            Column(title="Fits"),
            Column(title="Copies needed to fit"),
        ),
        rows=rows,
    )


def facts(asked: Question, best: Layout | None, plain: Layout | None) -> dict[str, Any]:
    """Return named numbers for self-checks.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import EXPLORER
    >>> EXPLORER.run(need_gb=2.0).facts["plain_tasks_per_node"]
    15
    """
    out: dict[str, Any] = {
        "fits": best is not None,
        "need_gb": asked.need_gb,
        "tasks": asked.tasks,
        "machine": asked.machine.name,
        "usable_gb": asked.kinds[0].usable_memory_gb,
        "full_node_gb": memory_per_task(asked.kinds[0], asked.kinds[0].cores),
    }
    for name, layout in (("best", best), ("plain", plain)):
        if layout is not None:
            out |= {
                f"{name}_kind": layout.node_kind.name,
                f"{name}_nodes": layout.nodes,
                f"{name}_tasks_per_node": layout.tasks_per_node,
                f"{name}_threads": layout.threads_per_task,
                f"{name}_cost": layout.cost_factor,
                f"{name}_idle_cores": layout.idle_cores,
                f"{name}_local": layout.memory_is_local,
            }
    return out
