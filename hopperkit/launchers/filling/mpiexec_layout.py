"""Nodes and CPUs of the tasks of an mpiexec line.

Open MPI, MPICH and Intel MPI each bind the tasks of a node by their rules (`hopperkit.launchers.mapping`). For PALS,
tasks are assigned to units of a node (CPUs, cores, caches, NUMA nodes, sockets) in turn; each task takes the next cores
or CPUs of its unit and is bound to the units that contain them.

References
----------
Open MPI 4.1 and 5.0, mpirun(1); MPICH, "Using the Hydra Process Manager"; Intel MPI Library 2021, Developer Reference,
"Process Pinning"; ALCF user guides, Aurora and Polaris (printed bindings of PALS).
"""

from collections import Counter
from collections.abc import Sequence

from hopperkit.launchers.filling.gpus import step_gpus, with_gpus
from hopperkit.launchers.mapping.topology import units_of
from hopperkit.launchers.option_values import check_nodes
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.binding import Binding, Seating, bound_to
from hopperlib.placement.components import Component, LaunchError, TaskMapping
from hopperlib.text import count


def place_mpiexec(component: Component, node: NodeKind, machine: Machine, threads: int) -> Seating:
    """Return the tasks of one component on its nodes.

    Parameters
    ----------
    component : Component
        With its `mapping`.
    node : NodeKind
    machine : Machine
    threads : int
        Threads that each task runs.

    Raises
    ------
    LaunchError
        If the tasks do not fit on the nodes, or on the units that they are mapped to.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> cluster = Machine.load("cluster")
    >>> component = Component(command=(), tasks=4, mapping=TaskMapping("socket", width=2, bind="core"))
    >>> seating = place_mpiexec(component, cluster.node(), cluster, 2)
    >>> [seat.cores for seat in seating.patterns[0]]
    [(0, 1), (16, 17), (2, 3), (18, 19)]
    """
    mapping = component.mapping or TaskMapping()
    nodes, per_node = _node_counts(component, mapping, node)
    check_nodes(nodes, machine, "-n", component.tasks)
    full = component.tasks > nodes * per_node
    if full and component.tasks_per_node is None and not component.overcommit:
        slots = f"is more than {nodes} x {per_node} tasks, the slots of {count(nodes, 'node')}"
        raise LaunchError("-n", component.tasks, slots)
    if mapping.unit == "node-by-node":
        numbers: list[Sequence[int]] = [range(first, component.tasks, nodes) for first in range(nodes)]
    else:
        share = -(-component.tasks // nodes) if full else per_node
        numbers = [range(first, min(first + share, component.tasks)) for first in range(0, component.tasks, share)]
    doubts: dict[str, None] = {}
    if component.mapper and len(numbers) > 1 and component.mapper.doubt_on_several_nodes:
        doubts[component.mapper.doubt_on_several_nodes] = None
    patterns = {
        size: _pattern(component, mapping, node, size, threads, nodes, doubts) for size in set(map(len, numbers))
    }
    return Seating(numbers, [patterns[len(tasks)] for tasks in numbers], (), tuple(doubts))


def _node_counts(component: Component, mapping: TaskMapping, node: NodeKind) -> tuple[int, int]:
    """Return the nodes and the tasks per node: as requested, by unit, or one task per slot."""
    piece = "number" if mapping.unit in ("number", "hwthread") else "core"
    slots = len(units_of(piece, node)) // max(1, mapping.width)
    per_node = component.tasks_per_node or (mapping.per_unit or 0) * len(units_of(mapping.unit, node)) or max(1, slots)
    return component.nodes or -(-component.tasks // per_node), per_node


def _pattern(
    component: Component,
    mapping: TaskMapping,
    kind: NodeKind,
    tasks: int,
    threads: int,
    nodes: int,
    doubts: dict[str, None],
) -> tuple[Binding, ...]:
    """Return the placement of one node's tasks; append unknowns to `doubts`."""
    everything = frozenset(cpu for unit in units_of("core", kind) for cpu in unit)
    if component.mapper:
        result = component.mapper.bind(kind, tasks)
        doubts.update({result.doubt: None} if result.doubt else {})
        free = bound_to(everything, kind, threads, bound=False)
        shapes = {cpus: bound_to(cpus, kind, threads) if cpus else free for cpus in set(result.cpus)}
        bindings = [shapes[cpus] for cpus in result.cpus]
        step = step_gpus(component.gpus, kind, tasks=tasks, nodes=nodes)
        return with_gpus(component.gpus, kind, step, bindings, closest=True)
    if component.binding_list:
        taken = _listed_cpus(component, kind, tasks)
    else:
        taken = _deal_pieces(component, mapping, kind, tasks)
    masks = [_bound(units, mapping.bind, kind, everything) for units in taken]
    bindings = [bound_to(mask, kind, threads, bound=mapping.bind != "none") for mask in masks]
    step = step_gpus(component.gpus, kind, tasks=tasks, nodes=nodes)
    return with_gpus(component.gpus, kind, step, bindings, closest=True)


def _listed_cpus(component: Component, kind: NodeKind, tasks: int) -> list[list[int]]:
    """Return the CPUs of each task of a node where the line lists them."""
    lists = [[cpu for cpu in listed if cpu is not None] for listed in component.binding_list or ()]
    known = {kind.cpu(core, thread) for core in range(kind.cores) for thread in range(kind.threads_per_core)}
    absent = next((cpu for listed in lists for cpu in listed if cpu not in known), None)
    if absent is not None:
        rule = f"names CPU {absent}; a node has CPUs up to {kind.highest_cpu}"
        raise LaunchError("--cpu-bind", component.given("--cpu-bind") or "list", rule)
    return [lists[task % len(lists)] for task in range(tasks)]


def _deal_pieces(component: Component, mapping: TaskMapping, kind: NodeKind, tasks: int) -> list[list[int]]:
    """Return the CPUs that each task of a node takes of its unit: cores, or single CPUs."""
    small = mapping.unit if mapping.unit in ("number", "hwthread") else "core"
    groups = [units_of(small, kind)]
    unit = "node"
    if mapping.unit not in ("core", "slot", "node", "node-by-node", small):
        unit = mapping.unit
        groups = [[piece for piece in groups[0] if set(piece) <= set(cpus)] for cpus in units_of(unit, kind)]
    used: Counter[int] = Counter()
    taken = []
    for task in range(tasks):
        number = (task // mapping.per_unit if mapping.per_unit else task) % len(groups)
        group = groups[number]
        # Each unit continues from where its last task ended.
        first = used[number]
        used[number] += mapping.width
        # A task bound to more than its cores, or unbound, may share them.
        shares = component.overcommit or mapping.bind not in ("core", "hwthread", "own")
        if used[number] > len(group) and not shares:
            names = {"number": "CPU", "hwthread": "CPU", "numa": "NUMA node", "l3": "L3 cache"}
            has = f"the {len(group)} {names.get(small, small)}s that a {names.get(unit, unit)} has"
            raise LaunchError("-n", component.tasks, f"needs more than {has} for tasks of {mapping.width}")
        pieces = [group[at % len(group)] for at in range(first, first + mapping.width)]
        taken.append([cpu for piece in pieces for cpu in piece])
    return taken


def _bound(units: list[int], bind: str, kind: NodeKind, everything: frozenset[int]) -> frozenset[int]:
    """Return the CPUs that a task is bound to, or may use if it is not."""
    if bind == "none":
        return everything
    if bind in ("own", "core", "hwthread"):
        return frozenset(units)
    return frozenset(cpu for unit in units_of(bind, kind) if set(unit) & set(units) for cpu in unit)
