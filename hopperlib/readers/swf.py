"""The Standard Workload Format of the Parallel Workloads Archive, read and written.

A line is a job, with 18 fields; -1 means unknown; lines that begin with ``;``
are the header. Files in use also lack the header, hold decimals, tabs and
further columns. Nothing is guessed: a line that does not tell how wide and how
long a job was is counted and left out.

The rules: a job is as wide as the processors it was given, or if that is not
known, as it asked for; it asked for the time it says, or if that is not known,
for its run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.scheduling.workload import Job
from hopperlib.network.scheduling.workload import Workload as _Workload
from hopperlib.readers.source import Source, lines_of
from hopperlib.readers.trace import Skips, Trace, TraceError

__all__ = ["read_swf", "write_swf"]

_HEADER = re.compile(r";\s*([A-Za-z][\w ]*?)\s*:\s*(.*)")
_CANCELLED = 5


def _whole(text: str) -> int:
    """Return a field as a whole number, decimals rounded; `ValueError` if it is none."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
        if not abs(value) <= 1e15:  # "not a number" fails it too
            raise ValueError(text) from None
        return int(value + 0.5) if value >= 0 else -1


def read_swf(source: Source, *, cores_per_node: int = 1) -> Trace:
    """Return the jobs of a trace in the Standard Workload Format.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperlib.readers.source.lines_of`.
    cores_per_node : int
        Processors of a node; a job gets whole nodes.

    Raises
    ------
    TraceError
        If no line holds a job that can be taken; says what was wrong with the first.

    Examples
    --------
    >>> line = "7 60 5 3600 48 -1 -1 -1 7200 -1 1 3 1 -1 2 -1 -1 -1"
    >>> trace = read_swf(["; MaxNodes: 6384", line, line.replace(" 3600 ", " -1 ")], cores_per_node=24)
    >>> trace.workload[0]
    Job(job=7, submit_time_s=60, nodes=2, run_time_s=3600, requested_time_s=7200, user=3, queue='2')
    >>> trace.skips.messages()
    ['1 job skipped, run time unknown (first at line 3)']
    """
    if cores_per_node < 1:
        raise TraceError(f"cores_per_node={cores_per_node} must be at least 1")
    skips, header = Skips(), {}
    jobs: list[Job] = []
    rounded = 0
    for number, line in enumerate(lines_of(source), start=1):
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        if text[0] in ";#":
            match = _HEADER.match(text)
            if match:
                header[match[1]] = match[2].strip()
            continue
        fields = text.split()
        rounded += "." in text and any("." in field for field in (*fields[1:2], *fields[3:5], *fields[7:9]))
        job = _job(fields, cores_per_node)
        if isinstance(job, str):
            skips.add(job, number)
        else:
            jobs.append(job)
    if not jobs:
        why = "; ".join(skips.messages()) or "it holds no job at all"
        raise TraceError(f"this is no trace in the Standard Workload Format that can be used: {why}")
    notes = []
    workload = _Workload(jobs)
    if not workload.sorted_on_entry:
        notes.append("the submissions were not in order of time; they were sorted, equal ones as in the file")
    if rounded:
        notes.append(f"decimals on {rounded:,} line{'s' if rounded > 1 else ''} were rounded to whole numbers")
    epoch = header.get("UnixStartTime", "").split()
    start = int(epoch[0]) if epoch and epoch[0].isdigit() else 0
    return Trace(workload=workload, skips=skips, notes=tuple(notes), header=header, epoch_s=start)


def _job(fields: list[str], cores_per_node: int) -> Job | str:
    """Return the job of a line, or why it cannot be taken."""
    if len(fields) < 18:
        return "fewer than 18 fields"
    try:
        number, submit, run = _whole(fields[0]), _whole(fields[1]), _whole(fields[3])
        allocated, asked, limit = _whole(fields[4]), _whole(fields[7]), _whole(fields[8])
        status, user = _whole(fields[10]), _whole(fields[11])
    except ValueError:
        return "a field is not a number"
    if status == _CANCELLED and run <= 0:
        return "cancelled before it started"
    if run < 0:
        return "run time unknown"
    if submit < 0:
        return "submit time unknown"
    processors = allocated if allocated > 0 else asked
    if processors < 1:
        return "processors unknown"
    return Job(
        number, submit, -(-processors // cores_per_node), run, limit if limit >= 0 else run, max(user, 0), fields[14]
    )


def write_swf(schedule: Schedule, *, cores_per_node: int = 1) -> Iterator[str]:
    r"""Yield the lines of a simulated schedule in the Standard Workload Format.

    Jobs that never started are written as cancelled, with an unknown wait.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> lines = list(write_swf(simulate(Workload([Job(1, 0, 2, 60, 90)]), 4)))
    >>> lines[-1]
    '1 0 0 60 2 -1 -1 2 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n'
    """
    yield "; Version: 2.2\n"
    yield f"; MaxNodes: {schedule.nodes}\n"
    yield f"; MaxProcs: {schedule.nodes * cores_per_node}\n"
    yield "; Note: written by a simulation, not by a machine\n"
    for index, job in enumerate(schedule.workload):
        processors = job.nodes * cores_per_node
        user = job.user or -1
        queue = job.queue if job.queue.isdigit() else "-1"
        if schedule.status[index] == NOT_STARTED:
            wait, run, given, status = -1, -1, -1, _CANCELLED
        else:
            wait = schedule.start_s[index] - job.submit_time_s
            run, given, status = schedule.end_s[index] - schedule.start_s[index], processors, 1
        yield (
            f"{job.job} {job.submit_time_s} {wait} {run} {given} -1 -1 {processors} {job.requested_time_s} -1 "
            f"{status} {user} -1 -1 {queue} -1 -1 -1\n"
        )
