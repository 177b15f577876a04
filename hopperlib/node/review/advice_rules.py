"""The rules by which one program of a placement is judged.

Each takes a `View` of the program and yields the advice that applies. What the
codes mean stands in `hopperlib.node.review.advice`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.launch.components import Component, Launch
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.slowdown import ComponentCost, Cost, spread_load, thread_load

__all__ = ["LEVELS", "RULES", "Advice", "Level", "View", "plural", "view_of"]

Level = Literal["problem", "advice", "note"]
LEVELS: tuple[Level, ...] = ("problem", "advice", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to know about a placement.

    Parameters
    ----------
    code : str
        Stable short name.
    message : str
        What, why it matters, what to do.
    level : {"problem", "advice", "note"}
        How much it matters.
    """

    code: str
    message: str
    level: Level


class View(NamedTuple):
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
        return max(self.cost.load.fullest_core) > self.kind.threads_per_core + 1e-9

    def option(self, aprun: str, srun: str) -> str:
        """Return how the line's launcher spells an option."""
        return aprun if self.launch.launcher == "aprun" else srun


def view_of(placement: Placement, cost: Cost, component: int) -> View:
    """Return one program of a placement as the rules see it.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> from hopperlib.node.review.slowdown import placement_cost
    >>> hopper = Machine.load("hopper")
    >>> placed = place_tasks(read_launch("aprun -n 4 -d 6 a.out", hopper), hopper)
    >>> view = view_of(placed, placement_cost(placed), 0)
    >>> view.tasks_per_node, view.threads, view.crowded
    (4, 6, False)
    """
    return View(
        placement,
        placement.launch.components[component],
        placement.nodes_of(component),
        cost.components[component],
        cost.memory_per_task_gb[component],
    )


def plural(count: int, word: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "task"), plural(2_000, "task")
    ('1 task', '2,000 tasks')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as said in a sentence: 0, 1 and 2."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _numa_words(numbers: Sequence[int]) -> str:
    """Return NUMA nodes as said in a sentence."""
    return f"NUMA node{'' if len(numbers) == 1 else 's'} {_listed(numbers)}"


def _memory(view: View) -> Iterator[Advice]:
    """Memory that a node, or a NUMA node, does not have."""
    gone, each = view.cost.memory, view.memory_per_task_gb
    if each is None:
        return
    kind, tasks = view.kind, view.cost.memory_tasks
    room = kind.usable_memory_gb / kind.numa_nodes
    total = tasks * each
    wanted = f"{plural(tasks, 'task')} of {each:.3g} GB want {f'{total:.1f}' if total < 1e6 else f'{total:.3g}'} GB"
    if gone.missing_gb > 1e-9:
        fit = int(kind.usable_memory_gb / each + 1e-9)
        remedy = (
            f"At most {plural(fit, 'task')} of that size fit"
            if fit > 1
            else f"{'One' if fit else 'Not even one'} task of that size fits"
        )
        room_words = f"on a node, which has {kind.usable_memory_gb:g} GB for them"
        text = f"{wanted} {room_words}: the job will be killed. {remedy} a node."
        yield Advice(code="memory-exceeds-node", level="problem", message=text)
        return
    if sum(gone.remote_gb) <= 1e-9:
        return
    full = [numa_node for numa_node, remote in enumerate(gone.remote_gb) if remote > 1e-9]
    most = max(gone.need_gb)
    spread = " Spread evenly, all of it would be local." if sum(view.cost.spread_memory.remote_gb) <= 1e-9 else ""
    where = f"{most:.1f} GB on {_numa_words(full)}{' each' if len(full) > 1 else ''}, with {room:.2f} GB apiece"
    if view.component.strict_memory:
        flag = view.option("-ss", "--mem-bind=local")
        text = (
            f"{wanted}: {where}. {flag} forbids the memory of the others, so the job fails while it lies free.{spread}"
        )
        yield Advice(code="memory-out-of-reach", level="problem", message=text)
    else:
        share = gone.remote_fraction
        text = f"{wanted}: {where}. So {share:.0%} of it lies on other NUMA nodes and is reached more slowly.{spread}"
        yield Advice(code="memory-remote", level="advice", message=text)


