"""Question: how likely it is that all nodes of a job have the huge pages it needs."""

from collections.abc import Iterator
from functools import cached_property
from math import ceil, floor, inf
from typing import Any

from hopperkit.launchers.line_writer import one_task_a_node
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Figure, Result, Snippet, Value
from hopperlib.errors import refusal
from hopperlib.failure.nodes.huge_pages import chance_of_huge_pages, explaining_unmovable_pages, unmovable_pages_allowed
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.text import count, share

# Share of runs with huge pages that succeeded, June to October 2011: about 35 % (He and Antypas, CUG 2012, slide
# "Huge Pages Issue"). Drawn for comparison.
_DOCUMENTED = 0.35
_POINTS = 60


class Job(ask.Setting):
    """A job, some days after a reboot."""

    machine: Machine = ask.machine()
    job_nodes: int = ask.whole(
        "Nodes of the job",
        342,
        (1, 1_000_000),
        option="nodes",
        help="342 nodes hold the 8,192 cores of the smaller GTC run, 1,024 nodes the 24,576 cores of the larger one.",
    )
    need_gb: float = ask.number(
        "Huge-page memory needed per node",
        24.0,
        (0.01, 100_000.0, 0.5),
        unit="GB",
        binary=True,
        option="need",
        assumed="No source gives the jobs' requests.",
    )
    days: int = ask.whole("Days since the reboot", 40, (0, 3650))
    strays_per_day: float = ask.number(
        "Unmovable small pages per node per day",
        50.0,
        (0.0, 1_000_000.0, 10.0),
        help="Each one breaks up a huge page.",
        assumed="No source prints it. Groups of neighbors count as one.",
    )
    spread: float = ask.slider(
        "Coefficient of variation between nodes", 0.3, (0.05, 1.5, 0.05), assumed="No source prints it."
    )
    page_mb: float = ask.number(
        "Size of a huge page", 2.0, (0.0625, 1024.0, 0.0625), unit="MB", option="huge_page", advanced=True
    )
    usable_gb: float = ask.number(
        "Memory of a node that is free after a reboot",
        0.0,
        (0.0, 100_000.0, 0.5),
        unit="GB",
        help="0 = use the machine file's value.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Reject a job larger than the machine, and more memory than a node has."""
        if self.job_nodes > self.machine.nodes:
            rule = f"must be at most {self.machine.nodes:,}, the nodes of {self.machine.title}"
            raise refusal("job_nodes", self.job_nodes, rule)
        if self.need > self.pages:
            rule = f"must be at most {self.free_gb:g}, the free memory of a node after a reboot"
            raise refusal("need_gb", self.need_gb, rule)

    @property
    def free_gb(self) -> float:
        """Memory of a node that is free after a reboot. [GB]"""
        return self.usable_gb or self.machine.node().usable_memory_gb

    @property
    def pages(self) -> int:
        """Huge pages of a node after a reboot."""
        return floor(self.free_gb * 1024 / self.page_mb)

    @property
    def need(self) -> int:
        """Huge pages that each node must provide."""
        return ceil(self.need_gb * 1024 / self.page_mb)

    def chance(self, job_nodes: int, days: float) -> float:
        """Probability that all nodes of a job have enough, some days after a reboot."""
        return chance_of_huge_pages(self.pages, self.need, self.strays_per_day * days, self.spread, job_nodes)

    @cached_property
    def one_node(self) -> float:
        """Share of the nodes that have enough."""
        return self.chance(1, self.days)

    @cached_property
    def all_nodes(self) -> float:
        """Probability that all nodes of the job have enough."""
        return self.chance(self.job_nodes, self.days)

    @property
    def short_nodes(self) -> float:
        """Nodes of the machine without enough huge pages, on average."""
        return (1 - self.one_node) * self.machine.nodes

    @property
    def allowed(self) -> float:
        """Unmovable small pages with which a node still provides enough huge pages, on average."""
        return unmovable_pages_allowed(self.pages, self.need)

    @cached_property
    def explained(self) -> float:
        """Unmovable small pages per node that explain the printed success rate."""
        return explaining_unmovable_pages(self.pages, self.need, self.spread, self.job_nodes, _DOCUMENTED)


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        A job, some days after a reboot.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Job(job_nodes=100)).facts['chance'], 2)
    0.59
    """
    line = (
        f"{one_task_a_node(job.machine.launcher().kind, job.job_nodes)} sh -c 'sed \"s/^/$(hostname -s): /\" /proc/buddyinfo' | "
        f"hopper preflight - --need-huge-pages {job.need} --huge-page {job.page_mb:g} --exclude-list"
    )
    return Result(
        summary=f"{count(job.days, 'day')} after a reboot of {job.machine.title}, {share(job.one_node, 2)} of the nodes "
        f"have {count(job.need, 'huge page')} left; a job on {count(job.job_nodes, 'node')} finds them on all of its "
        f"nodes with a probability of {share(job.all_nodes)}.",
        findings=tuple(_findings(job)),
        values=tuple(_values(job)),
        figures=(_chances(job),),
        copyables=(Snippet("Check the nodes before the run", line, "It prints the nodes to exclude."),),
        facts=_facts(job),
    )


def _findings(job: Job) -> Iterator[Finding]:
    if job.all_nodes < 0.9 <= job.one_node:
        text = "Nearly every node is good, but the job often fails: one node without enough huge pages is enough."
        yield Finding("one-is-enough", text, advice="Exclude these nodes, or reboot them.")
    if job.one_node < 0.9:
        text = "Many nodes lack huge pages: excluding them is no longer enough."
        yield Finding("many-short", text, advice="Reboot the nodes, or request fewer huge pages.")
    text = "The rate at which memory fragments is assumed: count the huge pages of your nodes over some days."
    yield Finding("rate-assumed", text, "note")


def _values(job: Job) -> Iterator[Value]:
    chance = 100 * job.all_nodes
    yield Value("Probability that all nodes have enough", chance, "predicted", "%", 1, note="depends on assumptions")
    yield Value("Nodes of the machine without enough huge pages", job.short_nodes, "predicted", decimals=1)
    yield Value("Unmovable small pages a node can have", job.allowed, "predicted", decimals=0)


def _chances(job: Job) -> Figure:
    """Return the chart over time, up to at least the day on which the printed rate is reached."""
    until = job.explained / job.strays_per_day if job.strays_per_day else inf
    last_day = max(2 * job.days, 2 * until if job.strays_per_day else 0, 10)
    days = [last_day * step / _POINTS for step in range(_POINTS + 1)]
    curves = [
        Series(name=count(size, "node"), x=days, y=[job.chance(size, day) for day in days])
        for size in sorted({1, job.job_nodes, job.machine.nodes})
    ]
    return chart(
        title="Probability that all nodes have enough, after a reboot",
        alt=f"The job on {count(job.job_nodes, 'node')} succeeds with {share(job.all_nodes)} after "
        f"{count(job.days, 'day')}, and comes down to the documented {share(_DOCUMENTED)} after {until:.0f}.",
        x=Axis(title="Days since the reboot", decimals=1),
        y=Axis(title="Probability of success", low=0, high=1, decimals=4),
        series=[*curves, Series(name="this job", x=[job.days], y=[job.all_nodes], kind="points")],
        references=[Reference("documented, June to October 2011", _DOCUMENTED)],
    )


def _facts(job: Job) -> dict[str, Any]:
    return {
        "chance": job.all_nodes,
        "chance_node": job.one_node,
        "job_nodes": job.job_nodes,
        "days": job.days,
        "need_huge_pages": job.need,
        "strays_allowed": job.allowed,
        "explaining_strays": job.explained,
        "short_nodes": job.short_nodes,
    }


QUESTION = ask.declared(
    Job,
    answer,
    title="Do all nodes have enough huge pages?",
    examples={
        "A week after the reboot": {"days": 7},
        "A job of 1,024 nodes": {"job_nodes": 1024},
        "Half of the memory is enough": {"need_gb": 15.5, "days": 60},
    },
)
