"""The scorecard joins every documented value with what its study gives, and states the result plainly."""

from __future__ import annotations

import csv
import functools
import gc
import io
import json
import math
import random
import re
import subprocess
import sys
import tomllib

import pytest

from hopperbook import score, studies
from hopperbook.checks import Check, checks
from hopperbook.documented import (
    ROLES,
    VERDICTS,
    DocumentedValue,
    all_values,
    by_study,
    documented,
    errata,
)
from hopperbook.forecasts import tables
from hopperbook.proofs import evaluate_proof
from hopperbook.score import interval_verdict, judge
from hopperbook.studies.study import Prediction, Shares, Study, ranges, study_texts
from hopperlib.data_files import data_folder


def _value(printed, qualifier="rounded", errata=""):
    """A documented value made for the test."""
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


@pytest.fixture(scope="module")
def table(scorecard):
    return scorecard


@pytest.fixture(scope="module")
def constructed(all_rows):
    return [row for row in all_rows if row.role == "by construction"]


def test_what_is_left_out_could_not_have_come_out_otherwise(table, constructed):
    left_out = {row.id for row in constructed}
    assert [row.id for row in table] == [value.id for value in all_values() if value.id not in left_out]
    assert {id for id, check in checks().items() if check.role == "by construction"} == left_out


def test_what_is_true_by_construction_is_true_and_says_why_or_is_a_formula(constructed):
    """The page counts none of these; formulas and numbers of a model are checked."""
    assert [row.id for row in constructed if row.verdict != "by construction"] == []
    assert [row.id for row in constructed if not (row.note or row.reproduced)] == []


def test_every_row_has_a_role_and_a_verdict(table):
    assert {row.role for row in table} <= set(ROLES)
    assert {row.verdict for row in table} <= set(VERDICTS)


def test_rows_without_a_model_say_why(table):
    assert all(row.note for row in table if row.role in ("not modelled", "calibrated"))


def test_what_is_calibrated_is_not_predicted(table):
    """One row has one role; a value that a parameter was fitted to must not come back as a prediction."""
    fitted = {row.id for row in table if row.role == "calibrated" and row.study in ("machines", "memory")}
    assert fitted == {"memory.franklin-per-task-half-packed", "machines.franklin-peak"}


def test_the_printed_values_of_memory_and_their_roles(scored):
    roles = {row.documented: (row.role, row.verdict) for row in scored("memory").values()}
    # Divisions of printed numbers.
    assert roles["1.29"] == roles["2.58"] == roles["1.88"] == ("arithmetic", "holds")
    assert roles["3.77"] == ("calibrated", "as fitted")


def test_every_proof_of_the_errata_holds():
    proofs = [slip.proof for slip in errata() if slip.proof]
    assert len(proofs) > 60
    assert all(evaluate_proof(proof) for proof in proofs)


def test_nothing_is_missed_without_an_explanation(table):
    assert score.unexplained(table) == ()


def test_only_a_check_that_misses_is_explained(table):
    explained = {check.id for check in checks().values() if check.explanation}
    assert explained == {row.id for row in table if row.verdict == "missed, explained"}


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
    deviation, _, agreed = judge(_value(printed, qualifier), reproduced)
    assert agreed is agrees
    assert deviation == pytest.approx(reproduced - float(printed))


# What floating point leaves over is no deviation: of 1.89, a billionth is 1.89e-9.
@pytest.mark.parametrize(("reproduced", "deviation"), [(1.89 + 4e-16, 0.0), (1.89 - 1e-9, 0.0), (1.89 + 4e-9, 4e-9)])
def test_rounding_of_the_machine_is_no_deviation(reproduced, deviation):
    judged, _, agrees = judge(_value("1.89"), reproduced)
    assert judged == pytest.approx(deviation, rel=1e-3, abs=0)
    assert agrees


