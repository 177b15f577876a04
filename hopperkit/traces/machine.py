"""The machine of a job log, estimated from it: how many nodes, which partitions share them, and what each node holds.

Sizes are the largest that the log reaches again and again, not a peak: clocks that repeat an hour in autumn, and jobs that
a restart recorded twice, put more on a machine than it has, once. Partitions that were never full at the same time,
although jobs waited for both, are the same nodes.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand, node_names
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, listed
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
_MOST_NODES = 200_000
# This many of the jobs must name their nodes, for partitions to be known by those.
_NAMED = 0.95
# A level counts as reached if it holds for a part of the time in use, or on several occasions that lie days apart: an hour
# that a clock repeats does neither. Shorter logs than this have no such hour, and their peak counts. [-, s, s]
_HELD, _APART_S, _SHORT_S = 0.02, 2 * _DAY_S, _DAY_S
# A partition that shares its nodes seldom has all of them: of its level less is wanted.
_HELD_SHARING = 0.002
# A partition with this share of the nodes of its group has all of them.
_ALL = 0.9
# A clock change repeats an hour; what it makes of the log lasts no longer than this. [s]
_REPEATED_S = 3 * SECONDS_PER_HOUR
# Moments at which partitions are compared, and the most partitions that are.
_MOMENTS, _MOST_PARTITIONS = 1500, 24
# Two partitions that used less together than apart share nodes, unless jobs that waited would then have found idle nodes that
# much oftener.
_OFTENER = 0.15
_FEWEST_MOMENTS = 20
_MOST_NAMED = 8


class Excess(NamedTuple):
    """A time in which a log has more in use than its machine holds: from, to, and how many jobs started in it. [s]"""

    start_s: int
    end_s: int
    jobs: int


def steps(changes: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Instants at which a sum of (instant, change) changes, and the sum from each of them on.

    Examples
    --------
    >>> steps([(0, 2), (10, -2), (10, 3), (20, -3)])
    ([0, 10, 20], [2, 3, 0])
    """
    of: dict[int, int] = {}
    for instant, change in changes:
        of[instant] = of.get(instant, 0) + change
    times = sorted(of)
    return times, list(accumulate(of[instant] for instant in times))


def held_level(changes: Iterable[tuple[int, int]], held: float = _HELD) -> int:
    """Largest level that a sum of (instant, change) reaches again and again.

    A level counts if it holds for 2 % of the time in which the sum is above zero, or on two occasions at least two days
    apart. In logs of up to a day the peak counts.

    Examples
    --------
    Two nodes for ten days, and for one hour four:

    >>> held_level([(0, 2), (864_000, -2), (90_000, 2), (93_600, -2)])
    2
    """
    times, levels = steps(changes)
    if not times:
        return 0
    peak = max(levels)
    if times[-1] - times[0] <= _SHORT_S:
        return peak
    spans = [end - begin for begin, end in pairwise(times)]
    used = sum(span for span, level in zip(spans, levels, strict=False) if level > 0)
    of_level: dict[int, list[int]] = {}
    for begin, span, level in zip(times, spans, levels, strict=False):
        of = of_level.setdefault(level, [0, begin, begin])
        of[0] += span
        of[2] = begin + span
    total, first, last = 0, times[-1], times[0]
    for level in sorted(of_level, reverse=True):
        seconds, begin, end = of_level[level]
        total, first, last = total + seconds, min(first, begin), max(last, end)
        if total >= held * used or last - first >= _APART_S:
            return level
    return peak


