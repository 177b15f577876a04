"""What ``sacct --parsable2`` prints, read as a job trace.

The first line names the columns; which ones there are, and the delimiter, is
up to the site. Lines of steps (``.batch``, ``.extern``, ``.0``) are not jobs.
A line that does not fit the header is counted.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hopperlib.errors import InputError
from hopperlib.failure.sacct import row_of
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.readers.source import Source, lines_of
from hopperlib.readers.trace import Skips, Trace, TraceError
from hopperlib.units import duration_s

__all__ = ["read_sacct"]

_JOB_ID = re.compile(r"\d+(?:[_+]\S*)?")
_NEEDED = ("JobID", "State", "Submit")


def _duration_s(text: str) -> int | None:
    """Return a duration as Slurm prints it, or None if it is unknown or without limit. [s]"""
    try:
        return duration_s(text)
    except InputError:
        return None


def _instant(text: str) -> int | None:
    """Return a time stamp in seconds since 1970, its clock taken as if it were universal time."""
    if text.isdigit():
        return int(text)
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def read_sacct(source: Source, *, delimiter: str = "|") -> Trace:
    """Return the jobs of ``sacct --parsable2`` output; times count from the first submission.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        Output with its header. It must hold JobID, State, Submit, a run time
        (ElapsedRaw, Elapsed, or Start and End) and a width (AllocNodes, NNodes or ReqNodes).
    delimiter : str
        As given to ``sacct --delimiter``.

    Raises
    ------
    TraceError
        If the header is not one of sacct, or no line holds a job that can be taken.

    Examples
    --------
    >>> trace = read_sacct(["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8_1|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4",
    ...                     "8_1.batch|COMPLETED|2024-01-01T00:00:00|00:10:00||1",
    ...                     "9|CANCELLED by 1000|2024-01-01T00:05:00|00:00:00|01:00:00|4"])
    >>> trace.workload[0].requested_time_s, trace.names[trace.workload[0].job], trace.skips.messages()
    (3600, '8_1', ['1 job skipped, cancelled before it started (first at line 4)'])
    """
    header: list[str] | None = None
    skips = Skips()
    jobs: list[Job] = []
    names: dict[int, str] = {}
    users: dict[str, int] = {}
    for number, line in enumerate(lines_of(source), start=1):
        text = line.rstrip("\r\n").lstrip("\ufeff")
        if not text.strip():
            continue
        if header is None:
            header = text.split(delimiter)
            _check_header(header, number)
            continue
        row = row_of(text, header, delimiter=delimiter)
        if row is None:
            skips.add("its fields do not fit the header", number)
            continue
        if row == dict.fromkeys(header) or row["JobID"] == "JobID":
            continue  # Some sites repeat the header when they join files.
        if "." in row["JobID"]:
            continue
        job = _job(row, users, len(jobs))
        if isinstance(job, str):
            skips.add(job, number)
            continue
        if not row["JobID"].isdigit():
            names[job.job] = row["JobID"]
        jobs.append(job)
    if header is None:
        raise TraceError("this is no output of sacct: it is empty")
    if not jobs:
        raise TraceError(f"no job of this sacct output can be used: {'; '.join(skips.messages()) or 'it has none'}")
    start = min(job.submit_time_s for job in jobs)
    workload = Workload(job._replace(submit_time_s=job.submit_time_s - start) for job in jobs)
    return Trace(workload=workload, skips=skips, epoch_s=start, names=names)


def _check_header(header: list[str], number: int) -> None:
    """Refuse what is no header of sacct, or lacks what a trace needs."""
    missing = [name for name in _NEEDED if name not in header]
    if not {"ElapsedRaw", "Elapsed"} & set(header) and not {"Start", "End"} <= set(header):
        missing.append("Elapsed")
    if not {"AllocNodes", "NNodes", "ReqNodes"} & set(header):
        missing.append("NNodes")
    if missing:
        raise TraceError(
            f"line {number} is no header of sacct --parsable2 that can be used: it lacks {', '.join(missing)}; "
            "ask for --format=JobID,User,Partition,State,Submit,Elapsed,Timelimit,NNodes"
        )


def _job(row: dict[str, str], users: dict[str, int], count: int) -> Job | str:
    """Return the job of a row, or why it cannot be taken."""
    if _JOB_ID.fullmatch(row["JobID"]) is None:
        return "JobID is none"
    submit = _instant(row["Submit"])
    if submit is None:
        return "submit time unknown"
    elapsed = _elapsed(row)
    state = row["State"].split()[0] if row["State"] else ""
    if state == "PENDING":
        return "not started yet"
    if state == "RUNNING":
        return "still running"
    if not elapsed and state in ("CANCELLED", "REVOKED", "DEADLINE", "BOOT_FAIL"):
        return "cancelled before it started"
    if elapsed is None:
        return "run time unknown"
    nodes = next(
        (
            int(row[name])
            for name in ("AllocNodes", "NNodes", "ReqNodes")
            if row.get(name, "").isdigit() and int(row[name])
        ),
        0,
    )
    if not nodes:
        return "nodes unknown"
    if row.get("TimelimitRaw", "").isdigit():
        limit: int | None = 60 * int(row["TimelimitRaw"])
    else:
        limit = _duration_s(row.get("Timelimit", ""))
    user = users.setdefault(row.get("User", ""), len(users) + 1)
    name = int(row["JobID"]) if row["JobID"].isdigit() else -1 - count
    return Job(name, submit, nodes, elapsed, elapsed if limit is None else limit, user, row.get("Partition", ""))


def _elapsed(row: dict[str, str]) -> int | None:
    """Return the run time of a row, from the best column it has. [s]"""
    if row.get("ElapsedRaw", "").isdigit():
        return int(row["ElapsedRaw"])
    found = _duration_s(row.get("Elapsed", ""))
    if found is not None:
        return found
    start, end = _instant(row.get("Start", "")), _instant(row.get("End", ""))
    return end - start if start is not None and end is not None and end >= start else None