# 1.88, rounded, means 1.875 to 1.885.
@pytest.mark.parametrize(
    ("band", "deviation", "agrees"),
    [((1.86, 1.9), 0, True), ((1.8825, 1.8875), 0.0025, True), ((1.89, 1.9), 0.01, False), ((1.8, 1.87), -0.01, False)],
)
def test_a_band_must_reach_the_printed_place(band, deviation, agrees):
    judged, _, agreed = judge(_value("1.88"), band)
    assert judged == pytest.approx(deviation)
    assert agreed is agrees


def test_about_needs_a_tolerance_of_the_check():
    with pytest.raises(ValueError, match="has no tolerance"):
        judge(_value("31", "about"), 30.8)
    assert judge(_value("31", "about"), 30.8, tolerance=0.5)[1:] == (0.5, True)


def test_an_adopted_reading_takes_the_place_of_a_misprint():
    assert judge(_value("3,284", "exact", errata="nodes-3284"), 6384.0)[2] is True
    assert judge(_value("3,284", "exact", errata="nodes-3284"), 3284.0)[2] is False


def test_words_and_truths_have_no_deviation():
    assert judge(_value("XE6", "exact"), "XE6") == (None, None, True)
    assert judge(_value("XE6", "exact"), "XT4") == (None, None, False)
    assert judge(_value("true", "shape"), False) == (None, None, False)


def test_a_number_beside_a_word_is_a_defect():
    with pytest.raises(ValueError, match="gives a number, but 'XE6' is none"):
        judge(_value("XE6", "exact"), 6.0)


# 23, about, in whole minutes: 22.5 to 23.5; a quarter of 23 is 5.75.
@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((22.5, 23.5), "reproduced"),
        ((22.6, 23.5), "missed"),
        ((17.25, 28.75), "reproduced"),
        ((17.24, 24), "too wide"),
        ((30, 40), "missed"),
    ],
)
def test_an_interval_holds_what_would_have_been_printed_and_little_else(interval, verdict):
    assert interval_verdict(interval, (22.5, 23.5)) == verdict


def test_predictions_have_two_ends_a_rival_and_a_score(table):
    predicted = [row for row in table if row.role == "retrodicted"]
    assert all(row.rival for row in predicted)
    for row in predicted:
        assert all(map(math.isfinite, (row.documented_low, row.documented_high, row.rival_low, row.rival_high)))
        assert row.low <= row.high
    assert all(row.seeds is None or row.seeds >= 20 for row in table)


def test_the_models_may_read_what_they_declare_and_nothing_else(monkeypatch):
    def reads(id):
        study = Study("memory", lambda: {"x": documented(id).number})
        monkeypatch.setattr(studies, "load", lambda name: study)
        return score.rows("memory")

    with pytest.raises(ValueError, match=r"'memory' reads 'iobuf.maestro-gain', which it does not declare"):
        reads("iobuf.maestro-gain")
    with pytest.raises(ValueError, match="study 'memory' gives 'x'"):
        reads("memory.vpic-total")
    monkeypatch.setitem(study_texts()["memory"], "reads", ["iobuf.maestro-gain"])
    with pytest.raises(ValueError, match=r"'memory' reads 'iobuf.maestro-gain', which is a retrodicted value"):
        reads("iobuf.maestro-gain")


# In a Python of its own, which has imported nothing and remembers nothing: the intervals of each study, from other data.
_ELSEWHERE = """
import json, pathlib, sys
from hopperlib import data_files
data_files.data_folder = lambda: pathlib.Path(sys.argv[1])
from hopperbook import studies
from hopperbook.studies.study import Prediction
given = {f"{name}.{id}": value for name in sys.argv[2:] for ids, value in studies.load(name).values().items() for id in ids.split()}
print(json.dumps({id: value[:2] for id, value in given.items() if isinstance(value, Prediction)}))
"""


