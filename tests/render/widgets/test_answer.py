"""Outputs of a notebook in addition to the HTML of a result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.questions.question import Question
from hopperkit.questions.result import Column, Drawing, Result, Table
from hopperkit.render.widgets.answer import STYLE, error_html, notebook_html, split_html, static_html


def test_parts_stand_above_and_below_the_charts(explorer: Question) -> None:
    above, below = split_html(explorer.run())
    for html, words in (
        (above, ("12 tasks", "Problem", "<svg")),
        (below, ("Slowdown", "aprun <", "OOM", "<caption><span>Tasks", "Save rank", "What the badges mean")),
    ):
        places = [html.index(word) for word in words]
        assert places == sorted(places)
        assert "<button" not in html


def test_an_answer_in_a_notebook_shows_its_charts_as_images(
    explorer: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOPPERLIB_RENDER", raising=False)
    result = explorer.run()
    html = notebook_html(result)
    assert html.startswith(STYLE)
    assert "<p>Rate of each task from 1 to 12 tasks: it falls.</p>" in html
    assert html.count('src="data:image/svg+xml;base64,') == 1
    assert "hopper-plot" not in html
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    assert notebook_html(Result(summary="", tables=result.tables)).startswith('<div class="hopper-table-box">')


def test_long_texts_are_no_settings_to_print(explorer: Question) -> None:
    html = static_html(explorer, explorer.run(tasks=7), {"tasks": 7, "log": "x" * 300})
    assert "Line: <code>aprun -n 12 vasp</code>" in html
    assert "Tasks: <code>7</code>" in html
    assert "xxx" not in html


@given(st.text(alphabet="<>&'\"`ab/= "))
def test_a_refusal_is_no_markup(text: str) -> None:
    assert error_html(text, text).count("<") <= 4 + 2 * text.count("`")


def test_an_answer_without_parts_is_a_sentence() -> None:
    assert split_html(Result(summary="Six.")) == ('<p class="hopper-summary" role="status">Six.</p>', "")


def test_a_table_as_html_is_escaped_and_says_its_mark() -> None:
    table = Table(
        caption="<b>", columns=(Column(title="<i>"),), rows=(("<script>",),), marked=(0,), marked_label="best"
    )
    html = notebook_html(Result(summary="", tables=(table,)))
    assert "hopper-summary" not in html.removeprefix(STYLE)
    assert "<script>" not in html
    assert "<caption><span>&lt;b&gt;</span></caption>" in html
    assert "<em>(best)</em>" in html


@pytest.mark.parametrize(("render", "styled"), [("book", False), ("", True)])
def test_a_drawing_in_a_notebook_is_inline(monkeypatch: pytest.MonkeyPatch, render: str, styled: bool) -> None:
    # The book's pages forbid styles in attributes; its style sheet bounds the drawing there.
    monkeypatch.setenv("HOPPERLIB_RENDER", render)
    drawing = Drawing(title="A & B", alt="a node", svg="<svg><title>t</title></svg>")
    html = notebook_html(Result(summary="", drawings=(drawing,)))
    assert '<figure class="hopper-drawing"' in html
    assert "<figcaption>A &amp; B</figcaption>" in html
    assert ("<style>" in html) is styled
