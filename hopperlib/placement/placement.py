"""Where every task and thread of a launch line runs.

Nodes that are alike share one `pattern`, so that 6,384 full nodes cost little
more than one; `NodePlacement.tasks` spells a node out task by task.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hopperlib.frames import to_frame
from hopperlib.launchers.components import Launch, LaunchError
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.binding import Binding, Seating
from hopperlib.placement.environment import pinned_threads

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
        Out of `hopperlib.launchers.reader.read_launch`.
    machine : Machine
    kind : str or None
        Kind of node; the ordinary one by default.

    Returns
    -------
    Placement

    Raises
    ------
    LaunchError
        If the tasks do not fit on a node of that kind, or on what the script around the line reserves.
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
    >>> from hopperlib.launchers.reader import read_launch
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
    try:
        return _place_launch(launch, machine, node)
    except LaunchError as error:
        from hopperlib.placement.filling.srun_layout import with_all_cores

        widened = with_all_cores(launch, node)
        if widened is None:
            raise
        try:
            return _place_launch(widened, machine, node)
        except LaunchError:
            raise error from None


def _place_launch(launch: Launch, machine: Machine, node: NodeKind) -> Placement:
    """Return where a launch runs with the cores of the system as it says."""
    nodes: list[NodePlacement] = []
    # An assumption or a doubt that several programs share is said once.
    assumptions, doubts = dict.fromkeys((*launch.assumptions, *_not_followed(launch))), dict.fromkeys(launch.doubts)
    first_task = 0
    for index, (component, seating) in enumerate(zip(launch.components, _seat(launch, machine, node), strict=True)):
        assumptions |= dict.fromkeys(seating.assumptions)
        doubts |= dict.fromkeys(seating.doubts)
        # Equal nodes hold the same object, which it must stay.
        patterns = {id(pattern): _pin(pattern, launch, node) for pattern in seating.patterns}
        for numbers, own in zip(seating.task_numbers, seating.patterns, strict=True):
            moved = _moved(numbers, first_task)
            nodes.append(NodePlacement(len(nodes), index, task_numbers=moved, pattern=patterns[id(own)]))
        first_task += component.tasks
    return Placement(machine, node, launch, tuple(nodes), tuple(assumptions), tuple(doubts))


def _seat(launch: Launch, machine: Machine, node: NodeKind) -> Iterator[Seating]:
    """Yield where the launcher puts the tasks of each component; only the modules of that launcher are loaded."""
    if launch.launcher == "aprun":
        from hopperlib.placement.filling.aprun_claim import check_claims
        from hopperlib.placement.filling.aprun_layout import place_aprun

        check_claims(launch, machine, node)
        for component in launch.components:
            yield place_aprun(component, node, machine, launch.threads_of(component))
    elif launch.launcher == "srun":
        from hopperlib.placement.filling.srun_layout import check_claim, place_srun

        nodes = 0
        for component in launch.components:
            seating = place_srun(component, node, machine, launch.threads_of(component), launch.before)
            nodes += len(seating.task_numbers)
            check_claim(component, nodes, launch)
            yield seating
    else:
        from hopperlib.placement.filling.mpiexec_layout import place_mpiexec

        for component in launch.components:
            yield place_mpiexec(component, node, machine, launch.threads_of(component))


def _not_followed(launch: Launch) -> list[str]:
    """Return what is assumed because of variables that are not followed."""
    assumed = []
    method = launch.environment.get("MPICH_RANK_REORDER_METHOD", "1")
    if method != "1" and launch.launcher in ("aprun", "srun", "pals"):
        variable = f"MPICH_RANK_REORDER_METHOD={method}"
        assumed.append(f"Tasks have the launcher's numbers; {variable} gives the ranks of Cray MPICH others.")
    places = launch.environment.get("OMP_PLACES", "")
    if places.startswith("{"):
        assumed.append(f"OMP_PLACES={places} is not followed: the threads of a task are shown on all of its CPUs.")
    return assumed


def _pin(pattern: tuple[Binding, ...], launch: Launch, node: NodeKind) -> tuple[Binding, ...]:
    """Return a pattern with its threads where OpenMP's variables put them; aprun binds threads itself."""
    if launch.launcher == "aprun":
        return pattern
    return tuple(pinned_threads(seat, launch.environment, node) for seat in pattern)


def _moved(numbers: Sequence[int], by: int) -> Sequence[int]:
    """Return task numbers counted on from those of the components before."""
    if isinstance(numbers, range):
        return range(numbers.start + by, numbers.stop + by, numbers.step)
    return tuple(number + by for number in numbers)
