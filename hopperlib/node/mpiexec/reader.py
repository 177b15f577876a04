"""mpiexec and mpirun lines read into components: whose mpiexec it is, its options, and what they map and bind.

Options and defaults as in the manuals that `hopperlib.node.mpiexec.layout`
names; the table of options is ``options.csv``.
"""

from __future__ import annotations

import csv
import os.path
import re
import tomllib
from collections.abc import Sequence
from typing import NamedTuple, cast

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import (
    Component,
    GpuRequest,
    LauncherKind,
    LaunchError,
    Remarks,
    Reservation,
    TaskMapping,
)
from hopperlib.node.launch.option_values import assigned, check_nodes, hex_mask, number_list, whole_number
from hopperlib.node.launch.options import programs
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Word
from hopperlib.node.mpiexec.layout import place_mpiexec, units_of

__all__ = ["read_mpiexec"]

_HERE = os.path.dirname(__file__)
with open(os.path.join(_HERE, "launchers.toml"), "rb") as _file:
    _LAUNCHERS = cast(dict[LauncherKind, dict[str, str]], tomllib.load(_file))
with open(os.path.join(_HERE, "options.csv"), encoding="utf-8", newline="") as _rows:
    _OPTIONS = list(csv.DictReader(_rows))
_CHECK = "mpiexec ... bash -c 'taskset -cp $$'"
_UNITS = {
    **{unit: unit for unit in ("slot", "core", "hwthread", "numa", "socket", "node", "l3")},
    **dict.fromkeys(("package", "sockets", "sock"), "socket"),
    **{"cores": "core", "thread": "hwthread", "cpu": "hwthread", "numanode": "numa"},
    **{"board": "node", "machine": "node", "l3cache": "l3", "cache3": "l3"},
}
_OFF = ("0", "no", "off", "disable", "false")


def read_mpiexec(
    invocation: Invocation, machine: Machine, node: NodeKind, reservation: Reservation | None, text: str = ""
) -> tuple[LauncherKind, tuple[Component, ...], dict[str, str], Remarks]:
    """Return whose mpiexec it is, the components of its line, variables that it sets, and remarks.

    Parameters
    ----------
    invocation : Invocation
    machine : Machine
    node : NodeKind
    reservation : Reservation or None
        What the script around the line asks for.
    text : str
        The whole text, for the modules that it loads.

    Raises
    ------
    LaunchError
        If the line would be refused, or asks for what is not modeled.

    Examples
    --------
    >>> from hopperlib.node.launch.scripts import find_invocations
    >>> cluster = Machine.load("cluster")
    >>> (invocation,) = find_invocations("mpirun -np 4 --map-by socket:PE=2 ./a.out", {})
    >>> kind, (component,), _, _ = read_mpiexec(invocation, cluster, cluster.node(), None)
    >>> kind, component.mapping
    ('openmpi', TaskMapping(unit='socket', per_unit=None, width=2, bind='own'))
    """
    remarks = Remarks.none()
    kind = _kind(invocation, machine, text, remarks)
    environment: dict[str, str] = {}
    components = []
    for words in programs(invocation.words):
        options, command = _options(words, kind, environment)
        components.append(_component(kind, options, command, invocation, environment, node, reservation, remarks))
    for component in components:
        check_nodes(component.nodes or 1, machine, "-n", component.tasks)
        place_mpiexec(component, node, machine, 1)
    return kind, tuple(components), environment, remarks


def _kind(invocation: Invocation, machine: Machine, text: str, remarks: Remarks) -> LauncherKind:
    """Return whose mpiexec it is: as its name, the machine, its options, the environment or the modules say."""
    own = [launcher.kind for launcher in machine.launchers if launcher.kind in _LAUNCHERS]
    if len(own) == 1:
        return own[0]
    if invocation.launcher in ("orterun", "prterun", "prun"):
        return "openmpi"
    line = " ".join((*invocation.environment, "", *(word.text for word in invocation.words), ""))
    loaded = " ".join(re.findall(r"^[ \t]*(?:module|ml|spack)\b.*$", text, re.MULTILINE)).lower()
    for signs, where in (("signs", line), ("modules", loaded)):
        for kind, words in _LAUNCHERS.items():
            if re.search(words[signs], where):
                return kind
    hydra = invocation.launcher.endswith("hydra") or re.search(r" --?(genv|ppn|perhost) ", line)
    guess: LauncherKind = "mpich" if hydra else "openmpi"
    remarks.doubts.append(
        f"The text does not say whose {invocation.launcher} this is; shown is what {_LAUNCHERS[guess]['title']} would do, and others "
        f"bind otherwise. Load its module in the text, or run {_CHECK} to see."
    )
    return guess


