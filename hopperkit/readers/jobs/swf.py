"""The Standard Workload Format of the Parallel Workloads Archive.

Each line is a job with 18 fields; -1 means unknown; lines that begin with ``;`` are the header. Some files also lack
the header, or contain decimals, tabs and additional columns. Nothing is guessed: a line without a job's size or run
time is counted and left out.

The rules: a job's size is the number of processors allocated or, if unknown, requested; its limit is the requested time
or, if that is unknown or 0, its run time; its queue is field 15 or, if unknown, the partition of field 16. Rows of a
job recorded in parts (status 2, 3, 4) are left out if another row summarizes them.
"""

import re
from collections.abc import Iterable, Iterator

from hopperkit.readers.jobs.trace import Trace, counted
from hopperkit.readers.source import Source, lines_of
from hopperkit.readers.table import Skips
from hopperkit.traces.capacity.machine import nodes_in_use
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Job
from hopperlib.scheduling.workload import Workload as _Workload

_HEADER = re.compile(r"^;\s*([A-Za-z][\w ]*?)\s*:\s*(.*)")
_CANCELLED = 5
_PARTIAL = (2, 3, 4)
# Longest times and largest counts accepted: three centuries, and the capacity of the columns.
_MOST_S, _MOST_COUNTED, _MOST = 10**10, 2**31 - 1, 2**62
# Share of jobs that must use whole nodes; below it, nodes are shared. 95 %, as elsewhere here.
_BROKEN = 0.05
# The fields used, by position: job, submit, wait, run, processors allocated and requested, limit, status, user, and the
# preceding job.
_FIELDS = (0, 1, 2, 3, 4, 7, 8, 10, 11, 16)
_BOUNDS = (_MOST, _MOST_S, _MOST_S, _MOST_S, _MOST_COUNTED, _MOST_COUNTED, _MOST_S, 99, _MOST, _MOST)


