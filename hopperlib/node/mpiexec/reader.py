"""mpiexec and mpirun lines read into components: whose mpiexec it is, its options, and what they map and bind.

Options and defaults as in the manuals that `hopperlib.node.mpiexec.layout`
names.
"""

import re
from typing import Any, NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.launch.components import (
    Component,
    GpuRequest,
    Job,
    LauncherKind,
    LaunchError,
    ReadLine,
    Remarks,
    TaskMapping,
    remark,
)
from hopperlib.node.launch.option_values import assigned, hex_mask, number_list, whole_number
from hopperlib.node.launch.options import Given, component_of, read_fields, read_programs
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Unknown
from hopperlib.node.mpiexec.layout import place_mpiexec, units_of
from hopperlib.package_data import read_beside

_TABLE: dict[str, dict[str, Any]] = read_beside(__file__, "launchers.toml")
_LAUNCHERS: dict[LauncherKind, dict[str, str]] = _TABLE["launchers"]  # type: ignore[assignment]
_CHECK = "mpiexec ... bash -c 'taskset -cp $$'"
_OFF = ("0", "no", "off", "disable", "false")


def read_mpiexec(invocation: Invocation, job: Job) -> tuple[LauncherKind, ReadLine]:
    """Return whose mpiexec it is, the components of its line, variables that it sets, and remarks.

    Parameters
    ----------
    invocation : Invocation
    job : Job
        Where it stands.

    Raises
    ------
    LaunchError
        If the line would be refused, or asks for what is not modeled.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.scripts import find_invocations
    >>> cluster = Machine.load("cluster")
    >>> (invocation,) = find_invocations("mpirun -np 4 --map-by socket:PE=2 ./a.out", {})
    >>> kind, ((component,), _, _) = read_mpiexec(invocation, Job(cluster, cluster.node()))
    >>> kind, component.mapping
    ('openmpi', TaskMapping(unit='socket', per_unit=None, width=2, bind='own'))
    """
    remarks = Remarks.none()
    kind = _kind(invocation, job, remarks)
    environment: dict[str, str] = {}
    components = []
    where = f"{_LAUNCHERS[kind]['title']}'s mpiexec that can be read"
    for given, command in read_programs(invocation.words, kind, where=where):
        options = {option.name: option for option in given}
        environment |= assigned(option.value for option in given if option.name in ("-env", "-x"))
        known = {**invocation.environment, **environment}
        for name, value in known.items():
            if kind == "intelmpi" and name.startswith("I_MPI_") and isinstance(value, Unknown):
                raise LaunchError(name, "", value.reason)
        strings = {name: value for name, value in known.items() if isinstance(value, str)}
        counted = _counted(kind, options, strings, job, remarks)
        if not counted["tasks"]:
            raise LaunchError(invocation.launcher, "", remark("no-tasks"))
        typed = (option._replace(name=option.typed) for option in options.values())
        request = component_of(typed, command, counted)
        components.append(_mapped(kind, request, options, strings, job.node, remarks))
    for component in components:
        place_mpiexec(component, job.node, job.machine, 1)
    return kind, (tuple(components), environment, remarks)


def _kind(invocation: Invocation, job: Job, remarks: Remarks) -> LauncherKind:
    """Return whose mpiexec it is: as its name, the machine, its options, the environment or the modules say."""
    own = [launcher.kind for launcher in job.machine.launchers if launcher.kind in _LAUNCHERS]
    if len(own) == 1:
        return own[0]
    if invocation.launcher in ("orterun", "prterun", "prun"):
        return "openmpi"
    line = " ".join((*invocation.environment, "", *(word.text for word in invocation.words), ""))
    loaded = " ".join(re.findall(r"^[ \t]*(?:module|ml|spack)\b.*$", job.text, re.MULTILINE)).lower()
    for signs, where in (("signs", line), ("modules", loaded)):
        for kind, words in _LAUNCHERS.items():
            if re.search(words[signs], where):
                return kind
    hydra = invocation.launcher.endswith("hydra") or re.search(r" --?(genv|ppn|perhost) ", line)
    guess: LauncherKind = "mpich" if hydra else "openmpi"
    title = _LAUNCHERS[guess]["title"]
    remarks.doubts.append(remark("whose", name=invocation.launcher, title=title, check=_CHECK))
    return guess


