"""An account of the lines of a file that were not taken."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Skips"]


@dataclass(slots=True)
class Skips:
    """Lines that were not taken, by reason: how many, and the first of them."""

    what: str = "job"
    fate: str = "skipped"
    counts: dict[str, int] = field(default_factory=dict)
    first_line: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, line: int) -> None:
        """Count a line."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first_line.setdefault(reason, line)

    @property
    def total(self) -> int:
        """Lines that were not taken."""
        return sum(self.counts.values())

    def messages(self) -> list[str]:
        """Return one sentence for each reason.

        Examples
        --------
        >>> skips = Skips()
        >>> skips.add("cancelled before it started", 7)
        >>> skips.messages()
        ['1 job skipped, cancelled before it started (first at line 7)']
        """
        return [
            f"{count:,} {self.what}{'s' if count > 1 else ''} {self.fate}, {reason} "
            f"(first at line {self.first_line[reason]:,})"
            for reason, count in self.counts.items()
        ]
