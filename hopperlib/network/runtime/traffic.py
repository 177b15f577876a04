"""Communication graphs of a job, and the distances of their messages.

A communication graph is a mapping from pairs of nodes of the job (numbered
from 0, lower first) to messages. Two are built here: nearest neighbors on a grid of tasks in four dimensions, as in
MILC, and the tree of an all-reduce.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod

from hopperlib.errors import InputError
from hopperlib.network.torus.distances import Coordinates, Torus

Graph = Mapping[tuple[int, int], int]


def grid_dimensions(tasks: int, axes: int = 4) -> tuple[int, ...]:
    """Return a grid for tasks, as even as the factors of their number allow.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    axes : int, default 4
        Number of dimensions of the grid.

    Raises
    ------
    InputError
        If a number is below 1.

    Examples
    --------
    >>> grid_dimensions(8192), grid_dimensions(3072, 3)
    ((8, 8, 8, 16), (12, 16, 16))
    """
    if tasks < 1 or axes < 1:
        raise InputError(f"tasks={tasks} and axes={axes} must be at least 1")
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
    """Return the messages between nodes of a code that communicates with neighbors on a periodic grid.

    Tasks are numbered along the last axis first and fill node after node;
    messages within a node use no link and are omitted.

    Parameters
    ----------
    dimensions : sequence of int
        Size of the grid along each axis.
    tasks_per_node : int
        Tasks per node.

    Raises
    ------
    InputError
        If a number is below 1.

    Examples
    --------
    Eight tasks on a ring, four per node: the two nodes communicate at both ends.

    >>> dict(nearest_neighbors((8,), 4))
    {(0, 1): 2}
    """
    if min(dimensions) < 1 or tasks_per_node < 1:
        raise InputError(f"dimensions={tuple(dimensions)} and tasks_per_node={tasks_per_node} must be at least 1")
    graph: Counter[tuple[int, int]] = Counter()
    stride = tasks = prod(dimensions)
    node_of = [task // tasks_per_node for task in range(tasks)]
    for side in dimensions:
        ring, stride = stride, stride // side
        # In a ring of two each has one neighbor, in a ring of one none.
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

    Parameters
    ----------
    nodes : int
        Nodes of the job.

    Raises
    ------
    InputError
        If there are no nodes.

    Examples
    --------
    >>> dict(all_reduce_tree(4))
    {(0, 1): 2, (2, 3): 2, (0, 2): 2}
    """
    if nodes < 1:
        raise InputError(f"nodes={nodes} must be at least 1")
    graph: dict[tuple[int, int], int] = {}
    step = 1
    while step < nodes:
        for low in range(0, nodes - step, 2 * step):
            graph[low, low + step] = 2
        step *= 2
    return graph


def hops_of_graph(graph: Graph, places: Sequence[Coordinates], torus: Torus) -> float:
    """Total hops of all messages, weighted as the torus specifies. [hops]

    Parameters
    ----------
    graph : mapping
        Pairs of nodes of the job -> messages.
    places : sequence of (int, int, int)
        Where each node of the job sits.
    torus : Torus

    Raises
    ------
    InputError
        If the graph has more nodes than places.

    Examples
    --------
    >>> hops_of_graph({(0, 1): 3}, [(0, 0, 0), (0, 0, 2)], Torus((4, 4, 8)))
    6.0
    """
    most = max((b for _, b in graph), default=-1)
    if most >= len(places):
        raise InputError(f"the graph names node {most} of the job, but only {len(places)} places are given")
    return sum(count * torus.weighted_hops(places[a], places[b]) for (a, b), count in graph.items())
