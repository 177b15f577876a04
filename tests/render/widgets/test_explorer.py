"""The form of an explorer: a change is answered, a refusal is shown in place, the latest change wins."""

from __future__ import annotations

import json
import types
from typing import Any

import pytest

from hopperkit.questions.controls import Slider, Text
from hopperkit.questions.question import Question
from hopperkit.questions.result import Result
from hopperkit.render.widgets import explorer as explorer_module
from hopperkit.render.widgets.answer import STYLE
from hopperkit.render.widgets.explorer import ExplorerView


def widgets_below(widget: Any) -> list[Any]:
    """Return a widget and all its children."""
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in widgets_below(child))]


def said(view: ExplorerView) -> str:
    """Return all the HTML that is shown."""
    html = "".join(one.value for one in widgets_below(view.root) if type(one).__name__ == "HTML")
    return html.replace(STYLE, "")


def button(view: ExplorerView, label: str) -> Any:
    """Return the button of that label."""
    return next(
        one for one in widgets_below(view.root) if getattr(one, "description", "") == label and hasattr(one, "click")
    )


def traces(chart: Any) -> list[Any]:
    """Return the traces that a chart draws."""
    found: list[Any] = json.loads(chart.state.value)["data"]
    return found


def charts(view: ExplorerView) -> list[Any]:
    """Return the charts that are shown."""
    return [one for one in widgets_below(view.root) if type(one).__name__ == "Chart"]


def test_starting_answer_is_shown(explorer: Question) -> None:
    view = ExplorerView(explorer)
    assert (
        '12 tasks on 1 nodes at 2.1 GHz, order nid, line &lt;aprun <span class="hopper-unbroken">-n 12</span> vasp&gt;.'
        in said(view)
    )
    assert "Every &lt;control&gt;." in said(view)
    assert [len(traces(chart)[0]["x"]) for chart in charts(view)] == [12]
    assert view.result is not None
    assert view.result.facts == {"tasks": 12, "log_lines": 0}


def test_each_control_changes_the_answer(explorer: Question) -> None:
    view = ExplorerView(explorer)
    for name, value in {
        "tasks": 3,
        "nodes": 2,
        "clock_ghz": 2.5,
        "order": "xyz",
        "line": "srun",
        "log": "a\nb",
    }.items():
        view.inputs[name].write(value)
    assert "3 tasks on 2 nodes at 2.5 GHz, order xyz, line &lt;srun&gt;." in said(view)
    assert view.result is not None
    assert view.result.facts == {"tasks": 3, "log_lines": 2}


def test_charts_change_in_place(explorer: Question) -> None:
    view = ExplorerView(explorer)
    chart = charts(view)[0]
    view.inputs["tasks"].write(3)
    assert charts(view) == [chart]
    assert traces(chart)[0]["x"] == [1, 2, 3]


def test_charts_come_and_go(explorer: Question) -> None:
    view = ExplorerView(explorer)
    view.inputs["strict"].write(True)
    first, second = charts(view)
    assert [trace["type"] for chart in (first, second) for trace in traces(chart)] == ["scatter", "bar"]
    view.inputs["strict"].write(False)
    assert charts(view) == [first]
    view.inputs["strict"].write(True)
    assert charts(view) == [first, second]


def test_refused_value_is_shown_at_its_control_and_the_former_answer_fades(explorer: Question) -> None:
    view = ExplorerView(explorer)
    view.inputs["nodes"].write(0)
    assert "<strong>Nodes:</strong> nodes=0 must be from 1 to 6,384, the range of this control" in said(view)
    assert "Below is the answer to the former settings." in said(view)
    assert "12 tasks on 1 nodes" in said(view)
    assert view.result is None
    assert "hopper-stale" in view.root.children[-1].children[-1].children[-1]._dom_classes
    view.inputs["nodes"].write(2)
    assert "hopper-error" not in said(view)
    assert "12 tasks on 2 nodes" in said(view)
    assert "hopper-stale" not in view.root.children[-1].children[-1].children[-1]._dom_classes


def test_what_the_model_refuses_is_shown(explorer: Question) -> None:
    wide = Question(
        name="wide",
        title="Wide",
        question="?",
        controls=(Slider(name="tasks", label="Tasks", low=1, high=99, step=1, default=1), *explorer.controls[1:]),
        answer=explorer.answer,
    )
    view = ExplorerView(wide)
    view.inputs["tasks"].write(25)
    assert "<strong>Tasks:</strong> tasks=25 must be at most 24 on each of 1 nodes" in said(view)


