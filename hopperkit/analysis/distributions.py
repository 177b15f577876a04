"""Families of distributions for run times: fit by maximum likelihood, comparison, and tests of fit.

The best of several families is still only the best of these. Each fit therefore comes with two checks: an information
criterion, which penalizes parameters, and a test of fit whose p-value accounts for fitting the parameters to the same
values.

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

``log_mean`` and ``log_sd`` are mean and standard deviation of the natural logarithm of the values (less the shift).
Standard deviations are maximum-likelihood estimates: divided by n, not by n - 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from hopperkit.analysis.clustered import Array
from hopperkit.analysis.regression import column
from hopperlib.errors import refusal

# Families cannot be distinguished with fewer values.
_LEAST_VALUES = 5
# Below this ratio of spread to mean, the tails of some families are only rounding; no clock is that precise.
_LEAST_SPREAD = 1e-6
# Values that differ by less than this fraction of the smallest are equal: the difference is rounding.
_RESOLUTION = 1e-12
# Smallest logarithm of a probability in double precision, about 1e-304: beyond it statistics would be infinite.
_LEAST_LOG = -700.0
_GRID = 64
_MOST_RATIO = 1_000_000
# Steps finer than this fraction of the spread do not change the statistics.
_FINE_STEP = 1e-3


class _Family(NamedTuple):
    """A family: scipy's distribution, the fit of scipy's arguments, and their conversion to our parameters."""

    distribution: Any
    fitted: Callable[[Array], tuple[float, ...]]
    parameters: Callable[..., dict[str, float]]


def _weibull(x: Array) -> tuple[float, ...]:
    """Return scipy's parameters of a Weibull distribution. Its logarithm is a Gumbel, for which scipy solves the
    likelihood equations; for the Weibull itself it only searches.
    """
    logs = np.log(x)
    # With the scale of the same standard deviation as a start, scipy brackets the root at once.
    location, scale = stats.gumbel_l.fit(logs, scale=float(logs.std()) * math.sqrt(6) / math.pi)
    return 1 / scale, 0.0, math.exp(location)


def _shape_and_scale(shape: float, _: float, scale: float) -> dict[str, float]:
    return {"shape": shape, "scale": scale}


_FAMILIES: dict[str, _Family] = {
    "lognormal": _Family(
        stats.lognorm,
        lambda x: stats.lognorm.fit(x, floc=0),
        lambda s, _, scale: {"log_mean": math.log(scale), "log_sd": s},
    ),
    "shifted lognormal": _Family(
        stats.lognorm,
        # At the local maximum described in `fit`: scipy's search diverges.
        lambda x: stats.lognorm.fit(x, floc=_shift(x)[0]),
        lambda s, shift, scale: {"shift": shift, "log_mean": math.log(scale), "log_sd": s},
    ),
    "normal": _Family(stats.norm, stats.norm.fit, lambda mean, sd: {"mean": mean, "sd": sd}),
    "gamma": _Family(stats.gamma, lambda x: stats.gamma.fit(x, floc=0), _shape_and_scale),
    "Weibull": _Family(stats.weibull_min, _weibull, _shape_and_scale),
    "inverse Gaussian": _Family(
        stats.invgauss,
        lambda x: stats.invgauss.fit(x, floc=0),
        lambda mu, _, scale: {"mean": mu * scale, "shape": scale},
    ),
}

FAMILIES: tuple[str, ...] = tuple(_FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A distribution fitted to values.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    parameters : dict of str to float
        Named as in the table of this module.
    distribution : object
        The distribution as scipy's, with its ``pdf``, ``cdf``, ``ppf``, ``mean`` and ``rvs``, in the values' unit.
    log_likelihood : float
        Natural logarithm of the likelihood.
    n : int
        Values it was fitted to.
    note : str
        Caution for comparisons with other fits; empty if there is none.

    Examples
    --------
    >>> lognormal = fit([1.0, 2.0, 4.0, 8.0, 16.0], "lognormal")
    >>> round(float(lognormal.distribution.ppf(0.5)), 9), round(float(lognormal.distribution.cdf(4.0)), 9)
    (4.0, 0.5)
    """

    family: str
    parameters: dict[str, float]
    distribution: Any = field(compare=False, repr=False)
    log_likelihood: float
    n: int
    note: str = ""

    @property
    def aic(self) -> float:
        """Akaike's information criterion: twice the parameters less twice the log-likelihood. Lower is better."""
        return 2 * len(self.parameters) - 2 * self.log_likelihood


