"""srun lines: the options of Slurm's launcher read into components.

Options come from the line and then from the environment, as in srun; an sbatch script affects srun only through the
environment. Changes between releases [1]_ [2]_:

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
from typing import Any

from hopperkit.launchers.dialects import _srun_options as values
from hopperkit.launchers.dialects.slurm import SHOW_BINDING, SlurmNode, slurm_release
from hopperkit.launchers.option_values import assigned, host_count, memory_gb
from hopperkit.launchers.options import Given, component_of, count_of, option_table, read_fields, read_programs
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.words.shell import Unknown, Variables, Word
from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.placement.components import Component, GpuRequest, Job, LaunchError, ReadLine, Remarks
from hopperlib.text import count

# From this release on, a step that packs its tasks uses the fewest nodes of its job, unless the line sets the number.
_PACKS_ON_FEWEST = (22, 5)


def read_srun(line: LaunchLine, job: Job) -> ReadLine:
    """Return the components of an srun line, variables it sets with ``--export``, and remarks.

    Parameters
    ----------
    line : LaunchLine
    job : Job
        Its position.

    Raises
    ------
    LaunchError
        If srun would reject the line, or it requests something that is not modeled.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.scripts import read_script
    >>> perlmutter = Machine.load("perlmutter")
    >>> script = read_script("srun -N 2 --ntasks-per-node=8 -c 16 --cpu-bind=cores ./a.out")
    >>> (component,), _, _ = read_srun(script.lines[0], Job(perlmutter, perlmutter.node()))
    >>> component.tasks, component.threads_per_task, component.exact
    (16, 16, True)
    """
    machine = job.machine
    launcher = machine.launcher("srun")
    # A machine file may list the options that affect placement; any srun accepts the others.
    idle = (name for option in option_table("srun") if not option.bears for name in option.names)
    known = (*launcher.options, *idle) if launcher.options else None
    remarks = Remarks.none()
    notes = remarks.notes
    components: list[Component] = []
    exported: dict[str, str] = {}
    parts = list(read_programs(line.words, "srun", known, where=f"srun on {machine.title}", site=launcher.site_options))
    several = len(parts) > 1
    for given, command in parts:
        options = _with_environment(given, line.environment, launcher, notes)
        if (several or _is_packed(options, launcher)) and "-N" in options and options["-N"].inherited:
            del options["-N"]
        components.append(_component(options, command, job, notes))
        exported |= assigned(options["--export"].value.split(",") if "--export" in options else ())
    if several:
        notes.append("Each program of the line runs on separate nodes.")
    if job.reservation is None:
        slurm_node = SlurmNode.of(job.node, launcher)
        for component in components:
            _check_created_job(component, slurm_node)
        _add_bare_line_remarks(components, launcher, job.node, remarks)
    return tuple(components), exported, remarks


def _is_packed(options: Mapping[str, Given], launcher: Launcher) -> bool:
    """Whether a step has the nodes that its tasks need, not all of the job's, as each program of several has."""
    packs = "-m" in options and options["-m"].value.lower().endswith(",pack")
    return packs and slurm_release(launcher) >= _PACKS_ON_FEWEST


def _check_created_job(component: Component, node: SlurmNode) -> None:
    """Reject a program whose line creates its own job with too few nodes.

    Before Slurm 23.02, a job's limits are narrower than those of a step.
    """
    if component.overcommit or component.gpus is not None:
        return
    threads = component.threads_per_core or node.threads_per_core
    limit = node.job_capacity(component.threads_per_task, threads, component.tasks_per_core)
    if component.nodes is None or not limit or component.tasks <= component.nodes * limit:
        return
    words, width = "srun: error: Requested node configuration is not available", component.threads_per_task
    if component.tasks_per_node:
        rule = f"is more than the {count(limit, 'task')} that a node takes with -c {width}"
        raise LaunchError("--ntasks-per-node", component.tasks_per_node, rule, words=words)
    rule = f"is more than {component.nodes} x {limit} tasks, all that fit with -c {width}; --overcommit would allow it"
    raise LaunchError("-n", component.tasks, rule, words=words)


def _add_bare_line_remarks(
    components: Sequence[Component], launcher: Launcher, node: NodeKind, remarks: Remarks
) -> None:
    """Add remarks on results that depend on the job around a line without a script."""
    remarks.assumptions.append("The job around the line is assumed to request nothing that srun inherits.")
    for component in components:
        if doubt := _bare_line_doubt(component, launcher, node):
            remarks.doubts.append(doubt)
            return


