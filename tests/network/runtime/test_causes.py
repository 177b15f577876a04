"""Run times by cause: limits without traffic and noise, and comparison with the standard library."""

from statistics import correlation

import pytest

from hopperlib.network.runtime.causes import correlations, run_times_by_cause
from hopperlib.network.runtime.milc import milc_jobs, model, run_times


def times(**changes):
    return run_times_by_cause(milc_jobs(), model(), **({"traffic": "assumed", "noise": 0.0, "seed": 1} | changes))


def test_without_noise_they_are_the_times_of_the_model():
    assert times().runs == [time for job in run_times(noise=False) for time in job]
    assert times().least[1] == times().least[2]


def test_noise_only_adds():
    quiet, noisy = times(), times(noise=0.02)
    assert all(more >= less for less, more in zip(quiet.runs, noisy.runs, strict=True))
    assert noisy.slowest_over_fastest > quiet.slowest_over_fastest >= 1


def test_correlations_are_those_of_the_standard_library():
    expected = correlation([job.volume for job in milc_jobs()], times().least[0])
    assert correlations(milc_jobs(), times())["volume"][0] == pytest.approx(expected, abs=1e-12)
    assert all(row == [None] * 3 for row in correlations(milc_jobs()[:1], times_of_one()).values())


def times_of_one():
    return run_times_by_cause(milc_jobs()[:1], model(), traffic="none", noise=0.0, seed=1)
