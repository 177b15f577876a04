"""Rates of clients: tasks on a node, a node in one file, nodes together, and aggregators of collective buffering.

Each step follows the law of `hopperlib.contention.saturation`: tasks share the bandwidth of their node, nodes share
that of the storage. Two ceilings belong to the file and not to the node. One node writes one file at 0.45 to 1.4 GB/s,
regardless of its stripes and the number of writing tasks: the client serializes the writes to a file, so that they are
about as fast as one core copies. The rate of a single task to a file confirms that: where both were measured, all tasks
together achieve 0.98 (Cirrus), 1.37 (ARCHER2) and 1.47 (Dell) times that rate in one file. A known task rate is
therefore used instead of the mean of other systems. An aggregator of collective buffering receives the pieces before it
writes them, in rounds of one buffer; in each, the tasks exchange the sizes of their messages [1]_.

The exchange cost is calibrated on one machine, ARCHER2 with twelve OSTs: an aggregator achieves 0.81 GiB/s with 2,048
tasks where a task that writes a separate file achieves 1.09, and 0.67 with 8,192 tasks. On the same machine, three
aggregators per node are best for 8 to 64 nodes; six lose 14 to 30 %, which is not modeled [2]_.

References
----------
.. [1] R. Thakur, W. Gropp and E. Lusk, Frontiers 1999, two-phase I/O.
.. [2] S. Farr and D. Henty, Parallel IO on ARCHER2, 2023, data in github.com/davidhenty/benchio,
   results/IO_results.zip.
"""

import math
from collections.abc import Collection
from functools import cache

from hopperlib.contention.ceilings import Ceiling, ceiling, measured_ceilings
from hopperlib.contention.saturation import throughput
from hopperlib.errors import above, at_least, refusal
from hopperlib.machine import FileSystem
from hopperlib.units import BYTES_PER_GB

#: Rate at which an aggregator receives the data before it writes them. [GB/s]
EXCHANGE_GB_S = 4.6
#: Cost of one round of the exchange per participating task. [s]
ROUND_S_PER_TASK = 4e-8
#: Aggregators per node beyond which no gain was measured.
AGGREGATORS_PER_NODE = 3


@cache
def one_file_ceiling() -> Ceiling:
    """Write rate of one node to one file on a system without measurements, with an 80 % interval. [GB/s]

    Examples
    --------
    >>> [round(end, 2) for end in one_file_ceiling()[:3]]
    [0.79, 0.45, 1.38]
    """
    return ceiling("client-shared-write", "lustre")


def one_file_over_task(*, without: Collection[str] = ()) -> float:
    """Write rate of a node to one file over that of a single task, where both were measured. [ratio]

    Parameters
    ----------
    without : collection of str
        Systems to leave out.

    Examples
    --------
    >>> round(one_file_over_task(), 2)
    1.26
    """
    tasks = {each.system: each.value for each in measured_ceilings("task-own-file-write", "lustre")}
    ratios = [
        each.value / tasks[each.system]
        for each in measured_ceilings("client-shared-write", "lustre")
        if each.system in tasks and each.system not in without
    ]
    return math.prod(ratios) ** (1 / len(ratios))


def one_file_gb_s(system: FileSystem) -> float:
    """Write rate of one node to one file: measured, otherwise from a task's rate, otherwise the mean of public systems.
    [GB/s]

    The rate is never above the node's ceiling.

    Parameters
    ----------
    system : FileSystem
        The file system.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [round(one_file_gb_s(Machine.load(name).file_systems[0]), 2) for name in ("hopper", "archer2")]
    [0.79, 1.61]
    """
    task = system.task_write_ceiling_gb_s
    other = one_file_over_task() * task if task else one_file_ceiling().usual
    return min(system.one_file_write_ceiling_gb_s or other, system.node_write_ceiling_gb_s)


def node_rate_gb_s(tasks: float, task_gb_s: float, ceiling_gb_s: float) -> float:
    """Write rate of several tasks on one node. [GB/s]

    Parameters
    ----------
    tasks : float
        [at least 1]
    task_gb_s : float
        Write rate of one task alone. [GB/s]
    ceiling_gb_s : float
        Maximum write rate of the node. [GB/s]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    Eight tasks that could just saturate a Hopper node achieve three quarters of its ceiling, 24 tasks 96 %:

    >>> [round(node_rate_gb_s(tasks, 1.7 / 8, 1.7), 2) for tasks in (1, 8, 24)]
    [0.21, 1.29, 1.66]
    """
    return throughput(tasks, task_gb_s, ceiling_gb_s)


