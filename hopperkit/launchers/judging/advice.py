"""Problems with a placement, and notes: findings, worst first.

Idle NUMA nodes that the line requests explicitly (``-sn``, ``-sl``) are advice, others a problem.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from posixpath import basename
from typing import NamedTuple

from hopperkit.launchers.gpu_wrappers import chooses_gpus, gpus_by_wrapper
from hopperkit.launchers.placing import NodePlacement, Placement
from hopperkit.launchers.programs import is_python, is_utility, starts_processes
from hopperkit.launchers.ranges import as_ranges
from hopperlib.finding import LEVELS, Finding, Level
from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import Component, Launch
from hopperlib.placement.slowdown import ComponentCost, Cost, spread_load, thread_load
from hopperlib.text import count, digits, listed, share

_ROUNDING_TOLERANCE = 1e-9
# Programs of these kinds may choose a GPU for the program they start.
_WRAPPERS = (".sh", "bash", "numactl")
# A node with this many times the cores that a job uses costs more than any placement gains.
_FAR_TOO_MANY = 4
# The order in which findings of one level are shown.
_ORDER = (
    *("memory-exceeds-node", "memory-out-of-reach", "depth-missing", "cores-oversubscribed", "idle-numa-nodes"),
    *("uneven-numa-nodes", "threads-across-numa-nodes", "memory-remote", "tasks-unbound", "hardware-threads-shared"),
    *(
        "gpus-all-visible",
        "gpus-far",
        "gpus-idle",
        "gpus-for-one-task",
        "gpus-not-requested",
        "steps-wait",
        "last-node-nearly-empty",
    ),
    *("reservation-larger", "cores-idle", "steps-together"),
    *("gpus-shared", "gpus-wrapper"),
    *("line", "assumed", "cannot-tell"),
)
# Findings that are dropped if other steps of the job can use what a step leaves free.
_OF_A_LONE_STEP = (
    *("idle-numa-nodes", "uneven-numa-nodes", "cores-idle", "gpus-idle", "reservation-larger"),
    *("hardware-threads-shared", "last-node-nearly-empty"),
)
# Equivalents of srun's options in launchers other than aprun and srun.
_SPELLINGS = {
    "pals": {
        "-c": "--depth",
        "--mem-bind=local": "--mem-bind",
    },
    "openmpi": {
        "-c": "--map-by slot:PE",
        "CPU": "core",
    },
    "mpich": {
        "-c": "-bind-to core",
        "CPU": "core",
    },
    "intelmpi": {
        "-c": "I_MPI_PIN_DOMAIN",
    },
}


# Launchers that leave binding to a library or a plugin: where they do, it is not known that tasks are free to move.
_BOUND_BY_OTHERS = ("ibrun", "flux")


class _View(NamedTuple):
    """One component as seen by the rules; its first node represents the others, with its tasks and their threads."""

    component: Component
    nodes: tuple[NodePlacement, ...]
    cost: ComponentCost
    memory_per_task_gb: float | None
    kind: NodeKind
    launch: Launch
    threads: int

    @property
    def pattern(self) -> tuple[Binding, ...]:
        """Where the tasks of the first node run."""
        return self.nodes[0].pattern

    @property
    def tasks_per_node(self) -> int:
        """Tasks of the first node."""
        return len(self.pattern)

    @property
    def crowded(self) -> bool:
        """Whether a core runs more threads than it has hardware for."""
        return max(self.cost.load.fullest_core) > self.kind.threads_per_core + _ROUNDING_TOLERANCE

    def option(self, aprun: str, srun: str) -> str:
        """Return an option in the syntax of the line's launcher."""
        return aprun if self.launch.launcher == "aprun" else _SPELLINGS.get(self.launch.launcher, {}).get(srun, srun)


def _times(times: float) -> dict[str, float]:
    """Return the largest factor of run time or cost, as evidence of a finding."""
    return {"times": round(times, 3)} if times > 1 + _ROUNDING_TOLERANCE else {}


