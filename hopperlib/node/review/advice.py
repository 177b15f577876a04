"""What is wrong with a placement, or worth knowing about it, in plain words.

Codes, levels and texts stand in ``findings.toml``. Worst first; of one level in
the order of that table. Idle NUMA nodes that the line itself asks for (``-sn``,
``-sl``) are advice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hopperlib.finding import LEVELS, Finding, levels, worded
from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import Component, Launch
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.slowdown import ComponentCost, Cost, spread_load, thread_load
from hopperlib.node.review.text_drawing import counted
from hopperlib.package_data import read_beside

# Rounding of sums of parts.
_HAIR = 1e-9
_HERE = "hopperlib.node.review"
# Programs of these kinds choose a GPU for the program behind them.
_WRAPPERS = (".sh", "select_gpu", "bash", "numactl")
_ONE = "--threads-per-core=1"
_TABLE = read_beside(__file__, "advice.toml")


class _View(NamedTuple):
    """One component as the rules see it; the first of its nodes stands for the others, with its tasks and their threads."""

    placement: Placement
    component: Component
    nodes: tuple[NodePlacement, ...]
    cost: ComponentCost
    memory_per_task_gb: float | None
    kind: NodeKind
    launch: Launch
    pattern: tuple[Binding, ...]
    tasks_per_node: int
    threads: int

    @property
    def crowded(self) -> bool:
        """Whether a core runs more threads than it has hardware for."""
        return max(self.cost.load.fullest_core) > self.kind.threads_per_core + _HAIR

    def say(self, code: str, **words: Any) -> Finding:
        """Return a finding in the words of its code."""
        return worded(_HERE, code, kind=self.kind, **{"tasks": self.tasks_per_node} | words)

    def option(self, aprun: str, srun: str) -> str:
        """Return how the line's launcher spells an option."""
        spellings: dict[str, str] = _TABLE["spellings"].get(self.launch.launcher, {})
        return aprun if self.launch.launcher == "aprun" else spellings.get(srun, srun)


def _numa_words(numbers: Sequence[int]) -> str:
    """Return NUMA nodes as said in a sentence: NUMA nodes 0, 1 and 2."""
    *others, last = map(str, numbers)
    return f"NUMA nodes {', '.join(others)} and {last}" if others else f"NUMA node {last}"


def _memory(view: _View) -> Iterator[Finding]:
    """Memory that a node, or a NUMA node, does not have."""
    memory, each = view.cost.memory, view.memory_per_task_gb
    if each is None:
        return
    kind, tasks = view.kind, view.cost.memory_tasks
    room = kind.usable_memory_gb / kind.numa_nodes
    total = tasks * each
    wanted = f"{counted(tasks, 'task')} of {each:.3g} GB want {f'{total:.1f}' if total < 1e6 else f'{total:.3g}'} GB"
    if memory.missing_gb > _HAIR:
        fit = int(kind.usable_memory_gb / each + _HAIR)
        most = f"At most {fit:,} tasks of that size fit" if fit > 1 else "One task of that size fits"
        most = most if fit else "Not even one task of that size fits"
        yield view.say("memory-exceeds-node", wanted=wanted, most=most)
        return
    if sum(memory.remote_gb) <= _HAIR:
        return
    full = [numa_node for numa_node, remote in enumerate(memory.remote_gb) if remote > _HAIR]
    spread = " Spread evenly, all of it would be local." if sum(view.cost.spread_memory.remote_gb) <= _HAIR else ""
    where = f"{max(memory.need_gb):.1f} GB on {_numa_words(full)}{' each' if len(full) > 1 else ''}"
    code = "memory-out-of-reach" if view.component.strict_memory else "memory-remote"
    flag, wanted = view.option("-ss", "--mem-bind=local"), f"{wanted}: {where}, with {room:.2f} GB apiece."
    yield view.say(code, wanted=wanted, flag=flag, remote=memory.remote_fraction, spread=spread)


