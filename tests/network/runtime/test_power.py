"""The power of a comparison of run times: against statsmodels, by simulation, laws, errors."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.power import TTestIndPower

from hopperlib.errors import InputError
from hopperlib.network.runtime.power import detectable_gain, power, runs_needed, spread_of


@pytest.mark.parametrize("runs", [2, 3, 5, 17, 100, 1000])
def test_the_same_as_statsmodels(runs):
    for noncentrality in (0.01, 0.5, 2, 5):
        size = noncentrality / math.sqrt(runs / 2)
        theirs = TTestIndPower().power(size, runs, 0.025, alternative="larger")
        assert power(0.05 * size, 0.05, runs) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
def test_runs_needed_are_those_of_statsmodels(chance):
    for gain, noise in ((0.05, 0.05), (0.02, 0.05), (0.1, 0.03), (0.01, 0.2)):
        theirs = TTestIndPower().solve_power(gain / noise, power=chance, alpha=0.025, alternative="larger")
        assert runs_needed(gain, noise, chance=chance) == max(2, math.ceil(theirs))


def test_what_a_simulation_of_the_test_finds():
    # Six runs each, a gain of 10 % in noise of 6 %: 2,000 comparisons, standard error about 0.01.
    rng, found, critical = random.Random(5), 0, student.ppf(0.975, 10)
    for _ in range(2000):
        slow = [rng.gauss(1, 0.06) for _ in range(6)]
        fast = [rng.gauss(0.9, 0.06) for _ in range(6)]
        found += (fmean(slow) - fmean(fast)) / math.sqrt((stdev(slow) ** 2 + stdev(fast) ** 2) / 6) > critical
    assert power(0.1, 0.06, 6) == pytest.approx(found / 2000, abs=0.035)


@given(st.floats(0.001, 0.3), st.integers(2, 200))
def test_no_gain_is_seen_on_one_side_as_often_as_half_of_alpha_and_more_runs_see_more(noise, runs):
    assert power(0.0, noise, runs) == pytest.approx(0.025, abs=1e-6)
    assert power(0.05, noise, runs) <= power(0.05, noise, runs + 1) + 1e-9


def test_the_gain_that_is_shown_is_the_inverse():
    assert power(detectable_gain(0.05, 7), 0.05, 7) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power(0.1, 0.1, 1), "runs=1 must be from 2 to 100,000: one run of each does not show the noise"),
        (lambda: power(-0.1, 0.1, 2), "gain=-0.1 must not be negative: it is a share of the run time"),
        (lambda: power(0.1, 0.0, 2), "noise=0.0 must be above 0: no two runs take the same time"),
        (lambda: runs_needed(0.1, 0.1, chance=0.01), "chance=0.01 must be above 0.05 and below 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value) == message


def test_a_place_with_one_run_tells_nothing_of_the_spread_within_places():
    # Mean 9.8; squared distances 3.24, 0.04, 0.04, 4.84 and 0.64, in all 8.8 over 4. Within a and within b a variance
    # of 2 with one degree of freedom each; c has one run.
    spread = spread_of([8, 10, 10, 12, 9], "aabbc")
    assert spread.whole == pytest.approx(math.sqrt(2.2) / 9.8)
    assert spread.within == pytest.approx(math.sqrt(2) / 9.8)
    assert spread_of([8, 10, 12], "abc").within is None
