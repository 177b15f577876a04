"""The fullest OST without drawing: against all deals of a toy, and against seeded draws."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, count, pairwise, product, takewhile
from math import comb, exp, lgamma, log
from statistics import mean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperlib.storage.lustre.imbalance import chance_of_at_most, expected_fullest
from hopperlib.storage.lustre.osts import deal_objects


def exact_chance(most, objects, osts):
    """The share of deals without an OST above `most`, counted in integers.

    Of the deals of one object less, each grows into as many as there are OSTs;
    those go wrong in which the new object meets an OST that holds `most`
    already, which any `most` of the objects may be, beside a good deal of the
    others on the other OSTs.
    """
    # With so few OSTs fewer objects are left than none: their counts are never read.
    first = max(0, osts - objects // (most + 1) - 1)
    counts = [first**dealt for dealt in range(objects + 1)]
    for used in range(first + 1, osts + 1):
        fewer, counts = counts, [1]
        for dealt in range(objects):
            wrong = comb(dealt, most) * fewer[dealt - most] if dealt >= most else 0
            counts.append(used * (counts[-1] - wrong))
    return Fraction(counts[objects], osts**objects)


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


@example(objects=43, osts=2, most=43)
@example(objects=59, osts=2, most=43)
@example(objects=100, osts=1000, most=2)
@given(st.integers(1, 160), st.integers(1, 1000), st.integers(0, 160))
def test_chances_are_exact(objects, osts, most):
    assert chance_of_at_most(most, objects, osts) == pytest.approx(float(exact_chance(most, objects, osts)), abs=1e-12)


@pytest.mark.parametrize(("objects", "osts"), [(600, 2), (600, 24), (400, 156), (600, 1000)])
def test_chances_of_many_objects_are_exact(objects, osts):
    share = objects // osts
    for most in range(share, share + 60, 3):
        expected = float(exact_chance(most, objects, osts))
        assert chance_of_at_most(most, objects, osts) == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("osts", [2, 3, 10, 48, 156, 1000])
@pytest.mark.parametrize("files", [1, 2, 7, 30, 100, 101, 200, 600])
def test_the_fullest_of_files_with_one_stripe(files, osts):
    chances = (chance_of_at_most(most, files, osts) for most in count())
    exact = sum(1 - chance for chance in takewhile(lambda chance: chance < 1 - 1e-9, chances))
    # Up to a hundred files the answer is exact, beyond it is near.
    assert expected_fullest(files, 1, osts) == pytest.approx(exact, rel=1e-8 if files <= 100 else 5e-3)


@pytest.mark.parametrize(("files", "stripes", "osts"), [(2, 2, 5), (3, 2, 5), (3, 3, 5), (4, 2, 4), (4, 3, 5)])
def test_the_fullest_of_all_deals_of_striped_files(files, stripes, osts):
    deals = product(combinations(range(osts), stripes), repeat=files)
    exact = mean(max(Counter(ost for file in deal for ost in file).values()) for deal in deals)
    assert expected_fullest(files, stripes, osts) == pytest.approx(exact, rel=0.04)


@pytest.mark.parametrize("osts", [10, 48, 156, 1000])
@pytest.mark.parametrize("stripes", [2, 4, 9])
def test_the_fullest_of_two_striped_files(stripes, osts):
    # One object each where the files are apart, two where they meet.
    apart = Fraction(comb(osts - stripes, stripes), comb(osts, stripes))
    assert expected_fullest(2, stripes, osts) == pytest.approx(float(2 - apart), rel=0.025)


@pytest.mark.parametrize("files", [5_000, 100_000, 1_000_000])
def test_the_fuller_of_two_osts(files):
    # Half of the files and half of the mean distance from it: files / 2 (1 + C(files, files / 2) / 2^files).
    middle = exp(lgamma(files + 1) - 2 * lgamma(files / 2 + 1) - files * log(2))
    assert expected_fullest(files, 1, 2) == pytest.approx(files / 2 * (1 + middle), rel=1e-5)


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
        (lambda: expected_fullest(0, 1, 1), "files=0 must be at least 1"),
        (lambda: expected_fullest(1, 3, 2), "stripe_count=3 from 1 to 2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
