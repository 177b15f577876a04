"""A finding: one fact about the input, its importance, and the remedy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Level = Literal["problem", "advice", "note", "unknown", "ok"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact worth knowing.

    Parameters
    ----------
    code : str
        Stable short name, such as ``idle-numa-nodes``.
    message : str
        The fact and its consequence, with its number.
    level : {"problem", "advice", "note", "unknown", "ok"}
        Importance: it breaks or slows the run, it could be improved, it is worth knowing, it is unknown, or it was
        checked and is fine.
    evidence : mapping
        The underlying numbers.
    advice : str
        The remedy, with the command; empty if the message includes it or nothing needs to be done.

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
        """Return the finding as plain data without empty fields."""
        data: dict[str, Any] = {"code": self.code, "message": self.message, "level": self.level}
        if self.evidence:
            data["evidence"] = dict(self.evidence)
        if self.advice:
            data["advice"] = self.advice
        return data