def _shared_cores(view: View) -> Iterator[Advice]:
    """Several threads on one core, and hardware threads that share one."""
    kind, load = view.kind, view.cost.load
    fullest = max(load.fullest_core)
    asked, running = view.component.threads_per_task, view.launch.openmp_threads or 1
    if view.crowded:
        if running > asked:
            flag, unit = view.option("-d", "-c"), view.option("core", "CPU")
            given = f"{flag} {asked}" if view.component.given(flag) else f"no {flag}"
            text = (
                f"OMP_NUM_THREADS is {running}, but the line gives each task {plural(asked, unit)} ({given}): "
                f"up to {fullest:.3g} threads share a core. Add {flag} {running} and leave the tasks room for it."
            )
            yield Advice(code="depth-missing", level="problem", message=text)
            return
        listed = "The list of CPUs names some more than once: " if view.component.binding_list else ""
        first = "u" if listed else "U"
        text = f"{listed}{first}p to {fullest:.3g} threads run on one core, so each gets a part of its time."
        started = view.tasks_per_node * view.threads
        if not listed and started > kind.hardware_threads:
            text += f" A node has {kind.hardware_threads} and the line starts {started} threads on it."
        yield Advice(code="cores-oversubscribed", level="problem", message=text)
    elif fullest > 1 + 1e-9 and kind.threads_per_core > 1 and max(view.cost.spread.fullest_core) <= 1 + 1e-9:
        idle = "while other cores of the node stay idle"
        text = f"Threads share cores, {fullest:.3g} a core, {idle}. --hint=nomultithread gives each its own."
        yield Advice(code="hardware-threads-shared", level="advice", message=text)


def _numa_nodes(view: View) -> Iterator[Advice]:
    """Tasks that crowd on some NUMA nodes."""
    load, spread = thread_load(view.node.pattern, view.kind), spread_load(view.node.pattern, view.kind)
    most, even = max(load.threads), max(spread.threads)
    if most <= even + 1e-9:
        return
    used = [number for number, threads in enumerate(load.threads) if threads]
    idle = [number for number in range(view.kind.numa_nodes) if number not in used]
    word = "task" if view.threads == 1 else "thread"
    gain = f"spread evenly, {even:.3g} {word}{'s' if even > 1 else ''} would share a NUMA node instead of {most:.3g}"
    if not idle:
        counts = ", ".join(f"{threads:.3g}" for threads in load.threads)
        text = f"The NUMA nodes hold {counts} {word}s: {gain}."
        yield Advice(code="uneven-numa-nodes", level="advice", message=text)
        return
    chosen = view.component.numa_nodes_per_node is not None or view.component.numa_node_list is not None
    part = f"{len(idle)} of {view.kind.numa_nodes} memory systems"
    asked = f" The line asks for that ({view.option('-sn or -sl', '--ntasks-per-socket')})." if chosen else ""
    text = (
        f"{plural(view.tasks_per_node, 'task')} a node sit on {_numa_words(used)}; {_numa_words(idle)} "
        f"{'stays' if len(idle) == 1 else 'stay'} idle, {part} unused. {gain[0].upper()}{gain[1:]}.{asked}"
    )
    yield Advice(code="idle-numa-nodes", level="advice" if chosen else "problem", message=text)


