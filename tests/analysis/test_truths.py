"""Statements about data with known truth: they are wrong as often as they say, and no more."""

from __future__ import annotations

import io
import itertools
import math
import random
import time
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hopperkit
from hopperkit.analysis.clustered import clustered
from hopperkit.analysis.ensembles import intervals
from hopperkit.analysis.robust_terms import robust_fit
from hopperkit.analysis.run_times import _split, repeats_to_see, slow_run, spread_factors
from hopperkit.readers.run_times import RunTimes
from hopperlib.errors import InputError
from hopperlib.monitoring.history import judge
from hopperlib.monitoring.planned import compared
from hopperlib.monitoring.simultaneous_changes import moved_together
from hopperlib.student import t_quantile
from tests.analysis.drawn import accounting, history, runs_in_jobs
from tests.variation.drawn import with_effects


@pytest.mark.parametrize(
    ("jobs", "of_jobs"),
    [(20, True), pytest.param(20, False, marks=pytest.mark.nightly), pytest.param(10, True, marks=pytest.mark.nightly)],
)
def test_no_effect_is_found_as_seldom_as_it_says(jobs, of_jobs):
    """Of 400 draws 3 to 7 % are below 0.05, within sampling error; runs taken as independent give 41 %."""
    rng = np.random.default_rng(11)
    found = naive = 0
    for _ in range(400):
        times, of = runs_in_jobs(rng, jobs)
        x = rng.normal(size=jobs)[of] if of_jobs else rng.normal(size=len(of))
        found += clustered(np.column_stack([np.ones(len(x)), x]), times, of).p_values[1] < 0.05
        naive += stats.linregress(x, times).pvalue < 0.05
    assert 0.02 <= found / 400 <= 0.075
    assert naive / 400 > 0.3 or not of_jobs


def test_a_true_effect_within_jobs_is_found_beside_large_levels():
    rng = np.random.default_rng(12)
    times, of = runs_in_jobs(rng)
    x = rng.normal(size=len(of))
    fitted = clustered(np.column_stack([np.ones(len(x)), x]), times + 15 * x, of)
    low, high = fitted.interval(0.95)
    # Runs spread by 20 s within a job and by 100 s between jobs: 100 runs know the slope to some 2.5 s.
    assert low[1] < 15 < high[1] < 15 + 10


def test_few_groups_are_refused():
    with pytest.raises(ValueError, match="4 groups are too few: 5 are needed"):
        clustered(np.ones((8, 1)), np.arange(8.0), [0, 0, 1, 1, 2, 2, 3, 3])


# Run times of many kinds, from a standard normal: quantiles of it are quantiles of them.
KINDS = {
    "lognormal": lambda z: 1000 * np.exp(0.1 * z),
    "shifted lognormal": lambda z: 800 + 100 * np.exp(0.8 * z),
    "gamma": lambda z: stats.gamma.isf(stats.norm.sf(z), 4, scale=100),
    "exponential above a floor": lambda z: 500 - 100 * np.log(stats.norm.sf(z)),
    "quick and slow": lambda z: np.where(z < 1.2816, 100 + 5 * z, 200 + 30 * z),
}


