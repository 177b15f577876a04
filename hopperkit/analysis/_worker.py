"""What the worker processes of an ensemble run. It imports neither pandas nor scipy, which would take ten times as long."""

import traceback
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import cloudpickle

from hopperkit.frames import column_name
from hopperkit.questions.result import Facts, Result


class Failure(NamedTuple):
    """Why a run failed: the exception in one line, and its traceback."""

    why: str
    trace: str


def attempt(function: Callable[..., Any] | bytes, key: str, parameters: Mapping[str, Any]) -> tuple[str, Any]:
    """Return a run's key and its result, or the `Failure` that ended it; an answer to a question becomes its numbers."""
    try:
        run = _restored(function) if isinstance(function, bytes) else function
        answer = run(**parameters)
        return key, numbers_of(answer, parameters) if isinstance(answer, Result) else answer
    except Exception as error:
        return key, Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


@cache
def _restored(content: bytes) -> Callable[..., Any]:
    """Return a pickled function, loaded once per process."""
    function: Callable[..., Any] = cloudpickle.loads(content)
    return function


def numbers_of(result: Result, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain facts of an answer, and its values, except those that are parameters."""
    facts = result.facts.named if isinstance(result.facts, Facts) else result.facts
    row = {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
    for value in result.values:
        if isinstance(value.value, int | float):
            row.setdefault(column_name(value.label, value.unit), value.value)
    return {name: value for name, value in row.items() if name not in parameters}
