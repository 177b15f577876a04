"""Studies are found by name, in the order of the book, with their texts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hopperbook import studies
from hopperbook.checks import checks
from hopperbook.studies.study import Study, study_texts
from hopperbook.study_tables import assumptions
from hopperlib.documented import by_study

PARTS = ("node", "network", "storage", "failure", "monitoring")


def test_studies_are_in_the_order_of_the_parts():
    parts = [texts["part"] for texts in study_texts().values()]
    assert parts == sorted(parts, key=PARTS.index)


@pytest.mark.parametrize("name", ["astrology", "torus2"])
def test_a_study_that_is_not_built_is_refused(name):
    with pytest.raises(ValueError, match=f"there is no study '{name}' among: machines, "):
        studies.load(name)


@pytest.mark.parametrize("name", studies.built())
def test_a_built_study_has_its_texts_and_checks(name):
    study = studies.load(name)
    assert study.name == name
    assert study.part == study_texts()[name]["part"]
    assert study.question.endswith("?")
    assert study.assumptions
    assert not [text for text in (study.title, study.question, *study.assumptions) if "{" in text]
    assert all(value.id in checks() for value in by_study(name))


@pytest.mark.parametrize("name", studies.built())
def test_a_study_retrodicts_something_or_says_why_not(name):
    retrodicted = [id for id, check in checks().items() if check.role == "retrodicted" and id.startswith(f"{name}.")]
    assert bool(retrodicted) != bool(studies.load(name).no_prediction)
    assert studies.load(name).no_prediction in assumptions(name)


def test_a_study_without_its_texts_is_refused(monkeypatch):
    monkeypatch.setitem(study_texts(), "toy", {"part": "node", "assumptions": ["-"]})
    with pytest.raises(ValueError, match=r"data/studies.toml: study 'toy' has no title, question"):
        Study.read("toy", dict)
    name, missing = "astrology", "part, title, question, assumptions"
    with pytest.raises(ValueError, match=rf"data/studies.toml: study '{name}' has no {missing}"):
        Study.read(name, dict)


def test_the_texts_of_assumptions_take_numbers(monkeypatch):
    texts = {
        "part": "node",
        "title": "Toy",
        "question": "Does it?",
        "assumptions": ["It does {often:.0%} of the time."],
    }
    monkeypatch.setitem(study_texts(), "toy", texts)
    study = Study.read("toy", dict, shared_assumptions=("As ever.",), often=0.5)
    assert study.assumptions == ("As ever.", "It does 50 % of the time.")


def test_studies_that_assume_the_same_vary_it_alike():
    """The noise of a run time and that of a probe are two things."""
    kept = {}
    for texts in study_texts().values():
        for name, each in texts.get("ranges", {}).items():
            ends = each["value"], each["low"], each["high"], each["unit"]
            assert name == "noise" or kept.setdefault(name, ends) == ends, name
    assert len(kept) > 20


def test_what_a_study_reads_while_it_is_imported_is_declared_too():
    # In a Python of its own: here they are imported already.
    script = (
        "from hopperbook import score, studies\n"
        "from hopperlib.documented import watched\n"
        "for name in studies.built():\n"
        "    with watched(score._reader(name)):\n"
        "        studies.load(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
