"""Figures that follow from a machine file, for a comparison of machines.

Each is exact arithmetic on values of the file. It is documented if all of them
are, and assumed if one of them is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from hopperlib import units
from hopperlib.machine.machine import Machine
from hopperlib.machine.parts import FileSystem, NodeKind

__all__ = ["FIGURES", "Derived", "bytes_per_flop", "derived", "memory_dump_s", "mpi_bandwidth_per_core_mb_s"]


class Derived(NamedTuple):
    """One figure of a machine.

    Parameters
    ----------
    name : str
        Key in `FIGURES`.
    label, unit : str
        What it is, in what unit.
    value : float, int or None
        None if the machine file does not tell.
    decimals : int
        Decimals worth showing.
    badge : {"documented", "assumed"}
    sum : str
        The arithmetic in words.
    """

    name: str
    label: str
    unit: str
    value: float | None
    decimals: int
    badge: Literal["documented", "assumed"]
    sum: str


class _Figure(NamedTuple):
    """What a figure is: the keys of the file that it rests on, and the sum in words."""

    label: str
    unit: str
    decimals: int
    keys: tuple[str, ...]
    sum: str


def bytes_per_flop(node: NodeKind) -> float:
    """Bytes that a node can read from memory for each operation it can do. [byte/flop]

    Examples
    --------
    >>> round(bytes_per_flop(Machine.load("hopper").node()), 2)
    0.25
    """
    return node.bandwidth_gb_s / node.peak_gflops


def mpi_bandwidth_per_core_mb_s(machine: Machine) -> float | None:
    """Network bandwidth of a node for each of its cores; None without a network. [MB/s]

    Examples
    --------
    Four cores shared 1.6 GB/s on Franklin, twenty-four share 6.0 GB/s on Hopper:

    >>> [mpi_bandwidth_per_core_mb_s(Machine.load(name)) for name in ("franklin", "hopper")]
    [400.0, 250.0]
    """
    return 1_000 * machine.network.node_bandwidth_gb_s / machine.node().cores if machine.network else None


def memory_dump_s(machine: Machine) -> float | None:
    """Time to write all memory to one scratch file system at its peak; None without one. [s]

    Examples
    --------
    >>> round(memory_dump_s(Machine.load("hopper")) / 60)
    111
    """
    if not machine.file_systems:
        return None
    return machine.memory_gb * units.BYTES_PER_MEMORY_GB / units.BYTES_PER_GB / machine.file_systems[0].peak_gb_s


def _scratch(value: Callable[[FileSystem], float]) -> Callable[[Machine], float | None]:
    """Return a figure of the first file system, None where there is none."""
    return lambda machine: value(machine.file_systems[0]) if machine.file_systems else None


_SHAPE = ("node.*.sockets", "node.*.numa_nodes_per_socket", "node.*.cores_per_numa_node")
_CORES = ("node.*.count", *_SHAPE)
_MEMORY = ("node.*.count", "node.*.memory_gb")
_FLOPS = ("node.*.clock_ghz", "node.*.flops_per_cycle")

FIGURES: dict[str, _Figure] = {
    "nodes": _Figure("Compute nodes", "", 0, ("node.*.count",), "nodes of all kinds"),
    "cores": _Figure("Cores", "", 0, _CORES, "nodes x cores of a node"),
    "cores_per_node": _Figure("Cores of a node", "", 0, _SHAPE, "NUMA nodes x their cores"),
    "numa_nodes": _Figure("NUMA nodes of a node", "", 0, _SHAPE[:2], "sockets x NUMA nodes of each"),
    "core_peak_gflops": _Figure("Peak of a core", "Gflop/s", 1, _FLOPS, "clock x operations a cycle"),
    "peak_tflops": _Figure("Peak of the machine", "Tflop/s", 1, (*_CORES, *_FLOPS), "cores x peak of a core"),
    "memory_tb": _Figure("Memory of the machine, divided by 1,000", "TB", 1, _MEMORY, "nodes x memory of a node"),
    "memory_tib": _Figure("The same memory, divided by 1,024", "TiB", 1, _MEMORY, "nodes x memory of a node"),
    "memory_per_core_gb": _Figure(
        "Memory installed for each core",
        "GB",
        2,
        ("node.*.memory_gb", *_SHAPE),
        "memory of an ordinary node / its cores",
    ),
    "usable_per_core_gb": _Figure(
        "Memory left to programs for each core",
        "GB",
        2,
        ("node.*.usable_memory_gb", *_SHAPE),
        "usable memory of an ordinary node / its cores",
    ),
    "node_bandwidth_gb_s": _Figure(
        "Memory bandwidth of a node",
        "GB/s",
        1,
        ("node.*.numa_bandwidth_gb_s", *_SHAPE[:2]),
        "NUMA nodes x bandwidth of each",
    ),
    "bytes_per_flop": _Figure(
        "Bytes from memory for each operation",
        "byte/flop",
        2,
        ("node.*.numa_bandwidth_gb_s", *_SHAPE, *_FLOPS),
        "memory bandwidth of a node / its peak",
    ),
    "core_hours_per_day": _Figure("Core-hours that a day offers", "core h", 0, _CORES, "cores x 24 hours"),
    "mpi_latency_us": _Figure("MPI latency", "us", 1, ("network.latency_us",), "as the file has it"),
    "mpi_bandwidth_gb_s": _Figure(
        "MPI bandwidth of a node", "GB/s", 1, ("network.node_bandwidth_gb_s",), "as the file has it"
    ),
    "mpi_bandwidth_per_core_mb_s": _Figure(
        "MPI bandwidth for each core",
        "MB/s",
        0,
        ("network.node_bandwidth_gb_s", *_SHAPE),
        "bandwidth of a node / its cores",
    ),
    "scratch_peak_gb_s": _Figure(
        "Peak of one scratch file system", "GB/s", 0, ("file_system.*.peak_gb_s",), "as the file has it"
    ),
    "ost_peak_mb_s": _Figure(
        "Share of each OST in that", "MB/s", 0, ("file_system.*.peak_gb_s", "file_system.*.osts"), "peak / OSTs"
    ),
    "memory_dump_min": _Figure(
        "Time to write all memory to one scratch file system",
        "min",
        0,
        ("file_system.*.peak_gb_s", "node.*.count", "node.*.memory_gb"),
        "memory in bytes / peak; no real dump reaches it",
    ),
}

_VALUES: dict[str, Callable[[Machine], float | None]] = {
    "nodes": lambda m: m.nodes,
    "cores": lambda m: m.cores,
    "cores_per_node": lambda m: m.node().cores,
    "numa_nodes": lambda m: m.node().numa_nodes,
    "core_peak_gflops": lambda m: m.node().core_peak_gflops,
    "peak_tflops": lambda m: m.peak_tflops,
    "memory_tb": lambda m: m.memory_tb,
    "memory_tib": lambda m: m.memory_tib,
    "memory_per_core_gb": lambda m: m.node().memory_gb / m.node().cores,
    "usable_per_core_gb": lambda m: m.node().usable_memory_gb / m.node().cores,
    "node_bandwidth_gb_s": lambda m: m.node().bandwidth_gb_s,
    "bytes_per_flop": lambda m: bytes_per_flop(m.node()),
    "core_hours_per_day": lambda m: m.core_hours_per_day,
    "mpi_latency_us": lambda m: m.network.latency_us if m.network else None,
    "mpi_bandwidth_gb_s": lambda m: m.network.node_bandwidth_gb_s if m.network else None,
    "mpi_bandwidth_per_core_mb_s": mpi_bandwidth_per_core_mb_s,
    "scratch_peak_gb_s": _scratch(lambda f: f.peak_gb_s),
    "ost_peak_mb_s": _scratch(lambda f: 1_000 * f.ost_peak_gb_s),
    "memory_dump_min": lambda m: None if (seconds := memory_dump_s(m)) is None else seconds / 60,
}


def derived(machine: Machine) -> tuple[Derived, ...]:
    """Return the figures of a machine, in the order of `FIGURES`.

    Examples
    --------
    >>> peak = next(one for one in derived(Machine.load("hopper")) if one.name == "peak_tflops")
    >>> round(peak.value, 1), peak.unit, peak.badge, peak.sum
    (1287.0, 'Tflop/s', 'documented', 'cores x peak of a core')
    """
    return tuple(
        Derived(
            name,
            figure.label,
            figure.unit,
            _VALUES[name](machine),
            figure.decimals,
            "assumed" if any(_assumed(machine, figure.keys)) else "documented",
            figure.sum,
        )
        for name, figure in FIGURES.items()
    )


def _assumed(machine: Machine, keys: tuple[str, ...]) -> Iterator[bool]:
    """Yield for each fact behind some keys whether it is assumed; a star stands for every part of a name."""
    for path, quantity in machine.provenance.items():
        parts = path.split(".")
        pattern = f"{parts[0]}.*.{parts[-1]}" if len(parts) == 3 else path
        if pattern in keys:
            yield quantity.source is None
