"""Question: the chance that all nodes of a job give the huge pages it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from hopperlib.documented import printed
from hopperlib.errors import refusal
from hopperlib.failure.nodes.huge_pages import chance_of_huge_pages, explaining_strays, strays_allowed, whole_pages
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# The rate of success that is printed, drawn for comparison.
_DOCUMENTED = printed("pages-and-libraries.huge-pages-success") / 100
_POINTS = 60
_SMALL_PAGES_A_GB = 2**18


def _answer(
    *,
    machine: str | Machine,
    job_nodes: int,
    need_gb: float,
    days: int,
    strays_per_day: float,
    spread: float,
    page_mb: float,
    usable_gb: float,
    machine_file: str,
) -> Result:
    """Answer for one job, so many days after a reboot."""
    chosen = chosen_machine(machine, machine_file)
    if job_nodes > chosen.nodes:
        raise refusal("job_nodes", job_nodes, f"must be at most {chosen.nodes:,}, the nodes of {chosen.title}")
    free_gb = usable_gb or chosen.node().usable_memory_gb
    pages, need = math.floor(free_gb * 1024 / page_mb), math.ceil(need_gb * 1024 / page_mb)
    if need > pages:
        raise refusal("need_gb", need_gb, f"must be at most {free_gb:g}, what a node has free after a reboot")

    def chance(on: int, after: float) -> float:
        return chance_of_huge_pages(pages, need, strays_per_day * after, spread, on)

    node, job, strays = chance(1, days), chance(job_nodes, days), strays_per_day * days
    allowed = strays_allowed(pages, need)
    explained = explaining_strays(pages, need, spread, job_nodes, _DOCUMENTED)
    short = (1 - node) * chosen.nodes
    return Result(
        summary=(
            f"{days} days after a reboot {node:.2%} of the nodes give {need:,} huge pages, "
            f"and a job on {job_nodes:,} nodes finds them on all of them with a chance of {job:.0%}."
        ),
        findings=tuple(_findings(node, job)),
        values=(
            Value("Chance that all nodes have enough", 100 * job, "predicted", "%", 1, note="rests on what is assumed"),
            Value("Nodes of the machine that are short", short, "predicted", decimals=1),
            Value("Whole huge pages of a node, on average", whole_pages(pages, strays), "predicted", decimals=0),
            Value("Stray small pages that a node bears", allowed, "predicted", decimals=0),
            Value("The same as memory", 1024 * allowed / _SMALL_PAGES_A_GB, "predicted", "MB", 1),
            Value("Mean of stray pages that explains 35 % success", explained, "calibrated", decimals=0),
        ),
        figures=(_figure(job_nodes, days, chosen.nodes, chance, strays_per_day, explained),),
        copyables=(
            Copyable(
                "Look at the nodes before the run",
                f"srun --ntasks-per-node=1 sh -c 'sed \"s/^/$(hostname -s): /\" /proc/buddyinfo' | "
                f"hopper preflight - --need-huge-pages {need} --huge-page {page_mb:g} --exclude-list",
                "It prints the nodes to leave out.",
            ),
        ),
        tables=(_table(job_nodes, chosen.nodes, days, chance),),
        facts={
            "chance": job,
            "chance_node": node,
            "job_nodes": job_nodes,
            "days": days,
            "need_huge_pages": need,
            "strays_allowed": allowed,
            "explaining_strays": explained,
            "short_nodes": short,
        },
    )


def _findings(node: float, job: float) -> Iterator[Finding]:
    """Yield what to do about it."""
    if job < 0.9 <= node:
        message = "Nearly every node is good, yet the job fails often: one short node is enough. Leave the short ones out, or reboot them."
        yield Finding("one-is-enough", message, "advice")
    elif node < 0.9:
        message = "Many nodes are short: leaving them out is no cure any more, a reboot or fewer huge pages are."
        yield Finding("many-short", message, "advice")
    message = "How fast memory breaks up is assumed: count the huge pages of your own nodes over some days with hopper preflight."
    yield Finding("rate-assumed", message, "note")


def _figure(
    job_nodes: int,
    days: int,
    nodes: int,
    chance: Callable[[int, float], float],
    strays_per_day: float,
    explained: float,
) -> Figure:
    """Return the chance against the days since the reboot, for one node, the job and the machine."""
    reach = max(2 * days, 2 * explained / strays_per_day if strays_per_day else 0, 10)
    places = [reach * step / _POINTS for step in range(_POINTS + 1)]
    sizes = sorted({1, job_nodes, nodes})
    documented = explained / strays_per_day if strays_per_day else math.inf
    return chart(
        title="Chance that all nodes have enough, after a reboot",
        alt=f"The job on {job_nodes:,} nodes succeeds with {chance(job_nodes, days):.0%} after {days} days, and comes down to the documented 35 % after {documented:.0f}.",
        x=Axis(title="Days since the reboot", decimals=1),
        y=Axis(title="Chance of success", low=0, high=1, decimals=4),
        series=[
            *(
                Series(
                    name="1 node" if size == 1 else f"{size:,} nodes", x=places, y=[chance(size, at) for at in places]
                )
                for size in sizes
            ),
            Series(name="this job", x=[days], y=[chance(job_nodes, days)], kind="points"),
        ],
        references=[Reference("documented, June to October 2011", _DOCUMENTED)],
    )


def _table(job_nodes: int, nodes: int, days: int, chance: Callable[[int, float], float]) -> Table:
    """Return the chance by the size of the job."""
    sizes = sorted({job_nodes, nodes, *(4**power for power in range(12) if 4**power < nodes)})
    return Table(
        caption=f"By size of job, {days} days after a reboot",
        columns=(Column("Nodes"), Column("Chance that all have enough", decimals=4, badge="predicted")),
        rows=[(size, chance(size, days)) for size in sizes],
        marked=(sizes.index(job_nodes),),
        marked_label="this job",
    )


QUESTION = declared(__name__, _answer)
