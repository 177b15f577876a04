"""An event-driven batch scheduler that remembers which nodes every job had.

The rules are fixed, so that schedules compare:

- At one instant, completions come first, then what happens to the machine,
  then submissions, then one look at the queue.
- A job ends after its run time, or at its limit if that is shorter.
  ``overrun="keep"`` lets it run on; once over its limit, it is expected to
  end at every moment.
- The queue is in order of priority, then of submission, or as the rules of the site say.
- ``fcfs``: the head starts as soon as it fits; nobody passes it.
- ``easy``: the head is promised the earliest time at which enough nodes are
  free by the limits of the running jobs, all ends up to that time counted.
  Others may pass it if they end by then by their own limit, or use nodes that
  the head leaves over at that time, which they use up.
- ``conservative``: every waiting job is promised the earliest time at which it
  delays nobody before it in the queue, and each job starts when its time has come. A
  depth, such as ``10``, does so for that many of the first of each partition: 0 is ``fcfs``, 1 ``easy``.
- A policy may also be a function: it sees a `View` whenever something ended or came and there is room for
  the narrowest waiting job, and returns, or yields, those of its waiting jobs that are to start now.

On a cluster with partitions each queue is one of them, and each has its own
head. A job wants the same of each of its nodes: its cores, GPUs and memory
divided by them, rounded up; without cores, whole nodes. It gets the first nodes
of its partition that have room.

Where nodes are shared, differ or belong to several partitions, the promise of ``easy`` is the earliest time at which
enough of them have room for the head by the limits of those who run there; a job that
runs on then may take a node from it only where it still finds room there, or
as many as it can spare. Promises of several partitions do not count each other. At a
depth of two or more they do, and each names its nodes: of those that have room for it the
ones that were idle for the shortest time before. Who passes may run beside it on
these nodes, but take nothing that it needs. All promises are made anew whenever
something changes, in the order of the queue.

Queue tables and limits hold across partitions: the job that is earlier in the queue is
tried first, in whatever partition.

Nodes are positions in a list. Where a position lies in the machine is decided
by a node order afterwards: with the default allocation the schedule does not
depend on it.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from hopperlib.errors import InputError, refusal
from hopperlib.scheduling._free_nodes import ChosenFit, Contiguous, FirstFit, NodeChoice, free_list, joined
from hopperlib.scheduling._lanes.lane import FOREVER, Lane, Wanted
from hopperlib.scheduling._lanes.loop import Loop
from hopperlib.scheduling._lanes.named import NamedLane, capacity, suffices
from hopperlib.scheduling._lanes.own import OwnLane, Policy, View
from hopperlib.scheduling._lanes.sparing import SparingLane
from hopperlib.scheduling._lanes.waiting import Limits, Order
from hopperlib.scheduling._lanes.whole import ContiguousLane, CountedLane, WholeLane
from hopperlib.scheduling.cluster import Cluster, NodeResources, Partition, demand
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure, Queue, Rules, fixed_priorities
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload

__all__ = ["POLICIES", "NodeChoice", "Policy", "View", "simulate", "too_wide"]

POLICIES: tuple[str, ...] = ("easy", "fcfs", "conservative")
# The depth that each policy stands for.
_DEPTHS = {"fcfs": 0, "easy": 1, "conservative": 1 << 31}
_WHOLE: Wanted = ("", 0, 0, 0)


def simulate(
    workload: Workload,
    nodes: int | Cluster,
    *,
    policy: str | Policy = "easy",
    queue_order: str = "submission",
    rules: Rules | None = None,
    allocation: str | NodeChoice = "first",
    overrun: str = "kill",
    queues: Sequence[Queue] = (),
    downtimes: Sequence[Downtime] = (),
    closures: Sequence[Closure] = (),
    rng: random.Random | None = None,
    sample_every_s: int | None = None,
    requeue: bool = False,
    progress: Callable[[int], object] | None = None,
    until_s: int | None = None,
    nodes_per_switch: int = 0,
) -> Schedule:
    """Return the schedule of a workload on a machine.

    Parameters
    ----------
    workload : Workload
    nodes : int or Cluster
        Nodes of the machine, each for one job at a time; or partitions of nodes that may be shared.
    policy : {"easy", "fcfs", "conservative"}, digits or callable
        Who may pass whom, see above; digits are a depth.
    queue_order : {"submission", "size", "length", "multifactor"}
        Within one priority of the queues: as they came, the widest or the shortest limit first, or by `rules`.
    rules : Rules or None
        Weights of the multifactor order, and limits of what runs at a time.
    allocation : {"first", "best", "contiguous", "random"} or NodeChoice
        How nodes are picked from the free ones: the first of the list, as Hopper's scheduler did; the
        smallest run that holds the job, else the largest runs first; one run only, for which a job
        waits; at random; or as a `NodeChoice` picks them.
    overrun : {"kill", "keep"}
        What happens at a job's limit.
    queues : sequence of Queue
        Priorities and limits by name; jobs of other queues have priority 0.
    downtimes : sequence of Downtime
    closures : sequence of Closure
        Closed hours: times in which no job with a longer limit starts; it blocks nobody then.
    rng : random.Random or None
        For random allocation; only its ``random()`` is used.
    sample_every_s : int or None
        Interval of the machine's records; None for none. [s]
    requeue : bool
        Whether a job that an outage ends queues again, at its old place; else it is lost.
    progress : callable or None
        Called now and then with the number of jobs submitted so far.
    until_s : int or None
        Stop looking at this instant; what runs then stays as it is expected to end. `Schedule.go_on` looks further.
    nodes_per_switch : int
        So many neighbors in the list are under one switch, where a job that fits under one has its nodes; 0: anywhere.

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

    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> schedule = simulate(jobs, 10)
    >>> list(schedule.start_s), schedule.runs(2)
    ([0, 100, 2], [(6, 10)])
    >>> list(simulate(jobs, 10, policy="fcfs").start_s)
    [0, 100, 150]
    """
    cluster = _one_pool(nodes) if isinstance(nodes, int) else nodes
    count = len(cluster.nodes)
    _check_settings(policy, overrun, count, sample_every_s)
    _check(workload, count, queues)
    rules = rules or Rules()
    fixed = fixed_priorities(workload, queue_order, rules, count)
    if queue_order != "multifactor":
        rules = replace(rules, age=0.0, fair_share=0.0)
    wanted = _wants(workload, nodes)
    run = Loop(
        Schedule(workload, count),
        Order(workload, queues, fixed, rules),
        Limits(workload, queues, rules, [downtime.queue for downtime in downtimes if downtime.queue], bool(closures)),
        wanted,
        keep=overrun == "keep",
        requeue=requeue,
    )
    free = partial(free_list, allocation, rng=rng)
    if callable(policy):
        pools = _lanes(run, cluster, 1, free, downtimes, nodes_per_switch)
        of_partition: dict[str, Lane] = dict.fromkeys(pools, OwnLane(run, pools, policy))
    else:
        of_partition = _lanes(run, cluster, _depth(policy), free, downtimes, nodes_per_switch)
    lanes = list(dict.fromkeys(of_partition.values()))
    lane_of = lanes * len(wanted) if len(lanes) == 1 else [of_partition[want[0]] for want in wanted]
    run.schedule.events = run.run(lanes, lane_of, downtimes, closures, progress, sample_every_s, -1)
    next(run.schedule.events, None)
    run.schedule.go_on(FOREVER if until_s is None else until_s)
    return run.schedule


def _depth(policy: str) -> int:
    """Return for how many blocked jobs a policy reserves a start."""
    return _DEPTHS[policy] if policy in _DEPTHS else int(policy)


def _lanes(
    run: Loop,
    cluster: Cluster,
    depth: int,
    free: Callable[[list[int]], FirstFit],
    downtimes: Sequence[Downtime],
    nodes_per_switch: int,
) -> dict[str, Lane]:
    """Return the queues of the partitions; nodes that are whole and alike are counted, which is faster."""
    lanes: dict[str, Lane] = {}
    wants = set(run.wanted)
    used, sharing = {want[0] for want in wants}, {want[0] for want in wants if want[1:] != (0, 0, 0)}
    for names in cluster.parts():
        members = {name: cluster.partitions[name].nodes for name in names}
        whole = None
        if len(names) == 1 and not nodes_per_switch and names[0] not in sharing:
            whole = _counted_lane(run, free(joined(members[names[0]])), depth, downtimes)
        if whole:
            lanes[names[0]] = whole
        elif used & set(names):
            kind = NamedLane if depth > 1 else SparingLane
            shared = kind(
                run,
                cluster.nodes,
                members,
                depth=depth,
                free=free,
                nodes_per_switch=nodes_per_switch,
                downtimes=downtimes,
            )
            lanes |= dict.fromkeys(names, shared)
    return lanes


def _counted_lane(run: Loop, nodes: FirstFit, depth: int, downtimes: Sequence[Downtime]) -> Lane | None:
    """Return the queue of a partition of whole nodes, if counting them is enough."""
    together = isinstance(nodes, Contiguous)
    if any(each.is_known_part for each in downtimes):
        return None
    if depth <= 1 and not (isinstance(nodes, ChosenFit) and nodes.choice.wait_s > 0):
        return (ContiguousLane if together else WholeLane)(run, nodes, easy=depth == 1)
    return None if together or any(each.drained for each in downtimes) else CountedLane(run, nodes, depth)


def _check_settings(policy: str | Policy, overrun: str, nodes: int, sample_every_s: int | None) -> None:
    """Refuse a setting of `simulate` that is unknown or too small."""
    if not callable(policy) and policy not in POLICIES and not policy.isdecimal():
        raise refusal("policy", policy, f"must be one of: {', '.join(POLICIES)}; a depth, or a function")
    if overrun not in ("kill", "keep"):
        raise refusal("overrun", overrun, "must be kill or keep")
    if nodes < 1:
        raise refusal("nodes", nodes, "must be at least 1")
    if sample_every_s is not None and sample_every_s < 1:
        raise refusal("sample_every_s", sample_every_s, "must be at least 1 s")


def _one_pool(nodes: int) -> Cluster:
    """Return that many nodes, of which each runs one job, in one partition for all queues."""
    return Cluster(
        nodes=(NodeResources(),) * nodes, partitions={"": Partition(nodes=tuple(range(nodes)), exclusive=True)}
    )


def _wants(workload: Workload, nodes: int | Cluster) -> list[Wanted]:
    """Return what each job wants."""
    jobs = range(len(workload))
    return [_WHOLE] * len(jobs) if isinstance(nodes, int) else [_wanted(workload, job, nodes) for job in jobs]


def _wanted(workload: Workload, job: int, cluster: Cluster) -> Wanted:
    """Return what a job wants, and of which partition."""
    name = cluster.partition(workload.word("queue", job))
    return (name, 0, 0, 0) if cluster.partitions[name].exclusive else (name, *demand(workload, job))


def too_wide(workload: Workload, nodes: int | Cluster) -> list[int]:
    """Return the jobs, by their indices, that could never start: too wide, or for no node of their partition.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> too_wide(Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50)]), 7)
    [1]
    """
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


def _check(workload: Workload, nodes: int, queues: Sequence[Queue]) -> None:
    """Refuse jobs that could never start."""
    if len(workload) and max(workload.nodes) > nodes:
        index = next(i for i, width in enumerate(workload.nodes) if width > nodes)
        raise InputError(
            f"job {workload.job[index]} asks for nodes={workload.nodes[index]}, more than the {nodes} of the machine"
        )
    limits = {queue.name: queue for queue in queues}
    for job in workload if limits else ():
        if job.queue in limits:
            limits[job.queue].check(job)