def _options(
    words: Sequence[Word], kind: LauncherKind, environment: dict[str, str]
) -> tuple[dict[str, tuple[str, str]], Sequence[Word]]:
    """Return the options in front of a command, typed name and value by key, and the words of the command."""
    table = {name: row for row in _OPTIONS if kind in row["launchers"].split() for name in row["names"].split()}
    options: dict[str, tuple[str, str]] = {}
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        typed, _, value = words[at].text.partition("=")
        row = table.get(typed.lstrip("-"))
        if row is None:
            rule = f"is not an option of {_LAUNCHERS[kind]['title']}'s mpiexec that can be read"
            raise LaunchError(typed, value, rule, shown="")
        key, takes = row["key"], 0 if value else int(row["takes"])
        if key == "env" and takes and "=" in words[min(at + 1, len(words) - 1)].text:
            takes = 1
        taken = words[at : at + 1 + takes]
        if len(taken) <= takes:
            raise LaunchError(typed, "", "needs a value behind it")
        open_word = next((word for word in taken if word.unknown), None)
        if key != "idle" and open_word is not None:
            raise LaunchError(typed, open_word.text, open_word.unknown)
        value = value or " ".join(word.text for word in taken[1:])
        if key in ("env", "export"):
            environment |= assigned([value.replace(" ", "=", 1)])
        options[key] = (typed, value)
        at += 1 + takes
    return options, words[at:]


