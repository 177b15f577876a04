"""Barriers, other jobs and the closing of a file: hand-derived cases, and limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.lustre.dumps import (
    barrier_rate_gb_s,
    close_cost_s,
    gain_without_close,
    rate_with_other_jobs_gb_s,
)

fractions = st.floats(min_value=0, max_value=1)


def test_barriers_by_hand():
    # 70 GB at 7 GB/s take 10 s; 4 barriers of 2.5 s double that
    assert barrier_rate_gb_s(70, peak_gb_s=7, variables=4, spread_s=2.5) == 3.5
    assert barrier_rate_gb_s(70, peak_gb_s=7, variables=4, spread_s=0) == 7


@given(fractions, fractions)
def test_others_take_at_most_what_they_want(own, demand):
    rate = rate_with_other_jobs_gb_s(30, machine_fraction=own, others_demand=demand)
    assert 30 * (1 - demand) - 1e-9 <= rate <= 30
    assert rate_with_other_jobs_gb_s(30, machine_fraction=1, others_demand=demand) == 30


@given(st.floats(min_value=1, max_value=10), st.floats(min_value=0.1, max_value=100))
def test_the_cost_of_closing_gives_back_its_gain(gain, rate):
    cost = close_cost_s(gain, rate, size_per_process_gb=0.032)
    assert gain_without_close(rate, size_per_process_gb=0.032, close_s=cost) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: barrier_rate_gb_s(0, peak_gb_s=1, variables=1, spread_s=0), "size_gb=0"),
        (lambda: barrier_rate_gb_s(1, peak_gb_s=1, variables=1, spread_s=-1), "spread_s=-1 must not be negative"),
        (
            lambda: rate_with_other_jobs_gb_s(1, machine_fraction=2, others_demand=0),
            "machine_fraction=2 must be from 0 to 1",
        ),
        (lambda: gain_without_close(0, size_per_process_gb=1, close_s=0), "rate_gb_s=0"),
        (lambda: close_cost_s(0.5, 1, size_per_process_gb=1), "gain=0.5 must be at least 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
