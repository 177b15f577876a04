"""A job trace that was read: its jobs, and an account of what was not taken, repaired or guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hopperlib.errors import InputError
from hopperlib.frames import Framed
from hopperlib.network.scheduling.workload import Workload
from hopperlib.readers._skips import Skips

__all__ = ["Note", "Skips", "Trace", "TraceError", "counted"]


class TraceError(InputError):
    """A trace from which no job could be read; the message says why, with the line."""


@dataclass(frozen=True, slots=True)
class Note:
    """What was left out, repaired or guessed: a short stable name, how many jobs, and a sentence."""

    code: str
    count: int
    message: str


# What is repaired or guessed, and what a trace tells of but no simulation here heeds: the sentence behind a number of jobs.
_SENTENCES = {
    "guessed-limit": "without a limit: the run time stands in for it, as if their users had known it (guessed)",
    "zero-limit": "with a limit of 0: the run time stands in for it (guessed)",
    "over-limit": "ran longer than their limit; ended at it here, unless jobs may overrun",
    "partial-rows": "told in parts: the rows of status 2, 3 and 4 are left out where a summary of the job stands beside them",
    "held": "became eligible after their submission (holds, dependencies, a later begin): none starts before, and waits hold that time",
    "het-joined": "of several parts (heterogeneous jobs): parts of one partition are one job here, so that they start together",
    "het-apart": "are parts of heterogeneous jobs in several partitions: they start apart here (not modelled)",
    "array": "are elements of job arrays: each is a job of its own",
    "requeued": "were started again under their number: each run is a job of its own",
    "preempted": "were preempted: not modelled, each runs as long as it did until then",
    "licences": "asked for licences: not modelled, there are always enough",
    "reservation": "ran in a reservation: not modelled, they queue like the others",
    "dependency": "name a job that they depend on: not modelled beyond their eligible time",
    "unsorted": "the submissions were not in order of time; they were sorted, equal ones as in the file",
    "rounded": "with decimals: rounded to whole numbers",
    "late-start": "started before they were eligible or submitted, by the clocks of the trace: their wait counts as 0",
}


def counted(counts: dict[str, int]) -> tuple[Note, ...]:
    """Return the notes of what was counted, by code.

    Examples
    --------
    >>> counted({"zero-limit": 2})[0].message
    '2 jobs with a limit of 0: the run time stands in for it (guessed)'
    """
    notes = []
    for code, count in counts.items():
        sentence = _SENTENCES[code]
        jobs = "" if code == "unsorted" else f"{count:,} job{'s' * (count != 1)} "
        if count:
            notes.append(Note(code, count, jobs + sentence))
    return tuple(notes)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(Framed):
    """A job trace.

    Parameters
    ----------
    workload : Workload
        The jobs that were taken, times from the first submission of the trace or as it gives them.
    skips : Skips
        What was not taken, and why.
    notes : tuple of Note
        What was repaired, guessed or is not modelled.
    header : dict
        Header fields of the file, by name.
    epoch_s : int
        Unix time of time 0; 0 if unknown. [s]
    names : dict
        Job number -> the name the trace gives it, where that is no number.
    """

    workload: Workload
    skips: Skips
    notes: tuple[Note, ...] = ()
    header: dict[str, str] = field(default_factory=dict, repr=False)
    epoch_s: int = 0
    names: dict[int, str] = field(default_factory=dict, repr=False)

    def frame_data(self) -> dict[str, Any]:
        """Return the columns of the jobs; `name` where the trace names them otherwise than by number."""
        names = {"name": [self.names.get(job, str(job)) for job in self.workload.job]} if self.names else {}
        return self.workload.frame_data() | names

    def account(self) -> Iterator[Note]:
        """Yield everything that was left out, repaired or guessed."""
        for (reason, count), message in zip(self.skips.counts.items(), self.skips.messages(), strict=True):
            yield Note(reason.replace(" ", "-").lower(), count, message)
        yield from self.notes
