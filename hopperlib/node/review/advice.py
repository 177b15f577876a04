"""What is wrong with a placement, or worth knowing about it, in plain words.

============================  =======  =========================================
code                          level    what
============================  =======  =========================================
memory-exceeds-node           problem  the tasks want more memory than a node has
memory-out-of-reach           problem  with strict containment it does not fit
depth-missing                 problem  OpenMP threads share the cores of one
cores-oversubscribed          problem  several threads run on one core
idle-numa-nodes               problem  tasks crowd while NUMA nodes stay idle
uneven-numa-nodes             advice   NUMA nodes hold more tasks than they must
threads-across-numa-nodes     advice   threads of a task lie on several NUMA nodes
memory-remote                 advice   memory ends up on other NUMA nodes
tasks-unbound                 advice   tasks may move away from their memory
hardware-threads-shared       advice   two threads share a core while others idle
gpus-all-visible              advice   all tasks see all GPUs
gpus-far                      advice   a task's GPU is not the one nearest to its cores
gpus-idle                     advice   GPUs that no task sees
gpus-not-asked                advice   nodes with GPUs, and none is asked for
steps-wait                    advice   steps started together cannot run together
last-node-nearly-empty        advice   a node is paid for a few tasks
reservation-larger            advice   nodes are reserved and not used
width-not-whole-nodes         note     mppwidth is no multiple of a node's cores
cores-idle                    note     cores are paid and idle
binding-list-decides          note     a list of CPUs overrules other options
steps-together                note     what steps that run together use
gpus-shared                   note     several tasks on a GPU
gpus-wrapper                  note     a script in front of the program may choose GPUs
nics-apart                    note     GPU and cores near different network interfaces
strict-memory-off             note     a hybrid line without -ss
intel-openmp-helper           note     Intel's OpenMP starts one thread more
line                          note     said by the reader of the line
assumed                       note     assumed, as no source says
cannot-tell                   unknown  why the placement cannot be told
============================  =======  =========================================

Worst first; of one level in this order. Idle NUMA nodes that the line itself
asks for (``-sn``, ``-sl``) are advice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopperlib.finding import LEVELS, Finding, Level
from hopperlib.machine import NodeKind
from hopperlib.node.launch.components import Component, Launch
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.gpu_advice import gpu_findings
from hopperlib.node.review.slowdown import ComponentCost, Cost, spread_load, thread_load
from hopperlib.node.review.text_drawing import counted

__all__ = ["CODE_LEVELS", "advise"]

# Rounding of sums of parts.
_HAIR = 1e-9
# Codes by level, and in the order in which those of a level are told.
_CODES: dict[Level, str] = {
    "problem": "memory-exceeds-node memory-out-of-reach depth-missing cores-oversubscribed idle-numa-nodes",
    "advice": "uneven-numa-nodes threads-across-numa-nodes memory-remote tasks-unbound hardware-threads-shared "
    "gpus-all-visible gpus-far gpus-idle gpus-not-asked steps-wait last-node-nearly-empty reservation-larger",
    "note": "width-not-whole-nodes cores-idle binding-list-decides steps-together gpus-shared gpus-wrapper nics-apart "
    "strict-memory-off intel-openmp-helper line assumed",
    "unknown": "cannot-tell",
}
CODE_LEVELS: dict[str, Level] = {code: level for level, codes in _CODES.items() for code in codes.split()}
"""Every code with its level, in the order of the table above."""


def _finding(code: str, message: str, level: Level | None = None) -> Finding:
    """Return a finding of the level that its code has, or of another one."""
    return Finding(code=code, message=message, level=level or CODE_LEVELS[code])


# How launchers other than aprun and srun spell what an option of srun does.
_SPELLINGS: dict[str, dict[str, str]] = {
    "pals": {"-c": "--depth", "--cpu-bind=cores": "--cpu-bind depth", "--mem-bind=local": "--mem-bind"},
    "openmpi": {"-c": "--map-by slot:PE", "--cpu-bind=cores": "--bind-to core", "CPU": "core"},
    "mpich": {"-c": "-bind-to core", "--cpu-bind=cores": "-bind-to core", "CPU": "core"},
    "intelmpi": {"-c": "I_MPI_PIN_DOMAIN", "--cpu-bind=cores": "I_MPI_PIN=1"},
}


class _View(NamedTuple):
    """One component as the rules see it."""

    placement: Placement
    component: Component
    nodes: tuple[NodePlacement, ...]
    cost: ComponentCost
    memory_per_task_gb: float | None

    @property
    def kind(self) -> NodeKind:
        """Kind of node it runs on."""
        return self.placement.node_kind

    @property
    def launch(self) -> Launch:
        """The line."""
        return self.placement.launch

    @property
    def node(self) -> NodePlacement:
        """The node that stands for the others: the first."""
        return self.nodes[0]

    @property
    def tasks_per_node(self) -> int:
        """Tasks on that node."""
        return len(self.node.pattern)

    @property
    def threads(self) -> int:
        """Threads of a task."""
        return max(len(binding.thread_cores) for binding in self.node.pattern)

    @property
    def crowded(self) -> bool:
        """Whether a core runs more threads than it has hardware for."""
        return max(self.cost.load.fullest_core) > self.kind.threads_per_core + _HAIR

    def option(self, aprun: str, srun: str) -> str:
        """Return how the line's launcher spells an option."""
        return aprun if self.launch.launcher == "aprun" else _SPELLINGS.get(self.launch.launcher, {}).get(srun, srun)


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
        fitting = "task of that size fits" if fit < 2 else f"{counted(fit, 'task')} of that size fit"
        most = f"At most {fitting}" if fit > 1 else f"{'One' if fit else 'Not even one'} {fitting}"
        has = f"on a node, which has {kind.usable_memory_gb:g} GB for them"
        yield _finding("memory-exceeds-node", f"{wanted} {has}: the job will be killed. {most} a node.")
        return
    if sum(memory.remote_gb) <= _HAIR:
        return
    full = [numa_node for numa_node, remote in enumerate(memory.remote_gb) if remote > _HAIR]
    spread = " Spread evenly, all of it would be local." if sum(view.cost.spread_memory.remote_gb) <= _HAIR else ""
    where = f"{max(memory.need_gb):.1f} GB on {_numa_words(full)}{' each' if len(full) > 1 else ''}"
    wanted += f": {where}, with {room:.2f} GB apiece."
    if view.component.strict_memory:
        flag = view.option("-ss", "--mem-bind=local")
        fails = "forbids the memory of the others, so the job fails while it lies free"
        yield _finding("memory-out-of-reach", f"{wanted} {flag} {fails}.{spread}")
    else:
        lies = f"{memory.remote_fraction:.0%} of it lies on other NUMA nodes and is reached more slowly"
        yield _finding("memory-remote", f"{wanted} So {lies}.{spread}")


