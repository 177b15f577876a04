"""Read the output of Slurm's ``sacct``: its rows, and the record of one job. Supported are ``--parsable2`` and
``--parsable`` with any columns and, for one job, the default table, using the dashes under its header. A delimiter
inside a job's name or comment makes a line longer than the header; such a line is repaired if the rest fits.
"""

import re
from dataclasses import dataclass

from hopperlib import units
from hopperlib.errors import InputError

# Columns with free text, where a stray delimiter may occur.
_FREE = ("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir")
_SUBMITTED = re.compile(r"\d+|\d{4}-\d\d-\d\d.*|Unknown|None", re.ASCII)
_UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record of one job.

    Parameters
    ----------
    job : str
        Its number.
    state : str
        Of the job: COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY, ...
    exit_code, signal : int or None
        Of the job, or of the first step that failed.
    failed : bool or None
        Whether the job or one of its steps failed; None if it has not ended.
    max_rss_gb : float or None
        Largest memory of one task, as sampled. [GB]
    requested_memory : str or None
        As printed.
    elapsed, time_limit, nodes : str or None
        As printed.
    text : bytes
        The record, with the lines of other jobs blanked to preserve line numbers.
    """

    job: str
    state: str
    exit_code: int | None
    signal: int | None
    failed: bool | None
    max_rss_gb: float | None
    requested_memory: str | None
    elapsed: str | None
    time_limit: str | None
    nodes: str | None
    text: bytes


def memory_gb(text: str) -> float | None:
    """Return a memory size as printed by sacct, or None if it is invalid. [GB]

    Parameters
    ----------
    text : str
        Memory size as printed by sacct, such as ``1024K`` or ``2.5G``.

    Examples
    --------
    >>> memory_gb("4000Mc"), memory_gb("2.5Gn"), memory_gb("1048576K"), memory_gb("")
    (3.90625, 2.5, 1.0, None)
    """
    try:
        # A trailing c or n means per core or per node.
        return units.memory_gb(text.strip().removesuffix("c").removesuffix("n"))
    except InputError:
        return None


def row_of(line: str, header: list[str], *, delimiter: str = "|") -> dict[str, str] | None:
    """Return the fields of a line by column; None if they do not fit the header.

    Extra delimiters are put back into the first free-text column where the rest fits.

    Parameters
    ----------
    line : str
    header : list of str
        Names of the columns.
    delimiter : str
        As given to ``sacct --delimiter``.

    Examples
    --------
    >>> row_of("7|a|b|FAILED", ["JobID", "JobName", "State"])
    {'JobID': '7', 'JobName': 'a|b', 'State': 'FAILED'}
    >>> row_of("7|FAILED", ["JobID", "JobName", "State"]) is None
    True
    """
    fields = line.split(delimiter)
    surplus = len(fields) - len(header)
    if surplus == 0:
        return dict(zip(header, fields, strict=True))
    for name in _FREE if surplus > 0 else ():
        if name not in header:
            continue
        place = header.index(name)
        text = delimiter.join(fields[place : place + surplus + 1])
        row = dict(zip(header, [*fields[:place], text, *fields[place + surplus + 1 :]], strict=True))
        if row["State"][:1].isupper() and _SUBMITTED.fullmatch(row.get("Submit", "None")):
            return row
    return None


def _rows(lines: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows with the number of their line."""
    for number, line in enumerate(lines):
        if "JobID" not in line or "State" not in line:
            continue
        if "|" in line:
            header = line.split("|")
            numbered = [(place, row_of(other, header)) for place, other in enumerate(lines[number + 1 :], number + 1)]
            return [(place, row) for place, row in numbered if row is not None]
        if rows := _rows_by_width(lines, number):
            return rows
    raise InputError(
        "this is not output of sacct: it has no header with JobID and State; produce it with sacct --parsable2 -j <job>"
    )


