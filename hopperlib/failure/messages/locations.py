"""Who, where and when: what a line of a log says about its task, node and time.

Logs name the same things in many ways: a task by the label that the launcher
puts before a line, by "rank 7" or by "PE 7"; a node by its host name, by its
node ID (nid) or by its place in the machine (cname); a time in four formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

__all__ = ["Facts", "facts", "strip_label"]

# Labels that launchers put before each line: srun -l, mpirun --tag-output, mpiexec -l, torchrun.
_LABEL = re.compile(
    rb"[ \t]{0,8}(?:(?P<srun>\d{1,7}):[ \t]?|\[\d{1,9},(?P<ompi>\d{1,7})\]<std(?:err|out|diag)>:[ \t]?"
    rb"|\[rank(?P<torch>\d{1,7})\]:[ \t]?|\[(?P<hydra>\d{1,7})\][ \t]"
    rb"|(?P<pals>x\d{1,5}c\ds\db\dn\d)\S{0,80}[ \t](?P<palsrank>\d{1,7}):[ \t])"
)

_RANK = re.compile(
    rb"(?:MPICH ERROR \[Rank |PE RANK |\bPE_|\bPE |\b[Rr]ank[ =:#]{1,3}|\bRANK[ =:]{1,3}|\[Rank |MPI-process |process rank |job rank"
    rb"|- process |\btasks? )(\d{1,7}(?:[-,]\d{1,7}){0,8})"
)
_NID = re.compile(rb"\[NID[ ]?(\d{1,6})\]|\bnid(\d{3,8})\b")
_CNAME = re.compile(rb"\b(c\d{1,2}-\d{1,2}c\d{1,2}s\d{1,2}n\d{1,2}|x\d{1,5}c\ds\d{1,2}b\dn\d)\b")
_NODE = re.compile(
    rb"(?:\bon node |\bon host:? |Local host:[ ]{1,6}| ON |srun: error: )((?:nid)?[A-Za-z][\w.-]{1,60}\d[\w.-]{0,40}|nid\[[\d,-]{1,80}\])"
)
_APID = re.compile(rb"\b(?:Apid|Application) (\d{1,12})\b")

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_ISO = re.compile(rb"\b(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)")
_UNIX = re.compile(
    rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:[A-Z]{2,5} )?(\d{4})"
)
_SYSLOG = re.compile(rb"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a line says about where it comes from; None where it says nothing.

    Parameters
    ----------
    rank : str or None
        Task, or a list of tasks such as ``0-31``: the one that the line speaks of, else the one that printed it.
    label : str or None
        The task that printed the line, where it speaks of another one.
    node, nid, cname, apid : str or None
        Host name, node ID without leading zeros, place in the machine, number of the application.
    time : str or None
        As printed.
    moment : datetime or None
        The time, where day and year stand with it; without a time zone.
    """

    rank: str | None = None
    label: str | None = None
    node: str | None = None
    nid: str | None = None
    cname: str | None = None
    apid: str | None = None
    time: str | None = None
    moment: datetime | None = None

    def named(self) -> dict[str, str]:
        """Return what is known, as text."""
        keys = ("rank", "label", "node", "nid", "cname", "apid", "time")
        return {key: value for key in keys if (value := getattr(self, key)) is not None}


def strip_label(line: bytes) -> tuple[bytes, str | None]:
    """Part a line from the label of its task.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    tuple of (bytes, str or None)
        The rest of the line, and the task that the label names.

    Examples
    --------
    >>> strip_label(b" 12: KeyError: 'dt'")
    (b"KeyError: 'dt'", '12')
    >>> strip_label(b"[1,3]<stderr>:forrtl: severe")
    (b'forrtl: severe', '3')
    >>> strip_label(b"12:30 lunch")
    (b'12:30 lunch', None)
    """
    match = _LABEL.match(line)
    if not match:
        return line, None
    if match["srun"] and line[match.end() - 1 : match.end()] == b":" and line[match.end() : match.end() + 1].isdigit():
        return line, None  # a time of day
    rank = match["srun"] or match["ompi"] or match["torch"] or match["hydra"] or match["palsrank"]
    return line[match.end() :], rank.decode()


def facts(line: bytes) -> Facts:
    """Read task, node and time out of a line.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    Facts

    Examples
    --------
    >>> line = b"_pmiu_daemon(SIGCHLD): [NID 11723] [c20-4c0s5n1] [Fri Jan 29 15:44:48 2016] PE RANK 0 exit signal Killed"
    >>> found = facts(line)
    >>> found.rank, found.nid, found.cname, found.time
    ('0', '11723', 'c20-4c0s5n1', 'Fri Jan 29 15:44:48 2016')
    >>> found.moment.isoformat()
    '2016-01-29T15:44:48'
    """
    rest, label = strip_label(line)
    rank = _RANK.search(rest)
    nid, cname, node, apid = _NID.search(rest), _CNAME.search(rest), _NODE.search(rest), _APID.search(rest)
    time, moment = _time(rest)
    return Facts(
        rank=rank[1].decode() if rank else label,
        label=label if rank and label != rank[1].decode() else None,
        node=node[1].decode().rstrip(".:,") if node else None,
        nid=(nid[1] or nid[2]).decode().lstrip("0") or "0" if nid else None,
        cname=cname[1].decode() if cname else None,
        apid=apid[1].decode() if apid else None,
        time=time,
        moment=moment,
    )


def _time(line: bytes) -> tuple[str | None, datetime | None]:
    """Read the first time of a line, as printed and as a moment if it is complete."""
    if match := _ISO.search(line):
        parts = [int(part) for part in match.groups()]
    elif match := _UNIX.search(line):
        month, day, hour, minute, second, year = match.groups()
        parts = [int(year), _MONTHS.get(month.decode(), 0), int(day), int(hour), int(minute), int(second)]
    else:
        match = _SYSLOG.search(line)
        return (match[0].decode(), None) if match else (None, None)
    try:
        return match[0].decode(), datetime(*parts)  # type: ignore[arg-type]
    except ValueError:  # 31 February, hour 25
        return None, None
