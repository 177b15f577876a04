"""mpiexec and mpirun lines read into components: whose mpiexec it is, its options, and what they map and bind.

Options and defaults as in the manuals that `hopperkit.launchers.filling.mpiexec_layout`
names.
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from hopperkit.launchers.option_values import assigned, hex_mask, number_list, whole_number
from hopperkit.launchers.options import Given, component_of, read_fields, read_programs
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.shell import Unknown, Variables
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


class _Mpiexec(NamedTuple):
    """Whose mpiexec a line is: its name, and what tells it in words and environment, then in the modules of the text."""

    title: str
    signs: str
    modules: str


_LAUNCHERS: dict[LauncherKind, _Mpiexec] = {
    "intelmpi": _Mpiexec("Intel MPI", r"\bI_MPI_", "impi|intel-?mpi|intel-oneapi-mpi"),
    "pals": _Mpiexec("PALS", r" --?(cpu-bind|depth|gpu-bind)\b", "(?!)"),
    "openmpi": _Mpiexec(
        "Open MPI",
        r" --(map-by|bind-to|rank-by)\b"
        r"| --?(mca|report-bindings|npernode|npersocket|oversubscribe|allow-run-as-root|x) | -N |\bOMPI_",
        "open-?mpi|hpcx",
    ),
    "mpich": _Mpiexec("MPICH", r" -(bind-to|map-by)\b", "mpich|mvapich"),
}
# Units that the launchers map to and bind to, by what they may be called.
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
_OFF = ("0", "no", "off", "disable", "false")


def read_mpiexec(line: LaunchLine, job: Job) -> tuple[LauncherKind, ReadLine]:
    """Return whose mpiexec it is, the components of its line, variables that it sets, and remarks.

    Parameters
    ----------
    line : LaunchLine
    job : Job
        Where it stands.

    Raises
    ------
    LaunchError
        If the line would be refused, or asks for what is not modeled.

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
    environment: dict[str, str] = {}
    components = []
    where = f"{_LAUNCHERS[kind].title}'s mpiexec that can be read"
    for given, command in read_programs(line.words, kind, where=where):
        options = {option.name: option for option in given}
        environment |= assigned(option.value for option in given if option.name in ("-env", "-x"))
        known = _known_variables(kind, {**line.environment, **environment})
        counted = _counts(kind, options, known, job, remarks)
        if not counted["tasks"]:
            rule = "has no -n, and no script around it says how many tasks there are"
            raise LaunchError(line.launcher, "", rule)
        typed = (option._replace(name=option.typed) for option in options.values())
        components.append(_map(kind, component_of(typed, command, counted), options, known, job, remarks))
    return kind, (tuple(components), environment, remarks)


def _known_variables(kind: LauncherKind, variables: Variables) -> dict[str, str]:
    """Return the variables whose values are known; one of Intel MPI's own that is not is refused."""
    for name, value in variables.items():
        if kind == "intelmpi" and name.startswith("I_MPI_") and isinstance(value, Unknown):
            raise LaunchError(name, "", value.reason)
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def _kind(line: LaunchLine, job: Job, remarks: Remarks) -> LauncherKind:
    """Return whose mpiexec it is: as its name, the machine, its options, the environment or the modules say."""
    own = [launcher.kind for launcher in job.machine.launchers if launcher.kind in _LAUNCHERS]
    if len(own) == 1:
        return own[0]
    if line.launcher in ("orterun", "prterun", "prun"):
        return "openmpi"
    typed = " ".join((*line.environment, "", *(word.text for word in line.words), ""))
    modules = " ".join(job.modules).lower()
    by_signs = (kind for kind, known in _LAUNCHERS.items() if re.search(known.signs, typed))
    by_modules = (kind for kind, known in _LAUNCHERS.items() if re.search(known.modules, modules))
    if known := next(chain(by_signs, by_modules), None):
        return known
    hydra = line.launcher.endswith("hydra") or re.search(r" --?(genv|ppn|perhost) ", typed)
    guess: LauncherKind = "mpich" if hydra else "openmpi"
    remarks.doubts.append(
        f"The text does not say whose {line.launcher} this is; shown is what {_LAUNCHERS[guess].title} would do, and "
        f"others bind otherwise. Load its module in the text, or run {_SHOW_BINDING} to see."
    )
    return guess


