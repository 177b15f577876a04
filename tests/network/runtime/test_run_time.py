"""Run time of a communicating job: the line, noise, and the fit."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.network.runtime.run_time import NOISE, Run, RunTimeModel, calibrate, draw_noise, least_of


def test_the_noise_is_exponential():
    # Quantiles of mean 1: -ln(1 - u) at u = 0, 0.05, ..., 0.95. Above ln 20 the mean is ln 20 + 1, the middle of the
    # last step, which ends at ln 20 + 2.
    assert NOISE[:20] == pytest.approx([-math.log(1 - step / 20) for step in range(20)], abs=5e-5)
    assert NOISE[20:] == pytest.approx([math.log(20) + 2], abs=5e-5)


def test_draws_have_the_stated_mean():
    """A table of equal steps: the mean is the trapezoid sum."""
    assert sum(NOISE[1:-1]) / 20 + (NOISE[0] + NOISE[-1]) / 40 == pytest.approx(1.0, abs=0.03)
    rng = random.Random(5)
    assert 0 <= min(draw_noise(rng) for _ in range(500)) < 0.01


def test_run_time_is_a_line_times_noise():
    """100 s, 40 GB at 0.5 s/GB, 5 s of reductions: 125 s; two draws of noise of a tenth: a fifth more."""
    line = RunTimeModel(compute_s=100.0, exchanged_gb=40.0, run_noise=0.1)
    assert line.run_time_s(Run(0.5, 5.0)) == 125.0
    assert line.run_time_s(Run(0.5, 5.0, 2.0)) == pytest.approx(150.0)


def test_least_of_several():
    values = [float(number) for number in range(1001)]
    assert least_of(values, 1) == 500.0
    # 1 - 0.5 ** (1 / 2) = 0.2929
    assert least_of(values, 2) == pytest.approx(292.9, abs=0.05)
    assert least_of([7.0], 9) == 7.0
    with pytest.raises(ValueError, match="count=0 draws"):
        least_of(values, 0)


@given(st.floats(100, 1000), st.floats(100, 900), st.floats(0, 0.03), st.integers(20, 200), st.floats(0, 9))
def test_calibration_finds_the_line_it_is_shown(compute, exchanged, noise, runs, reduce_s):
    """Times generated with a known line reproduce that line."""
    rng = random.Random(runs)
    jobs = [[Run(rng.random() + 0.4, reduce_s, draw_noise(rng)) for _ in range(3)] for _ in range(60)]
    known = RunTimeModel(compute_s=compute, exchanged_gb=exchanged, run_noise=noise)
    times = sorted(known.run_time_s(run) for job in jobs for run in job)
    found = calibrate(jobs, least_s=least_of(times, runs), mean_s=sum(times) / 180, runs=runs, run_noise=noise)
    assert found.exchanged_gb == pytest.approx(exchanged, rel=0.05)
    assert found.compute_s == pytest.approx(compute, rel=0.05, abs=10.0)
    again = sorted(found.run_time_s(run) for job in jobs for run in job)
    assert sum(again) / 180 == pytest.approx(sum(times) / 180)
    assert least_of(again, runs) == pytest.approx(least_of(times, runs), abs=0.01)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"least_s": 120.0}, "mean_s=100 must be above least_s=120"),
        ({"least_s": 10.0}, "are too far apart: even a job that does nothing but exchange"),
        ({"run_noise": 0.5}, "run_noise=0.5 alone spreads the times so much"),
    ],
)
def test_what_no_line_gives_is_refused(setting, message):
    jobs = [[Run(10.0, noise=0.0)], [Run(11.0, noise=1.0)]]
    with pytest.raises(ValueError, match=message):
        calibrate(jobs, **({"least_s": 95.0, "mean_s": 100.0, "runs": 9} | setting))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"exchanged_gb": -1.0}, "exchanged_gb=-1 must not be negative"),
        ({"compute_s": -5.0}, "compute_s=-5 must not be negative: the times differ by more"),
    ],
)
def test_model_refuses(setting, message):
    with pytest.raises(ValueError, match=message):
        RunTimeModel(**({"compute_s": 1.0, "exchanged_gb": 1.0} | setting))
