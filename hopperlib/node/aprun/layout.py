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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating, bound_to
from hopperlib.node.launch.components import Component, LaunchError, remark


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

    def nodes_for(self, component: Component) -> int:
        """Return the nodes that a component needs."""
        return -(-component.tasks // self.tasks_per_node)


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
    depth, share = component.threads_per_task, component.tasks_per_numa_node
    numa_nodes = component.numa_node_list or tuple(range(node.numa_nodes))
    wanted = component.numa_nodes_per_node or len(numa_nodes)
    if wanted > len(numa_nodes):
        raise LaunchError("-sn", wanted, f"asks for more NUMA nodes than the {len(numa_nodes)} that -sl names")
    numa_nodes = numa_nodes[:wanted]
    usable = node.cores - component.reserved_cores
    # The cores that -r keeps for the system are the last ones of the node.
    free = [[core for core in node.cores_of(numa_node) if core < usable] for numa_node in numa_nodes]
    cores = sum(map(len, free))
    _check_seat(component, cores, node, machine)
    seats = _whole_seats(free, depth, share)
    # A task that is wider than a NUMA node counts as one on it.
    per_numa_node = share or max(1, node.cores_per_numa_node // depth)
    tasks_per_node = component.tasks_per_node or (cores // depth if share is None else len(seats))
    assumptions: list[str] = []
    # Worth saying only where the node could have held more.
    if component.tasks_per_node is None and tasks_per_node < node.cores // depth:
        assumptions.append(
            remark("fewer-by-S", tasks=tasks_per_node, per_numa_node=per_numa_node, numa_nodes=wanted)
            if share is not None or wanted < node.numa_nodes
            else remark("fewer-by-r", kept=component.reserved_cores)
        )
    if tasks_per_node * depth > cores:
        times = f"times -d {depth} is {tasks_per_node * depth} cores, more than" if depth > 1 else "is more than"
        raise LaunchError("-N", tasks_per_node, f"{times} the {cores} that the line may use of a node of {machine}")
    if share is not None and tasks_per_node > len(seats):
        rule = remark("tasks-beyond-S", seats=len(seats), numa_nodes=wanted, tasks=tasks_per_node)
        raise LaunchError("-S", share, rule)
    if tasks_per_node > len(seats):
        assumptions.append(remark("left-over-cores", depth=depth, first=len(seats)))
        taken = {core for seat in seats for core in seat}
        left = [core for group in free for core in group if core not in taken]
        seats += _cut(left, depth, tasks_per_node - len(seats))
    return AprunLayout(tasks_per_node, per_numa_node, numa_nodes, tuple(seats[:tasks_per_node]), tuple(assumptions))


def counted_node(node: NodeKind, threads: int) -> NodeKind:
    """Return the node as aprun counts it with ``-j``: each hardware thread in use is a core.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> counted_node(Machine.load("titan").node(), 2).cores
    16
    """
    if threads == node.threads_per_core == 1:
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


def _check_seat(component: Component, cores: int, node: NodeKind, machine: str) -> None:
    """Refuse a depth that no task can have, ``-S`` times ``-d`` beyond a NUMA node, and a ``-cc`` list of no core.

    A depth beyond a NUMA node takes whole ones, one task each. Of a list, aprun passes over single cores there are not.
    """
    depth, share, each = component.threads_per_task, component.tasks_per_numa_node, node.cores_per_numa_node
    if depth > node.cores:
        raise LaunchError("-d", depth, f"must be from 1 to {node.cores}, the cores of a node of {machine}")
    if depth > cores:
        left = {"cores": cores, "all": node.cores, "machine": machine}
        raise LaunchError("-d", depth, remark("depth-beyond-left", **left))
    rule = ""
    if share is not None and share > each:
        rule = f"must be from 1 to {each}, the cores of a NUMA node of {machine}"
    elif share is not None and depth > each and share > 1:
        rule = f"must be 1 with -d {depth}: a task of {depth} threads takes more than the {each} cores of a NUMA node"
    elif share is not None and depth <= each < share * depth:
        rule = f"times -d {depth} is {share * depth} cores, more than the {each} of a NUMA node of {machine}"
    if rule:
        raise LaunchError("-S", share or 0, rule)
    usable = node.cores - component.reserved_cores
    if any(all(core is not None and core >= usable for core in own) for own in component.binding_list or ()):
        rule = remark("list-of-no-core", machine=machine, last=usable - 1)
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


def _cut(cores: Sequence[int], depth: int, wanted: int) -> list[tuple[int, ...]]:
    """Return the first seats of so many cores each."""
    return [tuple(cores[index * depth : (index + 1) * depth]) for index in range(wanted)]


def _pattern(component: Component, layout: AprunLayout, node: NodeKind, tasks: int, threads: int) -> Iterator[Binding]:
    """Yield where the tasks of one node run: at most those of a full one, each with so many threads."""
    seats = layout.seats[:tasks]
    numa_nodes = set(layout.numa_nodes)
    # With -F share a task keeps to the NUMA nodes on which the line has tasks.
    if component.access_mode == "share":
        numa_nodes = {node.numa_node_of(core) for seat in seats for core in seat}
    usable = node.cores - component.reserved_cores
    allowed = tuple(core for core in range(usable) if node.numa_node_of(core) in numa_nodes)
    # Threads beyond the seat's cores share them from the first one on.
    for number, seat in enumerate(seats):
        beside = [tuple(core for core in allowed if core in node.cores_of(node.numa_node_of(own))) for own in seat]
        per_thread: list[tuple[int, ...]]
        cores = set(seat)
        if component.cpu_binding == "none":
            per_thread = [allowed] * threads
        elif component.cpu_binding == "depth":
            per_thread = [seat] * threads
        elif component.cpu_binding == "numa_node":
            per_thread = [beside[thread % len(seat)] for thread in range(threads)]
            cores = set().union(*beside)
        elif component.cpu_binding == "list":
            entries = _entries(component, number, threads, usable)
            per_thread = [allowed if core is None else (core,) for core in entries]
        else:
            per_thread = [(seat[thread % len(seat)],) for thread in range(threads)]
        if component.cpu_binding in ("none", "list"):
            cores = set().union(*per_thread)
        bound = component.cpu_binding != "none" and per_thread[0] is not allowed
        yield bound_to(cores, node, per_thread, bound=bound)


def _entries(component: Component, number: int, threads: int, usable: int) -> list[int | None]:
    """Return the ``-cc`` list entry of each thread of a task; entries that are no core are passed over."""
    lists = component.binding_list or ((None,),)
    own = [core for core in lists[number % len(lists)] if core is None or core < usable]
    # A single list serves the tasks of a node one after the other; of several, each is one task's own.
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
    per_node, lists = layout.tasks_per_node, component.binding_list
    firsts = range(0, component.tasks, per_node)
    task_numbers = [range(first, min(first + per_node, component.tasks)) for first in firsts]
    # Two kinds of nodes at most: full ones, and the last with what is left.
    patterns = {
        count: tuple(
            _numbered(binding, node, hardware_threads)
            for binding in _pattern(component, layout, counted, count, threads)
        )
        for count in dict.fromkeys(map(len, task_numbers))
    }
    assumptions = layout.assumptions
    if component.cpu_binding == "none":
        assumptions += (remark("cc-none"),)
    elif lists is not None and len(lists) == 1 and component.threads_per_task > 1 and per_node > 1:
        assumptions += (remark("one-list"),)
    return Seating(task_numbers, [patterns[len(numbers)] for numbers in task_numbers], assumptions)
