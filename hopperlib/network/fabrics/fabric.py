"""Interface of every network, and the traffic routed over it.

Nodes are numbered from 0, and so are switches. Traffic is routed over links switch by switch; traffic inside a switch
uses no link between switches.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

#: Messages on links: number of the link -> messages.
LinkLoads = Mapping[int, float]
#: Messages between switches: (from, to) -> messages.
SwitchPairs = Mapping[tuple[int, int], float]


class FabricLink(NamedTuple):
    """A directed link, or several parallel links: ends, kind and bandwidth.

    Parameters
    ----------
    start, end : int
        Switches; for a dragonfly's link between groups, the groups.
    kind : str
        ``local``, ``global``, ``up``, ``down`` or an axis.
    capacity_gb_s : float
        Bandwidth of all parallel links together. [GB/s]
    """

    start: int
    end: int
    kind: str
    capacity_gb_s: float


@dataclass(frozen=True)
class Traffic:
    """Messages of a job between the switches of its nodes.

    Parameters
    ----------
    pairs : mapping or None
        (From switch, to switch) -> messages; None if every node sends one to every other.
    nodes : mapping
        Switch -> nodes of the job there.
    sends : float
        Messages that the busiest node sends.
    targets : mapping
        (From switch, node that receives) -> messages, if the destination fixes the routes of the network.
    places : sequence of int
        The nodes of the job.
    """

    pairs: SwitchPairs | None
    nodes: Mapping[int, int]
    sends: float
    targets: Mapping[tuple[int, int], float] | None = None
    places: Sequence[int] = ()

    def __hash__(self) -> int:
        """Hash only a cheap part: equal traffic has equal places, and mappings have no hash."""
        return hash((self.sends, tuple(self.places)))

    @classmethod
    def between(
        cls, fabric: "Fabric", places: Sequence[int], messages: Mapping[tuple[int, int], float] | None
    ) -> "Traffic":
        """Return the traffic of a job.

        Parameters
        ----------
        fabric : Fabric
        places : sequence of int
            Node of each rank of the job.
        messages : mapping or None
            (From rank, to rank) -> messages; None if each rank sends to every other.

        Examples
        --------
        >>> from hopperlib.network.fabrics.tree import fat_tree
        >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=3, leaf_uplinks=2, link_gb_s=10.0)
        >>> Traffic.between(tree, [0, 1, 2], {(0, 1): 1.0, (0, 2): 1.0}).pairs
        {(0, 0): 1.0, (0, 1): 1.0}
        """
        switches = [fabric.switch_of(node) for node in places]
        nodes = Counter(switches)
        if messages is None:
            return cls(None, nodes, float(len(places) - 1), places=places)
        pairs: dict[tuple[int, int], float] = {}
        targets: dict[tuple[int, int], float] = {}
        sent = [0.0] * len(places)
        for (start, end), count in messages.items():
            sent[start] += count
            key = switches[start], switches[end]
            pairs[key] = pairs.get(key, 0.0) + count
        if "static" in fabric.routings:
            for (start, end), count in messages.items():
                to_node = switches[start], places[end]
                targets[to_node] = targets.get(to_node, 0.0) + count
        return cls(pairs, nodes, max(sent, default=0.0), targets, places)


class Fabric(Protocol):
    """A network: the interface for explorers, metrics and rates."""

    @property
    def nodes(self) -> int:
        """Places for nodes."""

    @property
    def routings(self) -> tuple[str, str]:
        """The two routings that bound the real one."""

    @property
    def node_gb_s(self) -> float:
        """Maximum rate at which a node sends. [GB/s]"""

    def switch_of(self, node: int) -> int:
        """Return the switch of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """

    def group_of(self, node: int) -> int:
        """Return the group of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """

    def distance(self, a: int, b: int) -> int | None:
        """Return the number of links between the switches of two nodes; None if they are not connected. [hops]

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """

    def route(self, a: int, b: int) -> list[int]:
        """Return the links of one shortest path between two nodes.

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """

    def links(self) -> Iterator[tuple[int, FabricLink]]:
        """Yield each directed link with its number."""

    @property
    def capacity_gb_s(self) -> Sequence[float] | Mapping[int, float]:
        """Bandwidth of each link, by its number. [GB/s]"""

    def loads(self, traffic: Traffic, routing: str) -> LinkLoads:
        """Return the messages on each link in use.

        Parameters
        ----------
        traffic : Traffic
            Messages of a job.
        routing : str
            One of `routings`.
        """
