"""Launch commands for one task per node and for all tasks of a job, with a machine's launcher."""

from typing import NamedTuple

from hopperlib.machine import Machine

# The options for the number of tasks, and for tasks per node.
_WORDS = {
    "srun": "srun --ntasks={tasks} --ntasks-per-node={each}",
    "aprun": "aprun -n {tasks} -N {each}",
    "pals": "mpiexec -n {tasks} --ppn {each}",
    "openmpi": "mpirun -n {tasks} --map-by ppr:{each}:node",
    "mpich": "mpiexec -n {tasks} -ppn {each}",
    "intelmpi": "mpiexec -n {tasks} -ppn {each}",
    "flux": "flux run -n {tasks} --tasks-per-node={each}",
}


class NodeLines(NamedTuple):
    """Commands to put before a command.

    Parameters
    ----------
    once : str
        To run it once on each node.
    everywhere : str
        To run it as all tasks of the job.
    broadcasts : bool
        Whether the launcher can copy a file to the nodes (``sbcast``).
    """

    once: str
    everywhere: str
    broadcasts: bool


def node_lines(machine: Machine, *, nodes: int, tasks: int) -> NodeLines | None:
    """Return these commands for the machine's first launcher.

    None if the machine file names no launcher, or one whose tasks per node are those of the job (ibrun), or its nodes
    have too few cores for the tasks.

    Parameters
    ----------
    machine : Machine
        Machine with a launcher.
    nodes : int
        Nodes of the job.
    tasks : int
        Tasks of the job.

    Examples
    --------
    >>> node_lines(Machine.load("aurora"), nodes=2, tasks=24).once, node_lines(Machine.load("hopper"), nodes=2, tasks=24).everywhere
    ('mpiexec -n 2 --ppn 1', 'aprun -n 24 -N 12')
    """
    kind = next((launcher.kind for launcher in machine.launchers if launcher.assumed is None), None)
    on_node = -(-tasks // nodes)
    if kind not in _WORDS or on_node > machine.node().hardware_threads:
        return None
    once, everywhere = (_WORDS[kind].format(tasks=number, each=each) for number, each in ((nodes, 1), (tasks, on_node)))
    return NodeLines(once, everywhere, kind == "srun")
