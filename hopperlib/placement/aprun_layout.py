"""aprun's distribution of tasks on a node: tasks on NUMA nodes, cores for each task. The sources document that tasks
fill NUMA node 0 before the next [1]_, and the default tasks per node, per NUMA node and NUMA nodes per node [2]_. From
the geometry, a task with a depth beyond a NUMA node takes whole NUMA nodes. The distribution of more tasks over
leftover cores is assumed here, and reported with each placement that it affects.

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
from hopperlib.placement.binding import Binding, Seating, bound_to
from hopperlib.placement.components import Component, LaunchError
from hopperlib.text import count


def counted_node(node: NodeKind, threads: int) -> NodeKind:
    """Return the node as aprun counts it with ``-j``: each hardware thread in use is a core; without ``-j``, one thread
    per core.

    Parameters
    ----------
    node : NodeKind
        Kind of node.
    threads : int
        Threads per task.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> counted_node(Machine.load("titan").node(), 2).cores
    16
    """
    if threads == node.threads_per_core == 1:
        return node
    cores = node.cores_per_numa_node * threads
    return replace(node, cores_per_numa_node=cores, threads_per_core=1, cpu_numbering="cores", cpu_numbers=())


class AprunLayout(NamedTuple):
    """aprun's layout of a component on one full node.

    Parameters
    ----------
    tasks_per_node : int
        Tasks on a full node.
    numa_nodes : tuple of int
        NUMA nodes in use, in the order in which they fill.
    seats : tuple of tuple of int
        Cores of each task of a full node, in the order of the tasks.
    assumptions : tuple of str
        Assumptions about the layout.
    """

    tasks_per_node: int
    numa_nodes: tuple[int, ...]
    seats: tuple[tuple[int, ...], ...]
    assumptions: tuple[str, ...]

    def nodes_for(self, component: Component) -> int:
        """Return the number of nodes that a component needs.

        Parameters
        ----------
        component : Component
            One program of the launch line.
        """
        return -(-component.tasks // self.tasks_per_node)


def aprun_layout(component: Component, node: NodeKind, machine: str) -> AprunLayout:
    """Compute the layout of a full node, with aprun's defaults filled in.

    Parameters
    ----------
    component : Component
        The line's request.
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
    Six threads per task: one task on each NUMA node of Hopper.

    >>> from hopperlib.machine import Machine
    >>> component = Component(command=("a.out",), tasks=4, threads_per_task=6)
    >>> layout = aprun_layout(component, Machine.load("hopper").node(), "Hopper")
    >>> layout.tasks_per_node, layout.seats[1]
    (4, (6, 7, 8, 9, 10, 11))
    """
    depth, share = component.threads_per_task, component.tasks_per_numa_node
    numa_nodes = _numa_nodes(component, node)
    usable = node.cores - component.reserved_cores
    # The cores that -r reserves for the system are the last ones of the node.
    free = [[core for core in node.cores_of(numa_node) if core < usable] for numa_node in numa_nodes]
    cores = sum(map(len, free))
    _check_depth(component, cores, node, machine)
    _check_cpu_list(component, node, machine)
    seats = _adjacent_seats(free, depth, share)
    tasks_per_node = component.tasks_per_node or (cores // depth if share is None else len(seats))
    assumptions: list[str] = []
    # Relevant only if the node could have held more.
    if component.tasks_per_node is None and tasks_per_node < node.cores // depth:
        on_node = count(tasks_per_node, "task")
        assumptions.append(f"Without -N, {on_node} per node: that -S, -sn and -r lower the default of -N is assumed.")
    _check_tasks(component, tasks_per_node, cores, len(seats), len(numa_nodes), machine)
    if tasks_per_node > len(seats):
        assumptions.append(
            f"Depth {depth} leaves cores over on each NUMA node: the first {len(seats)} tasks of a node get cores next to "
            "each other, the others the leftover cores in order. No source describes aprun's placement of those; this is assumed."
        )
        taken = {core for seat in seats for core in seat}
        left = [core for group in free for core in group if core not in taken]
        seats += _cut(left, depth, tasks_per_node - len(seats))
    return AprunLayout(tasks_per_node, numa_nodes, tuple(seats[:tasks_per_node]), tuple(assumptions))


def _numa_nodes(component: Component, node: NodeKind) -> tuple[int, ...]:
    """Return the NUMA nodes of a line: those of ``-sl``, the first ones with ``-sn``."""
    listed = component.numa_node_list or tuple(range(node.numa_nodes))
    wanted = component.numa_nodes_per_node or len(listed)
    if wanted > len(listed):
        raise LaunchError("-sn", wanted, f"requests more NUMA nodes than the {len(listed)} that -sl names")
    return listed[:wanted]


def _check_tasks(
    component: Component, tasks_per_node: int, cores: int, seats: int, numa_nodes: int, machine: str
) -> None:
    """Reject more tasks per node than its cores, or than ``-S`` allows."""
    depth, share = component.threads_per_task, component.tasks_per_numa_node
    if tasks_per_node * depth > cores:
        times = f"times -d {depth} is {tasks_per_node * depth} cores, more than" if depth > 1 else "is more than"
        raise LaunchError("-N", tasks_per_node, f"{times} the {cores} that the line may use of a node of {machine}")
    if share is not None and tasks_per_node > seats:
        on_node = f"{count(seats, 'task')} per node, on {count(numa_nodes, 'NUMA node')}"
        capacity = f"holds {on_node}, and -N requests {tasks_per_node}"
        raise LaunchError("-S", share, f"{capacity}; -S times the NUMA nodes in use must be at least -N")


def _numbered(binding: Binding, node: NodeKind, threads: int) -> Binding:
    """Return a binding with the node's actual core and CPU numbers."""
    return binding._replace(
        cores=tuple(dict.fromkeys(unit // threads for unit in binding.cores)),
        cpus=tuple(node.cpu(*divmod(unit, threads)) for unit in binding.cores),
        thread_cores=tuple(tuple(dict.fromkeys(unit // threads for unit in cores)) for cores in binding.thread_cores),
    )


def _check_depth(component: Component, cores: int, node: NodeKind, machine: str) -> None:
    """Reject an impossible depth, and ``-S`` times ``-d`` beyond a NUMA node. A task with a depth beyond a NUMA node
    takes whole NUMA nodes.
    """
    depth, share, each = component.threads_per_task, component.tasks_per_numa_node, node.cores_per_numa_node
    if depth > cores:
        left = f"the {cores} cores that -r, -sn and -sl leave of the {node.cores} of a node of {machine}"
        raise LaunchError("-d", depth, f"is more than {left}")
    if share is None:
        return
    if depth > each and share > 1:
        rule = f"must be 1 with -d {depth}: a task of {depth} threads takes more than the {each} cores of a NUMA node"
        raise LaunchError("-S", share, rule)
    if depth <= each < share * depth:
        rule = f"times -d {depth} is {share * depth} cores, more than the {each} of a NUMA node of {machine}"
        raise LaunchError("-S", share, rule)


def _check_cpu_list(component: Component, node: NodeKind, machine: str) -> None:
    """Reject a ``-cc`` list without a valid core; aprun skips single invalid entries."""
    usable = node.cores - component.reserved_cores
    if any(all(core is not None and core >= usable for core in listed) for listed in component.binding_list or ()):
        rule = f"lists no core that a task may use on a node of {machine}; those are 0 to {usable - 1}"
        raise LaunchError("-cc", component.given("-cc") or "", rule)


def _adjacent_seats(free: Sequence[Sequence[int]], depth: int, per_numa_node: int | None) -> list[tuple[int, ...]]:
    """Return adjacent seats: within a NUMA node, or over whole NUMA nodes if the depth is larger than one."""
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
            # The next task begins on a new NUMA node, so leftover cores of the last one stay free.
            seats.append(tuple(gathered[:depth]))
            gathered = []
    return seats


def _cut(cores: Sequence[int], depth: int, wanted: int) -> list[tuple[int, ...]]:
    """Return the first groups of cores, each as large as the depth."""
    return [tuple(cores[index * depth : (index + 1) * depth]) for index in range(wanted)]


def _pattern(component: Component, layout: AprunLayout, node: NodeKind, tasks: int, threads: int) -> Iterator[Binding]:
    """Yield the tasks of one node: at most those of a full node, each with its threads."""
    seats = layout.seats[:tasks]
    numa_nodes = set(layout.numa_nodes)
    usable = node.cores - component.reserved_cores
    allowed = tuple(core for core in range(usable) if node.numa_node_of(core) in numa_nodes)
    for number, seat in enumerate(seats):
        per_thread = _thread_cores(component, node, seat, number, allowed, threads)
        cores = set(seat)
        if component.cpu_binding in ("none", "list"):
            cores = set().union(*per_thread)
        elif component.cpu_binding == "numa_node":
            cores = set().union(*_near_cores(seat, allowed, node))
        bound = component.cpu_binding != "none" and per_thread[0] is not allowed
        yield bound_to(cores, node, per_thread, bound=bound)


def _near_cores(seat: tuple[int, ...], allowed: tuple[int, ...], node: NodeKind) -> list[tuple[int, ...]]:
    """Return, for each core of a seat, the cores of its NUMA node that a task may use."""
    return [tuple(core for core in allowed if core in node.cores_of(node.numa_node_of(own))) for own in seat]


def _thread_cores(
    component: Component, node: NodeKind, seat: tuple[int, ...], number: int, allowed: tuple[int, ...], threads: int
) -> list[tuple[int, ...]]:
    """Return the cores of each thread of a task according to ``-cc``; threads beyond the seat's cores share them."""
    match component.cpu_binding:
        case "none":
            return [allowed] * threads
        case "depth":
            return [seat] * threads
        case "numa_node":
            near = _near_cores(seat, allowed, node)
            return [near[thread % len(seat)] for thread in range(threads)]
        case "list":
            entries = _entries(component, number, threads, node.cores - component.reserved_cores)
            return [allowed if core is None else (core,) for core in entries]
        case _:
            return [(seat[thread % len(seat)],) for thread in range(threads)]


def _entries(component: Component, number: int, threads: int, usable: int) -> list[int | None]:
    """Return the ``-cc`` list entry of each thread of a task; entries that are not cores are skipped."""
    lists = component.binding_list or ((None,),)
    entries = [core for core in lists[number % len(lists)] if core is None or core < usable]
    # A single list applies to the tasks of a node in turn; with several lists, each belongs to one task.
    first = number * threads if len(lists) == 1 else 0
    return [entries[(first + thread) % len(entries)] for thread in range(threads)]


def place_aprun(component: Component, node: NodeKind, machine: Machine, threads: int) -> Seating:
    """Return the tasks of one component on its nodes: full nodes first, the remainder on the last.

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
    # At most two kinds of nodes: full ones, and the last with the remainder.
    patterns = {
        count: tuple(
            _numbered(binding, node, hardware_threads)
            for binding in _pattern(component, layout, counted, count, threads)
        )
        for count in dict.fromkeys(map(len, task_numbers))
    }
    assumptions = layout.assumptions
    if component.cpu_binding == "none":
        free = "-cc none: a task may run on any core of the NUMA nodes that the line leaves to it"
        assumptions += (f"{free}; so the manual is read.",)
    elif lists is not None and len(lists) == 1 and component.threads_per_task > 1 and per_node > 1:
        assumptions += (
            "One -cc list for several tasks of several threads: it is dealt out in order, all threads of a task before "
            "the next task. The manual leaves this open; it is assumed.",
        )
    return Seating(task_numbers, [patterns[len(numbers)] for numbers in task_numbers], assumptions)
