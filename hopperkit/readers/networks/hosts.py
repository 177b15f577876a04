"""Read host lists in Slurm's notation, nid[0009-0011,0020],login1, and report their errors."""

import re

from hopperkit.traces.cluster import node_names
from hopperlib.errors import InputError

#: Most hosts allowed in one list.
MOST_HOSTS = 200_000
_MOST_BRACKETS = 4
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def hosts_of(text: str) -> list[str]:
    """Return the hosts in a list, in order.

    Parameters
    ----------
    text : str
        List of hosts, such as ``nid[0009-0011,0020],login1``.

    Raises
    ------
    InputError
        If a bracket is not closed, a range counts down, or the list has too many hosts.

    Examples
    --------
    >>> hosts_of("circe-n[001-003],n7,r[0-1]n[1,3]")
    ['circe-n001', 'circe-n002', 'circe-n003', 'n7', 'r0n1', 'r0n3', 'r1n1', 'r1n3']
    >>> hosts_of("n[3-1]")
    Traceback (most recent call last):
    hopperlib.errors.InputError: the list of hosts 'n[3-1]' counts down in '3-1'
    """
    whole = f"the list of hosts {text[:60]!r}"
    names = _BRACKET.sub("*", text)
    if "[" in names or "]" in names:
        raise InputError(f"{whole} has an unmatched bracket")
    if any(name.count("*") > _MOST_BRACKETS for name in names.split(",")):
        raise InputError(f"{whole} has more than {_MOST_BRACKETS} brackets in a name")
    for inside in _BRACKET.findall(text):
        for part in inside.split(","):
            match = _RANGE.fullmatch(part.strip())
            if match is None:
                raise InputError(f"{whole} has {part[:20]!r} in place of a number or a range")
            if match[2] and int(match[2]) < int(match[1]):
                raise InputError(f"{whole} counts down in {part[:30]!r}")
    hosts = list(node_names("".join(text.split())))
    if len(hosts) >= MOST_HOSTS:
        raise InputError(f"{whole} names more than {MOST_HOSTS:,}, the maximum")
    return hosts
