"""Where srun puts tasks: on nodes, then on the CPUs of each node.

Nodes: the number on each is what dealing tasks one by one would give; block
then numbers them node by node, cyclic in turn, plane in blocks [1]_. CPUs: see
`hopperlib.node.slurm.cpus` for who gets which and below for what a task is
bound to [2]_. The job is taken to have its nodes to itself.

References
----------
.. [1] SchedMD, Slurm 23.11, srun man page, ``--distribution``, and ``src/common/slurm_step_layout.c``.
.. [2] SchedMD, Slurm 23.11, srun man page, ``--cpu-bind``, and ``src/plugins/task/affinity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating
from hopperlib.node.launch.components import Component, LaunchError
from hopperlib.node.launch.reservation import check_machine_size
from hopperlib.node.slurm.cpus import Request, SlurmNode, deal_cpus, step_cores

__all__ = ["check_srun", "node_capacity", "place_srun", "step_nodes", "task_counts", "tasks_of_nodes"]

# MaxTasksPerNode of slurm.conf, unless the site sets it.
_MOST_TASKS_PER_NODE = 512

_WHOLE_NODES = (
    "The job is taken to have its nodes to itself, and srun to be set up as Slurm is without a site's changes."
)
_NOT_BOUND = (
    "Without --cpu-bind, Slurm binds a task only if the tasks' CPUs come to all sockets, cores or hardware threads of the "
    "step; here they do not, so tasks may wander over all of the step's CPUs."
)
_RANK = (
    "--cpu-bind=rank: task i gets its CPUs from number i times --cpus-per-task on, as ParaStation's Slurm plugin does; "
    "Slurm's own code bound it to CPU i alone, and ignores the option from 24.11."
)
_GENERATED = ("cores", "threads", "sockets", "ldoms")


def node_capacity(component: Component, node: SlurmNode) -> int:
    """Return the most tasks of the component that a node takes without overcommitting it.

    Examples
    --------
    >>> node = SlurmNode(sockets=2, cores_per_socket=64, threads_per_core=2)
    >>> node_capacity(Component(command=(), tasks=1, threads_per_task=16), node)
    16
    >>> node_capacity(Component(command=(), tasks=1, threads_per_core=1), node)
    128
    """
    usable_threads = component.threads_per_core or node.threads_per_core
    cores = (component.cores_per_socket or node.cores_per_socket) * node.sockets
    cpus = cores * usable_threads
    wanted = component.threads_per_task
    if component.tasks_per_core == 1:
        wanted = max(wanted, usable_threads)
    limits = [cpus // wanted]
    if component.tasks_per_core:
        limits.append(component.tasks_per_core * cores)
    if component.tasks_per_socket:
        limits.append(component.tasks_per_socket * node.sockets)
    return min(limits)


def step_nodes(component: Component, node: SlurmNode) -> int:
    """Return the nodes that the step runs on: those asked for, or as many as the tasks need.

    Raises
    ------
    LaunchError
        If a task does not fit on a node, or the tasks not on the nodes.

    Examples
    --------
    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> step_nodes(Component(command=(), tasks=30), node)
    2
    """
    capacity = node_capacity(component, node)
    if component.overcommit:
        nodes = component.nodes or -(-component.tasks // (component.tasks_per_node or max(capacity, 1)))
        if component.tasks > nodes * max(_MOST_TASKS_PER_NODE, node.cpus):
            rule = f"is more than {nodes} x {_MOST_TASKS_PER_NODE} tasks, Slurm's MaxTasksPerNode"
            words = "srun: error: Task count specification invalid"
            raise LaunchError(flag="-n", value=str(component.tasks), rule=rule, words=words)
        return nodes
    words = "srun: error: Requested node configuration is not available"
    if capacity == 0:
        rule = f"is more than the CPUs that one task can have on a node of {node.cpus} CPUs"
        raise LaunchError(flag="-c", value=str(component.threads_per_task), rule=rule, words=words)
    if component.tasks_per_node is not None and component.tasks_per_node > capacity:
        rule = f"is more than the {capacity} tasks that a node takes with -c {component.threads_per_task}"
        raise LaunchError(flag="--ntasks-per-node", value=str(component.tasks_per_node), rule=rule, words=words)
    per_node = component.tasks_per_node or capacity
    nodes = component.nodes or -(-component.tasks // per_node)
    if component.tasks > nodes * per_node:
        room = f"{nodes} x {per_node} tasks, all that fit with -c {component.threads_per_task}"
        rule = f"is more than {room}; --overcommit would allow it"
        raise LaunchError(flag="-n", value=str(component.tasks), rule=rule, words=words)
    return nodes


def tasks_of_nodes(component: Component, nodes: int, capacity: int) -> list[Sequence[int]]:
    """Return the task numbers of each node, counted from 0.

    Parameters
    ----------
    component : Component
    nodes : int
        Nodes of the step.
    capacity : int
        Most tasks of a node, before it is overcommitted.

    Examples
    --------
    >>> component = Component(command=(), tasks=10, distribution=("block", "cyclic", "cyclic"))
    >>> [list(numbers) for numbers in tasks_of_nodes(component, 3, 24)]
    [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    """
    counts = task_counts(component, nodes, capacity)
    method = component.distribution[0] if component.distribution else "block"
    if method == "cyclic":
        return [range(first, component.tasks, nodes) for first in range(nodes)]
    if method == "plane":
        return _planes(counts, component.plane_size or 1)
    ends = list(accumulate(counts))
    return [range(end - count, end) for end, count in zip(ends, counts, strict=True)]


def task_counts(component: Component, nodes: int, capacity: int) -> list[int]:
    """Return how many tasks each node has; the arguments are those of `tasks_of_nodes`.

    Examples
    --------
    >>> task_counts(Component(command=(), tasks=10), 4, 24)
    [3, 3, 2, 2]
    """
    if component.distribution and component.distribution[0] == "plane":
        return _plane_counts(component.tasks, nodes, component.plane_size or 1, capacity)
    if component.pack_nodes:
        return _packed(component.tasks, nodes, capacity)
    return _even(component.tasks, nodes)


def _even(tasks: int, nodes: int) -> list[int]:
    """Return how many tasks each node has if they are dealt one by one."""
    each, more = divmod(tasks, nodes)
    return [each + (index < more) for index in range(nodes)]


def _packed(tasks: int, nodes: int, capacity: int) -> list[int]:
    """Return how many tasks each node has if one goes to each and the rest fill node after node."""
    counts = [1 if index < tasks else 0 for index in range(nodes)]
    left = tasks - sum(counts)
    for index in range(nodes):
        more = max(0, min(left, capacity - counts[index]))
        counts[index] += more
        left -= more
    return [count + extra for count, extra in zip(counts, _even(left, nodes), strict=True)]


def _plane_counts(tasks: int, nodes: int, size: int, capacity: int) -> list[int]:
    """Return how many tasks each node has if blocks of a size are dealt in turn, one task to each node first."""
    counts = [1 if index < tasks else 0 for index in range(nodes)]
    left = tasks - sum(counts)
    # In the first round each node gets one task less: it has one already.
    wanted, room = size - 1, capacity
    while left:
        given = 0
        for index in range(nodes):
            more = min(wanted, left, max(0, room - counts[index]))
            counts[index] += more
            left -= more
            given += more
        if not given and wanted:
            room = tasks
        wanted = size
    return counts


def _planes(counts: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the task numbers of each node for blocks of a size dealt in turn."""
    numbers: list[list[int]] = [[] for _ in counts]
    first, tasks = 0, sum(counts)
    while first < tasks:
        for own, count in zip(numbers, counts, strict=True):
            block = min(size, count - len(own))
            own.extend(range(first, first + block))
            first += block
    return [tuple(own) for own in numbers]


def place_srun(component: Component, node: NodeKind, machine: Machine, threads: int) -> Seating:
    """Return the tasks of one component on its nodes.

    Parameters
    ----------
    component : Component
    node : NodeKind
    machine : Machine
        Whose srun it is: what it calls a socket, which Slurm release.
    threads : int
        Threads that each task runs.

    Raises
    ------
    LaunchError
        If the tasks do not fit, or are bound to CPUs that they do not have.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> component = Component(command=(), tasks=4, threads_per_task=6, cpu_binding="cores")
    >>> seating = place_srun(component, hopper.node(), hopper, 6)
    >>> [binding.cores[0] for binding in seating.patterns[0]]
    [0, 6, 12, 18]
    """
    slurm_node = SlurmNode.of(node, machine.launcher("srun"))
    nodes = step_nodes(component, slurm_node)
    capacity = component.tasks_per_node or node_capacity(component, slurm_node)
    task_numbers = tasks_of_nodes(component, nodes, capacity)
    by_count: dict[int, tuple[Binding, ...]] = {}
    assumptions: dict[str, None] = {_WHOLE_NODES: None}
    for count in dict.fromkeys(map(len, task_numbers)):
        by_count[count], assumed = _pattern(component, node, slurm_node, count, threads)
        assumptions |= dict.fromkeys(assumed)
    patterns = [by_count[len(numbers)] for numbers in task_numbers]
    return Seating(task_numbers=task_numbers, patterns=patterns, assumptions=tuple(assumptions))


def check_srun(component: Component, node: NodeKind, machine: Machine) -> int:
    """Return the nodes of a component, after each kind of node that it makes was tried.

    Raises
    ------
    LaunchError
        As `place_srun`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> check_srun(Component(command=(), tasks=30), hopper.node(), hopper)
    2
    """
    slurm_node = SlurmNode.of(node, machine.launcher("srun"))
    nodes = step_nodes(component, slurm_node)
    words = "srun: error: Requested node configuration is not available"
    check_machine_size(nodes, "-n", str(component.tasks), machine, words)
    capacity = component.tasks_per_node or node_capacity(component, slurm_node)
    for count in set(task_counts(component, nodes, capacity)):
        _pattern(component, node, slurm_node, count, 1)
    return nodes


def _pattern(
    component: Component, node: NodeKind, slurm_node: SlurmNode, tasks: int, threads: int
) -> tuple[tuple[Binding, ...], list[str]]:
    """Return where the tasks of one node run, and what is assumed about it."""
    request = _request(component, tasks)
    cores = step_cores(request, slurm_node)
    step_cpus = frozenset(
        core + thread * slurm_node.cores for core in cores for thread in range(slurm_node.threads_per_core)
    )
    assumptions: list[str] = []
    mode = component.cpu_binding or _automatic(request, slurm_node, cores)
    if mode is None:
        assumptions.append(_NOT_BOUND)
    if mode == "rank":
        assumptions.append(_RANK)
    if mode in _GENERATED:
        masks = _generated(mode, request, node, slurm_node, cores, step_cpus)
    elif mode is None or mode == "none":
        masks = [step_cpus] * tasks
    else:
        masks = _manual(component, mode, tasks, node, slurm_node, step_cpus)
    bound = mode is not None and mode != "none" and bool(masks) and tasks <= len(step_cpus)
    return tuple(_binding(mask, node, threads, bound=bound) for mask in masks), assumptions


def _request(component: Component, tasks: int) -> Request:
    """Return what the tasks of one node ask for."""
    nodes_method, sockets_method = (component.distribution or ("block", "cyclic"))[:2]
    return Request(
        tasks=tasks,
        cpus_per_task=component.threads_per_task,
        threads_per_core=component.threads_per_core,
        tasks_per_core=component.tasks_per_core,
        tasks_per_socket=component.tasks_per_socket,
        cores_per_socket=component.cores_per_socket,
        sockets=sockets_method,
        plane=nodes_method == "plane",
        exact=component.exact,
        whole_cores=component.cpu_binding == "cores",
    )


def _automatic(request: Request, node: SlurmNode, cores: Sequence[int]) -> str | None:
    """Return what Slurm binds to by itself: what the tasks' CPUs come to in number, if anything."""
    wanted = request.tasks * request.cpus_per_task
    on_socket = [0] * node.sockets
    for core in cores:
        on_socket[core // node.cores_per_socket] += 1
    whole = on_socket.count(node.cores_per_socket)
    parts = sum(0 < count < node.cores_per_socket for count in on_socket)
    if wanted == whole and not parts:
        return "sockets"
    if wanted == len(cores):
        return "cores"
    if wanted == len(cores) * node.threads_per_core:
        return "threads"
    return None


def _generated(
    mode: str, request: Request, node: NodeKind, slurm_node: SlurmNode, cores: Sequence[int], step_cpus: frozenset[int]
) -> list[frozenset[int]]:
    """Return the CPUs of each task where Slurm works them out: dealt, then widened to the unit of binding."""
    if len(step_cpus) < request.tasks:
        # Overcommitted beyond one task a CPU: nothing is dealt, all share all.
        return [step_cpus] * request.tasks
    per_task = min(request.cpus_per_task, len(step_cpus) // request.tasks)
    fitting = replace(request, cpus_per_task=per_task, whole_cores=mode == "cores")
    masks: list[frozenset[int]] = []
    for hand in deal_cpus(fitting, slurm_node, cores):
        cpus = {slurm_node.cpu(place) for place in hand}
        own_cores = {cpu % slurm_node.cores for cpu in cpus}
        if mode == "cores":
            cpus = {cpu for cpu in step_cpus if cpu % slurm_node.cores in own_cores}
        elif mode == "sockets":
            sockets = {core // slurm_node.cores_per_socket for core in own_cores}
            cpus = {cpu for cpu in step_cpus if cpu % slurm_node.cores // slurm_node.cores_per_socket in sockets}
        elif mode == "ldoms":
            cpus = _cpus_of({node.numa_node_of(core) for core in own_cores}, node)
        masks.append(frozenset(cpus))
    return masks


def _cpus_of(numa_nodes: set[int], node: NodeKind) -> set[int]:
    """Return all CPUs of some NUMA nodes."""
    return {
        core + thread * node.cores
        for numa_node in numa_nodes
        for core in node.cores_of(numa_node)
        for thread in range(node.threads_per_core)
    }


def _manual(
    component: Component, mode: str, tasks: int, node: NodeKind, slurm_node: SlurmNode, step_cpus: frozenset[int]
) -> list[frozenset[int]]:
    """Return the CPUs of each task where the line says them itself."""
    typed = component.given("--cpu-bind") or mode
    if mode not in ("map_cpu", "mask_cpu") and len(step_cpus) < slurm_node.cpus:
        rule = f"needs the whole node; the step has {len(step_cpus)} of its {slurm_node.cpus} CPUs"
        words = f"slurmstepd: error: Entire node must be allocated for {mode}"
        raise LaunchError(flag="--cpu-bind", value=typed, rule=rule, words=words)
    if mode == "rank":
        each = component.threads_per_task
        return [frozenset((task * each + index) % slurm_node.cpus for index in range(each)) for task in range(tasks)]
    if mode == "rank_ldom":
        return [frozenset(_cpus_of({task % node.numa_nodes}, node)) for task in range(tasks)]
    entries = [tuple(cpu for cpu in entry if cpu is not None) for entry in component.binding_list or ((0,),)]
    entries = entries[:tasks]
    if mode in ("map_ldom", "mask_ldom"):
        own = [{ldom % node.numa_nodes for ldom in entry} for entry in entries]
        return [frozenset(_cpus_of(own[task % len(own)], node)) for task in range(tasks)]
    for entry in entries:
        outside = [cpu for cpu in entry if cpu not in step_cpus]
        if outside:
            has = f"CPUs 0 to {slurm_node.cpus - 1}" if len(step_cpus) == slurm_node.cpus else "only its own CPUs"
            rule = f"names CPU {outside[0]}, which the step does not have; it has {has}"
            words = "slurmstepd: error: CPU binding outside of job step allocation"
            raise LaunchError(flag="--cpu-bind", value=typed, rule=rule, words=words)
    return [frozenset(entries[task % len(entries)]) for task in range(tasks)]


def _binding(cpus: frozenset[int], node: NodeKind, threads: int, *, bound: bool) -> Binding:
    """Return the binding for a set of CPUs; Slurm leaves the threads of a task to themselves."""
    cores = tuple(sorted({cpu % node.cores for cpu in cpus}))
    return Binding(
        cores=cores,
        cpus=tuple(sorted(cpus)),
        thread_cores=(cores,) * threads,
        numa_nodes=tuple(sorted({node.numa_node_of(core) for core in cores})),
        bound=bound,
    )
