"""Read finished jobs from Slurm's ``jobcomp/filetxt``, used at sites without slurmdbd: one line of ``Key=Value`` per
job.
"""

import re
from collections.abc import Iterable, Iterator

from hopperkit.readers.jobs.sacct import read_sacct
from hopperkit.readers.jobs.trace import Trace
from hopperkit.readers.table import Skips

# A job name may contain anything, even an equals sign.
_NAME = re.compile(r" Name=.*? JobState=")
_FIELD = re.compile(r"(\w+)=(\S*)")
_FIRST = re.compile(r"\s*JobId=\d+ .*\bJobState=", re.DOTALL)
_COLUMNS = (
    "JobID", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End", "TimelimitRaw", "Timelimit",
    "NNodes", "NCPUS", "NodeList", "AllocTRES", "Reservation",
)  # fmt: skip


def is_jobcomp(line: str) -> bool:
    """Whether a line is a job record of jobcomp/filetxt.

    Parameters
    ----------
    line : str
        First line of a file.

    Examples
    --------
    >>> is_jobcomp("JobId=3 UserId=u(1001) GroupId=u(1001) Name=wrap JobState=COMPLETED Partition=main")
    True
    """
    return _FIRST.match(line[:5000]) is not None


def read_jobcomp(lines: Iterable[str], *, timezone: str = "") -> Trace:
    """Return the jobs in a file written by Slurm's jobcomp/filetxt plugin.

    Parameters
    ----------
    lines : iterable of str
    timezone : str
        Time zone of the clock, as for `hopperkit.readers.jobs.sacct.read_sacct`.

    Raises
    ------
    InputError
        If no line has a usable job.

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
    """Convert lines to the form of sacct."""
    for number, line in enumerate(lines, start=1):
        text = _NAME.sub(" JobState=", line.strip(), count=1)
        if not text:
            continue
        found = dict(_FIELD.findall(text))
        if "JobId" not in found:
            skips.add("it has no JobId", number)
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
