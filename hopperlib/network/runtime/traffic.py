"""Who talks to whom in a job, and which links of the torus that uses.

A communication graph is a mapping from pairs of nodes of the job (numbered
from 0, lower first) to messages. Two are made here: nearest neighbors on a grid
of tasks in four dimensions, as MILC's, and the tree of an all-reduce.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from hopperlib.network.torus.distances import Coordinates, Link, Torus

__all__ = ["all_reduce_tree", "grid_dimensions", "hops_of_graph", "link_loads", "nearest_neighbors", "shared_fraction"]

Graph = Mapping[tuple[int, int], int]


def grid_dimensions(tasks: int, axes: int = 4) -> tuple[int, ...]:
    """Return a grid for tasks, as even as the factors of their number allow.

    Examples
    --------
    >>> grid_dimensions(8192), grid_dimensions(3072, 3)
    ((8, 8, 8, 16), (12, 16, 16))
    """
    if tasks < 1 or axes < 1:
        raise ValueError(f"tasks={tasks} and axes={axes} must be at least 1")
    factors, rest, divisor = [], tasks, 2
    while rest > 1:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1
    sides = [1] * axes
    for factor in sorted(factors, reverse=True):
        sides[sides.index(min(sides))] *= factor
    return tuple(sorted(sides))


def nearest_neighbors(dimensions: Sequence[int], tasks_per_node: int) -> Graph:
    """Return the messages between nodes of a code that talks to its neighbors on a periodic grid.

    Tasks are numbered along the last axis first and fill node after node;
    messages within a node use no link and are left out.

    Examples
    --------
    Eight tasks on a ring, four a node: the two nodes meet at both ends.

    >>> dict(nearest_neighbors((8,), 4))
    {(0, 1): 2}
    """
    if min(dimensions) < 1 or tasks_per_node < 1:
        raise ValueError(f"dimensions={tuple(dimensions)} and tasks_per_node={tasks_per_node} must be at least 1")
    graph: Counter[tuple[int, int]] = Counter()
    stride = tasks = prod(dimensions)
    node_of = [task // tasks_per_node for task in range(tasks)]
    for side in dimensions:
        ring, stride = stride, stride // side
        # A ring of two has one neighbor, of one none.
        if side == 1:
            continue
        for start in range(0, tasks, ring):
            end = start + ring
            graph.update(zip(node_of[start : end - stride], node_of[start + stride : end], strict=True))
            if side > 2:
                graph.update(zip(node_of[start : start + stride], node_of[end - stride : end], strict=True))
    return {pair: messages for pair, messages in graph.items() if pair[0] != pair[1]}


def all_reduce_tree(nodes: int) -> Graph:
    """Return the messages of a binomial tree over the nodes of a job: up and down once.

    Examples
    --------
    >>> dict(all_reduce_tree(4))
    {(0, 1): 2, (2, 3): 2, (0, 2): 2}
    """
    if nodes < 1:
        raise ValueError(f"nodes={nodes} must be at least 1")
    graph: dict[tuple[int, int], int] = {}
    step = 1
    while step < nodes:
        for low in range(0, nodes - step, 2 * step):
            graph[low, low + step] = 2
        step *= 2
    return graph


def hops_of_graph(graph: Graph, places: Sequence[Coordinates], torus: Torus) -> float:
    """Hops of all messages together, weighted as the torus says. [hops]

    Parameters
    ----------
    graph : mapping
        Pairs of nodes of the job -> messages.
    places : sequence of (int, int, int)
        Where each node of the job sits.
    torus : Torus

    Raises
    ------
    ValueError
        If the graph has more nodes than places.

    Examples
    --------
    >>> hops_of_graph({(0, 1): 3}, [(0, 0, 0), (0, 0, 2)], Torus((4, 4, 8)))
    6.0
    """
    _check(graph, places)
    return sum(count * torus.weighted_hops(places[a], places[b]) for (a, b), count in graph.items())


def link_loads(graph: Graph, places: Sequence[Coordinates], torus: Torus) -> Counter[Link]:
    """Return how many messages cross each link, routed X, then Y, then Z.

    Examples
    --------
    >>> loads = link_loads({(0, 1): 3}, [(0, 0, 0), (1, 0, 1)], Torus((4, 4, 8)))
    >>> [(tuple(link.start), link.axis, count) for link, count in loads.items()]
    [((0, 0, 0), 0, 3), ((1, 0, 0), 2, 3)]
    """
    _check(graph, places)
    between: Counter[tuple[Coordinates, Coordinates]] = Counter()
    for (a, b), count in graph.items():
        between[places[a], places[b]] += count
    loads: Counter[Link] = Counter()
    for (start, end), count in between.items():
        for link in torus.route(start, end):
            loads[link] += count
    return loads


def shared_fraction(mine: Mapping[Link, int], others: Iterable[Mapping[Link, int]]) -> float:
    """Share of a job's link crossings that lie on links which other jobs use too. [fraction]

    Examples
    --------
    >>> a, b = Link((0, 0, 0), 0), Link((1, 0, 0), 0)
    >>> shared_fraction({a: 3, b: 1}, [{b: 9}])
    0.25
    """
    used: set[Link] = set()
    for other in others:
        used |= {link for link, count in other.items() if count}
    total = sum(mine.values())
    return sum(count for link, count in mine.items() if link in used) / total if total else 0.0


def _check(graph: Graph, places: Sequence[Coordinates]) -> None:
    """Refuse a graph that is wider than the placement."""
    most = max((b for _, b in graph), default=0)
    if most >= len(places) and graph:
        raise ValueError(f"the graph names node {most} of the job, but only {len(places)} places are given")
