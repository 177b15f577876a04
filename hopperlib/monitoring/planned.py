"""Comparison of runs before and after a known date: size and certainty of the change, and the change that would have
been detected.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import NormalDist, fmean, variance
from typing import NamedTuple

from hopperlib.monitoring.changes import FEWEST, NEAR
from hopperlib.monitoring.history import Report
from hopperlib.student import t_below, t_quantile

# The spread of a side cannot be estimated from fewer runs.
FEWEST_A_SIDE = 5
_POWER = 0.8


class Comparison(NamedTuple):
    """A change between two sets of runs, on the logarithm of the measured values.

    Parameters
    ----------
    low, change, high : float
        The change, after less before, and its interval.
    p_value : float
        Probability of a difference this large without a change. [fraction]
    visible : float
        The change that four of five such comparisons would detect at p = 0.05.
    before, after : int
        Runs.
    """

    low: float
    change: float
    high: float
    p_value: float
    visible: float
    before: int
    after: int

    @property
    def percent(self) -> tuple[float, float, float]:
        """The ends of the interval and the change between them. [%]"""
        low, change, high = (100 * math.expm1(part) for part in self[:3])
        return low, change, high

    @property
    def visible_percent(self) -> float:
        """The change that four of five such comparisons would find. [%]"""
        return 100 * math.expm1(self.visible)


def compared(
    before: Sequence[float], after: Sequence[float], *, persistence: float = 0.0, level: float = 0.95
) -> Comparison | None:
    """Return the change between two sets of runs (Welch's t); None with fewer than `FEWEST_A_SIDE` on a side.

    Parameters
    ----------
    before, after : sequence of float
        Logarithms of the measured values.
    persistence : float
        Autocorrelation of consecutive runs, below 1; autocorrelated runs count as fewer. [-]
    level : float
        Confidence level of the interval.

    Examples
    --------
    >>> change = compared([0.0, 0.1, 0.2, 0.1, 0.1], [0.4, 0.5, 0.6, 0.5, 0.5])
    >>> round(change.change, 3), round(change.low, 3), round(change.high, 3), change.p_value < 0.001
    (0.4, 0.297, 0.503, True)
    """
    if min(len(before), len(after)) < FEWEST_A_SIDE:
        return None
    # The mean of n runs with lag-one autocorrelation r varies as that of n (1 - r) / (1 + r) independent ones.
    inflation = (1 + max(persistence, 0.0)) / (1 - min(max(persistence, 0.0), 0.95))
    counts = [max(2.0, len(side) / inflation) for side in (before, after)]
    errors = [variance(side) / count for side, count in zip((before, after), counts, strict=True)]
    error = math.sqrt(sum(errors))
    change = fmean(after) - fmean(before)
    if error == 0:
        return Comparison(change, change, change, float(change == 0), 0.0, len(before), len(after))
    # Welch and Satterthwaite: the degrees of freedom of a sum of two variances.
    degrees = error**4 / sum(part**2 / (count - 1) for part, count in zip(errors, counts, strict=True))
    off = t_quantile((1 + level) / 2, degrees) * error
    p_value = 2 * (1 - t_below(abs(change) / error, degrees))
    visible = (t_quantile(0.975, degrees) + NormalDist().inv_cdf(_POWER)) * error
    return Comparison(change - off, change, change + off, max(p_value, 0.0), visible, len(before), len(after))


def moment(time: str, index: int) -> float:
    """Return a time as a number: a date in seconds, a number unchanged, otherwise the index of the run.

    Parameters
    ----------
    time : str
        Time of the run, as written.
    index : int
        Index, from 0.

    Examples
    --------
    >>> moment("1970-01-02", 0) - moment("1970-01-01", 0), moment("17", 0), moment("late", 3)
    (86400.0, 17.0, 3.0)
    """
    try:
        return float(time)
    except ValueError:
        try:
            # Times are read without a time zone, because the date is given without one.
            return datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return float(index)


def change_at(report: Report, at: float, *, level: float = 0.95) -> Comparison | None:
    """Return the change of a history at a given time, between its detected changes before and after; None if it cannot
    be estimated.

    Outliers do not count. Not possible for a history that drifts or has too few runs on a side.

    Parameters
    ----------
    report : Report
    at : float
        First moment after the change, as returned by `moment`.
    level : float
        Confidence level of the interval.

    Examples
    --------
    >>> from hopperlib.monitoring.history import History, judge
    >>> rates = tuple(100.0 + run * 7 % 5 - 4 * (run >= 20) for run in range(40))
    >>> report = judge(History(name="rate", values=rates, times=tuple(map(str, range(40)))))
    >>> [round(part) for part in change_at(report, 20).percent]
    [-5, -4, -3]
    """
    values = report.history.values
    if len(values) < FEWEST or report.drift_percent is not None:
        return None
    moments = [moment(time, run) for run, time in enumerate(report.history.times)]
    cut = next((run for run, when in enumerate(moments) if when >= at), len(moments))
    # Detected changes of the history; one near the date is the planned change itself.
    others = [shift.run for shift in report.shifts if abs(shift.run - cut) > NEAR]
    begin = max([0, *(run for run in others if run < cut)])
    end = min([len(values), *(run for run in others if run > cut)])
    before, after = _ordinary(report, range(begin, cut)), _ordinary(report, range(cut, end))
    return compared(before, after, persistence=report.persistence, level=level)


def _ordinary(report: Report, runs: range) -> list[float]:
    """Return the logarithms of the values of some runs, without outliers."""
    far = {outlier.run for outlier in report.outliers}
    return [math.log(report.history.values[run]) for run in runs if run not in far]
