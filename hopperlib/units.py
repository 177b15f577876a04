"""The units of the library, and the conversion factors between them.

Times are in seconds, sizes in GB and rates in GB/s. Latencies are in
microseconds, stripe and transfer sizes in bytes. Names end in the unit.

A GB of disk, of a network or of a file is 1,000,000,000 bytes. A GB of a node's memory is 1,073,741,824 bytes, as in
the sources and from vendors: a node "of 32 GB" has 32 GiB. The memory of a whole machine therefore has two names:
`memory_tb` divides by 1,000 and `memory_tib` by 1,024.
"""

import re
from typing import TYPE_CHECKING, Any

from hopperlib.errors import InputError

if TYPE_CHECKING:
    from decimal import Decimal

BYTES_PER_GB = 1_000_000_000
BYTES_PER_MEMORY_GB = 1 << 30
BYTES_PER_MIB = 1 << 20
MIB_PER_MEMORY_GB = 1 << 10
SECONDS_PER_HOUR = 3_600
HOURS_PER_DAY = 24


def plain_number(value: Any) -> Any:
    """Return a number of any type, such as those of numpy, pandas, `decimal` or `fractions`, as a Python int or float.

    Boolean values become a bool, which most callers reject; other values are returned unchanged.

    Parameters
    ----------
    value : object
        A number of any type, or another value.

    Examples
    --------
    >>> from fractions import Fraction
    >>> plain_number(Fraction(1, 2)), plain_number(24), plain_number("24"), plain_number(None)
    (0.5, 24, '24', None)
    """
    kind = type(value)
    if kind in (int, float, bool, str):
        return value
    # A numpy boolean is neither a bool nor a number.
    if kind.__name__ in ("bool", "bool_"):
        return bool(value)
    # Imported late: such numbers are rare.
    from decimal import Decimal
    from numbers import Integral, Real

    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real | Decimal) else value


def memory_tb(memory_gb: float) -> float:
    """Memory of many nodes, divided by 1,000 as a brochure does. [TB]

    Parameters
    ----------
    memory_gb : float
        Sum of the nodes' memory. [GB]

    Returns
    -------
    float
        The same memory. [TB]

    Examples
    --------
    Hopper's 6,000 nodes of 32 GB and 384 of 64 GB, "over 217 TB":

    >>> memory_tb(6000 * 32 + 384 * 64)
    216.576

    References
    ----------
    K. Antypas and Y. He, CUG 2011, sec. 1 (the printed 217 TB).
    """
    return memory_gb / 1_000


def memory_tib(memory_gb: float) -> float:
    """Memory of many nodes, divided by 1,024. [TiB]

    Parameters
    ----------
    memory_gb : float
        Sum of the nodes' memory. [GB]

    Returns
    -------
    float
        The same memory. [TiB]

    Examples
    --------
    The same memory with the other divisor, "212 TB" in the later slides:

    >>> memory_tib(6000 * 32 + 384 * 64)
    211.5

    References
    ----------
    Y. He and K. Antypas, CUG 2012, slide "Hopper Configuration" (the printed 212 TB).
    """
    return memory_gb / 1_024


_LETTERS = "KMGTPE"
# A prefix with a lowercase b would mean bits, which are not supported: MB is valid, and b means bytes only without a
# prefix.
_SIZE = r"([0-9]{1,18}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})\s*(?:([kKMGTPE])(i?)B?|(bytes?|[Bb]))?"
_ANY_CASE = re.ASCII | re.IGNORECASE


def _exact_bytes(text: str, *, binary: bool, any_case: bool, unit: str = "") -> "Decimal":
    """Return a size in bytes, not rounded; a bare number is in the default unit."""
    # Imported only when needed: a command starts faster without it.
    from decimal import Decimal

    match = re.fullmatch(_SIZE, text.strip(), _ANY_CASE if any_case else re.ASCII)
    if match is None:
        raise InputError(
            f"{text!r} is not a size; give a number and a unit, such as 29GB, 64MiB or 1048576", value=text
        )
    number, letter, i, word = match.groups(default="")
    power = _LETTERS.index((letter or unit).upper()) + 1 if letter or (unit and not word) else 0
    return Decimal(number) * Decimal(1024 if binary or i else 1000) ** power


