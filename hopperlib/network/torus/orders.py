"""The orders in which a scheduler can walk the nodes of a torus.

A scheduler that takes the first free nodes of a list ignores the torus: the order of the list determines the
compactness of a job. Documentation of Hopper's orders is sparse [1]_: NID order follows neighbors without using the
topology, xyz uses it but fills only two dimensions, xyz-by2 fills three. Their exact definitions are not printed, so
the ones here are assumptions:

- ``nid``: by node number.
- ``xyz``: by coordinates, z fastest, then y, then x: plane after plane.
- ``xyz-by2``: blocks of 2 x 2 x 2 Geminis, with the blocks in xyz order.
- ``hilbert``: along a Hilbert curve through the enclosing cube, a space-filling
  order for comparison.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 3, NID Ordering.
"""

from collections.abc import Callable, Iterable
from typing import Any

from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Coordinates
from hopperlib.network.torus.wiring import NodeAddress, Wiring

#: Display names of the orders.
ORDER_TITLES = {"nid": "NID", "xyz": "xyz", "xyz-by2": "xyz-by2", "hilbert": "Hilbert curve"}
ORDERS: tuple[str, ...] = tuple(ORDER_TITLES)

ASSUMED = (
    "xyz-by2 is taken as blocks of 2 x 2 x 2 Geminis walked z first; no source prints its definition",
    "xyz is taken as z fastest, then y, then x; no source prints its definition",
)


def compute_nodes(machine: Machine) -> tuple[NodeAddress, ...]:
    """Return the compute nodes of a machine in nid order: all positions except the service blades, or the first
    positions if the file lists no service blades.

    Parameters
    ----------
    machine : Machine
        A machine whose file has a floor.

    Examples
    --------
    >>> len(compute_nodes(Machine.load("hopper")))
    6384
    """
    wiring, network = Wiring.of(machine), machine.network
    service = set(network.service_blades if network is not None else ())
    return tuple(node for node in wiring.addresses if node.cname.rpartition("n")[0] not in service)[: machine.nodes]


def _hilbert_index(point: Coordinates, bits: int) -> int:
    """Return the place of a point along the Hilbert curve of a cube of side ``2 ** bits``.

    Skilling's method [1]_: the coordinates are converted to the transposed index, whose bits are then interleaved.

    References
    ----------
    .. [1] J. Skilling, "Programming the Hilbert curve," AIP Conf. Proc. 707, 2004.
    """
    axes = list(point)
    # From the coarsest cube down, undo the rotation and the reflection of the curve in each of its eight parts.
    for bit in (1 << place for place in range(bits - 1, 0, -1)):
        mask = bit - 1
        for i in range(3):
            if axes[i] & bit:
                axes[0] ^= mask
            else:
                swap = (axes[0] ^ axes[i]) & mask
                axes[0] ^= swap
                axes[i] ^= swap
    # Gray code: only one axis changes from one step to the next.
    for i in (1, 2):
        axes[i] ^= axes[i - 1]
    turn = 0
    for bit in (1 << place for place in range(bits - 1, 0, -1)):
        if axes[2] & bit:
            turn ^= bit - 1
    index = 0
    # One bit of each axis in turn, the highest first.
    for place in reversed(range(bits)):
        for axis in axes:
            index = index << 1 | ((axis ^ turn) >> place & 1)
    return index


def order_nodes(nodes: Iterable[NodeAddress], order: str) -> tuple[NodeAddress, ...]:
    """Return nodes in the order in which the scheduler walks them.

    Parameters
    ----------
    nodes : iterable of NodeAddress
    order : {"nid", "xyz", "xyz-by2", "hilbert"}

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
    nodes = tuple(nodes)
    bits = max((max(node.coordinates) for node in nodes), default=1).bit_length() or 1
    keys: dict[str, Callable[[NodeAddress], Any]] = {
        "nid": lambda node: (),
        "xyz": lambda node: node.coordinates,
        "xyz-by2": lambda node: (tuple(part // 2 for part in node.coordinates), node.coordinates),
        "hilbert": lambda node: _hilbert_index(node.coordinates, bits),
    }
    if order not in keys:
        raise refusal("order", order, f"must be one of: {', '.join(ORDERS)}")
    key = keys[order]
    return tuple(sorted(nodes, key=lambda node: (key(node), node.nid)))
