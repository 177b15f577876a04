"""Cases from public threads and repositories that were once answered wrong: the line, the title and the advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

FOLDER = Path(__file__).with_name("cases") / "field"

# File, words that must be in the first line or the alternative, words that the advice must and must not contain.
CASES = (
    ("cesm361-layer", "negative moist layer thickness", "", "chmod"),
    ("kynema1288-fpe", "Erroneous arithmetic operation", "", "cp"),
    ("libfabric10072-ptlte", "PTLTE_NOT_FOUND", "", "print the count"),
    ("nixl1953-salloc", "Connection timed out", "--immediate", "correct the option"),
    ("appt778-fuse", "failed to exec fuser", "fuse3", "path in the message"),
    ("lammps-doom", "exit-timeout=30s has expired", "rank 5615", "--exclude"),
    ("echo-success", "KeyError", "line 12 of train.py", ""),
    ("W07", "failed to distribute tasks", "--cpu-bind=none", "--exclude"),
    ("W13", "step creation", "--exact", "--exclude"),
    ("W17", "cuIpcOpenMemHandle", "--gpu-bind=none", "Print the count"),
)


def diagnosed(name):
    """Diagnose a case."""
    return diagnose([(name, (FOLDER / f"{name}.out").read_bytes())])


@pytest.mark.parametrize(("name", "line", "wanted", "unwanted"), CASES, ids=lambda value: value[:24])
def test_the_line_and_the_advice_fit(name, line, wanted, unwanted):
    found = diagnosed(name)
    assert found.verdict == "cause"
    named = [found.cause, *filter(None, [found.alternative])]
    assert any(line in cause.hits[0].text for cause in named)
    advice = " ".join(step for cause in named for step in cause.advice)
    assert wanted in advice
    assert not unwanted or unwanted not in advice


def test_warnings_of_ordinary_runs_are_no_cause():
    assert diagnosed("ibverbs-warnings").verdict == "no-cause"


def test_who_acts_follows_from_the_message():
    assert {name: diagnosed(name).cause.who for name in ("appt778-fuse", "W07", "nixl1953-salloc")} == {
        "appt778-fuse": "staff",
        "W07": "user",
        "nixl1953-salloc": "user",
    }
