"""What the pages' Python is called by: answers to the questions of the book."""

from collections.abc import Callable

from hopperbook.cells.run import run_json
from hopperbook.questions import BOOK_QUESTIONS, load
from hopperkit.render import answer
from hopperkit.render.answer import watched_at

__all__ = ["answer_json", "ready", "run_json", "watched_at"]


def answer_json(name: str, values_json: str, post: Callable[[str, str], object] | None = None, watched: int = 0) -> str:
    """Return the answer to a question of the book, as `hopperkit.render.answer.answer_json` does.

    Examples
    --------
    >>> import json
    >>> json.loads(answer_json("errata", "{}"))["ok"]
    True
    """
    return answer.answer_json(name, values_json, post, watched, load=load)


def ready() -> None:
    """Answer every question once, so that the memory of the pages' Python holds all modules.

    Examples
    --------
    >>> ready()
    """
    answer.ready_for_pages(map(load, BOOK_QUESTIONS))
