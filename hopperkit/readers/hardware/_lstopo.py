"""Read ``lstopo --of xml`` (hwloc versions 1 and 2).

The tree differs between versions: in hwloc 1 a NUMA node is between the machine and the sockets, or inside a socket,
and packages were called sockets until 1.11; in hwloc 2 it is attached next to the caches as a memory child. The sets of
CPUs (``cpuset``) are the same in both, so only they are used.
"""

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from hopperkit.readers.hardware._devices import xml_device_facts
from hopperkit.readers.hardware._record import MOST_CPUS, Hardware, local_node, memory_facts, numbering_of, reported
from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.units import BYTES_PER_MEMORY_GB

_CLOCK = re.compile(r"Frequency(?:Base|Max)MHz=[1-9]\d{1,3}")


def read_lstopo(text: str) -> Hardware:
    """Read the XML of ``lstopo``.

    Examples
    --------
    >>> node = read_lstopo('''<topology version="2.0"><object type="Machine" cpuset="0x3">
    ... <object type="NUMANode" cpuset="0x3" local_memory="8589934592"/>
    ... <object type="Core" cpuset="0x1"><object type="PU" cpuset="0x1"/></object>
    ... <object type="Core" cpuset="0x2"><object type="PU" cpuset="0x2"/></object></object></topology>''')
    >>> node.cores, node.facts["usable_memory_gb"].value
    (2, 8.0)
    """
    root = _topology(text)
    objects = [(each.get("type", ""), each) for each in root.iter("object")]
    # Some virtual machines show no cores.
    cores = _cpusets(objects, "Core") or _cpusets(objects, "PU")
    threads_per_core = _width(cores)
    sockets = _cpusets(objects, "Package", "Socket")
    numa_cpus, memory, notes = _numa_nodes(objects)
    # hwloc numbers cores in tree order: through the sockets, and within each through its NUMA nodes and caches.
    cores.sort(key=lambda core: [_first(core, groups) for groups in (sockets, numa_cpus)])
    alike = _whole(numa_cpus, cores) and _whole(sockets, cores)
    facts = xml_device_facts(list(_walked(root, 0)), cores)
    if memory:
        facts |= memory_facts("lstopo", "local_memory", memory / BYTES_PER_MEMORY_GB)
    model, clock = _remarks(root)
    facts |= clock
    at = ("objects Package, NUMANode, Core", "objects PU and Core", "info CPUModel")
    counts = (len(sockets) or 1, max(1, len(numa_cpus)), len(cores), threads_per_core)
    threads = list(zip(*map(_numbers, cores), strict=True))
    numbering = reported("lstopo", "cpuset of each Core", **numbering_of(threads))
    return local_node("lstopo", at, counts, facts, model, notes, alike=alike, numbering=numbering)


def _topology(text: str) -> ElementTree.Element:
    """Return the root of the XML, which must be hwloc's."""
    if "<!ENTITY" in text:
        raise InputError("lstopo: the XML defines entities, which hwloc never does; it is not read")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError(f"lstopo: not XML: {error}") from None
    if root.tag != "topology":
        raise InputError(f"lstopo: the XML starts with <{root.tag[:40]}>, not with <topology> as hwloc's does")
    return root


def _cpusets(objects: list[tuple[str, ElementTree.Element]], *kinds: str) -> list[int]:
    """Return the CPU sets of some kinds of objects, leaving out objects that have none."""
    return [cpus for kind, each in objects if kind in kinds and (cpus := _cpuset(each))]


def _width(cores: list[int]) -> int:
    """Return the hardware threads per core, which must be the same for all."""
    if not cores:
        raise InputError("lstopo: the XML shows neither a Core nor a PU")
    widths = Counter(cpus.bit_count() for cpus in cores)
    if len(widths) > 1:
        shown = " and ".join(f"{count} of {width}" for width, count in sorted(widths.items()))
        raise InputError(
            f"lstopo: cores have different numbers of hardware threads ({shown}); a machine file supports only one kind of core"
        )
    return next(iter(widths))


