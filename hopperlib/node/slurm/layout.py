"""Where srun puts tasks: on nodes, then on the CPUs of each node.

Nodes: the number on each is what dealing tasks one by one would give; block
then numbers them node by node, cyclic in turn, plane in blocks [1]_. CPUs: see
`hopperlib.node.slurm._cpus` for who gets which and below for what a task is
bound to [2]_. The job is taken to have its nodes to itself.

References
----------
.. [1] SchedMD, Slurm 23.11, srun man page, ``--distribution``, and ``src/common/slurm_step_layout.c``.
.. [2] SchedMD, Slurm 23.11, srun man page, ``--cpu-bind``, and ``src/plugins/task/affinity``.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating, bound_to
from hopperlib.node.gpus import CHECK, step_gpus, with_gpus
from hopperlib.node.launch.components import Component, LaunchError, remark
from hopperlib.node.launch.option_values import check_nodes
from hopperlib.node.slurm._cpus import SlurmNode, cores_wanted, deal_cpus, step_cores
from hopperlib.node.slurm._options import slurm_release

# MaxTasksPerNode of slurm.conf, unless the site sets it.
_MOST_TASKS_PER_NODE = 512

# From this release on, a task that is given a number of GPUs gets the nearest that are free.
_CLOSEST_FIRST = (23, 11)
# From this release on, LUMI's printed outputs show a step's cores dealt out over its GPUs.
_CORES_BY_GPU = (24, 5)
_GENERATED = ("cores", "threads", "sockets", "ldoms")
_UNAVAILABLE = "srun: error: Requested node configuration is not available"


def _node_capacity(component: Component, node: SlurmNode) -> int:
    """Return the most tasks of the component that a node takes without overcommitting it."""
    usable_threads = component.threads_per_core or node.threads_per_core
    cores = sum(map(len, node.by_socket(component)))
    wanted = component.threads_per_task
    if component.tasks_per_core == 1:
        wanted = max(wanted, usable_threads)
    limits = [cores * usable_threads // wanted]
    if component.tasks_per_core:
        limits.append(component.tasks_per_core * cores)
    if component.tasks_per_socket:
        limits.append(component.tasks_per_socket * node.sockets)
    return min(limits)


def _step_nodes(component: Component, node: SlurmNode) -> int:
    """Return the nodes that the step runs on: those asked for, or as many as the tasks need."""
    capacity = _node_capacity(component, node)
    tasks, per_node, width = component.tasks, component.tasks_per_node or capacity, component.threads_per_task
    if component.overcommit:
        nodes = component.nodes or -(-tasks // max(per_node, 1))
        if tasks > nodes * max(_MOST_TASKS_PER_NODE, node.cpus):
            rule = remark("most-tasks", nodes=nodes, most=_MOST_TASKS_PER_NODE)
            raise LaunchError("-n", tasks, rule, words="srun: error: Task count specification invalid")
        return nodes
    if capacity == 0:
        rule = remark("task-beyond-node", cpus=node.cpus)
        raise LaunchError("-c", width, rule, words=_UNAVAILABLE)
    if per_node > capacity:
        rule = remark("tasks-beyond-node", capacity=capacity, width=width)
        raise LaunchError("--ntasks-per-node", per_node, rule, words=_UNAVAILABLE)
    nodes = component.nodes or -(-tasks // per_node)
    if tasks > nodes * per_node:
        rule = remark("tasks-beyond-nodes", nodes=nodes, per_node=per_node, width=width)
        raise LaunchError("-n", tasks, rule, words=_UNAVAILABLE)
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
    counts = _task_counts(component, nodes, capacity)
    method = component.distribution[0] if component.distribution else "block"
    if method == "cyclic":
        return [range(first, component.tasks, nodes) for first in range(nodes)]
    if method == "plane":
        return _planes(counts, component.plane_size or 1)
    ends = list(accumulate(counts))
    return [range(end - count, end) for end, count in zip(ends, counts, strict=True)]


def _task_counts(component: Component, nodes: int, capacity: int) -> list[int]:
    """Return how many tasks each node has; the arguments are those of `tasks_of_nodes`."""
    tasks, planes = component.tasks, bool(component.distribution and component.distribution[0] == "plane")
    if not planes and not component.pack_nodes:
        each, more = divmod(tasks, nodes)
        return [each + (index < more) for index in range(nodes)]
    # One task to each node first, then in turn: a plane, or all that the node holds.
    size = (component.plane_size or 1) if planes else capacity
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
            # Every node is full: what is left overcommits them, turn by turn, without a bound.
            room, size = tasks, size if planes else 1
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


def place_srun(
    component: Component, node: NodeKind, machine: Machine, threads: int, before: Sequence[Component] = ()
) -> Seating:
    """Return the tasks of one component on its nodes.

    Parameters
    ----------
    component : Component
    node : NodeKind
    machine : Machine
        Whose srun it is: what it calls a socket, which Slurm release.
    threads : int
        Threads that each task runs.
    before : sequence of Component
        Steps that run on the same node and keep their cores and GPUs.

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
    setting = _Setting.of(component, node, machine)
    check_nodes(setting.nodes, machine, "-n", component.tasks, kind=node, words=_UNAVAILABLE)
    capacity = component.tasks_per_node or _node_capacity(component, setting.node)
    task_numbers = tasks_of_nodes(component, setting.nodes, capacity)
    patterns: dict[int, tuple[Binding, ...]] = {}
    facts = ("slurm_socket", "version", "default_distribution")
    quantities = {name: machine.provenance.get(f"launcher.srun.{name}") for name in facts}
    guessed = [name for name, quantity in quantities.items() if quantity and quantity.source is None]
    assumptions = [remark("whole-nodes"), *([remark("from-file", names=", ".join(guessed))] if guessed else [])]
    doubts: list[str] = []
    if before and component.exact:
        setting, waits = _beside(before, setting, component)
        doubts += [waits] if waits else []
    # Nodes with as many tasks are filled alike, so each number is worked out once.
    for count in dict.fromkeys(map(len, task_numbers)):
        patterns[count], assumed, unknown = _pattern(component, setting, count, threads)
        assumptions += assumed
        doubts += unknown
    by_node = [patterns[len(numbers)] for numbers in task_numbers]
    return Seating(task_numbers, by_node, tuple(dict.fromkeys(assumptions)), tuple(dict.fromkeys(doubts)))


