"""mpiexec and mpirun lines, parsed into components: the implementation, its options, and its mapping and binding.

Options and defaults as in the manuals that `hopperkit.launchers.filling.mpiexec_layout`
names.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from hopperkit.launchers.mapping.openmpi import CannotTellError, OpenMpiRequest, read_openmpi
from hopperkit.launchers.mapping.requests import HydraMapper, IntelMapper, OpenMpiMapper, ranks_of_line
from hopperkit.launchers.option_values import assigned, hex_mask, number_list, whole_number
from hopperkit.launchers.options import Given, component_of, read_fields, read_programs
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.words.shell import Unknown, Variables
from hopperlib.machine import NodeKind
from hopperlib.placement.components import (
    Component,
    GpuRequest,
    Job,
    LauncherKind,
    LaunchError,
    ReadLine,
    Remarks,
    Reservation,
    TaskMapping,
)
from hopperlib.text import count


class _Mpiexec(NamedTuple):
    """An mpiexec implementation: its name, and its evidence: words and variables, then modules, then ambiguous words."""

    title: str
    signs: str
    modules: str
    hints: str = "(?!)"


_LAUNCHERS: dict[LauncherKind, _Mpiexec] = {
    "intelmpi": _Mpiexec("Intel MPI", r"\bI_MPI_", "impi|intel-?mpi|intel-oneapi-mpi"),
    "pals": _Mpiexec("PALS", r" --?(cpu-bind|depth|gpu-bind)\b", "(?!)"),
    "openmpi": _Mpiexec(
        "Open MPI",
        r" --?(mca|report-bindings|npernode|npersocket|oversubscribe|allow-run-as-root|x) | -N |\bOMPI_",
        "open-?mpi|hpcx",
        r" --(map-by|bind-to|rank-by)\b",
    ),
    "mpich": _Mpiexec("MPICH", "(?!)", "mpich|mvapich", r" -(bind-to|map-by)\b"),
}
# Units for mapping and binding, by their names in the launchers.
_UNITS = {
    **{name: name for name in ("slot", "core", "hwthread", "numa", "socket", "node", "l3")},
    "package": "socket",
    "sockets": "socket",
    "sock": "socket",
    "cores": "core",
    "thread": "hwthread",
    "cpu": "hwthread",
    "numanode": "numa",
    "board": "node",
    "machine": "node",
    "l3cache": "l3",
    "cache3": "l3",
}
_SHOW_BINDING = "mpiexec ... bash -c 'taskset -cp $$'"
_REPORT = "Run mpirun with --report-bindings to see."


def read_mpiexec(line: LaunchLine, job: Job) -> tuple[LauncherKind, ReadLine]:
    """Return whose mpiexec it is, the components of its line, variables that it sets, and remarks.

    Parameters
    ----------
    line : LaunchLine
    job : Job
        Its position.

    Raises
    ------
    LaunchError
        If the line would be rejected, or requests something that is not modeled.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.scripts import read_script
    >>> cluster = Machine.load("cluster")
    >>> (line,) = read_script("mpirun -np 4 --map-by socket:PE=2 ./a.out").lines
    >>> kind, ((component,), _, _) = read_mpiexec(line, Job(cluster, cluster.node()))
    >>> kind, component.mapping
    ('openmpi', TaskMapping(unit='socket', per_unit=None, width=2, bind='own'))
    """
    remarks = Remarks.none()
    kind = _kind(line, job, remarks)
    guessed = bool(remarks.doubts)
    environment: dict[str, str] = {}
    components = []
    where = f"{_LAUNCHERS[kind].title}'s mpiexec that can be read"
    for given, command in read_programs(line.words, kind, where=where):
        options = {option.name: option for option in given}
        environment |= assigned(option.value for option in given if option.name in ("-env", "-x"))
        known = _known_variables(kind, {**line.environment, **environment})
        counted = _counts(kind, given, known, job, remarks)
        _check_pattern(kind, given, counted, job)
        if not counted["tasks"]:
            rule = "has no -n, and no script around it sets the number of tasks"
            raise LaunchError(line.launcher, "", rule)
        typed = (option._replace(name=option.typed) for option in options.values())
        component = _map(kind, component_of(typed, command, counted), given, known, job, remarks)
        components.append(
            component if _HOSTS & set(options) else _in_job(component, kind, known, job, remarks, guessed=guessed)
        )
    if len(components) > 1:
        _check_programs(components, kind, job, remarks, guessed=guessed)
    return kind, (tuple(components), environment, remarks)


def _check_programs(
    components: Sequence[Component], kind: LauncherKind, job: Job, remarks: Remarks, *, guessed: bool
) -> None:
    """Reject programs of one line that have more tasks together than Open MPI has slots; others may crowd the nodes."""
    reserved, tasks = job.reservation, sum(component.tasks for component in components)
    slots = max(component.tasks_per_node or 0 for component in components)
    if reserved is None or not slots or tasks <= reserved.nodes * slots:
        return
    if any((component.overcommit and kind == "openmpi") or component.given("-host") for component in components):
        return
    rule = f"tasks of all programs are more than {reserved.nodes} x {slots}, the slots of {count(reserved.nodes, 'node')} of the job"
    if kind == "openmpi" and not guessed:
        raise LaunchError("-n", tasks, rule, words="There are not enough slots available in the system")
    remarks.doubts.insert(0, f"The {tasks} {rule}, and the line gets no other nodes: it may be refused, or crowd them.")


# Options that list the nodes.
_HOSTS = {"-host", "-hostfile", "-f"}


def _in_job(
    component: Component,
    kind: LauncherKind,
    known: Mapping[str, str],
    job: Job,
    remarks: Remarks,
    *,
    guessed: bool,
) -> Component:
    """Return a component on no more nodes than its job has; more tasks than slots are rejected or crowd the nodes."""
    reserved, tasks = job.reservation, component.tasks
    if reserved is None:
        return component
    slots = component.tasks_per_node or 0
    by_node = component.mapping is not None and component.mapping.unit == "node-by-node"
    if not slots and kind != "pals" and reserved.tasks and reserved.batch == "slurm":
        # Slurm shares the tasks of a job out evenly, and so the slots.
        slots = -(-reserved.tasks // reserved.nodes)
        component = component if by_node else component._replace(tasks_per_node=slots, nodes=None)
    if not slots or tasks <= reserved.nodes * slots:
        return component
    each, job_nodes = -(-tasks // reserved.nodes), count(reserved.nodes, "node")
    crowded = component._replace(tasks_per_node=each, nodes=None)
    if kind == "openmpi":
        return _in_slots(crowded, slots, known, reserved, remarks, guessed=guessed)
    title = _LAUNCHERS[kind].title
    text = f"{title} has {tasks} tasks for {job_nodes} of {slots}, and no more nodes than the job's"
    if kind == "pals":
        remarks.doubts.append(f"{text}: it may refuse the line; shown is {each} per node.")
    else:
        remarks.assumptions.append(f"{text}: it starts over at the first node. Shown is {each} per node, in blocks.")
    return crowded


def _in_slots(
    crowded: Component,
    slots: int,
    known: Mapping[str, str],
    reserved: Reservation,
    remarks: Remarks,
    *,
    guessed: bool,
) -> Component:
    """Return more tasks than slots on the nodes of a job as Open MPI takes them: if the line allows it, or if it may be
    another's mpirun.
    """
    tasks, each = crowded.tasks, crowded.tasks_per_node
    if crowded.overcommit or any("oversubscribe" in f"{name}={value}" for name, value in known.items()):
        return crowded
    job_nodes = count(reserved.nodes, "node")
    if not guessed:
        rule = f"is more than {reserved.nodes} x {slots} tasks, the slots of {job_nodes} of the job"
        raise LaunchError("-n", tasks, rule, words="There are not enough slots available in the system")
    # The reason that the reader can act on comes first.
    text = f"{tasks} tasks are more than {job_nodes} of {slots} slots, and the line gets no other nodes"
    remarks.doubts.insert(0, f"{text}: Open MPI refuses it, others put {each} on a node.")
    mapper = OpenMpiMapper((("-oversubscribe", ""),), None, tasks)
    return crowded._replace(overcommit=True, mapper=mapper)


def _known_variables(kind: LauncherKind, variables: Variables) -> dict[str, str]:
    """Return the variables with known values; unknown variables of Intel MPI are rejected."""
    for name, value in variables.items():
        if kind == "intelmpi" and name.startswith("I_MPI_") and isinstance(value, Unknown):
            raise LaunchError(name, "", value.reason)
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def _kind(line: LaunchLine, job: Job, remarks: Remarks) -> LauncherKind:
    """Return the implementation: by its name, the machine, its options, the environment or the modules."""
    kinds = [launcher.kind for launcher in job.machine.launchers if launcher.kind in _LAUNCHERS]
    if len(kinds) == 1:
        return kinds[0]
    if line.launcher in ("orterun", "prterun", "prun"):
        return "openmpi"
    typed = " ".join((*line.environment, "", *(word.text for word in line.words), ""))
    modules = " ".join(job.modules).lower()
    by_signs = (kind for kind, known in _LAUNCHERS.items() if re.search(known.signs, typed))
    by_modules = (kind for kind, known in _LAUNCHERS.items() if re.search(known.modules, modules))
    by_hints = (kind for kind, known in _LAUNCHERS.items() if re.search(known.hints, typed))
    if known := next(chain(by_signs, by_modules, by_hints), None):
        return known
    hydra = line.launcher.endswith("hydra") or re.search(r" --?(genv|ppn|perhost) ", typed)
    guess: LauncherKind = "mpich" if hydra else "openmpi"
    remarks.doubts.append(
        f"The text does not identify the {line.launcher} implementation; shown is the behavior of {_LAUNCHERS[guess].title}, and "
        f"others bind otherwise. Load its module in the text, or run {_SHOW_BINDING} to see."
    )
    return guess


def _counts(
    kind: LauncherKind, given: Sequence[Given], known: Mapping[str, str], job: Job, remarks: Remarks
) -> dict[str, Any]:
    """Return tasks, nodes and tasks per node, from the line, the environment and the script around it."""
    options = {option.name: option for option in given}
    reservation, cores = job.reservation, len(job.node.usable_cores)
    fields = read_fields(options, kind)
    per_node = _tasks_per_node(kind, options, known, fields.get("tasks_per_node"), job)
    tasks: int = fields.get("tasks", 0)
    if not tasks and kind == "openmpi":
        tasks = _tasks_of_pattern(given, job, remarks)
    hosts = len(options["-host"].value.split(",")) if "-host" in options else None
    if reservation is None:
        return fields | {"tasks": tasks, "nodes": hosts, "tasks_per_node": per_node}
    tasks = tasks or reservation.tasks or reservation.nodes * (per_node or cores)
    if per_node is None and tasks > reservation.nodes * cores:
        on_nodes = f"{tasks} tasks on {count(reservation.nodes, 'node')}"
        remarks.notes.append(f"{on_nodes} are more than a core for each.")
    return fields | {"tasks": tasks, "nodes": hosts or min(reservation.nodes, tasks), "tasks_per_node": per_node}


def _check_pattern(kind: LauncherKind, given: Sequence[Given], counted: Mapping[str, Any], job: Job) -> None:
    """Reject more tasks than the pattern of a line of Open MPI gives on the nodes of the job."""
    if kind != "openmpi" or not job.reservation:
        return
    values = {option.name: option.value for option in given if option.bears}
    pattern = re.match(r"ppr:(\d{1,9}):", values.get("-map-by", ""), re.IGNORECASE)
    if not pattern and ("-map-by" in values or not {"-npernode", "-npersocket", "-pernode"} & set(values)):
        return
    release = _openmpi_release(" ".join(job.modules).lower())
    nodes, tasks = job.reservation.nodes, counted["tasks"]
    most = nodes * max(_ranks_of_node(given, release, job.node), default=0)
    if most and tasks > most:
        each = most // nodes
        rule = f"is more than {count(nodes, 'node')} x {each}, the tasks that the pattern of the line gives"
        raise LaunchError("-n", tasks, rule)


def _ranks_of_node(given: Sequence[Given], release: int | None, node: NodeKind) -> list[int]:
    """Return the tasks that a line of Open MPI without -n starts on a node, 0 for all slots, by each release that it may be."""
    options = [(option.name, option.value) for option in given if option.bears]
    found = []
    for each in (4, 5) if release is None else (5 if release >= 5 else 4,):
        try:
            found.append(ranks_of_line(options, each, node) or 0)
        except (LaunchError, CannotTellError):
            found.append(0)
    return found


def _tasks_of_pattern(given: Sequence[Given], job: Job, remarks: Remarks) -> int:
    """Return the tasks that a line of Open MPI without -n starts on the job's nodes by its pattern; 0 for all slots."""
    found = _ranks_of_node(given, _openmpi_release(" ".join(job.modules).lower()), job.node)
    if len(set(found)) > 1:
        remarks.doubts.append(
            "How many tasks Open MPI starts for this line without -n depends on its release. Give -n, or load its module "
            "with its release in the text."
        )
    return found[-1] * (job.reservation.nodes if job.reservation else 1)


