"""Requests of an sbatch script, and those that srun finds in its environment.

References
----------
SchedMD, Slurm 23.11, sbatch man page: options, output environment variables.
"""

from collections.abc import Mapping, Sequence

from hopperkit.launchers.dialects._srun_options import node_count, read_gpus
from hopperkit.launchers.dialects.slurm import SlurmNode
from hopperkit.launchers.option_values import check_nodes, memory_gb
from hopperkit.launchers.options import Given, count_of, option_table, read_options
from hopperkit.launchers.words.shell import Word
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.components import LaunchError, Reservation

# Their results are computed, or are not passed on to srun.
_NOT_HANDED_ON = ("-n", "-N", "--exclusive")
_UNAVAILABLE = "sbatch: error: Batch job submission failed: Requested node configuration is not available"


def read_sbatch_reservation(
    words: Sequence[Word], machine: Machine, node: NodeKind
) -> tuple[Reservation, Mapping[str, str]]:
    """Return the requests in ``#SBATCH`` lines, and the variables that sbatch sets.

    Parameters
    ----------
    words : sequence of Word
        Words of all ``#SBATCH`` lines.
    machine : Machine
    node : NodeKind
        Requested kind of node.

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
    if any(word.text == "hetjob" for word in words):
        rule = "makes a job of several parts, each with separate nodes; give one part alone"
        raise LaunchError("#SBATCH hetjob", "", rule)
    site = machine.launcher("srun").site_options
    given, rest = read_options(words, "sbatch", where=f"sbatch on {machine.title}", site=site)
    if rest:
        rule = "is not an option; the value of an option must directly follow it"
        raise LaunchError(f"#SBATCH {rest[0].text}", "", rule)
    options = {option.name: option._replace(typed=f"#SBATCH {option.typed}") for option in given}
    tasks, per_node = count_of(options, "-n"), count_of(options, "--ntasks-per-node")
    cpus_per_task = count_of(options, "-c")
    slurm_node = SlurmNode.of(node, machine.launcher("srun"))
    gpus = read_gpus(options, node, machine)
    nodes = _nodes(options, tasks, per_node, cpus_per_task or 1, slurm_node)
    if "-N" not in options and gpus is not None and gpus.total and node.gpus:
        nodes = max(nodes, -(-gpus.total // node.gpus))
    check_nodes(nodes, machine, "#SBATCH -N", nodes, kind=node, verb="asks for", words=_UNAVAILABLE)
    _check_room(options, nodes, slurm_node)
    per_cpu = memory_gb("--mem-per-cpu", options["--mem-per-cpu"].value) if "--mem-per-cpu" in options else None
    reservation = Reservation(
        batch="slurm",
        nodes=nodes,
        tasks=tasks,
        tasks_per_node=per_node,
        threads_per_task=cpus_per_task,
        memory_per_task_gb=None if per_cpu is None else per_cpu * (cpus_per_task or 1),
        options=tuple((option.name, option.value) for option in given),
        gpus=gpus,
    )
    return reservation, _variables(options, reservation, slurm_node)


def _check_room(options: Mapping[str, Given], nodes: int, node: SlurmNode) -> None:
    """Reject a job with more tasks than its nodes, or their sockets, have room for."""
    width, threads = count_of(options, "-c") or 1, _threads(options, node)
    tasks, per_socket = count_of(options, "-n"), count_of(options, "--ntasks-per-socket")
    if per_socket:
        cpus = node.cores_per_socket * node.threads_per_core
        if per_socket * width > cpus:
            rule = f"times -c {width} is more than the {cpus} CPUs of a socket"
            raise options["--ntasks-per-socket"].refusal(rule, words=_UNAVAILABLE)
        if tasks and tasks > nodes * node.sockets * per_socket:
            rule = f"is more than {nodes} x {node.sockets} sockets of {per_socket} tasks"
            raise options["-n"].refusal(rule, words=_UNAVAILABLE)
    wanted = options["-n"] if tasks else options.get("--ntasks-per-node")
    if wanted is None or {"-O", "-S"} & set(options):
        return
    limit = node.job_capacity(width, threads, count_of(options, "--ntasks-per-core"))
    if (tasks or nodes * int(wanted.value)) > nodes * limit:
        rule = f"is more than {nodes} x {limit} tasks, all that fit with -c {width}"
        raise wanted.refusal(rule, words=_UNAVAILABLE)


def _threads(options: Mapping[str, Given], node: SlurmNode) -> int:
    """Return the hardware threads of a core that the job may use."""
    if "--hint" in options and options["--hint"].value != "multithread" and not _hint_ignored(options):
        return 1
    return count_of(options, "--threads-per-core") or node.threads_per_core


def _hint_ignored(options: Mapping[str, Given]) -> bool:
    """Whether another option of the job makes sbatch ignore its ``--hint``."""
    return bool({"--ntasks-per-core", "--threads-per-core"} & set(options))


def _variables(options: Mapping[str, Given], job: Reservation, node: SlurmNode) -> dict[str, str]:
    """Return the variables that sbatch sets for the steps of a job."""
    nodes, tasks = job.nodes, job.tasks
    variables = dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), str(nodes))
    variables |= dict.fromkeys(("SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"), str(node.cpus))
    if nodes > 1:
        variables["SLURM_JOB_CPUS_PER_NODE"] += f"(x{nodes})"
    if tasks is None and job.tasks_per_node is not None:
        tasks = nodes * job.tasks_per_node
    if tasks is not None:
        variables |= {"SLURM_NTASKS": str(tasks), "SLURM_NPROCS": str(tasks)}
    for option in option_table("sbatch"):
        name = option.names[0]
        if name in options and name not in _NOT_HANDED_ON:
            variables |= dict.fromkeys(option.variables, options[name].value or "1")
    if "--hint" in options:
        if _hint_ignored(options):
            del variables["SLURM_HINT"]
        elif options["--hint"].value != "multithread":
            # srun then finds both hints, and keeps the threads of a core.
            variables["SLURM_THREADS_PER_CORE"] = "1"
    return variables


def _nodes(
    options: Mapping[str, Given], tasks: int | None, per_node: int | None, cpus_per_task: int, node: SlurmNode
) -> int:
    """Return the nodes of the job: as requested, or as many as its tasks need."""
    if "-N" in options:
        return node_count(options["-N"])
    if tasks is None:
        return 1
    one_thread = "--hint" in options and "nomultithread" in options["--hint"].value
    cpus = node.cores if one_thread else node.cpus
    return -(-tasks // (per_node or max(1, cpus // cpus_per_task)))
