"""Cores left free: the point where they pay off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.placement.models.free_cores import break_even_service


def _run_time(cores: int, free: int, service: float) -> float:
    """Run time in units of the packed run's work: all tasks wait for the other work, or fewer cores do it all."""
    return max(cores / (cores - free), service / free) if free else 1 + service


@given(st.integers(2, 256), st.data())
def test_free_cores_pay_above_the_break_even_and_only_there(cores, data):
    free = data.draw(st.integers(1, cores - 1))
    share = break_even_service(cores, free)
    assert _run_time(cores, free, 0.99 * share) > _run_time(cores, 0, 0.99 * share)
    for service in (1.01 * share, 10 * share, 1_000 * share):
        assert _run_time(cores, free, service) < _run_time(cores, 0, service)


@pytest.mark.parametrize(
    ("cores", "free", "message"),
    [
        (1, 0, "cores=1 must be at least 2"),
        (24, 24, "free=24 must be from 1 to 23: one core"),
        (24, 0, "free=0 must be from 1"),
    ],
)
def test_refusals(cores, free, message):
    with pytest.raises(ValueError, match=message):
        break_even_service(cores, free)
