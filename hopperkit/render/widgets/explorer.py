"""An explorer in JupyterLab: its form, its answer, and the run that joins them."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ipywidgets

from hopperkit.questions.controls import Text
from hopperkit.questions.question import SHOWN, Example, Question
from hopperkit.questions.result import Figure, Result
from hopperkit.render.widgets.answer import STYLE, error_html, split_html, titled_html
from hopperkit.render.widgets.figure import FigureView
from hopperkit.render.widgets.inputs import make_input
from hopperkit.render.widgets.saved import SavedAnswer
from hopperlib.errors import InputError

# Long enough to pass over the keys of a word, and the steps of a drag.
_AFTER_TYPING_S = 0.3
_AFTER_MOVING_S = 0.03
# Drawing static pictures takes longer than most answers.
_AFTER_REST_S = 1.0


class ExplorerView:
    """The widgets of one explorer.

    Changes during a model run, or in quick succession, are answered once with the latest settings.

    Parameters
    ----------
    explorer : hopperkit.questions.question.Question
    saved : SavedAnswer or None
        The saved outputs, updated with the answer.

    Attributes
    ----------
    root : ipywidgets.VBox
        The widget.
    inputs : dict of str to Input
        The widgets of the controls, by name.
    result : Result or None
        The current answer; None if the values are rejected.

    Examples
    --------
    >>> from hopperkit.questions.controls import Slider
    >>> square = Question(name="square", title="Squares", question="What is a square?",
    ...     controls=(Slider(name="x", label="x", low=0, high=9, step=1, default=3),),
    ...     answer=lambda x: Result(summary=f"{x} times {x} is {x * x}."))
    >>> view = ExplorerView(square)
    >>> view.inputs["x"].write(4)
    >>> view.result.summary
    '4 times 4 is 16.'
    """

    def __init__(self, explorer: Question, saved: SavedAnswer | None = None) -> None:
        self.explorer = explorer
        self._saved = saved
        self._saving: Any = None
        self.result: Result | None = None
        # Called with each answer, once somebody wants to know.
        self.answered: Callable[[Result | None], None] = lambda result: None
        self._waiting: Any = None
        self._writing = False
        self.inputs = {control.name: make_input(control, live=not explorer.heavy) for control in explorer.controls}
        self._state = ipywidgets.HTML()
        self._before = ipywidgets.HTML()
        self._after = ipywidgets.HTML()
        self._figures: list[FigureView] = []
        self._figure_box = ipywidgets.VBox()
        self._answer = ipywidgets.VBox([self._before, self._figure_box, self._after])
        question = f'<div class="hopper-html">{titled_html(explorer.title, explorer.question)}</div>'
        form = ipywidgets.VBox(self._form())
        answer = ipywidgets.VBox([self._state, self._answer])
        columns = ipywidgets.HBox([form, answer])
        self.root = ipywidgets.VBox([ipywidgets.HTML(STYLE + question), columns])
        for widget, name in ((self.root, "view"), (form, "form"), (answer, "answer"), (columns, "columns")):
            widget.add_class(f"hopper-{name}")
        for field in self.inputs.values():
            field.watch(partial(self._changed, _AFTER_TYPING_S if isinstance(field.control, Text) else _AFTER_MOVING_S))
        self.run()

    def _form(self) -> list[Any]:
        """Return the examples, the controls, those folded away, and the reset."""
        plain = [field.box for field in self.inputs.values() if not field.control.advanced]
        folded = [field.box for field in self.inputs.values() if field.control.advanced]
        parts: list[Any] = []
        if self.explorer.examples:
            buttons = [self._example_button(example) for example in self.explorer.examples]
            label = ipywidgets.HTML("Try:")
            parts.append(ipywidgets.HBox([label, *buttons], layout={"flex_flow": "row wrap"}))
        parts += plain
        if folded:
            parts.append(ipywidgets.Accordion(children=[ipywidgets.VBox(folded)], titles=("More settings",)))
        if self.inputs:
            reset = ipywidgets.Button(description="Reset", tooltip="Back to the starting settings")
            reset.on_click(lambda _: self.write({}))
            parts.append(reset)
        return parts

    def _example_button(self, example: Example) -> Any:
        button = ipywidgets.Button(description=example.label, layout={"width": "auto"})
        button.on_click(lambda _: self.write(example.values))
        return button

    def write(self, values: Mapping[str, Any]) -> None:
        """Set all controls, to their starting values where none is given, and answer once."""
        self._writing = True
        try:
            for name, value in (self.explorer.defaults | dict(values)).items():
                self.inputs[name].write(value)
        finally:
            self._writing = False
        self.run()

    def _changed(self, delay_s: float) -> None:
        """Answer after a moment, and only the latest of several changes."""
        if self._writing:
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = _call_later(delay_s, self.run)

    def run(self) -> None:
        """Answer the current values; on error, show the message in place of the answer."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        values = {name: field.read() for name, field in self.inputs.items()}
        if self.explorer.heavy:
            self._state.value = '<div class="hopper-html" role="status">Working ...</div>'
        try:
            self._show(self.explorer.run(**values))
        except InputError as error:
            control = self.explorer.control_of(error)
            self._refuse(error_html(error.message, control.label if control else ""))
        except Exception as error:  # A reader can do nothing with a traceback; the words help to report it.
            self._refuse(error_html(f"This setting shows a mistake in the model: {type(error).__name__}: {error}"))
        self.save_soon()

    def save_soon(self) -> None:
        """Update the saved outputs once nothing has changed for a moment."""
        if self._saved is not None and _kernel() is not None:
            if self._saving is not None:
                self._saving.cancel()
            # Static pictures take a moment: they are drawn when the reader rests.
            self._saving = _call_later(_AFTER_REST_S, self._save)

    def _save(self) -> None:
        if self._saved is not None:
            self._saved.show({name: field.read() for name, field in self.inputs.items()}, self.result)

    def _refuse(self, html: str) -> None:
        """Show a message; the former answer stays, faded."""
        self._keep(None)
        former = (
            '<div class="hopper-help">Below is the answer to the former settings.</div>' if self._before.value else ""
        )
        self._state.value = html + former
        self._answer.add_class("hopper-stale")

    def _show(self, result: Result) -> None:
        """Show an answer."""
        above, below = split_html(result)
        self._show_figures(result.figures)
        self._before.value = f'<div class="hopper-html">{above}</div>'
        self._after.value = f'<div class="hopper-html">{below}</div>' if below else ""
        self._state.value = ""
        self._answer.remove_class("hopper-stale")
        self._keep(result)

    def _keep(self, result: Result | None) -> None:
        """Store the current answer for self-checks."""
        self.result = SHOWN[self.explorer.name] = result
        self.answered(result)

    def _show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Update existing charts, add new ones, hide those no longer present."""
        for view, figure in zip(self._figures, figures, strict=False):
            view.show(figure)
        self._figures += [FigureView(figure) for figure in figures[len(self._figures) :]]
        shown = [view.root for view in self._figures[: len(figures)]]
        if list(self._figure_box.children) != shown:
            self._figure_box.children = shown


def _kernel() -> Any:
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None)


def _call_later(delay_s: float, action: Callable[[], None]) -> Any:
    """Call `action` after a delay on the kernel's event loop; at once where no kernel runs."""
    if _kernel() is None:
        action()
        return None
    return asyncio.get_running_loop().call_later(delay_s, action)
