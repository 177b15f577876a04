"""Answers as HTML: everything is there, in order, and nothing a reader typed becomes markup."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.finding import Finding
from hopperlib.questions.question import Question
from hopperlib.questions.result import Result
from hopperlib.render.widgets.answer import after_figures_html, before_figures_html, error_html, prose_html, static_html


class _Tags(HTMLParser):
    """Collect the tags of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


def tags(html: str) -> list[str]:
    parser = _Tags()
    parser.feed(html)
    parser.close()
    return parser.tags


def test_parts_above_the_charts_come_in_order(explorer: Question) -> None:
    html = before_figures_html(explorer.run())
    summary, warning, value, drawing = (html.index(part) for part in ("12 tasks", "Problem:", "Slowdown", "<svg"))
    assert summary < warning < value < drawing
    assert "<li><strong>Problem:</strong> Use <code>-S 3</code>, as &lt;b&gt; is idle.</li>" in html
    assert '<td class="hopper-number">1.00 to 1.41</td>' in html
    assert ">predicted</span>" in html
    assert "<td>a &amp; b</td>" in html


def test_parts_below_the_charts_come_in_order(explorer: Question) -> None:
    html = after_figures_html(explorer.run())
    parts = (
        "<code>aprun -n 12 &lt;exe&gt;</code>",
        "<code>OOM &lt;kill&gt;</code>",
        "<caption>Tasks</caption>",
        "Save rank",
    )
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
    assert '<tr class=hopper-marked><td class="hopper-number">7</td>' in html
    assert "<em>(best)</em>" in html
    address = re.search(r'href="data:text/plain;charset=utf-8;base64,([^"]+)"', html)
    assert address is not None
    assert base64.b64decode(address[1]) == b"0-1\n"


def test_what_is_not_there_leaves_nothing_behind() -> None:
    assert tags(before_figures_html(Result(summary="Six."))) == ["div"]
    assert after_figures_html(Result(summary="Six.")) == ""


@pytest.mark.parametrize(("level", "word"), [("problem", "Problem"), ("advice", "Advice"), ("note", "Note")])
def test_level_of_a_warning_is_a_word(level: str, word: str) -> None:
    notice = Finding(code="x", message="Look.", level=level)  # type: ignore[arg-type]
    assert f"<strong>{word}:</strong> Look." in before_figures_html(Result(summary="Six.", findings=(notice,)))


def test_long_texts_are_no_settings_to_print(explorer: Question) -> None:
    html = static_html(explorer, explorer.run())
    assert "Line: <code>aprun -n 12 vasp</code>" in html
    assert "svg" not in tags(html)


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    assert set(tags(prose_html(text))) <= {"code"}
    assert set(tags(error_html(text, text))) <= {"div", "strong", "code"}


@given(st.text(alphabet="<>&'\"`ab/= "))
def test_no_markup_is_lost_either(text: str) -> None:
    class Words(HTMLParser):
        said = ""

        def handle_data(self, data: str) -> None:
            self.said += data

    words = Words()
    words.feed(prose_html(text))
    words.close()
    assert words.said.replace("`", "") == text.replace("`", "")