def _numa_words(numbers: Sequence[int]) -> str:
    """Return NUMA nodes as a phrase: NUMA nodes 0, 1 and 2."""
    return f"NUMA node{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def _memory(view: _View) -> Iterator[Finding]:
    """Memory that a node, or a NUMA node, does not have."""
    memory, each, kind = view.cost.memory, view.memory_per_task_gb, view.kind
    if each is None:
        return
    tasks = view.cost.memory_tasks
    total = tasks * each
    wanted = f"{count(tasks, 'task')} of {each:.3g} GB want {f'{total:.1f}' if total < 1e6 else f'{total:.3g}'} GB"
    if memory.missing_gb > _ROUNDING_TOLERANCE:
        fit = int(kind.usable_memory_gb / each + _ROUNDING_TOLERANCE)
        most = f"At most {fit:,} tasks of that size fit" if fit > 1 else "One task of that size fits"
        most = most if fit else "Not even one task of that size fits"
        has = f"on a node, which has {kind.usable_memory_gb:g} GB for them"
        message = f"{wanted} {has}: the job will be killed. {most} a node."
        yield Finding("memory-exceeds-node", message, level="problem")
    elif sum(memory.remote_gb) > _ROUNDING_TOLERANCE:
        yield _remote_memory(view, wanted)


def _remote_memory(view: _View, wanted: str) -> Finding:
    """Memory that NUMA nodes lack for their tasks while others have it."""
    memory, room = view.cost.memory, view.kind.usable_memory_gb / view.kind.numa_nodes
    full = [numa_node for numa_node, remote in enumerate(memory.remote_gb) if remote > _ROUNDING_TOLERANCE]
    where = f"{max(memory.need_gb):.1f} GB on {_numa_words(full)}{' each' if len(full) > 1 else ''}"
    wanted = f"{wanted}: {where}, with {room:.2f} GB apiece."
    even = sum(view.cost.spread_memory.remote_gb) <= _ROUNDING_TOLERANCE
    spread = " Spread evenly, all of it would be local." if even else ""
    if view.component.strict_memory:
        flag = view.option("-ss", "--mem-bind=local")
        fails = "forbids the memory of the others, so the job fails although it is free."
        return Finding("memory-out-of-reach", f"{wanted} {flag} {fails}{spread}", level="problem")
    reached = f"So {share(memory.remote_fraction)} of it is on other NUMA nodes, with slower access."
    return Finding("memory-remote", f"{wanted} {reached}{spread}")


def _shared_cores(view: _View) -> Iterator[Finding]:
    """Several threads on one core, and hardware threads that share one."""
    fullest = max(view.cost.load.fullest_core)
    more_threads = (view.launch.openmp_of(view.component) or 1) > view.component.threads_per_task
    if more_threads and (view.crowded or (view.component.given("-c") and all(seat.bound for seat in view.pattern))):
        yield _missing_depth(view, fullest)
    elif view.crowded:
        yield _oversubscribed(view, fullest)
    elif view.kind.threads_per_core > 1 and max(view.cost.spread.fullest_core) <= 1 + _ROUNDING_TOLERANCE < fullest:
        shared = f"Threads share cores, {digits(fullest, 3)} per core, while other cores of the node stay idle."
        yield Finding("hardware-threads-shared", shared, evidence=_times(view.cost.core_ratio))
    elif tasks := _tasks_on_one_core(view):
        first, second, cores = tasks
        shared = f"Tasks {first} and {second} of a node run on the same cores ({cores}), each on one hardware thread of a core."
        yield Finding("hardware-threads-shared", shared)


def _tasks_on_one_core(view: _View) -> tuple[int, int, str] | None:
    """Return the first two tasks on the same cores, where each has cores for several threads, with the cores."""
    first_on: dict[tuple[int, ...], int] = {}
    for task, seat in enumerate(view.pattern):
        if not seat.bound or len(seat.cores) < 2:
            continue
        other = first_on.setdefault(seat.cores, task)
        if not set(seat.cpus) & set(view.pattern[other].cpus):
            return other, task, as_ranges(seat.cores)
    return None


def _oversubscribed(view: _View, fullest: float) -> Finding:
    """More threads on a core than it has hardware for."""
    started, has, starts, up_to = view.tasks_per_node * view.threads, view.kind.hardware_threads, "", "Up to"
    if view.component.binding_list:
        held = Counter(core for seat in view.pattern for core in seat.cores)
        shared = as_ranges(sorted(core for core, tasks in held.items() if tasks > 1))
        up_to = f"The list gives cores {shared} to more than one task: up to" if shared else up_to
    elif started > has:
        starts = f" A node has {has} and the line starts {started} threads on it."
    message = f"{up_to} {digits(fullest, 3)} threads run on one core, so each gets a part of its time.{starts}"
    return Finding("cores-oversubscribed", message, level="problem", evidence=_times(fullest))


