"""A curve to draw before the model's is shown."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopperbook.self_checks.check import Check, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveCheck(Check):
    """A curve to draw, from point to point, on an empty chart.

    It is right if its mean distance from the model's curve is at most `within`. [% of the chart's height]

    Parameters
    ----------
    x : tuple of float
        Its x values, in rising order; on the chart they are equidistant.
    x_title, y_title : str
        Axis labels, with units.
    unit : str
        Unit of `y`.
    high : float
        Upper end of the chart, chosen so that it does not give the curve away. [`unit`]
    answer : tuple of float
        The model's curve. [`unit`]
    documented : tuple of (float, float, str)
        Points that a document prints, with its words: x, height [`unit`], text. Shown with the answer.

    Examples
    --------
    >>> check = CurveCheck(name="rate", question="What do 1, 8 and 24 tasks write?", explanation="The node is full.",
    ...     x=(1, 8, 24), x_title="Tasks", y_title="Rate [GB/s]", unit="GB/s", high=5, answer=(0.2, 1.7, 1.7))
    >>> check.grade([0.2, 1.6, 1.8])
    Verdict(right=True, feedback='On average your curve is off by 1 % of the height. The node is full.', readable=True)
    >>> check.grade([0.2, 1.7, 5]).feedback
    'On average your curve is off by 22 % of the height.'
    """

    kind: ClassVar[str] = "curve"
    marking: ClassVar[tuple[str, ...]] = ("x", "x_title", "y_title", "unit", "high", "answer", "documented", "within")
    messages: ClassVar[Mapping[str, str]] = {
        "empty": "Draw the curve from end to end first.",
        "off": "On average your curve is off by {off} % of the height.",
    }

    x: tuple[float, ...]
    x_title: str
    y_title: str
    high: float
    answer: tuple[float, ...]
    unit: str = ""
    documented: tuple[tuple[float, float, str], ...] = ()
    within: int = 10

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if len(self.x) < 2 or list(self.x) != sorted(set(self.x)) or len(self.x) != len(self.answer):
            raise ValueError(f"check {self.name!r} needs an answer for each of two or more rising x")
        if not all(0 <= y <= self.high for y in (*self.answer, *(y for _, y, _ in self.documented))):
            raise ValueError(f"check {self.name!r} has a value outside of the chart, which goes from 0 to {self.high}")

    def grade(self, answer: Sequence[float]) -> Verdict:
        """Grade a curve by its heights at `x`."""
        if len(answer) != len(self.x):
            return Verdict(False, self.messages["empty"], readable=False)
        total = math.fsum(abs(drawn - model) for drawn, model in zip(answer, self.answer, strict=True))
        off = math.floor(100 * total / len(self.x) / self.high + 0.5)
        feedback = self.messages["off"].format(off=off)
        return Verdict(True, f"{feedback} {self.explanation}") if off <= self.within else Verdict(False, feedback)
