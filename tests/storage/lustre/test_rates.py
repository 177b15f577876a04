"""Writes to Lustre: ceilings and costs by hand, pieces against a toy, laws."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.storage.lustre.rates import (
    Costs,
    Pace,
    Writing,
    block_access_time_s,
    estimate,
    pieces_per_call,
)
from hopperlib.storage.lustre.striping import Layout

HOPPER = Machine.load("hopper").file_systems[0]
TOY = Machine.load("toy").file_systems[0]
FREE = Costs(creates_per_s=math.inf, call_s=0, lock_s=0, object_s=0)
UNIT = 65_536


def _layout(count, size=1 << 20, system=HOPPER):
    return Layout(stripe_count=count, stripe_size_bytes=size, osts=system.osts)


@given(st.integers(min_value=1, max_value=50), st.integers(min_value=1, max_value=50))
def test_pieces_are_those_of_a_toy(block, stripe):
    # Blocks and stripes of a few bytes: cut a file of whole blocks and whole stripes wherever either ends.
    size = block * stripe
    cuts = {*range(block, size + 1, block), *range(stripe, size + 1, stripe)}
    assert size / block * pieces_per_call(block, stripe) == pytest.approx(len(cuts))


def test_the_lowest_ceiling_sets_the_rate():
    # Two OSTs of 35/156 GB/s; ten nodes could pass on 17
    two = estimate(Writing(size_bytes=10**12, writers=240, nodes=10), _layout(2), HOPPER, costs=FREE)
    assert (two.limit, two.rate_gb_s) == ("osts", pytest.approx(70 / 156, rel=1e-5))
    one_node = estimate(Writing(size_bytes=10**12, writers=24, nodes=1), _layout(156), HOPPER, costs=FREE)
    assert (one_node.limit, one_node.rate_gb_s) == ("clients", pytest.approx(1.7))
    whole = replace(HOPPER, useful_stripe_count=None)
    everything = estimate(Writing(size_bytes=156 << 30, writers=24_000, nodes=1000), _layout(156), whole, costs=FREE)
    assert everything.rate_gb_s == pytest.approx(35)


def test_aggregators_are_the_clients():
    # One stripe, so one aggregator on one node, whoever holds the data.
    writing = Writing(size_bytes=10**12, writers=24_000, nodes=1000, pattern="collective")
    assert estimate(writing, _layout(1), HOPPER, costs=FREE).ceilings_gb_s["clients"] == pytest.approx(1.7)


def test_one_task_passes_on_no_more_than_any_ever_did():
    # No machine file says what a task can: 3.7 GB/s, and a node of Perlmutter 25.
    fast = Machine.load("perlmutter").file_systems[0]
    one = estimate(Writing(size_bytes=10**13, writers=1, nodes=1), _layout(100, system=fast), fast, costs=FREE)
    assert (one.limit, one.rate_gb_s) == ("tasks", pytest.approx(3.7))


def test_more_aggregators_than_stripes_where_one_each_is_too_slow():
    # An OST takes 5000 / 298 = 16.8 GB/s, a task 3.7: five aggregators for one stripe, whole stripes change hands.
    fast = Machine.load("perlmutter").file_systems[0]
    writing = Writing(size_bytes=10**12, writers=640, nodes=10, pattern="collective")
    result = estimate(writing, _layout(1, 1 << 30, fast), fast)
    assert result.callers == 5
    assert result.locks_s == pytest.approx(10**12 / (1 << 30) * 0.002)
    reading = estimate(replace(writing, reading=True, aggregators=1), _layout(1, 1 << 30, fast), fast)
    assert (reading.callers, reading.limit, reading.locks_s) == (1, "tasks", 0)


def test_servers_and_network_are_ceilings():
    limited = replace(HOPPER, server_write_ceiling_gb_s=0.5, network_gb_s=9.0)
    writing = Writing(size_bytes=10**12, writers=2400, nodes=100)
    # Four stripes lie on four servers; OSTs would take 4 x 35/156 = 0.897.
    assert estimate(writing, _layout(4), limited, costs=FREE).ceilings_gb_s["servers"] == 2
    assert estimate(writing, _layout(156), limited, costs=FREE).limit == "network"


def test_nothing_is_gained_beyond_what_was_measured():
    writing = Writing(size_bytes=156 << 36, writers=24_000, nodes=1000, pattern="collective")
    assert estimate(writing, _layout(156), HOPPER, costs=FREE).rate_gb_s == pytest.approx(35 * 144 / 156)


def test_costs_by_hand():
    # 64 MiB in blocks of 1 MiB: 64 calls of 2 writers, 32 each; 64 aligned pieces over 4 objects take 16 locks one after the other.
    costs = Costs(creates_per_s=1, call_s=0.01, lock_s=0.1, object_s=0.5)
    shared = estimate(Writing(size_bytes=64 << 20, writers=2, nodes=2), _layout(4), HOPPER, costs=costs)
    assert (shared.metadata_s, shared.calls_s, shared.locks_s) == pytest.approx((1 + 4 * 0.5, 0.32, 1.6))
    own = estimate(
        Writing(size_bytes=64 << 20, writers=2, nodes=2, pattern="file-per-process"), _layout(1), HOPPER, costs=costs
    )
    assert (own.metadata_s, own.locks_s) == (2 + 0.5, 0)
    assert own.time_s == pytest.approx(own.moving_s + own.metadata_s + own.calls_s)


@pytest.mark.parametrize(
    "change", [{"pattern": "collective"}, {"reading": True}, {"nodes": 1}, {"pattern": "file-per-process"}]
)
def test_no_lock_changes_hands(change):
    values = {"size_bytes": 1 << 30, "writers": 24, "nodes": 2} | change
    assert estimate(Writing(**values), _layout(4), HOPPER).locks_s == 0


def test_fullest_ost_of_many_files():
    # Dealt round: 20,000 files on 156 OSTs put 129 on the fullest, 128.2 on average
    writing = Writing(size_bytes=29_700 * 10**9, writers=20_000, nodes=5000, pattern="file-per-process")
    assert estimate(writing, _layout(1), HOPPER, costs=FREE).rate_gb_s == pytest.approx(35 * 20_000 / 156 / 129)


writings = st.builds(
    lambda size, writers, nodes, pattern, block: Writing(
        size_bytes=size, writers=writers, nodes=min(nodes, writers), pattern=pattern, block_bytes=block
    ),
    st.integers(min_value=1, max_value=1 << 45),
    st.integers(min_value=1, max_value=300),
    st.integers(min_value=1, max_value=300),
    st.sampled_from(("shared", "collective", "file-per-process")),
    st.integers(min_value=1, max_value=1 << 28),
)


@given(writings, st.integers(min_value=1, max_value=12))
def test_no_ceiling_is_passed_and_costs_only_slow(writing, count):
    layout = _layout(count, UNIT, TOY)
    free = estimate(writing, layout, TOY, costs=FREE)
    real = estimate(writing, layout, TOY)
    assert free.rate_gb_s <= min(free.ceilings_gb_s.values()) * (1 + 1e-9)
    assert real.time_s >= free.time_s * (1 - 1e-9)
    assert real.rate_gb_s * real.time_s == pytest.approx(writing.size_bytes / 1e9)


def test_blocks_read_from_two_osts_and_from_all():
    # 1000 x 1 MB is 1 GB. Toy OSTs give 0.2 GB/s: 5 s; 12 of them 2.4 GB/s, 0.4167 s; 1 s of accesses each
    each = {"system": TOY, "tasks": 10, "nodes": 10, "access_s": 0.01}
    assert block_access_time_s(1000, 1e6, stripe_count=1, **each) == pytest.approx(6)
    assert block_access_time_s(1000, 1e6, stripe_count=12, **each) == pytest.approx(1 / 2.4 + 1)
    with pytest.raises(ValueError, match="stripe_count=16 must be from 1 to 15"):
        block_access_time_s(1000, 1e6, stripe_count=16, **each)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Costs(creates_per_s=0), "creates_per_s=0 must be above 0"),
        (lambda: Writing(size_bytes=1, writers=1, nodes=1, pattern="all"), "pattern='all' must be one of: shared"),
        (lambda: Writing(size_bytes=1, writers=1, nodes=2), "nodes=2 must be from 1 to 1, the writers"),
        (
            lambda: Writing(size_bytes=1, writers=2, nodes=1, aggregators=3),
            "aggregators=3 must be from 1 to 2, the writers",
        ),
        (lambda: Writing(size_bytes=0, writers=1, nodes=1), "size_bytes=0 must be at least 1"),
        (lambda: pieces_per_call(0, 1), "block_bytes=0"),
        (lambda: estimate(Writing(size_bytes=1, writers=1, nodes=1), _layout(1), TOY), "layout.osts=156 must be 15"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# A TiB over four stripes of 1 MiB, 2 ms a lock: 2**20 blocks of 1 MiB take one lock each, a quarter of them on each
# object; 1,024 blocks of 1 GiB take one on each of the four objects, over which it grows.
@pytest.mark.parametrize(("block", "locks_s"), [(1 << 20, (1 << 18) * 0.002), (1 << 30, 1024 * 0.002)])
def test_a_lock_grows_over_what_a_block_holds_of_an_object(block, locks_s):
    writing = Writing(size_bytes=1 << 40, writers=64, nodes=16, block_bytes=block)
    assert estimate(writing, _layout(4), HOPPER, costs=replace(FREE, lock_s=0.002)).locks_s == pytest.approx(locks_s)


@pytest.mark.parametrize(("stripe_mib", "pieces"), [(1024, 10), (64, 150), (1, 9537)])
def test_no_more_aggregators_than_pieces(stripe_mib, pieces):
    """10 GB in stripes of 1 GiB are ten pieces, whoever waits for one."""
    system = Machine.load("hopper").file_systems[0]
    pace = Pace(Writing(size_bytes=10**10, writers=4096, nodes=512, pattern="collective"), system)
    assert 1 <= pace.estimate(100, stripe_mib << 20).callers <= pieces
