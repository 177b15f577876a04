"""mpiexec and mpirun lines read into components: whose mpiexec it is, its options, and what they map and bind.

Options and defaults as in the manuals that `hopperlib.node.mpiexec.layout`
names; the table of options is ``options.csv``.
"""

from __future__ import annotations

import csv
import os.path
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

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
from hopperlib.node.launch.option_values import check_nodes, hex_mask, number_list, whole_number
from hopperlib.node.launch.options import programs
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Word
from hopperlib.node.mpiexec.layout import place_mpiexec, units_of

__all__ = ["read_mpiexec"]

_KINDS: tuple[LauncherKind, ...] = ("pals", "openmpi", "mpich", "intelmpi")
_TITLES = {"pals": "PALS", "openmpi": "Open MPI", "mpich": "MPICH", "intelmpi": "Intel MPI"}
_CHECK = "mpiexec ... bash -c 'taskset -cp $$'"
# What tells whose mpiexec a line is, in its words and environment; then in the whole text.
_SIGNS: tuple[tuple[LauncherKind, str], ...] = (
    ("intelmpi", r"\bI_MPI_"),
    ("pals", r" --?(cpu-bind|depth|gpu-bind)\b"),
    (
        "openmpi",
        r" --(map-by|bind-to|rank-by)\b| --?(mca|report-bindings|npernode|npersocket|oversubscribe|allow-run-as-root|x) | -N |\bOMPI_",
    ),
    ("mpich", r" -(bind-to|map-by)\b"),
)
_MODULES: tuple[tuple[LauncherKind, str], ...] = (
    ("openmpi", r"open-?mpi|hpcx"),
    ("intelmpi", r"impi|intel-?mpi|intel-oneapi-mpi"),
    ("mpich", r"mpich|mvapich"),
)
_UNITS = {
    **dict.fromkeys(("slot", "core", "hwthread", "numa", "socket", "node"), ""),
    **{
        "package": "socket",
        "sockets": "socket",
        "sock": "socket",
        "cores": "core",
        "thread": "hwthread",
        "board": "node",
    },
    **{"l3cache": "l3", "cache3": "l3", "l3": "l3", "numanode": "numa", "machine": "node", "cpu": "hwthread"},
}


class _Row(NamedTuple):
    """An option: how many words it takes, and what it is."""

    takes: int
    key: str


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
    own = [launcher.kind for launcher in machine.launchers if launcher.kind in _KINDS]
    if len(own) == 1:
        return own[0]
    if invocation.launcher in ("orterun", "prterun", "prun"):
        return "openmpi"
    line = " ".join((*invocation.environment, "", *(word.text for word in invocation.words), ""))
    loaded = " ".join(re.findall(r"^[ \t]*(?:module|ml|spack)\b.*$", text, re.MULTILINE)).lower()
    for signs, where in ((_SIGNS, line), (_MODULES, loaded)):
        for kind, sign in signs:
            if re.search(sign, where):
                return kind
    hydra = invocation.launcher.endswith("hydra") or re.search(r" --?(genv|ppn|perhost) ", line)
    guess: LauncherKind = "mpich" if hydra else "openmpi"
    remarks.doubts.append(
        f"The text does not say whose {invocation.launcher} this is; shown is what {_TITLES[guess]} would do, and others "
        f"bind otherwise. Load its module in the text, or run {_CHECK} to see."
    )
    return guess


@cache
def _table(kind: LauncherKind) -> dict[str, _Row]:
    """Return the options of a launcher by name, without dashes."""
    with open(os.path.join(os.path.dirname(__file__), "options.csv"), encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if kind in row["launchers"].split()]
    return {name: _Row(int(row["takes"]), row["key"]) for row in rows for name in row["names"].split()}


def _options(
    words: Sequence[Word], kind: LauncherKind, environment: dict[str, str]
) -> tuple[dict[str, tuple[str, str]], Sequence[Word]]:
    """Return the options in front of a command, typed name and value by key, and the words of the command."""
    table, options, at = _table(kind), dict[str, tuple[str, str]](), 0
    while at < len(words) and words[at].text.startswith("-"):
        typed, _, value = words[at].text.partition("=") if "=" in words[at].text else (words[at].text, "", "")
        row = table.get(typed.lstrip("-"))
        if row is None:
            raise LaunchError(typed, value, f"is not an option of {_TITLES[kind]}'s mpiexec that can be read", shown="")
        takes = (
            0
            if value or not row.takes
            else 1
            if row.key == "env" and "=" in words[min(at + 1, len(words) - 1)].text
            else row.takes
        )
        behind = [word.text for word in words[at + 1 : at + 1 + takes]]
        if len(behind) < takes:
            raise LaunchError(typed, "", "needs a value behind it")
        open_word = next((word for word in words[at : at + 1 + takes] if word.unknown), None)
        if row.key != "idle" and open_word is not None:
            raise LaunchError(typed, open_word.text, open_word.unknown)
        value = value or " ".join(behind)
        if row.key in ("env", "export"):
            name, _, given = value.replace(" ", "=", 1).partition("=")
            environment |= {name: given} if given else {}
        options[row.key] = (typed, value)
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
    return _UNITS[word.lower()] or word.lower()


