"""Benchmark histories as an answer: its own examples, and what it cannot tell."""

from __future__ import annotations

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError


@pytest.fixture(scope="module")
def watch():
    return load("watch")


def test_parallel_codes_lose(watch):
    result = watch.run()
    verdicts = {series["name"]: series["verdict"] for series in result.facts["series"]}
    assert verdicts == {
        "NPB FT 64 tasks": "worse",
        "GTC 64 tasks": "worse",
        "NPB MG serial": "no change",
        "MPI bandwidth": "no change",
    }
    (group,) = result.facts["together"]
    assert set(group["series"]) == {"NPB FT 64 tasks", "GTC 64 tasks"}
    assert group["explained_by"][0] == "noise"


def test_a_steady_benchmark(watch):
    result = watch.run(**watch.examples[1].values)
    assert result.summary == "No lasting change in 1 series."
    assert result.facts["series"][0]["outliers"]


def test_a_new_compiler(watch):
    result = watch.run(**watch.examples[2].values)
    assert any("it came with a change of compiler" in finding.message for finding in result.findings)


def test_the_runs_are_drawn_before_they_are_judged(watch):
    (known,) = watch.partial()
    whole = watch.run()
    assert known.summary == "Judging 4 series …"
    assert len(known.figures) == len(whole.figures)
    assert [len(figure.data) for figure in known.figures] == [1] * 4  # the runs, without a level
    assert "not judged yet" in known.figures[0].alt


def test_too_few_runs(watch):
    result = watch.run(history="time,value\n1,2\n2,3\n")
    assert result.summary == "Cannot tell: no series has 12 runs."


def test_nothing_given(watch):
    with pytest.raises(InputError, match="paste or drop a history"):
        watch.run(history=" ")
