"""Course features of the pages: routes with their minutes, progress, terms explained in place.

=================  =============================================================
`RouteDirective`   an ordered list of pages with the minutes of each and the sum
progress           what this reader has done, kept in this browser
term titles        a term links to the glossary, and its entry shows on hover
folded sections    what every study page has, and few readers need at once
mark as read       a button at the end of every page that is a notebook
my machine         the place at the top of every page for the machine of the reader
exercises          numbered from 1 on each page
=================  =============================================================
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from hopperbook.site.html import data_block, tables
from hopperbook.site.pictures import picture

# Position of the list of studies on the progress page.
_STUDIES = "<!-- studies -->"

# How the paragraph begins that answers a study's question at once.
_ANSWER = "In one sentence:"


def minutes_of(root: Path, page: str) -> int:
    """Return the reading time of a page in minutes: a notebook states it, another page is short. [min]

    Examples
    --------
    >>> root = Path(__file__).resolve().parents[3]
    >>> minutes_of(root, "notebooks/node/placement")
    35
    """
    notebook = root / f"{page}.ipynb"
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"] if notebook.is_file() else {}
    # A page of the appendix is looked at rather than worked through.
    return int(metadata.get("hopper", {}).get("minutes", 5))


class RouteDirective(SphinxDirective):
    """An ordered list of pages, one a line, with minutes and their sum.

    ::

        ```{route}
        notebooks/node/placement
        notebooks/node/memory
        ```
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list. A missing page stops the build, like any broken link."""
        pages = [line.strip() for line in self.content if line.strip()]
        minutes = [minutes_of(Path(self.env.srcdir), page) for page in pages]
        lines = [f"1. {{doc}}`/{page}`, {spent} minutes" for page, spent in zip(pages, minutes, strict=True)]
        hours, rest = divmod(sum(minutes), 60)
        whole = f"{hours} h {rest:02d} min" if hours else f"{rest} minutes"
        lines += ["", f"Together **{whole}**, exercises included."]
        box = nodes.container(classes=["hopper-route"])
        self.state.nested_parse(StringList(lines, source=self.get_source_info()[0]), self.content_offset, box)
        return [box]


def _studies(app: Sphinx) -> list[dict[str, Any]]:
    """Return the notebooks in the order of the book: page, title, how many self-checks."""
    studies = []
    for page in app.env.collect_relations():
        if page.startswith("notebooks/"):
            outputs = app.env.get_doctree(page).findall(nodes.raw)
            checks = sum(output.astext().count('<section class="hopper-check"') for output in outputs)
            studies.append({"page": page, "title": app.env.titles[page].astext(), "checks": checks})
    return studies


def _entries(env: BuildEnvironment) -> dict[str, str]:
    """Return the glossary: id of each term -> its text."""
    terms: dict[str, str] = {}
    for page in env.found_docs:
        if page.endswith("glossary"):
            for item in env.get_doctree(page).findall(nodes.definition_list_item):
                text = " ".join(part.astext() for part in item.findall(nodes.definition)).replace("\n", " ")
                terms |= dict.fromkeys(
                    (nodes.make_id(term.astext().split("\n")[0]) for term in item.findall(nodes.term)), text
                )
    return terms


def _explain_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give every link to a term the glossary's text as its title."""
    if app.builder.format != "html":
        return
    entries = app.env.hopper_terms  # type: ignore[attr-defined]
    for link in doctree.findall(nodes.reference):
        if any("std-term" in inner.get("classes", ()) for inner in link.findall(nodes.inline)):
            # The target has the entry's spelling, whatever the link's text.
            entry = str(link.get("refuri", "") or link.get("refid", "")).rpartition("#term-")[2]
            if text := entries.get(entry.lower(), entries.get(nodes.make_id(link.astext()))):
                link["reftitle"] = text


def _show_picture(app: Sphinx, document: nodes.document) -> None:
    """Put the picture of a study page into its first screen, after the title and the kind of page."""
    if shown := picture(app.env.docname, app._hopper_assets.files):  # type: ignore[attr-defined]
        document[0].insert(2, nodes.raw(text=shown, format="html"))


def _tells(section: nodes.Element) -> bool:
    """Whether a section holds a figure that is scrolled through, which leads to the answer before anything is predicted."""
    return any('class="hopper-story"' in html.astext() for html in section.findall(nodes.raw))


def _fold(section: nodes.section) -> None:
    """Fold a section below its heading."""
    for place, html in ((0, '<details class="hopper-fold"><summary>'), (2, "</summary>")):
        section.insert(place, nodes.raw(text=html, format="html"))
    section.append(nodes.raw(text="</details>", format="html"))
    section["classes"].append("hopper-folds")


def _fold_sections(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Fold the sections of a study page that are looked up rather than read, and all of a page of reference that is too long."""
    if app.builder.format != "html":
        return
    if (shown := tables()["course"]["folded-pages"].get(docname)) is not None:
        for section in doctree[0].children:
            if isinstance(section, nodes.section) and section[0].astext() not in shown:
                _fold(section)
        return
    if not docname.startswith("notebooks/"):
        return
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if paragraph.astext().startswith(_ANSWER) and not _tells(paragraph.parent):
            # It would reveal the answer to a prediction.
            summary = '<details class="hopper-further"><summary>The answer in one sentence</summary>'
            at = paragraph.parent.index(paragraph)
            paragraph.parent.insert(at + 1, nodes.raw(text="</details>", format="html"))
            paragraph.parent.insert(at, nodes.raw(text=summary, format="html"))
    for section in doctree.findall(nodes.section):
        whole = section.parent
        # A part of a section that shows something before it.
        further = isinstance(whole.parent, nodes.section) and whole.index(section) > 1
        if further or section[0].astext() in tables()["course"]["folded"]:
            _fold(section)


def _finish_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add what marks a page as read and what chooses a machine, number its exercises from 1, list the studies."""
    body = context.get("body")
    if body is None:
        return
    if pagename.startswith("notebooks/"):
        title = escape(nodes.Text(app.env.titles[pagename].astext()), quote=True)
        body += (
            f'\n<div class="hopper-read hopper-live-only" data-page="{escape(pagename)}" data-title="{title}"></div>'
        )
    if doctree is not None:
        body = f'<div class="hopper-my-machine hopper-live-only"></div>\n{body}'
    printed = re.findall(r'caption-number">Exercise (\d+) ', body)
    # Sphinx numbers the exercises of all pages in one row.
    numbers = {old: str(new) for new, old in enumerate(dict.fromkeys(printed), start=1)}
    body = re.sub(r"\bExercise (\d+)\b", lambda match: f"Exercise {numbers.get(match[1], match[1])}", body)
    if _STUDIES in body:
        body = body.replace(_STUDIES, data_block({"studies": _studies(app)}))
    context["body"] = body


def _after_reading(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Read the glossary once for all pages; have the progress page rewritten, as another page's title or checks may have changed."""
    env.hopper_terms = _entries(env)  # type: ignore[attr-defined]
    return sorted(page for page in env.found_docs if page.endswith("/progress"))


def setup(app: Sphinx) -> None:
    """Add the directives and the events."""
    app.add_directive("route", RouteDirective)
    # While pages are read, side by side: they are resolved one after the other.
    app.connect("doctree-read", _show_picture)
    app.connect("doctree-resolved", _explain_terms)
    app.connect("doctree-resolved", _fold_sections)
    app.connect("html-page-context", _finish_page)
    app.connect("env-updated", _after_reading)
