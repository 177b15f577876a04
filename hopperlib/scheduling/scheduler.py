"""An event-driven batch scheduler that remembers which nodes every job had.

The rules are fixed, so that schedules compare:

- At one instant, completions come first, then machine events, then submissions, then one scheduling pass.
- A job ends after its run time, or at its limit if that is shorter.
  ``overrun="keep"`` lets it run on; once over its limit, it is expected to
  end at every moment.
- The queue is ordered by priority, then by submission, or by the site's rules.
- ``fcfs``: the head starts as soon as it fits; nobody passes it.
- ``easy``: the head is promised the earliest time at which enough nodes are free by the limits of the running jobs, all
  ends up to that time counted. Others may pass it if they end by then according to their limits, or use nodes that the
  head leaves over at that time, which are then used up.
- ``conservative``: every waiting job is promised the earliest time at which it
  delays nobody before it in the queue, and each job starts when its time has come. A
  depth, such as ``10``, does so for that many of the first of each partition: 0 is ``fcfs``, 1 ``easy``.

Each job has whole nodes that are alike, so counting them is enough. Shared nodes, overlapping
partitions and custom policies need other queues, which the caller passes (`hopperkit.traces.scheduler`).

Queue tables and limits apply across partitions: the job earlier in the queue is tried first, in any partition.

Nodes are positions in a list. A node order maps positions to the machine afterwards: with the default allocation the
schedule does not depend on it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from hopperlib.errors import InputError, refusal
from hopperlib.scheduling._free_nodes import ChosenFit, Contiguous, FirstFit, NodeChoice, free_list
from hopperlib.scheduling._simulation.loop import Loop
from hopperlib.scheduling._simulation.pool_queue import FOREVER, PoolQueue, Wanted
from hopperlib.scheduling._simulation.waiting import Limits, Order
from hopperlib.scheduling._simulation.whole import ContiguousQueue, NodeCountQueue, WholeNodeQueue
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure, Queue, Rules, fixed_priorities
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload

__all__ = ["POLICIES", "NodeChoice", "Queues", "simulate", "whole_node_queue"]

#: The queue of each partition: what `simulate` calls with the loop, the depth, a maker of free lists and the downtimes.
Queues = Callable[[Loop, int, Callable[[list[int]], FirstFit], Sequence[Downtime]], Mapping[str, PoolQueue]]

POLICIES: tuple[str, ...] = ("easy", "fcfs", "conservative")
# The depth of each policy.
_DEPTHS = {"fcfs": 0, "easy": 1, "conservative": 1 << 31}
_WHOLE: Wanted = ("", 0, 0, 0)


def simulate(
    workload: Workload,
    nodes: int,
    *,
    policy: str | Backfill = "easy",
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
    wanted: Sequence[Wanted] | None = None,
    queues_of: Queues | None = None,
) -> Schedule:
    """Return the schedule of a workload on a machine.

    Parameters
    ----------
    workload : Workload
    nodes : int
        Nodes of the machine, each for one job at a time.
    policy : {"easy", "fcfs", "conservative"}, digits or Backfill
        Who may pass whom, see above; digits are a depth. A `Backfill` lets jobs pass at intervals, as Slurm does.
    queue_order : {"submission", "size", "length", "multifactor"}
        Within one priority of the queues: in order of submission, the widest or the shortest limit first, or by `rules`.
    rules : Rules or None
        Weights of the multifactor order, and limits on concurrent use.
    allocation : {"first", "best", "contiguous", "random"} or NodeChoice
        How nodes are picked from the free ones: the first of the list, as Hopper's scheduler did; the
        smallest run that holds the job, else the largest runs first; one run only, for which a job
        waits; at random; or as a `NodeChoice` picks them.
    overrun : {"kill", "keep"}
        Action at a job's limit.
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
        Called from time to time with the number of jobs submitted so far.
    until_s : int or None
        Stop at this instant; running jobs keep their expected ends. `Schedule.resume` continues.
    wanted : sequence or None
        Partition of each job and the cores, GPUs and memory that it requests per node; None for whole nodes of one pool.
    queues_of : callable or None
        Makes the queue of each partition; None for whole nodes that are counted.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        If a setting is unknown, or a job is wider than the machine or its queue allows.

    Examples
    --------
    Ten nodes. Job 2 waits for job 1; job 3 fits next to job 1 and ends in time, so it passes job 2:

    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> schedule = simulate(jobs, 10)
    >>> list(schedule.start_s), schedule.runs(2)
    ([0, 100, 2], [(6, 10)])
    >>> list(simulate(jobs, 10, policy="fcfs").start_s)
    [0, 100, 150]
    """
    _check_settings(policy, overrun, nodes, sample_every_s)
    _check(workload, nodes, queues)
    rules = rules or Rules()
    fixed = fixed_priorities(workload, queue_order, rules, nodes)
    if queue_order != "multifactor":
        rules = replace(rules, age=0.0, fair_share=0.0)
    wanted = [_WHOLE] * len(workload) if wanted is None else wanted
    run = Loop(
        Schedule(workload, nodes),
        Order(workload, queues, fixed, rules),
        Limits(workload, queues, rules, [downtime.queue for downtime in downtimes if downtime.queue], bool(closures)),
        wanted,
        keep=overrun == "keep",
        requeue=requeue,
        backfill=policy if isinstance(policy, Backfill) else None,
    )
    of_partition = (queues_of or _one_queue)(run, _depth(policy), partial(free_list, allocation, rng=rng), downtimes)
    pool_queues = list(dict.fromkeys(of_partition.values()))
    queue_of = pool_queues * len(wanted) if len(pool_queues) == 1 else [of_partition[want[0]] for want in wanted]
    run.schedule.events = run.run(pool_queues, queue_of, downtimes, closures, progress, sample_every_s, -1)
    next(run.schedule.events, None)
    run.schedule.resume(FOREVER if until_s is None else until_s)
    return run.schedule


def _depth(policy: str | Backfill) -> int:
    """Return for how many blocked jobs a policy reserves a start."""
    if isinstance(policy, Backfill):
        return policy.depth
    return _DEPTHS[policy] if policy in _DEPTHS else int(policy)


def _one_queue(
    run: Loop, depth: int, free: Callable[[list[int]], FirstFit], downtimes: Sequence[Downtime]
) -> Mapping[str, PoolQueue]:
    """Return the queue of a machine whose nodes are all alike and held by one job at a time."""
    queue = whole_node_queue(run, free([0, run.schedule.nodes]), depth, downtimes)
    if queue is None:
        raise InputError(
            "this combination of policy, allocation and downtimes needs queues that name their nodes: "
            "simulate with hopperkit.traces.scheduler"
        )
    return {"": queue}


def whole_node_queue(run: Loop, nodes: FirstFit, depth: int, downtimes: Sequence[Downtime]) -> PoolQueue | None:
    """Return the queue of a partition of whole nodes; None where counting them is not enough.

    Parameters
    ----------
    run : Loop
    nodes : FirstFit
        Free nodes of the partition.
    depth : int
        Number of blocked jobs that get a promised start.
    downtimes : sequence of Downtime

    Examples
    --------
    `simulate` calls it for its single pool:

    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> list(simulate(Workload([Job(1, 0, 6, 100, 100)]), 10, policy="5").start_s)
    [0]
    """
    together = isinstance(nodes, Contiguous)
    if any(each.is_known_part for each in downtimes):
        return None
    if depth <= 1 and not run.backfill and not (isinstance(nodes, ChosenFit) and nodes.choice.wait_s > 0):
        return (ContiguousQueue if together else WholeNodeQueue)(run, nodes, easy=depth == 1)
    return None if together or any(each.drained for each in downtimes) else NodeCountQueue(run, nodes, depth)


def _check_settings(policy: str | Backfill, overrun: str, nodes: int, sample_every_s: int | None) -> None:
    """Refuse a setting of `simulate` that is unknown or too small."""
    if isinstance(policy, Backfill):
        for name, value in zip(policy._fields, policy, strict=True):
            if value < 1:
                raise refusal(name, value, "must be at least 1")
    elif policy not in POLICIES and not policy.isdecimal():
        raise refusal("policy", policy, f"must be one of: {', '.join(POLICIES)}, or a depth")
    if overrun not in ("kill", "keep"):
        raise refusal("overrun", overrun, "must be kill or keep")
    if nodes < 1:
        raise refusal("nodes", nodes, "must be at least 1")
    if sample_every_s is not None and sample_every_s < 1:
        raise refusal("sample_every_s", sample_every_s, "must be at least 1 s")


def _check(workload: Workload, nodes: int, queues: Sequence[Queue]) -> None:
    """Refuse jobs that could never start."""
    if len(workload) and max(workload.nodes) > nodes:
        index = next(i for i, width in enumerate(workload.nodes) if width > nodes)
        raise InputError(
            f"job {workload.job[index]} requests nodes={workload.nodes[index]}, more than the {nodes} of the machine"
        )
    limits = {queue.name: queue for queue in queues}
    for job in workload if limits else ():
        if job.queue in limits:
            limits[job.queue].check(job)
