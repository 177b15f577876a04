"""Notebooks read well without MyST: nbconvert, VS Code (markdown-it), GitHub (cmark-gfm)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cmarkgfm
import nbformat
import pytest
from bs4 import BeautifulSoup
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from nbconvert import HTMLExporter, MarkdownExporter
from pybtex.database import parse_file

from hopperbook.cells import plain

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted([*ROOT.glob("notebooks/*/*.ipynb"), *ROOT.glob("book/*.ipynb")])
# VS Code's renderer knows tables; both show HTML in Markdown, as GitHub does once it has taken scripts out.
RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it": MarkdownIt("commonmark").enable("table").render,
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE),
}


@cache
def _exporters() -> dict[str, Any]:
    return {"html": HTMLExporter(template_name="basic"), "markdown": MarkdownExporter()}


@cache
def _sources() -> Any:
    return parse_file(ROOT / "data" / "sources.bib").entries


def _cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


def _seen(html: str) -> str:
    """Return the visible text of a page before anything is opened, without code."""
    page = BeautifulSoup(html, "html.parser")
    for hidden in page.select("details:not([open]) > :not(summary), code, pre, script, style"):
        hidden.decompose()
    for details in page.select("details:not([open])"):
        # Words that no element holds.
        for text in list(details.find_all(string=True, recursive=False)):
            text.extract()
    return page.get_text()


def _words(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip()


def _first_words(solution: str) -> list[str]:
    """Return how each paragraph of a solution begins, and each line of its code."""
    parts = plain.solution_parts(solution)
    paragraphs = [part for kind, text in parts if kind == "markdown" for part in text.split("\n\n")]
    begins = [re.split(r"[`$\[*]", paragraph)[0][:40] for paragraph in paragraphs]
    code = [line for kind, text in parts if kind == "code" for line in text.splitlines()]
    return [words for words in map(_words, [*begins, *code]) if len(words) > 12]


def test_all_notebooks_are_looked_at() -> None:
    assert len(NOTEBOOKS) >= 33
    assert sum(bool(plain.tagged(cell, "solution:")) for path in NOTEBOOKS for cell in _cells(path)) >= 44


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_show_no_markers_and_no_open_solution(path: Path, renderer: str) -> None:
    for cell in _cells(path):
        if cell["cell_type"] != "markdown":
            continue
        html = RENDERERS[renderer](cell["source"])
        assert plain.raw_markers(cell["source"]) == []
        assert plain.raw_markers(_seen(html)) == []
        page = BeautifulSoup(html, "html.parser")
        outside = [part.name for part in page.contents if str(part).strip()]
        if plain.tagged(cell, "exercise:"):
            assert outside == ["blockquote"]
            assert page.blockquote.get_text().strip().startswith("Exercise.")
        if plain.tagged(cell, "solution:"):
            assert outside == ["details"]
            assert not page.details.has_attr("open")
            assert _seen(html).strip() == "Solution"
            wanted = [text for kind, text in plain.solution_parts(cell["source"]) if kind == "code"]
            assert [code.get_text().rstrip("\n") for code in page.select("details pre")] == wanted


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_of_nbconvert_show_no_markers_and_no_open_solution(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    # Its code is no part of what is looked at, and coloring it takes most of the time.
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    exporters = _exporters()
    html, markdown = (exporters[kind].from_notebook_node(notebook)[0] for kind in ("html", "markdown"))
    pages = {"html": html, "markdown": RENDERERS["markdown-it"](markdown)}
    for kind, page in pages.items():
        seen = _seen(page)
        assert plain.raw_markers(seen) == [], kind
        words = _words(seen)
        for cell in _cells(path):
            if plain.tagged(cell, "solution:"):
                assert [begin for begin in _first_words(cell["source"]) if begin in words] == [], kind
    assert plain.raw_markers(markdown) == []


@pytest.mark.parametrize(
    ("text", "markers", "opens"),
    [
        ("A {term}`torus`.", ["{term}`"], []),
        ("```{solution-start} one\n:class: dropdown\n```\nTwice three.", ["```{solution-start}"], []),
        ("<details open>\n<summary>Solution</summary>\n\nTwice three.\n\n</details>", [], ["Twice three."]),
        ("<details>\n<summary>Solution</summary>\n\nTwice three.\n\n</details>", [], []),
    ],
)
def test_a_marker_and_an_open_solution_are_found(text: str, markers: list[str], opens: list[str]) -> None:
    assert plain.raw_markers(text) == markers
    if not markers:
        for render in RENDERERS.values():
            assert [words for words in ["Twice three."] if words in _seen(render(text))] == opens


def _author_year(key: str) -> str:
    entry = _sources()[key]
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [re.sub(r"[{}]", "", " ".join([*one.prelast_names, *one.last_names])) for one in people]
    names = names or [re.sub(r"[{}]", "", entry.fields.get("journal", entry.fields.get("organization", "")))]
    shown = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{shown}, {entry.fields.get('year', 'n.d.')}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_lead_to_files_and_citations_say_who_and_when(path: Path) -> None:
    for cell in _cells(path):
        if cell["cell_type"] == "markdown":
            page = BeautifulSoup(RENDERERS["cmark-gfm"](cell["source"]), "html.parser")
            for link in page.select("a[href]"):
                address, _, anchor = link["href"].partition("#")
                if address and not re.match(r"[a-z]+:", address):
                    assert (path.parent / address).is_file(), link
                if address.endswith("sources.bib"):
                    assert link.get_text() == _author_year(anchor)
