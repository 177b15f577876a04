"""Where every task and thread of a launch line runs.

Nodes that are alike share one `pattern`, so that 6,384 full nodes cost little
more than one; `NodePlacement.tasks` spells a node out task by task.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hopperlib.frames import to_frame
from hopperlib.machine import Machine, NodeKind
from hopperlib.node.binding import Binding, Seating
from hopperlib.node.environment import pinned_threads, reordered
from hopperlib.node.launch.components import Component, Launch, remark

__all__ = ["Binding", "NodePlacement", "Placement", "Task", "place_tasks"]


class Task(NamedTuple):
    """One MPI task, placed: where it runs is said as in `Binding`.

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
        What is assumed where no source says how the launcher places.
    doubts : tuple of str
        Why it cannot be told where the tasks run; what the placement shows is then the likeliest case.
    """

    machine: Machine
    node_kind: NodeKind
    launch: Launch
    nodes: tuple[NodePlacement, ...]
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each task."""
        return to_frame({"node": node.node, **task._asdict()} for node in self.nodes for task in node.tasks)

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


def place_tasks(launch: Launch, machine: Machine, *, kind: str | None = None) -> Placement:
    """Return where every task and thread of a launch runs.

    Parameters
    ----------
    launch : Launch
        Out of `hopperlib.node.launch.reader.read_launch`.
    machine : Machine
    kind : str or None
        Kind of node; the ordinary one by default.

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
    aprun fills the node, NUMA node 0 first [1]_; srun follows Slurm's task
    distribution and its task/affinity plugin [2]_.

    Examples
    --------
    Twelve tasks a node sit on two of Hopper's four NUMA nodes; -S 3 spreads them:

    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> hopper = Machine.load("hopper")
    >>> for line in ("aprun -n 384 -N 12 vasp", "aprun -n 384 -N 12 -S 3 vasp"):
    ...     placement = place_tasks(read_launch(line, hopper), hopper)
    ...     print(len(placement.nodes), [len(tasks) for tasks in placement.tasks_by_numa_node(0)])
    32 [6, 6, 0, 0]
    32 [3, 3, 3, 3]

    References
    ----------
    .. [1] K. Antypas and Y. He, "Transitioning Users from the Franklin XT4 System to the Hopper XE6 System," CUG
       Proceedings, 2011, sec. 2.
    .. [2] SchedMD, Slurm 23.11, srun man page and ``src/plugins/task/affinity/dist_tasks.c``.
    """
    node = machine.node(kind or launch.kind)
    nodes: list[NodePlacement] = []
    assumptions, doubts = dict.fromkeys(launch.assumptions), dict.fromkeys(launch.doubts)
    first_task = 0
    for index, component in enumerate(launch.components):
        placed = _placed(component, node, machine, launch)
        order = placed.task_numbers
        if launch.launcher in ("aprun", "srun", "pals") and len(launch.components) == 1:
            method = launch.environment.get("MPICH_RANK_REORDER_METHOD")
            in_blocks = (component.distribution or ("block",))[0] == "block"
            order, said, doubt = reordered(method, order, in_blocks=in_blocks)
            assumptions |= {said: None} if said else {}
            doubts |= {doubt: None} if doubt else {}
        # Equal nodes hold the same object, which it must stay.
        patterns = {id(pattern): pattern for pattern in placed.patterns}
        places = launch.environment.get("OMP_PLACES", "")
        assumptions |= {remark("places-listed", places=places): None} if places.startswith("{") else {}
        if launch.launcher != "aprun":
            patterns = {
                key: tuple(pinned_threads(seat, launch.environment, node) for seat in pattern)
                for key, pattern in patterns.items()
            }
        for numbers, own in zip(order, placed.patterns, strict=True):
            pattern = patterns[id(own)]
            moved = _moved(numbers, first_task)
            nodes.append(NodePlacement(node=len(nodes), component=index, task_numbers=moved, pattern=pattern))
        assumptions |= dict.fromkeys(placed.assumptions)
        doubts |= dict.fromkeys(placed.doubts)
        first_task += component.tasks
    return Placement(machine, node, launch, tuple(nodes), tuple(assumptions), tuple(doubts))


def _placed(component: Component, node: NodeKind, machine: Machine, launch: Launch) -> Seating:
    """Return where the launcher puts the tasks of a component; only the modules of that launcher are loaded."""
    threads = launch.threads_of(component)
    if launch.launcher == "aprun":
        from hopperlib.node.aprun.layout import place_aprun

        return place_aprun(component, node, machine, threads)
    if launch.launcher == "srun":
        from hopperlib.node.slurm.layout import place_srun

        return place_srun(component, node, machine, threads, launch.before)
    from hopperlib.node.mpiexec.layout import place_mpiexec

    return place_mpiexec(component, node, machine, threads)


def _moved(numbers: Sequence[int], by: int) -> Sequence[int]:
    """Return task numbers counted on from those of the components before."""
    if isinstance(numbers, range):
        return range(numbers.start + by, numbers.stop + by, numbers.step)
    return tuple(number + by for number in numbers)
