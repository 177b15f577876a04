"""Families of distributions for run times: fitted by maximum likelihood, compared, and doubted.

The best of several families is still only the best of these. So each fit comes
with three doubts: intervals of its parameters, by samples of the fit; an
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
Gumbel             ``location``, ``scale``               everything
GEV                ``shape``, ``location``, ``scale``    a bound for shape != 0
two lognormals     ``share``, ``log_mean``, ``log_sd``,  above 0
                   ``slow_log_mean``, ``slow_log_sd``
=================  ====================================  ======================

The GEV is the generalized extreme value distribution of largest values: its
``shape`` is above 0 for a heavy tail to the right, and the Gumbel is its case of
0. Two lognormals are a mixture: a run is quick with the chance ``share``, and else slow. ``log_mean`` and ``log_sd`` are mean and standard deviation of the natural
logarithm of the values (less the shift). Spreads are those of maximum
likelihood: divided by n, not by n - 1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from hopperlib.analysis._resampling import Array, check_resampling, column
from hopperlib.analysis._resampling import Interval as Interval  # noqa: PLC0414 - handed on
from hopperlib.errors import refusal

# AICc divides by n - k - 1, and the shifted lognormal has three parameters.
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


# A shape so near 0 is a Gumbel.
_NO_SHAPE = 1e-7
#: The mixture, which is first only if the Bayesian criterion, which charges more for parameters, has it first too.
MIXTURE = "two lognormals"
_LEAST_MIXED = 20
_OF_MIXTURE = ("share", "log_mean", "log_sd", "slow_log_mean", "slow_log_sd")
# Where the sorted values are cut to begin with; the least spread of a part, of that of all; and when to stop.
_CUTS, _LEAST_PART, _MOST_STEPS, _STILL_RISES = (0.2, 0.5, 0.8), 0.05, 100, 1e-5


class _Weibull(type(stats.weibull_min)):  # type: ignore[misc]
    """The Weibull, fitted exactly: its logarithm is a Gumbel, whose equations scipy solves; its own it only searches."""

    def fit(self, data: Array, floc: float = 0) -> tuple[float, float, float]:
        """Return shape, location and scale of greatest likelihood."""
        logs = np.log(data)
        # A Gumbel has the standard deviation pi / sqrt(6) times its scale: a start that brackets the root at once.
        location, scale = stats.gumbel_l.fit(logs, scale=float(logs.std()) * math.sqrt(6) / math.pi)
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
        location, scale = stats.gumbel_r.fit(data, scale=float(data.std()) * math.sqrt(6) / math.pi)
        return float(location), float(scale)


class _Gev(type(stats.genextreme)):  # type: ignore[misc]
    """The GEV by a search from the Gumbel; shapes of -1 and below, where the likelihood has no bound, are left out."""

    def fit(self, data: Array) -> tuple[float, float, float]:
        """Return shape (of opposite sign, as scipy has it), location and scale of greatest likelihood."""
        location, scale = _FAMILIES["Gumbel"].distribution.fit(data)
        z = (data - location) / scale
        least, most = float(z.min()), float(z.max())

        def loss(at: Array) -> float:
            shape, shift, log_scale = map(float, at)
            narrowed = math.exp(-log_scale)
            if shape <= -1 or 1 + shape * ((least if shape > 0 else most) - shift) * narrowed <= 0:
                # Outside of what the shape lets be, the likelihood is 0.
                return math.inf
            y = (z - shift) * narrowed
            logs = y if abs(shape) < _NO_SHAPE else np.log1p(shape * y) / shape
            return log_scale + float(((1 + shape) * logs + np.exp(np.minimum(-logs, -_LEAST_LOG))).sum()) / len(z)

        start = np.array([[0.0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]])
        options = {"initial_simplex": start, "xatol": 1e-4, "fatol": 1e-7}
        search = optimize.minimize(loss, start[0], method="Nelder-Mead", options=options)
        shape, shift, log_scale = map(float, search.x)
        return -shape, location + scale * shift, scale * math.exp(log_scale)


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

    def _logcdf(self, x: Any, *parameters: Any) -> Any:
        return np.log(self._cdf(x, *parameters))

    def _logsf(self, x: Any, *parameters: Any) -> Any:
        return np.log(self._sf(x, *parameters))

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
    """A family as scipy has it, what is held fixed in a fit, and the way between scipy's arguments and our parameters."""

    distribution: Any
    held: dict[str, float]
    parameters: Callable[..., dict[str, float]]
    arguments: Callable[[dict[str, float]], tuple[float, ...]]


