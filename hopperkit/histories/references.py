"""Reference for a benchmark: its current level, and the margin that good runs rarely exceed.

The runs since the last change, without outliers, are treated as draws from one lognormal distribution. The next run is
beyond ``mean -+ t s sqrt(1 + 1/n)`` of the logarithms with the requested probability, including the uncertainty of mean
and spread; autocorrelated runs count for fewer.

References
----------
G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, section 4.7: prediction of one future observation.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.monitoring.history import Report
from hopperlib.student import t_quantile

FEWEST_RUNS = 20
"""With fewer runs, no reference is proposed."""


class Reference(NamedTuple):
    """A reference with its bound.

    Parameters
    ----------
    value : float
        The level, in the unit of the benchmark.
    lower, upper : float or None
        Allowed deviation of a run, as a fraction of the value; one of the two is None.
    runs, failed : int
        Runs since the last change, and how many would have failed the bound derived from the others.
    most_failures : float
        Upper bound of the true failure rate, from these runs (95 %).
    """

    value: float
    lower: float | None
    upper: float | None
    runs: int
    failed: int
    most_failures: float


def reference_of(report: Report, false_alarm: float) -> Reference | None:
    """Return a reference for an analyzed series; None if it has no level, or too few runs at it.

    Parameters
    ----------
    report : Report
    false_alarm : float
        Share of the good runs that fail.

    Raises
    ------
    InputError
        If `false_alarm` is not between 0.000001 and 0.1.

    Examples
    --------
    >>> from hopperlib.monitoring.history import History, judge
    >>> values = tuple(100 + run * 37 % 5 for run in range(60))
    >>> steady = judge(History(name="triad", values=values, times=tuple(map(str, range(60))), better="higher"))
    >>> reference_of(steady, 0.001)[:5]
    (102.0, -0.045, None, 60, 0)
    """
    if not 1e-6 <= false_alarm <= 0.1:
        raise refusal("false_alarm", false_alarm, "must be from 0.000001 to 0.1: the share of good runs that fail")
    if not report.level or report.states or report.season_runs or report.drift_percent is not None:
        return None
    logs = _at_last_level(report)
    likeness = min(max(report.persistence, 0.0), 0.9)
    if len(logs) * (1 - likeness) / (1 + likeness) < FEWEST_RUNS:
        return None
    sign, mean = 1 if report.history.better == "lower" else -1, fmean(logs)
    room = _spreads(len(logs), false_alarm, likeness) * stdev(logs)
    failed = _failures([sign * (log - mean) for log in logs], _spreads(len(logs) - 1, false_alarm, likeness))
    # Rounded outward to a short number.
    value = float(f"{math.exp(mean):.4g}")
    share = sign * math.ceil(1000 * abs(math.exp(mean + sign * room) / value - 1)) / 1000
    lower, upper = (None, share) if sign > 0 else (share, None)
    return Reference(value, lower, upper, len(logs), failed, _most(failed, len(logs)))


def _at_last_level(report: Report) -> list[float]:
    """Return the logarithms of the runs since the last change, outliers left out."""
    last, apart = report.level[-1], {outlier.run for outlier in report.outliers}
    first = next((run for run in reversed(range(len(report.level))) if report.level[run] != last), -1) + 1
    return [math.log(value) for run, value in enumerate(report.history.values) if run >= first and run not in apart]


def _failures(off: Sequence[float], factor: float) -> int:
    """Return the number of runs that are more than this many standard deviations above the mean of the others."""
    squares, others = math.fsum(each**2 for each in off), len(off) - 1
    return sum(
        each * (others + 1) / others > factor * math.sqrt((squares - each**2 * (others + 1) / others) / (others - 1))
        for each in off
    )


def _spreads(runs: int, false_alarm: float, likeness: float) -> float:
    """Return the distance from the mean, in standard deviations, that the next run exceeds with this one-sided
    probability.
    """
    count = runs * (1 - likeness) / (1 + likeness)
    return t_quantile(1 - false_alarm, count - 1) * math.sqrt(1 + 1 / count)


def _most(failed: int, runs: int) -> float:
    """Return the upper end of the exact one-sided 95 % range of a share (Clopper and Pearson, 1934), by bisection."""
    low, high = failed / runs, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        tail = math.fsum(math.comb(runs, k) * middle**k * (1 - middle) ** (runs - k) for k in range(failed + 1))
        low, high = (middle, high) if tail > 0.05 else (low, middle)
    return high
