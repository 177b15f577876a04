"""Node orders: the same nodes, in the right sequence."""

import itertools

import pytest

from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import ORDERS, compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress, Wiring

NODES = Wiring(17, 4).addresses
TORUS = Torus((17, 8, 24))


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_holds_every_node_once(order):
    assert sorted(order_nodes(NODES, order)) == list(NODES)


def test_xyz_goes_plane_after_plane():
    assert [node.x for node in order_nodes(NODES, "xyz")] == sorted(node.x for node in NODES)


def test_blocks_of_two():
    # Sixteen nodes fill a block of 2 x 2 x 2 Geminis; x = 16 has no partner, so its blocks are halves.
    ordered = order_nodes(NODES, "xyz-by2")
    first = {node.coordinates for node in ordered[:16]}
    assert first == {(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)}
    assert {node.x for node in ordered[16 * 8 * 24 * 2 :]} == {16}


def test_a_hilbert_curve_steps_to_neighbors():
    places = itertools.product(range(8), repeat=3)
    cube = order_nodes([NodeAddress(nid, "", *place) for nid, place in enumerate(places)], "hilbert")
    for a, b in itertools.pairwise(cube):
        assert sum(abs(p - q) for p, q in zip(a.coordinates, b.coordinates, strict=True)) == 1


def test_service_nodes_are_no_compute_nodes():
    nodes = compute_nodes(Machine.load("hopper"))
    assert len(nodes) == 6384
    assert "c0-0c0s0n0" not in {node.cname for node in nodes}


def test_no_such_order():
    with pytest.raises(ValueError, match="order='zyx' must be one of: nid, xyz, xyz-by2, hilbert"):
        order_nodes(NODES, "zyx")
