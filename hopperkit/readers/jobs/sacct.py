"""Read the output of ``sacct`` as a job trace: ``--parsable2`` with or without a header, or ``--json``. The site
chooses the columns and the delimiter. Lines of steps (``.batch``, ``.extern``, ``.0``) are not jobs. Lines that do not
match the header are counted. Without a header, the columns are those given, otherwise those of Open XDMoD's export
[1]_.

.. [1] Open XDMoD, "Slurm Notes", section Input Format (releases 9 to 11).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hopperkit.readers.jobs.accounting import row_of
from hopperkit.readers.jobs.trace import Trace, counted
from hopperkit.readers.source import Source, lines_of
from hopperkit.readers.table import Skips
from hopperlib.errors import InputError, refusal
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.units import MIB_PER_MEMORY_GB, SECONDS_PER_HOUR, duration_s, memory_gb

JOB_ID = re.compile(r"(\d+)((?:_(?:\d+|\[\S*))?)((?:\+\d+)?)")
_NEEDED = ("JobID", "State")
# All columns that are read, in sacct's spelling.
_COLUMNS = (
    "JobID", "State", "Submit", "JobIDRaw", "User", "Account", "Partition", "QOS", "Eligible", "Start", "End",
    "Elapsed", "ElapsedRaw", "Timelimit", "TimelimitRaw", "AllocNodes", "NNodes", "ReqNodes", "AllocCPUS", "NCPUS",
    "ReqCPUS", "Suspended", "AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES", "ReqMem", "NodeList", "Licenses", "Reservation",
    "Dependency", "JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir",
)  # fmt: skip
SPELLING = {name.lower(): name for name in _COLUMNS}
# Columns requested by Open XDMoD, by release.
_EXPORTS = (
    "JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed "
    "ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName",
    "JobID JobIDRaw Cluster Partition Account Group GID User UID Submit Eligible Start End Elapsed ExitCode "
    "State NNodes NCPUS ReqCPUS ReqMem ReqGRES ReqTRES AllocTRES Timelimit NodeList JobName",
    "JobID JobIDRaw Cluster Partition Account Group GID User UID Submit Eligible Start End Elapsed ExitCode "
    "State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName",
)
_ENDED_BEFORE_START = (
    "CANCELLED", "REVOKED", "DEADLINE", "BOOT_FAIL", "NODE_FAIL", "FAILED", "PREEMPTED", "OUT_OF_MEMORY",
)  # fmt: skip
_NEVER_STARTED = "cancelled before it started"
_UNFINISHED = {
    "PENDING": "not started yet",
    "RUNNING": "still running",
    "SUSPENDED": "still running",
}
# Path of each column in an entry of sacct --json.
_JSON_PATHS = {
    "State": "state.current",
    "Submit": "time.submission",
    "Eligible": "time.eligible",
    "Start": "time.start",
    "End": "time.end",
    "ElapsedRaw": "time.elapsed",
    "TimelimitRaw": "time.limit",
    "NNodes": "allocation_nodes",
    "User": "user",
    "Account": "account",
    "Partition": "partition",
    "QOS": "qos",
    "NodeList": "nodes",
    "ReqCPUS": "required.CPUs",
    "Licenses": "licenses",
    "Reservation": "reservation.name",
}
_MOMENTS = ("submit_time_s", "eligible_time_s", "observed_start_s")
_MOST_S, _MOST_COUNTED = 10**10, 2**31 - 1
# Slurm's words for no time limit, which is represented as three centuries.
_ENDLESS, _ENDLESS_S = "UNLIMITED", 10**10
# Slurm prints counts of 1,024 and above with binary suffixes: 1K, 1.50K.
_SUFFIXED = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([KMG])")
_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# Elements of a job array, as first-last:step; the bound is far above Slurm's.
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?::(\d{1,9}))?")
_MOST_ELEMENTS = 200_000
_PIECE, _LONGEST_ENTRY = 1 << 16, 1 << 24


def _duration_s(text: str) -> int | None:
    """Return a duration as Slurm prints it, or None if it is unknown or without limit. [s]"""
    try:
        return duration_s(text)
    except InputError:
        return None


def _instant(text: str, zone: tzinfo = UTC) -> int | None:
    """Return a timestamp in seconds since 1970; without an offset, it is in the given time zone."""
    if text.isdecimal():
        return int(text[:12]) or None
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> tzinfo:
    """Return the named time zone, or UTC without a name; raise an error if it is unknown."""
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise refusal("timezone", name, "must be a time zone known to this computer, such as Europe/Berlin") from None


def _number(row: dict[str, str], *names: str) -> int:
    """Return the first nonzero count among some columns, or 0."""
    for name in names:
        text = row.get(name, "")
        if text.isdecimal() and len(text) < 12 and int(text):
            return int(text)
        if suffixed := _SUFFIXED.fullmatch(text):
            return round(float(suffixed[1]) * _SUFFIXES[suffixed[2]])
    return 0


def read_sacct(source: Source, *, delimiter: str = "|", columns: str = "", timezone: str = "") -> Trace:
    """Read the jobs in sacct's output; times count from the first submission.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        Output of ``--parsable2``, or of ``--json``. It must hold JobID, State, Submit or Start, a run time (ElapsedRaw,
        Elapsed, or Start and End) and a node count (AllocNodes, NNodes or ReqNodes). Eligible, Start, End, Partition,
        Account, QOS, AllocCPUS, AllocTRES and NodeList give the observed schedule and resources.
    delimiter : str
        As given to ``sacct --delimiter``.
    columns : str
        For output without a header: the columns, as given to ``sacct --format``.
    timezone : str
        Time zone of timestamps without an offset, such as ``Europe/Berlin``, so that waits are right across a change to
        or from summer time. By default, UTC.

    Running and waiting jobs are in `Trace.unfinished`; their run time is the time elapsed so far.

    Raises
    ------
    InputError
        If the time zone is unknown, the header is not from sacct, or no line has a usable job.

    Examples
    --------
    >>> trace = read_sacct(["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8_1|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4",
    ...                     "8_1.batch|COMPLETED|2024-01-01T00:00:00|00:10:00||1",
    ...                     "9|CANCELLED by 1000|2024-01-01T00:05:00|00:00:00|01:00:00|4"])
    >>> trace.workload[0].requested_time_s, trace.names[trace.workload[0].job], trace.skips.messages()
    (3600, '8_1', ['1 job skipped, cancelled before it started (first at line 4)'])
    """
    skips, counts, users = Skips(), Counter[str](), dict[str, int]()
    seen = set[str]()
    rows = _noting_columns(_rows(source, delimiter, columns, skips), seen)
    jobs, unfinished, never = _sorted_out(rows, _zone(timezone), users, counts, skips)
    if not jobs:
        raise InputError(f"this sacct output has no usable job: {'; '.join(skips.messages()) or 'it is empty'}")
    jobs = _joined(jobs, counts)
    counts["array"] = sum("_" in name for name, _ in jobs)
    counts["requeued"] = len(jobs) - len({name for name, _ in jobs})
    counts["no-submit"] = len(jobs) if "Submit" not in seen else 0
    start = min(job.submit_time_s for _, job in jobs)
    # Job names that are not numbers, or are too large for a column, are stored as negative numbers.
    strange = {-1 - at: name for at, (name, _) in enumerate(jobs) if not (name.isdecimal() and len(name) < 19)}
    workload = Workload(
        _counted_from(job, start)._replace(job=-1 - at if -1 - at in strange else int(name))
        for at, (name, job) in enumerate(jobs)
    )
    called = {number: name for name, number in users.items()}
    return Trace(
        workload=workload,
        skips=skips,
        notes=counted(counts),
        epoch_s=start,
        names=strange,
        users=called,
        unfinished=tuple((name, _counted_from(job, start)) for name, job in unfinished),
        timezone=timezone,
        never=tuple((name, _counted_from(job, start)) for name, job in never),
        scheduler="slurm",
        has_waits="Submit" in seen,
    )


def _noting_columns(rows: Iterable[tuple[int, dict[str, str]]], seen: set[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rows, and note the columns of the first one."""
    for number, row in rows:
        if not seen:
            seen.update(row)
        yield number, row


