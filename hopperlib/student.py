"""Student's t-distribution, for intervals from few values."""

import math
from functools import cache


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
    >>> round(t_quantile(0.975, 8), 3), round(t_quantile(0.025, 2.5), 3)
    (2.306, -3.575)
    """
    low, high = -1e4, 1e4
    while high - low > 1e-9 * max(1.0, abs(low)):
        middle = (low + high) / 2
        low, high = (middle, high) if t_below(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def t_below(t: float, degrees: float) -> float:
    """Cumulative distribution function of Student's t, by integrating its density.

    The density is a power of the cosine of the angle whose tangent is t over the root of the degrees of freedom.

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
    angle, steps = math.atan(t / math.sqrt(degrees)), 400
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    # Simpson's rule: the integrand is smooth, so 400 steps exceed double precision.
    heights = [math.cos(angle * step / steps) ** (degrees - 1) for step in range(steps + 1)]
    area = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return float(0.5 + scale * area * angle / (3 * steps))
