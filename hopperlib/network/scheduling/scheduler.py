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

Nodes are positions in a list. Where a position lies in the machine is decided
by a node order afterwards: with the default allocation the schedule does not
depend on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hopperlib.errors import InputError, refusal
from hopperlib.network.scheduling._free_nodes import free_list
from hopperlib.network.scheduling._loop import FOREVER, Loop
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.workload import Workload

__all__ = ["POLICIES", "simulate"]

POLICIES: tuple[str, ...] = ("easy", "fcfs")


def simulate(
    workload: Workload,
    nodes: int,
    *,
    policy: str = "easy",
    allocation: str = "first",
    overrun: str = "kill",
    queues: Sequence[Queue] = (),
    aging_s: int | None = None,
    downtimes: Sequence[Downtime] = (),
    rng: random.Random | None = None,
    sample_every_s: int | None = None,
    runtime: Callable[[int, list[int]], int] | None = None,
    progress: Callable[[int], object] | None = None,
    until_s: int | None = None,
) -> Schedule:
    """Return the schedule of a workload on a machine.

    Parameters
    ----------
    workload : Workload
    nodes : int
        Nodes of the machine.
    policy : {"easy", "fcfs"}
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
    if policy not in POLICIES:
        raise refusal("policy", policy, f"must be one of: {', '.join(POLICIES)}")
    if overrun not in ("kill", "keep"):
        raise refusal("overrun", overrun, "must be kill or keep")
    if nodes < 1:
        raise refusal("nodes", nodes, "must be at least 1")
    for name, seconds in (("sample_every_s", sample_every_s), ("aging_s", aging_s)):
        if seconds is not None and seconds < 1:
            raise refusal(name, seconds, "must be at least 1 s")
    _check(workload, nodes, queues)
    loop = Loop(
        workload, nodes, free_list(allocation, nodes, rng), queues, downtimes, aging_s,
        easy=policy == "easy", keep=overrun == "keep", runtime=runtime,
    )  # fmt: skip
    loop.run(progress, sample_every_s, FOREVER if until_s is None else until_s)
    return loop.schedule


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
