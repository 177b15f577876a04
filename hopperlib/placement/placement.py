"""Where every task and thread of a launch line runs.

Nodes that are alike share one `pattern`, so that 6,384 full nodes cost little
more than one; `NodePlacement.tasks` spells a node out task by task.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.aprun_layout import place_aprun
from hopperlib.placement.binding import Binding, Seating
from hopperlib.placement.components import Launch

__all__ = ["APRUN", "Binding", "Filling", "NodePlacement", "Placement", "Task", "place_tasks", "seat_aprun"]


class Task(NamedTuple):
    """One placed MPI task; its location is described as in `Binding`.

    Parameters
    ----------
    task : int
        Number of the task in the whole launch, from 0 (its MPI rank).
    component : int
        Which component of the line it belongs to, from 0.
    """

    task: int
    component: int
    cores: tuple[int, ...]
    cpus: tuple[int, ...]
    thread_cores: tuple[tuple[int, ...], ...]
    numa_nodes: tuple[int, ...]
    bound: bool
    gpus: tuple[int, ...] | None = ()


class NodePlacement(NamedTuple):
    """The tasks of one node.

    Parameters
    ----------
    node : int
        Number of the node in the job, from 0.
    component : int
        Component that runs on it, from 0. A node runs one component only.
    task_numbers : sequence of int
        Global numbers of its tasks.
    pattern : tuple of Binding
        Where each of them runs, in the same order. Equal nodes hold the same object.
    """

    node: int
    component: int
    task_numbers: Sequence[int]
    pattern: tuple[Binding, ...]

    def seats(self) -> Iterator[tuple[int, Binding]]:
        """Return the number of each task with where it runs."""
        return zip(self.task_numbers, self.pattern, strict=True)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The node's tasks, spelled out."""
        return tuple(Task(number, self.component, *binding) for number, binding in self.seats())


class Placement(NamedTuple):
    """Where a whole launch runs.

    Parameters
    ----------
    machine : Machine
    node_kind : NodeKind
        Kind of node it was placed on.
    launch : Launch
    nodes : tuple of NodePlacement
        In the order of the job's node list; the components one after the other.
    assumptions : tuple of str
        Assumptions if no source describes the launcher's placement.
    doubts : tuple of str
        Why the location of the tasks is unknown; the placement is then the likeliest case.
    """

    machine: Machine
    node_kind: NodeKind
    launch: Launch
    nodes: tuple[NodePlacement, ...]
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def frame_data(self) -> list[dict[str, Any]]:
        """Return a row for each task."""
        return [{"node": node.node, **task._asdict()} for node in self.nodes for task in node.tasks]

    @property
    def certainty(self) -> str:
        """``certain``, ``assumed: ...`` or ``cannot tell: ...``."""
        if self.doubts:
            return f"cannot tell: {' '.join(self.doubts)}"
        return f"assumed: {' '.join(self.assumptions)}" if self.assumptions else "certain"

    def nodes_of(self, component: int) -> tuple[NodePlacement, ...]:
        """Return the nodes of one component, counted from 0."""
        return tuple(node for node in self.nodes if node.component == component)

    def distinct_nodes(self) -> tuple[NodePlacement, ...]:
        """Return the first node of each component and pattern: enough to see every kind of node there is."""
        # Equal nodes hold the same object, so its identity is enough and thousands of nodes need no comparing.
        seen: dict[tuple[int, int], NodePlacement] = {}
        for node in self.nodes:
            seen.setdefault((node.component, id(node.pattern)), node)
        return tuple(seen.values())

    def tasks_by_numa_node(self, node: int) -> tuple[tuple[int, ...], ...]:
        """Return, for each NUMA node of a node, the numbers of the tasks that may run on it."""
        seats = tuple(self.nodes[node].seats())
        return tuple(
            tuple(number for number, binding in seats if numa_node in binding.numa_nodes)
            for numa_node in range(self.node_kind.numa_nodes)
        )


