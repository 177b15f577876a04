"""Cost of a placement in memory bandwidth, relative to the same tasks spread evenly.

The reference is always the *spread* run: the same tasks on the same nodes, distributed evenly over the NUMA nodes. The
model of `hopperlib.placement.models.bandwidth` gives the time for the slowest core to read its data, packed and spread;
their ratio is r. With c the bandwidth of a core, B that of a NUMA node, k the threads on the fullest one as placed and
m the same when spread, all memory local and one core per thread:

    r = max(1 / c, k / B) / max(1 / c, m / B)

A launch line does not show the memory-bound share of a run (f), so the result is a range over f: 1 - f + f r.

r compares placements of the same tasks. A ratio of 1 means that spreading the tasks would not help, not that bandwidth
is plentiful: four tasks of six threads fill a Hopper node, and each thread gets as much bandwidth as a packed task: see
`ComponentCost.rate_gb_s`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hopperlib.errors import InputError, above
from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.models.bandwidth import Spill, slowdown, spill
from hopperlib.placement.placement import Placement


class ThreadLoad(NamedTuple):
    """Load of the threads of a node's tasks, by NUMA node.

    Parameters
    ----------
    threads : tuple of float
        Threads that draw on each NUMA node.
    fullest_core : tuple of float
        Threads on the fullest core of each NUMA node; at least 1 if it has any threads.
    """

    threads: tuple[float, ...]
    fullest_core: tuple[float, ...]


def thread_load(pattern: Sequence[Binding], kind: NodeKind) -> ThreadLoad:
    """Return the load of a node's threads; a thread that may run on several cores counts in parts.

    Parameters
    ----------
    pattern : sequence of Binding
        Binding of each task on the node.
    kind : NodeKind
        Kind of node.

    Examples
    --------
    Two tasks bound to one core:

    >>> from hopperlib.machine import Machine
    >>> task = Binding(cores=(0,), cpus=(0,), thread_cores=((0,),), numa_nodes=(0,), bound=True)
    >>> thread_load([task, task], Machine.load("hopper").node())
    ThreadLoad(threads=(2.0, 0.0, 0.0, 0.0), fullest_core=(2.0, 0.0, 0.0, 0.0))
    """
    load = [0.0] * kind.cores
    for binding in pattern:
        for cores in binding.thread_cores:
            for core in cores:
                load[core] += 1 / len(cores)
    loads = [[load[core] for core in kind.cores_of(numa_node)] for numa_node in range(kind.numa_nodes)]
    # A thread that migrates still reads through one core at a time.
    fullest = tuple(max(*part, 1.0) if any(part) else 0.0 for part in loads)
    return ThreadLoad(tuple(sum(part) for part in loads), fullest)


def spread_load(pattern: Sequence[Binding], kind: NodeKind) -> ThreadLoad:
    """Return the same for the same tasks spread evenly.

    Whole tasks are distributed over the NUMA nodes if they fit, otherwise threads.

    Parameters
    ----------
    pattern : sequence of Binding
        Binding of each task on the node.
    kind : NodeKind
        Kind of node.

    Examples
    --------
    Twelve tasks of one thread on a Hopper node, regardless of their original placement:

    >>> from hopperlib.machine import Machine
    >>> task = Binding(cores=(0,), cpus=(0,), thread_cores=((0,),), numa_nodes=(0,), bound=True)
    >>> spread_load([task] * 12, Machine.load("hopper").node()).threads
    (3.0, 3.0, 3.0, 3.0)
    """
    numa_nodes, cores = kind.numa_nodes, kind.cores_per_numa_node
    widest = max((len(binding.thread_cores) for binding in pattern), default=0)
    if widest and len(pattern) <= numa_nodes * (cores // widest):
        more, rest = divmod(len(pattern), numa_nodes)
        counts = [more + (numa_node < rest) for numa_node in range(numa_nodes)]
        return ThreadLoad(tuple(float(widest * count) for count in counts), tuple(float(count > 0) for count in counts))
    even = sum(len(binding.thread_cores) for binding in pattern) / numa_nodes
    return ThreadLoad((even,) * numa_nodes, (max(even / cores, float(even > 0)),) * numa_nodes)


def memory_need(pattern: Sequence[Binding], kind: NodeKind, memory_per_task_gb: float) -> tuple[float, ...]:
    """Memory that the tasks of each NUMA node need; a task on several NUMA nodes needs an equal part on each. [GB]

    Parameters
    ----------
    pattern : sequence of Binding
        Binding of each task on the node.
    kind : NodeKind
        Kind of node.
    memory_per_task_gb : float
        Memory of a task. [GB]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> wide = Binding(cores=(5, 6), cpus=(5, 6), thread_cores=((5,), (6,)), numa_nodes=(0, 1), bound=True)
    >>> memory_need([wide], Machine.load("hopper").node(), 3)
    (1.5, 1.5, 0.0, 0.0)
    """
    need = [0.0] * kind.numa_nodes
    for binding in pattern:
        for numa_node in binding.numa_nodes:
            need[numa_node] += memory_per_task_gb / len(binding.numa_nodes)
    return tuple(need)


class ComponentCost(NamedTuple):
    """Bandwidth cost of one component, determined by its slowest node.

    Parameters
    ----------
    component : int
        Number of the component, from 0.
    load, spread : ThreadLoad
        Threads by NUMA node of the slowest node, as placed and spread evenly.
    memory, spread_memory : Spill
        Location of memory on the node with the least, as placed and spread evenly.
    memory_tasks : int
        Tasks on that node.
    rate_gb_s, spread_rate_gb_s : float
        Bandwidth of the slowest thread, as placed and spread evenly. [GB/s]
    ratio : float
        r: time of the memory-bound part, as placed over spread; at least 1.
    channel_ratio : float
        The same if only the channels were the limit; at least 1.
    core_ratio : float
        Time of the rest, as placed over spread: above 1 only if threads share cores that they would not share when
        spread.
    """

    component: int
    load: ThreadLoad
    spread: ThreadLoad
    memory: Spill
    spread_memory: Spill
    memory_tasks: int
    rate_gb_s: float
    spread_rate_gb_s: float
    ratio: float
    channel_ratio: float
    core_ratio: float

    def slowdown(self, memory_bound_fraction: float) -> float:
        """Run time as placed over spread, for one memory-bound fraction of the spread run.

        Parameters
        ----------
        memory_bound_fraction : float
            Share of the spread run's time spent waiting for memory. [0-1]
        """
        memory_part = slowdown(memory_bound_fraction, self.ratio)
        return memory_part + (1 - memory_bound_fraction) * (self.core_ratio - 1)


class Cost(NamedTuple):
    """Bandwidth cost of a whole placement.

    Parameters
    ----------
    core_cap_gb_s : float
        Bandwidth cap of a core used for the calculation. [GB/s]
    memory_per_task_gb : tuple of (float or None)
        Memory of a task of each component; None: unknown, all assumed to be local. [GB]
    components : tuple of ComponentCost
    """

    core_cap_gb_s: float
    memory_per_task_gb: tuple[float | None, ...]
    components: tuple[ComponentCost, ...]

    @property
    def worst(self) -> ComponentCost:
        """The component with the largest bandwidth cost."""
        return max(self.components, key=lambda component: max(component.ratio, component.core_ratio))

    def slowdown_range(self, low: float, high: float) -> tuple[float, float]:
        """Return least and greatest slowdown of the worst component for memory-bound fractions from low to high.

        Parameters
        ----------
        low, high : float
            Range of the memory-bound fraction. [0-1]

        Raises
        ------
        InputError
            If `low` is above `high`, or one of them is not from 0 to 1.
        """
        if low > high:
            raise InputError(f"memory-bound fraction from {low:g} to {high:g}: the first must not be above the second")
        # The slowdown is linear in the fraction, so the ends are the extremes.
        ends = self.worst.slowdown(low), self.worst.slowdown(high)
        return min(ends), max(ends)


class _NodeTimes(NamedTuple):
    """Times of one kind of node under a load: limited by cores, by channels and links, and by threads per core. [s]"""

    load: ThreadLoad
    memory: Spill
    cores_s: float
    channels_s: float
    crowd: float

    @property
    def time_s(self) -> float:
        """Time for every thread to read 1 GB. [s]"""
        return max(self.cores_s, self.channels_s)


def _node_times(load: ThreadLoad, need_gb: Sequence[float], kind: NodeKind, core_cap_gb_s: float) -> _NodeTimes:
    """Return the times for every thread to read 1 GB, limited by the cores and by the channels.

    With q the remote share of a NUMA node's data and w the fraction of the cap c available on remote memory, a core
    needs (1 - q) / c + q / (c w) for each of its threads, and all remote data come over one link. A NUMA node's
    channels serve, at B, the local part of its threads and the remote data that it holds for others.
    """
    memory = spill(need_gb, kind.usable_memory_gb / kind.numa_nodes)
    shares = [remote / need if need else 0.0 for need, remote in zip(memory.need_gb, memory.remote_gb, strict=True)]
    cores = max(
        fullest * ((1 - share) + share / kind.remote_bandwidth_fraction) / core_cap_gb_s
        for fullest, share in zip(load.fullest_core, shares, strict=True)
    )
    local = [threads * (1 - share) for threads, share in zip(load.threads, shares, strict=True)]
    away, held = sum(load.threads) - sum(local), sum(memory.taken_gb)
    channels = max(
        (local_part + (away * taken / held if held else 0.0)) / kind.numa_bandwidth_gb_s
        for local_part, taken in zip(local, memory.taken_gb, strict=True)
    )
    if kind.numa_link_gb_s:
        from_others = (threads * share for threads, share in zip(load.threads, shares, strict=True))
        channels = max(channels, max(from_others) / kind.numa_link_gb_s)
    crowd = max(max(load.fullest_core) / kind.threads_per_core, 1.0)
    return _NodeTimes(load, memory, cores, channels, crowd)


def _component_cost(
    component: int, patterns: Sequence[Sequence[Binding]], kind: NodeKind, cap_gb_s: float, memory_per_task_gb: float
) -> ComponentCost:
    """Return the cost of a component from its distinct nodes; the slowest node determines it."""
    placed, spread = [], []
    for pattern in patterns:
        need = memory_need(pattern, kind, memory_per_task_gb)
        placed.append(_node_times(thread_load(pattern, kind), need, kind, cap_gb_s))
        load = spread_load(pattern, kind)
        # In the spread run, memory follows the threads.
        part = len(pattern) * memory_per_task_gb / sum(load.threads)
        spread.append(_node_times(load, [threads * part for threads in load.threads], kind, cap_gb_s))
    slowest = max(placed, key=lambda node: node.time_s)
    basis = max(spread, key=lambda node: node.time_s)
    # The node with the largest memory shortfall or, without one, the most remote memory.
    shortest = max(
        range(len(placed)), key=lambda node: (placed[node].memory.missing_gb, placed[node].memory.remote_fraction)
    )
    channels = max(node.channels_s for node in placed) / max(node.channels_s for node in spread)
    crowd = max(node.crowd for node in placed) / max(node.crowd for node in spread)
    return ComponentCost(
        component=component,
        load=slowest.load,
        spread=basis.load,
        memory=placed[shortest].memory,
        spread_memory=spread[shortest].memory,
        memory_tasks=len(patterns[shortest]),
        rate_gb_s=1 / slowest.time_s,
        spread_rate_gb_s=1 / basis.time_s,
        ratio=max(slowest.time_s / basis.time_s, 1.0),
        channel_ratio=max(channels, 1.0),
        core_ratio=max(crowd, 1.0),
    )


def placement_cost(
    placement: Placement, *, core_cap_gb_s: float | None = None, memory_per_task_gb: float | None = None
) -> Cost:
    """Compute the effect of memory bandwidth on a placement, relative to the same tasks spread evenly.

    Parameters
    ----------
    placement : Placement
    core_cap_gb_s : float or None
        Bandwidth of one core; None uses the machine file's (assumed) value. [GB/s]
    memory_per_task_gb : float or None
        Memory per task; None uses the line's request, if any, and otherwise treats all memory as local. [GB] Memory
        that does not fit on its NUMA node is read from others, whose idle channels help a packed run: with 2.5 GB per
        task the ratio below is 1.24.

    Raises
    ------
    InputError
        If a quantity is not above 0.

    Examples
    --------
    Twelve tasks packed on two of Hopper's four NUMA nodes: 2.08 GB/s per task, and 4.17 GB/s spread.

    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.launch_line import read_launch_line
    >>> from hopperlib.placement.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> cost = placement_cost(place_tasks(read_launch_line("aprun -n 384 -N 12 vasp", hopper), hopper))
    >>> round(cost.worst.ratio, 2), cost.worst.channel_ratio
    (2.0, 2.0)
    >>> [round(end, 2) for end in cost.slowdown_range(0, 1)]
    [1.0, 2.0]
    >>> packed = place_tasks(read_launch_line("aprun -n 384 -N 12 vasp", hopper), hopper)
    >>> round(placement_cost(packed, memory_per_task_gb=2.5).worst.ratio, 2)
    1.24
    """
    kind = placement.node_kind
    cap = kind.core_bandwidth_cap_gb_s if core_cap_gb_s is None else core_cap_gb_s
    above(0, core_cap_gb_s=cap)
    if memory_per_task_gb is not None:
        above(0, memory_per_task_gb=memory_per_task_gb)
    memories = tuple(
        memory_per_task_gb if memory_per_task_gb is not None else component.memory_per_task_gb
        for component in placement.launch.components
    )
    patterns: dict[int, list[Sequence[Binding]]] = {}
    for node in placement.distinct_nodes():
        patterns.setdefault(node.component, []).append(node.pattern)
    components = tuple(
        _component_cost(component, nodes, kind, cap, memories[component] or 0.0)
        for component, nodes in patterns.items()
    )
    return Cost(core_cap_gb_s=cap, memory_per_task_gb=memories, components=components)
