"""Self-checks in JupyterLab: a small form, the verdict, hints one by one."""

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets

from hopperbook.self_checks.check import Check, ChoiceCheck, Verdict
from hopperbook.self_checks.code import CodeCheck
from hopperbook.self_checks.curve import CurveCheck
from hopperbook.self_checks.goal import GoalCheck
from hopperbook.self_checks.number import NumberCheck
from hopperkit.questions.question import SHOWN
from hopperkit.render.html import prose_html
from hopperkit.render.widgets.answer import STYLE, titled_html

_INITIAL = {"description_width": "initial"}


class _NumberForm:
    """A field for a number, with the unit after it."""

    def __init__(self, check: NumberCheck) -> None:
        self.field = ipywidgets.Text(
            description="Answer", placeholder="a number", continuous_update=True, style=_INITIAL
        )
        self.widgets = [ipywidgets.HBox([self.field, ipywidgets.HTML(escape(check.unit))])]

    def read(self) -> str:
        """Return the typed text."""
        return str(self.field.value)


class _ChoiceForm:
    """A box to tick for each option; where one option is right, ticking one clears the others."""

    def __init__(self, check: ChoiceCheck) -> None:
        # Not radio buttons: their labels cannot show code.
        width = {"width": "8rem" if check.node else "95%"}
        look = {"description_allow_html": True, "indent": False, "style": _INITIAL, "layout": width}
        self.boxes = [ipywidgets.Checkbox(description=prose_html(option.text), **look) for option in check.options]
        self.widgets = self.boxes
        if check.node:
            self.widgets = [ipywidgets.HBox(self.boxes, layout={"flex_flow": "row wrap"})]
        if check.several and not check.node:
            self.widgets = [ipywidgets.HTML("Choose all that are right."), *self.boxes]
        elif not check.several:
            for box in self.boxes:
                box.observe(self._clear_others, names="value")

    def _clear_others(self, change: Any) -> None:
        if change["new"]:
            for box in self.boxes:
                if box is not change["owner"]:
                    box.value = False

    def read(self) -> list[int]:
        """Return the indices of the ticked options."""
        return [number for number, box in enumerate(self.boxes) if box.value]


class _CurveForm:
    """A scale for each point of the curve."""

    def __init__(self, check: CurveCheck) -> None:
        self.widgets = [
            ipywidgets.FloatSlider(description=f"{x:g}", max=check.high, step=check.high / 100, style=_INITIAL)
            for x in check.x
        ]

    def read(self) -> list[float]:
        """Return the heights."""
        return [scale.value for scale in self.widgets]


class _GoalForm:
    """No field: the answer is the explorer's."""

    def __init__(self, check: GoalCheck) -> None:
        self._explorer = check.explorer
        self.widgets = [ipywidgets.HTML("Set the explorer in this notebook, then check.")]

    def read(self) -> Any:
        """Return the facts of the explorer's latest answer; None if it has none."""
        result = SHOWN.get(self._explorer)
        return result.facts if result is not None else None


class _CodeForm:
    """A field for a few lines of Python, which run in the notebook's kernel when they are checked."""

    def __init__(self, check: CodeCheck) -> None:
        rows = check.start.count("\n") + 3
        self.field = ipywidgets.Textarea(value=check.start, rows=rows, layout={"width": "95%"})
        self.field.add_class("hopper-code")
        self.widgets = [self.field]

    def read(self) -> str:
        """Return the text."""
        return str(self.field.value)


_FORMS: dict[type[Check], Callable[[Any], Any]] = {
    NumberCheck: _NumberForm,
    ChoiceCheck: _ChoiceForm,
    CurveCheck: _CurveForm,
    GoalCheck: _GoalForm,
    CodeCheck: _CodeForm,
}


class CheckView:
    """The widgets of one self-check.

    Parameters
    ----------
    check : hopperbook.self_checks.Check

    Attributes
    ----------
    root : ipywidgets.VBox
        The widget.
    verdict : Verdict or None
        How the last answer was marked.

    Examples
    --------
    >>> view = CheckView(NumberCheck(name="six", question="Cores of a NUMA node?", answer=6, explanation="24 on four."))
    >>> view.form.field.value = "6"
    >>> view.mark()
    >>> view.verdict
    Verdict(right=True, feedback='24 on four.', readable=True)
    """

    def __init__(self, check: Check) -> None:
        self.check = check
        self.verdict: Verdict | None = None
        if type(check) not in _FORMS:
            raise TypeError(f"there is no form for a check of kind {check.kind!r}")
        self.form = _FORMS[type(check)](check)
        self.mark_button = ipywidgets.Button(description="Check")
        self.mark_button.on_click(lambda _: self.mark())
        self.hint_button = ipywidgets.Button(description="Hint")
        self.hint_button.on_click(lambda _: self.hint())
        self._hints_shown = 0
        self.said = ipywidgets.HTML()
        self.hints = ipywidgets.HTML()
        question = f'<div class="hopper-html">{titled_html("Self-check", check.question)}</div>'
        buttons = ipywidgets.HBox([self.mark_button, *([self.hint_button] if check.hints else [])])
        head = ipywidgets.HTML(STYLE + question)
        self.root = ipywidgets.VBox([head, *self.form.widgets, buttons, self.said, self.hints])
        self.root.add_class("hopper-view")

    def mark(self) -> None:
        """Grade the current answer, and show the result."""
        self.verdict = self.check.grade(self.form.read())
        word = "Right." if self.verdict.right else "Not yet." if self.verdict.readable else "Not marked."
        feedback = prose_html(self.verdict.feedback)
        self.said.value = f'<div class="hopper-html" role="status"><strong>{word}</strong> {feedback}</div>'

    def hint(self) -> None:
        """Show one hint more."""
        self._hints_shown = min(self._hints_shown + 1, len(self.check.hints))
        items = "".join(f"<li>{prose_html(hint)}</li>" for hint in self.check.hints[: self._hints_shown])
        self.hints.value = f'<div class="hopper-html">Hints:<ol>{items}</ol></div>'
        self.hint_button.disabled = self._hints_shown == len(self.check.hints)
