"""Families of distributions for run times: fitted by maximum likelihood, compared, and doubted.

The best of several families is still only the best of these. So each fit comes
with two doubts: an information criterion, which charges for parameters, and a
test of fit whose p-value counts that the parameters were fitted to the same
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
Gumbel             ``location``, ``scale``               everything
mixture of two     ``share``, ``log_mean``, ``log_sd``,  above 0
lognormals         ``slow_log_mean``, ``slow_log_sd``
=================  ====================================  ======================

In the mixture a run is quick with the chance ``share``, and else
slow. ``log_mean`` and ``log_sd`` are mean and standard deviation of the natural
logarithm of the values (less the shift). Spreads are those of maximum
likelihood: divided by n, not by n - 1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from hopperlib.analysis.clustered import Array
from hopperlib.analysis.regression import column
from hopperlib.errors import refusal

# Fewer values do not tell one family from another.
_LEAST_VALUES = 5
# Below this ratio of spread to mean the tails of some families are rounding alone; no clock is so good.
_LEAST_SPREAD = 1e-6
# Values closer than this part of the smallest are one value: their differences are rounding.
_RESOLUTION = 1e-12
# The logarithm of a probability that a double still holds, about 1e-304: beyond it statistics would be infinite.
_LEAST_LOG = -700.0
_GRID = 64
_MOST_RATIO = 1_000_000
# Steps finer than this part of the spread change no statistic that is looked at.
_FINE_STEP = 1e-3
#: The mixture, which is first only if the Bayesian criterion, which charges more for parameters, has it first too.
MIXTURE = "mixture of two lognormals"
_LEAST_MIXED = 20
# Where the sorted values are cut to begin with; the least spread of a part, of that of all; and when to stop.
_CUTS, _LEAST_PART, _MOST_STEPS, _STILL_RISES = (0.2, 0.5, 0.8), 0.05, 100, 1e-5
# The standard deviation of a Gumbel of scale 1, turned over: with it as a start, scipy brackets the root at once.
_GUMBEL_SCALE = math.sqrt(6) / math.pi


class _Weibull(type(stats.weibull_min)):  # type: ignore[misc]
    """The Weibull, fitted exactly: its logarithm is a Gumbel, whose equations scipy solves; its own it only searches."""

    def fit(self, data: Array, floc: float = 0) -> tuple[float, float, float]:
        """Return shape, location and scale of greatest likelihood."""
        logs = np.log(data)
        location, scale = stats.gumbel_l.fit(logs, scale=float(logs.std()) * _GUMBEL_SCALE)
        return 1 / scale, floc, math.exp(location)


class _ShiftedLognormal(type(stats.lognorm)):  # type: ignore[misc]
    """The lognormal with a shift, at the local maximum that `fit` describes: scipy's own goes where there is none."""

    def fit(self, data: Array) -> tuple[float, float, float]:
        """Return shape, location and scale of greatest likelihood."""
        shape, shift, scale = stats.lognorm.fit(data, floc=_shift(data)[0])
        return shape, shift, scale


class _Gumbel(type(stats.gumbel_r)):  # type: ignore[misc]
    """The Gumbel of largest values, fitted from a start that brackets the root at once."""

    def fit(self, data: Array) -> tuple[float, float]:
        """Return location and scale of greatest likelihood."""
        location, scale = stats.gumbel_r.fit(data, scale=float(data.std()) * _GUMBEL_SCALE)
        return float(location), float(scale)