def _rows_by_width(lines: list[str], number: int) -> list[tuple[int, dict[str, str]]]:
    """Return the rows below a header with columns marked by a line of dashes; empty without such a line."""
    under = lines[number + 1] if number + 1 < len(lines) else ""
    spans = [match.span() for match in re.finditer("-+", under)]
    if under.strip("- \r"):
        return []
    names = [lines[number][slice(*span)].strip() for span in spans]
    return [
        (place, {name: line[slice(*span)].strip() for name, span in zip(names, spans, strict=True)})
        for place, line in enumerate(lines[number + 2 :], number + 2)
        if spans and line.strip()
    ]


def _pair(text: str) -> tuple[int | None, int | None]:
    """Read an exit code and a signal such as ``0:125``."""
    match = re.fullmatch(r"(\d+):(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (None, None)


def read_record(text: str, *, job: str | None = None) -> Record:
    r"""Read the record of one job from sacct's output.

    Parameters
    ----------
    text : str
    job : str or None
        Number of the job; the last one by default.

    Returns
    -------
    Record

    Raises
    ------
    InputError
        If the text is not from sacct, or does not contain the job.

    Examples
    --------
    >>> table = "JobID|State|ExitCode|MaxRSS\n7|FAILED|1:0|\n7.batch|FAILED|1:0|2M\n7.0|OUT_OF_MEMORY|0:125|1048576K\n"
    >>> record = read_record(table)
    >>> record.state, record.failed, record.max_rss_gb
    ('FAILED', True, 1.0)
    """
    lines = text.splitlines()
    rows = [(place, row) for place, row in _rows(lines) if re.match(r"\d", row.get("JobID", ""))]
    job = _chosen_job(job, [row["JobID"] for _, row in rows if "." not in row["JobID"]])
    job_rows = {place: row for place, row in rows if row["JobID"].split(".")[0] == job}
    main, *steps = _main_and_steps(job, list(job_rows.values()))
    bad = [row for row in (main, *steps) if _failed(row)]
    code, signal = _pair((bad[0] if bad else main).get("ExitCode", ""))
    return Record(
        job=job,
        state=_state(main),
        exit_code=code,
        signal=signal,
        failed=None if _state(main).startswith(_UNFINISHED) else bool(bad),
        max_rss_gb=_peak_memory_gb([main, *steps]),
        requested_memory=_cell(main, "ReqMem"),
        elapsed=_cell(main, "Elapsed"),
        time_limit=_cell(main, "Timelimit"),
        nodes=_cell(main, "NodeList"),
        text="\n".join(line if place in job_rows else "" for place, line in enumerate(lines)).encode(),
    )


def _cell(row: dict[str, str], name: str) -> str | None:
    """Return a cell of a row; None if it is empty or missing."""
    return row.get(name) or None


def _failed(row: dict[str, str]) -> bool:
    """Whether a job or a step ended badly."""
    return not _state(row).startswith(("COMPLETED", *_UNFINISHED))


def _peak_memory_gb(rows: list[dict[str, str]]) -> float | None:
    """Return the largest memory of a task of a job, None if no row has it. [GB]"""
    sizes = [memory_gb(row.get("MaxRSS", "")) for row in rows]
    return max((size for size in sizes if size is not None), default=None)


def _chosen_job(job: str | None, jobs: list[str]) -> str:
    """Return the requested job, by default the last one."""
    if not jobs:
        raise InputError("the output of sacct has no job")
    if job is not None and job not in jobs:
        raise InputError(f"job {job!r} is not in the output of sacct, which holds: {', '.join(jobs[:10])}")
    return jobs[-1] if job is None else job


def _main_and_steps(job: str, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the row of a job, and the rows of its steps except Slurm's own."""
    main = next(row for row in rows if row["JobID"] == job)
    return [main, *(row for row in rows if "." in row["JobID"] and not row["JobID"].endswith(".extern"))]


def _state(row: dict[str, str]) -> str:
    """Return the state of a row, with truncated states completed."""
    state = row.get("State", "")
    return {"OUT_OF_ME+": "OUT_OF_MEMORY", "CANCELLED+": "CANCELLED", "NODE_FAI+": "NODE_FAIL"}.get(state, state)
