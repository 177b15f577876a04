"""The library stays small: the part of its imports that each study runs, and the reasons for the other functions."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from statistics import median

import pytest

from hopperbook import minimality
from hopperbook.studies.study import study_texts


def _rows(root, name):
    with (root / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _library(root):
    for path in sorted((root / "hopperlib").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_studies_run_most_of_what_they_import(root):
    shares = {row["study"]: int(row["run"]) / int(row["lines"]) for row in _rows(root, "minimality.csv")}
    assert set(shares) == set(study_texts())
    assert median(shares.values()) >= 0.6
    assert min(shares.values()) >= 0.4, min(shares, key=shares.get)


def test_every_function_is_run_by_a_study_or_has_a_reason(root):
    """`python -m hopperbook.minimality` rewrites the first table; the second is reviewed by hand."""
    there = {(module, function.name) for module in _library(root) for function in minimality.functions(module)}
    run = {(row["module"], row["function"]) for row in _rows(root, "functions-run.csv")}
    reasons = {(row["module"], row["function"]): row["reason"] for row in _rows(root, "unused-functions.csv")}
    assert all(reasons.values())
    assert not run & set(reasons), "a study runs it now: take its line out of unused-functions.csv"
    assert sorted((run | set(reasons)) - there) == [], "these are gone"
    assert sorted(there - run - set(reasons)) == [], "no study runs these, and no reason is given"


@pytest.mark.parametrize("study", ["io-node"])
def test_the_table_is_what_a_trace_gives(root, tmp_path, study):
    out = tmp_path / "trace.json"
    subprocess.run([sys.executable, "-m", "hopperbook.minimality", study, str(out)], check=True, cwd=root)
    share = minimality.share_of(json.loads(out.read_text(encoding="utf-8")))
    (row,) = (row for row in _rows(root, "minimality.csv") if row["study"] == study)
    assert share.share == pytest.approx(float(row["share"]), abs=0.03)
