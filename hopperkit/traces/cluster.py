"""A cluster as a scheduler sees it: nodes with cores, GPUs and memory, and partitions that are sets of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Job, Workload

# Names are apart by commas outside of brackets; more than four brackets in a name are no node list.
_NAME = re.compile(r"[^\[\],]*(?:\[[0-9,-]{1,100000}\][^\[\],]*){1,4}|[^\[\],]+")
_MOST_NODES = 200_000
# This many of the jobs must name their nodes, for partitions to be told by those.
_NAMED = 0.95


class NodeResources(NamedTuple):
    """What one node has, or a job wants of each of its nodes.

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
        Whether a job has its nodes for itself, whatever it asked for.
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
        By the name of the queue; that of ``""`` takes every job whose queue is none of the others.
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
        """Return the name of the partition that takes a queue's jobs; `InputError` if there is none."""
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
    """Yield a name once for each number of its ranges in brackets, of which it may have several."""
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
    """Return what each of some nodes holds of a total, rounded up."""
    return -(-total // nodes)


def demand(workload: Workload, job: int) -> NodeResources:
    """Return what a job wants of each of its nodes.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> demand(Workload([Job(1, 0, 2, 60, 60, cores=5, gpus=2)]), 0)
    NodeResources(cores=3, gpus=1, memory_mb=0)
    """
    totals = workload.cores[job], workload.gpus[job], workload.memory_mb[job]
    return NodeResources(*(_each(total, workload.nodes[job]) for total in totals))


def _peak(changes: Iterable[tuple[int, int]]) -> int:
    """Return the most that a sum of (instant, change) reaches, ends before starts."""
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def most_at_once(jobs: Iterable[Job]) -> int:
    """Return the most nodes that jobs with known starts had at once.

    Examples
    --------
    >>> most_at_once([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 0, 2, 60, 60, observed_start_s=60)])
    3
    """
    spans = [(job.observed_start_s, job.run_time_s, job.nodes) for job in jobs if job.observed_start_s is not None]
    return _peak(change for start, run, width in spans for change in ((start, width), (start + run, -width)))


def shared_nodes(workload: Workload) -> Cluster | None:
    """Return the nodes of a trace whose jobs shared them; None elsewhere.

    Jobs that name their nodes shared them if whole nodes would not have held them. Others did if some have fewer cores
    of a node than others: a scheduler of whole nodes gives all cores.

    Examples
    --------
    >>> jobs = [Job(number, 0, 1, 60, 60, cores=2, observed_start_s=0, node_list="n1") for number in (1, 2)]
    >>> shared_nodes(Workload(jobs)).nodes[0].cores, shared_nodes(Workload(jobs[:1]))
    (4, None)
    >>> shared_nodes(Workload(Job(cores, 0, 1, 60, 60, cores=cores, observed_start_s=0) for cores in (1, 4))).nodes
    (NodeResources(cores=4, gpus=0, memory_mb=0), NodeResources(cores=4, gpus=0, memory_mb=0))
    """
    cluster = cluster_of_trace(workload)
    if cluster is None:
        return None
    if cluster.names:
        return cluster if most_at_once(workload) > len(cluster.nodes) else None
    return None if all(each.exclusive for each in cluster.partitions.values()) else cluster


def cluster_of_trace(workload: Workload) -> Cluster | None:
    """Return the least cluster on which the observed schedule was possible; None if the trace tells no starts.

    Where the jobs name their nodes, partitions are the nodes that their jobs
    had, and a node has what its jobs used at once. Elsewhere each partition is
    a set of its own, as large as its jobs needed at once.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(1, 0, 1, 60, 60, 0, "a", None, 0, 2), Job(2, 0, 1, 60, 60, 0, "a", None, 30, 2), Job(3, 0, 2, 9, 9, 0, "b", None, 0, 8)]
    >>> cluster = cluster_of_trace(Workload(jobs))
    >>> {name: len(partition.nodes) for name, partition in cluster.partitions.items()}, cluster.nodes[0].cores
    ({'a': 2, 'b': 2}, 2)
    """
    starts = workload.observed_start_s
    jobs = [job for job, start in enumerate(starts) if start >= 0]
    if not jobs:
        return None
    lists = workload.words["node_list"]
    names = [list(node_names(text[:1_000_000])) for text in lists]
    numbers = workload.node_list_number
    fitting = sum(len(names[numbers[job]]) == workload.nodes[job] for job in jobs)
    return _of_node_lists(workload, jobs, names) if fitting >= _NAMED * len(jobs) else _of_peaks(workload, jobs)


def _of_node_lists(workload: Workload, jobs: list[int], names: list[list[str]]) -> Cluster:
    """Return the nodes that the jobs name, each with what its jobs used at once."""
    use: dict[str, list[list[tuple[int, int]]]] = {}
    members: dict[str, set[str]] = {}
    for job in jobs:
        start = workload.observed_start_s[job]
        end, wanted = start + workload.run_time_s[job], demand(workload, job)
        mine = names[workload.node_list_number[job]]
        members.setdefault(workload.word("queue", job), set()).update(mine)
        for node in mine:
            for changes, amount in zip(use.setdefault(node, [[] for _ in wanted]), wanted, strict=True):
                if amount and end > start:
                    # What ends is given back before what starts at that instant takes, as the minus sorts first.
                    changes += [(start, amount), (end, -amount)]
    # Numbers in a name count as numbers: n10 comes after n9.
    ordered = sorted(
        use,
        key=lambda name: [
            (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)
        ],
    )
    place = {name: number for number, name in enumerate(ordered)}
    nodes = tuple(NodeResources(*map(_peak, use[name])) for name in ordered)
    partitions = {
        queue: Partition(nodes=tuple(sorted(place[name] for name in mine))) for queue, mine in sorted(members.items())
    }
    origin = "estimated from the trace: the nodes that jobs of each partition had, and the most that each node's jobs used at once"
    return Cluster(nodes=nodes, partitions=partitions, origin=origin, names=tuple(ordered))


def _of_peaks(workload: Workload, jobs: list[int]) -> Cluster:
    """Return a set of like nodes for each partition, as large as its jobs needed at once."""
    by_queue: dict[str, list[int]] = {}
    for job in jobs:
        by_queue.setdefault(workload.word("queue", job), []).append(job)
    nodes: list[NodeResources] = []
    partitions = {}
    for queue, mine in sorted(by_queue.items()):
        wants = {job: demand(workload, job) for job in mine}
        most = NodeResources(*map(max, zip(*wants.values(), strict=True)))
        shared = any(0 < want.cores < most.cores for want in wants.values())

        def peak(column: Sequence[int], mine: list[int] = mine) -> int:
            spans = ((workload.observed_start_s[job], workload.run_time_s[job], column[job]) for job in mine)
            return _peak(
                change for start, run, amount in spans for change in ((start, amount), (start + run, -amount)) if run
            )

        if shared:
            needed = max(_each(peak(workload.cores), most.cores), _each(peak(workload.gpus), most.gpus or 1))
        else:
            needed = peak(workload.nodes)
        count = min(_MOST_NODES, max(needed, *(workload.nodes[job] for job in mine), 1))
        partitions[queue] = Partition(nodes=tuple(range(len(nodes), len(nodes) + count)), exclusive=not shared)
        # Memory is not told by the most that one job had: nodes are taken to have enough.
        nodes += [NodeResources(cores=most.cores, gpus=most.gpus)] * count
    origin = "estimated from the trace: for each partition that many nodes as its jobs needed at once, each as large as the largest share of a job"
    return Cluster(nodes=tuple(nodes), partitions=partitions, origin=origin)
