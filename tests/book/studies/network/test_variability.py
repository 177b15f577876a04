"""The study of MILC's run times: fitted values, predictions, and misses."""

from __future__ import annotations

import random
from itertools import groupby, islice
from math import exp, log
from statistics import NormalDist, fmean

import numpy as np
import pytest
import statsmodels.formula.api as smf

from hopperbook import score
from hopperbook.documented import printed
from hopperbook.studies.network.fragmentation import population
from hopperbook.studies.network.milc_lognormal import (
    Printed,
    least_sample,
    lognormal_chance,
    printed_times,
    shifted_lognormal,
)
from hopperbook.studies.network.torus import exchange_share, lost_order, lost_order_slowdown
from hopperbook.studies.network.variability import (
    CONCLUSIVE,
    SAMPLE_SIZES,
    _model,
    allocations,
    force_minima,
    implied_rate_gb_s,
    predicted,
    regressions,
    spread_by_cause,
)
from hopperbook.studies.study import predictions, ranges
from hopperkit.frames import to_frame
from hopperkit.questions.question import load
from hopperlib.machine import Machine
from hopperlib.network.runtime import milc
from hopperlib.network.runtime.milc import fitted, force_times_s, milc_jobs, model, run_times, sampled_conditions
from hopperlib.network.runtime.placed_jobs import SEEDS, Histories
from hopperlib.network.runtime.run_time import least_of


@pytest.fixture(scope="module")
def table(scored):
    return scored("variability")


@pytest.mark.parametrize("runs", SAMPLE_SIZES[1:])
def test_calibrated_on_least_and_mean_only(runs):
    times = sorted(time for job in run_times(runs) for time in job)
    assert least_of(times, runs) == pytest.approx(887.1, abs=0.05)
    assert sum(times) / len(times) == pytest.approx(1114.8, abs=0.05)


def test_predictions_have_two_ends_a_rival_and_seeds(table):
    rows = [row for row in table.values() if row.role == "retrodicted"]
    assert {row.id.partition(".")[2] for row in rows} == {
        "orange", "table-triplets-minimum", "table-triplets-mean", "table-triplets-maximum", "table-minima-mean",
        "table-minima-maximum", "table-total-maximum", "users-report-low", "users-report-high",
    }  # fmt: skip
    for row in rows:
        assert row.seeds >= 20
        assert -np.inf < row.low < row.high < np.inf
    assert not score.unexplained(table.values())


def test_shapes_that_hang_on_a_seed_say_in_how_many_they_hold(table):
    shapes = [row for row in table.values() if row.role == "shape"]
    assert len(shapes) >= 7
    assert all(row.seeds >= 200 for row in shapes)


def test_the_slowest_run_is_a_miss_and_stays_one(table):
    """Nothing was fitted to it: the interval ends far below."""
    row = table["table-total-maximum"]
    assert row.verdict == "missed, explained"
    assert row.high < 0.85 * 2462.3


def test_the_misprint_is_read_as_its_difference_needs(table):
    assert printed("variability.table-minima-maximum") == 1556
    assert float(table["table-difference-maximum"].reproduced) == pytest.approx(906.3)
    assert table["table-minima-maximum"].documented == "1156"


def test_blue_and_red_are_rows_of_the_table_and_predict_nothing(table):
    assert {table[name].role for name in ("blue", "red", "red-over-blue")} <= {"arithmetic", "input"}


def test_fewest_runs_by_hand():
    """n runs, one of 2462.3 and the others of 887.1, have the mean 887.1 + 1575.2 / n: at most 1114.8 from n = 7 on."""
    assert 1575.2 / 6 > 1114.8 - 887.1 > 1575.2 / 7
    assert least_sample() == 7


@pytest.mark.parametrize("column", ["total", "minima"])
def test_no_plain_lognormal_holds_the_three_numbers(column):
    assert all(lognormal_chance(printed_times(column), count) < 0.05 for count in (5, 10, 30))


@pytest.mark.nightly
def test_the_test_of_a_lognormal_is_calibrated():
    """Of true lognormals about a twentieth falls below 0.05 and half below one half; of exponentials above a floor more."""
    rng = np.random.default_rng(7)

    def chances(samples):
        rows = (Printed(*map(float, (row.min(), row.mean(), row.max()))) for row in samples)
        return np.array([lognormal_chance(row, 10) for row in rows])

    true = chances(np.exp(0.15 * rng.standard_normal((40, 10))))
    assert 0.0 <= np.mean(true < 0.05) <= 0.15
    assert 0.35 <= np.mean(true < 0.5) <= 0.65
    assert np.mean(chances(5 + rng.exponential(1.0, (20, 10))) < 0.5) > 0.5


