"""Predicted effect of a change of the machine or its rules on the waits of a log, with its uncertainty.

The log is simulated with and without the change, under the rules learned from it. Schedules are chaotic: a submission
that comes a second later moves the mean wait by percents where jobs are few. Both are therefore simulated several times
with submissions delayed by up to five seconds; the spread of the difference is the schedule's noise.

The interval of the difference has two more parts: weeks of submissions differ, and the predicted change may be wrong by
as much as the simulation without it, in either direction.
"""

import random
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from hopperkit.traces.backtest import limit_classes
from hopperkit.traces.changes.intervals import WEEK_S, chaos_band, difference_range, weekly, with_chaos
from hopperkit.traces.changes.scenario import Scenario, simulated_waits
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperlib.errors import InputError
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.units import plain_number

# Waits over shorter runs than this would count without end [s]: the usual bound of the bounded slowdown.
_SHORT_RUN_S = 10
# Runs for the schedule's noise; fewer for long logs, which average much of it out. [runs, runs, jobs]
_FEWEST_RUNS, _MOST_RUNS, _JOBS_OF_RUNS = 3, 12, 30_000


class ClassWaits(NamedTuple):
    """Mean waits of a class of jobs before and after a change. [s]"""

    name: str
    jobs: int
    before_s: float
    after_s: float


class Effect(NamedTuple):
    """Effect of a change.

    Parameters
    ----------
    scenario : Scenario
    wait_s : float
        Mean wait of a job in the simulation with the change. [s]
    difference : float
        Of the mean wait, as a part of that without the change.
    noise : float
        Standard deviation of the difference over runs with submissions up to five seconds later.
    chaos : (float, float)
        95 % range of the difference of two schedules due to noise.
    low, high : float or None
        The interval that should hold 95 % of truths; None for fewer than eight weeks.
    use : float
        Node-seconds of jobs as a fraction of the machine's, from the first to the last submission.
    fairness : float
        Jain's index of the users' mean bounded slowdowns: 1 if all are equal, 1 / users if one user has all of it.
    classes : tuple of ClassWaits
        By limit.
    """

    scenario: Scenario
    wait_s: float
    difference: float
    noise: float
    chaos: tuple[float, float]
    low: float | None
    high: float | None
    use: float
    fairness: float
    classes: tuple[ClassWaits, ...]

    @property
    def is_seen(self) -> bool:
        """Whether the difference is larger than the noise of the schedule."""
        return self.chaos[0] > 0 or self.chaos[1] < 0


class WhatIf(NamedTuple):
    """Changes compared.

    Parameters
    ----------
    observed_s, simulated_s : float
        Mean wait of the log, and of its simulation without the change. [s]
    use, fairness : float
        For the simulation without the change.
    weeks : int
    effects : tuple of Effect
    runs : int
        Simulations of each, with submissions up to five seconds later.
    wait_noise : float
        Standard deviation of the mean wait over these, as a part of it.
    """

    observed_s: float
    simulated_s: float
    use: float
    fairness: float
    weeks: int
    effects: tuple[Effect, ...]
    runs: int = 0
    wait_noise: float = 0.0


def what_if(
    workload: Workload,
    nodes: int | Cluster,
    clock: Clock,
    rules: Learned,
    scenarios: Sequence[Scenario],
) -> WhatIf:
    """Predict the effect of changes on the waits of a log.

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.
    clock : Clock
        Clock of the log.
    rules : Learned
        The rules.
    scenarios : sequence of Scenario
        The changes.

    Raises
    ------
    InputError
        If the log has no start times.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> rows = [(1, 0, 2, 60, 60, 0), (2, 0, 2, 60, 60, 60)]
    >>> log = Workload(Job(*row[:5], observed_start_s=row[5]) for row in rows)
    >>> found = what_if(log, 2, Clock(0), Learned(), [Scenario(name="more", nodes=4)])
    >>> found.observed_s, found.effects[0].difference, found.effects[0].low
    (30.0, -1.0, None)
    """
    nodes = plain_number(nodes)
    rows = [job for job, start in enumerate(workload.observed_start_s) if start >= 0]
    if not rows:
        raise InputError("this log has no start times: no simulation of it can be judged")
    log = workload.of(rows)
    observed = [max(0, start - at) for start, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
    as_it_is = Scenario(name="as it is")
    before, schedule = simulated_waits(log, nodes, clock, rules, as_it_is)
    runs = max(_FEWEST_RUNS, min(_MOST_RUNS, _JOBS_OF_RUNS // len(log)))
    means = [fmean(before), *_jittered_means(log, nodes, clock, rules, as_it_is, runs - 1)]
    span = log.arrival_s[0], log.arrival_s[-1] + 1
    effects = []
    for scenario in scenarios:
        after, changed = simulated_waits(log, nodes, clock, rules, scenario)
        changes = [fmean(after), *_jittered_means(log, nodes, clock, rules, scenario, runs - 1)]
        ratios = [after_s / before_s - 1 if before_s else 0.0 for before_s, after_s in zip(means, changes, strict=True)]
        noise, chaos = chaos_band(ratios)
        low, high = with_chaos(difference_range(weekly(log, observed, before, after)), chaos)
        classes = tuple(
            ClassWaits(name, len(jobs), fmean(before[job] for job in jobs), fmean(after[job] for job in jobs))
            for name, jobs in limit_classes(log)
        )
        effects.append(
            Effect(
                scenario,
                fmean(after),
                fmean(ratios),
                noise,
                chaos,
                low,
                high,
                _use(changed, span, scenario.room(nodes)),
                _fairness(log, after),
                classes,
            )
        )
    weeks = len({at // WEEK_S for at in log.arrival_s})
    use = _use(schedule, span, nodes)
    mean_s = fmean(means)
    wait_noise = stdev(means) / mean_s if mean_s else 0.0
    return WhatIf(fmean(observed), fmean(before), use, _fairness(log, before), weeks, tuple(effects), runs, wait_noise)


def _jittered_means(
    log: Workload, nodes: int | Cluster, clock: Clock, rules: Learned, scenario: Scenario, runs: int
) -> list[float]:
    """Mean wait of each of several simulations with submissions up to five seconds later. [s]"""
    seeds = (random.Random(seed) for seed in range(runs))
    return [fmean(simulated_waits(log, nodes, clock, rules, scenario, jitter)[0]) for jitter in seeds]


def _use(schedule: Schedule, span: tuple[int, int], machine: int | Cluster) -> float:
    """Return the used part of a machine in a span: of its nodes, or of its cores where jobs share nodes."""
    if isinstance(machine, int) or not (cores := sum(node.cores for node in machine.nodes)):
        return schedule.utilization(*span)
    ends = zip(schedule.start_s, schedule.end_s, schedule.workload.cores, strict=True)
    used = sum(held * max(0, min(end, span[1]) - max(start, span[0])) for start, end, held in ends)
    return used / (cores * (span[1] - span[0]))


def _fairness(log: Workload, waits: Sequence[int]) -> float:
    """Return Jain's index of the users' mean bounded slowdowns."""
    of_user: dict[int, list[float]] = {}
    for user, wait, run in zip(log.user, waits, log.run_time_s, strict=True):
        of_user.setdefault(user, []).append(max(1.0, (wait + run) / max(run, _SHORT_RUN_S)))
    means = [fmean(slowdowns) for slowdowns in of_user.values()]
    return sum(means) ** 2 / (len(means) * sum(mean * mean for mean in means))
