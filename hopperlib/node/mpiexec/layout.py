"""Where tasks land when a launcher maps them onto units of a node and binds them to units.

One model for all mpiexec and mpirun: tasks go onto units of a node (CPUs, cores,
caches, NUMA nodes, sockets) in turn or a number on each, every task takes so
many cores or CPUs of its unit next to those taken before, and is bound to the
units that hold them.

References
----------
Open MPI 4.1 and 5.0, mpirun(1); MPICH, "Using the Hydra Process Manager"; Intel MPI Library 2021, Developer Reference,
"Process Pinning"; ALCF user guides, Aurora and Polaris (printed bindings of PALS).
"""

from collections import Counter
from collections.abc import Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating, bound_to
from hopperlib.node.gpus import step_gpus, with_gpus
from hopperlib.node.launch.components import Component, LaunchError, TaskMapping
from hopperlib.node.launch.option_values import check_nodes


def units_of(unit: str, kind: NodeKind) -> list[list[int]]:
    """Return the CPUs of each unit of a node that jobs may use, in the order of the units, core by core.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> units_of("core", Machine.load("perlmutter").node())[1]
    [1, 129]
    """
    usable, threads = kind.usable_cores, range(kind.threads_per_core)
    if unit in ("number", "hwthread"):
        cpus = [kind.cpu(core, thread) for core in usable for thread in threads]
        return [[cpu] for cpu in (sorted(cpus) if unit == "number" else cpus)]
    widths = {"numa": kind.cores_per_numa_node, "socket": kind.cores_per_socket, "node": kind.cores}
    width = widths.get(unit, (kind.cores_per_l3 or kind.cores_per_numa_node) if unit == "l3" else 1)
    groups = [range(first, first + width) for first in range(0, kind.cores, width)]
    members = [[kind.cpu(core, thread) for core in group if core in usable for thread in threads] for group in groups]
    return [group for group in members if group]


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
    slots = len(units_of("number" if mapping.unit in ("number", "hwthread") else "core", node)) // max(1, mapping.width)
    per_node = component.tasks_per_node or (mapping.per_unit or 0) * len(units_of(mapping.unit, node)) or max(1, slots)
    nodes = component.nodes or -(-component.tasks // per_node)
    check_nodes(nodes, machine, "-n", component.tasks)
    if component.tasks > nodes * per_node and component.tasks_per_node is None and not component.overcommit:
        raise LaunchError("-n", component.tasks, f"is more than {nodes} x {per_node} tasks, the slots of {nodes} nodes")
    if mapping.unit == "node-by-node":
        numbers: list[Sequence[int]] = [range(first, component.tasks, nodes) for first in range(nodes)]
    else:
        share = -(-component.tasks // nodes) if component.tasks > nodes * per_node else per_node
        numbers = [range(first, min(first + share, component.tasks)) for first in range(0, component.tasks, share)]
    patterns = {
        count: _pattern(component, mapping, node, count, threads, nodes) for count in {len(own) for own in numbers}
    }
    return Seating(numbers, [patterns[len(own)] for own in numbers], ())


def _pattern(
    component: Component, mapping: TaskMapping, kind: NodeKind, tasks: int, threads: int, nodes: int
) -> tuple[Binding, ...]:
    """Return where the tasks of one node run."""
    everything = frozenset(cpu for unit in units_of("core", kind) for cpu in unit)
    masks = [_bound(own, mapping.bind, kind, everything) for own in _taken(component, mapping, kind, tasks)]
    bindings = [bound_to(mask, kind, threads, bound=mapping.bind != "none") for mask in masks]
    step = step_gpus(component.gpus, kind, tasks=tasks, nodes=nodes)
    return with_gpus(component.gpus, kind, step, bindings, closest=True)


def _taken(component: Component, mapping: TaskMapping, kind: NodeKind, tasks: int) -> list[list[int]]:
    """Return the CPUs that each task of a node takes of its unit."""
    if component.binding_list:
        lists = component.binding_list
        absent = next((cpu for own in lists for cpu in own if cpu is not None and cpu >= kind.hardware_threads), None)
        if absent is not None:
            rule = f"names CPU {absent}; a node has CPUs 0 to {kind.hardware_threads - 1}"
            raise LaunchError("--cpu-bind", component.given("--cpu-bind") or "list", rule)
        return [[cpu for cpu in lists[task % len(lists)] if cpu is not None] for task in range(tasks)]
    small = mapping.unit if mapping.unit in ("number", "hwthread") else "core"
    pieces = units_of(small, kind)
    whole = mapping.unit in ("core", "slot", "node", "node-by-node", small)
    groups = (
        [pieces]
        if whole
        else [[piece for piece in pieces if set(piece) <= set(unit)] for unit in units_of(mapping.unit, kind)]
    )
    used: Counter[int] = Counter()
    taken = []
    for task in range(tasks):
        group = (task // mapping.per_unit if mapping.per_unit else task) % len(groups)
        # Each unit hands out its pieces from where its last task ended.
        first = used[group]
        used[group] += mapping.width
        own = groups[group][first : first + mapping.width]
        if len(own) < mapping.width:
            # Bound to more than its own cores, or not at all, a task may share them.
            if mapping.bind in ("core", "hwthread", "own") and not component.overcommit:
                cores, unit = small.replace("number", "CPU"), "node" if whole else mapping.unit
                rule = (
                    f"needs more than the {len(groups[group])} {cores}s that a {unit} has for tasks of {mapping.width}"
                )
                raise LaunchError("-n", component.tasks, rule)
            own = [groups[group][(first + index) % len(groups[group])] for index in range(mapping.width)]
        taken.append([cpu for piece in own for cpu in piece])
    return taken


def _bound(own: list[int], bind: str, kind: NodeKind, everything: frozenset[int]) -> frozenset[int]:
    """Return the CPUs that a task is bound to, or may use if it is not."""
    if bind == "none":
        return everything
    if bind == "first":
        return frozenset(own[:1])
    if bind in ("own", "core", "hwthread"):
        return frozenset(own)
    return frozenset(cpu for unit in units_of(bind, kind) if set(unit) & set(own) for cpu in unit)
