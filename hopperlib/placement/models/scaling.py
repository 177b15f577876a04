"""Scaling of times and sizes with the number of nodes or tasks, from a few measurements. A run has parts that shrink
with the nodes, constant parts and parts that grow. Nonnegative least squares estimates each; the part that does not
shrink dominates at scale (Amdahl).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from operator import mul

from hopperlib.errors import InputError, above

_DUST = 1e-12


def parts(points: Mapping[float, float], powers: Sequence[float]) -> list[float]:
    """Nonnegative coefficients of powers of the count that fit measured values with the least relative error.

    Parameters
    ----------
    points : mapping
        Count -> value, at least as many as powers. [above 0]
    powers : sequence of float
        -1 for a part that shrinks with the count, 0 for a constant part, above 0 for one that grows.

    Raises
    ------
    InputError
        If there are fewer points than powers, or a number is not above 0.

    Examples
    --------
    Half of a run of 8 s shrinks:

    >>> [round(part, 6) for part in parts({1: 8.0, 2: 6.0, 4: 5.0}, [-1, 0])]
    [4.0, 4.0]
    """
    if not 0 < len(powers) <= len(points):
        raise InputError(f"powers={list(powers)} must be at least one, and no more than the {len(points)} points")
    for count, value in points.items():
        above(0, count=count, value=value)
    # In units of the first count, powers of large counts remain near 1. Each row is divided by its value.
    unit = min(points)
    table = [[math.pow(count / unit, power) / value for power in powers] for count, value in points.items()]
    best, least = [0.0] * len(powers), math.inf
    # Because there are few parts, every subset is tried, and the best one without a negative part is kept.
    for size in range(1, len(powers) + 1):
        for chosen in combinations(range(len(powers)), size):
            columns = [[row[place] for place in chosen] for row in table]
            found = _least_squares(columns)
            if found is None or min(found) < 0:
                continue
            error = sum((sum(map(mul, row, found)) - 1) ** 2 for row in columns)
            if error < least - _DUST:
                by_place = dict(zip(chosen, found, strict=True))
                best, least = [by_place.get(place, 0.0) for place in range(len(powers))], error
    return [part * math.pow(unit, -power) for part, power in zip(best, powers, strict=True)]


def _least_squares(table: Sequence[Sequence[float]]) -> list[float] | None:
    """Least-squares coefficients of columns that add up to 1 in each row; None if columns are linearly dependent."""
    size = len(table[0])
    matrix = [
        [sum(row[i] * row[j] for row in table) for j in range(size)] + [sum(row[i] for row in table)]
        for i in range(size)
    ]
    # Gaussian elimination with pivoting on the normal equations of two or three parts.
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(matrix[i][column]))
        if abs(matrix[pivot][column]) <= _DUST * max(abs(row[column]) for row in table) ** 2:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        for i in range(size):
            if i != column:
                factor = matrix[i][column] / matrix[column][column]
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[column], strict=True)]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


def scaled(points: Mapping[float, float], count: float, powers: Sequence[float]) -> float:
    """Value at another count, in the unit of the values.

    Parameters
    ----------
    points, powers
        As in `parts`.
    count : float
        [above 0]

    Raises
    ------
    InputError
        As in `parts`, or if `count` is not above 0.

    Examples
    --------
    >>> round(scaled({1: 8.0, 2: 6.0, 4: 5.0}, 16, [-1, 0]), 6)
    4.25
    """
    above(0, count=count)
    found = parts(points, powers)
    return sum(part * math.pow(count, power) for part, power in zip(found, powers, strict=True))