# Those whose intervals take long are tried at night.
SLOW = {"variability", "hybrid", "torus", "networks", "trillion"}


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_no_prediction_moves_with_the_value_that_it_predicts(slow, table, tmp_path):
    """All predicted values printed otherwise, a seventh more, wherever the data tell them: each study gives the same intervals."""
    predicted = {row.id: row for row in table if row.role == "retrodicted" and (row.study in SLOW) == slow}
    for file in data_folder().iterdir():
        (tmp_path / file.name).symlink_to(file)
    printed = {id: documented(id).adopted_number * 8 / 7 for id in predicted}
    slips = {documented(id).errata: number for id, number in printed.items() if documented(id).errata}
    for name, numbers, columns in (
        ("documented", printed, ["value"]),
        ("scorecard", printed, ["documented", "reproduced", "low", "high", "documented_low", "documented_high"]),
        ("errata", slips, ["printed", "adopted"]),
    ):
        file = tmp_path / f"{name}.csv"
        rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
        for row in rows:
            row.update(dict.fromkeys(columns, f"{numbers[row['id']]:.6g}") if row["id"] in numbers else {})
        file.unlink()
        with file.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    names = sorted({row.study for row in predicted.values()})
    command = [sys.executable, "-c", _ELSEWHERE, str(tmp_path), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    given = json.loads(done.stdout)
    assert given.keys() == predicted.keys()
    for id, row in predicted.items():
        room = (row.documented_high - row.documented_low) / 2
        low, high = given[id]
        # What is never below 0 is not printed so.
        least = low - room if low < 0 else max(low - room, 0.0)
        assert (least, high + room) == pytest.approx((row.low, row.high)), id


# In every program; and what a unit of the row may be off by.
_COMMON, _UNITS = (0, 1, 2), (1, 1e3, 1e-3, 60, 1 / 60)


def _is_number(thing):
    """Whether a constant is a number, or the text of one."""
    return type(thing) in (int, float) or (type(thing) is str and re.fullmatch(r"\d+(\.\d+)?", thing) is not None)


def _numbers_of(study):
    """The numbers in the code that the model of a study runs, and in the module data that it reads, with their positions."""
    for cached in gc.get_objects():
        # What was computed by another test would not run again.
        if isinstance(cached, functools._lru_cache_wrapper) and cached.__module__.startswith("hopperbook.studies"):
            cached.cache_clear()
    ran = {}

    def note(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        # What reads the data knows words for numbers, and the rows that are read are watched.
        if event == "call" and module.startswith("hopperlib."):
            ran[frame.f_code] = frame.f_globals

    usual = {name: each.value for name, each in ranges(study.name).items()}
    sys.setprofile(note)
    try:
        study.model(usual, random.Random(1))
    finally:
        sys.setprofile(None)
    for code, names in ran.items():
        for thing in (*code.co_consts, *(names.get(name) for name in code.co_names)):
            inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, tuple) else (thing,)
            yield from ((float(part), code.co_qualname) for part in inside if _is_number(part))
    # The ends of a range are round, and many.
    yield from ((each.value, f"the range of {name}") for name, each in ranges(study.name).items())


# Numbers of one digit, or one digit and zeros or a five, that many a range has.
ROUND = {digit * 10**power for digit in (1, 2, 2.5, 3, 4, 5, 6, 8) for power in range(-3, 6)}


def _leaks(study, predicted):
    """Numbers of a model's code that are one of the values that it predicts, or one over another documented number."""
    numbers = {(number, place) for number, place in _numbers_of(study) if number not in _COMMON}
    leaks = []
    for id, value in predicted.items():
        exact = [value / unit for unit in (_UNITS if abs(value) >= 100 else _UNITS[:1])]
        others = {other.adopted_number for other in all_values() if other.study == study.name} - {None, 0, 1, value}
        leaks += [
            f"{id}: {number} in {place}"
            for number, place in numbers
            if any(math.isclose(number, each) for each in exact)
            or (number not in ROUND and any(math.isclose(number, value / other) for other in others))
        ]
    return sorted(leaks)


# One of the counts of threads that were tried is predicted; all of them are in the code, as the axis of the figure.
CHOSEN = {"hybrid.gain-to-threads"}
# The users that are drawn and the steps of a bisection, where the printed value is a percentage.
CHANCE = [f"variability.users-report-high: 40.0 in {place}" for place in ("_users", "_crossing")]
MODELLED = [name for name in studies.built() if studies.load(name).model]


@pytest.mark.parametrize("name", MODELLED)
def test_no_model_holds_a_value_that_it_predicts(name):
    predicted = {
        id: documented(id).adopted_number
        for id, check in checks().items()
        if check.role == "retrodicted" and id.startswith(f"{name}.") and id not in CHOSEN
    }
    assert [leak for leak in _leaks(studies.load(name), predicted) if leak not in CHANCE] == []


def test_no_machine_file_holds_a_value_that_is_predicted(root):
    """Of three digits or more: the fewer, the more numbers of any machine are the same by chance."""

    def numbers(table):
        inside = table.values() if isinstance(table, dict) else table if isinstance(table, list) else ()
        for part in inside:
            yield from numbers(part) if isinstance(part, dict | list) else [part] if _is_number(part) else []

    predicted = {id: documented(id).adopted_number for id, check in checks().items() if check.role == "retrodicted"}
    long = {id: value for id, value in predicted.items() if len(f"{value:g}".strip("0").replace(".", "")) > 2}
    assert len(long) > 8
    for file in sorted((root / "hopperlib" / "machines").glob("*.toml")):
        held = [float(number) for number in numbers(tomllib.loads(file.read_text(encoding="utf-8")))]
        for id, value in long.items():
            assert not any(number * unit == pytest.approx(value) for number in held for unit in _UNITS), (file.name, id)


@pytest.mark.parametrize(
    "model", [lambda assumed, rng: {"minutes": 23.0}, lambda assumed, rng: {"minutes": float("23")}]
)
def test_a_value_in_a_model_is_found(model):
    toy = Study("memory", dict, model=model)
    toy.model.__globals__["__name__"], kept = "hopperlib.toy", __name__
    try:
        assert _leaks(toy, {"toy.minutes": 23.0}) == [f"toy.minutes: 23.0 in {toy.model.__qualname__}"]
        assert _leaks(toy, {"toy.minutes": 24.0}) == []
        # Over another documented number of the study, 31 GB of usable memory.
        assert _leaks(toy, {"memory.toy": 23.0 * 31}) == [f"memory.toy: 23.0 in {model.__qualname__}"]
    finally:
        toy.model.__globals__["__name__"] = kept


PACKED = "memory.hopper-per-task-packed"


@pytest.fixture
def card(monkeypatch):
    """The scorecard of memory with other rows for some ids (None removes one), and other values."""

    def rows(rows_of_our_own, values):
        others = {id: Check(id=id, role="not modelled", reason="a test") for id in checks() if id.startswith("memory.")}
        given = {id: check for id, check in (checks() | others | rows_of_our_own).items() if check is not None}
        monkeypatch.setitem(study_texts()["memory"], "rivals", {"hopper-per-task-packed": "a constant"})
        study = Study("memory", lambda: values)
        monkeypatch.setattr(score, "checks", lambda: given)
        monkeypatch.setattr(studies, "load", lambda name: study)
        return score.rows("memory")

    return rows


@pytest.fixture
def packed(card):
    """The scorecard of memory with one other row, and the model's value for it."""

    def rows(reproduced, role, **more):
        values = {} if reproduced is None else {"hopper-per-task-packed": reproduced}
        return card({PACKED: Check(id=PACKED, role=role, **more)}, values)

    return rows


@pytest.mark.parametrize(
    ("reproduced", "role", "texts", "verdict"),
    [
        (Prediction(1.2, 1.4, 1.0), "retrodicted", {}, "reproduced"),
        (Prediction(1.29, 1.29, 1.0), "retrodicted", {}, "reproduced"),
        (Prediction(1.3, 1.4, 1.0), "retrodicted", {}, "missed"),
        (Prediction(0.9, 1.7, 1.0), "retrodicted", {}, "too wide"),
        (Prediction(1.3, 1.4, 1.0), "retrodicted", {"explanation": "a leak"}, "missed, explained"),
        (Prediction(1.3, 1.4, 1.0), "retrodicted", {"reason": "how it was had"}, "missed"),
        (Shares(18, 20), "shape", {}, "holds"),
        (Shares(17, 20), "shape", {}, "missed"),
        (1.4, "calibrated", {"reason": "the parameter"}, "missed"),
        (1.29, "calibrated", {"reason": "the parameter"}, "as fitted"),
        (1.4, "input", {"reason": "from the file"}, "missed"),
        (1.29, "input", {}, "input"),
        (None, "input", {}, "input"),
        (1.29, "arithmetic", {}, "holds"),
        (None, "not modelled", {"reason": "nobody knows"}, "not modelled"),
    ],
)
def test_verdicts(packed, reproduced, role, texts, verdict):
    table = packed(reproduced, role, **texts)
    assert next(row.verdict for row in table if row.id == PACKED) == verdict
    assert bool(score.unexplained(table)) is (verdict == "missed")


@pytest.mark.parametrize(("low", "printed"), [(0.001, 0.0), (0.0, 0.0), (0.1, 0.095), (-0.1, -0.105)])
def test_rounding_prints_nothing_below_zero_that_is_not(packed, low, printed):
    """The row is printed in hundredths, so it may be off by half of one."""
    row = next(row for row in packed(Prediction(low, 1.4, 1.0), "retrodicted") if row.id == PACKED)
    assert (row.low, row.high) == pytest.approx((printed, 1.405))


@pytest.mark.parametrize(
    ("reproduced", "role", "message"),
    [
        (None, "retrodicted", "role 'retrodicted' needs what the model gives"),
        (None, "shape", "role 'shape' needs what the model gives"),
        (1.29, "not modelled", "role 'not modelled' reproduces nothing"),
        (1.29, "shape", "a shape is true or false, not 1.29"),
        (1.29, "retrodicted", "a retrodiction is an interval with a rival, and nothing else is one"),
        (
            Prediction(1.2, 1.4, 1.0),
            "arithmetic",
            "a retrodiction is an interval with a rival, and nothing else is one",
        ),
        (Prediction(1.2, float("inf"), 1.0), "retrodicted", "a retrodiction has two finite ends"),
    ],
)
def test_a_value_that_does_not_fit_its_role_is_refused(packed, reproduced, role, message):
    with pytest.raises(ValueError, match=f"check '{PACKED}': {message}"):
        packed(reproduced, role, reason="a test")


def test_the_texts_take_the_numbers_of_the_study(card):
    check = Check(id=PACKED, role="input", reason="{most:.0%} of {hopper-usable}, {most}")
    usable = Check(id="memory.hopper-usable", role="input")
    table = card({PACKED: check, usable.id: usable}, {"most": 0.5, "hopper-usable": 31})
    assert next(row.note for row in table if row.id == PACKED) == "50 % of 31, 0.5"
    with pytest.raises(
        ValueError, match=r"a text in checks.csv asks study 'memory' for 'most', which it does not give"
    ):
        card({PACKED: check, usable.id: usable}, {"hopper-usable": 31})


def test_values_that_print_the_same_share_a_name(card):
    same = ("hopper-usable", "hopper-tasks-packed")
    given = {f"memory.{name}": Check(id=f"memory.{name}", role="input") for name in same}
    table = card(given, {" ".join(same): 31})
    assert [row.reproduced for row in table if row.id in given] == ["31", "31"]
    with pytest.raises(ValueError, match="study 'memory' gives 'hopper-usable' twice"):
        card(given, {" ".join(same): 31, "hopper-usable": 31})


def test_each_documented_value_of_a_built_study_has_a_check(card):
    with pytest.raises(ValueError, match=r"checks.csv has no row for 'memory.hopper-usable'; give it a role"):
        card({"memory.hopper-usable": None}, {})
    for id in ("memory.toy", "hybrid.toy"):
        with pytest.raises(ValueError, match=f"checks.csv has '{id}', which is no documented value of a study"):
            card({id: Check(id=id, role="input")}, {})
    with pytest.raises(ValueError, match="study 'memory' gives 'toy', which is no row of it"):
        card({}, {"toy": 1.0})


def test_a_study_alone_is_scored_in_a_python_that_has_imported_no_other():
    script = "from hopperbook import score; print(len(score.rows('slow-ost')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    by_construction = [id for id, check in checks().items() if check.role == "by construction"]
    assert int(done.stdout) == len([value for value in by_study("slow-ost") if value.id not in by_construction]), (
        done.stderr
    )


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="study='astrology' has no documented value; there are: acceptance"):
        score.rows("astrology")