def _checked(values: npt.ArrayLike, *families: str) -> Array:
    """Return the values as an array, or raise an error that explains why they cannot be fitted."""
    array = column(values, "values")
    for family in families:
        if family not in FAMILIES:
            raise refusal("family", family, f"must be one of: {', '.join(FAMILIES)}")
    if len(array) < _LEAST_VALUES:
        raise ValueError(f"{len(array)} values are too few: {_LEAST_VALUES} are needed to compare families")
    if array.min() <= 0 and not set(families) <= {"normal"}:
        raise ValueError(f"value {array.min():g} must be above 0: only the normal distribution allows other values")
    if array.min() > 0 and array.max() > _MOST_RATIO * array.min():
        raise ValueError(
            f"values from {array.min():g} to {array.max():g}: the largest may be at most {_MOST_RATIO:,} times the smallest, "
            "or tails exceed the range of a double"
        )
    if array.std() <= _LEAST_SPREAD * abs(array.mean()):
        raise ValueError("all values are the same to a millionth: there is no spread to fit a distribution to")
    return array


def fit(values: npt.ArrayLike, family: str) -> Fit:
    """Fit a family to values by maximum likelihood.

    Parameters
    ----------
    values : array of n floats
        At least five, finite, not all the same; above 0 except for the normal.
    family : str
        One of `FAMILIES`.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        If a value or the family is invalid.

    Notes
    -----
    The likelihood of the shifted lognormal has no maximum: it grows without bound as the shift approaches the smallest
    value. The usual maximum-likelihood estimate is a local maximum [1]_. The likelihood is therefore maximized over the
    two other parameters for each shift, and the highest *local* maximum of that profile is used, with shifts from 0
    (run times are positive) to just below the smallest value: the distance between the smallest value and the median,
    divided by n. A shift of 0 counts as a maximum if the profile falls from there. If there is no local maximum, the
    shift is fixed at that minimum distance, and `Fit.note` says that its likelihood cannot be compared.

    Examples
    --------
    >>> normal = fit([1.0, 2.0, 4.0, 8.0, 16.0], "normal")
    >>> round(normal.parameters["mean"], 9), round(normal.parameters["sd"], 6)
    (6.2, 5.455273)
    >>> round(normal.aic, 3)
    35.155

    References
    ----------
    .. [1] A. C. Cohen, "Estimating Parameters of Logarithmic-Normal
       Distributions by Maximum Likelihood," JASA 46 (1951) 206-212.
    """
    return _fitted(_checked(values, family), family)


def _fitted(x: Array, family: str) -> Fit:
    """Fit values that have been checked."""
    known = _FAMILIES[family]
    arguments = [float(argument) for argument in known.fitted(x)]
    distribution = known.distribution(*arguments)
    return Fit(
        family=family,
        parameters=known.parameters(*arguments),
        distribution=distribution,
        log_likelihood=float(distribution.logpdf(x).sum()),
        n=len(x),
        note=_shift(x)[1] if family == "shifted lognormal" else "",
    )


