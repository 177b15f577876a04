"""One group, two, a drift, a step, a few slow runs: each test against its null, and against the exact dip."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import mannwhitneyu, rankdata

from hopperkit.variation.components import variance_components
from hopperkit.variation.dip import chance_of_dip, dip
from hopperkit.variation.order import order_of, ranks, slope_of
from hopperkit.variation.shape import shape_of, step_of, untied
from hopperkit.variation.slow import slow_runs, slowdown_seen
from hopperlib.data_files import rows


def exact_dip(values) -> float:
    """The dip by its definition: the least t for which a distribution with one peak is within t, as a linear program.

    Unknowns are the distribution at each value, its left limit at the peak, where it may jump, and t.
    """
    x, best = np.sort(values), 1.0
    n = len(x)
    for peak in range(n):
        rows_, bounds = [], []

        def at(place, left=False, peak=peak):
            unit = np.zeros(n + 2)
            unit[n if left and place == peak else place] = 1
            return unit

        def most(row, bound, rows_=rows_, bounds=bounds):
            rows_.append(row)
            bounds.append(bound)

        t = np.zeros(n + 2)
        t[-1] = 1
        for place in range(n):
            most(-at(place) - t, -(place + 1) / n)
            most(at(place, left=True) - t, place / n)
        most(at(peak, left=True) - at(peak), 0)
        slopes = [(at(i + 1, left=True) - at(i)) / (x[i + 1] - x[i]) for i in range(n - 1)]
        for i, (one, other) in enumerate(pairwise(slopes)):
            # Slopes rise up to the peak and fall after it.
            if i + 1 < peak:
                most(one - other, 0)
            elif i + 1 > peak:
                most(other - one, 0)
        for slope in slopes:
            most(-slope, 0)
        found = linprog(t, A_ub=np.array(rows_), b_ub=np.array(bounds), bounds=[(0, 1)] * (n + 2))
        if found.success:
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_dip_is_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    values = rng.random(n) if seed % 2 else np.concatenate([rng.normal(0, 1, n // 2), rng.normal(5, 1, n - n // 2)])
    assert dip(values.tolist()) == pytest.approx(exact_dip(values), abs=1e-9)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40), st.integers(-50, 50), st.integers(1, 9))
def test_the_dip_is_between_its_bounds_and_moves_with_nothing(values, shift, scale):
    # 1 / 2n for evenly spaced values, 1/4 for two heaps.
    assert 1 / (2 * len(values)) - 1e-12 <= dip(values) <= 0.25 + 1e-12
    assert dip([shift + scale * value for value in values]) == pytest.approx(dip(values), abs=1e-9)


def test_the_table_of_dips_is_that_of_uniform_values():
    """With other seeds: 5 % of 2,000 samples of 20 are beyond its 5 % quantile, within three standard errors (1.5 %)."""
    rng = random.Random("dips")
    (row,) = [row for row in rows("chance-of-dip.csv") if row["values"] == "20"]
    beyond = sum(dip([rng.random() for _ in range(20)]) * math.sqrt(20) > float(row["dip_0.05"]) for _ in range(2000))
    assert beyond / 2000 == pytest.approx(0.05, abs=0.015)
    assert chance_of_dip(float(row["dip_0.05"]) / math.sqrt(20), 20) == pytest.approx(0.05)


def test_two_groups_as_far_apart_as_the_table_says_are_seen():
    """80 % of samples: 68 to 92 of 100 by chance (three standard errors of 4 %)."""
    rng = random.Random("apart")
    (row,) = [row for row in rows("chance-of-dip.csv") if row["values"] == "50"]
    distance = float(row["apart_spreads"])
    seen = sum(
        chance_of_dip(dip([rng.gauss(distance * (run % 2), 1) for run in range(50)]), 50) <= 0.02 for _ in range(100)
    )
    assert 68 <= seen <= 92


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_ranks_are_those_of_scipy(values):
    assert ranks(values) == rankdata(values).tolist()


def test_a_step_is_the_largest_rank_sum():
    logs = [0.3, 0.1, 0.2, 0.0, 1.1, 1.0, 1.3, 1.2, 0.9]
    found = order_of(logs, random.Random(1))
    # 2 of the 126 ways to choose four of nine runs separate them like this: no other cut is better.
    assert mannwhitneyu(logs[:4], logs[4:], method="exact").pvalue == pytest.approx(2 / 126)
    assert (found.kind, found.at, round(found.change, 2)) == ("step", 4, 0.95)


def test_the_slope_is_the_median_of_all():
    # Of all pairs: 1, 2 / 2, 30 / 3, 1, 29 / 2 and 28; in the middle 1 and 10.
    assert slope_of([0.0, 1.0, 2.0, 30.0]) == 5.5


def test_the_slowest_runs_of_an_exponential_tail_are_no_slow_runs():
    """At most 2 % of samples without slow runs, whether their tail is normal or exponential: 2 % of 500 and 3 errors,
    19.
    """
    rng = random.Random("tails")
    draws = {"normal": lambda: rng.gauss(0, 1), "exponential": lambda: rng.expovariate(1)}
    for draw in draws.values():
        found = sum(slow_runs([draw() for _ in range(30)]).chance <= 0.02 for _ in range(500))
        assert found <= 19


def test_a_run_as_slow_as_is_said_is_found_and_one_half_as_far_is_not():
    rng = random.Random(3)
    logs = [rng.gauss(0, 0.03) for _ in range(40)]
    far = slowdown_seen(logs)
    assert slow_runs([*logs, max(logs) + 1.1 * far]).chance <= 0.02 < slow_runs([*logs, max(logs) + far / 2]).chance


def test_rounded_times_are_no_groups():
    times = [10, 11] * 6
    assert step_of(times) == 1
    assert untied(times)[:3] == [10 - 0.5 + 0.5 / 6, 11 - 0.5 + 0.5 / 6, 10 - 0.5 + 1.5 / 6]
    assert shape_of(times, random.Random(1)).kind == "one group"


@pytest.mark.parametrize(
    ("times", "kind", "apart"),
    [
        ([1127.2, 1122.4, 369.2], "two groups", (0, 1)),
        ([16.65, 16.66, 17.46], "few slow", (2,)),
        ([5.0, 5.1, 5.05, 2.0], "few fast", (3,)),
        ([1894, 1799, 2214, 1959], "too few", ()),
        ([3.0, 3.0, 3.0, 3.0, 3.0], "one group", ()),
        ([100.0], "too few", ()),
    ],
)
def test_a_handful_of_runs(times, kind, apart):
    found = shape_of(times, random.Random(1))
    assert (found.kind, found.slow) == (kind, apart)


KINDS = {
    "normal": lambda rng: math.exp(0.05 * rng.gauss(0, 1)),
    "exponential": lambda rng: 1 + 0.1 * rng.expovariate(1),
    "lognormal": lambda rng: math.exp(0.4 * rng.gauss(0, 1)),
    "rounded": lambda rng: round(20 * math.exp(0.05 * rng.gauss(0, 1))),
    "heavy": lambda rng: math.exp(0.05 * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2, 0.5))),
}


def alarms(kind: str, runs: int, series: int) -> float:
    """Share of data sets without any structure in which one is reported."""
    found = 0
    for number in range(series):
        rng = random.Random(f"null {kind} {runs} {number}")
        found += shape_of([100 * KINDS[kind](rng) for _ in range(runs)], rng).kind not in ("one group", "too few")
    return found / series


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_one_group(kind):
    """Four tests at 2 % each, few of which are significant at once: 6 % of 60 plus three standard errors are 9."""
    assert alarms(kind, 24, 60) <= 0.15


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("runs", [6, 12, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_one_group_in_1000_data_sets(kind, runs):
    assert alarms(kind, runs, 1000) <= 0.07


def test_components_are_those_of_the_analysis_and_of_a_mixed_model():
    import pandas as pd
    import statsmodels.formula.api as smf

    from hopperkit.analysis.regression import variance_split

    rng = np.random.default_rng(4)
    jobs = np.repeat(np.arange(20), 4)
    logs = 0.1 * rng.normal(size=20)[jobs] + 0.04 * rng.normal(size=80)
    ours, theirs = variance_components(logs.tolist(), jobs.tolist()), variance_split(logs, jobs)
    assert (ours.within, ours.between) == pytest.approx((theirs.within_variance, theirs.between_variance))
    assert (ours.low, ours.share, ours.high) == pytest.approx(theirs.between_fraction)
    # With jobs of one size, restricted likelihood gives the estimates of the analysis of variance.
    mixed = smf.mixedlm("y ~ 1", pd.DataFrame({"y": logs, "job": jobs}), groups="job").fit(reml=True)
    assert ours.within == pytest.approx(mixed.scale, rel=1e-3)
    assert ours.between == pytest.approx(float(mixed.cov_re.iloc[0, 0]), rel=1e-2)
    assert variance_components([1.0, 2.0], ["a", "b"]) is None
