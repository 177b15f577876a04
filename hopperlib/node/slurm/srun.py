"""srun lines: the options of Slurm's launcher read into components.

Options come from the line and, behind it, from the environment, as srun takes
them; an sbatch script speaks to srun through the environment alone. What
changed between releases [1]_ [2]_:

===========  ==================================================================
before       -c of the job reaches srun (SLURM_CPUS_PER_TASK); a step gets all
22.05        CPUs of its nodes unless --exact
22.05,       -c of the job does not reach srun, unless SRUN_CPUS_PER_TASK is
23.02        set; -c implies --exact
from 23.11   -c of the job reaches srun again; -c implies --exact
===========  ==================================================================

References
----------
.. [1] SchedMD, Slurm 22.05 and 23.11, release notes and srun man pages.
.. [2] SchedMD, Slurm 23.11, ``src/srun/opt.c`` and ``src/srun/launch.c``: how options from both sides are put
   together; ``src/srun/srun_job.c`` and ``src/common/slurm_errno.c``: a step with more nodes than its job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.node.launch.components import Component, LaunchError, Reservation
from hopperlib.node.launch.option_values import assigned, host_count, memory_gb
from hopperlib.node.launch.options import Given, count_of, option_table, programs, read_getopt_options
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Unknown, Variables, Word
from hopperlib.node.slurm._cpus import SlurmNode
from hopperlib.node.slurm._options import (
    bind_options,
    node_count,
    read_cpu_bind,
    read_distribution,
    read_hint,
    slurm_release,
)
from hopperlib.node.slurm.layout import check_srun

__all__ = ["read_srun"]


def read_srun(
    invocation: Invocation, machine: Machine, node: NodeKind, reservation: Reservation | None
) -> tuple[tuple[Component, ...], dict[str, str], list[str]]:
    """Return the components of an srun line, variables it sets with ``--export``, and notes.

    Parameters
    ----------
    invocation : Invocation
        The line.
    machine : Machine
    node : NodeKind
        Kind of node it is to run on.
    reservation : Reservation or None
        What the sbatch script around it asks for.

    Raises
    ------
    LaunchError
        If srun would refuse the line, or it asks for what is not modeled.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.scripts import find_invocations
    >>> perlmutter = Machine.load("perlmutter")
    >>> (invocation,) = find_invocations("srun -N 2 --ntasks-per-node=8 -c 16 --cpu-bind=cores ./a.out", {})
    >>> (component,), _, _ = read_srun(invocation, perlmutter, perlmutter.node(), None)
    >>> component.tasks, component.threads_per_task, component.exact
    (16, 16, True)
    """
    launcher = machine.launcher("srun")
    parts = programs(invocation.words)
    if len(parts) > 1 and reservation is not None:
        rule = "parts a heterogeneous step, which needs a heterogeneous job; such sbatch scripts are not read"
        raise LaunchError(":", "", rule)
    table = option_table("srun")
    # The machine file lists the options that bear on the placement; the others are known to any srun.
    known = (*launcher.options, *(name for option in table if not option.bears for name in option.names))
    notes: list[str] = []
    components: list[Component] = []
    exported: dict[str, str] = {}
    for words in parts:
        given, command = read_getopt_options(words, table, known, where=f"srun on {machine.title}")
        if len(parts) > 1 and not command:
            raise LaunchError(":", "", "parts two programs; one side of it names none")
        options = _with_environment(given, invocation.environment, launcher, notes)
        component = _component(options, command, machine, node, notes)
        _check_claim(component, check_srun(component, node, machine), reservation)
        components.append(component)
        exported |= assigned(options["--export"].value.split(",") if "--export" in options else ())
    names = {name for component in components for name, _ in component.options}
    if any(name.startswith("--gpu") or name in ("-G", "--gres") for name in names):
        notes.append("GPUs are not modeled; Slurm may pick cores near the GPUs of a task.")
    if len(parts) > 1:
        notes.append("Each program of a heterogeneous job runs on nodes of its own.")
    return tuple(components), exported, notes


def _check_claim(component: Component, nodes: int, reservation: Reservation | None) -> None:
    """Refuse a step with more nodes than its job has, in srun's words [2]_."""
    if reservation is None or nodes <= reservation.nodes:
        return
    words = f"srun: error: Only allocated {reservation.nodes} nodes asked for {nodes}"
    if component.given("-N") is not None:
        rule = f"is more than the {reservation.nodes} nodes of the job"
        raise LaunchError("-N", str(component.nodes), rule, words=words)
    rule = f"needs {nodes} nodes and the job has {reservation.nodes}"
    raise LaunchError("-n", component.tasks, rule, words=words)


def _with_environment(
    given: Sequence[Given], environment: Variables, launcher: Launcher, notes: list[str]
) -> dict[str, Given]:
    """Return the options that hold: those of the line, else those that srun takes from the environment."""
    options = {option.name: option for option in given}
    release = slurm_release(launcher)
    inherited, other = "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK"
    if (22, 5) <= release < (23, 11):
        inherited, other = other, inherited
    for option in option_table("srun"):
        name = option.names[0]
        for variable in (inherited,) if name == "-c" else option.variables:
            value = environment.get(variable)
            if name in options or value is None:
                continue
            if isinstance(value, Unknown):
                raise LaunchError(variable, "", value.reason)
            options[name] = Given(name, variable, value)
    if "-c" not in options and isinstance(environment.get(other), str):
        notes.append(
            f"{other}={environment[other]} is not read by srun of Slurm {launcher.version}: each task gets one CPU; "
            "write -c on the srun line" + (f" or export {inherited}." if inherited.startswith("SRUN") else ".")
        )
    bind_options(options, release, notes)
    return options