class Filling(NamedTuple):
    """How a launcher fills nodes: the part of a placement that differs from launcher to launcher.

    Parameters
    ----------
    seat : callable
        ``seat(launch, machine, node)`` yields a `Seating` for each component of the launch.
    pin : callable
        ``pin(binding, launch, node)`` returns the pinning of a task's threads within its binding.
    assumptions : callable
        ``assumptions(launch)`` returns sentences on what no source documents.
    """

    seat: Callable[[Launch, Machine, NodeKind], Iterable[Seating]]
    pin: Callable[[Binding, Launch, NodeKind], Binding] = lambda binding, launch, node: binding
    assumptions: Callable[[Launch], Sequence[str]] = lambda launch: ()


def seat_aprun(launch: Launch, machine: Machine, node: NodeKind) -> Iterator[Seating]:
    """Yield where aprun puts the tasks of each component.

    Examples
    --------
    >>> from hopperlib.placement.launch_line import read_launch_line
    >>> hopper = Machine.load("hopper")
    >>> (seating,) = seat_aprun(read_launch_line("aprun -n 48 a.out", hopper), hopper, hopper.node())
    >>> len(seating.task_numbers)
    2
    """
    for component in launch.components:
        yield place_aprun(component, node, machine, launch.threads_of(component))


APRUN = Filling(seat_aprun)


def place_tasks(launch: Launch, machine: Machine, *, kind: str | None = None, filling: Filling = APRUN) -> Placement:
    """Place every task and thread of a launch on the nodes of a machine.

    Parameters
    ----------
    launch : Launch
        From `hopperlib.placement.launch_line.read_launch_line`.
    machine : Machine
    kind : str or None
        Kind of node; the ordinary one by default.
    filling : Filling
        How the launcher fills a node: aprun's way by default. `hopperkit` passes those of other launchers.

    Returns
    -------
    Placement

    Raises
    ------
    LaunchError
        If the tasks do not fit on a node of that kind.
    ValueError
        If the machine has no such kind of node.

    Notes
    -----
    aprun fills the node, NUMA node 0 first [1]_.

    Examples
    --------
    Twelve tasks per node sit on two of Hopper's four NUMA nodes; -S 3 spreads them:

    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.launch_line import read_launch_line
    >>> hopper = Machine.load("hopper")
    >>> for line in ("aprun -n 384 -N 12 vasp", "aprun -n 384 -N 12 -S 3 vasp"):
    ...     placement = place_tasks(read_launch_line(line, hopper), hopper)
    ...     print(len(placement.nodes), [len(tasks) for tasks in placement.tasks_by_numa_node(0)])
    32 [6, 6, 0, 0]
    32 [3, 3, 3, 3]

    References
    ----------
    .. [1] K. Antypas and Y. He, "Transitioning Users from the Franklin XT4 System to the Hopper XE6 System," CUG
       Proceedings, 2011, sec. 2.
    """
    node = machine.node(kind or launch.kind)
    nodes: list[NodePlacement] = []
    # An assumption or a doubt that several programs share is reported once.
    assumptions = dict.fromkeys((*launch.assumptions, *filling.assumptions(launch)))
    doubts = dict.fromkeys(launch.doubts)
    first_task = 0
    seatings = filling.seat(launch, machine, node)
    for index, (component, seating) in enumerate(zip(launch.components, seatings, strict=True)):
        assumptions |= dict.fromkeys(seating.assumptions)
        doubts |= dict.fromkeys(seating.doubts)
        # Equal nodes hold the same object, which it must stay.
        patterns = {
            id(pattern): tuple(filling.pin(seat, launch, node) for seat in pattern) for pattern in seating.patterns
        }
        for numbers, pattern in zip(seating.task_numbers, seating.patterns, strict=True):
            moved = _moved(numbers, first_task)
            nodes.append(NodePlacement(len(nodes), index, task_numbers=moved, pattern=patterns[id(pattern)]))
        first_task += component.tasks
    return Placement(machine, node, launch, tuple(nodes), tuple(assumptions), tuple(doubts))


def _moved(numbers: Sequence[int], by: int) -> Sequence[int]:
    """Return task numbers offset by those of earlier components."""
    if isinstance(numbers, range):
        return range(numbers.start + by, numbers.stop + by, numbers.step)
    return tuple(number + by for number in numbers)
