"""The study of error messages: the checked values come from the diagnosis."""

from __future__ import annotations

import pytest

from hopperbook.documented import documented
from hopperbook.studies.failure.diagnosis import COMPANIONS, GNI, MESSAGES, diagnosed
from hopperlib.failure.messages.rules import rule


def test_companions_are_those_of_the_source():
    assert "; ".join(COMPANIONS) == documented("diagnosis.gni-companions").value


@pytest.mark.parametrize(
    ("companion", "code"),
    [
        ("Fatal MPI error", "MPI-TRUNCATE"),
        ("ALPS error", "ALPS-OOM"),
        ("PGFIO/stdio error", "FORTRAN-EOF"),
        ("segmentation fault", "SEGV"),
    ],
)
@pytest.mark.parametrize("first", ["message", "companion"])
def test_the_companion_tells_in_either_order(companion, code, first):
    parts = [GNI, COMPANIONS[companion]]
    diagnosis = diagnosed("".join(parts if first == "message" else reversed(parts)))
    assert diagnosis.cause is not None
    assert (diagnosis.cause.code, diagnosis.cause.explains) == (code, ["GNI-TRANSACTION"])


@pytest.mark.parametrize(("text", "code"), list(MESSAGES.items()))
def test_the_short_list_is_known(text, code):
    diagnosis = diagnosed(text)
    assert list(diagnosis.evidence.messages) == [code]
    assert (diagnosis.verdict == "cause") == (rule(code).role == "cause")
