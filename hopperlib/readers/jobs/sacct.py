"""What ``sacct`` printed, read as a job trace: ``--parsable2`` with a header or without, or ``--json``.

Which columns there are, and the delimiter, is up to the site. Lines of steps
(``.batch``, ``.extern``, ``.0``) are not jobs. A line that does not fit the
header is counted. Without a header the columns are those that are named, or
those of the export that Open XDMoD asks for [1]_.

.. [1] Open XDMoD, "Slurm Notes", section Input Format (releases 9 to 11).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from hopperlib.errors import InputError
from hopperlib.failure.sacct import row_of
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.readers.jobs.trace import TABLES, Trace, counted
from hopperlib.readers.source import Source, lines_of
from hopperlib.readers.table import Skips
from hopperlib.units import MIB_PER_MEMORY_GB, duration_s, memory_gb

_JOB_ID = re.compile(r"(\d+)((?:_(?:\d+|\[\S*))?)((?:\+\d+)?)")
_NEEDED = ("JobID", "State", "Submit")
_COLUMNS = {name.lower(): name for name in TABLES["columns"]}
_ENDED_BEFORE_START = tuple(TABLES["ended_before_start"])
_MOMENTS = ("submit_time_s", "eligible_time_s", "observed_start_s")
_MOST_S, _MOST_COUNTED = 10**10, 2**31 - 1
_PIECE, _LONGEST_ENTRY = 1 << 16, 1 << 24


def _duration_s(text: str) -> int | None:
    """Return a duration as Slurm prints it, or None if it is unknown or without limit. [s]"""
    try:
        return duration_s(text)
    except InputError:
        return None


def _instant(text: str) -> int | None:
    """Return a time stamp in seconds since 1970, its clock taken as if it were universal time."""
    if text.isdecimal():
        return int(text[:12]) or None
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def _number(row: dict[str, str], *names: str) -> int:
    """Return the first of some columns that counts anything, or 0."""
    for name in names:
        text = row.get(name, "")
        if text.isdecimal() and len(text) < 12 and int(text):
            return int(text)
    return 0


def read_sacct(source: Source, *, delimiter: str = "|", columns: str = "") -> Trace:
    """Return the jobs of what sacct printed; times count from the first submission.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        Output of ``--parsable2``, or of ``--json``. It must hold JobID, State, Submit, a run time
        (ElapsedRaw, Elapsed, or Start and End) and a width (AllocNodes, NNodes or ReqNodes). Eligible, Start, End,
        Partition, Account, QOS, AllocCPUS, AllocTRES and NodeList tell what was observed, and of which resources.
    delimiter : str
        As given to ``sacct --delimiter``.
    columns : str
        For output without a header: the columns, as given to ``sacct --format``.

    Raises
    ------
    InputError
        If the header is not one of sacct, or no line holds a job that can be taken.

    Examples
    --------
    >>> trace = read_sacct(["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8_1|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4",
    ...                     "8_1.batch|COMPLETED|2024-01-01T00:00:00|00:10:00||1",
    ...                     "9|CANCELLED by 1000|2024-01-01T00:05:00|00:00:00|01:00:00|4"])
    >>> trace.workload[0].requested_time_s, trace.names[trace.workload[0].job], trace.skips.messages()
    (3600, '8_1', ['1 job skipped, cancelled before it started (first at line 4)'])
    """
    skips, counts = Skips(), Counter[str]()
    jobs: list[tuple[str, Job]] = []
    users: dict[str, int] = {}
    for number, row in _rows(source, delimiter, columns, skips):
        job = _job(row, users, counts)
        if isinstance(job, str):
            skips.add(job, number)
        else:
            jobs.append((row["JobID"], job))
    if not jobs:
        raise InputError(f"no job of this sacct output can be used: {'; '.join(skips.messages()) or 'it has none'}")
    jobs = _joined(jobs, counts)
    counts["array"] = sum("_" in name for name, _ in jobs)
    counts["requeued"] = len(jobs) - len({name for name, _ in jobs})
    start = min(job.submit_time_s for _, job in jobs)
    # Names that are no numbers, or none that a column holds, are kept beside numbers below 0.
    strange = {-1 - at: name for at, (name, _) in enumerate(jobs) if not (name.isdecimal() and len(name) < 19)}
    workload = Workload(
        job._replace(
            job=-1 - at if -1 - at in strange else int(name),
            **{key: moment - start for key in _MOMENTS if (moment := getattr(job, key)) is not None},
        )
        for at, (name, job) in enumerate(jobs)
    )
    called = {number: name for name, number in users.items()}
    return Trace(workload=workload, skips=skips, notes=counted(counts), epoch_s=start, names=strange, users=called)


def _rows(source: Source, delimiter: str, columns: str, skips: Skips) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the jobs' rows by column, with the number of the line."""
    header: list[str] | None = None
    lines = lines_of(source, cut=False)
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n").lstrip("\ufeff")
        if not text.strip():
            continue
        if header is None:
            if text.lstrip().startswith("{"):
                yield from enumerate(map(_row_of_entry, _entries(chain([text], lines), skips)), start=1)
                return
            header, is_row = _header(text, delimiter, columns, number)
            if not is_row:
                continue
        row = row_of(text, header, delimiter=delimiter)
        if row is None:
            skips.add("its fields do not fit the header", number)
        # Some sites repeat the header when they join files.
        elif row["JobID"].lower() != "jobid" and "." not in row["JobID"]:
            yield number, row
    if header is None:
        raise InputError("this is no output of sacct: it is empty")


