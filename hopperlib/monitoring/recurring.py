"""Recurring courses: a history that switches between two states, or moves with a season.

Neither is a lasting change, but jumping levels fit both. Each is therefore compared with the course of levels by
the Schwarz criterion: the likelihood, less half the logarithm of the number of runs for each fitted parameter.
"""

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import fmean, median
from typing import NamedTuple

# Minimum number of switches between the states: one switch is a change, two are a change that was undone.
LEAST_SWITCHES = 3
# Minimum length of a visit to a state. [runs]
SHORTEST_VISIT = 3
# Minimum number of seasons, and minimum length of one. [seasons; runs]
LEAST_SEASONS, SHORTEST_SEASON = 2.0, 8
# Season lengths that are tried per octave.
_STEPS = 12
_ROUNDS = 8
# A season has a length, an amplitude and a phase.
_PARAMETERS = 3
# Share of the runs that belong to neither state, anywhere in the range.
_OUTLYING = 0.02
_ROOT_2_PI = math.sqrt(2 * math.pi)


class TwoStates(NamedTuple):
    """Two levels, the state of each run (0 is the lower), the spread of runs around them, and the logarithm of the
    likelihood.
    """

    low: float
    high: float
    states: tuple[int, ...]
    spread: float
    loglik: float

    @property
    def switches(self) -> int:
        """Number of state changes, ignoring visits of one or two runs, which may be outliers."""
        visits = [(state, len(list(runs))) for state, runs in groupby(self.states)]
        lasting = [state for state, runs in visits if runs >= SHORTEST_VISIT]
        return sum(a != b for a, b in pairwise(lasting))