def _sorted_out(
    rows: Iterable[tuple[int, dict[str, str]]], zone: tzinfo, users: dict[str, int], counts: Counter[str], skips: Skips
) -> tuple[list[tuple[str, Job]], list[tuple[str, Job]], list[tuple[str, Job]]]:
    """Return the jobs that ran, those still running or waiting, and those that ended before they started, by name."""
    jobs, unfinished, never = list[tuple[str, Job]](), list[tuple[str, Job]](), list[tuple[str, Job]]()
    for number, row in rows:
        job = _job(row, users, counts, zone)
        # A waiting job array is one row; all its elements are waiting.
        names = list(islice(array_elements(row["JobID"]), max(1, _MOST_ELEMENTS - len(unfinished) - len(never))))
        if isinstance(job, str):
            for _ in names:
                skips.add(job, number)
            if job == _NEVER_STARTED and (requested := _requested(row, users, zone)):
                never += [(name, requested) for name in names]
        elif job.state in _UNFINISHED:
            for _ in names:
                skips.add(_UNFINISHED[job.state], number)
            unfinished += [(name, job) for name in names]
        else:
            jobs.append((row["JobID"], job))
    return jobs, unfinished, never


def array_elements(name: str) -> Iterator[str]:
    """Yield the elements of a job array printed in one row; otherwise the name itself.

    Parameters
    ----------
    name : str
        Job name as printed, such as ``17_[3-5]``.

    Examples
    --------
    >>> list(array_elements("77_[1-5:2,9%2]")), list(array_elements("77_4"))
    (['77_1', '77_3', '77_5', '77_9'], ['77_4'])
    """
    base, _, inside = name.partition("_[")
    if not inside:
        yield name
        return
    for part in inside.rstrip("]").partition("%")[0].split(","):
        match = _RANGE.fullmatch(part)
        if match:
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            yield from (f"{base}_{number}" for number in range(first, last + 1, max(1, step)))
        else:
            # Slurm cuts long lists: "...".
            yield f"{base}_[{part}]"