def _counts(
    kind: LauncherKind, options: Mapping[str, Given], known: Mapping[str, str], job: Job, remarks: Remarks
) -> dict[str, Any]:
    """Return tasks, nodes and tasks a node, as the line, the environment and the script around it say."""
    reservation, cores = job.reservation, len(job.node.usable_cores)
    fields = read_fields(options, kind)
    per_node = _tasks_per_node(kind, options, known, fields.get("tasks_per_node"), job)
    tasks: int = fields.get("tasks", 0)
    hosts = len(options["-host"].value.split(",")) if "-host" in options else None
    if reservation is None:
        return fields | {"tasks": tasks, "nodes": hosts, "tasks_per_node": per_node}
    tasks = tasks or reservation.tasks or reservation.nodes * (per_node or cores)
    if per_node is None and tasks > reservation.nodes * cores:
        on_nodes = f"{tasks} tasks on {count(reservation.nodes, 'node')}"
        remarks.notes.append(f"{on_nodes} are more than a core for each.")
    return fields | {"tasks": tasks, "nodes": hosts or min(reservation.nodes, tasks), "tasks_per_node": per_node}


def _tasks_per_node(
    kind: LauncherKind, options: Mapping[str, Given], known: Mapping[str, str], typed: int | None, job: Job
) -> int | None:
    """Return tasks a node: as typed, by the socket, as a variable or the script around the line says."""
    if "-npersocket" in options:
        return whole_number(options["-npersocket"].typed, options["-npersocket"].value) * job.node.sockets
    if typed is None and kind == "intelmpi" and known.get("I_MPI_PERHOST", "").isdigit():
        typed = int(known["I_MPI_PERHOST"])
    return typed or (job.reservation.tasks_per_node if job.reservation else None)


