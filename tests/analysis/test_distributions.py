"""Families of distributions: cases by hand, scipy's own fits, known parameters recovered, warnings that are right."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from hopperkit.analysis.distributions import (
    FAMILIES,
    _anderson_darling,
    fit,
    fit_all,
    p_value,
)

POWERS = [1.0, 2.0, 4.0, 8.0, 16.0]
# True parameters, and the sample they are to be found in.
TRUE = {
    "lognormal": {"log_mean": 6.0, "log_sd": 0.3},
    "shifted lognormal": {"shift": 800.0, "log_mean": 5.0, "log_sd": 0.6},
    "normal": {"mean": 1000.0, "sd": 50.0},
    "gamma": {"shape": 9.0, "scale": 30.0},
    "Weibull": {"shape": 2.5, "scale": 400.0},
    "inverse Gaussian": {"mean": 300.0, "shape": 2000.0},
}
# The same as scipy has them.
DRAWN = {
    "lognormal": stats.lognorm(0.3, scale=math.exp(6)),
    "shifted lognormal": stats.lognorm(0.6, 800, math.exp(5)),
    "normal": stats.norm(1000, 50),
    "gamma": stats.gamma(9, scale=30),
    "Weibull": stats.weibull_min(2.5, scale=400),
    "inverse Gaussian": stats.invgauss(300 / 2000, scale=2000),
}
run_times = st.lists(st.floats(1, 1e5), min_size=5, max_size=30).filter(lambda one: np.std(one) > 1e-3 * np.mean(one))


def drawn(family, n, seed):
    """Return values of a family with its true parameters."""
    return DRAWN[family].rvs(n, random_state=np.random.default_rng(seed))


def test_lognormal_by_hand():
    # Logarithms are 0 to 4 times ln 2: mean 2 ln 2, variance 2 (ln 2)^2.
    one = fit(POWERS, "lognormal")
    assert one.parameters == pytest.approx({"log_mean": 2 * math.log(2), "log_sd": math.sqrt(2) * math.log(2)})
    # -n/2 (ln(2 pi s^2) + 1) less the sum of the logarithms, 10 ln 2.
    height = -2.5 * (math.log(2 * math.pi * 2 * math.log(2) ** 2) + 1) - 10 * math.log(2)
    assert one.log_likelihood == pytest.approx(height)
    assert one.aic == pytest.approx(4 - 2 * height)


def test_normal_and_inverse_gaussian_by_hand():
    assert fit(POWERS, "normal").parameters == pytest.approx({"mean": 6.2, "sd": math.sqrt(29.76)})
    # 1 / shape is the mean of 1/x less 1/mean: (1 + 1/2 + 1/4 + 1/8 + 1/16) / 5 - 1 / 6.2.
    assert fit(POWERS, "inverse Gaussian").parameters == pytest.approx({"mean": 6.2, "shape": 1 / (0.3875 - 1 / 6.2)})


@pytest.mark.parametrize(
    ("family", "theirs"),
    [
        ("lognormal", lambda x: {"log_mean": np.log(x).mean(), "log_sd": np.log(x).std()}),
        # scipy searches for it, without the Gumbel distribution that ours is solved by.
        ("Weibull", lambda x: dict(zip(("shape", "_", "scale"), stats.weibull_min.fit(x, floc=0), strict=True))),
    ],
)
def test_other_ways_to_the_same_fit(family, theirs):
    x = drawn(family, 200, 1)
    ours, expected = fit(x, family).parameters, theirs(x)
    for name in ours:
        assert ours[name] == pytest.approx(expected[name], rel=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_finds_known_parameters_again(family):
    x = drawn(family, 20_000, 2)
    found = fit(x, family).parameters
    # The shift hangs on the smallest values, and log_mean and log_sd on the shift.
    assert found == pytest.approx(TRUE[family], rel=0.03 if family != "shifted lognormal" else 0.06)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_parameters_nearby_are_likelier(family):
    x = drawn(family, 60, 3)
    best = fit(x, family)
    arguments = best.distribution.args
    for at, value in enumerate(arguments):
        for factor in (0.999, 1.001):
            moved = best.distribution.dist(*arguments[:at], value * factor, *arguments[at + 1 :])
            assert moved.logpdf(x).sum() <= best.log_likelihood + 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_a_fit_is_the_distribution_of_its_parameters(family):
    """Of many values the fit has their mean, and its quantiles are theirs."""
    x = drawn(family, 5000, 5)
    fitted = fit(x, family).distribution
    assert fitted.mean() == pytest.approx(x.mean(), rel=0.01)
    assert fitted.ppf([0.1, 0.5, 0.9, 0.99]) == pytest.approx(np.quantile(x, [0.1, 0.5, 0.9, 0.99]), rel=0.05)


@settings(max_examples=settings.default.max_examples // 2)
@given(run_times, st.sampled_from(FAMILIES), st.floats(0.01, 100))
def test_the_unit_does_not_matter(values, family, factor):
    # In another unit every value is `factor` times as large, and each of n densities that much smaller.
    one, other = fit(values, family), fit(np.array(values) * factor, family)
    assert other.log_likelihood == pytest.approx(one.log_likelihood - len(values) * math.log(factor), abs=1e-3)


@settings(max_examples=settings.default.max_examples // 2)
@given(run_times, st.randoms())
def test_the_order_does_not_matter_and_nothing_is_changed(values, random):
    mixed = values.copy()
    random.shuffle(mixed)
    before = np.array(values)
    one, other = fit_all(before), fit_all(mixed)
    assert before.tolist() == values
    assert {fit.family: fit.log_likelihood for fit in one} == pytest.approx(
        {fit.family: fit.log_likelihood for fit in other}, rel=1e-6, abs=1e-6
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(run_times)
def test_a_shift_never_makes_it_worse_and_stays_below_the_smallest(values):
    shifted = fit(values, "shifted lognormal")
    assert 0 <= shifted.parameters["shift"] < min(values)
    plain = fit(values, "lognormal")
    # The plain lognormal is the shifted one with a shift of 0: a maximum that was found is at least as high.
    assert shifted.note or shifted.log_likelihood >= plain.log_likelihood - 1e-6 or shifted.parameters["shift"] > 0


@given(st.lists(st.floats(1e-3, 1e3), min_size=5, max_size=8).filter(lambda one: np.std(one) > 1e-6 * np.mean(one)))
@example([1, 1, 2, 2, 1.0000000000000002])
def test_values_far_apart_or_nearly_tied_give_numbers(values):
    for one in fit_all(values):
        assert math.isfinite(one.aic)
        assert 0 < p_value(values, one, np.random.default_rng(1), repeats=2) <= 1


def test_a_likelihood_without_a_maximum_says_so():
    # Gaps that double from the smallest value on: ever higher towards it.
    values = [100 + 2.0**i for i in range(-20, 4)]
    one = fit(values, "shifted lognormal")
    assert one.note.startswith("no local maximum")
    # The hair: the distance of smallest value and median, over n.
    hair = (float(np.median(values)) - min(values)) / 24
    assert one.parameters["shift"] == pytest.approx(min(values) - hair, abs=1e-12)
    assert fit_all(values)[-1].family == "shifted lognormal"


def test_nearer_to_the_smallest_value_the_likelihood_has_no_bound():
    # What the docstring says: pass the local maximum, and any height is reached.
    x = np.sort(drawn("shifted lognormal", 30, 6))
    found = fit(x, "shifted lognormal")

    def height(gap):
        logs = np.log(x - x[0] + gap)
        return -len(x) * (logs.mean() + math.log(logs.std()))

    assert found.note == ""
    gaps = x[0] - found.parameters["shift"]
    assert height(gaps) > max(height(gaps / 3), height(gaps * 3))
    # Each step nearer adds about ln(1000) for the value itself, less what the spread costs: in the end it grows.
    # (With x[0] - shift = g: -n (mean + ln sd) behaves as -ln g - n ln |ln g|.)
    assert height(1e-300) > height(1e-200) > height(1e-150)


def test_all_families_sorted_by_the_criterion():
    fits = fit_all(drawn("gamma", 300, 7))
    assert sorted(one.family for one in fits) == sorted(FAMILIES)
    assert [one.aic for one in fits] == sorted(one.aic for one in fits)


def test_the_distance_by_hand_and_by_scipy():
    # Five values at the quantiles 0.1, 0.3, 0.5, 0.7, 0.9 of the normal that fits them: moved to the mean 0 and stretched
    # to the standard deviation 1 the levels are those of z / sd(z).
    z = stats.norm.ppf([0.1, 0.3, 0.5, 0.7, 0.9])
    levels = stats.norm.cdf(z / z.std())
    sums = sum((2 * i + 1) * (math.log(levels[i]) + math.log(1 - levels[4 - i])) for i in range(5))
    fitted = fit(10 + 2 * z, "normal")
    assert _anderson_darling(fitted.distribution, 10 + 2 * z) == pytest.approx(-5 - sums / 5)
    # scipy's takes the standard deviation of n - 1.
    x = drawn("normal", 50, 8)
    theirs = stats.anderson(x, "norm", method="interpolate").statistic
    assert _anderson_darling(stats.norm(x.mean(), x.std(ddof=1)), x) == pytest.approx(theirs)


def test_a_wrong_family_is_found_wrong_and_the_right_one_is_not():
    x = drawn("lognormal", 150, 9) ** 3
    rng = np.random.default_rng(10)
    assert p_value(x, fit(x, "normal"), rng, 49) == pytest.approx(1 / 50)
    assert p_value(x, fit(x, "lognormal"), rng, 49) > 0.1


def test_of_samples_of_a_family_as_many_are_doubted_as_it_says():
    rng = np.random.default_rng(11)
    samples = [drawn("normal", 30, rng) for _ in range(60)]
    # 60 draws at 0.3: 18 expected, standard deviation 3.5.
    assert 8 <= sum(p_value(x, fit(x, "normal"), rng, 19) <= 0.3 for x in samples) <= 28


@pytest.mark.parametrize(
    ("values", "family", "message"),
    [
        ([1, 2, 3, 4], "normal", "4 values are too few: 5 are needed"),
        ([1, 2, 3, 4, math.nan], "normal", "values must be finite numbers, not nan"),
        ([1, 2, 3, 4, math.inf], "normal", "values must be finite numbers, not inf"),
        (
            [1, 2, 3, 4, 0],
            "lognormal",
            "value 0 must be above 0: only the normal distribution allows other values",
        ),
        ([1, 2, 3, 4, -5], "gamma", "value -5 must be above 0"),
        ([1, 2, 3, 4, 2e6], "gamma", "values from 1 to 2e[+]06: the largest may be at most 1,000,000 times"),
        ([3, 3, 3, 3, 3], "normal", "all values are the same"),
        ([[1, 2], [3, 4]], "normal", "values must have one dimension, not 2"),
        ([1, 2, 3, 4, 5], "Lognormal", "family='Lognormal' must be one of: lognormal, shifted lognormal,"),
    ],
)
def test_refuses(values, family, message):
    with pytest.raises(ValueError, match=message.replace("'", ".")):
        fit(values, family)


def test_the_normal_takes_what_is_not_above_zero():
    assert fit([-1, 0, 1, 2, 3], "normal").parameters["mean"] == 1
    with pytest.raises(ValueError, match="must be above 0"):
        fit_all([-1, 0, 1, 2, 3])


def test_refuses_arguments():
    one, rng = fit(POWERS, "normal"), np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"6 values for a fit of 5: give the values that were fitted"):
        p_value([*POWERS, 32.0], one, rng)
    with pytest.raises(ValueError, match="repeats=0 must be at least 1"):
        p_value(POWERS, one, rng, repeats=0)


def test_whole_seconds_do_not_make_a_true_family_wrong():
    # Normal times of 3 s spread, told in whole seconds: at the level of 5 % one of twenty is rejected, not all.
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(12):
        times = np.round(rng.normal(100, 3, 150))
        rejected += p_value(times, fit(times, "normal"), rng, repeats=19) <= 0.05
    assert rejected <= 2
    # And what is no normal is still found, whole seconds or not.
    times = np.round(rng.exponential(20, 150)) + 1
    assert p_value(times, fit(times, "normal"), rng, repeats=19) <= 0.05