def _requested(row: dict[str, str], users: dict[str, int], zone: tzinfo) -> Job | None:
    """Return a job that never started, from its request; None without a submission time."""
    submit, (nodes, cores, gpus, memory) = _instant(row.get("Submit", ""), zone), _resources(row)
    user = users.setdefault(row.get("User", ""), len(users) + 1)
    job = Job(0, submit or 0, nodes, 0, _limit(row) or 0, user, row.get("Partition", "")[:200], state=_state(row))
    job = job._replace(cores=cores, gpus=gpus, memory_mb=memory, account=row.get("Account", ""), qos=row.get("QOS", ""))
    return None if submit is None else job


def _counted_from(job: Job, start: int) -> Job:
    """Return a job with its times counted from a start."""
    return job._replace(**{key: moment - start for key in _MOMENTS if (moment := getattr(job, key)) is not None})


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
        # Some sites repeat the header when joining files.
        elif row["JobID"].lower() != "jobid" and "." not in row["JobID"]:
            yield number, row
    if header is None:
        raise InputError("this is not output of sacct: it is empty")


def _header(text: str, delimiter: str, columns: str, number: int) -> tuple[list[str], bool]:
    """Return the columns, and whether the first line is already a job; raise an error if required columns are missing."""
    fields = text.split(delimiter)
    if not columns.strip() and fields[0].split("_")[0].split("+")[0].isdecimal():
        return _export(text, delimiter, number), True
    named = columns.replace(delimiter, ",").split(",") if columns.strip() else fields
    stated = [name.split("%")[0].strip() for name in named]
    header = [SPELLING.get(name.lower(), name) for name in stated]
    if "JobID" not in header:
        header = ["JobID" if name == "JobIDRaw" else name for name in header]
    missing = [name for name in _NEEDED if name not in header]
    if not {"Submit", "Start"} & set(header):
        missing.append("Submit")
    if not {"ElapsedRaw", "Elapsed"} & set(header) and not {"Start", "End"} <= set(header):
        missing.append("Elapsed")
    if not {"AllocNodes", "NNodes", "ReqNodes"} & set(header):
        missing.append("NNodes")
    if missing:
        raise InputError(
            f"line {number} is not a usable header of sacct --parsable2: it lacks {', '.join(missing)}; use --format=JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,Elapsed,Timelimit,NNodes,AllocCPUS,AllocTRES,NodeList"
        )
    return header, bool(columns.strip())


def _export(text: str, delimiter: str, number: int) -> list[str]:
    """Return the columns of a line that is a job; its fields must match an export."""
    for names in map(str.split, _EXPORTS):
        row = row_of(text, names, delimiter=delimiter) or {"State": ""}
        if row["State"][:1].isalpha() and None not in (_instant(row["Submit"]), _duration_s(row["Elapsed"])):
            return names
    raise InputError(
        f"line {number} is a job, and no line names the columns: omit --noheader, or give the columns passed to --format"
    )


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
                # An entry that continues in the next piece cannot be decoded yet, and is retried with it.
                entry, place = decoder.raw_decode(text, place)
            except (ValueError, RecursionError):
                break
            if isinstance(entry, dict):
                yield entry
        if not size or len(text) - place > _LONGEST_ENTRY:
            if not inside:
                raise InputError('this JSON is not from sacct: it has no list "jobs"')
            return skips.add("the JSON is invalid or truncated from there on", 0) if text[place:].strip() else None