def _map(
    kind: LauncherKind,
    component: Component,
    options: Mapping[str, Given],
    known: Mapping[str, str],
    job: Job,
    remarks: Remarks,
) -> Component:
    """Return a component with its mapping, as its launcher works it out."""
    node = job.node
    per_node, nodes, tasks = component.tasks_per_node, component.nodes, component.tasks
    on_node = min(tasks, per_node or -(-tasks // nodes) if nodes else per_node or len(node.usable_cores))
    width = next((option for name, option in options.items() if name in ("-d", "-cpus-per-proc")), None)
    cpus = whole_number(width.typed, width.value) if width else 1
    component = component._replace(nodes=None if per_node else nodes)
    release = re.search(r"open-?mpi/(\d{1,2})\.", " ".join(job.modules).lower())
    request = _Request(component, options, cpus, on_node, known, node, remarks, int(release[1]) if release else None)
    mapped = _MAPPERS[kind](request)
    if "-gpu-bind" in options:
        mapped = mapped._replace(gpus=_gpu_bind(options["-gpu-bind"], node))
    return mapped._replace(threads_per_task=max(1, (mapped.mapping or TaskMapping()).width))


def _gpu_bind(option: Given, node: NodeKind) -> GpuRequest:
    """Return what PALS' ``--gpu-bind`` says."""
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
    return GpuRequest(node.gpus, binding="map", entries=tuple(tuple(map(numbering.index, own)) for own in entries))


def _unit(typed: str, word: str) -> str:
    """Return the unit that a word names."""
    if word.lower() not in _UNITS:
        raise LaunchError(typed, word, f"is no unit that can be read; there are {', '.join(_UNITS)}")
    return _UNITS[word.lower()]


def units_of(unit: str, kind: NodeKind) -> list[list[int]]:
    """Return the CPUs of each unit of a node that jobs may use, in the order of the units, core by core.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> units_of("core", Machine.load("perlmutter").node())[1]
    [1, 129]
    """
    usable, threads = kind.usable_cores, range(kind.threads_per_core)
    if unit in ("number", "hwthread"):
        cpus = [[kind.cpu(core, thread)] for core in usable for thread in threads]
        return sorted(cpus) if unit == "number" else cpus
    widths = {"numa": kind.cores_per_numa_node, "socket": kind.cores_per_socket, "node": kind.cores}
    widths["l3"] = kind.cores_per_l3 or kind.cores_per_numa_node
    width = widths.get(unit, 1)
    groups = [range(first, first + width) for first in range(0, kind.cores, width)]
    members = [[kind.cpu(core, thread) for core in group if core in usable for thread in threads] for group in groups]
    return [group for group in members if group]


class _Request(NamedTuple):
    """What a line asks for, for the launcher's own rules: the component so far, options by name, width, tasks of a node; the release of Open MPI."""

    component: Component
    options: Mapping[str, Given]
    width: int
    on_node: int
    known: Mapping[str, str]
    node: NodeKind
    remarks: Remarks
    release: int | None = None

    def typed(self, name: str) -> str:
        """Return the value of an option; nothing without it."""
        return self.options[name].value if name in self.options else ""

    def doubt(self, text: str) -> None:
        """Note what cannot be told."""
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
    """Map as Open MPI's release does; where the text does not say which, what 4.1 and 5.0 do not share cannot be told."""
    if request.release is not None:
        return _openmpi_as(request, fifth=request.release >= 5)
    mapped = _openmpi_as(request, fifth=False)
    try:
        same = _openmpi_as(request, fifth=True) == mapped
    except LaunchError:
        same = False
    if not same:
        request.doubt(
            "What Open MPI does with this line depends on its release: shown is what 4.1 does, and 5.0 does something "
            f"else or refuses it. Load its module with its release in the text. {_REPORT}"
        )
    return mapped


def _openmpi_as(request: _Request, *, fifth: bool) -> Component:
    """Map as 4.1 or the `fifth` release does, of which 4.1.4 and 5.0.7 were asked: --map-by, --bind-to, what is missing."""
    request, unit, each = _openmpi_map(request)
    if request.typed("-rank-by").split(":")[0].lower() not in ("", "slot", "fill", "core"):
        request.doubt(f"What --rank-by does beside --map-by has changed between releases. {_REPORT}")
    bound = _openmpi_bind(request, unit)
    if bound == "hwthread" != unit and request.node.threads_per_core > 1:
        return _openmpi_threads(request, unit, fifth=fifth)
    if not bound or not unit:
        unit, bound = _openmpi_defaults(request, unit, bound, fifth=fifth)
    if not _openmpi_conflict(request, unit, bound, fifth=fifth) and bound != "none" and request.on_node > 1:
        each = _openmpi_order(request, unit, bound, each, fifth=fifth)
    if bound == "none":
        # Nobody keeps the cores of PE= for a task that is not bound.
        request = request._replace(width=1)
    if each and unit == "node":
        return request.mapped("slot", bound)._replace(tasks_per_node=each, nodes=None)
    return request.mapped("node-by-node" if unit == "node" else unit, bound, per_unit=each)


def _openmpi_threads(request: _Request, unit: str, *, fifth: bool) -> Component:
    """Map to another unit what is bound to single hardware threads: known of cores before 5.0 alone."""
    if unit == "core" and request.width == 1 and not fifth:
        return request.mapped(unit, "first")
    request.doubt(
        f"Which hardware threads --bind-to hwthread takes beside --map-by {unit or 'slot'} is not documented; "
        f"shown are the task's cores. {_REPORT}"
    )
    return request.mapped(unit or "slot", "own")


def _openmpi_defaults(request: _Request, unit: str, bound: str, *, fifth: bool) -> tuple[str, str]:
    """Return the unit that tasks are mapped to and the one they are bound to where the line says one of them at most."""
    if fifth and unit != "node":
        by_bound = bound in ("l3", "numa", "socket") and not unit
        usual = bound if by_bound else "slot", "numa" if unit else "core"
    else:
        one_numa_node = bool(bound) and request.node.sockets == 1 == request.node.numa_nodes
        wide = not unit and bound in ("core", "none", "hwthread") and request.width > 1
        usual = ("slot", "core") if one_numa_node or wide or request.component.tasks <= 2 else ("numa", "numa")
    return unit or usual[0], bound or usual[1]


# From the narrowest unit to the widest; slots are dealt out one behind the other.
_WIDTHS = ("hwthread", "core", "l3", "numa", "socket", "node")


def _openmpi_conflict(request: _Request, unit: str, bound: str, *, fifth: bool) -> bool:
    """Refuse a binding that cannot stand with the mapping; return whether only releases before 5.0 take it."""
    loose = bound == "none"
    if request.width > 1 and (bound in _WIDTHS[2:] or (loose and fifth)):
        rule = "cannot stand with PE= of --map-by, which binds a task to that many cores"
        raise LaunchError("--bind-to", bound, rule)
    wider = not loose and unit in _WIDTHS and _WIDTHS.index(bound) > _WIDTHS.index(unit) and request.on_node > 1
    if wider and fifth:
        rule = f"is wider than the {unit} that tasks are mapped to, which Open MPI refuses from 5.0 on"
        raise LaunchError("--bind-to", bound, rule)
    return wider or (loose and request.width > 1)


def _openmpi_order(request: _Request, unit: str, bound: str, each: int | None, *, fifth: bool) -> int | None:
    """Return how many tasks in a row a unit gets."""
    if fifth and unit in ("l3", "numa", "socket") and not each:
        rounds, rest = divmod(request.on_node, len(units_of(unit, request.node)))
        if rounds > 1 and not rest:
            return rounds
        if rounds and rest:
            request.doubt(
                f"How Open MPI 5.0 deals {request.on_node} tasks out over the {unit}s is not known. {_REPORT}"
            )
    if bound in ("l3", "numa") and unit != bound and not fifth:
        request.doubt(f"Which {bound} of its {unit} Open MPI 4.1 binds a task to is not known. {_REPORT}")
    return each


def _openmpi_map(request: _Request) -> tuple[_Request, str, int | None]:
    """Return what --map-by says: the request with width and overcommitment, the unit, and tasks for each (ppr)."""
    old = next((name[3:] for name in request.options if name in ("-bycore", "-bysocket", "-bynode")), "")
    value = request.typed("-map-by") or old
    ppr = re.match(r"ppr:([^:]+):([^:]+)(.*)", value, re.IGNORECASE)
    word, *modifiers = (ppr[2] + ppr[3] if ppr else value).split(":")
    for modifier in map(str.lower, modifiers):
        if modifier.startswith("pe="):
            request = request._replace(width=whole_number("--map-by", modifier[3:]))
        elif modifier == "oversubscribe":
            request = request._replace(component=request.component._replace(overcommit=True))
    return request, _unit("--map-by", word) if word else "", whole_number("--map-by", ppr[1]) if ppr else None


def _openmpi_bind(request: _Request, unit: str) -> str:
    """Return what tasks are bound to; nothing where neither the line nor what they are mapped by says."""
    old = next((name[9:] for name in request.options if name.startswith("-bind-to-")), "")
    typed = (request.typed("-bind-to") or old).split(":")[0].lower()
    if typed:
        return typed if typed == "none" else _unit("--bind-to", typed)
    if request.component.overcommit:
        return "none"
    if request.width > 1:
        return "core"
    if unit in ("", "slot", "node"):
        return ""
    if unit in ("core", "hwthread"):
        assumption = f"Without --bind-to, tasks are taken to be bound to the {unit} that they are mapped to."
        request.remarks.assumptions.append(assumption)
    else:
        request.doubt(
            f"Without --bind-to, releases of Open MPI differ: they bind to the {unit} that a task is mapped to, shown "
            "here, or to a core where there are two tasks or fewer. Add --bind-to, or --report-bindings to see."
        )
    return unit


def _mpich(request: _Request) -> Component:
    """Bind as MPICH's Hydra does: not at all unless the line says -bind-to; with fewer CPUs than tasks it begins anew."""
    bind, _, listed = (request.typed("-bind-to") or "none").partition(":")
    if bind == "none":
        return request.mapped("slot", "none", 1)
    if bind == "user":
        lists = [number_list("-bind-to", part.replace("+", ","), what="CPUs") for part in listed.split(",")]
        # Tasks beyond the list are not bound.
        rest = tuple(cpu for unit in units_of("core", request.node) for cpu in unit)
        cpus = [*lists, *[rest] * (request.on_node - len(lists))]
    else:
        cpus = list(_hydra_masks(request))
    # Tasks may share what they are bound to: a core is each one's own if there are enough.
    cores = min(len(cpus[0]) // request.node.threads_per_core, request.node.cores // request.on_node)
    return request.mapped("slot", "own", max(1, cores))._replace(binding_list=tuple(cpus), overcommit=True)


def _hydra_masks(request: _Request) -> Iterator[tuple[int, ...]]:
    """Yield the CPUs of each task: as many as it binds to, from the unit on that its place in the mapping lies in.

    Each round over the units that tasks are mapped to begins further on in them, where there is room. Hydra 4.0.2
    was asked on a node that hwloc showed it.
    """
    kind = request.node
    cpus = [kind.cpu(core, thread) for core in range(kind.cores) for thread in range(kind.threads_per_core)]
    unit, width = _hydra_unit(request.typed("-bind-to"), kind)
    _, mapped = _hydra_unit(request.typed("-map-by") or request.typed("-bind-to"), kind)
    total = len(cpus)
    # Where the units do not divide the node, the places go on at its beginning until each was taken.
    room = math.gcd(mapped, total)
    if width < mapped and request.on_node > total // room and (mapped % width or room < mapped):
        request.doubt(
            "More tasks than units that they are mapped to, and what they are bound to does not divide those: where Hydra "
            f"goes on is not known. Run {_SHOW_BINDING} to see."
        )
    for task in range(request.on_node):
        around, place = divmod(task, total // room)
        shift = around % max(1, room // width) * width
        first = (place * mapped + shift) % total // unit * unit
        yield tuple(cpus[(first + index) % total] for index in range(min(width, total)))


def _hydra_unit(typed: str, kind: NodeKind) -> tuple[int, int]:
    """Return the hardware threads of the unit that a word names, and of as many of them as it asks for."""
    word, _, number = typed.partition(":")
    cores = {"core": 1, "l3cache": kind.cores_per_l3 or kind.cores_per_numa_node, "numa": kind.cores_per_numa_node}
    cores |= {"socket": kind.cores_per_socket}
    if word not in (*cores, "hwthread"):
        raise LaunchError("-bind-to", typed, f"names no unit that Hydra knows; there are hwthread, {', '.join(cores)}")
    each = cores[word] * kind.threads_per_core if word in cores else 1
    return each, each * (whole_number("-bind-to", number) if number else 1)


def _intelmpi(request: _Request) -> Component:
    """Map as Intel MPI does: a domain of CPUs for each task, an even share of the node's or one for each OpenMP thread."""
    known = request.known
    if "-bind-to" in request.options:
        return _mpich(request)
    if known.get("I_MPI_PIN", "1").lower() in _OFF:
        return request.mapped("slot", "none", 1)
    cpus, domain = len(units_of("hwthread", request.node)), known.get("I_MPI_PIN_DOMAIN", "auto")
    share = max(1, cpus // request.on_node)
    if domain == "omp" and known.get("OMP_NUM_THREADS", "")[:1].isdigit():
        share = int(known["OMP_NUM_THREADS"].split(",")[0])
    if domain not in ("auto", "omp") or "I_MPI_PIN_PROCESSOR_LIST" in known or share * request.on_node < cpus:
        request.doubt(
            "How Intel MPI lays out domains that leave CPUs over (I_MPI_PIN_ORDER), or that its variables spell out, is not "
            "followed; shown is one behind the other. Set I_MPI_DEBUG=4 to see."
        )
    return request.mapped("hwthread", "own", share)


_MAPPERS = {"pals": _pals, "openmpi": _openmpi, "mpich": _mpich, "intelmpi": _intelmpi}
