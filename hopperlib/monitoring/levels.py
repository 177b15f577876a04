"""The likeliest course of a history: ordinary runs around a level with occasional jumps, and outliers on either side.

A run is ordinary (normal around the level, with a lag-one autocorrelation from one run to the next) or an outlier
(exponentially distributed, below or above). The best path over a grid of levels, with a penalty for each jump, is found
exactly in one pass (Viterbi); the noise is then re-estimated around it, and so on.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add, gt, mul, truediv
from statistics import median
from typing import NamedTuple

_ROOT_2_PI = math.sqrt(2 * math.pi)
# With more persistence the history is a random walk: it has no level to return to, so the level cannot change.
MOST_PERSISTENT = 0.9
# Weight of the prior for outliers before one is seen [runs]: few, with three times the spread of runs.
PRIOR_OUTLIERS, PRIOR_RUNS, PRIOR_WIDTH = 0.5, 10, 3.0
# Half of the levels are where most runs are, half are spread evenly over their range.
LEVELS = 48
_NEVER = -math.inf
_Weighed = tuple[list[float], tuple[list[float], list[float]], list[float], list[float]]
# Minimum density of a run, so that its logarithm is finite.
LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class Noise:
    """Scatter of runs around their level: ordinary runs, and outliers below and above."""

    spread: float
    persistence: float
    low: float
    low_width: float
    high: float
    high_width: float


class Fit(NamedTuple):
    """Levels of the segments, the runs at which a new one begins, the noise around them, the logarithm of the
    likelihood.
    """

    cuts: tuple[int, ...]
    levels: tuple[float, ...]
    noise: Noise
    loglik: float

    def residuals(self, values: Sequence[float]) -> list[float]:
        """Return the difference of each run from its level.

        Parameters
        ----------
        values : sequence of float
            Logarithms of the measured values, in order of time.
        """
        bounds = [0, *self.cuts, len(values)]
        spans = zip(bounds, bounds[1:], self.levels, strict=False)
        return [value - level for begin, end, level in spans for value in values[begin:end]]


class _Densities:
    """Densities of residuals under a noise, many at a time."""

    def __init__(self, noise: Noise) -> None:
        # The innovation of a run has the variance that the previous run does not explain.
        ordinary, innovation = 1 - noise.low - noise.high, noise.spread * math.sqrt(1 - noise.persistence**2)
        self.persistence = noise.persistence
        self.height, self.decay = ordinary / (noise.spread * _ROOT_2_PI), -0.5 / noise.spread**2
        self.next_height, self.next_decay = ordinary / (innovation * _ROOT_2_PI), -0.5 / innovation**2
        self.low, self.low_decay = noise.low / noise.low_width, 1 / noise.low_width
        self.high, self.high_decay = noise.high / noise.high_width, -1 / noise.high_width

    def parts(self, residuals: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the densities as ordinary runs, and as outliers."""
        exp, height, decay = math.exp, self.height, self.decay
        low, low_decay, high, high_decay = self.low, self.low_decay, self.high, self.high_decay
        ordinary = [height * exp(decay * r * r) for r in residuals]
        outlying = [(low * exp(low_decay * r) if r < 0 else high * exp(high_decay * r)) + LEAST for r in residuals]
        return ordinary, outlying

    def after(
        self,
        residuals: Sequence[float],
        parts: tuple[list[float], list[float]],
        before: Sequence[float],
        ordinary_before: Sequence[float],
    ) -> list[float]:
        """Return the logarithms of densities, given the residuals of the previous runs and the probabilities that those
        were ordinary.
        """
        exp, log, height, decay, rho = math.exp, math.log, self.next_height, self.next_decay, self.persistence
        return [
            # An outlier; an ordinary run that follows the outlier before it; or an ordinary run that is independent of
            # it.
            log(outlying + sure * height * exp(decay * (off := r - rho * b) * off) + (1 - sure) * ordinary)
            for r, b, sure, ordinary, outlying in zip(residuals, before, ordinary_before, *parts, strict=True)
        ]


