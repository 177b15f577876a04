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
.. [2] SchedMD, Slurm 23.11, ``src/srun/opt.c`` and ``src/srun/launch.c``: how options from both sides are put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.node.launch.components import Component, LaunchError, Reservation
from hopperlib.node.launch.option_values import host_count, memory_gb, whole_number
from hopperlib.node.launch.options import Given, read_getopt_options
from hopperlib.node.launch.reservation import check_srun_claim
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell_words import Unknown, Word
from hopperlib.node.slurm.binding import bind_options, read_cpu_bind, read_distribution, read_hint
from hopperlib.node.slurm.cpus import SlurmNode
from hopperlib.node.slurm.layout import check_srun
from hopperlib.node.slurm.options import ENVIRONMENT, SLURM_OPTIONS

__all__ = ["read_srun", "release"]

_NEWEST = (99, 0)


def release(launcher: Launcher) -> tuple[int, ...]:
    """Return the Slurm release as numbers; one beyond all where the machine file gives none.

    Examples
    --------
    >>> release(Launcher(kind="srun", options=(), version="23.11")) >= (22, 5)
    True
    """
    return tuple(int(part) for part in launcher.version.split(".")) if launcher.version else _NEWEST


def read_srun(
    invocation: Invocation, machine: Machine, launcher: Launcher, node: NodeKind, reservation: Reservation | None
) -> tuple[tuple[Component, ...], dict[str, str], list[str]]:
    """Return the components of an srun line, variables it sets with ``--export``, and notes.

    Parameters
    ----------
    invocation : Invocation
        The line.
    machine : Machine
    launcher : Launcher
        Which options this srun knows, and which release it is.
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
    >>> launcher, node = perlmutter.launcher("srun"), perlmutter.node()
    >>> (component,), _, _ = read_srun(invocation, perlmutter, launcher, node, None)
    >>> component.tasks, component.threads_per_task, component.exact
    (16, 16, True)
    """
    parts: list[list[Word]] = [[]]
    for word in invocation.words:
        if word.text == ":" and not word.unknown:
            parts.append([])
        else:
            parts[-1].append(word)
    if len(parts) > 1 and reservation is not None:
        rule = "parts a heterogeneous step, which needs a heterogeneous job; such sbatch scripts are not read"
        raise LaunchError(flag=":", value="", rule=rule)
    notes: list[str] = []
    components: list[Component] = []
    exported: dict[str, str] = {}
    for words in parts:
        where = f"srun on {machine.title}"
        given, command = read_getopt_options(words, SLURM_OPTIONS, _known(launcher), where=where)
        if len(parts) > 1 and not command:
            raise LaunchError(flag=":", value="", rule="parts two programs; one side of it names none")
        options = _with_environment(given, invocation.environment, launcher, notes)
        component = _component(options, command, machine, launcher, node, notes)
        check_srun_claim(component, check_srun(component, node, machine), reservation)
        components.append(component)
        exported |= _exported(options.get("--export"))
    if any(
        name.startswith("--gpu") or name in ("-G", "--gres")
        for component in components
        for name, _ in component.options
    ):
        notes.append("GPUs are not modeled; Slurm may pick cores near the GPUs of a task.")
    if len(parts) > 1:
        notes.append("Each program of a heterogeneous job runs on nodes of its own.")
    return tuple(components), exported, notes


def _known(launcher: Launcher) -> tuple[str, ...]:
    """Return the options this srun knows: those the machine file lists, and all that bear on no placement."""
    others = (name for option in SLURM_OPTIONS if not option.bears for name in option.names)
    return (*launcher.options, *others)


