"""The saturation law: hand-derived cases, limits, laws, and the public curves on which it was chosen."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.contention.saturation import (
    KINDS,
    NOMINAL_SHARPNESS,
    share_kept,
    soft_minimum,
    throughput,
    throughput_range,
    users_for_share,
)
from hopperlib.errors import InputError

RATES = st.floats(1e-6, 1e9)
USERS = st.floats(1, 1e6)
SHARPNESS = st.floats(0.5, 40)


def test_soft_minimum_by_hand():
    # (3^-2 + 4^-2)^(-1/2) = 12 / 5.
    assert soft_minimum(3, 4, sharpness=2) == pytest.approx(2.4)
    # p = 1: half the harmonic mean.
    assert soft_minimum(3, 6, sharpness=1) == pytest.approx(2)
    assert soft_minimum(0, 5) == 0
    assert soft_minimum(math.inf, 5) == 5


def test_throughput_by_hand():
    # The closed queue, P n / (n + P / one - 1): 10 x 4 / (4 + 10 / 2 - 1) = 5.
    assert throughput(4, 2, 10, sharpness=1) == pytest.approx(5)
    # p = 2, two users of 1 on a ceiling of 2: X^-2 = 1/4 + (1 - 1/4) / 4 = 7/16.
    assert throughput(2, 1, 2, sharpness=2) == pytest.approx(4 / math.sqrt(7))
    assert throughput(7, 12, 10) == 10


def test_two_classes_of_work_share_what_they_kept():
    # Two users keep 1/1.134 each, as in the case above.
    assert share_kept(2, 1, 2, sharpness=2) == pytest.approx(2 / math.sqrt(7))
    assert share_kept(1, 3, 10) == 1


@given(USERS, RATES, RATES, SHARPNESS)
def test_at_most_the_ceiling_and_at_most_the_demand(users, one, ceiling, sharpness):
    together = throughput(users, one, ceiling, sharpness=sharpness)
    assert 0 < together <= ceiling * (1 + 1e-9)
    assert together <= users * one * (1 + 1e-9) or one >= ceiling
    assert together >= min(one, ceiling) * (1 - 1e-9)


@given(RATES, RATES, SHARPNESS)
def test_one_alone_gets_what_was_measured(one, ceiling, sharpness):
    assert throughput(1, one, ceiling, sharpness=sharpness) == pytest.approx(min(one, ceiling))


@given(st.floats(1e-3, 1), SHARPNESS)
def test_many_reach_the_ceiling(one, sharpness):
    assert throughput(1e15, one, 1, sharpness=sharpness) == pytest.approx(1, rel=1e-3)


@given(USERS, RATES, RATES, SHARPNESS, st.floats(1, 10))
def test_rises_with_users_rates_and_ceiling(users, one, ceiling, sharpness, factor):
    together = throughput(users, one, ceiling, sharpness=sharpness) * (1 - 1e-9)
    assert throughput(users * factor, one, ceiling, sharpness=sharpness) >= together
    assert throughput(users, one * factor, ceiling, sharpness=sharpness) >= together
    assert throughput(users, one, ceiling * factor, sharpness=sharpness) >= together


@given(USERS, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_between_the_closed_queue_and_min(users, one, ceiling):
    queue, soft, hard = (throughput(users, one, ceiling, sharpness=p) for p in (1, 2.5, 400))
    assert queue <= soft * (1 + 1e-9)
    assert soft <= hard * (1 + 1e-9)
    assert hard == pytest.approx(min(users * one, ceiling), rel=0.01)


@given(USERS, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(users, one, ceiling, unit):
    assert throughput(users, one * unit, ceiling * unit) == pytest.approx(unit * throughput(users, one, ceiling))


@given(st.floats(0.01, 0.999), st.floats(0.001, 2), SHARPNESS)
def test_users_to_reach_is_the_inverse(share, one, sharpness):
    users = users_for_share(share, one, 1.0, sharpness=sharpness)
    reached = throughput(users, one, 1.0, sharpness=sharpness)
    assert reached >= share * (1 - 1e-9)
    if users > 1:
        assert reached == pytest.approx(share)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_law_and_stay_below_the_ceiling(kind):
    for users in (2, 10, 1000):
        usual, low, high = throughput_range(users, 1.0, 10.0, kind)
        assert low < usual <= high <= 10
        nominal = throughput_range(users, 1.0, 10.0, kind, nominal=True)
        assert nominal.usual == throughput(users, 1.0, 10.0, sharpness=NOMINAL_SHARPNESS) < usual
    # The throughput of one user was measured.
    assert throughput_range(1, 1.0, 10.0, kind) == (1.0, 1.0, 1.0)


def test_a_ceiling_of_a_data_sheet_bends_harmonically():
    # Sharpness 1: 1/X = 1/n + (1 - 1/n) / P; of ten users of 1 GB/s below 10 GB/s 1/X = 0.1 + 0.9 * 0.1 = 0.19.
    assert throughput_range(10, 1.0, 10.0, "memory", nominal=True).usual == pytest.approx(1 / 0.19)


def test_one_shared_file_may_lose_half_when_it_is_overloaded():
    busy, overloaded = (throughput_range(users, 1.0, 10.0, "shared-file") for users in (79, 81))
    assert overloaded.low / overloaded.usual < 0.5 < busy.low / busy.usual


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: throughput(0.5, 1, 1), "users=0.5 must be at least 1"),
        (lambda: throughput(1, 0, 1), "one=0 must be above 0"),
        (lambda: throughput(1, 1, -2), "ceiling=-2 must be above 0"),
        (lambda: soft_minimum(1, 1, sharpness=0), "sharpness=0 must be above 0"),
        (lambda: soft_minimum(-1, 1), "demand=-1 must not be negative"),
        (lambda: users_for_share(1.0, 1, 1), "share=1.0 must be below 1: a ceiling is only approached"),
        (lambda: throughput_range(1, 1, 1, "disk"), "kind='disk' must be one of: " + ", ".join(KINDS)),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value) == message
