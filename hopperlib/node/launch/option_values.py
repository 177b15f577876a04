"""Values of launcher options: whole numbers, memory sizes, lists of cores and nodes.

Every function takes the option's name, so that a bad value is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hopperlib.node.launch.components import LaunchError

__all__ = ["cpu_list", "hex_mask", "host_count", "memory_gb", "node_ids", "number_list", "repeated", "whole_number"]

# Longest list of numbers that a line may spell out; ranges such as 0-999999999 stop here.
_MOST_ENTRIES = 100_000
# No count of anything has more digits; Python itself refuses to read thousands of them.
_MOST_DIGITS = 18


def whole_number(flag: str, text: str, *, low: int = 1, high: int | None = None, bound: str = "") -> int:
    """Return a whole number within bounds.

    Parameters
    ----------
    flag, text : str
        Option and its value as typed.
    low, high : int
        Smallest and largest value; None for no largest.
    bound : str
        Where the bounds come from, for the message.

    Raises
    ------
    LaunchError
        If the text is no whole number or is out of bounds.

    Examples
    --------
    >>> whole_number("-n", "384")
    384
    >>> whole_number("-S", "7", high=6, bound="the cores of a NUMA node")
    Traceback (most recent call last):
    hopperlib.node.launch.components.LaunchError: -S 7 must be from 1 to 6, the cores of a NUMA node
    """
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise LaunchError(flag=flag, value=text, rule="must be a whole number")
    said = f", {bound}" if bound else ""
    if len(text) > _MOST_DIGITS:
        rule = f"must be from {low} to {high}{said}" if high is not None else f"has more than {_MOST_DIGITS} digits"
        raise LaunchError(flag=flag, value=text, rule=rule)
    number = int(text)
    if high is not None and not low <= number <= high:
        raise LaunchError(flag=flag, value=text, rule=f"must be from {low} to {high}{said}")
    if number < low:
        raise LaunchError(flag=flag, value=text, rule=f"must be at least {low}{said}")
    return number


def memory_gb(flag: str, text: str, *, default_unit: str = "M", typed: str = "") -> float:
    """Return a memory size with an optional suffix K, M, G or T, an optional B behind it. [GB, binary]

    Parameters
    ----------
    flag, text : str
        Option and the size.
    default_unit : str
        What a number without suffix counts: ``K``, ``M``, ``G``, ``T`` or ``bytes``.
    typed : str
        The whole value, if the size is a part of it.

    Raises
    ------
    LaunchError
        If the text is no size.

    Examples
    --------
    >>> memory_gb("-m", "2G"), memory_gb("-m", "512"), memory_gb("mppmem", "1300mb")
    (2.0, 0.5, 1.26953125)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGT]?)(I?B)?", text.upper())
    if not found:
        rule = "must be a number with an optional suffix K, M, G or T"
        raise LaunchError(flag=flag, value=typed or text, rule=rule)
    number, suffix, byte = found.groups()
    if not suffix:
        suffix = "bytes" if byte else default_unit
    power = {"bytes": 3, "K": 2, "M": 1, "G": 0, "T": -1}[suffix]
    return float(number) * 1024.0**-power


def number_list(flag: str, text: str, *, what: str, typed: str = "") -> tuple[int, ...]:
    """Return the numbers of a list with commas and ranges; a range may run backwards.

    Parameters
    ----------
    flag, text : str
        Option and the list.
    what : str
        What the numbers count, for messages.
    typed : str
        The whole value, if the list is a part of it.

    Raises
    ------
    LaunchError
        If the text is no such list.

    Examples
    --------
    >>> number_list("-sl", "0,2-3", what="NUMA nodes")
    (0, 2, 3)
    >>> number_list("-cc", "10-8", what="cores")
    (10, 9, 8)
    """
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if not found:
            raise LaunchError(flag=flag, value=typed or text, rule=f"must be a list of {what} such as 0,2-3")
        first = int(found[1])
        last = int(found[2]) if found[2] else first
        if len(numbers) + abs(last - first) >= _MOST_ENTRIES:
            raise LaunchError(
                flag=flag, value=typed or text, rule=f"lists more than {_MOST_ENTRIES:,} {what}, the most read here"
            )
        numbers += range(first, last + 1) if last >= first else range(first, last - 1, -1)
    return tuple(numbers)


