"""Cores left free: where they begin to pay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.placement.models.free_cores import break_even_service, run_time_with_free_cores


def test_four_cores_of_twenty_four():
    # 24 tasks' work on 20 cores takes 1.2 times as long; all wait for 0.2 if it lands on a busy core.
    assert break_even_service(24, 4) == pytest.approx(0.2)
    assert run_time_with_free_cores(24, 4, 0.2) == pytest.approx(run_time_with_free_cores(24, 0, 0.2))


def test_free_cores_can_be_too_few():
    # Work of six cores on four free ones: 1.5, more than the tasks' own 1.2.
    assert run_time_with_free_cores(24, 4, 6.0) == 1.5


@given(st.integers(2, 256), st.data())
def test_free_cores_pay_above_the_break_even_and_only_there(cores, data):
    free = data.draw(st.integers(1, cores - 1))
    share = break_even_service(cores, free)
    assert run_time_with_free_cores(cores, free, 0.99 * share) > run_time_with_free_cores(cores, 0, 0.99 * share)
    for service in (1.01 * share, 10 * share, 1_000 * share):
        assert run_time_with_free_cores(cores, free, service) < run_time_with_free_cores(cores, 0, service)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run_time_with_free_cores(0, 0, 0.1), "cores=0 must be at least 1"),
        (lambda: run_time_with_free_cores(24, 24, 0.1), "free=24 must be from 0 to 23: one core of the node must work"),
        (lambda: run_time_with_free_cores(24, -1, 0.1), "free=-1 must be from 0 to 23"),
        (lambda: run_time_with_free_cores(24, 4, -0.1), "service=-0.1 must not be negative"),
        (lambda: break_even_service(24, 0), "free=0 must be at least 1: with none there is nothing to compare"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
