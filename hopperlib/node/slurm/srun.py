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

from collections.abc import Mapping, Sequence

from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.node.gpus import CHECK
from hopperlib.node.launch.components import Component, Job, LaunchError, ReadLine, Remarks, Reservation, remark
from hopperlib.node.launch.option_values import assigned, host_count, memory_gb, whole_number
from hopperlib.node.launch.options import Given, component_of, count_of, option_table, read_fields, read_programs
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Unknown, Variables, Word
from hopperlib.node.slurm import _options as values
from hopperlib.node.slurm._cpus import SlurmNode
from hopperlib.node.slurm.layout import place_srun


def read_srun(invocation: Invocation, job: Job) -> ReadLine:
    """Return the components of an srun line, variables it sets with ``--export``, and remarks.

    Parameters
    ----------
    invocation : Invocation
        The line.
    job : Job
        Where it stands.

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
    >>> (component,), _, _ = read_srun(invocation, Job(perlmutter, perlmutter.node()))
    >>> component.tasks, component.threads_per_task, component.exact
    (16, 16, True)
    """
    try:
        return _read(invocation, job)
    except LaunchError as error:
        # A bare line that only fits with the cores that the site keeps is read with them.
        if job.reservation is not None or not job.node.reserved_cores or "SLURM_CORE_SPEC" in invocation.environment:
            raise
        whole = invocation._replace(environment={**invocation.environment, "SLURM_CORE_SPEC": "0"})
        try:
            components, exported, remarks = _read(whole, job)
        except LaunchError:
            raise error from None
        remarks.assumptions.append(remark("no-core-spec", kept=len(job.node.reserved_cores)))
        return components, exported, remarks


def _read(invocation: Invocation, job: Job) -> ReadLine:
    """Return what `read_srun` does, the cores that the site keeps left alone unless the job says otherwise."""
    machine, node, reservation = job.machine, job.node, job.reservation
    launcher = machine.launcher("srun")
    # A machine file may list the options that bear on the placement; the others are known to any srun.
    idle = (name for option in option_table("srun") if not option.bears for name in option.names)
    known = (*launcher.options, *idle) if launcher.options else None
    remarks = Remarks.none()
    notes = remarks.notes
    components: list[Component] = []
    exported: dict[str, str] = {}
    taken = 0
    parts = list(read_programs(invocation.words, "srun", known, where=f"srun on {machine.title}"))
    several = len(parts) > 1
    for given, command in parts:
        group, variables = _group(given, len(components), reservation)
        if several and group is not None and group is reservation and "-N" not in {each.name for each in given}:
            raise LaunchError(":", "", remark("whose-nodes"))
        options = _with_environment(given, {**invocation.environment, **variables}, launcher, notes)
        component = _component(options, command, machine, node, notes)
        nodes = len(place_srun(component, node, machine, 1).task_numbers)
        taken += nodes if group is reservation else 0
        _check_claim(component, taken if group is reservation else nodes, group)
        components.append(component)
        exported |= assigned(options["--export"].value.split(",") if "--export" in options else ())
    if several:
        notes.append("Each program of a heterogeneous job runs on nodes of its own.")
    if reservation is None:
        _without_script(components, launcher, node, remarks)
    return tuple(components), exported, remarks


def _without_script(components: Sequence[Component], launcher: Launcher, node: NodeKind, remarks: Remarks) -> None:
    """Say what depends on the job that a bare line runs in."""
    remarks.assumptions.append(remark("nothing-taken-over"))
    default = launcher.threads_per_core
    for component in components:
        if launcher.bare_line_doubt and component.given("-c") is None and component.binding_list is None:
            remarks.doubts.append(remark("bare-line", printed=launcher.bare_line_doubt, check=CHECK))
            break
        silent = not any(component.given(name) for name in ("--hint", "--threads-per-core"))
        if default and silent and default < node.threads_per_core == component.threads_per_task:
            remarks.doubts.append(remark("one-core-or-several", width=component.threads_per_task, check=CHECK))
            break


def _group(
    given: Sequence[Given], number: int, reservation: Reservation | None
) -> tuple[Reservation | None, Mapping[str, str]]:
    """Return the group of a heterogeneous job that a program runs in, with its variables; else the job itself."""
    if reservation is None or not reservation.groups:
        return reservation, {}
    option = next((option for option in given if option.name == "--het-group"), Given("--het-group", "", str(number)))
    groups = reservation.groups
    return groups[whole_number("--het-group", option.value, low=0, high=len(groups) - 1, bound="the groups of the job")]


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
    release = values.slurm_release(launcher)
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
        or_export = f" or export {inherited}" if inherited.startswith("SRUN") else ""
        said = {"other": other, "value": environment[other], "version": launcher.version}
        notes.append(remark("cpus-not-read", or_export=or_export, **said))
    values.bind_options(options, release, notes)
    return options


