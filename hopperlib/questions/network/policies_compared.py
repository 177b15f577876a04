"""Two schedules of one trace side by side: how much longer jobs wait, and how sure that is over resampled weeks."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from hopperlib.network.scheduling.observed import by_group
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule

__all__ = ["RESAMPLES", "Compared", "against"]

_WEEK_S = 7 * 86_400
#: So many times weeks are drawn anew.
RESAMPLES = 1000
_FEWEST_WEEKS = 4


class Compared(NamedTuple):
    """The difference of two schedules of the same jobs.

    Parameters
    ----------
    groups : list of dict
        Of each queue and of all: its name, its jobs, and its mean waits in both.
    weeks : int
        Weeks of submissions that could be resampled.
    difference_s : float
        Mean wait of the second less that of the first. [s]
    low_s, high_s : float or None
        Where 95 % of the resampled weeks have it; None for fewer than four weeks. [s]
    """

    groups: list[dict[str, Any]]
    weeks: int
    difference_s: float
    low_s: float | None
    high_s: float | None

    @property
    def sure(self) -> bool:
        """Whether the resampled weeks lie on one side."""
        return self.low_s is not None and self.high_s is not None and (self.low_s > 0 or self.high_s < 0)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The waits of each queue in both."""
        return [tuple(group.values()) for group in self.groups]


def against(other: Schedule, schedule: Schedule) -> Compared:
    """Return how a schedule compares with another of the same workload.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> compared = against(simulate(jobs, 10, policy="fcfs"), simulate(jobs, 10))
    >>> round(compared.difference_s, 1), compared.weeks, compared.low_s
    (-49.3, 1, None)
    """
    workload = schedule.workload
    weeks: dict[int, list[int]] = {}
    for job, (now, before) in enumerate(zip(schedule.status, other.status, strict=True)):
        if NOT_STARTED not in (now, before):
            week = weeks.setdefault(workload.submit_time_s[job] // _WEEK_S, [0, 0])
            week[0] += schedule.start_s[job] - other.start_s[job]
            week[1] += 1
    sums = list(weeks.values())
    difference = sum(total for total, _ in sums) / max(1, sum(count for _, count in sums))
    low = high = None
    if len(sums) >= _FEWEST_WEEKS:
        rng = random.Random(1)
        means = []
        for _ in range(RESAMPLES):
            drawn = [sums[int(rng.random() * len(sums))] for _ in sums]
            means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
        means.sort()
        low, high = means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]
    groups = [
        {
            "name": now.name,
            "jobs": now.jobs,
            "other_wait_mean_s": getattr(before.simulated, "wait_mean_s", None),
            "wait_mean_s": getattr(now.simulated, "wait_mean_s", None),
        }
        for before, now in zip(by_group(other), by_group(schedule), strict=True)
    ]
    return Compared(groups, len(sums), difference, low, high)
