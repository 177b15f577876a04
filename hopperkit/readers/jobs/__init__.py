"""Read a job trace in any supported format."""

import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from hopperkit.readers.jobs.batch_accounting import is_lsf, is_pbs, read_lsf, read_pbs
from hopperkit.readers.jobs.columns import lacking, read_named
from hopperkit.readers.jobs.jobcomp import is_jobcomp, read_jobcomp
from hopperkit.readers.jobs.sacct import read_sacct
from hopperkit.readers.jobs.swf import read_swf
from hopperkit.readers.jobs.trace import ENDLESS_S, Trace
from hopperkit.readers.source import Source, first_pieces, lines_of
from hopperkit.readers.table import Skips
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import WORDS, Job, Workload
from hopperlib.text import listed

__all__ = ["read_job_trace"]


def read_job_trace(
    source: Source,
    *,
    form: str = "auto",
    delimiter: str = "|",
    columns: str = "",
    timezone: str = "",
    cores_per_node: int = 0,
) -> Trace:
    """Return the jobs of a trace from Slurm, PBS or LSF, in the Standard Workload Format, or in a table.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.lines_of`. A DataFrame, or the CSV of one, has the columns of
        `hopperlib.scheduling.workload.Job`, of `Trace.to_frame`, of sacct, or similar names.
    form : {"auto", "swf", "sacct", "jobcomp", "pbs", "lsf"}
        The format; auto detects it from the first line.
    delimiter, columns, timezone : str
        For sacct output, see `hopperkit.readers.jobs.sacct.read_sacct`.
    cores_per_node : int
        Processors per node in the Standard Workload Format; 0 uses the header.

    Raises
    ------
    InputError
        If no job can be read.

    Examples
    --------
    >>> rows = ["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4"]
    >>> read_job_trace(rows).workload[0].run_time_s
    600
    """
    if {"submit", "start", "run_time", "nodes"} <= set(getattr(source, "columns", ())) and (
        getattr(source, "dtypes", {})["run_time"].kind == "m"
    ):
        return _read_frame(source)
    pieces = lines_of(source, cut=False)
    skipped = []
    first = ""
    for first in pieces:
        if first.strip(" \t\r\n\ufeff"):
            break
        skipped.append(first)
    second = next(pieces, "")
    whole = chain(skipped, [first, second], pieces)
    form = _form_of(first, second, delimiter) if form == "auto" else form
    if form == "columns":
        rows = _columns_of(second, chain([first], first_pieces(pieces)))
        return read_sacct(rows, columns=columns, timezone=timezone)
    if form == "table":
        return _read_table(first_pieces(whole))
    if form == "named":
        return read_named(first_pieces(whole), timezone=timezone, cores_per_node=cores_per_node)
    if form == "jobcomp":
        return read_jobcomp(first_pieces(whole), timezone=timezone)
    if form in ("pbs", "lsf"):
        return (read_pbs if form == "pbs" else read_lsf)(first_pieces(whole))
    if form == "sacct":
        # JSON may be one line, read in consecutive pieces.
        lines = whole if _mark(first) == "{" else first_pieces(whole)
        return read_sacct(lines, delimiter=delimiter, columns=columns, timezone=timezone)
    return read_swf(first_pieces(whole), cores_per_node=cores_per_node)


def _mark(line: str) -> str:
    """Return the character with which a line begins."""
    return line.lstrip(" \t\ufeff")[:1]


def _form_of(first: str, second: str, delimiter: str) -> str:
    """Detect the format of a trace from its first two lines; raise `InputError` if it is unknown."""
    mark = _mark(first)
    for name, is_form in (("jobcomp", is_jobcomp), ("pbs", is_pbs), ("lsf", is_lsf)):
        if is_form(first):
            return name
    if second.startswith("---"):
        return "columns"
    if {"submit_time_s", "run_time_s", "nodes"} <= set(first.strip().split(",")):
        return "table"
    # Tables separated by bars come from sacct, unless they have other column names.
    of_sacct = "|submit|" in f"|{first.strip().lower()}|"
    if (mark.isalpha() or mark == '"') and not of_sacct and not lacking(first):
        return "named"
    if mark == "{" or (delimiter in first and mark not in (";", "#")):
        return "sacct"
    if mark.isalpha():
        raise InputError(
            f"the first line, {first.strip()[:60]!r}, is not from a job trace; supported are the Standard Workload Format, the output of sacct -P with JobID, State, Submit, Start, Elapsed and NNodes, and tables with headings such as submit_time, start_time, run_time and nodes; as a table, this lacks {listed(lacking(first))}"
        )
    return "swf"


def _columns_of(rule: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines separated by bars: without -P, sacct prints columns as wide as the dashes below its first line."""
    places = [match.span() for match in re.finditer("-+", rule)]
    for line in lines:
        yield "|".join(line[begin:end].strip() for begin, end in places)


def _read_frame(table: Any) -> Trace:
    """Return the jobs of a DataFrame in the form of `Trace.to_frame`, possibly edited; jobs without a run time are
    counted.
    """
    skips, frame = Skips(), table.reset_index()
    for row in frame.index[frame["run_time"].isna()]:
        skips.add("without a run time", int(row) + 1)
    frame = frame[frame["run_time"].notna()]
    if frame.empty:
        raise InputError("the table has no job with a run time")
    origin = frame["submit"].min()
    users = {name: number for number, name in enumerate(dict.fromkeys(frame["user"]), 1)} if "user" in frame else {}
    called = [str(name) for name in frame.get("job", frame.index)]
    numbers = [int(name) if name.isdecimal() and len(name) < 19 else -1 - row for row, name in enumerate(called)]
    jobs = frame[[]].assign(job=numbers, **_columns_of_jobs(frame, origin, users))
    zone = str(origin.tz)
    return Trace(
        workload=Workload(jobs),
        skips=skips,
        epoch_s=int(origin.timestamp()),
        names={number: name for number, name in zip(numbers, called, strict=True) if number < 0},
        users={number: name for name, number in users.items() if name},
        timezone="" if zone in ("None", "UTC") else zone,
    )


def _columns_of_jobs(frame: Any, origin: Any, users: dict[str, int]) -> dict[str, Any]:
    """Return the columns of a DataFrame as job fields, with timestamps in seconds from an origin."""
    columns = {name: frame[name] for name in Job._fields if name in frame and name not in ("job", "user")}
    for name, column in (("submit_time_s", "submit"), ("observed_start_s", "start"), ("eligible_time_s", "eligible")):
        columns |= {name: (frame[column] - origin).dt.total_seconds()} if column in frame else {}
    run_time = frame["run_time"].dt.total_seconds()
    requested_s = frame.get("requested_time", frame["run_time"]).dt.total_seconds().fillna(ENDLESS_S)
    columns |= {"run_time_s": run_time, "requested_time_s": requested_s, "queue": frame.get("partition", "")}
    return columns | ({"user": frame["user"].map(users)} if users else {})


def _read_table(lines: Iterator[str]) -> Trace:
    """Return the jobs of a CSV file with the columns of `Job`; an empty cell is unknown."""
    jobs = []
    for row in csv.DictReader(lines):
        given = {name: row[name] for name in Job._fields if row.get(name)}
        try:
            jobs.append(Job(**{name: text if name in WORDS else int(float(text)) for name, text in given.items()}))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            reason = str(error).removeprefix("Job.__new__() ")
            raise InputError(f"row {len(jobs) + 1} of the table is not a job: {reason}") from None
    if not jobs:
        raise InputError("the table has no job")
    return Trace(workload=Workload(jobs), skips=Skips())