def _shared_cores(view: _View) -> Iterator[Finding]:
    """Several threads on one core, and hardware threads that share one."""
    kind, fullest = view.kind, max(view.cost.load.fullest_core)
    asked, running = view.component.threads_per_task, view.launch.openmp_threads or 1
    if view.crowded and running > asked:
        flag, unit = view.option("-d", "-c"), view.option("core", "CPU")
        given = f"{flag} {asked}" if view.component.given(flag) else f"no {flag}"
        text = (
            f"OMP_NUM_THREADS is {running}, but the line gives each task {counted(asked, unit)} ({given}): "
            f"up to {fullest:.3g} threads share a core. Add {flag} {running} and leave the tasks room for it."
        )
        yield _finding("depth-missing", text)
    elif view.crowded:
        up_to = "The list of CPUs names some more than once: up to" if view.component.binding_list else "Up to"
        text = f"{up_to} {fullest:.3g} threads run on one core, so each gets a part of its time."
        started = view.tasks_per_node * view.threads
        if not view.component.binding_list and started > kind.hardware_threads:
            text += f" A node has {kind.hardware_threads} and the line starts {started} threads on it."
        yield _finding("cores-oversubscribed", text)
    elif fullest > 1 + _HAIR and kind.threads_per_core > 1 and max(view.cost.spread.fullest_core) <= 1 + _HAIR:
        idle = "while other cores of the node stay idle"
        text = f"Threads share cores, {fullest:.3g} a core, {idle}. --hint=nomultithread gives each its own."
        yield _finding("hardware-threads-shared", text)


