"""Layouts of a job with a memory need per task: those that fit, and their charges.

A job is charged for whole nodes. If memory allows tasks on only some of the cores, idle cores are charged too: a
half-packed node costs twice as much. Threads can use the idle cores, and nodes with more memory leave fewer cores idle.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from hopperlib.errors import refusal, within
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.models.memory import memory_per_task, most_tasks_per_node, seats

_ROUNDING_TOLERANCE = 1e-9
_MAX_TASKS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One distribution of a job over nodes.

    Parameters
    ----------
    machine : Machine
    node_kind : NodeKind
    tasks : int
        Tasks of the whole job.
    tasks_per_node, threads_per_task : int
    need_gb : float
        Memory of a task. [GB] An additional thread is assumed to do as much work as a task.

    Examples
    --------
    A half-packed run of 384 tasks on Hopper is charged twice:

    >>> hopper = Machine.load("hopper")
    >>> half = Layout(machine=hopper, node_kind=hopper.node(), tasks=384, tasks_per_node=12, threads_per_task=1, need_gb=2)
    >>> half.nodes, round(half.memory_per_task_gb, 2), half.idle_cores, half.cost_factor
    (32, 2.58, 12, 2.0)
    """

    machine: Machine
    node_kind: NodeKind
    tasks: int
    tasks_per_node: int
    threads_per_task: int
    need_gb: float

    @property
    def nodes(self) -> int:
        """Nodes of the job; the last may have fewer tasks."""
        return -(-self.tasks // self.tasks_per_node)

    @property
    def memory_per_task_gb(self) -> float:
        """Memory that each task can allocate. [GB]"""
        return memory_per_task(self.node_kind, self.tasks_per_node)

    @property
    def idle_cores(self) -> int:
        """Idle cores of a full node."""
        return self.node_kind.cores - self.tasks_per_node * self.threads_per_task

    @property
    def cost_factor(self) -> float:
        """Cores charged for each core's worth of work. [ratio]"""
        return self.nodes * self.node_kind.cores / (self.tasks * self.threads_per_task)

    @property
    def memory_is_local(self) -> bool:
        """Whether the memory of each NUMA node is enough for its tasks, with tasks spread evenly."""
        most = -(-self.tasks_per_node // self.node_kind.numa_nodes)
        room = self.node_kind.usable_memory_gb / self.node_kind.numa_nodes
        return most * self.need_gb <= room * (1 + _ROUNDING_TOLERANCE)

    def node_hours(self, hours: float, threads: int = 1) -> float:
        """Node-hours charged. [node h]

        Parameters
        ----------
        hours : float
            Run time with `threads` threads per task. [h]
        threads : int
        """
        return self.nodes * hours * threads / self.threads_per_task

    def core_hours(self, hours: float, threads: int = 1) -> float:
        """Core-hours charged, including idle cores. [core h]

        Parameters
        ----------
        hours : float
            Run time with `threads` threads per task. [h]
        threads : int
        """
        return self.node_hours(hours, threads) * self.node_kind.cores


class Obstacle(NamedTuple):
    """Reason why no layout fits, and what would fit.

    Examples
    --------
    >>> obstacle(Machine.load("hopper"), need_gb=70, tasks=4).reason
    'a task of 70 GB fits on no node of Hopper: large-memory nodes leave 63 GB to programs'
    """

    reason: str
    remedy: str


def layouts(
    machine: Machine,
    *,
    need_gb: float,
    tasks: int,
    threads: int | None = None,
    kinds: tuple[NodeKind, ...] | None = None,
) -> list[Layout]:
    """Return every layout that fits, the cheapest first.

    There are two layouts for each number of tasks per node: one thread per task, and as many threads as have a core
    without straddling NUMA nodes. `threads` sets the number of threads instead.

    Parameters
    ----------
    machine : Machine
    need_gb : float
        Memory of a task. [GB]
    tasks : int
        Tasks of the job.
    threads : int or None
        Threads of each task; None tries both.
    kinds : tuple of NodeKind or None
        Kinds of node to try; None tries every kind of the machine.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    384 tasks of 2 GB on Hopper: an ordinary node holds 15 of them, a larger node 24:

    >>> hopper = Machine.load("hopper")
    >>> plain = layouts(hopper, need_gb=2, tasks=384, threads=1)
    >>> [(layout.node_kind.name, layout.nodes, layout.tasks_per_node, layout.cost_factor) for layout in plain[:2]]
    [('large-memory', 16, 24, 1.0), ('large-memory', 17, 23, 1.0625)]
    >>> hybrid = layouts(hopper, need_gb=2, tasks=384, kinds=(hopper.node(),))
    >>> [(layout.nodes, layout.tasks_per_node, layout.threads_per_task, layout.cost_factor) for layout in hybrid[:2]]
    [(32, 12, 2, 1.0), (48, 8, 3, 1.0)]
    """
    kinds = machine.node_kinds if kinds is None else kinds
    _check(machine, need_gb, tasks, threads, kinds)
    job = partial(Layout, machine=machine, tasks=tasks, need_gb=need_gb)
    fitting = []
    for kind in kinds:
        if threads is not None and threads > kind.cores:
            continue
        most = min(most_tasks_per_node(kind, need_gb, threads or 1), tasks)
        # With fewer tasks per node the job needs more nodes than there are.
        fewest = -(-tasks // kind.count)
        for tasks_per_node in range(most, fewest - 1, -1):
            for count in (threads,) if threads else dict.fromkeys((1, _fitting_threads(kind, tasks_per_node))):
                fitting.append(job(node_kind=kind, tasks_per_node=tasks_per_node, threads_per_task=count))
    return sorted(fitting, key=_order)


def cheapest(fitting: Iterable[Layout], *, threads: int | None = None, kind: NodeKind | None = None) -> Layout | None:
    """Return the cheapest of some layouts; None if there are none.

    At equal cost, local memory is preferred, then fewer threads, then fewer nodes.

    Parameters
    ----------
    fitting : tuple of Layout
    threads : int or None
        Only layouts with this number of threads per task.
    kind : NodeKind or None
        Only layouts on this kind of node.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> fitting = layouts(hopper, need_gb=2, tasks=384)
    >>> best = cheapest(fitting, threads=1, kind=hopper.node())
    >>> best.tasks_per_node, best.nodes, best.cost_factor
    (15, 26, 1.625)
    """
    wanted = (
        layout for layout in fitting if threads in (None, layout.threads_per_task) and kind in (None, layout.node_kind)
    )
    return min(wanted, key=_order, default=None)


def break_even_efficiency(pure: Layout, threaded: Layout) -> float:
    """Work of each additional thread at which a threaded layout costs the same, as a share of a task's work. [ratio]

    No thread can achieve more than 1.

    Parameters
    ----------
    pure, threaded : Layout
        Layouts of one job; the second has more threads per task.

    Raises
    ------
    InputError
        If the second has no additional threads.

    Examples
    --------
    Twelve tasks of two threads against fifteen of one:

    >>> hopper = Machine.load("hopper")
    >>> fitting = layouts(hopper, need_gb=2, tasks=384, kinds=(hopper.node(),))
    >>> round(break_even_efficiency(cheapest(fitting, threads=1), cheapest(fitting)), 3)
    0.231
    """
    further = threaded.threads_per_task - pure.threads_per_task
    if further < 1:
        rule = f"of the threaded layout must be above {pure.threads_per_task}, the other's"
        raise refusal("threads_per_task", threaded.threads_per_task, rule)
    charged = threaded.nodes * threaded.node_kind.cores / (pure.nodes * pure.node_kind.cores)
    return max((charged - 1) / further, 0.0)


def obstacle(
    machine: Machine,
    *,
    need_gb: float,
    tasks: int,
    threads: int | None = None,
    kinds: tuple[NodeKind, ...] | None = None,
) -> Obstacle | None:
    """Return why no layout fits and what would fit; None if one fits.

    Parameters
    ----------
    machine : Machine
    need_gb : float
        Memory of a task. [GB]
    tasks : int
    threads : int or None
    kinds : tuple of NodeKind or None
        As for `layouts`.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> print(*obstacle(hopper, need_gb=2, tasks=100_000, threads=1), sep="; ")
    100,000 tasks of 2 GB need 6,667 standard nodes, at most 15 tasks per node, and Hopper has 6,000; \
at most 90,000 tasks of 2 GB, or at most 1.82 GB for each of 100,000 tasks
    >>> obstacle(hopper, need_gb=2, tasks=384) is None
    True
    """
    kinds = machine.node_kinds if kinds is None else kinds
    if layouts(machine, need_gb=need_gb, tasks=tasks, threads=threads, kinds=kinds):
        return None
    count = threads or 1
    wide = [kind for kind in kinds if count <= kind.cores]
    roomy = max(wide, key=lambda kind: kind.usable_memory_gb)
    if roomy.usable_memory_gb < need_gb:
        leave = f"{roomy.name} nodes leave {roomy.usable_memory_gb:g} GB to programs"
        pieces = -int(-need_gb // roomy.usable_memory_gb)
        if omitted := _omitted_nodes(machine):
            return Obstacle(
                f"a task of {need_gb:g} GB fits on no node in the file of {machine.title}: {leave}; the file leaves out "
                f"{omitted}",
                f"one of those, if it has as much, or at least {pieces} times as many tasks, if the memory of a task "
                f"shrinks as the tasks grow in number; a task may have {roomy.usable_memory_gb:g} GB",
            )
        return Obstacle(
            f"a task of {need_gb:g} GB fits on no node of {machine.title}: {leave}",
            f"at least {pieces} times as many tasks, if the memory of a task shrinks as the tasks grow in number; "
            f"a task may have {roomy.usable_memory_gb:g} GB",
        )
    capacity = {kind.name: most_tasks_per_node(kind, need_gb, count) for kind in wide}
    best = max(wide, key=lambda kind: kind.count * capacity[kind.name])
    per_node = capacity[best.name]
    remedy = f"at most {best.count * per_node:,} tasks of {need_gb:g} GB"
    needed = [(kind, -(-tasks // kind.count)) for kind in wide]
    shares = [kind.usable_memory_gb / on_node for kind, on_node in needed if on_node <= seats(kind, count)]
    if shares:
        # Rounded down: the suggestion must fit.
        remedy += f", or at most {int(100 * max(shares)) / 100:g} GB for each of {tasks:,} tasks"
    return Obstacle(
        f"{tasks:,} tasks of {need_gb:g} GB need {-(-tasks // per_node):,} {best.name} nodes, at most {per_node} tasks "
        f"per node, and {machine.title} has {best.count:,}",
        remedy,
    )


def _omitted_nodes(machine: Machine) -> str:
    """Return the nodes with more memory that a machine file says it leaves out; empty if it says nothing of the kind."""
    for kind in machine.node_kinds:
        fact = machine.provenance.get(f"node.{kind.name}.count")
        remark = (fact.at or "") if fact else ""
        if found := re.search(r"([\d,]+ nodes with more memory) are left out", remark):
            return found[1]
    return ""


def _fitting_threads(kind: NodeKind, tasks_per_node: int) -> int:
    """Return the largest number of threads per task such that no task is on two NUMA nodes."""
    return max(
        (threads for threads in range(1, kind.cores_per_numa_node + 1) if seats(kind, threads) >= tasks_per_node),
        default=1,
    )


def _order(layout: Layout) -> tuple[float, bool, int, int, int]:
    """Return the key by which layouts are sorted: cost first, and of equal ones the evenest."""
    cost = round(layout.cost_factor, 9)
    return cost, not layout.memory_is_local, layout.threads_per_task, layout.nodes, layout.tasks_per_node


def _check(machine: Machine, need_gb: float, tasks: int, threads: int | None, kinds: tuple[NodeKind, ...]) -> None:
    """Reject impossible requests."""
    if not 0 < need_gb < math.inf:
        raise refusal("need_gb", need_gb, "must be above 0 and finite: it is the memory of a task")
    if not kinds:
        raise refusal("kinds", kinds, "must name at least one kind of node")
    within(1, _MAX_TASKS, tasks=tasks)
    if threads is not None:
        within(1, max(kind.cores for kind in kinds), f", the cores of a node of {machine.title}", threads=threads)
