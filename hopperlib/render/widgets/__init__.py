"""Explorers, figures and self-checks in JupyterLab: live, and what is saved of them.

===========  ================================================================
explorer     a form, its answer, and the run that joins them
inputs       one widget for each kind of control
figure       charts drawn by plotly.js, which change in place
check        self-checks as small forms
saved        what stays in the notebook when the kernel is gone
answer       style, starting answer and refusals as HTML (standard library only)
===========  ================================================================

ipywidgets, plotly and anywidget are imported only when a widget is made.
Without them, and where a program runs the notebook, there is what is saved.
"""

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hopperlib.errors import InputError
from hopperlib.render.html import prose_html
from hopperlib.render.widgets.answer import titled, titled_html
from hopperlib.render.widgets.saved import SavedAnswer, captions_html, drawn, figure_bundle, is_watched, marked, publish

if TYPE_CHECKING:
    from hopperlib.questions.checks import Check
    from hopperlib.questions.question import Question
    from hopperlib.questions.result import Figure, Result


def missing_packages() -> tuple[str, ...]:
    """Return the packages that widgets need and that are not installed.

    Examples
    --------
    >>> set(missing_packages()) <= {"ipywidgets", "plotly", "anywidget"}
    True
    """
    return tuple(name for name in ("ipywidgets", "plotly", "anywidget") if find_spec(name) is None)


def _missing_note() -> str:
    """Return what to install; nothing if all is there."""
    names = ", ".join(missing_packages())
    return names and (
        f'To use it here, install {names}: pip install "hopper-book[notebooks]", then restart the kernel.'
    )


def _is_live() -> bool:
    return not missing_packages() and is_watched()


def _show_live(root: Any, text: str) -> None:
    """Show a widget, as an output of its own that holds nothing else to read."""
    view = "application/vnd.jupyter.widget-view+json"
    root.add_class("hopper-live")
    bundle = {view: root._repr_mimebundle_()[view], "text/html": "<!-- live while the notebook runs -->"}
    publish(bundle | {"text/plain": text})


def show_explorer(explorer: "Question") -> None:
    """Show an explorer: its form with the live answer, and the answer that stays.

    Parameters
    ----------
    explorer : hopperlib.questions.question.Question
    """
    saved = SavedAnswer(explorer)
    if _is_live():
        from hopperlib.render.widgets.explorer import ExplorerView

        view = ExplorerView(explorer, saved)
        _show_live(view.root, explorer.title)
        # The pictures follow in a moment: nobody waits for them here.
        saved.show(explorer.defaults, view.result, picture=False)
        return
    try:
        result = explorer.run()
    except InputError:
        result = None
    saved.show(explorer.defaults, result, note=_missing_note())


def answer_shown(explorer: "Question") -> "Result | None":
    """Return the answer that the explorer of this name shows now; to its starting settings where none is shown."""
    module = sys.modules.get("hopperlib.render.widgets.explorer")
    view = module.shown_explorer(explorer.name) if module else None
    return explorer.run() if view is None else view.result


def show_figure(figure: "Figure") -> None:
    """Show a chart: what it shows in words, with its data, and the chart.

    Parameters
    ----------
    figure : hopperlib.questions.result.Figure
    """
    publish({"text/html": captions_html((figure,)), "text/plain": titled(figure.title, figure.alt)})
    publish(figure_bundle(figure))


def plotly_figure(figure: "Figure") -> Any:
    """Return a ``plotly.graph_objects.Figure`` of a chart, its title within."""
    from plotly import graph_objects

    return graph_objects.Figure(drawn(figure, title={"text": figure.title}, margin={"t": 64}))


def show_check(check: "Check") -> None:
    """Show a self-check: its form, and the question, which stays.

    Parameters
    ----------
    check : hopperlib.questions.checks.Check
    """
    note = f"<p>{prose_html(_missing_note())}</p>" if missing_packages() else ""
    text = f"Self-check: {check.question}"
    if _is_live():
        from hopperlib.render.widgets.check import CheckView

        _show_live(CheckView(check).root, text)
    html = marked(f"<p>{titled_html('Self-check', check.question)}</p>{note}")
    publish({"text/html": html, "text/plain": text})
