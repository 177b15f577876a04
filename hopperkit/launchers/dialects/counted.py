"""ibrun and flux run lines: launchers whose manuals define tasks per node but leave binding to others.

``ibrun`` (TACC) starts the tasks of the job in the order of its nodes; the MPI library that is loaded binds them.
``flux run`` binds by the shell's option ``cpu-affinity``, where no plugin of the site does.

References
----------
TACC user guides, Frontera and Vista, "Launching Applications" (ibrun without options takes the tasks of #SBATCH; -n and
-o for programs that share a job; task_affinity); Flux manual pages, flux-run(1) and flux-shell(1) (cpu-affinity,
gpu-affinity).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hopperkit.launchers.mapping.requests import Bound
from hopperkit.launchers.options import Given, component_of, count_of, read_fields, read_programs
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.words.shell import Word
from hopperlib.machine import NodeKind
from hopperlib.placement.components import (
    Component,
    GpuRequest,
    Job,
    LauncherKind,
    LaunchError,
    ReadLine,
    Remarks,
    TaskMapping,
)
from hopperlib.text import count

_OF_LIBRARY = (
    "Which cores the tasks get depends on the MPI library that ibrun calls, which binds them by different rules."
)
_UNEVEN = "How many tasks each node gets is not documented where they do not divide evenly among the nodes."


class _Unbound(NamedTuple):
    """Tasks that the launcher does not bind, and why their cores are unknown."""

    doubt: str
    doubt_on_several_nodes: str = ""

    def bind(self, kind: NodeKind, tasks: int) -> Bound:
        """Return no CPUs for each task of a node."""
        return Bound([()] * tasks, self.doubt)


class _FluxShell(NamedTuple):
    """Tasks bound by Flux's shell: each to the cores it requests, or all to those of the job on the node."""

    width: int
    affinity: str
    whole_node: bool
    doubt: str = ""
    doubt_on_several_nodes: str = ""

    def bind(self, kind: NodeKind, tasks: int) -> Bound:
        """Return the CPUs of each task of a node; the scheduler allocates cores from the first on."""
        cores = kind.usable_cores if self.whole_node else kind.usable_cores[: tasks * self.width]
        if self.affinity == "off":
            return Bound([()] * tasks, self.doubt)
        share = len(cores) // tasks if self.affinity == "per-task" else 0
        mine = [cores[task * share : task * share + share] if share else cores for task in range(tasks)]
        numbers = [
            tuple(kind.cpu(core, thread) for core in own for thread in range(kind.threads_per_core)) for own in mine
        ]
        return Bound(numbers, self.doubt)


def read_counted(line: LaunchLine, job: Job) -> tuple[LauncherKind, ReadLine]:
    """Return the launcher of an ibrun or a flux run line, its component, and remarks.

    Parameters
    ----------
    line : LaunchLine
    job : Job
        Its position.

    Raises
    ------
    LaunchError
        If the line would be rejected, or has neither tasks nor nodes.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.scripts import read_script
    >>> cluster = Machine.load("cluster")
    >>> (line,) = read_script("flux run -N 2 -n 8 -c 4 ./a.out").lines
    >>> kind, ((component,), _, _) = read_counted(line, Job(cluster, cluster.node()))
    >>> kind, component.tasks, component.tasks_per_node
    ('flux', 8, 4)
    """
    kind: LauncherKind = "ibrun" if line.launcher == "ibrun" else "flux"
    remarks = Remarks.none()
    where = f"{kind if kind == 'ibrun' else 'flux run'} that can be read"
    ((given, command), *others) = read_programs(line.words, kind, where=where)
    if others:
        raise LaunchError(":", "", f"parts two programs; {line.launcher} starts one")
    options = {option.name: option for option in given}
    fields: dict[str, Any] = read_fields(options, kind)
    make = _ibrun if kind == "ibrun" else _flux
    return kind, ((make(given, command, fields, job, remarks),), {}, remarks)


def _remark_first(first: int, per_node: int, remarks: Remarks) -> None:
    """Note where the first task runs, if ibrun skips tasks of the job."""
    if first:
        place = f"the first task takes the place of task {first} of the job, on its node {first // per_node}."
        remarks.notes.append(f"-o {first}: {place}")