def _with_environment(
    given: Sequence[Given], environment: Mapping[str, str | Unknown], launcher: Launcher, notes: list[str]
) -> dict[str, Given]:
    """Return the options that hold: those of the line, else those that srun takes from the environment."""
    options: dict[str, Given] = {}
    for option in given:
        options[option.name] = option
    inherited = _inherited_cpus_per_task(launcher)
    for variable, name in (*ENVIRONMENT, (inherited, "-c")):
        if name in options or variable not in environment:
            continue
        value = environment[variable]
        if isinstance(value, Unknown):
            raise LaunchError(flag=variable, value="", rule=value.reason)
        options[name] = Given(name, variable, value, True)
    other = "SRUN_CPUS_PER_TASK" if inherited == "SLURM_CPUS_PER_TASK" else "SLURM_CPUS_PER_TASK"
    if "-c" not in options and isinstance(environment.get(other), str):
        notes.append(
            f"{other}={environment[other]} is not read by srun of Slurm {launcher.version}: each task gets one CPU; "
            "write -c on the srun line" + (f" or export {inherited}." if inherited.startswith("SRUN") else ".")
        )
    bind_options(options, release(launcher), notes)
    return options


def _inherited_cpus_per_task(launcher: Launcher) -> str:
    """Return the variable from which srun takes -c."""
    return "SRUN_CPUS_PER_TASK" if (22, 5) <= release(launcher) < (23, 11) else "SLURM_CPUS_PER_TASK"


def _component(
    options: Mapping[str, Given],
    command: Sequence[Word],
    machine: Machine,
    launcher: Launcher,
    node: NodeKind,
    notes: list[str],
) -> Component:
    """Return one component, options checked and srun's defaults worked out."""

    def count(name: str, high: int | None = None, bound: str = "", low: int = 1) -> int | None:
        option = options.get(name)
        return None if option is None else whole_number(option.typed, option.value, low=low, high=high, bound=bound)

    slurm_node = SlurmNode.of(node, launcher)
    if not command:
        notes.append("The line names no program.")
    hint = read_hint(options.get("--hint"))
    threads_bound = f"the hardware threads of a core of {machine.title}"
    threads_per_core = count("--threads-per-core", node.threads_per_core, threads_bound) or hint.threads_per_core
    cpus_per_task = count("-c") or 1
    tasks_per_core = count("--ntasks-per-core")
    if tasks_per_core and threads_per_core and tasks_per_core > threads_per_core:
        rule = f"cannot be more than --threads-per-core={threads_per_core}"
        raise LaunchError(flag="--ntasks-per-core", value=str(tasks_per_core), rule=rule)
    _check_sockets(options, slurm_node, machine)
    _check_pairs(options)
    per_cpu = _memory("--mem-per-cpu", options)
    distribution = read_distribution(options.get("-m"), launcher, slurm_node, threads_per_core, release(launcher))
    if distribution.note:
        notes.append(distribution.note)
    binding = read_cpu_bind(options, hint, release(launcher))
    tasks, nodes, tasks_per_node = _counts(options, slurm_node, cpus_per_task, threads_per_core, notes)
    exact = "--exact" in options or options.get("--exclusive", _ABSENT).value in ("", "exclusive")
    if "-c" in options and "-O" not in options and release(launcher) >= (22, 5):
        exact = True
    return Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        tasks=tasks,
        threads_per_task=cpus_per_task,
        nodes=nodes,
        tasks_per_node=tasks_per_node,
        tasks_per_socket=count("--ntasks-per-socket"),
        tasks_per_core=tasks_per_core,
        strict_memory=_strict_memory(options.get("--mem-bind")),
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
        exact=exact,
        node_list=options["-w"].value if "-w" in options else None,
        options=tuple((option.name, option.value) for option in options.values()),
        idle_options=tuple(option.name for option in options.values() if not option.bears),
    )


_ABSENT = Given("", "", "absent", False)


