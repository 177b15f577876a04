"""What machines survive: counts by hand on the toy and on Hopper, and a torus with a link taken out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import networkx
import pytest

from hopperlib.machine import Machine
from hopperlib.machine.faults import dead_link, dead_server, detour_hops, faults, files_hit, torus_links

HOPPER, TOY = Machine.load("hopper"), Machine.load("toy")


def _torus(dimensions):
    """The torus as a graph of its own, for comparison."""
    graph = networkx.Graph()
    for place in product(*map(range, dimensions)):
        graph.add_node(place)
        for axis, extent in enumerate(dimensions):
            onwards = tuple((at + (i == axis)) % extent if i == axis else at for i, at in enumerate(place))
            if onwards != place:
                graph.add_edge(place, onwards)
    return graph


def _network(dimensions):
    return replace(TOY.network, dimensions=dimensions)


@pytest.mark.parametrize("dimensions", [(3, 4, 4), (2, 3, 5), (1, 1, 6), (2, 2, 2), (1, 4, 4), (1, 1, 1)])
def test_links_are_the_edges_of_the_torus(dimensions):
    assert torus_links(_network(dimensions)) == _torus(dimensions).number_of_edges()


@pytest.mark.parametrize("dimensions", [(3, 4, 4), (2, 3, 5), (1, 1, 6), (1, 1, 3), (2, 2, 2), (1, 4, 4), (1, 3, 3)])
def test_the_detour_is_the_longest_way_around_a_missing_link(dimensions):
    longest = 0
    for edge in _torus(dimensions).edges:
        graph = _torus(dimensions)
        graph.remove_edge(*edge)
        longest = max(longest, networkx.shortest_path_length(graph, *edge))
    assert detour_hops(_network(dimensions)) == longest


@pytest.mark.parametrize("dimensions", [(1, 1, 2), (1, 1, 1)])
def test_no_detour_where_there_is_no_other_way(dimensions):
    assert detour_hops(_network(dimensions)) is None


def test_links_of_hopper():
    # 3,264 routers, three links onwards each
    assert torus_links(HOPPER.network) == 3 * 3_264
    assert torus_links(Machine.load("franklin").network) is None
    assert detour_hops(Machine.load("franklin").network) is None


def test_files_on_a_server_by_counting():
    # Toy: 15 OSTs, 3 a server. Pairs of OSTs with one on a given server, by listing them all.
    scratch = TOY.file_systems[0]
    pairs = list(combinations(range(15), 2))
    assert files_hit(scratch, 2) == pytest.approx(sum(min(pair) < 3 for pair in pairs) / len(pairs))
    assert files_hit(scratch, 1) == pytest.approx(3 / 15)
    # over 13 OSTs no file can avoid three of fifteen
    assert files_hit(scratch, 13) == 1
    assert files_hit(scratch) == files_hit(scratch, 4)


@pytest.mark.parametrize("count", [0, 157])
def test_stripes_need_osts(count):
    with pytest.raises(ValueError, match=f"stripe_count={count} must be from 1 to 156, the OSTs of scratch"):
        files_hit(HOPPER.file_systems[0], count)


def test_hopper_goes_on_and_franklin_stops():
    link, server = faults(HOPPER)
    assert (link.goes_on, link.badge) == (True, "documented")
    assert link.lost_fraction == pytest.approx(1 / 9_792)
    assert (server.goes_on, server.badge) == (True, "documented")
    assert server.lost_fraction == pytest.approx(6 / 156)
    assert "7.6 % of the files" in server.what_then
    stopped = dead_link(Machine.load("franklin"))
    assert (stopped.goes_on, stopped.badge) == (False, "documented")
    assert "stops" in stopped.what_then


def test_what_a_file_does_not_say_is_not_answered():
    for fault in faults(Machine.load("perlmutter")):
        assert (fault.goes_on, fault.lost_fraction, fault.badge) == (None, None, None)
    without = replace(HOPPER, network=None, file_systems=())
    assert [fault.goes_on for fault in faults(without)] == [None, None]


def test_a_server_without_a_partner():
    assert dead_server(TOY).goes_on is False
    assert "the file system waits" in dead_server(TOY).what_then


def test_a_rerouting_network_that_is_no_torus():
    other = replace(HOPPER, network=replace(HOPPER.network, dimensions=None))
    assert dead_link(other).what_then == "traffic takes another way"
