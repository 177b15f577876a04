"""The dragonfly: groups of switches, and links between each pair of groups.

Inside a group, switches form rows and columns, each linked to all others of its row and of its column; one row is all
to all. The links to the other groups leave the switches one after the other, column by column: first all links to the
first other group, then to the next, wrapping around. That rule gives every link of two published Aries machines [1]_;
for other machines it is assumed.

Routes are minimal (using the links between the two groups equally) or take a detour (Valiant [2]_): through another
group, or inside a group through another switch, all equally often. From one corner of a group to another, half of the
messages go along the row first.

The messages on a link depend only on sums: the messages of each switch to and from each group. A whole machine is
therefore computed in a fraction of a second.

References
----------
.. [1] Link lists of github codes-org/codes, scripts/gen-cray-topo.
.. [2] J. Kim and others, Technology-Driven, Highly-Scalable Dragonfly
   Topology, ISCA 2008, sec. 4.1.
"""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, pairwise, zip_longest
from math import gcd
from operator import add
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.fabrics.fabric import FabricLink, LinkLoads, SwitchPairs, Traffic

#: Messages by switch of a group.
_BySwitch = list[float]
#: Messages inside a group, by views and lines, and those to and from each gateway of a set.
_Ends = tuple[list[list[_BySwitch]], list[_BySwitch], list[_BySwitch]]
_Gathered = tuple[dict[int, _Ends], list[list[float]]]
#: The largest dragonfly supported.
_MOST_SWITCHES = 50_000


class _View(NamedTuple):
    """The columns or rows of a group, the number of gateways of each set on these lines, and the end from which they
    are viewed.
    """

    lines: list[range]
    gateways: list[Counter[int]]
    ends: bool


class _Demand(NamedTuple):
    """Load on a group's links.

    For each view and each of its lines, the messages that each switch sends to the line or receives from it: inside the
    group, and on the paths from and to gateways. Then the messages that each switch sends to other groups in total, and
    receives, for each gateway of a set.
    """

    within: list[list[_BySwitch]]
    through: list[list[_BySwitch]]
    sent: _BySwitch
    got: _BySwitch

    @property
    def minimal(self) -> list[list[_BySwitch]]:
        """For each view and line, the messages on minimal routes."""
        both = zip(self.within, self.through, strict=True)
        return [[_added(each) for each in zip(within, through, strict=True)] for within, through in both]


