"""Rates that links allow each job: all routes minimal, all detoured, and the best mixture of both.

All messages of a job have one rate, since a parallel code waits for the last message. Jobs share links max-min fair, as
on the torus. The route of a packet is chosen packet by packet, and cannot be predicted from outside. The model
therefore computes two extremes, all minimal and all detoured, and a mixture: the share of detours that minimizes the
load of the busiest link. This is optimal adaptive routing with knowledge of all links; a real network knows only its
neighborhood. The actual rate is expected between the mixture and the worse extreme.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hopperlib.network.fabrics.fabric import Fabric, LinkLoads, Traffic
from hopperlib.network.runtime.sharing import fill


class Pace(NamedTuple):
    """Data exchange rate of a job.

    Parameters
    ----------
    first_gb_s, second_gb_s : float
        With all messages on the network's first routing (minimal), and on its second. [GB/s per node]
    mixed_gb_s : float
        With the best mixture. [GB/s per node]
    share : float
        Share of the second routing in that mixture. [fraction]
    alone_gb_s : float
        A node's rate without contention. [GB/s]
    """

    first_gb_s: float
    second_gb_s: float
    mixed_gb_s: float
    share: float
    alone_gb_s: float

    @property
    def slowdowns(self) -> tuple[float, float, float]:
        """Slowdown of messages relative to a free network: first routing, second, mixed. [ratio]"""
        return (
            self.alone_gb_s / self.first_gb_s,
            self.alone_gb_s / self.second_gb_s,
            self.alone_gb_s / self.mixed_gb_s,
        )


@dataclass(frozen=True)
class RoutedTraffic:
    """Traffic of some jobs on the links under both routings; the first job is the job of interest."""

    fabric: Fabric
    traffics: Sequence[Traffic]
    wants_gb_s: Sequence[float]
    first: Sequence[LinkLoads]
    second: Sequence[LinkLoads]

    def mixed(self, share: float) -> list[LinkLoads]:
        """Return the loads with a share of the second routing.

        Parameters
        ----------
        share : float
            Share of the second routing. [0-1]
        """
        return [_mixture(one, other, share) for one, other in zip(self.first, self.second, strict=True)]

    def rates(self, share: float) -> list[float]:
        """Return the max-min fair rate of each job with a share of the second routing. [GB/s per node]

        Parameters
        ----------
        share : float
            Share of the second routing. [0-1]
        """
        if len(self.traffics) > 1:
            return fair_rates(self.fabric, self.traffics, self.wants_gb_s, self.mixed(share))
        # A job alone is as slow as its busiest link.
        busiest = max((a + share * (b - a) for a, b in self.edge), default=0.0)
        want = min(self.wants_gb_s[0], self.fabric.node_gb_s)
        return [want / max(1.0, busiest * want / self.wants_gb_s[0])]

    def busy(self, share: float) -> dict[int, float]:
        """Return the utilization of each used link at the jobs' rates. [fraction]

        Parameters
        ----------
        share : float
            Share of the second routing. [0-1]
        """
        carried = self._total(self.mixed(share), self._scales(self.rates(share)))
        return {link: gb_s / self.fabric.capacity_gb_s[link] for link, gb_s in carried.items()}

    def _scales(self, rates: Sequence[float]) -> list[float]:
        """Return the rate at which each job sends one of its messages. [GB/s]"""
        pairs = zip(rates, self.traffics, strict=True)
        return [rate / traffic.sends if traffic.sends else 0.0 for rate, traffic in pairs]

    def _total(self, loads: Sequence[LinkLoads], scales: Sequence[float]) -> LinkLoads:
        """Return the load of all jobs together on each link."""
        total, scale = loads[0], scales[0]
        if scale != 1.0:
            total = {link: scale * messages for link, messages in total.items()}
        for each, scale in zip(loads[1:], scales[1:], strict=True):
            total = dict(total)
            for link, messages in each.items():
                total[link] = total.get(link, 0.0) + scale * messages
        return total

    @cached_property
    def edge(self) -> list[tuple[float, float]]:
        """Return the utilization under both routings of the links that can be the busiest, if all jobs send at their
        wanted rates. [fraction]
        """
        capacity, scales = self.fabric.capacity_gb_s, self._scales(self.wants_gb_s)
        # In units of the first job's messages, so that a job alone needs no scaling of its loads.
        unit = scales[0] or 1.0
        first, second = (self._total(loads, [each / unit for each in scales]) for loads in (self.first, self.second))

        def line(link: int) -> tuple[float, float]:
            return first.get(link, 0.0) / capacity[link], second.get(link, 0.0) / capacity[link]

        def busiest(loads: LinkLoads) -> int:
            return max(loads, key=lambda link: loads[link] / capacity[link])

        if not first:
            return [(0.0, 0.0)]
        # Only other links that are busier than one of these two somewhere in between matter.
        lines = [line(busiest(first)), line(busiest(second))]
        low, high = lines[1][0], lines[0][1]
        lines += [
            line(link)
            for link, messages in first.items()
            if messages > low * capacity[link] and second.get(link, 0.0) > high * capacity[link]
        ]
        return [(unit * one, unit * other) for one, other in upper_edge(lines)]


def upper_edge(lines: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the straight lines over [0, 1] that no other line exceeds at both ends, the highest start first.

    Parameters
    ----------
    lines : Sequence[tuple[float, float]]
        Ends of the lines at 0 and 1.

    Examples
    --------
    >>> upper_edge([(1.0, 2.0), (0.5, 0.5), (0.0, 3.0)])
    [(1.0, 2.0), (0.0, 3.0)]
    """
    edge: list[tuple[float, float]] = []
    for line in sorted(set(lines), reverse=True):
        if not edge or line[1] > edge[-1][1]:
            edge.append(line)
    return edge


