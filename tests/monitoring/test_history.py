"""Assessment of histories: verdicts, drifts, outliers, effects of other columns."""

from __future__ import annotations

import math
from random import Random

import pytest
from scipy.stats import theilslopes

from hopperlib.errors import InputError
from hopperlib.monitoring.delays import measured, synthetic_history
from hopperlib.monitoring.history import History, _slope, better_of, judge


def _history(values, **more):
    return History(name="b", values=tuple(values), times=tuple(map(str, range(len(values)))), **more)


QUIET = {"spread": 0.02, "contended": 0.0}
LOSS = synthetic_history(Random(1), runs=60, loss=0.2, change=40, **QUIET)


@pytest.mark.parametrize(("better", "verdict"), [("higher", "worse"), ("lower", "better"), (None, "worse")])
def test_the_direction_decides(better, verdict):
    report = judge(_history(LOSS, better=better))
    assert report.verdict == verdict
    assert [shift.run for shift in report.shifts] == [40]
    assert report.shifts[0].percent == pytest.approx(-20, abs=2)


def test_a_loss_made_good_is_no_loss_now():
    values = [
        value * (0.7 if 20 <= run < 40 else 1)
        for run, value in enumerate(synthetic_history(Random(2), runs=60, **QUIET))
    ]
    report = judge(_history(values))
    assert report.verdict == "worse, and back"
    assert not report.got_worse


def test_small_changes_may_not_matter():
    assert judge(_history(LOSS), least_percent=30).verdict == "no change"


def test_a_slow_slope_is_a_drift():
    values = [value * 0.995**run for run, value in enumerate(synthetic_history(Random(3), runs=80, **QUIET))]
    report = judge(_history(values))
    assert report.verdict == "drifts, worse"
    # 0.995 to the power of 79 is 0.673.
    assert report.drift_percent == pytest.approx(-32.7, abs=3)
    assert report.shifts == ()


def test_a_run_far_off_is_an_outlier_and_no_change():
    values = synthetic_history(Random(4), runs=40, **QUIET)
    values[17] *= 0.6
    report = judge(_history(values))
    assert [outlier.run for outlier in report.outliers] == [17]
    assert report.outliers[0].percent == pytest.approx(-40, abs=4)
    assert report.verdict == "no change"


def test_a_column_that_varies_throughout_explains():
    rng = Random(5)
    nodes = ["8" if run < 40 and run % 4 else "16" for run in range(80)]
    values = [
        value * (0.75 if count == "16" else 1)
        for value, count in zip(synthetic_history(rng, runs=80, **QUIET), nodes, strict=True)
    ]
    report = judge(_history(values, covariates={"nodes": tuple(nodes)}))
    assert report.shifts[0].explained_by == ("nodes",)
    assert report.verdict == "explained"


def test_a_column_that_changed_only_then_came_with_it():
    compiler = tuple("17" if run < 40 else "18" for run in range(60))
    report = judge(_history(LOSS, covariates={"compiler": compiler, "day": tuple("ab"[run % 2] for run in range(60))}))
    assert report.shifts[0].came_with == ("compiler",)
    assert report.got_worse


def test_few_runs_cannot_tell():
    assert judge(_history([1.0] * 11)).verdict == "too few runs"


def test_a_failed_run_is_refused():
    with pytest.raises(InputError, match=r"value=0.0 must be above 0: the history is judged by its logarithms"):
        _history([1.0, 0.0])


