"""Regression and spread: cases by hand, scipy and statsmodels, laws, refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from hopperlib.analysis.regression import (
    minimum_of_groups,
    regress,
    regress_all,
    regress_together,
    repeats_to_see,
    variance_split,
)

RNG = np.random.default_rng


def test_a_line_by_hand():
    # x about its mean: -1, 0, 1; y about its: -4/3, -1/3, 5/3. Sxy = 3, Sxx = 2, Syy = 42/9.
    line = regress([1, 2, 3], [1, 2, 4], RNG(1), repeats=9)
    assert line.slope.estimate == pytest.approx(1.5)
    assert line.intercept == pytest.approx(7 / 3 - 3)
    assert line.r2.estimate == pytest.approx(9 / (2 * 42 / 9))
    assert line.correlation == pytest.approx(math.sqrt(line.r2.estimate))
    assert line.n == 3


def test_points_on_a_line_leave_no_doubt():
    line = regress([1, 2, 3, 4], [5, 3, 1, -1], RNG(1), repeats=50)
    assert line.slope == pytest.approx((-2, -2, -2))
    assert line.r2 == pytest.approx((1, 1, 1))
    assert line.correlation == pytest.approx(-1)


def test_intervals_are_those_of_a_plain_loop():
    rng = RNG(3)
    x = rng.random(30)
    y = 2 * x + rng.random(30)
    ours = regress(x, y, RNG(4), repeats=200)
    picked = RNG(4).integers(30, size=(200, 30))
    lines = [stats.linregress(x[one], y[one]) for one in picked]
    assert [ours.slope.low, ours.slope.high] == pytest.approx(np.quantile([one.slope for one in lines], [0.025, 0.975]))
    assert [ours.r2.low, ours.r2.high] == pytest.approx(np.quantile([one.rvalue**2 for one in lines], [0.025, 0.975]))
    assert ours.p_value == pytest.approx(stats.linregress(x, y).pvalue)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=4, max_size=12), st.floats(0.1, 10))
def test_r2_does_not_hang_on_units(points, factor):
    x, y = (np.array(one) for one in zip(*points, strict=True))
    if min(np.ptp(x), np.ptp(y)) < 1e-3:
        return
    one = regress(x, y, RNG(5), repeats=5)
    other = regress(x * factor + 7, y * 2 - 1, RNG(5), repeats=5)
    assert other.r2 == pytest.approx(one.r2, abs=1e-6)
    assert other.slope.estimate == pytest.approx(2 * one.slope.estimate / factor, rel=1e-6, abs=1e-9)
    assert 0 <= one.r2.low <= one.r2.high <= 1


def test_metrics_from_a_mapping_or_a_table():
    y = [1.0, 2.0, 3.0, 4.5, 5.0]
    metrics = {"far": [5.0, 1.0, 4.0, 2.0, 3.0], "near": [1.0, 2.0, 3.0, 4.0, 5.0]}
    one = regress_all(metrics, y, RNG(6), repeats=20)
    other = regress_all(pd.DataFrame(metrics), y, RNG(6), repeats=20)
    assert list(one) == ["near", "far"]
    assert one == other


def test_a_constant_metric_is_left_out_and_many_tries_are_corrected_for():
    # By Holm: the least of 104 p-values counts 104 times, the next 103 times, and none falls below one before it.
    rng = RNG(3)
    y = rng.normal(size=40)
    metrics = {f"m{number}": rng.normal(size=40) for number in range(104)} | {"same": np.ones(40)}
    lines = regress_all(metrics, y, RNG(1), repeats=2)
    assert len(lines) == 104
    by_p = sorted(lines.values(), key=lambda line: line.p_value)
    assert by_p[0].p_corrected == pytest.approx(min(1, 104 * by_p[0].p_value))
    assert by_p[1].p_corrected == pytest.approx(min(1, max(104 * by_p[0].p_value, 103 * by_p[1].p_value)))
    assert by_p[0].p_value < 0.05 < by_p[0].p_corrected


def test_several_predictors_by_hand():
    # y = 1 + 2 a + 3 b exactly, whatever the units of a and b.
    a, b = np.array([0.0, 1, 2, 3, 4, 5]), np.array([1.0, 0, 1, 0, 0, 1])
    rows = {row.name: row for row in regress_together({"a": 1e6 * a, "b": b, "same": [7] * 6}, 1 + 2 * a + 3 * b)}
    assert rows["a"].slope == pytest.approx((2e-6,) * 3)
    assert rows["b"].slope == pytest.approx((3.0,) * 3)
    with pytest.raises(ValueError, match="one of the metrics a, twice follows from the others"):
        regress_together({"a": a, "twice": 2 * a}, b)
    with pytest.raises(ValueError, match="at least 5 of both are needed"):
        regress_together({"a": a[:4], "b": b[:4]}, b[:4])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 2], "2 points are too few"),
        ([1, 2, 3], [1, 2], "x has 3 values and y 2"),
        ([1, 1, 1], [1, 2, 3], "all values of x are 1: nothing can be regressed on a constant"),
        ([1, 2, 3], [4, 4, 4], "all values of y are 4"),
        ([1, 2, math.nan], [1, 2, 3], "x must be finite numbers, not nan"),
        ([[1, 2, 3]], [1, 2, 3], "x must have one dimension, not 2"),
    ],
)
def test_refuses_points(x, y, message):
    with pytest.raises(ValueError, match=message):
        regress(x, y, RNG(1))


def test_refuses_a_metric_by_its_name():
    with pytest.raises(ValueError, match="metric 'runs': runs must be finite numbers, not nan"):
        regress_all({"runs": [1, math.nan, 1]}, [1, 2, 3], RNG(1))
    with pytest.raises(ValueError, match="metric 'runs': x has 2 values and y 3"):
        regress_all({"runs": [1, 2]}, [1, 2, 3], RNG(1))
    with pytest.raises(ValueError, match="there is no metric to regress on: none is given, or all are constant"):
        regress_all({"runs": [1, 1, 1]}, [1, 2, 3], RNG(1))
    with pytest.raises(ValueError, match="there is no metric"):
        regress_all({}, [1, 2, 3], RNG(1))
    with pytest.raises(ValueError, match="repeats=1 must be at least 2"):
        regress([1, 2, 3], [1, 2, 4], RNG(1), repeats=1)
    with pytest.raises(ValueError, match="level=1 must be between"):
        regress([1, 2, 3], [1, 2, 4], RNG(1), level=1)


def test_split_by_hand_with_groups_of_unequal_size():
    # a: 1, 3 (mean 2, inner sum of squares 2); b: 4, 6, 8 (mean 6, 8); all: mean 22/5.
    # Within: 10 / (5 - 2). Between: (2 (2 - 4.4)^2 + 3 (6 - 4.4)^2) / 1 = 19.2.
    # Mean size: (5 - (4 + 9) / 5) / 1 = 2.4. So (19.2 - 10/3) / 2.4 between.
    split = variance_split([1, 4, 3, 6, 8], ["a", "b", "a", "b", "b"])
    assert split.within_variance == pytest.approx(10 / 3)
    assert split.between_variance == pytest.approx((19.2 - 10 / 3) / 2.4)
    assert (split.groups, split.n, split.mean, split.clipped) == (2, 5, 4.4, False)
    assert split.within_fraction + split.between_fraction.estimate == pytest.approx(1)
    assert split.total_sd**2 == pytest.approx(split.within_variance + split.between_variance)
    assert split.within_sd == pytest.approx(math.sqrt(10 / 3))


def test_a_negative_estimate_is_put_at_zero_and_said():
    # Both groups have the mean 2: between them is nothing, and less than chance.
    split = variance_split([1, 3, 1, 3], "aabb")
    assert (split.between_variance, split.between_fraction.estimate, split.clipped) == (0, 0, True)
    assert split.within_variance == 2


def test_split_is_that_of_a_mixed_model():
    import statsmodels.formula.api as formulas

    rng = RNG(7)
    groups = np.repeat(np.arange(12), 3)
    times = 100 + rng.normal(0, 5, 12)[groups] + rng.normal(0, 2, 36)
    split = variance_split(times, groups.tolist())
    table = pd.DataFrame({"time": times, "group": groups})
    # For groups of one size, restricted maximum likelihood is the analysis of variance.
    model = formulas.mixedlm("time ~ 1", table, groups=table["group"]).fit(reml=True)
    assert split.within_variance == pytest.approx(model.scale, rel=1e-4)
    assert split.between_variance == pytest.approx(float(model.cov_re.iloc[0, 0]), rel=1e-3)


def test_split_finds_known_variances_again():
    rng = RNG(8)
    groups = np.repeat(np.arange(2000), 3)
    times = 100 + rng.normal(0, 4, 2000)[groups] + rng.normal(0, 2, 6000)
    split = variance_split(times, groups.tolist(), rng, repeats=99)
    # 16 of 20.
    assert split.between_fraction.estimate == pytest.approx(0.8, abs=0.02)
    assert split.between_fraction.low < 0.8 < split.between_fraction.high
    assert split.between_fraction.high - split.between_fraction.low < 0.05


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(1, 1e4)), min_size=6, max_size=20),
    st.floats(0.1, 100),
    st.floats(-100, 1000),
)
@example([(0, 1.0), (0, 1.0), (0, 1.0), (1, 1.0), (1, 1.0), (2, 2.0)], 0.1, 0.0)
def test_shares_do_not_hang_on_units_and_names(rows, factor, shift):
    groups, times = [one for one, _ in rows], np.array([time for _, time in rows])
    if len(set(groups)) < 2 or np.ptp(times) < 1 or len(set(groups)) == len(groups):
        return
    one = variance_split(times, groups, RNG(9), repeats=9)
    other = variance_split(times * factor + shift, [f"job {group}" for group in groups], RNG(9), repeats=9)
    assert other.between_fraction == pytest.approx(one.between_fraction, abs=1e-6)
    assert 0 <= one.between_fraction.low <= one.between_fraction.high <= 1
    assert other.within_variance == pytest.approx(one.within_variance * factor**2, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("times", "groups", "message"),
    [
        ([1, 2, 3], "aaa", "all 3 times are of one group, 'a': a spread between groups needs two"),
        ([1, 2, 3], "abc", "each of the 3 groups has one time: a spread within groups needs two in one"),
        ([1, 2, 3], "ab", "3 times for 2 groups"),
        ([5, 5, 5], "aab", "all times are 5: there is no spread"),
        ([1, 2, math.inf], "aab", "times must be finite numbers, not inf"),
        ([], "", "there are no times"),
    ],
)
def test_refuses_groups(times, groups, message):
    with pytest.raises(ValueError, match=message):
        variance_split(times, groups)


def test_the_smallest_of_a_group():
    assert minimum_of_groups([3, 9, 1, 7], ["y", "x", "y", "x"]) == {"y": 1, "x": 7}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: repeats_to_see(0, 0.1), "change_fraction=0 must be above 0"),
        (lambda: repeats_to_see(math.inf, 0.1), "change_fraction=inf must be above 0"),
        (lambda: repeats_to_see(0.1, -0.1), "spread_fraction=-0.1 must be at least 0"),
        (lambda: repeats_to_see(0.1, 0.1, power=1), "power=1 must be 0 < alpha < power < 1"),
        (lambda: repeats_to_see(0.1, 0.1, power=0.04), "alpha=0.05 and power=0.04"),
        (lambda: repeats_to_see(1e-6, 1), "needs more than 10,000,000 runs"),
    ],
)
def test_refuses_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("change", "spread", "power", "alpha"),
    [
        (0.05, 0.1, 0.8, 0.05),
        (0.01, 0.03, 0.9, 0.05),
        (0.3, 0.1, 0.8, 0.05),
        (0.2, 0.1, 0.95, 0.01),
        (0.02, 0.2, 0.8, 0.05),
        # Asked for both sides at once, statsmodels solves this one for 50 runs, since the far side underflows to no number.
        (0.73, 1, 0.8, 1e-6),
    ],
)
def test_repeats_have_the_power_and_one_fewer_has_not(change, spread, power, alpha):
    def chance(n):
        return stats.nct.sf(stats.t.isf(alpha / 2, 2 * n - 2), 2 * n - 2, change / spread * math.sqrt(n / 2))

    n = repeats_to_see(change, spread, power, alpha)
    assert chance(n) >= power > chance(n - 1)


def test_repeats_by_a_simulation():
    n = repeats_to_see(0.10, 0.10)
    rng = RNG(11)
    before, after = rng.normal(1, 0.1, (4000, n)), rng.normal(1.1, 0.1, (4000, n))
    seen = float((stats.ttest_ind(before, after, axis=1).pvalue < 0.05).mean())
    # 0.807 for n = 17, standard deviation 0.006.
    assert (n, seen) == (17, pytest.approx(0.807, abs=0.025))


def test_what_is_far_beyond_the_spread_shows_in_few_runs():
    # Effects of 4 to 1e300 standard deviations. With two runs on each side the test has two degrees of freedom and a
    # bound of 4.3: an effect of 4 is not enough, 10 is. At a level of one in a million the bound is 1,000.
    assert [repeats_to_see(effect, 1) for effect in (4, 5, 10, 29, 31, 1000, 1e300)] == [3, 3, 2, 2, 2, 2, 2]
    assert [repeats_to_see(effect, 1, alpha=1e-6) for effect in (31, 1000, 10_000)] == [4, 3, 2]


def test_more_spread_needs_more_runs():
    needed = [repeats_to_see(0.05, spread) for spread in (0, 0.0001, 0.01, 0.05, 0.2)]
    assert needed[:2] == [2, 2]
    assert needed == sorted(needed)
