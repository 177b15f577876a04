"""Number of runs required to show a gain of x % in noise of s %: the power of the two-sample t test.

Two variants of a program are run n times each, and their mean run times compared. The gain counts as shown if the
two-sided t test rejects equality and the right variant is faster. Power is the probability of that. For a gain of d
standard deviations, the test statistic follows a noncentral t distribution with 2 n - 2 degrees of freedom and
noncentrality d sqrt(n / 2) [1]_.

The test assumes normal times and independent runs. Slow outliers reduce the real power, so the number of runs is a
minimum.

References
----------
.. [1] J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, ch. 2.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, stdev, variance
from typing import NamedTuple

from hopperlib.errors import InputError, refusal
from hopperlib.student import t_quantile

# Steps of Simpson's rule over eight standard deviations on either side of the chi distribution.
_STEPS = 400
_MOST_RUNS = 100_000
#: Probability of a significant difference where there is none.
ALPHA = 0.05


@lru_cache(maxsize=256)
def _deviations(freedom: int) -> tuple[tuple[float, float], ...]:
    """Estimated over true standard deviation: values, and the weight of each in an integral over its distribution."""
    width = 8 / math.sqrt(2 * freedom)
    low, high = max(0.0, 1 - width), 1 + width
    # Density of a chi variable over the square root of its degrees of freedom, without the normalizing constant.
    scale = math.log(2) + freedom / 2 * math.log(freedom / 2) - math.lgamma(freedom / 2)
    step = (high - low) / _STEPS
    points = []
    for number in range(_STEPS + 1):
        s = low + number * step
        if s > 0:
            simpson = 1 if number in (0, _STEPS) else 4 if number % 2 else 2
            density = math.exp(scale + (freedom - 1) * math.log(s) - freedom * s * s / 2)
            points.append((s, simpson * density * step / 3))
    return tuple(points)


def _noncentral_t(t: float, freedom: int, noncentrality: float) -> float:
    """Chance that a noncentral t variable is at most t. [fraction]

    Such a variable is (z + noncentrality) / s with z normal and s as in `_deviations`: for a given s the probability is
    that of z, and s is integrated over.
    """
    half = math.sqrt(0.5)
    return sum(weight * math.erfc((noncentrality - t * s) * half) for s, weight in _deviations(freedom)) / 2


def power_of_slope(slope: float, error: float, freedom: int) -> float:
    """Chance that a slope is detected with the right sign, given the standard error of its estimate. [fraction]

    Parameters
    ----------
    slope : float
        The slope to detect.
    error : float
        Standard error of the slope.
    freedom : int
        Degrees of freedom.

    Examples
    --------
    >>> round(power_of_slope(0.03, 0.01, 100), 2), round(power_of_slope(0.0, 0.01, 100), 3)
    (0.84, 0.025)
    """
    return 1 - _noncentral_t(t_quantile(1 - ALPHA / 2, freedom), freedom, abs(slope) / error)


def power(gain: float, noise: float, runs: int) -> float:
    """Chance that this many runs of each variant show a gain. [fraction]

    Parameters
    ----------
    gain : float
        Difference of the mean run times, as a share of the slower mean. [0-1]
    noise : float
        Standard deviation of run times, as the same share: the coefficient of variation.
    runs : int
        Runs of each variant, at least 2.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    A gain of one standard deviation, seventeen runs of each: the textbook power of 80 %.

    >>> round(power(0.05, 0.05, 17), 2)
    0.81
    """
    _check(gain, noise)
    if not 2 <= runs <= _MOST_RUNS:
        raise refusal("runs", runs, f"must be from 2 to {_MOST_RUNS:,}: one run of each does not show the noise")
    # The standard deviation of the difference of two means is the square root of 2 / runs.
    freedom, noncentrality = 2 * runs - 2, gain / noise * math.sqrt(runs / 2)
    critical = t_quantile(1 - ALPHA / 2, freedom)
    return 1 - _noncentral_t(critical, freedom, noncentrality)


def runs_needed(gain: float, noise: float, *, chance: float = 0.8) -> int | None:
    """Number of runs of each variant that shows a gain with this probability; None if 100,000 are too few.

    Parameters
    ----------
    gain : float
        Difference of the mean run times, as a share of the slower mean. [0-1]
    noise : float
        Coefficient of variation of the run times.
    chance : float, default 0.8
        Required probability of detection.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> runs_needed(0.05, 0.05), runs_needed(0.01, 0.05), runs_needed(0.0, 0.05)
    (17, 394, None)
    """
    _check(gain, noise)
    if not ALPHA < chance < 1:
        raise refusal("chance", chance, f"must be above {ALPHA:g} and below 1")
    if not gain:
        return None
    # Number of runs for a normal test; the t test needs as many, or slightly more if runs are few.
    quantile = NormalDist().inv_cdf
    runs = max(2, math.floor(2 * ((quantile(1 - ALPHA / 2) + quantile(chance)) * noise / gain) ** 2))
    while runs <= _MOST_RUNS and power(gain, noise, runs) < chance:
        runs += 1
    return runs if runs <= _MOST_RUNS else None


def detectable_gain(noise: float, runs: int, *, chance: float = 0.8) -> float:
    """Smallest gain that this many runs of each variant show with this probability. [fraction of the slower run]

    Parameters
    ----------
    noise : float
        Coefficient of variation of the run times.
    runs : int
        Number of runs.
    chance : float, default 0.8
        Required probability of detection, from 0 to 1.

    Examples
    --------
    Three runs of each variant, with noise of two percent:

    >>> round(detectable_gain(0.02, 3), 3)
    0.061
    """
    low, high = 0.0, noise
    while power(high, noise, runs) < chance:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle, noise, runs) >= chance else (middle, high)
    return high


class Spread(NamedTuple):
    """Coefficient of variation of run times, overall and within groups; None if no group has runs that differ.
    [fraction]
    """

    whole: float
    within: float | None


def spread_of(times: Sequence[float], groups: Sequence[str] = ()) -> Spread:
    """Return the spread of run times, and the spread within their groups. [fraction of the mean]

    Parameters
    ----------
    times : sequence of n float
    groups : sequence of n str
        Group of each run, such as its job; empty if unknown.

    Raises
    ------
    InputError
        If there are fewer than two times, or all are equal.

    Examples
    --------
    The mean is 10; the variance is 8/3 for all four runs, and 2 within each of the two jobs:

    >>> spread = spread_of([8, 10, 10, 12], ["a", "a", "b", "b"])
    >>> round(spread.whole, 3), round(spread.within, 3)
    (0.163, 0.141)
    """
    if len(times) < 2 or min(times) == max(times):
        raise InputError("two or more different run times are needed for a spread", name="times")
    members: dict[str, list[float]] = defaultdict(list)
    for group, time in zip(groups, times, strict=False):
        members[group].append(time)
    repeated = [runs for runs in members.values() if len(runs) > 1]
    # The variance within groups is pooled: each group's, weighted by its degrees of freedom.
    freedom = sum(len(runs) - 1 for runs in repeated)
    within = sum((len(runs) - 1) * variance(runs) for runs in repeated) / freedom if freedom else 0.0
    mean = fmean(times)
    return Spread(stdev(times) / mean, within**0.5 / mean or None)


def _check(gain: float, noise: float) -> None:
    """Reject shares that are impossible in a comparison."""
    if not gain >= 0:
        raise refusal("gain", gain, "must not be negative: it is a share of the run time")
    if not noise > 0:
        raise refusal("noise", noise, "must be above 0: no two runs take the same time")
