"""Question: a machine from a reboot on, its occupancy, and where a probe job lands."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from statistics import fmean

from hopperlib.machine import Machine
from hopperlib.network.scheduling.aging import Moment, aged_machine, moments
from hopperlib.network.scheduling.schedule import Schedule, mean_wait_h
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.network.trace_figures import occupancy_figure
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_DAY = 86_400
_NODES = 6384
# The wide jobs of the source: 16,384 tasks, 24 a node, and more.
_WIDE = 683
_INSTANTS = 24


# Kept, since orders and probes change nothing in it.
_schedule = cache(aged_machine)


@cache
def _counts(order: str) -> PrefixCounts:
    """Return the running sums of Hopper's nodes in an order, Y counted double."""
    machine = Machine.load("hopper")
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), order)]
    return PrefixCounts(places, Torus.of(machine, weights=(1, 2, 1)))


def _answer(
    *, days: int, load: float, mix: str, policy: str, allocation: str, order: str, probe_nodes: int, seed: int
) -> Result:
    """Answer for one history of the machine."""
    schedule = _schedule(
        mix,
        nodes=_NODES,
        days=days,
        load=load,
        policy=policy,
        allocation=allocation,
        seed=seed,
    )
    instants = [round(step * days * _DAY / _INSTANTS) for step in range(_INSTANTS + 1)]
    history = moments(schedule, instants, probe_nodes, _counts(order), allocation=allocation, seed=seed)
    # The first days fill the machine: what is typical of it comes later.
    from_s = min(3, days // 2) * _DAY
    used = schedule.utilization(from_s, days * _DAY)
    mean_wait = mean_wait_h(schedule, from_s=from_s) or 0.0
    wide_wait = mean_wait_h(schedule, from_s=from_s, from_nodes=_WIDE)
    late = [moment.probe_hops for moment in history[len(history) // 4 :]]
    after, first, most_runs = fmean(late), history[0], max(moment.probe_runs for moment in history)
    return Result(
        summary=(
            f"After the reboot a job of {probe_nodes} nodes lies {first.probe_hops:.1f} hops apart in {_runs(first.probe_runs)}; "
            f"later {after:.1f} hops on average, in up to {_runs(most_runs)}. {100 * used:.0f} % of the machine is used."
        ),
        values=(
            Value("Utilization of up-time", 100 * used, "predicted", "%", 1),
            Value("Mean wait", mean_wait, "predicted", "h", 2),
            Value(f"Mean wait from {_WIDE} nodes on", wide_wait, "predicted", "h", 1),
            Value("Mean distance of the probe, Y double", after, "predicted", "hops", 2, min(late), max(late)),
            Value("Jobs simulated", len(schedule), "assumed", note="drawn for the mix"),
        ),
        figures=(_occupied(schedule, days, order), *_figures(history, days, probe_nodes, late)),
        tables=(_table(history),),
        facts={
            "utilization": used,
            "mean_wait_h": mean_wait,
            "wide_wait_h": wide_wait,
            "hops_after_reboot": first.probe_hops,
            "hops_later": after,
            "hops_step": fmean(abs(following - hops) for hops, following in pairwise(late)),
            "max_runs": most_runs,
            "max_free_runs": max(moment.free_runs for moment in history),
            # Compared between browser and Python: the same seed gives the same bytes.
            "schedule_sha256": schedule.digest(),
        },
    )


def _occupied(schedule: Schedule, days: int, order: str) -> Figure:
    """Return the map of the node list from the reboot on."""
    node_list = f"node list ({order})"
    return occupancy_figure(schedule, (0, days * _DAY), cells=(57, 84), since="the reboot", node_list=node_list)


def _runs(count: int) -> str:
    """Return a number of runs in words."""
    return f"{count} {'run' if count == 1 else 'runs'}"


def _figures(history: list[Moment], days: int, probe_nodes: int, late: list[float]) -> tuple[Figure, Figure]:
    """Return how far apart the probe lies over time, and in how many runs."""
    day = Axis(title="Since the reboot", unit="d", low=0, high=float(days), decimals=2)
    x = [round(moment.time_s / _DAY, 2) for moment in history]
    _, holes, _, runs, hops = (list(column) for column in zip(*history, strict=True))
    distance = chart(
        title="The probe job since the reboot",
        alt=f"Mean distance of a job of {probe_nodes} nodes, Y double: {hops[0]:.1f} hops after the reboot, "
        f"{min(late):.1f} to {max(late):.1f} later.",
        x=day,
        y=Axis(title="Mean distance, Y double", unit="hops", low=0, decimals=2),
        series=[Series(name="probe", x=x, y=hops)],
    )
    pieces = chart(
        title="Runs",
        alt=f"Free runs of the node list rise from {holes[0]} to as many as {max(holes)}; "
        f"the probe lies in up to {_runs(max(runs))}.",
        x=day,
        y=Axis(title="Runs of the node list", low=0),
        series=[Series(name="free runs", x=x, y=holes), Series(name="runs of the probe", x=x, y=runs)],
    )
    return distance, pieces


def _table(history: list[Moment]) -> Table:
    """Return the machine at each instant."""
    return Table(
        caption="The machine over time",
        columns=(
            Column("Day", decimals=2),
            Column("Free runs"),
            Column("Largest free run", "nodes"),
            Column("Runs of the probe"),
            Column("Mean distance", "hops", 2),
        ),
        rows=[(round(moment.time_s / _DAY, 2), *moment[1:]) for moment in history],
    )


QUESTION = declared(__name__, _answer)