def _ibrun(
    given: Sequence[Given], command: Sequence[Word], fields: dict[str, Any], job: Job, remarks: Remarks
) -> Component:
    """Return the component of an ibrun line."""
    options = {option.name: option for option in given}
    in_job, nodes, per_node = _slots(job, fields)
    tasks = fields.get("tasks") or in_job
    if not tasks:
        raise LaunchError("ibrun", "", "has no -n, and no script around it sets the number of tasks")
    if in_job and tasks > in_job:
        raise options["-n"].refusal(f"is more than the {count(in_job, 'task')} of the job")
    per_node = per_node or -(-(in_job or tasks) // nodes)
    first = count_of(options, "-o", low=0) or 0
    _remark_first(first, per_node, remarks)
    # A program that begins within a node and ends on another has different numbers of tasks on them.
    within = first % per_node
    if (in_job and in_job % nodes) or (within and within + tasks > per_node):
        remarks.doubts.append(_UNEVEN)
    if command and command[0].text.rsplit("/", 1)[-1] in _AFFINITY:
        remarks.notes.append(f"{command[0].text} spreads the tasks over the sockets of a node and binds their memory.")
        command = command[1:]
    fields |= {"tasks": tasks, "tasks_per_node": per_node, "nodes": -(-tasks // per_node)}
    mapping = TaskMapping("slot", bind="none")
    return component_of(given, command, fields)._replace(mapping=mapping, mapper=_Unbound(_OF_LIBRARY))


_AFFINITY = ("task_affinity", "tacc_affinity")


def _slots(job: Job, fields: Mapping[str, Any]) -> tuple[int | None, int, int | None]:
    """Return the tasks, nodes and tasks per node of a job; a single line is read as a job with full nodes."""
    reserved = job.reservation
    if reserved is None:
        return None, -(-fields.get("tasks", 1) // len(job.node.usable_cores)), None
    per_node = reserved.tasks_per_node
    return reserved.tasks or (reserved.nodes * per_node if per_node else None), reserved.nodes, per_node


def _flux(
    given: Sequence[Given], command: Sequence[Word], fields: dict[str, Any], job: Job, remarks: Remarks
) -> Component:
    """Return the component of a flux run line."""
    options = {option.name: option for option in given}
    width = fields.get("threads_per_task") or 1
    tasks, nodes, per_node = _flux_counts(options, fields, job, remarks)
    room, whole_node = len(job.node.usable_cores), "-x" in options
    if not whole_node and per_node * width > room:
        rule = f"needs {per_node * width} cores for the {count(per_node, 'task')} of a node, which has {room} for jobs"
        raise LaunchError("-n", tasks, rule)
    shell = _shell_options(given)
    if gpus := count_of(options, "-g"):
        apart = shell.get("gpu-affinity") == "per-task"
        fields["gpus"] = GpuRequest(per_task=gpus) if apart else GpuRequest(per_node=gpus * per_node)
    fields |= {"tasks": tasks, "tasks_per_node": per_node, "nodes": nodes, "threads_per_task": width}
    mapper = _mapper_of_flux(shell, job, width, whole_node=whole_node)
    return component_of(given, command, fields)._replace(mapping=TaskMapping("slot", bind="none"), mapper=mapper)


def _flux_counts(
    options: Mapping[str, Given], fields: Mapping[str, Any], job: Job, remarks: Remarks
) -> tuple[int, int, int]:
    """Return the tasks of a flux run line, its nodes, and the tasks of a node."""
    nodes = count_of(options, "-N") or (job.reservation.nodes if job.reservation else None)
    per_node = fields.get("tasks_per_node")
    tasks = fields.get("tasks") or (nodes or 1) * (per_node or 1)
    if nodes is None:
        fit = max(len(job.node.usable_cores) // (fields.get("threads_per_task") or 1), 1)
        nodes = -(-tasks // (per_node or fit))
        if nodes > 1:
            remarks.doubts.append("Without -N, Flux's scheduler chooses how many tasks each node gets.")
    if tasks % nodes:
        remarks.doubts.append(_UNEVEN)
    return tasks, nodes, per_node or -(-tasks // nodes)


def _mapper_of_flux(shell: Mapping[str, str], job: Job, width: int, *, whole_node: bool) -> _FluxShell:
    """Return the component that binds the tasks: Flux's shell, or a plugin of the site."""
    affinity = shell.get("cpu-affinity", "on")
    doubt = "" if affinity in ("on", "off", "per-task") else f"cpu-affinity={affinity} is not followed here."
    site = next((each.bare_line_doubt for each in job.machine.launchers if each.kind == "flux"), None)
    if site and not doubt and shell.get("mpibind") != "off":
        doubt = f"{site}."
    return _FluxShell(width, "off" if doubt else affinity, whole_node, doubt)


def _shell_options(given: Sequence[Given]) -> Mapping[str, str]:
    """Return the options of Flux's shell by name: those after -o."""
    texts = (option.value for option in given if option.name == "-o")
    return {name: value or "on" for name, _, value in (text.partition("=") for text in texts)}
