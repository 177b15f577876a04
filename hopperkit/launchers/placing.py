"""Where every task and thread of a launch line runs, for every launcher that can be read.

`hopperlib.placement.placement` places; this module passes it how each launcher fills a node.
"""

from collections.abc import Iterator

from hopperkit.launchers.environment import pinned_threads
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement import placement as model
from hopperlib.placement.binding import Binding, Seating
from hopperlib.placement.components import Launch, LaunchError
from hopperlib.placement.placement import APRUN, Filling, NodePlacement, Placement, Task

__all__ = ["Binding", "NodePlacement", "Placement", "Task", "place_tasks"]


def place_tasks(launch: Launch, machine: Machine, *, kind: str | None = None) -> Placement:
    """Compute where every task and thread of a launch runs.

    Parameters
    ----------
    launch : Launch
        Out of `hopperkit.launchers.reader.read_launch`.
    machine : Machine
    kind : str or None
        Kind of node; the ordinary one by default.

    Returns
    -------
    Placement

    Raises
    ------
    LaunchError
        If the tasks do not fit on a node of that kind, or on the script's reservation.
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
    >>> from hopperkit.launchers.reader import read_launch
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
        return model.place_tasks(launch, machine, kind=node.name, filling=FILLING)
    except LaunchError as error:
        from hopperkit.launchers.filling.srun_layout import with_all_cores

        widened = with_all_cores(launch, node)
        if widened is None:
            raise
        try:
            return model.place_tasks(widened, machine, kind=node.name, filling=FILLING)
        except LaunchError:
            raise error from None


def _seat(launch: Launch, machine: Machine, node: NodeKind) -> Iterator[Seating]:
    """Yield where the launcher puts the tasks of each component; only the modules of that launcher are loaded."""
    if launch.launcher == "aprun":
        from hopperkit.launchers.filling.aprun_claim import check_claims

        check_claims(launch, machine, node)
        yield from APRUN.seat(launch, machine, node)
    elif launch.launcher == "srun":
        from hopperkit.launchers.filling.srun_layout import check_claim, place_srun

        nodes = 0
        for component in launch.components:
            seating = place_srun(component, node, machine, launch.threads_of(component), launch.before)
            nodes += len(seating.task_numbers)
            check_claim(component, nodes, launch)
            yield seating
    else:
        from hopperkit.launchers.filling.mpiexec_layout import place_mpiexec

        for component in launch.components:
            yield place_mpiexec(component, node, machine, launch.threads_of(component))


def _not_followed(launch: Launch) -> list[str]:
    """Return assumptions about variables that are not modeled."""
    assumed = []
    method = launch.environment.get("MPICH_RANK_REORDER_METHOD", "1")
    if method != "1" and launch.launcher in ("aprun", "srun", "pals"):
        variable = f"MPICH_RANK_REORDER_METHOD={method}"
        assumed.append(f"Tasks have the launcher's numbers; {variable} gives the ranks of Cray MPICH others.")
    places = launch.environment.get("OMP_PLACES", "")
    if places.startswith("{"):
        assumed.append(f"OMP_PLACES={places} is not followed: the threads of a task are shown on all of its CPUs.")
    return assumed


def _pin(seat: Binding, launch: Launch, node: NodeKind) -> Binding:
    """Return a task's binding with its threads where OpenMP's variables put them; aprun binds threads itself."""
    return seat if launch.launcher == "aprun" else pinned_threads(seat, launch.environment, node)


FILLING = Filling(_seat, _pin, _not_followed)