def test_a_lognormal_is_not_refuted_and_two_numbers_are_no_sample():
    row = [exp(0.15 * NormalDist().inv_cdf((place + 0.5) / 10)) for place in range(10)]
    assert lognormal_chance(Printed(min(row), fmean(row), max(row)), 10) > 0.05
    with pytest.raises(ValueError, match="count=2 must be at least 3"):
        lognormal_chance(printed_times(), 2)


def test_a_shifted_lognormal_does():
    """Its floor comes close to the least time, and is never above it."""
    for runs in (30, 100):
        shifted = shifted_lognormal(runs)
        assert 800 < shifted.shift_s < 887.1
        assert shifted.log_sd > 0.5
    with pytest.raises(ValueError, match="runs=7 are too few"):
        shifted_lognormal(7)


def test_the_rival_has_the_two_numbers_that_the_model_has(table):
    """Its least and mean are those of an exponential above a floor: of 100 draws the median of the least is log(2)/100 up."""
    above = (1114.8 - 887.1) / (1 - log(2) / 100)
    floor = 1114.8 - above
    assert floor + above * log(2) / 100 == pytest.approx(887.1)
    low, high = table["table-triplets-mean"].rival_low, table["table-triplets-mean"].rival_high
    assert low < 1114.8 < high


def test_no_metric_settles_it():
    assert all(
        line.r2.estimate < CONCLUSIVE
        for cause in ("own shape", "neighbors", "noise")
        for line in regressions(cause).values()
    )
    with pytest.raises(ValueError, match="cause='io' must be one of: neighbors, noise, own shape"):
        regressions("io")


def test_placement_and_neighbors_part_the_times_noise_hardly():
    spread = spread_by_cause()
    assert spread.noise_s < 0.5 * min(spread.own_shape_s, spread.neighbors_s)


def test_traffic_between_none_and_double_lies_between():
    jobs = milc_jobs()[:40]
    half, one, more = (sampled_conditions(jobs, traffic) for traffic in (0.5, 1.0, 1.5))
    assert one == sampled_conditions(jobs, "assumed")
    for job, low, mid, high in zip(jobs, half, one, more, strict=True):
        assert low[0].slowness == pytest.approx((job.own + job.assumed_1) / 2)
        assert low[0].slowness <= mid[0].slowness
        assert high[0].slowness == pytest.approx((job.assumed_1 + job.double_1) / 2)


def test_a_force_is_a_kernel_of_its_own():
    """Of 2 s a tenth waits: a job twice as slow as usual takes 2.2 s, and noise only adds, 2 % on average."""
    job = milc_jobs()[0]._replace(own=1.0, assumed_1=1.0)
    times = force_times_s(job, random.Random(1), force_s=2.0, wait=0.1, usual=0.5, forces=500)
    assert min(times) == pytest.approx(2.2, rel=0.002)
    assert sum(times) / 500 == pytest.approx(2.2 * 1.02, rel=0.005)
    assert 1.9 < sum(middle for _, middle in force_minima()) / len(population()) < 2.3


def test_reductions_are_a_term_of_their_own_and_a_small_one():
    """100,000 all-reduces over 342 nodes: 18 messages of 1.6 + 1.0 us and a tenth per hop: about 6 s."""
    without, with_them = (fitted(sampled_conditions(milc_jobs(), reductions=count), 100, 0.0) for count in (0, 100_000))
    assert 4 < sampled_conditions(milc_jobs())[0][0].reduce_s < 9
    assert with_them.compute_s < without.compute_s


def test_one_piece_waits_longer():
    first, whole = allocations()
    assert whole.wait_h > first.wait_h
    # What is gained in three runs is less than what is lost in the queue.
    assert 3 * (first.mean_s - whole.mean_s) < 3600 * (whole.wait_h - first.wait_h)


def test_losing_the_order_costs_what_a_code_sends():
    assert 0.0 < lost_order() <= 0.30
    assert lost_order_slowdown(exchange_share()) == pytest.approx(lost_order())
    assert lost_order_slowdown(0.0) == 0.0
    with pytest.raises(ValueError, match=r"share=1\.5 must be from 0 to 1"):
        lost_order_slowdown(1.5)


def test_the_calibrated_exchange_is_one_that_a_node_can_send():
    assert implied_rate_gb_s() == pytest.approx(model(jobs=population()).exchanged_gb / 1114.8, rel=1e-3)
    # Documented: 6.0 GB/s a node.
    assert implied_rate_gb_s() < 6.0


def test_the_population_holds_the_tail_and_is_what_the_histories_give():
    jobs = population()
    assert len({job.seed for job in jobs}) >= 200
    assert len({(job.order, job.allocation, job.tasks) for job in jobs}) == 1
    # The slowest placement of all is in it, and none of the twenty seeds of the explorers comes near.
    slowest = {seed: max(job.assumed_1 for job in group) for seed, group in groupby(jobs, lambda job: job.seed)}
    assert max(slowest.values()) > 1.25 * max(slowest[seed] for seed in SEEDS)
    stored = [job for job in jobs if job.seed == 107][:2]
    made = Histories(Machine.load("hopper")).placed_jobs(107, "xyz-by2", "first", [8192], until_day=2)
    assert list(islice(made, 2)) == stored


