"""The question on runs: its sentence and facts agree with the model."""

from __future__ import annotations

from hopperlib.questions.network.runs_needed import QUESTION


def test_the_default():
    result = QUESTION.run()
    assert result.facts["runs_needed"] == 17
    assert result.summary.startswith("17 runs of each variant show a gain of 5 % in noise of 5 %")
    assert [finding.code for finding in result.findings] == ["too-few"]


def test_enough_runs_say_no_more():
    assert not QUESTION.run(runs=17).findings


def test_a_gain_that_no_number_of_runs_shows():
    result = QUESTION.run(gain_percent=0.01, noise_percent=200.0)
    assert result.facts["runs_needed"] is None
    assert result.summary.startswith("Not even 100,000 runs")