def clients_rate_gb_s(clients_gb_s: float, nodes: int, storage_gb_s: float) -> float:
    """Combined write rate of nodes to shared storage. [GB/s]

    Parameters
    ----------
    clients_gb_s : float
        Combined write rate of the nodes without a storage limit. [GB/s]
    nodes : int
    storage_gb_s : float
        Maximum write rate of the storage; infinity is allowed. [GB/s]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> [round(clients_rate_gb_s(nodes * 1.7, nodes, 35.0), 1) for nodes in (1, 10, 20, 40, 400)]
    [1.7, 16.0, 26.1, 32.6, 35.0]
    """
    if not (nodes >= 1 and clients_gb_s > 0):
        at_least(1, nodes=nodes)
        above(0, clients_gb_s=clients_gb_s)
    if math.isinf(storage_gb_s):
        return clients_gb_s
    return throughput(nodes, clients_gb_s / nodes, storage_gb_s)


def exchange_s(size_bytes: int, *, aggregators: int, tasks: int, buffer_bytes: int) -> float:
    """Time for aggregators to receive the data they write, or to pass on the data they read. [s]

    Parameters
    ----------
    size_bytes : int
        All data. [bytes]
    aggregators, tasks : int
        Tasks that write for the others, and all participating tasks.
    buffer_bytes : int
        Data written by an aggregator in one round. [bytes]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    With 1 TB through 100 aggregators, each receives 10 GB; 10,000 tasks exchange sizes 9,537 times, or 149 times:

    >>> [round(exchange_s(10**12, aggregators=100, tasks=10_000, buffer_bytes=size << 20), 2) for size in (1, 64)]
    [5.99, 2.23]
    """
    if min(size_bytes, aggregators, tasks, buffer_bytes) < 1:
        at_least(1, size_bytes=size_bytes, aggregators=aggregators, tasks=tasks, buffer_bytes=buffer_bytes)
    each_bytes = size_bytes / aggregators
    return each_bytes / BYTES_PER_GB / EXCHANGE_GB_S + each_bytes / buffer_bytes * tasks * ROUND_S_PER_TASK


def block_access_time_s(
    accesses: float,
    block_bytes: float,
    *,
    stripe_count: int,
    system: FileSystem,
    tasks: int,
    nodes: int,
    access_s: float,
) -> float:
    """Time for tasks to read scattered blocks of one file, with one disk access per block. [s]

    Parameters
    ----------
    accesses : float
        Block accesses of all tasks together.
    block_bytes : float
        Mean size of a block. [bytes]
    stripe_count : int
        OSTs of the file, over which the blocks scatter evenly.
    system : FileSystem
    tasks, nodes : int
        Tasks that share the accesses, and their nodes.
    access_s : float
        Cost of an access for its task, in addition to moving the data. [s]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    A thousand blocks of 1 MB, on one OST and on all:

    >>> from hopperlib.machine import Machine
    >>> toy = Machine.load("toy").file_systems[0]
    >>> each = {"system": toy, "tasks": 10, "nodes": 10, "access_s": 0.01}
    >>> [round(block_access_time_s(1000, 1e6, stripe_count=count, **each), 2) for count in (1, 12)]
    [6.0, 1.42]
    """
    at_least(0, accesses=accesses, block_bytes=block_bytes, access_s=access_s)
    if not 1 <= stripe_count <= system.osts:
        raise refusal("stripe_count", stripe_count, f"must be from 1 to {system.osts}, the OSTs")
    if not 1 <= nodes <= tasks:
        raise refusal("nodes", nodes, f"must be from 1 to {tasks}, the tasks")
    osts_gb_s = stripe_count * system.ost_peak_gb_s
    rate = clients_rate_gb_s(nodes * system.node_write_ceiling_gb_s, nodes, osts_gb_s)
    return accesses * block_bytes / BYTES_PER_GB / rate + accesses * access_s / tasks
