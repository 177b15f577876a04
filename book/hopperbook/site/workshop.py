"""The pages for paper that the site makes from its studies: a handout and an instructor's sheet of each.

========================  ======================================================
``handouts/PART/STUDY``   question, figure and three exercises; solutions overleaf
``sheets/PART/PAGE``      answers, usual mistakes, what the class screen shows
``{paper}``               a directive: the list of both, with the minutes of each page
``{exam} VARIANT``        a directive: the test before or after the workshop
``{project-rubric}``      a directive: how the numbers of the final project are graded
========================  ======================================================
"""

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from markdown_it import MarkdownIt
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hopperbook.project.grading import RUBRIC, Row
from hopperbook.site.engine.parallel import in_parts
from hopperbook.site.html import check_html, data_block
from hopperbook.teaching.built_page import BuiltPage, read_page
from hopperbook.teaching.exam import exam, exam_data
from hopperbook.teaching.handout import handout
from hopperbook.teaching.sheet import sheet


def teaching_pages(root: Path) -> dict[str, dict[str, Any]]:
    """Return the notebooks with sheets, ``part/name`` -> their metadata, in the order of the folders.

    Examples
    --------
    >>> pages = teaching_pages(Path(__file__).resolve().parents[3])
    >>> pages["node/memory"]["minutes"], pages["node/memory"]["kind"]
    (35, 'study')
    """
    found = {}
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("hopper")
        if metadata:
            found[f"{path.parent.name}/{path.stem}"] = metadata
    return found


def _has_handout(metadata: dict[str, Any]) -> bool:
    return bool(metadata["kind"] == "study")


def sheet_html(page: BuiltPage, minutes: int) -> str:
    r"""Return the instructor's sheet of a built page as HTML.

    Examples
    --------
    >>> page = read_page('<article><h1>Memory</h1></article>')
    >>> sheet_html(page, 20)
    '<section class="hopper-handout"><h1>Memory: instructor’s sheet</h1><p>Minutes: 20.</p>\n</section>'
    """
    text = sheet(
        minutes=minutes, outcomes=page.outcomes, setting=page.setting, predictions=page.predictions, checks=page.checks
    )
    title = escape(f"{page.title}: instructor’s sheet")
    return f'<section class="hopper-handout"><h1>{title}</h1>{MarkdownIt("commonmark").render(text)}</section>'


def _make(app: Sphinx, name: str, metadata: dict[str, Any]) -> None:
    """Write the pages for paper of a page that is written."""
    page = read_page((Path(app.outdir) / "notebooks" / f"{name}.html").read_text(encoding="utf-8"))
    if not page.checks and not page.predictions:
        return
    made = {"sheets": (f"{page.title}: sheet", sheet_html(page, metadata["minutes"]))}
    if _has_handout(metadata):
        made["handouts"] = (f"{page.title}: handout", handout(page))
    for folder, (title, body) in made.items():
        app.builder.handle_page(f"{folder}/{name}", {"title": title, "body": body}, "page.html")  # type: ignore[attr-defined]


def _made(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the pages for paper, once those that they are taken from are written; none is left for Sphinx to write."""
    if app.builder.format == "html":
        metadata = teaching_pages(Path(app.srcdir))
        names = [name for name in metadata if (Path(app.outdir) / "notebooks" / f"{name}.html").exists()]
        in_parts(app, lambda name: _make(app, name, metadata[name]), names)
    return iter(())


class PaperDirective(SphinxDirective):
    """The list of all handouts and sheets."""

    def run(self) -> list[nodes.Node]:
        """Return the list as a table of links; it leads to pages that are written last, so Sphinx cannot check them."""
        rows = []
        for name, metadata in teaching_pages(Path(self.env.srcdir)).items():
            path = Path(self.env.srcdir, "notebooks", f"{name}.ipynb")
            first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
            title = "".join(first).splitlines()[0].lstrip("# ")
            kinds = {"sheets": "sheet"} | ({"handouts": "handout"} if _has_handout(metadata) else {})
            links = "".join(
                f'<td><a href="../{kind}/{name}.html">{kinds[kind]}</a></td>' if kind in kinds else "<td>–</td>"
                for kind in ("handouts", "sheets")
            )
            rows.append(
                f'<tr><td><a href="../notebooks/{name}.html">{escape(title)}</a></td><td>{metadata["minutes"]}</td>{links}</tr>'
            )
        return _table(("Page", "Minutes", "Two pages", "Instructor"), "".join(rows), kind=" hopper-paper-list")


def _table(headings: Sequence[str], rows: str, *, kind: str = "") -> list[nodes.Node]:
    """Return a table in a box that scrolls where it is too wide, also by keyboard."""
    head = "".join(f'<th scope="col">{text}</th>' for text in headings)
    table = f'<table class="hopper-table{kind}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    box = f'<div class="hopper-scroll" role="group" tabindex="0" aria-label="Table">{table}</div>'
    return [nodes.raw(text=box, format="html")]


class ExamDirective(SphinxDirective):
    """The twelve questions of the test, before or after the workshop."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the questions; a variant that does not exist stops the build."""
        variant = self.arguments[0]
        try:
            questions = exam(variant)
        except ValueError as error:
            raise self.error(str(error)) from error
        blocks = "".join(
            f'<div data-aim="{aim}">{check_html(check.to_dict())}</div>' for aim, check in questions.items()
        )
        data = data_block({"variant": variant, "aims": exam_data()})
        return [
            nodes.raw(text=f'<div class="hopper-exam" data-variant="{variant}">{blocks}{data}</div>', format="html")
        ]


class RubricDirective(SphinxDirective):
    """The rubric of the final project, by which its numbers are checked."""

    def run(self) -> list[nodes.Node]:
        """Return the rubric as a table."""
        rows = "".join(
            f"<tr><td>{row.part}</td><td>{escape(row.wanted)}</td><td>{row.points:g}</td><td>{_tolerance(row)}</td></tr>"
            for row in RUBRIC
        )
        total = sum(row.points for row in RUBRIC)
        rows += f"<tr><td></td><td>all</td><td>{total:g}</td><td></td></tr>"
        return _table(("Part", "What the report must say", "Points", "Within"), rows)


def _tolerance(row: Row) -> str:
    """Return the tolerance of a row of the rubric in words."""
    match row.kind:
        case "date":
            return f"{row.within:g} days"
        case "percent":
            return f"{row.within:g} percentage points"
        case "table":
            return "a share for each entry"
        case "number" if row.within:
            return f"{100 * row.within:g} %"
        case _:
            return "exact"


def setup(app: Sphinx) -> None:
    """Add the directive and the pages."""
    app.add_directive("paper", PaperDirective)
    app.add_directive("exam", ExamDirective)
    app.add_directive("project-rubric", RubricDirective)
    app.connect("html-collect-pages", _made)