def _profile(x: Array, gaps: Array) -> Array:
    """Return the mean log-likelihood, up to a constant, for shifts at these distances below the smallest value."""
    above = x - x.min()
    out = np.empty(len(gaps))
    # In slices: all shifts at once would take the memory of the grid times the values.
    step = max(1, 2_000_000 // len(x))
    for first in range(0, len(gaps), step):
        logs = np.log(above + gaps[first : first + step, None])
        out[first : first + step] = -logs.mean(axis=1) - np.log(logs.std(axis=1))
    return out


def _shift(x: Array) -> tuple[float, str]:
    """Return the shift at the highest local maximum of the profile likelihood, and a note if there is no maximum."""
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
    # The far end, a shift of 0, has no higher neighbor; at the near end, the likelihood is unbounded.
    beyond = np.append(heights[1:], -np.inf)
    peaks = [i for i in range(1, _GRID) if heights[i] > heights[i - 1] and heights[i] >= beyond[i]]
    if not peaks:
        return (
            lowest - hair,
            "no local maximum: the shift is fixed just below the smallest value, so do not compare this fit",
        )
    best = max(peaks, key=lambda i: float(heights[i]))
    if best == _GRID - 1:
        # The maximum may lie between the last two points of the grid, or at the end itself.
        near = float(heights[best])
        refined = _refine(x, gaps[best - 1], gaps[best])
        return (lowest - refined[0], "") if refined[1] > near and refined[0] < lowest * (1 - 1e-9) else (0.0, "")
    return lowest - _refine(x, gaps[best - 1], gaps[best + 1])[0], ""


def _refine(x: Array, low: float, high: float) -> tuple[float, float]:
    """Return the gap of the greatest profile likelihood between two gaps, and that likelihood."""
    search = optimize.minimize_scalar(
        lambda log_gap: -float(_profile(x, np.array([math.exp(log_gap)]))[0]),
        bounds=(math.log(low), math.log(high)),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(search.x)), -float(search.fun)


def fit_all(values: npt.ArrayLike) -> tuple[Fit, ...]:
    """Fit every family; return the fits sorted by Akaike's criterion, best first.

    A shifted lognormal whose likelihood has no local maximum (see `fit`) comes last, because its criterion is
    meaningless. A difference below 2 does not distinguish two families.

    Parameters
    ----------
    values : ArrayLike
        Run times, at least five, finite and not all equal.

    Examples
    --------
    >>> [fitted.family for fitted in fit_all([1.0, 2.0, 4.0, 8.0, 16.0])][0]
    'inverse Gaussian'
    """
    x = _checked(values, *FAMILIES)
    fits = (_fitted(x, family) for family in FAMILIES)
    return tuple(sorted(fits, key=lambda fitted: (fitted.note != "", fitted.aic)))


def _anderson_darling(distribution: Any, values: Array) -> float:
    """Return the Anderson-Darling statistic, finite even for values far in a tail."""
    ordered, n = np.sort(values), len(values)
    # Far in a tail, scipy takes the logarithm of 0.
    with np.errstate(divide="ignore"):
        below = np.maximum(distribution.logcdf(ordered), _LEAST_LOG)
        above = np.maximum(distribution.logsf(ordered), _LEAST_LOG)
    return float(-n - ((2 * np.arange(1, n + 1) - 1) * (below + above[::-1])).sum() / n)


def p_value(values: npt.ArrayLike, fitted: Fit, rng: np.random.Generator, repeats: int = 199) -> float:
    """Probability that values drawn from a fit, and refitted, deviate at least as much from their fit as these values.
    [fraction]

    The deviation is Anderson and Darling's statistic: squared distances of the cumulative distributions, weighted
    toward the tails. Their table is valid for a distribution that was fixed before the values were seen. A fitted
    distribution is closer to its sample, so the table would accept nearly anything. Here the whole procedure is
    repeated: samples of the same size are drawn from the fit, the family is fitted to each, and the statistic computed.
    If the values are whole seconds, or rounded in another way (`resolution`), the samples are rounded the same way:
    otherwise, ties alone would reject every family. The p-value is the share of samples with a statistic at least as
    large, counting the observed sample (parametric bootstrap) [1]_.

    Parameters
    ----------
    values : array of n floats
        The fitted values.
    fitted : Fit
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 1. The smallest possible p-value is 1 / (repeats + 1).

    Raises
    ------
    ValueError
        If the values are invalid, their number differs from the fitted ones, or `repeats` is not at least 1.

    Examples
    --------
    >>> values = [1.0, 2.0, 4.0, 8.0, 16.0]
    >>> p_value(values, fit(values, "lognormal"), np.random.default_rng(1), repeats=19)
    1.0

    References
    ----------
    .. [1] W. Stute, W. Gonzalez Manteiga, M. Presedo Quindimil, "Bootstrap based
       goodness-of-fit tests," Metrika 40 (1993) 243-256.
    """
    x = _checked(values, fitted.family)
    if len(x) != fitted.n:
        raise ValueError(f"{len(x)} values for a fit of {fitted.n}: give the values that were fitted")
    if repeats < 1:
        raise refusal("repeats", repeats, "must be at least 1")
    step, own = resolution(x), _anderson_darling(fitted.distribution, x)
    # The values count as one of the samples, so that no p-value is 0.
    farther = 1
    for _ in range(repeats):
        sample = _drawn(fitted.distribution, len(x), step, rng)
        if fitted.family != "normal":
            # Rounding may have turned a small value into 0, which these families exclude.
            sample = np.maximum(sample, step or _RESOLUTION * float(x.min()))
        # A tiny tolerance: equal distances may differ in their last bits.
        farther += _anderson_darling(_fitted(sample, fitted.family).distribution, sample) >= own - _RESOLUTION
    return farther / (repeats + 1)


def _drawn(distribution: Any, n: int, step: float, rng: np.random.Generator) -> Array:
    """Return a sample, rounded to the step if that is not 0; samples without spread are redrawn."""
    while True:
        sample = np.asarray(distribution.rvs(size=n, random_state=rng), dtype=float)
        if step:
            sample = np.round(sample / step) * step
        if np.isfinite(sample).all() and np.ptp(sample) > _LEAST_SPREAD * abs(float(sample.mean())):
            return sample


def resolution(values: npt.ArrayLike) -> float:
    """Return the step of which all values are multiples, such as 1 for whole seconds; 0 if it is too fine to matter.

    Parameters
    ----------
    values : ArrayLike
        Run times.

    Examples
    --------
    >>> resolution([10.0, 12.0, 11.0, 17.0]), resolution([0.5, 0.25, 1.75]), resolution([1.234567, 2.345678])
    (1.0, 0.25, 0.0)
    """
    x = np.asarray(values, dtype=float)
    for decimals in range(7):
        whole = np.round(x * 10**decimals)
        if (
            np.all(np.abs(x * 10**decimals - whole) < 1e-6 * np.maximum(1, np.abs(whole) * 1e-3))
            and np.abs(whole).max() < 2**53
        ):
            step = float(np.gcd.reduce(whole.astype(np.int64))) / 10**decimals
            return step if step > _FINE_STEP * float(x.std()) else 0.0
    return 0.0