def _component(
    options: Mapping[str, Given], command: Sequence[Word], machine: Machine, node: NodeKind, notes: list[str]
) -> Component:
    """Return one component, options checked and srun's defaults worked out."""
    launcher = machine.launcher("srun")
    slurm_node = SlurmNode.of(node, launcher)
    release = slurm_release(launcher)
    if not command:
        notes.append("The line names no program.")
    hint = read_hint(options.get("--hint"))
    bound = f"the hardware threads of a core of {machine.title}"
    threads_per_core = count_of(options, "--threads-per-core", high=node.threads_per_core, bound=bound)
    threads_per_core = threads_per_core or hint.threads_per_core
    cpus_per_task = count_of(options, "-c") or 1
    tasks_per_core = count_of(options, "--ntasks-per-core")
    if tasks_per_core and threads_per_core and tasks_per_core > threads_per_core:
        rule = f"cannot be more than --threads-per-core={threads_per_core}"
        raise LaunchError("--ntasks-per-core", tasks_per_core, rule)
    bound = f"what a node of {machine.title} has as Slurm counts sockets"
    count_of(options, "--sockets-per-node", high=slurm_node.sockets, bound=bound)
    count_of(options, "--cores-per-socket", high=slurm_node.cores_per_socket, bound=bound)
    _check_pairs(options)
    per_cpu = _memory("--mem-per-cpu", options)
    distribution = read_distribution(options.get("-m"), launcher, slurm_node, threads_per_core, release)
    if distribution.note:
        notes.append(distribution.note)
    binding = read_cpu_bind(options, hint, release)
    tasks, nodes, tasks_per_node = _counts(options, slurm_node, cpus_per_task, threads_per_core, notes)
    exclusive = "--exclusive" in options and options["--exclusive"].value in ("", "exclusive")
    return Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        tasks=tasks,
        threads_per_task=cpus_per_task,
        nodes=nodes,
        tasks_per_node=tasks_per_node,
        tasks_per_socket=count_of(options, "--ntasks-per-socket"),
        tasks_per_core=tasks_per_core,
        strict_memory="--mem-bind" in options and "local" in options["--mem-bind"].value.lower().split(","),
        cpu_binding=binding.keyword,
        binding_list=binding.entries,
        memory_per_task_gb=None if per_cpu is None else per_cpu * cpus_per_task,
        memory_per_node_gb=_memory_per_node(options, node, machine),
        distribution=distribution.methods,
        plane_size=distribution.plane_size,
        pack_nodes=distribution.pack_nodes,
        overcommit="-O" in options,
        cores_per_socket=hint.cores_per_socket,
        threads_per_core=threads_per_core,
        exact=exclusive or "--exact" in options or ("-c" in options and "-O" not in options and release >= (22, 5)),
        node_list=options["-w"].value if "-w" in options else None,
        options=tuple((option.name, option.value) for option in options.values()),
        idle_options=tuple(option.name for option in options.values() if not option.bears),
    )


def _counts(
    options: Mapping[str, Given], node: SlurmNode, cpus_per_task: int, threads_per_core: int | None, notes: list[str]
) -> tuple[int, int | None, int | None]:
    """Return tasks, nodes and tasks a node as srun settles them among each other."""
    tasks, per_node = count_of(options, "-n"), count_of(options, "--ntasks-per-node")
    nodes_option = options.get("-N")
    if nodes_option is not None:
        nodes: int | None = node_count(nodes_option)
    else:
        nodes = host_count(options["-w"].value) if "-w" in options else None
    if tasks is not None and nodes is not None and tasks < nodes:
        notes.append(f"srun: warning: can't run {tasks} processes on {nodes} nodes, setting nnodes to {tasks}")
        nodes = tasks
    if tasks is not None and nodes is not None and per_node is not None:
        # Nodes and tasks a node of the line go before the job's number of tasks; else the number of tasks holds.
        if options["-n"].inherited and not (nodes_option is not None and nodes_option.inherited):
            tasks = None
        elif per_node != tasks // nodes:
            if tasks > per_node:
                spread = f"{tasks} tasks on {nodes} nodes are {tasks / nodes:.4g} a node"
                notes.append(f"srun ignores --ntasks-per-node={per_node}: {spread}.")
            per_node = None
    if tasks is None and per_node is not None:
        tasks = (nodes or 1) * per_node
    if tasks is None and "-c" in options and nodes is not None:
        usable = (threads_per_core or node.threads_per_core) * node.cores
        tasks = nodes * max(1, usable // cpus_per_task)
        notes.append(f"Without -n, as many tasks of {cpus_per_task} CPUs as fit: {tasks // nodes} a node.")
    return tasks or nodes or 1, nodes, per_node


def _check_pairs(options: Mapping[str, Given]) -> None:
    """Refuse pairs of options that exclude each other."""
    for first, second in (("--exact", "--whole"), ("--exclusive", "--overlap")):
        if first in options and second in options:
            words = f"srun: error: {first} and {second} are mutually exclusive"
            raise LaunchError(first, "", f"cannot stand with {second}", words=words)


def _memory(name: str, options: Mapping[str, Given]) -> float | None:
    """Return a memory size; 0 stands for all there is and gives None. [GB]"""
    return (memory_gb(options[name].typed, options[name].value) or None) if name in options else None


def _memory_per_node(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> float | None:
    """Return ``--mem``, refused beyond the memory of a node. [GB]"""
    memory = _memory("--mem", options)
    if memory is not None and memory > node.memory_gb:
        rule = f"is {memory:.4g} GB, more than the {node.memory_gb:g} GB of a node of {machine.title}"
        raise options["--mem"].refusal(rule, words="srun: error: Memory specification can not be satisfied")
    return memory
