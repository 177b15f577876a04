"""Question: how run time changes with the threads of a task, and which number is the fastest."""

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import Any

from hopperlib.documented import printed
from hopperlib.machine import NodeKind
from hopperlib.node import hybrid
from hopperlib.node.hybrid import RunShares, ThreadCost, best_threads, close_to, thread_costs, thread_counts
from hopperlib.node.layouts import Layout
from hopperlib.node.memory import merged_need
from hopperlib.questions.figures import Series
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Figure, Result
from hopperlib.questions.wording import Said

# Steps of the map along the shared work, from the least of the slider to all, and along the cost of MPI.
_SHARED = [0.9 + 0.005 * step for step in range(21)]
_MPI = [0.04 * step for step in range(16)]


class _Job(Asked):
    """What was asked, zeros for what the machine file says, and what each number of threads makes of it."""

    @property
    def node(self) -> NodeKind:
        """The kind of node."""
        return self.on.node(self.kind or None)

    @property
    def used(self) -> int:
        """Cores of a node that work."""
        return self.cores or len(self.node.usable_cores)

    @cached_property
    def shares(self) -> RunShares:
        """The parts of the run."""
        return RunShares(
            parallel_fraction=self.parallel_fraction, mpi_share=self.mpi_share, memory_bound_fraction=self.memory_bound
        )

    @cached_property
    def curves(self) -> dict[str, tuple[ThreadCost, ...]]:
        """The costs as set, and for the corners of first touch and placement."""
        settings = {
            "as set": (self.elsewhere, self.spread, 0.0 if self.strict else self.spilled),
            "perfect first touch, -S and -ss": (0.0, True, 0.0),
            "one thread touches all, -S and -ss": (1.0, True, 0.0),
            "one thread touches all, neither": (1.0, False, self.spilled),
        }
        names = ("elsewhere", "spread", "spilled")
        return {
            curve: thread_costs(self.node, self.tasks, cores=self.used, **dict(zip(names, setting, strict=True)))
            for curve, setting in settings.items()
        }

    @property
    def costs(self) -> tuple[ThreadCost, ...]:
        """What each number of threads costs, as set."""
        return self.curves["as set"]

    @cached_property
    def best(self) -> ThreadCost:
        """The fastest."""
        return best_threads(self.costs, self.shares)

    def time(self, cost: ThreadCost) -> float:
        """Run time over that of pure MPI. [ratio]"""
        return cost.run_time(self.shares)

    def memory_gb(self, cost: ThreadCost) -> float:
        """Memory of all tasks of a node. [GB]"""
        return cost.tasks_per_node * merged_need(self.need_gb, cost.threads, self.copied_fraction)

    @property
    def launch_line(self) -> str | None:
        """The line that starts the fastest run on one node."""
        tasks = {"tasks": self.best.tasks_per_node, "tasks_per_node": self.best.tasks_per_node}
        threads = {"threads_per_task": self.best.threads, "need_gb": self.need_gb}
        return Layout(machine=self.on, node_kind=self.node, **tasks, **threads).launch_line

    def result(self) -> Result:
        """Return the answer."""
        numa_cores, best = self.node.cores_per_numa_node, self.best
        # Those that a run or two cannot tell from the fastest.
        close = [cost.threads for cost in close_to(self.costs, best, self.shares)]
        costs = [
            {"of": cost, "time": self.time(cost), "memory_gb": self.memory_gb(cost), "best": cost is best}
            for cost in self.costs
        ]
        short = [cost.threads for cost in self.costs if self.memory_gb(cost) > self.node.usable_memory_gb]
        said = self.said(
            best_time=self.time(best),
            numa_cores=numa_cores,
            times={str(cost.threads): self.time(cost) for cost in self.costs},
            close=close,
            near=[threads for threads in close if threads != best.threads],
            wide=next(((cost.threads, self.time(cost)) for cost in self.costs if cost.threads > numa_cores), None),
            widest=(self.costs[-1].threads, self.time(self.costs[-1])),
            too_wide=best.threads > numa_cores,
            beyond=self.costs[-1].threads > numa_cores,
            full=not self.spread and self.used == len(self.node.usable_cores),
            short=short,
            short_level="problem" if best.threads in short else "note",
            rated=costs,
        )
        return said.result(figures=(self._time_figure(said), self._map_figure(said), self._stream_figure(said)))

    def _time_figure(self, said: Said) -> Figure:
        """Return run time against threads, as set and for the corners of first touch and placement."""
        series = [
            Series(name=name, x=[cost.threads for cost in costs], y=[self.time(cost) for cost in costs])
            for name, costs in self.curves.items()
        ]
        return said.chart("time", series)

    def _map_figure(self, said: Said) -> Figure:
        """Return which number of threads is the fastest, over the shared work and the cost of MPI."""
        areas: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for shared in _SHARED:
            for mpi in _MPI:
                shares = replace(self.shares, parallel_fraction=shared, mpi_share=mpi)
                areas[best_threads(self.costs, shares).threads].append((100 * shared, 100 * mpi))
        documented, series, spoken = int(printed("hybrid.gtc-best-threads")), [], []
        for threads, area in sorted(areas.items()):
            words: dict[str, Any] = {"threads": threads, "documented": threads == documented}
            x, y = (list(places) for places in zip(*area, strict=True))
            series.append(Series(name=said.text("area", **words), x=x, y=y, kind="points"))
            spoken.append(said.text("share", **words, part=len(area) / len(_SHARED) / len(_MPI)))
        here = [100 * self.shares.parallel_fraction], [100 * self.shares.mpi_share]
        series.append(Series(name="this job", x=here[0], y=here[1], kind="points"))
        return said.chart("map", series, spoken=", ".join(spoken))

    def _stream_figure(self, said: Said) -> Figure:
        """Return the memory bandwidth of one task against its threads, as STREAM would measure it."""
        counts = thread_counts(self.node.cores)
        own, first = (
            [hybrid.stream_gb_s(self.node, threads, elsewhere=elsewhere) for threads in counts] for elsewhere in (0, 1)
        )
        return said.chart("stream", counts=counts, own=own, first=first)


QUESTION = declared(__name__, _Job.answer)
