"""Regress on columns of any kind at once with statsmodels' RLM: one row per column, categories by formula, Holm's
correction.

`hopperkit.variation.effects` computes the same estimates with the standard library only; a test compares them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from hopperkit.analysis.clustered import Array

POWER = 0.8
# Numbers whose range spans at least this factor are used as logarithms.
_WIDE = 8.0
_LOW, _HIGH = 0.1, 0.9


class TermEffect(NamedTuple):
    """Effect of one column on y with the others held constant, as a difference of y.

    Parameters
    ----------
    name : str
    low, change, high : float
        With its 95 % interval: for a number, from its 10 % to its 90 % quantile; for categories, from the fastest to
        the slowest.
    p_value, p_corrected : float
        p-values, alone and corrected by Holm's method for the number of columns. [fraction]
    between : tuple of str
        The comparison.
    visible : float
        Change that 80 of 100 data sets like this one would show after the correction.
    """

    name: str
    low: float
    change: float
    high: float
    p_value: float
    p_corrected: float
    between: tuple[str, str]
    visible: float


class RobustFit(NamedTuple):
    """Effects (most certain first), residuals, weights from 0 to 1, and the scale of the residuals."""

    effects: tuple[TermEffect, ...]
    residuals: Array
    weights: Array
    scale: float


def robust_fit(y: Sequence[float], table: pd.DataFrame) -> RobustFit:
    """Regress y on all columns of a table with Huber's M-estimator.

    Parameters
    ----------
    y : sequence of n float
        Logarithms of run times.
    table : DataFrame of n rows
        Numbers, and texts as categories; no column may be determined by the others.

    Examples
    --------
    >>> rows = pd.DataFrame({"build": ["a", "b"] * 20, "load": range(40)})
    >>> y = 0.3 * (rows["build"] == "b") + 0.01 * np.sin(np.arange(40.0) ** 2)
    >>> y[7] += 5
    >>> [(row.name, round(row.change, 2), row.between) for row in robust_fit(y, rows).effects][0]
    ('build', 0.3, ('a', 'b'))
    """
    import statsmodels.formula.api as smf

    # Column names are arbitrary, but formulas need plain ones.
    plain = pd.DataFrame({f"x{at}": scaled(table[name]) for at, name in enumerate(table)}, index=table.index)
    plain["y"] = np.asarray(y, dtype=float)
    terms = [name if pd.api.types.is_numeric_dtype(plain[name]) else f"C({name})" for name in plain if name != "y"]
    fitted = smf.rlm("y ~ " + " + ".join(terms or ["1"]), plain).fit()
    rows = [_effect(fitted, plain[f"x{at}"], table[name], f"x{at}") for at, name in enumerate(table)]
    if rows:
        from statsmodels.stats.multitest import multipletests

        corrected = multipletests([row.p_value for row in rows], method="holm")[1]
        needed = float(stats.norm.isf(0.025 / len(rows)) + stats.norm.ppf(POWER))
        rows = [
            row._replace(name=str(name), p_corrected=float(p), visible=needed * row.visible)
            for name, row, p in zip(table, rows, corrected, strict=True)
        ]
    return RobustFit(
        tuple(sorted(rows, key=lambda row: (row.p_value, row.name))),
        np.asarray(fitted.resid),
        np.asarray(fitted.weights),
        float(fitted.scale),
    )


def scaled(column: pd.Series) -> pd.Series:
    """Standardize numbers (wide-ranging ones as logarithms); leave texts unchanged.

    Parameters
    ----------
    column : Series
        Numbers or texts, one per run.

    Examples
    --------
    >>> scaled(pd.Series([1.0, 3.0])).tolist(), scaled(pd.Series(["a", "a", "b"])).tolist()
    ([-1.0, 1.0], ['a', 'a', 'a'])
    """
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        kinds = column.astype(object).where(column.notna(), "unknown").astype(str)
        # A category with one point would fit it exactly, and hide that it is an outlier.
        often = kinds.value_counts()
        return kinds.where(kinds.map(often) > 1, str(often.index[0])) if often.iloc[0] > 1 else kinds
    values = column.astype(float)
    if values.min() > 0 and values.max() >= _WIDE * values.min():
        values = np.log(values)
    return (values - values.mean()) / (values.std(ddof=0) or 1.0)


def _effect(fitted: Any, column: pd.Series, given: pd.Series, name: str) -> TermEffect:
    """The effect of one column: a Wald test of all its terms, and the contrast that measures its size."""
    parts = [part for part in fitted.params.index if part == name or part.startswith(f"C({name})")]
    estimates, covariance = fitted.params[parts].to_numpy(), fitted.cov_params().loc[parts, parts].to_numpy()
    wald = float(estimates @ np.linalg.solve(covariance, estimates)) / len(parts)
    p_value = float(stats.f.sf(wald, len(parts), fitted.df_resid))
    if pd.api.types.is_numeric_dtype(column):
        low, high = (column.quantile(share, interpolation="nearest") for share in (_LOW, _HIGH))
        low, high = (low, high) if low < high else (column.min(), column.max())
        contrast = np.array([high - low])
        between = tuple(f"{given[column == end].iloc[0]:.4g}" for end in (low, high))
    else:
        kinds = sorted(column.unique())
        levels = dict(zip(kinds, [0.0, *estimates], strict=True))
        fast, slow = (
            min(kinds, key=lambda kind: (levels[kind], kind)),
            max(kinds, key=lambda kind: (levels[kind], kind)),
        )
        contrast = np.array([float(kind == slow) - float(kind == fast) for kind in kinds[1:]])
        between = (fast, slow)
    change, error = float(contrast @ estimates), float(np.sqrt(contrast @ covariance @ contrast))
    off = float(stats.t.isf(0.025, fitted.df_resid)) * error
    return TermEffect(name, change - off, change, change + off, p_value, p_value, (between[0], between[1]), error)
