"""``scontrol show node`` (Slurm): one node or a whole cluster, grouped into kinds."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hopperkit.readers.hardware._devices import kept_facts
from hopperkit.readers.hardware._record import (
    MOST_CPUS,
    Hardware,
    counted,
    guessed,
    installed_memory,
    memory_facts,
    reported,
)
from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.units import MIB_PER_MEMORY_GB


class _Node(NamedTuple):
    """The fields of one record."""

    name: str
    sockets: int
    cores_per_socket: int
    threads: int
    memory_mib: int
    usable_mib: int
    version: str
    kept: tuple[str, str]
    gpus: int
    partitions: tuple[str, ...] = ()


def read_scontrol(text: str) -> tuple[Hardware, ...]:
    r"""Read ``scontrol show node``, also with ``-o``.

    Nodes with the same sockets, cores, hardware threads and memory form one kind; the kind with the most nodes comes
    first. A node's memory is RealMemory less MemSpecLimit; for a kind, the smallest of its nodes.

    Examples
    --------
    >>> text = "NodeName=n{} CoresPerSocket=8 RealMemory={} Sockets=2 ThreadsPerCore=1 Version=23.02.6"
    >>> kinds = read_scontrol("\n".join(text.format(n, 64000 if n < 3 else 128000) for n in range(4)))
    >>> [(kind.facts["count"].value, kind.facts["memory_gb"].value) for kind in kinds]
    [(3, 64), (1, 128)]
    """
    nodes = [_node(fields) for fields in records_of(text) if "NodeName" in fields]
    if not nodes:
        raise InputError("scontrol: the output shows no node")
    repeated = [name for name, times in Counter(node.name for node in nodes).items() if times > 1]
    if repeated:
        raise InputError(f"scontrol: node {repeated[0]} occurs twice")
    kinds: dict[tuple[int, int, int, float], list[_Node]] = {}
    for node in nodes:
        size = installed_memory(node.memory_mib / MIB_PER_MEMORY_GB)
        kinds.setdefault((node.sockets, node.cores_per_socket, node.threads, size), []).append(node)
    ordered = sorted(kinds.values(), key=lambda group: (-len(group), group[0][1:5]))
    shared = {
        fields["PartitionName"]
        for fields in records_of(text)
        if "PartitionName" in fields and not fields.get("OverSubscribe", "EXCLUSIVE").startswith("EXCLUSIVE")
    }
    return tuple(_kind(group, nodes, shared) for group in ordered)


def _partition_facts(group: list[_Node], nodes: list[_Node], shared: set[str]) -> dict[str, Quantity]:
    """Return the partitions that contain only this kind of node, and those where jobs may share its nodes."""
    partitions = {partition for node in group for partition in node.partitions}
    elsewhere = {partition for node in nodes if node not in group for partition in node.partitions}
    choosing = tuple(f"partition={name}" for name in sorted(partitions - elsewhere))
    sharing = tuple(f"partition={name}" for name in sorted(partitions & shared))
    facts = reported("scontrol", "Partitions", chosen_by=choosing) if choosing and len(group) < len(nodes) else {}
    return facts | (reported("scontrol", "OverSubscribe of the partition", shared_by=sharing) if sharing else {})


def _kind(group: list[_Node], nodes: list[_Node], shared: set[str]) -> Hardware:
    """Return the record of identical nodes, out of all nodes."""
    first = group[0]
    names = first.name if len(group) == 1 else f"{first.name} and {len(group) - 1:,} more"
    least = min(group, key=lambda node: node.usable_mib)
    facts = {
        **reported("scontrol", f"nodes alike: {names}", count=len(group)),
        **reported("scontrol", "Sockets", sockets=first.sockets),
        **guessed("scontrol shows no NUMA nodes; one for each Slurm socket", numa_nodes_per_socket=1),
        **reported("scontrol", "CoresPerSocket", cores_per_numa_node=first.cores_per_socket),
        **reported("scontrol", "ThreadsPerCore", threads_per_core=first.threads),
    }
    usable_gb, total_gb = least.usable_mib / MIB_PER_MEMORY_GB, least.memory_mib / MIB_PER_MEMORY_GB
    facts |= memory_facts("scontrol", "RealMemory less MemSpecLimit, smallest of this kind", usable_gb, total_gb)
    facts |= _partition_facts(group, nodes, shared)
    facts |= kept_facts(*first.kept, first.sockets * first.cores_per_socket)
    versions = Counter(node.version for node in group if node.version)
    version = versions.most_common(1)[0][0] if versions else None
    cores = first.sockets * first.cores_per_socket
    return Hardware("scontrol", facts, cores, first.threads, first.sockets, slurm_version=version, gpu_count=first.gpus)


def records_of(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each node and partition that scontrol prints as text; a record begins at the start of a line."""
    for record in re.split(r"^[ \t]*(?=(?:NodeName|PartitionName)=)", text, flags=re.MULTILINE)[1:]:
        # The first occurrence of a name counts: free text (Reason, Comment) comes last.
        yield dict(reversed(re.findall(r"(?<!\S)([A-Za-z]+)=(\S*)", record)))


def count_of(text: str | None) -> int:
    """Return a whole number, or 0."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def gpus_of(gres: str) -> int:
    """Return the number of GPUs in a node's Gres: ``gpu:a100:4(S:0-1),craynetwork:2`` has four."""
    return sum(int(number) for number in re.findall(r"(?:^|,)gpu(?::[A-Za-z][\w.-]*)?:(\d{1,6})", gres))


def _node(fields: Mapping[str, str]) -> _Node:
    """Return the node of a record, with its counts checked."""
    name = fields["NodeName"] or "?"
    where = f"scontrol: node {name[:40]}"
    counts = ("Sockets", "CoresPerSocket", "ThreadsPerCore", "RealMemory")
    sockets, cores, threads, memory = (counted(where, key, fields.get(key)) for key in counts)
    if sockets * cores * threads > MOST_CPUS:
        raise InputError(f"{where}: {sockets} x {cores} x {threads} CPUs exceed {MOST_CPUS:,}")
    kept = count_of(fields.get("MemSpecLimit"))
    release = re.match(r"\d+(\.\d+)+", fields.get("Version", ""))
    return _Node(
        name,
        sockets,
        cores,
        threads,
        memory,
        usable_mib=memory - kept if kept < memory else memory,
        version=release[0] if release else "",
        kept=(fields.get("CPUSpecList", ""), fields.get("CoreSpecCount", "")),
        gpus=min(64, gpus_of(fields.get("Gres", ""))),
        partitions=tuple(re.findall(r"[\w.+-]{1,60}", fields.get("Partitions", "").replace("(null)", ""))),
    )
