"""How aprun fills a node: tasks on NUMA nodes, cores for each task.

Documented is that tasks fill NUMA node 0 before the next [1]_, and the default
tasks per node, per NUMA node and NUMA nodes per node [2]_. That a depth of
more than a NUMA node takes whole NUMA nodes follows from the geometry. What
happens to tasks beyond that, where cores are left over, is assumed here and
said with each placement that it touches.

References
----------
.. [1] K. Antypas and Y. He, "Transitioning Users from the Franklin XT4 System to the Hopper XE6 System," CUG
   Proceedings, 2011, sec. 2.
.. [2] NERSC, "Job Launch Command: aprun," web page for Hopper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating
from hopperlib.node.launch.components import Component, LaunchError

__all__ = ["AprunLayout", "aprun_layout", "counted_node", "place_aprun"]

_LEFT_OVER = (
    "Depth {depth} leaves cores over on each NUMA node: the first {first} tasks of a node get cores next to each other, "
    "the others the left-over cores in order. No source says how aprun places those; this is assumed."
)
_FEWER_BY_S = (
    "Without -N, {tasks} tasks a node are taken: {per_numa_node} on each of {numa_nodes} NUMA nodes. "
    "That -S and -sn lower the default of -N is assumed."
)
_ONE_LIST = (
    "One -cc list for several tasks of several threads: it is dealt out in order, "
    "all threads of a task before the next task. The manual leaves this open; it is assumed."
)
_NONE = "-cc none: a task may run on any core of the NUMA nodes that the line leaves to it; so the manual is read."


class AprunLayout(NamedTuple):
    """What aprun makes of a component on one full node.

    Parameters
    ----------
    tasks_per_node : int
        Tasks on a full node.
    tasks_per_numa_node : int
        Tasks that a NUMA node holds, left-over cores aside.
    numa_nodes : tuple of int
        NUMA nodes in use, in the order in which they fill.
    seats : tuple of tuple of int
        Cores of each task of a full node, in the order of the tasks.
    assumptions : tuple of str
        What is assumed about it.
    """

    tasks_per_node: int
    tasks_per_numa_node: int
    numa_nodes: tuple[int, ...]
    seats: tuple[tuple[int, ...], ...]
    assumptions: tuple[str, ...]


def aprun_layout(component: Component, node: NodeKind, machine: str) -> AprunLayout:
    """Return how a full node is filled, with aprun's defaults worked out.

    Parameters
    ----------
    component : Component
        What the line asks for.
    node : NodeKind
        Kind of node.
    machine : str
        Name of the machine, for messages.

    Raises
    ------
    LaunchError
        If the numbers do not fit on a node together.

    Examples
    --------
    Six threads a task: one task on each NUMA node of Hopper.

    >>> from hopperlib.machine import Machine
    >>> component = Component(command=("a.out",), tasks=4, threads_per_task=6)
    >>> layout = aprun_layout(component, Machine.load("hopper").node(), "Hopper")
    >>> layout.tasks_per_node, layout.tasks_per_numa_node, layout.seats[1]
    (4, 1, (6, 7, 8, 9, 10, 11))
    """
    depth = component.threads_per_task
    numa_nodes = _numa_nodes(component, node)
    usable = range(node.cores - component.reserved_cores)
    free = [[core for core in node.cores_of(numa_node) if core in usable] for numa_node in numa_nodes]
    cores = sum(len(group) for group in free)
    _check_depth(component, cores, node, machine)
    _check_tasks_per_numa_node(component, node, machine)
    _check_lists(component, len(usable), machine)

    seats = _whole_seats(free, depth, component.tasks_per_numa_node)
    per_numa_node = component.tasks_per_numa_node or max(1, node.cores_per_numa_node // depth)
    restricted = component.tasks_per_numa_node is not None
    tasks_per_node = component.tasks_per_node or (len(seats) if restricted else cores // depth)
    assumptions: list[str] = []
    if component.tasks_per_node is None and tasks_per_node < node.cores // depth:
        assumptions.append(
            _FEWER_BY_S.format(tasks=tasks_per_node, per_numa_node=per_numa_node, numa_nodes=len(numa_nodes))
            if restricted or len(numa_nodes) < node.numa_nodes
            else f"Without -N, the {component.reserved_cores} cores kept by -r are taken off the default."
        )
    _check_tasks_per_node(component, tasks_per_node, len(seats), cores, len(numa_nodes), machine)
    if tasks_per_node > len(seats):
        assumptions.append(_LEFT_OVER.format(depth=depth, first=len(seats)))
        seats += _left_over_seats(free, seats, depth, tasks_per_node - len(seats))
    return AprunLayout(
        tasks_per_node=tasks_per_node,
        tasks_per_numa_node=per_numa_node,
        numa_nodes=numa_nodes,
        seats=tuple(seats[:tasks_per_node]),
        assumptions=tuple(assumptions),
    )


def counted_node(node: NodeKind, threads: int) -> NodeKind:
    """Return the node as aprun counts it with ``-j``: each hardware thread in use is a core.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> counted_node(Machine.load("titan").node(), 2).cores
    16
    """
    if threads == 1:
        return node
    cores = node.cores_per_numa_node * threads
    return replace(node, cores_per_numa_node=cores, threads_per_core=1, cpu_numbering="cores")


def _numbered(binding: Binding, node: NodeKind, threads: int) -> Binding:
    """Return a binding of the counted node with the node's own cores and CPU numbers."""
    return binding._replace(
        cores=tuple(dict.fromkeys(unit // threads for unit in binding.cores)),
        cpus=tuple(node.cpu(*divmod(unit, threads)) for unit in binding.cores),
        thread_cores=tuple(tuple(dict.fromkeys(unit // threads for unit in own)) for own in binding.thread_cores),
    )


def _numa_nodes(component: Component, node: NodeKind) -> tuple[int, ...]:
    """Return the NUMA nodes in use: those of ``-sl``, the first ``-sn`` of them."""
    listed = component.numa_node_list or tuple(range(node.numa_nodes))
    wanted = component.numa_nodes_per_node or len(listed)
    if wanted > len(listed):
        rule = f"asks for more NUMA nodes than the {len(listed)} that -sl names"
        raise LaunchError("-sn", wanted, rule)
    return listed[:wanted]


def _check_depth(component: Component, cores: int, node: NodeKind, machine: str) -> None:
    """Refuse a depth that no task of this line can have."""
    depth = component.threads_per_task
    if depth > node.cores:
        raise LaunchError("-d", depth, f"must be from 1 to {node.cores}, the cores of a node of {machine}")
    if depth > cores:
        rule = f"is more than the {cores} cores that -r, -sn and -sl leave of the {node.cores} of a node of {machine}"
        raise LaunchError("-d", depth, rule)


def _check_tasks_per_numa_node(component: Component, node: NodeKind, machine: str) -> None:
    """Refuse ``-S`` times ``-d`` beyond a NUMA node; a depth beyond one takes whole NUMA nodes, one task each."""
    per_numa_node = component.tasks_per_numa_node
    depth, cores = component.threads_per_task, node.cores_per_numa_node
    if per_numa_node is None:
        return
    rule = ""
    if per_numa_node > cores:
        rule = f"must be from 1 to {cores}, the cores of a NUMA node of {machine}"
    elif depth > cores and per_numa_node > 1:
        rule = f"must be 1 with -d {depth}: a task of {depth} threads takes more than the {cores} cores of a NUMA node"
    elif depth <= cores < per_numa_node * depth:
        rule = f"times -d {depth} is {per_numa_node * depth} cores, more than the {cores} of a NUMA node of {machine}"
    if rule:
        raise LaunchError("-S", per_numa_node, rule)


def _check_tasks_per_node(
    component: Component, tasks_per_node: int, seats: int, cores: int, numa_nodes: int, machine: str
) -> None:
    """Refuse more tasks than the node's cores, or than ``-S`` and ``-sn``, allow."""
    depth, per_numa_node = component.threads_per_task, component.tasks_per_numa_node
    if tasks_per_node * depth > cores:
        times = f"times -d {depth} is {tasks_per_node * depth} cores, more than" if depth > 1 else "is more than"
        raise LaunchError("-N", tasks_per_node, f"{times} the {cores} that the line may use of a node of {machine}")
    if per_numa_node is not None and tasks_per_node > seats:
        holds = f"holds {seats} tasks a node, on {numa_nodes} NUMA nodes"
        rule = f"{holds}, and -N asks for {tasks_per_node}; -S times the NUMA nodes in use must be at least -N"
        raise LaunchError("-S", per_numa_node, rule)


def _check_lists(component: Component, usable: int, machine: str) -> None:
    """Refuse a ``-cc`` list without any core there is; aprun passes over single ones."""
    for entries in component.binding_list or ():
        if all(core is not None and core >= usable for core in entries):
            rule = f"lists no core that a task may use on a node of {machine}; those are 0 to {usable - 1}"
            raise LaunchError("-cc", component.given("-cc") or "", rule)


def _whole_seats(free: Sequence[Sequence[int]], depth: int, per_numa_node: int | None) -> list[tuple[int, ...]]:
    """Return the seats next to each other: within a NUMA node, or over whole ones if the depth is more than one."""
    seats: list[tuple[int, ...]] = []
    if depth <= max(map(len, free)):
        for group in free:
            held = len(group) // depth
            seats += _cut(group, depth, held if per_numa_node is None else min(held, per_numa_node))
        return seats
    gathered: list[int] = []
    for group in free:
        gathered += group
        if len(gathered) >= depth:
            # The next task begins on a NUMA node of its own, so cores left over in the last one stay free.
            seats.append(tuple(gathered[:depth]))
            gathered = []
    return seats


def _left_over_seats(
    free: Sequence[Sequence[int]], seats: Sequence[tuple[int, ...]], depth: int, wanted: int
) -> list[tuple[int, ...]]:
    """Return seats made of the cores that no other task has."""
    taken = {core for seat in seats for core in seat}
    return _cut([core for group in free for core in group if core not in taken], depth, wanted)


def _cut(cores: Sequence[int], depth: int, wanted: int) -> list[tuple[int, ...]]:
    """Return the first seats of so many cores each."""
    return [tuple(cores[index * depth : (index + 1) * depth]) for index in range(wanted)]


def _pattern(
    component: Component, layout: AprunLayout, node: NodeKind, tasks: int, threads: int
) -> tuple[Binding, ...]:
    """Return where the tasks of one node run: at most those of a full one, each with so many threads."""
    seats = layout.seats[:tasks]
    allowed = _allowed_cores(component, layout, node, seats)
    return tuple(_binding(component, node, seat, number, threads, allowed) for number, seat in enumerate(seats))


def _allowed_cores(
    component: Component, layout: AprunLayout, node: NodeKind, seats: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the cores that a task bound to none of them may use."""
    numa_nodes = set(layout.numa_nodes)
    if component.access_mode == "share":
        numa_nodes = {node.numa_node_of(core) for seat in seats for core in seat}
    usable = node.cores - component.reserved_cores
    return tuple(core for numa_node in sorted(numa_nodes) for core in node.cores_of(numa_node) if core < usable)


def _binding(
    component: Component, node: NodeKind, seat: tuple[int, ...], number: int, threads: int, allowed: tuple[int, ...]
) -> Binding:
    """Return the binding of the task in one seat."""
    keyword = component.cpu_binding or "cpu"
    per_thread: list[tuple[int, ...]]
    # Threads beyond the seat's cores share them from the first one on.
    if keyword == "none":
        per_thread = [allowed] * threads
    elif keyword == "numa_node":
        per_thread = [_cores_beside(seat[thread % len(seat)], node, allowed) for thread in range(threads)]
    elif keyword == "list":
        entries = _entries(component, number, threads, node.cores - component.reserved_cores)
        per_thread = [allowed if core is None else (core,) for core in entries]
    else:
        per_thread = [(seat[thread % len(seat)],) for thread in range(threads)]
    cores = set(seat) if keyword == "cpu" else set().union(*per_thread)
    if keyword == "numa_node":
        cores = {core for own in seat for core in _cores_beside(own, node, allowed)}
    ordered = tuple(sorted(cores))
    return Binding(
        cores=ordered,
        cpus=ordered,
        thread_cores=tuple(per_thread),
        numa_nodes=tuple(sorted({node.numa_node_of(core) for core in ordered})),
        bound=keyword != "none" and per_thread[0] is not allowed,
    )


def _cores_beside(core: int, node: NodeKind, allowed: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cores of the same NUMA node that the line may use."""
    return tuple(other for other in node.cores_of(node.numa_node_of(core)) if other in allowed)


def _entries(component: Component, number: int, threads: int, usable: int) -> list[int | None]:
    """Return the ``-cc`` list entry of each thread of a task; entries that are no core are passed over."""
    lists = component.binding_list or ((None,),)
    own = [core for core in lists[number % len(lists)] if core is None or core < usable]
    first = number * threads if len(lists) == 1 else 0
    return [own[(first + thread) % len(own)] for thread in range(threads)]


def place_aprun(component: Component, node: NodeKind, machine: Machine, threads: int) -> Seating:
    """Return the tasks of one component on its nodes: full nodes first, the last one with what is left.

    Parameters
    ----------
    component : Component
    node : NodeKind
    machine : Machine
    threads : int
        Threads that each task runs.

    Raises
    ------
    LaunchError
        If the numbers do not fit on a node together.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> component = Component(command=("a.out",), tasks=30)
    >>> place_aprun(component, hopper.node(), hopper, 1).task_numbers
    [range(0, 24), range(24, 30)]
    """
    hardware_threads = component.threads_per_core or 1
    counted = counted_node(node, hardware_threads)
    layout = aprun_layout(component, counted, machine.title)
    per_node = layout.tasks_per_node
    task_numbers = [
        range(first, min(first + per_node, component.tasks)) for first in range(0, component.tasks, per_node)
    ]
    patterns = {
        count: tuple(
            _numbered(binding, node, hardware_threads)
            for binding in _pattern(component, layout, counted, count, threads)
        )
        for count in dict.fromkeys(map(len, task_numbers))
    }
    return Seating(
        task_numbers=task_numbers,
        patterns=[patterns[len(numbers)] for numbers in task_numbers],
        assumptions=layout.assumptions + _binding_assumptions(component, per_node),
    )


def _binding_assumptions(component: Component, tasks_per_node: int) -> tuple[str, ...]:
    """Return what is assumed about ``-cc``."""
    lists = component.binding_list
    if component.cpu_binding == "none":
        return (_NONE,)
    if lists is not None and len(lists) == 1 and component.threads_per_task > 1 and tasks_per_node > 1:
        return (_ONE_LIST,)
    return ()