def _room_for_threads(view: _View, threads: int | None) -> str:
    """Return the number of threads of each task that get a core if no option could give one to each."""
    # aprun and srun place fewer tasks on a node; the others keep to the nodes that they are given.
    fixed = view.component.tasks_per_node is not None or view.launch.launcher not in ("aprun", "srun")
    room = view.kind.cores // max(view.tasks_per_node, 1)
    if not threads or not fixed or threads <= room:
        return ""
    has = f"A node has {count(view.kind.cores, 'core')} for its {count(view.tasks_per_node, 'task')}"
    return f" {has}: at most {count(room, 'thread')} of each can have one." if room else f" {has}."


def _missing_depth(view: _View, fullest: float) -> Finding:
    """More OpenMP threads than the line gives CPUs to a task."""
    requested, running = view.component.threads_per_task, view.launch.openmp_of(view.component)
    flag, unit = view.option("-d", "-c"), view.option("core", "CPU")
    given = f"{flag} {requested}" if view.component.given(flag) else f"no {flag}"
    message = (
        f"OMP_NUM_THREADS is {running}, but the line gives each task {count(requested, unit)} ({given}): "
        f"up to {digits(fullest, 3)} threads share a core.{_room_for_threads(view, running)}"
    )
    # Below that, the other hardware threads of the requested cores take the rest.
    level: Level = "problem" if view.crowded else "advice"
    return Finding("depth-missing", message, level=level, evidence=_times(fullest))


