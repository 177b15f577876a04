"""A job trace that was read: its jobs, and an account of every line that was not taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from hopperlib.errors import InputError
from hopperlib.network.scheduling.workload import Workload

__all__ = ["Skips", "Trace", "TraceError"]


class TraceError(InputError):
    """A trace from which no job could be read; the message says why, with the line."""


@dataclass(slots=True)
class Skips:
    """Lines that were not taken, by reason: how many, and the first of them."""

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
            f"{count:,} job{'s' if count > 1 else ''} skipped, {reason} (first at line {self.first_line[reason]:,})"
            for reason, count in self.counts.items()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A job trace.

    Parameters
    ----------
    workload : Workload
        The jobs that were taken, times from the first submission of the trace or as it gives them.
    skips : Skips
        What was not taken, and why.
    notes : tuple of str
        What else a reader should know: unsorted submissions, rounded times.
    header : dict
        Header fields of the file, by name.
    epoch_s : int
        Unix time of time 0; 0 if unknown. [s]
    names : dict
        Job number -> the name the trace gives it, where that is no number.
    """

    workload: Workload
    skips: Skips
    notes: tuple[str, ...] = ()
    header: dict[str, str] = field(default_factory=dict)
    epoch_s: int = 0
    names: dict[int, str] = field(default_factory=dict)
