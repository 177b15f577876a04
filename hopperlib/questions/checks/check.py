"""What every self-check has: a name, a question, hints, and a verdict on an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from hopperlib.questions import display

__all__ = ["MIME_TYPE", "Check", "Verdict"]

MIME_TYPE = "application/vnd.hopper.check+json"


class Verdict(NamedTuple):
    """How an answer was marked.

    `readable` is False for an answer that could not be marked (no number, a
    wrong unit, nothing chosen): it counts as no try.

    Examples
    --------
    >>> Verdict(right=True, feedback="31 GB are shared by 24 tasks.").readable
    True
    """

    right: bool
    feedback: str
    readable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What every self-check has.

    Parameters
    ----------
    name : str
        Stable name, unique in the book: lower-case words joined by hyphens.
    question : str
    explanation : str
        Shown with a right answer: why it is right.
    wrong : str
        Shown with a wrong answer for which there is no better word.
    hints : tuple of str
        Shown one by one when asked for, the first giving away least.
    """

    kind: ClassVar[str] = "check"

    name: str
    question: str
    explanation: str
    wrong: str = "That is not it."
    hints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(
                f"name={self.name!r} must be lower-case words joined by hyphens: results are kept under it"
            )
        for part in ("question", "explanation", "wrong"):
            if not getattr(self, part).strip():
                raise ValueError(f"check {self.name!r} needs a text for {part}")

    def grade(self, answer: Any) -> Verdict:
        """Return how an answer is marked."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data, with all that marking it needs."""
        return {
            "kind": self.kind,
            "name": self.name,
            "question": self.question,
            "explanation": self.explanation,
            "wrong": self.wrong,
            "hints": list(self.hints),
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what the book makes a form of."""
        return {MIME_TYPE: self.to_dict(), "text/plain": f"Self-check: {self.question}"}

    def _ipython_display_(self) -> None:
        display.show("check", self)
