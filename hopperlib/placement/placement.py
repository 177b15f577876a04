"""Placement of every task and thread of a launch line. Equal nodes share one `pattern`, so 6,384 full nodes cost little
more than one; `NodePlacement.tasks` lists the tasks of a node one by one.
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
        Component of the line to which it belongs, from 0.
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
        Binding of each task, in the same order. Equal nodes share the same object.
    """

    node: int
    component: int
    task_numbers: Sequence[int]
    pattern: tuple[Binding, ...]

    def seats(self) -> Iterator[tuple[int, Binding]]:
        """Return the number of each task with its binding."""
        return zip(self.task_numbers, self.pattern, strict=True)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The node's tasks, one by one."""
        return tuple(Task(number, self.component, *binding) for number, binding in self.seats())


class Placement(NamedTuple):
    """Placement of a whole launch.

    Parameters
    ----------
    machine : Machine
    node_kind : NodeKind
        Kind of node on which it was placed.
    launch : Launch
    nodes : tuple of NodePlacement
        Nodes in the order of the job's node list, one component after another.
    assumptions : tuple of str
        Assumptions if no source describes the launcher's placement.
    doubts : tuple of str
        Reasons why the location of the tasks is unknown; the placement is then the likeliest case.
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
        """Return the nodes of one component, counted from 0.

        Parameters
        ----------
        component : int
            Number of the component, from 0.
        """
        return tuple(node for node in self.nodes if node.component == component)

    def distinct_nodes(self) -> tuple[NodePlacement, ...]:
        """Return the first node of each component and pattern: enough to see every kind of node there is."""
        # Equal nodes share the same object, so its identity suffices and thousands of nodes need no comparison.
        seen: dict[tuple[int, int], NodePlacement] = {}
        for node in self.nodes:
            seen.setdefault((node.component, id(node.pattern)), node)
        return tuple(seen.values())

    def tasks_by_numa_node(self, node: int) -> tuple[tuple[int, ...], ...]:
        """Return, for each NUMA node of a node, the numbers of the tasks that may run on it.

        Parameters
        ----------
        node : int
            One of the nodes of the placement.
        """
        seats = tuple(self.nodes[node].seats())
        return tuple(
            tuple(number for number, binding in seats if numa_node in binding.numa_nodes)
            for numa_node in range(self.node_kind.numa_nodes)
        )


class Filling(NamedTuple):
    """A launcher's way of filling nodes: the part of a placement that depends on the launcher.

    Parameters
    ----------
    seat : callable
        ``seat(launch, machine, node)`` yields a `Seating` for each component of the launch.
    pin : callable
        ``pin(binding, launch, node)`` returns the pinning of a task's threads within its binding.
    assumptions : callable
        ``assumptions(launch)`` returns sentences about undocumented behavior.
    """

    seat: Callable[[Launch, Machine, NodeKind], Iterable[Seating]]
    pin: Callable[[Binding, Launch, NodeKind], Binding] = lambda binding, launch, node: binding
    assumptions: Callable[[Launch], Sequence[str]] = lambda launch: ()


def seat_aprun(launch: Launch, machine: Machine, node: NodeKind) -> Iterator[Seating]:
    """Yield aprun's placement of each component's tasks.

    Parameters
    ----------
    launch : Launch
        The parsed launch line.
    machine : Machine
        The machine.
    node : NodeKind
        Kind of node.

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
        Launch line from `hopperlib.placement.launch_line.read_launch_line`.
    machine : Machine
    kind : str or None
        Kind of node; the default kind if None.
    filling : Filling
        The launcher's way of filling a node; aprun's by default. `hopperkit` passes those of other launchers.

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
    Twelve tasks per node are on two of Hopper's four NUMA nodes; -S 3 spreads them:

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
    # An assumption or a doubt shared by several programs is reported once.
    assumptions = dict.fromkeys((*launch.assumptions, *filling.assumptions(launch)))
    doubts = dict.fromkeys(launch.doubts)
    first_task = 0
    seatings = filling.seat(launch, machine, node)
    for index, (component, seating) in enumerate(zip(launch.components, seatings, strict=True)):
        assumptions |= dict.fromkeys(seating.assumptions)
        doubts |= dict.fromkeys(seating.doubts)
        # Equal nodes must keep sharing the same object.
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
