"""Run time against metrics, spread within and between groups, and how many repeats show a change."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import integrate, stats

from hopperlib.analysis.distributions import Interval

__all__ = [
    "Regression",
    "VarianceSplit",
    "corrected_minimum",
    "expected_minimum",
    "minimum_of_groups",
    "noise_from_minimum",
    "regress",
    "regress_all",
    "repeats_to_see",
    "variance_split",
]

Array = npt.NDArray[np.float64]

# A column whose values differ by less than this share of their size is constant but for rounding.
_LEAST_SPREAD = 1e-12
# Beyond this many runs the answer is the same in words: too many to make.
_MOST_REPEATS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A straight line through points.

    Parameters
    ----------
    slope : Interval
        Rise, in the unit of y for one unit of x.
    intercept : float
        Height at x = 0, in the unit of y.
    correlation : float
        Pearson's, from -1 to 1.
    r2 : Interval
        Share of the variance of y that the line explains. [fraction]
    p_value : float
        How often points without any slope have one as steep, for normal residuals. [fraction]
    n : int
        Points.
    """

    slope: Interval
    intercept: float
    correlation: float
    r2: Interval
    p_value: float
    n: int


def _column(values: npt.ArrayLike, name: str) -> Array:
    """Return a column of finite numbers."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions and must have one")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}, which is not a finite number")
    return array


def _checked_repeats(repeats: int, level: float) -> None:
    if repeats < 2:
        raise ValueError(f"repeats={repeats} must be at least 2")
    if not 0 < level < 1:
        raise ValueError(f"level={level} must be between 0 and 1, such as 0.95")


def regress(
    x: npt.ArrayLike, y: npt.ArrayLike, rng: np.random.Generator, repeats: int = 999, level: float = 0.95
) -> Regression:
    """Fit a straight line by least squares, with intervals of slope and r2 by resampling the points.

    The intervals resample points, not residuals, so they ask nothing of the
    spread about the line. A sample in which all x, or all y, are the same has
    no line and is drawn again.

    Parameters
    ----------
    x, y : array of n floats
        At least 3 points, neither column constant.
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 2.
    level : float
        What share of the samples an interval holds, between 0 and 1. [fraction]

    Returns
    -------
    Regression

    Raises
    ------
    ValueError
        If the columns differ in length, are too short or constant, or hold what is no finite number.

    Examples
    --------
    >>> line = regress([1, 2, 3, 4], [2.1, 3.9, 6.1, 7.9], np.random.default_rng(1), repeats=99)
    >>> round(line.slope.estimate, 3), round(line.intercept, 3), round(line.r2.estimate, 4)
    (1.96, 0.1, 0.9983)
    """
    xs, ys = _column(x, "x"), _column(y, "y")
    if len(xs) != len(ys):
        raise ValueError(f"x has {len(xs)} values and y {len(ys)}: a point needs one of each")
    if len(xs) < 3:
        raise ValueError(f"{len(xs)} points are too few: a line through fewer than 3 always fits")
    for name, values in (("x", xs), ("y", ys)):
        if np.ptp(values) <= _LEAST_SPREAD * np.abs(values).max():
            raise ValueError(f"all values of {name} are {values[0]:g}: nothing can be regressed on a constant")
    _checked_repeats(repeats, level)
    line = stats.linregress(xs, ys)
    slopes, r2s = _resampled(xs, ys, rng, repeats)
    tails = [(1 - level) / 2, (1 + level) / 2]
    slope_low, slope_high = np.quantile(slopes, tails)
    r2_low, r2_high = np.quantile(r2s, tails)
    return Regression(
        slope=Interval(float(slope_low), float(line.slope), float(slope_high)),
        intercept=float(line.intercept),
        correlation=float(line.rvalue),
        r2=Interval(float(r2_low), float(line.rvalue) ** 2, float(r2_high)),
        p_value=float(line.pvalue),
        n=len(xs),
    )


def _resampled(xs: Array, ys: Array, rng: np.random.Generator, repeats: int) -> tuple[Array, Array]:
    """Return slope and r2 of so many samples of the points, drawn with replacement."""
    n = len(xs)
    # Both columns are laid over a range of one, so that squares neither vanish nor overflow.
    x_range, y_range = float(np.ptp(xs)), float(np.ptp(ys))
    xs, ys = (xs - xs.mean()) / x_range, (ys - ys.mean()) / y_range
    at_once = max(1, 1_000_000 // n)
    slopes: list[Array] = []
    r2s: list[Array] = []
    left = repeats
    while left > 0:
        picked = rng.integers(n, size=(min(left, at_once), n))
        sx, sy = xs[picked], ys[picked]
        lines = (np.ptp(sx, axis=1) > _LEAST_SPREAD) & (np.ptp(sy, axis=1) > _LEAST_SPREAD)
        sx, sy = sx[lines], sy[lines]
        dx = sx - sx.mean(axis=1, keepdims=True)
        dy = sy - sy.mean(axis=1, keepdims=True)
        xx, yy, xy = (dx * dx).sum(axis=1), (dy * dy).sum(axis=1), (dx * dy).sum(axis=1)
        slopes.append(xy / xx * (y_range / x_range))
        r2s.append(np.minimum(xy * xy / (xx * yy), 1.0))
        left -= int(lines.sum())
    return np.concatenate(slopes), np.concatenate(r2s)


def regress_all(
    metrics: Any, y: npt.ArrayLike, rng: np.random.Generator, repeats: int = 999, level: float = 0.95
) -> dict[str, Regression]:
    """Regress y on each metric alone, the best explained first.

    Parameters
    ----------
    metrics : mapping of str to array of n floats, or DataFrame of n rows
        Name of each metric and its values.
    y : array of n floats
    rng : numpy.random.Generator
    repeats : int
    level : float
        As for `regress`.

    Returns
    -------
    dict of str to Regression

    Raises
    ------
    ValueError
        If there is no metric, or one cannot be regressed; the message names it.

    Examples
    --------
    >>> metrics = {"noise": [1, 0, 1, 0], "runs": [1, 2, 3, 4]}
    >>> list(regress_all(metrics, [2.1, 3.9, 6.1, 7.9], np.random.default_rng(1), repeats=9))
    ['runs', 'noise']
    """
    names = [str(name) for name in metrics]
    if not names:
        raise ValueError("there is no metric to regress on")
    lines: dict[str, Regression] = {}
    for name in metrics:
        try:
            lines[str(name)] = regress(metrics[name], y, rng, repeats, level)
        except ValueError as error:
            raise ValueError(f"metric {str(name)!r}: {error}") from None
    return dict(sorted(lines.items(), key=lambda item: -item[1].r2.estimate))


def _grouped(times: npt.ArrayLike, groups: Iterable[Hashable]) -> dict[Hashable, Array]:
    """Return the values of each group, groups in the order of their first value."""
    values, labels = _column(times, "times"), list(groups)
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} times for {len(labels)} groups: each time needs its group")
    if not labels:
        raise ValueError("there are no times")
    members: dict[Hashable, list[float]] = {}
    for label, value in zip(labels, values.tolist(), strict=True):
        members.setdefault(label, []).append(value)
    return {label: np.array(one) for label, one in members.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """How much of a spread lies within groups, and how much between them.

    Parameters
    ----------
    within_variance, between_variance : float
        Variances, in the square of the values' unit. `between_variance` is 0 where the estimate was negative.
    between_fraction : Interval
        Between groups as a share of both. [fraction]
    mean : float
        Mean of all values.
    groups, n : int
        Groups, and values in all.
    clipped : bool
        Whether the estimate between groups was negative: the groups differ less than their noise would let them.
    """

    within_variance: float
    between_variance: float
    between_fraction: Interval
    mean: float
    groups: int
    n: int
    clipped: bool

    @property
    def within_fraction(self) -> float:
        """Within groups as a share of both. [fraction]"""
        return 1 - self.between_fraction.estimate

    @property
    def within_sd(self) -> float:
        """Standard deviation of one value within its group, in the values' unit."""
        return math.sqrt(self.within_variance)

    @property
    def total_sd(self) -> float:
        """Standard deviation of one value of a new group, in the values' unit."""
        return math.sqrt(self.within_variance + self.between_variance)


