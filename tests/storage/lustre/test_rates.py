"""Writes to Lustre: ceilings and costs by hand, pieces against a toy, laws."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.contention.ceilings import ceiling
from hopperlib.machine import Machine
from hopperlib.storage.lustre.node_rates import node_rate_gb_s
from hopperlib.storage.lustre.rates import Costs, Pace, Writing, estimate, pieces_per_call
from hopperlib.storage.lustre.striping import Layout

HOPPER = Machine.load("hopper").file_systems[0]
TOY = Machine.load("toy").file_systems[0]
FREE = Costs(creates_per_s=math.inf, call_s=0, lock_s=0, object_s=0, request_s=0)
UNIT = 65_536


def _layout(count, size=1 << 20, system=HOPPER):
    return Layout(stripe_count=count, stripe_size_bytes=size, osts=system.osts)


@given(st.integers(min_value=1, max_value=50), st.integers(min_value=1, max_value=50))
def test_pieces_are_those_of_a_toy(block, stripe):
    # Blocks and stripes of a few bytes: cut a file of whole blocks and whole stripes wherever either ends.
    size = block * stripe
    cuts = {*range(block, size + 1, block), *range(stripe, size + 1, stripe)}
    assert size / block * pieces_per_call(block, stripe) == pytest.approx(len(cuts))


def test_far_from_all_others_the_lowest_ceiling_sets_the_rate():
    # Two OSTs of 35/156 GB/s; a thousand nodes could pass on 787, to one file.
    two = estimate(Writing(size_bytes=10**12, writers=24_000, nodes=1000), _layout(2), HOPPER, costs=FREE)
    assert (two.limit, two.rate_gb_s) == ("osts", pytest.approx(70 / 156, rel=1e-5))
    whole = replace(HOPPER, useful_stripe_count=None)
    everything = estimate(Writing(size_bytes=156 << 30, writers=24_000, nodes=1000), _layout(156), whole, costs=FREE)
    assert everything.rate_gb_s == pytest.approx(35, rel=1e-3)


def test_where_two_ceilings_meet_a_quarter_is_lost():
    # Ten nodes that write files of their own at 1.7 GB/s each, and a file system of 17: (17^-p + 17^-p (1 -
    # 10^-p))^(-1/p)
    system = replace(HOPPER, peak_gb_s=17.0)
    own = Writing(size_bytes=10**12, writers=240, nodes=10, pattern="file-per-process")
    result = estimate(own, _layout(156), system, costs=FREE)
    full = node_rate_gb_s(24, 3.7, 1.7)
    assert full == pytest.approx(1.7)
    assert result.rate_gb_s == pytest.approx(17 * (2 - 10**-2.5) ** (-1 / 2.5), rel=1e-6)


def test_one_node_writes_one_file_at_what_was_measured():
    one_node = estimate(Writing(size_bytes=10**12, writers=24, nodes=1), _layout(156), HOPPER, costs=FREE)
    assert (one_node.limit, one_node.rate_gb_s) == ("one file", pytest.approx(0.787, abs=5e-4))
    # One file per task has no such ceiling.
    own = Writing(size_bytes=10**12, writers=24, nodes=1, pattern="file-per-process")
    assert estimate(own, _layout(1), HOPPER, costs=FREE).limit == "clients"
    stated = replace(HOPPER, one_file_write_ceiling_gb_s=1.2)
    result = estimate(Writing(size_bytes=10**12, writers=24, nodes=1), _layout(156), stated, costs=FREE)
    assert result.rate_gb_s == pytest.approx(1.2)


# Measured write rates of one node to one file, with all its tasks or with one. [GB/s]
ONE_NODE = {
    "ARCHER": (24, 0.617), "CSD3": (32, 0.606), "Cirrus": (36, 0.584), "Thomas": (24, 0.648),
    "Dell EE for Lustre": (1, 0.948), "h5py user": (32, 0.868),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_NODE)
@pytest.mark.parametrize("pattern", ["shared", "collective"])
def test_one_node_in_one_file_within_a_factor_of_two_of_public_systems(name, pattern):
    """Each system left out of the mean, for any stripes; many fast OSTs, a node of 10 GB/s."""
    tasks, measured = ONE_NODE[name]
    left_out = ceiling("client-shared-write", "lustre", without=[name]).usual
    system = replace(
        HOPPER, osts=64, osts_per_oss=1, peak_gb_s=128.0, max_stripe_count=64, node_write_ceiling_gb_s=10.4,
        useful_stripe_count=None, one_file_write_ceiling_gb_s=left_out,
    )  # fmt: skip
    writing = Writing(size_bytes=10**11, writers=tasks, nodes=1, pattern=pattern)
    for stripes in (1, 8, 64):
        rate = estimate(writing, _layout(stripes, system=system), system).rate_gb_s
        assert measured / 2 < rate < 2 * measured


def test_more_stripes_slow_one_node_a_little():
    # 64 objects of 4 ms each.
    rates = [estimate(Writing(size_bytes=10**10, writers=1, nodes=1), _layout(n), HOPPER).time_s for n in (8, 72)]
    assert rates[1] - rates[0] == pytest.approx(64 * 0.004)


def test_aggregators_are_the_clients():
    # One stripe and one aggregator, so one node, wherever the data are.
    writing = Writing(size_bytes=10**12, writers=24_000, nodes=1000, pattern="collective", aggregators=1)
    ceilings = estimate(writing, _layout(1), HOPPER, costs=FREE).ceilings_gb_s
    assert (ceilings["clients"], ceilings["one file"]) == pytest.approx((1.7, 0.787), abs=5e-4)


def test_one_task_passes_on_no_more_than_any_ever_did():
    # Without a machine file's value, a task writes 3.7 GB/s, and a Perlmutter node 25.
    fast = Machine.load("perlmutter").file_systems[0]
    one = estimate(
        Writing(size_bytes=10**13, writers=1, nodes=1, reading=True), _layout(100, system=fast), fast, costs=FREE
    )
    assert (one.limit, one.rate_gb_s) == ("tasks", pytest.approx(3.7, rel=1e-3))


def test_more_aggregators_than_stripes_where_one_each_is_too_slow():
    # An OST takes 5000 / 298 = 16.8 GB/s, a node 0.79 into one file: all ten nodes are used, by 16 tasks.
    fast = Machine.load("perlmutter").file_systems[0]
    writing = Writing(size_bytes=10**12, writers=640, nodes=10, pattern="collective")
    result = estimate(writing, _layout(1, 1 << 30, fast), fast)
    assert result.callers == 16
    assert result.locks_s == pytest.approx(10**12 / (1 << 30) * 0.002)
    reading = estimate(replace(writing, reading=True, aggregators=1), _layout(1, 1 << 30, fast), fast)
    assert (reading.callers, reading.limit, reading.locks_s) == (1, "tasks", 0)


def test_more_aggregators_are_taken_only_where_they_are_worth_it():
    """18,432 tasks of 1,536 nodes: one or two aggregators per stripe or node, though each more would add a little."""
    fast = Machine.load("perlmutter").file_systems[0]
    for reading in (False, True):
        writing = Writing(size_bytes=2 * 10**12, writers=18_432, nodes=1_536, pattern="collective", reading=reading)
        chosen = estimate(writing, _layout(150, 16 << 20, fast), fast)
        assert 150 <= chosen.callers <= 2 * 1_536
        wider = estimate(replace(writing, aggregators=3 * 1_536), _layout(150, 16 << 20, fast), fast)
        assert wider.time_s > 0.93 * chosen.time_s


def test_readers_request_locks():
    # 100 nodes request one lock from each object; the objects grant them in parallel.
    writing = Writing(size_bytes=10**12, writers=2400, nodes=100, reading=True)
    assert estimate(writing, _layout(8), HOPPER).locks_s == pytest.approx(100 * 1e-4)
    assert estimate(replace(writing, pattern="file-per-process"), _layout(1), HOPPER).locks_s == 0


def test_exchange_by_hand():
    # 1 GB through four aggregators at 4.6 GB/s each; 59.6 rounds of 4 MiB with 100 tasks of 40 ns.
    writing = Writing(size_bytes=10**9, writers=100, nodes=10, pattern="collective", aggregators=4)
    result = estimate(writing, _layout(4, 4 << 20), HOPPER, costs=FREE)
    assert result.exchange_s == pytest.approx(0.25 / 4.6 + 0.25e9 / (4 << 20) * 100 * 4e-8)
    assert result.time_s == pytest.approx(result.moving_s + result.exchange_s)
    assert estimate(replace(writing, pattern="shared"), _layout(4), HOPPER).exchange_s == 0


def test_servers_and_network_are_ceilings():
    limited = replace(HOPPER, server_write_ceiling_gb_s=0.5, network_gb_s=9.0)
    writing = Writing(size_bytes=10**12, writers=2400, nodes=100)
    # Four stripes lie on four servers; OSTs would take 4 x 35/156 = 0.897.
    assert estimate(writing, _layout(4), limited, costs=FREE).ceilings_gb_s["servers"] == 2
    assert estimate(writing, _layout(156), limited, costs=FREE).limit == "network"


def test_nothing_is_gained_beyond_what_was_measured():
    writing = Writing(size_bytes=156 << 36, writers=24_000, nodes=1000, pattern="collective")
    result = estimate(writing, _layout(156), HOPPER, costs=FREE)
    assert result.ceilings_gb_s["osts"] == pytest.approx(35 * 144 / 156)
    assert writing.size_bytes / 1e9 / result.moving_s == pytest.approx(35 * 144 / 156, rel=0.02)


def test_costs_by_hand():
    # 64 MiB in blocks of 1 MiB: 64 calls of 2 writers, 32 each; 64 aligned pieces over 4 objects take 16 locks one
    # after the other.
    costs = Costs(creates_per_s=1, call_s=0.01, lock_s=0.1, object_s=0.5)
    shared = estimate(Writing(size_bytes=64 << 20, writers=2, nodes=2), _layout(4), HOPPER, costs=costs)
    assert (shared.metadata_s, shared.calls_s, shared.locks_s) == pytest.approx((1 + 4 * 0.5, 0.32, 1.6))
    own = estimate(
        Writing(size_bytes=64 << 20, writers=2, nodes=2, pattern="file-per-process"), _layout(1), HOPPER, costs=costs
    )
    assert (own.metadata_s, own.locks_s) == (2 + 0.5, 0)
    assert own.time_s == pytest.approx(own.moving_s + own.metadata_s + own.calls_s)


@pytest.mark.parametrize(
    "change", [{"pattern": "collective", "aggregators": 4}, {"nodes": 1}, {"pattern": "file-per-process"}]
)
def test_no_lock_changes_hands(change):
    values = {"size_bytes": 1 << 30, "writers": 24, "nodes": 2} | change
    assert estimate(Writing(**values), _layout(4), HOPPER).locks_s == 0


def test_fullest_ost_of_many_files():
    # Round-robin: 20,000 files on 156 OSTs put 129 on the fullest, 128.2 on average
    writing = Writing(size_bytes=29_700 * 10**9, writers=20_000, nodes=5000, pattern="file-per-process")
    assert estimate(writing, _layout(1), HOPPER, costs=FREE).rate_gb_s == pytest.approx(
        35 * 20_000 / 156 / 129, rel=1e-4
    )


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
    """10 GB in stripes of 1 GiB are ten pieces."""
    system = Machine.load("hopper").file_systems[0]
    pace = Pace(Writing(size_bytes=10**10, writers=4096, nodes=512, pattern="collective"), system)
    assert 1 <= pace.estimate(100, stripe_mib << 20).callers <= pieces
