"""Task, node and time in a line of a log.

Logs name the same things in many ways: a task by the label that the launcher
puts before a line, by "rank 7" or by "PE 7"; a node by its host name, by its
node ID (nid) or by its place in the machine (cname); a time in four formats.
"""

import re
from datetime import datetime
from typing import NamedTuple

# Labels that launchers put before each line: srun -l, mpirun --tag-output, torchrun, mpiexec -l, PALS.
_LABEL = re.compile(
    rb"[ \t]{0,8}(?P<srun>\d{1,7}):[ \t]?"
    rb"|[ \t]{0,8}\[\d{1,9},(?P<ompi>\d{1,7})\]<std(?:err|out|diag)>:[ \t]?"
    rb"|[ \t]{0,8}\[rank(?P<torch>\d{1,7})\]:[ \t]?"
    rb"|[ \t]{0,8}\[(?P<hydra>\d{1,7})\][ \t]"
    rb"|[ \t]{0,8}x\d{1,5}c\ds\db\dn\d\S{0,80}[ \t](?P<pals>\d{1,7}):[ \t]"
)
# The task that a line names, or several.
_RANK = re.compile(
    rb"(?:MPICH ERROR \[Rank |PE RANK |\bPE_|\bPE |\b[Rr]ank[ =:#]{1,3}|\bRANK[ =:]{1,3}|\[Rank |MPI-process |process rank "
    rb"|job rank|- process |\btasks? )(\d{1,7}(?:[-,]\d{1,7}){0,8})"
)
# A node's name, a node's number on a Cray, its location there, and the number of an application.
_NODE = re.compile(
    rb"(?:\bon node |\bon host:? |Local host:[ ]{1,6}| ON |srun: error: )"
    rb"((?:nid)?[A-Za-z][\w.-]{1,60}\d[\w.-]{0,40}|nid\[[\d,-]{1,80}\])"
)
_NID = re.compile(rb"\[NID[ ]?(\d{1,6})\]|\bnid(\d{3,8})\b")
_CNAME = re.compile(rb"\b(c\d{1,2}-\d{1,2}c\d{1,2}s\d{1,2}n\d{1,2}|x\d{1,5}c\ds\d{1,2}b\dn\d)\b")
_APID = re.compile(rb"\b(?:Apid|Application) (\d{1,12})\b")
# Times: with the year, as the system's clock prints them, and as its log does.
_ISO = re.compile(rb"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_UNIX = re.compile(
    rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d) (?:[A-Z]{2,5} )?(\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSLOG = re.compile(rb"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d\b")


class Facts(NamedTuple):
    """Origin of a line.

    Parameters
    ----------
    named : dict of str to str
        The fields found: rank (the task that the line names, otherwise the one that printed it), label (the task that
        printed it, if it names another one), node, nid (without leading zeros), cname (location in the machine), apid
        and time (as printed).
    moment : datetime or None
        The time, if printed with day and year; without a time zone.
    """

    named: dict[str, str]
    moment: datetime | None


def strip_label(line: bytes) -> tuple[bytes, str | None]:
    """Split the label of a task off a line.

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
    return line[match.end() :], next(rank for rank in match.groups() if rank).decode()


def facts(line: bytes) -> Facts:
    """Read task, node and time from a line.

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
    >>> found.named
    {'rank': '0', 'nid': '11723', 'cname': 'c20-4c0s5n1', 'time': 'Fri Jan 29 15:44:48 2016'}
    >>> found.moment.isoformat()
    '2016-01-29T15:44:48'
    """
    rest, label = strip_label(line)
    named: dict[str, str] = {}
    moment = None
    for name, pattern in (("rank", _RANK), ("node", _NODE), ("nid", _NID), ("cname", _CNAME), ("apid", _APID)):
        if match := pattern.search(rest):
            named[name] = next(group for group in match.groups() if group).decode()
    if label is not None:
        rank = named.pop("rank", label)
        named = {"rank": rank} | ({"label": label} if label != rank else {}) | named
    if "node" in named:
        named["node"] = named["node"].rstrip(".:,")
    if "nid" in named:
        named["nid"] = named["nid"].lstrip("0") or "0"
    if match := _ISO.search(rest) or _UNIX.search(rest) or _SYSLOG.search(rest):
        try:
            moment = _moment(match)
            named["time"] = match[0].decode()
        except ValueError:  # 31 February, hour 25
            pass
    return Facts(named, moment)


def _moment(time: re.Match[bytes]) -> datetime | None:
    """Return the moment of a complete time."""
    if time.re is _SYSLOG:
        return None
    if time.re is _ISO:
        return datetime.fromisoformat(time[0].decode())
    month, day, clock = time[1].decode().split()
    # Parsed by hand: strptime imports calendars and locales, which takes longer than reading a short text.
    hour, minute, second = map(int, clock.split(":"))
    return datetime(int(time[2]), _MONTHS.index(month) + 1, int(day), hour, minute, second)
