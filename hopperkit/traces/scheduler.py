"""The scheduler on clusters: partitions that overlap, shared nodes and custom policies.

`hopperlib.scheduling.scheduler` holds the rules and the event loop; this module passes it the queues that name their
nodes. On a cluster with partitions, each queue is a partition with its own head. A job needs the same of each of its
nodes: its cores, GPUs and memory divided by them, rounded up; without cores, whole nodes. It gets the first nodes of
its partition that have room.

Where nodes are shared, differ or belong to several partitions, the promise of ``easy`` is the earliest time at which
enough of them have room for the head by the limits of those who run there; a job that runs on then may take a node from
it only where it still finds room there, or as many as it can spare. Promises of several partitions do not count each
other. At a depth of two or more they do, and each names its nodes: of those that have room for it the ones that were
idle for the shortest time before. A job that passes may share these nodes but must not use resources that the promised
job needs. All promises are renewed whenever something changes, in the order of the queue.

A policy may also be a function: it gets a `View` whenever a job ends or arrives and the narrowest waiting job fits, and
returns, or yields, the waiting jobs that start now.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hopperkit.traces._queues.custom_policy import CustomPolicyQueue, Policy, View
from hopperkit.traces._queues.named import ReservationQueue, capacity, suffices
from hopperkit.traces._queues.shared_backfill import SharedBackfillQueue
from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand
from hopperlib.errors import InputError
from hopperlib.scheduling import scheduler as model
from hopperlib.scheduling._free_nodes import FirstFit, NodeChoice, joined
from hopperlib.scheduling._simulation.loop import Loop
from hopperlib.scheduling._simulation.pool_queue import PoolQueue, Wanted
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.scheduler import POLICIES, whole_node_queue
from hopperlib.scheduling.workload import Workload
from hopperlib.units import plain_number

# For logs of up to this many jobs, backfill plans name their nodes, as in Slurm; for longer logs nodes are only
# counted, which is much faster and lets a few more jobs pass.
_PLANS_BY_NAME = 3000

__all__ = ["POLICIES", "NodeChoice", "Policy", "View", "infeasible_jobs", "simulate"]


def simulate(
    workload: Workload,
    nodes: int | Cluster,
    *,
    policy: str | Backfill | Policy = "easy",
    nodes_per_switch: int = 0,
    **settings: Any,
) -> Schedule:
    """Return the schedule of a workload on a machine or a cluster.

    Parameters
    ----------
    workload : Workload
    nodes : int or Cluster
        Nodes of the machine, each for one job at a time; or partitions of nodes that may be shared.
    policy : {"easy", "fcfs", "conservative", "slurm"}, digits, Backfill or callable
        Who may pass whom; digits are a depth, and a `Backfill` lets jobs pass at intervals, as Slurm does: "slurm" at
        its defaults.
    nodes_per_switch : int
        Number of consecutive nodes per switch, where a job that fits under one gets its nodes there; 0: anywhere.
    **settings
        As for `hopperlib.scheduling.scheduler.simulate`.

    Raises
    ------
    InputError
        If a setting is unknown, or a job is wider than the machine or its queue allows.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> list(simulate(jobs, 10, policy=lambda view: view.fitting[:1]).start_s)
    [0, 100, 2]
    """
    nodes = plain_number(nodes)
    policy = Backfill() if policy == "slurm" else policy
    if isinstance(policy, Backfill):
        # Slurm's choice of nodes: the smallest free run that holds the job, else the largest ones.
        settings.setdefault("allocation", "best")
    cluster = _one_pool(nodes) if isinstance(nodes, int) else nodes
    queues_of = partial(
        _queues, cluster=cluster, policy=policy if callable(policy) else None, nodes_per_switch=nodes_per_switch
    )
    return model.simulate(
        workload,
        len(cluster.nodes),
        policy="easy" if callable(policy) else policy,
        wanted=None if isinstance(nodes, int) else [_wanted(workload, job, nodes) for job in range(len(workload))],
        queues_of=queues_of,
        **settings,
    )


def _queues(
    run: Loop,
    depth: int,
    free: Callable[[list[int]], FirstFit],
    downtimes: Sequence[Downtime],
    *,
    cluster: Cluster,
    policy: Policy | None,
    nodes_per_switch: int,
) -> Mapping[str, PoolQueue]:
    """Return the queue of each partition, all of them one under a custom policy."""
    pools = _pool_queues(run, cluster, depth, free, downtimes, nodes_per_switch)
    return dict.fromkeys(pools, CustomPolicyQueue(run, pools, policy)) if policy else pools


def _pool_queues(
    run: Loop,
    cluster: Cluster,
    depth: int,
    free: Callable[[list[int]], FirstFit],
    downtimes: Sequence[Downtime],
    nodes_per_switch: int,
) -> dict[str, PoolQueue]:
    """Return the queues of the partitions; nodes that are whole and alike are counted, which is faster."""
    queues: dict[str, PoolQueue] = {}
    wants = set(run.wanted)
    used, sharing = {want[0] for want in wants}, {want[0] for want in wants if want[1:] != (0, 0, 0)}
    for names in cluster.parts():
        members = {name: cluster.partitions[name].nodes for name in names}
        whole = None
        by_name = run.backfill is not None and len(run.wanted) <= _PLANS_BY_NAME
        if len(names) == 1 and not nodes_per_switch and names[0] not in sharing and not by_name:
            whole = whole_node_queue(run, free(joined(members[names[0]])), depth, downtimes)
        if whole:
            queues[names[0]] = whole
        elif used & set(names):
            kind = ReservationQueue if depth > 1 or run.backfill else SharedBackfillQueue
            shared = kind(
                run,
                cluster.nodes,
                members,
                depth=depth,
                free=free,
                nodes_per_switch=nodes_per_switch,
                downtimes=downtimes,
            )
            queues |= dict.fromkeys(names, shared)
    return queues


def _one_pool(nodes: int) -> Cluster:
    """Return one partition for all queues, with this many exclusive nodes."""
    return Cluster(
        nodes=(NodeResources(),) * nodes, partitions={"": Partition(nodes=tuple(range(nodes)), exclusive=True)}
    )


def _wanted(workload: Workload, job: int, cluster: Cluster) -> Wanted:
    """Return a job's request and its partition."""
    name = cluster.partition(workload.word("queue", job))
    return (name, 0, 0, 0) if cluster.partitions[name].exclusive else (name, *demand(workload, job))


def infeasible_jobs(workload: Workload, nodes: int | Cluster) -> list[int]:
    """Return the jobs, by their indices, that could never start: too wide, or for no node of their partition.

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> infeasible_jobs(Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50)]), 7)
    [1]
    """
    nodes = plain_number(nodes)
    if isinstance(nodes, int):
        return [job for job, width in enumerate(workload.nodes) if width > nodes]
    able: dict[Wanted | None, int] = {None: 0}
    jobs = []
    for job in range(len(workload)):
        try:
            want = _wanted(workload, job, nodes)
        except InputError:
            want = None
        if want is not None and want not in able:
            able[want] = sum(suffices(capacity(nodes.nodes[node]), want) for node in nodes.partitions[want[0]].nodes)
        if workload.nodes[job] > able[want]:
            jobs.append(job)
    return jobs
