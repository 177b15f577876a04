"""Outputs with a known cause: composed outputs of every kind, and real outputs of small programs made to fail."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

FOLDER = Path(__file__).with_name("cases")
CASES = [
    pytest.param(FOLDER / group, case, id=case["name"])
    for group in ("composed", "real")
    for case in tomllib.loads((FOLDER / f"{group}.toml").read_text(encoding="utf-8"))["case"]
]


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_the_cause_is_named(folder, case):
    found = diagnose([(name, (folder / name).read_bytes()) for name in case["files"]])
    if words := case.get("words"):
        # Only the program's message gives the reason: its line must be quoted.
        assert any(words in hit.text for hit in found.cause.hits)
    else:
        code = found.cause.code if found.cause else found.verdict
        assert code in (case["expected"], *case.get("also", ()))


def test_labels_name_rules():
    codes = {made.code for made in load_rules()} | {"no-cause", "failed", "succeeded", "APPLICATION-MESSAGE"}
    for case in (param.values[1] for param in CASES):
        assert {case["expected"], *case.get("also", ())} <= codes, case["name"]
        assert ("words" in case) == (case["expected"] == "APPLICATION-MESSAGE"), case["name"]


@pytest.mark.parametrize("group", ["composed", "real"])
def test_every_file_belongs_to_an_output(group):
    named = [name for param in CASES if param.values[0].name == group for name in param.values[1]["files"]]
    assert sorted(named) == sorted(path.name for path in (FOLDER / group).iterdir())
