"""Trees of switches: fat trees, and trees read from a site's files.

A message goes up to the lowest switch above both ends, and down again. A switch of the tree may represent several
switches that share the traffic: only the number of its uplinks matters. Messages either spread evenly over these, as
under ideal adaptive routing, or the destination's number determines the link (modulo the number of links), as in static
routing [1]_.

References
----------
.. [1] E. Zahavi, D-Mod-K routing providing non-blocking traffic for shift
   permutations on real life fat trees, 2010, sec. 3.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hopperlib.errors import InputError, refusal
from hopperlib.network.fabrics.fabric import FabricLink, LinkLoads, Traffic


@dataclass(frozen=True)
class SwitchTree:
    """A tree of switches.

    Parameters
    ----------
    leaf_of : tuple of int
        Switch of each node.
    parents : tuple of int or None
        Parent of each switch; None at the top.
    uplinks : tuple of int
        Parallel uplinks of each switch; 0 at the top, or if a file does not give them.
    link_gb_s, node_gb_s : float
        Rate of a link between switches, and of a node. [GB/s]
    node_names, switch_names : tuple of str
        The site's names; empty if the tree was built from numbers.

    Raises
    ------
    InputError
        If a switch is above itself, or a rate is not positive.

    Examples
    --------
    >>> two = SwitchTree(leaf_of=(0, 0, 1), parents=(2, 2, None), uplinks=(2, 2, 0))
    >>> two.distance(0, 1), two.distance(0, 2), two.group_of(2)
    (0, 2, 1)
    """

    leaf_of: tuple[int, ...]
    parents: tuple[int | None, ...]
    uplinks: tuple[int, ...]
    link_gb_s: float = 1.0
    node_gb_s: float = 1.0
    node_names: tuple[str, ...] = field(default=(), repr=False)
    switch_names: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in ("link_gb_s", "node_gb_s"):
            if getattr(self, name) <= 0:
                raise refusal(name, getattr(self, name), "must be above 0: a link carries something")
        # Evaluated here, so that a cycle of switches is rejected at once.
        assert self._ways_up is not None

    @property
    def routings(self) -> tuple[str, str]:
        """The names of the two routings: spread over all uplinks, and by the destination's number."""
        return "spread", "static"

    @property
    def nodes(self) -> int:
        """Nodes of the tree."""
        return len(self.leaf_of)

    @cached_property
    def _ways_up(self) -> tuple[tuple[int, ...], ...]:
        """Each switch and those above it, lowest first."""
        ways = []
        for switch in range(len(self.parents)):
            way = [switch]
            while (above := self.parents[way[-1]]) is not None:
                if above in way:
                    name = self.switch_names[above] if self.switch_names else str(above)
                    raise InputError(f"switch {name!r} is above itself: a tree has no cycles")
                way.append(above)
            ways.append(tuple(way))
        return tuple(ways)

    def switch_of(self, node: int) -> int:
        """Return the switch of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        return self.leaf_of[node]

    def group_of(self, node: int) -> int:
        """Return the group of a node: the highest switch above it that is not the top of all.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        way = self._ways_up[self.leaf_of[node]]
        return way[-2] if len(way) > 1 and way[-1] == self._top else way[-1]

    @cached_property
    def _top(self) -> int | None:
        """The root switch; None if there are several."""
        tops = [switch for switch, above in enumerate(self.parents) if above is None]
        return tops[0] if len(tops) == 1 else None

    def distance(self, a: int, b: int) -> int | None:
        """Return the number of links between the switches of two nodes; None if no switch is above both. [hops]

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """
        turn = self._turn(self.leaf_of[a], self.leaf_of[b])
        return turn and len(turn[0]) + len(turn[1])

    def _turn(self, a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the switches that a message leaves on its way up, and those that it enters on its way down."""
        up, down = self._ways_up[a], self._ways_up[b]
        if up[-1] != down[-1]:
            return None
        same, most = 0, min(len(up), len(down))
        while same < most and up[-1 - same] == down[-1 - same]:
            same += 1
        return up[: len(up) - same], down[: len(down) - same]

    @cached_property
    def _first_port(self) -> tuple[int, ...]:
        """Number of uplinks of all switches before each switch."""
        before, first = 0, []
        for ports in self.uplinks:
            first.append(before)
            before += max(1, ports)
        return tuple(first)

    def _link(self, switch: int, port: int, down: bool) -> int:
        return 2 * (self._first_port[switch] + port) + down

    @cached_property
    def capacity_gb_s(self) -> Sequence[float]:
        """Bandwidth of each link, by its number: the same for all. [GB/s]"""
        return [self.link_gb_s] * self._link(len(self.parents) - 1, max(1, self.uplinks[-1]), False)

    def links(self) -> Iterator[tuple[int, FabricLink]]:
        """Yield each directed link between switches."""
        for switch, above in enumerate(self.parents):
            if above is not None:
                for port in range(self.uplinks[switch]):
                    yield self._link(switch, port, False), FabricLink(switch, above, "up", self.link_gb_s)
                    yield self._link(switch, port, True), FabricLink(above, switch, "down", self.link_gb_s)

    def route(self, a: int, b: int, number: int | None = None) -> list[int]:
        """Return the links between two nodes on the path that a number selects.

        Parameters
        ----------
        a, b : int
            Nodes.
        number : int or None
            None uses the destination's number, as static routing does. In a tree of two levels, each number below the
            number of uplinks selects a different path.

        Raises
        ------
        InputError
            If no switch is above both.
        """
        up, down = self._joined(self.leaf_of[a], self.leaf_of[b])
        way = b if number is None else number
        # Called for every pair of nodes of a large tree: the numbers of `_link`, without its calls.
        first, ports = self._first_port, self.uplinks
        links = [2 * (first[switch] + way % (ports[switch] or 1)) for switch in up]
        return links + [2 * (first[switch] + way % (ports[switch] or 1)) + 1 for switch in reversed(down)]

    def loads(self, traffic: Traffic, routing: str) -> LinkLoads:
        """Return the messages on each link in use.

        Parameters
        ----------
        traffic : Traffic
        routing : str
            ``spread`` or ``static``.

        Raises
        ------
        InputError
            If there is no such routing, or messages go between trees that are not connected.
        """
        if routing not in self.routings:
            raise refusal("routing", routing, f"must be one of: {', '.join(self.routings)}")
        if routing == "static":
            return self._static(traffic)
        crossing: dict[tuple[int, bool], float] = defaultdict(float)
        if traffic.pairs is None:
            self._check_joined(list(traffic.nodes))
            # All to all: every node below a switch exchanges messages with every node that is not below it.
            total, inside = sum(traffic.nodes.values()), self._inside(traffic.nodes.items())
            for switch, nodes in inside.items():
                crossing[switch, False] = crossing[switch, True] = float(nodes * (total - nodes))
        else:
            for (a, b), messages in traffic.pairs.items():
                up, down = self._joined(a, b)
                for switch in up:
                    crossing[switch, False] += messages
                for switch in down:
                    crossing[switch, True] += messages
        loads: dict[int, float] = {}
        for (switch, downward), messages in crossing.items():
            ports = max(1, self.uplinks[switch])
            if messages and self.parents[switch] is not None:
                loads.update((self._link(switch, port, downward), messages / ports) for port in range(ports))
        return loads

    def _static(self, traffic: Traffic) -> LinkLoads:
        """Return the messages on each link if the destination's number determines the link."""
        loads: dict[int, float] = defaultdict(float)
        if traffic.pairs is None:
            return self._static_all(traffic.places)
        for (leaf, node), messages in (traffic.targets or {}).items():
            up, down = self._joined(leaf, self.leaf_of[node])
            for switches, downward in ((up, False), (down, True)):
                for switch in switches:
                    loads[self._link(switch, node % max(1, self.uplinks[switch]), downward)] += messages
        return loads

    def _static_all(self, places: Sequence[int]) -> LinkLoads:
        """Return the same for all-to-all traffic: only the counts inside and outside matter."""
        self._check_joined([self.leaf_of[node] for node in places])
        inside = self._inside((self.leaf_of[node], 1) for node in places)
        # For each number of ports, the nodes whose number selects each port; then those inside each switch.
        everywhere = {ports: Counter(node % ports for node in places) for ports in {max(1, n) for n in self.uplinks}}
        within: Counter[tuple[int, int]] = Counter()
        for node in places:
            for switch in self._ways_up[self.leaf_of[node]][:-1]:
                within[switch, node % max(1, self.uplinks[switch])] += 1
        loads: dict[int, float] = {}
        for switch, nodes in inside.items():
            if self.parents[switch] is None:
                continue
            for port, count in everywhere[max(1, self.uplinks[switch])].items():
                own = within[switch, port]
                loads[self._link(switch, port, False)] = float(nodes * (count - own))
                loads[self._link(switch, port, True)] = float((len(places) - nodes) * own)
        return {link: messages for link, messages in loads.items() if messages}

    def _inside(self, counts: Iterable[tuple[int, int]]) -> dict[int, int]:
        """Return the number of nodes below each switch, from the leaves upward."""
        inside: dict[int, int] = defaultdict(int)
        for leaf, nodes in counts:
            for switch in self._ways_up[leaf]:
                inside[switch] += nodes
        return inside

    def _joined(self, a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the path between two switches; raise if there is none."""
        turn = self._turn(a, b)
        if turn is None:
            raise InputError(f"nothing joins switches {a} and {b}: the tree has several tops")
        return turn

    def _check_joined(self, leaves: Sequence[int]) -> None:
        """Reject all-to-all traffic between unconnected trees."""
        for leaf in leaves[1:]:
            self._joined(leaves[0], leaf)


def fat_tree(
    *,
    nodes_per_leaf: int,
    leaves_per_pod: int,
    leaf_uplinks: int,
    pods: int = 1,
    pod_uplinks: int = 0,
    link_gb_s: float = 1.0,
    node_gb_s: float = 1.0,
) -> SwitchTree:
    """Return a regular fat tree of two levels, or of three with several pods.

    Parameters
    ----------
    nodes_per_leaf, leaves_per_pod, pods : int
        With one pod, the leaves are connected to one level of spine switches.
    leaf_uplinks, pod_uplinks : int
        Uplinks of a leaf switch, and of all switches of a pod together. Fewer links than nodes below mean a
        tapered tree.
    link_gb_s, node_gb_s : float
        [GB/s]

    Raises
    ------
    InputError
        If a count is below 1.

    Examples
    --------
    Eighteen nodes per leaf switch, eighteen leaves per pod, eleven pods, no tapering:

    >>> tree = fat_tree(nodes_per_leaf=18, leaves_per_pod=18, leaf_uplinks=18, pods=11, pod_uplinks=324)
    >>> tree.nodes, tree.distance(0, 17), tree.distance(0, 18), tree.distance(0, 3563)
    (3564, 0, 2, 4)
    """
    counts = {"nodes_per_leaf": nodes_per_leaf, "leaves_per_pod": leaves_per_pod, "leaf_uplinks": leaf_uplinks}
    for name, count in (counts | {"pods": pods} | ({"pod_uplinks": pod_uplinks} if pods > 1 else {})).items():
        if count < 1:
            raise refusal(name, count, "must be at least 1")
    leaves = leaves_per_pod * pods
    leaf_of = tuple(node // nodes_per_leaf for node in range(leaves * nodes_per_leaf))
    above = [leaves + leaf // leaves_per_pod for leaf in range(leaves)]
    top = leaves + pods
    parents = (*above, *([top] * pods), None) if pods > 1 else (*above, None)
    uplinks = (*([leaf_uplinks] * leaves), *([pod_uplinks] * pods), 0) if pods > 1 else (*([leaf_uplinks] * leaves), 0)
    return SwitchTree(leaf_of, parents, uplinks, link_gb_s, node_gb_s)
