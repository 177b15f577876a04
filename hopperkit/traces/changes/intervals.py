"""Uncertainty of a difference of simulated waits: schedule noise, variation between weeks, and error of the simulation."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from hopperlib.scheduling.workload import Workload
from hopperlib.student import t_quantile

WEEK_S = 7 * 86_400
# Fewer do not show how much weeks differ.
MIN_WEEKS = 8
# How far the interval follows weeks that wait more.
_BEYOND = 2


def chaos_band(differences: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Return the standard deviation of a difference over runs, and the 95 % range of another run.

    Parameters
    ----------
    differences : sequence of float
        Difference in each pair of runs.

    Examples
    --------
    Student's t is 4.303 for three runs, and another run differs from their mean by the root of 1 + 1/3 more:

    >>> noise, (low, high) = chaos_band([0.1, 0.2, 0.3])
    >>> round(noise, 3), round(low, 3), round(high, 3)
    (0.1, -0.297, 0.697)
    """
    noise, middle, runs = stdev(differences), fmean(differences), len(differences)
    off = t_quantile(0.975, runs - 1) * noise * (1 + 1 / runs) ** 0.5
    return noise, (max(-1.0, middle - off), middle + off)


def with_chaos(
    weekly: tuple[float | None, float | None], chaos: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Interval of weeks and misfit, made wider by the schedule's noise.

    Parameters
    ----------
    weekly : tuple[float or None, float or None]
        Range due to differences between weeks.
    chaos : tuple[float, float]
        Range due to noise.

    Examples
    --------
    >>> low, high = with_chaos((-0.4, -0.2), (-0.35, -0.25))
    >>> round(low, 3), round(high, 3), with_chaos((None, None), (-0.35, -0.25))
    (-0.412, -0.188, (None, None))
    """
    if weekly[0] is None or weekly[1] is None:
        return weekly
    middle, off = (weekly[0] + weekly[1]) / 2, (chaos[1] - chaos[0]) / 2
    wide = math.hypot((weekly[1] - weekly[0]) / 2, off)
    return max(-1.0, middle - wide), middle + wide


def weekly(
    log: Workload, observed: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Return by week of submission the added wait, the wait without the change, and its error. [s]

    Parameters
    ----------
    log : Workload
        Jobs of the log.
    observed : sequence of int
        Observed wait of each job. [s]
    before : sequence of int
        Wait of each job without the change. [s]
    after : sequence of int
        Wait of each job with the change. [s]

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> weekly(Workload([Job(1, 0, 1, 60, 60)]), [15], [20], [5])
    [(-15, 20, 5)]
    """
    weeks: dict[int, tuple[int, int, int]] = {}
    for at, seen, was, now in zip(log.arrival_s, observed, before, after, strict=True):
        changed, waited, misfit = weeks.get(at // WEEK_S, (0, 0, 0))
        weeks[at // WEEK_S] = changed + now - was, waited + was, misfit + was - seen
    return list(weeks.values())


def difference_range(weeks: Sequence[tuple[int, int, int]]) -> tuple[float | None, float | None]:
    """Return the interval of a relative difference of waits at 95 %; None for fewer than eight weeks.

    Waits of neighboring jobs depend on each other, so whole weeks are left out, one after the other (a jackknife of
    blocks). Few weeks hold most of the waiting, so Student's t has as many degrees of freedom as weeks that count
    (Kish). A sample may lack the weeks with the longest waits, which respond differently from quiet weeks. The interval
    is therefore extended by twice the distance between the busier half of the weeks and all weeks, on that side. The
    factor was chosen on eleven made-up sites, including overloaded ones, where intervals of 400 draws each of 9, 12
    and 20 weeks held 89 to 98 %.

    Parameters
    ----------
    weeks : sequence of (int, int, int)
        For each week: the added wait, the wait without the change, and its difference from the observed wait. [s]

    Examples
    --------
    >>> difference_range([(-10, 100, 0)] * 8), difference_range([(-10, 100, 0)] * 7)
    ((-0.1, -0.1), (None, None))
    """
    if len(weeks) < MIN_WEEKS:
        return None, None
    changed, waited, misfit = (sum(column) for column in zip(*weeks, strict=True))
    if not waited:
        return None, None
    ratios = [(changed - week[0]) / max(1, waited - week[1]) for week in weeks]
    middle, last = fmean(ratios), len(weeks) - 1
    error = (last / len(weeks) * sum((ratio - middle) ** 2 for ratio in ratios)) ** 0.5
    counting = waited**2 / sum(week[1] ** 2 for week in weeks)
    # A misfit that is anywhere within its size: 95 % of it.
    off = math.hypot(t_quantile(0.975, max(1.0, counting - 1)) * error, 0.95 * misfit / waited)
    heavy = sorted(weeks, key=lambda week: week[1])[len(weeks) // 2 :]
    difference = changed / waited
    beyond = _BEYOND * (sum(week[0] for week in heavy) / sum(week[1] for week in heavy) - difference)
    # Nobody waits less than nothing.
    return max(-1.0, difference - off + min(0.0, beyond)), difference + off + max(0.0, beyond)
