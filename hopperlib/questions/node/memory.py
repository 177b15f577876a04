"""Question: which layouts give each task its memory, and what each is charged."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from hopperlib.machine import NodeKind
from hopperlib.node.layouts import Layout, Obstacle, break_even_efficiency, cheapest, layouts, obstacle
from hopperlib.node.memory import buffer_memory, copied_fraction_needed, memory_per_task, merged_need, seats
from hopperlib.questions.figures import Series
from hopperlib.questions.machine_choice import badge_of
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Figure, Result
from hopperlib.questions.wording import Said

# Longer tables are cut and say so.
_MOST_ROWS = 40


class _Job(Asked):
    """What was asked, zeros for what was not given, and the layouts found: the cheapest, and the plain one beside it."""

    @cached_property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds of node to use; what is said to be usable holds for the first, the ordinary one."""
        kinds = (self.on.node(self.kind),) if self.kind else self.on.node_kinds
        first = replace(kinds[0], usable_memory_gb=self.usable_gb) if self.usable_gb else kinds[0]
        return (first, *kinds[1:]) if self.every_kind else (first,)

    @property
    def ordinary(self) -> NodeKind:
        """The ordinary kind of node."""
        return self.kinds[0]

    @property
    def usable(self) -> tuple[str, str]:
        """Badge and note of its usable memory."""
        stated = badge_of(self.on, f"node.{self.ordinary.name}.usable_memory_gb")
        return ("assumed", "as set above") if self.usable_gb else stated

    @property
    def whole_gb(self) -> float:
        """Memory of a task, buffers included. [GB]"""
        return float(self.need_gb + buffer_memory(self.files))

    @property
    def asked_threads(self) -> int:
        """Threads of a task, one where nothing was asked."""
        return self.threads or 1

    @property
    def _asked(self) -> dict[str, Any]:
        """What the search for layouts takes."""
        return {"need_gb": self.whole_gb, "tasks": self.tasks, "threads": self.threads or None, "kinds": self.kinds}

    @cached_property
    def layouts(self) -> list[Layout]:
        """Those that fit, the cheapest first."""
        return layouts(self.on, thread_efficiency=self.thread_efficiency, **self._asked)

    @cached_property
    def best(self) -> Layout | None:
        """The cheapest."""
        return cheapest(self.layouts)

    @cached_property
    def plain(self) -> Layout | None:
        """The cheapest on ordinary nodes without further threads."""
        return cheapest(self.layouts, threads=self.asked_threads, kind=self.ordinary)

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """Why there is none."""
        return obstacle(self.on, **self._asked)

    @property
    def other(self) -> Layout | None:
        """The plain layout where it is another one than the cheapest."""
        return None if self.plain is self.best else self.plain

    def hours_of(self, layout: Layout | None) -> tuple[float, float] | tuple[None, None]:
        """Return node-hours and core-hours that a layout is charged."""
        if layout is None:
            return None, None
        return layout.node_hours(self.hours, self.asked_threads), layout.core_hours(self.hours, self.asked_threads)

    def result(self) -> Result:
        """Return the answer."""
        best, plain, ordinary, said = self.best, self.plain, self.ordinary, self.said()
        more_threads = [layout for layout in self.layouts if layout.threads_per_task > self.asked_threads]
        threaded = cheapest(more_threads, kind=ordinary)
        # Tasks of the plain layout on its fullest NUMA node, and their memory beside that of the NUMA node.
        crowd = -(-plain.tasks_per_node // ordinary.numa_nodes) if plain else 0
        share = break_even_efficiency(plain, threaded) if plain and threaded else 2.0
        listed = [{"of": layout, "best": layout is best, "hours": self.hours_of(layout)} for layout in self.layouts]
        phrased = {"best": best, "plain": plain, "threaded": threaded}
        said = said.also(
            full_node_gb=memory_per_task(ordinary, ordinary.cores),
            buffers_mb=1024 * buffer_memory(self.files),
            larger=best is not None and best.node_kind != ordinary,
            crowded=plain is not None and not plain.memory_is_local,
            crowd=crowd,
            crowd_gb=(crowd * self.whole_gb, ordinary.usable_memory_gb / ordinary.numa_nodes),
            best_hours=self.hours_of(best),
            other_hours=self.hours_of(self.other),
            found=best is not None,
            asked=self.threads or None,
            listed=listed,
            shown=listed[:_MOST_ROWS],
            cut=_MOST_ROWS if len(listed) > _MOST_ROWS else 0,
            worthwhile_share=share if share <= 1 else None,
            **{
                f"{name}_phrase": said.text("layout", layout=layout, several=layout.threads_per_task > 1)
                if layout
                else ""
                for name, layout in phrased.items()
            },
        )
        stuck = {} if self.obstacle is None else {"reason": self.obstacle.reason, "remedy": self.obstacle.remedy}
        return said.result(
            figures=(_memory_figure(self, said), *([_cost_figure(self, said)] if self.layouts else [])),
            tables=(
                *([said.table("layouts")] if self.layouts else []),
                said.table("merged", _merged(self)),
            ),
            facts=said.facts_with(**stuck),
        )


def _memory_figure(job: _Job, said: Said) -> Figure:
    """Return the chart of the memory of a task against tasks a node."""
    series = []
    for kind in job.kinds:
        counts = range(1, seats(kind, min(job.asked_threads, kind.cores)) + 1)
        series.append(Series(name=f"{kind.name} node", x=counts, y=[memory_per_task(kind, count) for count in counts]))
    return said.chart("memory", series)


def _cost_figure(job: _Job, said: Said) -> Figure:
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
    return said.chart("cost", series)


def _merged(job: _Job) -> list[tuple[Any, ...]]:
    """Return the rows of tasks merged into fewer, larger ones with threads in their place."""
    kind = job.ordinary
    rows: list[tuple[Any, ...]] = []
    for threads in range(1, kind.cores_per_numa_node + 1):
        if kind.cores_per_numa_node % threads:
            continue
        room = kind.usable_memory_gb / seats(kind, threads)
        merged = merged_need(job.whole_gb, threads, job.copied_fraction)
        needed = copied_fraction_needed(kind, job.whole_gb, threads)
        shown = "never fits" if needed is None else ("fits anyhow" if needed == 0 else f"{100 * needed:.1f} %")
        rows.append((threads, seats(kind, threads), room, merged, merged <= room * (1 + 1e-9), shown))
    return rows


QUESTION = declared(__name__, _Job.answer)
