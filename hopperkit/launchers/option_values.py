"""Values of launcher options: whole numbers, memory sizes, lists of cores and nodes.

Every function takes the option's name, so that a bad value is refused by name.
"""

import re
from collections.abc import Iterable

from hopperlib import units
from hopperlib.errors import InputError
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.components import LaunchError

# Longest list of numbers that a line may spell out; ranges such as 0-999999999 stop here.
_MAX_ENTRIES = 100_000
# No count of anything has more digits; Python itself refuses to read thousands of them.
_MAX_DIGITS = 18


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
        If the text is not a whole number or is out of bounds.

    Examples
    --------
    >>> whole_number("-n", "384")
    384
    >>> whole_number("-S", "7", high=6, bound="the cores of a NUMA node")
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: -S 7 must be from 1 to 6, the cores of a NUMA node
    """
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise LaunchError(flag, text, "must be a whole number")
    # No number is read that has too many digits; it is beyond any bound.
    number = int(text) if len(text) <= _MAX_DIGITS else None
    because = f", {bound}" if bound else ""
    if high is not None and (number is None or not low <= number <= high):
        raise LaunchError(flag, text, f"must be from {low} to {high}{because}")
    if number is None:
        raise LaunchError(flag, text, f"has more than {_MAX_DIGITS} digits")
    if number < low:
        raise LaunchError(flag, text, f"must be at least {low}{because}")
    return number


def memory_gb(flag: str, text: str, *, default_unit: str = "M", typed: str = "") -> float:
    """Return a memory size with optional suffix K, M, G or T and optional B. [GB, binary]

    Parameters
    ----------
    flag, text : str
        Option and the size.
    default_unit : str
        Unit of a number without suffix: ``K``, ``M``, ``G``, ``T``, or empty for bytes.
    typed : str
        The whole value, if the size is a part of it.

    Raises
    ------
    LaunchError
        If the text is not a size.

    Examples
    --------
    >>> memory_gb("-m", "2G"), memory_gb("-m", "512"), memory_gb("mppmem", "1300mb")
    (2.0, 0.5, 1.26953125)
    """
    try:
        return units.memory_gb(text, unit=default_unit)
    except InputError:
        raise LaunchError(flag, typed or text, "must be a number with an optional suffix K, M, G or T") from None


def number_list(flag: str, text: str, *, what: str, typed: str = "") -> tuple[int, ...]:
    """Return the numbers of a list with commas and ranges; a range may run backwards.

    Parameters
    ----------
    flag, text : str
        Option and the list.
    what : str
        Meaning of the numbers, for messages.
    typed : str
        The whole value, if the list is a part of it.

    Raises
    ------
    LaunchError
        If the text is not such a list.

    Examples
    --------
    >>> number_list("-sl", "0,2-3", what="NUMA nodes")
    (0, 2, 3)
    >>> number_list("-cc", "10-8", what="cores")
    (10, 9, 8)
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if not match:
            raise LaunchError(flag, typed or text, f"must be a list of {what} such as 0,2-3")
        first, last = int(match[1]), int(match[2] or match[1])
        if len(numbers) + abs(last - first) >= _MAX_ENTRIES:
            raise LaunchError(flag, typed or text, f"lists more than {_MAX_ENTRIES:,} {what}, the most read here")
        numbers += range(first, last + 1) if last >= first else range(first, last - 1, -1)
    return tuple(numbers)


def cpu_list(flag: str, text: str) -> tuple[tuple[int | None, ...], ...]:
    """Return the lists of ``aprun -cc``, one per task, separated by colons; x gives None.

    Parameters
    ----------
    flag : str
        Option of the value, for messages.
    text : str
        The text.

    Raises
    ------
    LaunchError
        If the text is not such a list.

    Examples
    --------
    >>> cpu_list("-cc", "0-2:x,6")
    ((0, 1, 2), (None, 6))
    """
    lists: list[tuple[int | None, ...]] = []
    for task in text.split(":"):
        entries: list[int | None] = []
        for part in task.split(","):
            entries += [None] if part == "x" else number_list(flag, part, what="cores", typed=text)
        lists.append(tuple(entries))
    return tuple(lists)


