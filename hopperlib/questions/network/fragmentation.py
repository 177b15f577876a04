"""Question: a machine from a reboot on, its occupancy, and where a probe job lands."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from hopperlib.machine import Machine
from hopperlib.network.scheduling.aging import aged_machine, free_runs, probe
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.maps import occupancy
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.questions.figures import Axis, Series, chart, layout
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_DAY = 86_400
_NODES = 6384


def _bundle(days: int) -> int:
    """Return the width to which narrow jobs come bundled: the more days the wider, so that an answer takes a moment."""
    return 64 if days <= 14 else 128


@cache
def _schedule(mix: str, days: int, load: float, policy: str, allocation: str, seed: int) -> Schedule:
    """Return the schedule; kept, since orders and probes change nothing in it."""
    return aged_machine(
        mix, nodes=_NODES, days=days, load=load, policy=policy, allocation=allocation, seed=seed, smallest=_bundle(days)
    )


@cache
def _counts(order: str) -> PrefixCounts:
    """Return the running sums of Hopper's nodes in an order, Y counted double."""
    machine = Machine.load("hopper")
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), order)]
    return PrefixCounts(places, Torus.of(machine, weights=(1, 2, 1)))


def _occupancy_figure(schedule: Schedule, days: int, order: str) -> Figure:
    """Return the map: the node list upwards, time to the right."""
    rows, columns = 57, 84
    grid = occupancy(schedule, 0, days * _DAY, columns=columns, rows=rows)
    step, height = days / columns, _NODES // rows
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": [round((column + 0.5) * step, 3) for column in range(columns)],
        "y": [row * height + height // 2 for row in range(rows)],
        "z": [[round(100 * cell) for cell in line] for line in grid],
        "zmin": 0,
        "zmax": 100,
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "busy [%]"}},
    }
    x, y = Axis(title="Since the reboot", unit="d"), Axis(title=f"Position in the node list ({order})")
    means = [sum(line) / columns for line in grid]
    return Figure(
        title="Occupancy of the node list",
        alt=f"Node list upwards, {days} days to the right. The front of the list is {100 * means[0]:.0f} % busy, "
        f"its end {100 * means[-1]:.0f} %.",
        data=[heat],
        layout=layout(x, y, height=420),
        table=Table(
            caption="Busy part of each stretch of the list, over the whole time",
            columns=(Column("From position"), Column("Busy", "%", 1)),
            rows=[(row * height, 100 * mean) for row, mean in enumerate(means)],
        ),
    )


def _answer(
    *, days: int, load: float, mix: str, policy: str, allocation: str, order: str, probe_nodes: int, seed: int
) -> Result:
    """Answer for one history of the machine."""
    schedule = _schedule(mix, days, load, policy, allocation, seed)
    counts = _counts(order)
    instants = [round(step * days * _DAY / 24) for step in range(25)]
    holes, largest, spread, hops = [], [], [], []
    for instant in instants:
        runs = free_runs(schedule, instant)
        holes.append(len(runs))
        largest.append(max((high - low for low, high in runs), default=0))
        landed = probe(schedule, instant, probe_nodes, allocation=allocation, seed=seed)
        spread.append(len(landed.runs))
        hops.append(counts.mean_hop_distance(landed.runs))
    x = [round(instant / _DAY, 2) for instant in instants]
    from_s = min(3, days // 2) * _DAY
    used = schedule.utilization(from_s, days * _DAY)
    waits = [
        (width, (schedule.wait_time_s(index) or 0) / 3600)
        for index, width in enumerate(schedule.workload.nodes)
        if schedule.workload.submit_time_s[index] >= from_s
    ]
    mean_wait = sum(wait for _, wait in waits) / len(waits) if waits else 0.0
    wide = [wait for width, wait in waits if width >= 683]
    wide_wait = sum(wide) / len(wide) if wide else None
    day = Axis(title="Since the reboot", unit="d", low=0, high=float(days), decimals=2)
    late = hops[len(hops) // 4 :]
    after = sum(late) / len(late)
    jumps = sum(abs(b - a) for a, b in pairwise(late)) / max(1, len(late) - 1)
    return Result(
        summary=(
            f"After the reboot a job of {probe_nodes} nodes lies {hops[0]:.1f} hops apart in {spread[0]} "
            f"{'run' if spread[0] == 1 else 'runs'}; later {after:.1f} hops on average, in up to {max(spread)} runs. "
            f"{100 * used:.0f} % of the machine is used."
        ),
        values=(
            Value("Utilization of up-time", 100 * used, unit="%", badge="predicted", decimals=1),
            Value("Mean wait", mean_wait, unit="h", badge="predicted", decimals=2),
            Value("Mean wait from 683 nodes on", wide_wait, unit="h", badge="predicted", decimals=1),
            Value(
                "Mean distance of the probe, Y double",
                after,
                unit="hops",
                badge="predicted",
                decimals=2,
                low=min(late),
                high=max(late),
            ),
            Value(
                "Jobs simulated",
                len(schedule),
                "assumed",
                note=f"narrow jobs come bundled to {_bundle(days)} nodes, so that the answer comes in a moment",
            ),
        ),
        figures=(
            _occupancy_figure(schedule, days, order),
            chart(
                title="The probe job since the reboot",
                alt=f"Mean distance of a job of {probe_nodes} nodes, Y double: {hops[0]:.1f} hops after the reboot, "
                f"{min(late):.1f} to {max(late):.1f} later.",
                x=day,
                y=Axis(title="Mean distance, Y double", unit="hops", low=0, decimals=2),
                series=[Series(name="probe", x=x, y=hops)],
            ),
            chart(
                title="Runs",
                alt=f"Free runs of the node list rise from {holes[0]} to as many as {max(holes)}; the probe lies in up to {max(spread)}.",
                x=day,
                y=Axis(title="Runs of the node list", low=0),
                series=[Series(name="free runs", x=x, y=holes), Series(name="runs of the probe", x=x, y=spread)],
            ),
        ),
        tables=(
            Table(
                caption="The machine over time",
                columns=(
                    Column("Day", decimals=2),
                    Column("Free runs"),
                    Column("Largest free run", "nodes"),
                    Column("Runs of the probe"),
                    Column("Mean distance", "hops", 2),
                ),
                rows=list(zip(x, holes, largest, spread, hops, strict=True)),
            ),
        ),
        facts={
            "utilization": used,
            "mean_wait_h": mean_wait,
            "wide_wait_h": wide_wait,
            "hops_after_reboot": hops[0],
            "hops_later": after,
            "hops_step": jumps,
            "max_runs": max(spread),
            "max_free_runs": max(holes),
            # Compared between browser and Python: the same seed gives the same bytes.
            "schedule_sha256": schedule.digest(),
        },
    )


QUESTION = declared(__name__, _answer)