@pytest.mark.parametrize(
    ("column", "unit", "better"),
    [
        ("time", "", "lower"),
        ("elapsed_s", "", "lower"),
        ("latency_us", "", "lower"),
        ("write_rate_gb_s", "", "higher"),
        ("Copy", "MB/s", "higher"),
        ("triad", "s", "lower"),
        ("gflops", "", "higher"),
        ("s", "", None),
        ("score", "", "higher"),
        ("x", "", None),
        # A time for each of something is a time; something for each unit of time is a rate.
        ("s_per_step", "", "lower"),
        ("time_per_iteration_ms", "", "lower"),
        ("ms/step", "", "lower"),
        ("perf", "days/ns", "lower"),
        ("perf", "ns/day", "higher"),
        ("ns_per_day", "", "higher"),
        ("steps_per_s", "", "higher"),
        ("iterations_per_second", "", "higher"),
        ("sec", "", "lower"),
        ("wall", "", "lower"),
        ("gb_s", "", "higher"),
        ("operations_s", "", "higher"),
        ("lost_packets", "", "lower"),
        ("read_errors_per_s", "", "lower"),
        ("cache_miss_rate", "", "lower"),
        ("cache_hit_rate", "", "higher"),
        ("sypd", "", "higher"),
        # Words within words.
        ("default_bandwidth", "", "higher"),
        ("generate_s", "", "lower"),
        ("loops_time_s", "", "lower"),
        ("lib_size_ms", "", "lower"),
        ("fps", "", None),
        ("steps", "", None),
    ],
)
def test_names_and_units_say_what_is_better(column, unit, better):
    assert better_of(column, unit) == better


def test_more_noise_is_more_delay():
    kind = {"contended_percent": 5, "persistence": 0}
    delays = [measured(spread_percent=spread, loss_percent=10, **kind).median_runs for spread in (1, 3, 5)]
    assert delays == sorted(delays)
    losses = [measured(spread_percent=5, loss_percent=loss, **kind).median_runs or 99 for loss in (5, 10, 20, 30)]
    assert losses == sorted(losses, reverse=True)


def test_what_was_not_measured_is_refused():
    with pytest.raises(InputError, match=r"spread_percent=4 must be one of 1, 2, 3"):
        measured(spread_percent=4, contended_percent=5, persistence=0, loss_percent=10)


def test_the_median_of_slopes_is_near_that_of_all_pairs():
    """Pairs a third of the history apart: within half a standard error of the slope of all pairs, runs far off or not."""
    rng = Random(8)
    runs = [0.002 * run + rng.gauss(0, 0.05) - 2.0 * (run % 17 == 0) for run in range(90)]
    every = theilslopes(runs)
    error = (every.high_slope - every.low_slope) / 4
    assert abs(_slope(runs, range(90)) - every.slope) < error / 2


def _history_of_logs(logs):
    return _history([math.exp(value) for value in logs])


def _drawn(seed, runs, spread, persistence=0.0):
    """Logarithms of noise with an autocorrelation from one run to the next."""
    rng = Random(seed)
    value, drawn = rng.gauss(0, spread), []
    for _ in range(runs):
        value = persistence * value + rng.gauss(0, spread * math.sqrt(1 - persistence**2))
        drawn.append(value)
    return drawn


@pytest.mark.parametrize("runs", [14, 24, 40])
@pytest.mark.parametrize("loss", [-0.2, 0.2])
def test_a_steady_trend_of_a_short_history_is_a_drift(runs, loss):
    # A fall of 20 % with noise of 1.6 %: from one run to the next, the trend is no larger than the noise.
    for seed in range(3):
        logs = [value + loss * run / (runs - 1) for run, value in enumerate(_drawn(seed, runs, 0.016))]
        report = judge(_history_of_logs(logs))
        assert report.verdict == f"drifts, {'worse' if loss < 0 else 'better'}"
        assert report.drift_percent == pytest.approx(100 * math.expm1(loss), abs=4)
        assert report.spread_percent < 3


@pytest.mark.parametrize("persistence", [0.0, 0.6, 0.9])
def test_noise_without_a_trend_does_not_drift(persistence):
    # At 1 % two of twelve would come once in 170 times.
    found = [judge(_history_of_logs(_drawn(seed, 24, 0.02, persistence))) for seed in range(12)]
    assert sum(report.verdict.startswith("drifts") for report in found) <= 1


def test_noise_has_no_season_and_a_wave_of_three_turns_has_one():
    noise = [judge(_history_of_logs(_drawn(seed, 24, 0.01))) for seed in range(20)]
    assert sum(report.season_runs > 0 for report in noise) <= 1
    wave = [value + 0.03 * math.sin(2 * math.pi * run / 12) for run, value in enumerate(_drawn(1, 36, 0.01))]
    report = judge(_history_of_logs(wave))
    assert report.verdict == "moves with the season"
    assert report.season_runs == pytest.approx(12, abs=1)
