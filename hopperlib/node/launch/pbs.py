"""What a PBS script reserves: ``#PBS -l mppwidth=...,mppnppn=...,mppdepth=...``.

The three resources are the batch system's words for aprun's -n, -N and -d.
NERSC asked for mppwidth in whole nodes, whatever aprun uses of them [1]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and "Memory Considerations," web pages for Hopper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, Reservation
from hopperlib.node.launch.option_values import memory_gb, whole_number
from hopperlib.node.launch.shell_words import Word

__all__ = ["read_pbs_reservation"]

_MPP = ("mppwidth", "mppnppn", "mppdepth")


def read_pbs_reservation(
    words: Sequence[Word], machine: Machine, node: NodeKind
) -> tuple[Reservation | None, tuple[str, ...]]:
    """Return what ``#PBS`` lines reserve, None if they name no nodes, and notes.

    Parameters
    ----------
    words : sequence of Word
        Words of all ``#PBS`` lines.
    machine : Machine
    node : NodeKind
        Kind of node that is reserved.

    Raises
    ------
    LaunchError
        If a resource has a bad value, or asks for what no node has.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> words = [Word(text=text) for text in ("-l", "mppwidth=96,mppnppn=12")]
    >>> read_pbs_reservation(words, hopper, hopper.node())[0].nodes
    8
    """
    resources = _resources(words)
    values = dict(resources)
    memory = memory_gb("mppmem", values["mppmem"], default_unit="bytes") if "mppmem" in values else None
    if any(name in values for name in _MPP):
        width, per_node, depth = _mpp(values, machine, node)
        nodes = -(-width // per_node)
        reservation = Reservation(
            batch="pbs",
            nodes=_bounded("mppwidth", str(width), nodes, machine),
            tasks=width,
            tasks_per_node=per_node if "mppnppn" in values or "mppdepth" in values else None,
            threads_per_task=depth if "mppdepth" in values else None,
            memory_per_task_gb=memory,
            options=resources,
        )
        return reservation, ()
    nodes_asked, tasks_per_node = _nodes(values, node)
    if nodes_asked is None:
        return None, ("The #PBS lines name no nodes, so the line is not checked against a reservation.",)
    reservation = Reservation(
        batch="pbs",
        nodes=_bounded("nodes" if "nodes" in values else "select", str(nodes_asked), nodes_asked, machine),
        tasks_per_node=tasks_per_node,
        options=resources,
    )
    return reservation, ()


def _resources(words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of all ``-l`` lists, in order."""
    pairs: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if not text.startswith("-l"):
            continue
        value = text[2:]
        if not value and at < len(words):
            value = words[at].text
            at += 1
        for part in value.split(","):
            name, _, given = part.partition("=")
            pairs.append((name.strip(), given.strip()))
    return tuple(pairs)


def _mpp(values: dict[str, str], machine: Machine, node: NodeKind) -> tuple[int, int, int]:
    """Return mppwidth, mppnppn and mppdepth, defaults worked out."""
    if "mppwidth" not in values:
        name = next(name for name in _MPP if name in values)
        raise LaunchError(flag=f"#PBS -l {name}", value=values[name], rule="needs mppwidth beside it, the tasks")
    cores = f"the cores of a node of {machine.title}"
    width = whole_number("#PBS -l mppwidth", values["mppwidth"])
    depth = whole_number("#PBS -l mppdepth", values.get("mppdepth", "1"), high=node.cores, bound=cores)
    default = str(node.cores // depth)
    per_node = whole_number("#PBS -l mppnppn", values.get("mppnppn", default), high=node.cores, bound=cores)
    if per_node * depth > node.cores:
        rule = f"times mppdepth={depth} is {per_node * depth} cores, more than the {node.cores} of a node"
        raise LaunchError(flag="#PBS -l mppnppn", value=str(per_node), rule=f"{rule} of {machine.title}")
    return width, per_node, depth


def _nodes(values: dict[str, str], node: NodeKind) -> tuple[int | None, int | None]:
    """Return nodes and tasks a node of ``-l nodes=`` or ``-l select=``, where they mean whole nodes for sure."""
    for name, per_node_key in (("nodes", "ppn"), ("select", "mpiprocs")):
        if name not in values:
            continue
        flag = f"#PBS -l {name}"
        first, *rest = values[name].split(":")
        if not re.fullmatch(r"[0-9]+", first) or "+" in values[name]:
            raise LaunchError(flag=flag, value=values[name], rule="is read only as a number of equal nodes")
        keys = dict(part.partition("=")[::2] for part in rest)
        cpus = keys.get("ncpus")
        if cpus is not None and cpus != str(node.cores):
            rule = f"asks for pieces of nodes; only whole nodes, ncpus={node.cores}, can be read for sure"
            raise LaunchError(flag=flag, value=values[name], rule=rule)
        per_node = keys.get(per_node_key)
        tasks = None if per_node is None else whole_number(f"{flag}={first}:{per_node_key}", per_node)
        return whole_number(flag, first), tasks
    return None, None


def _bounded(name: str, value: str, nodes: int, machine: Machine) -> int:
    """Return the nodes if the machine has that many."""
    if nodes > machine.nodes:
        rule = f"reserves {nodes:,} nodes; {machine.title} has {machine.nodes:,}"
        raise LaunchError(flag=f"#PBS -l {name}", value=value, rule=rule)
    return nodes
