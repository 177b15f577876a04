"""Question: the probability that a job hits a bad node, its cost, and the value of a preflight check."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.launchers.line_writer import one_task_a_node
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Figure, Result, Snippet, Value
from hopperlib.errors import refusal
from hopperlib.failure.nodes.risk import CheckValue, chance_of_bad_node, check_value, worthwhile_chance
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.text import count, share

# Steps between one node and all in the chart.
_POINTS = 40
_CHECK = "sh -c 'sed \"s/^/$(hostname -s): /\" /proc/buddyinfo' | hopper preflight - --need 29GB"


class Job(ask.Setting):
    """A job on some nodes of a machine with some bad nodes."""

    machine: Machine = ask.machine()
    bad: int = ask.whole("Bad nodes on the machine", 8, (0, 100_000), help="Eight were found on Hopper in early 2012.")
    job_nodes: int = ask.whole("Nodes of the job", 683, (1, 100_000))
    run_hours: float = ask.number("Length of the run", 12.0, (0.01, 10_000.0, 1.0), unit="h")
    check_minutes: float = ask.number(
        "Time of the check", 5.0, (0.0, 1440.0, 1.0), unit="min", assumed="No source prints it."
    )
    lost_fraction: float = ask.fraction(
        "Share of the run that a bad node costs",
        1.0,
        help="1: the job hangs until its time limit and everything is lost. With checkpoints less is lost.",
        assumed="No source prints it. A hung job without checkpoints loses all of its run.",
    )
    found_fraction: float = ask.fraction(
        "Probability that the check finds a bad node",
        0.8,
        assumed="No source prints it. A memory check cannot detect a faulty network interface.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Reject more nodes than the machine has."""
        for name, nodes in (("bad", self.bad), ("job_nodes", self.job_nodes)):
            if nodes > self.nodes:
                raise refusal(name, nodes, f"must be at most {self.nodes:,}, the nodes of {self.machine.title}")

    @property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self.machine.nodes

    @property
    def terms(self) -> dict[str, float]:
        """Costs of the run and the check."""
        return {
            "run_hours": self.run_hours,
            "lost_fraction": self.lost_fraction,
            "check_minutes": self.check_minutes,
            "found_fraction": self.found_fraction,
        }

    def chance(self, job_nodes: int) -> float:
        """Probability that a job of that size hits a bad node."""
        return chance_of_bad_node(self.nodes, self.bad, job_nodes)

    @cached_property
    def own(self) -> CheckValue:
        """Value of the check for this job."""
        return check_value(self.nodes, self.bad, self.job_nodes, **self.terms)

    @property
    def worth_from(self) -> float | None:
        """Probability of hitting a bad node from which the check pays; None if it never does."""
        return worthwhile_chance(**self.terms)


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        A job on some nodes of a machine with some bad nodes.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Job(job_nodes=100)).facts['chance'], 3)
    0.119
    """
    return Result(
        summary=_summary(job),
        findings=tuple(_findings(job)),
        values=tuple(_values(job)),
        figures=(_chances(job),),
        copyables=(
            Snippet(
                "Check the nodes before the run",
                f"{one_task_a_node(job.machine.launcher().kind, job.job_nodes)} {_CHECK}",
                "Replace 29GB with the memory that your job needs on each node. The command lists nodes short of memory, but does not exclude them.",
            ),
        ),
        facts=_facts(job),
    )


def _summary(job: Job) -> str:
    chance, value = job.chance(job.job_nodes), job.own
    if not chance:
        return "No node is bad, so a check can only cost."
    gain = f"saves {_hours(value.gain_node_hours)} of them" if value.gain_node_hours > 0 else "costs more than it saves"
    return (
        f"A job on {count(job.job_nodes, 'node')} of {job.machine.title} hits a bad node with a probability of "
        f"{share(chance, 1)}; it loses {_hours(value.waste_node_hours)} node-hours per run on average, and the check {gain}."
    )


def _hours(hours: float) -> str:
    """Return node-hours with as many decimals as they need."""
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _findings(job: Job) -> Iterator[Finding]:
    if job.own.gain_node_hours > 0:
        return
    if job.worth_from is None:
        text = "This check never pays: it finds nothing, or it takes longer than the time that it can save."
    else:
        text = f"The check pays only if the probability of hitting a bad node is above {share(job.worth_from, 2)}."
    yield Finding("no-gain", text)


def _values(job: Job) -> Iterator[Value]:
    cores = job.machine.node().cores
    yield Value("Probability of hitting a bad node", 100 * job.chance(job.job_nodes), "predicted", "%", 2)
    yield Value("Mean loss without a check", job.own.waste_node_hours * cores, "predicted", "core hours", 0)
    yield Value(
        "Saved by the check",
        job.own.gain_node_hours * cores,
        "assumed",
        "core hours",
        0,
        note="depends on how long the check takes and how many bad nodes it finds",
    )


def _chances(job: Job) -> Figure:
    """Return the chart of the probability by size of the job, evenly on a logarithmic scale."""
    sizes = sorted({job.job_nodes, *(max(1, round(job.nodes ** (step / _POINTS))) for step in range(_POINTS + 1))})
    chances = [job.chance(size) for size in sizes]
    half = next((size for size, chance in zip(sizes, chances, strict=True) if chance >= 0.5), None)
    passes = f"passes one half at about {count(half, 'node')}" if half else "stays below one half"
    return chart(
        title="Probability of hitting a bad node",
        alt=f"A curve that rises from {share(chances[0], 2)} for one node to {share(chances[-1])} for all "
        f"{job.nodes:,}; it {passes}.",
        x=Axis(title="Nodes of the job", log=True),
        y=Axis(title="Probability of hitting a bad node", low=0.0, high=1.0, decimals=4),
        series=[
            Series(name=f"{job.bad} bad of {job.nodes:,}", x=sizes, y=chances),
            Series(name="this job", x=[job.job_nodes], y=[job.chance(job.job_nodes)], kind="points"),
        ],
    )


def _facts(job: Job) -> dict[str, Any]:
    return {
        "nodes": job.nodes,
        "bad": job.bad,
        "job_nodes": job.job_nodes,
        "chance": job.chance(job.job_nodes),
        "waste_node_hours": job.own.waste_node_hours,
        "gain_node_hours": job.own.gain_node_hours,
        "worth_from_chance": job.worth_from,
    }


QUESTION = ask.declared(
    Job,
    answer,
    title="Will the job hit a bad node?",
    examples={
        "Hopper in early 2012, a large job": {"machine": "hopper", "bad": 8, "job_nodes": 683},
        "The same, one node": {"machine": "hopper", "bad": 8, "job_nodes": 1},
        "A run on 100,000 cores": {"machine": "hopper", "bad": 1, "job_nodes": 4167, "run_hours": 24},
        "A short run, a long check": {"bad": 1, "job_nodes": 64, "run_hours": 0.5, "check_minutes": 15},
        "One bad node of Perlmutter": {"machine": "perlmutter", "bad": 1, "job_nodes": 512},
    },
)