def _numa_nodes(view: _View) -> Iterator[Finding]:
    """Tasks that crowd on some NUMA nodes."""
    load, spread = thread_load(view.node.pattern, view.kind), spread_load(view.node.pattern, view.kind)
    most, even = max(load.threads), max(spread.threads)
    if most <= even + _HAIR:
        return
    used = [number for number, threads in enumerate(load.threads) if threads]
    idle = [number for number in range(view.kind.numa_nodes) if number not in used]
    word = "task" if view.threads == 1 else "thread"
    gain = f"spread evenly, {even:.3g} {word}{'s' if even > 1 else ''} would share a NUMA node instead of {most:.3g}."
    if not idle:
        counts = ", ".join(f"{threads:.3g}" for threads in load.threads)
        yield _finding("uneven-numa-nodes", f"The NUMA nodes hold {counts} {word}s: {gain}")
        return
    chosen = view.component.numa_nodes_per_node is not None or view.component.numa_node_list is not None
    part = f"{len(idle)} of {view.kind.numa_nodes} memory systems"
    asked = f" The line asks for that ({view.option('-sn or -sl', '--ntasks-per-socket')})." if chosen else ""
    text = (
        f"{counted(view.tasks_per_node, 'task')} a node sit on {_numa_words(used)}; {_numa_words(idle)} "
        f"{'stays' if len(idle) == 1 else 'stay'} idle, {part} unused. {gain[0].upper()}{gain[1:]}{asked}"
    )
    yield _finding("idle-numa-nodes", text, "advice" if chosen else "problem")


def _threads(view: _View) -> Iterator[Finding]:
    """Threads of one task on several NUMA nodes, and what hybrid lines should know."""
    if view.threads == 1:
        return
    bound = [(seat, binding) for seat, binding in enumerate(view.node.pattern) if binding.bound]
    across = [seat for seat, binding in bound if len(binding.numa_nodes) > 1]
    cores = view.kind.cores_per_numa_node
    if across:
        where = max(len(view.node.pattern[seat].numa_nodes) for seat in across)
        some = f"Task {across[0]} of a node has"
        if len(across) > 1:
            some = f"{len(across)} of {counted(view.tasks_per_node, 'task')} a node have"
        text = (
            f"{some} threads on up to {where} NUMA nodes: "
            "memory lies where it was first touched, so some threads reach over. "
        )
        if view.threads > cores:
            text += f"No more than {cores} threads a task keep to one NUMA node."
        else:
            text += f"{counted(view.kind.numa_nodes * (cores // view.threads), 'task')} a node would each fit one."
        yield _finding("threads-across-numa-nodes", text)
    if view.launch.launcher != "aprun" or not bound or view.crowded:
        return
    if not across and not view.component.strict_memory:
        text = (
            "Memory may still come from other NUMA nodes: -ss keeps each task's on its own, where it fits. "
            "NERSC's hybrid GTC lost much without -S and -ss."
        )
        yield _finding("strict-memory-off", text)
    if view.component.cpu_binding in (None, "cpu"):
        fits = view.threads <= cores * view.kind.numa_nodes_per_socket
        text = (
            "If the program was built with Intel's compilers, its OpenMP starts a helper thread that takes a core "
            f"of its own, and two of the others share one: use -cc {'numa_node' if fits else 'none'} then."
        )
        yield _finding("intel-openmp-helper", text)


def _binding(view: _View) -> Iterator[Finding]:
    """Tasks that are not bound, and lists that overrule options."""
    pattern, tasks, share = view.node.pattern, view.tasks_per_node, view.component.tasks_per_numa_node
    loose = sum(not binding.bound for binding in pattern)
    if loose and view.kind.cores > 1:
        some = "The tasks" if loose == tasks else f"{loose} of {counted(tasks, 'task')} a node"
        text = (
            f"{some} may move from core to core, and away from the NUMA node that holds their memory. "
            f"{view.option('-cc cpu (the default)', '--cpu-bind=cores')} keeps them."
        )
        yield _finding("tasks-unbound", text)
    if view.component.binding_list and share is not None:
        counts = Counter(numa_node for binding in pattern for numa_node in binding.numa_nodes)
        if max(counts.values()) > share:
            text = f"The list of CPUs decides where tasks run: -S {share} does not hold there."
            yield _finding("binding-list-decides", text)


