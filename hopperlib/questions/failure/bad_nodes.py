"""Question: how likely a job meets a bad node, what that wastes, and what a check before the run buys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hopperlib.errors import refusal
from hopperlib.failure.nodes.risk import CheckValue, chance_of_bad_node, check_value, worthwhile_chance
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# Steps between one node and all in the figure.
_POINTS = 40


def _sizes(nodes: int, job_nodes: int) -> list[int]:
    """Return job sizes from one node to all, evenly on a logarithmic scale, with the job's own."""
    return sorted({job_nodes, *(max(1, round(nodes ** (step / _POINTS))) for step in range(_POINTS + 1))})


def _listed(nodes: int, job_nodes: int) -> list[int]:
    """Return job sizes for the table: powers of four, the job's own, the whole machine."""
    powers = [4**power for power in range(20) if 4**power < nodes]
    return sorted({job_nodes, nodes, *powers})


def _figure(nodes: int, bad: int, job_nodes: int, chance: float) -> Figure:
    """Return the chance over the size of the job."""
    sizes = _sizes(nodes, job_nodes)
    chances = [chance_of_bad_node(nodes, bad, size) for size in sizes]
    half = next((size for size, odds in zip(sizes, chances, strict=True) if odds >= 0.5), None)
    reaches = f"it passes one half at about {half:,} nodes" if half else "it stays below one half"
    return chart(
        title="Chance to meet a bad node",
        alt=f"A curve that rises from {chances[0]:.2%} for one node to {chances[-1]:.0%} for all {nodes:,}; {reaches}.",
        x=Axis(title="Nodes of the job", log=True),
        y=Axis(title="Chance to meet a bad node", low=0.0, high=1.0, decimals=4),
        series=[
            Series(name=f"{bad} bad of {nodes:,}", x=sizes, y=chances),
            Series(name="this job", x=[job_nodes], y=[chance], kind="points"),
        ],
    )


def _hours(value: float) -> str:
    """Return node-hours with as many decimals as they need."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _summary(chance: float, job_nodes: int, value: CheckValue) -> str:
    """Say the chance, and whether the check is worth it."""
    plural = "" if job_nodes == 1 else "s"
    odds = f"A job on {job_nodes:,} node{plural} meets a bad node with a chance of {chance:.1%}"
    if chance == 0:
        return "No node is bad, so a check can only cost."
    lost = f"it loses {_hours(value.waste_node_hours)} node-hours a run on average"
    if value.gain_node_hours > 0:
        return f"{odds}; {lost}, and the check saves {_hours(value.gain_node_hours)} of them."
    return f"{odds}; {lost}, and the check would cost more than it saves."


def _answer(
    *,
    machine: str | Machine,
    bad: int,
    job_nodes: int,
    run_hours: float,
    check_minutes: float,
    lost_fraction: float,
    found_fraction: float,
    machine_file: str,
) -> Result:
    """Answer for one job."""
    chosen = chosen_machine(machine, machine_file)
    nodes = chosen.nodes
    for name, count in (("bad", bad), ("job_nodes", job_nodes)):
        if count > nodes:
            raise refusal(name, count, f"must be at most {nodes:,}, the nodes of {chosen.title}")
    check: dict[str, Any] = {
        "run_hours": run_hours,
        "lost_fraction": lost_fraction,
        "check_minutes": check_minutes,
        "found_fraction": found_fraction,
    }
    value_of: Callable[[int], CheckValue] = partial(check_value, nodes, bad, **check)
    value, chance = value_of(job_nodes), chance_of_bad_node(nodes, bad, job_nodes)
    worth_from = worthwhile_chance(**check)
    return Result(
        summary=_summary(chance, job_nodes, value),
        findings=() if value.gain_node_hours > 0 else (_no_gain(worth_from),),
        values=_values(chance, value, nodes, chosen.node().cores),
        figures=(_figure(nodes, bad, job_nodes, chance),),
        copyables=(
            Copyable(
                "Look at the nodes before the run",
                "srun --ntasks-per-node=1 sh -c 'sed \"s/^/$(hostname -s): /\" /proc/buddyinfo' | hopper preflight - --need 29GB",
                "Set the need to what your job uses of a node; it lists the nodes that are short, and takes none away.",
            ),
        ),
        tables=(_table(nodes, bad, job_nodes, value_of),),
        facts={
            "nodes": nodes,
            "bad": bad,
            "job_nodes": job_nodes,
            "chance": chance,
            "waste_node_hours": value.waste_node_hours,
            "gain_node_hours": value.gain_node_hours,
            "worth_from_chance": worth_from,
        },
    )


def _values(chance: float, value: CheckValue, nodes: int, cores: int) -> tuple[Value, ...]:
    """Return the numbers of the answer."""
    lost, gained = value.waste_node_hours * cores, value.gain_node_hours * cores
    rests = "it rests on how long the check takes and how many bad nodes it finds"
    runs, apart = 1 / chance if chance else None, "on average, each run on other nodes"
    return (
        Value("Chance to meet a bad node", 100 * chance, "predicted", "%", 2),
        Value("Lost on average without a check", lost, "predicted", "core hours", 0),
        Value("The same as time of the whole machine", value.waste_node_hours / nodes, "predicted", "h", 3),
        Value("Gained by the check", gained, "assumed", "core hours", 0, note=rests),
        Value("Runs until one meets a bad node", runs, "predicted", decimals=1, note=apart),
    )


def _table(nodes: int, bad: int, job_nodes: int, value_of: Callable[[int], CheckValue]) -> Table:
    """Return chance, loss and gain by the size of the job."""
    rows = [(size, chance_of_bad_node(nodes, bad, size), *value_of(size)) for size in _listed(nodes, job_nodes)]
    saved = tuple(place for place, row in enumerate(rows) if row[-1] > 0)
    return Table(
        caption="By size of job",
        columns=(
            Column("Nodes"),
            Column("Chance", decimals=4, badge="predicted"),
            Column("Lost", "node hours", 1, "predicted"),
            Column("Lost with the check", "node hours", 1, "assumed"),
            Column("Gain", "node hours", 1, "assumed"),
        ),
        rows=rows,
        marked=saved,
        marked_label="the check saves more than it costs" if saved else "",
    )


def _no_gain(worth_from: float | None) -> Finding:
    """Say from which chance the check would pay."""
    if worth_from is None:
        message = "This check never pays: it finds nothing, or it takes longer than what it can save."
    else:
        message = f"The check pays once the chance to meet a bad node is above {worth_from:.2%}."
    return Finding("no-gain", message, "advice")


QUESTION = declared(__name__, _answer)
