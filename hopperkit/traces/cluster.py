"""A cluster as a scheduler sees it: nodes with cores, GPUs and memory, and partitions that are sets of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Workload

# Names are separated by commas outside brackets; a name with more than four brackets is not a node list.
_NAME = re.compile(r"[^\[\],]*(?:\[[0-9,-]{1,100000}\][^\[\],]*){1,4}|[^\[\],]+")
_MOST_NODES = 200_000
# This share of the jobs must list their nodes if partitions are derived from them.
_NAMED = 0.95


class NodeResources(NamedTuple):
    """Resources of one node, or those a job requests on each of its nodes.

    Parameters
    ----------
    cores, gpus, memory_mb : int
        0 cores of a job: the whole node.
    """

    cores: int = 0
    gpus: int = 0
    memory_mb: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A set of nodes that jobs of one queue may have.

    Parameters
    ----------
    nodes : tuple of int
        Positions in the cluster's list of nodes, rising.
    priority : float
        From 0 to 1: its factor in multifactor priorities.
    exclusive : bool
        Whether jobs have exclusive use of their nodes.
    """

    nodes: tuple[int, ...]
    priority: float = 0.0
    exclusive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Nodes and partitions.

    Parameters
    ----------
    nodes : tuple of NodeResources
    partitions : mapping of str to Partition
        By queue name; the partition ``""`` takes every job whose queue has no partition.
    origin : str
        Where it was read, or how it was estimated.

    Examples
    --------
    >>> cluster = Cluster(nodes=(NodeResources(cores=4),) * 3, partitions={"a": Partition(nodes=(0, 1)), "b": Partition(nodes=(2,))})
    >>> cluster.parts()
    [['a'], ['b']]
    """

    nodes: tuple[NodeResources, ...]
    partitions: Mapping[str, Partition]
    origin: str = ""
    names: tuple[str, ...] = field(default=(), repr=False)

    def partition(self, queue: str) -> str:
        """Return the name of the partition for a queue; `InputError` if there is none."""
        if queue in self.partitions:
            return queue
        # Slurm lets a job name several partitions; it is taken to be of the first that there is.
        several = next((name for name in queue.split(",") if name in self.partitions), None)
        if several is None and "" not in self.partitions:
            raise InputError(f"there is no partition {queue!r}; there are: {', '.join(self.partitions)}")
        return several or ""

    def parts(self) -> list[list[str]]:
        """Return the partitions in groups that share no node."""
        groups: list[tuple[set[int], list[str]]] = []
        for name, partition in self.partitions.items():
            mine = (set(partition.nodes), [name])
            for other in [group for group in groups if group[0] & mine[0]]:
                groups.remove(other)
                mine = (mine[0] | other[0], [*other[1], *mine[1]])
            groups.append(mine)
        return [names for _, names in groups]


def node_names(text: str) -> Iterator[str]:
    """Yield the nodes of a list as Slurm writes it.

    Parameters
    ----------
    text : str
        List of nodes, as printed by Slurm.

    Examples
    --------
    >>> list(node_names("gpu[01-03,07],login"))
    ['gpu01', 'gpu02', 'gpu03', 'gpu07', 'login']
    >>> list(node_names("rack[1-2]node[1-2]"))
    ['rack1node1', 'rack1node2', 'rack2node1', 'rack2node2']
    """
    names = (name for match in _NAME.finditer(text) for name in _spelt(match[0]))
    yield from islice(names, _MOST_NODES)


def _spelt(name: str) -> Iterator[str]:
    """Expand the bracketed ranges of a name, of which it may have several."""
    before, opening, rest = name.partition("[")
    ranges, closing, after = rest.partition("]")
    if not closing:
        yield before + opening + rest
        return
    for part in ranges.split(","):
        low, _, high = part.partition("-")
        if low.isdecimal() and (high.isdecimal() or not high):
            last = min(int(high[:9] or low[:9]), int(low[:9]) + _MOST_NODES)
            for number in range(int(low[:9]), last + 1):
                for end in _spelt(after):
                    yield f"{before}{number:0{len(low)}d}{end}"


def _each(total: int, nodes: int) -> int:
    """Return each node's share of a total, rounded up."""
    return -(-total // nodes)


def demand(workload: Workload, job: int) -> NodeResources:
    """Return a job's request on each of its nodes.

    Parameters
    ----------
    workload : Workload
        The jobs.
    job : int
        Index of the job in the workload.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> demand(Workload([Job(1, 0, 2, 60, 60, cores=5, gpus=2)]), 0)
    NodeResources(cores=3, gpus=1, memory_mb=0)
    """
    totals = workload.cores[job], workload.gpus[job], workload.memory_mb[job]
    return NodeResources(*(_each(total, workload.nodes[job]) for total in totals))
