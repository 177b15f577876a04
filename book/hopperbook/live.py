"""Entry point of the pages' Python: answers to the questions of the book."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hopperbook.cells.run import run_json
from hopperbook.questions import BOOK_QUESTIONS, load
from hopperkit.render import answer
from hopperkit.render.answer import watched_at

__all__ = ["answer_json", "ready", "run_json", "watched_at"]

# So often a page hears that Python works on. [s]
_BEAT_S = 1.0


@contextmanager
def _beating(post: Callable[[str, str], object] | None) -> Iterator[None]:
    """Post a ``beat`` every second or so while an answer is worked out: a page cannot look into a Python that is busy, and
    would take one that reads megabytes for dead. Whatever reads or computes makes objects, and so has garbage looked for.
    """
    if post is None:
        yield
        return
    last_s = time.monotonic()

    def beat(phase: str, info: dict[str, Any]) -> None:
        nonlocal last_s
        if phase == "stop" and (now_s := time.monotonic()) >= last_s + _BEAT_S:
            last_s = now_s
            post("beat", "")

    gc.callbacks.append(beat)
    try:
        yield
    finally:
        gc.callbacks.remove(beat)


def answer_json(name: str, values_json: str, post: Callable[[str, str], object] | None = None, watched: int = 0) -> str:
    """Return the answer to a question of the book, as `hopperkit.render.answer.answer_json` does; `post` hears a ``beat`` too.

    Examples
    --------
    >>> import json
    >>> json.loads(answer_json("errata", "{}"))["ok"]
    True
    """
    with _beating(post):
        return answer.answer_json(name, values_json, post, watched, load=load)


def ready() -> None:
    """Answer every question once, so that the memory of the pages' Python holds all modules.

    Examples
    --------
    >>> ready()
    """
    answer.ready_for_pages(map(load, BOOK_QUESTIONS))
