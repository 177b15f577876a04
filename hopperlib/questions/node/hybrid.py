"""Question: how run time changes with the threads of a task, and which number is the fastest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hopperlib.documented import printed
from hopperlib.finding import Finding
from hopperlib.machine import Machine, NodeKind
from hopperlib.node import hybrid
from hopperlib.node.hybrid import RunShares, ThreadCost, best_threads, close_to, thread_costs, thread_counts
from hopperlib.node.layouts import Layout
from hopperlib.node.memory import merged_need
from hopperlib.node.review.text_drawing import counted
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# Steps of the map along the shared work, from the least of the slider to all, and along the cost of MPI.
_SHARED = [0.9 + 0.005 * step for step in range(21)]
_MPI = [0.04 * step for step in range(16)]


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What was asked, zeros for what the machine file says, and what each number of threads makes of it."""

    machine: str | Machine
    kind: str
    tasks: int
    parallel_fraction: float
    mpi_share: float
    memory_bound: float
    elsewhere: float
    spread: bool
    strict: bool
    spilled: float
    cores: int
    need_gb: float
    copied_fraction: float
    machine_file: str

    @cached_property
    def on(self) -> Machine:
        """The machine."""
        return chosen_machine(self.machine, self.machine_file)

    @property
    def node(self) -> NodeKind:
        """The kind of node."""
        return self.on.node(self.kind or None)

    @property
    def used(self) -> int:
        """Cores of a node that work."""
        return self.cores or len(self.node.usable_cores)

    @property
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
        return {
            name: thread_costs(
                self.node, self.tasks, cores=self.used, elsewhere=touched, spread=dealt_out, spilled=away
            )
            for name, (touched, dealt_out, away) in settings.items()
        }

    @property
    def costs(self) -> tuple[ThreadCost, ...]:
        """What each number of threads costs, as set."""
        return self.curves["as set"]

    @property
    def best(self) -> ThreadCost:
        """The fastest."""
        return best_threads(self.costs, self.shares)

    @property
    def close(self) -> list[ThreadCost]:
        """Those that a run or two cannot tell from it."""
        return list(close_to(self.costs, self.best, self.shares))

    def time(self, cost: ThreadCost) -> float:
        """Run time over that of pure MPI. [ratio]"""
        return cost.run_time(self.shares)

    def memory_gb(self, cost: ThreadCost) -> float:
        """Memory of all tasks of a node. [GB]"""
        return cost.tasks_per_node * merged_need(self.need_gb, cost.threads, self.copied_fraction)


def _answer(**asked: Any) -> Result:
    """Answer for one job."""
    job = _Job(**asked)
    node = job.node
    wide = next((cost for cost in job.costs if cost.threads > node.cores_per_numa_node), None)
    return Result(
        summary=_summary(job),
        findings=tuple(_findings(job)),
        values=(
            Value("Threads of the fastest run", job.best.threads, "predicted", note="under the shares set above"),
            Value("Its time over that of pure MPI", job.time(job.best), "predicted", decimals=2),
            *(
                [Value(f"The same with {wide.threads} threads", job.time(wide), "predicted", decimals=2)]
                if wide
                else ()
            ),
            Value("Cores of a NUMA node", node.cores_per_numa_node, "documented", note="as the machine file says"),
        ),
        figures=(_time_figure(job), _map_figure(job), _stream_figure(node)),
        copyables=tuple(_lines(job)),
        tables=(_table(job),),
        facts={
            "best_threads": job.best.threads,
            "best_time": job.time(job.best),
            "times": {str(cost.threads): job.time(cost) for cost in job.costs},
            "close": [cost.threads for cost in job.close],
            "numa_cores": node.cores_per_numa_node,
            "machine": job.on.name,
            "elsewhere": job.elsewhere,
        },
    )


def _threads(count: int) -> str:
    """Return a number of threads in words."""
    return "1 thread" if count == 1 else f"{count} threads"


def _summary(job: _Job) -> str:
    """Return the answer in a sentence or two."""
    text = f"Fastest with {_threads(job.best.threads)} a task, {counted(job.best.tasks_per_node, 'task')} a node: "
    text += f"{job.time(job.best):.2f} of the time of pure MPI."
    near = [str(cost.threads) for cost in job.close if cost is not job.best]
    if near:
        text += f" Within a run's usual variation of that: {', '.join(near)}."
    widest = job.costs[-1]
    if widest.threads > job.node.cores_per_numa_node:
        text += f" With {widest.threads} threads it takes {job.time(widest):.2f}."
    return text


def _findings(job: _Job) -> Iterator[Finding]:
    """Yield what to know about the answer."""
    kind, best = job.node, job.best
    if best.threads > kind.cores_per_numa_node:
        message = f"More threads than the {kind.cores_per_numa_node} cores of a NUMA node: worth it only while every thread touches its own memory first."
        yield Finding(code="wide", message=message, level="advice")
    if not job.spread and job.used == len(kind.usable_cores):
        message = "All cores of the node work, so -S moves no task: without it the tasks sit on the same cores."
        yield Finding(code="spread-moves-nothing", message=message, level="note")
    short = [cost.threads for cost in job.costs if job.memory_gb(cost) > kind.usable_memory_gb]
    if short:
        message = f"A node has too little memory for these numbers of threads: {', '.join(map(str, short))}."
        yield Finding(code="no-memory", message=message, level="problem" if best.threads in short else "note")


