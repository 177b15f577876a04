"""Student's t-distribution, for intervals from few values.

Its distribution is an incomplete beta function [1]_, evaluated by a continued fraction [2]_, which holds for a million
degrees of freedom as for one.

References
----------
.. [1] M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.7.1.
.. [2] The same, 26.5.8.
"""

import math
from functools import cache

# The fraction needs about the root of its larger argument; a million degrees of freedom take less than a thousand steps.
_MOST_STEPS = 100_000


@cache
def t_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t-distribution, by bisection of its distribution.

    Parameters
    ----------
    probability : float
        Probability, above 0 and below 1.
    degrees : float
        Degrees of freedom.

    Examples
    --------
    >>> round(t_quantile(0.975, 8), 3), round(t_quantile(0.025, 2.5), 3), round(t_quantile(0.975, 1e6), 3)
    (2.306, -3.575, 1.96)
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while t_below(high, degrees) < probability:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_below(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def t_below(t: float, degrees: float) -> float:
    """Cumulative distribution function of Student's t.

    Parameters
    ----------
    t : float
        Value of the variable.
    degrees : float
        Degrees of freedom.

    Examples
    --------
    >>> round(t_below(2.306, 8), 3), t_below(0, 3)
    (0.975, 0.5)
    """
    if not t:
        return 0.5
    # Both shares are computed without a difference, which would lose the digits of the smaller one.
    squared = t * t
    far = squared / (degrees + squared) if squared < math.inf else 1.0
    tail = _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + squared), far) / 2
    return 1 - tail if t > 0 else tail


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function of x; `rest` is 1 - x."""
    if not x or not rest:
        return float(not rest)
    # The fraction converges fast below the mean of the distribution.
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, rest, x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log_front) / (a * _fraction(a, b, x))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction below the front of the incomplete beta function, by Lentz's rule from the top."""
    value = upper = 1.0
    lower = 0.0
    for number in range(1, _MOST_STEPS):
        m = number // 2
        if number % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        step = upper * lower
        value *= step
        if abs(step - 1) < 1e-15:
            break
    return value
