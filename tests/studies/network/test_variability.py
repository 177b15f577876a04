"""The study of MILC's run times: what is fitted, what follows, and what does not come out."""

from __future__ import annotations

import pytest

from hopperlib import scoring
from hopperlib.analysis.distributions import fit_all
from hopperlib.documented import printed
from hopperlib.network.runtime.milc import exchange_share, lost_order, milc_jobs, model, run_times, slowdown
from hopperlib.network.runtime.run_time import least_of
from hopperlib.studies.network.milc_alternatives import allocations, patterns, traffic_cases
from hopperlib.studies.network.milc_lognormal import least_sample, lognormal_chance, shifted_lognormal
from hopperlib.studies.network.variability import (
    CONCLUSIVE,
    SAMPLE_SIZES,
    bands,
    implied_rate_gb_s,
    regressions,
    spread_by_cause,
    step_minima,
)


@pytest.fixture(scope="module")
def table():
    return {row.id.removeprefix("variability."): row for row in scoring.rows("variability")}


@pytest.mark.parametrize("runs", SAMPLE_SIZES)
def test_calibrated_on_least_and_mean_only(runs):
    times = sorted(time for job in run_times(runs) for time in job)
    assert least_of(times, runs) == pytest.approx(887.1, abs=0.05)
    assert sum(times) / len(times) == pytest.approx(1114.8, abs=0.05)


def test_noise_makes_up_what_neighbors_leave():
    """Triplets over their quickest: 1102/1081 = 1.0194. With 30 runs the neighbors alone part them by more."""
    for runs in (100, 300):
        times = run_times(runs)
        over = sum(map(sum, times)) / 3 / sum(map(min, times))
        assert over == pytest.approx(1102 / 1081, abs=1e-4)
    assert model(30).run_noise == 0
    assert 0 < model(100).run_noise < 0.02


def test_roles(table):
    assert {name for name, row in table.items() if row.role == "calibrated"} == {
        "table-total-minimum",
        "table-total-mean",
        "table-minima-mean",
        "table-triplets-mean",
        "triplet-spread-small",
    }
    assert {name for name, row in table.items() if row.role == "predicted"} == {
        "orange",
        "table-triplets-minimum",
        "table-total-maximum",
        "table-triplets-maximum",
        "table-minima-maximum",
    }


def test_what_is_missed_is_shown(table):
    missed = {name for name, row in table.items() if row.verdict.startswith("missed")}
    assert missed == {
        "fftime-inconclusive",
        "hopper-nodes",
        "lognormal",
        "table-total-maximum",
        "table-triplets-maximum",
    }
    assert not scoring.unexplained(table.values())


def test_the_misprint_is_read_as_its_difference_needs(table):
    assert printed("variability.table-minima-maximum") == 1556
    assert float(table["table-difference-maximum"].reproduced) == pytest.approx(906.3)
    assert table["table-minima-maximum"].documented == "1156"


def test_blue_and_red_are_rows_of_the_table_and_predict_nothing(table):
    assert {table[name].role for name in ("blue", "red", "red-over-blue")} == {"identity"}


def test_bands_narrow_with_the_sample_and_the_greatest_grows():
    few, many = bands(SAMPLE_SIZES[0]), bands(SAMPLE_SIZES[-1])
    assert many["total mean"].high - many["total mean"].low < few["total mean"].high - few["total mean"].low
    assert many["total maximum"].estimate > few["total maximum"].estimate
    # A triplet's least run is among its runs.
    assert few["minima minimum"] == few["triplets minimum"]


def test_fewest_runs_by_hand():
    """n runs, one of 2462.3 and the others of 887.1, have the mean 887.1 + 1575.2 / n: at most 1114.8 from n = 7 on."""
    assert 1575.2 / 6 > 1114.8 - 887.1 > 1575.2 / 7
    assert least_sample() == 7


@pytest.mark.parametrize("runs", [7, 10, 30, 100])
def test_no_plain_lognormal_holds_the_three_numbers(runs):
    assert lognormal_chance(runs) < 0.005


def test_a_shifted_lognormal_does():
    """Its floor comes close to the least time, and never lies above it."""
    for runs in (30, 100):
        fitted = shifted_lognormal(runs)
        assert 800 < fitted.shift_s < 887.1
        assert fitted.log_sd > 0.5
    with pytest.raises(ValueError, match="runs=7 are too few"):
        shifted_lognormal(7)


def test_no_metric_settles_it_and_the_sign_hangs_on_the_neighbors():
    """A compact job crowds its own links, a spread one meets its neighbors' traffic."""
    assert all(line.correlation < 0 for line in regressions("own shape").values())
    assert all(line.correlation > 0 for line in regressions("noise").values())
    assert all(
        line.r2.high < CONCLUSIVE
        for cause in ("own shape", "neighbors", "noise")
        for line in regressions(cause).values()
    )
    with pytest.raises(ValueError, match="cause='io' must be one of: own shape, neighbors, noise"):
        regressions("io")


def test_placement_and_neighbors_part_the_times_noise_hardly():
    spread = spread_by_cause()
    assert spread.noise_s < 0.2 * min(spread.own_shape_s, spread.neighbors_s)
    assert spread.between_jobs.low > 0.5


def test_a_floor_fits_the_model_best():
    best, second, *_ = fit_all([min(job) for job in run_times()])
    assert best.family == "shifted lognormal"
    assert second.aic - best.aic > 2


def test_no_assumption_on_the_neighbors_reaches_the_slowest_run():
    cases = traffic_cases()
    assert all(case.slowest.high < 2462.3 for case in cases)
    assert all(case.best_r2 < CONCLUSIVE for case in cases)
    none, _, double = cases
    assert none.greatest_correlation < 0 < double.least_correlation
    # Alone, all that parts triplets is noise: two thirds of its mean lie above the quickest of three.
    assert none.noise == pytest.approx(1.5 * (1102 / 1081 - 1), rel=0.05)


def test_steps_take_about_two_seconds():
    assert 1.5 < sum(middle for _, middle in step_minima()) / len(milc_jobs()) < 3.0


def test_one_piece_is_quicker_and_waits_longer():
    first, whole = allocations()
    assert whole.mean_s < first.mean_s
    assert whole.sd_s < first.sd_s
    assert whole.wait_h > first.wait_h
    # What is gained in three runs is less than what is lost in the queue.
    assert 3 * (first.mean_s - whole.mean_s) < 3600 * (whole.wait_h - first.wait_h)


def test_losing_the_order_costs_what_a_code_waits_for():
    assert 0.0 < lost_order() <= 0.30
    assert slowdown(exchange_share()) == pytest.approx(lost_order())
    assert slowdown(0.0) == 0.0
    # To whom a code talks matters: a tree of few messages does not feel the order, the other patterns do.
    cases = {case.pattern: case.nid for case in patterns()}
    tree = cases.pop("all-reduce")
    assert tree < 0.5 * min(cases.values())
    with pytest.raises(ValueError, match=r"share=1\.5 must be from 0 to 1"):
        slowdown(1.5)


def test_the_calibrated_wait_is_one_that_a_node_can_cause():
    """22,526 messages between nodes, each at two of 342: 131.7 a node. 0.951 s x 75 Gb/s each, over 1,114.8 s: 1.05 GB/s."""
    assert implied_rate_gb_s() == pytest.approx(131.73 * 0.9514 * 75 / 8 / 1114.8, rel=1e-3)
    # Documented: 6.0 GB/s a node.
    assert implied_rate_gb_s() < 6.0