class _TwoLognormals(stats.rv_continuous):  # type: ignore[misc]
    """A mixture of two lognormals, fitted by expectation and maximization from a cut of the sorted values."""

    def _mixed(self, of_part: Callable[..., Any], x: Any, parameters: Sequence[Any]) -> Any:
        share, quick, quick_sd, slow, slow_sd = parameters
        with np.errstate(divide="ignore"):
            # Of 0 it is minus infinity, where both parts are 0.
            logs = np.log(x)
        parts = of_part((logs - quick) / quick_sd, quick_sd), of_part((logs - slow) / slow_sd, slow_sd)
        return share * parts[0] + (1 - share) * parts[1]

    def _argcheck(self, *parameters: Any) -> Any:
        return (parameters[0] > 0) & (parameters[2] > 0) & (parameters[4] > 0)

    def _pdf(self, x: Any, *parameters: Any) -> Any:
        return self._mixed(lambda z, sd: np.exp(-0.5 * z * z) / (sd * math.sqrt(2 * math.pi)), x, parameters) / x

    def _cdf(self, x: Any, *parameters: Any) -> Any:
        return self._mixed(lambda z, _: special.ndtr(z), x, parameters)

    def _sf(self, x: Any, *parameters: Any) -> Any:
        return self._mixed(lambda z, _: special.ndtr(-z), x, parameters)

    def _ppf(self, q: Any, *parameters: Any) -> Any:
        # Between the quantiles of the parts, halved until a double has no more digits.
        ends = [np.exp(parameters[at] + parameters[at + 1] * special.ndtri(q)) for at in (1, 3)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        for _ in range(60):
            middle = (low + high) / 2
            under = self._cdf(middle, *parameters) < q
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return high

    def _rvs(self, *parameters: Any, size: Any = None, random_state: Any = None) -> Any:
        share, *quick, slow, slow_sd = parameters
        is_quick, z = random_state.uniform(size=size) < share, random_state.standard_normal(size)
        return np.exp(np.where(is_quick, quick[0] + quick[1] * z, slow + slow_sd * z))

    def fit(self, data: Array) -> tuple[float, ...]:
        """Return share, and mean and standard deviation of the logarithm of quick and slow, at the best local maximum."""
        logs = np.sort(np.log(data))
        middle, spread = float(logs.mean()), float(logs.std())
        z = (logs - middle) / spread
        # Columns of z squared, z and 1: one product with the chances gives all sums that a step needs.
        powers = np.vander(z, 3)
        # A row for each cut, in it one for each part, in it the chance of each value to be of that part.
        quick = np.arange(len(z)) < np.array(_CUTS)[:, None] * len(z)
        chances, before = np.stack([quick, ~quick], axis=1).astype(float), np.full(len(_CUTS), -np.inf)
        for _ in range(_MOST_STEPS):
            squares, sums, counts = np.moveaxis(chances @ powers, -1, 0)
            shares, means = counts / len(z), sums / np.maximum(counts, 1e-9)
            # A part on a single value would have no bound: none spreads by less than this.
            sds = np.sqrt(np.maximum(squares / np.maximum(counts, 1e-9) - means**2, _LEAST_PART**2))
            chances = (shares / sds)[..., None] * np.exp(-0.5 * ((z - means[..., None]) / sds[..., None]) ** 2)
            both = np.maximum(chances.sum(axis=1), 1e-300)
            chances /= both[:, None, :]
            heights = np.log(both).mean(axis=1)
            if (heights - before < _STILL_RISES).all():
                break
            before = heights
        best = int(heights.argmax())
        # The quick part comes first, whichever of the two the search called so.
        first, second = np.argsort(means[best]).tolist()
        of = [(middle + spread * float(means[best, part]), spread * float(sds[best, part])) for part in (first, second)]
        return float(shares[best, first]), *of[0], *of[1]


class _Family(NamedTuple):
    """A family as scipy has it, what is held fixed in a fit, and our parameters of scipy's arguments."""

    distribution: Any
    held: dict[str, float]
    parameters: Callable[..., dict[str, float]]


def _log_parameters(s: float, shift: float, scale: float) -> dict[str, float]:
    return {"shift": shift, "log_mean": math.log(scale), "log_sd": s}


def _shape_and_scale(shape: float, _: float, scale: float) -> dict[str, float]:
    return {"shape": shape, "scale": scale}


def _of_mixture(*values: float) -> dict[str, float]:
    return dict(zip(("share", "log_mean", "log_sd", "slow_log_mean", "slow_log_sd"), values, strict=True))


_FAMILIES: dict[str, _Family] = {
    "lognormal": _Family(stats.lognorm, {"floc": 0}, lambda s, _, scale: {"log_mean": math.log(scale), "log_sd": s}),
    "shifted lognormal": _Family(_ShiftedLognormal(a=0.0, name="shifted_lognormal"), {}, _log_parameters),
    "normal": _Family(stats.norm, {}, lambda mean, sd: {"mean": mean, "sd": sd}),
    "gamma": _Family(stats.gamma, {"floc": 0}, _shape_and_scale),
    "Weibull": _Family(_Weibull(a=0.0, name="weibull"), {}, _shape_and_scale),
    "inverse Gaussian": _Family(stats.invgauss, {"floc": 0}, lambda mu, _, scale: {"mean": mu * scale, "shape": scale}),
    "Gumbel": _Family(_Gumbel(name="gumbel"), {}, lambda location, scale: {"location": location, "scale": scale}),
    MIXTURE: _Family(_TwoLognormals(a=0.0, name="two_lognormals", shapes="a, b, c, d, e"), {}, _of_mixture),
}

FAMILIES: tuple[str, ...] = tuple(_FAMILIES)
# Families that reach below 0.
_BELOW_ZERO = ("normal", "Gumbel")


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
        What to know before it is compared with others; empty if there is nothing.

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

    @property
    def bic(self) -> float:
        """The Bayesian information criterion, which charges the logarithm of n for each parameter."""
        return math.log(self.n) * len(self.parameters) - 2 * self.log_likelihood


def _checked(values: npt.ArrayLike, *families: str) -> Array:
    """Return values as an array, or say what cannot be fitted."""
    array = column(values, "values")
    for family in families:
        if family not in FAMILIES:
            raise refusal("family", family, f"must be one of: {', '.join(FAMILIES)}")
    if len(array) < _LEAST_VALUES:
        raise ValueError(f"{len(array)} values are too few: {_LEAST_VALUES} are needed to compare families")
    if array.min() <= 0 and not set(families) <= set(_BELOW_ZERO):
        raise ValueError(
            f"value {array.min():g} must be above 0: of these families only the normal and the Gumbel reach below"
        )
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
        At least five, finite, not all the same; above 0 except for the normal.
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


def _estimate(x: Array, family: str) -> tuple[float, ...]:
    """Return scipy's arguments of greatest likelihood."""
    return tuple(map(float, _FAMILIES[family].distribution.fit(x, **_FAMILIES[family].held)))


def _fitted(x: Array, family: str) -> Fit:
    """Fit values that were checked."""
    arguments = _estimate(x, family)
    distribution = _FAMILIES[family].distribution(*arguments)
    return Fit(
        family=family,
        parameters=_FAMILIES[family].parameters(*arguments),
        distribution=distribution,
        log_likelihood=float(distribution.logpdf(x).sum()),
        n=len(x),
        note=_shift(x)[1] if family == "shifted lognormal" else "",
    )


def _profile(x: Array, gaps: Array) -> Array:
    """Return the mean log-likelihood, less a constant, for shifts so far below the smallest value."""
    above = x - x.min()
    out = np.empty(len(gaps))
    # In slices: all shifts at once would take the memory of the grid times the values.
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
    """Fit every family, the best first by Akaike's criterion.

    Of fewer than 20 values no mixture is tried. It comes first only if the Bayesian criterion has it first too: of samples of 30 values from one of four
    other families 4 to 8 % still make it first, of 120 values 4 % at most, of 400 none of 200; by Akaike's alone
    it would be up to 34 %. A shifted lognormal whose likelihood has no local maximum (see `fit`) comes
    last, because its criterion means nothing. A difference of less than 2
    does not tell two families apart.

    Examples
    --------
    >>> [fitted.family for fitted in fit_all([1.0, 2.0, 4.0, 8.0, 16.0])][0]
    'inverse Gaussian'
    """
    x = _checked(values, *FAMILIES)
    families = [family for family in FAMILIES if family != MIXTURE or len(x) >= _LEAST_MIXED]
    fits = sorted((_fitted(x, family) for family in families), key=lambda fitted: (fitted.note != "", fitted.aic))
    if fits[0].family == MIXTURE and fits[0].bic > min(fitted.bic for fitted in fits[1:] if not fitted.note):
        fits[:2] = fits[1], fits[0]
    return tuple(fits)


def _anderson_darling(distribution: Any, values: Array) -> float:
    """Return the statistic of Anderson and Darling, finite however far in a tail a value lies."""
    ordered, n = np.sort(values), len(values)
    # Far in a tail scipy takes the logarithm of a 0.
    with np.errstate(divide="ignore"):
        below = np.maximum(distribution.logcdf(ordered), _LEAST_LOG)
        above = np.maximum(distribution.logsf(ordered), _LEAST_LOG)
    return float(-n - ((2 * np.arange(1, n + 1) - 1) * (below + above[::-1])).sum() / n)


def p_value(values: npt.ArrayLike, fitted: Fit, rng: np.random.Generator, repeats: int = 199) -> float:
    """How often values drawn from a fit, fitted anew, lie as far from their fit as these values from theirs. [fraction]

    How far is measured by Anderson and Darling: squared distances of the
    cumulative distributions, weighted so that the tails count. Their table holds for a distribution that was fixed
    before the values were seen. A fitted one lies closer to its own values, so the table
    would accept nearly anything. Here the test is repeated as it was done:
    samples of as many values are drawn from the fit, the family is fitted to
    each anew, and its distance taken. Where the values are whole seconds, or
    rounded in another way (`resolution`), the samples are rounded alike: ties
    alone would make every family look wrong. The p-value is the share of samples at
    least as far off, the values' own among them (parametric bootstrap) [1]_.

    Parameters
    ----------
    values : array of n floats
        Those of the fit.
    fitted : Fit
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 1. The smallest p-value there can be is 1 / (repeats + 1).

    Raises
    ------
    ValueError
        If the values are refused, or are not as many as were fitted, or `repeats` is not at least 1.

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
    family = _FAMILIES[fitted.family].distribution
    step, own = resolution(x), _anderson_darling(fitted.distribution, x)
    # The values count as one of the samples, so that no p-value is 0.
    farther = 1
    for _ in range(repeats):
        sample = _drawn(fitted.distribution, len(x), step, rng)
        if fitted.family not in _BELOW_ZERO:
            # Rounding may have made a 0 of a small value, and these families begin above it.
            sample = np.maximum(sample, step or _RESOLUTION * float(x.min()))
        # A hair less counts as farther: equal distances may differ in their last bits.
        farther += _anderson_darling(family(*_estimate(sample, fitted.family)), sample) >= own - _RESOLUTION
    return farther / (repeats + 1)


def _drawn(distribution: Any, n: int, step: float, rng: np.random.Generator) -> Array:
    """Return a sample, rounded to a step if that is not 0; one that shows no spread is drawn again."""
    while True:
        sample = np.asarray(distribution.rvs(size=n, random_state=rng), dtype=float)
        if step:
            sample = np.round(sample / step) * step
        if np.isfinite(sample).all() and np.ptp(sample) > _LEAST_SPREAD * abs(float(sample.mean())):
            return sample


def resolution(values: npt.ArrayLike) -> float:
    """Return the step that all values are multiples of, as whole seconds are of 1; 0 if it is too fine to matter.

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
