"""Trouble with the scheduler: orphaned nodes, and a debug queue that kept the largest jobs out.

Documented: the utilization of the early user period with its formula, a worst
case of 50 %, and the two stories. The hours lost to all that is not idling, and
how many nodes were orphaned, are not printed: both are fitted. ``data/troubled-days.csv``
holds what two hundred seeds give;

    python -m hopperbook.studies.network.scheduling_trouble

makes it in a quarter of an hour, and a test makes part of a row again.
"""

import csv
import random
from collections.abc import Callable
from functools import cache
from statistics import mean
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Shares, Study, Value, load_scratch
from hopperkit.traces.scheduler import simulate
from hopperlib.data_files import data_folder, rows
from hopperlib.scheduling.aging import debug_queues, full_jobs
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.generator import draw_workload
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload

_DAY = 86_400
_NODES, _DAYS = 6384, 10
_PRINTED = 0.817
_SEEDS = range(1, 201)
# Share of orphaned nodes, fitted in hundredths: over these seeds half of the machine is used.
_ORPHANED = 0.41


@cache
def trouble(
    seed: int = 1, *, orphaned_fraction: float = 0.0, debug_fraction: float = 0.0, debug_first: bool = True
) -> Schedule:
    """Return ten days of Hopper with early users, a queue that is always full, and a full-machine job every third day.

    Parameters
    ----------
    seed : int
    orphaned_fraction : float
        Share of the nodes that are orphaned, from the start to the end. [fraction]
    debug_fraction : float
        Share of the load that comes as debug jobs. [fraction]
    debug_first : bool
        Whether debug jobs go before all others; else they queue up, and full-machine jobs go first.

    Examples
    --------
    >>> schedule = trouble()
    >>> 0.85 < schedule.utilization(3 * 86400, 10 * 86400) < 1
    True
    """
    left = 1 - orphaned_fraction
    drawn = draw_workload(
        "early", nodes=_NODES, days=_DAYS, load=1.05 * left, rng=random.Random(seed), debug_fraction=debug_fraction
    )
    full = full_jobs(round(6100 * left), first_day=3, days=_DAYS)
    # A job that no longer fits on the remaining nodes would wait forever.
    room = _NODES - int(orphaned_fraction * _NODES)
    jobs = [job._replace(nodes=min(job.nodes, room)) for job in drawn]
    end_s, rules = _DAYS * _DAY, debug_queues(debug_first)
    orphans = [
        Downtime(start_s=0, end_s=end_s, first_node=0, last_node=last, kind="orphan")
        for last in (_NODES - room,)
        if last
    ]
    workload = Workload([*jobs, *full])
    return simulate(workload, _NODES, queues=rules, downtimes=orphans, until_s=end_s)


def large_job_wait_h(schedule: Schedule) -> float:
    """Mean wait of the full-machine jobs; one that has not started waits until the end. [h]

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


class Outcome(NamedTuple):
    """Results of ten days with one seed.

    Parameters
    ----------
    seed : int
    up, orphaned_up : float
        Utilization of up-time, and with two nodes of five orphaned. [fraction]
    wait_h, debug_wait_h, limited_wait_h : float
        Wait of the full-machine jobs without debug jobs, with these first, and with the queues adjusted. [h]
    small_wait_h : float
        Wait of the jobs below 683 nodes, without debug jobs. [h]
    """

    seed: int
    up: float
    orphaned_up: float
    wait_h: float
    debug_wait_h: float
    limited_wait_h: float
    small_wait_h: float


def outcome(seed: int) -> Outcome:
    """Return the results of ten days with a seed: four simulations.

    Examples
    --------
    >>> outcomes()[0].seed
    1
    """
    plain = trouble(seed)
    orphaned = trouble(seed, orphaned_fraction=_ORPHANED)
    small_s = [plain.wait_time_s(index) for index, job in enumerate(plain.workload) if job.nodes < 683]
    given = (
        plain.utilization(3 * _DAY, _DAYS * _DAY),
        orphaned.utilization(3 * _DAY, _DAYS * _DAY),
        large_job_wait_h(plain),
        large_job_wait_h(trouble(seed, debug_fraction=0.1)),
        large_job_wait_h(trouble(seed, debug_fraction=0.1, debug_first=False)),
        mean(wait for wait in small_s if wait is not None) / 3600,
    )
    return Outcome(seed, *(round(number, 4) for number in given))


@cache
def outcomes() -> tuple[Outcome, ...]:
    """Return the rows of ``data/troubled-days.csv``.

    Examples
    --------
    >>> len(outcomes())
    200
    """
    return tuple(
        Outcome(int(row["seed"]), *(float(row[name]) for name in Outcome._fields[1:]))
        for row in rows("troubled-days.csv")
    )


def _shares(holds: Callable[[Outcome], bool]) -> Shares:
    """Return with how many seeds a shape holds."""
    return Shares(sum(map(holds, outcomes())), len(outcomes()))


def chance_on_server(files: int) -> float:
    """Probability that a job with some files, each on the default number of OSTs, uses those of one given server. [0-1]

    Examples
    --------
    >>> round(chance_on_server(1), 3), round(chance_on_server(24), 2)
    (0.076, 0.85)
    """
    scratch = load_scratch()
    missed = 1.0
    for taken in range(scratch.default_stripe_count):
        missed *= 1 - scratch.osts_per_oss / (scratch.osts - taken)
    return 1 - missed**files


def _values() -> dict[str, Value]:
    up = mean(each.up for each in outcomes())
    hours = down_hours_a_week(up)
    return {
        "utilization": 100 * up * (1 - hours / 168),
        "down_hours": hours,
        "one_file": chance_on_server(1),
        "many_files": chance_on_server(24),
        "up_percent": 100 * up,
        "maintenance-is-major-loss": _shares(lambda each: 1 - _PRINTED / each.up > 1 - each.up),
        "debug-blocks-largest": _shares(lambda each: each.debug_wait_h > each.wait_h),
        "queues-adjusted": _shares(lambda each: each.limited_wait_h < each.debug_wait_h),
        "orphans-utilization": 100 * mean(each.orphaned_up for each in outcomes()),
        "orphaned_percent": 100 * _ORPHANED,
        "queue-is-biggest-challenge": _shares(lambda each: each.wait_h > each.small_wait_h),
    }


def _sums() -> dict[str, Value]:
    up = mean(each.up for each in outcomes())
    return {"hours_gone": 24 * (1 - printed("scheduling-trouble.utilization-after-oss-failure") / 100 / up)}


STUDY = Study("scheduling-trouble", _values, sums=_sums)


if __name__ == "__main__":
    with (data_folder() / "troubled-days.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(Outcome._fields)
        writer.writerows(map(outcome, _SEEDS))
