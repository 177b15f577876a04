"""A few lines of Python to write or mend, right if their values are the model's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hopperbook.cells.run import run
from hopperbook.self_checks.check import Check, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCheck(Check):
    r"""A few lines of Python to write or mend.

    Parameters
    ----------
    start : str
        The initial code.
    solution : str
        Code that passes.
    values : mapping of str to object
        Expressions in the names of the code, and the model's values for them: numbers, texts, and lists of them.

    Raises
    ------
    ValueError
        If a text is no Python, or no value is compared.

    Examples
    --------
    >>> check = CodeCheck(name="half", question="Halve it.", explanation="Two halves make one.",
    ...     start="def half(x):\n    return x", solution="def half(x):\n    return x / 2", values={"half(3)": 1.5})
    >>> check.grade(check.start).feedback
    '`half(3)` gives 3; the model gives 1.5.'
    >>> check.grade(check.solution).right
    True
    """

    kind: ClassVar[str] = "code"
    marking: ClassVar[tuple[str, ...]] = ("start", "solution", "values")
    messages: ClassVar[Mapping[str, str]] = {"empty": "Write some Python first."}

    start: str
    solution: str
    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if not self.values:
            raise ValueError(f"check {self.name!r} compares no value with the model's")
        for text in (self.start, self.solution, *self.values):
            compile(text, f"<{self.name}>", "exec")

    def grade(self, answer: str) -> Verdict:
        """Grade Python text by running it here."""
        if not answer.strip():
            return Verdict(False, self.messages["empty"], readable=False)
        ran = run(answer, self.values)
        if ran.error or ran.wrong:
            return Verdict(False, ran.error or ran.wrong)
        return Verdict(True, self.explanation)
