"""How a notebook shows a question, an answer, a figure, a self-check: as `hopperlib.render` says.

It stands above the questions and uses them, so it is found by its name when a
notebook asks, and nothing here imports it.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

__all__ = ["in_the_book", "mimebundle", "result_html"]


def in_the_book() -> bool:
    """Whether the book is being built: then data are handed on, and the site draws them.

    Examples
    --------
    >>> in_the_book()
    False
    """
    return os.environ.get("HOPPERLIB_RENDER") == "book"


def mimebundle(kind: str, thing: object) -> dict[str, Any]:
    """Return what JupyterLab shows of an explorer, a figure or a check.

    Examples
    --------
    >>> from hopperlib.questions.figures import Axis, Series, chart
    >>> line = chart(title="Squares", alt="A parabola that rises from 0 to 4.", x=Axis(title="x"),
    ...              y=Axis(title="y"), series=[Series(name="square", x=[0, 2], y=[0, 4])])
    >>> mimebundle("figure", line)["text/plain"]
    'Squares. A parabola that rises from 0 to 4.'
    """
    bundle: dict[str, Any] = getattr(importlib.import_module("hopperlib.render.widgets"), f"{kind}_mimebundle")(thing)
    return bundle


def result_html(result: object) -> str:
    """Return what a notebook shows of an answer.

    Examples
    --------
    >>> from hopperlib.questions.result import Result
    >>> "6 &lt; 7." in result_html(Result(summary="6 < 7."))
    True
    """
    return str(importlib.import_module("hopperlib.render.widgets.answer").notebook_html(result))
