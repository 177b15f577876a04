"""The question on runs: its sentence and facts agree with the model."""

from __future__ import annotations

import pytest

from hopperkit.questions.network.runs_needed import QUESTION
from hopperlib.errors import InputError


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


def test_run_times_of_ones_own_take_the_place_of_the_noise():
    # Two jobs of mean 9 and 11, their runs 1 apart either side: variance of all four 8/3, within a job 2, mean 10.
    result = QUESTION.run(times="job,run_time_s\na,8\na,10\nb,10\nb,12\n")
    assert result.facts["noise_percent"] == pytest.approx(100 * (8 / 3) ** 0.5 / 10)
    (note,) = [finding for finding in result.findings if finding.code == "own-groups"]
    assert note.message.startswith("Your 4 run times spread by 16.3 % of their mean")
    assert "Within a group they spread by 14.1 %" in note.message


def test_run_times_without_repeats_tell_no_more_than_their_spread():
    assert "own-spread" in [finding.code for finding in QUESTION.run(times="run_time_s\n10\n12\n").findings]


@pytest.mark.parametrize("times", ["run_time_s\n10\n", "run_time_s\n10\n10\n"])
def test_run_times_without_a_spread_are_refused(times):
    with pytest.raises(InputError, match=r"^two or more different run times are needed for a spread$"):
        QUESTION.run(times=times)
