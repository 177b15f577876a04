"""A node as MPI launchers see it: sets of hardware threads, as bit masks.

Bit ``i`` of a mask is hardware thread ``i`` counted core by core, which is how hwloc counts them. Launchers work on
masks; `cpu_numbers` turns one into the numbers that Linux gives.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from hopperlib.machine import NodeKind


class Topology(NamedTuple):
    """The usable hardware threads of a node and its units.

    Parameters
    ----------
    numbers : tuple of int
        Linux' number of each hardware thread, core by core.
    units : mapping
        ``machine``, ``socket``, ``numa``, ``l3``, ``l2``, ``l1``, ``core`` and ``hwthread`` -> masks, in order.
        Units without a usable hardware thread are left out.
    """

    numbers: tuple[int, ...]
    units: Mapping[str, tuple[int, ...]]

    @property
    def everything(self) -> int:
        """Mask of all hardware threads."""
        return (1 << len(self.numbers)) - 1

    def cpu_numbers(self, mask: int) -> tuple[int, ...]:
        """Return the CPUs of a mask as Linux numbers them, core by core."""
        return tuple(self.numbers[bit] for bit in bits(mask))

    def count_inside(self, mask: int, unit: str) -> int:
        """Return the number of units that are entirely within a mask."""
        return sum(1 for each in self.units[unit] if each & mask == each)

    def inside(self, mask: int, unit: str) -> Iterator[int]:
        """Yield the units that are entirely within a mask."""
        return (each for each in self.units[unit] if each & mask == each)


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, from the lowest.

    Parameters
    ----------
    mask : int
        Hardware threads, as a bit mask.

    Examples
    --------
    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def topology_of(kind: NodeKind) -> Topology:
    """Return the topology of a kind of node; L1 and L2 caches are assumed to belong to one core each.

    Parameters
    ----------
    kind : NodeKind
        Kind of node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> node = topology_of(Machine.load("perlmutter").node())
    >>> node.cpu_numbers(node.units["core"][1]), len(node.units["numa"]), len(node.units["l3"])
    ((1, 129), 8, 16)
    """
    widths = (
        kind.cores,
        kind.cores_per_socket,
        kind.cores_per_numa_node,
        kind.cores_per_l3 or kind.cores_per_numa_node,
    )
    numbers = tuple(
        tuple(kind.cpu(core, thread) for thread in range(kind.threads_per_core)) for core in kind.usable_cores
    )
    return _topology(widths, kind.usable_cores, numbers)


@cache
def _topology(widths: tuple[int, ...], usable: tuple[int, ...], numbers: tuple[tuple[int, ...], ...]) -> Topology:
    """Return the topology of usable cores; `widths` are the cores of the machine, a socket, a NUMA node, an L3 cache."""
    threads = len(numbers[0])
    core_masks = tuple(((1 << threads) - 1) << (place * threads) for place in range(len(usable)))
    units: dict[str, tuple[int, ...]] = {}
    for name, width in zip(("machine", "socket", "numa", "l3"), widths, strict=True):
        masks: dict[int, int] = {}
        for core, mask in zip(usable, core_masks, strict=True):
            masks[core // width] = masks.get(core // width, 0) | mask
        units[name] = tuple(masks.values())
    units |= dict.fromkeys(("l2", "l1", "core"), core_masks)
    units["hwthread"] = tuple(1 << place for place in range(len(usable) * threads))
    return Topology(tuple(cpu for thread_cpus in numbers for cpu in thread_cpus), units)


def units_of(unit: str, kind: NodeKind) -> list[list[int]]:
    """Return the CPUs of each unit of a node that jobs may use, in the order of the units, core by core.

    Parameters
    ----------
    unit : str
        Unit, such as "core", "numa" or "socket".
    kind : NodeKind
        Kind of node.

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
