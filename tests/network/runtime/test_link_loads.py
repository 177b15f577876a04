"""Loads of directed links against a count of every route, link by link, on small tori."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.torus.distances import Torus

HOPPER = Machine.load("hopper")
assert HOPPER.network is not None


def links_of(sizes):
    return LinkMap(dataclasses.replace(HOPPER, network=dataclasses.replace(HOPPER.network, dimensions=sizes)))


TOY = (4, 3, 6)
MAPS = {sizes: links_of(sizes) for sizes in (TOY, (5, 2, 4), (1, 4, 3), (17, 8, 24))}
# Bandwidths by the printed rule, written out: X 75 Gb/s; Y 75 from an even y, else 37.5; Z 120, but 75 after slot 7.
GBITS = {0: lambda at: 75, 1: lambda at: 37.5 if at % 2 else 75, 2: lambda at: 75 if at % 8 == 7 else 120}


def steps(start, end, size):
    """The paths along a ring: (steps in order, share of the messages); two halves if both are equally short."""
    up, down = (end - start) % size, (start - end) % size
    ways = [(up, 1)] if up < down else [(down, -1)] if down < up else [(up, 1), (down, -1)]
    return [([(start + step * sign) % size for step in range(hops + 1)], sign, 1 / len(ways)) for hops, sign in ways]


def walk(a, b, sizes):
    """Every directed link of a message with its share, router by router: X, then Y, then Z."""
    here = list(a)
    for axis, size in enumerate(sizes):
        if here[axis] != b[axis]:
            for way, sign, share in steps(here[axis], b[axis], size):
                for left in way[:-1]:
                    router = [*here[:axis], left, *here[axis + 1 :]]
                    yield (axis, tuple(router), sign), share
        here[axis] = b[axis]


def counted(messages, sizes):
    loads = Counter()
    for (a, b), count in messages.items():
        for link, share in walk(a, b, sizes):
            loads[link] += count * share
    return loads


def found(links, loads):
    return {link: count for link, count, _ in links.each(loads)}


def routers(sizes):
    return [(x, y, z) for x in range(sizes[0]) for y in range(sizes[1]) for z in range(sizes[2])]


@pytest.mark.parametrize("sizes", [TOY, (5, 2, 4), (1, 4, 3)])
def test_all_pairs_of_a_toy_torus_both_ways(sizes):
    """Each pair of routers has a different number of messages, so no two routes can be confused."""
    everywhere = routers(sizes)
    messages = {(a, b): 1 + 7 * i + j for i, a in enumerate(everywhere) for j, b in enumerate(everywhere)}
    assert found(MAPS[sizes], MAPS[sizes].of_messages(messages)) == counted(messages, sizes)


PLACES = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), st.integers(1, 4), min_size=1, max_size=12
)


@given(PLACES, PLACES)
@example({(0, 0, 0): 1}, {(2, 0, 3): 1})
def test_everybody_to_everybody_without_looking_at_pairs(sources, sinks):
    messages = {(a, b): m * n for a, m in sources.items() for b, n in sinks.items()}
    assert found(MAPS[TOY], MAPS[TOY].between(sources, sinks)) == counted(messages, TOY)


@given(st.sampled_from(routers((17, 8, 24))), st.sampled_from(routers((17, 8, 24))))
def test_a_message_goes_as_far_as_the_routers_are_apart_and_its_reply_elsewhere(a, b):
    """Both cross as many links as there are hops; no link carries both, since they go in opposite directions."""
    links, hops = MAPS[17, 8, 24], Torus((17, 8, 24)).hops(a, b)
    there, back = (found(links, links.of_messages({pair: 1})) for pair in ((a, b), (b, a)))
    assert sum(there.values()) == sum(back.values()) == hops
    if all(2 * abs(x - y) != size for x, y, size in zip(a, b, (17, 8, 24), strict=True)):
        assert not there.keys() & back.keys()


def test_a_link_is_as_fast_downwards_as_upwards():
    links = MAPS[17, 8, 24]
    everywhere = routers((17, 8, 24))
    messages = {}
    for axis in range(3):
        for here in everywhere:
            ahead = list(here)
            ahead[axis] = (here[axis] + 1) % (17, 8, 24)[axis]
            messages[here, tuple(ahead)] = messages[tuple(ahead), here] = 1
    each = {link: capacity for link, _, capacity in links.each(links.of_messages(messages))}
    assert len(each) == 6 * 3264
    for (axis, router, sign), capacity in each.items():
        lower = router[axis] if sign == 1 else (router[axis] - 1) % (17, 8, 24)[axis]
        assert capacity == GBITS[axis](lower) / 8


def test_a_machine_without_a_torus_is_refused():
    with pytest.raises(ValueError, match="states no torus dimensions"):
        LinkMap(Machine.load("bassi"))
