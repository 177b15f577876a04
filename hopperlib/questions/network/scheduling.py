"""Question: orphaned nodes and a debug queue, and what they do to utilization and to the largest jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import mean

from hopperlib.network.scheduling.aging import LargeJob, large_jobs, troubled_machine
from hopperlib.network.scheduling.schedule import Sample
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_DAY = 86_400
_NODES = 6384
_HOURS_A_WEEK = 168
# The least of the first day is that of a machine that fills.
_SAMPLES_A_DAY = 8


# Kept, since the hours without service change nothing in it.
_schedule = cache(troubled_machine)


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
    schedule = _schedule(
        _NODES,
        days,
        orphans_a_day=orphans_a_day,
        cleared_after_days=cleared_after_days,
        debug_share=debug_share,
        debug_first=debug_first == "first",
        full_nodes=full_nodes,
    )
    end_s = days * _DAY
    samples = [sample for sample in schedule.samples if sample.time_s < end_s]
    used = schedule.utilization(_DAY, end_s)
    of_all = used * (1 - down_hours / _HOURS_A_WEEK)
    lost = mean(sample.unavailable_nodes for sample in samples) / _NODES
    jobs = large_jobs(schedule, end_s)
    wait, waiting = mean(job.wait_h for job in jobs), sum(not job.started for job in jobs)
    fitted = "the hours without service are fitted to the printed one"
    hours = "fitted to the printed utilization"
    return Result(
        summary=(
            f"{100 * of_all:.0f} % of the machine is used, {100 * used:.0f} % while it is up; "
            f"a job of {full_nodes:,} nodes waits {wait:.0f} h on average"
            + (f", and {waiting} of {len(jobs)} never start." if waiting else ".")
        ),
        values=(
            Value("Utilization, by all hours", 100 * of_all, "calibrated", "%", 1, note=fitted),
            Value("Utilization of up-time", 100 * used, "predicted", "%", 1),
            Value("Utilization, printed", 81.7, "documented", "%", note="February 5th to May 1st, 2011"),
            Value("Wait of a job for the whole machine", wait, "predicted", "h", 1),
            Value("Jobs simulated", len(schedule), "assumed", note="drawn for the mix of early users"),
            Value("Orphaned, on average", 100 * lost, "predicted", "%", 1),
            Value("Hours without service", down_hours, "calibrated", "h a week", note=hours),
        ),
        figures=(_figure(samples, days, used),),
        tables=(_table(jobs),),
        facts={
            "debug_share": debug_share,
            "utilization": of_all,
            "up_time_utilization": used,
            "wait_h": wait,
            "orphaned_fraction": lost,
            "never_started": waiting,
            "queue_full_fraction": mean(sample.waiting_jobs > 0 for sample in samples),
        },
    )


def _figure(samples: Sequence[Sample], days: int, used: float) -> Figure:
    """Return busy and orphaned nodes over time."""
    x = [round(sample.time_s / _DAY, 3) for sample in samples]
    busy = [100 * sample.busy_nodes / _NODES for sample in samples]
    gone = [100 * sample.unavailable_nodes / _NODES for sample in samples]
    return chart(
        title="The machine over time",
        alt=f"Busy nodes: {100 * used:.0f} % on average, at least {min(busy[_SAMPLES_A_DAY:] or busy):.0f} %. "
        f"Orphaned nodes rise to {max(gone):.0f} %.",
        x=Axis(title="Time", unit="d", low=0, high=float(days), decimals=2),
        y=Axis(title="Nodes", unit="%", low=0, high=100, decimals=1),
        series=[Series(name="busy", x=x, y=busy), Series(name="orphaned", x=x, y=gone)],
        references=[Reference(name="worst case printed, 50 %", y=50)],
    )


def _table(jobs: Sequence[LargeJob]) -> Table:
    """Return the jobs for the whole machine."""
    columns = (Column("Submitted, day", decimals=2), Column("Wait", "h", 1), Column("Started"))
    return Table(caption="Jobs for the whole machine", columns=columns, rows=jobs)


QUESTION = declared(__name__, _answer)
