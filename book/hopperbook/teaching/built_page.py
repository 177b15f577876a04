"""Parts of a built page for sheets and handouts: its question, picture, self-checks and exercises."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Tag

# Parts of a page that are only for interaction: none of it belongs on paper.
_NOT_ON_PAPER = "a.headerlink, button, script, details.hide, .cell_input, .hopper-live-only, .hopper-static-only, .hopper-my-machine"


# The code of folded cells, and drawings of explorers: most of a page's size, and nothing of it is looked at here.
_BULKY = re.compile(
    r'<details class="admonition hide.*?</details>|<svg (?![^>]*class="hopper-node).*?</svg>', re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """An exercise in words: its statement and its solution, as HTML, and its position among all questions of the page."""

    statement: str
    solution: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPage:
    """The parts of a built page.

    Parameters
    ----------
    title : str
    question : str
        The section “The question” without its answer, as HTML.
    figure : str
        The picture in the first screen, as HTML; empty if there is none.
    setting : str
        Text known to a reader before the predictions.
    outcomes : tuple of str
    predictions, checks : tuple of mapping
        Self-checks below “Predict first”, and all others, as plain data. `place` is their position among all questions
        of the page.
    exercises : tuple of Exercise
    """

    title: str
    question: str
    figure: str
    setting: str
    outcomes: tuple[str, ...]
    predictions: tuple[Mapping[str, Any], ...]
    checks: tuple[Mapping[str, Any], ...]
    exercises: tuple[Exercise, ...]


def read_page(html: str) -> BuiltPage:
    """Return the parts of a page that was built.

    Parameters
    ----------
    html : str
        The whole page, or its article.

    Examples
    --------
    >>> read_page('<article><h1>Memory</h1><section id="the-question"><h2>The question</h2><p>Why?</p></section></article>').question
    '<p>Why?</p>'
    """
    head, end, rest = html.partition("</figure>")
    soup = BeautifulSoup(head + end + _BULKY.sub("", rest), "html.parser")
    article = soup.find("article") or soup
    assert isinstance(article, (Tag, BeautifulSoup))
    predict = article.find(id="predict-first")
    questions = article.select("section.hopper-check, #exercises .exercise")
    checks = [
        (_data(section) | {"place": place}, isinstance(predict, Tag) and predict in section.parents)
        for place, section in enumerate(questions)
        if section.name == "section"
    ]
    figure = article.select_one("figure.hopper-phenomenon")
    title = article.find("h1")
    return BuiltPage(
        title=_text(title) if isinstance(title, Tag) else "",
        question=_question(article.find(id="the-question")),
        figure=str(figure) if figure else "",
        setting=_setting(predict) if isinstance(predict, Tag) else "",
        outcomes=tuple(_text(item) for item in article.select("#you-will-be-able-to li")),
        predictions=tuple(check for check, first in checks if first),
        checks=tuple(check for check, first in checks if not first),
        exercises=tuple(_exercises(questions)),
    )


def _data(section: Tag) -> dict[str, Any]:
    """Return a self-check as the page keeps it for its script."""
    blocks = section.select("script.hopper-data-block")
    return dict(json.loads(blocks[-1].get_text()))


def _without(tag: Tag, selector: str) -> Tag:
    """Return a copy of an element without those that a selector finds in it."""
    kept = copy(tag)
    for each in kept.select(selector):
        each.decompose()
    # The same address twice would lead to the first.
    for each in kept.select("[id]"):
        del each["id"]
    return kept


def _text(tag: Tag) -> str:
    """Return the text of an element in one line."""
    return " ".join(_without(tag, _NOT_ON_PAPER).get_text().split())


def _question(section: Any) -> str:
    """Return the question of a study without the answer that follows it."""
    if not isinstance(section, Tag):
        return ""
    return _without(section, f"h2, details, .hopper-story, {_NOT_ON_PAPER}").decode_contents().strip()


def _setting(predict: Tag) -> str:
    """Return the text between the heading “Predict first” and the questions."""
    kept = _without(predict, f"h2, section.hopper-check, {_NOT_ON_PAPER}")
    return "\n\n".join(" ".join(each.get_text().split()) for each in kept.select("p, li"))


def _exercises(questions: Sequence[Tag]) -> Iterator[Exercise]:
    """Yield the exercises in words, each with its solution: the next one in the page."""
    for place, exercise in enumerate(questions):
        solution = exercise.find_next(class_="solution")
        if exercise.name != "section" and isinstance(solution, Tag):
            yield Exercise(statement=_content(exercise), solution=_content(solution), place=place)


def _content(tag: Tag) -> str:
    """Return the content of an exercise or a solution as HTML, without its heading and its code."""
    inner = tag.find("section")
    kept = _without(inner if isinstance(inner, Tag) else tag, f".admonition-title, summary, {_NOT_ON_PAPER}")
    return kept.decode_contents().strip()
