"""Explorers, figures and self-checks as widgets in JupyterLab.

===========  ================================================================
explorer     a form, its answer, and the run that joins them
inputs       one widget for each kind of control
figure       charts drawn by plotly.js, which change in place
check        self-checks as small forms
answer       style, starting answer and refusals as HTML (standard library only)
===========  ================================================================

A bundle holds three things: the widgets, for JupyterLab; an HTML page without
any script, for places that show saved notebooks, such as code hosting sites;
and a line of text. ipywidgets, plotly and anywidget are imported only when a
widget is made. Without them a notebook shows the HTML and says what to install.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hopperlib.errors import InputError
from hopperlib.render.html import prose_html, table_html
from hopperlib.render.widgets.answer import static_html, titled, titled_html

if TYPE_CHECKING:
    from hopperlib.questions.checks import Check
    from hopperlib.questions.question import Question
    from hopperlib.questions.result import Figure

__all__ = ["check_mimebundle", "explorer_mimebundle", "figure_mimebundle", "missing_packages"]

_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def missing_packages() -> tuple[str, ...]:
    """Return the packages that widgets need and that are not installed.

    Examples
    --------
    >>> set(missing_packages()) <= {"ipywidgets", "plotly", "anywidget"}
    True
    """
    return tuple(name for name in ("ipywidgets", "plotly", "anywidget") if find_spec(name) is None)


def _bundle(html: str, text: str, view: Any) -> dict[str, Any]:
    """Return a bundle: HTML and text, and the widgets that `view` makes unless packages are missing."""
    missing = missing_packages()
    if missing:
        say = (
            f"To use it here, install {', '.join(missing)}: "
            'pip install "hopper-book[notebooks]", then restart the kernel.'
        )
        return {"text/html": f"{html}<p><strong>{prose_html(say)}</strong></p>", "text/plain": f"{text}\n{say}"}
    widget_view = view()._repr_mimebundle_()[_WIDGET_VIEW]
    return {_WIDGET_VIEW: widget_view, "text/html": html, "text/plain": text}


def explorer_mimebundle(explorer: Question) -> dict[str, Any]:
    """Return an explorer for JupyterLab: the form with its live answer, and the starting answer as HTML.

    Parameters
    ----------
    explorer : hopperlib.questions.question.Question

    Examples
    --------
    >>> from hopperlib.questions.question import Question
    >>> from hopperlib.questions.result import Result
    >>> sky = Question(name="sky", title="The sky", question="What color is it?", controls=(),
    ...                answer=lambda: Result(summary="Blue."))
    >>> explorer_mimebundle(sky)["text/plain"]
    'The sky. Blue.'
    """

    def view() -> Any:
        from hopperlib.render.widgets.explorer import ExplorerView

        return ExplorerView(explorer).root

    try:
        result = explorer.run()
    except InputError as error:
        # The form shows the same message, with the controls to put it right.
        return _bundle(f"<p>{prose_html(error.message)}</p>", titled(explorer.title, error.message), view)
    return _bundle(static_html(explorer, result), titled(explorer.title, result.summary), view)


def figure_mimebundle(figure: Figure) -> dict[str, Any]:
    """Return a chart for JupyterLab: the live figure, and its description and data as HTML.

    Parameters
    ----------
    figure : hopperlib.questions.result.Figure

    Examples
    --------
    >>> from hopperlib.questions.figures import Axis, Series, chart
    >>> line = chart(title="Squares", alt="A parabola that rises from 0 at 0 to 4 at 2.", x=Axis(title="x"),
    ...              y=Axis(title="x squared"), series=[Series(name="square", x=[0, 1, 2], y=[0, 1, 4])])
    >>> figure_mimebundle(line)["text/plain"]
    'Squares. A parabola that rises from 0 at 0 to 4 at 2.'
    """

    def view() -> Any:
        from hopperlib.render.widgets.figure import FigureView

        return FigureView(figure).root

    html = f"<p>{titled_html(figure.title, figure.alt)}</p>{table_html(figure.table.to_dict(), buttons=False)}"
    return _bundle(html, titled(figure.title, figure.alt), view)


def check_mimebundle(check: Check) -> dict[str, Any]:
    """Return a self-check for JupyterLab: the form, and the question as HTML.

    Parameters
    ----------
    check : hopperlib.questions.checks.Check

    Examples
    --------
    >>> from hopperlib.questions.checks import NumberCheck
    >>> six = NumberCheck(name="six", question="Cores of a NUMA node?", answer=6, explanation="24 on four.")
    >>> check_mimebundle(six)["text/plain"]
    'Self-check: Cores of a NUMA node?'
    """

    def view() -> Any:
        from hopperlib.render.widgets.check import CheckView

        return CheckView(check).root

    html = f"<p>{titled_html('Self-check', check.question)}</p>"
    return _bundle(html, f"Self-check: {check.question}", view)
