"""A change of a machine or of its rules, and the waits of a log under it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import infeasible_jobs, simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.units import plain_number

# Each part of a job queues when the part before it has ended, which is known only after a simulation: each pass starts
# with the times of the one before.
_PASSES = 3
# Submissions are delayed by up to this in runs that estimate the schedule's noise. [s]
_JITTER_S = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A change of the machine or of its rules.

    Parameters
    ----------
    name : str
    nodes : int or None
        Of the machine; None keeps its size.
    max_walltime_s : int or None
        Longest limit: jobs with longer limits run as several parts, each of which queues when the one before has ended.
        [s]
    split : (int, int) or None
        Jobs with limits up to this many seconds have this many reserved nodes; the others use the rest. A job that is
        wider than its side gets the other one, and one that is wider than both gets nodes of both.
    downtimes : tuple of Downtime
    depth : int or None
        Of backfill; of Slurm's, the waiting jobs that a pass tests.
    shared_cores : int
        Cores of a node that jobs share; 0 for whole nodes.
    preferred : (str, str) or None
        "user", "account", "qos" or "queue", and the one whose jobs have priority over all others.
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
        """Return the machine or number of nodes under this change."""
        count = self.nodes or _count(machine)
        like = NodeResources(cores=self.shared_cores) if isinstance(machine, int) else machine.nodes[-1]
        before = () if isinstance(machine, int) else machine.nodes[:count]
        nodes = before + (like,) * (count - len(before))
        parts = self._parts(machine, count, jobs)
        if parts is None:
            return count
        if isinstance(machine, int):
            exclusive = not self.shared_cores
        else:
            exclusive = not self.split and all(partition.exclusive for partition in machine.partitions.values())
        partitions = {name: Partition(nodes=mine, exclusive=exclusive) for name, mine in parts.items()}
        return Cluster(nodes=nodes, partitions=partitions)

    def _parts(self, machine: int | Cluster, count: int, jobs: Sequence[Job]) -> dict[str, tuple[int, ...]] | None:
        """Return the nodes of each partition under this change; None for whole nodes of one pool."""
        everywhere = tuple(range(count))
        if self.split:
            first = self.split[1]
            if not 0 < first < count:
                raise InputError(f"a split must leave nodes on both sides: {first} of {count:,}")
            parts = {"short": everywhere[:first], "long": everywhere[first:]}
            return parts | ({"both": everywhere} if any(job.queue == "both" for job in jobs) else {})
        if isinstance(machine, int):
            return {"": everywhere} if self.shared_cores else None
        if self.merged:
            return {"": everywhere}
        added = everywhere[len(machine.nodes) :]
        return {
            name: tuple(node for node in mine.nodes if node < count) + added
            for name, mine in machine.partitions.items()
        }

    def changed(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings of a simulation under this change."""
        settings = settings | {"downtimes": [*settings["downtimes"], *self.downtimes]}
        if self.depth is not None:
            # Slurm keeps its passes at intervals, of fewer or more jobs (bf_max_job_test).
            slurm = isinstance(settings["policy"], Backfill) and self.depth
            settings["policy"] = settings["policy"]._replace(depth=self.depth) if slurm else str(self.depth)
        if self.preferred:
            settings["rules"] = replace(settings["rules"], first=self.preferred)
        return settings

    def side(self, job: Job, nodes: int) -> str:
        """Return a job's side of the split of a machine with this many nodes; without a split, its queue."""
        if not self.split:
            return "" if self.merged else job.queue
        limit_s, first = self.split
        sides = [("short", first), ("long", nodes - first)]
        if job.requested_time_s > limit_s:
            sides.reverse()
        return next((name for name, room in sides if job.nodes <= room), "both")

    def jobs(self, workload: Workload, machine: int | Cluster) -> tuple[list[Job], list[int]]:
        """Return the jobs of a log under this change, each with its index in the log."""
        jobs, origins = [], []
        for index, job in enumerate(workload):
            changed = job._replace(queue=self.side(job, self.nodes or _count(machine)))
            changed = changed._replace(memory_mb=0, gpus=0) if isinstance(machine, int) else changed
            pieces = _pieces(changed, self.max_walltime_s)
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


def _check_room(name: str, jobs: Workload, room: int | Cluster) -> None:
    """Reject jobs that find no room under a change."""
    if wide := infeasible_jobs(jobs, room):
        first = jobs[wide[0]]
        others = f" and {len(wide) - 1:,} more find" if len(wide) > 1 else " finds"
        raise InputError(f"{name}: job {first.job}, of nodes={first.nodes},{others} no room any more")


def simulated_waits(
    workload: Workload,
    nodes: int | Cluster,
    clock: Clock,
    rules: Learned,
    scenario: Scenario,
    jitter: random.Random | None = None,
) -> tuple[list[int], Schedule]:
    """Return the wait of each job of a log under a change, summed over its parts, and the schedule. [s]

    With `jitter`, submissions come up to five seconds later.

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
    scenario : Scenario
        The change.
    jitter : random.Random or None
        Source of random delays of submissions; None for no delays.

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
    settings = scenario.changed(rules.settings(workload, scenario.nodes or _count(nodes), clock))
    _check_room(scenario.name, Workload(jobs), room)
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
        # A part of a job comes when the one before it ended.
        for at in range(1, len(jobs)):
            if origins[at] == origins[at - 1]:
                arrivals[at] = schedule.end_s[place[at - 1]]
    waits = [0] * len(workload)
    for at, origin in enumerate(origins):
        if schedule.status[place[at]] == NOT_STARTED:
            raise InputError(f"{scenario.name}: job {jobs[at].job} never starts")
        waits[origin] += max(0, schedule.start_s[place[at]] - schedule.workload.arrival_s[place[at]])
    return waits, schedule


def together(scenarios: Sequence[Scenario]) -> Scenario:
    """Return all changes in one.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Scenarios to combine.

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
    """Return the most cores per node of any job of a log; 0 if unknown.

    Parameters
    ----------
    workload : Workload
        Jobs of the log.

    Examples
    --------
    >>> largest_share(Workload([Job(1, 0, 2, 60, 60, cores=5)]))
    3
    """
    return max((demand(workload, job).cores for job in range(len(workload))), default=0)
