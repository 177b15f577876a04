"""Things to put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hopperlib.questions.checks.check import Check, Verdict

__all__ = ["OrderCheck"]

_MESSAGES = {"empty": "Put every item in one place first."}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCheck(Check):
    """Things to put in order.

    They are shown in the order of the alphabet, or its reverse if that
    happens to be the right order.

    Parameters
    ----------
    items : tuple of str
        In the right order.
    mistakes : tuple of (str, str, str)
        Item, another item, and what to say if the first was wrongly put
        before the second.

    Examples
    --------
    >>> check = OrderCheck(name="levels", question="From small to large?", explanation="Cores make NUMA nodes.",
    ...     items=("core", "NUMA node", "cabinet"),
    ...     mistakes=(("cabinet", "NUMA node", "A cabinet holds whole nodes."),))
    >>> check.shown
    ('cabinet', 'core', 'NUMA node')
    >>> check.grade([1, 0, 2]).feedback
    'A cabinet holds whole nodes.'
    >>> check.grade([1, 2, 0]).right
    True
    """

    kind: ClassVar[str] = "order"

    items: tuple[str, ...]
    mistakes: tuple[tuple[str, str, str], ...] = ()

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if len(self.items) < 2 or len(set(self.items)) != len(self.items):
            raise ValueError(f"check {self.name!r} needs two items or more, no two of them alike")
        for first, second, _ in self.mistakes:
            if first not in self.items or second not in self.items:
                raise ValueError(f"check {self.name!r}: mistake {(first, second)} must name two of its items")
            if self.items.index(first) <= self.items.index(second):
                raise ValueError(f"check {self.name!r}: {first!r} before {second!r} is no mistake")

    @property
    def shown(self) -> tuple[str, ...]:
        """The items as they are shown at first."""
        by_letter = tuple(sorted(self.items, key=str.lower))
        return by_letter if by_letter != self.items else by_letter[::-1]

    def grade(self, answer: Sequence[int]) -> Verdict:
        """Return how an order is marked.

        Parameters
        ----------
        answer : sequence of int
            Indices into `shown`, in the order chosen.
        """
        right = [self.shown.index(item) for item in self.items]
        given = list(answer)
        if sorted(given) != sorted(right):
            return Verdict(False, _MESSAGES["empty"], readable=False)
        if given == right:
            return Verdict(True, self.explanation)
        for first, second, feedback in self.mistakes:
            if given.index(self.shown.index(first)) < given.index(self.shown.index(second)):
                return Verdict(False, feedback)
        return Verdict(False, self.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data.

        `order` holds the right order as indices into `shown`. Otherwise the
        first of `mistakes` whose `first` stands before its `second` gives
        the feedback, else `wrong`.
        """
        index = self.shown.index
        return Check.to_dict(self) | {
            "shown": list(self.shown),
            "order": [index(item) for item in self.items],
            "mistakes": [
                {"first": index(first), "second": index(second), "feedback": feedback}
                for first, second, feedback in self.mistakes
            ],
            "messages": dict(_MESSAGES),
        }
