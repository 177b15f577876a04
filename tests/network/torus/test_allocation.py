"""Placement metrics against brute force, and under shifts around the torus."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.torus.allocation import (
    PrefixCounts,
    bisection_bandwidth_gb_s,
    hull_of_placement,
    max_hop_distance,
    mean_hop_distance,
)
from hopperlib.network.torus.distances import Link, Torus, link_bandwidth_gb_s
from hopperlib.scheduling.schedule import runs_of

SIZES = (5, 4, 6)
PLACES = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=30)
TORI = [Torus(SIZES), Torus(SIZES, (1, 2, 1)), Torus(SIZES, (1, 2.5, 0.5))]


@given(places=PLACES, torus=st.sampled_from(TORI))
def test_mean_and_maximum_against_all_pairs(places, torus):
    pairs = [torus.weighted_hops(a, b) for a, b in combinations(places, 2)]
    assert mean_hop_distance(places, torus) == pytest.approx(sum(pairs) / len(pairs) if pairs else 0)
    assert max_hop_distance(places, torus) == pytest.approx(max(pairs, default=0))


@given(PLACES, st.tuples(*[st.integers(0, 9)] * 3))
def test_shifts_round_the_torus_change_nothing(places, shift):
    moved = [tuple((p + by) % size for p, by, size in zip(place, shift, SIZES, strict=True)) for place in places]
    torus = TORI[1]
    assert mean_hop_distance(moved, torus) == mean_hop_distance(places, torus)
    assert max_hop_distance(moved, torus) == max_hop_distance(places, torus)
    assert hull_of_placement(moved, torus) == pytest.approx(hull_of_placement(places, torus))


@given(
    st.permutations([(x, y, z) for x in range(5) for y in range(2) for z in range(3)]),
    st.sets(st.integers(0, 29), min_size=1),
)
def test_running_sums_of_a_node_list(nodes, positions):
    torus = TORI[2]
    wanted = mean_hop_distance([nodes[position] for position in sorted(positions)], torus)
    assert PrefixCounts(nodes, torus).mean_hop_distance(runs_of(positions)) == pytest.approx(wanted)


def test_bisection_of_a_plane_and_of_the_machine():
    hopper = Machine.load("hopper")
    torus = Torus.of(hopper)
    whole = [(x, y, z) for x in range(17) for y in range(8) for z in range(24)]
    # By hand: x is cut twice (the ring is whole), 8 * 24 links of 75 Gb/s a cut, 8 bits a byte;
    # y is opened after a gap of one and cut between y = 3 and 4 (between blades, 37.5) and 7 and 0 (37.5): 2 * 17 * 24
    # * 37.5; z between 11 and 12 (120) and between 23 and 0 (75): 17 * 8 * 195. The smallest is z.
    assert 2 * 8 * 24 * 75 == 28_800
    assert 2 * 17 * 24 * 37.5 == 30_600
    assert bisection_bandwidth_gb_s(whole, hopper) == 17 * 8 * 195 / 8 == 3_315
    plane = [place for place in whole if place[0] == 0]
    # One x plane: y cut 2 * 24 * 37.5 = 1,800; z cut 8 * 195 = 1,560.
    assert bisection_bandwidth_gb_s(plane, hopper) == 1_560 / 8
    assert bisection_bandwidth_gb_s([(0, 0, 0)], hopper) == 0
    assert link_bandwidth_gb_s(hopper, Link((0, 0, 11), 2)) == 120 / 8
    assert torus.routers == len(whole)


def test_no_place():
    with pytest.raises(ValueError, match="at least one place"):
        hull_of_placement([], TORI[0])
    assert mean_hop_distance([], TORI[0]) == 0
