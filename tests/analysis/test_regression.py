"""Regression and spread: cases by hand, scipy and statsmodels, laws, refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperkit.analysis.regression import regress_together, variance_split

RNG = np.random.default_rng


def test_several_predictors_by_hand():
    # y = 1 + 2 a + 3 b exactly, whatever the units of a and b.
    a, b = np.array([0.0, 1, 2, 3, 4, 5]), np.array([1.0, 0, 1, 0, 0, 1])
    rows = {row.name: row for row in regress_together({"a": 1e6 * a, "b": b, "same": [7] * 6}, 1 + 2 * a + 3 * b)}
    assert rows["a"].slope == pytest.approx((2e-6,) * 3)
    assert rows["b"].slope == pytest.approx((3.0,) * 3)
    with pytest.raises(ValueError, match="one of the metrics a, twice is determined by the others"):
        regress_together({"a": a, "twice": 2 * a}, b)
    with pytest.raises(ValueError, match="at least 5 of both are needed"):
        regress_together({"a": a[:4], "b": b[:4]}, b[:4])


def test_refuses_a_metric_by_its_name():
    with pytest.raises(ValueError, match="metric 'runs': runs must be finite numbers, not nan"):
        regress_together({"runs": [1, math.nan, 1]}, [1, 2, 3])
    with pytest.raises(ValueError, match="metric 'runs': runs must have one dimension, not 2"):
        regress_together({"runs": [[1, 2], [3, 4]]}, [1, 2])
    with pytest.raises(ValueError, match="4 points with 3 rows of 1 metrics"):
        regress_together({"runs": [1, 2, 3]}, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="there is no metric to regress on: none is given, or all are constant"):
        regress_together({"runs": [1, 1, 1]}, [1, 2, 3])


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
    split = variance_split(times, groups.tolist())
    # 16 of 20.
    assert split.between_fraction.estimate == pytest.approx(0.8, abs=0.02)
    assert split.between_fraction.low < 0.8 < split.between_fraction.high
    assert split.between_fraction.high - split.between_fraction.low < 0.05


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
    one = variance_split(times, groups)
    other = variance_split(times * factor + shift, [f"job {group}" for group in groups])
    assert other.between_fraction == pytest.approx(one.between_fraction, abs=1e-6)
    assert 0 <= one.between_fraction.low <= one.between_fraction.high <= 1
    assert other.within_variance == pytest.approx(one.within_variance * factor**2, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("times", "groups", "message"),
    [
        ([1, 2, 3], "aaa", "all 3 times are in one group, 'a': the spread between groups needs two"),
        ([1, 2, 3], "abc", "each of the 3 groups has one time: the spread within groups needs a group with two"),
        ([1, 2, 3], "ab", "3 times for 2 groups"),
        ([5, 5, 5], "aab", "all times are 5: there is no spread"),
        ([1, 2, math.inf], "aab", "times must be finite numbers, not inf"),
        ([], "", "there are no times"),
    ],
)
def test_refuses_groups(times, groups, message):
    with pytest.raises(ValueError, match=message):
        variance_split(times, groups)


@pytest.mark.parametrize("sizes", [[3] * 8, [1, 2, 2, 3, 5, 5, 1, 4]])
def test_the_interval_of_the_share_holds_for_eight_jobs(sizes):
    """Of 400 draws 90 to 98 % hold the truth, 9 of 13, also where jobs have one to five runs; resampling jobs holds 81 %."""
    rng, of, held = RNG(1), np.repeat(np.arange(8), sizes), 0
    for _ in range(400):
        times = 100 + rng.normal(0, 3, 8)[of] + rng.normal(0, 2, len(of))
        low, _, high = variance_split(times, of.tolist()).between_fraction
        held += low <= 9 / 13 <= high
    assert 0.90 <= held / 400 <= 0.98