def _row_of_entry(entry: dict[str, Any]) -> dict[str, str]:
    """Return an entry of the JSON as a row of the text."""
    row = {column: _text_at(entry, path) for column, path in _JSON_PATHS.items()}
    user = row["User"] or _text_at(entry, "association.user")
    return row | {"JobID": _job_id(entry), "User": user, "AllocTRES": ",".join(_allocated(entry))}


def _value_at(entry: Any, path: str) -> Any:
    """Return the value at a dotted path; None if missing."""
    for name in path.split("."):
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry


def _text_at(entry: dict[str, Any], path: str) -> str:
    """Return the value at a path in sacct's text form: a wrapped number as a number, a list as its first element."""
    value = _value_at(entry, path)
    if isinstance(value, dict):
        known = value.get("number") if value.get("set", True) else None
        value = _ENDLESS if value.get("infinite") else known
    if isinstance(value, list):
        value = value[0] if value else ""
    return "" if value is None else str(value)


def _job_id(entry: dict[str, Any]) -> str:
    """Return a job's number, with its array index or its component of a heterogeneous job."""
    array, element, het = (_text_at(entry, path) for path in ("array.job_id", "array.task_id", "het.job_id"))
    if het not in ("", "0"):
        return f"{het}+{_text_at(entry, 'het.job_offset') or 0}"
    return f"{array}_{element}" if array not in ("", "0") and element else _text_at(entry, "job_id")


