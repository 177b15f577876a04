"""A setting of an explorer to find, judged by the explorer's answer."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from hopperbook.self_checks.check import Check, Verdict
from hopperlib.errors import did_you_mean

_COMPARE = {"==": operator.eq, "!=": operator.ne}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Condition on a fact of an explorer's answer.

    Parameters
    ----------
    fact : str
        Key of `Result.facts`.
    operator : {"==", "!=", "<", "<=", ">", ">="}
        The first two compare anything, the others numbers.
    target : float, int, str or bool
    feedback : str
        Shown while it does not hold.

    Examples
    --------
    >>> Condition(fact="idle_numa_nodes", operator="==", target=0, feedback="Some are idle.").holds({"idle_numa_nodes": 2})
    False
    """

    fact: str
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    target: float | str | bool
    feedback: str

    def __post_init__(self) -> None:
        ordered = self.operator in _ORDER
        if not ordered and self.operator not in _COMPARE:
            raise ValueError(f"operator={self.operator!r} must be one of: {', '.join(_COMPARE | _ORDER)}")
        if ordered and _kind(self.target) != "number":
            raise ValueError(f"{self.fact} {self.operator} {self.target!r}: only numbers can be larger or smaller")
        if not ordered and isinstance(self.target, float):
            raise ValueError(
                f"{self.fact} {self.operator} {self.target!r}: give two bounds, as computed decimals are never exact"
            )

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether it holds; a fact that is missing, or of another kind, never fits."""
        fact, target = facts.get(self.fact), self.target
        # In Python True equals 1; in JavaScript, and to a reader, it does not.
        if not isinstance(fact, (bool, int, float, str)) or _kind(fact) != _kind(target):
            return False
        return bool((_COMPARE | _ORDER)[self.operator](fact, target))


def _kind(value: float | str | bool) -> str:
    """Return the JavaScript name of a value's type."""
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalCheck(Check):
    """A setting of an explorer to find.

    The constructor runs the explorer: a goal that its solution misses, or that the initial setting satisfies, is
    rejected. No page can therefore require a result that the model no longer gives.

    Parameters
    ----------
    explorer : str
        Name in `hopperkit.questions.catalogue`.
    conditions : tuple of Condition
        All must hold; the first that does not gives the feedback.
    solution : mapping
        Values of controls that satisfy the goal.

    Attributes
    ----------
    reached : str
        The explorer's answer to the solution.
    """

    kind: ClassVar[str] = "goal"
    marking: ClassVar[tuple[str, ...]] = ("explorer", "conditions", "solution", "reached")
    messages: ClassVar[Mapping[str, str]] = {"empty": "Give the explorer something it can answer first."}

    explorer: str
    conditions: tuple[Condition, ...]
    solution: Mapping[str, Any]
    reached: str = field(init=False)

    def __post_init__(self) -> None:
        from hopperkit.questions.question import load

        Check.__post_init__(self)
        if not self.conditions:
            raise ValueError(f"check {self.name!r} needs a condition")
        # When the book is built, a goal that the model no longer satisfies stops the build.
        explorer = load(self.explorer)
        answer = explorer.run(**self.solution)
        facts = answer.facts
        object.__setattr__(self, "reached", answer.summary)
        for condition in self.conditions:
            if condition.fact not in facts:
                known = did_you_mean(condition.fact, facts)
                raise ValueError(
                    f"check {self.name!r}: an answer of {self.explorer} has no fact {condition.fact!r}{known}"
                )
        reached = self.grade(facts)
        if not reached.right:
            raise ValueError(f"check {self.name!r}: its own solution misses the goal: {reached.feedback}")
        if self.grade(explorer.run().facts).right:
            raise ValueError(f"check {self.name!r}: the explorer starts at the goal")

    def grade(self, answer: Mapping[str, Any] | None) -> Verdict:
        """Grade a setting.

        Parameters
        ----------
        answer : mapping or None
            The facts of the explorer's latest answer; None if it has none.
        """
        if answer is None:
            return Verdict(False, self.messages["empty"], readable=False)
        for condition in self.conditions:
            if not condition.holds(answer):
                return Verdict(False, condition.feedback)
        return Verdict(True, self.explanation)