def test_what_is_missed_of_the_machines(table):
    missed = [row for row in table if row.verdict.startswith("missed")]
    assert not [row.id for row in missed if row.study == "machines"]


def test_retrodictions_of_a_study_count_once(table):
    """Two of io-node and iobuf that hold and miss: the study counts only if all of its intervals hold."""
    rows = [row for row in table if row.role == "retrodicted" and row.study == "iobuf"]
    held = sum(not row.verdict.startswith("missed") for row in rows)
    assert 0 < held < len(rows)
    line = score.summary_line(rows)
    assert "from 1 study, and in 0 of these all intervals hold." in line


def test_a_part_of_the_value_that_is_unknown_sets_the_width():
    """31 of 32 known: the unknown is 1, and half a unit to either side is half of it."""
    assert interval_verdict((30.5, 31.5), (30.9, 31.1)) == "reproduced"
    assert interval_verdict((30.5, 31.5), (30.9, 31.1), out_of=32) == "too wide"
    assert interval_verdict((30.8, 31.2), (30.9, 31.1), out_of=32) == "reproduced"


def test_ranges_do_not_hold_a_value_that_is_retrodicted():
    """A literal that equals a documented value is a leak; so is one that equals it over another documented value of its study."""
    values = by_retrodicted()
    leaks = []
    for name, texts in study_texts().items():
        numbers = [
            end for each in texts.get("ranges", {}).values() for end in (each["value"], each["low"], each["high"])
        ]
        others = [value.adopted_number for value in by_study(name) if value.adopted_number]
        for id, number in values.items():
            if id.startswith(f"{name}."):
                quotients = {number, *(number / other for other in others if other not in (1, number))}
                leaks += [
                    (id, each)
                    for each in numbers
                    if each not in ROUND and any(each == pytest.approx(q) for q in quotients)
                ]
    # Five less a tenth is also the rate over the six threads of a task.
    assert set(leaks) <= {("trillion.weak-rate", 4.5)}