def _allocated(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the trackable resources (TRES) of a job in sacct's form."""
    allocated = _value_at(entry, "tres.allocated")
    for part in allocated if isinstance(allocated, list) else []:
        if isinstance(part, dict):
            name = "/".join(filter(None, (str(part.get("type")), str(part.get("name") or ""))))
            yield f"{name}={part.get('count')}{'M' * (name == 'mem')}"


def _job(row: dict[str, str], users: dict[str, int], counts: Counter[str], zone: tzinfo) -> Job | str:
    """Return the job in a row, or why it is unusable; count repairs and unmodeled features."""
    if JOB_ID.fullmatch(row["JobID"][:200]) is None:
        return "JobID is none"
    start, state = _start(row, zone), _state(row)
    # Without a submission column, waits are unknown; the start is the earliest known time.
    submit = _instant(row["Submit"], zone) if "Submit" in row else start
    if submit is None:
        return "submit time unknown"
    elapsed, start = (0, None) if state == "PENDING" else (_elapsed(row, zone), start)
    if not elapsed:
        if state == "REQUEUED":
            return "not started yet"
        if _never_ran(state, start):
            return _NEVER_STARTED
    if elapsed is None:
        return "run time unknown"
    nodes, cores, gpus, memory = _resources(row)
    if not nodes:
        return "nodes unknown"
    eligible, requested = _instant(row.get("Eligible", ""), zone), _limit(row)
    if max(nodes, cores, gpus, memory) > _MOST_COUNTED or max(submit, elapsed, requested or 0) > _MOST_S:
        return "a number is too large"
    if state in _UNFINISHED:
        # Jobs that are not in the trace are not counted as repaired.
        counts = Counter()
    _count_repairs(counts, submit, elapsed, requested, eligible, start)
    counts["suspended"] += bool(_duration_s(row.get("Suspended", "")))
    counts["preempted"] += state.startswith("PREEMPT")
    counts["licences"] += bool(_licences(row))
    counts.update(_not_modelled(row))
    return Job(
        0,
        submit,
        nodes,
        elapsed,
        requested or elapsed,
        users.setdefault(row.get("User", ""), len(users) + 1),
        row.get("Partition", "")[:200],
        eligible_time_s=_not_before(submit, eligible),
        observed_start_s=_not_before(submit, start),
        cores=cores,
        gpus=gpus,
        memory_mb=memory,
        account=row.get("Account", ""),
        qos=row.get("QOS", ""),
        state=state,
        node_list=re.sub("^None.*", "", row.get("NodeList", "")),
        licences=_licences(row),
    )


def _not_before(submit: int, moment: int | None) -> int | None:
    """Return a time, or the submission time if that is later."""
    return None if moment is None else max(submit, moment)


def _state(row: dict[str, str]) -> str:
    """Return the state of a job, without the user who canceled it."""
    return row["State"].strip().partition(" ")[0].rstrip("+")


def _limit(row: dict[str, str]) -> int | None:
    """Return a job's requested time limit: three centuries if unlimited, None if unknown. [s]"""
    if _ENDLESS in (row.get("TimelimitRaw", "").upper(), row.get("Timelimit", "").upper()):
        return _ENDLESS_S
    return 60 * _number(row, "TimelimitRaw") or _duration_s(row.get("Timelimit", ""))


def _count_repairs(
    counts: Counter[str], submit: int, elapsed: int, limit: int | None, eligible: int | None, start: int | None
) -> None:
    """Count a job with a repaired limit, a hold, or a start before an earlier event."""
    if elapsed and not limit:
        counts["guessed-limit" if limit is None else "zero-limit"] += 1
    counts["endless"] += limit == _ENDLESS_S
    ready = max(submit, eligible or 0)
    counts["over-limit"] += elapsed > (limit or elapsed)
    counts["held"] += ready > submit
    counts["late-start"] += start is not None and start < ready


def _never_ran(state: str, start: int | None) -> bool:
    """Whether a job without a run time ended before it started; its state may be truncated to the column width."""
    return (start is None or state.startswith("CANCELL")) and state.startswith(_ENDED_BEFORE_START)


def _not_modelled(row: dict[str, str]) -> Iterator[str]:
    """Yield features requested by a job that the simulation does not model."""
    for code, column in (("reservation", "Reservation"), ("dependency", "Dependency")):
        if row.get(column, "") not in ("", "(null)", "None"):
            yield code


def _licences(row: dict[str, str]) -> str:
    """Return the licenses that a job held; empty for none."""
    return re.sub(r"^(\(null\)|None.*)$", "", row.get("Licenses", ""))[:1000]


def _resources(row: dict[str, str]) -> tuple[int, int, int, int]:
    """Return the nodes, cores, GPUs and memory of a row, as allocated, otherwise as requested; 0 if missing. [MB]"""
    pairs = (row.get("AllocTRES") or row.get("ReqTRES", "")).split(",")
    tres = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    nodes = _number(row, "AllocNodes", "NNodes", "ReqNodes")
    cores = _number(row, "AllocCPUS", "NCPUS") or _number(tres, "cpu") or _number(row, "ReqCPUS")
    gpus = _gpus(tres, row.get("AllocGRES") or row.get("ReqGRES", ""))
    return nodes, cores, gpus, _memory_mb(tres.get("mem", "") or row.get("ReqMem", ""), nodes, cores)


def _elapsed(row: dict[str, str], zone: tzinfo) -> int | None:
    """Return the run time of a row, from the best column it has. [s]"""
    if row.get("ElapsedRaw", "").isdecimal():
        return int(row["ElapsedRaw"][:18])
    elapsed_s = _duration_s(row.get("Elapsed", ""))
    if elapsed_s is not None:
        return elapsed_s
    start, end = _instant(row.get("Start", ""), zone), _instant(row.get("End", ""), zone)
    return end - start if start is not None and end is not None and end >= start else None


def _start(row: dict[str, str], zone: tzinfo) -> int | None:
    """Return when a job started; in an hour that occurs twice, the one consistent with its end and run time."""
    start, end, ran = _instant(row.get("Start", ""), zone), _instant(row.get("End", ""), zone), _elapsed(row, zone)
    if start is not None and end is not None and ran is not None and end - ran == start + SECONDS_PER_HOUR:
        moment = datetime.fromtimestamp(start, zone)
        if moment.replace(fold=1).utcoffset() != moment.utcoffset():
            return start + SECONDS_PER_HOUR
    return start


def _gpus(tres: dict[str, str], gres: str) -> int:
    """Return the GPUs of a job: their total if present, otherwise the sum by type; in old releases, from GRES."""
    if "gres/gpu" in tres:
        return _number(tres, "gres/gpu")
    typed = sum(_number(tres, name) for name in tres if name.startswith("gres/gpu:"))
    return typed or sum(int(count) for count in re.findall(r"gpu(?::[A-Za-z]\w*)?:(\d{1,9})", gres))


def _memory_mb(text: str, nodes: int, cores: int) -> int:
    """Return the memory of a job, printed in total, per node (``n``) or per core (``c``). [MiB]"""
    times = {"n": nodes, "c": cores}.get(text[-1:], 1)
    try:
        return round(MIB_PER_MEMORY_GB * memory_gb(text.rstrip("nc"), unit="M")) * times
    except InputError:
        return 0


def _joined(jobs: list[tuple[str, Job]], counts: Counter[str]) -> list[tuple[str, Job]]:
    """Merge the components of heterogeneous jobs that are in one partition."""
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
