"""Two schedules of the same jobs: how much longer they wait in one, and how sure that is."""

import random
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from hopperlib.scheduling.logs.observed import by_group
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule

WEEK_S = 7 * 86_400
#: How often weeks are drawn anew to say how sure a difference is.
RESAMPLES = 1000
MIN_WEEKS = 8


_Week = TypeVar("_Week")


class GroupWaits(NamedTuple):
    """Mean waits of the jobs of a queue, or of all, in two schedules; None for one in which none started. [s]"""

    name: str
    jobs: int
    other_wait_mean_s: float | None
    wait_mean_s: float | None


class Compared(NamedTuple):
    """The difference of two schedules of the same jobs.

    Parameters
    ----------
    groups : list of GroupWaits
        Of each queue, and last of all jobs.
    weeks : int
        Weeks of submissions that could be resampled.
    difference_s : float
        Mean wait of the second less that of the first. [s]
    low_s, high_s : float or None
        Where 95 % of the resampled weeks have it; None for fewer than eight weeks. [s]
    """

    groups: list[GroupWaits]
    weeks: int
    difference_s: float
    low_s: float | None
    high_s: float | None

    @property
    def is_significant(self) -> bool:
        """Whether the resampled weeks lie on one side."""
        return self.low_s is not None and self.high_s is not None and (self.low_s > 0 or self.high_s < 0)


def compare(other: Schedule, schedule: Schedule) -> Compared:
    """Return how a schedule compares with another of the same workload.

    Waits of neighboring jobs depend on each other, so whole weeks of submissions are resampled (a block bootstrap).

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> compared = compare(simulate(jobs, 10, policy="fcfs"), simulate(jobs, 10))
    >>> round(compared.difference_s, 1), compared.weeks, compared.low_s
    (-49.3, 1, None)
    """
    weeks = _weekly(other, schedule)
    low_s, high_s = difference_range(weeks) if enough_weeks(len(weeks)) else (None, None)
    groups = [
        GroupWaits(
            now.name,
            now.jobs,
            before.simulated.wait_mean_s if before.simulated else None,
            now.simulated.wait_mean_s if now.simulated else None,
        )
        for before, now in zip(by_group(other), by_group(schedule), strict=True)
    ]
    return Compared(groups, len(weeks), _mean(weeks), low_s, high_s)


def _weekly(other: Schedule, schedule: Schedule) -> list[tuple[int, int]]:
    """Return for each week of submissions the sum of the differences, and of how many jobs."""
    weeks: dict[int, tuple[int, int]] = {}
    for job, (now, before) in enumerate(zip(schedule.status, other.status, strict=True)):
        if NOT_STARTED not in (now, before):
            week = schedule.workload.submit_time_s[job] // WEEK_S
            total, jobs = weeks.get(week, (0, 0))
            weeks[week] = total + schedule.start_s[job] - other.start_s[job], jobs + 1
    return list(weeks.values())


def _mean(weeks: Sequence[tuple[int, int]]) -> float:
    """Return the mean difference of a job. [s]"""
    return sum(total for total, _ in weeks) / max(1, sum(jobs for _, jobs in weeks))


def enough_weeks(weeks: int) -> bool:
    """Whether that many weeks can be resampled: fewer do not show how much weeks differ.

    Examples
    --------
    >>> enough_weeks(7), enough_weeks(8)
    (False, True)
    """
    return weeks >= MIN_WEEKS


def resampled(weeks: Sequence[_Week], rng: random.Random, times: int) -> Iterator[list[_Week]]:
    """Yield as many weeks, drawn anew with replacement, that many times.

    Examples
    --------
    >>> [len(drawn) for drawn in resampled(["first", "second"], random.Random(1), 3)]
    [2, 2, 2]
    """
    for _ in range(times):
        yield [weeks[int(rng.random() * len(weeks))] for _ in weeks]


def quantile_range(values: Sequence[float], weeks: int) -> tuple[float, float]:
    """Return the interval at 95 % of what that many resampled weeks gave.

    The middle 95 % of a few weeks drawn anew hold too little: the spread of weeks is that of a sample. So it reaches
    as far out as Student's t does, by the "expanded percentile interval" [1]_.

    Examples
    --------
    >>> quantile_range(range(1001), 1000), quantile_range(range(1001), 8)
    ((24, 976), (5, 995))

    References
    ----------
    .. [1] T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015), sec. 3.3.
    """
    z, free = NormalDist().inv_cdf(0.975), weeks - 1
    # Student's t from the normal distribution: Abramowitz and Stegun, 26.7.5, its first two terms.
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    outside = NormalDist().cdf(-t * (weeks / free) ** 0.5)
    ordered = sorted(values)
    place = int(outside * (len(ordered) - 1))
    return ordered[place], ordered[len(ordered) - 1 - place]


def difference_range(weeks: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the interval of the mean difference of a job, by weeks drawn anew. [s]

    Examples
    --------
    >>> difference_range([(60, 1)] * 8)
    (60.0, 60.0)
    """
    return quantile_range([_mean(drawn) for drawn in resampled(weeks, random.Random(1), RESAMPLES)], len(weeks))
