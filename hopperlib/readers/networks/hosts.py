"""Lists of hosts as Slurm writes them: nid[0009-0011,0020],login1."""

import re
from collections.abc import Iterator
from itertools import product

from hopperlib.errors import InputError

#: The most hosts that one list names.
MOST_HOSTS = 200_000
_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def hosts_of(text: str) -> list[str]:
    """Return the hosts of a list, in its order.

    Raises
    ------
    InputError
        If a bracket is not closed, a range counts down, or the list names too many.

    Examples
    --------
    >>> hosts_of("circe-n[001-003],n7,r[0-1]n[1,3]")
    ['circe-n001', 'circe-n002', 'circe-n003', 'n7', 'r0n1', 'r0n3', 'r1n1', 'r1n3']
    >>> hosts_of("n[3-1]")
    Traceback (most recent call last):
    hopperlib.errors.InputError: the list of hosts 'n[3-1]' counts down in '3-1'
    """
    hosts: list[str] = []
    for part in _parts(text):
        hosts += _expanded(part, text)
        if len(hosts) > MOST_HOSTS:
            raise InputError(f"the list of hosts {text[:60]!r} names more than {MOST_HOSTS:,}, the most that are read")
    return hosts


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between the commas outside of brackets."""
    depth, part = 0, ""
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if depth not in (0, 1):
            break
        if sign == "," and not depth:
            yield part.strip()
            part = ""
        else:
            part += sign
    if depth:
        raise InputError(f"the list of hosts {text[:60]!r} has a bracket without its other half")
    if part.strip():
        yield part.strip()


def _expanded(part: str, text: str) -> Iterator[str]:
    """Yield the hosts of one part."""
    pieces = [[plain] if plain else list(_numbers(inside, text)) for inside, plain in _PIECE.findall(part)]
    count = 1
    for piece in pieces:
        count *= len(piece)
    if count > MOST_HOSTS:
        raise InputError(f"the list of hosts {text[:60]!r} names more than {MOST_HOSTS:,}, the most that are read")
    return map("".join, product(*pieces))


def _numbers(inside: str, text: str) -> Iterator[str]:
    """Yield the numbers of a bracket, as wide as they are written."""
    for part in inside.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise InputError(f"the list of hosts {text[:60]!r} has {part[:20]!r} where a number or a range is due")
        low, high = match[1], match[2] or match[1]
        if int(high) < int(low):
            raise InputError(f"the list of hosts {text[:60]!r} counts down in {part[:30]!r}")
        if int(high) - int(low) >= MOST_HOSTS:
            raise InputError(f"the list of hosts {text[:60]!r} names more than {MOST_HOSTS:,}, the most that are read")
        yield from (f"{number:0{len(low)}d}" for number in range(int(low), int(high) + 1))
