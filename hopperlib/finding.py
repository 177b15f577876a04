"""A finding: one thing to know about what was given, how much it matters, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Level = Literal["problem", "advice", "note", "unknown", "ok"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know.

    Parameters
    ----------
    code : str
        Stable short name, such as ``idle-numa-nodes``.
    message : str
        What it is and why it matters, with its number.
    level : {"problem", "advice", "note", "unknown", "ok"}
        How much it matters: it breaks or slows the run, it could be better,
        it is good to know, it cannot be told from what was given, or it was
        looked at and is fine.
    evidence : mapping
        The numbers behind it.
    advice : str
        What to do, with the command; empty if the message says it or nothing is to be done.

    Examples
    --------
    >>> Finding(code="one-ost", message="All data lie on one OST.", level="problem").level
    'problem'
    >>> Finding(code="x", message="y", level="bad")
    Traceback (most recent call last):
    ValueError: level='bad' must be one of: problem, advice, note, unknown, ok
    """

    code: str
    message: str
    level: Level = "advice"
    evidence: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"level={self.level!r} must be one of: {', '.join(LEVELS)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data; what is empty is left out."""
        data: dict[str, Any] = {"code": self.code, "message": self.message, "level": self.level}
        if self.evidence:
            data["evidence"] = dict(self.evidence)
        if self.advice:
            data["advice"] = self.advice
        return data
