"""Evidence about a log's scheduler, and the rank correlation of waits under given rules."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import ge
from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import WEEK, Clock, ClosedHours
from hopperkit.traces.rules.correlation import rank_correlation
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Workload
from hopperlib.units import SECONDS_PER_HOUR

# A job that waited less did not wait: schedulers run no more often.
NO_WAIT_S = 60
# More jobs than that number of the last are not looked at: a site's rules change, and the simulations take time.
_MOST, _MOST_SHARING = 8_000, 2_000
# A rule is kept if the rank correlation with observed waits rises by this much and falls in neither half of the log.
# Below the second value, the simulation does not predict these waits.
_GAIN, _LEAST = 0.01, 0.1
# If this many more waiting jobs start as simulated, and no fewer in either half, correlations of the halves are
# ignored: one early difference between schedules can reverse them.
_MORE_EXACT = 0.1


def learned_from(workload: Workload, nodes: int | Cluster) -> int:
    """Number of jobs that rules are learned from: the last ones, as a site's rules change.

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.

    Examples
    --------
    >>> learned_from(Workload(), 4)
    0
    """
    return min(len(workload), _MOST if isinstance(nodes, int) else _MOST_SHARING)


class _Fit(NamedTuple):
    """Simulated compared with observed waits: rank correlation of all jobs and of each half of the log, the share of
    the jobs that waited that start within a minute of their simulation in each half, and the mean absolute error. [s]
    """

    correlations: list[float]
    exact: list[float]
    error_s: float


class Evidence:
    """Evidence about a log's scheduler, and the rank correlation of waits under given rules."""

    def __init__(self, workload: Workload, nodes: int | Cluster, clock: Clock) -> None:
        most = _MOST if isinstance(nodes, int) else _MOST_SHARING
        rows = [job for job, start in enumerate(workload.observed_start_s) if start >= 0][-most:]
        self.workload, self.nodes, self.clock = workload.of(rows), nodes, clock
        arrivals, starts = self.workload.arrival_s, self.workload.observed_start_s
        self.waits = [max(0, start - arrival) for start, arrival in zip(starts, arrivals, strict=True)]
        self.waited = [job for job, wait in enumerate(self.waits) if wait >= NO_WAIT_S]
        self._fits: dict[Learned, _Fit] = {}

    def _fit(self, rules: Learned) -> _Fit:
        """Return the fit of rules to the log, which is simulated once."""
        if rules not in self._fits:
            schedule = rules.run(self.workload, self.nodes, self.clock)
            arrivals, half = self.workload.arrival_s, len(self.workload) // 2
            simulated = [max(0, start - at) for start, at in zip(schedule.start_s, arrivals, strict=True)]
            parts = (slice(None), slice(half), slice(half, None))
            met = [abs(simulated[job] - self.waits[job]) < NO_WAIT_S for job in self.waited]
            middle = bisect_left(self.waited, half)
            self._fits[rules] = _Fit(
                [rank_correlation(simulated[part], self.waits[part]) for part in parts],
                [sum(part) / max(1, len(part)) for part in (met[:middle], met[middle:])],
                sum(abs(predicted - seen) for predicted, seen in zip(simulated, self.waits, strict=True))
                / max(1, len(met)),
            )
        return self._fits[rules]

    def fit(self, rules: Learned) -> float:
        """Return the rank correlation of simulated with observed waits."""
        return self._fit(rules).correlations[0]

    def error_s(self, rules: Learned) -> float:
        """Return the absolute error of simulated waits, over the jobs that waited. [s]"""
        return self._fit(rules).error_s

    def kept(self, before: Learned, after: Learned) -> bool:
        """Whether rules explain the waits better than those before."""
        return self.fit(after) >= max(_LEAST, self.fit(before) + _GAIN)

    def better(self, before: Learned, after: Learned) -> bool:
        """Whether they do so in both halves of the log too, by the order of the waits or by the starts that they meet."""
        was, now = self._fit(before), self._fit(after)
        more = [met - of_before for met, of_before in zip(now.exact, was.exact, strict=True)]
        return self.kept(before, after) and (
            all(map(ge, now.correlations, was.correlations)) or (min(more) >= 0 and sum(more) >= 2 * _MORE_EXACT)
        )

    @cached_property
    def licences(self) -> dict[str, dict[int, int]]:
        """How many of each licence jobs hold."""
        return self.workload.licences()

    @cached_property
    def start_hours(self) -> list[int]:
        """The hour of the week in which each job started."""
        return [self.clock.of_week(self.clock.hour(start)) for start in self.workload.observed_start_s]

    def rhythm(self, over_hours: int) -> tuple[list[float], list[float]]:
        """Return for each hour of the week the starts of those that waited, and for how many hours jobs waited in it."""
        limits, starts, hour = self.workload.requested_time_s, self.workload.observed_start_s, self.clock.hour
        members = [job for job in self.waited if limits[job] > over_hours * SECONDS_PER_HOUR]
        begun, waiting = [0.0] * WEEK, [0.0] * WEEK
        changes: Counter[int] = Counter()
        for job in members:
            begun[self.start_hours[job]] += 1
            changes[hour(self.workload.arrival_s[job])] += 1
            changes[hour(starts[job]) + 1] -= 1
        if changes:
            first, last = min(changes), max(changes)
            for at, jobs in enumerate(accumulate(changes[n] for n in range(first, last + 1)), start=first):
                waiting[self.clock.of_week(at)] += jobs
        return begun, waiting

    def contradicting(self, rule: ClosedHours) -> float:
        """Return the share of a class's starts in hours that are closed to it."""
        limits = self.workload.requested_time_s
        members = [job for job in range(len(limits)) if limits[job] > rule.over_hours * SECONDS_PER_HOUR]
        return sum(rule.holds(self.start_hours[job]) for job in members) / max(1, len(members))

    def levels(self, limit: Limit) -> Iterator[tuple[int, int, int]]:
        """Yield of each job that a limit may hold for: the job, whom it counts for, and what of it runs once it has started."""
        workload = self.workload
        starts, runs = workload.observed_start_s, workload.run_time_s
        amount: Sequence[int] | dict[int, int] = workload.nodes if limit.nodes is not None else [1] * len(workload)
        column: Sequence[int] = [0] * len(workload)
        if limit.per == "licence":
            amount = self.licences[limit.of]
            members = set(amount)
        else:
            column, of = workload.group(limit.per, limit.of)
            members = {job for job, who in enumerate(column) if of is None or who == of}
        # Ends before starts at one instant.
        events = sorted(
            event for job in members for event in ((starts[job] + runs[job], 0, job), (starts[job], 1, job))
        )
        running: Counter[int] = Counter()
        for _, begins, job in events:
            if runs[job]:
                running[column[job]] += amount[job] if begins else -amount[job]
            if begins:
                yield job, column[job], running[column[job]]