def _header(text: str, delimiter: str, columns: str, number: int) -> tuple[list[str], bool]:
    """Return the columns, and whether the first line is a job already; refuse what lacks what a trace needs."""
    fields = text.split(delimiter)
    if columns.strip():
        stated = [name.split("%")[0].strip() for name in columns.replace(delimiter, ",").split(",")]
    elif fields[0].split("_")[0].split("+")[0].isdecimal():
        # A job: its fields must be those of an export.
        for names in map(str.split, TABLES["exports"]):
            row = row_of(text, names, delimiter=delimiter) or {"State": ""}
            if row["State"][:1].isalpha() and None not in (_instant(row["Submit"]), _duration_s(row["Elapsed"])):
                return names, True
        raise InputError(
            f"line {number} is a job, and no line names the columns: leave out --noheader, or name them as they were given to --format"
        )
    else:
        stated = [name.split("%")[0].strip() for name in fields]
    header = [_COLUMNS.get(name.lower(), name) for name in stated]
    missing = [name for name in _NEEDED if name not in header]
    if not {"ElapsedRaw", "Elapsed"} & set(header) and not {"Start", "End"} <= set(header):
        missing.append("Elapsed")
    if not {"AllocNodes", "NNodes", "ReqNodes"} & set(header):
        missing.append("NNodes")
    if missing:
        raise InputError(
            f"line {number} is no header of sacct --parsable2 that can be used: it lacks {', '.join(missing)}; "
            "ask for --format=JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,Elapsed,Timelimit,NNodes,AllocCPUS,AllocTRES,NodeList"
        )
    return header, bool(columns.strip())


