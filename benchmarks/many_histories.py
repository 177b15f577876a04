"""The search for changes in many series at once: the steps of `hopperlib.monitoring`, each on all series together.

Error rates need tens of thousands of series; one after the other they would take hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from hopperlib.monitoring.changes import LEVEL, PERSISTENCE_PRICE, SHORTEST, Course, gain_needed, kept, least_spread
from hopperlib.monitoring.delays import synthetic_history
from hopperlib.monitoring.levels import (
    LEAST,
    LEVELS,
    MOST_PERSISTENT,
    PRIOR_OUTLIERS,
    PRIOR_RUNS,
    PRIOR_WIDTH,
    Fit,
    Noise,
)

__all__ = ["chance_rows", "courses", "search_many"]

Array = NDArray[np.float64]
_NEVER = -1e300


@dataclass
class _Noises:
    """The noises of all series, a column each."""

    spread: Array
    persistence: Array
    low: Array
    low_width: Array
    high: Array
    high_width: Array

    def of(self, which: int) -> Noise:
        """Return the noise of one series."""
        return Noise(*(float(getattr(self, part.name)[which, 0]) for part in fields(self)))

    def parts(self, residuals: Array) -> tuple[Array, Array]:
        """Return the densities as ordinary runs, and as outliers."""
        height = (1 - self.low - self.high) / (self.spread * np.sqrt(2 * np.pi))
        ordinary = height * np.exp(-0.5 * (residuals / self.spread) ** 2)
        below = residuals < 0
        width = np.where(below, -self.low_width, self.high_width)
        outlying = np.where(below, self.low, self.high) / np.abs(width) * np.exp(-residuals / width) + LEAST
        return ordinary, outlying

    def after(self, residuals: Array, ordinary: Array, outlying: Array, before: Array, sure: Array) -> Array:
        """Return the logarithms of densities, given the runs before and how surely those were ordinary."""
        spread = self.spread * np.sqrt(1 - self.persistence**2)
        height = (1 - self.low - self.high) / (spread * np.sqrt(2 * np.pi))
        following = height * np.exp(-0.5 * ((residuals - self.persistence * before) / spread) ** 2)
        logs: Array = np.log(outlying + sure * following + (1 - sure) * ordinary)
        return logs


def _running_median(values: Array, half: int) -> Array:
    """Return the median of each run and those around it."""
    padded = np.pad(values, ((0, 0), (half, half)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=1)
    middle: Array = np.nanmedian(windows, axis=2)
    return middle


def _grid(values: Array) -> Array:
    """Return the levels that are tried, a row a series."""
    around, half = np.sort(_running_median(values, 2), axis=1), LEVELS // 2
    low, high = around[:, :1], around[:, -1:]
    even = low + (high - low) * np.arange(half) / (half - 1)
    picked = around[:, np.arange(half) * (around.shape[1] - 1) // (half - 1)]
    return np.sort(np.concatenate([even, picked], axis=1), axis=1)


def _best_paths(
    values: Array, grid: Array, noise: _Noises, price: float, jumps: bool
) -> list[tuple[list[int], list[int], float]]:
    """Return for each series where its segments begin, their levels on the grid, and the value of the path."""
    count, runs = values.shape
    size = grid.shape[1]
    rows = np.arange(count)
    ended = np.full((runs + 1, count), _NEVER)
    ended[0] = 0.0
    came = np.zeros((runs + 1, count), int)
    last = np.full((runs + 1, count), -1)
    path, began = np.full((count, size), _NEVER), np.zeros((count, size), int)
    total = np.zeros((count, size))
    totals, openings = [total], []
    before = sure = total
    for run in range(runs):
        residuals = values[:, run : run + 1] - grid
        ordinary, outlying = noise.parts(residuals)
        alone = ordinary + outlying
        opening = going_on = np.log(alone)
        if run:
            going_on = noise.after(residuals, ordinary, outlying, before, sure)
            if jumps and run >= SHORTEST:
                old = last[run]
                opening = noise.after(
                    residuals, ordinary, outlying, before[rows, old][:, None], sure[rows, old][:, None]
                )
        openings.append(opening)
        before, sure = residuals, ordinary / alone
        total = total + going_on
        totals.append(total)
        path = path + going_on
        begin = run + 1 - SHORTEST
        if begin == 0 or (jumps and begin >= SHORTEST):
            base = ended[begin][:, None] - (price if begin else 0)
            entering = base + openings[begin] + total - totals[begin + 1]
            better = entering > path
            path, began = np.where(better, entering, path), np.where(better, begin, began)
        if begin >= 0:
            best = path.argmax(axis=1)
            ended[run + 1], came[run + 1], last[run + 1] = path[rows, best], began[rows, best], best
    found = []
    for row in range(count):
        cuts, levels, end = [], [], runs
        while end:
            cuts.append(int(came[end, row]))
            levels.append(int(last[end, row]))
            end = cuts[-1]
        found.append((cuts[-2::-1], levels[::-1], float(ended[runs, row])))
    return found


def _noises_around(residuals: Array, opens: NDArray[np.bool_], noise: _Noises, least: Array) -> _Noises:
    """Return the noises estimated anew; `opens` marks the first run of each segment."""
    ordinary, outlying = noise.parts(residuals)
    sure = ordinary / (ordinary + outlying)
    squares = (sure * residuals**2).sum(axis=1, keepdims=True)
    spread = np.maximum(least, np.sqrt(squares / np.maximum(sure.sum(axis=1, keepdims=True), 1)))
    weight = np.where(opens[:, 1:], 0, sure[:, 1:] * sure[:, :-1])
    now, ago = residuals[:, 1:], residuals[:, :-1]
    together = (weight * now * ago).sum(axis=1, keepdims=True)
    apart = (weight * (now**2 + ago**2) / 2).sum(axis=1, keepdims=True)
    most = np.minimum(MOST_PERSISTENT, np.sqrt(1 - (least / spread) ** 2))
    persistence = np.clip(together / np.maximum(apart, 1e-300), 0, most)
    sides = []
    for side in (residuals < 0, residuals >= 0):
        off = np.where(side, 1 - sure, 0)
        number, distance = off.sum(axis=1, keepdims=True), (off * np.abs(residuals)).sum(axis=1, keepdims=True)
        sides += [
            (number + PRIOR_OUTLIERS) / (residuals.shape[1] + PRIOR_RUNS),
            (distance + 2 * PRIOR_WIDTH * spread) / (number + 2),
        ]
    return _Noises(spread, persistence, *sides)


def _fits(
    values: Array, noise: _Noises, *, price: float, least: Array, rounds: int, jumps: bool = True
) -> tuple[list[Fit], _Noises]:
    """Return the best course of every series, and its noise."""
    grid = _grid(values)
    best: list[Fit | None] = [None] * len(values)
    for _ in range(rounds):
        paths = _best_paths(values, grid, noise, price, jumps)
        residuals, opens = np.empty_like(values), np.zeros(values.shape, bool)
        for row, (cuts, levels, value) in enumerate(paths):
            heights = tuple(float(grid[row, level]) for level in levels)
            found = Fit(tuple(cuts), heights, noise.of(row), value + price * len(cuts))
            before = best[row]
            if before is None or value > before.loglik - price * len(before.cuts):
                best[row] = found
            residuals[row] = found.residuals(list(values[row]))
            opens[row, cuts] = True
        noise = _noises_around(residuals, opens, noise, least)
    fits = [found for found in best if found is not None]
    parts = (np.array([[getattr(found.noise, part.name)] for found in fits]) for part in fields(_Noises))
    return fits, _Noises(*parts)


def search_many(values: Array, *, price: float | None = None) -> list[tuple[Fit, Fit]]:
    """Return for each series the best course without a change, and with any: `hopperlib.monitoring.changes.search`.

    Parameters
    ----------
    values : array of shape (series, runs)
        Logarithms.
    price : float or None
        Gain that each change must bring; None for that of `LEVEL`.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.1] * 10, [0.0, 0.1] * 5 + [1.0, 1.1] * 5])
    >>> [best.cuts for steady, best in search_many(rows)]
    [(), (10,)]
    """
    needed = gain_needed(values.shape[1], 0.0) if price is None else price
    least = np.array([[least_spread(list(row))] for row in values])
    around = _running_median(values, 5)
    spread = np.maximum(least, 1.6 * np.median(np.abs(values - around), axis=1, keepdims=True))
    one = np.ones_like(spread)
    width = PRIOR_WIDTH * spread
    local = _Noises(spread, 0.3 * one, 0.05 * one, width, 0.05 * one, width)
    steady, noises = _fits(values, local, price=0, least=least, rounds=4, jumps=False)
    shrunk = replace(noises, spread=np.maximum(least, 0.75 * noises.spread), persistence=0.7 * noises.persistence)
    both = [_fits(values, first, price=needed, least=least, rounds=3)[0] for first in (local, shrunk)]
    return [
        (candidates[0], max(candidates, key=lambda found: found.loglik - needed * len(found.cuts)))
        for candidates in zip(steady, *both, strict=True)
    ]


def courses(histories: Sequence[Sequence[float]], *, at_once: int = 250) -> list[Course]:
    """Return the course of each history, all of one length: the answers of `hopperlib.monitoring.changes.find_changes`.

    Parameters
    ----------
    histories : sequence of sequences of float
        What was measured, above 0.
    at_once : int
        Histories that are computed together.

    Examples
    --------
    >>> [len(course.changes) for course in courses([[100, 101] * 10, [100, 101] * 5 + [80, 81] * 5])]
    [0, 1]
    """
    logs = np.log(np.array(histories, dtype=float))
    found = []
    for begin in range(0, len(logs), at_once):
        part = logs[begin : begin + at_once]
        found += [
            kept(list(row), steady, best, LEVEL) for row, (steady, best) in zip(part, search_many(part), strict=True)
        ]
    return found


def chance_rows(
    lengths: Sequence[tuple[int, float]], persistences: Sequence[float] = (0.0, 0.3, 0.5), series: int = 1500
) -> list[tuple[int, float, float, int]]:
    """Return the rows of ``data/chance-of-change.csv``: runs, the gains that 5 and 1 % of unchanged histories exceed, series.

    Each gain is the largest over the persistences, less what that of the changed course costs.

    Parameters
    ----------
    lengths : sequence of (int, float)
        Runs of a history, and the price of a change in the search: below the gain that 5 % exceed.
    persistences : sequence of float
    series : int
        Histories of each persistence.

    Examples
    --------
    >>> ((runs, five, one, histories),) = chance_rows([(15, 4.0)], [0.0], series=40)
    >>> runs, histories, five <= one
    (15, 40, True)
    """
    table = []
    for runs, price in lengths:
        quantiles = []
        for rho in persistences:
            seeds = (Random(f"null {runs} {rho} {number}") for number in range(series))
            logs = np.log([synthetic_history(rng, runs=runs, persistence=rho) for rng in seeds])
            gains = [
                best.loglik - steady.loglik - price * (len(best.cuts) - 1) - PERSISTENCE_PRICE * best.noise.persistence
                if best.cuts
                else 0.0
                for begin in range(0, series, 250)
                for steady, best in search_many(logs[begin : begin + 250], price=price)
            ]
            quantiles.append(np.quantile(gains, (0.95, 0.99)))
        five, one = np.max(quantiles, axis=0)
        table.append((runs, float(five), float(one), series * len(persistences)))
    return table
