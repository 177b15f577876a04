"""The code that an ensemble's worker processes run, without pandas and scipy: importing them would take ten times as
long.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import cloudpickle

from hopperkit.frames import column_name
from hopperkit.questions.result import Facts, Result


class Sent:
    """A function as bytes, which a worker process calls by its parameters."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name, self._content = name, content

    def __call__(self, **parameters: Any) -> Any:
        """Return the function's result; for an answer to a question, its numbers."""
        answer = _restored(self._content)(**parameters)
        return load_numbers_resource(answer, parameters) if isinstance(answer, Result) else answer

    def __repr__(self) -> str:
        return self._name


@cache
def _restored(content: bytes) -> Callable[..., Any]:
    """Return a function from its bytes, once in each process."""
    function: Callable[..., Any] = cloudpickle.loads(content)
    return function


def use_one_thread() -> None:
    """Let the linear algebra of a worker use one thread: there are as many workers as cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def load_numbers_resource(result: Result, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of an answer that are plain, and its values, but for those that are parameters."""
    facts = result.facts.named if isinstance(result.facts, Facts) else result.facts
    row = {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
    for value in result.values:
        if isinstance(value.value, int | float):
            row.setdefault(column_name(value.label, value.unit), value.value)
    return {name: value for name, value in row.items() if name not in parameters}