def size_bytes(text: str, *, binary: bool = False, any_case: bool = False, rounded: bool = False) -> int:
    """Return a size as people and programs write it: ``29GB``, ``64M``, ``1 MiB``, ``500``, ``500 bytes``. [bytes]

    Parameters
    ----------
    text : str
        Number and unit; without a unit, bytes.
    binary : bool
        Whether ``GB`` and ``G`` mean 2**30, as for memory in the sources, or 10**9, as for storage. ``GiB`` always
        means 2**30.
    any_case : bool
        Whether ``m`` and ``mb`` also mean mega, as in many programs; otherwise they are rejected, like ``Mb`` for bits.
    rounded : bool
        Whether a fractional number of bytes is rounded, as printed sizes are, instead of rejected.

    Raises
    ------
    InputError
        If the text is not a size.

    Examples
    --------
    >>> size_bytes("31TB"), size_bytes("2GB", binary=True), size_bytes("64MiB"), size_bytes("500")
    (31000000000000, 2147483648, 67108864, 500)
    >>> size_bytes("4m", binary=True, any_case=True), size_bytes("1.001 KiB", rounded=True)
    (4194304, 1025)
    >>> size_bytes("two")
    Traceback (most recent call last):
    hopperlib.errors.InputError: 'two' is not a size; give a number and a unit, such as 29GB, 64MiB or 1048576
    """
    size = _exact_bytes(text, binary=binary, any_case=any_case)
    if not rounded and size != int(size):
        raise InputError(f"{text!r} is not a whole number of bytes", value=text)
    return round(size)


def size_text(count: float) -> str:
    """Return a human-readable size in decimal units.

    Parameters
    ----------
    count : float
        Number to be formatted.

    Examples
    --------
    >>> size_text(304_700_000_000), size_text(12)
    ('305 GB', '12 bytes')
    """
    for unit, factor in (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # Values that round to 1,000 of a unit use the next unit.
        if count >= 0.9995 * factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} byte{'s' * (round(count) != 1)}"


def binary_size_text(size: int) -> str:
    """Return an exact size for a command: in the largest binary unit that divides it.

    Parameters
    ----------
    size : int
        Size. [bytes]

    Examples
    --------
    >>> [binary_size_text(size) for size in (64 << 20, 3 << 16, 1000)]
    ['64M', '192k', '1000']
    """
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def memory_gb(text: str, *, unit: str = "") -> float:
    """Return a size of memory as launchers and schedulers write it: ``2G``, ``1300mb``, ``512``. [GB]

    Every unit is binary, in upper or lower case.

    Parameters
    ----------
    text : str
        Number and unit.
    unit : {"", "K", "M", "G", "T"}
        Unit of a bare number; empty for bytes.

    Raises
    ------
    InputError
        If the text is not a size.

    Examples
    --------
    >>> memory_gb("2G"), memory_gb("1300mb"), memory_gb("512", unit="M"), memory_gb("1073741824")
    (2.0, 1.26953125, 0.5, 1.0)
    """
    return float(_exact_bytes(text, binary=True, any_case=True, unit=unit) / BYTES_PER_MEMORY_GB)


_COUNTED = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|sec|m|min|h|d|)"
_CLOCK = r"(?:([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(?:\.[0-9]{1,9})?"
# After days, the hours come first: 1-12:30 is one day, twelve hours and 30 minutes.
_DATED = r"([0-9]{1,9})-([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9})(?:\.[0-9]{1,9})?)?"
_SECONDS = {"s": 1, "m": 60, "h": SECONDS_PER_HOUR, "d": HOURS_PER_DAY * SECONDS_PER_HOUR}


def duration_s(text: str, *, unit: str = "") -> int:
    """Return a duration as people and schedulers write it, in whole seconds. [s]

    Valid forms are ``HH:MM:SS`` and ``MM:SS``; with days, ``D-HH:MM:SS``, ``D-HH:MM`` and ``D-HH``; and a number with
    its unit: ``90m``, ``1.5h``, ``2d``, ``30 min``. Parts of a second are cut off.

    Parameters
    ----------
    text : str
    unit : {"", "s", "m", "h", "d"}
        Unit of a bare number, such as minutes for Slurm's ``--time``; empty if a bare number is invalid.

    Raises
    ------
    InputError
        If the text is not a duration.

    Examples
    --------
    >>> duration_s("1-02:03:04"), duration_s("03:33:25"), duration_s("00:15.057"), duration_s("1-12")
    (93784, 12805, 15, 129600)
    >>> duration_s("90m"), duration_s("1.5h"), duration_s("90", unit="m")
    (5400, 5400, 5400)
    >>> duration_s("UNLIMITED")
    Traceback (most recent call last):
    hopperlib.errors.InputError: 'UNLIMITED' is not a duration; give one such as 1-12:00:00, 00:30:00 or 90m
    """
    counted, clock, dated = (re.fullmatch(pattern, text.strip(), re.ASCII) for pattern in (_COUNTED, _CLOCK, _DATED))
    if counted and (counted[2] or unit):
        from decimal import Decimal

        return int(Decimal(counted[1]) * _SECONDS[(counted[2] or unit)[0]])
    if clock or dated:
        groups = ("0", *clock.groups("0")) if clock else dated.groups("0") if dated else ()
        days, hours, minutes, seconds = map(int, groups)
        return ((days * HOURS_PER_DAY + hours) * 60 + minutes) * 60 + seconds
    raise InputError(f"{text!r} is not a duration; give one such as 1-12:00:00, 00:30:00 or 90m", value=text)
