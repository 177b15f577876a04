"""Trouble with the scheduler: orphaned nodes, and a debug queue that kept the largest jobs out.

Documented: the utilization of the early user period with its formula, a worst
case of 50 %, and the two stories. The hours lost to outages and maintenance,
and how many nodes were orphaned, are not printed: both are fitted.
"""

from __future__ import annotations

import random
from functools import cache
from statistics import mean

from hopperlib.machine import Machine
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.generator import draw_workload
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.studies.study import Check, Study

__all__ = ["DEBUG_FIRST", "DEBUG_LIMITED", "STUDY", "down_hours_a_week", "large_job_wait_h", "trouble"]

_DAY = 86_400
_NODES, _DAYS = 6384, 10
_PRINTED = 0.817
DEBUG_FIRST = (Queue(name="debug", priority=1), Queue(name="regular", priority=4), Queue(name="full", priority=4))
DEBUG_LIMITED = (Queue(name="debug", priority=4), Queue(name="regular", priority=4), Queue(name="full", priority=3))


@cache
def trouble(
    *,
    orphaned_fraction: float = 0.0,
    debug_fraction: float = 0.0,
    debug_first: bool = True,
    days: int = _DAYS,
    seed: int = 1,
) -> Schedule:
    """Return days of Hopper with early users, a queue that is always full, and a job for the whole machine every third day.

    Parameters
    ----------
    orphaned_fraction : float
        Share of the nodes that are orphaned from the third day on, until the end. [fraction]
    debug_fraction : float
        Share of the load that comes as debug jobs. [fraction]
    debug_first : bool
        Whether debug jobs go before all others; else they queue up, and jobs for the whole machine go first.

    Examples
    --------
    >>> schedule = trouble()
    >>> 0.85 < schedule.utilization(3 * 86400, 10 * 86400) < 1
    True
    """
    load = 1.05 * (1 - orphaned_fraction) if orphaned_fraction else 1.05
    jobs = list(
        draw_workload(
            "early",
            nodes=_NODES,
            days=days,
            load=load,
            rng=random.Random(seed),
            debug_fraction=debug_fraction,
            smallest=16,
        )
    )
    full = [
        Job(100_000 + day, day * _DAY + 9 * 3600, round(6100 * (1 - orphaned_fraction)), 3 * 3600, 4 * 3600, 0, "full")
        for day in range(3, days, 3)
    ]
    # A job that no longer fits on what is left would wait for ever.
    room = _NODES - int(orphaned_fraction * _NODES)
    jobs = [job._replace(nodes=min(job.nodes, room)) for job in jobs]
    orphans = []
    if orphaned_fraction:
        orphans = [Downtime(start_s=0, end_s=days * _DAY, first_node=0, last_node=_NODES - room, kind="orphan")]
    queues = DEBUG_FIRST if debug_first else DEBUG_LIMITED
    return simulate(
        Workload([*jobs, *full]), _NODES, queues=queues, downtimes=orphans, sample_every_s=3600, until_s=days * _DAY
    )


def large_job_wait_h(schedule: Schedule) -> float:
    """Mean wait of the jobs for the whole machine; one that has not started waits until the end. [h]

    Examples
    --------
    >>> large_job_wait_h(trouble()) > 0
    True
    """
    end = max(schedule.start_s)
    waits = []
    for index, job in enumerate(schedule.workload):
        if job.queue == "full":
            waited = schedule.wait_time_s(index)
            waits.append(max(0, end - job.submit_time_s) if waited is None else waited)
    return mean(waits) / 3600


def down_hours_a_week(utilization_of_up_time: float, utilization: float = _PRINTED) -> float:
    """Hours a week without service that bring a utilization of up-time down to one of all time. [h]

    Examples
    --------
    >>> round(down_hours_a_week(0.95), 1)
    23.5
    """
    return 168 * (1 - utilization / utilization_of_up_time)


def _up_time() -> float:
    return trouble().utilization(3 * _DAY, _DAYS * _DAY)


