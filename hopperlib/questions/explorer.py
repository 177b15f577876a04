"""An explorer: one question, a few controls, and a pure function that answers.

The same object serves the published page (a worker calls `answer_json`),
JupyterLab (`hopperlib.render.widgets` wraps it) and the command line (`hopper
explore`). It knows nothing of any of them.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hopperlib.questions.controls import Control, InputError
from hopperlib.questions.result import Result

__all__ = ["MIME_TYPE", "Example", "Explorer", "answer_json", "load"]

MIME_TYPE = "application/vnd.hopper.explorer+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A setting worth trying: what the button says, and the values it sets."""

    label: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """One question that a reader can play with.

    Parameters
    ----------
    name : str
        Stable name, as in `hopperlib.questions.catalogue` and in addresses.
    title : str
    question : str
        The question in one sentence.
    controls : tuple of Control
    answer : callable
        ``answer(**values) -> Result``; pure: the same values give the same
        answer. It raises `InputError` (or `ValueError`) for values that do
        not fit together.
    examples : tuple of Example
        Settings worth trying.
    heavy : bool
        Whether an answer may take up to three seconds; the page then shows a
        busy sign and a way to cancel.

    Examples
    --------
    >>> from hopperlib.questions.controls import Slider
    >>> square = Explorer(name="square", title="Squares", question="What is a square?",
    ...     controls=(Slider(name="x", label="x", low=0, high=9, step=1, default=3),),
    ...     answer=lambda x: Result(summary=f"{x} times {x} is {x * x}."))
    >>> square.run().summary
    '3 times 3 is 9.'
    >>> square.run(x=10)
    Traceback (most recent call last):
    hopperlib.questions.controls.InputError: x=10 must be from 0 to 9, the range of this control
    """

    name: str
    title: str
    question: str
    controls: tuple[Control, ...]
    answer: Callable[..., Result]
    examples: tuple[Example, ...] = ()
    heavy: bool = False

    def __post_init__(self) -> None:
        names = [control.name for control in self.controls]
        if len(set(names)) != len(names):
            raise ValueError(f"explorer {self.name!r} has two controls of one name: {names}")
        for example in self.examples:
            self.read(example.values)

    @property
    def defaults(self) -> dict[str, Any]:
        """The starting value of every control."""
        return {control.name: getattr(control, "default") for control in self.controls}

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all values checked and converted, defaults filled in.

        Raises
        ------
        InputError
            If a name is unknown or a value does not fit its control.
        """
        known = {control.name: control for control in self.controls}
        for name in values:
            if name not in known:
                raise InputError(
                    f"{name}={values[name]!r} is not a control of {self.name!r}; it has: {', '.join(known)}"
                )
        return {name: control.read(values.get(name, self.defaults[name])) for name, control in known.items()}

    def run(self, **values: Any) -> Result:
        """Return the answer for these values (defaults for the rest).

        Raises
        ------
        InputError
            If a value is refused, by its control or by the model.
        """
        checked = self.read(values)
        try:
            return self.answer(**checked)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """Return everything a page or widget needs to build the form."""
        return {
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "controls": [control.to_dict() for control in self.controls],
            "examples": [{"label": example.label, "values": dict(example.values)} for example in self.examples],
            "heavy": self.heavy,
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what a notebook shows: the live form in the book, widgets in JupyterLab."""
        if os.environ.get("HOPPERLIB_RENDER") == "book":
            return {MIME_TYPE: {"name": self.name}, "text/plain": f"Explorer: {self.title}"}
        from hopperlib.render.widgets import explorer_mimebundle

        return explorer_mimebundle(self)


def load(name: str) -> Explorer:
    """Return an explorer of the catalogue by name.

    Raises
    ------
    InputError
        If there is none of that name; the message lists those there are.

    Examples
    --------
    >>> load("plcement")
    Traceback (most recent call last):
    hopperlib.questions.controls.InputError: there is no explorer 'plcement'; did you mean 'placement'?
    """
    from hopperlib.questions.catalogue import EXPLORERS

    if name not in EXPLORERS:
        import difflib

        close = difflib.get_close_matches(name, EXPLORERS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "there are: " + ", ".join(EXPLORERS)
        raise InputError(f"there is no explorer {name!r}; {hint}")
    explorer = getattr(importlib.import_module(EXPLORERS[name]), "EXPLORER")
    assert isinstance(explorer, Explorer)
    return explorer


def answer_json(name: str, values_json: str) -> str:
    """Return an explorer's answer as JSON text: what the worker of a page calls.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    values_json : str
        JSON object of control values; missing ones take their defaults.

    Returns
    -------
    str
        ``{"ok": true, "result": {...}}``, or for a refused input
        ``{"ok": false, "error": {"message", "control"}}``.

    Examples
    --------
    >>> import json
    >>> json.loads(answer_json("placement", '{"lin": 1}'))["ok"]
    False
    """
    try:
        values = json.loads(values_json)
        result = load(name).run(**values)
    except InputError as error:
        return json.dumps({"ok": False, "error": {"message": error.message, "control": error.control}})
    # NaN is not JSON: a figure that holds one is a defect, and must not reach a page.
    return json.dumps({"ok": True, "result": result.to_dict()}, allow_nan=False, separators=(",", ":"))