def lowest_of_edge(edge: Sequence[tuple[float, float]]) -> float:
    """Return the position in [0, 1] where the maximum of some straight lines is smallest: the lines of `upper_edge`,
    each given by its ends.

    Their maximum is a convex curve; its minimum is where two of them cross, or at an end.

    Parameters
    ----------
    edge : Sequence[tuple[float, float]]
        Ends of the lines at 0 and 1.

    Examples
    --------
    >>> lowest_of_edge([(1.0, 0.0), (0.0, 3.0)])
    0.25
    >>> lowest_of_edge([(1.0, 2.0)])
    0.0
    """
    at, here = 0.0, edge[0]
    while here[1] < here[0]:
        # The next line that crosses this falling one from below.
        crossings = [((here[0] - a) / (here[0] - a + b - here[1]), b - a, (a, b)) for a, b in edge if b > here[1]]
        if not crossings:
            return 1.0
        at, _, here = min(crossings, key=lambda crossing: (crossing[0], -crossing[1]))
    return at


def _mixture(one: LinkLoads, other: LinkLoads, share: float) -> LinkLoads:
    """Return the loads with a share of the second routing."""
    if share in (0.0, 1.0):
        return other if share else one
    mixed = {link: (1 - share) * messages for link, messages in one.items()}
    for link, messages in other.items():
        mixed[link] = mixed.get(link, 0.0) + share * messages
    return mixed


def fair_rates(
    fabric: Fabric, traffics: Sequence[Traffic], wants_gb_s: Sequence[float], loads: Sequence[LinkLoads]
) -> list[float]:
    """Return the max-min fair rate of each job. [GB/s per node]

    Parameters
    ----------
    fabric : Fabric
    traffics : sequence of Traffic
    wants_gb_s : sequence of float
        Rate of a node of each job without contention. [GB/s]
    loads : sequence of mapping
        Loads of each job, as returned by the network.

    Examples
    --------
    Two nodes of a leaf switch with one uplink send to the next leaf: each gets half of the link.

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1, link_gb_s=10.0, node_gb_s=10.0)
    >>> traffic = Traffic.between(tree, [0, 1, 2, 3], {(0, 2): 1.0, (1, 3): 1.0})
    >>> fair_rates(tree, [traffic], [10.0], [tree.loads(traffic, "spread")])
    [5.0]
    """
    wants = [min(want, fabric.node_gb_s) for want in wants_gb_s]
    offered: dict[int, float] = {}
    for traffic, want, each in zip(traffics, wants, loads, strict=True):
        scale = want / traffic.sends if traffic.sends else 0.0
        for link, messages in each.items():
            offered[link] = offered.get(link, 0.0) + scale * messages
    # Only a link that cannot carry all wanted traffic can limit a stream.
    full = [link for link, gb_s in offered.items() if gb_s > fabric.capacity_gb_s[link]]
    weights = [
        {job: each[link] / traffics[job].sends for job, each in enumerate(loads) if each.get(link)} for link in full
    ]
    return fill(wants, [fabric.capacity_gb_s[link] for link in full], weights)


def lay(fabric: Fabric, traffics: Sequence[Traffic], wants_gb_s: Sequence[float]) -> RoutedTraffic:
    """Route the traffic of some jobs over the links of a network, under both routings.

    Parameters
    ----------
    fabric : Fabric
        The network.
    traffics : sequence of Traffic
        Traffic of each job.
    wants_gb_s : sequence of float
        Wanted rate of a node of each job. [GB/s]

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1)
    >>> lay(tree, [Traffic.between(tree, [0, 2], {(0, 1): 1.0})], [1.0]).rates(0.0)
    [1.0]
    """
    first, second = fabric.routings
    one = [fabric.loads(traffic, first) for traffic in traffics]
    other = one if second == first else [fabric.loads(traffic, second) for traffic in traffics]
    return RoutedTraffic(fabric, traffics, wants_gb_s, one, other)


def slowdown_from_traffic(laid: RoutedTraffic) -> Pace:
    """Compute the slowdown of the first job's data exchange.

    Parameters
    ----------
    laid : RoutedTraffic
        Traffic routed over links.

    Examples
    --------
    All nodes of one group send to the next group: minimal routes share one link, detours use all the others.

    >>> from hopperlib.network.fabrics.dragonfly import Dragonfly
    >>> small = Dragonfly(9, 1, 4, 2, links_per_pair=1, local_gb_s=10.0, global_gb_s=10.0, node_gb_s=10.0)
    >>> traffic = Traffic.between(small, range(16), {(i, i + 8): 1.0 for i in range(8)})
    >>> pace = slowdown_from_traffic(lay(small, [traffic], [10.0]))
    >>> round(pace.first_gb_s, 2), round(pace.second_gb_s, 2), round(pace.mixed_gb_s, 2), round(pace.share, 2)
    (1.25, 8.75, 10.0, 0.88)
    """
    share = lowest_of_edge(laid.edge)
    first, second, mixed = (laid.rates(each)[0] for each in (0.0, 1.0, share))
    return Pace(first, second, mixed, share, min(laid.wants_gb_s[0], laid.fabric.node_gb_s))
