"""Explorers, charts and answers in a notebook: live in JupyterLab, and their saved outputs.

===========  ================================================================
explorer     a form, its answer, and the run that joins them
inputs       one widget for each kind of control
figure       charts drawn by plotly.js, which change in place
saved        what stays in the notebook when the kernel is gone
answer       style, starting answer and refusals as HTML (standard library only)
===========  ================================================================

Display functions are registered with IPython when `hopperlib` is imported. ipywidgets, plotly and anywidget are
imported only when a widget is made. Without them, and in notebooks run by a program, saved outputs are shown.
"""

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopperkit.questions.question import Question
from hopperkit.questions.result import Drawing, Figure, Result, Table
from hopperkit.render.widgets.answer import in_the_book, notebook_html, titled
from hopperkit.render.widgets.saved import (
    PLOTLY_MIME_TYPE,
    SavedAnswer,
    captions_html,
    figure_bundle,
    is_watched,
    publish,
)
from hopperlib.errors import InputError

# Packages that the JupyterLab server needs in addition to those of the kernel.
_SERVER_PARTS = ("@jupyter-widgets/jupyterlab-manager", "anywidget", "jupyterlab-plotly")

if TYPE_CHECKING:
    from hopperkit.render.widgets.explorer import ExplorerView


def display_formatter() -> Any:
    """Return IPython's display formatter; None outside IPython.

    Examples
    --------
    >>> display_formatter() is None
    True
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return shell and shell.display_formatter


def register_here() -> None:
    """Tell IPython how explorers, charts and answers look, where this runs in it.

    Examples
    --------
    >>> register_here()
    """
    if formatter := display_formatter():
        register(formatter)


def register(formatter: Any) -> None:
    """Tell IPython how explorers, charts and answers look.

    Where the book is built it gets the data of explorers and charts, and the site draws them.

    Parameters
    ----------
    formatter : IPython.core.formatters.DisplayFormatter

    Examples
    --------
    >>> from IPython.core.formatters import DisplayFormatter
    >>> formatter = DisplayFormatter()
    >>> register(formatter)
    >>> "6 &lt; 7." in formatter.format(Result(summary="6 < 7."))[0]["text/html"]
    True
    """
    as_html = formatter.formatters["text/html"]
    as_html.for_type(Result, notebook_html)
    as_html.for_type(Table, lambda table: notebook_html(Result(summary="", tables=(table,))))
    as_html.for_type(Drawing, lambda drawing: notebook_html(Result(summary="", drawings=(drawing,))))
    show_by(formatter, Question, show_explorer)
    show_by(formatter, Figure, show_figure)
    # A reader's plotly figure, which is imported by the code that makes one.
    formatter.ipython_display_formatter.for_type_by_name("plotly.graph_objs._figure", "Figure", _show_plotly)


def _show_plotly(figure: Any) -> None:
    """Show a plotly figure: in the book as a chart, elsewhere for plotly and as a static picture.

    One without a description, or of a kind that has no static picture, is shown as plotly shows it; the book refuses it.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    """
    from hopperkit.render.plotly_figure import house_figure, is_described

    plain = {PLOTLY_MIME_TYPE: json.loads(figure.to_json()), "text/plain": "a figure of plotly"}
    if not is_described(figure):
        publish(plain)
        return
    try:
        shown = house_figure(figure)
    except InputError as error:
        if in_the_book():
            raise
        publish(plain | {"text/plain": error.message})
        return
    if in_the_book():
        publish(shown._repr_mimebundle_())
        return
    publish({"text/html": captions_html((shown,)), "text/plain": titled(shown.title, shown.alt)})
    publish(figure_bundle(shown) | {PLOTLY_MIME_TYPE: plain[PLOTLY_MIME_TYPE]})


def show_by(formatter: Any, kind: type, show: Callable[[Any], Any]) -> None:
    """Tell IPython to show things of a kind by calling a function; not where the book is built.

    Parameters
    ----------
    formatter : Any
        IPython's display formatter.
    kind : type
        Type of the displayed objects.
    show : Callable[[Any], Any]
        Returns the display data of an object.

    Examples
    --------
    >>> from IPython.core.formatters import DisplayFormatter
    >>> formatter = DisplayFormatter()
    >>> show_by(formatter, Question, lambda question: print(question.name))
    >>> from hopperkit.questions.question import load
    >>> formatter.format(load("memory"))
    memory
    ({}, {})
    """
    if not in_the_book():
        formatter.ipython_display_formatter.for_type(kind, show)


def missing_packages() -> tuple[str, ...]:
    """Return the packages that widgets need and that are not installed.

    Examples
    --------
    >>> set(missing_packages()) <= {"ipywidgets", "plotly", "anywidget"}
    True
    """
    return tuple(name for name in ("ipywidgets", "plotly", "anywidget") if find_spec(name) is None)


def missing_note() -> str:
    """Return which packages to install for widgets; empty if all are present.

    Examples
    --------
    >>> bool(missing_note()) == bool(missing_packages())
    True
    """
    names = ", ".join(missing_packages())
    return names and (
        f'To use it here, install {names}: pip install ".[notebooks]" in the folder of the repository, then restart the kernel.'
    )


def server_note(folder: Path | None = None) -> str:
    """Return which packages the JupyterLab server lacks for widgets and charts; empty if none or unknown.

    A kernel may live in another environment than its server, as on a JupyterHub: then all looks well here, and the page
    stays empty.

    Parameters
    ----------
    folder : Path or None
        Where the server keeps its extensions; None finds it by the process that started the kernel.

    Examples
    --------
    >>> server_note(Path("/no/such/folder"))[:66]
    'This JupyterLab lacks @jupyter-widgets/jupyterlab-manager, anywidg'
    """
    if folder is None:
        try:
            server = Path(os.readlink(f"/proc/{os.environ['JPY_PARENT_PID']}/exe"))
            words = Path(f"/proc/{os.environ['JPY_PARENT_PID']}/cmdline").read_bytes().split(b"\0")
        except (KeyError, OSError):
            return ""
        # The command of an environment is in its bin folder; the program itself may be a link from there.
        started = [Path(os.fsdecode(word)) for word in words[:2] if word.startswith(b"/")] or [server]
        folder = started[-1].parent.parent / "share" / "jupyter" / "labextensions"
    missing = [name for name in _SERVER_PARTS if not (folder / name).is_dir()]
    if not missing:
        return ""
    return (
        f"This JupyterLab lacks {', '.join(missing)}: where it runs, install jupyterlab_widgets, anywidget and plotly "
        f"(pip install '.[notebooks]' in the folder of the repository), then restart it."
    )


def is_live() -> bool:
    """Whether widgets can be shown: their packages are installed, and a person runs the notebook.

    Examples
    --------
    >>> is_live() in (True, False)
    True
    """
    return not missing_packages() and is_watched()


def show_live(root: Any, text: str) -> None:
    """Show a widget as a separate output without text alternatives.

    Parameters
    ----------
    root : Any
        Widget to show.
    text : str
        Text for displays without widgets.

    Examples
    --------
    >>> import ipywidgets
    >>> show_live(ipywidgets.Button(), "a button")  # doctest: +SKIP
    """
    view = "application/vnd.jupyter.widget-view+json"
    root.add_class("hopper-live")
    bundle = {view: root._repr_mimebundle_()[view], "text/html": "<!-- live while the notebook runs -->"}
    publish(bundle | {"text/plain": text})


def show_explorer(explorer: Question) -> "ExplorerView | None":
    """Show an explorer: its form with the live answer, and the answer that stays.

    Parameters
    ----------
    explorer : hopperkit.questions.question.Question

    Returns
    -------
    ExplorerView or None
        The live one, if there is one.
    """
    saved = SavedAnswer(explorer)
    if is_live():
        from hopperkit.render.widgets.explorer import ExplorerView

        view = ExplorerView(explorer, saved)
        if note := server_note():
            publish({"text/plain": note})
        show_live(view.root, explorer.title)
        # The pictures follow in a moment: nobody waits for them here.
        saved.show(explorer.defaults, view.result, picture=False)
        return view
    try:
        result = explorer.run()
    except InputError:
        result = None
    saved.show(explorer.defaults, result, note=missing_note())
    return None


def show_figure(figure: Figure) -> None:
    """Show a chart: its description with its data, and the chart.

    Parameters
    ----------
    figure : hopperkit.questions.result.Figure
    """
    publish({"text/html": captions_html((figure,)), "text/plain": titled(figure.title, figure.alt)})
    publish(figure_bundle(figure))
