"""The points of a report are those of the rubric: right, half right, wrong; for three seeds."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from hopperbook.project.grading import RUBRIC, grade, read_report
from hopperbook.project.outputs import CAUSES
from hopperbook.project.pack import pack, toml_of
from hopperbook.project.scripts import FAULTS
from hopperlib.errors import InputError

SEEDS = (1, 2, 3)
ALL = sum(row.points for row in RUBRIC)


def _points(report, seed):
    return {(mark.part, mark.wanted): mark.points for mark in grade(report, pack(seed).key)}


def _total(report, seed):
    return sum(_points(report, seed).values())


def _other(word, words):
    """A word that is not the right one."""
    return next(each for each in words if each != word)


def wrong(key):
    """A report in which every line is filled in, and none is right."""
    return {
        "machine": {"field": "sockets", "right_value": key["machine"]["right_value"] + 1},
        "scripts": {file: _other(kind, FAULTS) for file, kind in key["scripts"].items()},
        "jobs": {
            "longest_waiting_partition": "debug",
            "mean_wait_h": 1.2 * key["jobs"]["mean_wait_h"],
            "used_percent": key["jobs"]["used_percent"] - 3,
            "at_time_limit": key["jobs"]["at_time_limit"] + 1,
        },
        "outputs": {file: _other(cause, CAUSES) for file, cause in key["outputs"].items()},
        "history": {
            "series": "none of them",
            "first_day": str(date.fromisoformat(key["history"]["first_day"]) - timedelta(days=7)),
            "percent": key["history"]["percent"] + 5,
        },
        "io": {"slow_run": "io/none.txt", "percent": key["io"]["percent"] - 5, "fastest": "3 nodes, fpp"},
    }


def half(key):
    """A report with half of its points: some tables right and some wrong, some lines missing, some close."""
    made = wrong(key)
    # 10 of 10, 5 of 10: half of the scripts, 0.
    made["machine"] = dict(key["machine"])
    made["scripts"] = dict(key["scripts"]) | dict(list(made["scripts"].items())[:5])
    # 5 + 2 (a mean wait off by 8 %) + 0 + 3 of 15.
    made["jobs"] = dict(key["jobs"]) | {"mean_wait_h": 1.08 * key["jobs"]["mean_wait_h"], "used_percent": ""}
    # 5 of 10.
    made["outputs"] = dict(list(key["outputs"].items())[:10])
    # 0 + 2.5 (five days off) + 2.5 (three points off) of 15.
    day = date.fromisoformat(key["history"]["first_day"]) + timedelta(days=5)
    made["history"] = {"first_day": day, "percent": key["history"]["percent"] + 3}
    del made["io"]
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_report_gets_all_points(seed):
    assert ALL == 70
    assert _total(pack(seed).key, seed) == ALL


@pytest.mark.parametrize("seed", SEEDS)
def test_a_half_right_report_gets_what_the_rubric_says(seed):
    assert _total(half(pack(seed).key), seed) == 10 + 5 + 10 + 5 + 5 + 0 == 35


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_report_and_an_empty_one_get_nothing(seed):
    assert _total(wrong(pack(seed).key), seed) == 0
    assert _total({}, seed) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_of_the_rubric_counts_by_itself(seed):
    key = pack(seed).key
    bad = wrong(key)
    for row in RUBRIC:
        report = {part: dict(given) for part, given in bad.items()}
        report[row.part].update(key[row.part] if not row.name else {row.name: key[row.part][row.name]})
        assert _total(report, seed) == row.points, row


def test_what_is_graded_as_no_number_and_no_date():
    report = {"jobs": {"mean_wait_h": "long"}, "history": {"first_day": "in January", "percent": True}}
    why = {mark.wanted: mark.why for mark in grade(report, pack(1).key)}
    assert why["that mean wait, in hours"] == "must be a number"
    assert why["the first day with the loss"] == "must be a date such as 2026-01-31"
    assert why["the size of the loss"] == "must be a number"


def test_a_report_is_read_and_what_cannot_be_is_named(tmp_path):
    file = tmp_path / "report.toml"
    file.write_text(toml_of(pack(2).key), encoding="utf-8")
    assert grade(read_report(file), pack(2).key) == grade(pack(2).key, pack(2).key)
    for text, message in (
        ("[jobs]\nmean_wait_hours = 3", r"\[jobs\] has no key 'mean_wait_hours'; did you mean 'mean_wait_h'"),
        ("[job]", "'job' is not a table of a report; did you mean 'jobs'"),
        ("jobs = 3", "jobs must be a table"),
        ("[jobs", "is not valid TOML"),
        ("#" * 100_001, "is larger than"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_report(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_report(tmp_path / "none.toml")
