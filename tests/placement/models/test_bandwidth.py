"""Memory bandwidth: the contention formula, the spill."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.placement.models.bandwidth import (
    slowdown,
    spill,
    write_allocate_gain,
)

fractions = st.floats(0, 1)
ratios = st.floats(1.01, 20)


def test_slowdown_is_defined_on_the_spread_run():
    # Spread: 40 s of compute and 60 s of waiting. Packed, the waiting takes 1.5 times as long: 40 + 90 = 130 s.
    assert slowdown(0.6, 1.5) == pytest.approx(130 / 100)
    assert slowdown(0, 1.5) == 1
    assert slowdown(1, 1.5) == 1.5


def test_write_allocate_gain_by_hand():
    # TRIAD moves two arrays in and one out, and reads the third as well: 4 words for 3 that count.
    assert write_allocate_gain(2, 1) == pytest.approx(1 / 3)
    # Of 100 s a loop waits for 60; a quarter of these, 15 s, goes: 100 / 85.
    assert write_allocate_gain(2, 1, 0.6) == pytest.approx(100 / 85 - 1)
    # A loop that only fills an array halves what it moves.
    assert write_allocate_gain(0, 1) == pytest.approx(1.0)
    assert write_allocate_gain(5, 2, 0.0) == 0.0


@given(fractions, fractions, ratios)
def test_slowdown_grows_with_the_fraction(one, other, ratio):
    low, high = sorted((one, other))
    assert 1 <= slowdown(low, ratio) <= slowdown(high, ratio) <= ratio * (1 + 1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: slowdown(1.2, 2), "memory_bound_fraction=1.2 must be from 0 to 1"),
        (lambda: slowdown(float("nan"), 2), "memory_bound_fraction=nan must be from 0 to 1"),
        (lambda: slowdown(0.5, 0), "ratio=0 must be above 0"),
        (lambda: spill([1, -1], 8), "need_gb=[1, -1] must hold no value below 0"),
        (lambda: spill([1], 0), "room_gb=0 must be above 0"),
    ],
)
def test_quantities_out_of_bounds_are_named(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert text in str(error.value)


def test_vasp_memory_spills_to_the_idle_numa_nodes():
    # 6 x 2.58 = 15.48 GB wanted on NUMA nodes 0 and 1; 7.75 each stay, 7.73 each go to the other two.
    gone = spill([15.48, 15.48, 0, 0], 7.75)
    assert gone.remote_gb == pytest.approx((7.73, 7.73, 0, 0))
    assert gone.taken_gb == pytest.approx((0, 0, 7.73, 7.73))
    assert gone.missing_gb == 0
    # 15.46 of 30.96 GB.
    assert gone.remote_fraction == pytest.approx(0.4994, abs=5e-5)


def test_memory_that_fits_nowhere_is_missing():
    # 40 GB on a node of 4 x 7.75 = 31 GB: 9 GB are missing.
    gone = spill([20, 20, 0, 0], 7.75)
    assert gone.missing_gb == pytest.approx(9)
    assert sum(gone.remote_gb) == pytest.approx(15.5)


def test_spill_goes_where_there_is_room():
    # 4 GB too many; 6 and 2 GB free elsewhere take 3 and 1.
    gone = spill([12, 2, 6], 8)
    assert gone.taken_gb == pytest.approx((0, 3, 1))


@given(st.lists(st.floats(0, 50), min_size=1, max_size=8), st.floats(0.1, 30))
def test_spill_loses_no_memory(need, room):
    gone = spill(need, room)
    held = [min(want, room) + taken for want, taken in zip(gone.need_gb, gone.taken_gb, strict=True)]
    assert sum(held) + gone.missing_gb == pytest.approx(sum(need), abs=1e-6)
    assert all(part <= room * (1 + 1e-9) for part in held)
    assert sum(gone.remote_gb) == pytest.approx(sum(gone.taken_gb), abs=1e-6)
    assert 0 <= gone.remote_fraction <= 1
