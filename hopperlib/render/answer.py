"""A question's answer for the page: what its script works with, and the HTML of each part."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hopperlib.errors import InputError
from hopperlib.questions.catalogue import QUESTIONS
from hopperlib.questions.question import Question, load
from hopperlib.render.html import parts_html


def page_data(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script reads of an answer: what it draws, copies and saves. The HTML holds the rest.

    Parameters
    ----------
    result : mapping
        ``Result.to_dict()``.

    Examples
    --------
    >>> from hopperlib.questions.result import Copyable, Result
    >>> page_data(Result(summary="Six.", copyables=(Copyable("Line", "a.out"),)).to_dict())["copyables"]
    [{'text': 'a.out'}]
    """
    return {
        "summary": result["summary"],
        "figures": [figure | {"table": {"csv": figure["table"]["csv"]}} for figure in result["figures"]],
        "copyables": [{"text": copyable["text"]} for copyable in result["copyables"]],
        "tables": [{"caption": table["caption"], "csv": table["csv"]} for table in result["tables"]],
        "downloads": result["downloads"],
        "facts": result["facts"],
    }


def page_answer(question: Question, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question's answer as the page takes it.

    Returns
    -------
    dict
        ``{"ok": True, "result": page_data, "html": parts_html}``, or for a refused input
        ``{"ok": False, "error": {"message", "control"}}``.

    Examples
    --------
    >>> page_answer(load("memory"), {"tasks": 0})["error"]["control"]
    'tasks'
    """
    try:
        result = question.run(**values).to_dict()
    except InputError as error:
        control = question.control_of(error)
        return {"ok": False, "error": {"message": error.message, "control": control.name if control else None}}
    return {"ok": True, "result": page_data(result), "html": parts_html(result)}


def answer_json(name: str, values_json: str, show: Callable[[str], object] | None = None) -> str:
    """Return a question's answer as JSON text: what the worker of a page calls.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    values_json : str
        JSON object of control values; missing ones take their defaults.
    show : callable or None
        Is given what is known of a heavy answer while it is worked out: `page_data` as JSON text.

    Examples
    --------
    >>> import json
    >>> json.loads(answer_json("place", '{"lin": 1}'))["ok"]
    False
    """
    question, values = load(name), json.loads(values_json)
    if show is not None:
        for known in question.partial(**values):
            show(_text(page_data(known.to_dict())))
    return _text(page_answer(question, values))


def _text(data: Mapping[str, Any]) -> str:
    """Return data as JSON text; NaN is none: a figure that holds one is a defect, and must not reach a page."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def ready_for_pages() -> None:
    """Import every question and answer the light ones once, as they start: what a page then asks finds all in memory.

    Examples
    --------
    >>> ready_for_pages()
    """
    for question in map(load, QUESTIONS):
        if not question.heavy:
            page_answer(question, {})
