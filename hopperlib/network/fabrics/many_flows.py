"""Many messages at once: the share of one pair's rate that remains for a random ring, halos or an all-to-all.

One pair of nodes sends at the rate of an interface. When all nodes send at once, an interface works in both directions,
and messages share links. The first is a measured ratio; the second comes from routing the messages through the network
[1]_.

==========================  ===============================================================================
`random_ring`, `halos`      messages between nodes: a ring of all ranks in random order, nearest neighbors
`share_kept`                share of the pair rate, with minimal routes and with the best mixture of routes
`bisected`                  an order of points in which neighbors in space are neighbors in the list
`mapping_gain`              part of the time of halos that a better numbering of ranks saves
`all_to_all_s`              time of an all-to-all: bytes and messages at the interface, and work per message
==========================  ===============================================================================

References
----------
.. [1] Rings on a dragonfly of Cray XC30: 44, 33, 24 and 22 % of the pair rate on 4, 16, 128 and 256 nodes were measured
   (HPC-UK, ARCHER benchmarks, b_eff of the HPC Challenge); ``tests/network/test_many_flows.py`` compares the model with
   them.
"""

import random
from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import NamedTuple

from hopperlib.errors import above, refusal, within
from hopperlib.network.fabrics.fabric import Fabric, Traffic
from hopperlib.network.fabrics.patterns import Messages
from hopperlib.network.fabrics.rates import lay, slowdown_from_traffic

Point = tuple[int, ...]