def _counted(
    kind: LauncherKind, options: dict[str, Given], known: dict[str, str], job: Job, remarks: Remarks
) -> dict[str, Any]:
    """Return tasks, nodes and tasks a node, as the line, the environment and the script around it say."""
    node, reservation = job.node, job.reservation
    fields = read_fields(options, kind)
    per_node = fields.get("tasks_per_node")
    if "-npersocket" in options:
        per_node = whole_number(options["-npersocket"].typed, options["-npersocket"].value) * node.sockets
    if per_node is None and kind == "intelmpi" and known.get("I_MPI_PERHOST", "").isdigit():
        per_node = int(known["I_MPI_PERHOST"])
    per_node = per_node or (reservation.tasks_per_node if reservation else None)
    reserved = (reservation.tasks or reservation.nodes * (per_node or len(node.usable_cores))) if reservation else 0
    tasks: int = fields.get("tasks") or reserved
    if reservation is not None and per_node is None and tasks > reservation.nodes * len(node.usable_cores):
        remarks.notes.append(f"{tasks} tasks on {reservation.nodes} nodes are more than a core for each.")
    hosts = len(options["-host"].value.split(",")) if "-host" in options else None
    nodes = hosts or (min(reservation.nodes, tasks) if reservation else None)
    return fields | {"tasks": tasks, "nodes": nodes, "tasks_per_node": per_node}


