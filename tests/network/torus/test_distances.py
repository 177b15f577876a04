"""Hops, routes and links against networkx, and laws."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Torus, link_bandwidth_gb_s

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
def test_hops_and_links_against_networkx(dimensions):
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
    assert len(list(torus.links())) == graph.number_of_edges()


@given(PLACE, PLACE)
def test_a_route_is_shortest_and_connected(a, b):
    here, axes = a, []
    for link in SMALL.route(a, b):
        ahead = list(link.start)
        ahead[link.axis] = (ahead[link.axis] + 1) % SMALL.dimensions[link.axis]
        ends = (link.start, tuple(ahead))
        assert here in ends
        here = ends[1] if here == ends[0] else ends[0]
        axes.append(link.axis)
    assert here == b
    assert len(axes) == SMALL.hops(a, b)
    assert axes == sorted(axes)  # X, then Y, then Z


def test_mean_of_hoppers_torus():
    # Mean ring distance n/4 for even n, (n - 1/n)/4 for odd n: 17 -> 4.2353, 8 -> 2, 24 -> 6; times 3264/3263.
    assert Torus((17, 8, 24)).mean_hops() == pytest.approx((17 / 4 * (1 - 1 / 289) + 2 + 6) * 3264 / 3263)


def test_bandwidth_of_links():
    hopper = Machine.load("hopper")
    torus = Torus.of(hopper)
    rates = [(link.axis, link_bandwidth_gb_s(hopper, link)) for link in torus.links()]
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
        link_bandwidth_gb_s(Machine.load("bassi"), next(iter(SMALL.links())))