def random_ring(nodes: int, ranks_per_node: int, rng: random.Random) -> Messages:
    """Messages between nodes when every rank sends to both neighbors in a ring of all ranks in random order.

    Parameters
    ----------
    nodes, ranks_per_node : int
        [at least 2 nodes, at least 1 rank]
    rng : random.Random

    Raises
    ------
    InputError
        If there are too few nodes or ranks.

    Examples
    --------
    Each of four nodes sends one message in each direction of the ring for each of its ranks, except those within the
    node:

    >>> sum(random_ring(4, 1, random.Random(1)).values())
    8.0
    """
    within(2, 1 << 20, nodes=nodes)
    above(0, ranks_per_node=ranks_per_node)
    ring = [rank // ranks_per_node for rank in range(nodes * ranks_per_node)]
    # A shuffle from `random()` alone gives the same order in every version of Python.
    ring.sort(key=lambda _: rng.random())
    messages: dict[tuple[int, int], float] = {}
    for one, other in pairwise([*ring, ring[0]]):
        if one != other:
            for pair in ((one, other), (other, one)):
                messages[pair] = messages.get(pair, 0.0) + 1.0
    return messages


def halos(grid: Sequence[int], node_of_rank: Sequence[int]) -> Messages:
    """Messages between nodes when every rank of a periodic grid sends to its neighbors along each axis.

    Parameters
    ----------
    grid : sequence of int
        Ranks along each axis; the last axis varies fastest.
    node_of_rank : sequence of int
        Node of each rank.

    Raises
    ------
    InputError
        If the number of nodes in the list is not the number of ranks.

    Examples
    --------
    A ring of four ranks on two nodes: one message each way at each of the two borders.

    >>> halos([4], [0, 0, 1, 1])
    {(0, 1): 2.0, (1, 0): 2.0}
    """
    if len(node_of_rank) != prod(grid):
        raise refusal(
            "node_of_rank", len(node_of_rank), f"must have {prod(grid)} entries, one for each rank of the grid"
        )
    messages: dict[tuple[int, int], float] = {}
    strides = [prod(grid[axis + 1 :]) for axis in range(len(grid))]
    for rank, place in enumerate(product(*map(range, grid))):
        for axis, size in enumerate(grid):
            if size == 1:
                continue
            neighbor = rank + ((place[axis] + 1) % size - place[axis]) * strides[axis]
            one, other = node_of_rank[rank], node_of_rank[neighbor]
            if one != other:
                for pair in ((one, other), (other, one)):
                    messages[pair] = messages.get(pair, 0.0) + 1.0
    return messages


class SharesKept(NamedTuple):
    """Share of one pair's rate that a node keeps when all nodes send. [0-1]

    Parameters
    ----------
    minimal : float
        With all routes minimal.
    mixed : float
        With the best mixture of minimal routes and detours. Adaptive routing is between the two.
    """

    minimal: float
    mixed: float

    def at(self, adaptivity: float) -> float:
        """Share kept between the two ends: 0 for minimal routes, 1 for the best mixture. [0-1]

        Parameters
        ----------
        adaptivity : float
            Position between minimal routes and the best mixture. [0-1]

        Examples
        --------
        >>> SharesKept(0.5, 1.0).at(0.5)
        0.75
        """
        return self.minimal + adaptivity * (self.mixed - self.minimal)


def share_kept(
    fabric: Fabric, places: Sequence[int], messages: Messages | None, *, both_ways: float = 1.0
) -> SharesKept:
    """Share of the pair rate that a node keeps when all nodes of a job send at once.

    Parameters
    ----------
    fabric : Fabric
    places : sequence of int
        Nodes of the job.
    messages : mapping or None
        (From, to) -> messages, numbered in the order of `places`; None for all-to-all.
    both_ways : float
        Rate of one direction of an interface while the other is busy, over its rate alone. [0-1]

    Raises
    ------
    InputError
        If `both_ways` is not from 0 to 1.

    Examples
    --------
    Two leaves of two nodes with one uplink each: all four send to the other leaf, and two share a link.

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1, link_gb_s=10.0, node_gb_s=10.0)
    >>> share_kept(tree, [0, 1, 2, 3], {(0, 2): 1.0, (1, 3): 1.0, (2, 0): 1.0, (3, 1): 1.0}).minimal
    0.5
    """
    within(0, 1, both_ways=both_ways)
    traffic = Traffic.between(fabric, places, messages)
    pace = slowdown_from_traffic(lay(fabric, [traffic], [fabric.node_gb_s]))
    minimal, mixed = pace.first_gb_s / pace.alone_gb_s, pace.mixed_gb_s / pace.alone_gb_s
    return SharesKept(both_ways * minimal, both_ways * mixed)


def bisected(points: Sequence[Point]) -> list[int]:
    """Indices of points in an order that repeatedly halves their box along its longest side. If two sets of points are
    sorted in this way and matched one by one, neighbors stay close.

    Parameters
    ----------
    points : sequence of tuple of int

    Examples
    --------
    >>> bisected([(0, 0), (3, 0), (1, 0), (2, 0)])
    [0, 2, 3, 1]
    """

    def halved(indices: list[int]) -> list[int]:
        if len(indices) <= 1:
            return indices
        axes = range(len(points[0]))
        extent = [max(points[i][axis] for i in indices) - min(points[i][axis] for i in indices) for axis in axes]
        longest = max(axes, key=lambda axis: extent[axis])
        ordered = sorted(indices, key=lambda i: (points[i][longest], points[i]))
        middle = (len(ordered) + 1) // 2
        return [*halved(ordered[:middle]), *halved(ordered[middle:])]

    return halved(list(range(len(points))))


def mapping_gain(
    fabric: Fabric, places: Sequence[int], coordinates: Sequence[Point], grid: Sequence[int], ranks_per_node: int
) -> float:
    """Share of the time of halo exchanges that a mapping by bisection saves over ranks in list order. [fraction]

    The busiest link limits both; neither is faster than a node's interface.

    Parameters
    ----------
    fabric : Fabric
    places : sequence of int
        Nodes of the job, in the order of its list.
    coordinates : sequence of tuple of int
        Position of each of them in the network.
    grid : sequence of int
        Ranks along each axis.
    ranks_per_node : int

    Raises
    ------
    InputError
        If the number of ranks of the grid is not `ranks_per_node` times the nodes.

    Examples
    --------
    Nodes in list order along a line, ranks too: nothing to save.

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=2, link_gb_s=10.0)
    >>> mapping_gain(tree, [0, 1, 2, 3], [(0,), (1,), (2,), (3,)], [4], 1)
    0.0
    """
    ranks = prod(grid)
    if ranks != len(places) * ranks_per_node:
        raise refusal(
            "grid", tuple(grid), f"must have {len(places) * ranks_per_node} ranks, {ranks_per_node} for each node"
        )
    listed = [rank // ranks_per_node for rank in range(ranks)]
    mapped = [0] * ranks
    nodes, points = bisected(coordinates), bisected(list(product(*map(range, grid))))
    for place, rank in enumerate(points):
        mapped[rank] = nodes[place // ranks_per_node]
    times = []
    for order in (listed, mapped):
        traffic = Traffic.between(fabric, places, halos(grid, order))
        pace = slowdown_from_traffic(lay(fabric, [traffic], [fabric.node_gb_s]))
        # Time of one message per rank: the busiest node's messages, at the common rate.
        times.append(traffic.sends / pace.first_gb_s)
    return 1 - times[1] / times[0] if times[0] else 0.0


def all_to_all_s(
    nodes: int,
    ranks_per_node: int,
    message_bytes: float,
    *,
    node_gb_s: float,
    per_message_us: float = 0.0,
    messages_per_s: float = float("inf"),
    inside_gb_s: float = float("inf"),
) -> float:
    """Time of an all-to-all of all ranks. [s]

    Each rank processes its messages one after another; the node's interface is limited by their bytes and their number;
    messages within the node are copied by its memory at the same time.

    Parameters
    ----------
    nodes, ranks_per_node : int
        [at least 1]
    message_bytes : float
        For each pair of ranks. [bytes, at least 0]
    node_gb_s : float
        Send rate of a node that receives as much, with all flows at once. [GB/s, above 0]
    per_message_us : float
        Processing time of a rank for one message sent and one received. [us]
    messages_per_s : float
        Message rate of an interface. [1/s, above 0]
    inside_gb_s : float
        Total copy rate inside a node. [GB/s, above 0]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    Two nodes of 32 ranks, 1 MiB per pair: 1.07 GB leave each node.

    >>> round(1e3 * all_to_all_s(2, 32, 1 << 20, node_gb_s=12.16), 1)
    88.3
    """
    above(0, nodes=nodes, ranks_per_node=ranks_per_node, node_gb_s=node_gb_s, messages_per_s=messages_per_s)
    above(0, inside_gb_s=inside_gb_s)
    ranks = nodes * ranks_per_node
    leaving = ranks_per_node * (ranks - ranks_per_node)
    staying = ranks_per_node * (ranks_per_node - 1)
    interface_s = max(leaving * message_bytes * 1e-9 / node_gb_s, leaving / messages_per_s)
    inside_s = staying * message_bytes * 1e-9 / inside_gb_s
    return (ranks - 1) * per_message_us * 1e-6 + max(interface_s, inside_s)