class _Asked(NamedTuple):
    """What a line says, for the launcher's own rules: the component so far, options by key, width, tasks of a node."""

    request: Component
    options: dict[str, tuple[str, str]]
    width: int
    on_node: int
    known: dict[str, str]
    node: NodeKind
    remarks: Remarks


def _pals(asked: _Asked) -> Component:
    """Map as PALS does: CPUs in the order of their numbers, so many for a task."""
    request = asked.request
    width = asked.width
    typed, value = asked.options.get("bind", ("--cpu-bind", ""))
    word, _, rest = value.partition(":")
    if word == "list":
        lists = tuple(number_list(typed, part, what="CPUs") for part in rest.split(":"))
        return request._replace(binding_list=lists, mapping=TaskMapping("number", None, max(map(len, lists)), "own"))
    if word == "mask":
        masks = tuple(hex_mask(typed, part) for part in re.split("[,:]", rest))
        return request._replace(binding_list=masks, mapping=TaskMapping("number", None, max(map(len, masks)), "own"))
    if word in ("", "depth"):
        if not word:
            asked.remarks.doubts.append(
                f"Without --cpu-bind it is not documented what PALS does; shown is depth. Run {_CHECK} to see."
            )
        return request._replace(mapping=TaskMapping("number", None, width, "own"))
    if word == "none":
        return request._replace(mapping=TaskMapping("number", None, width, "none"))
    unit = _unit(typed, word)
    if unit in ("numa", "socket") or width > 1:
        asked.remarks.doubts.append(
            f"In which order PALS' --cpu-bind {word} goes over them is not documented; shown is in turn. Run {_CHECK} to see."
        )
    return request._replace(
        mapping=TaskMapping(
            "slot" if unit == "core" else unit, None, width, "own" if unit in ("core", "hwthread") else unit
        )
    )


def _openmpi(asked: _Asked) -> Component:
    """Map as Open MPI does: --map-by and --bind-to, and what follows if one of them is missing."""
    request = asked.request
    width = asked.width
    typed, value = asked.options.get("map", ("--map-by", ""))
    old = asked.options.get("old", ("", ""))[0].lstrip("-")
    if old.startswith("by"):
        value = old[2:]
    ppr = re.match(r"ppr:(\d+):([^:]+)(.*)", value, re.IGNORECASE)
    word, *modifiers = (ppr[2] + ppr[3] if ppr else value).split(":")
    for modifier in modifiers:
        if match := re.fullmatch(r"pe=(\d+)", modifier.lower()):
            width = int(match[1])
        elif modifier.lower() == "oversubscribe":
            request = request._replace(overcommit=True)
    unit = _unit(typed, word) if word else ""
    bind = (
        asked.options["bind"][1].split(":")[0].lower()
        if "bind" in asked.options
        else old[8:]
        if old.startswith("bind-to-")
        else ""
    )
    bound = "none" if bind == "none" or (request.overcommit and not bind) else _unit("--bind-to", bind) if bind else ""
    if asked.options.get("rank", ("", "slot"))[1].split(":")[0].lower() not in ("slot", "fill", "core"):
        asked.remarks.doubts.append(
            "What --rank-by does beside --map-by has changed between releases. Run mpirun with --report-bindings to see."
        )
    if not bound and width > 1:
        bound = "core"
    if not bound and unit not in ("", "slot", "node"):
        bound = unit
        asked.remarks.assumptions.append(
            f"Without --bind-to, tasks are taken to be bound to the {unit} that they are mapped to."
        )
    if not bound or not unit:
        few = request.tasks <= 2
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
    per_unit = int(ppr[1]) if ppr else None
    if ppr and unit == "node":
        return request._replace(
            tasks_per_node=per_unit,
            nodes=None,
            mapping=TaskMapping("slot", None, width, "own" if bound == "core" else bound),
        )
    unit = "node-by-node" if unit == "node" else "slot" if unit == "core" else unit
    return request._replace(
        mapping=TaskMapping(
            unit,
            per_unit,
            width,
            "own" if bound in ("core", unit) and bound != "socket" and bound not in ("numa", "l3") else bound,
        )
    )