def _shape_and_scale(shape: float, _: float, scale: float) -> dict[str, float]:
    return {"shape": shape, "scale": scale}


_FAMILIES: dict[str, _Family] = {
    "lognormal": _Family(
        stats.lognorm,
        {"loc": 0},
        lambda s, _, scale: {"log_mean": math.log(scale), "log_sd": s},
        lambda p: (p["log_sd"], 0, math.exp(p["log_mean"])),
    ),
    "shifted lognormal": _Family(
        _ShiftedLognormal(a=0.0, name="shifted_lognormal"),
        {},
        lambda s, shift, scale: {"shift": shift, "log_mean": math.log(scale), "log_sd": s},
        lambda p: (p["log_sd"], p["shift"], math.exp(p["log_mean"])),
    ),
    # An instance of its own: `stats.norm` itself is fitted with n - 1 by scipy's test of fit, and with n elsewhere.
    "normal": _Family(
        type(stats.norm)(name="norm"), {}, lambda mean, sd: {"mean": mean, "sd": sd}, lambda p: (p["mean"], p["sd"])
    ),
    "gamma": _Family(stats.gamma, {"loc": 0}, _shape_and_scale, lambda p: (p["shape"], 0, p["scale"])),
    "Weibull": _Family(
        _Weibull(a=0.0, name="weibull"), {"loc": 0}, _shape_and_scale, lambda p: (p["shape"], 0, p["scale"])
    ),
    "inverse Gaussian": _Family(
        stats.invgauss,
        {"loc": 0},
        lambda mu, _, scale: {"mean": mu * scale, "shape": scale},
        lambda p: (p["mean"] / p["shape"], 0, p["shape"]),
    ),
    "Gumbel": _Family(
        _Gumbel(name="gumbel"),
        {},
        lambda location, scale: {"location": location, "scale": scale},
        lambda p: (p["location"], p["scale"]),
    ),
    "GEV": _Family(
        _Gev(name="gev"),
        {},
        lambda c, location, scale: {"shape": -c, "location": location, "scale": scale},
        lambda p: (-p["shape"], p["location"], p["scale"]),
    ),
    MIXTURE: _Family(
        _TwoLognormals(a=0.0, name="two_lognormals", shapes=", ".join(_OF_MIXTURE)),
        {},
        lambda *values: dict(zip(_OF_MIXTURE, values, strict=True)),
        lambda p: tuple(p.values()),
    ),
}

FAMILIES: tuple[str, ...] = tuple(_FAMILIES)
# Families that reach below 0.
_BELOW_ZERO = ("normal", "Gumbel", "GEV")


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
    >>> lognormal = fit([1.0, 2.0, 4.0, 8.0, 16.0], "lognormal")
    >>> round(float(lognormal.distribution.ppf(0.5)), 9), round(float(lognormal.distribution.cdf(4.0)), 9)
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
    def bic(self) -> float:
        """The Bayesian information criterion, which charges the logarithm of n for each parameter."""
        return math.log(self.n) * len(self.parameters) - 2 * self.log_likelihood

    @property
    def distribution(self) -> Any:
        """The distribution as scipy's, with its ``pdf``, ``cdf``, ``ppf``, ``mean`` and ``rvs``, in the values' unit."""
        family = _FAMILIES[self.family]
        return family.distribution(*family.arguments(self.parameters))


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
    distribution, held, *_ = _FAMILIES[family]
    return tuple(map(float, distribution.fit(x, **{f"f{name}": value for name, value in held.items()})))


