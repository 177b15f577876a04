"""Partitions of a log whose jobs name no nodes: which share their nodes, and how large each is."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from hopperkit.traces.capacity.levels import held_level, steps, usage
from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand
from hopperlib.scheduling.workload import Workload

_MOST_NODES = 200_000
# Of two partitions one that has this part of the other's nodes is as large.
_ALIKE = 0.9
# Moments at which partitions are compared, and the most partitions that are.
_MOMENTS, _MOST_PARTITIONS = 1500, 24
# Two partitions that used less together than apart share nodes, unless jobs that waited would then have found idle nodes that
# much oftener; a partition of such nodes has all of them, unless its jobs would.
_OFTENER = 0.15
# A partition that is full by its jobs alone at this part of the moments at which they wait has nodes of that number; one that
# has all nodes shares them with others' jobs, and uses nearly as many as it ever did at few moments.
_FULL = 0.08
_FEWEST_MOMENTS = 20
_NO_WAIT_S = 60


def machine_by_use(workload: Workload, jobs: list[int]) -> Cluster:
    """Machine of jobs that name no nodes: like nodes for each kind of job, and partitions as sets of them.

    Parameters
    ----------
    workload : Workload
        The jobs.
    jobs : list[int]
        Indices of the jobs.

    Examples
    --------
    Two jobs of one partition, one after the other:

    >>> from hopperlib.scheduling.workload import Job
    >>> log = Workload([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 0, 2, 60, 60, observed_start_s=60)])
    >>> len(machine_by_use(log, [0, 1]).nodes)
    3
    """
    found = _Partitions(workload, jobs)
    nodes: list[NodeResources] = []
    partitions = {}
    for group in found.groups():
        most = NodeResources(*(max(found.sizes[name].node[kind] for name in group) for kind in range(3)))
        shared = any(found.sizes[name].shared for name in group)
        spans = found.positions(group)
        for name, (low, high) in spans.items():
            partitions[name] = Partition(nodes=tuple(range(len(nodes) + low, len(nodes) + high)), exclusive=not shared)
        # The largest memory of a job is not evidence of a node's memory.
        nodes += [NodeResources(cores=most.cores, gpus=most.gpus)] * max(high for _, high in spans.values())
    origin = "estimated from the trace: as many nodes as jobs used together again and again, each as large as the largest share of a job"
    return Cluster(nodes=tuple(nodes), partitions=dict(sorted(partitions.items())), origin=origin)


class _Size(NamedTuple):
    """Resources that jobs of a partition used together, in nodes; the size of one node; and whether jobs share nodes."""

    nodes: int
    node: NodeResources
    shared: bool


def _size_of(workload: Workload, jobs: Sequence[int]) -> _Size:
    """Size of a set of nodes by the jobs that ran there."""
    wants = [demand(workload, job) for job in jobs]
    most = NodeResources(*map(max, zip(*wants, strict=True)))
    shared = any(0 < want.cores < most.cores for want in wants)
    if shared:
        cores, gpus = (held_level(usage(workload, jobs, column)) for column in (workload.cores, workload.gpus))
        needed = max(-(-cores // most.cores), -(-gpus // (most.gpus or 1)))
    else:
        needed = held_level(usage(workload, jobs, workload.nodes))
    widest = max(workload.nodes[job] for job in jobs)
    return _Size(min(_MOST_NODES, max(needed, widest, 1)), most, shared)


class _Levels:
    """Usage and waiting jobs of each partition, at moments when a job waits."""

    def __init__(self, workload: Workload, by_queue: Mapping[str, list[int]], amount: Sequence[int]) -> None:
        starts, arrivals = workload.observed_start_s, workload.arrival_s
        waited = [job for jobs in by_queue.values() for job in jobs if starts[job] - arrivals[job] >= _NO_WAIT_S]
        # Midpoints of waits, evenly by number, so that busy times get many of them.
        chosen = sorted(waited, key=starts.__getitem__)[:: max(1, len(waited) // _MOMENTS)]
        self.moments = sorted((starts[job] + arrivals[job]) // 2 for job in chosen)
        self.used = {name: self._used(usage(workload, jobs, amount)) for name, jobs in by_queue.items()}
        self.narrowest = {name: self._narrowest(workload, jobs, amount) for name, jobs in by_queue.items()}

    def _used(self, changes: Iterable[tuple[int, int]]) -> list[int]:
        times, levels = steps(changes)
        places = (bisect_right(times, moment) - 1 for moment in self.moments)
        return [levels[place] if place >= 0 else 0 for place in places]

    def _narrowest(self, workload: Workload, jobs: Sequence[int], amount: Sequence[int]) -> list[int]:
        """Least number of nodes that a waiting job of a partition needs at each moment; 0 if none waits."""
        least = [0] * len(self.moments)
        for job in jobs:
            first = bisect_right(self.moments, workload.arrival_s[job])
            last = bisect_right(self.moments, workload.observed_start_s[job] - 1)
            for place in range(first, last):
                least[place] = min(least[place] or amount[job], amount[job])
        return least

    def full(self, name: str, size: int) -> float:
        """Share of the moments at which a job of a partition waits at which its jobs use nearly a number of nodes."""
        waiting = [place for place, least in enumerate(self.narrowest[name]) if least]
        return sum(self.used[name][place] >= _ALIKE * size for place in waiting) / max(1, len(waiting))

    def idle(self, name: str, size: int, others: Sequence[str] = ()) -> float | None:
        """Share of the moments at which a job of a partition waits that leave it enough idle nodes; None for too few."""
        waiting = [place for place, least in enumerate(self.narrowest[name]) if least]
        if len(waiting) < _FEWEST_MOMENTS:
            return None
        used = [sum(self.used[each][place] for each in (name, *others)) for place in waiting]
        wanted = [self.narrowest[name][place] for place in waiting]
        return sum(size - busy >= want for busy, want in zip(used, wanted, strict=True)) / len(waiting)


class _Partitions:
    """Jobs of each partition, its size derived from them, and its overlap with others."""

    def __init__(self, workload: Workload, jobs: Sequence[int]) -> None:
        self.workload = workload
        self.jobs: dict[str, list[int]] = {}
        for job in jobs:
            self.jobs.setdefault(workload.word("queue", job), []).append(job)
        self.sizes = {name: _size_of(workload, mine) for name, mine in self.jobs.items()}
        by_cores = any(size.shared for size in self.sizes.values())
        self.unit = {name: size.node.cores if by_cores else 1 for name, size in self.sizes.items()}
        amount = workload.cores if by_cores else workload.nodes
        self.levels = _Levels(workload, self.jobs, amount) if len(self.jobs) > 1 else None

    def together(self, names: Iterable[str]) -> int:
        """Nodes that the jobs of some partitions use together."""
        return _size_of(self.workload, [job for name in names for job in self.jobs[name]]).nodes

    def groups(self) -> list[list[str]]:
        """Partitions in groups that share nodes."""
        names = sorted(self.jobs, key=lambda name: -len(self.jobs[name]))[:_MOST_PARTITIONS]
        groups = {name: [name] for name in self.jobs}
        for left, right in combinations(names, 2):
            if self.share_nodes(left, right):
                merged = list(dict.fromkeys([*groups[left], *groups[right]]))
                groups |= dict.fromkeys(merged, merged)
        return list({id(group): group for group in groups.values()}.values())

    def share_nodes(self, left: str, right: str) -> bool:
        """Whether two partitions share nodes: then the larger one has no idle nodes when its jobs wait, used by either's jobs.

        The smaller partition is not evidence, as it may be part of the larger one; of two equal ones, both must agree.
        """
        sizes, together = self.sizes, self.together((left, right))
        if together >= sizes[left].nodes + sizes[right].nodes or sizes[left].shared != sizes[right].shared:
            return False
        most = max(sizes[left].nodes, sizes[right].nodes)
        more = [
            self.idle_oftener(name, together, [other])
            for name, other in ((left, right), (right, left))
            if sizes[name].nodes >= _ALIKE * most
        ]
        known = [each for each in more if each is not None]
        return bool(known) and max(known) <= _OFTENER

    def idle_oftener(self, name: str, nodes: int, others: Sequence[str]) -> float | None:
        """How much oftener waiting jobs of a partition found idle nodes if it has some together with others; None if unknown."""
        assert self.levels is not None
        unit = max(self.unit[each] for each in (name, *others))
        alone = self.levels.idle(name, self.sizes[name].nodes * unit)
        shared = self.levels.idle(name, nodes * unit, others)
        return None if alone is None or shared is None else shared - alone

    def is_full(self, name: str, nodes: int) -> bool:
        """Whether a partition's jobs use nearly this many nodes at many of the times at which jobs wait."""
        assert self.levels is not None
        return self.levels.full(name, nodes * self.unit[name]) >= _FULL

    def positions(self, group: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Positions of each partition of a group that shares nodes, from and to (not included).

        The largest comes first. Each other partition extends beyond it by as much as both together exceed it.
        """
        total, widths = self.together(group), {}
        for name in group:
            others = [each for each in group if each != name]
            more = self.idle_oftener(name, total, others) if others else None
            nodes = self.sizes[name].nodes
            has_all = nodes >= _ALIKE * total or (
                more is not None and more <= _OFTENER and not self.is_full(name, nodes)
            )
            widths[name] = total if has_all else self.sizes[name].nodes
        first, *rest = sorted(group, key=lambda name: (-widths[name], name))
        spans = {first: (0, widths[first])}
        for name in rest:
            together = max(widths[first], self.together((first, name)))
            end = min(together, widths[first] + widths[name])
            # A partition that extends no farther gets the first nodes; others the last.
            spans[name] = (0, widths[name]) if end == widths[first] else (end - widths[name], end)
        return spans
