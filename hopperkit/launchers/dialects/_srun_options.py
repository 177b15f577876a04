"""Values of srun's options for task placement and GPUs: --nodes, --distribution, --cpu-bind, --gpus.

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

from hopperkit.launchers.dialects.slurm import SlurmNode, slurm_release
from hopperkit.launchers.option_values import hex_mask, repeated, whole_number
from hopperkit.launchers.options import Given, count_of
from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.placement.components import GpuRequest

_UNITS = ("core", "thread", "socket", "ldom")
_GENERATED = ("cores", "threads", "sockets", "ldoms")
_MODES = {"no": "none", "none": "none", "rank": "rank", "rank_ldom": "rank_ldom"}
_QUIET = ("q", "quiet", "v", "verbose")
_LIST = r"(map|mask)_?(cpu|ldom)[:=]([0-9a-fA-Fx*]+(?:,[0-9a-fA-Fx*]+)*)(?=,|$)"
_METHODS = ("block", "cyclic", "fcyclic")


class Distribution(NamedTuple):
    """How tasks are dealt out: methods for nodes, sockets and cores, size of a plane, packing, a note.

    `step_method` is the controller's order over the sockets: cyclic, unless the line sets it.
    """

    methods: tuple[str, str, str]
    plane_size: int | None = None
    pack_nodes: bool = False
    note: str = ""
    step_method: str = "cyclic"


class CpuBind(NamedTuple):
    """Target of the binding: a keyword (None for Slurm's default) and the entries of a list."""

    keyword: str | None = None
    entries: tuple[tuple[int, ...], ...] | None = None


class Hint(NamedTuple):
    """Options that ``--hint`` implies."""

    threads_per_core: int | None = None
    keyword: str | None = None


# One core per socket, which the man page describes for memory_bound, is requested of the node and does not limit a
# step.
_HINTS = {
    "compute_bound": Hint(1, "cores"),
    "memory_bound": Hint(1, "cores"),
    "nomultithread": Hint(1, "threads"),
    "multithread": Hint(None, "threads"),
}
# From this release on srun reads SLURM_NTASKS_PER_CORE; before, the job's number limits the step and binds nothing.
_TASKS_PER_CORE_READ = (23, 2)


def node_count(option: Given) -> int:
    """Return the number of ``-N``, refused where it leaves a choice."""
    low, dash, high = option.value.partition("-")
    if (dash and low != high) or "," in option.value or ":" in option.value:
        raise option.refusal("leaves the number of nodes to the scheduler; write one number")
    factor = {"k": 1024, "m": 1024**2}.get(low[-1:].lower(), 1)
    return whole_number(option.typed, low[:-1] if factor > 1 else low) * factor


def bind_options(options: dict[str, Given], release: tuple[int, ...], notes: list[str]) -> None:
    """Resolve conflicts of ``--hint`` with other options, and drop ``--cpu-bind=rank`` where it was removed; in place.

    On the command line the other options win over ``--hint``; a ``--hint`` of
    the command line wins over those from the environment.
    """
    bind = options.get("--cpu-bind")
    if bind is not None and "rank" in bind.value.lower().split(",") and release >= (24, 11):
        notes.append("--cpu-bind=rank is ignored from Slurm 24.11 on.")
        kept = [part for part in bind.value.split(",") if part.lower() != "rank"]
        options["--cpu-bind"] = bind._replace(value=",".join(kept) or "quiet")
    _settle_hint(options, release, notes)


def _settle_hint(options: dict[str, Given], release: tuple[int, ...], notes: list[str]) -> None:
    """Remove ``--hint``, or the options that conflict with it; in place."""
    hint, bind = options.get("--hint"), options.get("--cpu-bind")
    binds = bind is not None and any(part not in _QUIET for part in bind.value.lower().split(","))
    conflicting = (options.get("--threads-per-core"), _tasks_per_core(options, release), bind if binds else None)
    others = [option for option in conflicting if option is not None]
    if hint is None or not others:
        return
    typed = [option for option in (hint, *others) if not option.inherited]
    if typed == [hint]:
        for option in others:
            del options[option.name]
        return
    if typed:
        notes.append(f"--hint={hint.value} is ignored with {' '.join(option.name for option in others)}.")
    del options["--hint"]


def _tasks_per_core(options: Mapping[str, Given], release: tuple[int, ...]) -> Given | None:
    """Return ``--ntasks-per-core`` as srun reads it; old releases ignore the job's value."""
    option = options.get("--ntasks-per-core")
    return None if option is not None and option.inherited and release < _TASKS_PER_CORE_READ else option


def read_distribution(
    option: Given | None, launcher: Launcher, node: SlurmNode, threads_per_core: int | None
) -> Distribution:
    """Return the methods of ``-m``; the launcher's default applies to levels that are not given.

    >>> launcher = Launcher(kind="srun", options=(), default_distribution="block:cyclic")
    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> read_distribution(Given("-m", "-m", "cyclic"), launcher, node, None).methods
    ('cyclic', 'cyclic', 'cyclic')
    """
    default_nodes, _, rest = launcher.default_distribution.partition(":")
    default_sockets = rest.split(":")[0] or "cyclic"
    usual = _step_method("cyclic", node.release)
    if option is None:
        return Distribution((default_nodes, default_sockets, default_sockets), step_method=usual)
    text = option.value.lower()
    if text.startswith("plane"):
        return Distribution(("plane", "block", "block"), _plane_size(option), step_method=usual)
    levels, _, flag = text.partition(",")
    given = levels.split(":")
    _check_distribution(option, given, flag)
    nodes = "block" if given[0] == "*" else given[0]
    sockets = default_sockets if len(given) < 2 else "cyclic" if given[1] == "*" else given[1]
    cores = sockets if len(given) < 3 or given[2] == "*" else given[2]
    note = ""
    if (threads_per_core or node.threads_per_core) > 1:
        note = "" if cores == sockets else f"The third part of -m {option.value}, for cores, has no effect."
    step_method = _step_method(sockets if len(given) > 1 else "cyclic", node.release)
    return Distribution((nodes, sockets, cores), None, flag == "pack", note, step_method)


def _plane_size(option: Given) -> int:
    """Return the tasks of a plane."""
    name, equals, size = option.value.lower().partition("=")
    if name != "plane" or not equals:
        raise option.refusal("needs the size of a plane, as in plane=4")
    return whole_number(option.typed, size)


def _step_method(method: str, release: tuple[int, ...]) -> str:
    """Return the distribution of a step's cores over sockets by the controller of a release."""
    if release < (21, 8):
        return "block"
    # The cores of a task stay together from Slurm 22.05 on.
    return "fcyclic" if method == "cyclic" and release < (22, 5) else method


def _check_distribution(option: Given, given: list[str], flag: str) -> None:
    """Reject methods that do not exist or that require a file."""
    if flag not in ("", "pack", "nopack"):
        raise option.refusal("allows only Pack or NoPack after a comma")
    if len(given) > 3:
        raise option.refusal("has at most three levels: nodes, sockets, cores")
    if given[0] in ("arbitrary", "hostfile"):
        raise option.refusal("takes the nodes of the tasks from a file, which is not part of this text")
    for level, method in zip(("nodes", "sockets", "cores"), given, strict=False):
        allowed = _METHODS[:2] if level == "nodes" else _METHODS
        if method not in (*allowed, "*"):
            can_stand = f"allowed here: {' or '.join(allowed)}, or *"
            raise option.refusal(f"has {method or 'nothing'} for the {level}; {can_stand}")


def read_hint(option: Given | None) -> Hint:
    """Return the options that ``--hint`` implies; of several hints, later ones override earlier ones.

    >>> read_hint(Given("--hint", "--hint", "memory_bound"))
    Hint(threads_per_core=1, keyword='cores')
    """
    hint = Hint()
    for word in option.value.lower().split(",") if option else ():
        if word not in _HINTS and option is not None:
            raise option.refusal("must be compute_bound, memory_bound, multithread or nomultithread")
        hint = _HINTS[word]
    return hint


def read_cpu_bind(options: Mapping[str, Given], hint: Hint, release: tuple[int, ...]) -> CpuBind:
    """Return the binding: as given, otherwise as implied by other options.

    >>> option = Given("--cpu-bind", "--cpu-bind", "v,map_cpu:0*2,6")
    >>> read_cpu_bind({"--cpu-bind": option}, Hint(), (23, 11))
    CpuBind(keyword='map_cpu', entries=((0,), (0,), (6,)))
    """
    typed = _typed_binding(options.get("--cpu-bind"))
    if typed.keyword in (*_GENERATED, None) and release < (21, 8) and _threads_last(options):
        return CpuBind("threads")
    if typed.keyword is not None:
        return typed
    if hint.keyword is not None:
        return CpuBind(hint.keyword)
    bind = options.get("--cpu-bind")
    # Only with --cpu-bind=verbose, which names no unit; quiet and an ignored rank prevent it.
    if "--threads-per-core" in options and (bind is None or bind.value.lower() in ("v", "verbose")):
        return CpuBind("threads")
    tasks_per_core = _tasks_per_core(options, release)
    if tasks_per_core is not None:
        return CpuBind("cores" if tasks_per_core.value == "1" or release < _TASKS_PER_CORE_READ else "threads")
    per_socket = options.get("--ntasks-per-socket")
    return CpuBind("sockets" if per_socket and not per_socket.inherited else None)


def _threads_last(options: Mapping[str, Given]) -> bool:
    """Whether a typed ``--threads-per-core`` follows ``--cpu-bind``: before Slurm 21.08 the last of them applied."""
    typed = [name for name, option in options.items() if not option.inherited]
    return "--threads-per-core" in typed and "--cpu-bind" not in typed[typed.index("--threads-per-core") :]


_BINDING_RULE = (
    "must be cores, threads, sockets, ldoms, rank, rank_ldom, none, "
    "or map_cpu:, mask_cpu:, map_ldom: or mask_ldom: with a list"
)


def _typed_binding(option: Given | None) -> CpuBind:
    """Return the binding in ``--cpu-bind``; a method takes precedence over a unit."""
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
            raise option.refusal(_BINDING_RULE)
    return CpuBind(mode or unit, entries)


def _entry(option: Given, kind: str, text: str) -> tuple[int, ...]:
    """Return an entry of a list: one number, or the bits of a mask."""
    if kind == "mask":
        return hex_mask(option.typed, text)
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", text):
        return (int(text, 16),)
    return (whole_number(option.typed, text, low=0),)


_COUNTS = {
    "-G": "total",
    "--gpus-per-node": "per_node",
    "--gpus-per-task": "per_task",
    "--gpus-per-socket": "per_socket",
}


def read_gpus(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> GpuRequest | None:
    """Return the GPU request in the options; None if there is none.

    >>> from hopperlib.machine import Machine
    >>> frontier = Machine.load("frontier")
    >>> given = {"--gpus-per-task": Given("--gpus-per-task", "--gpus-per-task", "1")}
    >>> read_gpus(given, frontier.node(), frontier)
    GpuRequest(per_node=None, total=None, per_task=1, per_socket=None, tasks_per_gpu=None, binding='per_task', number=1, \
entries=(), sharing=False)
    """
    counts = _gpu_counts(options)
    tasks_per_gpu = count_of(options, "--ntasks-per-gpu")
    typed = options.get("--gpu-bind")
    if not counts and tasks_per_gpu is None and typed is None:
        return None
    if max(counts.get("per_node", 0), counts.get("per_task", 0)) > node.gpus:
        asking = ("--gpus-per-node", "--gres", "--gpus-per-task", "--tres-per-task")
        option = next(options[each] for each in asking if each in options)
        raise option.refusal(f"requests more than the {node.gpus} GPUs of a node '{node.name}' of {machine.title}")
    if "per_socket" in counts:
        counts["per_socket"] *= node.sockets
    sharing = "--gres-flags" in options and "allow-task-sharing" in options["--gres-flags"].value
    request = GpuRequest(**counts, tasks_per_gpu=tasks_per_gpu, sharing=sharing)
    if typed is not None:
        bound = _with_gpu_binding(request, typed, node.gpus)
        if bound.binding in ("none", "per_task") and slurm_release(machine.launcher("srun")) < (21, 8):
            words = f"srun: error: Invalid --gpu-bind argument: {typed.value}"
            raise typed.refusal("is known from Slurm 21.08 on", words=words)
        return bound
    if counts.get("per_task"):
        return request._replace(binding="per_task", number=counts["per_task"])
    return request._replace(binding="single", number=tasks_per_gpu) if tasks_per_gpu else request


def _gpu_counts(options: Mapping[str, Given]) -> dict[str, Any]:
    """Return the requested numbers of GPUs, by field of a request; generic resources count only without GPU options."""
    counts = {key: _count(options[name]) for name, key in _COUNTS.items() if name in options}
    for name, key in (("--gres", "per_node"), ("--tres-per-task", "per_task")):
        typed = options[name].value if name in options else ""
        gpus = re.search(r"(?:^|[,/])gpu(?:[:=][A-Za-z][\w.-]*)?(?:[:=](\d+))?(?:\(|,|$)", typed)
        # The --gres of a job does not apply to a step that counts GPUs by task.
        if gpus and (key == "per_task" or "per_task" not in counts):
            counts.setdefault(key, int(gpus[1] or 1))
    return counts


def _count(option: Given) -> int:
    """Return a number of GPUs, optionally with a type before it."""
    return sum(whole_number(option.typed, part.rpartition(":")[2], low=0) for part in option.value.split(","))


def _with_gpu_binding(request: GpuRequest, option: Given, gpus: int) -> GpuRequest:
    """Return the request with the value of ``--gpu-bind``."""
    text = re.sub(r"^(v|verbose|q|quiet),|^gres/gpu:", "", option.value)
    word, _, rest = text.partition(":")
    word = word.removesuffix("_gpu")
    if word in ("none", "closest") and not rest:
        return request._replace(binding=word)
    if word in ("single", "per_task") and rest:
        return request._replace(binding=word, number=whole_number(option.typed, rest))
    if word in ("map", "mask") and rest:
        lists = tuple(_entry(option, word, each) for each in repeated(option.typed, rest))
        has = request.per_node or gpus
        absent = next((gpu for listed in lists for gpu in listed if gpu >= has), None)
        if absent is not None:
            available = f"GPUs 0 to {has - 1} of a node" if has else "none"
            raise option.refusal(f"names GPU {absent}; a step has {available}")
        return request._replace(binding=word, entries=lists)
    raise option.refusal("must be none, closest, single:N, per_task:N, or map: or mask: with a list")


def task_width(options: Mapping[str, Given], gpus: GpuRequest | None, given: int, notes: list[str]) -> int:
    """Return the CPUs of a task; with --cpus-per-gpu and without -c, that number for each of its GPUs."""
    if gpus is None or "--cpus-per-gpu" not in options or "-c" in options:
        return given
    if gpus.per_task is None:
        notes.append("--cpus-per-gpu is read as CPUs of a task with one GPU; the line has no --gpus-per-task.")
    return (count_of(options, "--cpus-per-gpu") or 1) * (gpus.per_task or 1)
