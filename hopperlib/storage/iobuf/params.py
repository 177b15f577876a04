"""``IOBUF_PARAMS``: which files Cray's iobuf library buffers, and how; read, checked and written.

The variable holds patterns of file names, parted by commas. Each may be
followed by options, parted by colons: ``*.dat:size=2M:count=2:verbose``. Sizes
count in binary: ``2M`` is 2,097,152 bytes.

No manual of the library is at hand. The options here are those that public job
scripts use; another one is not refused but noted. By default every file has
four buffers of 1 MB [1]_.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 2, I/O Performance.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hopperlib.errors import InputError, at_least
from hopperlib.finding import Finding
from hopperlib.units import BYTES_PER_MIB, binary_size_text, size_bytes

_DEFAULT_COUNT = 4
_DEFAULT_SIZE_BYTES = BYTES_PER_MIB

# Options with a number, and the least it may be.
_COUNTS = {"count": 1, "prefetch": 0}
# What else public job scripts hold: kept as it is.
_KEPT = ("preflush", "vbuffer_count", "vbuffer_size", "verbose")
_SIZE = re.compile(r"[0-9]{1,18}[kmg]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern with its options.

    Parameters
    ----------
    pattern : str
        File name with wildcards, or ``%stdin``, ``%stdout``, ``%stderr``.
    size_bytes : int or None
        Size of a buffer; None is the default. [bytes]
    count, prefetch : int or None
        Buffers of a file, and buffers read ahead; None is the default.
    others : tuple of str
        Further options as written.
    """

    pattern: str
    size_bytes: int | None = None
    count: int | None = None
    prefetch: int | None = None
    others: tuple[str, ...] = ()

    @property
    def buffer_size_bytes(self) -> int:
        """Size of a buffer, the default if none is given. [bytes]"""
        return _DEFAULT_SIZE_BYTES if self.size_bytes is None else self.size_bytes

    @property
    def buffer_count(self) -> int:
        """Buffers of a file, the default if none is given."""
        return _DEFAULT_COUNT if self.count is None else self.count


def suited_rule(pattern: str, *, reading: bool = False) -> Rule:
    """Return the rule of the documented runs for some files: two buffers of 2 MiB, which take what the default takes.

    Parameters
    ----------
    pattern : str
    reading : bool
        Whether the files are read: then one buffer is read ahead.

    Examples
    --------
    >>> write_params([suited_rule("*.dat", reading=True)])
    '*.dat:size=2M:count=2:prefetch=1'
    """
    return Rule(pattern=pattern, size_bytes=2 * BYTES_PER_MIB, count=2, prefetch=1 if reading else None)


def _number(option: str, text: str) -> int:
    """Return the number that an option has, of bytes or of buffers."""
    if option == "size":
        size = size_bytes(text, binary=True, any_case=True) if _SIZE.fullmatch(text) else 0
        if not size:
            raise InputError(f"{option}={text} must be a size in bytes, such as 2M, 64k or 1048576")
        return size
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < _COUNTS[option]:
        raise InputError(f"{option}={text} must be a whole number from {_COUNTS[option]}")
    return int(text)


def _rule(text: str) -> Rule:
    """Read one pattern with its options."""
    pattern, *options = (part.strip() for part in text.split(":"))
    if not pattern:
        raise InputError(f"{text!r} has no file name before its options; write a pattern such as *.dat")
    given: dict[str, int] = {}
    others = []
    for option in options:
        name, equals, value = option.partition("=")
        of = f"option {name} of {pattern!r}"
        if not name:
            raise InputError(f"{text!r} has an empty option; colons part options, as in *.dat:size=2M:count=2")
        if name not in ("size", *_COUNTS):
            others.append(option)
        elif not equals:
            raise InputError(f"{of} needs a value, as in {name}={'2M' if name == 'size' else 2}")
        elif name in given:
            raise InputError(f"{of} is given twice")
        else:
            given[name] = _number(name, value)
    return Rule(pattern, given.get("size"), given.get("count"), given.get("prefetch"), tuple(others))