def _component(
    kind: LauncherKind,
    options: dict[str, tuple[str, str]],
    command: Sequence[Word],
    invocation: Invocation,
    environment: dict[str, str],
    node: NodeKind,
    reservation: Reservation | None,
    remarks: Remarks,
) -> Component:
    """Return one component with its mapping."""
    if "unread" in options:
        raise LaunchError(options["unread"][0], options["unread"][1], "names CPUs or a file in a form that is not read")
    count = {key: whole_number(*options[key]) for key in ("tasks", "per_node", "per_socket", "width") if key in options}
    if "per_socket" in count:
        count["per_node"] = count["per_socket"] * node.sockets
    known = {name: value for name, value in {**invocation.environment, **environment}.items() if isinstance(value, str)}
    per_node = count.get("per_node")
    if per_node is None and kind == "intelmpi" and known.get("I_MPI_PERHOST", "").isdigit():
        per_node = int(known["I_MPI_PERHOST"])
    per_node = per_node or (reservation.tasks_per_node if reservation else None)
    tasks = count.get("tasks") or (
        reservation and (reservation.tasks or reservation.nodes * (per_node or len(node.usable_cores)))
    )
    if not tasks:
        raise LaunchError(invocation.launcher, "", "has no -n, and no script around it says how many tasks there are")
    if reservation is not None and per_node is None and tasks > reservation.nodes * len(node.usable_cores):
        remarks.notes.append(f"{tasks} tasks on {reservation.nodes} nodes are more than a core for each.")
    hosts = len(options["hosts"][1].split(",")) if "hosts" in options else None
    nodes = hosts or (min(reservation.nodes, tasks) if reservation else None)
    on_node = min(tasks, per_node or -(-tasks // nodes) if nodes else per_node or len(node.usable_cores))
    request = Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        tasks=tasks,
        nodes=None if per_node else nodes,
        tasks_per_node=per_node,
        overcommit="oversubscribe" in options,
        options=tuple((typed, value) for typed, value in options.values()),
    )
    mapped = _MAPPERS[kind](_Asked(request, options, count.get("width", 1), on_node, known, node, remarks))
    mapping = mapped.mapping or TaskMapping()
    if "gpu_bind" in options:
        mapped = mapped._replace(gpus=_gpu_bind(*options["gpu_bind"], node))
    return mapped._replace(threads_per_task=max(1, mapping.width))


def _gpu_bind(typed: str, value: str, node: NodeKind) -> GpuRequest:
    """Return what PALS' ``--gpu-bind`` says."""
    word, _, rest = value.partition(":")
    if word == "none":
        return GpuRequest(binding="none")
    numbering = node.gpu_numbering or tuple(map(str, range(node.gpus)))
    entries = [
        [number for number in numbering if number in part.split(",") or number.split(".")[0] in part.split(",")]
        for part in rest.split(":")
    ]
    if word != "list" or not all(entries):
        raise LaunchError(typed, value, f"must be none or list: with GPUs out of {', '.join(numbering)}")
    return GpuRequest(
        per_node=node.gpus, binding="map", entries=tuple(tuple(map(numbering.index, own)) for own in entries)
    )


def _unit(typed: str, word: str) -> str:
    """Return the unit that a word names."""
    if word.lower() not in _UNITS:
        raise LaunchError(typed, word, f"is no unit that can be read; there are {', '.join(_UNITS)}")
    return _UNITS[word.lower()]


class _Asked(NamedTuple):
    """What a line says, for the launcher's own rules: the component so far, options by key, width, tasks of a node."""

    request: Component
    options: dict[str, tuple[str, str]]
    width: int
    on_node: int
    known: dict[str, str]
    node: NodeKind
    remarks: Remarks

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
    typed, value = asked.options.get("bind", ("--cpu-bind", ""))
    word, _, rest = value.partition(":")
    if word == "list":
        return asked.listed(tuple(number_list(typed, part, what="CPUs") for part in rest.split(":")))
    if word == "mask":
        return asked.listed(tuple(hex_mask(typed, part) for part in re.split("[,:]", rest)))
    if not word:
        asked.remarks.doubts.append(
            f"Without --cpu-bind it is not documented what PALS does; shown is depth. Run {_CHECK} to see."
        )
    if word in ("", "depth", "none"):
        return asked.mapped("number", "none" if word == "none" else "own")
    unit = _unit(typed, word)
    if unit in ("numa", "socket") or asked.width > 1:
        asked.remarks.doubts.append(
            f"In which order PALS' --cpu-bind {word} goes over them is not documented; shown is in turn. Run {_CHECK} to see."
        )
    return asked.mapped(unit, unit)


def _openmpi(asked: _Asked) -> Component:
    """Map as Open MPI does: --map-by and --bind-to, and what follows if one of them is missing."""
    typed, value = asked.options.get("map", ("--map-by", ""))
    old = asked.options.get("old", ("", ""))[0].lstrip("-")
    if old.startswith("by"):
        value = old[2:]
    ppr = re.match(r"ppr:(\d+):([^:]+)(.*)", value, re.IGNORECASE)
    word, *modifiers = (ppr[2] + ppr[3] if ppr else value).split(":")
    for modifier in map(str.lower, modifiers):
        if match := re.fullmatch(r"pe=(\d+)", modifier):
            asked = asked._replace(width=int(match[1]))
        elif modifier == "oversubscribe":
            asked = asked._replace(request=asked.request._replace(overcommit=True))
    unit, width = _unit(typed, word) if word else "", asked.width
    bind = old[8:] if old.startswith("bind-to-") else ""
    bind = asked.options.get("bind", ("", bind))[1].split(":")[0].lower()
    bound = _unit("--bind-to", bind) if bind not in ("", "none") else bind
    bound = "none" if asked.request.overcommit and not bound else bound
    if asked.options.get("rank", ("", "slot"))[1].split(":")[0].lower() not in ("slot", "fill", "core"):
        asked.remarks.doubts.append(
            "What --rank-by does beside --map-by has changed between releases. Run mpirun with --report-bindings to see."
        )
    if not bound and width > 1:
        bound = "core"
    if not bound and unit in ("core", "hwthread"):
        bound = unit
        asked.remarks.assumptions.append(
            f"Without --bind-to, tasks are taken to be bound to the {unit} that they are mapped to."
        )
    elif not bound and unit not in ("", "slot", "node"):
        bound = unit
        asked.remarks.doubts.append(
            f"Without --bind-to, releases of Open MPI differ: they bind to the {unit} that a task is mapped to, shown here, or "
            "to a core where there are two tasks or fewer. Add --bind-to, or --report-bindings to see."
        )
    if bound == "hwthread" and unit != "hwthread" and asked.node.threads_per_core > 1:
        if unit == "core" and width == 1:
            return asked.mapped(unit, "first")
        asked.remarks.doubts.append(
            f"Which hardware threads --bind-to hwthread takes beside --map-by {unit or 'slot'} is not documented; shown are all "
            "of the task's cores. Run mpirun with --report-bindings to see."
        )
    if not bound or not unit:
        few = asked.request.tasks <= 2
        if few or (bound and asked.node.sockets == 1 == asked.node.numa_nodes):
            unit, bound = unit or "slot", bound or "core"
        elif not unit and bound in ("core", "none", "hwthread") and width > 1:
            unit = "slot"
        else:
            asked.remarks.doubts.append(
                "With more than two tasks, what Open MPI does without --map-by and --bind-to depends on its release: 4.1 goes "
                "over the sockets in turn and binds to them, others take NUMA nodes. Add both, or --report-bindings to see."
            )
            unit, bound = unit or "socket", bound or "socket"
    if ppr and unit == "node":
        return asked.mapped("slot", bound)._replace(tasks_per_node=int(ppr[1]), nodes=None)
    return asked.mapped("node-by-node" if unit == "node" else unit, bound, per_unit=int(ppr[1]) if ppr else None)


def _mpich(asked: _Asked) -> Component:
    """Map as MPICH's Hydra does: unbound unless the line says -bind-to, mapped by the unit that it binds to."""
    bind, _, number = asked.options.get("bind", ("", "none"))[1].partition(":")
    if bind == "none":
        return asked.mapped("slot", "none", 1)
    if bind == "user":
        parts = re.split(r"[,:]", number.replace("+", ","))
        return asked.listed(tuple(number_list("-bind-to", part, what="CPUs") for part in parts))
    unit = _unit("-bind-to", bind)
    width = whole_number("-bind-to", number) if number else 1
    mapped = _unit("-map-by", asked.options["map"][1].partition(":")[0]) if "map" in asked.options else unit
    if unit not in ("core", "hwthread") and width > 1:
        asked.remarks.doubts.append(f"-bind-to {bind}:{number} is shown as one {unit} a task. Run {_CHECK} to see.")
        width = 1
    return asked.mapped(mapped, unit, width)


def _intelmpi(asked: _Asked) -> Component:
    """Map as Intel MPI does: a domain of CPUs for each task, I_MPI_PIN_DOMAIN."""
    known = asked.known
    if "bind" in asked.options:
        return _mpich(asked)
    if known.get("I_MPI_PIN", "1").lower() in _OFF:
        return asked.mapped("slot", "none", 1)
    if "I_MPI_PIN_PROCESSOR_LIST" in known and "I_MPI_PIN_DOMAIN" not in known:
        listed = known["I_MPI_PIN_PROCESSOR_LIST"]
        if not re.fullmatch(r"[0-9,-]+", listed):
            raise LaunchError("I_MPI_PIN_PROCESSOR_LIST", listed, "is read only as a list of CPU numbers")
        return asked.listed(tuple((cpu,) for cpu in number_list("I_MPI_PIN_PROCESSOR_LIST", listed, what="CPUs")))
    domain = known.get("I_MPI_PIN_DOMAIN", "auto")
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
            asked.remarks.doubts.append(
                f"Fewer tasks than {unit}s: which of them Intel MPI takes is a matter of I_MPI_PIN_ORDER. Set I_MPI_DEBUG=4 to see."
            )
        return asked.mapped(unit, unit, 1)
    if share * asked.on_node < cpus or layout not in ("", "compact"):
        asked.remarks.doubts.append(
            f"The domains of {asked.on_node} tasks leave CPUs over, and how Intel MPI lays them out then is a matter of its release, "
            "I_MPI_PIN_ORDER and the layout; shown is one behind the other. Set I_MPI_DEBUG=4 to see."
        )
    return asked.mapped("hwthread", "own", share)


_MAPPERS = {"pals": _pals, "openmpi": _openmpi, "mpich": _mpich, "intelmpi": _intelmpi}
