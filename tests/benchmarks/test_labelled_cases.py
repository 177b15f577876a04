"""How often the diagnosis names the cause: the numbers of the book's page, held."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from pathlib import Path

from benchmarks.labelled_cases import answers, judge, labelled_cases, real_cases
from hopperlib.documented.data_files import rows
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules
from hopperlib.studies.failure.diagnosis import scores

CASES = labelled_cases()


def test_the_recorded_answers_are_those_of_the_rules():
    """Where a rule changes an answer: python -m benchmarks.labelled_cases > data/diagnosis/answers.csv."""
    header, *answered = answers()
    assert [dict(zip(header, row, strict=True)) for row in answered] == rows("diagnosis/answers.csv")


def test_the_diagnosis_is_right_on_all():
    assert [
        row["name"] for row in rows("diagnosis/answers.csv") if row["method"] == "diagnosis" and row["right"] == "no"
    ] == []


def test_the_numbers_of_the_page():
    found, first, last = scores("composed")
    assert (found.with_cause, found.without_cause) == (145, 20)
    assert (found.first_cause_right, found.no_cause_right, found.wrong_confident) == (145, 20, 0)
    assert (first.first_cause_right, first.no_cause_right, first.wrong_confident) == (83, 8, None)
    assert (last.first_cause_right, last.no_cause_right, last.wrong_confident) == (34, 7, None)


def test_the_numbers_of_the_real_outputs():
    found, first, last = scores("real")
    assert (found.with_cause, found.without_cause) == (42, 7)
    assert (found.first_cause_right, found.no_cause_right, found.wrong_confident) == (42, 7, 0)
    assert (first.first_cause_right, first.no_cause_right) == (27, 3)
    assert (last.first_cause_right, last.no_cause_right) == (18, 7)


def test_the_set_covers_what_it_should():
    """At least 60 outputs, every place of a cause, some without one; the second set is kept apart."""
    assert len(CASES) >= 60
    where = Counter(case.where for case in CASES)
    assert min(where[place] for place in ("early", "late", "other rank", "interleaved", "absent", "success")) >= 4
    assert sum(case.hard for case in CASES) >= 6
    assert sum(case.second for case in CASES) == 29
    assert sum(len(case.files) > 1 for case in CASES) >= 30


def test_labels_name_rules():
    codes = {made.code for made in load_rules()} | {"no-cause", "succeeded", "APPLICATION-MESSAGE"}
    for case in (*CASES, *real_cases()):
        assert {case.expected, *case.also} <= codes, case.name
        assert bool(case.words) == (case.expected == "APPLICATION-MESSAGE"), case.name


def test_the_set_holds_many_kinds_of_causes():
    assert len({case.expected for case in CASES}) >= 85


def test_every_file_belongs_to_an_output(root):
    for folder in (root / "data" / "diagnosis", root / "data" / "diagnosis" / "real"):
        index = tomllib.loads((folder / "index.toml").read_text(encoding="utf-8"))
        named = [name for entry in index["case"] for name in entry["files"]]
        assert sorted(named) == sorted(path.name for path in (folder / "cases").iterdir())
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_methods_answer_as_by_hand():
    """Two outputs: one whose last line is the cause, one whose last line is not."""
    pair = [case for case in CASES if case.name in ("slurm-preempted", "alps-oom-late")]
    assert sum(judge(case, "last line").right for case in pair) == 1
    assert all(judge(case).right for case in pair)


def _samples(root: Path) -> Path:
    """Folder of real outputs beside the repository, which the project does not need."""
    return Path(os.environ.get("HOPPER_SAMPLES", root.parent / "shared" / "samples")) / "alps"


def test_real_outputs_of_cray_systems(root):
    """Where the two outputs are at hand: one holds no cause, in the other the program's own words tell."""
    for name, verdict, quoted in (
        ("exit_code_134.txt", "no-cause", ""),
        ("negative_eigen.txt", "cause", "Negative overlap matrix eigenvalue. Tighten integral threshold (REM_THRESH)!"),
    ):
        path = _samples(root) / name
        if not path.exists():
            continue
        found = diagnose([(name, path.read_bytes())])
        assert found.verdict == verdict
        if quoted:
            assert found.cause.code == "APPLICATION-MESSAGE"
            assert found.cause.confidence == "guess"
            assert quoted in [hit.text.strip() for hit in found.cause.hits]
        else:
            assert "ABORT-SIGNAL" in found.evidence.messages
