"""The scorecard joins every documented value with what its study gives, and says plainly how that went."""

from __future__ import annotations

import csv
import io
import re

import pytest

from hopperlib import scorecard, studies
from hopperlib.documented import DocumentedValue, all_values, data_folder, errata, evaluate_proof
from hopperlib.scorecard import ROW_ROLES, VERDICTS, judge
from hopperlib.studies.study import Check, Study


def _value(printed, qualifier="rounded", errata=""):
    """A documented value of our own."""
    return DocumentedValue(
        id="memory.toy",
        study="memory",
        quantity="a toy",
        value=printed,
        unit="GB",
        qualifier=qualifier,
        source="antypas2011",
        locator="nowhere",
        errata=errata,
        note="",
    )


def _check(reproduced, role="identity", **more):
    return Check(id="memory.toy", role=role, reproduced=reproduced, **more)


@pytest.fixture(scope="module")
def table():
    return scorecard.rows()


def test_no_documented_row_is_left_out(table):
    assert [row.id for row in table] == [value.id for value in all_values()]


def test_every_row_has_a_role_and_a_verdict(table):
    assert {row.role for row in table} <= set(ROW_ROLES)
    assert {row.verdict for row in table} <= set(VERDICTS)


def test_built_studies_give_every_row_a_role(table):
    for row in table:
        assert (row.role == "not built") == (row.study not in (*studies.BUILT, "context"))


def test_rows_without_a_model_say_why(table):
    assert all(row.note for row in table if row.role in ("not modelled", "not built", "calibrated"))


def test_what_is_calibrated_is_not_predicted(table):
    """One row has one role; a value that a parameter was fitted to must not come back as a prediction."""
    fitted = {row.id for row in table if row.role == "calibrated" and row.study in ("machines", "memory")}
    assert fitted == {"memory.franklin-per-task-half-packed", "machines.franklin-peak"}


def test_the_printed_values_of_memory_and_their_roles():
    roles = {row.documented: (row.role, row.verdict) for row in scorecard.rows("memory")}
    assert roles["1.29"] == roles["2.58"] == roles["1.88"] == ("predicted", "reproduced")
    assert roles["3.77"] == ("calibrated", "as fitted")


def test_every_proof_of_the_errata_holds():
    proofs = [slip.proof for slip in errata() if slip.proof]
    assert len(proofs) > 60
    assert all(evaluate_proof(proof) for proof in proofs)


def test_nothing_is_missed_without_an_explanation(table):
    assert scorecard.unexplained(table) == ()


def test_only_a_check_that_misses_is_explained():
    for name in studies.BUILT:
        explained = {check.id for check in studies.load(name).checks() if check.explanation}
        assert explained == {row.id for row in scorecard.rows(name) if row.verdict == "missed, explained"}


# Half a unit of the last printed place; a whole unit upwards where the source cuts off.
@pytest.mark.parametrize(
    ("printed", "qualifier", "reproduced", "agrees"),
    [
        ("1.29", "rounded", 1.295, True),
        ("1.29", "rounded", 1.2951, False),
        ("1.28", "truncated", 1.287, True),
        ("1.28", "truncated", 1.29, False),
        ("217", "at least", 216.6, False),
        ("4", "at least", 4.0017, True),
        ("40", "range high", 41.0, False),
        ("11", "range high", 10.0, True),
    ],
)
def test_numbers_are_judged_by_the_printed_place(printed, qualifier, reproduced, agrees):
    deviation, _, found = judge(_value(printed, qualifier), _check(reproduced))
    assert found is agrees
    assert deviation == pytest.approx(reproduced - float(printed))


# What floating point leaves over is no deviation: of 1.89, a billionth is 1.89e-9.
@pytest.mark.parametrize(("reproduced", "deviation"), [(1.89 + 4e-16, 0.0), (1.89 - 1e-9, 0.0), (1.89 + 4e-9, 4e-9)])
def test_rounding_of_the_machine_is_no_deviation(reproduced, deviation):
    found = judge(_value("1.89"), _check(reproduced))
    assert found[0] == pytest.approx(deviation, rel=1e-3, abs=0)
    assert found[2]


