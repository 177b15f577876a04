"""A rank order moved to where the job's nodes lie: what ranks send, weighted by the hops it goes on a torus.

Which ranks share a node is settled before, by `hopperlib.network.rank_order`; here whole nodes change places.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import order_nodes
from hopperlib.network.torus.wiring import NodeAddress

#: A pair of ranks, and what they send each other.
Sent = tuple[tuple[int, int], float]
# Exchanges that are tried: more would take longer than seconds.
_MAX_TRIED = 100_000
# Beside how many of those that it sends most a node is tried, and how far from them along the curve.
_PARTNERS, _NEAR = 6, 2
_ROUNDING_TOLERANCE = 1e-12


class NodeTraffic:
    """What the nodes of a job send each other, by the order in which ranks fill them.

    Parameters
    ----------
    order : sequence of int
        Ranks in the order in which they fill the nodes.
    pairs : iterable of (pair, float)
        Two ranks, and what they send each other.
    cores : int
        Tasks on a node.
    nodes : sequence of NodeAddress
        The job's, in the order in which they are filled.
    torus : Torus

    Raises
    ------
    InputError
        If there are too few nodes for the ranks.

    Examples
    --------
    Four nodes in a row; ranks 0 and 3 talk most, three hops apart, until they are neighbors:

    >>> row, torus = [NodeAddress(x, f"c{x}-0c0s0n0", x, 0, 0) for x in range(4)], Torus((9, 1, 1))
    >>> traffic = NodeTraffic(range(4), [((0, 3), 10.0), ((1, 2), 1.0)], 1, row, torus)
    >>> traffic.hops_sent, traffic.bring_near(), traffic.hops_sent
    (31.0, [1, 2, 0, 3], 11.0)
    """

    def __init__(
        self, order: Sequence[int], pairs: Iterable[Sent], cores: int, nodes: Sequence[NodeAddress], torus: Torus
    ) -> None:
        self._order, self._cores = order, cores
        self._places = [node.coordinates for node in nodes]
        count = -(-len(order) // cores)
        if len(nodes) < count:
            rule = f"must be at least {count:,}: {len(order):,} tasks, {cores} on a node"
            raise refusal("nodes", len(nodes), rule)
        on = {rank: place // cores for place, rank in enumerate(order)}
        # What each group of ranks that share a node sends each other group, and where each group is.
        self._sent: list[dict[int, float]] = [{} for _ in range(count)]
        for (first, second), weight in pairs:
            a, b = on[first], on[second]
            if a != b:
                self._sent[a][b] = self._sent[a].get(b, 0.0) + weight
                self._sent[b][a] = self._sent[b].get(a, 0.0) + weight
        self._at = list(range(count))
        # The nodes along a curve; one that is not full keeps its place.
        by_nid = {node.nid: place for place, node in enumerate(nodes[: len(order) // cores])}
        if len(by_nid) < len(order) // cores:
            raise refusal("nodes", len(nodes), "must all be different nodes")
        self._curve = [by_nid[node.nid] for node in order_nodes(nodes[: len(by_nid)], "hilbert")]
        self._rank_of = {place: rank for rank, place in enumerate(self._curve)}
        # Hops along an axis by the difference of two places.
        self._rings = [[min(apart, size - apart) for apart in range(size)] for size in torus.dimensions]

    def _hops(self, group: int, at: int, without: int = -1) -> float:
        """Return what a group would send from a place, times the hops; without what it sends one other."""
        (x, y, z), (along_x, along_y, along_z) = self._places[at], self._rings
        total = 0.0
        for other, weight in self._sent[group].items():
            if other != without:
                a, b, c = self._places[self._at[other]]
                total += weight * (along_x[abs(x - a)] + along_y[abs(y - b)] + along_z[abs(z - c)])
        return total

    @property
    def hops_sent(self) -> float:
        """What all pairs of nodes send each other, times the hops it goes."""
        # Each pair is counted from both its ends.
        return sum(self._hops(group, at) for group, at in enumerate(self._at)) / 2

    def bring_near(self) -> list[int]:
        """Exchange nodes as long as that shortens the way of what is sent; return the order of the ranks.

        It starts with the nodes as they are filled, and with them along a Hilbert curve. A node is tried beside each of
        those that it sends most. It is no optimum, and never worse than before.
        """
        tries = [
            (self._exchanged(start), self._at) for start in (self._at, [*self._curve, *self._at[len(self._curve) :]])
        ]
        _, self._at = min(tries)
        group_at = {place: group for group, place in enumerate(self._at)}
        ranks = [self._order[group_at[place] * self._cores :][: self._cores] for place in range(len(self._at))]
        return [rank for of_node in ranks for rank in of_node]

    def _exchanged(self, start: Sequence[int]) -> float:
        """Exchange nodes from a start on; return what is sent then, times the hops."""
        self._at = list(start)
        group_at = {place: group for group, place in enumerate(start)}
        tried, gained = 0, True
        while gained and tried < _MAX_TRIED:
            gained = False
            for group in range(len(self._curve)):
                for place in self._places_near_partners(group):
                    other, own = group_at[place], self._at[group]
                    tried += 1
                    # What the two send each other goes as far before as after: it is left out.
                    before = self._hops(group, own, other) + self._hops(other, place, group)
                    after = self._hops(group, place, other) + self._hops(other, own, group)
                    # By more than rounding, lest two change places forever.
                    if after < before * (1 - _ROUNDING_TOLERANCE):
                        self._at[group], self._at[other] = place, own
                        group_at[place], group_at[own] = group, other
                        gained = True
        return self.hops_sent

    def _places_near_partners(self, group: int) -> Iterator[int]:
        """Yield places beside those to which a group sends most, along the curve."""
        for partner in sorted(self._sent[group], key=self._sent[group].__getitem__, reverse=True)[:_PARTNERS]:
            if (rank := self._rank_of.get(self._at[partner])) is not None:
                near = self._curve[max(0, rank - _NEAR) : rank + _NEAR + 1]
                yield from (place for place in near if place not in (self._at[partner], self._at[group]))


class HopsSent(NamedTuple):
    """What is sent times the hops it goes: ranks as numbered, in an order, and with its nodes brought near."""

    numbered: float
    ordered: float
    near: float


def order_on_torus(
    order: Sequence[int], pairs: Iterable[Sent], cores: int, nodes: Sequence[NodeAddress], torus: Torus
) -> tuple[list[int], HopsSent]:
    """Return an order with its nodes brought near on the torus, and what that saves; parameters as for `NodeTraffic`.

    Examples
    --------
    >>> row, torus = [NodeAddress(x, f"c{x}-0c0s0n0", x, 0, 0) for x in range(4)], Torus((9, 1, 1))
    >>> order_on_torus([3, 2, 1, 0], [((0, 3), 10.0), ((1, 2), 1.0)], 1, row, torus)
    ([2, 1, 3, 0], HopsSent(numbered=31.0, ordered=31.0, near=11.0))
    """
    sent = list(pairs)
    numbered, placed = (NodeTraffic(ranks, sent, cores, nodes, torus) for ranks in (range(len(order)), order))
    before = placed.hops_sent
    return placed.bring_near(), HopsSent(numbered.hops_sent, before, placed.hops_sent)
