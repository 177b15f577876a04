"""A placement written as launchers and MPI libraries take it.

====================  ======================================================
`cc_list`             ``aprun -cc``: CPUs, a colon between tasks of several
`map_cpu`             ``srun --cpu-bind=map_cpu:``, one CPU a task
`mask_cpu`            ``srun --cpu-bind=mask_cpu:``, a mask of CPUs a task
`rank_order`          ``MPICH_RANK_ORDER`` file of Cray's MPI
`rank_file`           rank file of Open MPI
====================  ======================================================

The first three say what happens on *one* node and hold for all nodes of a
component, so they exist only where its nodes are alike (the last may hold fewer
tasks).
"""

from collections.abc import Iterator, Sequence

from hopperlib.launchers.ranges import as_ranges
from hopperlib.placement.binding import Binding
from hopperlib.placement.placement import Placement


def common_pattern(placement: Placement, component: int = 0) -> tuple[Binding, ...]:
    """Return the pattern that all nodes of a component follow, the fuller ones further.

    Raises
    ------
    ValueError
        If its nodes differ, or there is no such component.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.launchers.reader import read_launch
    >>> from hopperlib.placement.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> len(common_pattern(place_tasks(read_launch("aprun -n 25 -N 12 a.out", hopper), hopper)))
    12
    """
    patterns = [node.pattern for node in placement.distinct_nodes() if node.component == component]
    if not patterns:
        last = len(placement.launch.components) - 1
        raise ValueError(f"component={component} must be from 0 to {last}, the components of this line")
    longest = max(patterns, key=len)
    if any(pattern != longest[: len(pattern)] for pattern in patterns):
        differ = "its nodes differ in where their tasks run, so one list cannot serve all"
        raise ValueError(f"component={component}: {differ}")
    return longest


def cc_list(pattern: Sequence[Binding]) -> str:
    """Return the CPUs of a node's tasks as the list of ``aprun -cc``.

    One CPU a task is a plain list. Tasks of several CPUs are set apart by
    colons, and each keeps to its own.

    Raises
    ------
    ValueError
        If a task is not bound.

    Examples
    --------
    >>> tasks = [Binding(cores=(c,), cpus=(c,), thread_cores=((c,),), numa_nodes=(0,), bound=True) for c in (0, 6, 7)]
    >>> cc_list(tasks)
    '0,6,7'
    >>> pair = Binding(cores=(0, 1), cpus=(0, 1), thread_cores=((0,), (1,)), numa_nodes=(0,), bound=True)
    >>> next_pair = Binding(cores=(6, 7), cpus=(6, 7), thread_cores=((6,), (7,)), numa_nodes=(1,), bound=True)
    >>> cc_list([pair, next_pair])
    '0,1:6,7'
    """
    cpus = list(_bound_cpus(pattern))
    if all(len(part) == 1 for part in cpus):
        return as_ranges(part[0] for part in cpus)
    return ":".join(as_ranges(part) for part in cpus)


def map_cpu(pattern: Sequence[Binding]) -> str:
    """Return the CPUs of a node's tasks as ``map_cpu:`` for ``srun --cpu-bind``.

    Raises
    ------
    ValueError
        If a task is not bound to exactly one CPU.

    Examples
    --------
    >>> tasks = [Binding(cores=(c,), cpus=(c,), thread_cores=((c,),), numa_nodes=(0,), bound=True) for c in (0, 6, 7)]
    >>> map_cpu(tasks)
    'map_cpu:0,6,7'
    """
    cpus = list(_bound_cpus(pattern))
    wide = next((seat for seat, part in enumerate(cpus) if len(part) != 1), None)
    if wide is not None:
        has = f"task {wide} of the node has {len(cpus[wide])}"
        raise ValueError(f"map_cpu gives each task one CPU, and {has}; use mask_cpu")
    return "map_cpu:" + ",".join(str(part[0]) for part in cpus)


def mask_cpu(pattern: Sequence[Binding]) -> str:
    """Return the CPUs of a node's tasks as ``mask_cpu:`` for ``srun --cpu-bind``: bit n is CPU n.

    Raises
    ------
    ValueError
        If a task is not bound.

    Examples
    --------
    >>> pair = Binding(cores=(6, 7), cpus=(6, 7), thread_cores=((6,), (7,)), numa_nodes=(1,), bound=True)
    >>> mask_cpu([pair])
    'mask_cpu:0xc0'
    """
    masks = (hex(sum(1 << cpu for cpu in cpus)) for cpus in _bound_cpus(pattern))
    return "mask_cpu:" + ",".join(masks)


def _bound_cpus(pattern: Sequence[Binding]) -> Iterator[tuple[int, ...]]:
    """Yield the CPUs of each task of a node; `ValueError` where one is not bound."""
    for seat, binding in enumerate(pattern):
        if not binding.bound:
            raise ValueError(f"task {seat} of the node is not bound, so there is no list of its CPUs")
        yield binding.cpus


def rank_order(placement: Placement) -> str:
    """Return the placement as a ``MPICH_RANK_ORDER`` file: the ranks of each node, node by node.

    Cray's MPI reads it from the working directory when
    ``MPICH_RANK_REORDER_METHOD=3`` is set. It says which ranks share a node, in
    the order in which the launcher fills it, and nothing of cores.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.launchers.reader import read_launch
    >>> from hopperlib.placement.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> print(rank_order(place_tasks(read_launch("aprun -n 30 a.out", hopper), hopper)), end="")
    # 30 tasks on 2 nodes; use with MPICH_RANK_REORDER_METHOD=3
    0-23
    24-29
    """
    nodes = len(placement.nodes)
    counted = f"{placement.launch.tasks} tasks on {nodes} {'node' if nodes == 1 else 'nodes'}"
    lines = [f"# {counted}; use with MPICH_RANK_REORDER_METHOD=3"]
    lines += [as_ranges(node.task_numbers) for node in placement.nodes]
    return "\n".join(lines) + "\n"


def rank_file(placement: Placement) -> str:
    """Return the placement as a rank file of Open MPI: a line a task, nodes counted from ``+n0``.

    A task that is not bound gets all CPUs that it could use.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.launchers.reader import read_launch
    >>> from hopperlib.placement.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> print(rank_file(place_tasks(read_launch("aprun -n 4 -N 2 -d 6 -S 1 a.out", hopper), hopper)), end="")
    rank 0=+n0 slot=0-5
    rank 1=+n0 slot=6-11
    rank 2=+n1 slot=0-5
    rank 3=+n1 slot=6-11
    """
    lines = [
        f"rank {number}=+n{node.node} slot={as_ranges(binding.cpus)}"
        for node in placement.nodes
        for number, binding in node.seats()
    ]
    return "\n".join(lines) + "\n"