def _entries(pieces: Iterator[str], skips: Skips) -> Iterator[dict[str, Any]]:
    """Yield the entries of the list "jobs" of a JSON text, one by one."""
    decoder, text, place, inside = json.JSONDecoder(), "", 0, False
    rest = chain(pieces, [""])
    while True:
        more = []
        size = 0
        for piece in rest:
            more.append(piece)
            size += len(piece)
            if size >= _PIECE:
                break
        text, place = text[place:] + "".join(more), 0
        if not inside:
            opening = re.search(r'"jobs"\s*:\s*\[', text)
            if opening:
                place, inside = opening.end(), True
        while inside:
            place += len(text[place : place + 4000]) - len(text[place : place + 4000].lstrip(" \t\r\n,"))
            if text[place : place + 1] == "]":
                return
            try:
                # An entry that goes on in the next piece cannot be decoded yet, and is tried again with it.
                entry, place = decoder.raw_decode(text, place)
            except (ValueError, RecursionError):
                break
            if isinstance(entry, dict):
                yield entry
        if not size or len(text) - place > _LONGEST_ENTRY:
            if not inside:
                raise InputError('this JSON is none of sacct: it has no list "jobs"')
            return skips.add("the JSON is broken or cut off from there on", 0) if text[place:].strip() else None


def _row_of_entry(entry: dict[str, Any]) -> dict[str, str]:
    """Return an entry of the JSON as a row of the text."""

    def at(path: str) -> Any:
        value: Any = entry
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def text(path: str) -> str:
        value = at(path)
        if isinstance(value, dict):
            value = value.get("number") if value.get("set", True) and not value.get("infinite") else None
        return str(value[0] if isinstance(value, list) and value else "" if value is None or value == [] else value)

    row = {column: text(path) for column, path in TABLES["json"].items()}
    allocated = at("tres.allocated")
    parts = [part for part in allocated if isinstance(part, dict)] if isinstance(allocated, list) else []
    names = ["/".join(filter(None, (str(part.get("type")), str(part.get("name") or "")))) for part in parts]
    tres = (f"{name}={part.get('count')}{'M' * (name == 'mem')}" for name, part in zip(names, parts, strict=True))
    array, element, het = text("array.job_id"), text("array.task_id"), text("het.job_id")
    job = f"{array}_{element}" if array not in ("", "0") and element else text("job_id")
    if het not in ("", "0"):
        job = f"{het}+{text('het.job_offset') or 0}"
    return row | {"JobID": job, "User": row["User"] or text("association.user"), "AllocTRES": ",".join(tres)}


def _job(row: dict[str, str], users: dict[str, int], counts: Counter[str]) -> Job | str:
    """Return the job of a row, or why it cannot be taken; count what is repaired or not modelled."""
    if _JOB_ID.fullmatch(row["JobID"][:200]) is None:
        return "JobID is none"
    submit = _instant(row["Submit"])
    if submit is None:
        return "submit time unknown"
    elapsed, start = _elapsed(row), _instant(row.get("Start", ""))
    state = row["State"].split()[0].rstrip("+") if row["State"].strip() else ""
    if state in TABLES["unfinished"]:
        return str(TABLES["unfinished"][state])
    # The state may be cut to the width of a column.
    if not elapsed and (start is None or state.startswith("CANCELL")) and state.startswith(_ENDED_BEFORE_START):
        return "cancelled before it started"
    if elapsed is None:
        return "run time unknown"
    nodes, cores, gpus, memory = _resources(row)
    if not nodes:
        return "nodes unknown"
    limit = 60 * _number(row, "TimelimitRaw") or _duration_s(row.get("Timelimit", ""))
    eligible = _instant(row.get("Eligible", ""))
    if max(nodes, cores, gpus, memory) > _MOST_COUNTED or max(submit, elapsed, limit or 0) > _MOST_S:
        return "a number is too large"
    if not limit and elapsed:
        counts["guessed-limit" if limit is None else "zero-limit"] += 1
    limit = limit or elapsed
    counts["over-limit"] += elapsed > limit
    counts["held"] += eligible is not None and eligible > submit
    counts["late-start"] += start is not None and start < max(submit, eligible or 0)
    for code, column in (("licences", "Licenses"), ("reservation", "Reservation"), ("dependency", "Dependency")):
        counts[code] += row.get(column, "") not in ("", "(null)", "None")
    counts["preempted"] += state.startswith("PREEMPT")
    return Job(
        0,
        submit,
        nodes,
        elapsed,
        limit,
        users.setdefault(row.get("User", ""), len(users) + 1),
        row.get("Partition", "")[:200],
        eligible_time_s=None if eligible is None else max(submit, eligible),
        observed_start_s=None if start is None else max(start, submit),
        cores=cores,
        gpus=gpus,
        memory_mb=memory,
        account=row.get("Account", ""),
        qos=row.get("QOS", ""),
        state=state,
        node_list="" if row.get("NodeList", "").startswith("None") else row.get("NodeList", ""),
    )


