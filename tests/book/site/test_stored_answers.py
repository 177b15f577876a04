"""Stored answers of heavy explorers: they agree with Python's, cover every single change, and need no Python."""

from __future__ import annotations

import os
import shutil

import pytest
from playwright.sync_api import expect

from hopperbook.site.stored_answers import STORED, computed, content, key_of, moves, stored, stored_answer
from hopperkit.questions.question import load
from tests.book.site.conftest import serving

# Moves that are simulated again in every run, after the start; all are at night.
FEW = {
    "fragmentation": [{"days": 3}, {"order": "hilbert"}],
    "scheduling": [{"days": 4}, {"down_hours": 3.0}],
}
# Parts of all moves, so that each test fits its limit.
PARTS = 20
MOVES = "make stored` writes them anew"


@pytest.mark.parametrize("name", STORED)
def test_stored_answers_are_those_of_the_models(name):
    question = load(name)
    for move in [{}, *FEW[name]]:
        assert stored_answer(name, move) == computed(question, move), f"{name} {move}: `{MOVES}"


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", STORED)
def test_all_stored_answers_are_those_of_the_models(name, part):
    question = load(name)
    for move in list(moves(question))[part::PARTS]:
        assert stored_answer(name, move) == computed(question, move), f"{name} {move}: `{MOVES}"


@pytest.mark.parametrize("name", STORED)
def test_every_option_and_example_is_stored(name):
    question = load(name)
    assert set(stored(name)["moves"]) == {key_of(move) for move in moves(question)}
    for control in question.controls:
        if control.kind in ("slider", "choice"):
            other = [value for move in moves(question) if list(move) == [control.name] for value in move.values()]
            steps = round((control.high - control.low) / control.step) if control.kind == "slider" else 1
            assert len(other) >= steps, control.name
            assert all(control.read(value) == value for value in other)


@pytest.mark.parametrize("name", STORED)
def test_they_are_light(name):
    assert len(content(name)) < 300_000


@pytest.mark.parametrize("name", STORED)
def test_a_refused_or_unknown_setting_has_none(name):
    assert stored_answer(name, {"days": 5, "nothing": 1}) is None


PAGES = {
    "fragmentation": ("network/fragmentation", [{"load": 0.6}, {"order": "hilbert"}, {"days": 21}]),
    "scheduling": ("network/scheduling-trouble", [{"orphans_a_day": 30}, {"debug_share": 0.02}, {"full_nodes": 300}]),
}


# As the page has it.
SET = """(box, move) => {
  const { start } = JSON.parse(box.querySelector(":scope > script.hopper-data-block").textContent);
  box.hopperSet({ ...start, ...move });
}"""


@pytest.fixture(scope="module")
def without_python(site_folder, tmp_path_factory):
    """Address of a copy of the book in which Python cannot start."""
    copy = tmp_path_factory.mktemp("without") / "site"
    shutil.copytree(site_folder, copy, copy_function=os.link, ignore=shutil.ignore_patterns("pyodide", "api*.html"))
    with serving(copy) as address:
        yield address


@pytest.mark.parametrize("name", STORED)
def test_a_first_move_is_answered_without_python(watch, without_python, name):
    path, settings = PAGES[name]
    page = watch(without_python).go(f"notebooks/{path}.html")
    box = page.locator(f"#explorer-{name}")
    summary = box.locator(".hopper-summary")
    begins = summary.inner_text()
    for move in settings:
        box.evaluate(SET, move)
        answer = stored_answer(name, move)["result"]
        expect(summary).to_have_text(answer["summary"])
        assert box.evaluate("(box) => box.hopperFacts()") == pytest.approx(answer["facts"])
    box.get_by_role("button", name="Reset").click()
    expect(summary).to_have_text(begins)
    # Another setting is Python's to answer.
    box.evaluate(SET, {"days": 6, **settings[0]})
    expect(box.locator(".hopper-problem")).to_contain_text("Python could not start")
