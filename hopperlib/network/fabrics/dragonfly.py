"""The dragonfly: groups of switches, and links between each pair of groups.

Inside a group switches stand in rows and columns, each linked to all others of
its row and of its column; one row is all to all. The links to the other groups
leave the switches one after the other, column by column: first all of the
first other group, then of the next, and round again. That rule gives every
link of two published Aries machines [1]_; for other machines it is assumed.

Routes are minimal (by any link between the two groups, each as often) or by a
detour (Valiant [2]_): through another group, or inside a group another switch,
each as often. From a corner of a group to another, half of the messages go
along the row first.

The messages on a link depend on sums only: what each switch sends to each
group, and gets from each. So a whole machine takes a fraction of a second.

References
----------
.. [1] Link lists of github codes-org/codes, scripts/gen-cray-topo.
.. [2] J. Kim and others, Technology-Driven, Highly-Scalable Dragonfly
   Topology, ISCA 2008, sec. 4.1.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd
from operator import add
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.fabrics.fabric import FabricLink, LinkLoads, SwitchPairs, Traffic

#: What one switch of a group demands of another: flat, by from * switches + to.
_Demand = list[float]
#: For a group and a set of its gateways, messages by switch.
_Ends = dict[tuple[int, int], list[float]]
_Between = Mapping[tuple[int, int], float]
_Gathered = tuple[dict[int, _Demand], _Ends, _Ends, _Between]
#: The largest dragonfly that is laid out.
_MOST_SWITCHES = 50_000


class _Sums(NamedTuple):
    """What a traffic asks of each group: within it, between groups, between its switches and its gateways; sent and got."""

    within: dict[int, _Demand]
    between: _Between
    ends: dict[int, _Demand]
    sent: dict[int, list[float]]
    got: dict[int, list[float]]


@dataclass(frozen=True)
class Dragonfly:
    """A dragonfly.

    Parameters
    ----------
    groups, rows, columns : int
        Groups, and how the switches of one stand; ``rows=1`` is all to all.
    nodes_per_switch : int
    links_per_pair : int
        Links between each pair of groups; as many as go evenly into `parallel`.
    parallel : int
        Links that run side by side between the same two switches of two groups.
    row_links, column_links : int
        Links side by side between two switches of a row, and of a column.
    local_gb_s, global_gb_s, node_gb_s : float
        Rate of a link inside a group, between groups, and of a node. [GB/s]

    Raises
    ------
    InputError
        If a count is below 1, a rate is not positive or the links do not go evenly.

    Examples
    --------
    Three groups of two switches, a link between each pair of groups:

    >>> small = Dragonfly(groups=3, rows=1, columns=2, nodes_per_switch=2, links_per_pair=1)
    >>> small.nodes, small.distance(0, 1), small.distance(0, 2), small.distance(0, 5)
    (12, 0, 1, 1)
    >>> sorted(small.loads(Traffic({(0, 2): 1.0}, {}, 1.0), "minimal").items())
    [(13, 1.0)]
    """

    groups: int
    rows: int
    columns: int
    nodes_per_switch: int
    links_per_pair: int
    parallel: int = 1
    row_links: int = 1
    column_links: int = 1
    local_gb_s: float = 1.0
    global_gb_s: float = 1.0
    node_gb_s: float = 1.0

    def __post_init__(self) -> None:
        counts = ("groups", "rows", "columns", "nodes_per_switch", "links_per_pair", "parallel", "row_links")
        for name in (*counts, "column_links"):
            if getattr(self, name) < 1:
                raise refusal(name, getattr(self, name), "must be at least 1")
        for name in ("local_gb_s", "global_gb_s", "node_gb_s"):
            if getattr(self, name) <= 0:
                raise refusal(name, getattr(self, name), "must be above 0: a link carries something")
        if self.links_per_pair % self.parallel:
            rule = f"must be a multiple of parallel={self.parallel}, the links side by side between two switches"
            raise refusal("links_per_pair", self.links_per_pair, rule)
        if self.groups * self.switches > _MOST_SWITCHES:
            raise refusal("groups", self.groups, f"must make at most {_MOST_SWITCHES:,} switches with {self.switches}")

    @property
    def routings(self) -> tuple[str, str]:
        """All minimal, and all by a detour."""
        return "minimal", "valiant"

    @property
    def switches(self) -> int:
        """Switches of a group."""
        return self.rows * self.columns

    @property
    def nodes(self) -> int:
        """Places for nodes."""
        return self.groups * self.switches * self.nodes_per_switch

    @property
    def pair_gb_s(self) -> float:
        """What all links between two groups carry one way. [GB/s]"""
        return self.links_per_pair * self.global_gb_s

    def switch_of(self, node: int) -> int:
        """Return the switch of a node."""
        return node // self.nodes_per_switch

    def group_of(self, node: int) -> int:
        """Return the group of a node."""
        return node // (self.nodes_per_switch * self.switches)

    # A link inside a group is numbered (group, from, to); all links between two groups together follow these.
    def _local(self, group: int, start: int, end: int) -> int:
        return (group * self.switches + start) * self.switches + end

    def _global(self, start: int, end: int) -> int:
        return self.groups * self.switches**2 + start * self.groups + end

    def capacity_gb_s(self, link: int) -> float:
        """Return what a link carries; that between two groups is all of theirs together. [GB/s]"""
        return self._capacities[link]

    @cached_property
    def _capacities(self) -> list[float]:
        """What each link carries, by its number. [GB/s]"""
        rows, columns = self.local_gb_s * self.row_links, self.local_gb_s * self.column_links
        places = range(self.switches)
        inside = [rows if a // self.columns == b // self.columns else columns for a in places for b in places]
        return inside * self.groups + [self.pair_gb_s] * self.groups**2

    def links(self) -> Iterator[tuple[int, FabricLink]]:
        """Yield each directed link inside groups, and one for each ordered pair of groups."""
        for group in range(self.groups):
            first = group * self.switches
            for start in range(self.switches):
                for end in range(self.switches):
                    if start != end and self._local_hops(start, end) == 1:
                        link = self._local(group, start, end)
                        yield link, FabricLink(first + start, first + end, "local", self.capacity_gb_s(link))
        for start in range(self.groups):
            for end in range(self.groups):
                if start != end:
                    yield self._global(start, end), FabricLink(start, end, "global", self.pair_gb_s)

    def gateways(self, group: int, other: int) -> list[int]:
        """Return the switches of a group from which links lead to another, in the order in which the other's answer.

        Examples
        --------
        Groups of 6 x 16 switches, two links side by side: the second group's links leave two columns further on.

        >>> aries = Dragonfly(15, 6, 16, 4, links_per_pair=24, parallel=2)
        >>> aries.gateways(0, 1)[:7], aries.gateways(0, 2)[0]
        ([0, 16, 32, 48, 64, 80, 1], 2)
        """
        return self._gateways_of_peer(other - (other > group))

    def _gateways_of_peer(self, peer: int) -> list[int]:
        """Return the gateways to the n-th other group."""
        first = peer * self._cables
        places = (number % self.switches for number in range(first, first + self._cables))
        return [place % self.rows * self.columns + place // self.rows for place in places]

    @property
    def _cables(self) -> int:
        """Pairs of switches that the links between two groups join."""
        return self.links_per_pair // self.parallel

    @cached_property
    def _gateway_sets(self) -> list[list[int]]:
        """Gateways of the first, second, ... other group, until they repeat."""
        return [self._gateways_of_peer(peer) for peer in range(self.switches // gcd(self._cables, self.switches))]

    def _local_hops(self, start: int, end: int) -> int:
        """Return the links between two switches of a group. [hops]"""
        rows = start // self.columns != end // self.columns
        return rows + (start % self.columns != end % self.columns)

    def _local_route(self, group: int, start: int, end: int) -> list[int]:
        """Return the links of a way inside a group, along the row first."""
        corner = start // self.columns * self.columns + end % self.columns
        steps = [start, *([corner] if corner not in (start, end) else []), end]
        return [self._local(group, a, b) for a, b in pairwise(steps) if a != b]

    def distance(self, a: int, b: int) -> int:
        """Return the links of the shortest minimal way between two nodes: by one link between their groups at most. [hops]

        Where gateways lie badly, a way through a third group can have fewer links; no minimal route takes it.
        """
        return len(self.route(a, b))

    def route(self, a: int, b: int) -> list[int]:
        """Return the links of one shortest minimal way between two nodes."""
        (g, start), (h, end) = (divmod(self.switch_of(node), self.switches) for node in (a, b))
        if g == h:
            return self._local_route(g, start, end)
        out, back = min(
            zip(self.gateways(g, h), self.gateways(h, g), strict=True),
            key=lambda cable: self._local_hops(start, cable[0]) + self._local_hops(cable[1], end),
        )
        return [*self._local_route(g, start, out), self._global(g, h), *self._local_route(h, back, end)]

    def minimal_ways(self, a: int, b: int) -> int:
        """Return how many minimal ways of the shortest length lead from one switch to another, each link counted.

        Examples
        --------
        >>> Dragonfly(2, 2, 2, 1, links_per_pair=4, column_links=3).minimal_ways(0, 3)
        6
        """
        (g, start), (h, end) = divmod(a, self.switches), divmod(b, self.switches)
        if g == h:
            return self._local_ways(start, end)
        ways: dict[int, int] = defaultdict(int)
        for out, back in zip(self.gateways(g, h), self.gateways(h, g), strict=True):
            length = self._local_hops(start, out) + self._local_hops(back, end)
            ways[length] += self._local_ways(start, out) * self.parallel * self._local_ways(back, end)
        return ways[min(ways)]

    def _local_ways(self, start: int, end: int) -> int:
        """Return how many shortest ways lead from one switch of a group to another, each link counted."""
        row_steps = start % self.columns != end % self.columns
        column_steps = start // self.columns != end // self.columns
        ways = (self.row_links if row_steps else 1) * (self.column_links if column_steps else 1)
        return 2 * ways if row_steps and column_steps else ways

    def loads(self, traffic: Traffic, routing: str) -> LinkLoads:
        """Return the messages on each link in use.

        Parameters
        ----------
        traffic : Traffic
        routing : str
            ``minimal`` or ``valiant``.

        Raises
        ------
        InputError
            If there is no such routing.
        """
        if routing not in self.routings:
            raise refusal("routing", routing, f"must be one of: {', '.join(self.routings)}")
        sums, size, none = self._sums(traffic), self.switches, [0.0] * self.switches**2
        within, between, ways = sums.within, sums.between, sums.ends
        if routing == "valiant" and size > 2:
            within = {group: _by_another(demand, size) for group, demand in within.items()}
        if routing == "valiant" and self.groups > 2:
            between, ways = self._two_legs(between), self._by_third_groups(sums)
        # What differences of sums leave behind is no message.
        trace = 1e-12 * traffic.sends
        loads = {self._global(*pair): messages for pair, messages in between.items() if messages > trace}
        for group in within.keys() | ways.keys():
            demand = list(map(add, within.get(group, none), ways.get(group, none)))
            # From a switch to itself there is no link.
            demand[:: size + 1] = [0.0] * size
            links = enumerate(demand) if self.rows == 1 else self._by_corners(demand)
            first = group * size**2
            loads.update({first + link: messages for link, messages in links if messages > trace})
        return loads

    # Both ways of routing start from the sums of the same traffic.
    @lru_cache(maxsize=1)  # noqa: B019
    def _sums(self, traffic: Traffic) -> _Sums:
        """Return what a traffic asks of each group."""
        size = self.switches
        pairs = traffic.pairs
        gathered = self._all_to_all(traffic.nodes) if pairs is None else self._written_out(pairs)
        within, leaving, entering, between = gathered
        ends = defaultdict[int, _Demand](lambda: [0.0] * size**2)
        sent, got = (defaultdict[int, list[float]](lambda: [0.0] * size) for _ in range(2))
        for messages_by_set, all_, outward in ((leaving, sent, True), (entering, got, False)):
            for (group, number), messages in messages_by_set.items():
                demand = ends[group]
                all_[group] = list(map(add, all_[group], messages))
                shares = [count / self._cables for count in messages]
                for gateway in self._gateway_sets[number]:
                    own = slice(gateway, None, size) if outward else slice(gateway * size, (gateway + 1) * size)
                    demand[own] = map(add, demand[own], shares)
        return _Sums(within, between, ends, sent, got)

    def _written_out(self, pairs: SwitchPairs) -> _Gathered:
        """Return messages inside groups, through each set of gateways (out of a group, and into it), and between groups."""
        size, count = self.switches, len(self._gateway_sets)
        within = defaultdict[int, _Demand](lambda: [0.0] * size**2)
        between = defaultdict[tuple[int, int], float](float)
        leaving, entering = (defaultdict[tuple[int, int], list[float]](lambda: [0.0] * size) for _ in range(2))
        for (a, b), messages in pairs.items():
            g, h = a // size, b // size
            if g != h:
                between[g, h] += messages
                leaving[g, (h - (h > g)) % count][a % size] += messages
                entering[h, (g - (g > h)) % count][b % size] += messages
            elif a != b:
                within[g][a % size * size + b % size] += messages
        return within, leaving, entering, between

    def _all_to_all(self, nodes_of: Mapping[int, int]) -> _Gathered:
        """Return the same where every node sends one message to every other: the counts of nodes say it."""
        size, sets = self.switches, len(self._gateway_sets)
        counts = defaultdict[int, list[float]](lambda: [0.0] * size)
        for switch, count in nodes_of.items():
            counts[switch // size][switch % size] += count
        totals = {group: sum(nodes) for group, nodes in counts.items()}
        within = {group: [a * b for a in nodes for b in nodes] for group, nodes in counts.items()}
        for demand in within.values():
            demand[:: size + 1] = [0.0] * size
        ends = {}
        for group, nodes in counts.items():
            others = [totals.get(other, 0.0) for other in range(self.groups) if other != group]
            for number in range(min(sets, len(others))):
                behind = sum(others[number::sets])
                ends[group, number] = [here * behind for here in nodes]
        between = {(g, h): here * there for g, here in totals.items() for h, there in totals.items() if g != h}
        return within, ends, ends, between

    def _by_third_groups(self, sums: _Sums) -> dict[int, _Demand]:
        """Return the ways inside each group if all between groups make a detour, each third group as often.

        Of what a switch sends in all, each third group gets the same share, but for what is meant for that group itself.
        The ways from and to the ends then use all cables of a group alike, less the direct ones; and others pass through.
        """
        size, others, sets = self.switches, self.groups - 1, self._gateway_sets
        cables = [0.0] * size
        for peer in range(others):
            for gateway in sets[peer % len(sets)]:
                cables[gateway] += 1 / self._cables
        share = 1 / (others - 1) / self._cables**2
        demands = {}
        for group, matrix in enumerate(self._passing(sums.between)):
            demand = [0.0] * size**2
            if group in sums.ends:
                sent, got, direct = sums.sent[group], sums.got[group], sums.ends[group]
                all_ways = [
                    a * there + here * b
                    for a, here in zip(sent, cables, strict=True)
                    for there, b in zip(cables, got, strict=True)
                ]
                demand = [(ways - own) / (others - 1) for ways, own in zip(all_ways, direct, strict=True)]
            for row, entries in zip(matrix, sets, strict=True):
                onward = [0.0] * size
                for messages, exits in zip(row, sets, strict=True):
                    for leave in exits:
                        onward[leave] += messages * share
                for entry in entries if any(onward) else ():
                    of_entry = slice(entry * size, (entry + 1) * size)
                    demand[of_entry] = map(add, demand[of_entry], onward)
            demands[group] = demand
        return demands

    def _passing(self, between: _Between) -> Iterator[list[list[float]]]:
        """Yield for each group what others send each other, by the sets of gateways where it would come and leave."""
        count = len(self._gateway_sets)
        matrix, inside = [[0.0] * count for _ in range(count)], dict[int, int]()

        def count_in(group: int, each: int, sign: int) -> None:
            for other, theirs in inside.items():
                matrix[each][theirs] += sign * between.get((group, other), 0.0)
                matrix[theirs][each] += sign * between.get((other, group), 0.0)

        for group in range(1, self.groups):
            count_in(group, each := (group - 1) % count, 1)
            inside[group] = each
        yield matrix
        for group in range(1, self.groups):
            # The group before takes the set of this one; all others keep theirs.
            each = inside.pop(group)
            count_in(group, each, -1)
            count_in(group - 1, each, 1)
            inside[group - 1] = each
            yield matrix

    def _two_legs(self, between: _Between) -> dict[tuple[int, int], float]:
        """Return what goes between each two groups if all makes a detour: first legs and second legs."""
        sent, got = [0.0] * self.groups, [0.0] * self.groups
        for (g, h), messages in between.items():
            sent[g] += messages
            got[h] += messages
        return {
            (g, h): (sent[g] + got[h] - 2 * between.get((g, h), 0.0)) / (self.groups - 2)
            for g in range(self.groups)
            for h in range(self.groups)
            if g != h and (sent[g] or got[h])
        }

    def _by_corners(self, demand: _Demand) -> Iterator[tuple[int, float]]:
        """Yield each link of a group with its messages: between corners, half go along the row first.

        So a link along a row carries half of what its start sends to the column of its end, and half of what its end
        gets from the column of its start; the same with rows and columns exchanged.
        """
        size, columns = self.switches, self.columns
        sent = [demand[place * size : (place + 1) * size] for place in range(size)]
        got = [demand[place::size] for place in range(size)]
        # For each column and row of the group, what each switch sends to it, and gets from it.
        to_columns, from_columns = ([_added(every[c::columns]) for c in range(columns)] for every in (got, sent))
        to_rows, from_rows = (
            [_added(every[first : first + columns]) for first in range(0, size, columns)] for every in (got, sent)
        )
        for start in range(size):
            row, column = divmod(start, columns)
            for end in range(row * columns, (row + 1) * columns):
                if end != start:
                    yield start * size + end, (to_columns[end % columns][start] + from_columns[column][end]) / 2
            for end in range(column, size, columns):
                if end != start:
                    yield start * size + end, (to_rows[end // columns][start] + from_rows[row][end]) / 2


def _added(lists: Sequence[list[float]]) -> list[float]:
    """Return the sums of lists, place by place."""
    return list(map(sum, zip(*lists, strict=True)))


def _by_another(demand: _Demand, size: int) -> _Demand:
    """Return what switches of a group demand of each other if every message goes by a third one, each as often."""
    got = [sum(demand[column::size]) for column in range(size)]
    by_another: _Demand = []
    for place in range(size):
        direct = demand[place * size : (place + 1) * size]
        sent = sum(direct)
        by_another += [(sent + there - 2 * own) / (size - 2) for there, own in zip(got, direct, strict=True)]
    return by_another
