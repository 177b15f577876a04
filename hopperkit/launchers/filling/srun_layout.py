"""srun's placement of tasks: on nodes, then on the CPUs of each node.

Nodes: the number on each is that of dealing tasks one by one; block then numbers them node by node, cyclic in turn,
plane in blocks [1]_. CPUs: see `hopperkit.launchers.filling._srun_cpus` for their assignment, and below for the binding
of a task [2]_. The job is assumed to have exclusive nodes.

References
----------
.. [1] SchedMD, Slurm 23.11, srun man page, ``--distribution``, and ``src/common/slurm_step_layout.c``.
.. [2] SchedMD, Slurm 23.11, srun man page, ``--cpu-bind``, and ``src/plugins/task/affinity``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from hopperkit.launchers.dialects.slurm import SHOW_BINDING, SlurmNode
from hopperkit.launchers.filling._srun_cpus import cores_wanted, deal_cpus, step_cores, step_tasks_per_core
from hopperkit.launchers.filling.gpus import StepGpus, effective_request, step_gpus, with_gpus
from hopperkit.launchers.option_values import check_nodes
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.binding import Binding, Seating, bound_to
from hopperlib.placement.components import Component, Launch, LaunchError
from hopperlib.text import count

# MaxTasksPerNode of slurm.conf, unless the site sets it.
_MAX_TASKS_PER_NODE = 512

# From this release on, a task that is given a number of GPUs gets the nearest that are free.
_CLOSEST_FIRST = (23, 11)
# From this release on, LUMI's printed outputs show a step's cores dealt out over its GPUs.
_CORES_BY_GPU = (24, 5)
# From this release on, a list of CPUs beyond those of the step is rejected; before, the step's CPUs replaced it.
_REFUSES_MASKS = (22, 5)
_GENERATED = ("cores", "threads", "sockets", "ldoms")
_WAITS = "Steps started before leave no room for this one: it waits until one ends, and where it runs depends on which."
_UNAVAILABLE = "srun: error: Requested node configuration is not available"


def _node_capacity(component: Component, node: SlurmNode) -> int:
    """Return the most tasks of the component that a node takes without overcommitting it."""
    # Before Slurm 21.08 a step with fewer threads per core could have more tasks than fit this way.
    limited = component.threads_per_core if node.release >= (21, 8) else None
    usable_threads = limited or node.threads_per_core
    cores = node.usable_cores
    wanted = component.threads_per_task
    tasks_per_core = step_tasks_per_core(component, node)
    if tasks_per_core == 1:
        wanted = max(wanted, usable_threads)
    limits = [cores * usable_threads // wanted]
    if component.exact and (22, 5) <= node.release < (23, 2) and wanted > usable_threads:
        limits.append(cores // -(-wanted // usable_threads))
    if tasks_per_core:
        limits.append(tasks_per_core * cores)
    return min(limits)


def _step_nodes(component: Component, node: SlurmNode) -> int:
    """Return the nodes of the step: those requested, or as many as the tasks need."""
    capacity = _node_capacity(component, node)
    tasks, per_node, width = component.tasks, component.tasks_per_node or capacity, component.threads_per_task
    if component.overcommit:
        nodes = component.nodes or -(-tasks // max(per_node, 1))
        if tasks > nodes * max(_MAX_TASKS_PER_NODE, node.cpus):
            rule = f"is more than {nodes} x {_MAX_TASKS_PER_NODE} tasks, Slurm's MaxTasksPerNode"
            raise LaunchError("-n", tasks, rule, words="srun: error: Task count specification invalid")
        return nodes
    if capacity == 0:
        most = node.usable_cores * (component.threads_per_core or node.threads_per_core)
        kept = (
            ""
            if most == node.cpus
            else f"; the others of its {node.cpus} are kept for the system or are second threads"
        )
        rule = f"is more than {most}, the CPUs of a node that one task can have{kept}"
        raise LaunchError("-c", width, rule, words=_UNAVAILABLE)
    if per_node > capacity:
        rule = f"is more than the {count(capacity, 'task')} that a node takes with -c {width}"
        raise LaunchError("--ntasks-per-node", per_node, rule, words=_UNAVAILABLE)
    # A limit of tasks per socket belongs to the job: it applies if the line creates its own job, on as many nodes as
    # needed.
    by_socket = component.tasks_per_socket * node.sockets if component.tasks_per_socket else per_node
    nodes = component.nodes or -(-tasks // min(per_node, by_socket))
    if tasks > nodes * per_node:
        rule = f"is more than {nodes} x {per_node} tasks, all that fit with -c {width}; --overcommit would allow it"
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
    """Return the number of tasks on each node; the arguments are those of `tasks_of_nodes`."""
    tasks, planes = component.tasks, bool(component.distribution and component.distribution[0] == "plane")
    if not planes and not component.pack_nodes:
        each, more = divmod(tasks, nodes)
        return [each + (index < more) for index in range(nodes)]
    # One task to each node first, then in turn: one plane, or all that fit on the node.
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
            # Every node is full: the remaining tasks overcommit them in turn, without a limit.
            room, size = tasks, size if planes else 1
        wanted = size
    return counts


def _planes(counts: Sequence[int], size: int) -> list[Sequence[int]]:
    """Return the task numbers of each node for blocks of a size dealt in turn."""
    numbers: list[list[int]] = [[] for _ in counts]
    first, tasks = 0, sum(counts)
    while first < tasks:
        for plane, wanted in zip(numbers, counts, strict=True):
            block = min(size, wanted - len(plane))
            plane.extend(range(first, first + block))
            first += block
    return [tuple(plane) for plane in numbers]


def place_srun(
    component: Component, node: NodeKind, machine: Machine, threads: int, before: Sequence[Component] = ()
) -> Seating:
    """Return the tasks of one component on its nodes.

    Parameters
    ----------
    component : Component
    node : NodeKind
    machine : Machine
        The srun configuration: its meaning of socket, and the Slurm release.
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
    assumptions = ["The job is taken to have its nodes to itself.", *_guessed_settings(machine)]
    doubts: list[str] = []
    if before and component.exact:
        setting, waits = _after_steps(before, setting, component)
        doubts += [waits] if waits else []
    patterns: dict[int, tuple[Binding, ...]] = {}
    # Nodes with equal numbers of tasks are filled alike, so each number is computed once.
    for tasks in dict.fromkeys(map(len, task_numbers)):
        patterns[tasks], assumed, unknown = _pattern(component, setting, tasks, threads)
        assumptions += assumed
        doubts += unknown
    assumptions += _deciding_setting(component, setting, machine, patterns)
    by_node = [patterns[len(numbers)] for numbers in task_numbers]
    return Seating(task_numbers, by_node, tuple(dict.fromkeys(assumptions)), tuple(dict.fromkeys(doubts)))