def _lines(job: _Job) -> Iterator[Copyable]:
    """Yield the line that starts the fastest run."""
    layout = Layout(
        machine=job.on,
        node_kind=job.node,
        tasks=job.best.tasks_per_node,
        tasks_per_node=job.best.tasks_per_node,
        threads_per_task=job.best.threads,
        need_gb=job.need_gb,
    )
    if layout.launch_line:
        line = f"export OMP_NUM_THREADS={job.best.threads}\n{layout.launch_line}"
        yield Copyable("One node with that many threads", line, "`hopper place` shows where they land.")


def _time_figure(job: _Job) -> Figure:
    """Return run time against threads, as set and for the corners of first touch and placement."""
    ends = {name: job.time(costs[-1]) for name, costs in job.curves.items()}
    spoken = ", ".join(f"{name} {end:.2f}" for name, end in ends.items())
    return chart(
        title="Run time against threads a task",
        alt=f"As set the least is {job.time(job.best):.2f} at {_threads(job.best.threads)}. At {_threads(job.costs[-1].threads)}: {spoken}.",
        x=Axis(title="Threads a task", log=True),
        y=Axis(title="Run time over that of pure MPI", low=0, decimals=3),
        series=[
            Series(name=name, x=[cost.threads for cost in costs], y=[job.time(cost) for cost in costs])
            for name, costs in job.curves.items()
        ],
    )


def _map_figure(job: _Job) -> Figure:
    """Return which number of threads is the fastest, over the shared work and the cost of MPI."""
    areas: dict[int, list[tuple[float, float]]] = {}
    for shared in _SHARED:
        for mpi in _MPI:
            shares = replace(job.shares, parallel_fraction=shared, mpi_share=mpi)
            areas.setdefault(best_threads(job.costs, shares).threads, []).append((100 * shared, 100 * mpi))
    whole = len(_SHARED) * len(_MPI)
    spoken = ", ".join(f"{_threads(count)} {len(areas[count]) / whole:.0%}" for count in sorted(areas))
    documented = int(printed("hybrid.gtc-best-threads"))
    return chart(
        title="Where each number of threads is the fastest",
        alt=f"A map over shared work and cost of MPI. Share of the map that each number of threads takes: {spoken}.",
        x=Axis(title="Share of a task's work that its threads share", unit="%", decimals=1),
        y=Axis(title="Share of the run that tasks cost in MPI", unit="%", decimals=0),
        series=[
            *(
                Series(
                    name=_threads(count) + (", the best of GTC on Hopper" if count == documented else ""),
                    x=[x for x, _ in area],
                    y=[y for _, y in area],
                    kind="points",
                )
                for count, area in sorted(areas.items())
            ),
            Series(
                name="this job", x=[100 * job.shares.parallel_fraction], y=[100 * job.shares.mpi_share], kind="points"
            ),
        ],
    )


def _stream_figure(kind: NodeKind) -> Figure:
    """Return the memory bandwidth of one task against its threads, as STREAM would measure it."""
    counts = thread_counts(kind.cores)
    own = [hybrid.stream_gb_s(kind, threads, elsewhere=0) for threads in counts]
    first = [hybrid.stream_gb_s(kind, threads, elsewhere=1) for threads in counts]
    return chart(
        title="Memory bandwidth of one task, alone on a node",
        alt=f"On all {kind.cores} cores {own[-1]:.0f} GB/s if every thread touched its own memory first, {first[-1]:.0f} if one touched all.",
        x=Axis(title="Threads", log=True),
        y=Axis(title="Memory bandwidth", unit="GB/s", low=0, decimals=1),
        series=[
            Series(name="every thread touches its own", x=counts, y=own),
            Series(name="one thread touches all", x=counts, y=first),
        ],
    )


def _table(job: _Job) -> Table:
    """Return every number of threads with its parts and the memory of a node."""
    return Table(
        caption="Threads, and what they cost and save; each time against that of the pure MPI run",
        columns=(
            Column("Threads a task"),
            Column("Tasks a node"),
            Column("Run time", decimals=3, badge="predicted"),
            Column("Reading, all threads", decimals=2, badge="predicted"),
            Column("Reading, one thread a task", decimals=2, badge="predicted"),
            Column("MPI", decimals=2, badge="predicted"),
            Column("Memory of a node", "GB", 1, "assumed"),
        ),
        rows=[
            (*parts[:2], job.time(cost), *parts[2:], job.memory_gb(cost))
            for cost in job.costs
            for parts in [(cost.threads, cost.tasks_per_node, cost.parallel_memory, cost.serial_memory, cost.mpi)]
        ],
        marked=(job.costs.index(job.best),),
        marked_label="the fastest",
    )


QUESTION = declared(__name__, _answer)
