"""Lasting changes: found where they are planted, and nowhere else."""

from __future__ import annotations

import math
from random import Random

import pytest

from hopperlib.monitoring.changes import chance, find_changes, gain_needed, least_spread
from hopperlib.monitoring.delays import synthetic_history


def _logs(seed, **how):
    return [math.log(value) for value in synthetic_history(Random(seed), **how)]


def test_a_loss_is_found_near_its_place():
    found = [find_changes(_logs(seed, runs=100, loss=0.2, change=80)).changes for seed in range(8)]
    near = sum(any(abs(change.run - 80) <= 3 for change in changes) for changes in found)
    assert near >= 7


def test_a_loss_is_found_among_runs_that_follow_each_other():
    found = [find_changes(_logs(seed, runs=100, loss=0.2, change=80, persistence=0.5)).changes for seed in range(8)]
    near = sum(any(abs(change.run - 80) <= 3 for change in changes) for changes in found)
    assert near >= 6


@pytest.mark.parametrize("persistence", [0.0, 0.5])
def test_unchanged_histories_stay_silent(persistence):
    # One in a hundred is allowed: two of eight would come once in 400 times.
    alarms = [bool(find_changes(_logs(seed, runs=120, persistence=persistence)).changes) for seed in range(8)]
    assert sum(alarms) <= 1


def test_the_change_says_how_much():
    (change,) = find_changes(_logs(3, runs=100, loss=0.2, change=50, spread=0.02, contended=0.0)).changes
    # ln 0.8; 50 runs of 2 % on each side leave 0.4 %.
    assert change.after - change.before == pytest.approx(math.log(0.8), abs=0.015)
    assert change.earliest <= change.run <= change.latest
    assert change.p_value < 0.01


def test_a_bad_week_has_two_changes():
    logs = _logs(5, runs=60, spread=0.02, contended=0.0)
    logs = [value - 0.3 * (30 <= run < 40) for run, value in enumerate(logs)]
    assert [change.run for change in find_changes(logs).changes] == [30, 40]


def test_equal_values_are_no_change():
    assert find_changes([1.0] * 40).changes == ()


def test_a_jump_between_equal_values_is_one():
    assert [change.run for change in find_changes([1.0] * 20 + [0.9] * 20).changes] == [20]


def test_the_answer_does_not_depend_on_the_unit():
    logs = _logs(1, runs=60, loss=0.2, change=40)
    assert [change.run for change in find_changes([value + 7 for value in logs]).changes] == [
        change.run for change in find_changes(logs).changes
    ]


def test_upside_down_is_the_same_place():
    logs = _logs(2, runs=60, loss=0.25, change=40)
    down = find_changes(logs).changes
    up = find_changes([-value for value in logs]).changes
    # The first of two about equally likely places is taken, so they may differ by one.
    assert [change.run for change in up] == [pytest.approx(change.run, abs=1) for change in down]
    assert [change.after - change.before for change in up] == [
        pytest.approx(change.before - change.after, abs=0.02) for change in down
    ]


@pytest.mark.parametrize("runs", [12, 20, 100, 1000])
def test_more_gain_is_less_chance(runs):
    chances = [chance(gain, runs, 0.2) for gain in range(0, 40, 4)]
    assert chances == sorted(chances, reverse=True)
    assert chance(gain_needed(runs, 0.2), runs, 0.2) == pytest.approx(0.01)


def test_persistence_asks_for_more():
    assert gain_needed(100, 0.5) > gain_needed(100, 0.0)


def test_least_spread_of_printed_steps():
    # A third of the step between neighbors, and never zero.
    assert least_spread([2.0, 2.5, 2.5, 4.0]) == pytest.approx(0.15)
    assert least_spread([1.0, 1.0]) > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_clock_that_goes_in_steps_is_no_change(seed):
    # Steps of 0.8 with a little noise, as in a benchmark that waits for a timer.
    rng = Random(seed)
    steps = (-1, 0, 0, 0, 0, 1, 1, 1, 1, 2)
    values = [math.log(52 + 0.8 * rng.choice(steps) + rng.gauss(0, 0.004)) for _ in range(120)]
    assert find_changes(values).changes == ()
    assert [change.run for change in find_changes([*values, *(value - 0.3 for value in values[:20])]).changes] == [120]


def test_a_thousandfold_jump_among_equal_runs_is_one():
    rng = Random(3)
    values = [rng.gauss(7 * (run >= 60), 1e-4) for run in range(120)]
    assert [change.run for change in find_changes(values).changes] == [60]
