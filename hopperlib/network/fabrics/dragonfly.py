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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import gcd
from operator import add

from hopperlib.errors import refusal
from hopperlib.network.fabrics.fabric import FabricLink, LinkLoads, Traffic

#: What one switch of a group demands of another: flat, by from * switches + to.
_Demand = list[float]
#: For a pair of numbers, messages by switch of a group.
_Sums = dict[tuple[int, int], list[float]]
#: The largest dragonfly that is laid out.
_MOST_SWITCHES = 50_000


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

    @property
    def bisection_gb_s(self) -> float:
        """What the links between the two halves of the groups carry one way. [GB/s]

        Examples
        --------
        >>> Dragonfly(4, 1, 2, 2, links_per_pair=3, global_gb_s=2.0).bisection_gb_s
        24.0
        """
        return (self.groups // 2) * -(-self.groups // 2) * self.pair_gb_s

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
        within, out, into = self._sums(traffic)
        demands = defaultdict[int, _Demand](lambda: [0.0] * self.switches**2, within)
        if routing == "valiant" and self.switches > 2:
            demands.update({group: _by_another(demand, self.switches) for group, demand in within.items()})
        between = {pair: sum(sent) for pair, sent in out.items()}
        leaving, entering = self._by_gateways(out, outward=True), self._by_gateways(into, outward=False)
        if routing == "valiant" and self.groups > 2:
            self._add_transits(demands, between)
            between = self._two_legs(between)
            leaving, entering = self._by_other_groups(leaving), self._by_other_groups(entering)
        self._add_ends(demands, leaving, outward=True)
        self._add_ends(demands, entering, outward=False)
        # What differences of sums leave behind is no message.
        trace = 1e-12 * traffic.sends
        loads = {self._global(*pair): messages for pair, messages in between.items() if messages > trace}
        for group, demand in demands.items():
            first = group * self.switches**2
            # From a switch to itself there is no link.
            demand[:: self.switches + 1] = [0.0] * self.switches
            links = demand if self.rows == 1 else self._by_corners(demand)
            loads.update((first + link, messages) for link, messages in enumerate(links) if messages > trace)
        return loads

    def _sums(self, traffic: Traffic) -> tuple[dict[int, _Demand], _Sums, _Sums]:
        """Return what switches of a group send each other, and what each sends to and gets from each other group."""
        size = self.switches
        if traffic.pairs is None:
            return self._sums_of_all(traffic)
        within: dict[int, _Demand] = {}
        out: _Sums = {}
        into: _Sums = {}
        for (a, b), messages in traffic.pairs.items():
            (g, start), (h, end) = divmod(a, size), divmod(b, size)
            if g == h:
                if start != end:
                    within.setdefault(g, [0.0] * size**2)[start * size + end] += messages
            else:
                out.setdefault((g, h), [0.0] * size)[start] += messages
                into.setdefault((g, h), [0.0] * size)[end] += messages
        return within, out, into

    def _sums_of_all(self, traffic: Traffic) -> tuple[dict[int, _Demand], _Sums, _Sums]:
        """Return the same where every node sends one message to every other: the counts of nodes say it."""
        size = self.switches
        counts: dict[int, list[float]] = {}
        for switch, nodes in traffic.nodes.items():
            group, place = divmod(switch, size)
            counts.setdefault(group, [0.0] * size)[place] += nodes
        totals = {group: sum(nodes) for group, nodes in counts.items()}
        within = {
            g: [a * b if i != j else 0.0 for i, a in enumerate(c) for j, b in enumerate(c)] for g, c in counts.items()
        }
        pairs = [(g, h) for g in counts for h in counts if g != h]
        out = {(g, h): [nodes * totals[h] for nodes in counts[g]] for g, h in pairs}
        into = {(g, h): [nodes * totals[g] for nodes in counts[h]] for g, h in pairs}
        return within, out, into

    def _by_gateways(self, sums: _Sums, *, outward: bool) -> _Sums:
        """Return what each switch of a group sends through, or gets from, each set of gateways: (group, set) -> by switch."""
        count = len(self._gateway_sets)
        gathered: _Sums = {}
        for (g, h), messages in sums.items():
            group, other = (g, h) if outward else (h, g)
            key = group, (other - (other > group)) % count
            old = gathered.get(key)
            gathered[key] = messages if old is None else list(map(add, old, messages))
        return gathered

    def _add_ends(self, demands: dict[int, _Demand], gathered: _Sums, *, outward: bool) -> None:
        """Add the ways between each switch and the gateways of its group."""
        size, sets = self.switches, self._gateway_sets
        for (group, each), messages in gathered.items():
            demand = demands[group]
            shares = [count / self._cables for count in messages]
            for gateway in sets[each]:
                if outward:
                    demand[gateway::size] = map(add, demand[gateway::size], shares)
                else:
                    first = gateway * size
                    demand[first : first + size] = map(add, demand[first : first + size], shares)

    def _add_transits(self, demands: dict[int, _Demand], between: dict[tuple[int, int], float]) -> None:
        """Add the ways between gateways of each group through which others' messages make a detour."""
        sets, share = self._gateway_sets, 1 / (self.groups - 2) / self._cables**2
        count = len(sets)
        table = [[between.get((g, h), 0.0) for h in range(self.groups)] for g in range(self.groups)]
        for group in range(self.groups):
            # What neither comes from the group nor goes to it, by the sets of gateways where it comes and leaves.
            rows = [[*row[:group], *row[group + 1 :]] for g, row in enumerate(table) if g != group]
            by_exit = [[sum(row[each::count]) for each in range(count)] for row in rows]
            matrix = [[sum(column[each::count]) for column in zip(*by_exit, strict=True)] for each in range(count)]
            for row, entries in zip(matrix, sets, strict=True):
                for messages, exits in zip(row, sets, strict=True):
                    if messages:
                        demand = demands[group]
                        amount = messages * share
                        for entry in entries:
                            for leave in exits:
                                demand[entry * self.switches + leave] += amount

    def _by_other_groups(self, gathered: _Sums) -> _Sums:
        """Return what goes through each set of gateways if all of it makes a detour, each third group as often.

        Of what a switch sends in all, each third group gets the same share, but for what is meant for that group itself.
        """
        count = len(self._gateway_sets)
        totals: dict[int, list[float]] = {}
        for (group, _), messages in gathered.items():
            old = totals.get(group)
            totals[group] = messages if old is None else list(map(add, old, messages))
        none, others, detours = [0.0] * self.switches, self.groups - 1, {}
        for group, total in totals.items():
            for each in range(min(count, others)):
                behind = len(range(each, others, count))
                direct = gathered.get((group, each), none)
                shares = zip(total, direct, strict=True)
                detours[group, each] = [(behind * all_ - own) / (others - 1) for all_, own in shares]
        return detours

    def _two_legs(self, between: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
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

    def _by_corners(self, demand: _Demand) -> _Demand:
        """Return the messages on each link of a group: between corners, half go along the row first."""
        size, columns = self.switches, self.columns
        links = [0.0] * size**2
        for number, messages in enumerate(demand):
            if not messages:
                continue
            start, end = divmod(number, size)
            (row, column), (to_row, to_column) = divmod(start, columns), divmod(end, columns)
            if row == to_row or column == to_column:
                links[number] += messages
                continue
            for corner in (row * columns + to_column, to_row * columns + column):
                links[start * size + corner] += messages / 2
                links[corner * size + end] += messages / 2
        return links


def _by_another(demand: _Demand, size: int) -> _Demand:
    """Return what switches of a group demand of each other if every message goes by a third one, each as often."""
    sent = [sum(demand[row * size : (row + 1) * size]) for row in range(size)]
    got = [sum(demand[column::size]) for column in range(size)]
    return [
        (sent[a] + got[b] - 2 * demand[a * size + b]) / (size - 2) if a != b else 0.0
        for a in range(size)
        for b in range(size)
    ]
