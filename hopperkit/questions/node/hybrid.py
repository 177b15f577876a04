"""Question: how run time changes with the threads of a task, and which number is the fastest."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.launchers.judging.proposals import layout_line
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Snippet, Table, Value, table
from hopperlib.finding import Finding
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.models.hybrid import RunShares, ThreadCost, best_threads, close_to, thread_costs
from hopperlib.text import count, listed

_NO_TIME = "The document gives no time: the middle of the study's range."


class Job(ask.Setting):
    """The settings, zeros for values from the machine file, and the cost of each number of threads."""

    machine: Machine = ask.machine()
    tasks: int = ask.whole(
        "Tasks of the job with one thread each",
        6144,
        (2, 10_000_000),
        help="One task for each core that works. With three threads in each task there are a third as many tasks.",
    )
    parallel_fraction: float = ask.slider(
        "Parallel fraction of a task's work",
        0.99,
        (0.8, 1.0, 0.005),
        help="The part that its threads share.",
        assumed=_NO_TIME,
    )
    mpi_share: float = ask.slider(
        "Share of the run in MPI",
        0.25,
        (0.0, 0.6, 0.01),
        help="With one thread in each task. It covers collectives and copies, which grow with the number of tasks.",
        assumed=_NO_TIME,
    )
    memory_bound: float = ask.fraction("Memory-bound fraction of the rest", 0.5, assumed=_NO_TIME)
    elsewhere: float = ask.fraction(
        "Share of the data that the first thread touches first",
        1.0,
        help="1: one thread fills all arrays first. 0: every thread first fills the part that it will use. "
        "No user reported the second.",
    )
    spread: bool = ask.switch("Tasks spread over the NUMA nodes (aprun -S)", True)
    strict: bool = ask.switch("Memory kept on its NUMA node (aprun -ss)", True)
    spilled: float = ask.fraction(
        "Share of its data on the next NUMA node, without -ss",
        0.5,
        assumed="How full a NUMA node was before a run is not printed.",
        advanced=True,
    )
    cores: int = ask.whole("Cores of a node in use", 0, (0, 100_000), help="0: all of them.", advanced=True)
    kind: str = ask.text(
        "Kind of node",
        max_length=60,
        placeholder="gpu",
        help="Its name in the machine file; empty for the ordinary kind. On nodes with GPUs each GPU has at least one task.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()

    @property
    def node(self) -> NodeKind:
        """The kind of node."""
        return self.machine.node(self.kind or None)

    @property
    def cores_in_use(self) -> int:
        """Cores of a node that work."""
        return self.cores or len(self.node.usable_cores)

    @property
    def shares(self) -> RunShares:
        """The parts of the run."""
        return RunShares(
            parallel_fraction=self.parallel_fraction, mpi_share=self.mpi_share, memory_bound_fraction=self.memory_bound
        )

    def costs_with(self, elsewhere: float, spread: bool, spilled: float) -> tuple[ThreadCost, ...]:
        """Cost of each number of threads with this first touch and placement."""
        return thread_costs(
            self.node, self.tasks, cores=self.cores_in_use, elsewhere=elsewhere, spread=spread, spilled=spilled
        )

    @cached_property
    def costs(self) -> tuple[ThreadCost, ...]:
        """Cost of each number of threads, with the chosen settings."""
        return self.costs_with(self.elsewhere, self.spread, 0.0 if self.strict else self.spilled)

    @cached_property
    def best(self) -> ThreadCost:
        """The fastest."""
        return best_threads(self.costs, self.shares)

    @cached_property
    def close(self) -> list[int]:
        """Numbers of threads that one or two runs cannot separate from the fastest."""
        return [cost.threads for cost in close_to(self.costs, self.best, self.shares)]

    def time(self, cost: ThreadCost) -> float:
        """Run time relative to pure MPI. [ratio]"""
        return cost.run_time(self.shares)

    @property
    def launch_line(self) -> str | None:
        """The line that starts the fastest run on one node."""
        if not self.machine.launchers:
            return None
        tasks = self.best.tasks_per_node
        return layout_line(self.machine, self.node, tasks, tasks, self.best.threads)


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        The settings, zeros for values from the machine file, and the cost of each number of threads.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Job()).facts['best_threads']
    6
    """
    return Result(
        summary=_summary(job),
        findings=tuple(_findings(job)),
        values=tuple(_values(job)),
        figures=(_times(job),),
        copyables=tuple(_lines(job)),
        tables=(_table(job),),
        facts=_facts(job),
    )