# What srun makes of one option depends on those before it: taken apart, the parts would hand on a dozen values.
def _component(
    options: Mapping[str, Given], command: Sequence[Word], machine: Machine, node: NodeKind, notes: list[str]
) -> Component:
    """Return one component, options checked and srun's defaults worked out."""
    launcher = machine.launcher("srun")
    system_cores = _system_cores(options, node, machine)
    slurm_node = SlurmNode.of(node, launcher, system_cores)
    release = values.slurm_release(launcher)
    if not command:
        notes.append("The line names no program.")
    bound = f"the hardware threads of a core of {machine.title}"
    fields = read_fields(options, "srun", {"threads_per_core": (node.threads_per_core, bound)})
    hint = values.read_hint(options.get("--hint"))
    threads_per_core = fields.get("threads_per_core") or hint.threads_per_core
    # A site's default holds as if the job had asked for it, so it binds to threads too.
    by_default = launcher.threads_per_core if "--hint" not in options and threads_per_core is None else None
    threads_per_core = threads_per_core or by_default
    if threads_per_core and (tasks_per_core := fields.get("tasks_per_core", 0)) > threads_per_core:
        rule = f"cannot be more than --threads-per-core={threads_per_core}"
        raise LaunchError("--ntasks-per-core", tasks_per_core, rule)
    bound = f"what a node of {machine.title} has as Slurm counts sockets"
    count_of(options, "--sockets-per-node", high=slurm_node.sockets, bound=bound)
    count_of(options, "--cores-per-socket", high=slurm_node.cores_per_socket, bound=bound)
    _check_pairs(options)
    _check_memory(options, node, machine)
    distribution = values.read_distribution(options.get("-m"), launcher, slurm_node, threads_per_core, release)
    notes += [distribution.note] if distribution.note else []
    binding = values.read_cpu_bind(options, hint, release)
    gpus = values.read_gpus(options, node, machine)
    width = values.task_width(options, gpus, fields.get("threads_per_task", 1), notes)
    tasks, nodes, tasks_per_node = _counts(options, slurm_node, width, threads_per_core, notes)
    if gpus is not None and gpus.tasks_per_gpu and not {"-n", "--ntasks-per-node"} & set(options):
        tasks = gpus.tasks_per_gpu * (gpus.total or (gpus.per_node or node.gpus) * (nodes or 1))
    exclusive = "--exclusive" in options and options["--exclusive"].value in ("", "exclusive")
    # From 22.05 on a step that says how many CPUs its tasks have gets those alone.
    alone = "-c" in options and "-O" not in options and release >= (22, 5)
    per_cpu = _memory("--mem-per-cpu", options)
    fields |= {
        "tasks": tasks,
        "threads_per_task": width,
        "nodes": nodes,
        "tasks_per_node": tasks_per_node,
        "strict_memory": "--mem-bind" in options and "local" in options["--mem-bind"].value.lower().split(","),
        "cpu_binding": binding.keyword or ("threads" if by_default else None),
        "binding_list": binding.entries,
        "memory_per_task_gb": None if per_cpu is None else per_cpu * width,
        "distribution": distribution.methods,
        "step_method": distribution.step_method,
        "plane_size": distribution.plane_size,
        "pack_nodes": distribution.pack_nodes,
        "system_cores": system_cores,
        "gpus": gpus,
        "cores_per_socket": hint.cores_per_socket,
        "threads_per_core": threads_per_core,
        "exact": exclusive or "--exact" in options or alone,
    }
    return component_of(options.values(), command, fields)


def _counts(
    options: Mapping[str, Given], node: SlurmNode, cpus_per_task: int, threads_per_core: int | None, notes: list[str]
) -> tuple[int, int | None, int | None]:
    """Return tasks, nodes and tasks a node as srun settles them among each other."""
    tasks, per_node = count_of(options, "-n"), count_of(options, "--ntasks-per-node")
    nodes_option = options.get("-N")
    nodes = host_count(options["-w"].value) if "-w" in options else None
    nodes = nodes if nodes_option is None else values.node_count(nodes_option)
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
        usable = (threads_per_core or node.threads_per_core) * node.usable_cores
        tasks = nodes * max(1, usable // cpus_per_task)
        notes.append(remark("tasks-that-fit", cpus=cpus_per_task, tasks=tasks // nodes))
    return tasks or nodes or 1, nodes, per_node


def _system_cores(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> tuple[int, ...] | None:
    """Return the cores that ``-S`` leaves to the system; None without it."""
    count = count_of(options, "-S", low=0, high=node.cores - 1, bound=f"a node of {machine.title} has {node.cores}")
    if count is None or count == len(node.reserved_cores):
        return None
    if count:
        kept = f"{len(node.reserved_cores)} or 0" if node.reserved_cores else "0"
        raise options["-S"].refusal(remark("other-core-spec", kept=kept))
    return ()


def _check_pairs(options: Mapping[str, Given]) -> None:
    """Refuse pairs of options that exclude each other."""
    for first, second in (("--exact", "--whole"), ("--exclusive", "--overlap")):
        if first in options and second in options:
            words = f"srun: error: {first} and {second} are mutually exclusive"
            raise LaunchError(first, "", f"cannot stand with {second}", words=words)


def _memory(name: str, options: Mapping[str, Given]) -> float | None:
    """Return a memory size; 0 stands for all there is and gives None. [GB]"""
    return (memory_gb(options[name].typed, options[name].value) or None) if name in options else None


def _check_memory(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> None:
    """Refuse ``--mem`` beyond the memory of a node."""
    memory = _memory("--mem", options)
    if memory is not None and memory > node.memory_gb:
        rule = f"is {memory:.4g} GB, more than the {node.memory_gb:g} GB of a node of {machine.title}"
        raise options["--mem"].refusal(rule, words="srun: error: Memory specification can not be satisfied")
