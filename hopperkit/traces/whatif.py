"""What a change of the machine or its rules would do to the waits of a log, and how sure that is.

The log is simulated as it is and with the change, both under the rules that were learned from it. Schedules are chaotic:
a submission that comes a second later moves the mean wait by percents where jobs are few. So both are simulated several
times, with submissions up to five seconds later, and the spread of the difference is the schedule's own noise.

The interval of the difference has two parts more: weeks of submissions differ, and the change may be wrong by as much as
the simulation of the log as it is was wrong, in either direction.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean, stdev
from typing import NamedTuple

from hopperkit.traces.backtest import limit_classes
from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand
from hopperkit.traces.learned import Clock, Learned
from hopperkit.traces.scheduler import infeasible_jobs, simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.student import t_quantile
from hopperlib.units import plain_number

# The pieces of a job queue again when the piece before has ended, which is known after a simulation only: each one
# begins with what the one before told.
_PASSES = 3
# Waits over shorter runs than this would count without end [s]: the usual bound of the bounded slowdown.
_SHORT_RUN_S = 10
WEEK_S = 7 * 86_400
# Fewer do not show how much weeks differ.
MIN_WEEKS = 8
# Submissions come up to so much later in runs that show a schedule's own noise; so many runs, fewer of long logs, in which
# much evens out. [s, runs, runs, jobs]
_JITTER_S, _FEWEST_RUNS, _MOST_RUNS, _JOBS_OF_RUNS = 6, 3, 12, 30_000
# How far the interval follows weeks that wait more.
_BEYOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A change of the machine or of its rules.

    Parameters
    ----------
    name : str
    nodes : int or None
        Of the machine; None as it is.
    max_walltime_s : int or None
        Longest limit: jobs that ask for more come as several, each of which queues when the one before has ended. [s]
    split : (int, int) or None
        Jobs with limits up to that many seconds have that many nodes of their own; the others have the rest. A job that is
        wider than its side has the other one, and one that is wider than both has nodes of both.
    downtimes : tuple of Downtime
    depth : int or None
        Of backfill.
    shared_cores : int
        Cores of a node that jobs share; 0 for whole nodes.
    preferred : (str, str) or None
        "user", "account", "qos" or "queue", and the one whose jobs go before all others.
    merged : bool
        Whether all partitions become one.
    """

    name: str
    nodes: int | None = None
    max_walltime_s: int | None = None
    split: tuple[int, int] | None = None
    downtimes: tuple[Downtime, ...] = ()
    depth: int | None = None
    shared_cores: int = 0
    preferred: tuple[str, str] | None = None
    merged: bool = False

    def room(self, machine: int | Cluster, jobs: Sequence[Job] = ()) -> int | Cluster:
        """Return what to schedule on, of a machine, for jobs as they come under this change."""
        count = self.nodes or _count(machine)
        like = NodeResources(cores=self.shared_cores) if isinstance(machine, int) else machine.nodes[-1]
        before = () if isinstance(machine, int) else machine.nodes[:count]
        nodes = before + (like,) * (count - len(before))
        exclusive = isinstance(machine, int) and not self.shared_cores
        if self.split:
            first = self.split[1]
            if not 0 < first < count:
                raise InputError(f"a split must leave nodes on both sides: {first} of {count:,}")
            parts = {"short": tuple(range(first)), "long": tuple(range(first, count))}
            if any(job.queue == "both" for job in jobs):
                parts["both"] = tuple(range(count))
        elif not isinstance(machine, int) and self.merged:
            parts = {"": tuple(range(count))}
            exclusive = all(partition.exclusive for partition in machine.partitions.values())
        elif not isinstance(machine, int):
            exclusive = all(partition.exclusive for partition in machine.partitions.values())
            added = tuple(range(len(machine.nodes), count))
            parts = {
                name: tuple(node for node in mine.nodes if node < count) + added
                for name, mine in machine.partitions.items()
            }
        elif self.shared_cores:
            parts = {"": tuple(range(count))}
        else:
            return count
        partitions = {name: Partition(nodes=mine, exclusive=exclusive) for name, mine in parts.items()}
        return Cluster(nodes=nodes, partitions=partitions)

    def side(self, job: Job, nodes: int) -> str:
        """Return the side of the split that a job has, of a machine with that many nodes; without a split its queue."""
        if not self.split:
            return "" if self.merged else job.queue
        limit_s, first = self.split
        sides = [("short", first), ("long", nodes - first)]
        if job.requested_time_s > limit_s:
            sides.reverse()
        return next((name for name, room in sides if job.nodes <= room), "both")

    def jobs(self, workload: Workload, machine: int | Cluster) -> tuple[list[Job], list[int]]:
        """Return the jobs of a log as they come under this change, and beside each its index in the log."""
        jobs, origins = [], []
        for index, job in enumerate(workload):
            asked = job._replace(queue=self.side(job, self.nodes or _count(machine)))
            asked = asked._replace(memory_mb=0, gpus=0) if isinstance(machine, int) else asked
            pieces = _pieces(asked, self.max_walltime_s)
            jobs += pieces
            origins += [index] * len(pieces)
        return jobs, origins