def _guessed_settings(machine: Machine) -> list[str]:
    """Return the machine file's unsourced settings of srun as one assumption; an empty list if there are none."""
    facts = ("slurm_socket", "version", "default_distribution")
    quantities = {name: machine.provenance.get(f"launcher.srun.{name}") for name in facts}
    guessed = [name for name, quantity in quantities.items() if quantity and quantity.source is None]
    return [f"The machine file assumes of srun here: {', '.join(guessed)}."] if guessed else []


def _deciding_setting(
    component: Component, setting: "_Setting", machine: Machine, patterns: Mapping[int, tuple[Binding, ...]]
) -> list[str]:
    """Return the note that slurm.conf's sockets determine the placement, with their source in the machine file."""
    quantity = machine.provenance.get("launcher.srun.slurm_conf_socket")
    if quantity is None or not component.exact:
        return []
    plain = setting._replace(node=setting.node._replace(step_sockets=0))
    found = {tasks: [seat.cpus for seat in _pattern(component, plain, tasks, 1)[0]] for tasks in patterns}
    if all(found[tasks] == [seat.cpus for seat in pattern] for tasks, pattern in patterns.items()):
        return []
    address = f"{quantity.source}, {quantity.at}" if quantity.source else f"assumed: {quantity.assumed}"
    unit = str(quantity.value).replace("numa_node", "NUMA node").replace("l3", "L3 cache")
    return [
        f"One setting decides where the tasks are placed: slurm.conf is taken to count each {unit} as a socket ({address}); "
        "if it counts packages, they are placed elsewhere."
    ]


