"""Read the accounting of PBS (PBS Professional, OpenPBS, Torque) and of LSF (lsb.acct) as job traces. For PBS, these
are the records of ended jobs (``E``): ``date;E;job;key=value ...``; for LSF, those of ``JOB_FINISH``, by field
position. Both have timestamps in seconds since 1970.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from hopperkit.readers.jobs.sacct import read_sacct
from hopperkit.readers.jobs.trace import Trace
from hopperkit.readers.table import Skips
from hopperlib.errors import InputError
from hopperlib.units import duration_s

_PBS = re.compile(r"\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d;[A-Za-z];[^;]*;")
_LSF = re.compile(r'"JOB_FINISH" "')
_FIELD = re.compile(r"([\w.]+)=(\"[^\"]*\"|\S*)")
# A job's number, its array index, and the server.
_PBS_JOB = re.compile(r"(\d{1,18})(?:\[(\d{0,18})\])?")
_COLUMNS = (
    "JobID", "User", "Account", "Partition", "State", "Submit", "Eligible", "Start", "ElapsedRaw", "Timelimit", "NNodes", "NCPUS",
    "NodeList", "AllocTRES",
)  # fmt: skip
# Positions of the fields of JOB_FINISH: event time, job, processors, submission, start, user, queue; then hosts, from
# their number on.
_LSF_TIME, _LSF_JOB, _LSF_CPUS, _LSF_SUBMIT, _LSF_BEGIN, _LSF_START, _LSF_USER, _LSF_QUEUE = 2, 3, 6, 7, 8, 10, 11, 12
_LSF_REQUESTED_HOSTS, _LSF_RUSAGE = 22, 19
_DONE = "64"
_MOST_HOSTS = 200_000


def is_pbs(line: str) -> bool:
    """Whether a line is a record of PBS accounting.

    Parameters
    ----------
    line : str
        First line of a file.

    Examples
    --------
    >>> is_pbs("11/15/2017 01:23:58;E;4.pbs;user=u group=g"), is_pbs("1 0 -1 60")
    (True, False)
    """
    return _PBS.match(line) is not None


def is_lsf(line: str) -> bool:
    """Whether a line is a record of a finished job of LSF.

    Parameters
    ----------
    line : str
        First line of a file.

    Examples
    --------
    >>> is_lsf('"JOB_FINISH" "10.1" 1510709638 7')
    True
    """
    return _LSF.match(line) is not None


def read_pbs(lines: Iterable[str]) -> Trace:
    """Return the jobs in PBS accounting, from the ``E`` records.

    Parameters
    ----------
    lines : iterable of str

    Raises
    ------
    InputError
        If no line is the record of an ended job.

    Examples
    --------
    >>> line = ("11/15/2017 01:33:58;E;4.pbs;user=u queue=workq qtime=1510709028 etime=1510709028 start=1510709038 "
    ...         "exec_host=n1/0*8+n2/0*8 Resource_List.ncpus=16 Resource_List.nodect=2 Resource_List.walltime=01:00:00 "
    ...         "end=1510709638 Exit_status=0")
    >>> job = read_pbs([line]).workload[0]
    >>> job.nodes, job.run_time_s, job.requested_time_s, job.observed_start_s, job.cores
    (2, 600, 3600, 10, 16)
    """
    return _read(_pbs_rows, lines, "pbs", "a record of an ended job (date;E;job;...)")


def read_lsf(lines: Iterable[str]) -> Trace:
    """Return the jobs in LSF's lsb.acct, from its ``JOB_FINISH`` records. A host listed once per processor counts once.
    Run limits are not read: their position differs between LSF releases.

    Parameters
    ----------
    lines : iterable of str

    Raises
    ------
    InputError
        If no line is such a record.

    Examples
    --------
    >>> line = ('"JOB_FINISH" "10.1" 1510709638 7 1001 33554438 4 1510709028 0 0 1510709038 "ann" "normal" "" "" "" "login" "/home" '
    ...         '"" "" "" "file" 0 4 "n1" "n1" "n2" "n2" 64 60.0 "name" "sleep 600"')
    >>> job = read_lsf([line]).workload[0]
    >>> job.nodes, job.cores, job.run_time_s, job.observed_start_s
    (2, 4, 600, 10)
    """
    return _read(_lsf_rows, lines, "lsf", 'a record "JOB_FINISH"')


def _read(rows_of, lines: Iterable[str], scheduler: str, record: str) -> Trace:  # type: ignore[no-untyped-def]
    """Return the jobs in rows like those of sacct."""
    skips = Skips()
    rows = list(rows_of(lines, skips))
    if not rows:
        raise InputError(f"no line is {record} in usable form: {'; '.join(skips.messages()) or 'the file is empty'}")
    trace = read_sacct(
        ["|".join(_COLUMNS), *("|".join(row.get(name, "").replace("|", " ") for name in _COLUMNS) for row in rows)]
    )
    trace.skips.join(skips)
    return replace(trace, scheduler=scheduler)


def _moment(text: str) -> str:
    """Convert seconds since 1970 to sacct's form; empty for none."""
    seconds = int(text) if text.isdecimal() and len(text) < 12 else 0
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""


