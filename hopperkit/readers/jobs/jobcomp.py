"""Finished jobs as Slurm's ``jobcomp/filetxt`` writes them: a line of ``Key=Value`` per job, at sites without slurmdbd."""

import re
from collections.abc import Iterable, Iterator

from hopperkit.readers.jobs.sacct import read_sacct
from hopperkit.readers.jobs.trace import Trace
from hopperkit.readers.table import Skips

# The name of a job may hold anything, an equals sign too.
_NAME = re.compile(r" Name=.*? JobState=")
_FIELD = re.compile(r"(\w+)=(\S*)")
_FIRST = re.compile(r"\s*JobId=\d+ .*\bJobState=", re.DOTALL)
_COLUMNS = (
    "JobID", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End", "TimelimitRaw", "Timelimit",
    "NNodes", "NCPUS", "NodeList", "AllocTRES", "Reservation",
)  # fmt: skip


def is_jobcomp(line: str) -> bool:
    """Whether a line is a job of jobcomp/filetxt.

    Examples
    --------
    >>> is_jobcomp("JobId=3 UserId=u(1001) GroupId=u(1001) Name=wrap JobState=COMPLETED Partition=main")
    True
    """
    return _FIRST.match(line[:5000]) is not None


def read_jobcomp(lines: Iterable[str], *, timezone: str = "") -> Trace:
    """Jobs of a file that Slurm's jobcomp/filetxt plugin wrote.

    Parameters
    ----------
    lines : iterable of str
    timezone : str
        Of the clock that wrote it, as for `hopperkit.readers.jobs.sacct.read_sacct`.

    Raises
    ------
    InputError
        If no line holds a job that can be used.

    Examples
    --------
    >>> line = ("JobId=3 UserId=u(1001) Name=a JobState=COMPLETED Partition=main TimeLimit=5 StartTime=2026-01-01T00:01:00 "
    ...         "EndTime=2026-01-01T00:03:00 NodeList=n[06-08] NodeCnt=3 ProcCnt=3 SubmitTime=2026-01-01T00:00:00")
    >>> read_jobcomp([line]).workload[0][:5]
    (3, 0, 3, 120, 300)
    """
    skips = Skips()
    trace = read_sacct(["|".join(_COLUMNS), *_rows(lines, skips)], timezone=timezone)
    trace.skips.join(skips)
    return trace


def _rows(lines: Iterable[str], skips: Skips) -> Iterator[str]:
    """Lines as sacct prints them."""
    for number, line in enumerate(lines, start=1):
        text = _NAME.sub(" JobState=", line.strip(), count=1)
        if not text:
            continue
        found = dict(_FIELD.findall(text))
        if "JobId" not in found:
            skips.add("no JobId is in it", number)
            continue
        limit = found.get("TimeLimit", "")
        row = {
            "JobID": found["JobId"],
            "User": found.get("UserId", "").partition("(")[0],
            "State": found.get("JobState", ""),
            "TimelimitRaw": limit if limit.isdecimal() else "",
            "Timelimit": "" if limit.isdecimal() else limit,
            "NNodes": found.get("NodeCnt", ""),
            "NCPUS": found.get("ProcCnt", ""),
            "NodeList": found.get("NodeList", "").replace("(null)", ""),
            "AllocTRES": found.get("Tres", ""),
            "Reservation": found.get("ReservationName", ""),
            **{column: found.get(f"{column}Time", "") for column in ("Submit", "Eligible", "Start", "End")},
            **{column: found.get(column, "") for column in ("Account", "Partition", "QOS")},
        }
        yield "|".join(row[column].replace("|", " ") for column in _COLUMNS)
