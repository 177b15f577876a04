"""The fullest OST without drawing: against all deals of a toy, and against seeded draws."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.lustre.imbalance import chance_of_at_most, expected_fullest, mean_of_largest_normal
from hopperlib.storage.lustre.osts import deal_objects


@pytest.mark.parametrize(("objects", "osts"), [(1, 1), (3, 2), (5, 3), (6, 4)])
def test_chances_are_those_of_all_deals(objects, osts):
    fullest = [max(Counter(deal).values()) for deal in product(range(osts), repeat=objects)]
    for most in range(objects + 1):
        expected = sum(one <= most for one in fullest) / len(fullest)
        assert chance_of_at_most(most, objects, osts) == pytest.approx(expected, abs=1e-12)
    assert expected_fullest(objects, 1, osts) == pytest.approx(mean(fullest))


def test_all_on_different_osts_is_the_birthday_question():
    # 23 people, 365 days: all apart with a chance of 0.4927
    assert chance_of_at_most(1, 23, 365) == pytest.approx(0.4927, abs=5e-5)


@given(st.integers(min_value=1, max_value=60), st.integers(min_value=1, max_value=40))
def test_chances_grow_to_one(objects, osts):
    chances = [chance_of_at_most(most, objects, osts) for most in range(objects + 1)]
    assert all(b >= a - 1e-9 for a, b in pairwise(chances))
    assert chances[-1] == 1


def test_largest_of_normal_values():
    # of one 0; of two 1/sqrt(pi); of three 3/(2 sqrt(pi))
    assert mean_of_largest_normal(1) == pytest.approx(0, abs=1e-9)
    assert mean_of_largest_normal(2) == pytest.approx(0.5641896, abs=1e-6)
    assert mean_of_largest_normal(3) == pytest.approx(0.8462844, abs=1e-6)


# Standard errors of these draws are below 0.2 objects, and for 20,000 files 1.
@pytest.mark.parametrize(
    ("files", "count", "osts", "draws", "off"),
    [
        (30, 1, 10, 1000, 0.2),
        (400, 1, 156, 500, 0.3),
        (1560, 1, 156, 300, 0.5),
        (240, 2, 156, 500, 0.4),
        (20_000, 2, 156, 60, 3),
    ],
)
def test_agrees_with_draws(files, count, osts, draws, off):
    rng = random.Random(7)
    drawn = mean(max(deal_objects(files, count, osts, allocator="random", rng=rng)) for _ in range(draws))
    assert expected_fullest(files, count, osts) == pytest.approx(drawn, abs=off)


def test_limits():
    assert expected_fullest(50, 4, 4) == 50
    assert expected_fullest(50, 1, 1) == 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chance_of_at_most(-1, 1, 1), "most=-1"),
        (lambda: chance_of_at_most(1, 1, 0), "osts=0 at least 1"),
        (lambda: mean_of_largest_normal(0), "count=0 must be at least 1"),
        (lambda: expected_fullest(0, 1, 1), "files=0 must be at least 1"),
        (lambda: expected_fullest(1, 3, 2), "stripe_count=3 from 1 to 2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
