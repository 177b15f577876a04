"""How soon a loss is seen: every choice has an answer, and the laws of the table."""

from __future__ import annotations

from itertools import product

import pytest

from hopperkit.questions.question import load
from hopperlib.monitoring.delays import LONGEST, measured, settings


@pytest.fixture(scope="module")
def delay():
    return load("detection-delay")


def test_every_choice_was_measured(delay):
    choices = {
        control.name: [option[0] for option in control.options]
        for control in delay.controls
        if hasattr(control, "options")
    }
    names = ("loss_percent", "spread_percent", "contended_percent", "persistence")
    for values in product(*(choices[name] for name in names)):
        facts = delay.run(**dict(zip(names, values, strict=True))).facts
        assert facts["median_runs"] is None or 4 <= facts["median_runs"] <= LONGEST
        assert 0 <= facts["false_alarms"] <= facts["seen"] <= 1 or facts["median_runs"] is None


def test_days_follow_from_the_runs_a_week(delay):
    daily, weekly = (delay.run(runs_per_week=runs).facts for runs in (7, 1))
    assert weekly["median_days"] == 7 * daily["median_days"] == 7 * daily["median_runs"]


def test_a_loss_that_drowns_is_said_to(delay):
    result = delay.run(loss_percent="3", spread_percent="12")
    assert result.facts["median_runs"] is None
    assert [finding.code for finding in result.findings] == ["unseen"]
    assert "not reached within 40 runs" in result.summary


def test_more_contention_and_more_persistence_are_no_help():
    """Law, within the chance variation of this few series: a tenth of the found share."""
    for spread, loss in product(settings("spread_percent"), (10, 20, 30)):
        kind = {"spread_percent": spread, "loss_percent": loss}
        best = measured(**kind, contended_percent=5, persistence=0).alarmed
        assert measured(**kind, contended_percent=15, persistence=0.5).alarmed <= best + 0.1
