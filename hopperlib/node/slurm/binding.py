"""Values of srun's options that say where tasks go: --distribution, --cpu-bind, --hint.

Spellings and defaults as in the srun man page [1]_ and the source that reads
them [2]_.

References
----------
.. [1] SchedMD, Slurm 23.11, srun man page.
.. [2] SchedMD, Slurm 23.11, ``src/common/proc_args.c``, ``slurm_opt.c`` and ``slurm_resource_info.c``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from hopperlib.machine import Launcher
from hopperlib.node.launch.components import LaunchError
from hopperlib.node.launch.option_values import hex_mask, repeated, whole_number
from hopperlib.node.launch.options import Given
from hopperlib.node.slurm.cpus import SlurmNode

__all__ = ["CpuBind", "Distribution", "Hint", "bind_options", "read_cpu_bind", "read_distribution", "read_hint"]

_ENTITIES = {
    **dict.fromkeys(("core", "cores"), "cores"),
    **dict.fromkeys(("thread", "threads"), "threads"),
    **dict.fromkeys(("socket", "sockets"), "sockets"),
    **dict.fromkeys(("ldom", "ldoms"), "ldoms"),
}
_MODES = {"no": "none", "none": "none", "rank": "rank", "rank_ldom": "rank_ldom"}
_QUIET = ("q", "quiet", "v", "verbose")
_LIST = re.compile(r"(map|mask)_?(cpu|ldom)[:=]([0-9a-fA-Fx*]+(?:,[0-9a-fA-Fx*]+)*)(?=,|$)")
_METHODS = ("block", "cyclic", "fcyclic")
_CPU_BIND_WORDS = (
    "must be cores, threads, sockets, ldoms, rank, rank_ldom, none, "
    "or map_cpu:, mask_cpu:, map_ldom: or mask_ldom: with a list"
)


class Distribution(NamedTuple):
    """How tasks are dealt out: methods for nodes, sockets and cores, size of a plane, packing, a note."""

    methods: tuple[str, str, str]
    plane_size: int | None
    pack_nodes: bool
    note: str


class CpuBind(NamedTuple):
    """What tasks are bound to: a keyword (None for Slurm's own choice) and the entries of a list."""

    keyword: str | None
    entries: tuple[tuple[int, ...], ...] | None


class Hint(NamedTuple):
    """What ``--hint`` stands for."""

    threads_per_core: int | None
    cores_per_socket: int | None
    keyword: str | None


def bind_options(options: dict[str, Given], release: tuple[int, ...], notes: list[str]) -> None:
    """Settle ``--hint`` against what it cannot stand with, and ``--cpu-bind=rank`` where it is gone; in place.

    On the command line the other options win over ``--hint``; a ``--hint`` of
    the command line wins over those from the environment.

    Examples
    --------
    >>> options = {"--hint": Given("--hint", "--hint", "nomultithread", True),
    ...     "--cpu-bind": Given("--cpu-bind", "--cpu-bind", "cores", True)}
    >>> notes = []
    >>> bind_options(options, (23, 11), notes)
    >>> list(options), notes
    (['--cpu-bind'], ['--hint=nomultithread is ignored beside --cpu-bind.'])
    """
    hint = options.get("--hint")
    others = [options[name] for name in ("--ntasks-per-core", "--threads-per-core") if name in options]
    bind = options.get("--cpu-bind")
    if bind is not None and any(part not in _QUIET for part in bind.value.lower().split(",")):
        others.append(bind)
    if hint is not None and others:
        typed_hint = hint.typed.startswith("-")
        typed_others = [option for option in others if option.typed.startswith("-")]
        if typed_hint and not typed_others:
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
    option: Given | None,
    launcher: Launcher,
    node: SlurmNode,
    threads_per_core: int | None,
    release: tuple[int, ...],
) -> Distribution:
    """Return the methods of ``-m``, defaults filled in.

    Parameters
    ----------
    option : Given or None
        The option; None for the launcher's default.
    launcher : Launcher
        Its default distribution stands in for levels that are not given.
    node : SlurmNode
    threads_per_core : int or None
        Hardware threads of a core in use.
    release : tuple of int
        Slurm release.

    Raises
    ------
    LaunchError
        For a method that there is not, or that cannot be said what it does.

    Examples
    --------
    >>> launcher = Launcher(kind="srun", options=(), default_distribution="block:cyclic")
    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> read_distribution(Given("-m", "-m", "cyclic", True), launcher, node, None, (23, 11)).methods
    ('cyclic', 'cyclic', 'cyclic')
    """
    defaults = launcher.default_distribution.split(":")
    default_sockets = defaults[1] if len(defaults) > 1 else "cyclic"
    if option is None:
        return Distribution((defaults[0], default_sockets, default_sockets), None, False, "")
    text = option.value.lower()
    if text.startswith("plane"):
        name, equals, size = text.partition("=")
        if name != "plane" or not equals:
            raise LaunchError(flag=option.typed, value=option.value, rule="needs the size of a plane, as in plane=4")
        size_given = whole_number(option.typed, size)
        return Distribution(("plane", "block", "block"), size_given, False, "")
    levels, _, flag = text.partition(",")
    if flag not in ("", "pack", "nopack"):
        raise LaunchError(flag=option.typed, value=option.value, rule="takes only Pack or NoPack behind a comma")
    given = levels.split(":")
    if len(given) > 3:
        raise LaunchError(flag=option.typed, value=option.value, rule="has at most three levels: nodes, sockets, cores")
    if given[0] in ("arbitrary", "hostfile"):
        rule = "takes the nodes of the tasks from a file, which is not part of this text"
        raise LaunchError(flag=option.typed, value=option.value, rule=rule)
    for level, method in zip(("nodes", "sockets", "cores"), given, strict=False):
        allowed = _METHODS[:2] if level == "nodes" else _METHODS
        if method not in (*allowed, "*"):
            rule = f"has {method or 'nothing'} for the {level}; there {' or '.join(allowed)} can stand, or *"
            raise LaunchError(flag=option.typed, value=option.value, rule=rule)
    nodes = "block" if given[0] == "*" else given[0]
    sockets = default_sockets if len(given) < 2 else "cyclic" if given[1] == "*" else given[1]
    cores = sockets if len(given) < 3 or given[2] == "*" else given[2]
    several = (threads_per_core or node.threads_per_core) > 1
    if sockets == "fcyclic" and several:
        rule = (
            "has fcyclic for the sockets, which is modeled for one hardware thread a core only (--hint=nomultithread)"
        )
        raise LaunchError(flag=option.typed, value=option.value, rule=rule)
    note = ""
    if len(given) == 3 and cores != sockets and several:
        if release < (22, 5):
            rule = f"has {cores} for the cores, which old releases left to task/cgroup; it is not modeled"
            raise LaunchError(flag=option.typed, value=option.value, rule=rule)
        note = f"The third part of -m {option.value}, for cores, has no effect from Slurm 22.05 on."
    return Distribution((nodes, sockets, cores), None, flag == "pack", note)


