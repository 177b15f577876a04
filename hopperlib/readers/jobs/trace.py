"""A job trace that was read: its jobs, and an account of what was not taken, repaired or guessed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hopperlib.frames import Framed
from hopperlib.network.scheduling.workload import Workload
from hopperlib.package_data import read_beside
from hopperlib.readers.table import Skips

# Columns of sacct, and sentences about jobs by code.
TABLES = read_beside(__file__, "traces.toml")


@dataclass(frozen=True, slots=True)
class Note:
    """What was left out, repaired or guessed: a short stable name, how many jobs, and a sentence."""

    code: str
    count: int
    message: str


def counted(counts: dict[str, int]) -> tuple[Note, ...]:
    """Return the notes of what was counted, by code.

    Examples
    --------
    >>> counted({"zero-limit": 2})[0].message
    '2 jobs with a limit of 0: the run time stands in for it (guessed)'
    """
    subjects = {
        code: "" if code == "unsorted" else f"{count:,} job{'s' * (count != 1)} " for code, count in counts.items()
    }
    return tuple(Note(code, count, subjects[code] + TABLES["notes"][code]) for code, count in counts.items() if count)


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
    users : dict
        The same of users.
    """

    workload: Workload
    skips: Skips
    notes: tuple[Note, ...] = ()
    header: dict[str, str] = field(default_factory=dict, repr=False)
    epoch_s: int = 0
    names: dict[int, str] = field(default_factory=dict, repr=False)
    users: dict[int, str] = field(default_factory=dict, repr=False)

    def frame_data(self) -> dict[str, Any]:
        """Return the columns of the jobs; `name` where the trace names them otherwise than by number."""
        names = {"name": [self.names.get(job, str(job)) for job in self.workload.job]} if self.names else {}
        return self.workload.frame_data() | names

    def account(self) -> Iterator[Note]:
        """Yield everything that was left out, repaired or guessed."""
        for (reason, count), message in zip(self.skips.counts.items(), self.skips.messages(), strict=True):
            yield Note(reason.replace(" ", "-").lower(), count, message)
        yield from self.notes
