"""What a trace tells of its own schedule, beside what was simulated of it, and how to read the difference."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import mean, median, quantiles
from typing import NamedTuple

from hopperlib.finding import Finding, worded
from hopperlib.network.scheduling.cluster import Cluster
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.scheduling.workload import Workload
from hopperlib.units import SECONDS_PER_HOUR

_HERE = "hopperlib.network"
# A shorter run counts as so long in the bounded slowdown, as in the literature on the archive's traces.
_BOUND_S = 10
# Who waited less did not wait: the scheduler looks that seldom.
_NO_WAIT_S = 60
# Nothing runs: fewer nodes than that share of the most that ever ran, for so long, while somebody waits.
_STILL, _STILL_S = 0.02, SECONDS_PER_HOUR
# So many of those times are told.
_MOST_TOLD = 400
# So near, as a factor, is near enough not to be explained.
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
        Those that were simulated to start and, if the trace tells starts, observed to.
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
    """Return what each job uses: nodes, or where nodes are shared and their cores known, cores."""
    return workload.cores if cluster is not None and all(node.cores for node in cluster.nodes) else workload.nodes


def _size(schedule: Schedule, cluster: Cluster | None, queue: str | None = None) -> int:
    """Return how much of that there is, for a queue or for all."""
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
        Nodes or cores of every job of the workload, and what the utilization is a share of.

    Examples
    --------
    Waits of 0 and 30 s; the runs of 60 and 5 s are slowed down by 1 and 35 / 10:

    >>> from hopperlib.network.scheduling.workload import Job
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
    """Return the jobs that started in the simulation and, if the trace tells any start, in the trace."""
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
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job
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


def _found_idle(schedule: Schedule, jobs: Sequence[int], waited: Sequence[int], cluster: Cluster | None) -> int:
    """Return how many of the jobs that waited saw enough of their pool idle half-way through; 0 where pools overlap."""
    workload = schedule.workload
    if cluster is not None and any(len(names) > 1 for names in cluster.parts()):
        return 0
    units, idle_starts = _units(workload, cluster), 0
    pools = _by_queue(workload, jobs) if cluster else {"": jobs}
    held = {
        name: (_Occupied(workload, members, units), _size(schedule, cluster, name)) for name, members in pools.items()
    }
    for job in waited:
        occupied, size = held[workload.word("queue", job) if cluster else ""]
        middle = (workload.observed_start_s[job] + workload.arrival_s[job]) / 2
        idle_starts += size - occupied.at(middle) >= units[job]
    return idle_starts


class _Occupied:
    """How many nodes, or cores, the observed jobs held, at any instant."""

    def __init__(self, workload: Workload, jobs: Sequence[int], units: Sequence[int]) -> None:
        changes: dict[int, int] = {}
        for job in jobs:
            start, width = workload.observed_start_s[job], units[job]
            end = start + workload.run_time_s[job]
            changes[start] = changes.get(start, 0) + width
            changes[end] = changes.get(end, 0) - width
        self.times = sorted(changes)
        self.busy = list(accumulate(changes[time] for time in self.times))

    def at(self, time_s: float) -> int:
        """Return the nodes held at an instant."""
        place = bisect_right(self.times, time_s)
        return self.busy[place - 1] if place else 0

    def still(self) -> list[tuple[int, int]]:
        """Return the longer times, between the first start and the last end, in which next to nothing ran."""
        least, spans = _STILL * max(self.busy), []
        since = None
        for time, busy in zip(self.times[:-1], self.busy, strict=False):
            if busy > least and since is not None:
                spans += [(since, time)] if time - since >= _STILL_S else []
                since = None
            elif busy <= least and since is None:
                since = time
        return spans


def differences(schedule: Schedule, groups: Sequence[Group], cluster: Cluster | None = None) -> Iterator[Finding]:
    """Yield how far the simulation is from what was observed, and what in the trace speaks for which cause.

    Parameters
    ----------
    schedule : Schedule
    groups : sequence of Group
        As `by_group` gives them.
    cluster : Cluster or None
        As for `by_group`.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job
    >>> schedule = simulate(Workload([Job(1, 0, 4, 60, 60, observed_start_s=600)]), 4)
    >>> [finding.code for finding in differences(schedule, by_group(schedule))]
    ['waits-below-observed', 'idle-while-waiting']
    """
    whole = groups[-1]
    if whole.observed is None or whole.simulated is None:
        yield worded(_HERE, "nothing-observed")
        return
    seen, made = whole.observed.wait_mean_s, whole.simulated.wait_mean_s
    near = max(seen, made) <= _NEAR * min(seen, made) or max(seen, made) < _NO_WAIT_S
    code = "waits-as-observed" if near else f"waits-{'below' if made < seen else 'above'}-observed"
    share = f", {100 * made / seen:.0f} % of it" if seen else ""
    means = {"observed_wait_mean_s": seen, "simulated_wait_mean_s": made}
    yield worded(_HERE, code, means, text=code if near else "waits-apart", share=share)
    yield from _causes(schedule, whole, cluster, near)


def _causes(schedule: Schedule, whole: Group, cluster: Cluster | None, near: bool) -> Iterator[Finding]:
    """Yield what the trace itself shows of causes that the simulation does not know."""
    workload, jobs = schedule.workload, _both(schedule)
    assert whole.observed is not None
    units = _units(workload, cluster)
    occupied = _Occupied(workload, jobs, units)
    starts, arrivals, widths = workload.observed_start_s, workload.arrival_s, workload.nodes
    most = max(occupied.busy)
    if most > whole.size:
        what = "nodes" if units is widths else "cores"
        yield worded(_HERE, "more-used-than-there-is", most=most, what=what, size=whole.size)
    if near:
        return
    if whole.held_mean_s > 0.05 * whole.observed.wait_mean_s:
        yield worded(_HERE, "held", held_s=whole.held_mean_s)
    waited = [job for job in jobs if starts[job] - arrivals[job] >= _NO_WAIT_S]
    idle = _found_idle(schedule, jobs, waited, cluster)
    if idle > 0.05 * len(waited):
        yield worded(_HERE, "idle-while-waiting", {"share": idle / len(waited)}, waited=len(waited))
    # Of jobs of one queue that want the same, one that starts before an earlier one has passed it.
    alike: dict[tuple[int, int, int], int] = {}
    passed = 0
    for job in jobs:
        key = (workload.queue_number[job], widths[job], workload.requested_time_s[job])
        latest = alike.get(key, starts[job])
        passed += starts[job] < latest
        alike[key] = max(latest, starts[job])
    if passed > 0.02 * len(jobs):
        yield worded(_HERE, "out-of-order", {"share": passed / len(jobs)}, passed=passed)
    waited.sort(key=starts.__getitem__)
    # The earliest arrival of those that start at an instant or later.
    earliest = list(accumulate((arrivals[job] for job in reversed(waited)), min))[::-1]
    begun = [starts[job] for job in waited]
    # Somebody waited all through such a time: came before it, and started at its end or later.
    still = [
        (since, until)
        for since, until in occupied.still()
        if (place := bisect_left(begun, until)) < len(begun) and earliest[place] <= since
    ]
    if still:
        hours = sum(until - since for since, until in still) / SECONDS_PER_HOUR
        downtimes = [list(span) for span in still[:_MOST_TOLD]]
        yield worded(_HERE, "maintenance", {"downtimes": downtimes}, times=len(still), hours=hours)
