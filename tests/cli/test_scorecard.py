"""`hopper scorecard`: rows, filters, forms, exit status."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from hopperlib import scorecard, studies
from hopperlib.cli import hopper
from hopperlib.documented import Check, checks

CONTRACT = {"id", "study", "role", "documented", "reproduced", "deviation", "tolerance", "verdict"}


def run(*words):
    return CliRunner().invoke(hopper, ["scorecard", *words], prog_name="hopper")


def test_text_for_people():
    result = run("--study", "memory")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    packed = next(line for line in lines if line.startswith("memory.hopper-per-task-packed "))
    assert packed.split()[1:3] == ["predicted", "1.29"]
    assert packed.endswith("reproduced")
    assert lines[-1] == scorecard.summary_line(scorecard.rows("memory"))
    assert "\x1b" not in result.output


def test_a_miss_is_followed_by_its_explanation():
    lines = run("--study", "machines").output.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("machines.hopper-memory-total-antypas2011"))
    assert lines[place].endswith("missed, explained")
    assert "rounds up to the printed 217" in lines[place + 1]


def test_notes_on_demand():
    assert "31 GB shared by 24 tasks (antypas2011" in run("--study", "memory", "--notes").output
    assert "31 GB shared by 24 tasks" not in run("--study", "memory").output


def test_json_keeps_the_contract():
    data = json.loads(run("--json").output)
    assert set(data) == {"rows", "summary"}
    assert all(set(row) >= CONTRACT for row in data["rows"])
    assert data["summary"]["rows"] == len(data["rows"]) == len(scorecard.rows())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--role", "calibrated", "--study", "memory"), {"memory.franklin-per-task-half-packed"}),
        (
            ("--verdict", "missed", "--study", "machines"),
            {"machines.hopper-memory-total-antypas2011", "machines.hopper-memory-total-byna2013"},
        ),
        (("--role", "predicted", "--verdict", "missed", "--study", "memory"), set()),
    ],
)
def test_filters(words, expected):
    assert {row["id"] for row in json.loads(run(*words, "--json").output)["rows"]} == expected


def test_an_empty_selection_says_so():
    assert run("--role", "predicted", "--verdict", "missed", "--study", "memory").output == "no row is like that\n"


def test_csv_is_the_table_in_data():
    assert run("--csv").output == scorecard.to_csv(scorecard.rows())
    found = list(csv.DictReader(io.StringIO(run("--csv", "--study", "memory").output)))
    assert len(found) == 22


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--study", "astrology"), "study='astrology' has no documented value; there are: "),
        (("--role", "guess"), "role='guess' must be one of: input, calibrated"),
        (("--verdict", "fine"), "verdict='fine' must be one of: reproduced"),
    ],
)
def test_one_message_for_each_mistake(words, message):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert message in json.loads(run(*words, "--json").stdout)["error"]["message"]


def test_two_forms_at_once_are_refused():
    assert run("--json", "--csv").exit_code == 2


def _with_a_miss(monkeypatch, explanation):
    name, load = "memory.hopper-per-task-packed", studies.load
    missed = checks() | {name: Check(id=name, role="predicted", explanation=explanation)}
    study = load("memory")
    too_much = replace(study, values=lambda: {**study.values(), "hopper-per-task-packed": 2.0})
    monkeypatch.setattr(scorecard, "checks", lambda: missed)
    monkeypatch.setattr(studies, "load", lambda name: too_much if name == "memory" else load(name))


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_miss_that_nobody_explains_is_a_problem(monkeypatch, form):
    _with_a_miss(monkeypatch, "")
    result = run(*form)
    assert result.exit_code == 1
    assert "missed, and nobody explains it: memory.hopper-per-task-packed" in result.stderr


def test_a_miss_that_is_explained_is_none(monkeypatch):
    _with_a_miss(monkeypatch, "a leak")
    result = run("--study", "memory")
    assert result.exit_code == 0
    assert "a leak (antypas2011" in result.output