def _numa_nodes(view: _View) -> Iterator[Finding]:
    """Tasks that crowd on some NUMA nodes."""
    load, spread = thread_load(view.pattern, view.kind), spread_load(view.pattern, view.kind)
    most, even = max(load.threads), max(spread.threads)
    if most <= even + _ROUNDING_TOLERANCE:
        return
    word = "task" if view.threads == 1 else "thread"
    gain = f"evenly, {even:.3g} {word}{'s' if even > 1 else ''} would share a NUMA node instead of {most:.3g}."
    if not all(load.threads):
        yield _idle_numa_nodes(view, load.threads, gain)
        return
    counts = ", ".join(f"{threads:.3g}" for threads in load.threads)
    # If each task has an equal share of the cores, the remainder is due to their number.
    least = min(len(seat.cores) for seat in view.pattern)
    fair = max(len(view.kind.usable_cores) // view.tasks_per_node, 2)
    level: Level = "note" if view.launch.launcher == "srun" and least >= fair else "advice"
    yield Finding("uneven-numa-nodes", f"The NUMA nodes hold {counts} {word}s: spread {gain}", level=level)


def _idle_numa_nodes(view: _View, by_numa_node: Sequence[float], gain: str) -> Finding:
    """NUMA nodes without a thread, while others have more than an equal share."""
    used = [number for number, threads in enumerate(by_numa_node) if threads]
    idle = [number for number, threads in enumerate(by_numa_node) if not threads]
    chosen = view.component.numa_nodes_per_node is not None or view.component.numa_node_list is not None
    requested = f" The line requests that ({view.option('-sn or -sl', '--ntasks-per-socket')})." if chosen else ""
    sit, stay = "sit" if view.tasks_per_node > 1 else "sits", "stays" if len(idle) == 1 else "stay"
    message = (
        f"{count(view.tasks_per_node, 'task')} per node {sit} on {_numa_words(used)}; {_numa_words(idle)} {stay} idle, so "
        f"{len(idle)} of {view.kind.numa_nodes} memory systems are unused. Spread {gain}{requested}"
    )
    level: Level = "advice" if chosen else "problem"
    return Finding("idle-numa-nodes", message, level=level, evidence=_times(view.cost.ratio))


def _threads(view: _View) -> Iterator[Finding]:
    """Threads of one task on several NUMA nodes."""
    across = [number for number, seat in enumerate(view.pattern) if seat.bound and len(seat.numa_nodes) > 1]
    # A program that starts processes separates them by itself.
    if view.threads > 1 and across and not starts_processes(view.component.command):
        yield _threads_across(view, across)


def _threads_across(view: _View, across: Sequence[int]) -> Finding:
    """Tasks whose threads are on several NUMA nodes."""
    cores = view.kind.cores_per_numa_node
    some = f"Task {across[0]} of a node has"
    if len(across) > 1:
        some = f"{len(across)} of {count(view.tasks_per_node, 'task')} per node have"
    remedy = f"{count(view.kind.numa_nodes * (cores // view.threads), 'task')} per node would each fit one."
    if view.threads > cores:
        remedy = f"No more than {cores} threads per task keep to one NUMA node."
    where = max(len(view.pattern[seat].numa_nodes) for seat in across)
    effect = "memory is where it was first touched, so some threads access it remotely"
    if view.launch.openmp_threads is None and view.launch.launcher == "srun":
        # -c gives CPUs; it does not show whether threads run on them.
        message = f"{some} CPUs on up to {where} NUMA nodes: if the program starts threads on them, {effect}."
        return Finding("threads-across-numa-nodes", message, level="note")
    return Finding("threads-across-numa-nodes", f"{some} threads on up to {where} NUMA nodes: {effect}. {remedy}")


def _binding(view: _View) -> Iterator[Finding]:
    """Tasks that are not bound."""
    loose = sum(not binding.bound for binding in view.pattern)
    if loose and view.kind.cores > 1:
        yield _unbound(view, loose)


def _unbound(view: _View, loose: int) -> Finding:
    """Unbound tasks; programs that start processes need that."""
    tasks = view.tasks_per_node
    if starts_processes(view.component.command):
        shared = "starts processes or threads, which share their task's binding: no binding is proposed"
        return Finding("tasks-unbound", f"{view.component.command[0]} {shared}.", level="note")
    some = (
        ("The tasks" if tasks > 1 else "The task") if loose == tasks else f"{loose} of {count(tasks, 'task')} per node"
    )
    its = "its" if loose == tasks == 1 else "their"
    move = f"may move from core to core, and away from the NUMA node that holds {its} memory"
    # One task has the node to itself.
    return Finding("tasks-unbound", f"{some} {move}.", level="note" if tasks == 1 else "advice")


def _gpus(view: _View) -> Iterator[Finding]:
    """GPUs and network interfaces."""
    kind, command = view.kind, view.component.command
    visible = [seat.gpus for seat in view.pattern if seat.gpus is not None]
    if not kind.gpus or len(visible) < view.tasks_per_node:
        return
    if not any(visible):
        if kind.gpus_by_default is False:
            asks = "a job gets those that it requests"
            yield Finding(
                "gpus-not-requested",
                f"No task sees a GPU, and a node has {kind.gpus}: {asks}.",
                evidence=_times(kind.gpus),
            )
    elif command and chooses_gpus(command, view.launch.environment, view.launch.gpu_wrappers):
        chosen = "Something in front of the program, or its environment, chooses the GPUs that a task sees"
        yield Finding("gpus-wrapper", f"{chosen} ({command[0]}).", level="note")
        yield from _gpus_of_wrapper(view)
    elif command and command[0].endswith(_WRAPPERS):
        message = f"{command[0]} may choose a GPU for each task; its choice is not judged here."
        yield Finding("gpus-wrapper", message, level="note")
    elif len(visible) > 1 and len(visible[0]) > 1 and len(set(visible)) == 1:
        yield _gpus_all_visible(view, len(visible[0]))
    elif _may_use_one_gpu(view, visible):
        seen = len(visible[0])
        message = (
            f"The one task of a node sees {seen} GPUs: a program that uses one per task leaves {seen - 1} of them idle, "
            f"and they are charged."
        )
        yield Finding(
            "gpus-for-one-task", message, advice="Start a task for each GPU, unless the program uses several."
        )
    else:
        yield from _gpu_users(kind, visible)
        yield from _far_gpus(view)


# Options of programs that name several GPUs: -k on g 4, --gpus 4, -gpu_id 0123.
_GPU_OPTIONS = re.compile(r"-{0,2}(?:g|t|n?gpus?|num[-_]gpus|gpu[-_]ids?|devices?|nproc[-_]per[-_]node)")


def _may_use_one_gpu(view: _View, visible: Sequence[Sequence[int]]) -> bool:
    """Whether a node's one task may use one of its GPUs: it starts no processes, and nothing on its line names several."""
    command, request = view.component.command, view.component.gpus
    if len(visible) > 1 or len(visible[0]) < 2 or not command:
        return False
    if is_python(command) or starts_processes(command):
        return False
    if request is not None and (request.per_task or request.binding):
        return False
    pairs = pairwise(" ".join(command).replace("=", " ").split())
    return not any(_GPU_OPTIONS.fullmatch(name) and re.fullmatch(r"[2-9]|\d[\d,]+", value) for name, value in pairs)


# Tasks per GPU above which their number is worth a sentence.
_MANY_PER_GPU = 4


def _gpus_all_visible(view: _View, gpus: int) -> Finding:
    """Tasks that all see the same GPUs."""
    message = (
        f"Each of the {view.tasks_per_node} tasks sees the same {gpus} GPUs: a program that does not choose by its local "
        f"rank runs all of them on the first."
    )
    if view.tasks_per_node >= _MANY_PER_GPU * gpus:
        message += f" Even shared out evenly, {-(-view.tasks_per_node // gpus)} tasks use one GPU."
    # Who writes --gpu-bind=none wants each task to see all; Python's frameworks choose by the local rank themselves.
    all_visible = view.component.gpus is not None and view.component.gpus.binding == "none"
    aware = view.launch.environment.get("MPICH_GPU_SUPPORT_ENABLED") == "1"
    meant = all_visible or aware or is_python(view.component.command)
    return Finding("gpus-all-visible", message, level="note" if meant else "advice", advice=_CHOOSE_A_GPU)


_CHOOSE_A_GPU = "Put a script in front of the program that shows each task one GPU, by its local rank."


def _gpus_of_wrapper(view: _View) -> Iterator[Finding]:
    """GPUs that a known wrapper gives to no task, and those that it gives to a task far from its cores."""
    kind = view.kind
    name = next((basename(word) for word in view.component.command if "_compact" in word), "The wrapper")
    given = gpus_by_wrapper(view.component.command, view.tasks_per_node, kind.gpus)
    used = {gpu for gpus in given for gpu in gpus}
    if given and len(used) < kind.gpus:
        idle = kind.gpus - len(used)
        message = f"{name} gives the {count(view.tasks_per_node, 'task')} of a node {len(used)} of its {kind.gpus} GPUs or tiles: {idle} stay idle."
        evidence = _times(kind.gpus / len(used))
        yield Finding("gpus-idle", message, evidence=evidence, advice="Start as many tasks per node as it has of them.")
    far = [
        task
        for task, (gpus, seat) in enumerate(zip(given, view.pattern, strict=False))
        if seat.bound and not any(kind.cores_near_gpu(gpu) & set(seat.cores) for gpu in gpus)
    ]
    if far:
        message = f"{name} gives {len(far)} of {count(view.tasks_per_node, 'task')} per node GPUs that are not near their cores: task {far[0]} of a node is the first."
        yield Finding("gpus-far", message)


def _gpu_users(kind: NodeKind, visible: Sequence[Sequence[int]]) -> Iterator[Finding]:
    """GPUs that no task sees, and those that several share."""
    users = Counter(gpu for gpus in visible for gpu in gpus)
    idle = [gpu for gpu in range(kind.gpus) if gpu not in users]
    if idle:
        seen = f"{'is' if len(idle) == 1 else 'are'} seen by no task"
        message = f"{count(len(idle), 'GPU')} of {kind.gpus} on a node ({as_ranges(idle)}) {seen}."
        yield Finding("gpus-idle", message, evidence=_times(kind.gpus / len(users)) if users else {})
    if max(users.values()) > 1:
        message = f"Up to {max(users.values())} tasks share a GPU. On NVIDIA's they take turns unless MPS runs."
        yield Finding("gpus-shared", message, level="note")


def _far_gpus(view: _View) -> Iterator[Finding]:
    """Bound tasks far from all their GPUs, or from the network interface of their only one."""
    kind = view.kind
    bound = [(task, seat.gpus, seat) for task, seat in enumerate(view.pattern) if seat.gpus and seat.bound]
    far = [
        (task, gpus[0], seat)
        for task, gpus, seat in bound
        if not any(kind.cores_near_gpu(gpu) & set(seat.cores) for gpu in gpus)
    ]
    if far:
        task, gpu, seat = far[0]
        near = as_ranges(sorted(kind.cores_near_gpu(gpu)))
        message = (
            f"{len(far)} of {count(view.tasks_per_node, 'task')} per node run on cores that are not the nearest to their "
            f"GPU: task {task} of a node has cores {as_ranges(seat.cores)} and GPU {gpu}, whose cores are {near}."
        )
        yield Finding("gpus-far", message)


def _nodes(view: _View) -> Iterator[Finding]:
    """Cores and nodes that are paid for and not used."""
    kind, tasks, nodes = view.kind, view.tasks_per_node, len(view.nodes)
    last = len(view.nodes[-1].pattern)
    # At most a quarter of the other nodes' tasks.
    if nodes > 1 and 4 * last <= tasks:
        runs = f"The last of {nodes:,} nodes runs {last} of the {tasks} tasks that fit on it"
        yield Finding(
            "last-node-nearly-empty", f"{runs}, and is charged in full.", evidence=_times(nodes / (nodes - 1))
        )
    busy = _busy_cores(view.pattern)
    kept = kind.reserved_cores if view.component.system_cores is None else view.component.system_cores
    idle = kind.cores - busy - (view.component.reserved_cores or len(kept))
    if idle > 0 and not view.crowded:
        message = (
            f"{idle} of {kind.cores} cores of {'the' if nodes == 1 else 'each'} node stay idle and are charged: the job "
            f"costs {kind.cores / busy:.3g} times the cores it uses{_if_no_threads(view)}. This is right if each task needs "
            f"the memory: it can have up to {kind.usable_memory_gb / tasks:.2f} GB."
        )
        times = kind.cores / busy
        level = _level_of_idle_cores(view, times)
        advice = "" if level == "note" else _SHARE_THE_NODE
        yield Finding("cores-idle", message, level=level, evidence=_times(times), advice=advice)


_SHARE_THE_NODE = "Run several such tasks on a node at a time, or request a part of a node where jobs share nodes."


def _level_of_idle_cores(view: _View, times: float) -> Level:
    """Return the severity of idle cores: highest for most of a node, charged whole, with no GPUs or memory that explain
    it.
    """
    needed = view.memory_per_task_gb
    fills_memory = needed is not None and 2 * needed * view.tasks_per_node > view.kind.usable_memory_gb
    if times < _FAR_TOO_MANY or fills_memory or any(seat.gpus for seat in view.pattern):
        return "note"
    # A task that is free to move may start threads on all cores, as Python's programs often do.
    free = not all(seat.bound for seat in view.pattern) and view.launch.openmp_threads is None
    return (
        "note" if free and (starts_processes(view.component.command) or is_python(view.component.command)) else "advice"
    )


def _if_no_threads(view: _View) -> str:
    """Return the condition under which a task that is free to move leaves cores idle."""
    free = view.launch.openmp_threads is None and not all(seat.bound for seat in view.pattern)
    return ", unless its tasks start threads" if free else ""


def _busy_cores(pattern: Sequence[Binding]) -> int:
    """Return the number of busy cores of a node."""
    busy = len({core for binding in pattern for core in binding.cores})
    if all(binding.bound for binding in pattern):
        return busy
    # Unbound tasks may run anywhere: only the number of threads counts.
    return min(busy, sum(len(binding.thread_cores) for binding in pattern))


def _reservation(placement: Placement) -> Iterator[Finding]:
    """A batch script's reservation compared with the line's use."""
    reserved = placement.launch.reservation
    if reserved is None:
        return
    used = len(placement.nodes)
    if reserved.nodes > used:
        message = (
            f"The script reserves {count(reserved.nodes, 'node')} and this line uses {used:,}: "
            f"{count(reserved.nodes - used, 'node')} charged and idle, unless another line runs there at the same time."
        )
        yield Finding("reservation-larger", message, evidence=_times(reserved.nodes / used))


def _steps(view: _View) -> Finding:
    """Steps that the script starts together: whether they run simultaneously, and their use of the job."""
    launch, kind = view.launch, view.kind
    nodes = launch.reservation.nodes if launch.reservation else len(view.nodes)
    threads = (view.component.threads_per_core or kind.threads_per_core) if launch.launcher == "srun" else 1
    has = nodes * len(kind.usable_cores) * threads
    unit = "CPUs" if threads > 1 else "cores"
    use = f"{launch.steps} steps are started together and request {launch.steps_cpus} of the {has} {unit} of the job"
    # aprun takes whole nodes, and steps with --overlap share their CPUs: neither waits for CPUs.
    takes_turns = launch.launcher == "srun" and view.component.given("--overlap") is None
    if takes_turns and not view.component.exact:
        why = "without --exact or -c a step takes all CPUs of its nodes, so they run one after the other"
        return Finding("steps-wait", f"{use}; {why}.", evidence=_times(launch.steps))
    if takes_turns and launch.steps_cpus > has:
        return Finding("steps-wait", f"{use}, so some wait until others are done.")
    first = " Each gets cores that are free; the table of steps has them." if takes_turns else ""
    idle = has - launch.steps_cpus if view.component.given("--overlap") is None else 0
    charged = f" {idle} of them stay idle and are charged." if idle > 0 else ""
    message = f"{use}.{first}{charged} Each needs its share of the memory too (--mem)."
    # Idle cores are worth a reader's look; that steps fit is good to know.
    return Finding("steps-together", message, level="advice" if charged else "note")


_RULES = (_memory, _shared_cores, _numa_nodes, _threads, _binding, _gpus, _nodes)


def advise(placement: Placement, cost: Cost) -> tuple[Finding, ...]:
    """Return the findings about a placement, worst first.

    Parameters
    ----------
    placement : Placement
    cost : Cost
        Result of `hopperlib.placement.slowdown.placement_cost`; includes the memory of a task.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.reader import read_launch
    >>> from hopperkit.launchers.placing import place_tasks
    >>> from hopperlib.placement.slowdown import placement_cost
    >>> hopper = Machine.load("hopper")
    >>> naive = place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper)
    >>> [(finding.code, finding.level) for finding in advise(naive, placement_cost(naive))]
    [('idle-numa-nodes', 'problem'), ('cores-idle', 'note')]
    >>> better = place_tasks(read_launch("aprun -n 384 -N 12 -S 3 vasp", hopper), hopper)
    >>> [finding.code for finding in advise(better, placement_cost(better))]
    ['cores-idle']
    """
    launch = placement.launch
    findings: list[Finding] = []
    for number, component in enumerate(launch.components):
        nodes = placement.nodes_of(number)
        threads = max(len(binding.thread_cores) for binding in nodes[0].pattern)
        costs = cost.components[number], cost.memory_per_task_gb[number]
        view = _View(component, nodes, *costs, placement.node_kind, launch, threads)
        findings += _of_program(view, number)
    findings += _reservation(placement) if launch.steps == 1 else ()
    if placement.doubts:
        # The placement is uncertain, and so are findings about it.
        findings = [replace(each, level="advice") if each.level == "problem" else each for each in findings]
        if launch.launcher in _BOUND_BY_OTHERS:
            findings = [each for each in findings if each.code != "tasks-unbound"]
    findings += [Finding("line", text, level="note") for text in launch.notes]
    findings += [Finding("assumed", f"Assumed: {text}", level="note") for text in placement.assumptions]
    findings += [Finding("cannot-tell", f"Cannot tell: {text}", level="unknown") for text in placement.doubts]
    return tuple(sorted(findings, key=lambda each: (LEVELS.index(each.level), _ORDER.index(each.code))))


def _of_program(view: _View, number: int) -> Iterator[Finding]:
    """Yield the findings of the rules for one program, prefixed with its name if the line has several."""
    rules = () if is_utility(view.component.command) else _RULES
    findings = [finding for rule in rules for finding in rule(view)]
    shared = any("share their nodes" in doubt for doubt in view.launch.doubts)
    if view.launch.steps > 1 or shared:
        # Resources that one of several steps leaves free are available to the others, and on a shared node to other
        # jobs.
        findings = [finding for finding in findings if finding.code not in _OF_A_LONE_STEP]
    if view.launch.steps > 1:
        findings.append(_steps(view))
    program = view.component.command[0] if view.component.command else "no name"
    before = f"Program {number + 1} ({program}): " if len(view.launch.components) > 1 else ""
    for finding in findings:
        yield replace(finding, message=before + finding.message)
