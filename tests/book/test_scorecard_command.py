"""`python -m hopperbook scorecard`: rows, filters, forms, exit status."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from hopperbook.__main__ import book

CONTRACT = {"id", "study", "role", "documented", "reproduced", "deviation", "tolerance", "verdict"}


def run(*words):
    return CliRunner().invoke(book, ["scorecard", *words], prog_name="python -m hopperbook")


def test_text_for_people():
    result = run("--study", "slow-ost", "--role", "retrodicted")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == (
        "5 retrodictions: 4 of the nominal 90 % intervals hold, 1 narrow enough to be informative, 1 of these for the simplest rival too. "
        "5 rows: 1 reproduced, 3 too wide, 1 missed and explained."
    )
    assert any("~80" in line and "reproduced" in line for line in lines)
    assert "\x1b" not in result.output


def test_a_miss_is_followed_by_its_explanation():
    output = run("--study", "memory", "--verdict", "missed", "--all").output
    assert "29 comes out only with 1,024 GB to the TB" in output
    assert "<- the model misses this value" in output


def test_json_keeps_the_contract(scorecard):
    data = json.loads(run("--json").output)
    assert set(data) >= {"rows", "summary"}
    assert all(set(row) >= CONTRACT for row in data["rows"])
    for row in data["rows"]:
        keys = ("interval", "documented_interval", "null", "score")
        assert all((row[key] is not None) == (row["role"] == "retrodicted") for key in keys)
    assert {"rival", "value", "interval", "verdict", "score"} <= set(
        next(row["null"] for row in data["rows"] if row["null"])
    )
    assert data["summary"]["rows"] == len(data["rows"]) == len(scorecard)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--role", "calibrated", "--study", "memory"), {"memory.franklin-per-task-half-packed"}),
        (
            ("--verdict", "missed", "--study", "memory"),
            {"memory.vpic-per-node"},
        ),
        (("--role", "retrodicted", "--verdict", "missed", "--study", "memory"), set()),
    ],
)
def test_filters(words, expected):
    assert {row["id"] for row in json.loads(run(*words, "--json").output)["rows"]} == expected


def test_an_empty_selection_says_so():
    result = run("--role", "retrodicted", "--verdict", "missed", "--study", "memory")
    assert result.output.startswith("0 rows.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--study", "astrology"), "--study astrology must be one of: all, acceptance"),
        (("--role", "guess"), "--role guess must be one of: all, retrodicted"),
        (("--verdict", "fine"), "--verdict fine must be one of: all, reproduced"),
    ],
)
def test_one_message_for_each_mistake(words, message):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert message in json.loads(run(*words, "--json").stdout)["error"]["message"]


@pytest.mark.parametrize(("verdict", "status"), [("missed", 1), ("missed, explained", 0)])
def test_a_miss_is_a_problem_unless_it_is_explained(monkeypatch, verdict, status):
    from hopperbook.questions import scorecard as question

    rows = tuple(
        row | ({"verdict": verdict} if row["id"] == "memory.hopper-usable" else {}) for row in question._table()
    )
    monkeypatch.setattr(question, "_table", lambda: rows)
    result = run("--study", "memory")
    assert result.exit_code == status
    assert ("missed, and nobody explains it: memory.hopper-usable" in result.output) == bool(status)
