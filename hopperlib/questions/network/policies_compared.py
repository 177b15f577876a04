"""Two schedules of one trace side by side: how much longer jobs wait, and how sure that is over resampled weeks."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from hopperlib.finding import Finding
from hopperlib.network.scheduling.observed import by_group
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.questions.result import Column, Table

__all__ = ["Compared", "against"]

_WEEK_S = 7 * 86_400
_RESAMPLES, _FEWEST_WEEKS = 1000, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: getattr(self, name) for name in ("groups", "weeks", "difference_s", "low_s", "high_s")}

    def finding(self) -> Finding:
        """Return it as a sentence."""
        side = "longer" if self.difference_s > 0 else "shorter"
        message = f"Under the policy simulated jobs wait {abs(self.difference_s):,.0f} s {side} on average than under the other"
        if self.low_s is None or self.high_s is None:
            return Finding(
                code="against",
                message=f"{message}; {self.weeks} weeks are too few to say how sure that is.",
                level="unknown",
            )
        message += (
            f" (95 % of {_RESAMPLES:,} resamples of {self.weeks} weeks: {self.low_s:+,.0f} to {self.high_s:+,.0f} s)"
        )
        sure = self.low_s > 0 or self.high_s < 0
        return Finding(
            code="against",
            message=f"{message}{'' if sure else ': which is shorter cannot be told'}.",
            level="advice" if sure else "unknown",
        )

    def table(self) -> Table:
        """Return the waits of each queue in both."""
        columns = (
            Column("Queue"),
            Column("Jobs"),
            Column("Mean wait, other policy", "s", 0),
            Column("Mean wait", "s", 0),
        )
        rows = [
            (group["name"], group["jobs"], group["other_wait_mean_s"], group["wait_mean_s"]) for group in self.groups
        ]
        return Table(caption="Two policies side by side, simulated", columns=columns, rows=rows)


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
        for _ in range(_RESAMPLES):
            drawn = [sums[int(rng.random() * len(sums))] for _ in sums]
            means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
        means.sort()
        low, high = means[round(0.025 * _RESAMPLES)], means[round(0.975 * _RESAMPLES) - 1]
    pairs = zip(by_group(other), by_group(schedule), strict=True)
    groups = [
        {
            "name": now.name,
            "jobs": now.jobs,
            "other_wait_mean_s": before.simulated.wait_mean_s if before.simulated else None,
            "wait_mean_s": now.simulated.wait_mean_s if now.simulated else None,
        }
        for before, now in pairs
    ]
    return Compared(groups=groups, weeks=len(sums), difference_s=difference, low_s=low, high_s=high)
