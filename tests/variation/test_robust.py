"""Huber's M-estimator against statsmodels, and its robustness to outliers."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest

from hopperkit.variation.effects import holm
from hopperkit.variation.robust import inverted, location, regression, spread_of
from hopperkit.variation.tails import chi_square_tail, f_quantile, f_tail, incomplete_beta, normal_quantile, normal_tail


@pytest.mark.parametrize(("points", "columns", "outliers"), [(30, 2, 2), (60, 4, 3), (400, 6, 20)])
def test_regression_is_that_of_statsmodels(points, columns, outliers):
    rng = np.random.default_rng(points)
    design = np.column_stack([np.ones(points), rng.normal(size=(points, columns - 1)) * 10.0 ** np.arange(columns - 1)])
    y = design @ np.arange(1, columns + 1) + rng.normal(size=points)
    y[:outliers] += 15
    theirs, ours = sm.RLM(y, design).fit(), regression(design.tolist(), y.tolist())
    assert ours.estimates == pytest.approx(theirs.params.tolist(), rel=1e-6, abs=1e-9)
    assert ours.errors == pytest.approx(theirs.bse.tolist(), rel=1e-6)
    assert ours.scale == pytest.approx(theirs.scale, rel=1e-6)
    # Outliers lost most of their weight, and hardly any other point did.
    assert max(ours.weights[:outliers]) < 0.2 < np.median(ours.weights[outliers:])


def test_medians_are_near_those_of_quantile_regression():
    rng = np.random.default_rng(5)
    x = rng.random(200)
    y = 1 + 2 * x + 0.1 * rng.normal(size=200)
    y[:10] += 5
    theirs = sm.QuantReg(y, sm.add_constant(x)).fit(q=0.5).params
    ours = regression([[1.0, float(cell)] for cell in x], y.tolist()).estimates
    # Both are robust estimates of the same line: they differ by less than two standard errors of the median (0.025 and
    # 0.04).
    assert ours == pytest.approx(theirs.tolist(), abs=0.08)


values = st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=5, max_size=30)


@given(values, st.floats(-1e4, 1e4), st.floats(0.01, 100))
def test_location_moves_and_scales_with_its_values(numbers, shift, scale):
    if spread_of(numbers) < 1e-2:
        return
    before, after = location(numbers), location([shift + scale * number for number in numbers])
    assert after.center == pytest.approx(shift + scale * before.center, rel=1e-6, abs=1e-4 * scale + 1e-6)
    assert after.spread == pytest.approx(scale * before.spread, rel=1e-3, abs=1e-6)


@given(st.floats(1e3, 1e12))
def test_one_run_however_slow_moves_the_center_no_further(slow):
    usual = [99.0, 100.0, 101.0, 98.0, 102.0, 100.0, 99.5, 100.5, 101.5]
    # One point of ten beyond the tuning constant pulls like one at 1.345 spreads: 1.345 * 1.5 / 9 and some.
    assert location([*usual, slow]).center == pytest.approx(100.15, abs=0.35)


def test_a_column_that_follows_from_others_is_refused():
    with pytest.raises(ValueError, match="a column follows from the others"):
        regression([[1.0, x, 2 * x] for x in (1.0, 2.0, 3.0, 4.0, 5.0)], [1.0, 2.0, 3.0, 4.0, 5.0])
    with pytest.raises(ValueError, match="2 points for 2 columns"):
        regression([[1.0, 0.0], [1.0, 1.0]], [1.0, 2.0])


def test_the_inverse_times_its_matrix_is_one():
    rng = np.random.default_rng(2)
    half = rng.normal(size=(6, 6)) * 10.0 ** np.arange(-3, 3)
    matrix = half.T @ half
    assert np.array(inverted(matrix.tolist())) @ matrix == pytest.approx(np.eye(6), abs=1e-6)


def test_tails_are_those_of_scipy():
    for ratio in (0.1, 1.0, 3.0, 25.0):
        for above, below in ((1, 2), (3, 10), (17, 300)):
            assert f_tail(ratio, above, below) == pytest.approx(stats.f.sf(ratio, above, below), rel=1e-9, abs=1e-14)
    assert f_quantile(0.975, 5, 60) == pytest.approx(stats.f.isf(0.975, 5, 60), rel=1e-9)
    assert incomplete_beta(0.3, 2.5, 0.5) == pytest.approx(stats.beta.cdf(0.3, 2.5, 0.5), rel=1e-12)
    assert normal_tail(2.5) == pytest.approx(stats.norm.sf(2.5), rel=1e-12)
    assert normal_quantile(0.01) == pytest.approx(stats.norm.isf(0.01), rel=1e-9)
    # From three degrees on an approximation: good to a fifth of its value down to one in 1,000.
    for degrees in (1, 2, 3, 5, 20):
        for tail in (0.5, 0.05, 1e-3):
            assert chi_square_tail(stats.chi2.isf(tail, degrees), degrees) == pytest.approx(tail, rel=0.2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels(p_values):
    # It looks for garbage at each call, which takes a second where thousands of tests are loaded.
    with patch("gc.collect"):
        theirs = multitest.multipletests(p_values, method="holm")[1].tolist()
    assert holm(p_values) == pytest.approx(theirs)
