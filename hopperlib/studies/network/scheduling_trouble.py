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
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.trouble import debug_queues, full_jobs
from hopperlib.network.scheduling.workload import Workload
from hopperlib.studies.study import Study, Value

__all__ = ["STUDY", "down_hours_a_week", "large_job_wait_h", "trouble"]

_DAY = 86_400
_NODES, _DAYS = 6384, 10
_PRINTED = 0.817


@cache
def trouble(*, orphaned_fraction: float = 0.0, debug_fraction: float = 0.0, debug_first: bool = True) -> Schedule:
    """Return ten days of Hopper with early users, a queue that is always full, and a job for the whole machine every third day.

    Parameters
    ----------
    orphaned_fraction : float
        Share of the nodes that are orphaned, from the start to the end. [fraction]
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
    left = 1 - orphaned_fraction
    drawn = draw_workload(
        "early",
        nodes=_NODES,
        days=_DAYS,
        load=1.05 * left,
        rng=random.Random(1),
        debug_fraction=debug_fraction,
        smallest=16,
    )
    full = full_jobs(round(6100 * left), first_day=3, days=_DAYS)
    # A job that no longer fits on what is left would wait for ever.
    room = _NODES - int(orphaned_fraction * _NODES)
    jobs = [job._replace(nodes=min(job.nodes, room)) for job in drawn]
    orphans = []
    if room < _NODES:
        orphans = [Downtime(start_s=0, end_s=_DAYS * _DAY, first_node=0, last_node=_NODES - room, kind="orphan")]
    return simulate(
        Workload([*jobs, *full]),
        _NODES,
        queues=debug_queues(debug_first),
        downtimes=orphans,
        sample_every_s=3600,
        until_s=_DAYS * _DAY,
    )


def large_job_wait_h(schedule: Schedule) -> float:
    """Mean wait of the jobs for the whole machine; one that has not started waits until the end. [h]

    Examples
    --------
    >>> large_job_wait_h(trouble()) > 0
    True
    """
    waits = []
    for index, job in enumerate(schedule.workload):
        if job.queue == "full":
            until_the_end = max(0, max(schedule.start_s) - job.submit_time_s)
            waits.append(until_the_end if (wait := schedule.wait_time_s(index)) is None else wait)
    return mean(waits) / 3600


def down_hours_a_week(utilization_of_up_time: float, utilization: float = _PRINTED) -> float:
    """Hours a week without service that bring a utilization of up-time down to one of all time. [h]

    Examples
    --------
    >>> round(down_hours_a_week(0.95), 1)
    23.5
    """
    return 168 * (1 - utilization / utilization_of_up_time)


def _values() -> dict[str, Value]:
    plain = trouble()
    up = plain.utilization(3 * _DAY, _DAYS * _DAY)
    hours = down_hours_a_week(up)
    orphaned_fraction = round(1 - 0.5 / up, 3)
    orphaned = trouble(orphaned_fraction=orphaned_fraction)
    stuck = [sample for sample in orphaned.samples if 3 * _DAY < sample.time_s < _DAYS * _DAY]
    without_debug, debug_first, debug_limited = (
        large_job_wait_h(schedule)
        for schedule in (plain, trouble(debug_fraction=0.1), trouble(debug_fraction=0.1, debug_first=False))
    )
    small_waits_s = [plain.wait_time_s(index) for index, job in enumerate(plain.workload) if job.nodes < 683]
    small_wait_h = mean(wait for wait in small_waits_s if wait is not None) / 3600
    return {
        "utilization": 100 * up * (1 - hours / 168),
        "down_hours": hours,
        "up_percent": 100 * up,
        "utilization-close-to": round(100 * _PRINTED, 1),
        "maintenance-is-major-loss": 1 - _PRINTED / up > 1 - up,
        "core-hours-per-day": Machine.load("hopper").cores * 24 / 1e6,
        "debug-blocks-largest": debug_first > without_debug,
        "queues-adjusted": debug_limited < debug_first,
        "orphans-utilization": 100 * orphaned.utilization(3 * _DAY, _DAYS * _DAY),
        "orphaned_percent": 100 * orphaned_fraction,
        "queue-always-full": mean(sample.waiting_jobs > 0 and sample.unavailable_nodes > 0 for sample in stuck) > 0.9,
        "queue-is-biggest-challenge": without_debug > small_wait_h,
    }


STUDY = Study.read("scheduling-trouble", _values)
