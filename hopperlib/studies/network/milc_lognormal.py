"""Whether a lognormal can have the least, mean and greatest time that are printed of MILC, for a sample of unknown size."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from hopperlib.documented import printed

__all__ = ["ShiftedLognormal", "least_sample", "lognormal_chance", "shifted_lognormal"]

_WIDEST = 3.0


def _extremes() -> tuple[float, float, float]:
    """Return the printed least, mean and greatest time. [s]"""
    return (
        printed("variability.table-total-minimum"),
        printed("variability.table-total-mean"),
        printed("variability.table-total-maximum"),
    )


def least_sample() -> int:
    """Fewest runs that can have the printed least, mean and greatest: all but one as quick as the least.

    Examples
    --------
    >>> least_sample()
    7
    """
    least, middle, most = _extremes()
    return math.ceil((most - least) / (middle - least))


@cache
def lognormal_chance(runs: int) -> float:
    """Chance that a two-parameter lognormal puts least, mean and greatest as far apart as printed. [fraction]

    Scale drops out of the ratios mean/least and greatest/least, so one
    parameter is left; it is taken where the chance is highest. Counted are
    samples whose mean lies as close to the least as printed, or closer, and
    whose greatest lies as far from it, or farther.

    Examples
    --------
    >>> lognormal_chance(100) < 0.01
    True
    """
    normal = np.random.default_rng(runs).standard_normal((2000, runs))
    least, middle, most = _extremes()
    chances = []
    for sd in np.linspace(0.05, 1.0, 39):
        values = np.exp(sd * normal)
        smallest = values.min(axis=1)
        near, far = middle / least * smallest, most / least * smallest
        chances.append(float(np.mean((values.mean(axis=1) <= near) & (values.max(axis=1) >= far))))
    return max(chances)


class ShiftedLognormal(NamedTuple):
    """A shifted lognormal through the printed least, mean and greatest: its floor [s], and the spread of logarithms."""

    shift_s: float
    log_sd: float


@cache
def shifted_lognormal(runs: int) -> ShiftedLognormal:
    """The shifted lognormal whose samples of so many runs have the printed least, mean and greatest in the middle.

    Raises
    ------
    ValueError
        If the runs are too few for any spread to put the greatest so far out.

    Examples
    --------
    >>> 0 < shifted_lognormal(100).shift_s < 887.1
    True
    """
    normal = np.random.default_rng(runs).standard_normal((2000, runs))
    least, middle, most = _extremes()
    low, high = 0.05, _WIDEST
    # The wider the spread, the farther out the greatest: halve the interval that holds the printed ratio.
    for _ in range(30):
        sd = (low + high) / 2
        values = np.exp(sd * normal)
        smallest = values.min(axis=1)
        ratio = float(np.median((values.max(axis=1) - smallest) / (values.mean(axis=1) - smallest)))
        low, high = (sd, high) if ratio < (most - least) / (middle - least) else (low, sd)
    if sd > 0.99 * _WIDEST:
        raise ValueError(f"runs={runs} are too few: no shifted lognormal puts their greatest so far above their mean")
    scale = (middle - least) / float(np.median(values.mean(axis=1) - smallest))
    return ShiftedLognormal(least - scale * float(np.median(smallest)), sd)