def repeated(flag: str, text: str) -> tuple[str, ...]:
    """Return the entries of a Slurm list, in which ``3*4`` means four times 3.

    Parameters
    ----------
    flag : str
        Option of the value, for messages.
    text : str
        The text.

    Raises
    ------
    LaunchError
        If the list is empty or a repetition is not a whole number.

    Examples
    --------
    >>> repeated("--cpu-bind", "0*2,6")
    ('0', '0', '6')
    """
    entries: list[str] = []
    for part in text.split(","):
        value, star, times = part.partition("*")
        count = whole_number(flag, times, high=_MAX_ENTRIES, bound="the longest list read here") if star else 1
        if len(entries) + count > _MAX_ENTRIES:
            raise LaunchError(flag, text, f"lists more than {_MAX_ENTRIES:,} entries, the most read here")
        entries += [value] * count
    if not all(entries):
        raise LaunchError(flag, text, "has an empty entry; write one after each comma")
    return tuple(entries)


def hex_mask(flag: str, text: str) -> tuple[int, ...]:
    """Return the numbers of the bits that a hexadecimal mask sets.

    Parameters
    ----------
    flag : str
        Option of the value, for messages.
    text : str
        The text.

    Raises
    ------
    LaunchError
        If the text is not a hexadecimal number, or sets no bit.

    Examples
    --------
    >>> hex_mask("--cpu-bind", "0x55")
    (0, 2, 4, 6)
    """
    digits = text[2:] if text[:2].lower() == "0x" else text
    if not re.fullmatch(r"[0-9a-fA-F]{1,1024}", digits):
        raise LaunchError(flag, text, "must be a hexadecimal mask such as 0x3f")
    mask = int(digits, 16)
    if not mask:
        raise LaunchError(flag, text, "sets no bit; a task needs at least one")
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def host_count(text: str) -> int | None:
    """Return the number of hosts in a Slurm host list; None if it is abbreviated.

    Parameters
    ----------
    text : str
        List of hosts, as written on the line.

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
    for hosts in re.finditer(r"[^\[\],]+(?:\[([0-9,-]+)\])?", text):
        for part in (hosts[1] or "0").split(","):
            first, _, last = part.partition("-")
            if first.isdigit() and (last or first).isdigit():
                total += abs(int((last or first)[:9]) - int(first[:9])) + 1
    return total or None


def assigned(texts: Iterable[str]) -> dict[str, str]:
    """Return the variables that texts ``NAME=value`` set; texts without the sign set none.

    Parameters
    ----------
    texts : iterable of str
        Texts of the form NAME=VALUE.

    Examples
    --------
    >>> assigned(["ALL", "OMP_NUM_THREADS=6"])
    {'OMP_NUM_THREADS': '6'}
    """
    return {name: value for name, equals, value in (text.partition("=") for text in texts) if equals}


def check_nodes(
    nodes: int,
    machine: Machine,
    flag: str,
    value: str | int,
    *,
    kind: NodeKind | None = None,
    verb: str = "needs",
    words: str | None = None,
) -> None:
    """Reject more nodes than the machine has.

    Parameters
    ----------
    nodes : int
    machine : Machine
    flag, value : str, str or int
        Option that requests them.
    kind : NodeKind or None
        Kind that the job is bound to, where a job chooses one.
    verb : str
        Effect of the option, for the message.
    words : str or None
        The launcher's message.

    Raises
    ------
    LaunchError
        If `nodes` is more than there are.

    Examples
    --------
    >>> check_nodes(6385, Machine.load("hopper"), "-n", 153217)
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: -n 153217 needs 6,385 nodes; Hopper has 6,384
    """
    chosen = kind if kind and kind.chosen_by else None
    if nodes > (chosen.count if chosen else machine.nodes):
        has = f"{chosen.count:,} of kind '{chosen.name}'" if chosen else f"{machine.nodes:,}"
        rule = f"{verb} {nodes:,} nodes; {machine.title} has {has}"
        raise LaunchError(flag, value, rule, words=words)