def _spans(workload: Workload, jobs: Iterable[int], amount: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Changes of what jobs use, with starts and ends as observed."""
    starts, runs = workload.observed_start_s, workload.run_time_s
    for job in jobs:
        if runs[job] and amount[job]:
            yield starts[job], amount[job]
            yield starts[job] + runs[job], -amount[job]


def _started(workload: Workload) -> list[int]:
    """Jobs whose start is known."""
    return [job for job, start in enumerate(workload.observed_start_s) if start >= 0]


def nodes_in_use(workload: Workload) -> int:
    """Nodes of a machine whose jobs have whole nodes: the most that is in use again and again, at least the widest job's.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> nodes_in_use(Workload([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 0, 2, 60, 60, observed_start_s=60)]))
    3
    """
    jobs = _started(workload)
    return max(
        held_level(_spans(workload, jobs, workload.nodes)), max((workload.nodes[job] for job in jobs), default=0)
    )


def excesses(workload: Workload, nodes: int) -> list[Excess]:
    """Times of up to three hours in which more nodes are in use than a machine has: clocks that repeat an hour, mostly.

    Parameters
    ----------
    workload : Workload
    nodes : int
        Of the machine.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(1, 0, 1, 7200, 7200, observed_start_s=0), Job(2, 0, 1, 7200, 7200, observed_start_s=3600)]
    >>> excesses(Workload(jobs), 1)
    [Excess(start_s=3600, end_s=7200, jobs=1)]
    """
    times, levels = steps(_spans(workload, _started(workload), workload.nodes))
    found: list[Excess] = []
    for (begin, end), level in zip(pairwise(times), levels, strict=False):
        if level <= nodes:
            continue
        if found and begin - found[-1].end_s < SECONDS_PER_HOUR:
            found[-1] = found[-1]._replace(end_s=end)
        else:
            found.append(Excess(begin, end, 0))
    starts = sorted(start for start in workload.observed_start_s if start >= 0)
    counted = [
        each._replace(jobs=bisect_right(starts, each.end_s) - bisect_right(starts, each.start_s - 1)) for each in found
    ]
    return [each for each in counted if each.end_s - each.start_s <= _REPEATED_S]


def machine_of(workload: Workload) -> Cluster | None:
    """The machine of a log; None if no job's start is known.

    Where jobs name their nodes, partitions are the nodes that their jobs had, and a node holds what its jobs used
    together again and again. Elsewhere sizes are the levels that are held, and partitions that share nodes are found by
    the moments at which jobs waited: where two partitions are apart, each is full by its jobs alone.

    Parameters
    ----------
    workload : Workload
        With observed starts.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(1, 0, 1, 60, 60, 0, "a", None, 0, 2), Job(2, 0, 1, 60, 60, 0, "a", None, 30, 2), Job(3, 0, 2, 9, 9, 0, "b", None, 0, 8)]
    >>> cluster = machine_of(Workload(jobs))
    >>> {name: len(partition.nodes) for name, partition in cluster.partitions.items()}, cluster.nodes[0].cores
    ({'a': 2, 'b': 2}, 2)
    """
    jobs = _started(workload)
    if not jobs:
        return None
    lists = workload.words["node_list"]
    names = [list(node_names(text[:1_000_000])) for text in lists]
    numbers = workload.node_list_number
    fitting = sum(len(names[numbers[job]]) == workload.nodes[job] for job in jobs)
    return _of_node_lists(workload, jobs, names) if fitting >= _NAMED * len(jobs) else _of_levels(workload, jobs)


def shares_nodes(workload: Workload, cluster: Cluster) -> bool:
    """Whether jobs of a log shared nodes, given its machine: whole nodes would not have held them.

    Jobs that name their nodes shared them if the nodes in use, counted once for each job, are more than there are again
    and again; others if some have fewer cores of a node than others.
    """
    if cluster.names:
        return held_level(_spans(workload, _started(workload), workload.nodes)) > len(cluster.nodes)
    return not all(each.exclusive for each in cluster.partitions.values())


def scheduled_on(workload: Workload) -> Cluster | int | None:
    """What a log is to be scheduled on: its nodes if each ran one job at a time and any job could have any, else its machine.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(number, 0, 1, 60, 60, cores=2, observed_start_s=0, node_list="n1") for number in (1, 2)]
    >>> scheduled_on(Workload(jobs)).nodes[0].cores, scheduled_on(Workload(jobs[:1])), scheduled_on(Workload())
    (4, 1, None)
    """
    cluster = machine_of(workload)
    if cluster is None:
        return None
    count = len(cluster.nodes)
    if shares_nodes(workload, cluster):
        return cluster
    if all(len(each.nodes) == count for each in cluster.partitions.values()):
        return count
    whole = {name: Partition(nodes=each.nodes, exclusive=True) for name, each in cluster.partitions.items()}
    return Cluster(nodes=cluster.nodes, partitions=whole, origin=cluster.origin, names=cluster.names)


def count_of(room: Cluster | int) -> int:
    """Nodes of a machine."""
    return room if isinstance(room, int) else len(room.nodes)


def describe(room: Cluster | int) -> str:
    """Size of an estimated machine in words, by its partitions.

    Examples
    --------
    >>> describe(4)
    '4 nodes, estimated from the trace: as many as jobs used together again and again'
    """
    if isinstance(room, int):
        return f"{count(room, 'node')}, estimated from the trace: as many as jobs used together again and again"
    parts = list(room.partitions.items())[:_MOST_NAMED]
    sizes = ", ".join(f"{name or 'all'} {len(partition.nodes):,}" for name, partition in parts)
    sharing = [group for group in room.parts() if len(group) > 1]
    common = f"; {listed(sorted(sharing[0]), 'and')} share nodes" if sharing and len(sharing[0]) <= _MOST_NAMED else ""
    return f"{count(len(room.nodes), 'node')} ({sizes}{common}), {room.origin}"


def _in_order(name: str) -> list[tuple[int, str]]:
    """Sorts the names of nodes with the numbers in them as numbers: n10 after n9."""
    parts = re.split(r"(\d{1,18})", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _of_node_lists(workload: Workload, jobs: list[int], names: list[list[str]]) -> Cluster:
    """Machine of jobs that name their nodes."""
    use: dict[str, list[list[tuple[int, int]]]] = {}
    members: dict[str, set[str]] = {}
    largest: dict[str, NodeResources] = {}
    for job in jobs:
        start = workload.observed_start_s[job]
        end, wanted = start + workload.run_time_s[job], demand(workload, job)
        mine = names[workload.node_list_number[job]]
        members.setdefault(workload.word("queue", job), set()).update(mine)
        for node in mine:
            largest[node] = NodeResources(*map(max, largest.get(node, wanted), wanted))
            for changes, amount in zip(use.setdefault(node, [[] for _ in wanted]), wanted, strict=True):
                if amount and end > start:
                    changes += [(start, amount), (end, -amount)]
    ordered = sorted(use, key=_in_order)
    place = {name: number for number, name in enumerate(ordered)}
    nodes = tuple(NodeResources(*map(max, largest[name], map(held_level, use[name]))) for name in ordered)
    partitions = {
        queue: Partition(nodes=tuple(sorted(place[name] for name in mine))) for queue, mine in sorted(members.items())
    }
    origin = (
        "estimated from the trace: the nodes that jobs of each partition had, and what each node's jobs used together"
    )
    return Cluster(nodes=nodes, partitions=partitions, origin=origin, names=tuple(ordered))


class _Levels:
    """What the jobs of each partition use and who waits, at moments at which somebody does."""

    def __init__(self, workload: Workload, by_queue: Mapping[str, list[int]], amount: Sequence[int]) -> None:
        starts, arrivals = workload.observed_start_s, workload.arrival_s
        waited = [job for jobs in by_queue.values() for job in jobs if starts[job] - arrivals[job] >= 60]
        # In the middle of waits, evenly by number: where many waited, many moments lie.
        chosen = sorted(waited, key=starts.__getitem__)[:: max(1, len(waited) // _MOMENTS)]
        self.moments = sorted((starts[job] + arrivals[job]) // 2 for job in chosen)
        self.used = {name: self._used(_spans(workload, jobs, amount)) for name, jobs in by_queue.items()}
        self.narrowest = {name: self._narrowest(workload, jobs, amount) for name, jobs in by_queue.items()}

    def _used(self, changes: Iterable[tuple[int, int]]) -> list[int]:
        times, levels = steps(changes)
        places = (bisect_right(times, moment) - 1 for moment in self.moments)
        return [levels[place] if place >= 0 else 0 for place in places]

    def _narrowest(self, workload: Workload, jobs: Sequence[int], amount: Sequence[int]) -> list[int]:
        """Least that a waiting job of a partition wants at each moment; 0 if none waits."""
        least = [0] * len(self.moments)
        for job in jobs:
            first = bisect_right(self.moments, workload.arrival_s[job])
            last = bisect_right(self.moments, workload.observed_start_s[job] - 1)
            for place in range(first, last):
                least[place] = min(least[place] or amount[job], amount[job])
        return least

    def idle(self, name: str, size: int, others: Sequence[str] = ()) -> float | None:
        """Share of the moments at which a job of a partition waits that leave it enough idle nodes; None for too few."""
        waiting = [place for place, least in enumerate(self.narrowest[name]) if least]
        if len(waiting) < _FEWEST_MOMENTS:
            return None
        used = [sum(self.used[each][place] for each in (name, *others)) for place in waiting]
        wanted = [self.narrowest[name][place] for place in waiting]
        return sum(size - busy >= want for busy, want in zip(used, wanted, strict=True)) / len(waiting)


def _of_levels(workload: Workload, jobs: list[int]) -> Cluster:
    """Machine of jobs that name no nodes: like nodes for each kind of job, and partitions as sets of them."""
    by_queue: dict[str, list[int]] = {}
    for job in jobs:
        by_queue.setdefault(workload.word("queue", job), []).append(job)
    sizes = {name: _size_of(workload, mine) for name, mine in by_queue.items()}
    nodes: list[NodeResources] = []
    partitions = {}
    for group in _sharing(workload, by_queue, sizes):
        most = NodeResources(*(max(sizes[name].node[kind] for name in group) for kind in range(3)))
        shared = any(sizes[name].shared for name in group)
        spans = _laid_out(workload, group, by_queue, sizes)
        for name, (low, high) in spans.items():
            partitions[name] = Partition(nodes=tuple(range(len(nodes) + low, len(nodes) + high)), exclusive=not shared)
        # The most memory of one job says little of a node's: nodes have enough.
        nodes += [NodeResources(cores=most.cores, gpus=most.gpus)] * max(high for _, high in spans.values())
    origin = "estimated from the trace: as many nodes as jobs used together again and again, each as large as the largest share of a job"
    return Cluster(nodes=tuple(nodes), partitions=dict(sorted(partitions.items())), origin=origin)


class _Size(NamedTuple):
    """What jobs of a partition used together, in nodes; what one node of it holds; and whether jobs share nodes."""

    nodes: int
    node: NodeResources
    shared: bool


def _size_of(workload: Workload, jobs: Sequence[int], held: float = _HELD) -> _Size:
    """Size of a set of nodes by the jobs that ran there."""
    wants = [demand(workload, job) for job in jobs]
    most = NodeResources(*map(max, zip(*wants, strict=True)))
    shared = any(0 < want.cores < most.cores for want in wants)
    if shared:
        cores, gpus = (held_level(_spans(workload, jobs, column), held) for column in (workload.cores, workload.gpus))
        needed = max(-(-cores // most.cores), -(-gpus // (most.gpus or 1)))
    else:
        needed = held_level(_spans(workload, jobs, workload.nodes), held)
    widest = max(workload.nodes[job] for job in jobs)
    return _Size(min(_MOST_NODES, max(needed, widest, 1)), most, shared)


def _sharing(workload: Workload, by_queue: Mapping[str, list[int]], sizes: Mapping[str, _Size]) -> list[list[str]]:
    """Partitions in groups that share nodes."""
    names = sorted(by_queue, key=lambda name: -len(by_queue[name]))[:_MOST_PARTITIONS]
    amount = workload.cores if any(size.shared for size in sizes.values()) else workload.nodes
    unit = {name: size.node.cores if amount is workload.cores else 1 for name, size in sizes.items()}
    groups = {name: [name] for name in by_queue}
    levels = _Levels(workload, by_queue, amount) if len(names) > 1 else None
    for left, right in combinations(names, 2) if levels else ():
        assert levels is not None
        together = _size_of(workload, [*by_queue[left], *by_queue[right]])
        apart = sizes[left].nodes + sizes[right].nodes
        if together.nodes >= apart or sizes[left].shared != sizes[right].shared:
            continue
        if _are_shared(levels, left, right, sizes, together.nodes, max(unit[left], unit[right])):
            merged = list(dict.fromkeys([*groups[left], *groups[right]]))
            for name in merged:
                groups[name] = merged
    return list({id(group): group for group in groups.values()}.values())


def _are_shared(levels: _Levels, left: str, right: str, sizes: Mapping[str, _Size], together: int, unit: int) -> bool:
    """Whether two partitions share nodes: then the larger one has no idle nodes when its jobs wait, used by either's jobs.

    The smaller one says nothing, as it may be a part of the larger one; of like ones both must do so.
    """
    most = max(sizes[left].nodes, sizes[right].nodes)
    more = []
    for name, other in ((left, right), (right, left)):
        alone = levels.idle(name, sizes[name].nodes * unit)
        shared = levels.idle(name, together * unit, [other])
        if sizes[name].nodes >= _ALL * most and alone is not None and shared is not None:
            more.append(shared - alone)
    return bool(more) and max(more) <= _OFTENER


def _laid_out(
    workload: Workload, group: Sequence[str], by_queue: Mapping[str, list[int]], sizes: Mapping[str, _Size]
) -> dict[str, tuple[int, int]]:
    """Positions of each partition of a group that shares nodes, from and to (not included).

    The largest comes first. Each other one reaches as far beyond it as both together use more than it does.
    """
    total = _size_of(workload, [job for name in group for job in by_queue[name]]).nodes
    widths = {}
    for name in group:
        size = _size_of(workload, by_queue[name], _HELD_SHARING).nodes if len(group) > 1 else sizes[name].nodes
        widths[name] = total if size >= _ALL * total else size
    first, *others = sorted(group, key=lambda name: (-widths[name], name))
    spans = {first: (0, widths[first])}
    for name in others:
        size = widths[name]
        together = _size_of(workload, [*by_queue[first], *by_queue[name]]).nodes
        end = min(max(widths[first], together), widths[first] + size)
        # A partition that reaches no further has the first nodes; another one the last.
        spans[name] = (0, size) if end == widths[first] else (end - size, end)
    return spans
