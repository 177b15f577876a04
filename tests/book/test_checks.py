"""The checks: required and forbidden entries of a row."""

from __future__ import annotations

import sys
from datetime import date

import pytest

from hopperbook.checks import Check, checks
from hopperbook.documented import ROLES

HEAD = {"id": "memory.toy", "tolerance": "", "tolerance_reason": "", "reason": "", "explanation": ""}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"role": "guess"}, "role='guess' must be one of"),
        ({"role": "not modelled"}, "needs a reason"),
        ({"role": "calibrated"}, "needs a reason"),
        ({"role": "input", "tolerance": 1.0}, "a tolerance and its reason must be given together"),
        ({"role": "input", "tolerance_reason": "why"}, "a tolerance and its reason must be given together"),
        ({"role": "input", "explanation": "why"}, "cannot miss"),
        ({"role": "not modelled", "reason": "why", "explanation": "why"}, "cannot miss"),
    ],
)
def test_a_check_that_says_too_little_or_too_much_is_refused(arguments, message):
    with pytest.raises(ValueError, match=f"check 'memory.toy': .*{message}"):
        Check(id="memory.toy", **arguments)


@pytest.fixture
def written(monkeypatch):
    """Return the checks of a file made for the test."""

    def read(*rows):
        # The package has a function of the module's name.
        monkeypatch.setattr(sys.modules["hopperbook.checks"], "rows", lambda name: [HEAD | row for row in rows])
        return checks.__wrapped__()

    return read


def test_rows_of_the_file_become_checks(written):
    check = written({"role": "retrodicted", "tolerance": "0.5", "tolerance_reason": "in halves", "reason": "so"})
    assert check == {
        "memory.toy": Check(
            id="memory.toy", role="retrodicted", tolerance=0.5, tolerance_reason="in halves", reason="so"
        )
    }


def test_an_id_is_there_once(written):
    with pytest.raises(ValueError, match=r"check 'memory.toy' is in checks.csv twice"):
        written({"role": "input"}, {"role": "arithmetic"})


def test_a_tolerance_is_a_number(written):
    with pytest.raises(ValueError, match="wide"):
        written({"role": "input", "tolerance": "wide", "tolerance_reason": "why"})


def test_a_changed_criterion_has_its_date():
    changed = [check.changed for check in checks().values() if check.changed]
    assert changed
    assert all(date.fromisoformat(text.partition(",")[0]) for text in changed)


def test_the_checks_of_the_book_use_every_role():
    assert {check.role for check in checks().values()} == set(ROLES)