def _mpich(asked: _Asked) -> Component:
    """Map as MPICH's Hydra does: unbound unless the line says -bind-to, mapped by the unit that it binds to."""
    request = asked.request
    bind, _, number = asked.options.get("bind", ("", "none"))[1].partition(":")
    if bind == "none":
        return request._replace(mapping=TaskMapping("slot", None, 1, "none"))
    if bind == "user":
        lists = tuple(
            number_list("-bind-to", part, what="CPUs") for part in re.split(r"[,:]", number.replace("+", ","))
        )
        return request._replace(binding_list=lists, mapping=TaskMapping("number", None, 1, "own"))
    unit = _unit("-bind-to", bind)
    width = whole_number("-bind-to", number) if number else 1
    mapped = _unit("-map-by", asked.options["map"][1].partition(":")[0]) if "map" in asked.options else unit
    if unit in ("core", "hwthread"):
        return request._replace(mapping=TaskMapping("slot" if mapped == "core" else mapped, None, width, "own"))
    if width > 1:
        asked.remarks.doubts.append(f"-bind-to {bind}:{number} is shown as one {unit} a task. Run {_CHECK} to see.")
    return request._replace(mapping=TaskMapping("slot" if mapped == "core" else mapped, None, 1, unit))


def _intelmpi(asked: _Asked) -> Component:
    """Map as Intel MPI does: a domain of CPUs for each task, I_MPI_PIN_DOMAIN."""
    request = asked.request
    domain = asked.known.get("I_MPI_PIN_DOMAIN", "auto")
    if "bind" in asked.options:
        return _mpich(asked)
    if asked.known.get("I_MPI_PIN", "1").lower() in ("0", "no", "off", "disable", "false"):
        return request._replace(mapping=TaskMapping("slot", None, 1, "none"))
    if "I_MPI_PIN_PROCESSOR_LIST" in asked.known and "I_MPI_PIN_DOMAIN" not in asked.known:
        listed = asked.known["I_MPI_PIN_PROCESSOR_LIST"]
        if not re.fullmatch(r"[0-9,-]+", listed):
            raise LaunchError("I_MPI_PIN_PROCESSOR_LIST", listed, "is read only as a list of CPU numbers")
        lists: tuple[tuple[int, ...], ...] = tuple(
            (cpu,) for cpu in number_list("I_MPI_PIN_PROCESSOR_LIST", listed, what="CPUs")
        )
        return request._replace(binding_list=lists, mapping=TaskMapping("number", None, 1, "own"))
    if domain.startswith("["):
        lists = tuple(hex_mask("I_MPI_PIN_DOMAIN", part) for part in domain.strip("[]").split(","))
        return request._replace(binding_list=lists, mapping=TaskMapping("number", None, max(map(len, lists)), "own"))
    size, _, layout = domain.partition(":")
    cpus = len(units_of("hwthread", asked.node))
    share = max(1, cpus // asked.on_node)
    if size == "omp":
        share = (
            int(asked.known["OMP_NUM_THREADS"].split(",")[0])
            if asked.known.get("OMP_NUM_THREADS", "")[:1].isdigit()
            else share
        )
    elif size.isdigit():
        share = int(size)
    elif size != "auto":
        unit = _unit("I_MPI_PIN_DOMAIN", size)
        if asked.on_node < len(units_of(unit, asked.node)):
            asked.remarks.doubts.append(
                f"Fewer tasks than {unit}s: which of them Intel MPI takes is a matter of I_MPI_PIN_ORDER. Set I_MPI_DEBUG=4 to see."
            )
        return request._replace(mapping=TaskMapping(unit, None, 1, unit))
    if share * asked.on_node < cpus or layout not in ("", "compact"):
        asked.remarks.doubts.append(
            f"The domains of {asked.on_node} tasks leave CPUs over, and how Intel MPI lays them out then is a matter of its release, "
            "I_MPI_PIN_ORDER and the layout; shown is one behind the other. Set I_MPI_DEBUG=4 to see."
        )
    return request._replace(mapping=TaskMapping("hwthread", None, share, "own"))


_MAPPERS = {"pals": _pals, "openmpi": _openmpi, "mpich": _mpich, "intelmpi": _intelmpi}
