"""One or several right options among a few."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from hopperlib.questions.checks.check import Check, Verdict

__all__ = ["ChoiceCheck", "Option"]

_MESSAGES = {
    "empty": "Choose an option first.",
    "more": "Right so far: {chosen} of {right}. There is more to choose.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a `ChoiceCheck`: what it says, whether it is right, what choosing it shows."""

    text: str
    feedback: str
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCheck(Check):
    """One or several right options among a few.

    Several are to be chosen if more than one is right.

    Parameters
    ----------
    options : tuple of Option

    Examples
    --------
    >>> check = ChoiceCheck(name="spread", question="Which option spreads tasks?", explanation="It limits each NUMA node.",
    ...     options=(Option(text="`-S 3`", feedback="Three a NUMA node.", right=True),
    ...              Option(text="`-N 12`", feedback="That only sets how many share a node.")))
    >>> check.grade(1).feedback
    'That only sets how many share a node.'
    >>> check.grade(0).feedback
    'Three a NUMA node. It limits each NUMA node.'
    """

    kind: ClassVar[str] = "choice"

    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if len(self.options) < 2 or not any(option.right for option in self.options):
            raise ValueError(f"check {self.name!r} needs two options or more, one of them right")
        if len({option.text for option in self.options}) != len(self.options):
            raise ValueError(f"check {self.name!r} has two options that say the same")
        if any(not option.feedback.strip() for option in self.options):
            raise ValueError(f"check {self.name!r} needs feedback for each option")

    @property
    def several(self) -> bool:
        """Whether more than one option is right."""
        return sum(option.right for option in self.options) > 1

    def grade(self, answer: int | Collection[int]) -> Verdict:
        """Return how a choice is marked.

        Parameters
        ----------
        answer : int or collection of int
            Index, or indices, of the chosen options.
        """
        chosen = {answer} if isinstance(answer, int) else set(answer)
        if not chosen:
            return Verdict(False, _MESSAGES["empty"], readable=False)
        mistaken = [option.feedback for i, option in enumerate(self.options) if i in chosen and not option.right]
        if mistaken:
            return Verdict(False, " ".join(mistaken))
        right = [i for i, option in enumerate(self.options) if option.right]
        if set(right) - chosen:
            return Verdict(False, _MESSAGES["more"].format(chosen=len(chosen), right=len(right)))
        return Verdict(True, " ".join([*(self.options[i].feedback for i in right), self.explanation]))

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data.

        Any wrong option chosen: the feedback of each, in order. Only right
        ones but not all: how many of how many. All: their feedback, then
        `explanation`.
        """
        options = [{"text": option.text, "feedback": option.feedback, "right": option.right} for option in self.options]
        return Check.to_dict(self) | {"several": self.several, "options": options, "messages": dict(_MESSAGES)}