def _best_path(
    values: Sequence[float],
    grid: Sequence[float],
    noise: Noise,
    price: float,
    shortest: int,
    allowed: Collection[int] | None,
) -> tuple[list[int], list[int], float]:
    """Return the segment starts, the levels of all segments on the grid, and the likelihood less the penalty of each
    jump.

    A segment has at least `shortest` runs and begins at one of `allowed`; the first segment begins at run 0.
    """
    densities, size, end = _Densities(noise), len(grid), len(values)
    # Best path that ends before each run: its value, where its last segment began and on which level.
    ended: list[tuple[float, int, int]] = [(0.0, 0, -1)]
    path, began = [_NEVER] * size, [0] * size
    total = [0.0] * size
    totals: list[list[float]] = [total]
    openings: dict[int, list[float]] = {}
    before: list[float] = []
    sure: list[float] = []
    # Results are cached by value: printed values repeat.
    known: dict[float, _Weighed] = {}
    for run, value in enumerate(values):
        if value not in known:
            known[value] = _weighed(value, grid, densities)
        residuals, parts, alone, surely = known[value]
        follows, last = run and noise.persistence, ended[run][2]
        going_on = densities.after(residuals, parts, before, sure) if follows else list(map(math.log, alone))
        if not run:
            openings[run] = going_on
        elif last >= 0:
            # The first run on a new level still depends on the last one on the old level.
            off, as_sure = [before[last]] * size, [sure[last]] * size
            openings[run] = densities.after(residuals, parts, off, as_sure) if follows else going_on
        before, sure = residuals, surely
        total, path = list(map(add, total, going_on)), list(map(add, path, going_on))
        totals.append(total)
        begin = run + 1 - shortest
        # A segment is entered only once it has its minimum length, so no shorter segment can end.
        if begin in openings:
            base = ended[begin][0] - (price if begin else 0)
            # A difference of two prefix sums is the segment's sum, whatever its length.
            entering = [
                base + first + now - then
                for first, now, then in zip(openings.pop(begin), total, totals[begin + 1], strict=True)
            ]
            _enter(begin, entering, path, began)
        # The best path matters only where a segment may begin next, or at the end.
        if begin >= 0 and (allowed is None or run + 1 in allowed or run + 1 == end):
            most = max(path)
            best = path.index(most)
            ended.append((most, began[best], best))
        else:
            ended.append((_NEVER, 0, -1))
    return *_followed_back(ended), ended[-1][0]


def _weighed(value: float, grid: Sequence[float], densities: _Densities) -> _Weighed:
    """Return the residuals of a value on each level, its densities by component and in total, and the probability that
    it is ordinary.
    """
    residuals = [value - level for level in grid]
    parts = densities.parts(residuals)
    together = list(map(add, *parts))
    return residuals, parts, together, list(map(truediv, parts[0], together))


def _enter(begin: int, entering: Sequence[float], path: list[float], began: list[int]) -> None:
    """Replace the paths of the levels on which the segment that began at a run is better."""
    for level, is_better in enumerate(map(gt, entering, path)):
        if is_better:
            path[level], began[level] = entering[level], begin


def _followed_back(ended: Sequence[tuple[float, int, int]]) -> tuple[list[int], list[int]]:
    """Return the segment starts of the best path and their levels; the beginning of the history is not a change."""
    cuts, levels, end = [], [], len(ended) - 1
    while end:
        _, end, level = ended[end]
        cuts.append(end)
        levels.append(level)
    return cuts[-2::-1], levels[::-1]


def _running_median(values: Sequence[float], half: int) -> list[float]:
    return [median(values[max(0, place - half) : place + half + 1]) for place in range(len(values))]


def first_noise(values: Sequence[float], least: float) -> Noise:
    """Return a first guess of the noise, from the distances of runs to their neighbors.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values, in order of time.
    least : float
        Minimum spread of ordinary runs.

    Examples
    --------
    >>> first_noise([1.0] * 20, least=0.01).spread
    0.01
    """
    around = _running_median(values, 5)
    spread = max(least, 1.6 * median(abs(value - middle) for value, middle in zip(values, around, strict=True)))
    return Noise(spread, 0.3, 0.05, PRIOR_WIDTH * spread, 0.05, PRIOR_WIDTH * spread)