# 1.88, rounded, means 1.875 to 1.885.
@pytest.mark.parametrize(
    ("band", "deviation", "agrees"),
    [((1.86, 1.9), 0, True), ((1.8825, 1.8875), 0.0025, True), ((1.89, 1.9), 0.01, False), ((1.8, 1.87), -0.01, False)],
)
def test_a_band_must_reach_the_printed_place(band, deviation, agrees):
    found = judge(_value("1.88"), _check(band))
    assert found[0] == pytest.approx(deviation)
    assert found[2] is agrees


def test_about_needs_a_tolerance_of_the_check():
    with pytest.raises(ValueError, match="has no tolerance of its own"):
        judge(_value("31", "about"), _check(30.8))
    given = _check(30.8, tolerance=0.5, tolerance_reason="a whole number")
    assert judge(_value("31", "about"), given)[2] is True


def test_an_adopted_reading_takes_the_place_of_a_misprint():
    assert judge(_value("3,284", "exact", errata="nodes-3284"), _check(6384.0))[2] is True
    assert judge(_value("3,284", "exact", errata="nodes-3284"), _check(3284.0))[2] is False


def test_words_and_truths_have_no_deviation():
    assert judge(_value("XE6", "exact"), _check("XE6")) == (None, None, True)
    assert judge(_value("XE6", "exact"), _check("XT4")) == (None, None, False)
    assert judge(_value("true", "shape"), _check(False, role="shape")) == (None, None, False)


def test_a_number_beside_a_word_is_a_defect():
    with pytest.raises(ValueError, match="gives a number, but 'XE6' is none"):
        judge(_value("XE6", "exact"), _check(6.0))


def _card(monkeypatch, *checks):
    """The scorecard of memory with checks of our own in place of the study's."""
    study = Study(name="memory", title="Memory", part="node", question="?", checks=lambda: checks)
    monkeypatch.setattr(studies, "load", lambda name: study)
    return scorecard.rows("memory")


def _all_but(*ids):
    return [
        Check(id=row.id, role="not modelled", reason="a test") for row in scorecard.rows("memory") if row.id not in ids
    ]


PACKED = "memory.hopper-per-task-packed"


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (Check(id=PACKED, role="predicted", reproduced=1.29), "reproduced"),
        (Check(id=PACKED, role="predicted", reproduced=1.4), "missed"),
        (Check(id=PACKED, role="predicted", reproduced=1.4, explanation="a leak"), "missed, explained"),
        (Check(id=PACKED, role="predicted", reproduced=1.4, reason="how it was had"), "missed"),
        (Check(id=PACKED, role="calibrated", reproduced=1.4, reason="the parameter"), "missed"),
        (Check(id=PACKED, role="calibrated", reproduced=1.29, reason="the parameter"), "as fitted"),
        (Check(id=PACKED, role="input", reproduced=1.4, reason="from the file"), "missed"),
        (Check(id=PACKED, role="input", reproduced=1.29), "input"),
        (Check(id=PACKED, role="input"), "input"),
        (Check(id=PACKED, role="identity", reproduced=1.29), "holds"),
        (Check(id=PACKED, role="not modelled", reason="nobody knows"), "not modelled"),
    ],
)
def test_verdicts(monkeypatch, check, verdict):
    rest = _all_but(PACKED)
    table = _card(monkeypatch, check, *rest)
    assert next(row.verdict for row in table if row.id == PACKED) == verdict
    assert bool(scorecard.unexplained(table)) is (verdict == "missed")


