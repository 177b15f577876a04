"""How a notebook shows a question, an answer, a figure, a self-check: as `hopperlib.render` says.

It stands above the questions and uses them, so it is found by its name when a
notebook asks, and nothing here imports it.
"""

import importlib
import os
from typing import Any


def in_the_book() -> bool:
    """Whether the book is being built: then data are handed on, and the site draws them.

    Examples
    --------
    >>> in_the_book()
    False
    """
    return os.environ.get("HOPPERLIB_RENDER") == "book"


def widgets() -> Any:
    """Return what shows answers in a notebook, and gives charts and answers as other tools take them.

    Examples
    --------
    >>> from hopperlib.questions.question import load
    >>> widgets().answer_shown(load("memory")).summary[:46]
    'Cheapest on Hopper: 24 tasks a node on 16 larg'
    >>> widgets().plotly_figure(load("memory").run().figures[0]).layout.xaxis.title.text
    'Tasks a node'
    """
    return importlib.import_module("hopperlib.render.widgets")


def show(kind: str, thing: object) -> None:
    """Show an explorer, a figure or a check in a notebook: live, and as what is saved with it.

    Raises
    ------
    NotImplementedError
        Where the book is built: IPython then takes the bundle of data.

    Examples
    --------
    >>> from hopperlib.questions.question import load
    >>> show("explorer", load("memory")) # doctest: +SKIP
    """
    if in_the_book():
        raise NotImplementedError
    getattr(widgets(), f"show_{kind}")(thing)


def result_html(result: object) -> str:
    """Return what a notebook shows of an answer.

    Examples
    --------
    >>> from hopperlib.questions.result import Result
    >>> "6 &lt; 7." in result_html(Result(summary="6 < 7."))
    True
    """
    return str(importlib.import_module("hopperlib.render.widgets.answer").notebook_html(result))
