"""An answer as one page: it is complete and escaped, and nothing is loaded from elsewhere."""

import re

import pytest

from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperkit.questions.result import Result, Snippet, Value
from hopperkit.render.page import page_html
from hopperlib.finding import Finding


@pytest.fixture(scope="module")
def page():
    return page_html(load("place").run(), "Placement", "Of `<script>`.")


def test_stands_alone(page):
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "Of <code>&lt;script&gt;</code>." in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "color-scheme:light dark" in page


def test_holds_every_part_of_an_answer(page):
    result = load("place").run()
    assert page.count("<svg") == len(result.figures) + len(result.drawings)
    for value in result.values:
        assert value.text in page
    for table in result.tables:
        assert all(column.title in page for column in table.columns)
    for figure in result.figures:
        assert f"<figcaption>{figure.title}</figcaption>" in page
    assert page.count("Data of this chart") == len(result.figures)
    assert "<button" not in page


def test_findings_come_with_advice_and_numbers():
    finding = Finding(
        code="slow-ost", message="OST 3 is slow.", level="problem", evidence={"rate": 1500}, advice="Ask."
    )
    result = Result(
        summary="One is slow.",
        findings=(finding, Finding(code="x", message="Cannot say.", level="unknown")),
        values=(Value(label="Rate", value=1.5, unit="GB/s", badge="predicted"),),
        copyables=(Snippet(title="Line", text="lfs setstripe -c 4 <dir>"),),
    )
    page = page_html(result, "A & B")
    assert "<title>A &amp; B</title>" in page
    assert "<strong>Problem</strong> <span>OST 3 is slow. Ask.</span>" in page
    assert '<th scope="row">rate</th><td>1,500</td>' in page
    assert "<strong>Unknown</strong> <span>Cannot say.</span>" in page
    assert 'lfs setstripe <span class="hopper-unbroken">-c 4</span> &lt;dir&gt;' in page
    assert "predicted" in page


@pytest.mark.parametrize("name", ["torus", "fragmentation"])
def test_answers_with_special_figures_are_pages_too(name):
    assert name in QUESTIONS
    assert page_html(load(name).run(), name).count("<svg") >= 1


def test_pictures_come_first_and_paper_has_a_layout_of_its_own():
    page = page_html(load("memory").run(), "Memory")
    assert (
        page.index("<figure")
        < page.index('<dl class="hopper-values"')
        < page.index('<table class="hopper-table"', page.index("</figure>"))
    )
    assert "@media print{@page{size:A4" in page