def _openmpi_release(modules: str) -> int | None:
    """Return the release of Open MPI that modules such as openmpi/gcc/4.1.6 name; None if they do not."""
    match = re.search(r"open-?mpi(?:\S*/|-)v?([1-9])\.\d", modules)
    return int(match[1]) if match else None


def _tasks_per_node(
    kind: LauncherKind, options: Mapping[str, Given], known: Mapping[str, str], typed: int | None, job: Job
) -> int | None:
    """Return tasks per node: as given, by socket, or from a variable or the script."""
    if "-npersocket" in options:
        return whole_number(options["-npersocket"].typed, options["-npersocket"].value) * job.node.sockets
    if typed is None and kind == "intelmpi" and known.get("I_MPI_PERHOST", "").isdigit():
        typed = int(known["I_MPI_PERHOST"])
    return typed or (job.reservation.tasks_per_node if job.reservation else None)


def _map(
    kind: LauncherKind,
    component: Component,
    given: Sequence[Given],
    known: Mapping[str, str],
    job: Job,
    remarks: Remarks,
) -> Component:
    """Return a component with its mapping, as its launcher works it out."""
    node, options = job.node, {option.name: option for option in given}
    width = next((option for name, option in options.items() if name in ("-d", "-cpus-per-proc")), None)
    cpus = whole_number(width.typed, width.value) if width else 1
    component = component._replace(nodes=None if component.tasks_per_node else component.nodes)
    modules = " ".join(job.modules).lower()
    release = _openmpi_release(modules)
    request = _Request(component, options, cpus, known, node, remarks, release, modules, given)
    mapped = _MAPPERS[kind](request)
    if "-gpu-bind" in options:
        mapped = mapped._replace(gpus=_gpu_bind(options["-gpu-bind"], node))
    return mapped._replace(threads_per_task=max(1, (mapped.mapping or TaskMapping()).width))


