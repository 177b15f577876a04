"""A number to work out, right within a tolerance."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

from hopperbook.self_checks.check import Check, Verdict
from hopperbook.self_checks.typed_number import MESSAGES, read_typed_number

# Feedback on slips of writing, which any number check gives; it names no mistake of thought.
ROUNDED = "Close, but rounded too far: give "
SLIPS = (ROUNDED, "A thousand times too large: look at the unit.", "A thousand times too small: look at the unit.")


class _Range(NamedTuple):
    """Values from `low` to `high`, with their feedback."""

    low: float
    high: float
    feedback: str

    def meets(self, other: "_Range") -> bool:
        """Whether the two ranges share a value."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCheck(Check):
    """A number to work out.

    Parameters
    ----------
    answer : float or int
        The expected number, from the model. [`unit`]
    unit : str
        Unit in which it is wanted; empty for a count or a ratio.
    decimals : int
        Decimals to which it is wanted.
    tolerance : float or None
        Tolerance. [`unit`] None means half a unit of the
        last decimal wanted, or not at all if `answer` is an int.
    misconceptions : mapping of float to str
        Wrong numbers from known mistakes -> description of the mistake. They match within the same tolerance.
    spellings : tuple of str
        Other ways to write the unit.
    documented : float or None
        The published value, shown with a reader's prediction and the answer. [`unit`]

    Raises
    ------
    ValueError
        If a misconception cannot be distinguished from the answer or from another.

    Examples
    --------
    Memory of one task when 24 share 31 GB. Dividing the installed 32 GB is a known mistake:

    >>> check = NumberCheck(name="task-memory", question="How much memory has each task?", unit="GB",
    ...     answer=31 / 24, decimals=2, explanation="31 GB are left for 24 tasks.",
    ...     misconceptions={32 / 24: "Some of the 32 GB is taken before your tasks start."})
    >>> check.grade("1.29 GB").right
    True
    >>> check.grade("1.33").feedback
    'Some of the 32 GB is taken before your tasks start.'
    >>> check.grade("1290").feedback
    'A thousand times too large: look at the unit.'
    >>> check.grade("1290 MB")
    Verdict(right=False, feedback="The answer is wanted in GB, and 'MB' is something else.", readable=False)
    """

    kind: ClassVar[str] = "number"
    marking: ClassVar[tuple[str, ...]] = ("unit", "spellings", "decimals", "documented", "answer_text", "mistakes")
    messages: ClassVar[Mapping[str, str]] = MESSAGES

    answer: float
    unit: str = ""
    decimals: int = 0
    tolerance: float | None = None
    misconceptions: Mapping[float, str] | None = None
    spellings: tuple[str, ...] = ()
    documented: float | None = None

    def __post_init__(self) -> None:
        Check.__post_init__(self)
        if not math.isfinite(self.answer):
            raise ValueError(f"check {self.name!r}: answer={self.answer} must be finite")
        if self.decimals < 0 or (self.tolerance is not None and not self.tolerance >= 0):
            raise ValueError(
                f"check {self.name!r}: decimals={self.decimals} and tolerance={self.tolerance} must not be negative"
            )
        # Each range must be distinct from the answer's and from earlier ones, or the feedback would describe the wrong
        # mistake.
        taken = [self.accepted]
        for mistake in self._named_mistakes():
            if any(mistake.meets(other) for other in taken):
                raise ValueError(
                    f"check {self.name!r}: the mistake {(mistake.low + mistake.high) / 2:g} cannot be distinguished from "
                    f"the answer {self.answer_text} or from another mistake"
                )
            taken.append(mistake)

    @property
    def answer_text(self) -> str:
        """The answer in the requested form, with its unit."""
        return f"{self.answer:,.{self.decimals}f} {self.unit}".strip()

    @property
    def accepted(self) -> _Range:
        """The range of right answers."""
        return self._around(self.answer, self.explanation)

    @property
    def mistakes(self) -> tuple[_Range, ...]:
        """Ranges of wrong answers with specific feedback.

        Those given, then an answer rounded too far, then one that is off by a factor of a thousand, each only if
        distinct from the earlier ones.
        """
        ranges = [self.accepted, *self._named_mistakes()]
        for guess in self._general_mistakes():
            if not any(guess.meets(other) for other in ranges):
                ranges.append(guess)
        return tuple(ranges[1:])

    def _around(self, value: float, feedback: str, scale: float = 1) -> _Range:
        """Return the range about a value; a hair wider, as decimals are not exact in binary."""
        half = self.tolerance
        if half is None:
            half = 0.0 if isinstance(self.answer, Integral) else 0.5 * 10**-self.decimals
        half = half * scale + 1e-9 * max(abs(value), half * scale)
        return _Range(value - half, value + half, feedback)

    def _named_mistakes(self) -> list[_Range]:
        return [self._around(value, feedback) for value, feedback in (self.misconceptions or {}).items()]

    def _general_mistakes(self) -> Iterator[_Range]:
        if self.decimals > 0:
            wanted = "1 decimal" if self.decimals == 1 else f"{self.decimals} decimals"
            coarse = round(self.answer, self.decimals - 1)
            yield _Range(coarse - 1e-9 * abs(coarse), coarse + 1e-9 * abs(coarse), f"{ROUNDED}{wanted}.")
        if self.unit:
            yield self._around(self.answer * 1000, SLIPS[1], 1000)
            yield self._around(self.answer / 1000, SLIPS[2], 1 / 1000)

    def grade(self, answer: str | float) -> Verdict:
        """Grade a number, typed as text (`read_typed_number`) or given as a number."""
        try:
            number = read_typed_number(str(answer), unit=self.unit, spellings=self.spellings)
        except ValueError as error:
            return Verdict(False, str(error), readable=False)
        if self.accepted.low <= number <= self.accepted.high:
            return Verdict(True, self.explanation)
        for mistake in self.mistakes:
            if mistake.low <= number <= mistake.high:
                return Verdict(False, mistake.feedback)
        return Verdict(False, self.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data.

        Right is ``low <= number <= high``. Otherwise the first of `mistakes`
        whose range holds the number gives the feedback, else `wrong`.
        """
        bounds = {"low": self.accepted.low, "high": self.accepted.high}
        return Check.to_dict(self) | {"answer": float(self.answer)} | bounds
