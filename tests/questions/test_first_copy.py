"""The first text to copy is the recommended one."""

from __future__ import annotations

import re

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperkit.render.html import parts_html
from hopperlib.errors import InputError

LIGHT = [name for name in QUESTIONS if not load(name).heavy]


def _answers(name):
    question = load(name)
    for values in ({}, *(example.values for example in question.examples)):
        try:
            yield values, question.run(**values)
        except InputError:
            continue


# How sentences recommend, and what the first copy then holds: what stands there word for word, or options that say it.
RECOMMENDS = [
    (re.compile(r"\b(?:Better|Recommended): (?P<line>.+?)(?:$|(?<=\S)\. [A-Z])"), "{line}"),
    (
        re.compile(r"^Cheapest on [^:]+: (?P<tasks>\d+) tasks(?: of (?P<threads>\d+) threads)? per node"),
        r"(-N |--ntasks-per-node=){tasks}\b",
    ),
    (re.compile(r"^Fastest with (?P<threads>\d+) threads? per task"), r"OMP_NUM_THREADS={threads}\b"),
    (re.compile(r"^Chunks of (?P<shape>[\dx]+) "), "CHUNK={shape}"),
    (re.compile(r"\bType (?P<line>.+?), and rebuild"), "{line}"),
    (re.compile(r"^First change: (?P<line>[^.]+)\."), "{line}"),
]


def _sought(summary):
    """Pattern of the first text to copy, for each form of recommendation."""
    for pattern, sought in RECOMMENDS:
        held = sought
        if found := pattern.search(summary):
            parts = {name: re.escape((text or "").rstrip(".")) for name, text in found.groupdict().items()}
            for name, text in parts.items():
                held = held.replace(f"{{{name}}}", text)
            yield held


@pytest.mark.parametrize("name", LIGHT)
def test_the_first_copy_is_what_the_sentence_recommends(name):
    for values, answer in _answers(name):
        for sought in _sought(answer.summary):
            # A launch line that the reader's launcher cannot be given is said and not copied.
            if answer.copyables:
                first = answer.copyables[0]
                assert re.search(sought, f"{first.title}\n{first.text}", re.IGNORECASE), (values, answer.summary, first)
            else:
                assert name == "place", (values, answer.summary)


@pytest.mark.parametrize("name", LIGHT)
def test_the_first_copy_of_a_page_is_the_first_of_the_answer(name):
    """It comes before anything folded, and nothing to copy is above it."""
    for _, answer in _answers(name):
        parts = parts_html(answer.to_dict())
        above = "".join(parts[part] for part in ("problems", "findings"))
        assert 'data-do="copy"' not in above
        if answer.copyables:
            first = parts["copyables"].partition("<details")[0]
            assert re.findall(r'data-do="copy" data-index="(\d+)"', first) == ["0"]


def test_what_changes_in_a_script_is_marked_and_the_whole_script_copied():
    script = "#SBATCH -C gpu -q regular -G 8\nmodule load x\nsrun -n 8 --gpus-per-task=1 ./a.out"
    answer = load("identify").run(text=script)
    better, change = answer.copyables[:2]
    assert better.text in change.text.splitlines()
    assert change.text.splitlines()[:2] == script.splitlines()[:2]
    shown = parts_html(answer.to_dict())["copyables"]
    assert "@@" not in shown
    assert "<ins>-c 32 --cpu-bind=cores </ins>" in shown


def test_some_answers_recommend():
    found = {name: pattern for name in LIGHT for _, answer in _answers(name) for pattern in _sought(answer.summary)}
    assert {"place", "stripe", "memory", "hybrid", "chunks", "build"} <= set(found)


@pytest.mark.parametrize("name", LIGHT)
def test_no_range_has_two_ends_that_are_printed_alike(name):
    """ "1.00 to 1.00" says less than "1.00"."""
    for values, answer in _answers(name):
        for value in answer.values:
            low, _, high = value.text.partition(" to ")
            assert low != high, (values, value.label)


def test_the_front_page_starts_with_an_answer_worth_reading():
    """A script that looks right and loses most of its cores, an error, and run times that a node separates."""
    question = load("identify")
    script = question.run()
    assert script.facts["slowdown_low"] > 2
    assert {"depth-missing", "idle-numa-nodes", "gpus-all-visible"} <= set(script.facts["codes"])
    assert "-c 32 --gpus-per-task=1 --gpu-bind=closest" in script.copyables[0].text
    error, times = (question.run(**example.values) for example in question.examples[:2])
    assert error.facts["verdict"] == "cause"
    assert "nid001337" in times.summary
