"""Question: the write rate of a few nodes, on two machines, by number of tasks."""

from collections.abc import Iterator
from functools import cached_property

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.machine_choice import badge_of
from hopperkit.questions.result import Figure, Result, Value
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import (
    client_findings,
    divergence_point,
    file_system_of,
    level_from,
    nodes_in_use,
    write_curve,
)
from hopperlib.text import count, share

# Tolerance for reading the documented figure by eye. Assumed.
_APART = 0.2


class Side:
    """One of the two machines: the ceiling of a node and where it is from, rates by tasks."""

    def __init__(self, machine: Machine, job: "Job", nodes: int = 0) -> None:
        system = file_system_of(machine)
        self.title = machine.title
        self.ceiling_gb_s = system.node_write_ceiling_gb_s
        self.badge, self.note = badge_of(machine, f"file_system.{system.name}.node_write_ceiling_gb_s")
        self.curve = write_curve(machine, job.tasks, task_rate_gb_s=job.task_rate_mb_s / 1000, nodes=nodes or None)
        # Tasks fill one node after the other if no number of nodes is given.
        self.nodes = min(job.tasks, nodes) if nodes else nodes_in_use(machine, job.tasks)


class Job(ask.Setting):
    """The same tasks on both machines."""

    first: Machine = ask.machine(having="file_systems")
    second: Machine = ask.machine("Machine to compare with", "franklin", having="file_systems")
    tasks: int = ask.slider("Tasks", 24, (1, 96, 1))
    task_rate_mb_s: float = ask.slider(
        "Write rate of one task alone",
        212.5,
        (20.0, 1000.0, 2.5),
        unit="MB/s",
        assumed="No source gives it. With 212.5 MB/s eight tasks reach the limit of a Hopper node; "
        "with 267.5 MB/s four tasks reach that of a Franklin node.",
    )
    nodes: int = ask.slider(
        "Nodes of the first machine",
        0,
        (0, 96, 1),
        help="0 = tasks fill one node after the other. Any other number: they are spread evenly over that many nodes.",
    )
    machine_file: str = ask.machine_file("the first machine")

    @cached_property
    def one(self) -> Side:
        """The first machine."""
        return Side(self.first, self, self.nodes)

    @cached_property
    def other(self) -> Side:
        """The machine to compare with."""
        return Side(self.second, self)

    @cached_property
    def parting(self) -> int:
        """Smallest number of tasks at which the curves are a fifth apart; 0 if they never are."""
        return divergence_point(self.one.curve, self.other.curve, apart=_APART) or 0

    @cached_property
    def level(self) -> int:
        """Tasks from which the first curve is level; 0 if it still rises."""
        return level_from(self.one.curve) or 0


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        The same tasks on both machines.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Job(tasks=12)).facts['first_rate_gb_s'], 2)
    1.5
    """
    one, other = job.one, job.other
    return Result(
        summary=_summary(job),
        findings=client_findings(one.title, one.curve),
        values=tuple(_values(job)),
        figures=(_rates(job),),
        facts={
            "tasks": job.tasks,
            "first_rate_gb_s": one.curve[-1],
            "second_rate_gb_s": other.curve[-1],
            "divergence_point": job.parting,
            "level_from": job.level,
            "first_nodes": one.nodes,
            "second_nodes": other.nodes,
        },
    )


def _summary(job: Job) -> str:
    one, other = job.one, job.other
    level = f"within 5 % of that from {count(job.level, 'task')} on" if job.level else "still rising"
    difference = f"within {share(_APART)} of each other"
    parting = f"are {difference} up to {count(job.parting - 1, 'task')}" if job.parting else f"stay {difference}"
    return (
        f"{count(job.tasks, 'task writes', 'tasks write')} {one.curve[-1]:.2f} GB/s from {count(one.nodes, 'node')} "
        f"of {one.title} ({level}) and {other.curve[-1]:.2f} GB/s from {other.nodes} of {other.title}. They {parting}."
    )


def _values(job: Job) -> Iterator[Value]:
    for side in (job.one, job.other):
        yield Value(f"Ceiling of a {side.title} node", side.ceiling_gb_s, side.badge, "GB/s", 2, note=side.note)


def _rates(job: Job) -> Figure:
    """Return the chart of the rates against tasks."""
    one, other, counts = job.one, job.other, range(1, job.tasks + 1)
    return chart(
        title="Write rate against tasks",
        alt=f"Write rate of 1 to {job.tasks} tasks. {one.title} ends at {one.curve[-1]:.2f} GB/s, {other.title} at "
        f"{other.curve[-1]:.2f} GB/s. A dotted line marks the ceiling of one {one.title} node, "
        f"{one.ceiling_gb_s:.2f} GB/s.",
        x=Axis(title="Tasks", low=0, high=job.tasks + 1),
        y=Axis(title="Write rate of all tasks", unit="GB/s", low=0, decimals=3),
        series=[
            Series(name=f"{side.title}, {count(side.nodes, 'node')}", x=counts, y=side.curve) for side in (one, other)
        ],
        references=[Reference(f"ceiling of one {one.title} node", one.ceiling_gb_s)],
    )


QUESTION = ask.declared(
    Job,
    answer,
    title="What can one node write?",
    examples={
        "Together up to 8 tasks": {"task_rate_mb_s": 212.5},
        "A Franklin node at two-thirds": {"task_rate_mb_s": 267.5},
        "The same 24 tasks on 6 nodes": {"nodes": 6},
    },
)