def two_states(values: Sequence[float], least: float, first: tuple[float, float] | None = None) -> TwoStates:
    """Return the likeliest course between two levels, with one chance of switching at each run.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values.
    least : float
        Least spread of ordinary runs.
    first : (float, float) or None
        Starting levels of the search; None for the middles of the lower and the upper half.

    Examples
    --------
    >>> found = two_states([0.0, 0.1, 0.0, 1.0, 1.1, 1.0] * 4, 0.01)
    >>> found.low, found.high, found.switches
    (0.0, 1.0, 7)
    """
    ordered = sorted(values)
    low, high = first or (median(ordered[: len(ordered) // 2]), median(ordered[len(ordered) // 2 :]))
    spread, chance = max(least, (high - low) / 4), 0.1
    outlying = _OUTLYING / max(ordered[-1] - ordered[0], least)
    best = TwoStates(low, high, (0,) * len(values), spread, -math.inf)
    # Viterbi training: the likeliest path at the present levels, then the levels, spread and chance of that path. The
    # spread is the distance that 68 % of the runs keep, one standard deviation of a normal, which outliers hardly move.
    for _ in range(_ROUNDS):
        states, loglik = _path(values, (low, high), spread, chance, outlying)
        if loglik > best.loglik:
            best = TwoStates(low, high, tuple(states), spread, loglik)
        sides = [[value for value, state in zip(values, states, strict=True) if state == side] for side in (0, 1)]
        if not all(sides):
            break
        low, high = map(median, sides)
        off = sorted(abs(value - (low, high)[state]) for value, state in zip(values, states, strict=True))
        spread = max(least, off[round(0.68 * (len(off) - 1))])
        chance = min(0.5, (1 + sum(a != b for a, b in pairwise(states))) / (len(values) + 1))
    return best


def _path(
    values: Sequence[float], levels: tuple[float, float], spread: float, chance: float, outlying: float
) -> tuple[list[int], float]:
    """Return the likeliest states of the runs, and the logarithm of their likelihood."""
    height, stay, switch = (1 - _OUTLYING) / (spread * _ROOT_2_PI), math.log(1 - chance), math.log(chance)
    # The Viterbi algorithm: for each state, the best path that ends in it and the state before; the better of the two
    # ends is then followed back.
    paths, came = [math.log(0.5)] * 2, []
    for run, value in enumerate(values):
        densities = [math.log(height * math.exp(-0.5 * ((value - level) / spread) ** 2) + outlying) for level in levels]
        if not run:
            paths = [path + density for path, density in zip(paths, densities, strict=True)]
            continue
        origins = [int(paths[1 - side] + switch > paths[side] + stay) ^ side for side in (0, 1)]
        paths = [
            paths[origin] + (stay if origin == side else switch) + densities[side]
            for side, origin in enumerate(origins)
        ]
        came.append(origins)
    states = [int(paths[1] > paths[0])]
    for origins in reversed(came):
        states.append(origins[states[-1]])
    return states[::-1], max(paths)


def switches(values: Sequence[float], least: float, levels: Sequence[float], loglik: float) -> TwoStates | None:
    """Return the two states of a history if they explain it with fewer parameters than jumps between this many levels;
    otherwise None.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time.
    least : float
        Minimum spread of ordinary runs.
    levels : sequence of float
        Levels of the segments of the course with jumps.
    loglik : float
        Logarithm of that course's likelihood.

    Examples
    --------
    >>> switches([0.0, 0.1] * 20 + [1.0, 1.1] * 20, 0.01, (0.05, 1.05), 60.0)
    """
    ends = min(levels), max(levels)
    found = max((two_states(values, least, first) for first in (None, ends)), key=lambda states: states.loglik)
    return found if found.switches >= LEAST_SWITCHES and outweighs(found, levels, loglik) else None


def outweighs(states: TwoStates, levels: Sequence[float], loglik: float, more: int = 0) -> bool:
    """Whether two states explain a history with fewer parameters than jumps between these levels.

    Parameters
    ----------
    states : TwoStates
        The two states.
    levels : sequence of float
        Level of each run.
    loglik : float
        Logarithm of the likelihood.
    more : int, default 0
        Number of additional parameters.

    Examples
    --------
    >>> states = two_states([0.0, 0.1, 0.0, 1.0, 1.1, 1.0] * 4, 0.01)
    >>> outweighs(states, (0.0, 1.0), states.loglik - 1), outweighs(states, (0.0,), states.loglik + 1)
    (True, False)
    """
    # A jump has two parameters, a level and a run; the second state has a level and a switching probability, and the
    # places of the switches are part of the likelihood.
    saved = 1.5 * (len(levels) - 1) + more / 2 - 1
    return states.loglik - loglik + math.log(len(states.states)) * saved > 0


def season(values: Sequence[float]) -> tuple[int, list[float], float] | None:
    """Return the season length with the best fit, in runs, its effect on each run, and its share of the variance.

    None for too few runs.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time.

    Examples
    --------
    >>> length, wave, share = season([math.sin(2 * math.pi * run / 20) for run in range(60)])
    >>> length, round(max(wave), 2), round(share, 2)
    (20, 1.0, 1.0)
    """
    runs, middle = len(values), fmean(values)
    longest = runs / LEAST_SEASONS
    if longest < SHORTEST_SEASON:
        return None
    lengths = [longest / 2 ** (step / _STEPS) for step in range(_lengths_tried(runs))]
    around = [value - middle for value in values]
    waves = [_wave(around, length) for length in lengths]
    squares = [sum(part * part for part in wave) for wave in waves]
    best = max(range(len(lengths)), key=squares.__getitem__)
    return round(lengths[best]), waves[best], squares[best] / (sum(value * value for value in around) or 1.0)


def chance_of_season(explained: float, runs: int, persistence: float) -> float:
    """Return at most how often noise alone has a season that explains this share of its variance, of all lengths tried.

    Parameters
    ----------
    explained : float
        Share of the variance. [fraction]
    runs : int
    persistence : float
        Lag-one autocorrelation around the season: persistent runs count as fewer.

    Examples
    --------
    In 24 runs, noise explains 30 % of its variance by a season in one of five histories at most; in 200 runs, never:

    >>> round(chance_of_season(0.3, 24, 0.0), 2), chance_of_season(0.3, 200, 0.0) < 1e-6
    (0.19, True)
    """
    # An autocorrelation estimated from few runs is too small (Kendall 1954), more so around a fitted wave of three
    # parameters.
    known = min(0.95, persistence + _PARAMETERS * (1 + 3 * persistence) / runs) if persistence else 0.0
    free = runs * (1 - known) / (1 + known) - _PARAMETERS
    # A sine and a cosine take two degrees of freedom from normal noise: their share of the variance exceeds a value with
    # this probability (a beta distribution), for each length.
    alone = math.pow(max(0.0, 1 - explained), max(0.0, free) / 2)
    return min(1.0, _lengths_tried(runs) * alone)


def _lengths_tried(runs: int) -> int:
    """Number of season lengths tried in a history."""
    return int(_STEPS * math.log2(runs / LEAST_SEASONS / SHORTEST_SEASON)) + 1


def _wave(values: Sequence[float], length: float) -> list[float]:
    """Return the sine of a length that is nearest to values around zero, by least squares."""
    turns = [2 * math.pi * run / length for run in range(len(values))]
    sines, cosines = list(map(math.sin, turns)), list(map(math.cos, turns))
    ss, cc = sum(s * s for s in sines), sum(c * c for c in cosines)
    sc = sum(s * c for s, c in zip(sines, cosines, strict=True))
    sv = sum(s * v for s, v in zip(sines, values, strict=True))
    cv = sum(c * v for c, v in zip(cosines, values, strict=True))
    whole = ss * cc - sc * sc
    a, b = (sv * cc - cv * sc) / whole, (cv * ss - sv * sc) / whole
    return [a * s + b * c for s, c in zip(sines, cosines, strict=True)]
