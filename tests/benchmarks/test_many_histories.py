"""Many series at once give the answers of one at a time, and those of a kept library where it can."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from benchmarks.many_histories import courses, search_many
from hopperlib.monitoring.changes import find_changes, gain_needed, search
from hopperlib.monitoring.delays import synthetic_history
from hopperlib.monitoring.levels import Noise, fit

HISTORIES = [
    synthetic_history(Random(seed), runs=60, loss=0.2 * (seed % 2), change=40, persistence=0.5 * (seed % 3 == 0))
    for seed in range(8)
]


def test_courses_are_those_of_the_core():
    for history, course in zip(HISTORIES, courses(HISTORIES), strict=True):
        alone = find_changes([math.log(value) for value in history])
        assert [change.run for change in course.changes] == [change.run for change in alone.changes]
        assert course.fit.loglik == pytest.approx(alone.fit.loglik, abs=1e-8)


def test_fits_are_those_of_the_core():
    logs = np.log(HISTORIES)
    price = gain_needed(60, 0.0)
    for row, (steady, best) in zip(logs, search_many(logs), strict=True):
        alone_steady, alone = search(list(row), 0.01)
        assert (best.cuts, best.levels) == (alone.cuts, pytest.approx(alone.levels))
        assert steady.loglik == pytest.approx(alone_steady.loglik, abs=1e-8)
        assert alone.loglik - alone_steady.loglik == pytest.approx(best.loglik - steady.loglik, abs=1e-8) or price < 0


def test_the_best_path_is_that_of_ruptures():
    """With normal, independent runs and no outliers the path is the penalized least-squares one, which ruptures finds."""
    ruptures = pytest.importorskip("ruptures")
    rng = Random(1)
    # Levels on a fine grid cost at most half a step: spreads of 0.1 and 40 levels over 1 leave the places as they are.
    values = [rng.gauss(0, 0.1) + (0.8 if 20 <= run < 45 else 0) for run in range(70)]
    noise = Noise(0.1, 0.0, 1e-12, 1.0, 1e-12, 1.0)
    ours = fit(values, noise, price=8.0, shortest=4, least=0.1, rounds=1)
    # Half a sum of squares over the variance against 8: a penalty of 2 x 8 x 0.1^2 on the sum of squares.
    theirs = ruptures.Pelt(model="l2", min_size=4, jump=1).fit(np.array(values)).predict(pen=2 * 8.0 * 0.1**2)
    assert list(ours.cuts) == theirs[:-1]
