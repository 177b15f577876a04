"""Lasting changes of a benchmark: their place, size and certainty.

The likeliest course of a history with jumps (`levels`) is compared with the likeliest one without, with noise estimated
for each. The rise of the likelihood by chance, where nothing changed, was simulated for histories of many lengths and
persistences (``data/chance-of-change.csv``), which gives the p-value of a change. Autocorrelated runs and runs in
contention (outliers on one side) therefore raise no alarm by themselves.

References
----------
.. [1] D. Daly, W. Brown, H. Ingo, J. O'Leary, D. Bradford, "The Use of Change Point Detection to Identify Software
   Performance Regressions in a Continuous Integration System", ICPE 2020: why thresholds on single runs fail.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from hopperlib.data_files import rows
from hopperlib.monitoring.levels import Fit, Noise, first_noise, fit, place

# Minimum duration of a lasting change. [runs]
SHORTEST = 4
# Changes cannot be distinguished from noise in fewer runs. [runs]
FEWEST = 12
# Accepted share of unchanged histories with a reported change.
LEVEL = 0.01
# If the place is less certain, the reported run is the one that most likely has the change within this many runs.
# [runs]
NEAR = 3
# P-values below this are not resolved: the tail was simulated to one in a thousand and is extrapolated as an
# exponential.
LEAST_P = 1e-6
# Increase of the required gain by autocorrelation: unchanged histories with an autocorrelation of 0.5 then have twice
# the false alarms of those without, those with 0.7 still more.
PERSISTENCE_PRICE = 6.0
# Positions at least this likely are reported.
_CERTAIN = 0.9
# Data are printed to at most this many digits: a finer spread is not real.
_DUST = 1e-4
# If a clock advances in steps, with a little noise on each, most runs are this many spreads from their neighbors; the
# step is then taken as the spread.
_STEPPED = 8


class Change(NamedTuple):
    """A lasting change: its first run, the 95 % range of that run, the levels before and after, its p-value."""

    run: int
    earliest: int
    latest: int
    before: float
    after: float
    p_value: float


class Course(NamedTuple):
    """Course of a history: its changes and the fit."""

    changes: tuple[Change, ...]
    fit: Fit


def least_spread(values: Sequence[float]) -> float:
    """Return the least spread that ordinary runs can have, given the precision of the printed values.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values.

    Examples
    --------
    >>> round(least_spread([100, 101, 101, 103]), 2)
    0.3
    """
    apart = sorted(set(values))
    finest = min((after - before for before, after in pairwise(apart)), default=0.0)
    return max(0.3 * finest, _DUST)


@cache
def _table() -> tuple[tuple[float, float, float], ...]:
    """Return the logarithms of lengths, and the gains that 5 and 1 % of unchanged histories exceed."""
    columns = ("runs", "gain_5_percent", "gain_1_percent")
    numbers = ([float(row[column]) for column in columns] for row in rows("chance-of-change.csv"))
    return tuple((math.log(runs), at_5, at_1) for runs, at_5, at_1 in numbers)


def _gains(runs: int, persistence: float) -> tuple[float, float]:
    """Return the gains that 5 and 1 % of unchanged histories of this length exceed, interpolated linearly between two
    lengths.
    """
    table, at = _table(), math.log(runs)
    after = min(max(1, bisect_left(table, (at,))), len(table) - 1)
    (left, *low), (right, *high) = table[after - 1], table[after]
    share = min(1.0, max(0.0, (at - left) / (right - left)))
    at_5, at_1 = (a + share * (b - a) + PERSISTENCE_PRICE * persistence for a, b in zip(low, high, strict=True))
    return at_5, at_1


def chance(gain: float, runs: int, persistence: float) -> float:
    """Return the probability that allowing for a change raises the likelihood of an unchanged history by this much.

    Parameters
    ----------
    gain : float
        Logarithm of the ratio of likelihoods.
    runs : int
        Length of the history.
    persistence : float
        Lag-one autocorrelation, estimated around the course with changes.

    Examples
    --------
    >>> chance(30, 100, 0.0) < 0.001 < chance(5, 100, 0.0)
    True
    """
    at_5, at_1 = _gains(runs, persistence)
    # An exponential through both: one fifth as frequent at the gain for 1 % as at that for 5 %.
    tail = 0.05 * math.exp(-math.log(5) * (gain - at_5) / (at_1 - at_5))
    return max(LEAST_P, min(1.0, tail))


def gain_needed(runs: int, persistence: float, level: float = LEVEL) -> float:
    """Return the gain that chance exceeds with a probability: the inverse of `chance`.

    Parameters
    ----------
    runs : int
        Length of the history.
    persistence : float
        Lag-one autocorrelation. [below 1]
    level : float, default LEVEL
        Accepted share of unchanged histories with a reported change. [fraction]

    Examples
    --------
    >>> round(chance(gain_needed(50, 0.2, 0.03), 50, 0.2), 6)
    0.03
    """
    at_5, at_1 = _gains(runs, persistence)
    return at_5 + (at_1 - at_5) * math.log(level / 0.05) / math.log(0.2)


def find_changes(values: Sequence[float], *, level: float = LEVEL) -> Course:
    """Return the course of a history with its lasting changes.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time; at least `FEWEST`.
    level : float
        Accepted share of unchanged histories with a reported change.

    Examples
    --------
    >>> from random import Random
    >>> rng = Random(1)
    >>> history = [rng.gauss(0, 0.05) - 0.25 * (run >= 40) for run in range(60)]
    >>> [change.run for change in find_changes(history).changes]
    [40]
    >>> find_changes(history[:40]).changes
    ()
    """
    steady, best = search(values, level)
    # Two estimates of the spread: around the steady course, and from run to run, where levels do not matter. The
    # difference of two runs has the square root of two times the spread of one.
    least = min(_two_thirds(steady.residuals(values)), _two_thirds([b - a for a, b in pairwise(values)]) / math.sqrt(2))
    if best.noise.spread < least / _STEPPED:
        return kept(values, *search(values, level, least), level, least)
    return kept(values, steady, best, level)


def _two_thirds(offs: Sequence[float]) -> float:
    """Return the largest absolute value of the smallest two thirds: one standard deviation of a normal distribution."""
    return sorted(map(abs, offs))[round(0.68 * (len(offs) - 1))]


def _first_noises(steady: Noise, local: Noise, least: float) -> tuple[Noise, Noise]:
    """Return the starting values of the search: noise from differences of neighbors, and from less noise than without a
    change.
    """
    return local, replace(steady, spread=max(least, 0.75 * steady.spread), persistence=0.7 * steady.persistence)


def search(values: Sequence[float], level: float, least: float = 0.0) -> tuple[Fit, Fit]:
    """Return the best course without a change and with changes, for at least this spread of ordinary runs.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time.
    level : float
        Accepted share of unchanged histories with a reported change. [fraction]
    least : float, default 0.0
        Minimum spread of ordinary runs.

    Examples
    --------
    >>> steady, best = search([0.0] * 20 + [1.0] * 20, LEVEL)
    >>> steady.cuts, best.cuts
    ((), (20,))
    """
    least, price = least or least_spread(values), gain_needed(len(values), 0.0, level)
    local = first_noise(values, least)
    steady = fit(values, local, price=0, shortest=SHORTEST, least=least, rounds=4, allowed=())
    fits = [
        fit(values, noise, price=price, shortest=SHORTEST, least=least, rounds=3)
        for noise in _first_noises(steady.noise, local, least)
    ]
    return steady, max([steady, *fits], key=lambda course: course.loglik - price * len(course.cuts))


def kept(values: Sequence[float], steady: Fit, best: Fit, level: float, least: float = 0.0) -> Course:
    """Return the course with only those changes that chance does not explain.

    The weakest change is removed and the rest refitted until all remaining changes are significant.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time.
    steady : Fit
        Best fit without changes.
    best : Fit
        Best fit with changes.
    level : float
        Accepted share of unchanged histories with a reported change. [fraction]
    least : float, default 0.0
        Minimum spread of ordinary runs.

    Examples
    --------
    >>> values = [0.0, 0.1] * 10 + [1.0, 1.1] * 10
    >>> [change.run for change in kept(values, *search(values, LEVEL), LEVEL).changes]
    [20]
    """
    least = least or least_spread(values)
    while best.cuts:
        weakest = (-1.0, steady)
        chances = []
        for cut in best.cuts:
            rest = [other for other in best.cuts if other != cut]
            without = (
                fit(values, best.noise, price=0, shortest=SHORTEST, least=least, rounds=3, allowed=rest)
                if rest
                else steady
            )
            chances.append(chance(best.loglik - without.loglik, len(values), best.noise.persistence))
            # The weakest change is the one that chance produces most often.
            weakest = max(weakest, (chances[-1], without), key=lambda pair: pair[0])
        if weakest[0] <= level:
            return Course(tuple(_changes(values, best, chances)), best)
        best = weakest[1]
    return Course((), best)


def _changes(values: Sequence[float], best: Fit, chances: Sequence[float]) -> list[Change]:
    """Return the changes of a fit, each at its likeliest place."""
    changes = []
    for number, (p_value, before, after) in enumerate(zip(chances, best.levels, best.levels[1:], strict=False)):
        near = place(values, best, number, SHORTEST, NEAR)
        exact = place(values, best, number, SHORTEST, 0)
        index = max(range(len(exact)), key=exact.__getitem__)
        if exact[index] < _CERTAIN:
            index = max(range(len(near)), key=lambda run: (near[run], exact[run]))
        # The middle 95 % of the places, with probabilities added up from the first run.
        below, inside = 0.0, []
        for run, share in enumerate(exact):
            if below + share > 0.025 and below < 0.975:
                inside.append(run)
            below += share
        changes.append(Change(index, min(inside[0], index), max(inside[-1], index), before, after, p_value))
    return changes
