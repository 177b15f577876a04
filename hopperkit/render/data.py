"""A result as data for programs: one schema for every question."""

from typing import Any

from hopperkit.questions.result import Result
from hopperlib.errors import InputError


def result_data(name: str, result: Result) -> dict[str, Any]:
    """Return an answer as plain data.

    Facts are at the top level under stable names defined by each question; the human-readable answer is under
    ``answer``.

    Parameters
    ----------
    name : str
        Name of the question.
    result : Result

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> data = result_data("memory", load("memory").run(need_gb=1.0, tasks=48))
    >>> data["answer"]["summary"]
    'Cheapest on Hopper: 24 tasks per node on 2 standard nodes, cost factor 1.'
    """
    answer = result.to_dict()
    del answer["facts"]
    return {**result.facts, "answer": {"question": name, **answer}}


def error_data(error: InputError, option: str = "") -> dict[str, Any]:
    """Return a refusal as plain data: the message, and its parts where they are known.

    Parameters
    ----------
    error : InputError
        The error.
    option : str, default ''
        Name of the option.

    Examples
    --------
    >>> from hopperlib.errors import refusal
    >>> error_data(refusal("tasks", 0, "must be at least 1"), "--tasks")["error"]["flag"]
    '--tasks'
    """
    parts = error.details()
    name = parts.pop("name", None)
    flag = {"flag": option or name} if option or name else {}
    message = error.message_for(option) if option else error.message
    return {"error": {**flag, **{key: str(part) for key, part in parts.items()}, "message": message}}
