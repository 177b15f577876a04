"""Regress run times on columns of numbers, and split their spread within and between groups."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hopperkit.analysis.clustered import Array, clustered

if TYPE_CHECKING:
    import pandas as pd

# A column whose values differ by less than this fraction is constant except for rounding.
_LEAST_SPREAD = 1e-12


class Interval(NamedTuple):
    """An estimate with the ends of its interval."""

    low: float
    estimate: float
    high: float


def column(values: npt.ArrayLike, name: str) -> Array:
    """Return a column of finite numbers.

    Parameters
    ----------
    values : ArrayLike
        Numbers, or anything that converts to them.
    name : str
        Name for messages.

    Raises
    ------
    ValueError
        If the values are not one-dimensional, or not all finite.

    Examples
    --------
    >>> column([1, 2], "hops").tolist()
    [1.0, 2.0]
    """
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers, not {array[~np.isfinite(array)][0]}")
    return array


class Coefficient(NamedTuple):
    """One predictor of a regression on several at once.

    Parameters
    ----------
    name : str
    slope : Interval
        Change of y per unit with the others held constant, with its 95 % interval.
    p_value : float
        Probability of a slope at least as steep by chance. [fraction]
    p_corrected : float
        The same, corrected by Holm's method for the number of metrics [1]_. [fraction]

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure," Scand. J. Statist. 6 (1979) 65-70.
    """

    name: str
    slope: Interval
    p_value: float
    p_corrected: float


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


def _columns(metrics: Any, y: npt.ArrayLike) -> tuple["pd.DataFrame", Array]:
    """Return the metrics that vary, and y; raise an error if no regression is possible."""
    import pandas as pd

    names, ys = _varying(metrics), column(y, "y")
    xs = pd.DataFrame({name: column(metrics[name], name) for name in names})
    if len(xs) != len(ys) or len(ys) < len(names) + 3:
        raise ValueError(
            f"{len(ys)} points with {len(xs)} rows of {len(names)} metrics: at least {len(names) + 3} of both are needed"
        )
    if np.linalg.matrix_rank((xs - xs.mean()) / xs.std()) < len(names):
        raise ValueError(f"one of the metrics {', '.join(names)} is determined by the others: omit it")
    return xs, ys


def regress_together(
    metrics: Any,
    y: npt.ArrayLike,
    level: float = 0.95,
    groups: Iterable[Hashable] | None = None,
    *,
    robust: bool = False,
) -> list[Coefficient]:
    """Regress y on all metrics at once; most certain first, constant metrics left out.

    Parameters
    ----------
    metrics : mapping of str to array of n floats, or DataFrame of n rows
    y : array of n floats
        At least two more than metrics.
    level : float
        Confidence level of the intervals, which remain valid if the spread differs from point to point. [fraction]
    groups : iterable of n labels, or None
        Group of each point, for example its job; at least five groups. Points of one group are correlated, and p-values
        and intervals allow for that (`hopperkit.analysis.clustered`). None: all points are independent.
    robust : bool
        Weight each point by Huber's M-estimator (statsmodels' RLM), so that a few outliers have little effect;
        otherwise, use least squares.

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
    design = np.column_stack([np.ones(len(ys)), (xs - xs.mean()) / spread])
    root, widened = _huber(design, ys) if robust else (np.ones(len(ys)), 1.0)
    fitted = clustered(root[:, None] * design, root * ys, labels)
    fitted = fitted._replace(errors=widened * fitted.errors)
    from statsmodels.stats.multitest import multipletests

    corrected, (lows, highs) = multipletests(fitted.p_values[1:], method="holm")[1], fitted.interval(level)
    rows = [
        Coefficient(
            name,
            Interval(*(float(ends[at] / spread[name]) for ends in (lows, fitted.estimates, highs))),
            float(fitted.p_values[at]),
            float(corrected[at - 1]),
        )
        for at, name in enumerate(xs, start=1)
    ]
    return sorted(rows, key=lambda row: row.p_value)


def _huber(design: Array, y: Array) -> tuple[Array, float]:
    """Return the square roots of Huber's weights, and the ratio of the true standard errors to those of the weighted
    fit.

    The weighted fit treats the weights as exact; for a point at the bound, a larger residual changes nothing.
    """
    from statsmodels.robust.robust_linear_model import RLM

    fitted = RLM(y, design).fit()
    weights = np.asarray(fitted.weights)
    inside = float((weights >= 1).mean())
    return np.sqrt(weights), float(weights.mean()) / inside if inside else 1.0


