"""``pbsnodes -a`` (PBS Professional, OpenPBS, Torque): the nodes of a cluster, grouped into kinds."""

import re
from collections import defaultdict
from collections.abc import Mapping

from hopperkit.readers.hardware._record import MOST_CPUS, Hardware, guessed, memory_facts, reported
from hopperlib.errors import InputError
from hopperlib.machine import Quantity

RECORD = re.compile(r"^(\S+)[ \t]*\n((?:[ \t]+[\w.]+ = .*(?:\n|\Z))+)", re.MULTILINE)
"""A node: its name, and one line per attribute."""


def read_pbsnodes(text: str) -> tuple[Hardware, ...]:
    r"""Read ``pbsnodes -a``. PBS counts CPUs without their topology: without other data, each is taken as a core.

    Examples
    --------
    >>> text = "n{}\n     resources_available.ncpus = 64\n     resources_available.mem = 263803804kb\n\n"
    >>> (kind,) = read_pbsnodes("".join(map(text.format, range(3))))
    >>> kind.facts["count"].value, kind.cores, kind.facts["memory_gb"].value
    (3, 64, 256)
    """
    kinds: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    for name, body in RECORD.findall(text):
        fields = dict(line.strip().split(" = ", 1) for line in body.splitlines())
        # Torque uses other words, and puts its daemon's measurements on one line.
        fields |= dict(part.split("=", 1) for part in fields.get("status", "").split(",") if "=" in part)
        cpus = _number(fields, "resources_available.ncpus", "pcpus", "np")
        memory_gb = round(_number(fields, "resources_available.mem", "physmem") / 1024**2)
        if not 0 < cpus <= MOST_CPUS:
            raise InputError(f"pbsnodes: node {name[:40]} counts {cpus:,} CPUs; a node has 1 to {MOST_CPUS:,}")
        kinds[cpus, memory_gb, _number(fields, "resources_available.ngpus", "gpus")].append(name)
    ordered = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    return tuple(_kind(*numbers, names) for numbers, names in ordered)


def _number(fields: Mapping[str, str], *keys: str) -> int:
    """Return the first number present, otherwise 0; sizes are in kB."""
    match = next((found for key in keys if (found := re.match(r"\d{1,15}", fields.get(key, "")))), None)
    return int(match[0]) if match else 0


def _kind(cpus: int, memory_gb: int, gpus: int, names: list[str]) -> Hardware:
    """Return the record of identical nodes."""
    alike = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"
    why = "pbsnodes counts only CPUs; each is assumed to be a core of one socket"
    facts: dict[str, Quantity] = {
        **reported("pbsnodes", f"nodes alike: {alike}", count=len(names)),
        **guessed(why, sockets=1, numa_nodes_per_socket=1, cores_per_numa_node=cpus, threads_per_core=1),
    }
    facts |= memory_facts("pbsnodes", "resources_available.mem, or physmem", float(memory_gb)) if memory_gb else {}
    return Hardware("pbsnodes", facts, cpus, 1, gpu_count=min(64, gpus))
