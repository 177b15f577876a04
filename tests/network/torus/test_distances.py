"""Hops against networkx, and laws; bandwidths of links."""

from itertools import product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Link, Torus, link_bandwidth_gb_s

SMALL = Torus((4, 3, 5))
PLACE = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4))


@given(PLACE, PLACE, PLACE)
def test_hops_are_a_metric(a, b, c):
    assert SMALL.hops(a, b) == SMALL.hops(b, a)
    assert (SMALL.hops(a, b) == 0) == (a == b)
    assert SMALL.hops(a, c) <= SMALL.hops(a, b) + SMALL.hops(b, c)
    assert SMALL.hops(a, b) <= SMALL.diameter
    assert SMALL.weighted_hops(a, b) == SMALL.hops(a, b)


@pytest.mark.parametrize("dimensions", [(4, 3, 5), (2, 2, 3), (1, 4, 2), (1, 1, 1)])
def test_hops_against_networkx(dimensions):
    torus = Torus(dimensions)
    graph = nx.grid_graph(dim=dimensions[::-1], periodic=True)
    graph.remove_edges_from(nx.selfloop_edges(graph))
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    total = 0
    for a in graph:
        for b in graph:
            assert torus.hops(a, b) == lengths[a][b]
            total += lengths[a][b]
    pairs = len(graph) * (len(graph) - 1)
    assert torus.mean_hops() == pytest.approx(total / pairs if pairs else 0)


def test_mean_of_hoppers_torus():
    # Mean ring distance n/4 for even n, (n - 1/n)/4 for odd n: 17 -> 4.2353, 8 -> 2, 24 -> 6; times 3264/3263.
    assert Torus((17, 8, 24)).mean_hops() == pytest.approx((17 / 4 * (1 - 1 / 289) + 2 + 6) * 3264 / 3263)


def test_bandwidth_of_links():
    hopper = Machine.load("hopper")
    links = [Link(place, axis) for place in product(range(17), range(8), range(24)) for axis in range(3)]
    rates = [(link.axis, link_bandwidth_gb_s(hopper, link)) for link in links]
    # Half of the y links lie between blades; of 24 z links 3 lie between cages, the one that closes the ring among them.
    assert rates.count((1, 4.6875)) == rates.count((1, 9.375)) == 3264 // 2
    assert rates.count((2, 9.375)) == 3264 * 3 // 24
    assert rates.count((0, 9.375)) == 3264


def test_refusals():
    with pytest.raises(ValueError, match="must be three counts of at least 1"):
        Torus((0, 1, 1))
    with pytest.raises(ValueError, match="must be positive"):
        Torus((1, 1, 1), (1, 0, 1))
    with pytest.raises(ValueError, match="torus"):
        Torus.of(Machine.load("bassi"))
    with pytest.raises(ValueError, match="states no link bandwidths"):
        link_bandwidth_gb_s(Machine.load("bassi"), Link((0, 0, 0), 0))
