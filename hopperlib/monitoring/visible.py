"""The smallest lasting change that would have been detected in a history without a reported change.

Histories are drawn from the runs themselves, with a change in the middle, and the gain in likelihood that the detector
requires is computed for each. The distribution of these gains above the required gain gives the change that 80 of 100
such histories show. The noise of a history is estimated from its runs and may be larger. The change is increased by the
uncertainty of that estimate, so that 80 of 100 holds on average over histories. A change counts as seen if the report
says that the history got worse, by a step or by a drift. No value here was fitted; ``tests/monitoring/test_visible.py``
measures its accuracy.
"""

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from operator import mul
from statistics import fmean, stdev

from hopperlib.monitoring.changes import FEWEST, LEVEL, SHORTEST, gain_needed, least_spread
from hopperlib.monitoring.history import Report
from hopperlib.monitoring.levels import Noise, fit_at

# Standard normal quantile of 80 %.
_POWER_Z = 0.8416
# Range of autocorrelations that are drawn, and the largest distance from its level of a run used to estimate it.
# [spreads]
_MOST_PERSISTENT, _MOST_TURNING, _ORDINARY = 0.9, 0.3, 3.0
# Number of histories per draw, and number of draws, each with a better guess of the change.
_DRAWS, _ROUNDS = 30, 2
# A simulation is valid only for changes close to the one that was simulated.
_SMALLEST, _LARGEST = 0.5, 3.0