def _resources(row: dict[str, str]) -> tuple[int, int, int, int]:
    """Return nodes, cores, GPUs and memory of a row, as granted or else as asked for; 0 where it does not say. [MB]"""
    pairs = (row.get("AllocTRES") or row.get("ReqTRES", "")).split(",")
    tres = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    nodes = _number(row, "AllocNodes", "NNodes", "ReqNodes")
    cores = _number(row, "AllocCPUS", "NCPUS") or _number(tres, "cpu") or _number(row, "ReqCPUS")
    gpus = _gpus(tres, row.get("AllocGRES") or row.get("ReqGRES", ""))
    return nodes, cores, gpus, _memory_mb(tres.get("mem", "") or row.get("ReqMem", ""), nodes, cores)


def _elapsed(row: dict[str, str]) -> int | None:
    """Return the run time of a row, from the best column it has. [s]"""
    if row.get("ElapsedRaw", "").isdecimal():
        return int(row["ElapsedRaw"][:18])
    elapsed_s = _duration_s(row.get("Elapsed", ""))
    if elapsed_s is not None:
        return elapsed_s
    start, end = _instant(row.get("Start", "")), _instant(row.get("End", ""))
    return end - start if start is not None and end is not None and end >= start else None


def _gpus(tres: dict[str, str], gres: str) -> int:
    """Return the GPUs of a job: their sum where it stands, else by type; in releases of old from the GRES."""
    if "gres/gpu" in tres:
        return _number(tres, "gres/gpu")
    typed = sum(_number(tres, name) for name in tres if name.startswith("gres/gpu:"))
    return typed or sum(int(count) for count in re.findall(r"gpu(?::[A-Za-z]\w*)?:(\d{1,9})", gres))


def _memory_mb(text: str, nodes: int, cores: int) -> int:
    """Return the memory of a job, printed for the whole, each node (``n``) or each core (``c``). [MiB]"""
    times = {"n": nodes, "c": cores}.get(text[-1:], 1)
    try:
        return round(MIB_PER_MEMORY_GB * memory_gb(text.rstrip("nc"), unit="M")) * times
    except InputError:
        return 0


def _joined(jobs: list[tuple[str, Job]], counts: Counter[str]) -> list[tuple[str, Job]]:
    """Return the jobs with the parts of a heterogeneous one in one partition made one."""
    places: dict[tuple[str, str, int], int] = {}
    partitions: dict[str, set[str]] = {}
    kept: list[tuple[str, Job]] = []
    for name, job in jobs:
        base, plus, _ = name.partition("+")
        place = places.setdefault((base, job.queue, job.submit_time_s), len(kept)) if plus else len(kept)
        if place < len(kept):
            first = kept[place][1]
            summed = {key: getattr(first, key) + getattr(job, key) for key in ("nodes", "cores", "gpus", "memory_mb")}
            longest = {key: max(getattr(first, key), getattr(job, key)) for key in ("run_time_s", "requested_time_s")}
            nodes = ",".join(filter(None, (first.node_list, job.node_list)))
            kept[place] = kept[place][0], first._replace(**summed, **longest, node_list=nodes)
            counts["het-joined"] += 1
            continue
        if plus:
            partitions.setdefault(base, set()).add(job.queue)
        kept.append((name, job))
    counts["het-apart"] = sum(len(queues) for queues in partitions.values() if len(queues) > 1)
    return kept