def _whole(text: str) -> int:
    """Return a field as an integer, decimals rounded; `ValueError` if it is not a number."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
        if not abs(value) <= _MOST:  # also rejects NaN
            raise ValueError(text) from None
        return int(value + 0.5) if value >= 0 else -1


def read_swf(source: Source, *, cores_per_node: int = 0) -> Trace:
    """Return the jobs of a trace in the Standard Workload Format.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.lines_of`.
    cores_per_node : int
        Processors per node; jobs get whole nodes. 0 uses the header's MaxProcs over MaxNodes if nearly all jobs then
        use whole nodes; otherwise processors are scheduled.

    Raises
    ------
    InputError
        If no line contains a usable job; the message describes the error in the first.

    Examples
    --------
    >>> line = "7 60 5 3600 48 -1 -1 -1 7200 -1 1 3 1 -1 2 -1 -1 -1"
    >>> trace = read_swf(["; MaxNodes: 6384", line, line.replace(" 3600 ", " -1 ")], cores_per_node=24)
    >>> job = trace.workload[0]
    >>> job[:7], job.observed_start_s
    ((7, 60, 2, 3600, 7200, 3, '2'), 65)
    >>> trace.skips.messages()
    ['1 job skipped, run time unknown (first at line 3)']
    """
    if cores_per_node < 0:
        raise InputError(f"cores_per_node={cores_per_node} must be at least 1, or 0 for the value in the header")
    skips, header = Skips(), dict[str, str]()
    counts = dict.fromkeys(("partial-rows", "guessed-limit", "zero-limit", "over-limit", "dependency", "rounded"), 0)
    jobs = _without_parts(_jobs(source, max(1, cores_per_node), counts, header, skips), counts)
    if not jobs:
        why = "; ".join(skips.messages()) or "it has no job at all"
        raise InputError(f"this is not a usable trace in the Standard Workload Format: {why}")
    machine_nodes, processors = (_size(header.get(name, "")) for name in ("MaxNodes", "MaxProcs"))
    if not cores_per_node and 0 < machine_nodes < processors:
        jobs, machine_nodes = _in_nodes(jobs, machine_nodes, processors, counts)
    workload = _Workload(jobs)
    counts["unsorted"] = not workload.sorted_on_entry
    epoch = re.match(r"\s*(\d{1,11})(?!\S)", header.get("UnixStartTime", ""))
    return Trace(
        workload=workload,
        skips=skips,
        notes=counted(counts),
        header=header,
        epoch_s=int(epoch[1]) if epoch else 0,
        nodes=machine_nodes or processors // max(1, cores_per_node),
        timezone=header.get("TimeZoneString", ""),
    )


def _jobs(
    source: Source, cores_per_node: int, counts: dict[str, int], header: dict[str, str], skips: Skips
) -> Iterator[Job]:
    """Yield the jobs of a trace; record its header, repairs and omissions."""
    for number, line in enumerate(lines_of(source), start=1):
        text = line.strip().lstrip("\ufeff")
        if text[:1] in ("", ";", "#"):
            header.update(_HEADER.findall(text[:1000]))
            continue
        fields = text.split(maxsplit=18)
        counts["rounded"] += "." in text and any("." in field for field in (*fields[1:2], *fields[3:5], *fields[7:9]))
        job = _job(fields, cores_per_node, counts)
        if isinstance(job, str):
            skips.add(job, number)
        else:
            yield job


def _without_parts(jobs: Iterable[Job], counts: dict[str, int]) -> list[Job]:
    """Return the jobs, without partial rows that another row summarizes."""
    rows = [(job, int(job.state) in _PARTIAL) for job in jobs]
    summaries = {job.job for job, is_part in rows if not is_part}
    kept = [job for job, is_part in rows if not (is_part and job.job in summaries)]
    counts["partial-rows"] = len(rows) - len(kept)
    return kept


def _size(text: str) -> int:
    """Return the number at the start of a header field; 0 if there is none, or if it exceeds any machine."""
    word = text.split(" ", maxsplit=1)[0]
    return int(word) if word.isdecimal() and len(word) < 8 else 0


def _in_nodes(jobs: list[Job], nodes: int, processors: int, counts: dict[str, int]) -> tuple[list[Job], int]:
    """Return the jobs and the machine in nodes, or in processors if many jobs do not use whole nodes. If the trace
    never used more units than there are nodes, sizes may already be in nodes and are kept.
    """
    each, rest = divmod(processors, nodes)
    broken = sum(job.nodes % each != 0 for job in jobs)
    if broken and nodes_in_use(_Workload(jobs)) <= nodes:
        return jobs, nodes
    if rest or broken > _BROKEN * len(jobs):
        counts["shared-processors"] = broken
        return jobs, processors
    counts["processors"] = len(jobs)
    return [job._replace(nodes=-(-job.nodes // each)) for job in jobs], nodes


def _job(fields: list[str], cores_per_node: int, counts: dict[str, int]) -> Job | str:
    """Return the job on a line, or why it is unusable; count repairs."""
    if len(fields) < 18:
        return "fewer than 18 fields"
    try:
        numbers = [_whole(fields[place]) for place in _FIELDS]
    except ValueError:
        return "a field is not a number"
    if any(number > bound for number, bound in zip(numbers, _BOUNDS, strict=True)):
        return "a number is too large"
    number, submit, wait, run, allocated, requested, limit, status, user, before = numbers
    processors = allocated if allocated > 0 else requested
    if status == _CANCELLED and run <= 0:
        return "cancelled before it started"
    for field, unknown in (("run time", run < 0), ("submit time", submit < 0), ("processors", processors < 1)):
        if unknown:
            return f"{field} unknown"
    if limit <= 0 < run:
        counts["guessed-limit" if limit < 0 else "zero-limit"] += 1
        limit = run
    counts["over-limit"] += run > max(limit, 0)
    counts["dependency"] += before > 0
    # The queue or the partition, whichever is present.
    queue = fields[14] if fields[14] != "-1" else fields[15]
    return Job(
        max(number, -_MOST),
        submit,
        -(-processors // cores_per_node),
        run,
        max(limit, 0),
        max(user, 0),
        queue[:80],
        observed_start_s=submit + wait if wait >= 0 else None,
        cores=processors,
        account=fields[12][:80],
        state=str(max(status, -1)),
    )