def _remarks(root: ElementTree.Element) -> tuple[str | None, dict[str, Quantity]]:
    """Return the processor's name and its clock rate, which hwloc reports since version 2.4."""
    remarks = [(each.get("name", ""), each.get("value", "")) for each in root.iter("info")]
    model = next((" ".join(value.split()) for name, value in remarks if name == "CPUModel"), None)
    clocks = ((name, value) for name, value in remarks if _CLOCK.fullmatch(f"{name}={value}"))
    noted = (reported("lstopo", f"info {name}", clock_ghz=int(value) / 1000) for name, value in clocks)
    return model, next(noted, {})


def _walked(root: ElementTree.Element, above: int) -> Iterator[tuple[str, int, str]]:
    """Yield the type, CPUs (the object's or its parent's) and name of each object."""
    for each in root.iterfind("object"):
        cpus = _cpuset(each) or above
        kind = each.get("type", "")
        yield "L3Cache" if (kind, each.get("depth")) == ("Cache", "3") else kind, cpus, each.get("name", "")
        yield from _walked(each, cpus)


def _numa_nodes(objects: list[tuple[str, ElementTree.Element]]) -> tuple[list[int], int, list[str]]:
    """Return the NUMA nodes' sets of CPUs, their memory in bytes, and the parts left out."""
    numa_nodes = [each for kind, each in objects if kind == "NUMANode"]
    # The first node of each set counts: a second is additional memory of the same cores (high-bandwidth memory).
    by_cpus: dict[int, ElementTree.Element] = {}
    for each in numa_nodes:
        by_cpus.setdefault(_cpuset(each), each)
    by_cpus.pop(0, None)  # Memory alone.
    memory = sum(map(_bytes, by_cpus.values()))
    left_out = len(numa_nodes) - len(by_cpus)
    if not by_cpus:
        memory = sum(_bytes(each) for kind, each in objects if kind == "Machine")
    notes = [f"{left_out} NUMA nodes without cores are left out, with their memory"] if left_out else []
    return sorted(by_cpus, key=lambda cpus: cpus & -cpus), memory, notes


def _first(core: int, groups: list[int]) -> int:
    """Return the number of the first group of CPUs that contains a core."""
    return next((number for number, cpus in enumerate(groups) if cpus & core), len(groups))


def _whole(groups: list[int], cores: list[int]) -> bool:
    """Whether groups of CPUs have equal numbers of cores, consecutive cores, and each core in one group."""
    members = [[number for number, core in enumerate(cores) if core & cpus] for cpus in groups]
    width = len(cores) // max(1, len(groups))
    return not groups or sorted(members) == [
        list(range(first, first + width)) for first in range(0, len(groups) * width, width)
    ]


def _numbers(cpus: int) -> list[int]:
    """Return the CPU numbers in a set."""
    return [bit for bit in range(cpus.bit_length()) if cpus >> bit & 1]


def _cpuset(each: ElementTree.Element) -> int:
    """Return a set of CPUs as an integer; its 32-bit words, highest first, may be empty."""
    text = each.get("cpuset", "")
    value = 0
    for word in text.split(",") if text else []:
        if not re.fullmatch(r"(0x)?[0-9a-fA-F]{0,8}", word):
            raise InputError(f"lstopo: cpuset = {text[:40]!r} is not a set of CPUs")
        value = value << 32 | int(word or "0", 16)
        if value.bit_length() > MOST_CPUS:
            raise InputError(f"lstopo: a cpuset has more than {MOST_CPUS:,} CPUs")
    return value


def _bytes(each: ElementTree.Element) -> int:
    """Return an object's local memory in bytes."""
    text = each.get("local_memory", "0")
    if not re.fullmatch(r"\d{1,18}", text):
        raise InputError(f"lstopo: local_memory = {text[:30]!r} must be a number of bytes")
    return int(text)
