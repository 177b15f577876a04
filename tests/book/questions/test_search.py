"""The explorers that browse: documented values, errata, scorecard."""

from __future__ import annotations

import csv

import pytest

from hopperbook import score
from hopperbook.documented import ROLES, VERDICTS, all_values, errata
from hopperbook.questions import load
from hopperbook.questions.search import has_words, rows_shown
from hopperlib.data_files import data_folder
from hopperlib.errors import InputError


@pytest.mark.parametrize(
    ("search", "found"),
    [("", True), ("6384", True), ("6,384", True), ("NODES hopper", True), ("nodes franklin", False)],
)
def test_every_word_must_occur(search, found):
    assert has_words(search, "compute nodes of Hopper", "6,384") == found


def test_rows_that_are_cut_say_so():
    assert rows_shown(range(3), 5, "row")[1] == "3 rows"
    assert rows_shown(range(7), 5, "row") == (range(5), "7 rows, the first 5 shown")
    assert rows_shown([], 5, "entry", "entries")[1] == "0 entries"


def test_all_documented_values_can_be_seen():
    result = load("documented").run(shown=2000)
    assert result.facts["found"] == result.facts["shown"] == len(all_values())
    assert len(result.tables[0].rows) == len(all_values())


def test_documented_values_by_filter():
    run = load("documented").run
    assert run(search="per-task-packed 1.29").facts["found"] == 1
    assert run(study="memory").facts["found"] == 22
    assert run(study="memory", source="byna2013").facts["found"] == 4
    assert run(qualifier="shape", study="memory").tables[0].rows[0][1] == "holds"
    assert run(search="no such words at all").facts["found"] == 0


def test_a_misprint_shows_what_is_read_instead():
    row = load("documented").run(search="hopper-nodes-antypas2011").tables[0].rows[0]
    assert row[:2] == ("machines: compute nodes of Hopper", "3,284 compute nodes")
    assert row[4] == "misprint, read as 6,384; a misprint of 6,384"


def test_every_erratum_is_listed_and_its_proof_holds():
    result = load("errata").run()
    assert result.tables[0].rows[0][0] == "3,284; read as 6,384"
    assert result.facts["found"] == len(errata()) == len(result.tables[0].rows)
    assert result.facts["proofs"] == result.facts["held"] > 60
    assert {row[2].rpartition(": ")[2] for row in result.tables[0].rows} == {"holds", "no digit is wrong"}
    assert load("errata").run(kind="OCR", sure="likely").facts["found"] < result.facts["found"]


def test_a_proof_that_fails_would_be_seen(monkeypatch):
    monkeypatch.setattr("hopperbook.questions.errata._holds", lambda proof: False)
    result = load("errata").run()
    assert result.facts["held"] == 0
    assert any(row[2].endswith(": FAILS") for row in result.tables[0].rows)


def test_the_scorecard_shows_the_rows_of_the_scorecard(scorecard):
    result = load("scorecard").run(shown=2000)
    assert [row[0] for row in result.tables[0].rows] == [f"{row.study}: {row.quantity}" for row in scorecard]
    assert result.facts["missed"] == len(score.unexplained(scorecard))


@pytest.mark.parametrize("study", ["machines", "memory", "placement"])
def test_the_scorecard_by_study(study, scored):
    table = list(scored(study).values())
    result = load("scorecard").run(study=study)
    assert result.facts["found"] == len(table)


def test_the_scorecard_by_role_and_verdict():
    run = load("scorecard").run
    assert {row[3] for row in run(role="retrodicted").tables[0].rows} == {"retrodicted"}
    missed = run(verdict="missed", study="memory")
    assert {row[4] for row in missed.tables[0].rows} == {"missed, explained"}
    assert missed.tables[0].marked == (0,)


def test_roles_and_verdicts_offered_are_those_there_are():
    options = {
        control.name: [value for value, _ in control.to_dict()["options"]]
        for control in load("scorecard").controls
        if control.kind == "choice"
    }
    assert set(options["role"]) == {"all", *ROLES} - {"by construction"}
    assert set(options["verdict"]) == {"all", *VERDICTS}


def test_kinds_offered_are_those_there_are():
    with (data_folder() / "errata.csv").open(encoding="utf-8", newline="") as file:
        kinds = {row["kind"] for row in csv.DictReader(file)}
    offered = {value for value, _ in load("errata").controls[1].to_dict()["options"]}
    assert kinds <= offered
    offered = {value for value, _ in load("documented").controls[3].to_dict()["options"]}
    assert {value.qualifier for value in all_values()} <= offered
    offered = {value for value, _ in load("documented").controls[2].to_dict()["options"]}
    assert {value.source for value in all_values()} == offered - {"all"}


def test_long_searches_are_refused():
    with pytest.raises(InputError, match="search holds 201 characters"):
        load("documented").run(search="x" * 201)
