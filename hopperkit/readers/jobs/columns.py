"""Convert a table of jobs with any common headings (a spreadsheet, another scheduler, pandas) to the form of ``sacct``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hopperkit.readers.jobs.sacct import JOB_ID, SPELLING, read_sacct
from hopperkit.readers.jobs.trace import Note, Trace
from hopperkit.readers.run_times import CLOCK, SECONDS, UNIT, UNITS
from hopperkit.readers.table import ABSENT, finite, read_table, whole_rows
from hopperlib.errors import InputError

# sacct's name of a column, and common names for it, in lowercase letters without the unit.
_NAMES = {
    "JobID": "jobid job id jobnumber jobno slurmjobid",
    "User": "user username userid uid owner",
    "Account": "account project accountname projectid",
    "Partition": "partition queue queuename class vc virtualcluster cluster",
    "QOS": "qos",
    "State": "state status jobstate exitstate",
    "Submit": "submit submittime submitted submission submissiontime submitdate queued queuedat qtime created arrival arrivaltime",
    "Eligible": "eligible eligibletime",
    "Start": "start starttime started startdate begin begintime startedat",
    "End": "end endtime ended enddate finish finished finishtime completed stop endedat",
    "ElapsedRaw": "elapsed elapsedraw elapsedtime runtime duration run ran wall walltime wallclock wallclocktime walltimeused usedtime",
    "Wait": "wait waittime waitingtime queuewait queuetime",
    "Timelimit": "timelimit limit requestedtime timerequested walltimerequested requestedwalltime reqtime reqwalltime walltimelimit",
    "NNodes": "nodes nnodes allocnodes nodecount numnodes numberofnodes nodesused nodesallocated reqnodes nodenum nnode instnum",
    "NCPUS": "ncpus cores cpus alloccpus ncores processors nprocs procs numcores cpunum corenum numcpus ncpu",
    "GPUs": "gpus ngpus gpunum numgpus gpucount allocgpus reqgpus numgpu",
    "NodeList": "nodelist nodenames hosts hostlist exechost",
}  # fmt: skip
_SACCT = {name: column for column, names in _NAMES.items() for name in names.split()}
# Columns that sacct prints; the wait and the end are derived.
_WRITTEN = (
    "JobID", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "ElapsedRaw", "Timelimit",
    "NNodes", "NCPUS", "NodeList", "AllocTRES",
)  # fmt: skip
_MOMENTS, _DURATIONS = ("Submit", "Eligible", "Start", "End"), ("ElapsedRaw", "Timelimit", "Wait")
_ABSENT = ABSENT | {"unknown", "none assigned", "-1"}
# Earlier times have no origin; they are shifted to avoid 0, which means missing. [s]
_DATED, _SHIFT = 10**8, 10**9


class _Column(NamedTuple):
    """Position and name of a column, and seconds per unit."""

    place: int
    name: str
    factor: float


def _columns(header: Sequence[str]) -> dict[str, _Column]:
    """Return the recognized columns by sacct's names."""
    found: dict[str, _Column] = {}
    for place, name in enumerate(header):
        unit = UNIT.search(name)
        word = unit[1].lower() if unit else "s"
        bare = re.sub("[^a-z]", "", (name[: unit.start()] if unit else name).casefold())
        known = _SACCT.get(bare, SPELLING.get(name.lower()))
        if known:
            found.setdefault(known, _Column(place, name, SECONDS[UNITS.get(word, word)]))
    # "queue" next to a partition column is the waiting time, as in the traces of GPU clusters.
    queued = next((place for place, name in enumerate(header) if name.strip().lower() == "queue"), None)
    if queued is not None and "Partition" in found and found["Partition"].place != queued and "Wait" not in found:
        found["Wait"] = _Column(queued, header[queued], 1)
    return found


# What a table of jobs must contain, each from one of several columns.
_NEEDED = {
    "submit_time or start_time": {"Submit", "Start"},
    "run_time or end_time": {"ElapsedRaw", "End"},
    "nodes or cores": {"NNodes", "NCPUS"},
}


def lacking(first: str) -> list[str]:
    """Return the required columns that a header lacks, as example headings.

    Parameters
    ----------
    first : str
        First line of a table.

    Examples
    --------
    >>> lacking("id;submit_time;start_time;run_time [min];nodes"), lacking("job,wall_s")
    ([], ['submit_time or start_time', 'nodes or cores'])
    """
    found = set(_columns(read_table([first]).header))
    return [headings for headings, columns in _NEEDED.items() if not columns & found]