def _nodes(view: _View) -> Iterator[Finding]:
    """Cores and nodes that are paid for and not used."""
    kind, tasks, nodes = view.kind, view.tasks_per_node, len(view.nodes)
    last = len(view.nodes[-1].pattern)
    if nodes > 1 and 4 * last <= tasks:
        text = f"The last of {nodes:,} nodes runs {last} of the {tasks} tasks that fit it, and is paid in full."
        for more in range(tasks + 1, kind.cores // view.threads + 1):
            needed = -(-view.component.tasks // more)
            if needed < nodes:
                text += f" With {more} tasks a node the job needs {counted(needed, 'node')}."
                break
        yield _finding("last-node-nearly-empty", text)
    pattern = view.node.pattern
    busy = len({core for binding in pattern for core in binding.cores})
    # Tasks that are not bound may run anywhere: what counts is how many threads there are.
    if any(not binding.bound for binding in pattern):
        busy = min(busy, sum(len(binding.thread_cores) for binding in pattern))
    kept = kind.reserved_cores if view.component.system_cores is None else view.component.system_cores
    idle = kind.cores - busy - (view.component.reserved_cores or len(kept))
    if idle > 0 and not view.crowded and not any("share their nodes" in doubt for doubt in view.launch.doubts):
        text = (
            f"{idle} of {kind.cores} cores of {'the' if nodes == 1 else 'each'} node stay idle "
            f"and are charged: the job costs {kind.cores / busy:.3g} times the cores it uses. "
            f"Right if a task needs the memory, up to {kind.usable_memory_gb / tasks:.2f} GB."
        )
        yield _finding("cores-idle", text)


def _reservation(placement: Placement) -> Iterator[Finding]:
    """What a batch script reserves against what the line uses."""
    reserved = placement.launch.reservation
    if reserved is None:
        return
    used, cores = len(placement.nodes), placement.node_kind.cores
    if reserved.nodes > used:
        text = (
            f"The script reserves {counted(reserved.nodes, 'node')} and this line uses {used:,}: "
            f"{counted(reserved.nodes - used, 'node')} paid and idle, unless another line runs there at the same time."
        )
        yield _finding("reservation-larger", text)
    names = [name for name, _ in reserved.options]
    plain = "mppwidth" in names and "mppnppn" not in names and "mppdepth" not in names
    if plain and reserved.tasks is not None and reserved.tasks % cores:
        text = (
            f"mppwidth={reserved.tasks} is no multiple of {cores}, the cores of a node: whole nodes are reserved "
            f"and paid, so mppwidth={-(-reserved.tasks // cores) * cores} costs the same."
        )
        yield _finding("width-not-whole-nodes", text)


def _gpus(view: _View) -> Iterator[Finding]:
    """GPUs and network interfaces."""
    for code, message in gpu_findings(view.component, view.kind, view.node.pattern):
        yield _finding(code, message)


def _steps(view: _View) -> Iterator[Finding]:
    """Steps that the script starts together: whether they run together, and what they use."""
    launch, kind = view.launch, view.kind
    nodes = launch.reservation.nodes if launch.reservation else len(view.nodes)
    threads = view.component.threads_per_core or kind.threads_per_core
    has = nodes * len(kind.usable_cores) * (threads if launch.launcher == "srun" else 1)
    unit = "CPUs" if threads > 1 and launch.launcher == "srun" else "cores"
    use = f"{launch.steps} steps are started together and ask for {launch.steps_cpus} of the {has} {unit} of the job"
    overlap = view.component.given("--overlap") is not None
    if launch.launcher == "srun" and not view.component.exact and not overlap:
        text = (
            "without --exact (or -c) a step takes all CPUs of its nodes, so they run one after the other. Add --exact"
        )
        yield _finding("steps-wait", f"{use}; {text}.")
    elif launch.launcher == "srun" and not overlap and launch.steps_cpus > has:
        yield _finding("steps-wait", f"{use}, so some wait until others are done.")
    else:
        first = (
            ""
            if launch.launcher != "srun" or overlap
            else " Shown is the first of them; each other gets cores that are free."
        )
        yield _finding("steps-together", f"{use}.{first} Each needs its share of the memory too (--mem).")


_RULES = (_memory, _shared_cores, _numa_nodes, _threads, _binding, _gpus, _nodes)
_ALONE = (
    "idle-numa-nodes",
    "uneven-numa-nodes",
    "cores-idle",
    "gpus-idle",
    "reservation-larger",
    "last-node-nearly-empty",
)


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
        view = _View(
            placement, component, placement.nodes_of(number), cost.components[number], cost.memory_per_task_gb[number]
        )
        program = component.command[0] if component.command else "no name"
        before = f"Program {number + 1} ({program}): " if len(components) > 1 else ""
        ruled = [each for rule in _RULES for each in rule(view)]
        if placement.launch.steps > 1:
            # What one of several steps leaves free is there for the others.
            ruled = [*(each for each in ruled if each.code not in _ALONE), *_steps(view)]
        findings += [_finding(each.code, before + each.message, each.level) for each in ruled]
    findings += _reservation(placement) if placement.launch.steps == 1 else ()
    findings += [_finding("line", note) for note in placement.launch.notes]
    findings += [_finding("assumed", f"Assumed: {text}") for text in placement.assumptions]
    findings += [_finding("cannot-tell", f"Cannot tell: {text}") for text in placement.doubts]
    order = list(CODE_LEVELS)
    return tuple(sorted(findings, key=lambda each: (LEVELS.index(each.level), order.index(each.code))))