@pytest.mark.parametrize(
    ("jobs", "runs", "shared", "one_in"),
    [
        (80, 1, 0, 20),
        (60, 3, 0.96, 10),
        pytest.param(40, 1, 0, 10, marks=pytest.mark.nightly),
        pytest.param(20, 50, 0.3, 100, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize(
    "kind",
    ["quick and slow", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS if kind != "quick and slow")],
)
def test_one_run_in_so_many_is_one_in_so_many(kind, jobs, runs, shared, one_in):
    """The interval holds the truth for every kind of run times, alone and in jobs whose runs are alike; of 400 draws.

    With a lognormal, used if nothing contradicts it, 15 to 90 % hold for other distributions.
    """
    rng, held, of = np.random.default_rng(16), 0, np.repeat(np.arange(jobs), runs)
    names = {"groups": tuple(map(str, of)), "group": "job"} if runs > 1 else {}
    rare = []
    for _ in range(400):
        z = math.sqrt(shared) * rng.normal(size=jobs)[of] + math.sqrt(1 - shared) * rng.normal(size=len(of))
        table = RunTimes(column="run_time_s", times=tuple(KINDS[kind](z)), **names)
        if slow := slow_run(table, _split(table)[0]):
            rare.append(slow.one_in)
            held += slow.low <= float(KINDS[kind](np.array(stats.norm.isf(1 / slow.one_in)))) <= slow.high
    assert len(rare) >= 200
    assert np.median(rare) == one_in
    assert 0.90 <= held / len(rare) <= 0.98


def test_one_in_a_hundred_takes_so_many_runs():
    times = tuple(np.random.default_rng(17).normal(100, 5, 368))
    assert slow_run(RunTimes(column="s", times=times), None).one_in == 100
    assert slow_run(RunTimes(column="s", times=times[:367]), None).one_in == 20
    assert slow_run(RunTimes(column="s", times=times[:35]), None) is None


@pytest.mark.parametrize("seeds", [5, 20])
def test_intervals_of_ensembles_hold(seeds):
    rng = np.random.default_rng(14)
    table = pd.DataFrame({"setting": np.repeat(np.arange(400), seeds), "wait_h": rng.normal(7, 2, 400 * seeds)})
    made = intervals(table, ["setting"], "wait_h")
    assert 0.92 <= made["wait_h_low"].le(7).mul(made["wait_h_high"].ge(7)).mean() <= 0.98
    assert intervals(table[table.index % seeds < 4], ["setting"], "wait_h")["wait_h_low"].isna().all(), "too few to say"


def test_runs_to_make_have_a_range_that_holds():
    """Ten runs that spread by 10 %: 64 runs show a change of 5 %."""
    rng, held = np.random.default_rng(15), 0
    factors = spread_factors(9)
    for _ in range(200):
        values = rng.normal(100, 10, 10)
        spread = values.std(ddof=1) / values.mean()
        low, high = (repeats_to_see(0.05, spread * factor) for factor in factors)
        held += low <= 64 <= high
    assert 0.91 <= held / 200 <= 0.99


@pytest.mark.parametrize("draws", [5, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_loss_that_noise_hides_is_not_taken_for_steady(draws):
    """In planted losses of 5 % the noisy benchmark that also lost is considered steady in fewer than 5 of 100."""
    excluded = groups = told = 0
    for seed in range(draws):
        rng = random.Random(seed)
        lost = [judge(history(rng, name, 0.05, 0.005)) for name in ("hpl", "milc")]
        noisy, still = judge(history(rng, "ior", 0.05, 0.12)), judge(history(rng, "vasp", 0.0, 0.005))
        for moved in moved_together([*lost, noisy, still]):
            groups += 1
            excluded += "ior" in moved.steady
            told += "vasp" in moved.steady
    assert groups >= 0.9 * draws
    assert excluded <= 0.05 * draws
    assert told >= 0.9 * draws - 1, "what is quiet and stayed is said to have stayed"


def test_a_planned_comparison_by_hand():
    # Means 1 and 2, variances 0.025 on five runs each: the error is 0.1, at 8 degrees of freedom t is 2.306.
    before = [0.8, 0.9, 1.0, 1.1, 1.2]
    change = compared(before, [value + 1 for value in before])
    assert change[:3] == pytest.approx((1 - 0.2306, 1, 1.2306), abs=1e-4)
    assert change.p_value == pytest.approx(stats.ttest_ind(before, [value + 1 for value in before]).pvalue, rel=1e-6)
    assert compared(before[:4], before) is None
    assert [t_quantile(0.9, n) for n in (1, 4.5, 300)] == pytest.approx(list(stats.t.ppf(0.9, [1, 4.5, 300])), rel=1e-6)


def test_since_counts_back_on_the_clock_of_the_trace(tmp_path, monkeypatch):
    """With one job per hour the last twelve hours hold twelve, in any zone."""
    for zone in ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        (tmp_path / "jobs.txt").write_text(accounting(random.Random(1), 49, datetime.now(), 48))
        answer = hopperkit.report("jobs", tmp_path / "jobs.txt", since="12h", nodes=16)
        # The twelfth may slip over the edge meanwhile.
        assert answer.facts["observed"]["jobs"] in (12, 13)
        # A manager reads minutes and hours.
        assert not [column for table in answer.tables for column in table.columns if column.unit == "s"]
        assert " s;" not in answer.findings[0].message
    monkeypatch.undo()
    time.tzset()


def test_one_file_in_every_form_is_one_answer(tmp_path):
    lines = "date,value\n" + "".join(f"2026-01-{day:02},{100 - 20 * (day > 18) + day % 3}\n" for day in range(1, 31))
    path = tmp_path / "nightly.csv"
    path.write_text(lines)
    asked = hopperkit.watch(path).summary
    forms = (
        lines,
        str(path),
        io.BytesIO(lines.encode()),
        io.StringIO(lines),
        pd.read_csv(path),
        pd.read_csv(path, index_col="date")["value"],
    )
    assert [hopperkit.watch(form).summary for form in forms] == [asked] * len(forms)
    assert "changed by" in asked
    with pytest.raises(
        InputError, match=r"weekly.csv: there is no such file; a text that is not a path is read as file contents"
    ):
        hopperkit.watch("weekly.csv")
    with pytest.raises(InputError, match=r"job.out: there is no such file"):
        hopperkit.diagnose(log="job.out")


def test_the_date_of_an_upgrade(tmp_path):
    rng = random.Random(5)
    one = history(rng, "hpl", 0.02, 0.02)
    frame = pd.DataFrame({"date": one.times, "value": one.values})
    result = hopperkit.watch(frame, date="2026-02-10", better="higher")
    (planned,) = result.facts["planned"]
    assert planned["low_percent"] < -2 < planned["high_percent"]
    assert (planned["before"], planned["after"]) == (40, 20)
    assert "Four of five such comparisons find a change of" in result.summary
    with pytest.raises(InputError, match=r"date='soon' must be a date such as 2026-03-01"):
        hopperkit.watch(frame, date="soon")


@pytest.mark.parametrize(
    ("header", "understood"),
    [
        ("jobid,elapsed [s]", "2 runs, column elapsed [s] in s, grouped by jobid."),
        ("JobID;Walltime (min)", "2 runs, column Walltime (min) in min, grouped by JobID."),
        ("node,seconds", "2 runs, column seconds in s, without groups."),
        ("Lauf;Laufzeit (min)", "2 runs, column Laufzeit (min) in min, without groups."),
    ],
)
def test_sensible_names_are_understood(header, understood):
    delimiter = ";" if ";" in header else ","
    assert (
        hopperkit.read_run_times(io.StringIO(f"{header}\na{delimiter}10.5\nb{delimiter}11\n")).understood == understood
    )


def test_files_as_a_spreadsheet_and_sacct_write_them(tmp_path):
    """Decimal commas, headings in words, the raw seconds of sacct, and its columns without -P."""
    days = [datetime(2026, 1, 1) + timedelta(days=day) for day in range(70)]
    rows = [f"{day:%d.%m.%Y};{100 - 15 * (at > 40) + at % 3},5;4" for at, day in enumerate(days)]
    (tmp_path / "nightly.csv").write_text("\n".join(["Date;Bandwidth [GB/s];nodes", *rows]))
    answer = hopperkit.report("history", tmp_path / "nightly.csv")
    assert answer.summary.startswith("Bandwidth [GB/s] changed by -14.")
    for header, cells in (
        ("Job ID;Wall time (min)", "7;10,5 7;11,5 8;12,5"),
        ("JobID;ElapsedRaw", "7;630 7;690 8;750"),
    ):
        read = hopperkit.read_run_times(io.StringIO("\n".join([header, *cells.split()])))
        assert (len(read.times), read.groups) == (3, ("7", "7", "8"))
    dashes = ["JobID        State      Submit              Start               Elapsed  NNodes  "]
    dashes += ["------------ ---------- ------------------- ------------------- -------- --------"]
    dashes += ["7            COMPLETED  2026-03-01T08:00:00 2026-03-01T09:00:00 01:00:00        4"]
    jobs = hopperkit.read_job_trace(io.StringIO("\n".join(dashes))).to_frame()
    assert jobs[["nodes", "wait"]].to_numpy().tolist() == [[4, pd.Timedelta("1h")]]
    with pytest.raises(InputError, match="the first line, 'nonsense', is not from a job trace; supported are"):
        hopperkit.read_job_trace(io.StringIO("nonsense\n"))


def test_jobs_as_a_frame_with_times():
    text = accounting(random.Random(2), 41, datetime(2026, 3, 20), 480)
    trace = hopperkit.read_job_trace(io.StringIO(text), timezone="Europe/Berlin")
    jobs = trace.to_frame()
    assert len(jobs) == 41
    assert jobs["start"].isna().sum() == 2, "those that never started are there"
    assert str(jobs["submit"].dt.tz) == "Europe/Berlin"
    assert jobs["submit"].iloc[-1] == pd.Timestamp("2026-03-20", tz="Europe/Berlin")
    assert (jobs["wait"].dropna() == (jobs["start"] - jobs["submit"]).dropna()).all()
    assert set(jobs["user"]) == {"ann", "bob", "cem"}
    assert jobs.resample("W", on="submit")["wait"].median().notna().sum() == 4
    again = hopperkit.read_job_trace(jobs)
    assert again.to_frame().drop(columns="node_list").equals(jobs[jobs["end"].notna()].drop(columns="node_list"))
    # What pandas reads of the same text is the same trace.
    other = hopperkit.read_job_trace(pd.read_csv(io.StringIO(text), sep="|"), timezone="Europe/Berlin")
    assert other.to_frame()["wait"].tolist() == jobs["wait"].tolist()


def causes(seed: int, outliers: float, jobs: int = 400) -> pd.DataFrame:
    """Runs with the effects of `tests.variation.drawn.PLANTED` and dates, a share of them 1.5 to 3 times as long."""
    drawn = with_effects(random.Random(f"causes {seed} {outliers}"), outliers, runs=jobs)
    frame = pd.DataFrame({"run_time_s": drawn.values, **drawn.columns})
    return frame.assign(date=pd.to_datetime(list(drawn.when)))


@pytest.mark.parametrize("outliers", [0.0, 0.02, 0.05])
def test_slow_runs_do_not_hide_what_explains_run_times(outliers):
    """The planted variance by hand: 0.02² (35 / 12) twice, 0.04² 2 / 9, 0.1² / 12, 0.03² / 4, plus 0.05²: 57 % of all."""
    answer = hopperkit.explain_runs(causes(1, outliers))
    assert answer.facts["together"] == pytest.approx(0.57, abs=0.1)
    assert {"hops", "groups", "load", "partition"} <= set(answer.facts["found"])
    assert "nothing" not in answer.facts["found"]
    if outliers:
        # Least squares on all runs is shown beside it, with the reason.
        assert answer.facts["least_squares"] < answer.facts["together"] - 0.1
        assert any(finding.code == "least-squares" for finding in answer.findings)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("outliers", [0.0, 0.02, 0.05])
def test_planted_causes_are_found_in_100_tables(outliers):
    found = [set(hopperkit.explain_runs(causes(seed, outliers)).facts["found"]) for seed in range(100)]
    assert sum(len(each & {"hops", "groups", "load", "partition"}) for each in found) >= 0.95 * 4 * 100
    # Once the four are found, what is left is tested at 5 % (Holm): five of 100 tables, and three standard errors of 2.2.
    assert sum("nothing" in each for each in found) <= 11


def test_statsmodels_and_the_standard_library_say_the_same():
    from hopperkit.variation.effects import effects_of
    from hopperkit.variation.factors import factors_of

    drawn = with_effects(random.Random("same"), 0.05, runs=120)
    logs = [math.log(value) for value in drawn.values]
    ours = {row.factor.name: row for row in effects_of(logs, factors_of(drawn.columns)).rows}
    for row in robust_fit(logs, pd.DataFrame(drawn.columns)).effects:
        mine = ours[row.name]
        assert mine.between == row.between
        assert (mine.low, mine.change, mine.high) == pytest.approx((row.low, row.change, row.high), rel=1e-4, abs=1e-6)
        assert mine.p_corrected == pytest.approx(row.p_corrected, rel=1e-3, abs=1e-9)


def test_what_explains_run_times_and_what_cannot_be_separated():
    """A node that is 15 % slower, an upgrade that gains 10 %, one run that took 1.65 times as long on a separate node."""
    rng = np.random.default_rng(2)
    jobs, node = 120, np.random.default_rng(3).choice(["a", "b", "c", "d"], 120)
    node[7] = "e"
    days = np.sort(rng.uniform(0, 60, jobs))
    logs = 6 + 0.15 * (node == "c") - 0.1 * (days >= 30) + 0.03 * rng.normal(size=jobs) + 0.5 * (np.arange(jobs) == 7)
    runs = pd.DataFrame(
        [
            (1000 + job, math.exp(logs[job] + 0.02 * rng.normal()), rng.normal())
            for job in range(jobs)
            for _ in range(3)
        ],
        columns=["jobid", "elapsed_s", "nothing"],
    )
    starts = [pd.Timestamp("2026-03-01") + pd.Timedelta(days=day) for day in days]
    lines = ["JobID|User|Account|Partition|State|Submit|Start|Elapsed|NNodes|NodeList"]
    lines += [
        f"{1000 + job}|u|p|regular|COMPLETED|{at:%FT%T}|{at:%FT%T}|01:00:00|1|{node[job]}"
        for job, at in enumerate(starts)
    ]
    answer = hopperkit.explain_runs(runs, io.StringIO("\n".join(lines)), upgrades=["2026-03-31"])
    shares = {share["factor"]: share for share in answer.facts["shares"]}
    # The variance by hand: 0.15² p (1 - p) for the node, 0.1² / 4 for the upgrade, 0.03² for the rest.
    assert shares["first_node"]["own"]["low"] > 0.2
    assert shares["nothing"]["own"]["estimate"] < 0.02
    assert answer.facts["not_separated"] == ["upgrade and day"]
    assert {row["job"] for row in answer.facts["slow"]} == {"1007"}
    assert answer.facts["slow"][0]["different"].endswith("first_node e")
    # Inside 0.02², between 0.15² / 5 and 0.1² / 4 and 0.03²: 5 %.
    assert 0.02 < answer.facts["inside"] < 0.15
    assert set(answer.facts["found"]) >= {"first_node"}
    assert "nothing" not in answer.facts["found"]
    with pytest.raises(
        InputError, match="no jobid of the runs is in the accounting data; the first job there is '1000'"
    ):
        hopperkit.explain_runs(runs.assign(jobid=runs["jobid"] + 5000), io.StringIO("\n".join(lines)))
    with pytest.raises(InputError, match="1 job with 0 factors that differs"):
        hopperkit.explain_runs(pd.DataFrame({"run_time_s": [1.0]}))


def test_node_hours_are_those_of_the_jobs_cut_at_the_edges():
    rng = np.random.default_rng(4)
    start = pd.Timestamp("2026-03-01", tz="UTC") + pd.to_timedelta(rng.uniform(0, 100, 50), unit="h")
    jobs = pd.DataFrame(
        {"start": start, "run_time": pd.to_timedelta(rng.uniform(0, 30, 50), unit="h"), "nodes": rng.integers(1, 9, 50)}
    )
    edges = pd.date_range("2026-03-01", periods=30, freq="5h", tz="UTC")
    used = hopperkit.node_hours_used(jobs, edges)
    end = jobs["start"] + jobs["run_time"]
    overlaps = [
        (
            (end.clip(upper=after) - jobs["start"].clip(lower=before)).clip(lower=pd.Timedelta(0))
            / pd.Timedelta("1h")
            * jobs["nodes"]
        ).sum()
        for before, after in itertools.pairwise(edges)
    ]
    assert used.tolist() == pytest.approx(overlaps)
