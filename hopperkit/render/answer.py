"""A question's answer for the page: what its script works with, and the HTML of each part."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import Question, load
from hopperkit.questions.result import Result
from hopperkit.render.html import parts_html
from hopperlib.errors import InputError


def page_data(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an answer for the page's script: to draw, copy and save. The HTML holds the rest.

    Parameters
    ----------
    result : mapping
        ``Result.to_dict()``.

    Examples
    --------
    >>> from hopperkit.questions.result import Snippet, Result
    >>> page_data(Result(summary="Six.", copyables=(Snippet("Line", "a.out"),)).to_dict())["copyables"]
    [{'text': 'a.out'}]
    """
    return {
        "summary": result["summary"],
        # The tables are HTML in the page; the script needs them only for its save buttons.
        "figures": [figure | {"table": {"csv": figure["table"]["csv"]}} for figure in result["figures"]],
        "copyables": [{"text": copyable["text"]} for copyable in result["copyables"]],
        "tables": [{"caption": table["caption"], "csv": table["csv"]} for table in result["tables"]],
        "downloads": result["downloads"],
        "facts": result["facts"],
    }


def page_answer(question: Question, values: Mapping[str, Any], taken: list[Result] | None = None) -> dict[str, Any]:
    """Return a question's answer in the form for pages, and store the original in `taken`.

    Parameters
    ----------
    question : Question
        The question.
    values : mapping of str to Any
        Values of controls, by name.
    taken : list[Result] or None
        List that receives the answer; None for none.

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
        answer = question.run(**values)
    except InputError as error:
        control = question.control_of(error)
        return {"ok": False, "error": {"message": error.message, "control": control.name if control else None}}
    if taken is not None:
        taken.append(answer)
    result = answer.to_dict()
    return {"ok": True, "result": page_data(result), "html": parts_html(result)}


def answer_json(
    name: str,
    values_json: str,
    post: Callable[[str, str], object] | None = None,
    watched: int = 0,
    *,
    load: Callable[[str], Question] = load,
) -> str:
    """Return a question's answer as JSON text: called by the worker of a page.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    values_json : str
        JSON object of control values; missing ones take their defaults.
    post : callable or None
        Called with a word and JSON text: partial results of a slow answer (``soFar``: `page_data`), the ``answer``, and
        the ``machine`` to watch, first its beginning and then the whole.
    watched : int
        If the machine is wanted, a number above 0 that identifies it for `watched_at`.
    load : callable
        Returns the question of a name.

    Examples
    --------
    >>> import json
    >>> json.loads(answer_json("place", '{"lin": 1}'))["ok"]
    False
    """
    question, values = load(name), json.loads(values_json)
    if post is None:
        return _text(page_answer(question, values))
    for known in question.partial(**values):
        post("soFar", _text(page_data(known.to_dict())))
        _show_machine(known, post, watched)
    taken: list[Result] = []
    text = _text(page_answer(question, values, taken))
    post("answer", text)
    for result in taken:
        _show_machine(result, post, watched)
    return text


# The machines requested last, by number, and how many are kept.
_watched: dict[int, Any] = {}
_MOST_WATCHED = 8
# Later than any end: the final state of a machine is shown first. [s]
_LAST_S = 10**9


def _show_machine(result: Result, post: Callable[[str, str], object], number: int) -> None:
    if number and result.watched is not None:
        _watched[number] = result.watched()
        for old in list(_watched)[:-_MOST_WATCHED]:
            del _watched[old]
        try:
            post("machine", watched_at(number, "recording", _LAST_S))
        except InputError as error:  # No floor, no picture.
            post("machine", _text({"why": error.message}))


def watched_at(number: int, what: str, time_s: int) -> str:
    """Return the recording of a requested machine from an instant [s] on, or its links at that instant; empty if no
    longer stored.

    Parameters
    ----------
    number : int
        Number of the job.
    what : str
        What the page watches.
    time_s : int
        Time in the schedule. [s]

    Examples
    --------
    >>> watched_at(1, "links", 0)
    '""'
    """
    return _text(getattr(_watched[number], what)(time_s) if number in _watched else "")


def _text(data: Any) -> str:
    """Return data as JSON text; NaN is rejected: a figure with NaN is a defect and must not reach a page."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def ready_for_pages(questions: Iterable[Question] = ()) -> None:
    """Import every question and answer it once at its defaults, except for those that keep weeks of jobs, so that a page finds all modules in memory.

    Parameters
    ----------
    questions : iterable of Question
        Questions in addition to those of the catalog.

    Examples
    --------
    >>> ready_for_pages()
    """
    for question in (*map(load, QUESTIONS), *questions):
        if question.name not in ("fragmentation", "scheduling"):
            page_answer(question, {})
