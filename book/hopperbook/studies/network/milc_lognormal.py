"""Whether a lognormal can have the least, mean and greatest time that are printed of MILC, for a sample of unknown size."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopperbook.documented import printed
from hopperlib.errors import refusal

_SAMPLES = 2000
_SPREADS = np.linspace(0.02, 1.0, 50)
_WIDEST = 3.0


class Printed(NamedTuple):
    """Least, mean and greatest time of a column of the table. [s]"""

    least: float
    mean: float
    greatest: float


def printed_times(column: str = "total") -> Printed:
    """Return the printed statistics of all runs ("total") or of the quickest run of each job ("minima"). [s]

    Examples
    --------
    >>> printed_times("minima")
    Printed(least=904.0, mean=1081.0, greatest=1556.0)
    """
    return Printed(*(printed(f"variability.table-{column}-{row}") for row in ("minimum", "mean", "maximum")))


def least_sample() -> int:
    """Fewest runs that can have the printed least, mean and greatest: all but one as quick as the least.

    Examples
    --------
    >>> least_sample()
    7
    """
    least, middle, most = printed_times()
    return math.ceil((most - least) / (middle - least))


def _gaps(normal: NDArray[np.float64], spread: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distances of mean and maximum above the minimum, as logarithms, in samples of a lognormal."""
    logs = spread * normal
    least = logs.min(axis=1)
    return np.log(np.exp(logs).mean(axis=1)) - least, logs.max(axis=1) - least


@cache
def lognormal_chance(times: Printed, count: int) -> float:
    """Probability that a lognormal's maximum is as far from its expected value, given its minimum and mean. [fraction]

    A parametric bootstrap. Scale drops out of mean over least and greatest over least, so one parameter is left, the
    spread: the mean over the least gives it, and greatest over least is compared with what that spread gives. The same
    is done to samples of the fitted lognormal, so that of true lognormals a twentieth falls below 0.05.

    Parameters
    ----------
    times : Printed
    count : int
        Times in the sample, at least 3.

    Raises
    ------
    InputError
        If they are fewer.

    Examples
    --------
    >>> lognormal_chance(printed_times("total"), 100) < 0.01
    True
    """
    if count < 3:
        raise refusal("count", count, "must be at least 3: a least, a greatest, and one between")
    normal = np.random.default_rng(count).standard_normal((_SAMPLES, count))
    each = [_gaps(normal, spread) for spread in _SPREADS]
    means = np.array([np.median(to_mean) for to_mean, _ in each])
    middles = np.array([np.median(to_most) for _, to_most in each])
    widths = np.array([np.subtract(*np.quantile(to_most, (0.75, 0.25))) for _, to_most in each])

    def surprise(to_mean: NDArray[np.float64], to_most: NDArray[np.float64]) -> NDArray[np.float64]:
        spread = np.interp(to_mean, means, _SPREADS)
        off = to_most - np.interp(spread, _SPREADS, middles)
        return np.asarray(np.abs(off) / np.interp(spread, _SPREADS, widths))

    to_mean, to_most = math.log(times.mean / times.least), math.log(times.greatest / times.least)
    spread = float(np.interp(to_mean, means, _SPREADS))
    fresh = np.random.default_rng([count, 1]).standard_normal((_SAMPLES, count))
    others = surprise(*_gaps(fresh, spread))
    farther = int((others >= surprise(np.array(to_mean), np.array(to_most))).sum())
    return (1 + farther) / (1 + _SAMPLES)


class ShiftedLognormal(NamedTuple):
    """A shifted lognormal through the printed least, mean and greatest: its floor [s], and the spread of logarithms."""

    shift_s: float
    log_sd: float


@cache
def shifted_lognormal(runs: int) -> ShiftedLognormal:
    """The shifted lognormal whose samples of that many runs have the printed least, mean and greatest in the middle.

    Raises
    ------
    InputError
        If there are too few runs for any spread to have such a maximum.

    Examples
    --------
    >>> 0 < shifted_lognormal(100).shift_s < 887.1
    True
    """
    normal = np.random.default_rng(runs).standard_normal((_SAMPLES, runs))
    least, middle, most = printed_times()
    low, high = 0.05, _WIDEST
    # The wider the spread, the farther out the greatest: halve the interval that holds the printed ratio.
    for _ in range(30):
        sd = (low + high) / 2
        values = np.exp(sd * normal)
        smallest = values.min(axis=1)
        ratio = float(np.median((values.max(axis=1) - smallest) / (values.mean(axis=1) - smallest)))
        low, high = (sd, high) if ratio < (most - least) / (middle - least) else (low, sd)
    if sd > 0.99 * _WIDEST:
        raise refusal("runs", runs, "are too few: no shifted lognormal puts their greatest so far above their mean")
    scale = (middle - least) / float(np.median(values.mean(axis=1) - smallest))
    return ShiftedLognormal(least - scale * float(np.median(smallest)), sd)
