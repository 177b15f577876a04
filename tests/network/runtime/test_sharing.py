"""Sharing links: max-min fair by its definition, against a slow filling, and by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.runtime.sharing import (
    MIXES,
    RATES_GB_S,
    STENCILS,
    Habit,
    Mix,
    Stream,
    all_reduce_s,
    draw_habit,
    fair_rates,
    stencil,
    streams_of,
)

LINKS = LinkMap(Machine.load("hopper"))
PLACES = [(x, y, z) for x in range(2) for y in range(3) for z in range(3)]


def used(streams, rates):
    """GB/s on each link, and its bandwidth, message by message."""
    load, capacity = {}, {}
    for stream, rate in zip(streams, rates, strict=True):
        for link, count, most in LINKS.each(stream.loads):
            load[link] = load.get(link, 0.0) + rate * count / stream.sends
            capacity[link] = most
    return load, capacity


STREAMS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)), min_size=1, max_size=6, unique=True),
        st.floats(0.1, 9.0),
    ),
    min_size=1,
    max_size=7,
)


@given(STREAMS)
def test_rates_are_max_min_fair(drawn):
    """No link is overloaded; a stream below its wanted rate crosses a full link on which no stream gets more."""
    streams = [Stream(LINKS.of_messages(dict.fromkeys(pairs, 3)), 1.0, want) for pairs, want in drawn]
    rates = fair_rates(LINKS, streams, injection_gb_s=6.0)
    load, capacity = used(streams, rates)
    assert all(load[link] <= capacity[link] * (1 + 1e-6) for link in load)
    for stream, rate in zip(streams, rates, strict=True):
        want = min(stream.wants_gb_s, 6.0)
        assert rate <= want
        if rate < want * (1 - 1e-6):
            full = [link for link, _, _ in LINKS.each(stream.loads) if load[link] >= capacity[link] * (1 - 1e-6)]
            crossed = [{link for link, _, _ in LINKS.each(other.loads)} for other in streams]
            most = [max(r for r, links in zip(rates, crossed, strict=True) if link in links) for link in full]
            assert any(rate >= other * (1 - 1e-6) for other in most)


def test_neighbors_slow_each_other_by_hand():
    """One X link of 9.375 GB/s. A and B put twice and once their rate on it: 3 r = 9.375, 3.125 each. C has another
    link.
    """
    one, other = ((0, 0, 0), (1, 0, 0)), ((5, 0, 0), (6, 0, 0))
    a, b, c = (Stream(LINKS.of_messages({pair: count}), 1.0, 6.0) for pair, count in ((one, 2), (one, 1), (other, 1)))
    assert fair_rates(LINKS, [a, b, c], injection_gb_s=6.0) == pytest.approx([3.125, 3.125, 6.0])
    # If B wants only 1, A gets the rest: 8.375 / 2. And no job sends more than its node can.
    assert fair_rates(LINKS, [a, b._replace(wants_gb_s=1.0)], injection_gb_s=6.0) == pytest.approx([4.1875, 1.0])
    assert fair_rates(LINKS, [c._replace(wants_gb_s=99.0)], injection_gb_s=2.5) == [2.5]
    with pytest.raises(ValueError, match="injection_gb_s=0 must be above 0"):
        fair_rates(LINKS, [c], injection_gb_s=0)


def test_replies_do_not_meet():
    """Full duplex: two jobs that send in opposite directions over one link both get all of it."""
    up, down = (
        Stream(LINKS.of_messages({pair: 2}), 1.0, 6.0) for pair in (((0, 0, 0), (1, 0, 0)), ((1, 0, 0), (0, 0, 0)))
    )
    assert fair_rates(LINKS, [up, down], injection_gb_s=6.0) == pytest.approx([4.6875, 4.6875])


@pytest.mark.parametrize(("nodes", "axes", "strides"), [(8, 3, 3), (27, 3, 3), (342, 2, 2), (3, 3, 1), (2, 1, 1)])
def test_a_node_of_a_stencil_talks_to_two_neighbors_an_axis(nodes, axes, strides):
    places = [(number // 192, number // 24 % 8, number % 24) for number in range(nodes)]
    assert stencil(LINKS, places, axes, 1.0).sends == 2 * strides


def test_streams_follow_the_mix():
    places, routers = [(0, 0, z) for z in range(4)], {(3, 3, 3): 2}
    grid = streams_of(LINKS, places, Habit(1.0, 1, 0.5, 0.5), Mix(0.2, 0.1), routers=routers)
    everybody = streams_of(LINKS, places, Habit(1.0, 1, 0.1, 0.05), Mix(0.2, 0.1, 2.0), routers=routers, write_gb_s=0.3)
    assert [(one.sends, one.wants_gb_s, one.writes) for one in grid] == [(2.0, 1.0, False)]
    assert [(one.sends, one.wants_gb_s, one.writes) for one in everybody] == [(4.0, 2.0, False), (2.0, 0.3, True)]
    # A job on one node sends no messages, but may write a file.
    assert [
        one.writes for one in streams_of(LINKS, places[:1], Habit(1.0, 3, 0.1, 0.0), Mix(1.0, 1.0), routers=routers)
    ] == [True]


def test_what_is_drawn_has_the_shares_that_are_stated():
    rng = random.Random(3)
    habits = [draw_habit(rng) for _ in range(4000)]
    for axes, share in STENCILS:
        assert sum(habit.dimensions == axes for habit in habits) / 4000 == pytest.approx(share, abs=0.03)
    mix = MIXES["assumed"]
    assert sum(habit.pattern < mix.all_to_all for habit in habits) / 4000 == pytest.approx(0.2, abs=0.03)
    # Equal steps: the mean is the trapezoid sum.
    assert sum(RATES_GB_S[1:-1]) / 10 + (RATES_GB_S[0] + RATES_GB_S[-1]) / 20 == pytest.approx(0.477)


def test_an_all_reduce_by_hand():
    """Eight nodes: three levels up and three down, each 1.6 us, twice 0.5 us, and two hops more of 0.1 us: 16.8 us."""
    assert all_reduce_s(8, 3.0, latency_us=1.6) == pytest.approx(16.8e-6)
    assert all_reduce_s(1, 0.0, latency_us=1.6) == 0.0
    with pytest.raises(ValueError, match="nodes=0"):
        all_reduce_s(0, 1.0, latency_us=1.6)
