"""Run time against metrics, spread within and between groups, and how many repeats show a change."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hopperlib.analysis._resampling import Array, Interval, check_resampling, column, percentiles
from hopperlib.analysis.clustered import clustered
from hopperlib.errors import refusal

if TYPE_CHECKING:
    import pandas as pd

# A column whose values differ by less than this share of their size is constant but for rounding.
_LEAST_SPREAD = 1e-12
# A sample of groups that spreads by less than this share of the range of all values has no spread to share out.
_LEAST_SHARE = 1e-6
# Beyond this many runs the answer is the same in words: too many to make.
_MOST_REPEATS = 10_000_000
# Numbers drawn at once: few enough for the samples of a long column to stay in memory.
_AT_ONCE = 1_000_000


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
    p_corrected : float
        The p-value corrected by Holm's method for that many metrics tried at once [1]_; of one metric, its own. [fraction]

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure," Scand. J. Statist. 6 (1979) 65-70.
    """

    slope: Interval
    intercept: float
    correlation: float
    r2: Interval
    p_value: float
    n: int
    p_corrected: float


class Coefficient(NamedTuple):
    """One predictor of a regression on several at once.

    Parameters
    ----------
    name : str
    slope : Interval
        Change of y for one unit of it with the others held, with its 95 % interval.
    p_value, p_corrected : float
        As of `Regression`. [fraction]
    """

    name: str
    slope: Interval
    p_value: float
    p_corrected: float


