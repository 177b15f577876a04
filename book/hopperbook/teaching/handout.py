"""A handout of a study, two pages of paper: question, figure and three exercises; the solutions on the second."""

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from hopperbook.teaching.built_page import BuiltPage, Exercise
from hopperbook.teaching.sheet import answer_of, needs_page
from hopperkit.render.html import prose_html

EXERCISES = 3


class _Item(NamedTuple):
    """One exercise of a handout: its place in the page, and how far it is from one for paper."""

    exercise: Exercise | Mapping[str, Any]
    place: int
    rank: int


def handout(page: BuiltPage) -> str:
    """Return the handout of a study as HTML.

    The exercises are those that can be solved on paper: those in words first, then the self-checks with a number or a
    choice; what needs an explorer only fills up.

    Parameters
    ----------
    page : BuiltPage

    Raises
    ------
    ValueError
        If the page has fewer than three exercises.

    Examples
    --------
    >>> page = BuiltPage(title="Memory", question="<p>Why?</p>", figure="", setting="", outcomes=(), predictions=(), checks=(),
    ...     exercises=tuple(Exercise(statement="How many?", solution="Six.", place=place) for place in range(3)))
    >>> handout(page).count("Six.")
    3
    """
    items = [_Item(each, each.place, _rank(each.statement, kind="words")) for each in page.exercises]
    items += [
        _Item(check, check["place"], _rank(check["question"], kind=check["kind"]))
        for check in (*page.checks, *page.predictions)
        if check["kind"] != "curve"
    ]
    chosen = sorted(sorted(items, key=lambda item: item.rank)[:EXERCISES], key=lambda item: item.place)
    if len(chosen) < EXERCISES:
        raise ValueError(f"the page {page.title!r} has {len(chosen)} exercises; a handout needs {EXERCISES}")
    shown = [item.exercise if isinstance(item.exercise, Exercise) else _of_check(item.exercise) for item in chosen]
    statements = "".join(f"<li>{one.statement}</li>" for one in shown)
    solutions = "".join(f"<li>{one.solution}</li>" for one in shown)
    return (
        f'<section class="hopper-handout"><h1>{escape(page.title)}</h1>'
        f'<div class="hopper-paper"><h2>The question</h2>{page.question}{page.figure}'
        f"<h2>Exercises</h2><ol>{statements}</ol></div>"
        f'<div class="hopper-paper"><h2>Solutions: {escape(page.title)}</h2><ol>{solutions}</ol></div></section>'
    )


def _rank(statement: str, *, kind: str) -> int:
    """Return the suitability of an exercise for paper: 0 in words, 1 a number or a choice, 2 with the page open."""
    return 2 if kind in ("goal", "code") or needs_page(statement) else int(kind != "words")


def _of_check(check: Mapping[str, Any]) -> Exercise:
    """Return a self-check as an exercise on paper."""
    options = "".join(f"<li>{prose_html(option['text'])}</li>" for option in check.get("options", ()))
    listed = f"<ul>{options}</ul>" if options and not check.get("node") else ""
    wanted = f" Give {check['decimals']} decimals." if check.get("decimals") else ""
    unit = f" [{escape(check['unit'])}]" if check["kind"] == "number" and check["unit"] else ""
    return Exercise(
        statement=f"<p>{prose_html(check['question'])}{unit}{wanted}</p>{listed}",
        solution=f"<p><strong>{prose_html(answer_of(check))}</strong> {prose_html(check['explanation'])}</p>",
        place=check["place"],
    )