def visible_change(report: Report, after: int | None = None) -> float | None:
    """Lasting change that 80 of 100 histories with this noise would show. [fraction of the level]

    Parameters
    ----------
    report : Report
        Report of a history without a detected change.
    after : int or None
        Runs after the change; None for half of all runs, where detection is easiest.

    Returns
    -------
    float or None
        None for too few runs, and for a history without a single level.

    Examples
    --------
    Runs with a spread of about 1.4 %:

    >>> from hopperlib.monitoring.history import History, judge
    >>> rates = tuple(100.0 + run * 7 % 5 for run in range(60))
    >>> steady = judge(History(name="rate", values=rates, times=tuple(map(str, range(60)))))
    >>> size, late = visible_change(steady), visible_change(steady, after=10)
    >>> 0.01 < size < late < 0.06
    True
    """
    values = report.history.values
    n = len(values)
    if n < FEWEST or not report.level or report.noise is None or report.verdict != "no change":
        return None
    late = n // 2 if after is None else min(max(after, 1), n - 1)
    residuals = tuple(math.log(value / level) for value, level in zip(values, report.level, strict=True))
    step = _visible_step(residuals, report.noise, -1 if report.history.better == "lower" else 1)
    # The energy of a step is its square times the runs before it times the runs after it, divided by all runs.
    return math.expm1(step * math.sqrt((n // 2) * (n - n // 2) / (late * (n - late))))


@lru_cache(maxsize=512)
def _visible_step(residuals: tuple[float, ...], noise: Noise, sign: int) -> float:
    """Step down (sign 1) or up in the middle, as a difference of logarithms, that 80 of 100 histories with such
    residuals would show.
    """
    n, least = len(residuals), least_spread(residuals)
    persistence = _memory(residuals, noise)
    known = Noise(noise.spread, max(0.0, persistence), noise.low, noise.low_width, noise.high, noise.high_width)
    # First guess: a step adds its square over the noise variance to the likelihood, less the part that the noise
    # estimate absorbs.
    wanted = math.sqrt(2 * gain_needed(n, known.persistence, LEVEL)) + _POWER_Z
    guess = _scatter(known) * math.sqrt(n * math.expm1(wanted**2 / n) * n / ((n // 2) * (n - n // 2)))
    step = guess
    scatters: list[float] = []
    for _ in range(_ROUNDS):
        margins, scatters = [], []
        for history in _drawn(residuals, persistence, sign * step):
            margin, noise_found = _margin(history, known, max(least, 0.05 * noise.spread))
            margins.append(margin)
            scatters.append(math.log(_scatter(noise_found)))
        # The square root of twice the gain grows linearly with the step.
        slope = (fmean(margins) + wanted - _POWER_Z) / step
        missing = _POWER_Z * math.hypot(stdev(margins), stdev(scatters) * wanted) - fmean(margins)
        step = min(max(step + missing / slope, _SMALLEST * guess), _LARGEST * guess)
    # Biased estimates are biased here too, such as the autocorrelation of few runs.
    return step * math.exp(math.log(_scatter(known)) - fmean(scatters))


def _memory(residuals: Sequence[float], noise: Noise) -> float:
    """Return the lag-one autocorrelation of ordinary runs; negative values are kept, because cutting them off would
    bias it.
    """
    persistence, most = noise.persistence, _ORDINARY * noise.spread
    if not persistence:
        pairs = [(before, after) for before, after in pairwise(residuals) if max(abs(before), abs(after)) <= most]
        squares = sum(before**2 + after**2 for before, after in pairs) / 2
        persistence = (
            min(0.0, max(-_MOST_TURNING, sum(map(mul, *zip(*pairs, strict=True))) / squares)) if squares else 0.0
        )
    # The estimate from few runs is too small (Kendall 1954).
    return min(_MOST_PERSISTENT, persistence + (1 + 3 * persistence) / len(residuals))


def _scatter(noise: Noise) -> float:
    """Standard error of the mean of many runs times the square root of their number: the spread, adjusted for
    autocorrelation.
    """
    return noise.spread * math.sqrt((1 + noise.persistence) / (1 - noise.persistence))


def _drawn(residuals: Sequence[float], persistence: float, step: float) -> list[list[float]]:
    """Draw histories from the innovations of the runs, with a step down in the middle, or up if `step` is negative."""
    n = len(residuals)
    new = [after - persistence * before for before, after in pairwise(residuals)]
    # The mean is estimated from the innovations, so they are closer together than the distribution that they come from.
    middle, wider = fmean(new), math.sqrt((n - 1) / (n - 2))
    new = [wider * (value - middle) for value in new]
    histories = []
    for number in range(_DRAWS):
        rng = random.Random(number)
        level, history = rng.choice(residuals), []
        for run in range(n):
            if run:
                level = persistence * level + rng.choice(new)
            history.append(level - step * (run >= n // 2))
        histories.append(history)
    return histories


def _margin(history: Sequence[float], noise: Noise, least: float) -> tuple[float, Noise]:
    """Margin of the square root of twice the gain over the required value, and the noise around the change."""
    n = len(history)
    steady, sure = fit_at(history, 0, noise, least=least)
    likeliest = _likeliest_place(steady.residuals(history), sure)
    best = max((fit_at(history, cut, noise, least=least)[0] for cut in {likeliest, n // 2}), key=lambda one: one.loglik)
    gain = max(0.0, best.loglik - steady.loglik)
    return math.sqrt(2 * gain) - math.sqrt(2 * gain_needed(n, best.noise.persistence, LEVEL)), best.noise


def _likeliest_place(residuals: Sequence[float], sure: Sequence[float]) -> int:
    """First run after the step that takes most of the squares of residuals, each weighted."""
    n, all_weight = len(residuals), sum(sure)
    total = sum(weight * off for weight, off in zip(sure, residuals, strict=True))
    weight = part = 0.0
    best = -1.0, n // 2
    for run in range(1, n):
        weight += sure[run - 1]
        part += sure[run - 1] * residuals[run - 1]
        if SHORTEST <= run <= n - SHORTEST and 0 < weight < all_weight:
            # The squares that a step takes: the squared distance of the two weighted means, times both weights over their
            # sum, which is the same for every run.
            apart = part / weight - (total - part) / (all_weight - weight)
            best = max(best, (apart**2 * weight * (all_weight - weight), run))
    return best[1]