def regress(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    rng: np.random.Generator,
    repeats: int = 999,
    level: float = 0.95,
) -> Regression:
    """Fit a straight line by least squares, with intervals of slope and r2 by resampling the points.

    The intervals resample points, not residuals, so they ask nothing of the
    spread about the line. A sample in which all x, or all y, are the same has
    no line and is drawn again. The points must be independent: of runs in jobs
    give one point a job, or use `regress_together` with the groups.

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
    xs, ys = column(x, "x"), column(y, "y")
    if len(xs) != len(ys):
        raise ValueError(f"x has {len(xs)} values and y {len(ys)}: a point needs one of each")
    if len(xs) < 3:
        raise ValueError(f"{len(xs)} points are too few: a line through fewer than 3 always fits")
    for name, values in (("x", xs), ("y", ys)):
        if np.ptp(values) <= _LEAST_SPREAD * np.abs(values).max():
            raise ValueError(f"all values of {name} are {values[0]:g}: nothing can be regressed on a constant")
    check_resampling(repeats, level)
    line = stats.linregress(xs, ys)
    # Both columns are laid over a range of one, so that squares neither vanish nor overflow.
    x_range, y_range = float(np.ptp(xs)), float(np.ptp(ys))
    xs, ys = (xs - xs.mean()) / x_range, (ys - ys.mean()) / y_range

    def slopes_and_r2s(picked: npt.NDArray[np.int64]) -> Array:
        sx, sy = xs[picked], ys[picked]
        lines = (np.ptp(sx, axis=1) > _LEAST_SPREAD) & (np.ptp(sy, axis=1) > _LEAST_SPREAD)
        dx, dy = (values[lines] - values[lines].mean(axis=1, keepdims=True) for values in (sx, sy))
        xx, yy, xy = (dx * dx).sum(axis=1), (dy * dy).sum(axis=1), (dx * dy).sum(axis=1)
        return np.stack([xy / xx * (y_range / x_range), np.minimum(xy * xy / (xx * yy), 1.0)])

    slopes, r2s = _resampled(len(xs), slopes_and_r2s, rng, repeats)
    return Regression(
        slope=percentiles(slopes, line.slope, level),
        intercept=float(line.intercept),
        correlation=float(line.rvalue),
        r2=percentiles(r2s, line.rvalue**2, level),
        p_value=float(line.pvalue),
        n=len(xs),
        p_corrected=float(line.pvalue),
    )


def _resampled(
    n: int, statistic: Callable[[npt.NDArray[np.int64]], Array], rng: np.random.Generator, repeats: int
) -> Array:
    """Return a statistic of that many samples of n things, drawn with replacement; samples that have none are drawn again."""
    parts: list[Array] = []
    left = repeats
    while left > 0:
        parts.append(statistic(rng.integers(n, size=(min(left, max(1, _AT_ONCE // n)), n))))
        left -= parts[-1].shape[-1]
    return np.concatenate(parts, axis=-1)


def regress_all(
    metrics: Any, y: npt.ArrayLike, rng: np.random.Generator, repeats: int = 999, level: float = 0.95
) -> dict[str, Regression]:
    """Regress y on each metric alone, the best explained first; a metric that is constant explains nothing and is left out.

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
        If no metric varies, or one cannot be regressed; the message names it.

    Examples
    --------
    >>> metrics = {"noise": [1, 0, 1, 0], "runs": [1, 2, 3, 4], "nodes": [8, 8, 8, 8]}
    >>> list(regress_all(metrics, [2.1, 3.9, 6.1, 7.9], np.random.default_rng(1), repeats=9))
    ['runs', 'noise']
    """
    lines: dict[str, Regression] = {}
    for name in _varying(metrics):
        try:
            lines[name] = regress(metrics[name], y, rng, repeats, level)
        except ValueError as error:
            raise ValueError(f"metric {name!r}: {error}") from None
    corrected = _corrected([line.p_value for line in lines.values()])
    lines = {name: replace(line, p_corrected=p) for (name, line), p in zip(lines.items(), corrected, strict=True)}
    return dict(sorted(lines.items(), key=lambda item: -item[1].r2.estimate))


def _varying(metrics: Any) -> list[str]:
    """Return the names of the metrics that are not constant."""
    names = []
    for name in map(str, metrics):
        try:
            values = column(metrics[name], name)
        except ValueError as error:
            raise ValueError(f"metric {name!r}: {error}") from None
        if len(values) and np.ptp(values) > _LEAST_SPREAD * np.abs(values).max():
            names.append(name)
    if not names:
        raise ValueError("there is no metric to regress on: none is given, or all are constant")
    return names


def _corrected(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for that many tries, by Holm's method."""
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def _columns(metrics: Any, y: npt.ArrayLike) -> tuple["pd.DataFrame", Array]:
    """Return the metrics that vary, and y, or say what makes no regression."""
    import pandas as pd

    names, ys = _varying(metrics), column(y, "y")
    xs = pd.DataFrame({name: column(metrics[name], name) for name in names})
    if len(xs) != len(ys) or len(ys) < len(names) + 3:
        raise ValueError(
            f"{len(ys)} points with {len(xs)} rows of {len(names)} metrics: at least {len(names) + 3} of both are needed"
        )
    if np.linalg.matrix_rank((xs - xs.mean()) / xs.std()) < len(names):
        raise ValueError(f"one of the metrics {', '.join(names)} follows from the others: leave it out")
    return xs, ys


