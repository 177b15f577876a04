"""Location and regression that a few slow runs cannot overturn: Huber's M-estimator with a scale from the median.

Each point is weighted by ``min(1, c / |z|)``, z its residual in scales, so that a run twenty scales off pulls no more
than one at ``c`` scales. The scale is the median absolute residual over 0.6745, taken anew in each round. Estimates and
standard errors match ``statsmodels.RLM`` with its defaults (HuberT, covariance H1); a test compares them.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

# 95 % as efficient as least squares where the residuals are normal (Huber 1981, sec. 4.5).
TUNING = 1.345
_MEDIAN_OF_NORMAL = 0.6744897501960817
_ROUNDS = 50
_PRECISE = 1e-8
# A column whose pivot falls below this share of its size follows from the columns before it.
_SINGULAR = 1e-9

Matrix = list[list[float]]


class Location(NamedTuple):
    """Center, spread of one value, and standard error of the center, all in the unit of the values."""

    center: float
    spread: float
    error: float


class Regression(NamedTuple):
    """A robust regression.

    Parameters
    ----------
    estimates : list of k float
        In the order of the columns.
    covariance : list of k lists of k float
    scale : float
        Spread of the residuals, in the unit of y.
    residuals, weights : list of n float
        Weights from 0 to 1; a point at full weight is within `TUNING` scales.
    degrees : int
        Points less columns.
    """

    estimates: list[float]
    covariance: Matrix
    scale: float
    residuals: list[float]
    weights: list[float]
    degrees: int

    @property
    def errors(self) -> list[float]:
        """Standard errors of the estimates."""
        return [math.sqrt(max(row[place], 0.0)) for place, row in enumerate(self.covariance)]


def spread_of(values: Sequence[float], center: float | None = None) -> float:
    """Robust standard deviation: the median distance from the center over 0.6745, in the unit of the values.

    Parameters
    ----------
    values : sequence of float
    center : float or None
        None takes the median.

    Examples
    --------
    >>> round(spread_of([9.0, 10.0, 11.0, 12.0, 90.0]), 2)
    1.48
    """
    middle = median(values) if center is None else center
    return median(abs(value - middle) for value in values) / _MEDIAN_OF_NORMAL


def location(values: Sequence[float]) -> Location:
    """Robust center and spread of values, unaffected by a few outliers.

    Parameters
    ----------
    values : sequence of float
        At least two.

    Examples
    --------
    Nine runs near 100 s and one of 900 s:

    >>> found = location([99, 101, 100, 98, 102, 100, 99, 101, 100, 900])
    >>> round(found.center, 1), round(found.spread, 1)
    (100.3, 1.5)
    """
    fitted = regression([[1.0]] * len(values), values)
    spread = fitted.scale or spread_of(values)
    return Location(fitted.estimates[0], spread, fitted.errors[0])


def regression(design: Sequence[Sequence[float]], y: Sequence[float]) -> Regression:
    """Regress y on columns with Huber's M-estimator.

    Parameters
    ----------
    design : sequence of n rows of k float
        With a column of ones, if there is to be a level.
    y : sequence of n float
        More than there are columns.

    Raises
    ------
    ValueError
        If there are not more points than columns, or a column follows from the others.

    Examples
    --------
    A slope of 2 with one point far off:

    >>> rows = [[1.0, float(x)] for x in range(10)]
    >>> y = [1.0, 3.1, 4.9, 7.0, 9.1, 10.9, 13.0, 15.1, 16.9, 90.0]
    >>> [round(value, 2) for value in regression(rows, y).estimates]
    [0.98, 2.01]

    References
    ----------
    P. J. Huber, Robust Statistics (Wiley, 1981), ch. 7; the covariance is its H1, eq. 7.6.11 with the correction 7.6.10.
    """
    rows, ys = [list(map(float, row)) for row in design], list(map(float, y))
    columns = len(rows[0]) if rows else 0
    if len(ys) <= columns:
        raise ValueError(f"{len(ys)} points for {columns} columns: there must be more points than columns")
    weights = [1.0] * len(ys)
    estimates = _weighted_fit(rows, ys, weights)
    residuals = _residuals(rows, ys, estimates)
    scale = spread_of(residuals, 0.0)
    deviance = _deviance(residuals, scale)
    for _ in range(_ROUNDS):
        if scale <= 0:
            break
        weights = [_weight(residual / scale) for residual in residuals]
        estimates = _weighted_fit(rows, ys, weights)
        residuals = _residuals(rows, ys, estimates)
        scale = spread_of(residuals, 0.0)
        before, deviance = deviance, _deviance(residuals, scale)
        if abs(deviance - before) <= _PRECISE:
            break
    return Regression(estimates, _covariance(rows, residuals, scale), scale, residuals, weights, len(ys) - columns)


def _weight(z: float) -> float:
    """Weight of a residual, in scales."""
    return 1.0 if abs(z) <= TUNING else TUNING / abs(z)


def _deviance(residuals: Sequence[float], scale: float) -> float:
    """Sum of Huber's loss over the residuals, in scales."""
    if scale <= 0:
        return 0.0
    z = [abs(residual) / scale for residual in residuals]
    return math.fsum(each * each / 2 if each <= TUNING else TUNING * (each - TUNING / 2) for each in z)


