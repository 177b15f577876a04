"""The orders in which a scheduler can walk the nodes of a torus.

A scheduler that takes the first free nodes of a list is blind to the torus:
the order of the list decides how compact a job lies. What is documented of
Hopper's orders is little [1]_: NID order follows neighbours without knowing
the topology, xyz knows it but fills two dimensions only, xyz-by2 fills three.
Their exact definitions are not printed, so the ones here are assumptions:

- ``nid``: by node number.
- ``xyz``: by coordinates, z fastest, then y, then x: plane after plane.
- ``xyz-by2``: blocks of 2 x 2 x 2 Geminis, the blocks walked like xyz.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 3, NID Ordering.
"""

from collections.abc import Callable, Iterable
from typing import Any

from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.torus.wiring import NodeAddress, Wiring

#: What each order is called where one is chosen.
ORDER_TITLES = {"nid": "NID", "xyz": "xyz", "xyz-by2": "xyz-by2"}
ORDERS: tuple[str, ...] = tuple(ORDER_TITLES)

ASSUMED = (
    "xyz-by2 is taken as blocks of 2 x 2 x 2 Geminis walked z first; no source prints its definition",
    "xyz is taken as z fastest, then y, then x; no source prints its definition",
)


def compute_nodes(machine: Machine, wiring: Wiring | None = None) -> tuple[NodeAddress, ...]:
    """Return the compute nodes of a machine in nid order: all positions less the service blades, or, where none are stated, the first.

    Examples
    --------
    >>> len(compute_nodes(Machine.load("hopper")))
    6384
    """
    wiring = wiring or Wiring.of(machine)
    network = machine.network
    service = set(network.service_blades if network is not None else ())
    return tuple(node for node in wiring.addresses if node.cname.rpartition("n")[0] not in service)[: machine.nodes]


def order_nodes(nodes: Iterable[NodeAddress], order: str) -> tuple[NodeAddress, ...]:
    """Return nodes in the order in which the scheduler walks them.

    Parameters
    ----------
    nodes : iterable of NodeAddress
    order : {"nid", "xyz", "xyz-by2"}

    Raises
    ------
    ValueError
        If there is no such order.

    Examples
    --------
    >>> nodes = Wiring(columns=17, rows=4).addresses
    >>> [node.coordinates for node in order_nodes(nodes, "xyz-by2")[::2][:4]]
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    keys: dict[str, Callable[[NodeAddress], Any]] = {
        "nid": lambda node: (),
        "xyz": lambda node: node.coordinates,
        "xyz-by2": lambda node: (tuple(part // 2 for part in node.coordinates), node.coordinates),
    }
    if order not in keys:
        raise refusal("order", order, f"must be one of: {', '.join(ORDERS)}")
    key = keys[order]
    return tuple(sorted(nodes, key=lambda node: (key(node), node.nid)))
