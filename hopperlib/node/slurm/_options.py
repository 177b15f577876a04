"""Values of srun's options that say where tasks go, or which GPUs they get: --nodes, --distribution, --cpu-bind, --gpus.

Spellings and defaults as in the srun man page [1]_ and the source that reads
them [2]_.

References
----------
.. [1] SchedMD, Slurm 23.11, srun man page.
.. [2] SchedMD, Slurm 23.11, ``src/common/proc_args.c``, ``slurm_opt.c`` and ``slurm_resource_info.c``.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.node.launch.components import GpuRequest, remark
from hopperlib.node.launch.option_values import hex_mask, repeated, whole_number
from hopperlib.node.launch.options import Given, count_of
from hopperlib.node.slurm._cpus import SlurmNode

_NEWEST = (99, 0)
_UNITS = ("core", "thread", "socket", "ldom")
_MODES = {"no": "none", "none": "none", "rank": "rank", "rank_ldom": "rank_ldom"}
_QUIET = ("q", "quiet", "v", "verbose")
_LIST = r"(map|mask)_?(cpu|ldom)[:=]([0-9a-fA-Fx*]+(?:,[0-9a-fA-Fx*]+)*)(?=,|$)"
_METHODS = ("block", "cyclic", "fcyclic")


class Distribution(NamedTuple):
    """How tasks are dealt out: methods for nodes, sockets and cores, size of a plane, packing, a note.

    `step_method` is how the controller goes over the sockets: cyclic, unless the line says what.
    """

    methods: tuple[str, str, str]
    plane_size: int | None = None
    pack_nodes: bool = False
    note: str = ""
    step_method: str = "cyclic"


class CpuBind(NamedTuple):
    """What tasks are bound to: a keyword (None for Slurm's own choice) and the entries of a list."""

    keyword: str | None = None
    entries: tuple[tuple[int, ...], ...] | None = None


class Hint(NamedTuple):
    """What ``--hint`` stands for."""

    threads_per_core: int | None = None
    cores_per_socket: int | None = None
    keyword: str | None = None


_HINTS = {
    "compute_bound": Hint(1, None, "cores"),
    "memory_bound": Hint(1, 1, "cores"),
    "nomultithread": Hint(1, None, "threads"),
    "multithread": Hint(None, None, "threads"),
}


def slurm_release(launcher: Launcher) -> tuple[int, ...]:
    """Return the Slurm release as numbers; one beyond all where the machine file gives none."""
    return tuple(int(part) for part in launcher.version.split(".")) if launcher.version else _NEWEST


def node_count(option: Given) -> int:
    """Return the number of ``-N``, refused where it leaves a choice."""
    low, dash, high = option.value.partition("-")
    if (dash and low != high) or "," in option.value or ":" in option.value:
        raise option.refusal("leaves the number of nodes to the scheduler; write one number")
    factor = {"k": 1024, "m": 1024**2}.get(low[-1:].lower(), 1)
    return whole_number(option.typed, low[:-1] if factor > 1 else low) * factor


def bind_options(options: dict[str, Given], release: tuple[int, ...], notes: list[str]) -> None:
    """Settle ``--hint`` against what it cannot stand with, and ``--cpu-bind=rank`` where it is gone; in place.

    On the command line the other options win over ``--hint``; a ``--hint`` of
    the command line wins over those from the environment.
    """
    hint, bind = options.get("--hint"), options.get("--cpu-bind")
    others = [options[name] for name in ("--ntasks-per-core", "--threads-per-core") if name in options]
    if bind is not None and any(part not in _QUIET for part in bind.value.lower().split(",")):
        others.append(bind)
    if hint is not None and others:
        if not hint.inherited and all(option.inherited for option in others):
            for option in others:
                del options[option.name]
        else:
            notes.append(f"--hint={hint.value} is ignored beside {' '.join(option.name for option in others)}.")
            del options["--hint"]
    bind = options.get("--cpu-bind")
    if bind is not None and "rank" in bind.value.lower().split(",") and release >= (24, 11):
        notes.append("--cpu-bind=rank is ignored from Slurm 24.11 on.")
        kept = [part for part in bind.value.split(",") if part.lower() != "rank"]
        options["--cpu-bind"] = bind._replace(value=",".join(kept) or "quiet")


def read_distribution(
    option: Given | None, launcher: Launcher, node: SlurmNode, threads_per_core: int | None, release: tuple[int, ...]
) -> Distribution:
    """Return the methods of ``-m``; the launcher's default stands in for levels that are not given.

    >>> launcher = Launcher(kind="srun", options=(), default_distribution="block:cyclic")
    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> read_distribution(Given("-m", "-m", "cyclic"), launcher, node, None, (23, 11)).methods
    ('cyclic', 'cyclic', 'cyclic')
    """
    defaults = launcher.default_distribution.split(":")
    default_sockets = defaults[1] if len(defaults) > 1 else "cyclic"
    if option is None:
        return Distribution((defaults[0], default_sockets, default_sockets))
    text = option.value.lower()
    if text.startswith("plane"):
        name, equals, size = text.partition("=")
        if name != "plane" or not equals:
            raise option.refusal("needs the size of a plane, as in plane=4")
        return Distribution(("plane", "block", "block"), whole_number(option.typed, size))
    levels, _, flag = text.partition(",")
    given = levels.split(":")
    _check_distribution(option, given, flag)
    nodes = "block" if given[0] == "*" else given[0]
    sockets = default_sockets if len(given) < 2 else "cyclic" if given[1] == "*" else given[1]
    cores = sockets if len(given) < 3 or given[2] == "*" else given[2]
    note = ""
    if (threads_per_core or node.threads_per_core) > 1:
        if sockets == "fcyclic":
            raise option.refusal(remark("fcyclic-threads"))
        if cores != sockets and release < (22, 5):
            raise option.refusal(remark("cores-by-cgroup", cores=cores))
        if cores != sockets:
            note = f"The third part of -m {option.value}, for cores, has no effect from Slurm 22.05 on."
    step_method = sockets if len(given) > 1 else "cyclic"
    return Distribution((nodes, sockets, cores), None, flag == "pack", note, step_method)


def _check_distribution(option: Given, given: list[str], flag: str) -> None:
    """Refuse methods that there are not, or that a file would have to say."""
    if flag not in ("", "pack", "nopack"):
        raise option.refusal("takes only Pack or NoPack behind a comma")
    if len(given) > 3:
        raise option.refusal("has at most three levels: nodes, sockets, cores")
    if given[0] in ("arbitrary", "hostfile"):
        raise option.refusal("takes the nodes of the tasks from a file, which is not part of this text")
    for level, method in zip(("nodes", "sockets", "cores"), given, strict=False):
        allowed = _METHODS[:2] if level == "nodes" else _METHODS
        if method not in (*allowed, "*"):
            can_stand = f"there {' or '.join(allowed)} can stand, or *"
            raise option.refusal(f"has {method or 'nothing'} for the {level}; {can_stand}")


def read_hint(option: Given | None) -> Hint:
    """Return what ``--hint`` stands for; of several, a later one overrules what it says itself.

    >>> read_hint(Given("--hint", "--hint", "memory_bound"))
    Hint(threads_per_core=1, cores_per_socket=1, keyword='cores')
    """
    hint = Hint()
    for word in option.value.lower().split(",") if option else ():
        if word not in _HINTS and option is not None:
            raise option.refusal("must be compute_bound, memory_bound, multithread or nomultithread")
        hint = _HINTS[word]._replace(cores_per_socket=_HINTS[word].cores_per_socket or hint.cores_per_socket)
    return hint


def read_cpu_bind(options: Mapping[str, Given], hint: Hint, release: tuple[int, ...]) -> CpuBind:
    """Return what tasks are bound to: as typed, else as other options imply it.

    >>> option = Given("--cpu-bind", "--cpu-bind", "v,map_cpu:0*2,6")
    >>> read_cpu_bind({"--cpu-bind": option}, Hint(), (23, 11))
    CpuBind(keyword='map_cpu', entries=((0,), (0,), (6,)))
    """
    typed = _typed_binding(options.get("--cpu-bind"))
    if typed.keyword is not None:
        return typed
    if hint.keyword is not None:
        return CpuBind(hint.keyword)
    if "--threads-per-core" in options and release >= (21, 8):
        return CpuBind("threads")
    if "--ntasks-per-core" in options:
        return CpuBind("cores" if options["--ntasks-per-core"].value == "1" else "threads")
    per_socket = options.get("--ntasks-per-socket")
    return CpuBind("sockets" if per_socket and not per_socket.inherited else None)


def _typed_binding(option: Given | None) -> CpuBind:
    """Return what ``--cpu-bind`` itself says; a way of binding goes before a unit to bind to."""
    if option is None:
        return CpuBind()
    rest = option.value
    mode = unit = entries = None
    listed = re.search(_LIST, rest)
    if listed and (listed.start() == 0 or rest[listed.start() - 1] == ","):
        mode = f"{listed[1]}_{listed[2]}"
        entries = tuple(_entry(option, listed[1], entry) for entry in repeated(option.typed, listed[3]))
        rest = (rest[: listed.start()].removesuffix(",") + rest[listed.end() :]).strip(",")
    for part in rest.lower().split(",") if rest else ():
        if part.removesuffix("s") in _UNITS:
            unit = part.removesuffix("s") + "s"
        elif part in _MODES:
            mode, entries = _MODES[part], None
        elif part not in _QUIET:
            raise option.refusal(remark("cpu-bind-words"))
    return CpuBind(mode or unit, entries)


def _entry(option: Given, kind: str, text: str) -> tuple[int, ...]:
    """Return an entry of a list: one number, or the bits of a mask."""
    if kind == "mask":
        return hex_mask(option.typed, text)
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", text):
        return (int(text, 16),)
    return (whole_number(option.typed, text, low=0),)


_BIND_WORDS = "must be none, closest, single:N, per_task:N, or map: or mask: with a list"
_COUNTS = {
    "-G": "total",
    "--gpus-per-node": "per_node",
    "--gpus-per-task": "per_task",
    "--gpus-per-socket": "per_socket",
}


def read_gpus(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> GpuRequest | None:
    """Return what the options ask of GPUs; None if nothing.

    >>> from hopperlib.machine import Machine
    >>> frontier = Machine.load("frontier")
    >>> given = {"--gpus-per-task": Given("--gpus-per-task", "--gpus-per-task", "1")}
    >>> read_gpus(given, frontier.node(), frontier)
    GpuRequest(per_node=None, total=None, per_task=1, per_socket=None, tasks_per_gpu=None, binding='per_task', number=1, \
entries=(), sharing=False)
    """
    counts: dict[str, Any] = {key: _count(options[name]) for name, key in _COUNTS.items() if name in options}
    for name in ("--gres", "--tres-per-task"):
        gres = (
            re.search(r"(?:^|[,/])gpu(?:[:=][A-Za-z][\w.-]*)?(?:[:=](\d+))?(?:\(|,|$)", options[name].value)
            if name in options
            else None
        )
        if gres:
            counts.setdefault("per_node" if name == "--gres" else "per_task", int(gres[1] or 1))
    tasks_per_gpu = count_of(options, "--ntasks-per-gpu")
    typed = options.get("--gpu-bind")
    if not counts and tasks_per_gpu is None and typed is None:
        return None
    for name in ("per_node", "per_task"):
        if counts.get(name, 0) > node.gpus:
            asking = ("--gpus-per-node", "--gres", "--gpus-per-task", "--tres-per-task")
            option = next(options[each] for each in asking if each in options)
            raise option.refusal(f"asks for more than the {node.gpus} GPUs of a node '{node.name}' of {machine.title}")
    if "per_socket" in counts:
        counts["per_socket"] *= node.sockets
    sharing = "--gres-flags" in options and "allow-task-sharing" in options["--gres-flags"].value
    request = GpuRequest(**counts, tasks_per_gpu=tasks_per_gpu, sharing=sharing)
    if typed is not None:
        return _bound(request, typed, node.gpus)
    if counts.get("per_task"):
        return request._replace(binding="per_task", number=counts["per_task"])
    return request._replace(binding="single", number=tasks_per_gpu) if tasks_per_gpu else request


def _count(option: Given) -> int:
    """Return a number of GPUs, of which a type may stand in front."""
    return sum(whole_number(option.typed, part.rpartition(":")[2], low=0) for part in option.value.split(","))


def _bound(request: GpuRequest, option: Given, gpus: int) -> GpuRequest:
    """Return the request with what ``--gpu-bind`` says."""
    text = re.sub(r"^(v|verbose|q|quiet),|^gres/gpu:", "", option.value)
    word, _, rest = text.partition(":")
    word = word.removesuffix("_gpu")
    if word in ("none", "closest") and not rest:
        return request._replace(binding=word)
    if word in ("single", "per_task") and rest:
        return request._replace(binding=word, number=whole_number(option.typed, rest))
    if word in ("map", "mask") and rest:
        entries = repeated(option.typed, rest)
        lists = tuple(_entry(option, word, each) for each in entries)
        has = request.per_node or gpus
        absent = next((gpu for own in lists for gpu in own if gpu >= has), None)
        if absent is not None:
            raise option.refusal(
                f"names GPU {absent}; a step has {f'GPUs 0 to {has - 1} of a node' if has else 'none'}"
            )
        return request._replace(binding=word, entries=lists)
    raise option.refusal(_BIND_WORDS)


def task_width(options: Mapping[str, Given], gpus: GpuRequest | None, given: int, notes: list[str]) -> int:
    """Return the CPUs of a task; with --cpus-per-gpu, and no -c beside it, so many for each of its GPUs."""
    if gpus is None or "--cpus-per-gpu" not in options or "-c" in options:
        return given
    notes += [remark("cpus-per-gpu")] if gpus.per_task is None else []
    return (count_of(options, "--cpus-per-gpu") or 1) * (gpus.per_task or 1)
