"""Smallest visible change: 80 of 100 changes of that size are detected; wandering noise raises no alarm."""

from __future__ import annotations

import math
import random

import pytest

from hopperlib.monitoring.delays import synthetic_history
from hopperlib.monitoring.history import WANDERS, History, Report, judge
from hopperlib.monitoring.noise import is_unusual_step, spread_change
from hopperlib.monitoring.visible import visible_change

SPREAD = 0.06


def _following(rng: random.Random, runs: int, persistence: float) -> list[float]:
    values = [rng.gauss(0, 1)]
    while len(values) < runs:
        values.append(persistence * values[-1] + math.sqrt(1 - persistence**2) * rng.gauss(0, 1))
    return values


KINDS = {
    "normal": lambda rng, runs: [math.exp(SPREAD * rng.gauss(0, 1)) for _ in range(runs)],
    "heavy": lambda rng, runs: [
        math.exp(SPREAD * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2, 0.5))) for _ in range(runs)
    ],
    "skewed": lambda rng, runs: [math.exp(-SPREAD * (rng.gammavariate(4, 0.5) - 2)) for _ in range(runs)],
    "contended 5 %": lambda rng, runs: synthetic_history(rng, runs=runs, spread=SPREAD, contended=0.05),
    "contended 15 %": lambda rng, runs: synthetic_history(rng, runs=runs, spread=SPREAD, contended=0.15),
    "autocorrelation 0.4": lambda rng, runs: [math.exp(SPREAD * z) for z in _following(rng, runs, 0.4)],
}


def pink(rng: random.Random, runs: int) -> list[float]:
    """Noise with equal power in every octave of time (1/f): ten levels, each drawn half as often as the one before."""
    levels, values = [0.0] * 10, []
    for run in range(runs):
        for octave in range(10):
            if run % (1 << octave) == 0:
                levels[octave] = rng.gauss(0, 1)
        values.append(math.exp(SPREAD * sum(levels) / math.sqrt(10)))
    return values


def report(values: list[float]) -> Report:
    times = tuple(map(str, range(len(values))))
    return judge(History(name="rate", values=tuple(values), times=times, better="higher"), least_percent=0)


def sizes_said(kind: str, runs: int, series: int) -> tuple[list[float], int]:
    """Reported sizes of quiet histories, as differences of logarithms, and the number of false alarms."""
    sizes, alarms = [], 0
    for number in range(series):
        quiet = report(KINDS[kind](random.Random(f"visible {kind} {runs} {number}"), runs))
        alarms += quiet.verdict in ("worse", "better") or quiet.verdict.startswith("drifts")
        size = visible_change(quiet)
        if size is not None:
            sizes.append(math.log1p(size))
    return sizes, alarms


def size_needed(kind: str, runs: int, number: int, halvings: int = 6) -> float:
    """The smallest loss in the middle of another history that is reported."""
    noise = KINDS[kind](random.Random(f"fresh {kind} {runs} {number}"), runs)
    low, high = 0.02, 0.8
    for _ in range(halvings):
        middle = math.sqrt(low * high)
        lost = [value * math.exp(-middle) if run >= runs // 2 else value for run, value in enumerate(noise)]
        low, high = (low, middle) if report(lost).got_worse else (middle, high)
    return math.sqrt(low * high)


def share_seen(sizes: list[float], needed: list[float]) -> float:
    """Share of pairs of quiet histories in which the size reported for the first is detected in the second."""
    return sum(size >= other for size in sizes for other in needed) / len(sizes) / len(needed)


def test_four_of_five_losses_as_large_as_is_said_are_seen():
    """Nominal 80 %; of 8 other histories, 80 % give or take three times 14 %."""
    sizes, alarms = sizes_said("normal", 40, 5)
    assert share_seen(sizes, [size_needed("normal", 40, number, halvings=4) for number in range(8)]) >= 0.38
    assert alarms <= 1


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_four_of_five_losses_are_seen_whatever_the_noise(kind):
    """Nominal 80 %, 75 to 85 % by the goal. Every size is held against every other history, so 100 by 200 tell it to
    some 3 %.

    Measured on 100 by 130: normal 84 %, heavy tails 80 %, skewed 85 %, contended 80 and 80 %, autocorrelation 80 %.
    With skewed noise the size is said a little too large.
    """
    sizes, alarms = sizes_said(kind, 60, 100)
    assert (
        0.75
        <= share_seen(sizes, [size_needed(kind, 60, number) for number in range(200)])
        <= (0.87 if kind == "skewed" else 0.85)
    )
    assert alarms <= 4


def test_a_longer_history_shows_smaller_changes_and_a_late_change_must_be_larger():
    rng = random.Random(3)
    values = KINDS["normal"](rng, 120)
    short, long = report(values[:60]), report(values)
    assert visible_change(long) < visible_change(short)
    assert visible_change(long, after=10) > visible_change(long)
    assert visible_change(report(values[:8])) is None


def test_a_spread_that_grows_is_found_where_it_does():
    rng = random.Random(4)
    residuals = [rng.gauss(0, 0.02 if run < 60 else 0.08) for run in range(120)]
    found = spread_change(residuals)
    assert abs(found.run - 60) <= 8
    assert found.before == pytest.approx(0.02, rel=0.3)
    assert found.after == pytest.approx(0.08, rel=0.3)
    # One in a thousand histories of even noise is reported as changed: none of 100.
    assert not any(spread_change([rng.gauss(0, 1) for _ in range(60)]) for _ in range(100))


def test_a_step_stands_out_of_short_memory_and_wandering_does_not_alarm():
    rng = random.Random(6)
    step = [math.log(value) - 0.2 * (run >= 60) for run, value in enumerate(KINDS["normal"](rng, 120))]
    assert is_unusual_step(step, 60)
    verdicts = [report(pink(random.Random(f"pink {number}"), 100)).verdict for number in range(8)]
    assert all(
        verdict in ("no change", WANDERS, "moves with the season", "switches between two states")
        for verdict in verdicts
    )


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_wandering_noise_alarms_seldom():
    verdicts = [report(pink(random.Random(f"pink {number}"), 168)).verdict for number in range(200)]
    # Without the rule some 18 of 100; with it none of 30 in a first look: 2 % of 200, and three standard errors.
    assert sum(verdict in ("worse", "better") or verdict.startswith("drifts") for verdict in verdicts) <= 10