def regress_together(
    metrics: Any, y: npt.ArrayLike, level: float = 0.95, groups: Iterable[Hashable] | None = None
) -> list[Coefficient]:
    """Regress y on all metrics at once by least squares, the surest first; a metric that is constant is left out.

    Parameters
    ----------
    metrics : mapping of str to array of n floats, or DataFrame of n rows
    y : array of n floats
        More than there are metrics by two at least.
    level : float
        Of the intervals, which hold for any spread about the plane that differs from point to point. [fraction]
    groups : iterable of n labels, or None
        To which job, say, each point belongs, five at least: points of one group are alike, and the p-values and
        intervals count that (`hopperlib.analysis.clustered`). None: each point stands for itself.

    Raises
    ------
    ValueError
        If no metric varies, there are too few points or groups, or a metric follows from the others.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> hops, io = rng.normal(size=(2, 60))
    >>> table = regress_together({"hops": hops, "io": io, "same": [1] * 60}, 100 + 5 * hops + rng.normal(size=60))
    >>> [(row.name, round(row.slope.estimate), row.p_corrected < 0.05) for row in table]
    [('hops', 5, True), ('io', 0, False)]
    """
    xs, ys = _columns(metrics, y)
    spread = xs.std(ddof=0)
    labels = list(range(len(ys)) if groups is None else groups)
    if len(labels) != len(ys):
        raise ValueError(f"{len(ys)} points with {len(labels)} groups: each point needs its group")
    fitted = clustered(np.column_stack([np.ones(len(ys)), (xs - xs.mean()) / spread]), ys, labels)
    corrected, (lows, highs) = _corrected(fitted.p_values[1:].tolist()), fitted.interval(level)
    rows = [
        Coefficient(
            name,
            Interval(*(float(ends[at] / spread[name]) for ends in (lows, fitted.estimates, highs))),
            float(fitted.p_values[at]),
            corrected[at - 1],
        )
        for at, name in enumerate(xs, start=1)
    ]
    return sorted(rows, key=lambda row: row.p_value)


def _grouped(times: npt.ArrayLike, groups: Iterable[Hashable]) -> dict[Hashable, Array]:
    """Return the values of each group, groups in the order of their first value."""
    values, labels = column(times, "times"), list(groups)
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} times for {len(labels)} groups: each time needs its group")
    if not labels:
        raise ValueError("there are no times")
    members: dict[Hashable, list[float]] = {}
    for label, value in zip(labels, values.tolist(), strict=True):
        members.setdefault(label, []).append(value)
    return {label: np.array(group) for label, group in members.items()}


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
    members = _splittable(times, groups)
    check_resampling(repeats, level)
    everything = np.concatenate(members)
    centre = float(everything.mean())
    sizes, sums, squares = np.array([_moments(group, centre) for group in members]).T
    least_variance = (_LEAST_SHARE * np.ptp(everything)) ** 2

    def shares(picked: npt.NDArray[np.int64]) -> Array:
        picked = picked[sizes[picked].sum(axis=1) > len(sizes)]
        within, between = _components(sizes[picked], sums[picked], squares[picked])
        between = np.maximum(between, 0)
        spread = within + between > least_variance
        return np.asarray(between[spread] / (within + between)[spread])

    within, between = map(float, _components(sizes, sums, squares))
    clipped = max(between, 0.0)
    draws = _resampled(len(sizes), shares, rng or np.random.default_rng(0), repeats)
    return VarianceSplit(
        within_variance=within,
        between_variance=clipped,
        between_fraction=percentiles(draws, clipped / (within + clipped), level),
        mean=centre,
        groups=len(members),
        n=len(everything),
        clipped=between < 0,
    )


def _moments(group: Array, centre: float) -> tuple[float, float, float]:
    """Return size, sum and inner sum of squares of a group.

    Measured from the mean of all, so that close values do not cancel; and within a group from one of its
    values, so that equal ones have no spread: the mean of three times 0.1 is not quite 0.1.
    """
    own = group - group[0]
    return len(group), float((group - centre).sum()), float(((own - own.mean()) ** 2).sum())


def _splittable(times: npt.ArrayLike, groups: Iterable[Hashable]) -> list[Array]:
    """Return the times of each group, or say why their spread cannot be split."""
    members = _grouped(times, groups)
    count = sum(map(len, members.values()))
    if len(members) < 2:
        name = next(iter(members))
        raise ValueError(f"all {count} times are of one group, {name!r}: a spread between groups needs two")
    if len(members) == count:
        raise ValueError(f"each of the {len(members)} groups has one time: a spread within groups needs two in one")
    everything = np.concatenate(list(members.values()))
    if np.ptp(everything) == 0:
        raise ValueError(f"all times are {everything[0]:g}: there is no spread to split")
    return list(members.values())


