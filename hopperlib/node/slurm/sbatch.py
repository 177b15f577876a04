"""What an sbatch script asks for, and what of it srun finds in its environment.

References
----------
SchedMD, Slurm 23.11, sbatch man page: options, output environment variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, Reservation
from hopperlib.node.launch.option_values import memory_gb, whole_number
from hopperlib.node.launch.options import Given, read_getopt_options
from hopperlib.node.launch.shell_words import Word
from hopperlib.node.slurm.cpus import SlurmNode
from hopperlib.node.slurm.options import SBATCH_OPTIONS

__all__ = ["read_sbatch_reservation"]

# Options of sbatch that it hands on to srun, and the variables it uses for that.
_HANDED_ON = (
    ("--ntasks-per-node", "SLURM_NTASKS_PER_NODE"),
    ("--ntasks-per-core", "SLURM_NTASKS_PER_CORE"),
    ("-c", "SLURM_CPUS_PER_TASK"),
    ("-m", "SLURM_DISTRIBUTION"),
    ("--hint", "SLURM_HINT"),
    ("--threads-per-core", "SLURM_THREADS_PER_CORE"),
    ("--mem-bind", "SLURM_MEM_BIND"),
    ("--mem", "SLURM_MEM_PER_NODE"),
    ("--mem-per-cpu", "SLURM_MEM_PER_CPU"),
    ("-O", "SLURM_OVERCOMMIT"),
)


def read_sbatch_reservation(
    words: Sequence[Word], machine: Machine, node: NodeKind
) -> tuple[Reservation, Mapping[str, str], tuple[str, ...]]:
    """Return what ``#SBATCH`` lines ask for, the variables sbatch sets, and notes.

    Parameters
    ----------
    words : sequence of Word
        Words of all ``#SBATCH`` lines.
    machine : Machine
    node : NodeKind
        Kind of node that is asked for.

    Raises
    ------
    LaunchError
        For an option that sbatch does not have, or a value that it would refuse.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> perlmutter = Machine.load("perlmutter")
    >>> words = [Word(text=text) for text in ("-N", "2", "--ntasks-per-node=8", "-c16")]
    >>> reservation, variables, notes = read_sbatch_reservation(words, perlmutter, perlmutter.node())
    >>> reservation.nodes, variables["SLURM_NTASKS"], variables["SLURM_CPUS_PER_TASK"]
    (2, '16', '16')
    """
    for word in words:
        if word.text == "hetjob":
            raise LaunchError(flag="#SBATCH hetjob", value="", rule="starts a heterogeneous job; those are not read")
    where = f"sbatch on {machine.title}"
    given, rest = read_getopt_options(words, SBATCH_OPTIONS, None, where=where)
    if rest:
        rule = "is no option; an option with a value needs the value right behind it"
        raise LaunchError(flag=f"#SBATCH {rest[0].text}", value="", rule=rule)
    options = {option.name: option for option in given}
    tasks = _count("-n", options)
    per_node = _count("--ntasks-per-node", options)
    cpus_per_task = _count("-c", options)
    slurm_node = SlurmNode.of(node, machine.launcher("srun"))
    nodes = _nodes(options, tasks, per_node, cpus_per_task or 1, slurm_node)
    if nodes > machine.nodes:
        rule = f"asks for {nodes:,} nodes; {machine.title} has {machine.nodes:,}"
        words_of_slurm = "sbatch: error: Batch job submission failed: Requested node configuration is not available"
        raise LaunchError(flag="#SBATCH -N", value=str(nodes), rule=rule, words=words_of_slurm)
    per_cpu = memory_gb("--mem-per-cpu", options["--mem-per-cpu"].value) if "--mem-per-cpu" in options else None
    reservation = Reservation(
        batch="slurm",
        nodes=nodes,
        tasks=tasks,
        tasks_per_node=per_node,
        threads_per_task=cpus_per_task,
        memory_per_task_gb=None if per_cpu is None else per_cpu * (cpus_per_task or 1),
        options=tuple((option.name, option.value) for option in given),
    )
    variables = _variables(options, nodes, tasks, per_node, slurm_node)
    return reservation, variables, ()


def _count(name: str, options: Mapping[str, Given]) -> int | None:
    """Return the value of an option that counts."""
    option = options.get(name)
    return None if option is None else whole_number(f"#SBATCH {option.typed}", option.value)


def _nodes(
    options: Mapping[str, Given], tasks: int | None, per_node: int | None, cpus_per_task: int, node: SlurmNode
) -> int:
    """Return the nodes of the job: as asked for, or as many as its tasks need."""
    option = options.get("-N")
    if option is not None:
        low, dash, high = option.value.partition("-")
        if dash and low != high:
            rule = "leaves the number of nodes to the scheduler; write one number"
            raise LaunchError(flag=f"#SBATCH {option.typed}", value=option.value, rule=rule)
        return whole_number(f"#SBATCH {option.typed}", low)
    if tasks is None:
        return 1
    one_thread = options.get("--hint") is not None and "nomultithread" in options["--hint"].value
    cpus = node.cores if one_thread else node.cpus
    return -(-tasks // (per_node or max(1, cpus // cpus_per_task)))


def _variables(
    options: Mapping[str, Given], nodes: int, tasks: int | None, per_node: int | None, node: SlurmNode
) -> dict[str, str]:
    """Return the variables that sbatch sets in the script."""
    variables = {
        "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_NNODES": str(nodes),
        "SLURM_CPUS_ON_NODE": str(node.cpus),
        "SLURM_JOB_CPUS_PER_NODE": str(node.cpus) if nodes == 1 else f"{node.cpus}(x{nodes})",
    }
    if tasks is None and per_node is not None:
        tasks = nodes * per_node
    if tasks is not None:
        variables |= {"SLURM_NTASKS": str(tasks), "SLURM_NPROCS": str(tasks)}
    for name, variable in _HANDED_ON:
        if name in options:
            variables[variable] = options[name].value or "1"
    return variables