def _threads(view: View) -> Iterator[Advice]:
    """Threads of one task on several NUMA nodes, and what hybrid lines should know."""
    if view.threads == 1:
        return
    bound = [(seat, binding) for seat, binding in enumerate(view.node.pattern) if binding.bound]
    across = [seat for seat, binding in bound if len(binding.numa_nodes) > 1]
    cores = view.kind.cores_per_numa_node
    if across:
        some = (
            f"Task {across[0]} of a node"
            if len(across) == 1
            else f"{len(across)} of {plural(view.tasks_per_node, 'task')} a node"
        )
        where = max(len(view.node.pattern[seat].numa_nodes) for seat in across)
        text = (
            f"{some} {'has' if len(across) == 1 else 'have'} threads on up to {where} NUMA nodes: "
            "memory lies where it was first touched, so some threads reach over. "
        )
        if view.threads > cores:
            text += f"No more than {cores} threads a task keep to one NUMA node."
        else:
            text += f"{plural(view.kind.numa_nodes * (cores // view.threads), 'task')} a node would each fit one."
        yield Advice(code="threads-across-numa-nodes", level="advice", message=text)
    if view.launch.launcher != "aprun" or not bound or view.crowded:
        return
    if not across and not view.component.strict_memory:
        text = (
            "Memory may still come from other NUMA nodes: -ss keeps each task's on its own, where it fits. "
            "NERSC's hybrid GTC lost much without -S and -ss."
        )
        yield Advice(code="strict-memory-off", level="note", message=text)
    if view.component.cpu_binding in (None, "cpu"):
        fits = view.threads <= cores * view.kind.numa_nodes_per_socket
        text = (
            "If the program was built with Intel's compilers, its OpenMP starts a helper thread that takes a core "
            f"of its own, and two of the others share one: use -cc {'numa_node' if fits else 'none'} then."
        )
        yield Advice(code="intel-openmp-helper", level="note", message=text)


def _binding(view: View) -> Iterator[Advice]:
    """Tasks that are not bound, and lists that overrule options."""
    loose = sum(not binding.bound for binding in view.node.pattern)
    if loose and view.kind.cores > 1:
        flag = view.option("-cc cpu (the default)", "--cpu-bind=cores")
        some = (
            "The tasks" if loose == view.tasks_per_node else f"{loose} of {plural(view.tasks_per_node, 'task')} a node"
        )
        text = f"{some} may move from core to core, and away from the NUMA node that holds their memory. "
        text += f"{flag} keeps them."
        yield Advice(code="tasks-unbound", level="advice", message=text)
    if view.component.binding_list and view.component.tasks_per_numa_node is not None:
        counts = [0] * view.kind.numa_nodes
        for binding in view.node.pattern:
            for numa_node in binding.numa_nodes:
                counts[numa_node] += 1
        if max(counts) > view.component.tasks_per_numa_node:
            option = f"-S {view.component.tasks_per_numa_node}"
            text = f"The list of CPUs decides where tasks run: {option} does not hold there."
            yield Advice(code="binding-list-decides", level="note", message=text)


def _nodes(view: View) -> Iterator[Advice]:
    """Cores and nodes that are paid for and not used."""
    kind, tasks = view.kind, view.tasks_per_node
    last = view.nodes[-1]
    if len(view.nodes) > 1 and 4 * len(last.pattern) <= tasks:
        runs = f"runs {len(last.pattern)} of the {tasks} tasks that fit it"
        text = f"The last of {len(view.nodes):,} nodes {runs}, and is paid in full."
        for more in range(tasks + 1, kind.cores // view.threads + 1):
            needed = -(-view.component.tasks // more)
            if needed < len(view.nodes):
                text += f" With {more} tasks a node the job needs {plural(needed, 'node')}."
                break
        yield Advice(code="last-node-nearly-empty", level="advice", message=text)
    busy = len({core for binding in view.node.pattern for core in binding.cores})
    # Tasks that are not bound may run anywhere: what counts is how many threads there are.
    if any(not binding.bound for binding in view.node.pattern):
        busy = min(busy, sum(len(binding.thread_cores) for binding in view.node.pattern))
    idle = kind.cores - busy - view.component.reserved_cores
    if idle > 0 and not view.crowded:
        share = kind.usable_memory_gb / tasks
        text = (
            f"{idle} of {kind.cores} cores of {'the' if len(view.nodes) == 1 else 'each'} node run nothing "
            f"and are paid: the job costs {kind.cores / busy:.3g} times the cores it uses. "
            f"Right if a task needs the memory, up to {share:.2f} GB."
        )
        yield Advice(code="cores-idle", level="note", message=text)


RULES: tuple[Callable[[View], Iterator[Advice]], ...] = (
    _memory,
    _shared_cores,
    _numa_nodes,
    _threads,
    _binding,
    _nodes,
)