def indicators(columns: Any) -> dict[str, Any]:
    """Return one indicator column per category except the most frequent, which is the reference.

    Parameters
    ----------
    columns : mapping of str to sequence
        Numbers or texts.

    Examples
    --------
    >>> indicators({"hops": [1, 2, 3], "partition": ["a", "b", "a"]})
    {'hops': [1, 2, 3], 'partition=b': [0.0, 1.0, 0.0]}
    """
    made: dict[str, Any] = {}
    for name, cells in columns.items():
        if len(cells) and all(isinstance(cell, str) for cell in cells):
            often = Counter(cells)
            commonest = min(often, key=lambda kind: (-often[kind], kind))
            made |= {
                f"{name}={kind}": [float(cell == kind) for cell in cells] for kind in sorted(often) if kind != commonest
            }
        else:
            made[name] = cells
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """Variance within and between groups.

    Parameters
    ----------
    within_variance, between_variance : float
        Variances, in the square of the values' unit. `between_variance` is 0 where the estimate was negative.
    between_fraction : Interval
        Variance between groups as a share of the total. [fraction]
    mean : float
        Mean of all values.
    groups, n : int
        Number of groups, and total number of values.
    clipped : bool
        Whether the estimate between groups was negative: the groups differ less than expected from noise alone.
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
        """Variance within groups as a share of the total. [fraction]"""
        return 1 - self.between_fraction.estimate

    @property
    def within_sd(self) -> float:
        """Standard deviation of one value within its group, in the values' unit."""
        return math.sqrt(self.within_variance)

    @property
    def total_sd(self) -> float:
        """Standard deviation of one value in a new group, in the values' unit."""
        return math.sqrt(self.within_variance + self.between_variance)


def variance_split(times: npt.ArrayLike, groups: Iterable[Hashable], level: float = 0.95) -> VarianceSplit:
    """Split the variance of run times into the parts within and between groups.

    A group is shared by several runs: a job whose runs use the same nodes, a day, a machine. The estimator is the
    one-way random-effects analysis of variance: the mean square within groups estimates the variance within; the mean
    square between groups less that within, divided by the mean group size, estimates the variance between [1]_. A
    negative estimate is set to 0, and `VarianceSplit.clipped` is true. The interval of the share is that of the ratio
    of the two mean squares, with unweighted group means if group sizes differ [2]_.

    Parameters
    ----------
    times : array of n floats
    groups : iterable of n labels
        Group of each time. At least two groups, at least one of them with two times.
    level : float
        Confidence level of the interval for the share between groups, between 0 and 1. [fraction]

    Returns
    -------
    VarianceSplit

    Raises
    ------
    ValueError
        If there are fewer than two groups, no group has two times, or all times are equal.

    Examples
    --------
    Two jobs, with times one second apart within each and ten seconds between them:

    >>> split = variance_split([10.0, 11.0, 20.0, 21.0], ["a", "a", "b", "b"])
    >>> split.within_variance, split.between_variance, round(split.between_fraction.estimate, 3)
    (0.5, 49.75, 0.99)

    References
    ----------
    .. [1] S. R. Searle, G. Casella, C. E. McCulloch, Variance Components
       (Wiley, 1992), sec. 3.6.
    .. [2] J. D. Thomas, R. A. Hultquist, "Interval estimation for the unbalanced case of the one-way random effects
       model," Annals of Statistics 6 (1978) 582-587.
    """
    values, of = _splittable(times, groups)
    sizes, n = np.bincount(of), len(values)
    count, centre = len(sizes), float(values.mean())
    # Measured from one of its values, so that equal values have no spread: the mean of three 0.1 is not exactly 0.1.
    first = values[np.unique(of, return_index=True)[1]]
    inside = values - first[of]
    offsets = np.bincount(of, inside) / sizes
    within = float(((inside - offsets[of]) ** 2).sum() / (n - count))
    means = first + offsets
    spread = float((sizes * (means - centre) ** 2).sum() / (count - 1))
    between = (spread - within) / float((n - (sizes**2).sum() / n) / (count - 1))
    clipped = max(between, 0.0)
    share = clipped / (within + clipped)
    size, low, high = float(stats.hmean(sizes)), 1.0, 1.0
    if within:
        ratio = size * float(means.var(ddof=1)) / within
        tails = stats.f.isf([(1 - level) / 2, (1 + level) / 2], count - 1, n - count)
        low, high = (max(0.0, (ratio / end - 1) / (size + ratio / end - 1)) for end in tails.tolist())
    return VarianceSplit(
        within_variance=within,
        between_variance=clipped,
        between_fraction=Interval(min(low, share), share, max(high, share)),
        mean=centre,
        groups=count,
        n=n,
        clipped=between < 0,
    )


def _splittable(times: npt.ArrayLike, groups: Iterable[Hashable]) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return times and group numbers; raise an error if their variance cannot be split."""
    values, labels = column(times, "times"), list(groups)
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} times for {len(labels)} groups: each time needs its group")
    if not labels:
        raise ValueError("there are no times")
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    if len(numbers) < 2:
        raise ValueError(
            f"all {len(values)} times are in one group, {labels[0]!r}: the spread between groups needs two"
        )
    if len(numbers) == len(values):
        raise ValueError(
            f"each of the {len(values)} groups has one time: the spread within groups needs a group with two"
        )
    if np.ptp(values) == 0:
        raise ValueError(f"all times are {values[0]:g}: there is no spread to split")
    return values, np.array([numbers[label] for label in labels])