def _gpu_bind(option: Given, node: NodeKind) -> GpuRequest:
    """Return the value of PALS' ``--gpu-bind``."""
    word, _, rest = option.value.partition(":")
    if word == "none":
        return GpuRequest(binding="none")
    numbering = node.gpu_numbering or tuple(map(str, range(node.gpus)))
    entries = [
        [number for number in numbering if {number, number.split(".")[0]} & set(part.split(","))]
        for part in rest.split(":")
    ]
    if word != "list" or not all(entries):
        raise option.refusal(f"must be none or list: with GPUs out of {', '.join(numbering)}")
    return GpuRequest(node.gpus, binding="map", entries=tuple(tuple(map(numbering.index, gpus)) for gpus in entries))


def _unit(typed: str, word: str) -> str:
    """Return the unit that a word names."""
    if word.lower() not in _UNITS:
        raise LaunchError(typed, word, f"is not a supported unit; supported are {', '.join(_UNITS)}")
    return _UNITS[word.lower()]


class _Request(NamedTuple):
    """Input of a launcher's rules: the partial component, options by name, width; Open MPI's release."""

    component: Component
    options: Mapping[str, Given]
    width: int
    known: Mapping[str, str]
    node: NodeKind
    remarks: Remarks
    release: int | None = None
    modules: str = ""
    given: Sequence[Given] = ()

    def plain_options(self) -> tuple[tuple[str, str], ...]:
        """Return the options with their values as typed, the parameters of ``--mca`` joined."""
        parameters = "\n".join(option.value for option in self.given if option.name == "-mca")
        plain = [(option.name, option.value) for option in self.given if option.bears and option.name != "-mca"]
        return tuple([*plain, ("-mca", parameters)] if parameters else plain)

    def typed(self, name: str) -> str:
        """Return the value of an option; nothing without it."""
        return self.options[name].value if name in self.options else ""

    def doubt(self, text: str) -> None:
        """Record an unknown."""
        self.remarks.doubts.append(text)

    def mapped(self, unit: str, bind: str, width: int | None = None, per_unit: int | None = None) -> Component:
        """Return the component with its tasks mapped to units, each with a width in cores or CPUs, and bound."""
        bound_to = "own" if bind in ("own", "core", "hwthread") else bind
        mapping = TaskMapping("slot" if unit == "core" else unit, per_unit, width or self.width, bound_to)
        return self.component._replace(mapping=mapping)

    def listed(self, lists: tuple[tuple[int, ...], ...]) -> Component:
        """Return the component with a list of CPUs for each task."""
        return self.mapped("number", "own", max(map(len, lists)))._replace(binding_list=lists)


