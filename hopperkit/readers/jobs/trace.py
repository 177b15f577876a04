"""A job trace: its jobs, with counts of omissions, repairs and guesses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hopperkit.frames import TableMixin, timed_frame
from hopperkit.readers.table import Skips
from hopperlib.scheduling.workload import Job, Workload

# Columns of a frame that are fields of a job; and the limit that represents unlimited. [s]
_WORDS_OF_FRAMES = {
    "account": "account", "partition": "queue", "qos": "qos", "state": "state", "nodes": "nodes", "cores": "cores",
    "gpus": "gpus", "memory_mb": "memory_mb", "node_list": "node_list",
}  # fmt: skip
ENDLESS_S = 10**10
# Repairs, guesses, and unmodeled features of a trace: the text that follows "3 jobs".
_NOTES = {
    "no-submit": "without a submission time: run times and use are known, waits are not in this log",
    "guessed-limit": "without a limit: the run time is used instead, as if users had known it (guessed)",
    "zero-limit": "with a limit of 0: the run time is used instead (guessed)",
    "over-limit": "ran longer than their limit; here they end at it, unless jobs may overrun",
    "partial-rows": "recorded in parts: rows with status 2, 3 and 4 are left out if the job also has a summary row",
    "held": "became eligible after submission (holds, dependencies, a later begin time): they do not start earlier, and waits include that time",
    "het-joined": "heterogeneous, with several components: those in one partition are one job here, so that they start together",
    "het-apart": "are components of heterogeneous jobs in several partitions: here they start separately (not modeled)",
    "array": "from job arrays: each element is a separate job",
    "requeued": "restarted under the same number: each run is a separate job",
    "preempted": "ended by preemption: not modeled, each runs as long as it did until then",
    "endless": "without a time limit (UNLIMITED): no reservation relies on their end",
    "suspended": "suspended for a time, which counts neither as run time nor as time on their nodes",
    "licences": "that requested licenses: there are always enough, unless a limit gives their number",
    "reservation": "ran in a reservation: not modeled, queued like any other",
    "dependency": "with a dependency on another job: not modeled beyond the eligible time",
    "unsorted": "submitted out of order: they were sorted by time, ties as in the file",
    "processors": "with a size in processors, of which a node has several by the header: here they get whole nodes",
    "shared-processors": "with a size that is not a whole number of nodes by the header: the trace is scheduled by processors",
    "rounded": "with decimals, rounded to integers",
    "late-start": "started before they were eligible or submitted, by the trace's clocks: the wait counts as 0",
}


@dataclass(frozen=True, slots=True)
class Note:
    """An omission, repair or guess: a stable short name, the number of jobs, and a description."""

    code: str
    count: int
    message: str


def _end(moment: int | None, seconds: int | None) -> int | None:
    """Return a time plus a duration; None if either is unknown. [s]"""
    return None if moment is None or seconds is None else moment + seconds


def counted(counts: dict[str, int]) -> tuple[Note, ...]:
    """Return the notes for counted events, by code.

    Parameters
    ----------
    counts : dict[str, int]
        Number of events by code.

    Examples
    --------
    >>> counted({"zero-limit": 2})[0].message
    '2 jobs with a limit of 0: the run time is used instead (guessed)'
    """
    subjects = {
        code: "" if code == "unsorted" else f"{count:,} job{'s' * (count != 1)} " for code, count in counts.items()
    }
    return tuple(Note(code, count, subjects[code] + _NOTES[code]) for code, count in counts.items() if count)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(TableMixin):
    """A job trace.

    Parameters
    ----------
    workload : Workload
        The jobs that were read, with times from the trace's first submission, or as given.
    skips : Skips
        Omissions, with reasons.
    notes : tuple of Note
        Repairs, guesses and unmodeled features.
    header : dict
        Header fields of the file, by name.
    epoch_s : int
        Unix time of time 0; 0 if unknown. [s]
    names : dict
        Job number -> name in the trace, if that is not a number.
    users : dict
        The same for users.
    unfinished : tuple of (str, Job)
        Jobs that were still running or waiting when the trace was written, by name; they are not in `workload`.
    timezone : str
        Time zone of the trace's timestamps; empty for UTC.
    nodes : int
        Size of the machine, in the unit of the jobs' sizes; 0 if unknown. [nodes]
    never : tuple of (str, Job)
        Jobs that ended before they started, by name; they are not in `workload`.
    scheduler : str
        Scheduler that wrote it: ``slurm``, ``pbs`` or ``lsf``; empty if unknown.
    has_waits : bool
        Whether it has submission times; otherwise, submission is set to the start, and waits are unknown.
    """

    workload: Workload
    skips: Skips
    notes: tuple[Note, ...] = ()
    header: dict[str, str] = field(default_factory=dict, repr=False)
    epoch_s: int = 0
    names: dict[int, str] = field(default_factory=dict, repr=False)
    users: dict[int, str] = field(default_factory=dict, repr=False)
    unfinished: tuple[tuple[str, Job], ...] = field(default=(), repr=False)
    timezone: str = ""
    nodes: int = 0
    never: tuple[tuple[str, Job], ...] = field(default=(), repr=False)
    scheduler: str = ""
    has_waits: bool = True

    def __post_init__(self) -> None:
        self.workload.users = self.users

    def to_frame(self) -> Any:
        """Return one row per job, by name or number, with times in the trace's time zone, waits and run times. Jobs
        that never started or had not ended are included, without the times that they lack. For a trace without a start
        date, time 0 is the start of 1970. `Workload.to_frame` has seconds and numbers.

        Examples
        --------
        >>> from hopperkit.readers.jobs import read_job_trace
        >>> lines = ["JobID|User|State|Submit|Start|Elapsed|NNodes", "8|ann|COMPLETED|2026-03-01T08:00:00|2026-03-01T09:30:00|00:10:00|4",
        ...          "9|bob|CANCELLED by 7|2026-03-01T08:00:00|Unknown|00:00:00|4"]
        >>> jobs = read_job_trace(lines).to_frame()
        >>> jobs.loc["8", "wait"], jobs.loc["8", "end"]
        (Timedelta('0 days 01:30:00'), Timestamp('2026-03-01 09:40:00+0000', tz='UTC'))
        >>> jobs["state"].tolist(), jobs["start"].isna().tolist()
        (['COMPLETED', 'CANCELLED'], [False, True])
        """
        named = [(self.names.get(job.job, str(job.job)), job, job.run_time_s) for job in self.workload]
        others = ((name, job, None) for name, job in (*self.unfinished, *self.never))
        rows = sorted([*named, *others], key=lambda row: row[1].submit_time_s)
        names, jobs = [name for name, *_ in rows], [job for _, job, _ in rows]
        columns = _times(jobs, [seconds for *_, seconds in rows], has_waits=self.has_waits) | self._words(jobs)
        by_number = not (self.users or self.names) and all(map(_is_number, names))
        index = [int(name) if by_number else name for name in names]
        return timed_frame(columns, index=index, epoch_s=self.epoch_s, zone=self.timezone)

    def _words(self, jobs: list[Job]) -> dict[str, list[str]]:
        """Return the text columns of a frame: users by name, and the others under the trace's names."""
        columns = {"user": [self.users.get(job.user, str(job.user) if job.user else "") for job in jobs]}
        for column, name in _WORDS_OF_FRAMES.items():
            # In the Standard Workload Format, -1 means unknown.
            columns[column] = ["" if (value := getattr(job, name)) == "-1" else value for job in jobs]
        return columns

    def account(self) -> Iterator[Note]:
        """Yield every omission, repair and guess."""
        for (reason, count), message in zip(self.skips.counts.items(), self.skips.messages(), strict=True):
            yield Note(reason.replace(" ", "-").lower(), count, message)
        yield from self.notes


def _is_number(name: str) -> bool:
    """Whether an integer column holds job names."""
    return name.isdecimal() and len(name) < 19


def _times(jobs: list[Job], ran: list[int | None], *, has_waits: bool) -> dict[str, Any]:
    """Return the time columns of a frame, from the jobs and their run times. [s]"""
    columns: dict[str, Any] = {
        "submit": [job.submit_time_s if has_waits else None for job in jobs],
        "start": [job.observed_start_s for job in jobs],
        "run_time": ran,
        "end": [_end(job.observed_start_s, seconds) for job, seconds in zip(jobs, ran, strict=True)],
        "wait": [_end(job.observed_start_s, -job.submit_time_s) if has_waits else None for job in jobs],
        "requested_time": [job.requested_time_s if job.requested_time_s < ENDLESS_S else None for job in jobs],
    }
    if any(job.eligible_time_s is not None for job in jobs):
        columns["eligible"] = [job.eligible_time_s for job in jobs]
    return columns
