"""Answers as HTML: everything is there, in order, and nothing a reader typed becomes markup."""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperbook.questions import QUESTIONS, load
from hopperkit.questions.question import Question
from hopperkit.questions.result import (
    Column,
    Download,
    Drawing,
    Figure,
    Listing,
    ListingLine,
    Result,
    Snippet,
    Table,
    Value,
)
from hopperkit.render.answer import answer_json, page_data
from hopperkit.render.html import figure_html, parts_html, prose_html, table_html
from hopperlib.errors import InputError
from hopperlib.finding import LEVELS, Finding

SVG = '<svg role="img"><title>Node</title></svg>'


class _Tags(HTMLParser):
    """Collect the tags of a text, and its words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.said = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.said += data


def everything(text: str) -> Result:
    """Return an answer with a text in every place that allows one."""
    table = Table(
        caption=text,
        columns=tuple(Column(title=text, badge="assumed") for _ in range(4)),
        rows=((text * 61, 1, None, text),),
        marked=(0,),
        marked_label=text,
    )
    return Result(
        summary=text,
        findings=(Finding(code="x", message=text),),
        values=(Value(label=text, value=text, unit=text, note=text, badge="predicted"),),
        drawings=(Drawing(title=text, alt=text, svg=SVG),),
        figures=(Figure(title=text, alt=text + " " * 20, data=[], layout={}, table=table),),
        copyables=(Snippet(title=text, text="\n".join([text * 101] * 9), note=text), Snippet(text, text)),
        listings=(Listing(title=text, lines=(ListingLine(number=1, text=text, mark=text),)),),
        tables=(table,),
        downloads=(Download(name=text, text=text, media_type=text),),
    )


@pytest.mark.parametrize("buttons", [True, False])
@pytest.mark.parametrize("text", ["<b>", "</code><img src=x onerror=x()>", "\" onclick='x()' '", "&lt;b&gt;"])
def test_no_text_becomes_markup(text: str, buttons: bool) -> None:
    plain = _Tags("".join(parts_html(everything("x").to_dict(), buttons=buttons).values()))
    html = _Tags("".join(parts_html(everything(text).to_dict(), buttons=buttons).values()))
    assert html.tags == plain.tags
    assert html.handlers == []
    assert text in html.said


@given(st.text())
@example("an option: -A")
def test_prose_makes_nothing_but_code_and_unbroken_options(text: str) -> None:
    assert set(_Tags(prose_html(text)).tags) <= {"code", "span"}


@given(st.text(alphabet="<>&'\"`ab/= "))
def test_prose_loses_nothing(text: str) -> None:
    assert _Tags(prose_html(text)).said.replace("`", "") == text.replace("`", "")


def test_every_part_says_what_it_holds(explorer: Question) -> None:
    parts = parts_html(explorer.run().to_dict())
    whole = '<span class="hopper-unbroken">-S 3</span>'
    assert f"<strong>Problem</strong> <span>Use <code>{whole}</code>, as &lt;b&gt; is idle.</span>" in parts["problems"]
    assert '<span class="hopper-value">1.00 to 1.41</span>' in parts["values"]
    assert '<dd class="hopper-note">a &amp; b</dd>' in parts["numbers"]
    assert "hopper-note" not in parts["values"]
    assert "<figcaption>A node</figcaption>" in parts["drawings"]
    assert 'style="--height: 320px"' in parts["figures"]
    assert f"<code>aprun {whole.replace('-S 3', '-n 12')} &lt;exe&gt;</code>" in parts["copyables"]
    assert '<li value="7" class="hopper-marked" data-mark="cause"><code>OOM &lt;kill&gt;</code>' in parts["listings"]
    assert " <em>(best)</em></td></tr></tbody>" in parts["tables"]
    assert "Save rank &lt;order&gt;.txt</button>" in parts["downloads"]


def test_what_is_not_there_leaves_nothing_behind() -> None:
    assert set(parts_html(Result(summary="Six.").to_dict()).values()) == {""}


@pytest.mark.parametrize("level", LEVELS)
def test_level_of_a_finding_is_a_word(level: str) -> None:
    finding = Finding(code="x", message="Look.", level=level)  # type: ignore[arg-type]
    # What is wrong stands above the picture, notes below it.
    part = {"note": "notes", "problem": "problems"}.get(level, "findings")
    html = parts_html(Result(summary="Six.", findings=(finding,)).to_dict())[part]
    assert f'data-level="{level}"><strong>{level.capitalize()}</strong>' in html


def test_without_buttons_a_file_is_a_link(explorer: Question) -> None:
    parts = parts_html(explorer.run().to_dict(), buttons=False)
    assert not any("<button" in part for part in parts.values())
    address = re.search(r'href="data:text/plain;charset=utf-8;base64,([^"]+)"', parts["downloads"])
    assert address is not None
    assert base64.b64decode(address[1]) == b"0-1\n"


def test_a_picture_takes_the_place_of_a_chart(figure: Figure) -> None:
    html = figure_html(figure.to_dict(), picture=SVG, buttons=False)
    assert SVG in html
    assert "hopper-plot" not in html
    assert html.count("<tr>") == 13


def test_sentences_in_many_columns_are_a_list_on_a_phone() -> None:
    columns = tuple(Column(title=title) for title in "abcd")
    rows = [("A sentence that is longer than any cell of numbers, so that it needs room.", 1, 2, 3)]
    wordy, terse = (
        table_html(Table(caption="T", columns=columns[:count], rows=[row[:count] for row in rows]).to_dict())
        for count in (4, 3)
    )
    assert 'class="hopper-table hopper-wordy"' in wordy
    assert 'role="cell" data-heading="d"' in wordy
    assert "role" not in terse.split("<table", maxsplit=1)[1]


SHAPES = {"svg", "g", "defs", "title", "desc", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon"}
SHAPES |= {"text", "tspan", "pattern", "marker", "clipPath", "use", "symbol", "linearGradient", "stop"}


@pytest.mark.parametrize("name", [name for name in QUESTIONS if not load(name).heavy])
def test_drawings_hold_only_shapes_and_text(name: str) -> None:
    """They go into the page unchanged."""
    question = load(name)
    for values in ({}, *(tried.values for tried in question.examples)):
        try:
            drawings = question.run(**values).drawings
        except InputError:
            continue
        for element in (element for drawing in drawings for element in ET.fromstring(drawing.svg).iter()):
            assert element.tag.rpartition("}")[2] in SHAPES
            for attribute, value in element.attrib.items():
                assert not attribute.startswith("on")
                assert "url(" not in value.replace("url(#", "")
                assert attribute.rpartition("}")[2] != "href" or value.startswith("#")


def test_the_page_gets_what_it_draws_copies_and_saves(explorer: Question) -> None:
    result = explorer.run()
    data = page_data(result.to_dict())
    assert data["summary"] == result.summary
    assert data["facts"] == {"tasks": 12, "log_lines": 0}
    assert data["figures"][0]["figure"]["data"] == result.figures[0].data
    assert data["figures"][0]["table"] == {"csv": result.figures[0].table.to_csv()}
    assert data["tables"] == [{"caption": "Tasks", "csv": "Task\n0\n1\n"}]
    assert data["copyables"] == [{"text": "aprun -n 12 <exe>"}]
    assert data["downloads"][0]["name"] == "rank <order>.txt"


def test_a_live_answer_is_the_result_and_its_html() -> None:
    result = load("memory").run(need_gb=2.0).to_dict()
    answer = json.loads(answer_json("memory", '{"need_gb": 2}'))
    assert answer == json.loads(json.dumps({"ok": True, "result": page_data(result), "html": parts_html(result)}))
