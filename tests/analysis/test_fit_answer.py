"""Run times as an answer: it contains the whole report, and problems are findings."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hopperkit.analysis.fit_answer import fit
from hopperkit.analysis.run_times import describe_run_times
from hopperkit.questions.run_time_figures import histogram_figure
from hopperkit.readers.run_times import read_run_times
from hopperlib.data_files import data_folder
from hopperlib.errors import InputError

SAMPLE = data_folder() / "samples" / "run-times" / "synthetic-run-times.csv"


@pytest.fixture(scope="module")
def report():
    return describe_run_times(read_run_times(SAMPLE.read_text().splitlines()), np.random.default_rng(0), resamples=19)


@pytest.fixture(scope="module")
def answer():
    return fit(SAMPLE, resamples=19)


def test_the_sentence_holds_the_verdict_and_the_repeats(report, answer):
    assert answer.summary.startswith(report.verdict)
    assert all(f"{way.runs:,} ({way.low:,} to {way.high:,}; {way.how})" in answer.summary for way in report.repeats)


def test_the_table_holds_the_families(report, answer):
    (families,) = answer.tables
    assert [row[0] for row in families.rows] == [family.family for family, _ in report.families]
    assert families.rows[0][1] == 0
    # With 19 samples the smallest p-value there can be is 1 / 20.
    assert families.rows[-1][2] == "≤ 0.05"


def test_facts_are_plain_and_hold_all(report, answer):
    facts = answer.facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert [way["runs"] for way in facts["repeats"]] == [way.runs for way in report.repeats]
    assert [family["parameters"] for family in facts["families"]] == [
        fitted.parameters for fitted, _ in report.families
    ]
    assert facts["groups"]["within_sd"] == report.split.within_sd
    assert facts["groups"]["between_fraction"].keys() == {"low", "estimate", "high"}


def test_few_times_are_said_to_be_few():
    result = fit(read_run_times(["run_time_s", *map(str, range(10, 29))]), resamples=19)
    assert result.summary.startswith("19 times are too few to determine their distribution; the ")
    assert result.tables == ()


def test_the_histogram_is_that_of_the_best_family(answer):
    (histogram,) = answer.figures
    assert [trace["name"] for trace in histogram.data] == ["runs", "shifted lognormal expects"]
    assert sum(row[1] for row in histogram.table.rows) == 120


def test_what_is_wrong_is_a_finding(answer):
    levels = [finding.level for finding in answer.findings]
    # Two times are equal, which is a note of its own.
    assert levels == ["advice", "note"]
    rng = np.random.default_rng(3)
    humps = ["run_time_s", "nan", *map(str, [*rng.normal(100, 2, 60), *rng.normal(300, 2, 60)])]
    findings = fit(read_run_times(humps), resamples=19).findings
    # Ordinary data are no problem: a command ends with 0.
    assert [finding.code for finding in findings] == ["left-out", "no-family"]
    assert not [finding for finding in findings if finding.level == "problem"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"change": 0}, "change=0 must be above 0 and at most 1000 %"),
        ({"power": 5}, "power=5 must be above 5 %"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"resamples": 5}, "resamples=5 must be at least 19"),
        ({"group": "run"}, "10 times for 0 groups: each time needs its group"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(InputError, match=message) as refused:
        fit(read_run_times(["run_time_s", *map(str, range(10, 20))]), **arguments)
    assert refused.value.name in arguments


def test_categories_are_columns_like_numbers_and_slow_runs_hardly_count():
    """A slow partition (+10 s) and 0.5 s per hop; three of 60 runs are 300 s too long, which least squares follows."""
    rng = np.random.default_rng(8)
    hops, low = rng.integers(1, 9, 60), np.arange(60) % 3 == 0
    times = 100 + 10 * low + 0.5 * hops + rng.normal(size=60)
    times[[5, 20, 44]] += 300
    frame = pd.DataFrame({"run_time_s": times, "hops": hops, "partition": np.where(low, "low", "regular")})
    result = fit(frame, against=["hops", "partition"], resamples=19)
    rows = result.to_frame("All columns").set_index("column")
    assert rows.loc["partition=low", "slope"] == pytest.approx(10, abs=1.5)
    assert rows.loc["partition=low", "p_corrected"] < 0.001
    assert rows.loc["hops", "slope"] == pytest.approx(0.5, abs=0.4)
    # What was not found has its size; least squares is beside it, some ten seconds off.
    assert (rows["would_be_seen_from"] > 0).all()
    assert abs(rows.loc["partition=low", "slope_by_least_squares"] - 10) > 5


def test_a_column_of_both_is_refused_with_its_line():
    with pytest.raises(InputError, match="line 3, column hops: 'many' is not a finite number"):
        fit(io.StringIO("run_time_s,hops\n10,1\n11,many\n12,3\n13,4\n14,5\n"), against=["hops"])


def test_slow_runs_do_not_set_the_number_of_repeats():
    rng = np.random.default_rng(3)
    times = 100 + 3 * rng.normal(size=60)
    times[:4] *= 3
    said = fit(pd.DataFrame({"run_time_s": times}), resamples=19).summary
    assert "compared by rank (" in said
    assert said.index("compared by rank") < said.index("by their means")


def test_far_runs_are_counted_in_the_last_bar(report):
    """Of 0 to 99 the middle half is 49.5 wide; 5,000, beyond six of these widths, is drawn in the last bar."""
    far = replace(report, fitted=(*map(float, range(100)), 5000.0))
    edges, counts, _ = far.histogram()
    assert edges[-1] == pytest.approx(75 + 6 * 50)
    assert (sum(counts), counts[-1]) == (101, 1)
    assert far.beyond == (0, 1)
    assert "0 and 1 times beyond" in histogram_figure(edges, counts, {}, beyond=far.beyond).alt