def _seconds(begin: str, end: str) -> str:
    """Return the seconds between two timestamps; empty if either is unknown."""
    both = begin.isdecimal() and end.isdecimal() and len(begin) < 12 and len(end) < 12 and int(begin) and int(end)
    return str(max(0, int(end) - int(begin))) if both else ""


def _pbs_row(job: str, found: dict[str, str]) -> dict[str, str]:
    """Return the fields of a record as a row of sacct."""
    hosts = [host.partition("/") for host in found.get("exec_host", "").split("+")[:_MOST_HOSTS] if host]
    names = list(dict.fromkeys(host for host, _, _ in hosts))
    used = found.get("resources_used.walltime", "")
    return {
        "JobID": job,
        "User": found.get("user", ""),
        "Account": found.get("account") or found.get("project", "").removeprefix("_pbs_project_default"),
        "Partition": found.get("queue", ""),
        "State": "COMPLETED" if found.get("Exit_status", "0") == "0" else "FAILED",
        "Submit": _moment(found.get("qtime") or found.get("ctime", "")),
        "Eligible": _moment(found.get("etime", "")),
        "Start": _moment(found.get("start", "")),
        "ElapsedRaw": _seconds(found.get("start", ""), found.get("end", "")) or _clock(used),
        "Timelimit": _limit(found.get("Resource_List.walltime", "")),
        "NNodes": str(len(names)) if names else found.get("Resource_List.nodect", ""),
        "NCPUS": found.get("Resource_List.ncpus") or str(sum(_processors(place) for _, _, place in hosts) or ""),
        "NodeList": ",".join(names),
        "AllocTRES": f"gres/gpu={found['Resource_List.ngpus']}" if "Resource_List.ngpus" in found else "",
    }


def _pbs_rows(lines: Iterable[str], skips: Skips) -> Iterator[dict[str, str]]:
    """Convert E records to rows of sacct."""
    for number, line in enumerate(lines, start=1):
        parts = line.strip().split(";", 3)
        if not line.strip() or (len(parts) == 4 and parts[1] != "E"):
            continue
        name = _PBS_JOB.match(parts[2]) if len(parts) == 4 else None
        if name is None:
            skips.add("not a record of PBS accounting", number)
            continue
        number_of_job = f"{name[1]}_{name[2]}" if name[2] else name[1]
        yield _pbs_row(number_of_job, {key: text.strip('"') for key, text in _FIELD.findall(parts[3])})


def _processors(place: str) -> int:
    """Processors in a part of exec_host after the host: an index, or an index and a count."""
    many = place.partition("*")[2]
    return int(many[:9]) if many.isdecimal() else len(place.split(","))


def _clock(text: str) -> str:
    """Convert a clock time to seconds; empty if invalid."""
    try:
        return str(duration_s(text))
    except InputError:
        return ""


def _limit(text: str) -> str:
    """Convert a PBS time limit (clock time or seconds) to sacct's form."""
    seconds = text if text.isdecimal() else _clock(text)
    if not seconds or len(seconds) > 10:
        return ""
    days, rest = divmod(int(seconds), 86_400)
    return f"{days}-{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"


def _lsf_rows(lines: Iterable[str], skips: Skips) -> Iterator[dict[str, str]]:
    """Convert JOB_FINISH records to rows of sacct."""
    for number, line in enumerate(lines, start=1):
        if not line.strip() or not is_lsf(line):
            continue
        row = _lsf_row(line)
        if row is None:
            skips.add("its fields are not those of JOB_FINISH", number)
        else:
            yield row


def _lsf_row(line: str) -> dict[str, str] | None:
    """Convert a JOB_FINISH record to a row of sacct; None if its fields do not match."""
    lexer = shlex.shlex(line[:1_000_000], posix=True)
    # LSF doubles a quotation mark inside a string; here this ends the string and begins another, which only drops the
    # mark.
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        fields = list(lexer)
        requested = int(fields[_LSF_REQUESTED_HOSTS][:7])
        at = _LSF_REQUESTED_HOSTS + 1 + requested
        count = int(fields[at][:7])
        hosts, state = fields[at + 1 : at + 1 + count], fields[at + 1 + count]
        exited = fields[at + 5 + count :]
    except (ValueError, IndexError):
        return None
    names = list(dict.fromkeys(host.split("*")[-1] for host in hosts))
    index = exited[_LSF_RUSAGE + 6] if len(exited) > _LSF_RUSAGE + 6 else "0"
    begin = fields[_LSF_BEGIN]
    return {
        "JobID": fields[_LSF_JOB] + (f"_{index}" if index.isdecimal() and index != "0" else ""),
        "User": fields[_LSF_USER],
        "Account": exited[_LSF_RUSAGE + 1] if len(exited) > _LSF_RUSAGE + 1 else "",
        "Partition": fields[_LSF_QUEUE],
        "State": "COMPLETED" if state == _DONE else "FAILED" if fields[_LSF_START] != "0" else "CANCELLED",
        "Submit": _moment(fields[_LSF_SUBMIT]),
        "Eligible": _moment(begin),
        "Start": _moment(fields[_LSF_START]),
        "ElapsedRaw": _seconds(fields[_LSF_START], fields[_LSF_TIME]) or "0",
        "NNodes": str(len(names) or 1),
        "NCPUS": fields[_LSF_CPUS],
        "NodeList": ",".join(names),
    }