def _noise_around(residuals: Sequence[float], cuts: Collection[int], noise: Noise, least: float) -> Noise:
    """Return the noise re-estimated from residuals, each weighted by the probability that it is an ordinary run."""
    parts = zip(*_Densities(noise).parts(residuals), strict=True)
    sure = [ordinary / (ordinary + outlying) for ordinary, outlying in parts]
    squares = sum(weight * r * r for weight, r in zip(sure, residuals, strict=True))
    spread = max(least, math.sqrt(squares / max(sum(sure), 1)))
    # Covariance of consecutive runs over their variance, within segments, weighted by the probability that both are
    # ordinary.
    together = apart = 0.0
    for run in range(1, len(residuals)):
        if run not in cuts:
            weight, r, b = sure[run] * sure[run - 1], residuals[run], residuals[run - 1]
            together += weight * r * b
            apart += weight * (r * r + b * b) / 2
    # Innovations have the minimum spread too.
    most = min(MOST_PERSISTENT, math.sqrt(1 - (least / spread) ** 2))
    persistence = min(most, max(0.0, together / apart)) if apart > 0 else 0.0
    sides = []
    for sign in (-1, 1):
        outliers = [(1 - weight, abs(r)) for weight, r in zip(sure, residuals, strict=True) if (r >= 0) == (sign > 0)]
        count, distance = sum(weight for weight, _ in outliers), sum(weight * r for weight, r in outliers)
        # A prior of two outliers of the assumed width, so that a single small outlier cannot make the width tiny.
        width = (distance + 2 * PRIOR_WIDTH * spread) / (count + 2)
        sides += [(count + PRIOR_OUTLIERS) / (len(residuals) + PRIOR_RUNS), width]
    return Noise(spread, persistence, *sides)