def _shared_cores(view: _View) -> Iterator[Finding]:
    """Several threads on one core, and hardware threads that share one."""
    kind, fullest = view.kind, max(view.cost.load.fullest_core)
    asked, running = view.component.threads_per_task, view.launch.openmp_threads or 1
    if view.crowded and running > asked:
        flag, unit = view.option("-d", "-c"), view.option("core", "CPU")
        given = f"{flag} {asked}" if view.component.given(flag) else f"no {flag}"
        words = {"asked": counted(asked, unit), "given": given, "flag": flag}
        yield view.say("depth-missing", running=running, fullest=fullest, **words)
    elif view.crowded:
        listed, started = view.component.binding_list, view.tasks_per_node * view.threads
        starts = ""
        if not listed and started > kind.hardware_threads:
            starts = f" A node has {kind.hardware_threads} and the line starts {started} threads on it."
        up_to = "The list of CPUs names some more than once: up to" if listed else "Up to"
        yield view.say("cores-oversubscribed", up_to=up_to, fullest=fullest, starts=starts)
    elif fullest > 1 + _HAIR and kind.threads_per_core > 1 and max(view.cost.spread.fullest_core) <= 1 + _HAIR:
        yield view.say("hardware-threads-shared", fullest=fullest, flag=view.option("-j 1", _ONE))


def _numa_nodes(view: _View) -> Iterator[Finding]:
    """Tasks that crowd on some NUMA nodes."""
    load, spread = thread_load(view.pattern, view.kind), spread_load(view.pattern, view.kind)
    most, even = max(load.threads), max(spread.threads)
    if most <= even + _HAIR:
        return
    used = [number for number, threads in enumerate(load.threads) if threads]
    idle = [number for number in range(view.kind.numa_nodes) if number not in used]
    word = "task" if view.threads == 1 else "thread"
    gain = f"evenly, {even:.3g} {word}{'s' if even > 1 else ''} would share a NUMA node instead of {most:.3g}."
    if not idle:
        counts = ", ".join(f"{threads:.3g}" for threads in load.threads)
        yield view.say("uneven-numa-nodes", counts=counts, word=word, gain=gain)
        return
    chosen = view.component.numa_nodes_per_node is not None or view.component.numa_node_list is not None
    asked = f" The line asks for that ({view.option('-sn or -sl', '--ntasks-per-socket')})." if chosen else ""
    stay = f"{_numa_words(idle)} {'stays' if len(idle) == 1 else 'stay'}"
    words = {"used": _numa_words(used), "idle": stay, "count": len(idle), "gain": gain, "asked": asked}
    yield view.say("idle-numa-nodes", level="advice" if chosen else None, **words)


def _threads(view: _View) -> Iterator[Finding]:
    """Threads of one task on several NUMA nodes, and what hybrid lines should know."""
    if view.threads == 1:
        return
    bound = [(seat, binding) for seat, binding in enumerate(view.pattern) if binding.bound]
    across = [seat for seat, binding in bound if len(binding.numa_nodes) > 1]
    cores = view.kind.cores_per_numa_node
    if across:
        some = f"Task {across[0]} of a node has"
        if len(across) > 1:
            some = f"{len(across)} of {counted(view.tasks_per_node, 'task')} a node have"
        remedy = f"{counted(view.kind.numa_nodes * (cores // view.threads), 'task')} a node would each fit one."
        if view.threads > cores:
            remedy = f"No more than {cores} threads a task keep to one NUMA node."
        where = max(len(view.pattern[seat].numa_nodes) for seat in across)
        yield view.say("threads-across-numa-nodes", some=some, where=where, remedy=remedy)
    if view.launch.launcher != "aprun" or not bound or view.crowded:
        return
    if not across and not view.component.strict_memory:
        yield view.say("strict-memory-off")
    if view.component.cpu_binding in (None, "cpu"):
        fits = view.threads <= cores * view.kind.numa_nodes_per_socket
        yield view.say("intel-openmp-helper", keyword="numa_node" if fits else "none")


def _binding(view: _View) -> Iterator[Finding]:
    """Tasks that are not bound, and lists that overrule options."""
    pattern, tasks, share = view.pattern, view.tasks_per_node, view.component.tasks_per_numa_node
    loose = sum(not binding.bound for binding in pattern)
    if loose and view.kind.cores > 1:
        some = "The tasks" if loose == tasks else f"{loose} of {counted(tasks, 'task')} a node"
        yield view.say("tasks-unbound", some=some, flag=view.option("-cc cpu (the default)", "--cpu-bind=cores"))
    if view.component.binding_list and share is not None:
        counts = Counter(numa_node for binding in pattern for numa_node in binding.numa_nodes)
        if max(counts.values()) > share:
            yield view.say("binding-list-decides", share=share)