def test_defect_of_the_model_is_words_not_a_traceback(explorer: Question) -> None:
    view = ExplorerView(explorer)
    view.inputs["line"].write("defect")
    assert "This setting shows a mistake in the model: KeyError: &#x27;lost &lt;key&gt;&#x27;" in said(view)
    view.inputs["line"].write("srun")
    assert "line &lt;srun&gt;." in said(view)


def test_examples_and_reset_answer_once(explorer: Question) -> None:
    calls: list[dict[str, Any]] = []

    def counted(**values: Any) -> Result:
        calls.append(values)
        return explorer.answer(**values)

    view = ExplorerView(
        Question(
            name="counted",
            title="Counted",
            question="?",
            controls=explorer.controls,
            answer=counted,
            examples=explorer.examples,
        )
    )
    view.inputs["nodes"].write(5)
    button(view, "Half").click()
    # An example starts from the defaults: the same button always gives the same setting.
    assert calls[2:] == [explorer.defaults | {"tasks": 6, "line": "aprun -n 6 vasp"}]
    button(view, "Reset").click()
    assert calls[3:] == [explorer.defaults]


def test_advanced_controls_start_folded_away(explorer: Question) -> None:
    view = ExplorerView(explorer)
    folds = [one for one in widgets_below(view.root) if type(one).__name__ == "Accordion"]
    settings = next(fold for fold in folds if fold.titles == ("More settings",))
    assert settings.selected_index is None
    assert view.inputs["clock_ghz"].box in widgets_below(settings)
    assert view.inputs["tasks"].box not in widgets_below(settings)


def test_explorer_without_controls_has_no_reset() -> None:
    view = ExplorerView(
        Question(name="sky", title="Sky", question="?", controls=(), answer=lambda: Result(summary="Blue."))
    )
    assert not [one for one in widgets_below(view.root) if hasattr(one, "click")]


def test_a_question_answers_as_its_explorer_shown_last(explorer: Question) -> None:
    first, second = ExplorerView(explorer), ExplorerView(explorer)
    assert explorer.result is second.result
    first.inputs["tasks"].write(5)
    assert explorer.result is first.result
    first.inputs["tasks"].write(24)
    first.inputs["nodes"].write(0)
    assert explorer.result is None


class _Timers:
    """A substitute for a kernel's event loop: it delays calls until it is triggered."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Any]] = []

    def call_later(self, delay_s: float, action: Any) -> Any:
        entry = (delay_s, action)
        self.waiting.append(entry)

        def cancel() -> None:
            if entry in self.waiting:
                self.waiting.remove(entry)

        return types.SimpleNamespace(cancel=cancel)

    def fire(self) -> list[float]:
        """Make all waiting calls; return the delays."""
        now, self.waiting = self.waiting, []
        for _, action in now:
            action()
        return [delay for delay, _ in now]


def test_latest_of_several_changes_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    timers = _Timers()
    monkeypatch.setattr(explorer_module, "_call_later", timers.call_later)
    answered: list[tuple[int, str]] = []

    def answer(x: int, line: str) -> Result:
        answered.append((x, line))
        return Result(summary=f"{x} {line}")

    controls = (
        Slider(name="x", label="x", low=0, high=9, step=1, default=3),
        Text(name="line", label="Line", default="a"),
    )
    view = ExplorerView(Question(name="late", title="Late", question="?", controls=controls, answer=answer))
    view.inputs["line"].write("b")
    for x in (4, 5, 6):
        view.inputs["x"].write(x)
    assert answered == [(3, "a")]
    assert timers.fire() == [0.03]
    assert answered == [(3, "a"), (6, "b")]

    # Typing waits longer, so that half a word is no mistake; a reset does not wait at all.
    view.inputs["line"].write("c")
    assert [delay for delay, _ in timers.waiting] == [0.3]
    button(view, "Reset").click()
    assert timers.fire() == []
    assert answered == [(3, "a"), (6, "b"), (3, "a")]


def test_heavy_explorer_says_that_it_works() -> None:
    states: list[str] = []

    def answer() -> Result:
        states.append(said(view) if answered else "")
        answered.append(True)
        return Result(summary="Done.")

    answered: list[bool] = []
    view = ExplorerView(Question(name="heavy", title="Heavy", question="?", controls=(), answer=answer, heavy=True))
    view.run()
    assert "Working ..." in states[1]
    assert "Working ..." not in said(view)
