"""Question: how likely a job meets a bad node, what that wastes, and what a check before the run buys."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.failure.nodes.risk import CheckValue, chance_of_bad_node, check_value
from hopperlib.finding import Finding
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
    half = next((size for size, one in zip(sizes, chances, strict=True) if one >= 0.5), None)
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
    machine: str,
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
    nodes, cores = chosen.nodes, chosen.node().cores
    if bad > nodes:
        raise InputError(f"bad={bad} must be at most {nodes:,}, the nodes of {chosen.title}", name="bad")
    if job_nodes > nodes:
        raise InputError(
            f"job_nodes={job_nodes} must be at most {nodes:,}, the nodes of {chosen.title}", name="job_nodes"
        )
    chance = chance_of_bad_node(nodes, bad, job_nodes)

    def value_of(size: int) -> CheckValue:
        return check_value(
            nodes,
            bad,
            size,
            run_hours=run_hours,
            lost_fraction=lost_fraction,
            check_minutes=check_minutes,
            found_fraction=found_fraction,
        )

    value = value_of(job_nodes)
    core_hours = value.waste_node_hours * cores
    rows = [(size, chance_of_bad_node(nodes, bad, size), *value_of(size)) for size in _listed(nodes, job_nodes)]
    saved = [place for place, row in enumerate(rows) if row[-1] > 0]
    # The check saves as much as it costs where chance x found x lost x hours = minutes / 60.
    saving = run_hours * lost_fraction * found_fraction
    worth_from = check_minutes / 60 / saving if check_minutes / 60 <= saving and saving else None
    return Result(
        summary=_summary(chance, job_nodes, value),
        findings=() if value.gain_node_hours > 0 else (_no_gain(worth_from),),
        values=(
            Value("Chance to meet a bad node", 100 * chance, unit="%", decimals=2, badge="predicted"),
            Value("Lost on average without a check", core_hours, unit="core hours", decimals=0, badge="predicted"),
            Value(
                "The same as time of the whole machine",
                value.waste_node_hours / nodes,
                unit="h",
                decimals=3,
                badge="predicted",
            ),
            Value(
                "Gained by the check",
                value.gain_node_hours * cores,
                unit="core hours",
                decimals=0,
                badge="assumed",
                note="it rests on how long the check takes and how many bad nodes it finds",
            ),
            Value(
                "Runs until one meets a bad node",
                1 / chance if chance else None,
                decimals=1,
                badge="predicted",
                note="on average, each run on other nodes",
            ),
        ),
        figures=(_figure(nodes, bad, job_nodes, chance),),
        copyables=(
            Copyable(
                "Look at the nodes before the run",
                "srun --ntasks-per-node=1 sh -c 'sed \"s/^/$(hostname -s): /\" /proc/buddyinfo' | hopper preflight - --need 29GB",
                "Set the need to what your job uses of a node; it lists the nodes that are short, and takes none away.",
            ),
        ),
        tables=(
            Table(
                caption="By size of job",
                columns=(
                    Column("Nodes"),
                    Column("Chance", decimals=4, badge="predicted"),
                    Column("Lost", "node hours", 1, "predicted"),
                    Column("Lost with the check", "node hours", 1, "assumed"),
                    Column("Gain", "node hours", 1, "assumed"),
                ),
                rows=rows,
                marked=tuple(saved),
                marked_label="the check saves more than it costs" if saved else "",
            ),
        ),
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


def _no_gain(worth_from: float | None) -> Finding:
    """Say from which chance the check would pay."""
    if worth_from is None:
        message = "This check never pays: it finds nothing, or it takes longer than what it can save."
    else:
        message = f"The check pays once the chance to meet a bad node is above {worth_from:.2%}."
    return Finding(code="no-gain", message=message, level="advice")


QUESTION = declared(__name__, _answer)
