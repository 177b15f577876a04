"""Numbers, sizes, command lines and error messages as IOR writes them."""

import math
import re
from typing import Any

from hopperlib.errors import InputError
from hopperlib.units import size_bytes


class Marks:
    """A regular expression that is tried only on texts that contain one of its required substrings.

    Searching for substrings takes a hundredth of the time of an expression without a literal prefix, and most files in
    a tree do not match at all.

    Parameters
    ----------
    pattern : str
    needs : tuple of str
        Substrings, one of which occurs in every match.

    Examples
    --------
    >>> mark = Marks("^.{0,20}bw[(]", needs=("bw(",))
    >>> mark.search("access bw(MiB/s)") is None, mark.search("milk") is None
    (False, True)
    """

    def __init__(self, pattern: str, *, needs: tuple[str, ...]) -> None:
        self.pattern = re.compile(pattern, re.MULTILINE)
        self.needs = needs

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return self.pattern.search(text) if any(piece in text for piece in self.needs) else None

    def all(self, text: str) -> list[re.Match[str]]:
        """Return all matches."""
        return list(self.pattern.finditer(text)) if any(piece in text for piece in self.needs) else []


_UNIT = re.compile(r"([KMGT]?)(i?)B", re.IGNORECASE)
# IOR's error marks, and MPI's message when a program aborts.
_HARD = re.compile(
    r"\*\* error \*\*|\bERROR in \S+ \(line \d+\)|\bior ERROR\b|\bMPI_Abort\b|\bFAILED comparison\b|MPI_ABORT was invoked"
    # Nonfatal errors, for wrong or misplaced data.
    r"|ERROR: (?:verifying|incorrect)|\berror could not create|\bfsync\(\) failed"
)
_SOFT = re.compile(
    r"\bERROR:|\berror:|\bCANCELLED\b|\bKilled\b|oom[-_]kill|DUE TO TIME LIMIT|Segmentation fault|exit signals?\b"
    r"|command not found|cannot open|No such file"
)
_SAID = re.compile(r"ior ERROR:|ERROR in \S+ \(line \d+\):|ERROR:")
_WHERE = re.compile(r"\(\S+:\d+\)$")


def number(word: str) -> float | None:
    """Return a printed number; None for IOR's marks of a missing one (``-``, ``NA``, ``nan``, ``inf``).

    Negative numbers are invalid too: rates, times, sizes and counts are never negative, so they mean damage or an
    overflow.

    Parameters
    ----------
    word : str
        Number as printed.

    Examples
    --------
    >>> number("5740"), number("NA"), number("-"), number("-nan"), number("1e400"), number("-12.5")
    (5740.0, None, None, None, None, None)
    """
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def count(word: str) -> int | None:
    """Return a printed count if it is at least one; otherwise None.

    Parameters
    ----------
    word : str
        Count as printed.

    Examples
    --------
    >>> count("24"), count("0"), count("-1"), count("4x")
    (24, None, None, None)
    """
    value = number(word)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def binary_size(text: str) -> int | None:
    """Return a size in bytes: ``1 MiB``, ``262144 bytes``, ``4m``; IOR's m is 2**20 bytes. [bytes]

    Parameters
    ----------
    text : str
        Size as printed or typed.

    Examples
    --------
    >>> binary_size("1 MiB"), binary_size("262144 bytes"), binary_size("4m"), binary_size("2 MB"), binary_size("-")
    (1048576, 262144, 4194304, 2000000, None)
    """
    # One-letter units are from the command line, where all units are binary; MB is decimal.
    binary = not text.strip().lower().endswith("b")
    try:
        return size_bytes(text, binary=binary, any_case=True, rounded=True) or None
    except InputError:
        return None


def rate_factor(heading: str) -> float:
    """Return the factor from the unit in a heading to MiB/s.

    Parameters
    ----------
    heading : str
        Heading of the column.

    Examples
    --------
    >>> rate_factor("bw(MiB/s)"), rate_factor("Max(MB)"), rate_factor("bw(bytes/s)") * 2**20
    (1.0, 0.95367431640625, 1.0)
    """
    unit = heading.partition("(")[2]
    match = _UNIT.match(unit)
    if match is None:
        return 1 / (1 << 20) if unit.lower().startswith("byte") else 1.0
    power = " KMGT".find(match[1].upper()) if match[1] else 0
    return float((1024 if match[2] else 1000) ** power) / (1 << 20)


