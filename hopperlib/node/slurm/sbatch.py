"""What an sbatch script asks for, and what of it srun finds in its environment.

References
----------
SchedMD, Slurm 23.11, sbatch man page: options, output environment variables.
"""

from collections.abc import Mapping, Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, Reservation, remark
from hopperlib.node.launch.option_values import check_nodes, memory_gb
from hopperlib.node.launch.options import Given, count_of, option_table, read_options
from hopperlib.node.launch.shell import Word
from hopperlib.node.slurm._cpus import SlurmNode
from hopperlib.node.slurm._options import node_count, read_gpus

# What these become is worked out, or is not handed on to srun.
_NOT_HANDED_ON = ("-n", "-N", "--exclusive")
_UNAVAILABLE = "sbatch: error: Batch job submission failed: Requested node configuration is not available"


def read_sbatch_reservation(
    words: Sequence[Word], machine: Machine, node: NodeKind
) -> tuple[Reservation, Mapping[str, str]]:
    """Return what ``#SBATCH`` lines ask for, and the variables that sbatch sets.

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
    >>> reservation, variables = read_sbatch_reservation(words, perlmutter, perlmutter.node())
    >>> reservation.nodes, variables["SLURM_NTASKS"], variables["SLURM_CPUS_PER_TASK"]
    (2, '16', '16')
    """
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.text == "hetjob":
            parts.append([])
        else:
            parts[-1].append(word)
    read = [_read_group(part, machine, node) for part in parts]
    if len(read) == 1:
        return read[0]
    whole = Reservation("slurm", sum(group.nodes for group, _ in read), groups=tuple(read))
    return whole, {"SLURM_JOB_NUM_NODES": str(whole.nodes)}


def _read_group(words: Sequence[Word], machine: Machine, node: NodeKind) -> tuple[Reservation, Mapping[str, str]]:
    """Return the same for one group of a job; most jobs are one."""
    given, rest = read_options(words, "sbatch", where=f"sbatch on {machine.title}")
    if rest:
        raise LaunchError(f"#SBATCH {rest[0].text}", "", remark("no-option"))
    options = {option.name: option._replace(typed=f"#SBATCH {option.typed}") for option in given}
    tasks, per_node = count_of(options, "-n"), count_of(options, "--ntasks-per-node")
    cpus_per_task = count_of(options, "-c")
    slurm_node = SlurmNode.of(node, machine.launcher("srun"))
    gpus = read_gpus(options, node, machine)
    nodes = _nodes(options, tasks, per_node, cpus_per_task or 1, slurm_node)
    if "-N" not in options and gpus is not None and gpus.total and node.gpus:
        nodes = max(nodes, -(-gpus.total // node.gpus))
    check_nodes(nodes, machine, "#SBATCH -N", nodes, kind=node, verb="asks for", words=_UNAVAILABLE)
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
    variables = dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), str(nodes))
    variables |= dict.fromkeys(("SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"), str(slurm_node.cpus))
    if nodes > 1:
        variables["SLURM_JOB_CPUS_PER_NODE"] += f"(x{nodes})"
    if tasks is None and per_node is not None:
        tasks = nodes * per_node
    if tasks is not None:
        variables |= {"SLURM_NTASKS": str(tasks), "SLURM_NPROCS": str(tasks)}
    for option in option_table("sbatch"):
        name = option.names[0]
        if name in options and name not in _NOT_HANDED_ON:
            variables |= dict.fromkeys(option.variables, options[name].value or "1")
    return reservation, variables


def _nodes(
    options: Mapping[str, Given], tasks: int | None, per_node: int | None, cpus_per_task: int, node: SlurmNode
) -> int:
    """Return the nodes of the job: as asked for, or as many as its tasks need."""
    if "-N" in options:
        return node_count(options["-N"])
    if tasks is None:
        return 1
    one_thread = "--hint" in options and "nomultithread" in options["--hint"].value
    cpus = node.cores if one_thread else node.cpus
    return -(-tasks // (per_node or max(1, cpus // cpus_per_task)))
