"""Figures derived from a machine file, for comparing machines.

Each is exact arithmetic on values of the file. A figure is documented if all of these values are, and assumed if one of
them is.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from hopperlib.machine.machine import Machine
from hopperlib.machine.parts import FileSystem, Network
from hopperlib.units import BYTES_PER_MEMORY_GB

__all__ = ["FIGURES", "Derived", "Figure", "derived", "mpi_bandwidth_per_core_mb_s"]


class Figure(NamedTuple):
    """Definition of one figure.

    Parameters
    ----------
    name, label, unit : str
        Its short name, its description, its unit.
    decimals : int
        Number of decimals to show.
    value : callable
        Its value for a machine; None if the machine file lacks an input.
    keys : tuple of str
        Keys of the file that it uses; a star matches any part of a name.
    sum : str
        The arithmetic in words.
    """

    name: str
    label: str
    unit: str
    decimals: int
    value: Callable[[Machine], float | None]
    keys: tuple[str, ...]
    sum: str


class Derived(NamedTuple):
    """One figure of a machine: its definition, its value (None if unknown), its certainty."""

    figure: Figure
    value: float | None
    badge: Literal["documented", "assumed"]

    @property
    def rounded(self) -> float | None:
        """The value rounded to its decimals; an integer without decimals."""
        if self.value is None:
            return None
        return round(self.value, self.figure.decimals) if self.figure.decimals else round(self.value)


def derived(machine: Machine) -> tuple[Derived, ...]:
    """Return the figures of a machine, in the order of `FIGURES`.

    Parameters
    ----------
    machine : Machine
        A machine with any parts.

    Examples
    --------
    >>> peak = next(one for one in derived(Machine.load("hopper")) if one.figure.name == "peak_tflops")
    >>> peak.rounded, peak.figure.unit, peak.badge, peak.figure.sum
    (1287.0, 'Tflop/s', 'documented', 'cores x peak of a core')
    """
    return tuple(
        Derived(figure, figure.value(machine), "assumed" if any(_assumed(machine, figure.keys)) else "documented")
        for figure in FIGURES.values()
    )


def mpi_bandwidth_per_core_mb_s(machine: Machine) -> float | None:
    """Network bandwidth of a node per core; None without a network. [MB/s]

    Parameters
    ----------
    machine : Machine
        A machine with or without a network.

    Examples
    --------
    Four cores shared 1.6 GB/s on Franklin; twenty-four share 6.0 GB/s on Hopper:

    >>> [mpi_bandwidth_per_core_mb_s(Machine.load(name)) for name in ("franklin", "hopper")]
    [400.0, 250.0]
    """
    network = machine.network
    return None if network is None else network.node_bandwidth_gb_s * 1000 / machine.node().cores


def _of_network(value: Callable[[Network], float]) -> Callable[[Machine], float | None]:
    """Return a figure of the network; None for a machine without one."""
    return lambda machine: None if machine.network is None else value(machine.network)


def _of_scratch(value: Callable[[FileSystem, Machine], float]) -> Callable[[Machine], float | None]:
    """Return a figure of the first file system; None for a machine without one."""
    return lambda machine: value(machine.file_systems[0], machine) if machine.file_systems else None


def _memory_dump_min(scratch: FileSystem, machine: Machine) -> float:
    """Return the time to write all memory at the peak of a file system. [min]"""
    return machine.memory_gb * BYTES_PER_MEMORY_GB / 1e9 / scratch.peak_gb_s / 60


def _assumed(machine: Machine, keys: tuple[str, ...]) -> Iterator[bool]:
    """Yield for each fact under some keys whether it is assumed; a star matches any part of a name."""
    for path, quantity in machine.provenance.items():
        parts = path.split(".")
        pattern = f"{parts[0]}.*.{parts[-1]}" if len(parts) == 3 else path
        if pattern in keys:
            yield quantity.source is None


# A NUMA node spans several sockets only where the file states it, so its usual value adds no assumption.
_NUMA_NODES = ("node.*.sockets", "node.*.numa_nodes_per_socket")
_CORES = (*_NUMA_NODES, "node.*.cores_per_numa_node")
_CORE_PEAK = ("node.*.clock_ghz", "node.*.flops_per_cycle")
_FIGURES = (
    Figure("nodes", "Compute nodes", "", 0, lambda machine: machine.nodes, ("node.*.count",), "nodes of all kinds"),
    Figure(
        "cores", "Cores", "", 0,
        lambda machine: machine.cores,
        ("node.*.count", *_CORES),
        "nodes x cores of a node",
    ),
    Figure(
        "peak_tflops", "Peak of the CPU cores", "Tflop/s", 1,
        lambda machine: machine.peak_tflops,
        ("node.*.count", *_CORES, *_CORE_PEAK),
        "cores x peak of a core",
    ),
    Figure(
        "memory_tb", "Memory of the machine", "TB", 1,
        lambda machine: machine.memory_tb,
        ("node.*.count", "node.*.memory_gb"),
        "nodes x memory of a node",
    ),
    Figure(
        "memory_per_core_gb", "Memory installed for each core", "GB", 2,
        lambda machine: machine.node().memory_gb / machine.node().cores,
        ("node.*.memory_gb", *_CORES),
        "memory of an ordinary node / its cores",
    ),
    Figure(
        "node_bandwidth_gb_s", "Memory bandwidth of a node", "GB/s", 1,
        lambda machine: machine.node().bandwidth_gb_s,
        ("node.*.numa_bandwidth_gb_s", *_NUMA_NODES),
        "NUMA nodes x bandwidth of each",
    ),
    Figure(
        "mpi_latency_us", "MPI latency", "us", 1,
        _of_network(lambda network: network.latency_us),
        ("network.latency_us",),
        "as the file has it",
    ),
    Figure(
        "mpi_bandwidth_gb_s", "MPI bandwidth of a node", "GB/s", 1,
        _of_network(lambda network: network.node_bandwidth_gb_s),
        ("network.node_bandwidth_gb_s",),
        "as the file has it",
    ),
    Figure(
        "mpi_bandwidth_per_core_mb_s", "MPI bandwidth for each core", "MB/s", 0,
        mpi_bandwidth_per_core_mb_s,
        ("network.node_bandwidth_gb_s", *_CORES),
        "bandwidth of a node / its cores",
    ),
    Figure(
        "scratch_peak_gb_s", "Peak of one scratch file system", "GB/s", 0,
        _of_scratch(lambda scratch, _: scratch.peak_gb_s),
        ("file_system.*.peak_gb_s",),
        "as the file has it",
    ),
    Figure(
        "memory_dump_min", "Time to write all memory to one scratch file system", "min", 0,
        _of_scratch(_memory_dump_min),
        ("file_system.*.peak_gb_s", "node.*.count", "node.*.memory_gb"),
        "memory in bytes / peak; no real dump is as fast",
    ),
)  # fmt: skip
FIGURES = {figure.name: figure for figure in _FIGURES}
"""The figures by name."""