def _fitted(x: Array, family: str) -> Fit:
    """Fit values that were checked."""
    arguments = _estimate(x, family)
    return Fit(
        family=family,
        parameters=_FAMILIES[family].parameters(*arguments),
        log_likelihood=float(_FAMILIES[family].distribution.logpdf(x, *arguments).sum()),
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


def _anderson_darling(distribution: Any, values: Array, axis: int) -> Any:
    """Return the statistic of Anderson and Darling along the last axis, finite however far in a tail a value lies."""
    ordered = np.sort(values, axis=axis)
    n = ordered.shape[-1]
    # Far in a tail scipy takes the logarithm of a 0.
    with np.errstate(divide="ignore"):
        below = np.maximum(distribution.logcdf(ordered), _LEAST_LOG)
        above = np.maximum(distribution.logsf(ordered), _LEAST_LOG)
    return -n - ((2 * np.arange(1, n + 1) - 1) * (below + above[..., ::-1])).sum(axis=-1) / n


def goodness(values: npt.ArrayLike, fitted: Fit, rng: np.random.Generator, repeats: int = 199) -> Goodness:
    """Test how well a fit describes the values it was fitted to.

    The tables of both tests hold for a distribution that was fixed before the
    values were seen. A fitted one lies closer to its own values, so the tables
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
    x = _checked(values, fitted.family)
    if len(x) != fitted.n:
        raise ValueError(f"{len(x)} values for a fit of {fitted.n}: give the values that were fitted")
    if repeats < 1:
        raise refusal("repeats", repeats, "must be at least 1")
    distribution, *_ = _FAMILIES[fitted.family]
    arguments = _estimate(x, fitted.family)
    own = _distances(distribution(*arguments), x)
    # The values count as one of the samples, so that no p-value is 0.
    step, farther = resolution(x), np.ones(2)
    for _ in range(repeats):
        sample = _drawn(distribution, arguments, len(x), step, rng)
        if fitted.family not in _BELOW_ZERO:
            # Rounding may have made a 0 of a small value, and these families begin above it.
            sample = np.maximum(sample, step or _RESOLUTION * float(x.min()))
        # A hair less counts as farther: equal distances may differ in their last bits.
        farther += _distances(distribution(*_estimate(sample, fitted.family)), sample) >= own - _RESOLUTION
    ks_p, ad_p = (farther / (repeats + 1)).tolist()
    return Goodness(
        kolmogorov_smirnov=float(own[0]),
        kolmogorov_smirnov_p=ks_p,
        anderson_darling=float(own[1]),
        anderson_darling_p=ad_p,
        naive_p=float(stats.kstwo.sf(own[0], fitted.n)),
        repeats=repeats,
    )


def _drawn(distribution: Any, arguments: tuple[float, ...], n: int, step: float, rng: np.random.Generator) -> Array:
    """Return a sample, rounded to a step if that is not 0; one that shows no spread is drawn again."""
    while True:
        sample = np.asarray(distribution.rvs(*arguments, size=n, random_state=rng), dtype=float)
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


def _distances(distribution: Any, values: Array) -> Array:
    """Return the statistics of Kolmogorov and Smirnov and of Anderson and Darling."""
    ordered = np.sort(values)
    below = distribution.cdf(ordered)
    n = len(ordered)
    up, down = np.arange(1, n + 1) / n - below, below - np.arange(n) / n
    return np.array([max(float(up.max()), float(down.max())), float(_anderson_darling(distribution, ordered, -1))])


# Of which spread a parameter is a place: it is told in that spread, estimated anew in each sample. What has no spread
# and is no scale is a plain number, and all others are scales or shapes above 0, of which ratios are told.
_PLACES = {
    ("normal", "mean"): "sd",
    ("lognormal", "log_mean"): "log_sd",
    ("shifted lognormal", "log_mean"): "log_sd",
    ("Gumbel", "location"): "scale",
    ("GEV", "location"): "scale",
}
# The same of logarithms, with their spread.
_LOG_PLACES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("Weibull", "scale"): lambda of: 1 / of["shape"],
    ("inverse Gaussian", "mean"): lambda of: np.sqrt(of["mean"] / of["shape"]),
}
_NUMBERS = {("shifted lognormal", "shift"), ("GEV", "shape"), *((MIXTURE, name) for name in _OF_MIXTURE)}


def bootstrap(
    values: npt.ArrayLike, family: str, rng: np.random.Generator, repeats: int = 199, level: float = 0.95
) -> dict[str, Interval]:
    """Return an interval for each parameter of a family that holds if the family does.

    Samples of as many values are drawn from the fit and fitted anew. What is told of them is how far the new estimate
    lies from the fit, in a form that hardly hangs on the parameters: the ratio of scales and shapes, the distance of
    places in spreads; for the normal and the lognormal that is exactly Student's t and chi-square. Resampling the
    values in its place holds 74 % where it says 95 for the spread of ten. Measured over 400 samples of each family
    from 5 values on, these hold 91 to 98 %; of the shift, the GEV and the mixture see the tests.

    Parameters
    ----------
    values : array of n floats
    family : str
        One of `FAMILIES`.
    rng : numpy.random.Generator
    repeats : int
        Samples, at least 2.
    level : float
        How often the interval is to hold the truth, between 0 and 1. [fraction]

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
    check_resampling(repeats, level)
    distribution, _, parameters, *_ = _FAMILIES[family]
    arguments = _estimate(x, family)
    fitted = parameters(*arguments)
    draws: dict[str, list[float]] = {name: [] for name in fitted}
    for _ in range(repeats):
        sample = _drawn(distribution, arguments, len(x), 0.0, rng)
        if family not in _BELOW_ZERO:
            sample = np.maximum(sample, _RESOLUTION * float(x.min()))
        for name, value in parameters(*_estimate(sample, family)).items():
            draws[name].append(value)
    made = {name: np.array(column) for name, column in draws.items()}
    return {name: _turned(family, name, fitted, made, level) for name in fitted}


def _turned(family: str, name: str, fitted: dict[str, float], draws: dict[str, Array], level: float) -> Interval:
    """Return the interval of a parameter: as far on the other side of the estimate as the samples lie from the fit."""
    estimate, tails = fitted[name], [(1 + level) / 2, (1 - level) / 2]
    if spread := _PLACES.get((family, name)):
        far = np.quantile((draws[name] - estimate) / draws[spread], tails)
        low, high = estimate - fitted[spread] * far
    elif log_spread := _LOG_PLACES.get((family, name)):
        far = np.quantile(np.log(draws[name] / estimate) / log_spread(draws), tails)
        low, high = estimate * np.exp(-log_spread(fitted) * far)
    elif (family, name) in _NUMBERS:
        low, high = 2 * estimate - np.quantile(draws[name], tails)
    else:
        low, high = estimate**2 / np.quantile(draws[name], tails)
    if name == "share":
        low, high = max(low, 0.0), min(high, 1.0)
    return Interval(float(max(low, 0.0) if name == "shift" else low), float(estimate), float(high))


def qq(values: npt.ArrayLike, fitted: Fit) -> QuantilePoints:
    """Return the points of a quantile-quantile plot, n of them, in the unit of the values.

    The i-th smallest of n values stands against the fit's quantile at (i - 1/2) / n.

    Examples
    --------
    >>> values = [16.0, 1.0, 2.0, 8.0, 4.0]
    >>> points = qq(values, fit(values, "lognormal"))
    >>> points.observed[:2].tolist(), [round(float(value), 3) for value in points.expected[1:3]]
    ([1.0, 2.0], [2.392, 4.0])
    """
    observed = np.sort(_checked(values, fitted.family))
    shares = (np.arange(len(observed)) + 0.5) / len(observed)
    return QuantilePoints(fitted.distribution.ppf(shares), observed)
