"""Answers of heavy explorers that are computed ahead: each control moved alone from the start, and each example.

Their models simulate weeks of a machine, which takes the reader's browser seconds. One compressed file for each
question, ``stored/NAME.answers``, holds the answers as changes against the answer at the start, so that the first
move answers at once. The files are committed, since a build would take minutes to compute them: `make stored` writes
them anew, and tests recompute them.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hopperkit.questions.controls import Control
from hopperkit.questions.question import Question
from hopperkit.render.answer import page_answer

#: Questions with stored answers.
STORED = ("fragmentation", "scheduling")
FOLDER = Path(__file__).with_name("stored")

# Of numbers that are typed, which may be any of thousands, those that a reader tries first.
_TYPED = {
    "probe_nodes": (1, 2, 4, 8, 16, 32, 64, 100, 128, 171, 200, 256, 500, 512, 683, 1000, 1024, 2048, 4096),
    "seed": range(2, 11),
}


def _options(control: Control) -> Iterator[Any]:
    """Yield the values of a control other than its default."""
    if control.kind == "choice":
        values: list[Any] = [key for key, _ in control.offered()]  # type: ignore[attr-defined]
    elif control.kind == "slider":
        steps = round((control.high - control.low) / control.step)
        # As the browser steps: to the digits of the step.
        values = [round(control.low + i * control.step, 6) for i in range(steps + 1)]
    else:
        values = list(_TYPED.get(control.name, ()))
    yield from (value for value in values if value != control.default)


def moves(question: Question) -> Iterator[dict[str, Any]]:
    """Yield the settings with stored answers: what differs from the start.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> {"load": 0.9} in list(moves(load("fragmentation")))
    True
    """
    for control in question.controls:
        yield from ({control.name: value} for value in _options(control))
    for example in question.examples:
        yield {name: value for name, value in example.values.items() if value != question.defaults[name]}


def key_of(move: Mapping[str, Any]) -> str:
    """Return the key of a setting, as a page makes it: numbers as JavaScript prints them, controls by name.

    Examples
    --------
    >>> key_of({"load": 1.0, "days": 7})
    'days=7 load=1'
    """
    printed = ((name, f"{value:.15g}" if isinstance(value, float) else value) for name, value in sorted(move.items()))
    return " ".join(f"{name}={value}" for name, value in printed)


def change(before: Any, after: Any) -> Any:
    """Return the change that turns one value into another: ``[value]`` to replace it, or changes by key, or None for none.

    Examples
    --------
    >>> change({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]})
    {'b': {'1': [3]}}
    >>> change(1, 1) is None, change([1], [1, 2])
    (True, [[1, 2]])
    """
    if before == after:
        return None
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        pairs = [(key, before[key], after[key]) for key in after]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) < 9:
        pairs = [(str(i), old, new) for i, (old, new) in enumerate(zip(before, after, strict=True))]
    else:
        return [after]
    return {key: change(old, new) for key, old, new in pairs if old != new}


def applied(before: Any, changed: Any) -> Any:
    """Return a value with a change applied.

    Examples
    --------
    >>> applied({"a": 1, "b": [1, 2]}, {"b": {"1": [3]}})
    {'a': 1, 'b': [1, 3]}
    """
    if changed is None:
        return before
    if isinstance(changed, list):
        return changed[0]
    keys = before.keys() if isinstance(before, dict) else range(len(before))
    parts = {key: applied(before[key], changed.get(str(key))) for key in keys}
    return parts if isinstance(before, dict) else list(parts.values())


def computed(question: Question, settings: Mapping[str, Any]) -> Any:
    """Return the answer to a setting as a page receives it."""
    return json.loads(json.dumps(page_answer(question, settings), allow_nan=False))


def packed(question: Question) -> bytes:
    """Return the stored answers of a question, computed and compressed. It takes minutes."""
    start = computed(question, {})
    answers: list[Any] = []
    numbers: dict[str, int] = {}
    places: dict[str, int] = {}
    for move in moves(question):
        answer = change(start, computed(question, move))
        text = json.dumps(answer)
        if text not in numbers:
            numbers[text] = len(answers)
            answers.append(answer)
        places[key_of(move)] = numbers[text]
    whole = {"start": start, "moves": places, "answers": answers}
    text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    # The time would make each writing another file.
    return gzip.compress(text.encode(), 9, mtime=0)


@cache
def stored(name: str) -> dict[str, Any]:
    """Return the stored answers of a question.

    Examples
    --------
    >>> stored("fragmentation")["start"]["ok"]
    True
    """
    found: dict[str, Any] = json.loads(gzip.decompress(content(name)))
    return found


def content(name: str) -> bytes:
    """Return the file of a question's stored answers."""
    return (FOLDER / f"{name}.answers").read_bytes()


def stored_answer(name: str, move: Mapping[str, Any]) -> Any:
    """Return a stored answer; None if there is none for the setting."""
    found = stored(name)
    at = found["moves"].get(key_of(move)) if move else -1
    if at is None:
        return None
    return applied(found["start"], found["answers"][at] if at >= 0 else None)


def write() -> None:
    """Compute all stored answers and write their files."""
    from hopperkit.questions.question import load

    FOLDER.mkdir(exist_ok=True)
    for name in STORED:
        (FOLDER / f"{name}.answers").write_bytes(packed(load(name)))


if __name__ == "__main__":
    write()
