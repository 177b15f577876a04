"""Effect of a change at a date: waits before and after it, compared with the same jobs under the earlier rules.

Waits differ from week to week because jobs do. So the jobs after the date are simulated without the change; the effect
is how their waits differ from that, relative to the simulation's error before the date.
"""

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Workload
from hopperlib.student import t_quantile
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR, plain_number

# Fewer jobs with known starts on one side are not enough; the comparison is by week, and each side needs this many.
FEWEST, FEWEST_WEEKS = 100, 3
_WEEK_S = 7 * HOURS_PER_DAY * SECONDS_PER_HOUR
# Waits up to this are treated as equal; submissions are delayed by up to this in runs that estimate the schedule's
# noise. [s, s, runs]
_SMALL_S, _JITTER_S, _RUNS = 300, 6, 4


class Side(NamedTuple):
    """The jobs of one side of a date.

    Parameters
    ----------
    jobs : int
    weeks : int
        In which jobs were submitted.
    wait_s, simulated_s : float
        Mean wait as observed, and as the rules from before make it. [s]
    """

    jobs: int
    weeks: int
    wait_s: float
    simulated_s: float

    @property
    def factor(self) -> float:
        """Observed mean wait over the simulated one."""
        return (self.wait_s + _SMALL_S) / (self.simulated_s + _SMALL_S)


class BeforeAfter(NamedTuple):
    """Effect of a change at a date.

    Parameters
    ----------
    before, after : Side
    change : float
        Change in the wait of jobs after the date, relative to their wait without it. [fraction]
    low, high : float or None
        95 % interval, by how much weeks differ; None for too few weeks.
    noise : float
        Standard deviation of the change over runs with submissions up to five seconds later. [fraction]
    rules : Learned
        From before.
    """

    before: Side
    after: Side
    change: float
    low: float | None
    high: float | None
    noise: float
    rules: Learned


def before_after(
    workload: Workload, nodes: int | Cluster, clock: Clock, at_s: int, *, base: Learned | None = None
) -> BeforeAfter:
    """Compare waits before and after a date with a simulation under the earlier rules.

    Parameters
    ----------
    workload : Workload
        With observed starts.
    nodes : int or Cluster
        Of the machine.
    clock : Clock
    at_s : int
        The date, as a second of the log. [s]
    base : Learned or None
        Known settings of the scheduler.

    Raises
    ------
    InputError
        If fewer than 100 jobs with known starts were submitted on a side.

    Examples
    --------
    A job per hour on one node; from the second half on each waits ten minutes that no scheduler explains:

    >>> from hopperlib.scheduling.workload import Job
    >>> rows = [(n, 3600 * n, 600 * (n >= 1000)) for n in range(2000)]
    >>> log = Workload(Job(n, at, 1, 60, 60, observed_start_s=at + wait) for n, at, wait in rows)
    >>> found = before_after(log, 1, Clock(0), 3_600_000)
    >>> found.before.wait_s, found.after.wait_s, round(found.change, 1), found.low > 0
    (0.0, 600.0, 2.0, True)
    """
    nodes = plain_number(nodes)
    log = workload.of([job for job, start in enumerate(workload.observed_start_s) if start >= 0])
    sides = [[job for job, at in enumerate(log.arrival_s) if (at >= at_s) == after] for after in (False, True)]
    for side, jobs in zip(("before", "after"), sides, strict=True):
        if len(jobs) < FEWEST:
            raise InputError(
                f"{len(jobs):,} jobs with known starts were submitted {side} that date: {FEWEST} are needed on each side"
            )
    rules, _ = learn(log.of(sides[0]), nodes, clock, base=base)
    runs = [_waits(log, nodes, clock, rules, random.Random(seed) if seed else None) for seed in range(_RUNS)]
    observed = [float(max(0, start - at)) for start, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
    changes = [_change(observed, waits, sides) for waits in runs]
    mean = fmean(changes)
    noise = (sum((each - mean) ** 2 for each in changes) / (_RUNS - 1)) ** 0.5
    before, after = (_side(log, jobs, observed, runs[0]) for jobs in sides)
    low, high = _interval(log, sides, observed, runs[0], mean, noise)
    return BeforeAfter(before, after, math.expm1(mean), low, high, noise, rules)


def _waits(
    log: Workload, nodes: int | Cluster, clock: Clock, rules: Learned, jitter: random.Random | None
) -> list[float]:
    """Simulated wait of each job, optionally with submissions delayed by up to five seconds. [s]"""
    if jitter is None:
        jobs = log
    else:
        jobs = Workload(
            job._replace(job=number, eligible_time_s=log.arrival_s[number] + int(_JITTER_S * jitter.random()))
            for number, job in enumerate(log)
        )
        jobs.users = log.users
    schedule = rules.run(jobs, nodes, clock)
    waits = [float(max(0, start - at)) for start, at in zip(schedule.start_s, jobs.arrival_s, strict=True)]
    if jitter is None:
        return waits
    of = dict(zip(schedule.workload.job, waits, strict=True))
    return [of[number] for number in range(len(log))]


def _side(log: Workload, jobs: Sequence[int], observed: Sequence[float], simulated: Sequence[float]) -> Side:
    weeks = len({log.arrival_s[job] // _WEEK_S for job in jobs})
    return Side(len(jobs), weeks, fmean(observed[job] for job in jobs), fmean(simulated[job] for job in jobs))


def _change(observed: Sequence[float], simulated: Sequence[float], sides: Sequence[Sequence[int]]) -> float:
    """Logarithm of how much longer jobs after the date wait against the simulation than those before it."""
    before, after = (
        math.log((fmean(observed[job] for job in jobs) + _SMALL_S) / (fmean(simulated[job] for job in jobs) + _SMALL_S))
        for jobs in sides
    )
    return after - before


def _interval(
    log: Workload,
    sides: Sequence[Sequence[int]],
    observed: Sequence[float],
    simulated: Sequence[float],
    change: float,
    noise: float,
) -> tuple[float | None, float | None]:
    """95 % interval of the change by how much weeks differ, each left out in turn (a jackknife of blocks), and the noise."""
    weeks: list[dict[int, list[int]]] = []
    for jobs in sides:
        of_week: dict[int, list[int]] = {}
        for job in jobs:
            of_week.setdefault(log.arrival_s[job] // _WEEK_S, []).append(job)
        weeks.append(of_week)
    if min(map(len, weeks)) < FEWEST_WEEKS:
        return None, None
    variance = 0.0
    for number, of_week in enumerate(weeks):
        without = []
        for week in of_week:
            rest = [job for other, mine in of_week.items() if other != week for job in mine]
            both = [rest, sides[1]] if number == 0 else [sides[0], rest]
            without.append(_change(observed, simulated, both))
        mean, last = fmean(without), len(of_week) - 1
        variance += last / len(of_week) * sum((each - mean) ** 2 for each in without)
    off = t_quantile(0.975, min(map(len, weeks)) - 1) * math.hypot(variance**0.5, noise)
    return math.expm1(change - off), math.expm1(change + off)