def read_params(text: str) -> tuple[Rule, ...]:
    """Read the value of ``IOBUF_PARAMS``; the assignment around it and its quotes may stand there too.

    Raises
    ------
    InputError
        If a pattern or an option cannot be read; the message names it.

    Examples
    --------
    >>> [(rule.pattern, rule.buffer_size_bytes, rule.buffer_count) for rule in read_params("*:size=4M,%stdout:size=2M:verbose")]
    [('*', 4194304, 4), ('%stdout', 2097152, 4)]
    >>> read_params("export IOBUF_PARAMS='*.dat:count=two'")
    Traceback (most recent call last):
    hopperlib.errors.InputError: count=two must be a whole number from 1
    """
    value = re.sub(r"^\s*(?:export\s+|setenv\s+)?IOBUF_PARAMS(?:=|\s+)", "", text.strip()).strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    if not value.strip():
        raise InputError("IOBUF_PARAMS is empty: nothing is buffered; name the files, as in *.dat or %stdout")
    return tuple(_rule(part) for part in value.split(","))


def write_params(rules: Sequence[Rule]) -> str:
    """Return the value of ``IOBUF_PARAMS`` for some rules; what is default is left out.

    Raises
    ------
    InputError
        If there is no rule, or a pattern holds a comma or a colon.

    Examples
    --------
    >>> write_params([Rule(pattern="*.dat", size_bytes=2 << 20, count=2, prefetch=1)])
    '*.dat:size=2M:count=2:prefetch=1'
    """
    if not rules:
        raise InputError("rules=() must hold at least one rule: without a pattern nothing is buffered")
    parts = []
    for rule in rules:
        if not rule.pattern or re.search(r"[,:]", rule.pattern):
            raise InputError(
                f"pattern {rule.pattern!r} must be a file name without commas and colons, which part patterns"
            )
        size = None if rule.size_bytes is None else binary_size_text(rule.size_bytes)
        values = {"size": size, "count": rule.count, "prefetch": rule.prefetch}
        options = [f"{name}={value}" for name, value in values.items() if value is not None]
        parts.append(":".join([rule.pattern, *options, *rule.others]))
    return ",".join(parts)


def buffer_bytes(rule: Rule, *, files: int = 1, tasks: int = 1) -> int:
    """Memory that buffers take: for each open file of each task. [bytes]

    Raises
    ------
    InputError
        If a number is negative.

    Examples
    --------
    The default, with one file a task on a full Hopper node: 96 MiB.

    >>> buffer_bytes(Rule(pattern="*"), tasks=24) >> 20
    96
    """
    at_least(0, files=files, tasks=tasks)
    return rule.buffer_size_bytes * rule.buffer_count * files * tasks


def _pattern_findings(rule: Rule) -> Iterator[Finding]:
    """Yield what is wrong with the pattern and the names of the options of one rule."""
    shown = repr(rule.pattern)
    if _SIZE.fullmatch(rule.pattern) and not rule.pattern.isdecimal():
        message = (
            f"{shown} stands where a file name must: only a file of that name is buffered. Write *:size={rule.pattern}"
        )
        yield Finding("pattern-is-size", message, "problem")
    for other in rule.others:
        if other.partition("=")[0] not in _KEPT:
            message = (
                f"option {other!r} of {shown} is not among those seen in use: {', '.join(('size', *_COUNTS, *_KEPT))}"
            )
            yield Finding("unknown-option", message, "problem")


def _buffer_findings(rule: Rule, transfer_bytes: int | None) -> Iterator[Finding]:
    """Yield what is wrong with the number and the size of the buffers of one rule."""
    size, count, shown = rule.buffer_size_bytes, rule.buffer_count, repr(rule.pattern)
    if (rule.prefetch or 0) >= count:
        message = (
            f"prefetch={rule.prefetch} of {shown} wants more buffers than are free: "
            f"count={count} leaves {count - 1} beside the one in use"
        )
        yield Finding("prefetch-needs-buffers", message, "problem")
    if transfer_bytes is not None and transfer_bytes >= size:
        message = f"buffers of {size:,} bytes for {shown} merge nothing when the program moves {transfer_bytes:,} bytes at once"
        yield Finding("buffer-too-small", message)


def check_params(rules: Sequence[Rule], *, transfer_bytes: int | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a setting, and what could be better.

    Parameters
    ----------
    rules : sequence of Rule
    transfer_bytes : int or None
        What the program moves in one call, if known. [bytes]

    Examples
    --------
    >>> [finding.code for finding in check_params(read_params("12M:verbose"))]
    ['pattern-is-size']
    """
    each = ((*_pattern_findings(rule), *_buffer_findings(rule, transfer_bytes)) for rule in rules)
    return tuple(chain.from_iterable(each))
