"""An event-driven batch scheduler that remembers which nodes every job had.

The rules are fixed, so that schedules compare:

- At one instant, completions come first, then what happens to the machine,
  then submissions, then one look at the queue.
- A job ends after its run time, or at its limit if that is shorter.
  ``overrun="keep"`` lets it run on; once over its limit, it is expected to
  end at every moment.
- The queue is in order of priority, then of submission. Only if asked for, waiting
  counts too: a job gains one step of priority for every so many seconds.
- ``fcfs``: the head starts as soon as it fits; nobody passes it.
- ``easy``: the head is promised the earliest time at which enough nodes are
  free by the limits of the running jobs, all ends up to that time counted.
  Others may pass it if they end by then by their own limit, or use nodes that
  the head leaves over at that time, which they use up.
- ``conservative``: every waiting job is promised the earliest time at which it
  delays nobody before it in the queue, and whoever's time is now starts. With
  a depth of two or more, ``easy`` does so for so many of the first.
- A policy may also be a function: it sees a `View` whenever something ended or came, and
  returns those of its waiting jobs that are to start now.

On a cluster with partitions each queue is one of them, and each has its own
head. A job wants the same of each of its nodes: its cores, GPUs and memory
divided by them, rounded up; without cores, whole nodes. It gets the first nodes
of its partition that have room. Its promise is the earliest time at which
enough of them have room for it by the limits of those who run there; a job that
runs on then may take a node from it only where it still finds room there, or
as many as it can spare. Promises do not count each other.

Nodes are positions in a list. Where a position lies in the machine is decided
by a node order afterwards: with the default allocation the schedule does not
depend on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import sub

from hopperlib.errors import InputError, refusal
from hopperlib.network.scheduling._free_nodes import FirstFit, free_list, joined
from hopperlib.network.scheduling._loop import FOREVER, Loop
from hopperlib.network.scheduling._pool_loop import Policy, Pool, PoolLoop, View
from hopperlib.network.scheduling._pools import SharedNodes, Wanted, WholeNodes
from hopperlib.network.scheduling.cluster import Cluster, NodeResources, Partition, demand
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.rules import Rules, fixed_priorities
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.workload import Workload
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

__all__ = ["POLICIES", "View", "simulate", "too_wide"]

POLICIES: tuple[str, ...] = ("easy", "fcfs", "conservative")
_DEEPEST = 1 << 31


def simulate(
    workload: Workload,
    nodes: int | Cluster,
    *,
    policy: str | Policy = "easy",
    depth: int = 1,
    queue_order: str = "submission",
    rules: Rules | None = None,
    allocation: str = "first",
    overrun: str = "kill",
    queues: Sequence[Queue] = (),
    aging_s: int | None = None,
    downtimes: Sequence[Downtime] = (),
    rng: random.Random | None = None,
    sample_every_s: int | None = None,
    requeue: bool = False,
    runtime: Callable[[int, list[int]], int] | None = None,
    progress: Callable[[int], object] | None = None,
    until_s: int | None = None,
) -> Schedule:
    """Return the schedule of a workload on a machine.

    Parameters
    ----------
    workload : Workload
    nodes : int or Cluster
        Nodes of the machine, each for one job at a time; or partitions of nodes that may be shared.
    policy : {"easy", "fcfs", "conservative"} or callable
        Who may pass whom, see above.
    depth : int
        To how many blocked jobs EASY promises a time.
    queue_order : {"submission", "size", "length", "multifactor"}
        Within one priority of the queues: as they came, the widest or the shortest limit first, or by `rules`.
    rules : Rules or None
        Weights of the multifactor order, and limits of what runs at a time.
    allocation : {"first", "best", "contiguous", "random"}
        How nodes are picked from the free ones: the first of the list, as Hopper's scheduler did; the
        smallest run that holds the job, else the largest runs first; one run only, for which a job
        waits; at random.
    overrun : {"kill", "keep"}
        What happens at a job's limit.
    queues : sequence of Queue
        Priorities and limits by name; jobs of other queues have priority 0.
    aging_s : int or None
        How long a job waits to gain one step of priority; None for no aging. [s]
    downtimes : sequence of Downtime
    rng : random.Random or None
        For random allocation; only its ``random()`` is used.
    sample_every_s : int or None
        Interval of the machine's records; None for none. [s]
    requeue : bool
        Whether a job that an outage ends queues again, at its old place; else it is lost.
    runtime : callable or None
        ``runtime(job index, bounds of its runs) -> seconds``: lets the placement feed back
        on the run time. One simulation then serves one node order only.
    progress : callable or None
        Called now and then with the number of jobs submitted so far; if it
        returns something true, the simulation stops there and says so in
        `Schedule.stopped_s`.
    until_s : int or None
        Stop looking at this instant; what runs then stays as it is expected to end.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        If a setting is unknown, or a job is wider than the machine or its queue allows.

    Examples
    --------
    Ten nodes. Job 2 waits for job 1; job 3 fits beside job 1 and ends in time, so it passes job 2:

    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> schedule = simulate(jobs, 10)
    >>> list(schedule.start_s), schedule.runs(2)
    ([0, 100, 2], [(6, 10)])
    >>> list(simulate(jobs, 10, policy="fcfs").start_s)
    [0, 100, 150]
    """
    count = nodes if isinstance(nodes, int) else len(nodes.nodes)
    _check_settings(policy, overrun, count, depth, {"sample_every_s": sample_every_s, "aging_s": aging_s})
    rules = rules or Rules()
    _check(workload, count, queues)
    if callable(policy) or policy == "conservative":
        depth = _DEEPEST
    fixed = fixed_priorities(workload, queue_order, rules, count)
    if queue_order != "multifactor":
        rules = replace(rules, age=0.0, fair_share=0.0)
    until = FOREVER if until_s is None else until_s
    plain = policy in ("easy", "fcfs") and depth == 1 and not (rules.limits or rules.changes)
    ages = policy in ("easy", "fcfs") and depth == 1 and bool(rules.age) and not (rules.limits or rules.fair_share)
    oldest_s = round(SECONDS_PER_HOUR * HOURS_PER_DAY * rules.max_age_days)
    keys = (
        [own - rules.age / oldest_s * arrival for own, arrival in zip(fixed, workload.arrival_s, strict=True)]
        if ages
        else fixed
    )
    pooled = isinstance(nodes, Cluster) or not plain
    if pooled and (queues or downtimes or runtime or allocation == "contiguous"):
        raise InputError(
            "queue tables, downtimes, run times that depend on the nodes and contiguous allocation go with whole nodes of one pool, "
            "easy (depth 1) or fcfs, and an order that does not change; not with partitions, limits, age, fair share or other policies"
        )

    def loop_of(rows: Sequence[int], free: FirstFit) -> Loop:
        return Loop(
            workload if len(rows) == len(workload) else workload.of(rows), count, free, queues, downtimes, aging_s,
            easy=policy == "easy", keep=overrun == "keep", requeue=requeue, runtime=runtime,
            order=None if queue_order == "submission" else [keys[job] for job in rows],
        )  # fmt: skip

    if not pooled:
        loop = loop_of(range(len(workload)), free_list(allocation, count, rng))
        loop.run(progress, sample_every_s, until)
        return loop.schedule
    cluster = nodes if isinstance(nodes, Cluster) else _one_pool(nodes)
    schedule = Schedule(workload, count)
    wanted = [_wanted(workload, job, cluster) for job in range(len(workload))]
    parts = cluster.parts()
    if not plain:
        parts = (
            [[name for names in parts for name in names]]
            if rules.limits or callable(policy) or rules.fair_share
            else parts
        )
    for names in parts:
        rows = [job for job, want in enumerate(wanted) if want[0] in names]
        if not rows:
            continue
        mine = [wanted[job] for job in rows]
        pools = _pools(cluster, names, mine, allocation, rng)
        alone = pools[names[0]]
        if depth > 1 and not callable(policy) and not all(isinstance(pool, WholeNodes) for pool in pools.values()):
            name, given = ("policy", policy) if policy == "conservative" else ("depth", depth)
            rule = "plans for several jobs go with whole nodes of partitions that share none; here nodes are shared"
            raise refusal(name, given, rule)
        done = False
        if (plain or ages) and len(names) == 1 and isinstance(alone, WholeNodes):
            loop = loop_of(rows, alone.free)
            loop.run(progress, None, until)
            waits = map(sub, loop.schedule.start_s, loop.workload.arrival_s)
            # While nobody reaches the greatest age all grow older alike, and the order is known beforehand.
            done = plain or max(waits, default=0) < oldest_s
            if done:
                _copy(loop.schedule, schedule, rows)
            else:
                pools = _pools(cluster, names, mine, allocation, rng)
        if not done:
            PoolLoop(
                schedule, rows, pools, wanted, fixed, rules, policy=policy if callable(policy) else None,
                depth=0 if policy == "fcfs" else depth, keep=overrun == "keep",
            ).run(progress, until)  # fmt: skip
    if sample_every_s is not None:
        schedule.sample(sample_every_s)
    return schedule


def _check_settings(
    policy: str | Policy, overrun: str, nodes: int, depth: int, intervals_s: Mapping[str, int | None]
) -> None:
    """Refuse a setting of `simulate` that is unknown or too small."""
    if not callable(policy) and policy not in POLICIES:
        raise refusal("policy", policy, f"must be one of: {', '.join(POLICIES)}; or a function")
    if overrun not in ("kill", "keep"):
        raise refusal("overrun", overrun, "must be kill or keep")
    for name, number in (("nodes", nodes), ("depth", depth)):
        if number < 1:
            raise refusal(name, number, "must be at least 1")
    for name, seconds in intervals_s.items():
        if seconds is not None and seconds < 1:
            raise refusal(name, seconds, "must be at least 1 s")


def _one_pool(nodes: int) -> Cluster:
    """Return so many nodes, of which each runs one job, in one partition for all queues."""
    return Cluster(
        nodes=(NodeResources(),) * nodes, partitions={"": Partition(nodes=tuple(range(nodes)), exclusive=True)}
    )


def _wanted(workload: Workload, job: int, cluster: Cluster) -> Wanted:
    """Return what a job wants, and of which partition."""
    name = cluster.partition(workload.word("queue", job))
    partition = cluster.partitions[name]
    if partition.exclusive:
        return name, 0, 0, 0
    want = demand(workload, job)
    return name, want.cores, want.gpus, want.memory_mb


def _pools(
    cluster: Cluster, names: Sequence[str], wanted: Sequence[Wanted], allocation: str, rng: random.Random | None
) -> dict[str, Pool]:
    """Return the pools of some partitions: whole nodes by count where a partition stands alone and no job shares."""
    pools: dict[str, Pool] = {}
    sharing = {want[0] for want in wanted if want[1:] != (0, 0, 0)}
    for group in cluster.parts():
        mine = [name for name in group if name in names]
        if len(mine) == 1 and mine[0] not in sharing:
            free = free_list(allocation, 0, rng)
            free.fill(joined(cluster.partitions[mine[0]].nodes))
            pools[mine[0]] = WholeNodes(free)
        elif mine:
            shared = SharedNodes(cluster.nodes, {name: cluster.partitions[name].nodes for name in mine})
            pools |= dict.fromkeys(mine, shared)
    return pools


def _copy(part: Schedule, whole: Schedule, rows: Sequence[int]) -> None:
    """Copy the schedule of some jobs into that of all."""
    shift = len(whole.bounds)
    whole.bounds.extend(part.bounds)
    whole.stopped_s = part.stopped_s if part.stopped_s is not None else whole.stopped_s
    for index, job in enumerate(rows):
        whole.start_s[job], whole.end_s[job], whole.status[job] = (
            part.start_s[index],
            part.end_s[index],
            part.status[index],
        )
        whole.first_bound[job], whole.run_count[job] = part.first_bound[index] + shift, part.run_count[index]


def too_wide(workload: Workload, nodes: int | Cluster) -> list[int]:
    """Return the jobs, by their indices, that could never start: too wide, or for no node of their partition.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> too_wide(Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50)]), 7)
    [1]
    """
    if isinstance(nodes, int):
        return [job for job, width in enumerate(workload.nodes) if width > nodes]
    able: dict[Wanted | None, int] = {None: 0}
    found = []
    for job in range(len(workload)):
        try:
            want = _wanted(workload, job, nodes)
        except InputError:
            want = None
        if want is not None and want not in able:
            members = nodes.partitions[want[0]].nodes
            shared = SharedNodes(nodes.nodes, {want[0]: members})
            able[want] = len(members) if want[1:] == (0, 0, 0) else sum(shared.could(want, node) for node in members)
        if workload.nodes[job] > able[want]:
            found.append(job)
    return found


def _check(workload: Workload, nodes: int, queues: Sequence[Queue]) -> None:
    """Refuse jobs that could never start."""
    if len(workload) and max(workload.nodes) > nodes:
        index = next(i for i, width in enumerate(workload.nodes) if width > nodes)
        raise InputError(
            f"job {workload.job[index]} asks for nodes={workload.nodes[index]}, more than the {nodes} of the machine"
        )
    limits = {queue.name: queue for queue in queues}
    if not limits:
        return
    for job in workload:
        if job.queue in limits:
            limits[job.queue].check(job)
