"""Every page links a term of the glossary where it first uses it, so that a reader can rest the pointer on it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopperbook.cells.plain import page_of

# Words that most readers know, or that also have an everyday sense: they are linked only where a page explains them.
EVERYDAY = {
    "bandwidth", "client", "core", "depth", "GPU", "lock", "module", "node", "packed", "page", "power", "rank",
    "regression", "reservation", "run", "seed", "signal", "socket", "spread", "task", "thread",
}  # fmt: skip
# What is no prose: fences, comments, roles, code, formulas, links, tags, directives' options, headings.
_NO_PROSE = re.compile(
    r"(?ms)^(`{3,}).*?^\1\s*$|^---$.*?^---$|<!--.*?-->|\{[\w:+-]+\}`[^`]*`|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$"
    r"|!?\[[^\]]*\]\([^)]*\)|<(\w+)[^>]*>.*?</\2>|<[^>]*>|^:[:\w-]+:[^\n]*|^#[^\n]*|^\([^\n]*\)=$"
)
_LINKED = re.compile(r"\{term\}`(?:[^`<]*<([^`>]+)>|([^`]+))`")


def glossary(root: Path) -> list[str]:
    """Return the terms of the glossary."""
    text = (root / "book" / "glossary.md").read_text(encoding="utf-8").split("```{glossary}")[1]
    return re.findall(r"(?m)^(?![ `:])(\S.*)$", text)


def pages(root: Path) -> Iterator[Path]:
    """Yield the pages that are text."""
    yield from sorted(root.glob("notebooks/*/*.ipynb"))
    yield from sorted(root.glob("book/part-*.md"))


def texts(page: Path) -> list[str]:
    """Return the Markdown of a page, cell by cell; of a notebook with its links to the glossary as terms."""
    if page.suffix == ".md":
        return [page.read_text(encoding="utf-8")]
    return ["".join(cell["source"]) for cell in page_of(page)["cells"] if cell["cell_type"] == "markdown"]


def first_use(term: str, text: str) -> tuple[int, int] | None:
    """Return where a text first uses a term in plain prose."""
    plain = _NO_PROSE.sub(lambda match: " " * len(match.group()), text)
    known = term if term != term.lower() else f"[{term[0]}{term[0].upper()}]{re.escape(term[1:])}"
    found = re.search(rf"(?<![\w-]){known}(?:s|es)?(?![\w-])", plain)
    return found.span() if found else None


def unlinked(page: Path, terms: list[str]) -> list[str]:
    """Return the terms that a page uses before it links them."""
    late = []
    for term in terms:
        for text in texts(page):
            use = first_use(term, text)
            link = next((m.start() for m in _LINKED.finditer(text) if term in m.groups()), None)
            if use and (link is None or use[0] < link):
                late.append(term)
            if use or link is not None:
                break
    return late


def test_terms_are_linked_at_their_first_use(root: Path) -> None:
    terms = [term for term in glossary(root) if term not in EVERYDAY]
    late = {page.name: found for page in pages(root) if (found := unlinked(page, terms))}
    assert late == {}


def test_no_role_is_in_the_text_that_code_prints(root: Path) -> None:
    """Roles are read when the book is parsed; the output of a cell comes later, and would show them unprocessed."""
    wrong = [
        f"{page.name}: {match[0]}"
        for page in (*sorted(root.glob("notebooks/*/*.ipynb")), *sorted(root.glob("book/*.ipynb")))
        for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
        for match in re.finditer(r"\{[a-z]+(?::[a-z]+)?\}`[^`]*`", "".join(cell["source"]))
    ]
    assert wrong == []


def test_links_name_terms_of_the_glossary(root: Path) -> None:
    terms = set(glossary(root))
    named = {a or b for page in pages(root) for text in texts(page) for a, b in _LINKED.findall(text)}
    assert named - terms == set()


@pytest.mark.parametrize(
    ("text", "late"),
    [
        ("A job on a torus.", ["torus"]),
        ("A {term}`torus`, and a torus.", []),
        ("Two tori, two {term}`hops <hop>`, a hop.", []),
        ("# The torus\n\n`torus` and [the torus](x.md)", []),
        ("Hops first, then {term}`hops <hop>`.", ["hop"]),
    ],
)
def test_first_uses_are_found(text: str, late: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert unlinked(page, ["torus", "hop"]) == late