def cpu_list(flag: str, text: str) -> tuple[tuple[int | None, ...], ...]:
    """Return the lists of ``aprun -cc``, one a task where colons part them; x gives None.

    Raises
    ------
    LaunchError
        If the text is no such list.

    Examples
    --------
    >>> cpu_list("-cc", "0-2:x,6")
    ((0, 1, 2), (None, 6))
    """
    lists: list[tuple[int | None, ...]] = []
    for one_task in text.split(":"):
        entries: list[int | None] = []
        for part in one_task.split(","):
            entries += [None] if part == "x" else number_list(flag, part, what="cores", typed=text)
        lists.append(tuple(entries))
    return tuple(lists)


def repeated(flag: str, text: str) -> tuple[str, ...]:
    """Return the entries of a Slurm list, in which ``3*4`` stands for four times 3.

    Raises
    ------
    LaunchError
        If the list is empty or a repetition is no whole number.

    Examples
    --------
    >>> repeated("--cpu-bind", "0*2,6")
    ('0', '0', '6')
    """
    entries: list[str] = []
    for part in text.split(","):
        value, star, times = part.partition("*")
        count = whole_number(flag, times, high=_MOST_ENTRIES, bound="the longest list read here") if star else 1
        if len(entries) + count > _MOST_ENTRIES:
            raise LaunchError(
                flag=flag, value=text, rule=f"lists more than {_MOST_ENTRIES:,} entries, the most read here"
            )
        entries += [value] * count
    if not all(entries):
        raise LaunchError(flag=flag, value=text, rule="has an empty entry; write one after each comma")
    return tuple(entries)


def hex_mask(flag: str, text: str) -> tuple[int, ...]:
    """Return the numbers of the bits that a hexadecimal mask sets.

    Raises
    ------
    LaunchError
        If the text is no hexadecimal number, or sets no bit.

    Examples
    --------
    >>> hex_mask("--cpu-bind", "0x55")
    (0, 2, 4, 6)
    """
    digits = text[2:] if text[:2].lower() == "0x" else text
    if not re.fullmatch(r"[0-9a-fA-F]{1,1024}", digits):
        raise LaunchError(flag=flag, value=text, rule="must be a hexadecimal mask such as 0x3f")
    mask = int(digits, 16)
    if not mask:
        raise LaunchError(flag=flag, value=text, rule="sets no bit; a task needs at least one")
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def node_ids(flag: str, text: str) -> frozenset[int]:
    """Return the node IDs of a list.

    Examples
    --------
    >>> sorted(node_ids("-L", "23-25,30"))
    [23, 24, 25, 30]
    """
    return frozenset(number_list(flag, text, what="node IDs"))


def host_count(text: str) -> int | None:
    """Return how many hosts a Slurm host list names; None if it is not spelled out.

    Examples
    --------
    >>> host_count("nid[000001-000004,9],login1")
    6
    >>> host_count("./hosts.txt") is None
    True
    """
    if not re.fullmatch(r"(?:[^\[\]/,]+(?:\[[0-9,-]+\])?(?:,|$))+", text):
        return None
    total = 0
    for found in re.finditer(r"[^\[\],]+(?:\[([0-9,-]+)\])?", text):
        total += _bracket_count(found[1].split(",")) if found[1] else 1
    return total or None


def _bracket_count(parts: Iterable[str]) -> int:
    """Count the hosts between brackets."""
    total = 0
    for part in parts:
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            total += abs(int((last or first)[:9]) - int(first[:9])) + 1
    return total
