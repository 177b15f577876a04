"""The questions of the book: those of `hopperkit`, and three about the documented values and the accuracy of models."""

import importlib

from hopperkit.questions import catalogue, question
from hopperkit.questions.question import Question
from hopperkit.questions.result import Result

BOOK_QUESTIONS: dict[str, str] = {
    name: f"hopperbook.questions.{name}" for name in ("documented", "errata", "scorecard")
}
QUESTIONS: dict[str, str] = catalogue.QUESTIONS | BOOK_QUESTIONS


def load(name: str) -> Question:
    """Return a question of the book or of `hopperkit` by name.

    Raises
    ------
    InputError
        If there is no question of that name.

    Examples
    --------
    >>> load("errata").title, load("memory").name
    ('Errata', 'memory')
    """
    if name in BOOK_QUESTIONS:
        found: Question = importlib.import_module(BOOK_QUESTIONS[name]).QUESTION
        return found
    return question.load(name)


def scorecard_of(study: str = "all") -> Result:
    """Return the scorecard of a study, or of all of them.

    Parameters
    ----------
    study : str
        Name of a study, or ``all``.

    Examples
    --------
    >>> scorecard_of("memory").facts["rows"][0]["study"]
    'memory'
    """
    return load("scorecard").run(study=study)