def read_command(line: str) -> dict[str, Any]:
    """Parse an IOR command line into options; absent ones are None.

    Without ``-w``, ``-r``, ``-W`` and ``-R`` IOR writes and reads. The accesses are unknown if they come from a script
    file (``-f``), or if letters are combined (``-wr``), which versions read differently.

    Parameters
    ----------
    line : str
        Command line of IOR.

    Examples
    --------
    >>> command = read_command("src/ior -a POSIX -F -w -b 4m -t=1m -i 3 -O stoneWallingWearOut=1")
    >>> command["block"], command["transfer"], command["repetitions"], command["accesses"]
    (4194304, 1048576, 3, ('write',))
    >>> command["flags"]
    ('F', 'O', 'a', 'b', 'i', 'stonewallingwearout=1', 't', 'w')
    """
    words = line.split()
    values: dict[str, str] = {}
    # A value follows its flag, is attached to it, or follows an equals sign.
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if match := re.fullmatch(r"-([A-Za-z])(?:=(.+)|(\d\S*))?", word):
            values.setdefault(match[1], match[2] or match[3] or following)
    sizes = {name: binary_size(values.get(flag, "")) for name, flag in (("block", "b"), ("transfer", "t"))}
    flags = (("segments", "s"), ("repetitions", "i"), ("stonewall", "D"))
    counts = {name: count(values.get(flag, "")) for name, flag in flags}
    files, accesses = True if "F" in values else None, _accesses(words, values)
    options = {"api": values.get("a"), "files": files, "accesses": accesses, "flags": _flags(words, values)}
    return {**options, **sizes, **counts}


def _flags(words: list[str], values: dict[str, str]) -> tuple[str, ...] | None:
    """Return a command line's letters, and the settings of ``-O`` and long options, in order; None if a file sets more."""
    if not words or "f" in values:
        return None
    glued = {letter for word in words if re.fullmatch(r"-[A-Za-z]{2,}", word) for letter in word[1:]}
    long = {word.lstrip("-").lower() for word in words if word.startswith("--")}
    given = {part.lower() for word in words if "=" in word and not word.startswith("-") for part in word.split(",")}
    return tuple(sorted({*values, *glued, *long, *given}))


def _accesses(words: list[str], values: dict[str, str]) -> tuple[str, ...] | None:
    """Return the accesses requested on a command line; None if unknown."""
    joined = any(re.fullmatch(r"-[A-Za-z]{2,}", word) and set(word) & set("wrWR") for word in words)
    if joined or "f" in values or not words:
        return None
    if not values.keys() & set("wrWR"):
        return ("write", "read")
    return tuple(name for name, flag in (("write", "w"), ("read", "r")) if flag in values)


def error_in(line: str) -> tuple[bool, str] | None:
    """Return whether a line reports a fatal error, and its text; None if it reports none.

    Parameters
    ----------
    line : str
        Line of output.

    Examples
    --------
    >>> error_in("ERROR in aiori-POSIX.c (line 105): cannot open file.")
    (True, 'cannot open file')
    >>> error_in("WARNING: Read bytes is 0") is None
    True
    """
    hard = _HARD.search(line) is not None
    if not hard and (_SOFT.search(line) is None or "WARNING" in line):
        return None
    match = _SAID.search(line)
    if match:
        return hard, _WHERE.sub("", line[match.end() :].strip()).strip(" .,")[:200]
    return hard, "" if "** error **" in line else line.strip()[:200]


def worst(errors: list[tuple[bool, str]]) -> tuple[bool, str]:
    """Return whether any error was fatal, and the text of the first two distinct ones.

    Parameters
    ----------
    errors : list[tuple[bool, str]]
        Whether each error is fatal, and its text.

    Examples
    --------
    >>> worst([(False, "Killed"), (True, "cannot open file"), (False, "Killed")])
    (True, 'Killed: cannot open file')
    """
    words = list(dict.fromkeys(words for _, words in errors if words))
    return any(hard for hard, _ in errors), ": ".join(words[:2]) or "an error without a message"
