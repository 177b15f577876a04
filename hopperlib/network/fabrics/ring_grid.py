"""The torus with the common network interface: its switches are the routers, its groups the cabinets."""

from collections.abc import Iterator
from functools import cached_property

from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.fabrics.fabric import FabricLink, LinkLoads, Traffic
from hopperlib.network.runtime.link_loads import LinkMap, Loads
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.orders import compute_nodes


class RingGrid:
    """The torus of a machine.

    Parameters
    ----------
    machine : Machine
        A machine with a torus, a floor and link bandwidths.

    Raises
    ------
    InputError
        If the machine file lacks one of them.

    Examples
    --------
    >>> hopper = RingGrid(Machine.load("hopper"))
    >>> hopper.nodes, hopper.distance(0, 0), hopper.distance(0, 100)
    (6384, 0, 5)
    """

    def __init__(self, machine: Machine) -> None:
        self._map, self._torus = LinkMap(machine), Torus.of(machine)
        self._addresses = compute_nodes(machine)
        assert machine.network is not None
        self.node_gb_s = machine.network.node_bandwidth_gb_s

    @property
    def routings(self) -> tuple[str, str]:
        """The only routing: along X, then Y, then Z."""
        return "dimension order", "dimension order"

    @property
    def nodes(self) -> int:
        """Compute nodes, in nid order."""
        return len(self._addresses)

    def _number(self, router: Coordinates) -> int:
        _, sy, sz = self._torus.dimensions
        return (router[0] * sy + router[1]) * sz + router[2]

    def _router(self, number: int) -> Coordinates:
        _, sy, sz = self._torus.dimensions
        return number // sz // sy, number // sz % sy, number % sz

    def switch_of(self, node: int) -> int:
        """Return the router of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        return self._number(self._addresses[node].coordinates)

    @cached_property
    def _cabinets(self) -> list[tuple[int, ...]]:
        return sorted({address.on_floor[:2] for address in self._addresses})

    def group_of(self, node: int) -> int:
        """Return the cabinet of a node.

        Parameters
        ----------
        node : int
            Number of the node, from 0.
        """
        return self._cabinets.index(self._addresses[node].on_floor[:2])

    def distance(self, a: int, b: int) -> int:
        """Return the distance between two nodes. [hops]

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """
        return self._torus.hops(self._addresses[a].coordinates, self._addresses[b].coordinates)

    def route(self, a: int, b: int) -> list[int]:
        """Return the links between two nodes; halfway around a ring, the links of both directions.

        Parameters
        ----------
        a, b : int
            Numbers of the nodes, from 0.
        """
        pair = self.switch_of(a), self.switch_of(b)
        return sorted(self.loads(Traffic({pair: 1.0}, {}, 1.0), self.routings[0]))

    def links(self) -> Iterator[tuple[int, FabricLink]]:
        """Yield each directed link."""
        every = {ring: sum(1 << 64 * lane for lane in range(len(c))) for ring, c in enumerate(self._map.capacity_gb_s)}
        for (axis, router, way), _, capacity_gb_s in self._map.each(every):
            end = list(router)
            end[axis] = (end[axis] + way) % self._torus.dimensions[axis]
            link = FabricLink(self._number(router), self._number((end[0], end[1], end[2])), "xyz"[axis], capacity_gb_s)
            yield self._link(axis, router, way), link

    def _link(self, axis: int, router: Coordinates, way: int) -> int:
        return (self._number(router) * 3 + axis) * 2 + (way > 0)

    @cached_property
    def capacity_gb_s(self) -> dict[int, float]:
        """Bandwidth of each link. [GB/s]"""
        return {number: link.capacity_gb_s for number, link in self.links()}

    def loads(self, traffic: Traffic, routing: str) -> LinkLoads:
        """Return the messages on each link in use.

        Parameters
        ----------
        traffic : Traffic
            Messages of a job.
        routing : str
            One of `routings`.

        Raises
        ------
        InputError
            If there is no such routing.
        """
        if routing not in self.routings:
            raise refusal("routing", routing, f"must be: {self.routings[0]}")
        if traffic.pairs is None:
            counts = {self._router(switch): nodes for switch, nodes in traffic.nodes.items()}
            return self._plain(self._map.between(counts, counts))
        messages = {(self._router(a), self._router(b)): count for (a, b), count in traffic.pairs.items()}
        whole = {pair: round(count) for pair, count in messages.items()}
        return self._plain(self._map.of_messages(whole))

    def _plain(self, packed: Loads) -> dict[int, float]:
        """Return loads by the numbers of links."""
        return {self._link(*link): count for link, count, _ in self._map.each(packed)}
