"""What a PBS script reserves: ``#PBS -l mppwidth=...,mppnppn=...,mppdepth=...``.

The three resources are the batch system's words for aprun's -n, -N and -d.
NERSC asked for mppwidth in whole nodes, whatever aprun uses of them [1]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and "Memory Considerations," web pages for Hopper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, Reservation
from hopperlib.node.launch.option_values import check_nodes, memory_gb, whole_number
from hopperlib.node.launch.shell import Word

_MPP = ("mppwidth", "mppnppn", "mppdepth")


def read_pbs_reservation(words: Sequence[Word], machine: Machine, node: NodeKind) -> Reservation | None:
    """Return what ``#PBS`` lines reserve; None if they name no nodes."""
    resources = tuple(_resources(words))
    values = dict(resources)
    memory = memory_gb("mppmem", values["mppmem"], default_unit="") if "mppmem" in values else None
    if any(name in values for name in _MPP):
        width, per_node, depth = _mpp(values, machine, node)
        nodes = -(-width // per_node)
        check_nodes(nodes, machine, "#PBS -l mppwidth", width, verb="reserves")
        return Reservation(
            batch="pbs",
            nodes=nodes,
            tasks=width,
            tasks_per_node=per_node if "mppnppn" in values or "mppdepth" in values else None,
            threads_per_task=depth if "mppdepth" in values else None,
            memory_per_task_gb=memory,
            options=resources,
        )
    for name, per_node_key in (("nodes", "ppn"), ("select", "mpiprocs")):
        if name in values:
            nodes, tasks_per_node = _whole_nodes(f"#PBS -l {name}", values[name], per_node_key, node)
            check_nodes(nodes, machine, f"#PBS -l {name}", nodes, verb="reserves")
            return Reservation(batch="pbs", nodes=nodes, tasks_per_node=tasks_per_node, options=resources)
    return None


def _resources(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of all ``-l`` lists, in order."""
    texts = iter([word.text for word in words])
    for text in texts:
        if text.startswith("-l"):
            for part in (text[2:] or next(texts, None) or "").split(","):
                name, _, value = part.partition("=")
                yield name.strip(), value.strip()


def _mpp(values: dict[str, str], machine: Machine, node: NodeKind) -> tuple[int, int, int]:
    """Return mppwidth, mppnppn and mppdepth, defaults worked out."""
    if "mppwidth" not in values:
        name = next(name for name in _MPP if name in values)
        raise LaunchError(f"#PBS -l {name}", values[name], "needs mppwidth beside it, the tasks")
    cores = f"the cores of a node of {machine.title}"
    width = whole_number("#PBS -l mppwidth", values["mppwidth"])
    depth = whole_number("#PBS -l mppdepth", values.get("mppdepth", "1"), high=node.cores, bound=cores)
    default = str(node.cores // depth)
    per_node = whole_number("#PBS -l mppnppn", values.get("mppnppn", default), high=node.cores, bound=cores)
    if per_node * depth > node.cores:
        rule = f"times mppdepth={depth} is {per_node * depth} cores, more than the {node.cores} of a node"
        raise LaunchError("#PBS -l mppnppn", per_node, f"{rule} of {machine.title}")
    return width, per_node, depth


def _whole_nodes(flag: str, value: str, per_node_key: str, node: NodeKind) -> tuple[int, int | None]:
    """Return nodes and tasks a node of ``-l nodes=`` or ``-l select=``, where they mean whole nodes for sure."""
    first, *rest = value.split(":")
    if not re.fullmatch(r"[0-9]+", first) or "+" in value:
        raise LaunchError(flag, value, "is read only as a number of equal nodes")
    keys = dict(part.partition("=")[::2] for part in rest)
    if not whole_number(flag, keys.get("ncpus", str(node.cores))) >= node.cores:
        rule = f"asks for pieces of nodes; only whole nodes, ncpus={node.cores}, can be read for sure"
        raise LaunchError(flag, value, rule)
    per_node = keys.get(per_node_key)
    tasks = None if per_node is None else whole_number(f"{flag}={first}:{per_node_key}", per_node)
    return whole_number(flag, first), tasks