def by_retrodicted():
    """The retrodicted values by id."""
    return {id: documented(id).adopted_number for id, check in checks().items() if check.role == "retrodicted"}


def test_readme_has_the_summary_line(table, root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    line = re.search(r"<!-- scorecard -->\s*(.*?)\s*<!-- /scorecard -->", readme, re.DOTALL)
    assert line, "README.md needs the summary line between <!-- scorecard --> and <!-- /scorecard -->"
    assert line[1] == f"{tables.summary()}; {score.headline(table)}.", "make scorecard writes it"
    assert line[1].count(". ") == 0, "one sentence"
    assert score.summary_line(table) in (root / "book" / "scorecard.md").read_text(encoding="utf-8")


def test_the_table_in_data_is_this_scorecard(table):
    """The browser cannot run the studies, so the explorer reads the table."""
    kept = (data_folder() / "scorecard.csv").read_text(encoding="utf-8")
    assert kept == score.to_csv(table), "run: make scorecard"


def test_the_kept_rows_are_those_of_the_table():
    """Study pages show them; the test before this compares the file with the models."""
    file = (data_folder() / "scorecard.csv").read_text(encoding="utf-8")
    names = {line["study"] for line in csv.DictReader(io.StringIO(file))}
    again = score.to_csv(row for name in names for row in score.kept(name))
    assert sorted(again.splitlines()) == sorted(file.splitlines())
    assert len(names) > 20
    with pytest.raises(ValueError, match="study='astrology' has no row"):
        score.kept("astrology")


def test_csv_holds_what_the_rows_hold():
    table = score.rows("memory")
    lines = list(csv.DictReader(io.StringIO(score.to_csv(table))))
    assert [line["id"] for line in lines] == [row.id for row in table]
    packed = next(line for line in lines if line["id"] == PACKED)
    assert (packed["deviation"], packed["tolerance"], packed["verdict"]) == ("0.00166667", "0.005", "holds")