def _count(machine: int | Cluster) -> int:
    """Return the nodes of a machine."""
    return machine if isinstance(machine, int) else len(machine.nodes)


def _pieces(job: Job, most_s: int | None) -> list[Job]:
    """Return a job as the several that a shorter limit makes of it."""
    if most_s is None or job.requested_time_s <= most_s:
        return [job]
    runs = [most_s] * (job.run_time_s // most_s) + [job.run_time_s % most_s]
    return [job._replace(run_time_s=run, requested_time_s=most_s) for run in runs if run or len(runs) == 1]


def simulated_waits(
    workload: Workload,
    nodes: int | Cluster,
    clock: Clock,
    rules: Learned,
    scenario: Scenario,
    jitter: random.Random | None = None,
) -> tuple[list[int], Schedule]:
    """Return how long each job of a log waits under a change, all its pieces together, and the schedule. [s]

    With `jitter`, submissions come up to five seconds later.

    Raises
    ------
    InputError
        If a job does not fit.

    Examples
    --------
    >>> jobs = Workload([Job(1, 0, 2, 60, 60), Job(2, 0, 2, 60, 60)])
    >>> simulated_waits(jobs, 2, Clock(0), Learned(), Scenario(name="as it is"))[0]
    [0, 60]
    >>> simulated_waits(jobs, 2, Clock(0), Learned(), Scenario(name="more", nodes=4))[0]
    [0, 0]
    """
    nodes = plain_number(nodes)
    jobs, origins = scenario.jobs(workload, nodes)
    room = scenario.room(nodes, jobs)
    settings = rules.settings(workload, scenario.nodes or _count(nodes), clock)
    settings["downtimes"] += scenario.downtimes
    if scenario.depth is not None:
        settings["policy"] = str(scenario.depth)
    if wide := infeasible_jobs(as_asked := Workload(jobs), room):
        first = as_asked[wide[0]]
        others = f" and {len(wide) - 1:,} more find" if len(wide) > 1 else " finds"
        raise InputError(f"{scenario.name}: job {first.job}, of nodes={first.nodes},{others} no room any more")
    if scenario.preferred:
        settings["rules"] = replace(settings["rules"], first=scenario.preferred)
    late = [int(_JITTER_S * jitter.random()) if jitter else 0 for _ in workload]
    arrivals = [
        max(job.submit_time_s, job.eligible_time_s or 0) + late[origin]
        for job, origin in zip(jobs, origins, strict=True)
    ]
    passes = _PASSES if len(jobs) > len(workload) else 1
    for _ in range(passes):
        numbered = Workload(job._replace(job=at, eligible_time_s=arrivals[at]) for at, job in enumerate(jobs))
        numbered.users = workload.users
        schedule = simulate(numbered, room, **settings)
        place = {number: index for index, number in enumerate(schedule.workload.job)}
        for at in range(1, len(jobs)):
            if origins[at] == origins[at - 1]:
                arrivals[at] = schedule.end_s[place[at - 1]]
    waits = [0] * len(workload)
    for at, origin in enumerate(origins):
        if schedule.status[place[at]] == NOT_STARTED:
            raise InputError(f"{scenario.name}: job {jobs[at].job} never starts")
        waits[origin] += max(0, schedule.start_s[place[at]] - schedule.workload.arrival_s[place[at]])
    return waits, schedule


class ClassWaits(NamedTuple):
    """Mean waits of a class of jobs before and after a change. [s]"""

    name: str
    jobs: int
    before_s: float
    after_s: float


class Effect(NamedTuple):
    """What a change does.

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
        Within what the difference of two schedules lies in 95 % of cases, by that noise alone.
    low, high : float or None
        The interval that should hold 95 % of truths; None for fewer than eight weeks.
    use : float
        Node-seconds of jobs over those of the machine, from the first to the last submission.
    fairness : float
        Jain's index of the users' mean bounded slowdowns: 1 where all are alike, 1 / users where one bears all.
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
    """Changes side by side.

    Parameters
    ----------
    observed_s, simulated_s : float
        Mean wait of the log, and of its simulation as it is. [s]
    use, fairness : float
        Of the simulation as it is.
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
    """Return what changes would do to the waits of a log.

    Examples
    --------
    >>> rows = [(1, 0, 2, 60, 60, 0), (2, 0, 2, 60, 60, 60)]
    >>> log = Workload(Job(*row[:5], observed_start_s=row[5]) for row in rows)
    >>> found = what_if(log, 2, Clock(0), Learned(), [Scenario(name="more", nodes=4)])
    >>> found.observed_s, found.effects[0].difference, found.effects[0].low
    (30.0, -1.0, None)
    """
    nodes = plain_number(nodes)
    rows = [job for job, start in enumerate(workload.observed_start_s) if start >= 0]
    if not rows:
        raise InputError("this log tells no starts: no simulation of it can be judged")
    log = workload.of(rows)
    observed = [max(0, start - at) for start, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
    as_it_is = Scenario(name="as it is")
    before, schedule = simulated_waits(log, nodes, clock, rules, as_it_is)
    runs = max(_FEWEST_RUNS, min(_MOST_RUNS, _JOBS_OF_RUNS // len(log)))
    means = _jittered_means(log, nodes, clock, rules, as_it_is, runs)
    span = log.arrival_s[0], log.arrival_s[-1] + 1
    effects = []
    for scenario in scenarios:
        after, changed = simulated_waits(log, nodes, clock, rules, scenario)
        changes = _jittered_means(log, nodes, clock, rules, scenario, runs)
        ratios = [after_s / before_s - 1 if before_s else 0.0 for before_s, after_s in zip(means, changes, strict=True)]
        noise, chaos = chaos_band(ratios)
        low, high = _with_chaos(difference_range(_weekly(log, observed, before, after)), chaos)
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
    """Return the mean wait of each of several simulations whose submissions come up to five seconds later. [s]"""
    seeds = (random.Random(seed) for seed in range(runs))
    return [fmean(simulated_waits(log, nodes, clock, rules, scenario, jitter)[0]) for jitter in seeds]


def chaos_band(differences: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Return the standard deviation of a difference over runs, and within what another run lies in 95 % of cases.

    Examples
    --------
    Student's t is 4.303 for three runs, and another run differs from their mean by the root of 1 + 1/3 more:

    >>> noise, (low, high) = chaos_band([0.1, 0.2, 0.3])
    >>> round(noise, 3), round(low, 3), round(high, 3)
    (0.1, -0.297, 0.697)
    """
    noise, middle, runs = stdev(differences), fmean(differences), len(differences)
    off = t_quantile(0.975, runs - 1) * noise * (1 + 1 / runs) ** 0.5
    return noise, (max(-1.0, middle - off), middle + off)


def _with_chaos(
    weekly: tuple[float | None, float | None], chaos: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Return the interval of weeks and misfit, made wider by the schedule's noise."""
    if weekly[0] is None or weekly[1] is None:
        return weekly
    middle, off = (weekly[0] + weekly[1]) / 2, (chaos[1] - chaos[0]) / 2
    wide = math.hypot((weekly[1] - weekly[0]) / 2, off)
    return max(-1.0, middle - wide), middle + wide


def _use(schedule: Schedule, span: tuple[int, int], machine: int | Cluster) -> float:
    """Return the used part of a machine in a span: of its nodes, or of its cores where jobs share nodes."""
    if isinstance(machine, int) or not (cores := sum(node.cores for node in machine.nodes)):
        return schedule.utilization(*span)
    ends = zip(schedule.start_s, schedule.end_s, schedule.workload.cores, strict=True)
    used = sum(held * max(0, min(end, span[1]) - max(start, span[0])) for start, end, held in ends)
    return used / (cores * (span[1] - span[0]))


def _weekly(
    log: Workload, observed: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Return of each week of submissions how much the change adds to the waits, the waits without it, and their misfit."""
    weeks: dict[int, tuple[int, int, int]] = {}
    for at, seen, was, now in zip(log.arrival_s, observed, before, after, strict=True):
        changed, waited, misfit = weeks.get(at // WEEK_S, (0, 0, 0))
        weeks[at // WEEK_S] = changed + now - was, waited + was, misfit + was - seen
    return list(weeks.values())


def difference_range(weeks: Sequence[tuple[int, int, int]]) -> tuple[float | None, float | None]:
    """Return the interval of a relative difference of waits at 95 %; None for fewer than eight weeks.

    Waits of neighboring jobs depend on each other, so whole weeks are left out, one after the other (a jackknife of
    blocks). Few weeks hold most of the waiting, so Student's t has as many degrees of freedom as weeks that count (Kish).
    A sample may lack the weeks that wait most, which change otherwise than quiet ones: to the side on which the half of
    the weeks that waits more lies from all, the interval is longer by twice that distance. The factor was chosen on eleven
    made-up sites, overloaded ones among them, where intervals of 400 draws each of 9, 12 and 20 weeks held 89 to 98 %.

    Parameters
    ----------
    weeks : sequence of (int, int, int)
        Of each week what the change adds to the waits, the waits without it, and how far these are from what was
        observed. [s]

    Examples
    --------
    >>> difference_range([(-10, 100, 0)] * 8), difference_range([(-10, 100, 0)] * 7)
    ((-0.1, -0.1), (None, None))
    """
    if len(weeks) < MIN_WEEKS:
        return None, None
    changed, waited, misfit = (sum(column) for column in zip(*weeks, strict=True))
    if not waited:
        return None, None
    ratios = [(changed - week[0]) / max(1, waited - week[1]) for week in weeks]
    middle, last = fmean(ratios), len(weeks) - 1
    error = (last / len(weeks) * sum((ratio - middle) ** 2 for ratio in ratios)) ** 0.5
    counting = waited**2 / sum(week[1] ** 2 for week in weeks)
    # A misfit that is anywhere within its size: 95 % of it.
    off = math.hypot(t_quantile(0.975, max(1.0, counting - 1)) * error, 0.95 * misfit / waited)
    heavy = sorted(weeks, key=lambda week: week[1])[len(weeks) // 2 :]
    difference = changed / waited
    beyond = _BEYOND * (sum(week[0] for week in heavy) / sum(week[1] for week in heavy) - difference)
    # Nobody waits less than nothing.
    return max(-1.0, difference - off + min(0.0, beyond)), difference + off + max(0.0, beyond)


def _fairness(log: Workload, waits: Sequence[int]) -> float:
    """Return Jain's index of the users' mean bounded slowdowns."""
    of_user: dict[int, list[float]] = {}
    for user, wait, run in zip(log.user, waits, log.run_time_s, strict=True):
        of_user.setdefault(user, []).append(max(1.0, (wait + run) / max(run, _SHORT_RUN_S)))
    means = [fmean(slowdowns) for slowdowns in of_user.values()]
    return sum(means) ** 2 / (len(means) * sum(mean * mean for mean in means))


def together(scenarios: Sequence[Scenario]) -> Scenario:
    """Return all changes in one.

    Examples
    --------
    >>> together([Scenario(name="a", nodes=4), Scenario(name="b", depth=2)])
    Scenario(name='all together', nodes=4, max_walltime_s=None, split=None, downtimes=(), depth=2, shared_cores=0, preferred=None, merged=False)
    """
    given = [(field, getattr(each, field.name)) for each in scenarios for field in fields(each)]
    changed = {field.name: value for field, value in given if value != field.default}
    downtimes = tuple(downtime for each in scenarios for downtime in each.downtimes)
    return Scenario(**changed | {"name": "all together", "downtimes": downtimes})


def largest_share(workload: Workload) -> int:
    """Return the most cores that a job of a log has of one node; 0 if it tells none.

    Examples
    --------
    >>> largest_share(Workload([Job(1, 0, 2, 60, 60, cores=5)]))
    3
    """
    return max((demand(workload, job).cores for job in range(len(workload))), default=0)
