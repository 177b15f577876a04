"""A job trace that was read: its jobs, and an account of every line that was not taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from hopperlib.errors import InputError
from hopperlib.network.scheduling.workload import Workload
from hopperlib.readers._skips import Skips

__all__ = ["Skips", "Trace", "TraceError"]


class TraceError(InputError):
    """A trace from which no job could be read; the message says why, with the line."""


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
