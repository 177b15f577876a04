"""Run time by threads per task, on fully used nodes. More threads mean fewer tasks, which has costs and savings. Costs:

* the serial part of a task takes longer by the number of threads (Amdahl);
* a task wider than a NUMA node reads memory that its first thread touched over a link, and all its threads share the
  channels of one NUMA node.

Savings: the tasks of a node send their copies through one network interface, so a collective takes tasks per node times
the levels of its tree; and data replicated in each task have fewer copies
(`hopperlib.placement.models.memory.merged_need`).

All times are in units of the pure MPI run, spread over the NUMA nodes with local memory. Not modeled: caches, the cost
of starting and joining threads (include it in the serial part), surfaces of blocks that grow with the task, and
overlap.
"""

import math
from dataclasses import dataclass, replace

from hopperlib.errors import refusal, within
from hopperlib.machine import NodeKind

#: Assumed: repeated runs on the same nodes differ by about this much. Smaller differences cannot be shown by one or
# two runs.
VARIATION = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShares:
    """Parts of a run, relative to the run with one thread per task.

    Parameters
    ----------
    parallel_fraction : float
        Share of a task's work that its threads share. [0-1]
    mpi_share : float
        Share of the run spent on per-task MPI costs. [0-1]
    memory_bound_fraction : float
        Share of the rest spent waiting for memory. [0-1]

    Raises
    ------
    InputError
        If a share is not from 0 to 1.
    """

    parallel_fraction: float
    mpi_share: float
    memory_bound_fraction: float

    def __post_init__(self) -> None:
        within(0, 1, **{name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCost:
    """Parts of the run time for one number of threads per task, relative to the pure MPI run.

    Parameters
    ----------
    threads, tasks_per_node : int
    serial_memory, parallel_memory : float
        Time for one thread of each task, or all threads, to read the same amount. [ratio]
    mpi : float
        Time of per-task MPI costs. [ratio]

    Examples
    --------
    Three threads that share all work without waiting for memory; one fifth of the time is spent in collectives, with a
    third as many tasks:

    >>> cost = ThreadCost(threads=3, tasks_per_node=8, serial_memory=1, parallel_memory=1, mpi=0.3)
    >>> round(cost.run_time(RunShares(parallel_fraction=1.0, mpi_share=0.2, memory_bound_fraction=0.5)), 2)
    0.86
    """

    threads: int
    tasks_per_node: int
    serial_memory: float
    parallel_memory: float
    mpi: float

    def run_time(self, shares: RunShares) -> float:
        """Run time over that of the pure MPI run. [ratio]

        Parameters
        ----------
        shares : RunShares
            Parts of the run.
        """
        shared, waiting = shares.parallel_fraction, shares.memory_bound_fraction
        # With n threads per task there are n times fewer tasks, each with n times the work: serial work takes n times
        # as long, shared work as long as before.
        alone = (1 - shared) * self.threads
        memory = alone * self.serial_memory + shared * self.parallel_memory
        work = waiting * memory + (1 - waiting) * (alone + shared)
        return (1 - shares.mpi_share) * work + shares.mpi_share * self.mpi


def thread_counts(cores: int) -> tuple[int, ...]:
    """Return the numbers of threads per task that leave no core idle.

    Parameters
    ----------
    cores : int
        Cores of a node.

    Examples
    --------
    >>> thread_counts(12)
    (1, 2, 3, 4, 6, 12)
    """
    return tuple(threads for threads in range(1, cores + 1) if cores % threads == 0)


def _seats(kind: NodeKind, tasks: int, threads: int, spread: bool) -> list[list[tuple[int, int]]]:
    """Return for each task its NUMA nodes with its threads there: tasks distributed round-robin on request if possible,
    otherwise in order.

    The first thread is on the first of these NUMA nodes.
    """
    each = kind.cores_per_numa_node
    if spread and tasks <= each // threads * kind.numa_nodes:
        return [[(task * kind.numa_nodes // tasks, threads)] for task in range(tasks)]
    seats = []
    for first in range(0, tasks * threads, threads):
        end = first + threads
        nodes = range(first // each, (end - 1) // each + 1)
        seats.append([(node, min(end, (node + 1) * each) - max(first, node * each)) for node in nodes])
    return seats


def _reading_s(kind: NodeKind, reads: dict[tuple[int, int], float], slowest_s: float) -> float:
    """Time of reads in GB by (NUMA node of the thread, of the data), if no thread is faster than `slowest_s`. [s]"""
    held = [0.0] * kind.numa_nodes
    for (_, home), amount in reads.items():
        held[home] += amount
    channels_s = max(held) / kind.numa_bandwidth_gb_s
    link_gb_s = kind.numa_link_gb_s or math.inf
    links_s = max((amount / link_gb_s for (here, home), amount in reads.items() if here != home), default=0.0)
    return max(slowest_s, channels_s, links_s)


def memory_times(
    kind: NodeKind, tasks: int, threads: int, *, elsewhere: float = 0.0, spread: bool = True, spilled: float = 0.0
) -> tuple[float, float]:
    """Times for the first thread of every task, and for all threads, to read 1 GB each. [s], [s] The slowest of three
    limits the rate: a thread at its core's cap (lower for remote data), the channels of the fullest NUMA node, the
    busiest link between two NUMA nodes.

    Parameters
    ----------
    kind : NodeKind
    tasks, threads : int
        Tasks on the node, and threads of each.
    elsewhere : float
        Share of a task's data first touched by its first thread, and therefore local to it. [0-1]
    spread : bool
        Whether whole tasks are distributed over the NUMA nodes (aprun's ``-S``), where they fit.
    spilled : float
        Share of the first NUMA node's data that does not fit there and is on the next, as without aprun's ``-ss``. One
        full NUMA node suffices: the slowest task determines the run time. [0-1]

    Raises
    ------
    InputError
        If tasks and threads do not fit the cores, or a share is not from 0 to 1.

    Examples
    --------
    Four tasks of six threads have a NUMA node each. Two tasks of twelve threads that first touched all data on one of
    their two NUMA nodes leave the channels of the other idle, and take twice as long:

    >>> from hopperlib.machine import Machine
    >>> node = Machine.load("hopper").node()
    >>> narrow, wide = memory_times(node, 4, 6), memory_times(node, 2, 12, elsewhere=1.0)
    >>> wide[1] / narrow[1]
    2.0
    """
    if tasks < 1 or threads < 1 or tasks * threads > kind.cores:
        raise refusal("threads", threads, f"times {tasks} tasks must be from 1 to {kind.cores}, the cores of the node")
    within(0, 1, elsewhere=elsewhere, spilled=spilled)
    full = {0: 1 - spilled, 1: spilled} if kind.numa_nodes > 1 else {0: 1.0}

    def share_of(data: int, home: int) -> float:
        """Share of the data of one NUMA node that is on another, or on itself."""
        return full.get(home, 0.0) if data == 0 else float(data == home)

    first: dict[tuple[int, int], float] = {}
    reads: dict[tuple[int, int], float] = {}
    slowest = slowest_first = 0.0
    for seats in _seats(kind, tasks, threads, spread):
        leader = seats[0][0]
        for here, count in seats:
            shares = [
                elsewhere * share_of(leader, home) + (1 - elsewhere) * share_of(here, home)
                for home in range(kind.numa_nodes)
            ]
            far = 1 - shares[here]
            # Remote data arrive at a fraction of the core's rate, so each byte takes longer.
            time_s = (1 - far + far / kind.remote_bandwidth_fraction) / kind.core_bandwidth_cap_gb_s
            slowest = max(slowest, time_s)
            for home, share in enumerate(shares):
                reads[here, home] = reads.get((here, home), 0.0) + share * count
                if here == leader:
                    first[here, home] = first.get((here, home), 0.0) + share
            if here == leader:
                slowest_first = max(slowest_first, time_s)
    return _reading_s(kind, first, slowest_first), _reading_s(kind, reads, slowest)


def stream_gb_s(kind: NodeKind, threads: int, *, elsewhere: float) -> float:
    """Memory bandwidth of one task alone on a node, as STREAM measures it. [GB/s]

    Parameters
    ----------
    kind : NodeKind
        Kind of node.
    threads : int
        Threads per task.
    elsewhere : float
        Share of remote data, from 0 to 1.

    Examples
    --------
    On a whole node, with memory first touched by the thread that reads it, and with all memory first touched by the
    first thread:

    >>> from hopperlib.machine import Machine
    >>> node = Machine.load("hopper").node()
    >>> stream_gb_s(node, node.cores, elsewhere=0) / stream_gb_s(node, node.cores, elsewhere=1)
    4.0
    """
    return threads / memory_times(kind, 1, threads, elsewhere=elsewhere, spread=False)[1]


def _for_jobs(kind: NodeKind) -> NodeKind:
    """Return a kind of node with only the cores that jobs may use, if all NUMA nodes have the same number of them."""
    each, rest = divmod(len(kind.usable_cores), kind.numa_nodes)
    return kind if rest else replace(kind, cores_per_numa_node=each, reserved_cores=())


def thread_costs(
    kind: NodeKind,
    tasks: int,
    *,
    cores: int | None = None,
    elsewhere: float = 0.0,
    spread: bool = True,
    spilled: float = 0.0,
) -> tuple[ThreadCost, ...]:
    """Compute the cost of each number of threads per task, fewest first.

    Parameters
    ----------
    kind : NodeKind
    tasks : int
        Tasks of the whole job with one thread each; with `d` threads the job has ``tasks / d`` tasks.
    cores : int or None
        Cores used per node; None for all that jobs may use. On nodes with GPUs, each GPU has at least one task.
    elsewhere, spread, spilled
        As for `memory_times`.

    Raises
    ------
    InputError
        If the node has fewer cores, or the job fewer tasks.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [(cost.threads, round(cost.mpi, 2)) for cost in thread_costs(Machine.load("hopper").node(), 6144)][:4]
    [(1, 1.0), (2, 0.46), (3, 0.29), (4, 0.21)]
    """
    kind = _for_jobs(kind)
    used = kind.cores if cores is None else cores
    within(1, kind.cores, ", those of the node", cores=used)
    if tasks < used:
        raise refusal("tasks", tasks, f"must be at least {used}, one node with one thread per task")
    base_s = memory_times(kind, used, 1)[1]
    costs = []
    for threads in thread_counts(used):
        if threads > max(used // kind.gpus if kind.gpus else used, 1):
            break
        first_s, all_s = memory_times(
            kind, used // threads, threads, elsewhere=elsewhere, spread=spread, spilled=spilled
        )
        # A tree over the tasks has log2 levels; at each level the tasks of a node pass their copies through one
        # interface.
        levels = math.log2(max(tasks / threads, 1)) / math.log2(tasks) if tasks > 1 else 1.0
        costs.append(
            ThreadCost(
                threads=threads,
                tasks_per_node=used // threads,
                serial_memory=first_s / base_s,
                parallel_memory=all_s / base_s,
                mpi=levels / threads,
            )
        )
    return tuple(costs)


def best_threads(costs: tuple[ThreadCost, ...], shares: RunShares) -> ThreadCost:
    """Return the fastest option; of equally fast ones, the one with fewer threads.

    Parameters
    ----------
    costs : tuple of ThreadCost
        Cost of each number of threads.
    shares : RunShares
        Parts of the run time.

    Examples
    --------
    With nothing to save in MPI, one thread per task is as fast as any:

    >>> from hopperlib.machine import Machine
    >>> costs = thread_costs(Machine.load("hopper").node(), 6144)
    >>> best_threads(costs, RunShares(parallel_fraction=1.0, mpi_share=0.0, memory_bound_fraction=0.5)).threads
    1
    """
    return min(costs, key=lambda cost: cost.run_time(shares))


def close_to(costs: tuple[ThreadCost, ...], best: ThreadCost, shares: RunShares) -> tuple[ThreadCost, ...]:
    """Return the options that one or two runs cannot distinguish from the best, including the best.

    Parameters
    ----------
    costs : tuple of ThreadCost
        Cost of each number of threads.
    best : ThreadCost
        The fastest.
    shares : RunShares
        Parts of the run time.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> costs = thread_costs(Machine.load("hopper").node(), 6144)
    >>> shares = RunShares(parallel_fraction=1.0, mpi_share=0.0, memory_bound_fraction=0.5)
    >>> len(close_to(costs, best_threads(costs, shares), shares)) == len(costs)
    True
    """
    most = (1 + VARIATION) * best.run_time(shares)
    return tuple(cost for cost in costs if cost.run_time(shares) <= most)
