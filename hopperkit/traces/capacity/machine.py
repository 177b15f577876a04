"""The machine of a job log, estimated from it: how many nodes, which partitions share them, and what each node holds.

Sizes are the largest levels that the log reaches repeatedly, not a single peak: an hour repeated in autumn, or jobs
recorded twice after a restart, can exceed the machine's size once. Partitions that were never full at the same time,
although jobs waited for both, are the same nodes.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hopperkit.traces.capacity.levels import held_level, started_jobs, steps, usage
from hopperkit.traces.capacity.partitions import machine_by_use
from hopperkit.traces.cluster import Cluster, NodeResources, Partition, demand, node_names
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, listed
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

# This share of the jobs must list their nodes if partitions are derived from them.
_NAMED = 0.95
_MOST_NAMED = 8
# A clock change repeats one hour; its effect in the log lasts no longer than this. [s]
_REPEATED_S = 3 * SECONDS_PER_HOUR
_DAY_S, _ALMOST_A_YEAR_S = HOURS_PER_DAY * SECONDS_PER_HOUR, 300 * HOURS_PER_DAY * SECONDS_PER_HOUR


class Excess(NamedTuple):
    """A time in which a log has more in use than its machine holds: from, to, and how many jobs started in it. [s]"""

    start_s: int
    end_s: int
    jobs: int


def nodes_in_use(workload: Workload) -> int:
    """Nodes of a machine whose jobs have whole nodes: the most that is in use again and again, at least the widest job's.

    Parameters
    ----------
    workload : Workload
        Jobs with observed starts.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> nodes_in_use(Workload([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 0, 2, 60, 60, observed_start_s=60)]))
    3
    """
    jobs = started_jobs(workload)
    return max(held_level(usage(workload, jobs, workload.nodes)), max((workload.nodes[job] for job in jobs), default=0))


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
    times, levels = steps(usage(workload, started_jobs(workload), workload.nodes))
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


def cause_of(found: Sequence[Excess]) -> str:
    """Cause of such times, in words: a clock repeats an hour once a year only.

    Parameters
    ----------
    found : sequence of Excess

    Examples
    --------
    >>> cause_of([Excess(0, 3600, 5)])
    'a clock that repeats an hour in autumn, or jobs recorded twice; --timezone sets such a clock right'
    >>> cause_of([Excess(0, 3600, 5), Excess(864_000, 867_600, 2)])
    'jobs recorded twice, or more nodes for a time; it is not the clock, which repeats an hour once a year'
    """
    gaps = [after.start_s - before.end_s for before, after in pairwise(sorted(found))]
    if any(_DAY_S < gap < _ALMOST_A_YEAR_S for gap in gaps):
        return "jobs recorded twice, or more nodes for a time; it is not the clock, which repeats an hour once a year"
    return "a clock that repeats an hour in autumn, or jobs recorded twice; --timezone sets such a clock right"


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
    jobs = started_jobs(workload)
    if not jobs:
        return None
    lists = workload.words["node_list"]
    names = [list(node_names(text[:1_000_000])) for text in lists]
    numbers = workload.node_list_number
    fitting = sum(len(names[numbers[job]]) == workload.nodes[job] for job in jobs)
    return _of_node_lists(workload, jobs, names) if fitting >= _NAMED * len(jobs) else machine_by_use(workload, jobs)


def shares_nodes(workload: Workload, cluster: Cluster) -> bool:
    """Whether jobs of a log shared nodes, given its machine: whole nodes would not have held them.

    Jobs that name their nodes shared them if the nodes in use, counted once for each job, are more than there are again
    and again; others if some have fewer cores of a node than others.

    Parameters
    ----------
    workload : Workload
        Jobs with observed starts.
    cluster : Cluster
        Cluster, if known.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = [Job(number, 0, 1, 60, 60, cores=2, observed_start_s=0, node_list="n1") for number in (1, 2)]
    >>> shares_nodes(Workload(jobs), machine_of(Workload(jobs)))
    True
    """
    if cluster.names:
        return held_level(usage(workload, started_jobs(workload), workload.nodes)) > len(cluster.nodes)
    return not all(each.exclusive for each in cluster.partitions.values())


def scheduled_on(workload: Workload) -> Cluster | int | None:
    """Return the model for a log: a number of nodes if each node ran one job at a time and any job could use any node,
    otherwise its machine.

    Parameters
    ----------
    workload : Workload
        Jobs with observed starts.

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
    """Nodes of a machine.

    Parameters
    ----------
    room : Cluster or int
        The cluster, or the number of exclusive nodes.

    Examples
    --------
    >>> count_of(4)
    4
    """
    return room if isinstance(room, int) else len(room.nodes)


def describe(room: Cluster | int) -> str:
    """Size of an estimated machine in words, by its partitions.

    Parameters
    ----------
    room : Cluster or int
        The cluster, or the number of exclusive nodes.

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
