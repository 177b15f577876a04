"""A trace's observed schedule, compared with its simulation."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import mean, median, quantiles
from typing import NamedTuple

from hopperkit.traces.capacity.levels import held_level
from hopperkit.traces.cluster import Cluster
from hopperlib.finding import Finding
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, duration, listed, share
from hopperlib.units import SECONDS_PER_HOUR

# A shorter run counts as that long in the bounded slowdown, as in the literature on the archive's traces.
_BOUND_S = 10
# A job that waited less did not wait: schedulers run no more often.
_NO_WAIT_S = 60
# Standstill: fewer nodes run than that fraction of the most that ever ran, for that long, while a job waits.
_STANDSTILL_FRACTION, _STANDSTILL_S = 0.02, SECONDS_PER_HOUR
_MAX_DOWNTIMES = 400
# Idle while waiting: this many times as often as under the simulated policy; assumed, as elsewhere here.
_IDLE_MORE = 0.05
# Jobs that passed like ones are more than a few by chance.
_OUT_OF_ORDER = 0.02
# A queue is simulated wrong if its mean wait is off by a factor of two, and by this part of the mean of all jobs.
_FEWEST_OF_QUEUE, _APART, _MOST_QUEUES = 20, 0.3, 3
# Mean waits within this factor of each other need no explanation.
_NEAR = 1.1


class Waits(NamedTuple):
    """Waits of some jobs, from submission, and how much of the nodes they used.

    Parameters
    ----------
    wait_mean_s, wait_median_s, wait_p95_s : float
        [s]
    bounded_slowdown : float
        Mean of wait plus run time over run time, runs under 10 s taken as 10 s, and 1 at least.
    utilization : float or None
        Node-seconds used, over those from the first start to the last end. [fraction]
    """

    wait_mean_s: float
    wait_median_s: float
    wait_p95_s: float
    bounded_slowdown: float
    utilization: float | None


class Group(NamedTuple):
    """The jobs of one queue or partition.

    Parameters
    ----------
    name : str
        Of the queue; ``all`` for the whole trace.
    jobs : int
        Jobs that were simulated to start and, if the trace has start times, observed to start.
    size : int
        Nodes that the group may use; where nodes are shared, their cores.
    held_mean_s : float
        From submission until eligible, which both waits hold. [s]
    observed, simulated : Waits or None
    """

    name: str
    jobs: int
    size: int
    held_mean_s: float
    observed: Waits | None
    simulated: Waits | None

    def to_dict(self) -> dict[str, object]:
        """Return the group as plain data, one level deep."""
        data: dict[str, object] = dict(zip(self._fields[:4], self[:4], strict=True))
        for kind, waits in (("observed", self.observed), ("simulated", self.simulated)):
            data |= {f"{kind}_{name}": getattr(waits, name, None) for name in Waits._fields}
        return data


def _units(workload: Workload, cluster: Cluster | None) -> Sequence[int]:
    """Return the units that each job uses: nodes, or cores if nodes are shared and cores are known."""
    return workload.cores if cluster is not None and all(node.cores for node in cluster.nodes) else workload.nodes


def _size(schedule: Schedule, cluster: Cluster | None, queue: str | None = None) -> int:
    """Return the number of those units, for one queue or for all."""
    if cluster is None:
        return schedule.nodes
    chosen = range(len(cluster.nodes)) if queue is None else cluster.partitions[cluster.partition(queue)].nodes
    by_cores = _units(schedule.workload, cluster) is schedule.workload.cores
    return sum(cluster.nodes[node].cores if by_cores else 1 for node in chosen)


def waits_of(
    workload: Workload, jobs: Sequence[int], starts: Sequence[int], ends: Sequence[int], units: Sequence[int], size: int
) -> Waits | None:
    """Return the waits of some jobs, by their indices, with these starts and ends; None without jobs.

    Parameters
    ----------
    workload : Workload
    jobs, starts, ends : sequence of int
        Indices; and for each of them its start and end. [s]
    units, size : sequence of int, int
        Nodes or cores of every job of the workload, and the total for utilization.

    Examples
    --------
    Waits of 0 and 30 s; the runs of 60 and 5 s are slowed down by 1 and 35 / 10:

    >>> from hopperlib.scheduling.workload import Job
    >>> waits_of(Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 2, 5, 60)]), [0, 1], [0, 30], [60, 35], [4, 2], 4)[:4]
    (15.0, 15.0, 28.5, 2.25)
    """
    if not jobs:
        return None
    submits = workload.submit_time_s
    waits = [start - submits[job] for job, start in zip(jobs, starts, strict=True)]
    runs = [end - start for start, end in zip(starts, ends, strict=True)]
    slowdown = mean(max(1.0, (wait + run) / max(run, _BOUND_S)) for wait, run in zip(waits, runs, strict=True))
    span = max(ends) - min(starts)
    used = sum(units[job] * run for job, run in zip(jobs, runs, strict=True))
    high = quantiles(waits, n=20, method="inclusive")[-1] if len(waits) > 1 else waits[0]
    utilization = used / (span * size) if span and size else None
    return Waits(sum(waits) / len(waits), float(median(waits)), float(high), slowdown, utilization)


def _both(schedule: Schedule) -> list[int]:
    """Return the jobs that started in the simulation and, if the trace has start times, in the trace."""
    status, starts = schedule.status, schedule.workload.observed_start_s
    has_starts = any(start >= 0 for start in starts)
    return [job for job in range(len(schedule)) if status[job] != NOT_STARTED and (starts[job] >= 0 or not has_starts)]


def by_group(schedule: Schedule, cluster: Cluster | None = None) -> list[Group]:
    """Return observed and simulated waits of each queue, and last of all jobs.

    Parameters
    ----------
    schedule : Schedule
    cluster : Cluster or None
        On which it was simulated; None for whole nodes of one pool.

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 4, 60, 60, observed_start_s=0), Job(2, 0, 4, 60, 60, observed_start_s=90)])
    >>> (group,) = by_group(simulate(jobs, 4))
    >>> group.name, group.observed.wait_mean_s, group.simulated.wait_mean_s
    ('all', 45.0, 30.0)
    """
    workload, jobs = schedule.workload, _both(schedule)
    members = _by_queue(workload, jobs)
    named = sorted(members.items()) if len(members) > 1 else []
    groups = [(name or "none", _size(schedule, cluster, name), rows) for name, rows in named]
    groups.append(("all", _size(schedule, cluster), jobs))
    return [_group(schedule, _units(workload, cluster), *group) for group in groups]


def _by_queue(workload: Workload, jobs: Sequence[int]) -> dict[str, list[int]]:
    """Return the jobs of each queue."""
    members: dict[str, list[int]] = {}
    for job in jobs:
        members.setdefault(workload.word("queue", job), []).append(job)
    return members


def _group(schedule: Schedule, units: Sequence[int], name: str, size: int, jobs: list[int]) -> Group:
    """Return the waits of some jobs."""
    workload = schedule.workload
    observed = [workload.observed_start_s[job] for job in jobs]
    ended = [start + workload.run_time_s[job] for job, start in zip(jobs, observed, strict=True)]
    made = [schedule.start_s[job] for job in jobs], [schedule.end_s[job] for job in jobs]
    return Group(
        name,
        len(jobs),
        size,
        sum(workload.arrival_s[job] - workload.submit_time_s[job] for job in jobs) / max(1, len(jobs)),
        waits_of(workload, jobs, observed, ended, units, size) if observed and observed[0] >= 0 else None,
        waits_of(workload, jobs, *made, units, size),
    )


def _found_idle(schedule: Schedule, jobs: Sequence[int], starts: Sequence[int], cluster: Cluster | None) -> float:
    """Return the share of the jobs that waited, by some starts, whose pool was idle enough half-way; 0 where pools overlap."""
    workload, idle_starts = schedule.workload, 0
    arrivals = workload.arrival_s
    waited = [job for job in jobs if starts[job] - arrivals[job] >= _NO_WAIT_S]
    if not waited or (cluster is not None and any(len(names) > 1 for names in cluster.parts())):
        return 0.0
    units = _units(workload, cluster)
    pools = _by_queue(workload, jobs) if cluster else {"": jobs}
    held = {
        name: (_Occupied(workload, members, units, starts), _size(schedule, cluster, name))
        for name, members in pools.items()
    }
    for job in waited:
        occupied, size = held[workload.word("queue", job) if cluster else ""]
        idle_starts += size - occupied.at((starts[job] + arrivals[job]) / 2) >= units[job]
    return idle_starts / len(waited)


class _Occupied:
    """How many nodes, or cores, jobs with some starts held, at any instant."""

    def __init__(self, workload: Workload, jobs: Sequence[int], units: Sequence[int], starts: Sequence[int]) -> None:
        changes: dict[int, int] = {}
        for job in jobs:
            start, width = starts[job], units[job]
            end = start + workload.run_time_s[job]
            changes[start] = changes.get(start, 0) + width
            changes[end] = changes.get(end, 0) - width
        self.times = sorted(changes)
        self.changes = [changes[time] for time in self.times]
        self.busy = list(accumulate(self.changes))

    def at(self, time_s: float) -> int:
        """Return the nodes held at an instant."""
        place = bisect_right(self.times, time_s)
        return self.busy[place - 1] if place else 0

    def standstills(self) -> list[tuple[int, int]]:
        """Return the longer times, between the first start and the last end, in which next to nothing ran."""
        least, spans = _STANDSTILL_FRACTION * max(self.busy), []
        since = None
        for time, busy in zip(self.times[:-1], self.busy, strict=False):
            if busy > least and since is not None:
                spans += [(since, time)] if time - since >= _STANDSTILL_S else []
                since = None
            elif busy <= least and since is None:
                since = time
        return spans


def differences(schedule: Schedule, groups: Sequence[Group], cluster: Cluster | None = None) -> Iterator[Finding]:
    """Yield the differences between simulation and observation, with evidence for each cause.

    Parameters
    ----------
    schedule : Schedule
    groups : sequence of Group
        As `by_group` gives them.
    cluster : Cluster or None
        As for `by_group`.

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job
    >>> schedule = simulate(Workload([Job(1, 0, 4, 60, 60, observed_start_s=600)]), 4)
    >>> [finding.code for finding in differences(schedule, by_group(schedule))]
    ['waits-below-observed', 'idle-while-waiting']
    """
    whole = groups[-1]
    if whole.observed is None or whole.simulated is None:
        message = "The trace contains no start times, so the accuracy of the simulation is unknown."
        yield Finding("nothing-observed", message, "unknown")
        return
    seen_s, made_s = whole.observed.wait_mean_s, whole.simulated.wait_mean_s
    near = max(seen_s, made_s) <= _NEAR * min(seen_s, made_s) or max(seen_s, made_s) < _NO_WAIT_S
    means = {"observed_wait_mean_s": seen_s, "simulated_wait_mean_s": made_s}
    message = (
        f"The observed mean wait is {duration(seen_s)}; simulated, before any what-if, it is {duration(made_s)}"
        f"{f', {100 * made_s / seen_s:.0f} % of it' if seen_s else ''}."
    )
    if near:
        yield Finding("waits-as-observed", message, "ok", means)
    else:
        only = "So a what-if shows differences between simulations, not the waits of this machine."
        side = "below" if made_s < seen_s else "above"
        yield Finding(f"waits-{side}-observed", f"{message} {only}", evidence=means)
    yield from _queues_apart(groups[:-1], seen_s)
    yield from _causes(schedule, whole, cluster, near)


def _queues_apart(groups: Sequence[Group], mean_s: float) -> Iterator[Finding]:
    """Yield the queues that are simulated wrong even where the mean of all jobs is right."""
    apart = [
        (group.name, group.observed.wait_mean_s, group.simulated.wait_mean_s)
        for group in groups
        if group.observed and group.simulated and group.jobs >= _FEWEST_OF_QUEUE
    ]
    apart = [
        (name, seen_s, made_s)
        for name, seen_s, made_s in apart
        if abs(seen_s - made_s) > max(_NO_WAIT_S, _APART * mean_s) and max(seen_s, made_s) > 2 * min(seen_s, made_s)
    ]
    if apart:
        descriptions = [f"{name} ({duration(seen_s)}, simulated {duration(made_s)})" for name, seen_s, made_s in apart]
        yield Finding(
            "queue-waits-apart",
            f"{count(len(apart), 'queue')} {'wait' if len(apart) > 1 else 'waits'} differently than simulated:  {listed(descriptions[:_MOST_QUEUES])}. A priority, a limit "
            "or nodes of the queue are not in this simulation, so do not use it for the jobs of this queue.",
            evidence={"queues": [name for name, *_ in apart]},
        )


def _causes(schedule: Schedule, whole: Group, cluster: Cluster | None, near: bool) -> Iterator[Finding]:
    """Yield evidence in the trace for causes that the simulation does not model."""
    workload, jobs = schedule.workload, _both(schedule)
    assert whole.observed is not None
    units = _units(workload, cluster)
    occupied = _Occupied(workload, jobs, units, workload.observed_start_s)
    if (most := held_level(zip(occupied.times, occupied.changes, strict=True))) > whole.size:
        what = "nodes" if units is workload.nodes else "cores"
        yield Finding(
            "more-used-than-there-is",
            f"The trace shows {most:,} {what} in use at once, more than the {whole.size:,} simulated: "
            "the size is wrong, or nodes are shared.",
        )
    if near:
        return
    if whole.held_mean_s > 0.05 * whole.observed.wait_mean_s:
        yield Finding(
            "held",
            f"Of the observed wait {whole.held_mean_s:,.0f} s a job passed before it was eligible (holds, dependencies, "
            "a later begin); the simulation takes that into account.",
        )
    starts, arrivals = workload.observed_start_s, workload.arrival_s
    waited = [job for job in jobs if starts[job] - arrivals[job] >= _NO_WAIT_S]
    yield from _idle_while_waiting(schedule, len(waited), cluster)
    yield from _out_of_order(schedule)
    yield from _maintenance(workload, waited, occupied)


def found_idle(schedule: Schedule, cluster: Cluster | None = None) -> tuple[float, float]:
    """Share of the jobs that waited a minute or more whose pool was idle enough half-way: as observed, and as simulated.

    Both are 0 where pools overlap.

    Parameters
    ----------
    schedule : Schedule
        Of jobs with observed starts.
    cluster : Cluster or None
        As for `by_group`.

    Examples
    --------
    Job 2 waits ten minutes while two nodes are idle, which EASY does not allow:

    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(1, 0, 2, 900, 900, observed_start_s=0), Job(2, 0, 2, 60, 60, observed_start_s=600)]
    >>> found_idle(simulate(Workload(jobs), 4))
    (1.0, 0.0)
    """
    jobs = _both(schedule)
    observed = _found_idle(schedule, jobs, schedule.workload.observed_start_s, cluster)
    return observed, _found_idle(schedule, jobs, schedule.start_s, cluster)


def passed_by_like(schedule: Schedule) -> tuple[float, float]:
    """Share of the jobs that started before an earlier one of the same queue, width and limit: as observed, and as simulated.

    Parameters
    ----------
    schedule : Schedule
        Of jobs with observed starts.

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(1, 0, 4, 60, 60, observed_start_s=60), Job(2, 0, 4, 60, 60, observed_start_s=0)]
    >>> passed_by_like(simulate(Workload(jobs), 4))
    (0.5, 0.0)
    """
    workload, jobs = schedule.workload, _both(schedule)
    return _passed(workload, jobs, workload.observed_start_s), _passed(workload, jobs, schedule.start_s)


def _passed(workload: Workload, jobs: Sequence[int], starts: Sequence[int]) -> float:
    """Share of the jobs that started, by some starts, before an earlier one of the same queue, width and limit."""
    latest: dict[tuple[int, int, int], int] = {}
    passed = 0
    for job in jobs:
        key = (workload.queue_number[job], workload.nodes[job], workload.requested_time_s[job])
        passed += starts[job] < latest.get(key, starts[job])
        latest[key] = max(latest.get(key, starts[job]), starts[job])
    return passed / max(1, len(jobs))


def _idle_while_waiting(schedule: Schedule, waited: int, cluster: Cluster | None) -> Iterator[Finding]:
    """Yield that jobs waited although enough nodes or cores were idle, oftener than the same policy lets them."""
    part, usual = found_idle(schedule, cluster)
    if part > usual + _IDLE_MORE:
        yield Finding(
            "idle-while-waiting",
            f"Of {count(waited, 'job')} that waited a minute or more, {share(part)} saw as many nodes or cores as they "
            f"wanted idle half-way through their wait; simulated under this policy, with nothing hidden, it is {share(usual)}: "
            "closed hours, a limit of the account or user, less backfill depth, drained nodes or reservations that the "
            "trace does not name. `hopper trace learn` looks for them.",
            evidence={"share": part, "simulated_share": usual},
        )


def _out_of_order(schedule: Schedule) -> Iterator[Finding]:
    """Yield that jobs started before earlier ones of the same queue, width and limit."""
    part, _ = passed_by_like(schedule)
    if part > _OUT_OF_ORDER:
        passed = round(part * len(_both(schedule)))
        yield Finding(
            "out-of-order",
            f"{count(passed, 'job')} ({share(part)}) passed one of the same queue, width and limit that came before: "
            "priorities, fair share or holds, not the order of submission.",
            evidence={"share": part},
        )


def _maintenance(workload: Workload, waited: Sequence[int], occupied: "_Occupied") -> Iterator[Finding]:
    """Yield that next to nothing ran at times although a job waited all through them."""
    waited = sorted(waited, key=workload.observed_start_s.__getitem__)
    begun = [workload.observed_start_s[job] for job in waited]
    # The earliest arrival of those that start at an instant or later.
    earliest = list(accumulate((workload.arrival_s[job] for job in reversed(waited)), min))[::-1]
    spans = [
        (since, until)
        for since, until in occupied.standstills()
        if (place := bisect_left(begun, until)) < len(begun) and earliest[place] <= since
    ]
    if spans:
        hours = sum(until - since for since, until in spans) / SECONDS_PER_HOUR
        yield Finding(
            "maintenance",
            f"{count(len(spans), 'time')}, {hours:,.1f} h together, next to nothing ran while jobs waited: maintenance or "
            "outages, which can be given as downtimes.",
            evidence={"downtimes": [list(span) for span in spans[:_MAX_DOWNTIMES]]},
        )
