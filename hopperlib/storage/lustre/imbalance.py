"""How full the fullest OST gets when objects fall on OSTs at random: without drawing.

Two ways. For few objects the chance that no OST gets more than so many is
exact: independent Poisson loads, given their sum, are the loads of a random
deal. For many the loads are nearly normal, and the mean of the largest of n
normal values is an integral; that all loads add up to the number of objects
widens them by n / (n - 1), and their skewness shifts the largest a little up.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

__all__ = ["chance_of_at_most", "expected_fullest", "mean_of_largest_normal"]

# Multiplications that one step of the exact way may take; beyond, the normal way answers.
_MOST_WORK = 8_000


def chance_of_at_most(most: int, objects: int, osts: int) -> float:
    """Chance that no OST gets more than so many of the objects, each on an OST at random. [fraction]

    Parameters
    ----------
    most, objects, osts : int

    Raises
    ------
    ValueError
        If a number is negative, or there is no OST.

    Examples
    --------
    Two objects on two OSTs are apart half the time:

    >>> round(chance_of_at_most(1, 2, 2), 9)
    0.5
    """
    if min(most, objects) < 0 or osts < 1:
        raise ValueError(f"most={most} and objects={objects} must not be negative, and osts={osts} at least 1")
    if most * osts < objects:
        return 0.0
    if most >= objects:
        return 1.0
    mean = objects / osts
    single = [math.exp(-mean + count * math.log(mean) - math.lgamma(count + 1)) for count in range(most + 1)]
    sums = _power(single, osts, objects)
    given = math.exp(-objects + objects * math.log(objects) - math.lgamma(objects + 1))
    return min(1.0, max(0.0, sums[objects] / given))


def _power(series: list[float], exponent: int, most: int) -> list[float]:
    """Return the coefficients of a power of a power series up to `most`, by the recurrence of Euler and Miller."""
    first = series[0]
    powers = [first**exponent]
    for number in range(1, most + 1):
        terms = (
            (exponent * step - number + step) * series[step] * powers[number - step]
            for step in range(1, min(number, len(series) - 1) + 1)
        )
        powers.append(math.fsum(terms) / (number * first))
    return powers


@cache
def mean_of_largest_normal(count: int) -> float:
    """Mean of the largest of so many standard normal values.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> round(mean_of_largest_normal(2), 4), round(mean_of_largest_normal(156), 2)
    (0.5642, 2.66)
    """
    if count < 1:
        raise ValueError(f"count={count} must be at least 1")
    normal, step = NormalDist(), 1 / 128
    # The mean is the integral of 1 - F^n above 0, less that of F^n below; both are smooth, so steps of 1/128 do.
    above = math.fsum(1 - normal.cdf((number + 0.5) * step) ** count for number in range(10 * 128))
    below = math.fsum(normal.cdf(-(number + 0.5) * step) ** count for number in range(10 * 128))
    return (above - below) * step


def expected_fullest(files: int, stripe_count: int, osts: int) -> float:
    """Mean number of objects on the fullest OST, files dealt at random.

    Every file has `stripe_count` objects on different OSTs. Exact for few
    objects of files with one stripe, nearly normal otherwise.

    Parameters
    ----------
    files, stripe_count, osts : int

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    20,000 files with one stripe on 156 OSTs: 128 on average, 159 on the fullest.

    >>> round(expected_fullest(20_000, 1, 156))
    159
    >>> round(expected_fullest(2, 1, 2), 9)
    1.5
    """
    if files < 1 or not 1 <= stripe_count <= osts:
        raise ValueError(
            f"files={files} must be at least 1, and stripe_count={stripe_count} from 1 to {osts}, the OSTs"
        )
    if stripe_count == osts:
        return float(files)
    mean, part = files * stripe_count / osts, stripe_count / osts
    deviation = math.sqrt(mean * (1 - part) * osts / (osts - 1))
    if stripe_count == 1 and files * (mean + 6 * deviation + 8) < _MOST_WORK:
        return _exact_fullest(files, osts)
    largest = mean_of_largest_normal(osts)
    # Cornish and Fisher's first correction, for the skewness of a binomial load.
    skewed = (1 - 2 * part) * (largest**2 - 1) / 6
    return min(float(files), mean + deviation * largest + skewed)


@cache
def _exact_fullest(files: int, osts: int) -> float:
    """Return the exact mean of the fullest OST's objects."""
    total, most = 0.0, 0
    while (missing := 1 - chance_of_at_most(most, files, osts)) > 1e-9:
        total += missing
        most += 1
    return total
