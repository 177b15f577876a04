"""Columns of numbers as they are checked, and intervals by resampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hopperlib.errors import refusal

Array = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """An estimate with the ends of its interval."""

    low: float
    estimate: float
    high: float


def column(values: npt.ArrayLike, name: str) -> Array:
    """Return a column of finite numbers."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers, not {array[~np.isfinite(array)][0]}")
    return array


def check_resampling(repeats: int, level: float) -> None:
    """Refuse a number of samples, or a level, that gives no interval."""
    if repeats < 2:
        raise refusal("repeats", repeats, "must be at least 2")
    if not 0 < level < 1:
        raise refusal("level", level, "must be between 0 and 1, such as 0.95")


def percentiles(draws: Array | list[float], estimate: float, level: float) -> Interval:
    """Return the interval that holds this share of the draws, as many below it as above."""
    low, high = np.quantile(np.asarray(draws), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(estimate), float(high))
