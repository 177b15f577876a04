"""Studies are found by name, in the order of the book, with their texts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hopperbook import studies
from hopperbook.checks import checks
from hopperbook.documented import by_study
from hopperbook.studies.study import study_texts
from hopperbook.study_tables import assumptions

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
    assert study.texts["question"].endswith("?")
    assert study.texts["title"]
    assert study.texts["assumptions"]
    assert not [text for text in (study.texts["title"], study.texts["question"], *study.assumptions) if "{" in text]
    assert all(value.id in checks() for value in by_study(name))
    retrodicted = [id for id, check in checks().items() if check.role == "retrodicted" and id.startswith(f"{name}.")]
    why = study.texts.get("no_prediction", "")
    assert bool(retrodicted) != bool(why)
    assert why in assumptions(name)


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
        "from hopperbook.documented import watched\n"
        "for name in studies.built():\n"
        "    with watched(score._reader(name)):\n"
        "        studies.load(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