@dataclass(frozen=True)
class Dragonfly:
    """A dragonfly.

    Parameters
    ----------
    groups, rows, columns : int
        Groups, and the arrangement of the switches of one; ``rows=1`` is all to all.
    nodes_per_switch : int
    links_per_pair : int
        Links between each pair of groups; a multiple of `parallel`.
    parallel : int
        Parallel links between the same two switches of two groups.
    row_links, column_links : int
        Parallel links between two switches of a row, and of a column.
    local_gb_s, global_gb_s, node_gb_s : float
        Rate of a link inside a group, between groups, and of a node. [GB/s]

    Raises
    ------
    InputError
        If a count is below 1, a rate is not positive, or `links_per_pair` is not a multiple of `parallel`.

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
            rule = f"must be a multiple of parallel={self.parallel}, the parallel links between two switches"
            raise refusal("links_per_pair", self.links_per_pair, rule)
        if self.groups * self.switches > _MOST_SWITCHES:
            raise refusal("groups", self.groups, f"must make at most {_MOST_SWITCHES:,} switches with {self.switches}")

    @property
    def routings(self) -> tuple[str, str]:
        """The names of the two routings: all minimal, and all detoured."""
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
        """Bandwidth of all links between two groups in one direction. [GB/s]"""
        return self.links_per_pair * self.global_gb_s

    def switch_of(self, node: int) -> int:
        """Return the switch of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        return node // self.nodes_per_switch

    def group_of(self, node: int) -> int:
        """Return the group of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        return node // (self.nodes_per_switch * self.switches)

    # A link inside a group is numbered (group, from, to); all links between two groups together follow these.
    def _local(self, group: int, start: int, end: int) -> int:
        return (group * self.switches + start) * self.switches + end

    def _global(self, start: int, end: int) -> int:
        return self.groups * self.switches**2 + start * self.groups + end

    @cached_property
    def capacity_gb_s(self) -> Sequence[float]:
        """Bandwidth of each link, by its number; for two groups, that of all their links together. [GB/s]"""
        rows, columns = self.local_gb_s * self.row_links, self.local_gb_s * self.column_links
        places = range(self.switches)
        inside = [rows if a // self.columns == b // self.columns else columns for a in places for b in places]
        return inside * self.groups + [self.pair_gb_s] * self.groups**2

    def links(self) -> Iterator[tuple[int, FabricLink]]:
        """Yield each directed link inside groups, and one link for each ordered pair of groups."""
        for group in range(self.groups):
            first = group * self.switches
            for start in range(self.switches):
                for end in range(self.switches):
                    if start != end and self._local_hops(start, end) == 1:
                        link = self._local(group, start, end)
                        yield link, FabricLink(first + start, first + end, "local", self.capacity_gb_s[link])
        for start in range(self.groups):
            for end in range(self.groups):
                if start != end:
                    yield self._global(start, end), FabricLink(start, end, "global", self.pair_gb_s)

    def gateways(self, group: int, other: int) -> list[int]:
        """Return the switches of a group with links to another group, in the order of the switches at the other ends.

        Parameters
        ----------
        group : int
            Group of the switches, from 0.
        other : int
            The other group, from 0.

        Examples
        --------
        Groups of 6 x 16 switches with two parallel links: the second group's links leave two columns later.

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
        """Pairs of switches that are connected by the links between two groups."""
        return self.links_per_pair // self.parallel

    @cached_property
    def _gateway_sets(self) -> list[list[int]]:
        """Gateways to the first, second, ... other group, until they repeat."""
        return [self._gateways_of_peer(peer) for peer in range(self.switches // gcd(self._cables, self.switches))]

    def _local_hops(self, start: int, end: int) -> int:
        """Return the links between two switches of a group. [hops]"""
        rows = start // self.columns != end // self.columns
        return rows + (start % self.columns != end % self.columns)

    def _local_route(self, group: int, start: int, end: int) -> list[int]:
        """Return the links of a path inside a group, along the row first."""
        corner = start // self.columns * self.columns + end % self.columns
        steps = [start, *([corner] if corner not in (start, end) else []), end]
        return [self._local(group, a, b) for a, b in pairwise(steps) if a != b]

    def distance(self, a: int, b: int) -> int:
        """Return the number of links of the shortest minimal path between two nodes, with at most one link between
        groups. [hops] If gateways are far away, a path through a third group can have fewer links; no minimal route
        takes it.

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """
        return len(self.route(a, b))

    def route(self, a: int, b: int) -> list[int]:
        """Return the links of one shortest minimal path between two nodes.

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """
        (g, start), (h, end) = (divmod(self.switch_of(node), self.switches) for node in (a, b))
        if g == h:
            return self._local_route(g, start, end)
        out, back = min(
            zip(self.gateways(g, h), self.gateways(h, g), strict=True),
            key=lambda cable: self._local_hops(start, cable[0]) + self._local_hops(cable[1], end),
        )
        return [*self._local_route(g, start, out), self._global(g, h), *self._local_route(h, back, end)]

    def minimal_ways(self, a: int, b: int) -> int:
        """Return the number of shortest paths from one switch to another, counting each parallel link.

        Parameters
        ----------
        a, b : int
            Numbers of the switches, from 0.

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
        """Return the number of shortest paths between two switches of a group, counting each parallel link."""
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
        demands, between = self._gathered(traffic)
        inside = ((group, demand.minimal) for group, demand in demands.items())
        if routing == "valiant":
            inside = self._by_detours(demands, between)
            between = self._two_legs(between) if self.groups > 2 else between
        links = chain(
            enumerate(chain(*between), self._global(0, 0)),
            chain.from_iterable(self._links_of(group, seen) for group, seen in inside),
        )
        # Rounding errors of sums are not messages.
        trace = 1e-12 * traffic.sends
        return {link: messages for link, messages in links if messages > trace}

    @cached_property
    def _layers(self) -> list[list[int]]:
        """The sets of gateways of each switch: the first, the second, ...; -1 if there are no more."""
        sets = range(len(self._gateway_sets))
        of_each = [
            [n for n in sets for each in self._gateway_sets[n] if each == place] for place in range(self.switches)
        ]
        return [list(layer) for layer in zip_longest(*of_each, fillvalue=-1)]

    @cached_property
    def _views(self) -> list[_View]:
        """All views required for a group's links; with one row, each switch is a column and one view suffices."""
        size, step = self.switches, self.columns
        rows = [range(first, first + step) for first in range(0, size, step)]
        columns = [range(first, size, step) for first in range(step)]
        views = []
        for lines in (columns, rows):
            gateways = [Counter(layer[each] for layer in self._layers for each in line) for line in lines]
            views += [_View(lines, gateways, ends) for ends in (False, True)]
        return views[:1] if self.rows == 1 else views

    def _no_lines(self) -> list[list[_BySwitch]]:
        return [[[0.0] * self.switches for _ in view.lines] for view in self._views]

    def _no_ends(self) -> list[_BySwitch]:
        """Return zero messages for each set of gateways and, last, for switches without another set."""
        return [[0.0] * self.switches for _ in range(len(self._gateway_sets) + 1)]

    # Both routings start from the sums of the same traffic.
    @lru_cache(maxsize=1)  # noqa: B019
    def _gathered(self, traffic: Traffic) -> tuple[dict[int, _Demand], list[list[float]]]:
        """Return the load of a traffic pattern on each group it uses, and between groups."""
        pairs = traffic.pairs
        ends, between = self._all_to_all(traffic.nodes) if pairs is None else self._written_out(pairs)
        demands = {}
        for group, (within, leaving, entering) in ends.items():
            through = [self._through(view, leaving, entering) for view in self._views]
            demands[group] = _Demand(within, through, _added(leaving), _added(entering))
        return demands, between

    def _written_out(self, pairs: SwitchPairs) -> _Gathered:
        """Return for each group messages inside it, and to and from each gateway of a set; and those between groups."""
        size, columns, count, share = self.switches, self.columns, len(self._gateway_sets), 1 / self._cables
        between = [[0.0] * self.groups for _ in range(self.groups)]
        # A group numbers the other groups without itself, hence `h - (h > g)`; sets of gateways repeat with that number.
        # Each message is spread evenly over the cables of its pair of groups.
        found = defaultdict[int, _Ends](lambda: (self._no_lines(), self._no_ends(), self._no_ends()))
        for (a, b), messages in pairs.items():
            (g, start), (h, end) = divmod(a, size), divmod(b, size)
            if g != h:
                between[g][h] += messages
                found[g][1][(h - (h > g)) % count][start] += messages * share
                found[h][2][(g - (g > h)) % count][end] += messages * share
            elif a != b:
                # Inside a group a message takes either order, row or column first; each view counts one kind of link.
                to_column, *others = found[g][0]
                to_column[end % columns][start] += messages
                if others:
                    from_column, to_row, from_row = others
                    from_column[start % columns][end] += messages
                    to_row[end // columns][start] += messages
                    from_row[start // columns][end] += messages
        return found, between

    def _all_to_all(self, nodes_of: Mapping[int, int]) -> _Gathered:
        """Return the same for every node sending one message to every other: the counts of nodes suffice."""
        size, sets = self.switches, len(self._gateway_sets)
        counts = [[0.0] * size for _ in range(self.groups)]
        for switch, nodes in nodes_of.items():
            counts[switch // size][switch % size] += nodes
        totals, found = [sum(each) for each in counts], {}
        for group, here in enumerate(counts):
            if not totals[group]:
                continue
            ends = self._no_ends()
            others = [total / self._cables for other, total in enumerate(totals) if other != group]
            for number in range(sets):
                last = sum(others[number::sets])
                ends[number] = [nodes * last for nodes in here]
            found[group] = self._all_to_all_within(here), ends, ends
        between = [[here * there for there in totals] for here in totals]
        for group in range(self.groups):
            between[group][group] = 0.0
        return found, between

    def _all_to_all_within(self, here: _BySwitch) -> list[list[_BySwitch]]:
        """Return for each view and line the messages from each switch of a group to those of the line."""
        within = self._no_lines()
        for view, lines in zip(self._views, within, strict=True):
            for line_own, line in zip(lines, view.lines, strict=True):
                there = sum([here[switch] for switch in line])
                line_own[:] = [nodes * there for nodes in here]
                for switch in line:
                    line_own[switch] -= here[switch] ** 2
        return within

    def _through(self, view: _View, leaving: list[_BySwitch], entering: list[_BySwitch]) -> list[_BySwitch]:
        """Return for each line of a view the paths of each switch to its gateways, and those of gateways to its
        switches.
        """
        here, there = (entering, leaving) if view.ends else (leaving, entering)
        seen = []
        for line, gateways in zip(view.lines, view.gateways, strict=True):
            of_sets = [sum(messages[line.start : line.stop : line.step]) for messages in there]
            out = ([often * messages for messages in here[each]] for each, often in gateways.items() if each >= 0)
            seen.append(_added([*self._at_gateways(of_sets), *out]))
        return seen

    def _at_gateways(self, of_sets: Sequence[float]) -> Iterator[list[float]]:
        """Yield by switch the values of its sets of gateways, and last for none: first sets, second sets, ..."""
        return ([of_sets[each] for each in layer] for layer in self._layers)

    def _by_detours(
        self, demands: Mapping[int, _Demand], between: list[list[float]]
    ) -> Generator[tuple[int, list[list[_BySwitch]]]]:
        """Yield for each group and view the messages sent and received by lines if all traffic is detoured.

        Inside a group, each third switch is used equally often; between groups, each third group. Each intermediate
        switch gets the same share of a switch's total traffic, except for messages to that switch itself.
        """
        for group, matrix in enumerate(self._passing(between)):
            demand = demands.get(group)
            if demand is None and not any(map(any, matrix)):
                continue
            seen = []
            for number, view in enumerate(self._views):
                onward = self._onward(view, matrix)
                if demand is not None:
                    within = self._by_third_switches(view, demand.within[number])
                    through = self._by_third_groups(view, demand, demand.through[number])
                    onward = list(map(_added, zip(within, through, onward, strict=True)))
                seen.append(onward)
            yield group, seen

    def _by_third_switches(self, view: _View, within: list[_BySwitch]) -> list[_BySwitch]:
        """Return the messages inside a group by lines of a view if all go through intermediate switches."""
        if self.switches <= 2:
            return within
        share, sent, width = 1 / (self.switches - 2), _added(within), len(view.lines[0])
        out = [share * width * messages for messages in sent]
        less = 2 * share
        return [
            [all_ + got - less * own for all_, own in zip(out, line, strict=True)]
            for got, line in zip([share * sum(line) for line in within], within, strict=True)
        ]

    def _by_third_groups(self, view: _View, demand: _Demand, through: list[_BySwitch]) -> list[_BySwitch]:
        """Return the paths from and to gateways by lines of a view if all traffic between groups goes through
        intermediate groups.
        """
        if self.groups <= 2:
            return through
        share = 1 / (self.groups - 2)
        here, there = (demand.got, demand.sent) if view.ends else (demand.sent, demand.got)
        ways = []
        for line, own_line in zip(view.lines, through, strict=True):
            cables = share * sum([self._cables_at[switch] for switch in line])
            got = share * sum([there[switch] for switch in line])
            ways.append(
                [
                    cables * out + got * often - share * own
                    for out, often, own in zip(here, self._cables_at, own_line, strict=True)
                ]
            )
        return ways

    @cached_property
    def _cables_at(self) -> list[float]:
        """Number of other groups to which each switch is a gateway."""
        sets = len(self._gateway_sets)
        behind = [len(range(number, self.groups - 1, sets)) for number in range(sets)]
        return _added(list(self._at_gateways([*behind, 0])))

    def _onward(self, view: _View, matrix: list[list[float]]) -> list[_BySwitch]:
        """Return by lines of a view the traffic through a group, between the gateways where it enters and leaves."""
        share = 1 / (max(1, self.groups - 2) * self._cables**2)
        across = matrix if view.ends else zip(*matrix, strict=True)
        rows = [[*(share * messages for messages in row), 0.0] for row in across]
        passing = []
        for gateways in view.gateways:
            there = [[often * messages for messages in rows[n]] for n, often in gateways.items() if n >= 0]
            passing.append(_added(list(self._at_gateways(_added(there)))))
        return passing

    def _passing(self, between: list[list[float]]) -> Iterator[list[list[float]]]:
        """Yield for each group the traffic between other groups, by the sets of gateways where it would enter and
        leave.
        """
        count, back = len(self._gateway_sets), list(zip(*between, strict=True))
        matrix, inside = [[0.0] * count for _ in range(count)], dict[int, int]()

        def count_in(group: int, each: int, sign: int) -> None:
            row, there, here = matrix[each], between[group], back[group]
            for other, theirs in inside.items():
                row[theirs] += sign * there[other]
                matrix[theirs][each] += sign * here[other]

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

    def _two_legs(self, between: list[list[float]]) -> list[list[float]]:
        """Return the traffic between each pair of groups if everything is detoured: first legs and second legs."""
        got, share = _added(between), 1 / (self.groups - 2)
        legs = []
        for group, row in enumerate(between):
            sent = sum(row)
            legs.append([share * (sent + there - 2 * within) for there, within in zip(got, row, strict=True)])
            legs[group][group] = 0.0
        return legs

    def _links_of(self, group: int, seen: list[list[_BySwitch]]) -> Iterable[tuple[int, float]]:
        """Return the links of a group with their messages: between corners, half of the messages go along the row
        first.

        A link along a row therefore carries half of its start's messages to the column of its end, and half of its
        end's messages from the column of its start; the same with rows and columns exchanged.
        """
        size, columns, first = self.switches, self.columns, self._local(group, 0, 0)
        if self.rows == 1:
            flat = list(chain(*zip(*seen[0], strict=True)))
            # There is no link from a switch to itself.
            flat[:: size + 1] = [0.0] * size
            return enumerate(flat, first)
        to_columns, from_columns, to_rows, from_rows = seen
        links: list[tuple[int, float]] = []
        for start, (along, down) in enumerate(
            zip(zip(*to_columns, strict=True), zip(*to_rows, strict=True), strict=True)
        ):
            row, column = divmod(start, columns)
            in_row, in_column = slice(row * columns, (row + 1) * columns), slice(column, None, columns)
            numbers = range(first + start * size, first + (start + 1) * size)
            for there, here, line, own in (
                (along, from_columns[column], in_row, column),
                (down, from_rows[row], in_column, row),
            ):
                messages = [(one + other) / 2 for one, other in zip(there, here[line], strict=True)]
                messages[own] = 0.0
                links += zip(numbers[line], messages, strict=True)
        return links


def _added(lists: Sequence[Iterable[float]]) -> list[float]:
    """Return the sums of lists, place by place."""
    return list(reduce(partial(map, add), lists))
