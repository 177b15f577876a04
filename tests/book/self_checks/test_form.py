"""Self-checks as forms."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from hopperbook.self_checks import Check, ChoiceCheck, Condition, GoalCheck, NumberCheck, Option
from hopperbook.self_checks.form import CheckView
from hopperbook.self_checks.notebook import show_check
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.controls import Number, Slider
from hopperkit.questions.question import Question
from hopperkit.questions.result import Result
from hopperkit.render.widgets.explorer import ExplorerView

TEXTS: dict[str, Any] = {"question": "Which `-S`?", "explanation": "It is `<so>`."}


def choice(right: tuple[int, ...]) -> ChoiceCheck:
    options = tuple(Option(text=f"`-S {n}`", feedback=f"Feedback {n}.", right=n in right) for n in range(3))
    return ChoiceCheck(name="choice", options=options, **TEXTS)


def test_number() -> None:
    view = CheckView(NumberCheck(name="number", answer=1.29, decimals=2, unit="GB", **TEXTS))
    assert view.root.children[1].children[1].value == "GB"
    view.mark_button.click()
    assert "<strong>Not marked.</strong> Type a number first." in view.said.value
    view.form.field.value = "2"
    view.mark_button.click()
    assert "<strong>Not yet.</strong> That is not it." in view.said.value
    view.form.field.value = "1,29 GB"
    view.mark_button.click()
    assert "<strong>Right.</strong> It is <code>&lt;so&gt;</code>." in view.said.value


def test_one_choice_clears_the_others() -> None:
    view = CheckView(choice((1,)))
    boxes = view.form.boxes
    assert boxes[0].description == '<code><span class="hopper-unbroken">-S 0</span></code>'
    boxes[0].value = True
    boxes[1].value = True
    assert [box.value for box in boxes] == [False, True, False]
    view.mark_button.click()
    assert view.verdict is not None
    assert view.verdict.right


def test_several_choices() -> None:
    view = CheckView(choice((0, 2)))
    assert view.root.children[1].value == "Choose all that are right."
    for number, right in ((0, False), (2, True)):
        view.form.boxes[number].value = True
        view.mark_button.click()
        assert view.verdict is not None
        assert view.verdict.right is right


def test_goal_looks_at_the_explorer(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = Question(
        name="everything",
        title="Tasks",
        question="How many tasks?",
        controls=(
            Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12),
            Number(name="nodes", label="Nodes", low=1, high=6384, step=1, default=1),
        ),
        answer=lambda tasks, nodes: Result(summary=f"{tasks} on {nodes}.", facts={"tasks": tasks}),
    )
    module = types.ModuleType("everything_module")
    module.QUESTION = explorer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "everything_module", module)
    monkeypatch.setitem(QUESTIONS, "everything", "everything_module")
    three = Condition(fact="tasks", operator="==", target=3, feedback="Three are wanted.")
    check = GoalCheck(name="goal", explorer="everything", conditions=(three,), solution={"tasks": 3}, **TEXTS)
    view = CheckView(check)
    explorer_view = ExplorerView(explorer)
    for name, value, word in (
        ("tasks", 4, "<strong>Not yet.</strong> Three are wanted."),
        ("nodes", 0, "<strong>Not marked.</strong> Give the explorer something it can answer first."),
        ("nodes", 1, "<strong>Not yet.</strong> Three are wanted."),
        ("tasks", 3, "<strong>Right.</strong>"),
    ):
        explorer_view.inputs[name].write(value)
        view.mark_button.click()
        assert word in view.said.value


def test_hints_one_by_one() -> None:
    view = CheckView(NumberCheck(name="number", answer=6, hints=("First.", "Then `-S`."), **TEXTS))
    view.hint_button.click()
    assert view.hints.value.count("<li>") == 1
    assert not view.hint_button.disabled
    view.hint_button.click()
    assert '<li>First.</li><li>Then <code><span class="hopper-unbroken">-S</span></code>.</li>' in view.hints.value
    assert view.hint_button.disabled


def test_no_button_without_hints() -> None:
    view = CheckView(NumberCheck(name="number", answer=6, **TEXTS))
    assert view.hint_button not in view.root.children[2].children


def test_unknown_kind_of_check() -> None:
    with pytest.raises(TypeError, match=r"^there is no form for a check of kind 'check'$"):
        CheckView(Check(name="bare", **TEXTS))


def test_a_notebook_shows_a_check_and_keeps_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.delenv("HOPPERLIB_RENDER", raising=False)
    monkeypatch.setattr("IPython.display.display", lambda bundle, **_: shown.append(bundle))
    check = NumberCheck(name="six", question="How many `cores` < 7?", answer=6, explanation="24 on four.")
    show_check(check)
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert "<p><strong>Self-check.</strong> How many <code>cores</code> &lt; 7?</p>" in shown[1]["text/html"]
    monkeypatch.setitem(sys.modules, "plotly", None)
    shown.clear()
    show_check(check)
    (only,) = shown
    assert "To use it here, install plotly: " in only["text/html"]