def test_a_printed_mean_a_little_higher_is_calibrated_on_too(monkeypatch):
    """Draws of the assumptions that cannot give it are left out; most can."""
    monkeypatch.setattr(milc, "PRINTED_MEAN_S", 1.02 * milc.PRINTED_MEAN_S)
    rivals = dict.fromkeys(predicted(), 1.0)
    found = predictions(_model, ranges("variability"), rivals, runs=10, random_parts=True)
    assert found["table-triplets-mean"].low > 1050


def test_a_calibration_that_mostly_fails_is_refused():
    with pytest.raises(ValueError, match="20 of 20 runs have no calibration"):
        predictions(lambda assumed, rng: {}, ranges("variability"), {}, runs=20)


def _slope_of_hops(jobs):
    """Slope of the run time on the mean distance of Geminis and its 95 % ends, errors clustered by history, and r-squared."""
    every = to_frame(jobs)
    every = every.loc[every.index.repeat(3)].reset_index()
    every["run_time_s"] = [time for three in run_times(jobs=jobs) for time in three]
    fit = smf.ols("run_time_s ~ hops_geminis", every).fit(
        cov_type="cluster", cov_kwds={"groups": every["seed"]}, use_t=True
    )
    return fit.params["hops_geminis"], *fit.conf_int().loc["hops_geminis"], fit.rsquared


def test_over_all_histories_a_hop_costs_nothing_that_shows(notebook_text):
    """Twenty histories said +20.8 s; two hundred say 2.2 s, and their interval includes 0."""
    slope, low, high, r2 = _slope_of_hops(population())
    assert len({job.seed for job in population()}) == 200
    assert low < 0 < high
    assert slope == pytest.approx(2.2, abs=0.05)
    assert r2 < 0.001
    few, few_low, _, _ = _slope_of_hops(milc_jobs())
    assert few == pytest.approx(20.8, abs=0.05)
    assert few_low > 0
    text = notebook_text("network/variability")
    assert "gave a steep slope, with an interval that excluded 0" in text
    assert "milc_jobs()" not in text


def test_no_metric_of_distance_explains_more_than_a_fiftieth_over_all_histories():
    assert max(line.r2.estimate for line in regressions("noise").values()) < 0.02


def test_the_rival_describes_the_table_better(table, notebook_text):
    rows = [row for row in table.values() if row.role == "retrodicted"]
    held = sum(not row.verdict.startswith("missed") for row in rows)
    rival_held = sum(row.rival_verdict != "missed" for row in rows)
    ratio = sum(row.rival_score for row in rows) / sum(row.score for row in rows)
    assert (len(rows), held, rival_held) == (9, 7, 9)
    assert 0.45 < ratio < 0.6
    # The page computes the counts and the scores in its sentence.
    assert "the network adds an explanation and no accuracy" in notebook_text("network/variability")


def test_how_unlikely_a_lognormal_is(notebook_text):
    """2.4 % for five jobs, below 1 % from thirty on; with the misprint 13 % and 2 %; all runs never."""
    minima = printed_times("minima")
    misprint = minima._replace(greatest=printed("variability.table-minima-maximum") - 400)
    assert misprint.greatest == 1156
    assert 100 * lognormal_chance(minima, 5) == pytest.approx(2.4, abs=0.05)
    assert all(lognormal_chance(minima, count) < 0.01 for count in (30, 50, 100, 300))
    assert round(100 * lognormal_chance(misprint, 5)) == 13
    assert round(100 * lognormal_chance(misprint, 50)) == 2
    assert all(lognormal_chance(printed_times(), count) < 0.001 for count in (5, 10, 30, 50, 100, 300))
    text = notebook_text("network/variability")
    assert "from 30 jobs on below one percent" in text
    assert "with the number as printed the probability is several times as large" in text


def test_the_lost_order_has_one_number_on_both_pages(notebook_text):
    for page in ("network/torus", "network/variability"):
        assert "lost_order()" in notebook_text(page)
        assert "milc_lost_order" not in notebook_text(page)


def test_the_explorer_tells_of_the_slowest_of_thousands():
    """Its statements on all simulated jobs agree with the model."""
    runs = [time for job in run_times(jobs=population()) for time in job]
    answer = load("variability").run()
    (far,) = (finding.message for finding in answer.findings if finding.code == "far-out")
    assert f"Of {len(runs):,} runs of {len(population()):,} jobs" in far
    assert f"the slowest takes {max(runs):,.0f} s" in far
    assert f"slowest of {len(runs):,} simulated, {max(runs):,.0f} s" in answer.figures[0].alt
    assert "None comes near the printed 2,462 s." in answer.summary
    assert not [finding for finding in load("variability").run(traffic="none").findings if finding.code == "far-out"]