def check_claim(component: Component, nodes: int, launch: Launch) -> None:
    """Reject a step with more nodes, including those of earlier programs on the line, than its job has.

    Parameters
    ----------
    component : Component
        One program of the line.
    nodes : int
        Number of nodes.
    launch : Launch
        The parsed launch line.

    Raises
    ------
    LaunchError
        In srun's words [2]_.

    Examples
    --------
    >>> from hopperlib.placement.components import Reservation
    >>> launch = Launch("srun", "", (Component(command=(), tasks=8),), Reservation("slurm", 1))
    >>> check_claim(launch.components[0], 2, launch)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: srun: error: Only allocated 1 nodes asked for 2: -n 8 needs 2 nodes ...
    """
    job = launch.reservation
    if job is None or nodes <= job.nodes:
        return
    words = f"srun: error: Only allocated {job.nodes} nodes asked for {nodes}"
    if component.given("-N") is not None:
        raise LaunchError(
            "-N", str(component.nodes), f"is more than the {count(job.nodes, 'node')} of the job", words=words
        )
    raise LaunchError("-n", component.tasks, f"needs {nodes} nodes and the job has {job.nodes}", words=words)


def with_all_cores(launch: Launch, node: NodeKind) -> Launch | None:
    """Return a bare srun line read as if its job left no cores to the system; None where that changes nothing.

    A line without a script that fits only with the reserved cores uses them.

    Parameters
    ----------
    launch : Launch
        The parsed launch line.
    node : NodeKind
        Kind of node.

    Examples
    --------
    >>> from hopperkit.launchers.reader import read_launch
    >>> frontier = Machine.load("frontier")
    >>> with_all_cores(read_launch("srun -n 64 ./a.out", frontier), frontier.node()).components[0].system_cores
    ()
    """
    kept = len(node.reserved_cores)
    bare = launch.launcher == "srun" and launch.reservation is None
    if not bare or not kept or "SLURM_CORE_SPEC" in launch.environment:
        return None
    if any(component.given("-S") is not None for component in launch.components):
        return None
    components = tuple(
        component._replace(system_cores=(), options=(*component.options, ("-S", "0")))
        for component in launch.components
    )
    room = f"with {kept} cores reserved by the site there is no room for the line"
    assumption = f"The job is assumed to request -S 0: {room}."
    return launch._replace(components=components, assumptions=(*launch.assumptions, assumption))


class _Setting(NamedTuple):
    """Where a step runs: the kind of node, its Slurm view, nodes of the step, resources in use."""

    kind: NodeKind
    node: SlurmNode
    nodes: int
    taken_cores: frozenset[int] = frozenset()
    taken_gpus: frozenset[int] = frozenset()

    @classmethod
    def of(cls, component: Component, kind: NodeKind, machine: Machine) -> "_Setting":
        """Return the setting of a step that is alone on its nodes."""
        launcher = machine.launcher("srun")
        node = SlurmNode.of(kind, launcher, component.system_cores)
        return cls(kind, node, _step_nodes(component, node))

    def with_step(self, component: Component) -> "_Setting":
        """Return the setting once a step has started that keeps its cores and GPUs."""
        step, cores = self.share_of(component)
        gpus = step.gpus if component.gpus else ()
        return self._replace(taken_cores=self.taken_cores.union(cores), taken_gpus=self.taken_gpus.union(gpus))

    def share_of(self, component: Component) -> tuple[StepGpus, tuple[int, ...]]:
        """Return the GPUs and the cores of a node that a step has, for the tasks of that node."""
        step = step_gpus(component.gpus, self.kind, tasks=component.tasks, nodes=self.nodes, taken=self.taken_gpus)
        near = tuple(self.kind.cores_near_gpu(gpu) for gpu in step.gpus) if component.gpus else ()
        return step, step_cores(component, self.node, near=near, taken=self.taken_cores)

    def room_for(self, component: Component) -> bool:
        """Whether cores and GPUs are left for a step on this node."""
        left = len(self.kind.usable_cores) - len(self.taken_cores)
        request = component.gpus.on_node(component.tasks, 1) if component.gpus else 0
        return cores_wanted(component, self.node) <= left and (request or 0) <= self.kind.gpus - len(self.taken_gpus)


def _after_steps(before: Sequence[Component], setting: _Setting, component: Component) -> tuple[_Setting, str]:
    """Return the resources of a node left by running steps, and any unknowns; initially as if alone."""
    alone = setting
    for step in before:
        if setting.nodes > 1 or not step.exact or step.nodes not in (None, 1):
            return alone, (
                "Which nodes and cores the steps started before have depends on their order and on Slurm's choice of "
                "nodes; shown is the step as if alone."
            )
        if not setting.room_for(step):
            return alone, _WAITS
        setting = setting.with_step(step)
    return (setting, "") if setting.room_for(component) else (alone, _WAITS)


