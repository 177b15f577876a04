"""Question: orphaned nodes and a debug queue, and what they do to utilization and to the largest jobs."""

from __future__ import annotations

import random
from functools import cache
from statistics import mean

from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.generator import draw_workload
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table, Value

__all__ = ["QUESTION"]

_DAY = 86_400
_NODES = 6384
# Narrow jobs come bundled to this width, so that an answer takes a moment.
_BUNDLE = 128


@cache
def _schedule(
    orphans_a_day: int, cleared_after_days: int, debug_share: float, debug_first: bool, full: int, days: int
) -> Schedule:
    """Return some days of a machine whose queue is always full."""
    rng = random.Random(1)
    jobs = list(
        draw_workload(
            "early", nodes=_NODES, days=days, load=1.05, rng=rng, debug_fraction=debug_share, smallest=_BUNDLE
        )
    )
    jobs += [
        Job(100_000 + day, day * _DAY + 9 * 3600, full, 3 * 3600, 4 * 3600, 0, "full") for day in range(1, days, 3)
    ]
    orphans = []
    for day in range(days):
        for _ in range(orphans_a_day):
            first = int(rng.random() * (_NODES - 32))
            start = day * _DAY + int(rng.random() * _DAY)
            orphans.append(
                Downtime(
                    start_s=start,
                    end_s=start + cleared_after_days * _DAY,
                    first_node=first,
                    last_node=first + 32,
                    kind="orphan",
                )
            )
    queues = (
        Queue(name="debug", priority=1 if debug_first else 4),
        Queue(name="regular", priority=4),
        Queue(name="full", priority=4 if debug_first else 3),
    )
    return simulate(
        Workload(jobs), _NODES, queues=queues, downtimes=orphans, sample_every_s=3 * 3600, until_s=days * _DAY
    )


def _answer(
    *,
    orphans_a_day: int,
    cleared_after_days: int,
    debug_share: float,
    debug_first: str,
    full_nodes: int,
    days: int,
    down_hours: float,
) -> Result:
    """Answer for one machine in trouble."""
    schedule = _schedule(orphans_a_day, cleared_after_days, debug_share, debug_first == "first", full_nodes, days)
    end = days * _DAY
    samples = [sample for sample in schedule.samples if sample.time_s < end]
    used = schedule.utilization(_DAY, end)
    of_all = used * (1 - down_hours / 168)
    lost = mean(sample.unavailable_nodes for sample in samples) / _NODES
    waits, waiting = [], 0
    for index, job in enumerate(schedule.workload):
        if job.queue == "full":
            if schedule.status[index] == NOT_STARTED:
                waiting += 1
                waits.append((end - job.submit_time_s) / 3600)
            else:
                waits.append((schedule.start_s[index] - job.submit_time_s) / 3600)
    wait = mean(waits)
    full = mean(sample.waiting_jobs > 0 for sample in samples)
    x = [round(sample.time_s / _DAY, 3) for sample in samples]
    busy = [100 * sample.busy_nodes / _NODES for sample in samples]
    gone = [100 * sample.unavailable_nodes / _NODES for sample in samples]
    return Result(
        summary=(
            f"{100 * of_all:.0f} % of the machine is used, {100 * used:.0f} % while it is up; "
            f"a job of {full_nodes:,} nodes waits {wait:.0f} h on average"
            + (f", and {waiting} of {len(waits)} never start." if waiting else ".")
        ),
        values=(
            Value(
                "Utilization, by all hours",
                100 * of_all,
                unit="%",
                badge="calibrated",
                decimals=1,
                note="the hours without service are fitted to the printed one",
            ),
            Value("Utilization of up-time", 100 * used, unit="%", badge="predicted", decimals=1),
            Value("Utilization, printed", 81.7, unit="%", badge="documented", note="February 5th to May 1st, 2011"),
            Value("Wait of a job for the whole machine", wait, unit="h", badge="predicted", decimals=1),
            Value(
                "Jobs simulated",
                len(schedule),
                "assumed",
                note=f"narrow jobs come bundled to {_BUNDLE} nodes, so that the answer comes in a moment",
            ),
            Value("Orphaned, on average", 100 * lost, unit="%", badge="predicted", decimals=1),
            Value(
                "Hours without service",
                down_hours,
                unit="h a week",
                badge="calibrated",
                note="fitted to the printed utilization",
            ),
        ),
        figures=(
            chart(
                title="The machine over time",
                alt=f"Busy nodes: {100 * used:.0f} % on average, at least {min(busy[8:] or busy):.0f} %. "
                f"Orphaned nodes rise to {max(gone):.0f} %.",
                x=Axis(title="Time", unit="d", low=0, high=float(days), decimals=2),
                y=Axis(title="Nodes", unit="%", low=0, high=100, decimals=1),
                series=[Series(name="busy", x=x, y=busy), Series(name="orphaned", x=x, y=gone)],
                references=[Reference(name="worst case printed, 50 %", y=50)],
            ),
        ),
        tables=(
            Table(
                caption="Jobs for the whole machine",
                columns=(
                    Column("Submitted, day", decimals=2),
                    Column("Wait", "h", 1),
                    Column("Started"),
                ),
                rows=[
                    (job.submit_time_s / _DAY, wait_h, schedule.status[index] != NOT_STARTED)
                    for (index, job), wait_h in zip(
                        [(index, job) for index, job in enumerate(schedule.workload) if job.queue == "full"],
                        waits,
                        strict=True,
                    )
                ],
            ),
        ),
        facts={
            "debug_share": debug_share,
            "utilization": of_all,
            "up_time_utilization": used,
            "wait_h": wait,
            "orphaned_fraction": lost,
            "never_started": waiting,
            "queue_full_fraction": full,
        },
    )


QUESTION = declared(__name__, _answer)
