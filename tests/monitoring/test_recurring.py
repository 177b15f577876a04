"""Recurring histories: two states and seasons are recognized, and lasting changes are still changes."""

import math
from random import Random

import pytest

from hopperlib.monitoring.history import SEASONAL, SWITCHING, History, judge
from hopperlib.monitoring.recurring import season, two_states


def judged(logs):
    return judge(
        History(name="b", values=tuple(map(math.exp, logs)), times=tuple(map(str, range(len(logs)))), better="higher")
    )


def switching(rng, runs=100):
    """Return a history between two levels, with a visit of 15 runs on average."""
    state, logs, left = 0, [], 0
    for _ in range(runs):
        if not left:
            state, left = 1 - state, rng.randint(10, 20)
        left -= 1
        logs.append(4 + 0.1 * state + rng.gauss(0, 0.02))
    return logs


def seasonal(rng, runs=100):
    turns, begin = rng.uniform(2.2, 6), rng.random()
    return [4 + 0.05 * math.sin(2 * math.pi * (turns * run / runs + begin)) + rng.gauss(0, 0.02) for run in range(runs)]


@pytest.mark.parametrize(
    ("draw", "seed", "verdict", "histories"),
    [
        (switching, 1, SWITCHING, 4),
        (seasonal, 2, SEASONAL, 4),
        pytest.param(switching, 5, SWITCHING, 200, marks=pytest.mark.nightly),
        pytest.param(seasonal, 6, SEASONAL, 200, marks=pytest.mark.nightly),
    ],
)
def test_what_comes_back_raises_no_alarm_of_change(draw, seed, verdict, histories):
    rng = Random(seed)
    verdicts = [judged(draw(rng)).verdict for _ in range(histories)]
    # A change hidden by noise may be missed, which is not an alarm.
    assert verdicts.count(verdict) >= 0.9 * histories
    alarms = sum(verdict in ("worse", "better", "drifts, worse", "drifts, better") for verdict in verdicts)
    assert alarms < 0.05 * histories, alarms


@pytest.mark.parametrize(
    ("shape", "verdict"),
    [
        (lambda run: -0.1 * (run >= 40), "worse"),
        (lambda run: -0.1 * (30 <= run < 60), "worse, and back"),
        (lambda run: -0.003 * run, "drifts, worse"),
        (lambda run: 0.0, "no change"),
    ],
)
def test_what_lasts_is_still_a_change(shape, verdict):
    rng = Random(3)
    assert judged([4 + shape(run) + rng.gauss(0, 0.02) for run in range(100)]).verdict == verdict


def test_two_states_are_told_with_their_levels():
    rng, bounds = Random(4), (14, 30, 37, 58, 70, 91)
    report = judged([4 + 0.1 * (sum(run >= bound for bound in bounds) % 2) + rng.gauss(0, 0.02) for run in range(100)])
    assert report.verdict == SWITCHING
    assert report.states == (pytest.approx(math.exp(4), rel=0.02), pytest.approx(math.exp(4.1), rel=0.02))
    assert report.switches == len(bounds)
    assert (report.shifts, report.got_worse) == ((), False)


def test_states_by_hand():
    # Ten at 0, ten at 1, twice over: three switches at the runs 10, 20 and 30.
    found = two_states(([0.0] * 10 + [1.0] * 10) * 2, 0.01)
    assert (found.low, found.high, found.switches) == (0.0, 1.0, 3)
    assert found.states == ((0,) * 10 + (1,) * 10) * 2


def test_seasons_by_hand():
    length, wave, share = season([2 * math.cos(2 * math.pi * run / 24) for run in range(96)])
    assert (length, share) == (24, pytest.approx(1))
    assert wave[:3] == pytest.approx([2, 2 * math.cos(math.pi / 12), 2 * math.cos(math.pi / 6)])
    # Two seasons of eight runs at least.
    assert season([0.0, 1.0] * 7) is None