def test_a_study_checks_each_of_its_rows_once(monkeypatch):
    checks = _all_but()
    with pytest.raises(ValueError, match=r"declares no check for 'memory.hopper-usable'; give it a role"):
        _card(monkeypatch, *(check for check in checks if check.id != "memory.hopper-usable"))
    with pytest.raises(ValueError, match=r"checks 'memory.hopper-usable' twice"):
        _card(monkeypatch, *checks, next(check for check in checks if check.id == "memory.hopper-usable"))
    with pytest.raises(ValueError, match=r"checks 'machines.hopper-clock', which is no row of that study"):
        _card(monkeypatch, *checks, Check(id="machines.hopper-clock", role="input"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"role": "guess"}, "role='guess' must be one of"),
        ({"role": "not modelled"}, "needs a reason"),
        ({"role": "calibrated", "reproduced": 1.0}, "needs a reason"),
        ({"role": "predicted"}, "needs what the model gives"),
        ({"role": "not modelled", "reason": "why", "reproduced": 1.0}, "reproduces nothing"),
        ({"role": "shape", "reproduced": 1.0}, "a shape is true or false, not 1.0"),
        ({"role": "input", "tolerance": 1.0}, "a tolerance and its reason come together"),
        ({"role": "input", "tolerance_reason": "why"}, "a tolerance and its reason come together"),
        ({"role": "input", "explanation": "why"}, "cannot miss"),
    ],
)
def test_a_check_that_says_too_little_or_too_much_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Check(id="memory.toy", **arguments)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="study='astrology' has no documented value; there are: acceptance"):
        scorecard.rows("astrology")
    with pytest.raises(ValueError, match="role='guess' must be one of: input"):
        scorecard.select((), role="guess")
    with pytest.raises(ValueError, match="verdict='fine' must be one of: reproduced"):
        scorecard.select((), verdict="fine")


def test_missed_takes_the_explained_misses_too(table):
    missed = scorecard.select(table, verdict="missed")
    assert {row.id for row in missed if row.study == "machines"} == {
        "machines.hopper-memory-total-antypas2011",
        "machines.hopper-memory-total-byna2013",
    }


def test_summary_counts_every_row_once(table):
    found = scorecard.summary(table)
    assert found["rows"] == len(table) == sum(found["roles"].values()) == sum(found["verdicts"].values())
    assert found["unexplained"] == []


def test_summary_line_of_a_few_rows():
    line = scorecard.summary_line(scorecard.rows("memory"))
    assert line == (
        "22 documented values: 3 of 3 predictions reproduced, 5 of 5 shapes hold, 3 of 3 sums hold, "
        "1 calibrated, 7 inputs, 3 not modelled."
    )
    assert scorecard.summary_line(()) == "0 documented values: none."


def test_readme_has_the_summary_line(table, root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- scorecard -->\s*(.*?)\s*<!-- /scorecard -->", readme, re.DOTALL)
    assert found, "README.md needs the summary line between <!-- scorecard --> and <!-- /scorecard -->"
    assert found[1] == scorecard.summary_line(table), "put the line that `hopper scorecard` ends with into README.md"


def test_the_table_in_data_is_this_scorecard(table):
    """The browser cannot run the studies, so the explorer reads the table."""
    kept = (data_folder() / "scorecard.csv").read_text(encoding="utf-8")
    assert kept == scorecard.to_csv(table), "run: hopper scorecard --csv > data/scorecard.csv"


def test_csv_holds_what_the_rows_hold():
    table = scorecard.rows("memory")
    lines = list(csv.DictReader(io.StringIO(scorecard.to_csv(table))))
    assert [line["id"] for line in lines] == [row.id for row in table]
    packed = next(line for line in lines if line["id"] == PACKED)
    assert (packed["deviation"], packed["tolerance"], packed["verdict"]) == ("0.00166667", "0.005", "reproduced")


@pytest.mark.parametrize("name", studies.BUILT)
def test_built_studies_are_in_their_part(name):
    study = studies.load(name)
    assert name in studies.PARTS[study.part]
    assert study.name == name
    assert study.question.endswith("?")
    assert study.assumptions
