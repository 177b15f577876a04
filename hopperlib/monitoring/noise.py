"""Kinds of noise that invalidate the likelihood of a step: changing spread, and slow wandering.

A step detector assumes that runs scatter evenly around their level, with a short memory from one run to the next. A
growing spread hides a loss; wandering at all time scales (1/f noise) looks like one. Both are detected here, so that
the answer can state its limits.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

# Significance level for a change of the spread, and the smallest ratio that matters.
_LEVEL, _LEAST_RATIO = 0.001, 1.5
_LEAST_SIDE = 8
_LEAST_BLOCK = 4
# A step in wandering noise counts if it is this many times the usual difference of neighboring blocks.
STANDS_OUT = 5.0
_MEDIAN_OF_NORMAL = 0.6745


class SpreadChange(NamedTuple):
    """A change of the spread: its first run, and the spread before and after, as standard deviations."""

    run: int
    before: float
    after: float


def spread_change(residuals: Sequence[float]) -> SpreadChange | None:
    """Find a lasting change of the spread of runs around their level, from the ranks of their distances; None if there
    is none.

    Parameters
    ----------
    residuals : sequence of float
        Distances from the level, in order of time.

    Examples
    --------
    >>> quiet = [(-1) ** run * (1 + run % 3) for run in range(30)]
    >>> spread_change([*quiet, *(5 * value for value in quiet)]).run
    30
    >>> spread_change(quiet) is None
    True

    References
    ----------
    A. N. Pettitt, "A non-parametric approach to the change-point problem," Applied Statistics 28 (1979) 126-135.
    """
    n = len(residuals)
    if n < 2 * _LEAST_SIDE:
        return None
    order = sorted(range(n), key=lambda run: abs(residuals[run]))
    rank = [0] * n
    for place, run in enumerate(order, 1):
        rank[run] = place
    # Pettitt's statistic: the greatest distance from 0 of the sum of centered ranks, which a steady series keeps small.
    # Ranks are doubled to stay whole numbers; the chance is his approximation, exp(-6 K^2 / (n^3 + n^2)) on two sides.
    total, most, at = 0, 0, 0
    for run in range(1, n):
        total += 2 * rank[run - 1] - (n + 1)
        if _LEAST_SIDE <= run <= n - _LEAST_SIDE and abs(total) > most:
            most, at = abs(total), run
    chance = 2 * math.exp(-6 * most**2 / (n**3 + n**2))
    if chance > _LEVEL or not at:
        return None
    before, after = (median(map(abs, side)) / _MEDIAN_OF_NORMAL for side in (residuals[:at], residuals[at:]))
    low, high = sorted((before, after))
    return SpreadChange(at, before, after) if high >= _LEAST_RATIO * low else None


def is_unusual_step(values: Sequence[float], run: int) -> bool:
    """Whether the step at a run is large relative to the usual difference of neighboring blocks elsewhere in the
    history.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values.
    run : int
        First run after the step.

    Examples
    --------
    >>> steady = [0.1 * (run * 7 % 5) for run in range(60)]
    >>> is_unusual_step([*steady, *(value - 1 for value in steady)], 60), is_unusual_step(steady, 30)
    (True, False)
    """
    n = len(values)
    size = max(_LEAST_BLOCK, min(run, n - run, n // 6))
    step = abs(median(values[run : run + size]) - median(values[max(0, run - size) : run]))
    # Blocks on either side of the step, counted from it, so that none crosses it.
    left, right = list(reversed(values[:run])), values[run:]
    others = [second - first for side in (left, right) for first, second in pairwise(_block_medians(side, size))]
    if not others:
        return False
    return step > STANDS_OUT * math.sqrt(fmean(difference**2 for difference in others))


def _block_medians(values: Sequence[float], size: int) -> list[float]:
    return [median(values[begin : begin + size]) for begin in range(0, len(values) - size + 1, size)]
