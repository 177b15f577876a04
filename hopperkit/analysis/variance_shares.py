"""Share of the bulk's variance explained by each factor, after excluding runs far from the robust fit.

The share of a factor is the loss of explained variance in least squares without it, less the loss expected by chance;
variance that two factors explain only together belongs to neither. Everything is computed from the products of the
columns, so hundreds of samples of thousands of jobs take a second.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from hopperkit.analysis.clustered import Array
from hopperkit.analysis.regression import Interval
from hopperkit.analysis.robust_terms import RobustFit, robust_fit, scaled

# A factor with more categories than this share of the points identifies single points, not kinds.
_MOST_KINDS = 0.34
# Runs farther than this from the robust fit, in units of its scale, do not belong to the bulk.
FAR = 4.0
_SAMPLES = 199
# Directions with less than this fraction of the largest variance are rounding: such a column depends on the others.
_RANK = 1e-9


class Share(NamedTuple):
    """Share of the variance of the logarithm of run times that a factor explains.

    Parameters
    ----------
    factor : str
    own : Interval
        With the other factors held constant. [fraction]
    alone : Interval
        With no other factor known. [fraction]
    """

    factor: str
    own: Interval
    alone: Interval


class Shares(NamedTuple):
    """Shares of all factors (largest first), their joint share, and the points they refer to.

    Parameters
    ----------
    rows : list of Share
    together : float
        All factors together, of the bulk. [fraction]
    least_squares : float
        The same of all points. [fraction]
    robust : RobustFit
        The fit that defines the bulk.
    near : array of bool
        Mask of those points.
    """

    rows: list[Share]
    together: float
    least_squares: float
    robust: RobustFit
    near: npt.NDArray[np.bool_]

    def row_of(self, factor: str) -> Share:
        """The share of a factor."""
        return next(row for row in self.rows if row.factor == factor)


def designs_of(table: pd.DataFrame) -> dict[str, Array]:
    """Return the factors of a table as columns of numbers around zero; those that are constant, or that identify single
    points, are left out.

    Parameters
    ----------
    table : DataFrame
        Factors as columns, one row per job.

    Examples
    --------
    >>> designs_of(pd.DataFrame({"load": [1.0, 3.0], "same": [1, 1]}))
    {'load': array([[-1.],
           [ 1.]])}
    """
    return {str(name): design for name in table if (design := _design(table[name])) is not None}


def _design(column: pd.Series) -> Array | None:
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)[:, None]
    else:
        if column.nunique() > _MOST_KINDS * len(column):
            return None
        values = pd.get_dummies(scaled(column), drop_first=True).to_numpy(float)
    if not values.size or not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    return np.asarray(values - values.mean(axis=0))


def variance_shares(y: Array, table: pd.DataFrame, factors: Mapping[str, Array], rng: np.random.Generator) -> Shares:
    """Return each factor's share of the variance of y among the points of the bulk.

    Parameters
    ----------
    y : array of n floats
        Logarithms of run times, one per job.
    table : DataFrame of n rows
        Numbers, and texts as categories.
    factors : mapping
        Its columns that may explain y, as returned by `designs_of`.
    rng : numpy.random.Generator
        Seed of the samples for the intervals.

    Examples
    --------
    Two builds with different times, and one run that takes five times as long:

    >>> table = pd.DataFrame({"build": ["a", "b"] * 20})
    >>> y = np.where(table["build"] == "b", 0.3, 0.0) + 0.1 * np.sin(np.arange(40.0) ** 2)
    >>> y[7] += 1.6
    >>> shares = variance_shares(y, table, designs_of(table), np.random.default_rng(1))
    >>> shares.rows[0].factor, bool(shares.together > 0.8 > 0.5 > shares.least_squares), int((~shares.near).sum())
    ('build', True, 1)
    """
    robust = robust_fit(y.tolist(), table[_independent(factors, len(y))])
    near = np.abs(robust.residuals) <= max(FAR * robust.scale, 1e-12)
    rows, together = _shares(y[near], {name: design[near] for name, design in factors.items()}, rng)
    return Shares(rows, together, _Products(y, factors).explained()[2], robust, near)


def _independent(factors: Mapping[str, Array], n: int) -> list[str]:
    """Return the factors that are independent of the previous ones, as many as the points allow."""
    names: list[str] = []
    for name, design in factors.items():
        columns = np.column_stack([np.ones(n), *(factors[other] for other in names), design])
        if (
            columns.shape[1] <= n // 3
            and np.linalg.matrix_rank(columns / (columns.std(axis=0) + (columns == 1).all(axis=0))) == columns.shape[1]
        ):
            names.append(name)
    return names


class _Products:
    """Products of y and all columns, over points with multiplicities, possibly 0."""

    def __init__(self, y: Array, factors: Mapping[str, Array]) -> None:
        self.columns = np.column_stack([y, *factors.values()])
        ends = np.cumsum([1, *(design.shape[1] for design in factors.values())])
        self.places = {
            name: list(range(begin, end)) for name, (begin, end) in zip(factors, pairwise(ends), strict=True)
        }
        self.all = [place for places in self.places.values() for place in places]

    def explained(self, counts: Array | None = None) -> tuple[dict[str, float], dict[str, float], float]:
        """Return the share of each factor by itself and alone, and the share of all."""
        weights = np.ones(len(self.columns)) if counts is None else counts
        n = int(weights.sum())
        middle = weights @ self.columns / n
        off = self.columns - middle
        products = off.T @ (off * weights[:, None])
        total = float(products[0, 0])
        if total <= 0:
            return dict.fromkeys(self.places, 0.0), dict.fromkeys(self.places, 0.0), 0.0
        rest, rank = _left(products, self.all)
        noise = rest / max(1, n - 1 - rank)
        own, alone = {}, {}
        for name, mine in self.places.items():
            without, fewer = _left(products, [place for place in self.all if place not in mine])
            only, kinds = _left(products, mine)
            own[name] = max(0.0, (without - rest - (rank - fewer) * noise) / total)
            alone[name] = max(0.0, (total - only - kinds * only / max(1, n - 1 - kinds)) / total)
        return own, alone, max(0.0, (total - rest - rank * noise) / total)


def _left(products: Array, places: Sequence[int]) -> tuple[float, int]:
    """Return the residual sum of squares of y on some columns, and their rank."""
    total = float(products[0, 0])
    scale = np.sqrt(np.diag(products)[list(places)])
    kept = [place for place, size in zip(places, scale, strict=True) if size > 0]
    if not kept:
        return total, 0
    sizes = np.sqrt(np.diag(products)[kept])
    values, vectors = np.linalg.eigh(products[np.ix_(kept, kept)] / np.outer(sizes, sizes))
    along = vectors.T @ (products[kept, 0] / sizes)
    new = values > _RANK * values[-1]
    return max(0.0, total - float((along[new] ** 2 / values[new]).sum())), int(new.sum())


def _shares(y: Array, factors: Mapping[str, Array], rng: np.random.Generator) -> tuple[list[Share], float]:
    """Return the shares with intervals over samples of points, the largest first, and the share of all together."""
    products, n = _Products(y, factors), len(y)
    own, alone, together = products.explained()
    draws: list[tuple[dict[str, float], dict[str, float], float]] = []
    while len(draws) < _SAMPLES:
        rows = rng.integers(n, size=n)
        if np.ptp(y[rows]):
            draws.append(products.explained(np.bincount(rows, minlength=n).astype(float)))

    def interval(name: str, which: int, estimate: float) -> Interval:
        low, high = np.quantile([draw[which][name] for draw in draws], (0.025, 0.975)).tolist()  # type: ignore[index]
        return Interval(low, estimate, high)

    made = [Share(name, interval(name, 0, own[name]), interval(name, 1, alone[name])) for name in factors]
    return sorted(made, key=lambda share: -share.own.estimate), together
