"""A job trace of any of the formats."""

import csv
from collections.abc import Iterator
from itertools import chain

from hopperlib.errors import InputError
from hopperlib.network.scheduling.workload import WORDS, Job, Workload
from hopperlib.readers.jobs.sacct import read_sacct
from hopperlib.readers.jobs.swf import read_swf
from hopperlib.readers.jobs.trace import Trace
from hopperlib.readers.source import Source, first_pieces, lines_of
from hopperlib.readers.table import Skips

__all__ = ["read_job_trace"]


def read_job_trace(
    source: Source, *, form: str = "auto", delimiter: str = "|", columns: str = "", cores_per_node: int = 1
) -> Trace:
    """Return the jobs of a trace: in the Standard Workload Format, what ``sacct`` printed, or a table of `Job`.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperlib.readers.source.lines_of`. A DataFrame, or the CSV of one, has the columns of
        `hopperlib.network.scheduling.workload.Job`.
    form : {"auto", "swf", "sacct"}
        The format; auto tells it by the first line.
    delimiter, columns : str
        For sacct output, see `hopperlib.readers.jobs.sacct.read_sacct`.
    cores_per_node : int
        Processors of a node in the Standard Workload Format.

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
    pieces = lines_of(source, cut=False)
    skipped = []
    first = ""
    for first in pieces:
        if first.strip(" \t\r\n\ufeff"):
            break
        skipped.append(first)
    mark = first.lstrip(" \t\ufeff")[:1]
    whole = chain(skipped, [first], pieces)
    if form == "auto" and {"submit_time_s", "run_time_s", "nodes"} <= set(first.strip().split(",")):
        return _read_table(first_pieces(whole))
    if form == "sacct" or (form == "auto" and mark not in (";", "#") and (mark == "{" or delimiter in first)):
        # JSON may stand in one line, of which the pieces follow one another.
        lines = whole if mark == "{" else first_pieces(whole)
        return read_sacct(lines, delimiter=delimiter, columns=columns)
    return read_swf(first_pieces(whole), cores_per_node=cores_per_node)


def _read_table(lines: Iterator[str]) -> Trace:
    """Return the jobs of a CSV file with the columns of `Job`; an empty cell is unknown."""
    jobs = []
    for row in csv.DictReader(lines):
        given = {name: row[name] for name in Job._fields if row.get(name)}
        try:
            jobs.append(Job(**{name: text if name in WORDS else int(float(text)) for name, text in given.items()}))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            reason = str(error).removeprefix("Job.__new__() ")
            raise InputError(f"row {len(jobs) + 1} of the table is no job: {reason}") from None
    if not jobs:
        raise InputError("the table holds no job")
    return Trace(workload=Workload(jobs), skips=Skips())
