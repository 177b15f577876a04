"""Summary of a table of run times: fits, doubts, sentences."""

import math

import numpy as np
import pytest
from scipy import stats

from hopperkit.analysis.run_times import describe_run_times, repeats_to_see
from hopperkit.readers.run_times import RunTimes, read_run_times


def table(times, groups=()):
    return RunTimes(
        column="run_time_s",
        times=tuple(times),
        group="job" if groups else None,
        groups=tuple(groups),
    )


def describe(times, groups=(), **options):
    """Return a report; few samples, as the p-values are looked at elsewhere."""
    return describe_run_times(table(times, groups), np.random.default_rng(1), **{"resamples": 19, **options})


@pytest.fixture(scope="module")
def triplets():
    """40 jobs that differ by 5 %, three runs of each that differ by 1 %."""
    rng = np.random.default_rng(2)
    jobs = rng.normal(1000, 50, 40)
    times = (jobs[:, None] * rng.normal(1, 0.01, (40, 3))).ravel()
    return times.tolist(), [str(job) for job in range(40) for _ in range(3)]


def test_what_is_summed_up():
    report = describe([1, 2, 4, 8, 16])
    assert (report.figures["mean"], report.figures["median"], report.figures["minimum"], report.figures["maximum"]) == (
        6.2,
        4,
        1,
        16,
    )
    # Squares about 6.2 sum to 148.8; over n - 1.
    assert report.figures["sd"] == pytest.approx((148.8 / 4) ** 0.5)
    assert report.no_split == "there is no group column"
    assert [one.runs for one in report.repeats] == [repeats_to_see(0.05, report.figures["sd"] / 6.2)]
    assert not list(report.notes())
    assert report.verdict == "5 times are too few to determine their distribution; the inverse Gaussian is closest."


def test_alike_runs_are_told_and_one_of_each_is_an_answer(triplets):
    times, groups = triplets
    every, least = describe(times, groups), describe(times, groups, minima=True)
    assert every.dependent
    assert not every.none_fits
    assert "the tests are too strict, because runs in one job are correlated" in every.verdict
    assert next(every.notes()).message.startswith("Runs of one job are correlated, so 120 runs carry less information")
    assert sorted(least.fitted) == sorted(min(times[3 * job : 3 * job + 3]) for job in range(40))
    assert not least.dependent
    assert not any("are alike" in note.message for note in least.notes())
    # The spread is of all runs in both.
    assert every.split == least.split
    assert every.split.between_fraction.estimate == pytest.approx(25 / 26, abs=0.03)


def test_two_ways_to_repeat(triplets):
    report = describe(*triplets, change_fraction=0.02, power=0.9)
    inside, apart = report.repeats
    assert (inside.how, apart.how) == ("both versions inside one job", "each run in a separate job")
    assert inside.spread_fraction == pytest.approx(report.split.within_sd / report.figures["mean"])
    assert apart.runs == repeats_to_see(0.02, report.split.total_sd / report.figures["mean"], 0.9) > inside.runs


def test_two_humps_are_no_family():
    rng = np.random.default_rng(3)
    report = describe([*rng.normal(100, 2, 60), *rng.normal(300, 2, 60)])
    assert report.none_fits
    assert report.verdict.startswith("No family describes the times; the ")
    assert all(p <= 0.05 for _, p in report.families)


def test_families_that_are_no_worse_are_named():
    report = describe(np.random.default_rng(4).normal(1000, 30, 50).tolist())
    near = [one.family for one, _ in report.families[1:] if one.aic - report.families[0][0].aic < 2]
    assert near
    assert report.verdict.endswith(f"no worse: {', '.join(near)}.")


def test_a_column_of_groups_that_tells_nothing_is_passed_over():
    report = describe([1, 2, 4, 8, 16], "abcde")
    assert report.split is None
    assert report.no_split == "each of the 5 groups has one time: the spread within groups needs a group with two"


def test_every_value_is_in_the_histogram(triplets):
    report = describe(*triplets)
    edges, counts, expected = report.histogram()
    assert sum(counts) == 120
    assert (edges[0], edges[-1]) == (report.figures["minimum"], report.figures["maximum"])
    one = report.families[0][0]
    # What lies beyond the ends is all that is missing.
    assert sum(expected) == pytest.approx(120 * float(one.distribution.cdf(edges[-1]) - one.distribution.cdf(edges[0])))
    far = describe([*range(100, 200), 10_000_000])
    assert len(far.histogram()[1]) <= 60


@pytest.mark.parametrize(
    ("times", "options", "message"),
    [
        ([1, 2, 3, 4], {}, "4 values are too few"),
        ([5, 5, 5, 5, 5], {}, "all values are the same"),
        ([1, 2, 4, 8, 16], {"resamples": 18}, "resamples=18 must be at least 19"),
        ([1, 2, 4, 8, 16], {"minima": True}, "the smallest time of each group needs a group column"),
    ],
)
def test_refuses(times, options, message):
    with pytest.raises(ValueError, match=message):
        describe(times, **options)


def test_reads_and_sums_up():
    lines = ["job,run_time_s", *(f"{job},{100 + 10 * job + run}" for job in range(4) for run in range(3))]
    assert describe_run_times(read_run_times(lines), np.random.default_rng(1), resamples=19).split.groups == 4


def test_a_few_runs_far_off_do_not_ask_for_a_thousand_repeats():
    rng = np.random.default_rng(4)
    report = describe(np.concatenate([rng.normal(100, 10, 95), rng.normal(300, 50, 5)]), resamples=19)
    (way,) = report.repeats
    assert way.runs > 800
    assert 50 < way.runs_by_rank < 200
    # By ranks, so many runs on each side do find the change in about 80 of 100 cases.
    pool = np.array(report.table.times)
    found = 0
    for _ in range(200):
        before, after = rng.choice(pool, way.runs_by_rank), 1.05 * rng.choice(pool, way.runs_by_rank)
        found += stats.mannwhitneyu(before, after).pvalue < 0.05
    assert 140 < found < 185


def test_ties_are_named():
    report = describe(np.round(np.random.default_rng(4).normal(100, 3, 60)), resamples=19)
    assert any(note.code == "ties" and "multiples of 1" in note.message for note in report.notes())


@pytest.mark.parametrize(("change", "spread", "power"), [(0.05, 0.1, 0.8), (0.01, 0.03, 0.9), (0.3, 0.1, 0.8)])
def test_repeats_have_the_power_and_one_fewer_has_not(change, spread, power):
    def chance(n):
        return stats.nct.sf(stats.t.isf(0.025, 2 * n - 2), 2 * n - 2, change / spread * math.sqrt(n / 2))

    n = repeats_to_see(change, spread, power)
    assert chance(n) >= power > chance(n - 1)
    assert (repeats_to_see(change, 0.0, power), repeats_to_see(1e-4, 1.0, power)) == (2, None)