def _components(sizes: Array, sums: Array, squares: Array) -> tuple[Array, Array]:
    """Return variances within and between, not clipped, from size, sum and inner sum of squares of groups.

    The last axis holds the groups.
    """
    total = sizes.sum(axis=-1)
    count = sizes.shape[-1]
    means = sums / sizes
    grand = sums.sum(axis=-1) / total
    within = squares.sum(axis=-1) / (total - count)
    spread = (sizes * (means - grand[..., None]) ** 2).sum(axis=-1) / (count - 1)
    size = (total - (sizes**2).sum(axis=-1) / total) / (count - 1)
    return within, (spread - within) / size


def variance_split(
    times: npt.ArrayLike,
    groups: Iterable[Hashable],
    rng: np.random.Generator | None = None,
    repeats: int = 999,
    level: float = 0.95,
) -> VarianceSplit:
    """Split the variance of run times into that within groups and that between them.

    A group is what several runs share: a job whose runs sit on the same nodes,
    a day, a machine. The estimator is that of the one-way analysis of variance
    with random effects: the mean square within is the one variance, the mean
    square between less that within, divided by the mean group size, the other
    [1]_. It can come out negative, which no variance is; it is then 0 and
    `VarianceSplit.clipped` says so.

    Parameters
    ----------
    times : array of n floats
    groups : iterable of n labels
        Group of each time. At least two groups, at least one of them with two times.
    rng : numpy.random.Generator or None
        For the interval; seeded with 0 if None, so that the same table gives the same answer.
    repeats : int
        Samples of groups, drawn with replacement, for the interval.
    level : float
        What share of the samples the interval holds, between 0 and 1. [fraction]

    Returns
    -------
    VarianceSplit

    Raises
    ------
    ValueError
        If there are fewer than two groups, no group has two times, or no time differs from another.

    Examples
    --------
    Two jobs, a second apart within, ten between:

    >>> split = variance_split([10.0, 11.0, 20.0, 21.0], ["a", "a", "b", "b"])
    >>> split.within_variance, split.between_variance, round(split.between_fraction.estimate, 3)
    (0.5, 49.75, 0.99)

    References
    ----------
    .. [1] S. R. Searle, G. Casella, C. E. McCulloch, Variance Components
       (Wiley, 1992), sec. 3.6.
    """
    members = _grouped(times, groups)
    if len(members) < 2:
        raise ValueError(
            f"all {sum(map(len, members.values()))} times are of one group, {next(iter(members))!r}: "
            "a spread between groups needs two"
        )
    if all(len(one) == 1 for one in members.values()):
        raise ValueError(f"each of the {len(members)} groups has one time: a spread within groups needs two in one")
    _checked_repeats(repeats, level)
    everything = np.concatenate(list(members.values()))
    if np.ptp(everything) == 0:
        raise ValueError(f"all times are {everything[0]:g}: there is no spread to split")
    sizes = np.array([len(one) for one in members.values()], dtype=float)
    # Measured from the mean of all, so that close values do not cancel.
    centre = float(everything.mean())
    sums = np.array([float((one - centre).sum()) for one in members.values()])
    squares = np.array([float(((one - one.mean()) ** 2).sum()) for one in members.values()])
    within, between = (float(one) for one in _components(sizes, sums, squares))
    shares = _resampled_shares(sizes, sums, squares, rng or np.random.default_rng(0), repeats)
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    clipped = max(between, 0.0)
    return VarianceSplit(
        within_variance=within,
        between_variance=clipped,
        between_fraction=Interval(float(low), clipped / (within + clipped), float(high)),
        mean=centre,
        groups=len(members),
        n=len(everything),
        clipped=between < 0,
    )