def read_named(lines: Iterable[str], *, timezone: str = "", cores_per_node: int = 0) -> Trace:
    """Read a table of jobs with any reasonable headings; notes list the interpretation of each.

    Timestamps are ISO 8601, ``31.12.2026 08:00``, or seconds; durations are clock times, or numbers in the unit at the
    end of the heading, otherwise seconds. Without a state column, jobs that ran are taken as completed. Without a node
    column, cores are grouped into nodes of the given size, otherwise into one-core nodes.

    Parameters
    ----------
    lines : iterable of str
        The lines.
    timezone : str, default ''
        Time zone of timestamps without one.
    cores_per_node : int, default 0
        Cores of a node.

    Raises
    ------
    InputError
        If a cell cannot be read, or no job can.

    Examples
    --------
    >>> trace = read_named(["id;submit_time;wait_min;run_time [h];nodes", "a;31.12.2026 08:00;30;0,5;4"])
    >>> trace.workload[0].run_time_s, trace.to_frame().loc["a", "start"]
    (1800, Timestamp('2026-12-31 08:30:00+0000', tz='UTC'))
    """
    table = read_table(lines)
    found, called, jobs = _columns(table.header), dict[str, str](), list[dict[str, str]]()
    columns = dict.fromkeys((*_WRITTEN, *(name for name in found if name not in ("Wait", "End", "GPUs"))))
    if not {"Submit", "Wait"} & found.keys():
        del columns["Submit"]
    written = tuple(columns)
    whole = list(whole_rows(table.rows, len(table.header)))
    known = [{name: text for name, at in found.items() if _is_told(text := cells[at.place])} for _, cells in whole]
    for (line, _), row in zip(whole, known, strict=True):
        job = _job(row, found, line, cores_per_node)
        # Job names of other schedulers are not numbers; under sacct's heading, such a name is a step.
        if "JobID" not in table.header and not JOB_ID.fullmatch(job.get("JobID", "")):
            called[str(line)] = job.get("JobID", str(line))
            job["JobID"] = str(line)
        jobs.append(job)
    rows = ("|".join(job.get(name, "").replace("|", " ") for name in written) for job in jobs)
    trace = _renamed(read_sacct(["|".join(written), *rows], timezone=timezone), called)
    others = [
        f"{at.name} as {name.removesuffix('Raw')}" for name, at in found.items() if name.removesuffix("Raw") != at.name
    ]
    note = Note("columns", len(others), f"columns were taken for those of sacct: {', '.join(others)}")
    return replace(
        trace,
        notes=(*trace.notes, note) if others else trace.notes,
        epoch_s=trace.epoch_s if _is_dated(known) else 0,
        # Other schedulers, and people, use other names.
        scheduler="slurm" if {"JobID", "Submit"} <= set(table.header) else "",
    )


def _is_dated(rows: Iterable[Mapping[str, str]]) -> bool:
    """Whether timestamps are dates or count from 1970."""
    return all((finite(row.get("Submit") or row.get("Start") or "") or _DATED) >= _DATED for row in rows)


def _is_told(text: str) -> bool:
    """Whether a cell has a value."""
    return text.lower() not in _ABSENT


def _renamed(trace: Trace, called: Mapping[str, str]) -> Trace:
    """Return the trace with the jobs' original names."""
    return replace(
        trace,
        names=trace.names | {int(number): name for number, name in called.items() if name != number},
        unfinished=tuple((called.get(name, name), job) for name, job in trace.unfinished),
        never=tuple((called.get(name, name), job) for name, job in trace.never),
    )


def _job(row: Mapping[str, str], found: Mapping[str, _Column], line: int, cores_per_node: int) -> dict[str, str]:
    """Return a row as sacct prints it."""
    job = {**row, **_times({name: _time(name, text, found[name], line) for name, text in row.items()})}
    job.setdefault("State", "COMPLETED" if job.get("ElapsedRaw") else "CANCELLED")
    if row.get("GPUs", "").isdecimal():
        job["AllocTRES"] = f"gres/gpu={row['GPUs'][:9]}"
    if "NNodes" not in row:
        job["NNodes"] = str(-(-int(row.get("NCPUS", "0")) // (cores_per_node or 1)))
    return job


def _time(name: str, text: str, column: _Column, line: int) -> Any:
    """Convert a cell that is a time or a duration; anything else, such as UNLIMITED, is returned unchanged."""
    number, clock = finite(text), CLOCK.fullmatch(text)
    if name in _DURATIONS and number is not None:
        return timedelta(seconds=number * column.factor)
    if name in _DURATIONS and clock:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if name in _MOMENTS and number is not None:
        seconds = number * column.factor
        return datetime.fromtimestamp(seconds + _SHIFT * (seconds < _DATED), UTC)
    if name not in _MOMENTS and (name not in _DURATIONS or text.isalpha()):
        return text
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        form = "moment such as 2026-03-01T08:00:00" if name in _MOMENTS else "duration such as 01:30:00, or number"
        raise InputError(f"line {line}, column {column.name}: {text!r} is no {form}") from None


def _times(known: dict[str, Any]) -> dict[str, str]:
    """Return the times of a job in sacct's form, including derived ones."""
    submit, start, end, wait, ran = map(known.get, ("Submit", "Start", "End", "Wait", "ElapsedRaw"))
    if start is None and submit is not None and wait is not None:
        start = submit + wait
    if submit is None and start is not None and wait is not None:
        submit = start - wait
    if ran is None and start is not None and end is not None:
        ran = end - start
    limit = known.get("Timelimit")
    written = {"Submit": submit, "Start": start, "Eligible": known.get("Eligible")}
    times = {name: moment.isoformat() for name, moment in written.items() if moment is not None}
    if ran is not None:
        times["ElapsedRaw"] = str(round(ran.total_seconds()))
    if isinstance(limit, timedelta):
        times["Timelimit"] = f"{limit.days}-{str(timedelta(seconds=limit.seconds)).zfill(8)}"
    return times
