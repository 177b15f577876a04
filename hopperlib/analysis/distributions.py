"""Families of distributions for run times: fitted by maximum likelihood, compared, and doubted.

The best of several families is still only the best of these. So each fit comes
with three doubts: intervals of its parameters, by resampling the values; an
information criterion, which charges for parameters; and a test of fit whose
p-value counts that the parameters were fitted to the same values.

=================  ====================================  ======================
family             parameters                            support
=================  ====================================  ======================
lognormal          ``log_mean``, ``log_sd``              above 0
shifted lognormal  ``shift``, ``log_mean``, ``log_sd``   above ``shift`` >= 0
normal             ``mean``, ``sd``                      everything
gamma              ``shape``, ``scale``                  above 0
Weibull            ``shape``, ``scale``                  above 0
inverse Gaussian   ``mean``, ``shape``                   above 0
=================  ====================================  ======================

``log_mean`` and ``log_sd`` are mean and standard deviation of the natural
logarithm of the values (less the shift). Spreads are those of maximum
likelihood: divided by n, not by n - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

__all__ = [
    "FAMILIES",
    "LEAST_VALUES",
    "Fit",
    "Goodness",
    "Interval",
    "QuantilePoints",
    "bootstrap",
    "fit",
    "fit_all",
    "goodness",
    "qq",
]

Array = npt.NDArray[np.float64]

FAMILIES: tuple[str, ...] = ("lognormal", "shifted lognormal", "normal", "gamma", "Weibull", "inverse Gaussian")

# AICc divides by n - k - 1, and the shifted lognormal has three parameters.
LEAST_VALUES = 5
# Below this ratio of spread to mean the tails of some families are rounding alone; no clock is so good.
_LEAST_SPREAD = 1e-6
# Values closer than this part of the smallest are one value: their differences are rounding.
_RESOLUTION = 1e-12
# The logarithm of a probability that a double still holds, about 1e-304: beyond it statistics would be infinite.
_LEAST_LOG = -700.0
_GRID = 64
_MOST_RATIO = 1_000_000


class Interval(NamedTuple):
    """An estimate with the ends of its interval."""

    low: float
    estimate: float
    high: float


class QuantilePoints(NamedTuple):
    """Points of a quantile-quantile plot: what the fit expects beside what was observed, both ascending."""

    expected: Array
    observed: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A distribution fitted to values.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    parameters : dict of str to float
        Named as in the table of this module.
    log_likelihood : float
        Natural logarithm of the likelihood.
    n : int
        Values it was fitted to.
    note : str
        What to know before it is compared with others; empty if there is nothing.

    Examples
    --------
    >>> one = fit([1.0, 2.0, 4.0, 8.0, 16.0], "lognormal")
    >>> round(float(one.quantile(0.5)), 9), round(float(one.cdf(4.0)), 9)
    (4.0, 0.5)
    """

    family: str
    parameters: dict[str, float]
    log_likelihood: float
    n: int
    note: str = ""

    @property
    def aic(self) -> float:
        """Akaike's information criterion: twice the parameters less twice the log-likelihood. Lower is better."""
        return 2 * len(self.parameters) - 2 * self.log_likelihood

    @property
    def aicc(self) -> float:
        """The same, corrected for few values."""
        k = len(self.parameters)
        return self.aic + 2 * k * (k + 1) / (self.n - k - 1)

    @property
    def mean(self) -> float:
        """Mean of the distribution, in the unit of the values."""
        return float(self._call("mean"))

    def pdf(self, values: npt.ArrayLike) -> Array:
        """Density at some values, per unit of the values."""
        return np.asarray(self._call("pdf", values), dtype=float)

    def cdf(self, values: npt.ArrayLike) -> Array:
        """Probability of a value up to these. [fraction]"""
        return np.asarray(self._call("cdf", values), dtype=float)

    def quantile(self, fractions: npt.ArrayLike) -> Array:
        """Values below which these fractions lie, in the unit of the values."""
        return np.asarray(self._call("ppf", fractions), dtype=float)

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] = 1) -> Array:
        """Draw values, in the unit of the values the fit was made with."""
        return np.asarray(self._call("rvs", size=size, random_state=rng), dtype=float)

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of scipy's distribution with the parameters of this fit."""
        distribution, parameters = _scipys(self.family, self.parameters)
        return getattr(distribution, method)(*arguments, **parameters, **named)