def _mapped(
    kind: LauncherKind,
    request: Component,
    options: dict[str, Given],
    known: dict[str, str],
    node: NodeKind,
    remarks: Remarks,
) -> Component:
    """Return a component with its mapping, as its launcher works it out."""
    per_node, nodes, tasks = request.tasks_per_node, request.nodes, request.tasks
    on_node = min(tasks, per_node or -(-tasks // nodes) if nodes else per_node or len(node.usable_cores))
    width = next((option for name, option in options.items() if name in ("-d", "-cpus-per-proc")), None)
    cpus = whole_number(width.typed, width.value) if width else 1
    request = request._replace(nodes=None if per_node else nodes)
    mapped = _MAPPERS[kind](_Asked(request, options, cpus, on_node, known, node, remarks))
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
    units: dict[str, str] = _TABLE["units"]
    if word.lower() not in units:
        raise LaunchError(typed, word, f"is no unit that can be read; there are {', '.join(units)}")
    return units[word.lower()]


class _Asked(NamedTuple):
    """What a line says, for the launcher's own rules: the component so far, options by key, width, tasks of a node."""

    request: Component
    options: dict[str, Given]
    width: int
    on_node: int
    known: dict[str, str]
    node: NodeKind
    remarks: Remarks

    def typed(self, name: str) -> str:
        """Return the value of an option; nothing without it."""
        return self.options[name].value if name in self.options else ""

    def doubt(self, text: str, **words: object) -> None:
        """Say what cannot be told."""
        self.remarks.doubts.append(remark(text, check=_CHECK, **words))

    def mapped(self, unit: str, bind: str, width: int | None = None, per_unit: int | None = None) -> Component:
        """Return the component with its tasks mapped to units, so many cores or CPUs each, and bound."""
        own = "own" if bind in ("own", "core", "hwthread") else bind
        mapping = TaskMapping("slot" if unit == "core" else unit, per_unit, width or self.width, own)
        return self.request._replace(mapping=mapping)

    def listed(self, lists: tuple[tuple[int, ...], ...]) -> Component:
        """Return the component with a list of CPUs for each task."""
        return self.mapped("number", "own", max(map(len, lists)))._replace(binding_list=lists)


def _pals(asked: _Asked) -> Component:
    """Map as PALS does: CPUs in the order of their numbers, so many for a task."""
    word, _, rest = asked.typed("-cpu-bind").partition(":")
    if word in ("list", "mask"):
        typed = asked.options["-cpu-bind"].typed
        if word == "mask":
            return asked.listed(tuple(hex_mask(typed, part) for part in re.split("[,:]", rest)))
        return asked.listed(tuple(number_list(typed, part, what="CPUs") for part in rest.split(":")))
    if not word:
        asked.doubt("pals-silent")
    if word in ("", "depth", "none"):
        return asked.mapped("number", "none" if word == "none" else "own")
    unit = _unit(asked.options["-cpu-bind"].typed, word)
    if unit in ("numa", "socket") or asked.width > 1:
        asked.doubt("pals-order", word=word)
    return asked.mapped(unit, unit)


def _openmpi(asked: _Asked) -> Component:
    """Map as Open MPI does: --map-by and --bind-to, and what follows if one of them is missing."""
    asked, unit, each = _openmpi_map(asked)
    if asked.typed("-rank-by").split(":")[0].lower() not in ("", "slot", "fill", "core"):
        asked.doubt("rank-by")
    bound = _openmpi_bind(asked, unit)
    if bound == "hwthread" and unit != "hwthread" and asked.node.threads_per_core > 1:
        if unit == "core" and asked.width == 1:
            return asked.mapped(unit, "first")
        asked.doubt("which-threads", unit=unit or "slot")
    if not bound or not unit:
        one_unit = bound and asked.node.sockets == 1 == asked.node.numa_nodes
        wide = not unit and bound in ("core", "none", "hwthread") and asked.width > 1
        # Two tasks are mapped and bound by core in every release; for more, releases take sockets or NUMA nodes.
        sure = asked.request.tasks <= 2 or one_unit or wide
        if not sure:
            asked.doubt("openmpi-silent")
        unit, bound = (unit or "slot", bound or "core") if sure else (unit or "socket", bound or "socket")
    if each and unit == "node":
        return asked.mapped("slot", bound)._replace(tasks_per_node=each, nodes=None)
    return asked.mapped("node-by-node" if unit == "node" else unit, bound, per_unit=each)


def _openmpi_map(asked: _Asked) -> tuple[_Asked, str, int | None]:
    """Return what --map-by says: the width and overcommitment among what is asked, the unit, and tasks for each (ppr)."""
    old = next((name[3:] for name in asked.options if name in ("-bycore", "-bysocket", "-bynode")), "")
    value = asked.typed("-map-by") or old
    ppr = re.match(r"ppr:([^:]+):([^:]+)(.*)", value, re.IGNORECASE)
    word, *modifiers = (ppr[2] + ppr[3] if ppr else value).split(":")
    for modifier in map(str.lower, modifiers):
        if modifier.startswith("pe="):
            asked = asked._replace(width=whole_number("--map-by", modifier[3:]))
        elif modifier == "oversubscribe":
            asked = asked._replace(request=asked.request._replace(overcommit=True))
    return asked, _unit("--map-by", word) if word else "", whole_number("--map-by", ppr[1]) if ppr else None


def _openmpi_bind(asked: _Asked, unit: str) -> str:
    """Return what tasks are bound to; nothing where neither the line nor what they are mapped by says."""
    old = next((name[9:] for name in asked.options if name.startswith("-bind-to-")), "")
    typed = (asked.typed("-bind-to") or old).split(":")[0].lower()
    if typed:
        return typed if typed == "none" else _unit("--bind-to", typed)
    if asked.request.overcommit:
        return "none"
    if asked.width > 1:
        return "core"
    if unit in ("core", "hwthread"):
        asked.remarks.assumptions.append(remark("bound-as-mapped", unit=unit))
    elif unit not in ("", "slot", "node"):
        asked.doubt("bound-by-release", unit=unit)
    return "" if unit in ("slot", "node") else unit


def _mpich(asked: _Asked) -> Component:
    """Map as MPICH's Hydra does: unbound unless the line says -bind-to, mapped by the unit that it binds to."""
    bind, _, number = (asked.typed("-bind-to") or "none").partition(":")
    if bind == "none":
        return asked.mapped("slot", "none", 1)
    if bind == "user":
        parts = re.split(r"[,:]", number.replace("+", ","))
        return asked.listed(tuple(number_list("-bind-to", part, what="CPUs") for part in parts))
    unit = _unit("-bind-to", bind)
    width = whole_number("-bind-to", number) if number else 1
    mapped = _unit("-map-by", asked.typed("-map-by").partition(":")[0]) if "-map-by" in asked.options else unit
    if unit not in ("core", "hwthread") and width > 1:
        asked.doubt("several-units", bind=bind, number=number, unit=unit)
        width = 1
    return asked.mapped(mapped, unit, width)


def _intelmpi(asked: _Asked) -> Component:
    """Map as Intel MPI does: a domain of CPUs for each task, I_MPI_PIN_DOMAIN."""
    known = asked.known
    if "-bind-to" in asked.options:
        return _mpich(asked)
    if known.get("I_MPI_PIN", "1").lower() in _OFF:
        return asked.mapped("slot", "none", 1)
    listed, domain = known.get("I_MPI_PIN_PROCESSOR_LIST"), known.get("I_MPI_PIN_DOMAIN", "auto")
    if listed is not None and "I_MPI_PIN_DOMAIN" not in known:
        if not re.fullmatch(r"[0-9,-]+", listed):
            raise LaunchError("I_MPI_PIN_PROCESSOR_LIST", listed, "is read only as a list of CPU numbers")
        return asked.listed(tuple((cpu,) for cpu in number_list("I_MPI_PIN_PROCESSOR_LIST", listed, what="CPUs")))
    if domain.startswith("["):
        return asked.listed(tuple(hex_mask("I_MPI_PIN_DOMAIN", part) for part in domain.strip("[]").split(",")))
    size, _, layout = domain.partition(":")
    cpus = len(units_of("hwthread", asked.node))
    share = max(1, cpus // asked.on_node)
    if size == "omp" and known.get("OMP_NUM_THREADS", "")[:1].isdigit():
        share = int(known["OMP_NUM_THREADS"].split(",")[0])
    elif size.isdigit():
        share = int(size)
    elif size not in ("omp", "auto"):
        unit = _unit("I_MPI_PIN_DOMAIN", size)
        if asked.on_node < len(units_of(unit, asked.node)):
            asked.doubt("pin-order", unit=unit)
        return asked.mapped(unit, unit, 1)
    if share * asked.on_node < cpus or layout not in ("", "compact"):
        asked.doubt("domains-left", tasks=asked.on_node)
    return asked.mapped("hwthread", "own", share)


_MAPPERS = {"pals": _pals, "openmpi": _openmpi, "mpich": _mpich, "intelmpi": _intelmpi}