class _Setting(NamedTuple):
    """Where a step runs: the kind of node, the same as Slurm sees it, Slurm's release, nodes of the step, what is taken."""

    kind: NodeKind
    node: SlurmNode
    release: tuple[int, ...]
    nodes: int
    taken_cores: frozenset[int] = frozenset()
    taken_gpus: frozenset[int] = frozenset()

    @classmethod
    def of(cls, component: Component, kind: NodeKind, machine: Machine) -> "_Setting":
        """Return the setting of a step that is alone on its nodes."""
        launcher = machine.launcher("srun")
        node = SlurmNode.of(kind, launcher, component.system_cores)
        return cls(kind, node, slurm_release(launcher), _step_nodes(component, node))

    def with_step(self, component: Component) -> "_Setting":
        """Return the setting once a step has started that keeps its cores and GPUs."""
        bindings, _, _ = _pattern(component, self, component.tasks, 1)
        cores = self.taken_cores.union(*(binding.cores for binding in bindings))
        gpus = self.taken_gpus.union(*(binding.gpus or () for binding in bindings))
        return self._replace(taken_cores=cores, taken_gpus=gpus)

    def room_for(self, component: Component) -> bool:
        """Whether cores and GPUs are left for a step on this node."""
        left = len(self.kind.usable_cores) - len(self.taken_cores)
        request = component.gpus.on_node(component.tasks, 1) if component.gpus else 0
        return cores_wanted(component, self.node) <= left and (request or 0) <= self.kind.gpus - len(self.taken_gpus)


def _beside(before: Sequence[Component], setting: _Setting, component: Component) -> tuple[_Setting, str]:
    """Return what steps that run already leave of a node, and why that cannot be told; at first as if alone."""
    alone = setting
    for step in before:
        if setting.nodes > 1 or not step.exact or step.nodes not in (None, 1):
            return alone, remark("spread-steps")
        if not setting.room_for(step):
            return alone, remark("waits")
        setting = setting.with_step(step)
    return (setting, "") if setting.room_for(component) else (alone, remark("waits"))


def place_steps(steps: Sequence[Component], node: NodeKind, machine: Machine) -> list[tuple[Binding, ...]]:
    """Return where steps run that are started one after the other on one node, as far as there is room.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> toy = Machine.load("cluster")
    >>> step = Component(command=(), tasks=1, threads_per_task=2, exact=True)
    >>> [bindings[0].cores for bindings in place_steps([step] * 2, toy.node(), toy)]
    [(0, 1), (2, 3)]
    """
    setting = _Setting.of(steps[0], node, machine)._replace(nodes=1)
    placed = []
    for step in steps:
        if not step.exact or not setting.room_for(step):
            break
        placed.append(_pattern(step, setting, step.tasks, 1)[0])
        setting = setting.with_step(step)
    return placed


def _pattern(
    component: Component, setting: _Setting, tasks: int, threads: int
) -> tuple[tuple[Binding, ...], list[str], list[str]]:
    """Return where the tasks of one node run, what is assumed about it, and what cannot be told."""
    kind, node = setting.kind, setting.node
    own = component._replace(tasks=tasks)
    step = step_gpus(own.gpus, kind, tasks=tasks, nodes=setting.nodes, taken=setting.taken_gpus)
    near = tuple(kind.cores_near_gpu(gpu) for gpu in step.gpus) if own.gpus else ()
    cores = step_cores(own, node, near=near, taken=setting.taken_cores)
    node_step = _NodeStep(own, kind, node, cores, node.cpus_of(cores))
    mode = component.cpu_binding or node_step.automatic()
    if mode is None or mode == "none":
        masks = [node_step.cpus] * tasks
    else:
        masks = node_step.generated(mode) if mode in _GENERATED else node_step.listed(mode)
    assumptions = [remark("not-bound" if mode is None else "rank")] if mode in (None, "rank") else []
    doubts = [step.doubt] if step.doubt else []
    by_cache = node.cores_per_socket == kind.cores_per_l3
    if near and not by_cache and setting.release >= _CORES_BY_GPU and len(cores) < len(kind.usable_cores):
        doubts.append(remark("near-gpus", check=CHECK))
    if own.exact and len(cores) < tasks and node.step_sockets > 1 and own.step_method == "cyclic":
        doubts.append(remark("half-cores", check=CHECK))
    assumptions += [step.assumed] if step.assumed else []
    bound = mode not in (None, "none") and 0 < tasks <= len(node_step.cpus)
    # Slurm leaves the threads of a task to themselves.
    bindings = [bound_to(mask, kind, threads, bound=bound) for mask in masks]
    placed = with_gpus(own.gpus, kind, step, bindings, closest=setting.release >= _CLOSEST_FIRST)
    return placed, assumptions, doubts


