"""Memory bandwidth of tasks that share NUMA nodes.

A core draws at most its cap c; a NUMA node gives at most its bandwidth B, divided evenly among the k cores that draw on
it. Each therefore gets min(c, B / k), and tasks packed onto few NUMA nodes may wait where spread ones would not.

==========================  ==================================================
`task_bandwidth_gb_s`       min(c, B / k) on a kind of node
`slowdown`                  run time packed over spread, for a fraction f
`spill`                     memory that does not fit on its NUMA node goes to others
`write_allocate_gain`       gain of a loop if stores no longer read first
==========================  ==================================================

`hopperlib.placement.slowdown` applies the same rule to a placement (times instead of rates) and uses `slowdown` and
`spill`; the other two are for questions without a launch line. Not modeled: caches (tasks that share a cache can gain
or lose far more), and sharing of a core by hardware threads.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hopperlib.errors import above, at_least, refusal, within
from hopperlib.machine import NodeKind


def task_bandwidth_gb_s(kind: NodeKind, tasks: int) -> float:
    """Bandwidth of each of several one-core tasks on a NUMA node. [GB/s]

    Parameters
    ----------
    kind : NodeKind
        Kind of node.
    tasks : int
        Number of tasks.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [round(task_bandwidth_gb_s(Machine.load("hopper").node(), tasks), 2) for tasks in (1, 3, 6)]
    [5.0, 4.17, 2.08]
    """
    return min(kind.core_bandwidth_cap_gb_s, kind.numa_bandwidth_gb_s / tasks)


def slowdown(memory_bound_fraction: float, ratio: float) -> float:
    """Run time packed over run time spread. T_packed / T_spread = 1 - f + f r: the memory-bound part of the run takes r
    times as long; the rest is unchanged.

    Parameters
    ----------
    memory_bound_fraction : float
        f, the share of the *spread* run's time that waits for memory, 0 to 1.
    ratio : float
        r, the time of the memory-bound part packed over spread.

    Raises
    ------
    InputError
        If `memory_bound_fraction` is not from 0 to 1, or `ratio` not above 0.

    Examples
    --------
    >>> slowdown(0.5, 1.4)
    1.2
    """
    within(0, 1, ", a share of the run time", memory_bound_fraction=memory_bound_fraction)
    above(0, ratio=ratio)
    return 1 - memory_bound_fraction + memory_bound_fraction * ratio


def write_allocate_gain(loads: int, stores: int, waiting_fraction: float = 1.0) -> float:
    """Gain in rate if overwritten cache lines are no longer read first. [fraction]

    A cache reads a line before writing to it, even if the whole line is overwritten. The rate counts each array once,
    so a compiler that avoids the read increases the rate: (loads + 2 stores) / (loads + stores) at most.

    Parameters
    ----------
    loads, stores : int
        Arrays that the loop reads and writes. [at least 0, at least 1]
    waiting_fraction : float
        Share of the loop's time spent waiting for memory before the change. [0-1]

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    Copy reads one array and writes one, TRIAD reads two:

    >>> [round(write_allocate_gain(loads, 1), 3) for loads in (1, 2)]
    [0.5, 0.333]

    References
    ----------
    J. D. McCalpin, STREAM, reference page, on the bytes that the benchmark counts.
    """
    at_least(0, loads=loads)
    at_least(1, stores=stores)
    within(0, 1, ", a share of the run time", waiting_fraction=waiting_fraction)
    saved = waiting_fraction * stores / (loads + 2 * stores)
    return saved / (1 - saved)


class Spill(NamedTuple):
    """Location of the memory of a node's tasks, by NUMA node. [GB]

    Parameters
    ----------
    need_gb : tuple of float
        Need of the tasks on each NUMA node.
    remote_gb : tuple of float
        Part of that need on other NUMA nodes.
    taken_gb : tuple of float
        Memory of each NUMA node used by tasks of other NUMA nodes.
    missing_gb : float
        Need that does not fit on the node.
    """

    need_gb: tuple[float, ...]
    remote_gb: tuple[float, ...]
    taken_gb: tuple[float, ...]
    missing_gb: float

    @property
    def remote_fraction(self) -> float:
        """Share of all memory that is on a remote NUMA node, 0 to 1."""
        need = sum(self.need_gb)
        return sum(self.remote_gb) / need if need else 0.0


def spill(need_gb: Sequence[float], room_gb: float) -> Spill:
    """Compute the location of memory that does not fit on its local NUMA node.

    Assumption: it is distributed over the other NUMA nodes in proportion to their free memory. (The kernel uses the
    nearest first; the sources only say "the next".)

    Parameters
    ----------
    need_gb : sequence of float
        Need of the tasks on each NUMA node. [GB]
    room_gb : float
        Memory of each NUMA node. [GB]

    Raises
    ------
    InputError
        If a need is below 0 or `room_gb` not above 0.

    Examples
    --------
    Twelve tasks of 2.58 GB on two NUMA nodes with 7.75 GB each:

    >>> memory = spill([15.48, 15.48, 0, 0], 7.75)
    >>> [round(part, 2) for part in memory.remote_gb], [round(part, 2) for part in memory.taken_gb]
    ([7.73, 7.73, 0.0, 0.0], [0.0, 0.0, 7.73, 7.73])
    """
    above(0, room_gb=room_gb)
    if any(not need >= 0 for need in need_gb):
        raise refusal("need_gb", list(need_gb), "must hold no value below 0")
    over = [max(need - room_gb, 0.0) for need in need_gb]
    free = [max(room_gb - need, 0.0) for need in need_gb]
    placed = min(sum(over), sum(free))
    share_over = placed / sum(over) if sum(over) else 0.0
    share_free = placed / sum(free) if sum(free) else 0.0
    return Spill(
        tuple(float(need) for need in need_gb),
        tuple(part * share_over for part in over),
        tuple(part * share_free for part in free),
        max(sum(over) - placed, 0.0),
    )