def _bare_line_doubt(component: Component, launcher: Launcher, node: NodeKind) -> str:
    """Return why the width of a line without a job is unknown; empty if it is known."""
    if launcher.bare_line_doubt and component.given("-c") is None and component.binding_list is None:
        return (
            f"The site's pages print {launcher.bare_line_doubt}, in a job that they do not show; shown is the result of srun "
            f"in a job without requests. Write -c, or run {SHOW_BINDING} to see."
        )
    if component.tasks_per_socket:
        return (
            "--ntasks-per-socket applies to a job: a line that creates its own job is rejected if the tasks of a socket "
            "do not fit in it, and one inside a job ignores it. The text has no #SBATCH lines that show which applies."
        )
    if component.given("--hint") == "memory_bound" and component.nodes is None and component.tasks > node.sockets:
        return (
            "--hint=memory_bound requests one core per socket when nodes are chosen and does not limit a step, so how many "
            "nodes the line gets depends on its job. Write -N."
        )
    default, width = launcher.threads_per_core, component.threads_per_task
    silent = component.given("--hint") is None and component.given("--threads-per-core") is None
    if default and silent and default < node.threads_per_core == width:
        return (
            f"-c {width} is one core with all its hardware threads in a job that requested --threads-per-core={width}, "
            f"and {width} cores in others, the site's default, as shown; the text has no #SBATCH lines that show which applies. "
            f"Run {SHOW_BINDING} to see."
        )
    return ""


def _with_environment(
    given: Sequence[Given], environment: Variables, launcher: Launcher, notes: list[str]
) -> dict[str, Given]:
    """Return the effective options: those of the line, then those that srun takes from the environment."""
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
    if "-c" not in options and environment.get(other, "1") != "1" and isinstance(environment[other], str):
        or_export = f" or export {inherited}" if inherited.startswith("SRUN") else ""
        notes.append(
            f"{other}={environment[other]} is not read by srun of Slurm {launcher.version}: each task gets one CPU; "
            f"write -c on the srun line{or_export}."
        )
    values.bind_options(options, release, notes)
    return options


def _component(options: Mapping[str, Given], command: Sequence[Word], job: Job, notes: list[str]) -> Component:
    """Return one component, with options checked and srun's defaults resolved."""
    machine, node = job.machine, job.node
    launcher = machine.launcher("srun")
    release = slurm_release(launcher)
    system_cores = _system_cores(options, node, machine)
    slurm_node = SlurmNode.of(node, launcher, system_cores)
    if not command:
        notes.append("The line names no program.")
    bound = f"the hardware threads of a core of {machine.title}"
    fields = read_fields(options, "srun", {"threads_per_core": (node.threads_per_core, bound)})
    hint = values.read_hint(options.get("--hint"))
    by_default = _default_threads_per_core(options, fields, hint, launcher)
    fields["threads_per_core"] = fields.get("threads_per_core") or hint.threads_per_core or by_default
    _check_options(options, fields, slurm_node, job)
    shares = "-O" in options or ("--hint" in options and options["--hint"].value == "multithread")
    if slurm_node.tasks_per_core and not shares:
        fields.setdefault("tasks_per_core", slurm_node.tasks_per_core)
    distribution = values.read_distribution(options.get("-m"), launcher, slurm_node, fields["threads_per_core"])
    notes += [distribution.note] if distribution.note else []
    binding = values.read_cpu_bind(options, hint, release)
    gpus = values.read_gpus(options, node, machine)
    width = values.task_width(options, gpus, fields.get("threads_per_task", 1), notes)
    fields |= _counts(options, slurm_node, width, fields["threads_per_core"], notes, shared=job.shared)
    if tasks := _tasks_by_gpus(options, gpus, fields["nodes"], job):
        fields["tasks"] = tasks
    per_cpu = _memory("--mem-per-cpu", options)
    fields |= {
        "threads_per_task": width,
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
        "exact": _is_exact(options, release),
    }
    return component_of(options.values(), command, fields)


def _tasks_by_gpus(options: Mapping[str, Given], gpus: GpuRequest | None, nodes: int | None, job: Job) -> int:
    """Return the tasks of a step that counts them by its GPUs; 0 for others."""
    if gpus is None or not gpus.tasks_per_gpu or {"-n", "--ntasks-per-node"} & set(options):
        return 0
    option = options["--ntasks-per-gpu"]
    available = gpus.total or (gpus.per_node or job.node.gpus) * (nodes or 1)
    if not available:
        raise option.refusal(f"counts tasks by GPUs; a node '{job.node.name}' of {job.machine.title} has none")
    return int(option.value) * available


def _default_threads_per_core(
    options: Mapping[str, Given], fields: Mapping[str, Any], hint: values.Hint, launcher: Launcher
) -> int | None:
    """Return the site's default, which applies as if the job had requested it; None if the line overrides it."""
    silent = "--hint" not in options and not fields.get("threads_per_core") and hint.threads_per_core is None
    return launcher.threads_per_core if silent else None