def minimum_of_groups(times: npt.ArrayLike, groups: Iterable[Hashable]) -> dict[Hashable, float]:
    """Return the smallest time of each group, in the order of the groups' first times.

    The smallest of m runs is nearer to the run without noise, but it is no
    estimate of the group's mean: it lies below by some of the noise, and by
    more of it in a larger group.

    Examples
    --------
    >>> minimum_of_groups([10.0, 21.0, 11.0, 20.0], ["a", "b", "a", "b"])
    {'a': 10.0, 'b': 20.0}
    """
    return {label: float(group.min()) for label, group in _grouped(times, groups).items()}


def repeats_to_see(change_fraction: float, spread_fraction: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many runs before and as many after show that a code became slower or faster.

    For a two-sided t-test of two means; a change that it finds on the wrong
    side is not found. What spread to give depends on how the
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
        raise refusal("change_fraction", change_fraction, "must be above 0")
    if not (spread_fraction >= 0 and math.isfinite(spread_fraction)):
        raise refusal("spread_fraction", spread_fraction, "must be at least 0")
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha={alpha} and power={power} must be 0 < alpha < power < 1")
    # Beyond that, two runs show any change at any level that can be asked for, and statsmodels has no number.
    effect = min(change_fraction / max(spread_fraction, 1e-300), 1e8)
    # For many runs the t-test is that of the normal distribution.
    if 2 * ((stats.norm.isf(alpha / 2) + stats.norm.ppf(power)) / effect) ** 2 > _MOST_REPEATS:
        raise ValueError(
            f"a change of {change_fraction:g} in a spread of {spread_fraction:g} needs more than {_MOST_REPEATS:,} runs"
        )
    from statsmodels.stats.power import TTestIndPower

    # One side at half the level: the other side of the two-sided test underflows for large effects, and is no find.
    test, side = TTestIndPower(), {"alpha": alpha / 2, "alternative": "larger"}
    if test.power(effect, 2, **side) >= power:
        return 2
    return math.ceil(float(test.solve_power(effect, power=power, **side)))


def repeats_by_rank(
    values: npt.ArrayLike, change_fraction: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """How many runs before and as many after show a change, if they are compared by rank; None for over ten million.

    For the two-sided test of Wilcoxon, Mann and Whitney. A few runs far off make the standard deviation large, and with
    it the runs that a t-test needs; ranks hardly heed them. How often a run before is longer than one after is taken
    from the runs themselves, all but a change alike, and Noether's formula gives the runs [1]_.

    Parameters
    ----------
    values : array of n floats
        Runs, above 0, at least two.
    change_fraction, power, alpha : float
        As for `repeats_to_see`. [fraction]

    Examples
    --------
    Runs that spread by 10 %, and the same with 20 of 400 twenty times as long:

    >>> runs = 100 + 10 * stats.norm.ppf((np.arange(400) + 0.5) / 400)
    >>> repeats_by_rank(runs, 0.05), repeats_by_rank(np.append(runs[:-20], [2000] * 20), 0.05)
    (73, 75)

    References
    ----------
    .. [1] G. E. Noether, "Sample Size Determination for Some Common Nonparametric Tests," JASA 82 (1987) 645-647.
    """
    x = np.sort(column(values, "values"))
    later = x * (1 + change_fraction)
    # How often a run after is longer than another before; ties count half.
    longer = (np.searchsorted(x, later, "left") + np.searchsorted(x, later, "right")) / 2
    share = float((longer - 0.5).sum() / (len(x) * (len(x) - 1))) - 0.5 / (len(x) - 1)
    excess = abs(share - 0.5)
    if excess * math.sqrt(_MOST_REPEATS) < 1:
        return None
    return max(2, math.ceil(float(stats.norm.isf(alpha / 2) + stats.norm.ppf(power)) ** 2 / (6 * excess**2)))