def _counts(
    options: Mapping[str, Given], node: SlurmNode, cpus_per_task: int, threads_per_core: int | None, notes: list[str]
) -> tuple[int, int | None, int | None]:
    """Return tasks, nodes and tasks a node as srun settles them among each other."""

    def given(name: str) -> tuple[int | None, bool]:
        option = options.get(name)
        if option is None:
            return None, False
        return whole_number(option.typed, option.value), option.typed in dict(ENVIRONMENT)

    tasks, tasks_inherited = given("-n")
    per_node, _ = given("--ntasks-per-node")
    nodes, nodes_inherited = _nodes(options)
    if tasks is not None and nodes is not None and tasks < nodes:
        notes.append(f"srun: warning: can't run {tasks} processes on {nodes} nodes, setting nnodes to {tasks}")
        nodes = tasks
    if tasks is not None and nodes is not None and per_node is not None:
        if tasks_inherited and not nodes_inherited:
            tasks = None
        elif per_node != tasks // nodes:
            if tasks > per_node:
                notes.append(
                    f"srun ignores --ntasks-per-node={per_node}: {tasks} tasks on {nodes} nodes are "
                    f"{tasks / nodes:.4g} a node."
                )
            per_node = None
    if tasks is None and per_node is not None:
        tasks = (nodes or 1) * per_node
    if tasks is None and "-c" in options and nodes is not None:
        usable = (threads_per_core or node.threads_per_core) * node.cores
        tasks = nodes * max(1, usable // cpus_per_task)
        notes.append(f"Without -n, as many tasks of {cpus_per_task} CPUs as fit: {tasks // nodes} a node.")
    return tasks or nodes or 1, nodes, per_node


def _nodes(options: Mapping[str, Given]) -> tuple[int | None, bool]:
    """Return the number of ``-N`` (or of the hosts of ``-w``), and whether it came from the job."""
    option = options.get("-N")
    if option is None:
        hosts = host_count(options["-w"].value) if "-w" in options else None
        return hosts, False
    low, dash, high = option.value.partition("-")
    if (dash and low != high) or "," in option.value or ":" in option.value:
        rule = "leaves the number of nodes to the scheduler; write one number"
        raise LaunchError(flag=option.typed, value=option.value, rule=rule)
    factor = {"k": 1024, "m": 1024**2}.get(low[-1:].lower(), 1)
    return whole_number(option.typed, low[:-1] if factor > 1 else low) * factor, option.typed in dict(ENVIRONMENT)


def _check_sockets(options: Mapping[str, Given], node: SlurmNode, machine: Machine) -> None:
    """Refuse ``--sockets-per-node`` and ``--cores-per-socket`` beyond what the nodes have."""
    for name, has in (("--sockets-per-node", node.sockets), ("--cores-per-socket", node.cores_per_socket)):
        if name in options:
            bound = f"what a node of {machine.title} has as Slurm counts sockets"
            whole_number(name, options[name].value, high=has, bound=bound)


def _check_pairs(options: Mapping[str, Given]) -> None:
    """Refuse pairs of options that exclude each other."""
    if "--exact" in options and "--whole" in options:
        rule = "cannot stand with --whole"
        raise LaunchError(
            flag="--exact", value="", rule=rule, words="srun: error: --exact and --whole are mutually exclusive"
        )
    if "--exclusive" in options and "--overlap" in options:
        words = "srun: error: --exclusive and --overlap are mutually exclusive"
        raise LaunchError(flag="--exclusive", value="", rule="cannot stand with --overlap", words=words)


def _memory(name: str, options: Mapping[str, Given]) -> float | None:
    """Return a memory size; 0 stands for all there is and gives None. [GB]"""
    if name not in options:
        return None
    return memory_gb(options[name].typed, options[name].value) or None


def _memory_per_node(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> float | None:
    """Return ``--mem``, refused beyond the memory of a node. [GB]"""
    memory = _memory("--mem", options)
    if memory is not None and memory > node.memory_gb:
        rule = f"is {memory:.4g} GB, more than the {node.memory_gb:g} GB of a node of {machine.title}"
        words = "srun: error: Memory specification can not be satisfied"
        raise LaunchError(flag=options["--mem"].typed, value=options["--mem"].value, rule=rule, words=words)
    return memory


def _strict_memory(option: Given | None) -> bool:
    """Whether ``--mem-bind`` keeps tasks to the memory of their own NUMA nodes."""
    return option is not None and "local" in option.value.lower().split(",")


def _exported(option: Given | None) -> dict[str, str]:
    """Return the variables that ``--export`` sets."""
    if option is None:
        return {}
    pairs = [part.partition("=") for part in option.value.split(",")]
    return {name: value for name, equals, value in pairs if equals}
