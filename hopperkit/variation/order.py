"""Drift and step: whether run times depend on the order of the runs, compared with shuffled order."""

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

FEWEST = 5
# Runs on each side of a step, at least.
_LEAST_SIDE = 2
_MOST_SHUFFLED = 2_000_000
_MOST_PAIRS = 40_000
# A rank correlation with time from which on a drift is one, though it may bend.
_ALL_ONE_WAY = 0.9
# A statistic reached by this many shuffles is not rare.
_OFTEN = 40


class Order(NamedTuple):
    """Result of the test for order.

    Parameters
    ----------
    kind : str
        ``drift``, ``step``, or empty if neither was found.
    change : float
        From the first run to the last, or at the step. [difference of logarithms]
    at : int
        First run after the step; 0 for a drift.
    chance : float
        How often shuffled runs show as much. [fraction]
    wanders : bool
        Whether neighbors are still similar after removing the drift or step: slow wandering, not one change.
    """

    kind: str
    change: float
    at: int
    chance: float
    wanders: bool


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the middle of theirs.

    Parameters
    ----------
    values : sequence of float
        Numbers, possibly with ties.

    Examples
    --------
    >>> ranks([10, 30, 20, 20])
    [1.0, 4.0, 2.5, 2.5]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for place in order[begin:end]:
            result[place] = (begin + end + 1) / 2
        begin = end
    return result


def shuffled(values: Sequence[float], rng: random.Random) -> list[float]:
    """The values in random order, from `rng.random` alone: the same with every version of Python.

    Parameters
    ----------
    values : sequence of float
        The values.
    rng : random.Random
        Source of random numbers.

    Examples
    --------
    >>> sorted(shuffled([1.0, 2.0, 3.0], random.Random(1)))
    [1.0, 2.0, 3.0]
    """
    result = list(values)
    for last in range(len(result) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result


def shuffles_for(size: int, most: int = 999) -> int:
    """Number of shuffles for one statistic, decreasing with the number of values.

    Parameters
    ----------
    size : int
        The size.
    most : int, default 999
        Largest number of shuffles.

    Examples
    --------
    >>> shuffles_for(100), shuffles_for(10_000), shuffles_for(100_000)
    (999, 200, 199)
    """
    return max(199, min(most, _MOST_SHUFFLED // max(1, size)))


def order_of(logs: Sequence[float], rng: random.Random) -> Order:
    """Whether runs in the order in which they were made drift, or step once, more than shuffled ones.

    Parameters
    ----------
    logs : sequence of float
        Logarithms of run times in order of time.
    rng : random.Random
        Of the shuffles.

    Examples
    --------
    >>> rising = [2.6 + 0.08 * run for run in range(13)]
    >>> found = order_of(rising, random.Random(1))
    >>> found.kind, round(found.change, 2), found.chance <= 0.01
    ('drift', 0.96, True)
    """
    n = len(logs)
    if n < FEWEST or min(logs) == max(logs):
        return Order("", 0.0, 0, 1.0, False)
    centered = [rank - (n + 1) / 2 for rank in ranks(logs)]
    trend, step, at = _trend(centered), *_step(centered)
    chance = _chance(centered, trend, step, rng)
    slope = slope_of(logs)
    straight = [log - slope * place for place, log in enumerate(logs)]
    levels = median(logs[:at]), median(logs[at:])
    level = [log - levels[place >= at] for place, log in enumerate(logs)]
    drifts = _distance(straight) <= _distance(level)
    rest = straight if drifts else level
    change = slope * (n - 1) if drifts else levels[1] - levels[0]
    correlation = 12 * trend / (n * (n * n - 1))
    wanders = _neighbors_alike(rest) and not (drifts and correlation >= _ALL_ONE_WAY)
    return Order("drift" if drifts else "step", change, 0 if drifts else at, chance, wanders)


def _chance(centered: Sequence[float], trend: float, step: float, rng: random.Random) -> float:
    """How often shuffled runs show as large a trend or step; the search ends once that is known to be often."""
    trends = steps = done = 0
    while done < shuffles_for(len(centered)) and min(trends, steps) < _OFTEN:
        done += 1
        mixed = shuffled(centered, rng)
        trends += _trend(mixed) >= trend - 1e-9
        steps += _step(mixed)[0] >= step - 1e-9
    # Two tests on one history.
    return min(1.0, 2 * (1 + min(trends, steps)) / (1 + done))


def _trend(centered: Sequence[float]) -> float:
    """Spearman's statistic: the correlation of ranks with their positions."""
    middle = (len(centered) - 1) / 2
    return abs(sum((place - middle) * rank for place, rank in enumerate(centered)))


def _step(centered: Sequence[float]) -> tuple[float, int]:
    """The largest rank sum over all positions of a step, in standard deviations up to a constant, and its position."""
    n, running, best, at = len(centered), 0.0, -1.0, _LEAST_SIDE
    for place in range(1, n - _LEAST_SIDE + 1):
        running += centered[place - 1]
        if place >= _LEAST_SIDE:
            size = abs(running) / math.sqrt(place * (n - place))
            if size > best:
                best, at = size, place
    return best, at


def slope_of(logs: Sequence[float], at: Sequence[float] | None = None) -> float:
    """Median slope of pairs (Theil and Sen): unaffected by a few outliers. [per run, or per unit of `at`]

    Parameters
    ----------
    logs : sequence of float
    at : sequence of float or None
        Moments of the runs; None takes their places.

    Examples
    --------
    >>> slope_of([0.0, 1.0, 2.0, 90.0, 4.0])
    1.0
    """
    places = range(len(logs)) if at is None else at
    stride = max(1, len(logs) ** 2 // 2 // _MOST_PAIRS)
    slopes = [
        (logs[j] - logs[i]) / (places[j] - places[i])
        for i in range(len(logs))
        for j in range(i + 1, len(logs), stride)
        if places[j] != places[i]
    ]
    return median(slopes) if slopes else 0.0


def _distance(residuals: Sequence[float]) -> float:
    middle = median(residuals)
    return sum(abs(residual - middle) for residual in residuals)


def _neighbors_alike(residuals: Sequence[float]) -> bool:
    """Whether neighbors resemble each other: the autocorrelation of ranks at lag one, at a level of 1 %."""
    ranked = ranks(residuals)
    middle = fmean(ranked)
    whole = sum((rank - middle) ** 2 for rank in ranked)
    if whole == 0 or len(ranked) < 8:
        return False
    alike = sum((a - middle) * (b - middle) for a, b in pairwise(ranked)) / whole
    return alike * math.sqrt(len(ranked)) > 2.33