def _pals(request: _Request) -> Component:
    """Map as PALS does: CPUs in the order of their numbers, a task's width at a time."""
    word, _, rest = request.typed("-cpu-bind").partition(":")
    if word in ("list", "mask"):
        typed = request.options["-cpu-bind"].typed
        if word == "mask":
            return request.listed(tuple(hex_mask(typed, part) for part in re.split("[,:]", rest)))
        return request.listed(tuple(number_list(typed, part, what="CPUs") for part in rest.split(":")))
    if not word:
        request.doubt(
            f"Without --cpu-bind it is not documented what PALS does; shown is depth. Run {_SHOW_BINDING} to see."
        )
    if word in ("", "depth", "none"):
        return request.mapped("number", "none" if word == "none" else "own")
    unit = _unit(request.options["-cpu-bind"].typed, word)
    if unit in ("numa", "socket") or request.width > 1:
        request.doubt(
            f"In which order PALS' --cpu-bind {word} goes over them is not documented; shown is in turn. "
            f"Run {_SHOW_BINDING} to see."
        )
    return request.mapped(unit, unit)


def _openmpi(request: _Request) -> Component:
    """Apply Open MPI's rules to the options and return the mapping for the counts of nodes."""
    mapper = OpenMpiMapper(request.plain_options(), request.release, request.component.tasks)
    parsed = _parsed(mapper.options, request.release)
    unit, width = parsed.unit or "slot", parsed.width
    if parsed.hwthreads or "hwthread" in (unit, parsed.bind):
        # The CPUs of a task are hardware threads.
        width = -(-width // request.node.threads_per_core)
    per_place = {"-npernode", "-npersocket", "-pernode"} & set(request.options)
    if "-map-by" in request.options and per_place and request.release != 5:
        request.doubt(f"Open MPI 4.1's handling of --map-by with a number of tasks per node is not modeled. {_REPORT}")
    component = request.component._replace(overcommit=parsed.oversubscribe, mapper=mapper)
    request = request._replace(component=component)
    if request.release is not None and request.release < 4:
        # 1.8 printed other bindings than 4.1.
        request.doubt(f"Releases of Open MPI before 4.0 are not followed; shown is what 4.1 does. {_REPORT}")
    if parsed.bind == "none" or parsed.overload:
        # No CPUs are kept for a task that is not bound.
        width = 1
    if parsed.per_unit and unit == "node":
        return request.mapped("slot", "own", width)._replace(tasks_per_node=parsed.per_unit, nodes=None)
    if unit == "node":
        return request.mapped("node-by-node", "own", width)
    return request.mapped(_COUNTED.get(unit, "slot"), "own", width, per_unit=parsed.per_unit)


# Units whose number on a node bounds its tasks.
_COUNTED = {"socket": "socket", "numa": "numa", "l3": "l3", "hwthread": "hwthread"}


def _parsed(options: Sequence[tuple[str, str]], release: int | None) -> OpenMpiRequest:
    """Return the request as the release parses it, or as one of both does."""
    releases = (4, 5) if release is None else (5 if release >= 5 else 4,)
    error: LaunchError | None = None
    for each in releases:
        try:
            return read_openmpi(options, each)
        except LaunchError as refusal:
            error = error or refusal
        except CannotTellError:
            # The placement explains it; its counts are those of a line without options.
            return OpenMpiRequest()
    if error:
        raise error
    return OpenMpiRequest()


def _mpich(request: _Request) -> Component:
    """Bind as MPICH's Hydra does: only if the line has -bind-to; with fewer CPUs than tasks it starts over."""
    variables = request.known
    bind = request.typed("-bind-to") or variables.get("HYDRA_BINDING", "")
    mapping = request.typed("-map-by") or variables.get("HYDRA_MAPPING", "")
    if not bind and "mvapich" in request.modules:
        request.doubt(
            f"MVAPICH binds ranks itself where mpiexec does not, which is not followed. Run {_SHOW_BINDING} to see."
        )
    mapped = request.mapped("slot", "own", 1)
    return mapped._replace(overcommit=True, mapper=HydraMapper(bind, mapping))


def _intelmpi(request: _Request) -> Component:
    """Apply Intel MPI's rules to the variables; there are three versions by release."""
    names = ("I_MPI_", "OMP_NUM_THREADS")
    variables = tuple((name, value) for name, value in request.known.items() if name.startswith(names))
    foreign = next((name for name in ("-bind-to", "-map-by") if name in request.options), "")
    release = None
    if match := re.search(r"(?:impi|intel-?mpi|intel-oneapi-mpi)/(?:20)?(\d\d)\.(\d{1,2})", request.modules):
        release = (2000 + int(match[1]), int(match[2]))
    known = release if release and release >= (2021, 5) else None
    if release and not known and dict(variables).get("I_MPI_PIN", "").lower() not in ("0", "no", "off", "disable"):
        request.doubt(
            "Releases of Intel MPI before 2021.5 were not tested; shown is the behavior of later ones. Set I_MPI_DEBUG=4 to see."
        )
    mapped = request.mapped("slot", "own", 1)
    return mapped._replace(overcommit=True, mapper=IntelMapper(variables, foreign, known))


_MAPPERS = {"pals": _pals, "openmpi": _openmpi, "mpich": _mpich, "intelmpi": _intelmpi}
