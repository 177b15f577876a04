"""Ranges fitted to runs: synthetic populations with a known truth, and each error."""

from __future__ import annotations

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io500_rates import fit_relation
from hopperkit.filesystems.measured import (
    CREATES_PER_S,
    LOCK_S,
    ONE_FOLDER,
    Measurement,
    SiteRates,
    fit_rates,
    lock_cost_s,
    spread,
    time_range_s,
)
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.storage.lustre.rates import Writing

SCRATCH = Machine.load("perlmutter").file_systems[0]


def _population(rng, systems, noise):
    return [(x, 1000 * x**0.6 * 10 ** rng.gauss(0, noise)) for x in (10 ** rng.uniform(0, 3) for _ in range(systems))]


@pytest.mark.nightly
def test_stated_ranges_hold_nine_in_ten_of_those_held_out():
    """Half of 90 synthetic systems predicts the other half, 30 times: 85 to 95 % are within the range."""
    rng = random.Random(1)
    held = []
    for _ in range(30):
        systems = _population(rng, 90, 0.4)
        line = fit_relation(systems[:45])
        held += [line.predict(x).low <= y <= line.predict(x).high for x, y in systems[45:]]
    assert 0.85 <= sum(held) / len(held) <= 0.95


def test_a_result_out_of_a_cache_does_not_turn_the_line():
    rng = random.Random(2)
    systems = _population(rng, 60, 0.1)
    cached = [(x * 1000, y / 100) for x, y in systems[:4]]
    assert fit_relation(systems + cached).slope == pytest.approx(fit_relation(systems).slope, abs=0.05)


def test_the_public_line_agrees_with_the_public_median():
    # The median write rate of the 95 results is 73.6 GiB/s; with each system once the line lies a little lower.
    assert ONE_FOLDER.predict(73.6).usual == pytest.approx(CREATES_PER_S.usual, rel=0.12)


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=80))
def test_a_spread_lies_within_its_values(values):
    low, usual, high = spread(values)
    assert min(values) <= low <= usual <= high <= max(values)
    assert usual == median(values)


def test_one_run_is_widened_and_five_tell_their_own_spread():
    one = fit_rates([Measurement("write", 34.0, 10), Measurement("creates", 1000.0)])
    # 30 of 170 GiB/s is what ARCHER2's lower quartile is of its best: 34 * 30 / 170 = 6.
    assert one.write_gb_s.low == pytest.approx(6.0)
    assert (one.write_gb_s.high, one.node_gb_s.high) == (34.0, 3.4)
    assert one.creates_per_s == (250.0, 1000.0, 4000.0)
    five = fit_rates([Measurement("write", float(rate)) for rate in (10, 11, 12, 13, 14)])
    assert five.write_gb_s == (10, 12, 14)
    assert five.node_gb_s is None
    # Unmeasured creation rates follow from the best write rate.
    assert five.creates_per_s == ONE_FOLDER.predict(14e9 / 2**30)


def test_what_was_measured_narrows_the_time():
    writing = Writing(size_bytes=10**12, writers=10_000, nodes=100, pattern="file-per-process")
    far = time_range_s(writing, 1, 1 << 20, SCRATCH)
    measured = fit_rates([Measurement("write", rate) for rate in (3000.0, 3500.0, 4000.0, 4500.0, 5000.0)])
    near = time_range_s(writing, 1, 1 << 20, SCRATCH, rates=measured)
    assert near.low <= near.usual == far.usual <= near.high < far.high


def test_the_range_of_a_lock_reaches_the_time():
    # One object, 16 writers on two nodes, blocks of 1 MiB: a lock per block.
    writing = Writing(size_bytes=100 << 20, writers=16, nodes=2)
    low, usual, high = time_range_s(writing, 1, 1 << 20, SCRATCH)
    assert usual > 100 * LOCK_S.usual > low > 100 * LOCK_S.low
    assert high > 100 * LOCK_S.high


def test_a_lock_by_hand():
    # 47,008 bytes, cut every 32 bytes by stripes of 1 MiB, touch 1 + 46,976 / 2**20 = 1.0448 objects: 0.9 s more a GiB
    # over 22,842 blocks and 4 objects.
    assert lock_cost_s(10.0, 1.0, 4) == pytest.approx(0.9 / 2**30 * 47_008 / 1.0448 * 4, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_rates([]), "contains no rate that describes the file system"),
        (lambda: fit_rates([Measurement("creates", 0.0)]), "creates=0.0 must be above 0"),
        (lambda: lock_cost_s(1.0, 2.0, 4), "small_gib_s=2 must be above 0 and below large_gib_s=1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
    assert SiteRates().runs == {}