class _NodeStep(NamedTuple):
    """The tasks of a step on one node, and the cores and CPUs that they may use."""

    component: Component
    kind: NodeKind
    node: SlurmNode
    cores: tuple[int, ...]
    cpus: frozenset[int]

    def automatic(self) -> str | None:
        """Return what Slurm binds to by itself: what the tasks' CPUs come to in number, if anything."""
        wanted = self.component.tasks * self.component.threads_per_task
        width = self.node.cores_per_socket
        on_socket = Counter(core // width for core in self.cores)
        # Socket binding needs whole sockets only: a part of one would be counted as none.
        if wanted == len(on_socket) and all(count == width for count in on_socket.values()):
            return "sockets"
        if wanted == len(self.cores):
            return "cores"
        if wanted == len(self.cpus):
            return "threads"
        return None if self.node.auto_binding == "none" else self.node.auto_binding

    def generated(self, mode: str) -> list[frozenset[int]]:
        """Return the CPUs of each task where Slurm works them out: dealt, then widened to the unit of binding."""
        tasks, node = self.component.tasks, self.node
        if len(self.cpus) < tasks:
            # Overcommitted beyond one task a CPU: nothing is dealt, all share all.
            return [self.cpus] * tasks
        # Where tasks ask for more CPUs together than there are, each gets an even part.
        per_task = min(self.component.threads_per_task, len(self.cpus) // tasks)
        fitting = self.component._replace(threads_per_task=per_task, cpu_binding=mode)
        masks: list[frozenset[int]] = []
        for places in deal_cpus(fitting, node, self.cores):
            cpus = {node.cpu(place) for place in places}
            own_cores = {node.core_of(cpu) for cpu in cpus}
            if mode == "cores":
                cpus = {cpu for cpu in self.cpus if node.core_of(cpu) in own_cores}
            elif mode == "sockets":
                sockets = {core // node.cores_per_socket for core in own_cores}
                cpus = {cpu for cpu in self.cpus if node.core_of(cpu) // node.cores_per_socket in sockets}
            elif mode == "ldoms":
                cpus = self._cpus_of({self.kind.numa_node_of(core) for core in own_cores})
            masks.append(frozenset(cpus))
        return masks

    def listed(self, mode: str) -> list[frozenset[int]]:
        """Return the CPUs of each task where the line says them itself."""
        component, node, numa_nodes = self.component, self.node, self.kind.numa_nodes
        tasks = range(component.tasks)
        typed = component.given("--cpu-bind") or mode
        if mode not in ("map_cpu", "mask_cpu") and len(self.cpus) < node.cpus:
            rule = remark("whole-node-needed", cpus=len(self.cpus), all=node.cpus)
            words = f"slurmstepd: error: Entire node must be allocated for {mode}"
            raise LaunchError("--cpu-bind", typed, rule, words=words)
        if mode == "rank":
            each = component.threads_per_task
            return [frozenset((task * each + index) % node.cpus for index in range(each)) for task in tasks]
        if mode == "rank_ldom":
            return [frozenset(self._cpus_of({task % numa_nodes})) for task in tasks]
        entries = [tuple(cpu for cpu in entry if cpu is not None) for entry in component.binding_list or ((0,),)]
        entries = entries[: component.tasks]
        if mode in ("map_ldom", "mask_ldom"):
            own = [frozenset(self._cpus_of({ldom % numa_nodes for ldom in entry})) for entry in entries]
            return [own[task % len(own)] for task in tasks]
        outside = next((cpu for entry in entries for cpu in entry if cpu not in self.cpus), None)
        if outside is not None:
            has = f"CPUs 0 to {node.cpus - 1}" if len(self.cpus) == node.cpus else "only its own CPUs"
            words = "slurmstepd: error: CPU binding outside of job step allocation"
            raise LaunchError("--cpu-bind", typed, remark("cpu-outside", cpu=outside, has=has), words=words)
        return [frozenset(entries[task % len(entries)]) for task in tasks]

    def _cpus_of(self, numa_nodes: set[int]) -> set[int]:
        """Return all CPUs of some NUMA nodes."""
        return set(self.node.cpus_of(core for numa_node in numa_nodes for core in self.kind.cores_of(numa_node)))