def read_hint(option: Given | None) -> Hint:
    """Return what ``--hint`` stands for.

    Raises
    ------
    LaunchError
        For a hint that there is not.

    Examples
    --------
    >>> read_hint(Given("--hint", "--hint", "memory_bound", True))
    Hint(threads_per_core=1, cores_per_socket=1, keyword='cores')
    """
    threads_per_core = cores_per_socket = keyword = None
    for hint in option.value.lower().split(",") if option else ():
        if hint == "compute_bound":
            threads_per_core, keyword = 1, "cores"
        elif hint == "memory_bound":
            threads_per_core, cores_per_socket, keyword = 1, 1, "cores"
        elif hint == "nomultithread":
            threads_per_core, keyword = 1, "threads"
        elif hint == "multithread":
            threads_per_core, keyword = None, "threads"
        elif option is not None:
            rule = "must be compute_bound, memory_bound, multithread or nomultithread"
            raise LaunchError(flag=option.typed, value=option.value, rule=rule)
    return Hint(threads_per_core, cores_per_socket, keyword)


def read_cpu_bind(options: Mapping[str, Given], hint: Hint, release: tuple[int, ...]) -> CpuBind:
    """Return what tasks are bound to: as typed, else as other options imply it.

    Raises
    ------
    LaunchError
        For a binding that there is not.

    Examples
    --------
    >>> option = Given("--cpu-bind", "--cpu-bind", "v,map_cpu:0*2,6", True)
    >>> read_cpu_bind({"--cpu-bind": option}, Hint(None, None, None), (23, 11))
    CpuBind(keyword='map_cpu', entries=((0,), (0,), (6,)))
    """
    typed = _typed_binding(options.get("--cpu-bind"))
    if typed.keyword is not None:
        return typed
    if hint.keyword is not None:
        return CpuBind(hint.keyword, None)
    if "--threads-per-core" in options and release >= (21, 8):
        return CpuBind("threads", None)
    if "--ntasks-per-core" in options:
        return CpuBind("cores" if options["--ntasks-per-core"].value == "1" else "threads", None)
    if "--ntasks-per-socket" in options and options["--ntasks-per-socket"].typed.startswith("-"):
        return CpuBind("sockets", None)
    return CpuBind(None, None)


def _typed_binding(option: Given | None) -> CpuBind:
    """Return what ``--cpu-bind`` itself says; a way of binding goes before a unit to bind to."""
    if option is None:
        return CpuBind(None, None)
    rest = option.value
    mode: str | None = None
    entity: str | None = None
    entries: tuple[tuple[int, ...], ...] | None = None
    listed = _LIST.search(rest)
    if listed and (listed.start() == 0 or rest[listed.start() - 1] == ","):
        mode = f"{listed[1]}_{listed[2]}"
        entries = _entries(option, listed[1], listed[3])
        rest = (rest[: listed.start()].removesuffix(",") + rest[listed.end() :]).strip(",")
    for part in rest.lower().split(",") if rest else ():
        if part in _ENTITIES:
            entity = _ENTITIES[part]
        elif part in _MODES:
            mode, entries = _MODES[part], None
        elif part not in _QUIET:
            raise LaunchError(flag=option.typed, value=option.value, rule=_CPU_BIND_WORDS)
    return CpuBind(mode or entity, entries)


def _entries(option: Given, kind: str, text: str) -> tuple[tuple[int, ...], ...]:
    """Return the entries of a list: one number each, or the bits of a mask."""
    entries: list[tuple[int, ...]] = []
    for entry in repeated(option.typed, text):
        if kind == "mask":
            entries.append(hex_mask(option.typed, entry))
        elif re.fullmatch(r"0x[0-9a-fA-F]{1,8}", entry):
            entries.append((int(entry, 16),))
        else:
            entries.append((whole_number(option.typed, entry, low=0),))
    return tuple(entries)