def _nodes(view: _View) -> Iterator[Finding]:
    """Cores and nodes that are paid for and not used."""
    kind, tasks, nodes = view.kind, view.tasks_per_node, len(view.nodes)
    last = len(view.nodes[-1].pattern)
    # At most a quarter of what the other nodes have.
    if nodes > 1 and 4 * last <= tasks:
        # Every number of tasks a node that still has a core for each thread.
        wider = ((more, -(-view.component.tasks // more)) for more in range(tasks + 1, kind.cores // view.threads + 1))
        fewer = next(((more, needed) for more, needed in wider if needed < nodes), None)
        remedy = f" With {fewer[0]} tasks a node the job needs {counted(fewer[1], 'node')}." if fewer else ""
        yield view.say("last-node-nearly-empty", nodes=nodes, last=last, remedy=remedy)
    pattern = view.pattern
    busy = len({core for binding in pattern for core in binding.cores})
    # Tasks that are not bound may run anywhere: what counts is how many threads there are.
    if any(not binding.bound for binding in pattern):
        busy = min(busy, sum(len(binding.thread_cores) for binding in pattern))
    kept = kind.reserved_cores if view.component.system_cores is None else view.component.system_cores
    idle = kind.cores - busy - (view.component.reserved_cores or len(kept))
    if idle > 0 and not view.crowded and not any("share their nodes" in doubt for doubt in view.launch.doubts):
        words = {"node": "the" if nodes == 1 else "each", "times": kind.cores / busy}
        yield view.say("cores-idle", idle=idle, memory_gb=kind.usable_memory_gb / tasks, **words)


def _reservation(placement: Placement) -> Iterator[Finding]:
    """What a batch script reserves against what the line uses."""
    reserved = placement.launch.reservation
    if reserved is None:
        return
    used, cores = len(placement.nodes), placement.node_kind.cores
    if reserved.nodes > used:
        idle = reserved.nodes - used
        yield worded(_HERE, "reservation-larger", reserved=reserved.nodes, used=used, idle=idle)
    names = [name for name, _ in reserved.options]
    plain = "mppwidth" in names and "mppnppn" not in names and "mppdepth" not in names
    if plain and reserved.tasks is not None and reserved.tasks % cores:
        whole = -(-reserved.tasks // cores) * cores
        yield worded(_HERE, "width-not-whole-nodes", width=reserved.tasks, cores=cores, whole=whole)


def _gpus(view: _View) -> Iterator[Finding]:
    """GPUs and network interfaces."""
    component, kind, pattern = view.component, view.kind, view.pattern
    own = [seat.gpus for seat in pattern if seat.gpus is not None]
    tasks = len(pattern)
    if not kind.gpus or len(own) < tasks:
        return
    if not any(own):
        if kind.gpus_by_default is False:
            yield view.say("gpus-not-asked")
        return
    if component.command and component.command[0].endswith(_WRAPPERS):
        yield view.say("gpus-wrapper", program=component.command[0])
        return
    if tasks > 1 and all(len(gpus) > 1 and gpus == own[0] for gpus in own):
        yield view.say("gpus-all-visible", gpus=len(own[0]))
        return
    users = Counter(gpu for gpus in own for gpu in gpus)
    idle = [gpu for gpu in range(kind.gpus) if gpu not in users]
    if idle:
        are = "is" if len(idle) == 1 else "are"
        yield view.say("gpus-idle", idle=len(idle), which=as_ranges(idle), are=are)
    if max(users.values()) > 1:
        yield view.say("gpus-shared", most=max(users.values()))
    seats = zip(own, pattern, strict=True)
    yield from _far_gpus(view, [(task, gpus, seat) for task, (gpus, seat) in enumerate(seats) if gpus and seat.bound])


def _far_gpus(view: _View, bound: Sequence[tuple[int, Sequence[int], Binding]]) -> Iterator[Finding]:
    """Bound tasks, with number and GPUs, that sit far from all their GPUs, or from the network interface of their only one."""
    kind = view.kind
    far = [
        (task, gpus[0], seat)
        for task, gpus, seat in bound
        if not any(kind.cores_near_gpu(gpu) & set(seat.cores) for gpu in gpus)
    ]
    if far:
        task, gpu, seat = far[0]
        words = {"cores": as_ranges(seat.cores), "gpu": gpu, "near": as_ranges(sorted(kind.cores_near_gpu(gpu)))}
        yield view.say("gpus-far", far=len(far), task=task, **words)
    # Where all interfaces sit at one NUMA node, no seat is nearer to them than another.
    if kind.gpu_nics and len(kind.nic_numa_nodes) > 1:
        alone = ((gpus[0], seat) for _, gpus, seat in bound if len(gpus) == 1)
        apart = sum(kind.nic_numa_nodes[kind.gpu_nics[gpu]] not in seat.numa_nodes for gpu, seat in alone)
        if apart:
            yield view.say("nics-apart", apart=apart)


def _steps(view: _View) -> Iterator[Finding]:
    """Steps that the script starts together: whether they run together, and what they use."""
    launch, kind, srun = view.launch, view.kind, view.launch.launcher == "srun"
    nodes = launch.reservation.nodes if launch.reservation else len(view.nodes)
    threads = view.component.threads_per_core or kind.threads_per_core
    has = nodes * len(kind.usable_cores) * (threads if srun else 1)
    unit = "CPUs" if threads > 1 and srun else "cores"
    use = f"{launch.steps} steps are started together and ask for {launch.steps_cpus} of the {has} {unit} of the job"
    overlap = view.component.given("--overlap") is not None
    if srun and not overlap and not view.component.exact:
        why = (
            "; without --exact (or -c) a step takes all CPUs of its nodes, so they run one after the other. Add --exact"
        )
        yield view.say("steps-wait", use=use, why=why)
    elif srun and not overlap and launch.steps_cpus > has:
        yield view.say("steps-wait", use=use, why=", so some wait until others are done")
    else:
        first = " Each gets cores that are free; the table of steps has them." if srun and not overlap else ""
        idle = has - launch.steps_cpus
        share = f" {idle} of them stay idle and are charged." if idle > 0 and not overlap else ""
        # Idle cores are worth a reader's look; that steps fit is good to know.
        yield view.say("steps-together", use=use, first=first + share, level="advice" if share else None)


_RULES = (_memory, _shared_cores, _numa_nodes, _threads, _binding, _gpus, _nodes)


def advise(placement: Placement, cost: Cost) -> tuple[Finding, ...]:
    """Return what to know about a placement, worst first.

    Parameters
    ----------
    placement : Placement
    cost : Cost
        What `hopperlib.node.review.slowdown.placement_cost` says of it; carries the memory of a task.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> from hopperlib.node.review.slowdown import placement_cost
    >>> hopper = Machine.load("hopper")
    >>> naive = place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper)
    >>> [(finding.code, finding.level) for finding in advise(naive, placement_cost(naive))]
    [('idle-numa-nodes', 'problem'), ('cores-idle', 'note')]
    >>> better = place_tasks(read_launch("aprun -n 384 -N 12 -S 3 vasp", hopper), hopper)
    >>> [finding.code for finding in advise(better, placement_cost(better))]
    ['cores-idle']
    """
    findings: list[Finding] = []
    components = placement.launch.components
    for number, component in enumerate(components):
        nodes = placement.nodes_of(number)
        pattern = nodes[0].pattern
        threads = max(len(binding.thread_cores) for binding in pattern)
        of_component = (component, nodes, cost.components[number], cost.memory_per_task_gb[number])
        view = _View(placement, *of_component, placement.node_kind, placement.launch, pattern, len(pattern), threads)
        program = component.command[0] if component.command else "no name"
        before = f"Program {number + 1} ({program}): " if len(components) > 1 else ""
        ruled = [each for rule in _RULES for each in rule(view)]
        if placement.launch.steps > 1:
            # What one of several steps leaves free is there for the others.
            ruled = [*(each for each in ruled if each.code not in _TABLE["alone"]), *_steps(view)]
        findings += [replace(each, message=before + each.message) for each in ruled]
    findings += _reservation(placement) if placement.launch.steps == 1 else ()
    for code, texts in (
        ("line", placement.launch.notes),
        ("assumed", placement.assumptions),
        ("cannot-tell", placement.doubts),
    ):
        findings += [worded(_HERE, code, said=text) for text in texts]
    order = list(levels(_HERE))
    return tuple(sorted(findings, key=lambda each: (LEVELS.index(each.level), order.index(each.code))))