def _resampled_shares(sizes: Array, sums: Array, squares: Array, rng: np.random.Generator, repeats: int) -> Array:
    """Return the share between groups in samples of groups; samples that have none are drawn again."""
    count = len(sizes)
    at_once = max(1, 1_000_000 // count)
    shares: list[Array] = []
    left = repeats
    while left > 0:
        picked = rng.integers(count, size=(min(left, at_once), count))
        picked = picked[sizes[picked].sum(axis=1) > count]
        if len(picked) == 0:
            continue
        within, between = _components(sizes[picked], sums[picked], squares[picked])
        between = np.maximum(between, 0)
        spread = within + between > 0
        shares.append(between[spread] / (within + between)[spread])
        left -= int(spread.sum())
    return np.concatenate(shares)


def minimum_of_groups(times: npt.ArrayLike, groups: Iterable[Hashable]) -> dict[Hashable, float]:
    """Return the smallest time of each group, in the order of the groups' first times.

    The smallest of m runs is nearer to the run without noise, but it is no
    estimate of the group's mean: see `corrected_minimum`.

    Examples
    --------
    >>> minimum_of_groups([10.0, 21.0, 11.0, 20.0], ["a", "b", "a", "b"])
    {'a': 10.0, 'b': 20.0}
    """
    return {label: float(one.min()) for label, one in _grouped(times, groups).items()}


def expected_minimum(m: int) -> float:
    """How far the smallest of m normal values lies from their mean, on average. [standard deviations]

    Parameters
    ----------
    m : int
        Values, at least 1.

    Examples
    --------
    Of three, 3 / (2 sqrt(pi)) below it:

    >>> round(expected_minimum(3), 6), round(-3 / (2 * math.sqrt(math.pi)), 6)
    (-0.846284, -0.846284)
    """
    if m < 1:
        raise ValueError(f"m={m} must be at least 1: the minimum is that of some values")
    # The density of the smallest: m ways to be it, times the others all being larger.
    answer, _ = integrate.quad(
        lambda z: m * z * math.exp(float(stats.norm.logpdf(z)) + (m - 1) * float(stats.norm.logsf(z))), -12, 12
    )
    return 0.0 if m == 1 else float(answer)


def corrected_minimum(minimum: float, sd: float, m: int) -> float:
    """Mean that a group's smallest of m times points to, in the unit of the times.

    The smallest of m lies below the mean by a known number of standard
    deviations if the noise is normal; that is added again.

    Parameters
    ----------
    minimum : float
        Smallest time of the group, or the mean of such.
    sd : float
        Standard deviation of one time within its group, at least 0.
    m : int
        Times in the group.

    Examples
    --------
    >>> round(corrected_minimum(1081.0, 10.0, 3), 3)
    1089.463
    """
    if not sd >= 0:
        raise ValueError(f"sd={sd} must be at least 0")
    return minimum - sd * expected_minimum(m)


def noise_from_minimum(mean: float, mean_minimum: float, m: int) -> float:
    """Noise of one run, from the mean of all runs and the mean of the groups' smallest times. [their unit]

    For groups of m runs with normal noise that is the same in all.

    Parameters
    ----------
    mean : float
        Mean time of all runs.
    mean_minimum : float
        Mean of the smallest time of each group, at most `mean`.
    m : int
        Runs in a group, at least 2.

    Returns
    -------
    float
        Standard deviation of one run within its group.

    Raises
    ------
    ValueError
        If `m` is less than 2 or the mean of minima exceeds the mean.

    Examples
    --------
    The two means that the study prints for its triplets:

    >>> round(noise_from_minimum(1102, 1081, 3), 2)
    24.81
    """
    if m < 2:
        raise ValueError(f"m={m} must be at least 2: one run is its own minimum and shows no noise")
    if mean_minimum > mean:
        raise ValueError(f"mean_minimum={mean_minimum} must not be above mean={mean}")
    return (mean_minimum - mean) / expected_minimum(m)


class _Test(NamedTuple):
    """A two-sided t-test of two samples of one size."""

    effect: float
    alpha: float

    def power(self, n: int) -> float:
        """How often n runs on each side show the effect."""
        freedom = 2 * n - 2
        bound = float(stats.t.isf(self.alpha / 2, freedom))
        shift = self.effect * math.sqrt(n / 2)
        wrong_side = float(stats.nct.cdf(-bound, freedom, shift))
        # Far from the effect the noncentral t distribution underflows to no number; the chance there is nil.
        return float(stats.nct.sf(bound, freedom, shift)) + (wrong_side if wrong_side > 0 else 0.0)


def repeats_to_see(change_fraction: float, spread_fraction: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many runs before and as many after show that a code became slower or faster.

    For a two-sided t-test of two means. What spread to give depends on how the
    repeats are made: runs inside one job share its nodes and vary by the spread
    within groups, runs in jobs of their own also by that between groups.

    Parameters
    ----------
    change_fraction : float
        The change to be seen, above 0, such as 0.05. [fraction of the mean]
    spread_fraction : float
        Standard deviation of one run, at least 0. [fraction of the mean]
    power : float
        How often the change is to be found if it is there, above `alpha` and below 1. [fraction]
    alpha : float
        How often a change may be reported where there is none, between 0 and 1. [fraction]

    Returns
    -------
    int
        Runs on each side, at least 2.

    Raises
    ------
    ValueError
        If an argument is out of range, or more than ten million runs would be needed.

    Examples
    --------
    A change of 5 % in runs that spread by 10 %:

    >>> repeats_to_see(0.05, 0.10)
    64
    """
    if not (change_fraction > 0 and math.isfinite(change_fraction)):
        raise ValueError(f"change_fraction={change_fraction} must be above 0")
    if not (spread_fraction >= 0 and math.isfinite(spread_fraction)):
        raise ValueError(f"spread_fraction={spread_fraction} must be at least 0")
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha={alpha} and power={power} must be 0 < alpha < power < 1")
    if spread_fraction == 0:
        return 2
    test = _Test(change_fraction / spread_fraction, alpha)
    # For many runs the t-test is that of the normal distribution: a start from which the search is short.
    normal = 2 * (float(stats.norm.isf(alpha / 2) + stats.norm.ppf(power)) / test.effect) ** 2
    if normal > _MOST_REPEATS:
        raise ValueError(
            f"a change of {change_fraction:g} in a spread of {spread_fraction:g} needs more than {_MOST_REPEATS:,} runs"
        )
    if test.effect > 30:
        # Two runs on each side show what is thirty standard deviations; the distribution's tables end there.
        return 2
    n = max(2, math.floor(normal))
    while n > 2 and test.power(n - 1) >= power:
        n -= 1
    while test.power(n) < power:
        n += 1
    return n
