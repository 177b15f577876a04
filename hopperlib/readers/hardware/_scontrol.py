"""``scontrol show node`` (Slurm): one node or all of a cluster, grouped into kinds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.readers.hardware._devices import kept_facts
from hopperlib.readers.hardware._record import MOST_CPUS, Hardware, installed_memory, memory_facts
from hopperlib.units import MIB_PER_MEMORY_GB

__all__ = ["read_scontrol"]


# What a node must count, in the text and in the JSON.
_TEXT_COUNTS = ("Sockets", "CoresPerSocket", "ThreadsPerCore", "RealMemory")
_JSON_COUNTS = ("sockets", "cores", "threads", "real_memory")


class _Node(NamedTuple):
    """What one record tells."""

    name: str
    sockets: int
    cores_per_socket: int
    threads: int
    memory_mib: int
    usable_mib: int
    version: str
    kept: tuple[str, str] = ("", "")
    gpus: int = 0


def read_scontrol(text: str) -> tuple[Hardware, ...]:
    r"""Read ``scontrol show node``, as text, with ``-o``, or with ``--json``.

    Nodes of the same sockets, cores, hardware threads and size of memory make
    one kind; the kind with the most nodes comes first. A node's memory is
    RealMemory less MemSpecLimit, for a kind the least of its nodes.

    Examples
    --------
    >>> text = "NodeName=n{} CoresPerSocket=8 RealMemory={} Sockets=2 ThreadsPerCore=1 Version=23.02.6"
    >>> kinds = read_scontrol("\n".join(text.format(n, 64000 if n < 3 else 128000) for n in range(4)))
    >>> [(kind.facts["count"].value, kind.facts["memory_gb"].value) for kind in kinds]
    [(3, 64), (1, 128)]
    """
    nodes = list(_json_nodes(text) if text.lstrip().startswith("{") else _text_nodes(text))
    if not nodes:
        raise InputError("scontrol: the output tells of no node")
    repeated = [name for name, times in Counter(node.name for node in nodes).items() if times > 1]
    if repeated:
        raise InputError(f"scontrol: node {repeated[0]} stands there twice")
    kinds: dict[tuple[int, int, int, float], list[_Node]] = {}
    for node in nodes:
        size = installed_memory(node.memory_mib / MIB_PER_MEMORY_GB)
        kinds.setdefault((node.sockets, node.cores_per_socket, node.threads, size), []).append(node)
    ordered = sorted(kinds.values(), key=lambda group: (-len(group), group[0][1:5]))
    return tuple(_kind(group) for group in ordered)


def _kind(group: list[_Node]) -> Hardware:
    """Return the record of nodes that are alike."""
    first = group[0]
    names = first.name if len(group) == 1 else f"{first.name} and {len(group) - 1:,} more"
    least = min(group, key=lambda node: node.usable_mib)
    facts = {
        "count": Quantity(value=len(group), source="scontrol", at=f"nodes alike: {names}"),
        "sockets": Quantity(value=first.sockets, source="scontrol", at="Sockets"),
        "numa_nodes_per_socket": Quantity(value=1, assumed="scontrol shows no NUMA nodes; one for each Slurm socket"),
        "cores_per_numa_node": Quantity(value=first.cores_per_socket, source="scontrol", at="CoresPerSocket"),
        "threads_per_core": Quantity(value=first.threads, source="scontrol", at="ThreadsPerCore"),
    }
    facts |= memory_facts(
        "scontrol",
        "RealMemory less MemSpecLimit, the least of the kind",
        least.usable_mib / MIB_PER_MEMORY_GB,
        least.memory_mib / MIB_PER_MEMORY_GB,
    )
    facts |= kept_facts(*first.kept, first.sockets * first.cores_per_socket)
    versions = Counter(node.version for node in group if node.version)
    return Hardware(
        tool="scontrol",
        facts=facts,
        cores=first.sockets * first.cores_per_socket,
        threads_per_core=first.threads,
        sockets=first.sockets,
        slurm_version=versions.most_common(1)[0][0] if versions else None,
        gpu_count=first.gpus,
    )


def _text_nodes(text: str) -> Iterator[_Node]:
    """Yield the nodes of the text form; a record starts at the start of a line."""
    for record in re.split(r"^[ \t]*(?=NodeName=)", text, flags=re.MULTILINE)[1:]:
        # The first of a name counts: free text (Reason, Comment) comes last.
        fields: dict[str, str] = {}
        for name, value in re.findall(r"(?<!\S)([A-Za-z]+)=(\S*)", record):
            fields.setdefault(name, value)
        yield _node(
            fields["NodeName"] or "?",
            {key: fields.get(key) for key in _TEXT_COUNTS},
            fields.get("MemSpecLimit") or "0",
            fields.get("Version", ""),
        )._replace(
            kept=(fields.get("CPUSpecList", ""), fields.get("CoreSpecCount", "")), gpus=_gres(fields.get("Gres", ""))
        )


def _json_nodes(text: str) -> Iterator[_Node]:
    """Yield the nodes of the JSON form (Slurm 21.08 on)."""
    try:
        top = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"scontrol: not JSON: {str(error)[:80]}") from None
    entries = top.get("nodes")
    if not isinstance(entries, list):
        raise InputError("scontrol: the JSON has no list 'nodes' (nor is it that of lscpu -J)")
    for entry in entries:
        if not isinstance(entry, dict):
            raise InputError("scontrol: an entry of 'nodes' is not a table")
        yield _node(
            str(entry.get("name") or entry.get("hostname") or "?"),
            {key: _plain(entry.get(key)) for key in _JSON_COUNTS},
            str(_plain(entry.get("specialized_memory")) or "0"),
            str(entry.get("version") or ""),
        )._replace(
            kept=(str(entry.get("cpu_spec_list") or ""), str(_plain(entry.get("specialized_cores")) or "")),
            gpus=_gres(str(entry.get("gres") or "")),
        )


def _gres(text: str) -> int:
    """Return the GPUs that a Gres counts: ``gpu:a100:4(S:0-1),craynetwork:2`` has four."""
    return min(64, sum(int(count) for count in re.findall(r"(?:^|,)gpu(?::[A-Za-z][\w.-]*)?:(\d{1,3})", text)))


def _plain(value: Any) -> Any:
    """Return the number in ``{"set": true, "number": 5}``, as later releases print some."""
    return value.get("number") if isinstance(value, dict) else value


def _node(name: str, counts: dict[str, Any], reserved: str, version: str) -> _Node:
    """Check the counts of a record."""
    numbers = []
    for key, value in counts.items():
        if value is None:
            raise InputError(f"scontrol: node {name[:40]}: '{key}' is missing")
        if not re.fullmatch(r"\d{1,12}", str(value)) or not int(value):
            raise InputError(
                f"scontrol: node {name[:40]}: '{key}' = {str(value)[:20]!r} must be a whole number of at least 1"
            )
        numbers.append(int(value))
    sockets, cores, threads, memory = numbers
    if sockets * cores * threads > MOST_CPUS:
        raise InputError(f"scontrol: node {name[:40]}: {sockets} x {cores} x {threads} CPUs exceed {MOST_CPUS:,}")
    kept = int(reserved) if re.fullmatch(r"\d{1,12}", reserved) else 0
    usable = memory - kept if kept < memory else memory
    release = re.match(r"\d+(\.\d+)+", version)
    return _Node(name, sockets, cores, threads, memory, usable, release[0] if release else "")
