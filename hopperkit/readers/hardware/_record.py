"""Data from one tool about one kind of node."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.machine.cpu_numbers import core_by_cpu, written
from hopperlib.schema import Value

# More CPUs than any node has: this bound keeps a typo from filling memory.
MOST_CPUS = 65_536

NUMBERING = (
    "Linux numbers this node's CPUs in an order that this output does not show in full; a machine file counts core by "
    "core through the NUMA nodes and hardware thread t of core c as c + t x cores; convert core numbers before binding with them, or add the output of lstopo --of xml"
)


@dataclass(frozen=True, slots=True)
class Hardware:
    """Output about one kind of node.

    Attributes
    ----------
    tool : str
        ``lscpu``, ``meminfo``, ``lstopo``, ``scontrol``, ``slurm-config``, ``numactl``, ``nvidia-smi``, ``rocm-smi``,
        ``amd-smi`` or ``lfs``.
    facts : mapping
        Keys of ``[[node]]``, of ``[[file_system]]`` or of srun's ``[[launcher]]`` in a machine file -> value and its
        position in the output.
    cores, threads_per_core : int or None
        Cores of a node and hardware threads of a core, where the tool counts them.
    sockets : int or None
        The tool's count of sockets.
    numa_nodes : int or None
        NUMA nodes with cores, where the tool counts them.
    model : str or None
        Name of the processor or of the file system.
    slurm_version : str or None
        Version that Slurm prints.
    notes : tuple of str
        Notes for a reader of the machine file.
    numa_cpus : tuple of tuple of int
        CPUs of each NUMA node, where the tool lists nothing else about a node.
    gpu_cpus, gpu_numa_nodes, gpu_count : tuple of str, tuple of int, int
        For GPUs: the CPUs near each, the NUMA node of each, and the number of GPUs; empty if unknown.
    gpu_tool : str
        Tool that printed the NUMA nodes of the GPUs, where several outputs are merged.
    """

    tool: str
    facts: Mapping[str, Quantity] = field(hash=False)
    cores: int | None = None
    threads_per_core: int | None = None
    sockets: int | None = None
    numa_nodes: int | None = None
    model: str | None = None
    slurm_version: str | None = None
    notes: tuple[str, ...] = ()
    numa_cpus: tuple[tuple[int, ...], ...] = ()
    gpu_cpus: tuple[str, ...] = ()
    gpu_numa_nodes: tuple[int, ...] = ()
    gpu_count: int = 0
    gpu_tool: str = ""


def reported(tool: str, at: str, **values: Value) -> dict[str, Quantity]:
    """Return facts from a tool, by key, with their position in the output."""
    return {name: Quantity(value=value, source=tool, at=at) for name, value in values.items()}


def guessed(why: str, **values: Value) -> dict[str, Quantity]:
    """Return assumed facts, by key, with the reason."""
    return {name: Quantity(value=value, assumed=why) for name, value in values.items()}


def counted(where: str, name: str, value: Any, missing: str = "is missing") -> int:
    """Return a required count of at least one; `missing` is the message if it is absent."""
    if value is None:
        raise InputError(f"{where}: '{name}' {missing}")
    if not re.fullmatch(r"\d{1,12}", str(value)) or not int(value):
        raise InputError(f"{where}: '{name}' = {str(value)[:30]!r} must be a whole number of at least 1")
    return int(value)


def numa_facts(
    tool: str, at: str, sockets: int, numa_nodes: int, cores: int, *, alike: bool = True
) -> tuple[dict[str, Quantity], str | None]:
    """Return a geometry that a machine file supports, and a note if it differs from the node's.

    A machine file supports sockets of equal NUMA nodes with equal cores, and equal sockets that share one NUMA node.
    NUMA nodes that are not `alike` are not supported.

    Examples
    --------
    >>> facts, note = numa_facts("lscpu", "NUMA node(s)", sockets=2, numa_nodes=8, cores=128)
    >>> facts["numa_nodes_per_socket"].value, facts["cores_per_numa_node"].value, note
    (4, 16, None)
    >>> facts, note = numa_facts("lscpu", "NUMA node(s)", sockets=2, numa_nodes=1, cores=128)
    >>> facts["sockets"].value, facts["sockets_per_numa_node"].value, note
    (2, 2, None)
    """
    shared = 1
    if alike and numa_nodes % sockets == 0 and cores % numa_nodes == 0:
        split, note = (sockets, numa_nodes // sockets, cores // numa_nodes), None
    elif alike and sockets % numa_nodes == 0 and cores % sockets == 0:
        # The firmware interleaves the memory of several sockets (NPS0).
        split, note, shared = (sockets, 1, cores // numa_nodes), None, sockets // numa_nodes
    else:
        whole = sockets if cores % sockets == 0 else 1
        split = (whole, 1, cores // whole)
        note = (
            f"the NUMA nodes differ, or are split across sockets (cores {cores}, NUMA nodes {numa_nodes}, "
            f"sockets {sockets}); {'each socket' if whole > 1 else 'the node'} is treated as one NUMA node"
        )
    geometry = dict(zip(("sockets", "numa_nodes_per_socket", "cores_per_numa_node"), split, strict=True))
    geometry |= {"sockets_per_numa_node": shared} if shared > 1 else {}
    return (guessed(note, **geometry) if note else reported(tool, at, **geometry)), note


def numbering_of(threads: Sequence[Sequence[int]]) -> dict[str, Value]:
    """Return the machine file's CPU numbering: the first hardware thread of every core, then the second, and so on.

    Examples
    --------
    >>> numbering_of([(0, 1, 2), (3, 4, 5)]), numbering_of([(0, 2, 4), (1, 3, 5)])
    ({'cpu_numbering': 'cores'}, {'cpu_numbering': 'threads'})
    >>> numbering_of([(0, 2, 4, 1, 3, 5)])
    {'cpu_numbers': ('0-4:2,1-5:2',)}
    """
    cores, each = len(threads[0]), len(threads)
    if [list(numbers) for numbers in threads] == [list(range(t * cores, t * cores + cores)) for t in range(each)]:
        return {"cpu_numbering": "cores"}
    if [list(numbers) for numbers in threads] == [list(range(t, cores * each, each)) for t in range(each)]:
        return {"cpu_numbering": "threads"}
    return {"cpu_numbers": tuple(written(tuple(numbers)) for numbers in threads)}


def geometry_of(facts: Mapping[str, Quantity]) -> tuple[int, int, int]:
    """Return the sockets of a node, its NUMA nodes and its cores."""
    keys = ("sockets", "numa_nodes_per_socket", "cores_per_numa_node")
    sockets, per_socket, cores = (value for key in keys if isinstance(value := facts[key].value, int))
    shared = facts["sockets_per_numa_node"].value if "sockets_per_numa_node" in facts else 1
    numa_nodes = sockets * per_socket // (shared if isinstance(shared, int) else 1)
    return sockets, numa_nodes, numa_nodes * cores


def core_by_number(facts: Mapping[str, Quantity], cores: int, threads: int) -> dict[int, int]:
    """Return the core of each CPU of a node, using the numbering in its facts."""
    lists = facts["cpu_numbers"].value if "cpu_numbers" in facts else ()
    if isinstance(lists, tuple) and lists:
        return core_by_cpu(tuple(map(str, lists)))
    side_by_side = "cpu_numbering" in facts and facts["cpu_numbering"].value == "threads"
    return {cpu: cpu // threads if side_by_side else cpu % cores for cpu in range(cores * threads)}


def local_node(
    tool: str,
    at: Sequence[str],
    counts: Sequence[int],
    facts: Mapping[str, Quantity],
    model: str | None,
    notes: Sequence[str],
    *,
    alike: bool,
    numbering: Mapping[str, Quantity] | None,
) -> Hardware:
    """Return the record of one node, with its geometry and the nominal clock of its processor's name.

    Parameters
    ----------
    tool : str
    at : sequence of str
        Where the tool shows the geometry, hardware threads and processor name.
    counts : sequence of int
        Sockets, NUMA nodes, cores and hardware threads of a core.
    facts : mapping
        Other facts from the tool; a clock rate here is used only if nothing better is known.
    model : str or None
    notes : sequence of str
    alike : bool
        Whether all NUMA nodes have the same number of cores and none is split across sockets.
    numbering : mapping or None
        The tool's CPU numbering (`numbering_facts`); None if incomplete.

    Examples
    --------
    >>> at = ("NUMA node(s)", "Thread(s) per core", "Model name")
    >>> node = local_node("lscpu", at, (2, 4, 24, 1), {}, "Opteron @ 2.10GHz", (), alike=True, numbering={})
    >>> node.facts["clock_ghz"].value, node.facts["cores_per_numa_node"].value, node.notes
    (2.1, 6, ())
    """
    sockets, numa_nodes, cores, threads = counts
    geometry, note = numa_facts(tool, at[0], sockets, numa_nodes, cores, alike=alike)
    geometry |= reported(tool, at[1], threads_per_core=threads)
    named = re.search(r"@\s*(\d{1,2}(?:\.\d+)?)\s*GHz", model or "")
    if named and 0 < float(named[1]) <= 10:
        facts = {**facts, **reported(tool, at[2], clock_ghz=float(named[1]))}
    notes = (*notes, *((note,) if note else () if numbering is not None else (NUMBERING,)))
    return Hardware(
        tool, {**geometry, **facts, **(numbering or {})}, cores, threads, sockets, numa_nodes, model, notes=notes
    )


def installed_memory(usable_gb: float) -> float:
    """Estimate the installed memory from the memory that the system reports. [GB]

    The kernel reserves a few percent. Module sizes are powers of two, so the total is a multiple of one eighth of the
    next lower power of two.

    Examples
    --------
    >>> [installed_memory(gb) for gb in (31.3, 187.4, 251.5, 376.0, 503.6, 754.6, 1007.0)]
    [32, 192, 256, 384, 512, 768, 1024]
    """
    step = 2.0 ** (math.floor(math.log2(usable_gb)) - 3)
    gb = math.ceil(usable_gb / step) * step
    return int(gb) if gb == int(gb) else gb


def memory_facts(tool: str, at: str, usable_gb: float, total_gb: float | None = None) -> dict[str, Quantity]:
    """Return the reported usable memory and the probable installed memory.

    Examples
    --------
    >>> facts = memory_facts("meminfo", "MemTotal", 31.298)
    >>> facts["memory_gb"].value, facts["usable_memory_gb"].value
    (32, 31.3)
    """
    total_gb = total_gb or usable_gb
    installed = installed_memory(total_gb)
    usable = min(round(usable_gb, 2) or usable_gb, installed)
    rounded = f"{total_gb:.2f} GB are reported; rounded up to a multiple of the memory module size"
    return guessed(rounded, memory_gb=installed) | reported(tool, at, usable_memory_gb=usable)
