"""A handout has the question, three exercises for paper, and their solutions overleaf."""

from __future__ import annotations

import json

import pytest

from hopperbook.self_checks import NumberCheck
from hopperbook.teaching.built_page import read_page
from hopperbook.teaching.handout import handout


def _check(name: str, question: str, answer: int) -> str:
    check = NumberCheck(name=name, question=question, answer=answer, explanation=f"Because of {name}.").to_dict()
    data = json.dumps(check).replace("<", "\\u003c")
    return f'<section class="hopper-check"><script type="application/json" class="hopper-data-block">{data}</script></section>'


def _exercise(name: str) -> str:
    return (
        f'<div class="exercise admonition"><p class="admonition-title">Exercise</p><section><p>Do {name}.</p></section></div>'
        f'<div class="solution admonition"><p class="admonition-title">Solution</p><section><p>Did {name}.</p>'
        '<div class="cell_input"><pre>secret()</pre></div></section></div>'
    )


PAGE = f"""<nav>Contents</nav><article><h1>Memory<a class="headerlink">#</a></h1>
<figure class="hopper-phenomenon"><svg><title>A node</title></svg></figure>
<section id="the-question"><h2>The question</h2><p>Why killed?</p><details><summary>The answer</summary>Too full.</details></section>
<section id="you-will-be-able-to"><ul><li>count</li></ul></section>
<section id="predict-first"><h2>Predict first</h2><p>A node has cores.</p>{_check("guess", "How many?", 24)}</section>
<section id="exercises">{_exercise("one")}{_check("two", "In the explorer, how many?", 2)}{_check("three", "How many at last?", 3)}</section>
</article>"""


def test_the_parts_of_a_page():
    page = read_page(PAGE)
    assert (page.title, page.question, page.setting, page.outcomes) == (
        "Memory", "<p>Why killed?</p>", "A node has cores.", ("count",),
    )  # fmt: skip
    assert "<svg>" in page.figure
    assert [check["name"] for check in page.predictions] == ["guess"]
    assert [check["name"] for check in page.checks] == ["two", "three"]
    assert [(one.statement, one.solution) for one in page.exercises] == [("<p>Do one.</p>", "<p>Did one.</p>")]


def test_exercises_for_paper_in_the_order_of_the_page():
    first, _, second = handout(read_page(PAGE)).partition("Solutions:")
    # What needs the explorer is left out while there are three others.
    assert [first.index(text) for text in ("How many?", "Do one.", "How many at last?")] == sorted(
        first.index(text) for text in ("How many?", "Do one.", "How many at last?")
    )
    assert "explorer" not in first + second
    assert "Because of" not in first
    assert "Did one." not in first
    assert [text in second for text in ("24", "Did one.", "Because of three.")] == [True] * 3


def test_too_few_exercises_are_named():
    bare = PAGE.replace(_exercise("one"), "").replace(_check("two", "In the explorer, how many?", 2), "")
    with pytest.raises(ValueError, match="'Memory' has 2 exercises; a handout needs 3"):
        handout(read_page(bare))
