"""Student's t-distribution compared with scipy's, from one degree of freedom to a million."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.power import TTestIndPower

from hopperlib.network.runtime.power import runs_needed
from hopperlib.student import t_below, t_quantile

DEGREES = (1, 1.5, 2, 3, 5, 10, 33.3, 1e3, 2e4, 1.5e5, 1e6)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("probability", [1e-6, 0.025, 0.3, 0.5, 0.975, 0.9999, 1 - 1e-9])
def test_quantiles_are_those_of_scipy(degrees, probability):
    assert t_quantile(probability, degrees) == pytest.approx(student.ppf(probability, degrees), rel=1e-6, abs=1e-9)


@given(st.floats(-1e4, 1e4), st.floats(1, 1e6))
def test_the_distribution_is_that_of_scipy(t, degrees):
    assert t_below(t, degrees) == pytest.approx(student.cdf(t, degrees), rel=1e-6, abs=1e-15)


def test_with_one_degree_it_is_cauchys():
    # tan(pi (p - 1/2)): 1 at three quarters.
    assert t_quantile(0.75, 1) == pytest.approx(1, rel=1e-12)


def test_with_two_degrees_it_has_a_closed_form():
    # F(t) = 1/2 + t / (2 sqrt(2 + t^2)): 1/2 + 1 / (2 sqrt 3) at 1.
    assert t_below(1, 2) == pytest.approx(0.5 + 0.5 / 3**0.5, rel=1e-12)


@pytest.mark.parametrize("ratio", [0.5, 0.1, 0.03, 0.0134])
def test_numbers_of_runs_are_those_of_statsmodels_up_to_the_limit(ratio):
    wanted = TTestIndPower().solve_power(ratio, alpha=0.05, power=0.8)
    assert abs(runs_needed(ratio * 0.1, 0.1) - wanted) <= 1.1


def test_more_than_the_limit_is_said_at_once():
    # 157,000 runs of each would be needed; 100,000 are the limit.
    assert runs_needed(0.001, 0.1) is None
