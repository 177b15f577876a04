"""Tails of the F, chi-square and normal distributions, and the F quantile, with the standard library alone."""

import math
from statistics import NormalDist

_NORMAL = NormalDist()
_TINY = 1e-300
_STEPS = 400


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularized incomplete beta function I_x(a, b), by its continued fraction (Lentz's method). [fraction]

    Parameters
    ----------
    x : float
        From 0 to 1.
    a, b : float
        Above 0.

    Examples
    --------
    >>> round(incomplete_beta(0.5, 2, 2), 3), round(incomplete_beta(0.25, 1, 1), 3)
    (0.5, 0.25)

    References
    ----------
    NIST Digital Library of Mathematical Functions, 8.17.22.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    # The fraction converges fast below the mean; above it, the other tail is computed.
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / _guarded(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _guarded(1 + term * d)
            c = _guarded(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return math.exp(log_front) * value / a


def _guarded(value: float) -> float:
    """Keep a denominator away from zero, as Lentz's method requires."""
    return value if abs(value) > _TINY else _TINY


def f_tail(ratio: float, above: float, below: float) -> float:
    """Chance that an F ratio with these degrees of freedom exceeds a value. [fraction]

    Parameters
    ----------
    ratio : float
        Value of the statistic.
    above : float
        Degrees of freedom of the numerator.
    below : float
        Degrees of freedom of the denominator.

    Examples
    --------
    >>> round(f_tail(4.96, 1, 10), 3)
    0.05
    """
    return 1.0 if ratio <= 0 else incomplete_beta(below / (below + above * ratio), below / 2, above / 2)


def f_quantile(tail: float, above: float, below: float) -> float:
    """Value that an F ratio exceeds with this chance, by bisection.

    Parameters
    ----------
    tail : float
        Probability of the upper tail.
    above : float
        Degrees of freedom of the numerator.
    below : float
        Degrees of freedom of the denominator.

    Examples
    --------
    >>> round(f_quantile(0.05, 1, 10), 2)
    4.96
    """
    low, high = 0.0, 1.0
    while f_tail(high, above, below) > tail and high < 1e12:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f_tail(middle, above, below) > tail else (low, middle)
    return high


def chi_square_tail(value: float, degrees: float) -> float:
    """Chance that a chi-square variable exceeds a value; from 3 degrees on Wilson and Hilferty's cube root. [fraction]

    Parameters
    ----------
    value : float
        Value of the statistic.
    degrees : float
        Degrees of freedom.

    Examples
    --------
    >>> round(chi_square_tail(5.99, 2), 2)
    0.05
    """
    if value <= 0:
        return 1.0
    if degrees in (1, 2):
        return 2 * normal_tail(math.sqrt(value)) if degrees == 1 else math.exp(-value / 2)
    spread = 2 / (9 * degrees)
    return normal_tail(((value / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))


def normal_tail(z: float) -> float:
    """Chance that a standard normal variable exceeds a value, one-sided. [fraction]

    Parameters
    ----------
    z : float
        Standard normal deviate.

    Examples
    --------
    >>> round(normal_tail(1.96), 3)
    0.025
    """
    return math.erfc(z / math.sqrt(2)) / 2


def normal_quantile(tail: float) -> float:
    """Value that a standard normal variable exceeds with this chance.

    Parameters
    ----------
    tail : float
        Probability of the upper tail.

    Examples
    --------
    >>> round(normal_quantile(0.025), 2)
    1.96
    """
    return -_NORMAL.inv_cdf(tail)
