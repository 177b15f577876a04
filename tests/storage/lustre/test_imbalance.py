"""Load of the fullest OST without sampling: against all placements of a toy, integer counts, and seeded samples."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, lgamma, log
from statistics import mean

import pytest

from hopperlib.storage.lustre.imbalance import expected_fullest
from hopperlib.storage.lustre.osts import place_objects


def exact_chance(most, objects, osts):
    """The share of placements without an OST above `most`, counted in integers.

    Each placement of one object less extends to as many placements as there are OSTs.
    It fails if the new object is placed on an OST that already
    holds `most`: any `most` of the objects, with a valid placement of the
    others on the other OSTs.
    """
    # With so few OSTs the number of remaining objects is negative: these counts are never read.
    first = max(0, osts - objects // (most + 1) - 1)
    counts = [first**dealt for dealt in range(objects + 1)]
    for used in range(first + 1, osts + 1):
        fewer, counts = counts, [1]
        for dealt in range(objects):
            wrong = comb(dealt, most) * fewer[dealt - most] if dealt >= most else 0
            counts.append(used * (counts[-1] - wrong))
    return Fraction(counts[objects], osts**objects)


@pytest.mark.parametrize("osts", [2, 10, 48, 156])
@pytest.mark.parametrize(("files", "within"), [(1, 1e-9), (2, 0.08), (7, 0.08), (30, 0.015), (100, 0.005)])
def test_the_fullest_of_files_with_one_stripe(files, osts, within):
    exact = sum(1 - exact_chance(most, files, osts) for most in range(files))
    assert expected_fullest(files, 1, osts) == pytest.approx(float(exact), rel=within)


@pytest.mark.parametrize(("files", "stripes", "osts"), [(2, 2, 5), (3, 3, 5), (4, 2, 4), (4, 3, 5)])
def test_the_fullest_of_all_deals_of_striped_files(files, stripes, osts):
    loads = [
        [sum(ost in file for file in deal) for ost in range(osts)]
        for deal in product(combinations(range(osts), stripes), repeat=files)
    ]
    assert expected_fullest(files, stripes, osts) == pytest.approx(mean(map(max, loads)), rel=0.04)


@pytest.mark.parametrize("files", [5_000, 1_000_000])
def test_the_fuller_of_two_osts(files):
    # Half of the files and half of the mean distance from it: files / 2 (1 + C(files, files / 2) / 2^files).
    middle = exp(lgamma(files + 1) - 2 * lgamma(files / 2 + 1) - files * log(2))
    assert expected_fullest(files, 1, 2) == pytest.approx(files / 2 * (1 + middle), rel=1e-5)


# Standard errors of these draws are below 0.2 objects, and for 20,000 files 1.
@pytest.mark.parametrize(
    ("files", "count", "osts", "draws", "off"),
    [
        (400, 1, 156, 300, 0.3),
        (240, 2, 156, 200, 0.4),
        pytest.param(20_000, 2, 156, 60, 3, marks=pytest.mark.nightly),
    ],
)
def test_agrees_with_draws(files, count, osts, draws, off):
    rng = random.Random(7)
    drawn = mean(max(place_objects(files, count, osts, allocator="random", rng=rng)) for _ in range(draws))
    assert expected_fullest(files, count, osts) == pytest.approx(drawn, abs=off)


def test_files_that_each_leave_one_ost_out():
    """A file on 155 of 156 OSTs misses one by chance: on the fullest are all files but those that miss it, the fewest."""
    rng = random.Random(1)
    drawn = []
    for _ in range(20):
        missing = [0] * 156
        for _ in range(10_000):
            missing[rng.randrange(156)] += 1
        drawn.append(10_000 - min(missing))
    # The minimum varies by about 3 files: 20 draws estimate its mean to less than 1.
    assert expected_fullest(10_000, 155, 156) == pytest.approx(mean(drawn), abs=2)


def test_limits():
    assert expected_fullest(50, 4, 4) == 50
    assert expected_fullest(50, 1, 1) == 50


@pytest.mark.parametrize(
    ("files", "stripes", "message"), [(0, 1, "files=0 must be at least 1"), (1, 3, "stripe_count=3 from 1 to 2")]
)
def test_refusals(files, stripes, message):
    with pytest.raises(ValueError, match=message):
        expected_fullest(files, stripes, 2)
