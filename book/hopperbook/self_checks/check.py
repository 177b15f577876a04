"""Common parts of all self-checks (a name, a question, hints, and a verdict on an answer), and the kinds with few
choices.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple

MIME_TYPE = "application/vnd.hopper.check+json"


class Verdict(NamedTuple):
    """How an answer was marked.

    `readable` is False for an answer that could not be marked (no number, a
    wrong unit, nothing chosen): it does not count as a try.

    Examples
    --------
    >>> Verdict(right=True, feedback="31 GB are shared by 24 tasks.").readable
    True
    """

    right: bool
    feedback: str
    readable: bool = True


def _plain(value: Any) -> Any:
    """Return a part of a check as plain data."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, tuple):
        return value._asdict() if hasattr(value, "_asdict") else [_plain(part) for part in value]
    return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Common parts of all self-checks.

    Parameters
    ----------
    name : str
        Stable name, unique in the book: lower-case words joined by hyphens.
    question : str
    explanation : str
        Shown with a right answer: why it is right.
    wrong : str
        Shown for a wrong answer without specific feedback.
    hints : tuple of str
        Shown one at a time on request, the least revealing first.
    """

    kind: ClassVar[str] = "check"
    # Additional attributes for marking, and its sentences.
    marking: ClassVar[tuple[str, ...]] = ()
    messages: ClassVar[Mapping[str, str]] = {}

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
        """Grade an answer."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data, with all that marking it needs."""
        names = ("kind", "name", "question", "explanation", "wrong", "hints", *self.marking)
        return {name: _plain(getattr(self, name)) for name in names} | {"messages": dict(self.messages)}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the data for the book's form."""
        return {MIME_TYPE: self.to_dict(), "text/plain": f"Self-check: {self.question}"}


class Option(NamedTuple):
    """One option of a `ChoiceCheck`: its label, its feedback, whether it is right.

    `value` is the model's result for it, `printed` the documented one: shown with the answer to a prediction.
    """

    text: str
    feedback: str
    right: bool = False
    value: float | str | None = None
    printed: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCheck(Check):
    """One or several right options among a few.

    Any wrong option chosen shows the feedback of each, in order and once; only right ones but not all, how many of how
    many; all of them, their feedback and `explanation`.

    Several are to be chosen if more than one is right.

    Parameters
    ----------
    options : tuple of Option
    quantity : str
        Meaning of the options' values, with its unit.
    node : tuple of int
        NUMA nodes, and cores of each, of the node in whose drawing the options are chosen: its cores in order, or its
        NUMA nodes.
    tasks : tuple of int
        Cores that have a task in the model, drawn with the answer.
    several : bool
        Whether any number may be chosen, however many are right.

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
    marking: ClassVar[tuple[str, ...]] = ("several", "options", "quantity", "node", "tasks")
    messages: ClassVar[Mapping[str, str]] = {
        "empty": "Choose an option first.",
        "more": "Right so far: {chosen} of {right}. There are more.",
    }

    options: tuple[Option, ...]
    quantity: str = ""
    node: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    several: bool = False

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if self.node and len(self.options) not in (self.node[0], prod(self.node)):
            raise ValueError(f"check {self.name!r} needs an option for each core of its node, or for each NUMA node")
        if sum(option.right for option in self.options) > 1:
            object.__setattr__(self, "several", True)
        if len(self.options) < 2 or not any(option.right for option in self.options):
            raise ValueError(f"check {self.name!r} needs two options or more, one of them right")
        if len({option.text for option in self.options}) != len(self.options):
            raise ValueError(f"check {self.name!r} has two identical options")
        if any(not option.feedback.strip() for option in self.options):
            raise ValueError(f"check {self.name!r} needs feedback for each option")

    def grade(self, answer: int | Collection[int]) -> Verdict:
        """Grade a choice.

        Parameters
        ----------
        answer : int or collection of int
            Index, or indices, of the chosen options.
        """
        chosen = {answer} if isinstance(answer, int) else set(answer)
        if not chosen:
            return Verdict(False, self.messages["empty"], readable=False)
        mistaken = [option.feedback for i, option in enumerate(self.options) if i in chosen and not option.right]
        if mistaken:
            return Verdict(False, " ".join(dict.fromkeys(mistaken)))
        right = [i for i, option in enumerate(self.options) if option.right]
        if set(right) - chosen:
            return Verdict(False, self.messages["more"].format(chosen=len(chosen), right=len(right)))
        return Verdict(True, " ".join(dict.fromkeys([*(self.options[i].feedback for i in right), self.explanation])))