def _is_exact(options: Mapping[str, Given], release: tuple[int, ...]) -> bool:
    """Whether a step uses only the CPUs that it requests."""
    exclusive = "--exclusive" in options and options["--exclusive"].value in ("", "exclusive")
    # From 22.05 on, a step that sets its CPUs per task gets only those.
    alone = "-c" in options and "-O" not in options and release >= (22, 5)
    return exclusive or "--exact" in options or alone


def _check_options(options: Mapping[str, Given], fields: Mapping[str, Any], node: SlurmNode, job: Job) -> None:
    """Reject numbers beyond the node's, and options that exclude each other."""
    threads_per_core, tasks_per_core = fields["threads_per_core"], fields.get("tasks_per_core", 0)
    if threads_per_core and tasks_per_core > threads_per_core and node.release >= (23, 2):
        rule = f"cannot be more than --threads-per-core={threads_per_core}"
        raise LaunchError("--ntasks-per-core", tasks_per_core, rule)
    bound = f"the sockets of a node of {job.machine.title} as Slurm counts them"
    count_of(options, "--sockets-per-node", high=node.sockets, bound=bound)
    count_of(options, "--cores-per-socket", high=node.cores_per_socket, bound=bound)
    for first, second in (("--exact", "--whole"), ("--exclusive", "--overlap")):
        if first in options and second in options:
            words = f"srun: error: {first} and {second} are mutually exclusive"
            raise LaunchError(first, "", f"conflicts with {second}", words=words)
    memory = _memory("--mem", options)
    if memory is not None and memory > job.node.memory_gb:
        rule = f"is {memory:.4g} GB, more than the {job.node.memory_gb:g} GB of a node of {job.machine.title}"
        raise options["--mem"].refusal(rule, words="srun: error: Memory specification can not be satisfied")


def _counts(
    options: Mapping[str, Given],
    node: SlurmNode,
    cpus_per_task: int,
    threads_per_core: int | None,
    notes: list[str],
    *,
    shared: bool,
) -> dict[str, int | None]:
    """Return tasks, nodes and tasks per node as srun reconciles them."""
    tasks, per_node, nodes = count_of(options, "-n"), count_of(options, "--ntasks-per-node"), _node_count(options)
    if tasks is not None and nodes is not None:
        if tasks < nodes:
            notes.append(f"srun: warning: can't run {tasks} processes on {nodes} nodes, setting nnodes to {tasks}")
            nodes = tasks
        if per_node is not None:
            tasks, per_node = _settle_tasks(options, tasks, nodes, per_node, notes)
    if tasks is None and per_node is not None:
        tasks = (nodes or 1) * per_node
    # A job that shares its nodes has room for the tasks it requested.
    if tasks is None and "-c" in options and nodes is not None and not shared:
        usable = (threads_per_core or node.threads_per_core) * node.usable_cores
        tasks = nodes * max(1, usable // cpus_per_task)
        notes.append(f"Without -n, as many tasks of {cpus_per_task} CPUs as fit: {tasks // nodes} per node.")
    return {"tasks": tasks or nodes or 1, "nodes": nodes, "tasks_per_node": per_node}


def _node_count(options: Mapping[str, Given]) -> int | None:
    """Return the nodes that a line requests, by number or by name."""
    if "-N" in options:
        return values.node_count(options["-N"])
    return host_count(options["-w"].value) if "-w" in options else None


def _settle_tasks(
    options: Mapping[str, Given], tasks: int, nodes: int, per_node: int, notes: list[str]
) -> tuple[int | None, int | None]:
    """Resolve a step's tasks against its tasks per node and nodes.

    Nodes and tasks per node on the line override the job's number of tasks; otherwise the number of tasks applies.
    """
    nodes_option = options.get("-N")
    if options["-n"].inherited and not (nodes_option is not None and nodes_option.inherited):
        return None, per_node
    if per_node == tasks // nodes:
        return tasks, per_node
    if tasks > per_node:
        spread = f"{tasks} tasks on {count(nodes, 'node')} are {tasks / nodes:.4g} per node"
        notes.append(f"srun ignores --ntasks-per-node={per_node}: {spread}.")
    return tasks, None


def _system_cores(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> tuple[int, ...] | None:
    """Return the cores that ``-S`` leaves to the system; None without it."""
    count = count_of(options, "-S", low=0, high=node.cores - 1, bound=f"a node of {machine.title} has {node.cores}")
    if count is None or count == len(node.reserved_cores):
        return None
    if count:
        kept = f"{len(node.reserved_cores)} or 0" if node.reserved_cores else "0"
        rule = f"reserves other cores than the site does; the machine file lists them only for {kept}"
        raise options["-S"].refusal(rule)
    return ()


def _memory(name: str, options: Mapping[str, Given]) -> float | None:
    """Return a memory size; 0 means all memory and gives None. [GB]"""
    return (memory_gb(options[name].typed, options[name].value) or None) if name in options else None
