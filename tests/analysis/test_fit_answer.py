"""Run times as an answer: nothing of the report is lost on the way, and what is wrong is a finding."""

import json

import numpy as np
import pytest

from hopperkit.analysis.fit_answer import fit
from hopperkit.analysis.run_times import describe_run_times
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
    assert result.summary.startswith("19 times are too few to tell their distribution; the ")
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