def _checks() -> tuple[Check, ...]:
    hopper = Machine.load("hopper")
    up = _up_time()
    hours = down_hours_a_week(up)
    fraction = round(1 - 0.5 / up, 3)
    orphaned = trouble(orphaned_fraction=fraction)
    stuck = [sample for sample in orphaned.samples if 3 * _DAY < sample.time_s < _DAYS * _DAY]
    waits = {
        name: large_job_wait_h(trouble(debug_fraction=share, debug_first=first))
        for name, share, first in (("none", 0.0, True), ("first", 0.1, True), ("limited", 0.1, False))
    }
    plain = trouble()
    small = mean(
        wait
        for index, job in enumerate(plain.workload)
        if job.nodes < 683 and (wait := plain.wait_time_s(index)) is not None
    )
    rule = "a rule of the formula"
    date = "a date; it bounds the days that count"
    name = "the name of a report; nothing follows from it"
    return (
        Check(
            id="scheduling-trouble.early-hours",
            role="not modelled",
            reason="the early user period began before the days whose utilization is printed; those give 255 million",
        ),
        Check(id="scheduling-trouble.utilization-start", role="input", reason=date),
        Check(id="scheduling-trouble.utilization-end", role="input", reason=date),
        Check(
            id="scheduling-trouble.utilization",
            role="calibrated",
            reproduced=100 * up * (1 - hours / 168),
            reason=f"hours without service were fitted: {hours:.0f} a week, with {100 * up:.0f} % of up-time used",
        ),
        Check(
            id="scheduling-trouble.utilization-close-to",
            role="identity",
            reproduced=81.7,
            tolerance=0.5,
            tolerance_reason="printed as close to, in whole per cent",
        ),
        Check(id="scheduling-trouble.utilization-hours-per-day", role="input", reason=rule),
        Check(id="scheduling-trouble.utilization-excludes-staff", role="input", reason=rule),
        Check(id="scheduling-trouble.utilization-includes-downtime", role="input", reason=rule),
        Check(
            id="scheduling-trouble.utilization-after-oss-failure",
            role="not modelled",
            reason="how long the file system was away that day is not printed",
        ),
        Check(id="scheduling-trouble.maintenance-is-major-loss", role="shape", reproduced=1 - _PRINTED / up > 1 - up),
        Check(id="scheduling-trouble.core-hours-per-day", role="identity", reproduced=hopper.cores * 24 / 1e6),
        Check(id="scheduling-trouble.debug-blocks-largest", role="shape", reproduced=waits["first"] > waits["none"]),
        Check(id="scheduling-trouble.queues-adjusted", role="shape", reproduced=waits["limited"] < waits["first"]),
        Check(id="scheduling-trouble.figure-2-text-start", role="input", reason=date),
        Check(id="scheduling-trouble.figure-2-text-end", role="input", reason=date),
        Check(id="scheduling-trouble.figure-2-start", role="input", reason=date),
        Check(id="scheduling-trouble.figure-2-end", role="input", reason=date),
        Check(id="scheduling-trouble.orphans-month", role="input", reason=date),
        Check(
            id="scheduling-trouble.orphans-utilization",
            role="calibrated",
            reproduced=100 * orphaned.utilization(3 * _DAY, _DAYS * _DAY),
            tolerance=3.0,
            tolerance_reason="the worst case of a plot that is lost, and the noise of ten simulated days",
            reason=f"orphaned nodes were fitted: {100 * fraction:.0f} % of the machine",
        ),
        Check(
            id="scheduling-trouble.queue-always-full",
            role="shape",
            reproduced=mean(sample.waiting_jobs > 0 and sample.unavailable_nodes > 0 for sample in stuck) > 0.9,
        ),
        Check(
            id="scheduling-trouble.orphans-cleared-by-hand", role="input", reason="orphans stay until the end of a run"
        ),
        Check(id="scheduling-trouble.orphans-bug", role="not modelled", reason=name),
        Check(id="scheduling-trouble.orphans-reported", role="not modelled", reason=name),
        Check(
            id="scheduling-trouble.array-job-nodes",
            role="not modelled",
            reason="what makes an orphan is not modelled, only what orphans cost",
        ),
        Check(
            id="scheduling-trouble.arrays-overwhelm-alps",
            role="not modelled",
            reason="connections between programs are no part of the model",
        ),
        Check(id="scheduling-trouble.orphans-patched-after", role="not modelled", reason=name),
        Check(
            id="scheduling-trouble.used-at-once",
            role="not modelled",
            reason="what users wanted; the model takes a full queue as given",
        ),
        Check(
            id="scheduling-trouble.queue-is-biggest-challenge",
            role="shape",
            reproduced=waits["none"] > small / 3600,
        ),
    )


STUDY = Study(
    name="scheduling-trouble",
    title="Trouble with the scheduler",
    part="network",
    question="How do orphaned nodes and a debug queue with high priority lower utilization and keep large jobs waiting?",
    checks=_checks,
    assumptions=(
        "Early users ask for 1.05 times what the machine has, so that the queue is always full.",
        "A job for 6,100 nodes and three hours comes every third day.",
        "Debug jobs take a tenth of the load, up to 512 nodes and half an hour each.",
        "Orphaned nodes stay orphaned for the whole run.",
        "Hours of outages and maintenance are not printed: those that give the printed utilization are taken.",
    ),
)
