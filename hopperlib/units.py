"""The units of the library, and the few factors between them.

Times are in seconds, sizes in GB and rates in GB/s. Latencies are in
microseconds, stripe and transfer sizes in bytes. Names end in the unit.

A GB of disk, of a network or of a file is 1,000,000,000 bytes. A GB of a node's
memory is what the sources and the vendors mean by it, 1,073,741,824 bytes: a
node "of 32 GB" holds 32 GiB. So the memory of a whole machine has two names,
by the divisor: `memory_tb` divides by 1,000 and `memory_tib` by 1,024.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = [
    "BYTES_PER_GB",
    "BYTES_PER_MEMORY_GB",
    "BYTES_PER_MIB",
    "HOURS_PER_DAY",
    "MIB_PER_MEMORY_GB",
    "SECONDS_PER_HOUR",
    "memory_tb",
    "memory_tib",
    "size_bytes",
]

BYTES_PER_GB = 1_000_000_000
BYTES_PER_MEMORY_GB = 1 << 30
BYTES_PER_MIB = 1 << 20
MIB_PER_MEMORY_GB = 1 << 10
SECONDS_PER_HOUR = 3_600
HOURS_PER_DAY = 24


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
    The same memory as the other divisor gives it, "212 TB" in the later slides:

    >>> memory_tib(6000 * 32 + 384 * 64)
    211.5

    References
    ----------
    Y. He and K. Antypas, CUG 2012, slide "Hopper Configuration" (the printed 212 TB).
    """
    return memory_gb / 1_024


_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kKMGTPE]?)(i?)(B?|b)\s*")


def size_bytes(text: str, *, binary: bool = False) -> int:
    """Return a size as people type it: ``29GB``, ``64M``, ``1MiB``, ``500``. [bytes]

    Parameters
    ----------
    text : str
        Number and unit; without a unit, bytes.
    binary : bool
        Whether ``GB`` means 2**30, as the sources count memory. ``GiB`` always
        does; otherwise ``GB`` is 10**9, as storage is counted.

    Raises
    ------
    ValueError
        If the text is no size.

    Examples
    --------
    >>> size_bytes("31TB"), size_bytes("2GB", binary=True), size_bytes("64MiB"), size_bytes("500")
    (31000000000000, 2147483648, 67108864, 500)
    >>> size_bytes("two")
    Traceback (most recent call last):
    ValueError: 'two' is no size; give a number and a unit, such as 29GB, 64MiB or 1048576
    """
    match = _SIZE.fullmatch(text)
    if match is None or (match[4] == "b" and match[2]) or (match[3] and not match[2]):
        raise ValueError(f"{text!r} is no size; give a number and a unit, such as 29GB, 64MiB or 1048576")
    power = "kMGTPE".find(match[2].replace("K", "k")) + 1 if match[2] else 0
    size = Decimal(match[1]) * (1024 if binary or match[3] else 1000) ** power
    if size != int(size):
        raise ValueError(f"{text!r} is no whole number of bytes")
    return int(size)