def _residuals(rows: Matrix, y: Sequence[float], estimates: Sequence[float]) -> list[float]:
    return [
        value - math.fsum(part * cell for part, cell in zip(estimates, row, strict=True))
        for value, row in zip(y, rows, strict=True)
    ]


def _weighted_fit(rows: Matrix, y: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Least squares with weights, by the normal equations."""
    inverse = inverted(_products(rows, weights))
    right = [
        math.fsum(weight * row[place] * value for weight, row, value in zip(weights, rows, y, strict=True))
        for place in range(len(rows[0]))
    ]
    return [math.fsum(a * b for a, b in zip(line, right, strict=True)) for line in inverse]


def _products(rows: Matrix, weights: Sequence[float]) -> Matrix:
    """The matrix of weighted products of columns."""
    size = len(rows[0])
    products = [[0.0] * size for _ in range(size)]
    for weight, row in zip(weights, rows, strict=True):
        for i, cell in enumerate(row):
            if cell:
                line, factor = products[i], weight * cell
                for j in range(i, size):
                    line[j] += factor * row[j]
    for i in range(size):
        for j in range(i):
            products[i][j] = products[j][i]
    return products


def inverted(matrix: Sequence[Sequence[float]]) -> Matrix:
    """Inverse of a symmetric positive definite matrix, by Gauss and Jordan on its scaled form.

    Raises
    ------
    ValueError
        If a column follows from the others.

    Examples
    --------
    >>> inverted([[4.0, 0.0], [0.0, 16.0]])
    [[0.25, 0.0], [0.0, 0.0625]]
    """
    size = len(matrix)
    # Columns of very different size, such as hops and bytes, are brought to one scale first.
    sizes = [math.sqrt(matrix[place][place]) or 1.0 for place in range(size)]
    work = [
        [matrix[i][j] / sizes[i] / sizes[j] for j in range(size)] + [float(i == j) for j in range(size)]
        for i in range(size)
    ]
    for place in range(size):
        pivot = work[place][place]
        if pivot < _SINGULAR:
            raise ValueError("a column follows from the others: leave it out")
        line = work[place] = [cell / pivot for cell in work[place]]
        for i in range(size):
            if i != place and (factor := work[i][place]):
                work[i] = [cell - factor * other for cell, other in zip(work[i], line, strict=True)]
    return [[work[i][size + j] / sizes[i] / sizes[j] for j in range(size)] for i in range(size)]


def _covariance(rows: Matrix, residuals: Sequence[float], scale: float) -> Matrix:
    """Covariance of the estimates (Huber's H1), with the correction for many columns."""
    n, size = len(rows), len(rows[0])
    inverse = inverted(_products(rows, [1.0] * n))
    if scale <= 0:
        return [[0.0] * size for _ in range(size)]
    z = [residual / scale for residual in residuals]
    inside = sum(abs(each) <= TUNING for each in z) / n
    squares = math.fsum(min(abs(each), TUNING) ** 2 for each in z) * scale**2 / (n - size)
    if not inside:
        return [[math.inf] * size for _ in range(size)]
    correction = 1 + size / n * (1 - inside) / inside
    factor = correction**2 * squares / inside**2
    return [[factor * cell for cell in line] for line in inverse]