def place_steps(steps: Sequence[Component], node: NodeKind, machine: Machine) -> list[tuple[Binding, ...]]:
    """Return the placements of steps started one after the other on one node, while there is room.

    Parameters
    ----------
    steps : sequence of Component
        The steps, in order of their start.
    node : NodeKind
        Kind of node.
    machine : Machine
        The machine.

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
    """Return the placement of one node's tasks, with assumptions and unknowns."""
    kind, node = setting.kind, setting.node
    whole = component._replace(tasks=tasks)
    wanted = tasks * (whole.gpus.per_task or 0) if whole.gpus else 0
    has = min(kind.gpus, whole.gpus.per_node or kind.gpus) if whole.gpus else 0
    if wanted > has:
        rule = f"times {count(tasks, 'task')} is more than the {count(has, 'GPU')} of a node that the step has"
        words = "srun: error: Unable to create step: More processors requested than permitted"
        raise LaunchError("--gpus-per-task", wanted // tasks, rule, words=words)
    step, cores = setting.share_of(whole)
    node_step = _NodeStep(whole, kind, node, cores, node.cpus_of(cores))
    mode = component.cpu_binding or node_step.automatic()
    assumptions = [_MODE_ASSUMPTIONS[mode]] if mode in _MODE_ASSUMPTIONS else []
    assumptions += [step.assumed] if step.assumed else []
    bound = mode not in (None, "none") and 0 < tasks <= len(node_step.cpus)
    # Slurm leaves the threads of a task to themselves.
    bindings = [bound_to(mask, kind, threads, bound=bound) for mask in node_step.masks(mode)]
    request = effective_request(whole.gpus, node.release, alone=component.tasks == 1)
    placed = with_gpus(request, kind, step, bindings, closest=node.release >= _CLOSEST_FIRST)
    doubts = [step.doubt] if step.doubt else []
    return placed, assumptions, [*doubts, *_core_doubts(whole, setting, cores, by_gpu=bool(whole.gpus and step.gpus))]


_MODE_ASSUMPTIONS = {
    None: "Without --cpu-bind, Slurm binds a task only if the tasks' CPUs come to all sockets, cores or hardware threads "
    "of the step; here they do not, so tasks may wander over all of the step's CPUs.",
    "rank": "--cpu-bind=rank: task i of a node gets only CPU i, as in Slurm's code; ParaStation's plugin gives it "
    "--cpus-per-task of them. Slurm ignores the option from 24.11.",
}


def _core_doubts(component: Component, setting: _Setting, cores: Sequence[int], *, by_gpu: bool) -> Iterator[str]:
    """Yield reasons why the cores that Slurm picks for a step are unknown."""
    kind, node = setting.kind, setting.node
    by_cache = node.cores_per_socket == kind.cores_per_l3
    if by_gpu and not by_cache and node.release >= _CORES_BY_GPU and len(cores) < len(kind.usable_cores):
        yield (
            "The step leaves cores of the node free, and which of them Slurm picks for the step's GPUs has changed "
            f"between releases. Run {SHOW_BINDING} to see."
        )
    if component.exact and component.overcommit:
        yield f"The step uses only its requested CPUs and overcommits them, which Slurm counts differently. Run {SHOW_BINDING} to see."
    if component.exact and len(cores) < component.tasks and node.step_sockets > 1 and component.step_method == "cyclic":
        yield (
            "Tasks share cores, and which cores Slurm picks for a step of half cores has changed with a bug fix within "
            "23.02: the printed outputs of this machine are older than the release that it runs now. "
            f"Run {SHOW_BINDING} to see."
        )


class _NodeStep(NamedTuple):
    """The tasks of a step on one node, and the cores and CPUs that they may use."""

    component: Component
    kind: NodeKind
    node: SlurmNode
    cores: tuple[int, ...]
    cpus: frozenset[int]

    def automatic(self) -> str | None:
        """Return Slurm's automatic binding: the unit whose number matches the tasks' CPUs, if any."""
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

    def masks(self, mode: str | None) -> list[frozenset[int]]:
        """Return the CPUs of each task under a way of binding."""
        if mode is None or mode == "none":
            return [self.cpus] * self.component.tasks
        return self._generated(mode) if mode in _GENERATED else self._listed(mode)

    def _generated(self, mode: str) -> list[frozenset[int]]:
        """Return the CPUs of each task where Slurm works them out: dealt, then widened to the unit of binding."""
        tasks, node = self.component.tasks, self.node
        if len(self.cpus) < tasks:
            # Overcommitted beyond one task a CPU: nothing is dealt, all share all.
            return [self.cpus] * tasks
        # If tasks together request more CPUs than there are, each gets an equal share.
        per_task = min(self.component.threads_per_task, len(self.cpus) // tasks)
        fitting = self.component._replace(threads_per_task=per_task, cpu_binding=mode)
        dealt = deal_cpus(fitting, node, self.cores)
        return [self._widened({node.cpu(place) for place in places}, mode) for places in dealt]

    def _widened(self, cpus: set[int], mode: str) -> frozenset[int]:
        """Return the CPUs of a task with those that share its units of binding."""
        core_of, width = self.node.core_of, self.node.cores_per_socket
        cores = {core_of(cpu) for cpu in cpus}
        if mode == "cores":
            return self.node.cpus_of(cores) & self.cpus
        if mode == "sockets":
            sockets = {core // width * width for core in cores}
            return self.node.cpus_of(core for first in sockets for core in range(first, first + width)) & self.cpus
        if mode == "ldoms":
            return self._cpus_of(map(self.kind.numa_node_of, cores))
        return frozenset(cpus)

    def _listed(self, mode: str) -> list[frozenset[int]]:
        """Return the CPUs of each task if the line lists them."""
        node, tasks, old = self.node, range(self.component.tasks), self.node.release < _REFUSES_MASKS
        part = len(self.cpus) < node.cpus
        if part and old:
            return [self.cpus] * len(tasks)
        if mode not in ("map_cpu", "mask_cpu") and part:
            rule = f"needs the whole node; the step has {len(self.cpus)} of its {node.cpus} CPUs"
            raise self._refusal(mode, rule, f"Entire node must be allocated for {mode}")
        if mode == "rank":
            return [frozenset((task % node.cpus,)) for task in tasks]
        if mode == "rank_ldom":
            return [self._cpus_of((task,)) for task in tasks]
        entries = self.component.binding_list or ((0,),)
        if mode in ("map_cpu", "mask_cpu"):
            masks = self._cpu_masks(entries, mode, old=old)
        else:
            masks = [self._cpus_of(entry) for entry in entries]
        return [masks[task % len(masks)] for task in tasks]

    def _cpu_masks(self, entries: Sequence[Sequence[int | None]], mode: str, *, old: bool) -> list[frozenset[int]]:
        """Return the CPUs of each entry of a list; `old` releases pass over those that the step does not have."""
        listed = [frozenset(cpu for cpu in entry if cpu is not None) for entry in entries]
        if old:
            masks = [entry & self.cpus for entry in listed]
            # An entry, or a map, beyond the step's CPUs means all of them.
            return [self.cpus] if mode == "map_cpu" and not all(masks) else [entry or self.cpus for entry in masks]
        outside = min(frozenset().union(*listed) - self.cpus, default=None)
        if outside is not None:
            has = f"CPUs 0 to {self.node.cpus - 1}" if len(self.cpus) == self.node.cpus else "only its CPUs"
            rule = f"names CPU {outside}, which the step does not have; it has {has}"
            raise self._refusal(mode, rule, "CPU binding outside of job step allocation")
        return listed

    def _refusal(self, mode: str, rule: str, words: str) -> LaunchError:
        """Return the error of the line's --cpu-bind, in Slurm's words."""
        typed = self.component.given("--cpu-bind") or mode
        return LaunchError("--cpu-bind", typed, rule, words=f"slurmstepd: error: {words}")

    def _cpus_of(self, numa_nodes: Iterable[int | None]) -> frozenset[int]:
        """Return all CPUs of some NUMA nodes; numbers beyond the last wrap around."""
        chosen = {number % self.kind.numa_nodes for number in numa_nodes if number is not None}
        return self.node.cpus_of(core for numa_node in chosen for core in self.kind.cores_of(numa_node))