def _grid(values: Sequence[float]) -> list[float]:
    """Return candidate levels: medians of five consecutive runs, and values between them."""
    around = sorted(_running_median(values, 2))
    low, high, half = around[0], around[-1], LEVELS // 2
    even = [low + (high - low) * step / (half - 1) for step in range(half)]
    return sorted({*even, *(around[step * (len(around) - 1) // (half - 1)] for step in range(half))})


def fit(
    values: Sequence[float],
    noise: Noise,
    *,
    price: float,
    shortest: int,
    least: float,
    rounds: int,
    allowed: Collection[int] | None = None,
) -> Fit:
    """Return the best course found by alternating between path and noise, from a first noise.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values.
    noise : Noise
        Starting value.
    price : float
        Gain in log likelihood required for each jump.
    shortest : int
        Minimum runs of a segment.
    least : float
        Minimum spread of ordinary runs.
    rounds : int
    allowed : collection of int or None
        Runs at which a segment may begin; None for any.

    Examples
    --------
    >>> values = [0.0, 0.1] * 10 + [1.0, 1.1] * 10
    >>> fit(values, first_noise(values, 0.01), price=8, shortest=4, least=0.01, rounds=2).cuts
    (20,)
    """
    best, most, grid = None, _NEVER, _grid(values)
    for _ in range(rounds):
        cuts, levels, value = _best_path(values, grid, noise, price, shortest, allowed)
        fitted = Fit(tuple(cuts), tuple(grid[level] for level in levels), noise, value + price * len(cuts))
        if value > most:
            best, most = fitted, value
        noise = _noise_around(fitted.residuals(values), cuts, noise, least)
    assert best is not None
    return best


def fit_at(
    values: Sequence[float], cut: int, noise: Noise, *, least: float, rounds: int = 4
) -> tuple[Fit, tuple[float, ...]]:
    """Course around one level, or two with a change at a known run, and the probability that each run is ordinary.
    Levels are means weighted by that probability, so nothing is searched: hundreds of histories take as long as one
    `fit`.

    Parameters
    ----------
    values : sequence of float
        Logarithms of the measured values.
    cut : int
        First run after the change; 0 for none.
    noise : Noise
        Starting value.
    least : float
        Minimum spread of ordinary runs.
    rounds : int

    Examples
    --------
    >>> values = [0.0, 0.1] * 10 + [1.0, 1.1] * 10
    >>> course, _ = fit_at(values, 20, first_noise(values, 0.01), least=0.01)
    >>> [round(level, 2) for level in course.levels]
    [0.05, 1.05]
    """
    cuts = (cut,) if cut else ()
    bounds = [0, *cuts, len(values)]
    parts = list(pairwise(bounds))
    levels = [median(values[begin:end]) for begin, end in parts]
    best: tuple[Fit, tuple[float, ...]] | None = None
    for _ in range(rounds):
        course = Fit(cuts, tuple(levels), noise, 0.0)
        residuals = course.residuals(values)
        loglik, sure = _loglik(residuals, noise)
        if best is None or loglik > best[0].loglik:
            best = course._replace(loglik=loglik), sure
        noise = _noise_around(residuals, cuts, noise, least)
        levels = [
            level + sum(map(mul, sure[begin:end], residuals[begin:end])) / max(LEAST, sum(sure[begin:end]))
            for level, (begin, end) in zip(levels, parts, strict=True)
        ]
    assert best is not None
    return best


def _loglik(residuals: Sequence[float], noise: Noise) -> tuple[float, tuple[float, ...]]:
    """Logarithm of the likelihood of residuals, and the probability that each is ordinary."""
    densities = _Densities(noise)
    ordinary, outlying = densities.parts(residuals)
    together = list(map(add, ordinary, outlying))
    sure = tuple(map(truediv, ordinary, together))
    if not noise.persistence:
        return sum(map(math.log, together)), sure
    after = densities.after(residuals[1:], (ordinary[1:], outlying[1:]), residuals[:-1], sure[:-1])
    return math.log(together[0]) + sum(after), sure


def place(values: Sequence[float], fitted: Fit, which: int, shortest: int, near: int) -> list[float]:
    """Return the likelihood of the change at each run within `near`, with levels, noise and all other changes fixed.

    Parameters
    ----------
    values : sequence of float
        The values.
    fitted : Fit
        Fit of the levels.
    which : int
        Index of the change.
    shortest : int
        Shortest segment. [runs]
    near : int
        Largest shift of the change. [runs]

    Examples
    --------
    >>> values = [0.0, 0.1] * 10 + [1.0, 1.1] * 10
    >>> found = fit(values, first_noise(values, 0.01), price=8, shortest=4, least=0.01, rounds=2)
    >>> round(place(values, found, 0, shortest=4, near=0)[20], 3)
    1.0
    """
    bounds = [0, *fitted.cuts, len(values)]
    begin, end = bounds[which], bounds[which + 2]
    densities, (old, new) = _Densities(fitted.noise), fitted.levels[which : which + 2]

    def terms(before: float, now: float) -> list[float]:
        """Return the terms of all runs but the first, with the previous run relative to one level and this run relative
        to another.
        """
        offs = [value - before for value in values[begin : end - 1]]
        residuals = [value - now for value in values[begin + 1 : end]]
        sure = [ordinary / (ordinary + outlying) for ordinary, outlying in zip(*densities.parts(offs), strict=True)]
        return densities.after(residuals, densities.parts(residuals), offs, sure)

    staying, jumping, gone = terms(old, old), terms(old, new), terms(new, new)
    # A change at a run: earlier runs at the old level, the run itself between the two, later runs at the new level.
    right = sum(gone)
    left, logs = 0.0, []
    for before, jump, after in zip(staying, jumping, gone, strict=True):
        right -= after
        logs.append(left + jump + right)
        left += before
    # The first of `logs` is a change at the second run; both sides keep their minimum length.
    logs = [_NEVER] * shortest + logs[shortest - 1 : len(logs) - shortest + 1]
    top = max(logs)
    # Relative to the likeliest, so that no exponential underflows.
    weights = [math.exp(log - top) for log in logs] + [0.0] * (end - begin - len(logs))
    whole = sum(weights)
    shares = [sum(weights[max(0, run - near) : run + near + 1]) / whole for run in range(len(weights))]
    return [0.0] * begin + shares