def _scipys(family: str, p: dict[str, float]) -> tuple[Any, dict[str, float]]:
    """Return scipy's distribution and its arguments; not frozen, which would cost more than most calls."""
    match family:
        case "lognormal":
            return stats.lognorm, {"s": p["log_sd"], "scale": math.exp(p["log_mean"])}
        case "shifted lognormal":
            return stats.lognorm, {"s": p["log_sd"], "loc": p["shift"], "scale": math.exp(p["log_mean"])}
        case "normal":
            return stats.norm, {"loc": p["mean"], "scale": p["sd"]}
        case "gamma":
            return stats.gamma, {"a": p["shape"], "scale": p["scale"]}
        case "Weibull":
            return stats.weibull_min, {"c": p["shape"], "scale": p["scale"]}
        case _:
            return stats.invgauss, {"mu": p["mean"] / p["shape"], "scale": p["shape"]}


def _checked(values: npt.ArrayLike, *families: str) -> Array:
    """Return values as an array, or say what cannot be fitted."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise ValueError(f"values have {array.ndim} dimensions and must have one")
    for family in families:
        if family not in FAMILIES:
            raise ValueError(f"family={family!r} must be one of: {', '.join(FAMILIES)}")
    if len(array) < LEAST_VALUES:
        raise ValueError(f"{len(array)} values are too few: {LEAST_VALUES} are needed to compare families")
    if not np.isfinite(array).all():
        raise ValueError(f"value {array[~np.isfinite(array)][0]} is not a finite number")
    if array.min() <= 0 and families != ("normal",):
        raise ValueError(f"value {array.min():g} must be above 0: of these families only the normal reaches below")
    if array.min() > 0 and array.max() > _MOST_RATIO * array.min():
        raise ValueError(
            f"values from {array.min():g} to {array.max():g}: the largest may be at most {_MOST_RATIO:,} times the smallest, "
            "or tails are beyond what a double holds"
        )
    if array.std() <= _LEAST_SPREAD * abs(array.mean()):
        raise ValueError("all values are the same to a millionth: there is no spread to fit a distribution to")
    return array


def fit(values: npt.ArrayLike, family: str) -> Fit:
    """Fit a family to values by maximum likelihood.

    Parameters
    ----------
    values : array of n floats
        At least `LEAST_VALUES`, finite, not all the same; above 0 except for the normal.
    family : str
        One of `FAMILIES`.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        If a value or the family is refused.

    Notes
    -----
    The likelihood of the shifted lognormal has no maximum: it grows without
    bound as the shift comes close to the smallest value, whatever the others
    are. What is called its maximum likelihood estimate is a local maximum
    [1]_. So the likelihood is maximized over the two other parameters for each
    shift, and the highest *local* maximum of that profile is taken, with the
    shift from 0 (a run takes time) up to the smallest value less a hair: the
    distance of smallest value and median, divided by n. A shift of 0 counts as
    a maximum if the profile falls from there. Where there is no local maximum
    at all, the shift is held at the hair, and `Fit.note` says that its
    likelihood cannot be compared.

    Examples
    --------
    >>> one = fit([1.0, 2.0, 4.0, 8.0, 16.0], "normal")
    >>> round(one.parameters["mean"], 9), round(one.parameters["sd"], 6)
    (6.2, 5.455273)
    >>> round(one.aic, 3)
    35.155

    References
    ----------
    .. [1] A. C. Cohen, "Estimating Parameters of Logarithmic-Normal
       Distributions by Maximum Likelihood," JASA 46 (1951) 206-212.
    """
    return _fitted(_checked(values, family), family)


def _fitted(x: Array, family: str) -> Fit:
    """Fit values that were checked."""
    parameters, note = _estimate(x, family)
    distribution, arguments = _scipys(family, parameters)
    height = float(distribution.logpdf(x, **arguments).sum())
    return Fit(family=family, parameters=parameters, log_likelihood=height, n=len(x), note=note)


def _estimate(x: Array, family: str) -> tuple[dict[str, float], str]:
    """Return the parameters of greatest likelihood, and a note if there is something to know of them."""
    match family:
        case "normal":
            return {"mean": float(x.mean()), "sd": float(x.std())}, ""
        case "lognormal":
            return _lognormal(np.log(x)), ""
        case "shifted lognormal":
            shift, note = _shift(x)
            return {"shift": shift, **_lognormal(np.log(x - shift))}, note
        case "gamma":
            return _gamma(x), ""
        case "Weibull":
            return _weibull(x), ""
        case _:
            mean = float(x.mean())
            # 1/x - 1/mean, written so that close values do not cancel.
            return {"mean": mean, "shape": float(1 / np.mean((x - mean) ** 2 / (mean * mean * x)))}, ""


def _lognormal(logs: Array) -> dict[str, float]:
    return {"log_mean": float(logs.mean()), "log_sd": float(logs.std())}


def _root(function: Callable[[float], float], guess: float) -> float:
    """Return where a function that rises or falls all along is 0, given a positive guess."""
    low = high = guess
    for _ in range(200):
        low, high = low / 1.5, high * 1.5
        if function(low) * function(high) <= 0:
            break
    return float(optimize.brentq(function, low, high, xtol=1e-12 * guess, rtol=1e-13))


def _gamma(x: Array) -> dict[str, float]:
    """Solve log(shape) - digamma(shape) = log(mean) - mean(log)."""
    mean = float(x.mean())
    apart = (x - mean) / mean
    # Near the mean the logarithm of the ratio cancels, far below it one plus the difference does.
    logs = np.where(np.abs(apart) < 0.5, np.log1p(np.maximum(apart, -0.5)), np.log(x) - math.log(mean))
    target = -float(logs.mean())
    guess = (3 - target + math.sqrt((target - 3) ** 2 + 24 * target)) / (12 * target)
    shape = _root(lambda k: math.log(k) - float(special.psi(k)) - target, guess)
    return {"shape": shape, "scale": mean / shape}


def _weibull(x: Array) -> dict[str, float]:
    """Solve the equation of the shape; the scale follows from it."""
    logs = np.log(x) - math.log(x.max())
    mean = float(logs.mean())

    def slope(k: float) -> float:
        powers = np.exp(k * logs)
        return float(powers @ logs / powers.sum()) - mean - 1 / k

    # The logarithm of a Weibull value has the standard deviation pi / sqrt(6) / shape.
    shape = _root(slope, math.pi / math.sqrt(6) / float(logs.std()))
    return {"shape": shape, "scale": float(x.max() * np.mean(np.exp(shape * logs)) ** (1 / shape))}


def _profile(x: Array, gaps: Array) -> Array:
    """Return the mean log-likelihood, less a constant, for shifts so far below the smallest value."""
    above = x - x.min()
    out = np.empty(len(gaps))
    step = max(1, 2_000_000 // len(x))
    for first in range(0, len(gaps), step):
        logs = np.log(above + gaps[first : first + step, None])
        out[first : first + step] = -logs.mean(axis=1) - np.log(logs.std(axis=1))
    return out


def _shift(x: Array) -> tuple[float, str]:
    """Return the shift at the highest local maximum of the profile likelihood, and a note if there is none."""
    lowest = float(x.min())
    least = _RESOLUTION * lowest
    apart = float(np.median(x)) - lowest
    if apart <= least:
        # More than half the values may be the smallest one.
        apart = float(x.mean()) - lowest
    # The shift must stay a number below the smallest value.
    hair = min(max(apart / len(x), least), lowest / 2)
    gaps = np.geomspace(hair, lowest, _GRID)
    heights = _profile(x, gaps)
    # The far end, a shift of 0, has no neighbour that is higher; the near end is where the likelihood has no bound.
    beyond = np.append(heights[1:], -np.inf)
    peaks = [i for i in range(1, _GRID) if heights[i] > heights[i - 1] and heights[i] >= beyond[i]]
    if not peaks:
        return lowest - hair, "no local maximum: the shift is held just below the smallest value, so do not compare it"
    best = max(peaks, key=lambda i: float(heights[i]))
    if best == _GRID - 1:
        # The maximum may lie between the last two points of the grid, or at the end itself.
        near = float(heights[best])
        found = _refine(x, gaps[best - 1], gaps[best])
        return (lowest - found[0], "") if found[1] > near and found[0] < lowest * (1 - 1e-9) else (0.0, "")
    return lowest - _refine(x, gaps[best - 1], gaps[best + 1])[0], ""


def _refine(x: Array, low: float, high: float) -> tuple[float, float]:
    """Return the gap of the greatest profile likelihood between two gaps, and that likelihood."""
    found = optimize.minimize_scalar(
        lambda log_gap: -float(_profile(x, np.array([math.exp(log_gap)]))[0]),
        bounds=(math.log(low), math.log(high)),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(found.x)), -float(found.fun)


def fit_all(values: npt.ArrayLike) -> tuple[Fit, ...]:
    """Fit every family, the best first by Akaike's criterion.

    A shifted lognormal whose likelihood has no local maximum (see `fit`) comes
    last, because its criterion means nothing. A difference of less than 2
    does not tell two families apart.

    Examples
    --------
    >>> [one.family for one in fit_all([1.0, 2.0, 4.0, 8.0, 16.0])][0]
    'inverse Gaussian'
    """
    x = _checked(values, *FAMILIES)
    return tuple(sorted((_fitted(x, family) for family in FAMILIES), key=lambda one: (one.note != "", one.aic)))


class Goodness(NamedTuple):
    """How far values lie from a fit, and how often chance does that.

    Parameters
    ----------
    kolmogorov_smirnov : float
        Greatest distance between the fit's cumulative distribution and that of the values. [fraction]
    kolmogorov_smirnov_p : float
        How often values drawn from the fit, fitted anew, lie as far off or farther. [fraction]
    anderson_darling : float
        Squared distance, weighted so that the tails count.
    anderson_darling_p : float
        The same for it. [fraction]
    naive_p : float
        What the table of Kolmogorov and Smirnov would say. It does not hold for fitted parameters and
        is far too large; it is given so that it can be recognized. [fraction]
    repeats : int
        Samples drawn.
    """

    kolmogorov_smirnov: float
    kolmogorov_smirnov_p: float
    anderson_darling: float
    anderson_darling_p: float
    naive_p: float
    repeats: int


def _distances(ordered: Array, family: str, parameters: dict[str, float]) -> tuple[float, float]:
    """Return the statistics of Kolmogorov-Smirnov and Anderson-Darling."""
    n = len(ordered)
    distribution, arguments = _scipys(family, parameters)
    # Far in a tail scipy takes the logarithm of a 0.
    with np.errstate(divide="ignore"):
        below = np.maximum(distribution.logcdf(ordered, **arguments), _LEAST_LOG)
        above = np.maximum(distribution.logsf(ordered, **arguments), _LEAST_LOG)
    levels, steps = np.exp(below), np.arange(1, n + 1)
    distance = max(float((steps / n - levels).max()), float((levels - (steps - 1) / n).max()))
    return distance, float(-n - ((2 * steps - 1) * (below + above[::-1])).sum() / n)


def goodness(values: npt.ArrayLike, one: Fit, rng: np.random.Generator, repeats: int = 199) -> Goodness:
    """Test how well a fit describes the values it was fitted to.

    The tables of both tests hold for a distribution that was fixed before the
    values were seen. A fitted one lies closer to its own values, so the tables
    would accept nearly anything. Here the test is repeated as it was done:
    samples of as many values are drawn from the fit, the family is fitted to
    each anew, and its distance taken. The p-value is the share of samples at
    least as far off, the values' own among them (parametric bootstrap) [1]_.

    Parameters
    ----------
    values : array of n floats
        Those of the fit.
    one : Fit
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 1. The smallest p-value there can be is 1 / (repeats + 1).

    Returns
    -------
    Goodness

    Raises
    ------
    ValueError
        If the values are refused, or are not as many as were fitted, or `repeats` is not at least 1.

    Examples
    --------
    >>> values = [1.0, 2.0, 4.0, 8.0, 16.0]
    >>> answer = goodness(values, fit(values, "lognormal"), np.random.default_rng(1), repeats=19)
    >>> round(answer.kolmogorov_smirnov, 4), answer.repeats
    (0.1602, 19)

    References
    ----------
    .. [1] W. Stute, W. Gonzalez Manteiga, M. Presedo Quindimil, "Bootstrap based
       goodness-of-fit tests," Metrika 40 (1993) 243-256.
    """
    ordered = np.sort(_checked(values, one.family))
    if len(ordered) != one.n:
        raise ValueError(f"{len(ordered)} values for a fit of {one.n}: give the values that were fitted")
    if repeats < 1:
        raise ValueError(f"repeats={repeats} must be at least 1")
    ks, ad = _distances(ordered, one.family, one.parameters)
    ks_farther = ad_farther = 1
    for _ in range(repeats):
        drawn = np.sort(one.sample(rng, one.n))
        if one.family != "normal":
            # A gamma of very small shape draws values that underflow to 0.
            drawn = np.maximum(drawn, ordered[0] * 1e-100)
        other_ks, other_ad = _distances(drawn, one.family, _estimate(drawn, one.family)[0])
        ks_farther += other_ks >= ks
        ad_farther += other_ad >= ad
    return Goodness(
        kolmogorov_smirnov=ks,
        kolmogorov_smirnov_p=ks_farther / (repeats + 1),
        anderson_darling=ad,
        anderson_darling_p=ad_farther / (repeats + 1),
        naive_p=float(stats.kstwo.sf(ks, one.n)),
        repeats=repeats,
    )


def bootstrap(
    values: npt.ArrayLike, family: str, rng: np.random.Generator, repeats: int = 199, level: float = 0.95
) -> dict[str, Interval]:
    """Return an interval for each parameter of a family, by resampling the values.

    Percentile intervals: the family is fitted to samples drawn from the values
    with replacement. A sample of one value all over is drawn again. For few
    values (under about 20) such intervals are too short, and for the shift of
    a lognormal, which hangs on the smallest value, at any number.

    Parameters
    ----------
    values : array of n floats
    family : str
        One of `FAMILIES`.
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 2.
    level : float
        What share of the samples the interval holds, between 0 and 1. [fraction]

    Returns
    -------
    dict of str to Interval
        In the order of the parameters.

    Raises
    ------
    ValueError
        If the values, the family, `repeats` or `level` are refused.

    Examples
    --------
    >>> interval = bootstrap([1.0, 2.0, 4.0, 8.0, 16.0], "normal", np.random.default_rng(1), repeats=99)["mean"]
    >>> interval.low < interval.estimate == 6.2 < interval.high
    True
    """
    x = _checked(values, family)
    if repeats < 2:
        raise ValueError(f"repeats={repeats} must be at least 2")
    if not 0 < level < 1:
        raise ValueError(f"level={level} must be between 0 and 1, such as 0.95")
    estimate = _estimate(x, family)[0]
    drawn: dict[str, list[float]] = {name: [] for name in estimate}
    for _ in range(repeats):
        sample = x[rng.integers(len(x), size=len(x))]
        while np.ptp(sample) <= _LEAST_SPREAD * abs(float(sample.mean())):
            sample = x[rng.integers(len(x), size=len(x))]
        for name, value in _estimate(sample, family)[0].items():
            drawn[name].append(value)
    tails = [(1 - level) / 2, (1 + level) / 2]
    return {
        name: Interval(float(low), estimate[name], float(high))
        for name, (low, high) in ((name, np.quantile(values, tails)) for name, values in drawn.items())
    }


def qq(values: npt.ArrayLike, one: Fit) -> QuantilePoints:
    """Return the points of a quantile-quantile plot, n of them, in the unit of the values.

    The i-th smallest of n values stands against the fit's quantile at (i - 1/2) / n.

    Examples
    --------
    >>> values = [16.0, 1.0, 2.0, 8.0, 4.0]
    >>> points = qq(values, fit(values, "lognormal"))
    >>> points.observed[:2].tolist(), [round(float(value), 3) for value in points.expected[1:3]]
    ([1.0, 2.0], [2.392, 4.0])
    """
    observed = np.sort(_checked(values, one.family))
    places = (np.arange(len(observed)) + 0.5) / len(observed)
    return QuantilePoints(one.quantile(places), observed)