def _summary(job: Job) -> str:
    best, widest = job.best, job.costs[-1]
    sentence = (
        f"Fastest with {count(best.threads, 'thread')} per task, {count(best.tasks_per_node, 'task')} per node: "
        f"{job.time(best):.2f} of the time of pure MPI."
    )
    if near := [threads for threads in job.close if threads != best.threads]:
        sentence += f" Also within the usual variation of a run: {listed(near)} threads."
    if widest.threads > job.node.cores_per_numa_node:
        sentence += f" With {widest.threads} threads it takes {job.time(widest):.2f}."
    return sentence


def _findings(job: Job) -> Iterator[Finding]:
    numa_cores = job.node.cores_per_numa_node
    if job.best.threads > numa_cores:
        yield Finding(
            "wide",
            f"More threads than the {numa_cores} cores of a NUMA node: useful only if every thread first touches its own "
            "memory first.",
        )
    if not job.spread and job.cores_in_use == len(job.node.usable_cores):
        yield Finding(
            "spread-moves-nothing",
            "All cores of the node work, so -S moves no task: without it the tasks are on the same cores.",
            "note",
        )


def _values(job: Job) -> Iterator[Value]:
    yield Value("Best thread count", job.best.threads, "predicted", note="under the shares set above")
    yield Value("Its run time relative to pure MPI", job.time(job.best), "predicted", "", 2)
    if wide := next((cost for cost in job.costs if cost.threads > job.node.cores_per_numa_node), None):
        yield Value(f"The same with {wide.threads} threads", job.time(wide), "predicted", "", 2)


def _lines(job: Job) -> Iterator[Snippet]:
    if job.launch_line:
        text = f"export OMP_NUM_THREADS={job.best.threads}\n{job.launch_line}"
        yield Snippet("One node with that many threads", text, "`hopper place` shows where they land.")


def _times(job: Job) -> Figure:
    """Return run time against threads, as set and for the corners of first touch and placement."""
    curves = {
        "as set": job.costs,
        "perfect first touch, -S and -ss": job.costs_with(0.0, True, 0.0),
        "one thread touches all, -S and -ss": job.costs_with(1.0, True, 0.0),
        "one thread touches all, neither": job.costs_with(1.0, False, job.spilled),
    }
    series = [
        Series(name=name, x=[cost.threads for cost in costs], y=[job.time(cost) for cost in costs])
        for name, costs in curves.items()
    ]
    ends = ", ".join(f"{line.name} {line.y[-1]:.2f}" for line in series)
    return chart(
        title="Run time against threads per task",
        alt=f"As set the least is {job.time(job.best):.2f} at {count(job.best.threads, 'thread')}. "
        f"At {count(job.costs[-1].threads, 'thread')}: {ends}.",
        x=Axis(title="Threads a task", log=True),
        y=Axis(title="Run time relative to pure MPI", low=0, decimals=3),
        series=series,
    )


def _table(job: Job) -> Table:
    return table(
        "Threads, with cost and savings; each time relative to the pure MPI run",
        job.costs,
        {
            "Threads a task": lambda cost: cost.threads,
            "Tasks a node": lambda cost: cost.tasks_per_node,
            Column("Run time", "", 3, "predicted"): job.time,
            Column("Reading, all threads", "", 2, "predicted"): lambda cost: cost.parallel_memory,
            Column("Reading, one thread per task", "", 2, "predicted"): lambda cost: cost.serial_memory,
            Column("MPI", "", 2, "predicted"): lambda cost: cost.mpi,
        },
        marked=(job.costs.index(job.best),),
        marked_label="the fastest",
    )


def _facts(job: Job) -> dict[str, Any]:
    return {
        "best_threads": job.best.threads,
        "best_time": job.time(job.best),
        "times": {str(cost.threads): job.time(cost) for cost in job.costs},
        "close": job.close,
        "numa_cores": job.node.cores_per_numa_node,
        "machine": job.machine.name,
        "elsewhere": job.elsewhere,
    }


QUESTION = ask.declared(
    Job,
    answer,
    title="How many threads for each task?",
    examples={
        "Every thread touches its own memory": {"elsewhere": 0.0},
        "Half of each node, and no -S": {"cores": 12, "spread": False},
        "Two sockets of 64 cores": {"machine": "perlmutter", "tasks": 32768},
        "The host of four GPUs": {"machine": "perlmutter", "tasks": 16384, "kind": "gpu"},
    },
)
