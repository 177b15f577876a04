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

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from hopperlib.units import BYTES_PER_MIB

__all__ = [
    "DEFAULT_COUNT",
    "DEFAULT_SIZE_BYTES",
    "Finding",
    "Rule",
    "buffer_bytes",
    "check_params",
    "read_params",
    "rule_for",
    "size_text",
    "write_params",
]

DEFAULT_COUNT = 4
DEFAULT_SIZE_BYTES = BYTES_PER_MIB

_FLAGS = ("verbose",)
_COUNTS = ("count", "prefetch", "preflush", "vbuffer_count")
_SIZES = ("size", "vbuffer_size")
_SIZE = re.compile(r"(\d+)([kmg]?)", re.IGNORECASE)
_POWERS = {"": 0, "k": 10, "m": 20, "g": 30}


class Finding(NamedTuple):
    """Something to say about a setting.

    Parameters
    ----------
    code : str
        Stable short name.
    level : {"problem", "advice", "note"}
    message : str
        What it is, why it matters, what to do.
    """

    code: str
    level: Literal["problem", "advice", "note"]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One pattern with its options.

    Parameters
    ----------
    pattern : str
        File name with wildcards, or ``%stdin``, ``%stdout``, ``%stderr``.
    size_bytes : int or None
        Size of a buffer; None is the default. [bytes]
    count, prefetch, preflush : int or None
        Buffers of a file, buffers read ahead, buffers written ahead; None is the default.
    verbose : bool
        Whether statistics are printed when the file is closed.
    others : tuple of str
        Further options as written.
    """

    pattern: str
    size_bytes: int | None = None
    count: int | None = None
    prefetch: int | None = None
    preflush: int | None = None
    verbose: bool = False
    others: tuple[str, ...] = field(default=())

    @property
    def buffer_size_bytes(self) -> int:
        """Size of a buffer, the default if none is given. [bytes]"""
        return DEFAULT_SIZE_BYTES if self.size_bytes is None else self.size_bytes

    @property
    def buffer_count(self) -> int:
        """Buffers of a file, the default if none is given."""
        return DEFAULT_COUNT if self.count is None else self.count


def size_text(size_bytes: int) -> str:
    """Return a size as the variable takes it.

    Examples
    --------
    >>> size_text(2097152), size_text(65536), size_text(1000)
    ('2M', '64k', '1000')
    """
    for unit in ("g", "m", "k"):
        if size_bytes and size_bytes % (1 << _POWERS[unit]) == 0:
            return f"{size_bytes >> _POWERS[unit]}{unit.upper() if unit != 'k' else unit}"
    return str(size_bytes)


def _number(option: str, text: str, *, least: int) -> int:
    """Return the count of an option."""
    if not text.isascii() or not text.isdecimal() or int(text) < least:
        raise ValueError(f"{option}={text} must be a whole number from {least}")
    return int(text)


def _size(option: str, text: str) -> int:
    """Return the size of an option. [bytes]"""
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise ValueError(f"{option}={text} must be a size in bytes, such as 2M, 64k or 1048576")
    return int(match[1]) << _POWERS[match[2].lower()]


def _rule(text: str) -> Rule:
    """Read one pattern with its options."""
    pattern, *options = text.split(":")
    pattern = pattern.strip()
    if not pattern:
        raise ValueError(f"{text!r} has no file name before its options; write a pattern such as *.dat")
    found: dict[str, int] = {}
    verbose, others = False, []
    for option in options:
        name, equals, value = option.strip().partition("=")
        if not name:
            raise ValueError(f"{text!r} has an empty option; colons part options, as in *.dat:size=2M:count=2")
        if name in (*_COUNTS, *_SIZES) and not equals:
            raise ValueError(
                f"option {name} of {pattern!r} needs a value, as in {name}={'2M' if name in _SIZES else 2}"
            )
        if name in found or (name == "verbose" and verbose):
            raise ValueError(f"option {name} of {pattern!r} is given twice")
        if name in _FLAGS:
            if equals:
                raise ValueError(f"option {name} of {pattern!r} takes no value, not {value!r}")
            verbose = True
        elif name in _SIZES:
            found[name] = _size(name, value)
        elif name in _COUNTS:
            found[name] = _number(name, value, least=0 if name in ("prefetch", "preflush") else 1)
        else:
            others.append(option.strip())
    others += [f"{name}={found[name]}" for name in ("vbuffer_count", "vbuffer_size") if name in found]
    return Rule(
        pattern=pattern,
        size_bytes=found.get("size"),
        count=found.get("count"),
        prefetch=found.get("prefetch"),
        preflush=found.get("preflush"),
        verbose=verbose,
        others=tuple(others),
    )


def read_params(text: str) -> tuple[Rule, ...]:
    """Read the value of ``IOBUF_PARAMS``; the assignment around it and its quotes may stand there too.

    Raises
    ------
    ValueError
        If a pattern or an option cannot be read; the message names it.

    Examples
    --------
    >>> [(rule.pattern, rule.buffer_size_bytes, rule.buffer_count) for rule in read_params("*:size=4M,%stdout:size=2M:verbose")]
    [('*', 4194304, 4), ('%stdout', 2097152, 4)]
    >>> read_params("export IOBUF_PARAMS='*.dat:count=two'")
    Traceback (most recent call last):
    ValueError: count=two must be a whole number from 1
    """
    value = re.sub(r"^\s*(?:export\s+|setenv\s+)?IOBUF_PARAMS(?:=|\s+)", "", text.strip()).strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    if not value.strip():
        raise ValueError("IOBUF_PARAMS is empty: nothing is buffered; name the files, as in *.dat or %stdout")
    return tuple(_rule(part) for part in value.split(","))


def write_params(rules: Sequence[Rule]) -> str:
    """Return the value of ``IOBUF_PARAMS`` for some rules; what is default is left out.

    Raises
    ------
    ValueError
        If there is no rule, or a pattern holds a comma or a colon.

    Examples
    --------
    >>> write_params([Rule(pattern="*.dat", size_bytes=2 << 20, count=2, prefetch=1)])
    '*.dat:size=2M:count=2:prefetch=1'
    """
    if not rules:
        raise ValueError("rules=() must hold at least one rule: without a pattern nothing is buffered")
    parts = []
    for rule in rules:
        if not rule.pattern or re.search(r"[,:]", rule.pattern):
            raise ValueError(
                f"pattern {rule.pattern!r} must be a file name without commas and colons, which part patterns"
            )
        options = [f"size={size_text(rule.size_bytes)}"] if rule.size_bytes is not None else []
        for name in ("count", "prefetch", "preflush"):
            value = getattr(rule, name)
            options += [f"{name}={value}"] if value is not None else []
        parts.append(":".join([rule.pattern, *options, *rule.others, *(["verbose"] if rule.verbose else [])]))
    return ",".join(parts)


def rule_for(name: str, rules: Sequence[Rule]) -> Rule | None:
    """Return the first rule whose pattern matches a file name, None if the file is not buffered.

    Which of several matching patterns counts is documented nowhere; the first is assumed.

    Examples
    --------
    >>> rules = read_params("*.dat:size=8M,*wrk")
    >>> rule_for("run/plt001.dat", rules).pattern, rule_for("notes.txt", rules)
    ('*.dat', None)
    """
    return next((rule for rule in rules if fnmatchcase(name, rule.pattern)), None)


def buffer_bytes(rule: Rule, *, files: int = 1, tasks: int = 1) -> int:
    """Memory that buffers take: for each open file of each task. [bytes]

    Raises
    ------
    ValueError
        If a number is negative.

    Examples
    --------
    The default, with one file a task on a full Hopper node: 96 MiB.

    >>> buffer_bytes(Rule(pattern="*"), tasks=24) >> 20
    96
    """
    if files < 0 or tasks < 0:
        raise ValueError(f"files={files} and tasks={tasks} must not be negative")
    return rule.buffer_size_bytes * rule.buffer_count * files * tasks


def _about(rule: Rule, stripe_size_bytes: int, transfer_bytes: int | None) -> list[Finding]:
    """Return what there is to say about one rule."""
    found = []
    pattern, size, count = rule.pattern, rule.buffer_size_bytes, rule.buffer_count
    if _SIZE.fullmatch(pattern) and not pattern.isdecimal():
        found.append(
            Finding(
                "pattern-is-size",
                "problem",
                f"{pattern!r} stands where a file name must: only a file of that name is buffered. Write *:size={pattern}",
            )
        )
    if "$" in pattern:
        found.append(
            Finding(
                "unexpanded-variable",
                "problem",
                f"{pattern!r} holds a variable that the shell did not replace: use double quotes, not single ones",
            )
        )
    if pattern.startswith("%") and pattern not in ("%stdin", "%stdout", "%stderr"):
        found.append(
            Finding("unknown-stream", "problem", f"{pattern!r} is no stream; there are %stdin, %stdout and %stderr")
        )
    for other in rule.others:
        if other.partition("=")[0] not in ("vbuffer_count", "vbuffer_size"):
            found.append(
                Finding(
                    "unknown-option",
                    "problem",
                    f"option {other!r} of {pattern!r} is not among those seen in use: size, count, prefetch, preflush, vbuffer_count, vbuffer_size, verbose",
                )
            )
    for name in ("prefetch", "preflush"):
        ahead = getattr(rule, name)
        if ahead is not None and ahead >= count:
            found.append(
                Finding(
                    f"{name}-needs-buffers",
                    "problem",
                    f"{name}={ahead} of {pattern!r} wants more buffers than are free: count={count} leaves {count - 1} beside the one in use",
                )
            )
    if count == 1:
        found.append(
            Finding(
                "one-buffer",
                "advice",
                f"one buffer for {pattern!r} cannot be filled and emptied at once: count=2 or more lets it read or write ahead",
            )
        )
    if size % stripe_size_bytes and stripe_size_bytes % size:
        found.append(
            Finding(
                "buffer-off-stripe",
                "advice",
                f"buffers of {size:,} bytes for {pattern!r} do not line up with stripes of {stripe_size_bytes:,}: take a multiple",
            )
        )
    if transfer_bytes is not None and transfer_bytes >= size:
        found.append(
            Finding(
                "buffer-too-small",
                "advice",
                f"buffers of {size:,} bytes for {pattern!r} merge nothing when the program moves {transfer_bytes:,} bytes at once",
            )
        )
    return found


def check_params(
    rules: Sequence[Rule],
    *,
    stripe_size_bytes: int = BYTES_PER_MIB,
    transfer_bytes: int | None = None,
    files: int = 1,
    tasks_per_node: int = 1,
    spare_memory_gb: float | None = None,
) -> tuple[Finding, ...]:
    """Return what is wrong with a setting, and what could be better.

    Parameters
    ----------
    rules : sequence of Rule
    stripe_size_bytes : int
        Stripe size of the files. [bytes]
    transfer_bytes : int or None
        What the program moves in one call, if known. [bytes]
    files, tasks_per_node : int
        Files that each task has open, and tasks of a node.
    spare_memory_gb : float or None
        Memory of a node that buffers may take, if known. [GB]

    Examples
    --------
    >>> [finding.code for finding in check_params(read_params("12M:verbose"))]
    ['pattern-is-size']
    """
    found = [finding for rule in rules for finding in _about(rule, stripe_size_bytes, transfer_bytes)]
    patterns = [rule.pattern for rule in rules]
    for number, pattern in enumerate(patterns):
        if pattern in patterns[:number]:
            found.append(Finding("pattern-twice", "problem", f"{pattern!r} is given twice"))
        elif "*" in patterns[:number] and not pattern.startswith("%"):
            found.append(
                Finding(
                    "pattern-after-all", "note", f"{pattern!r} comes after *, which matches everything: put it before"
                )
            )
    if spare_memory_gb is not None:
        most = max(buffer_bytes(rule, files=files, tasks=tasks_per_node) for rule in rules)
        if most > spare_memory_gb * (1 << 30):
            found.append(
                Finding(
                    "too-much-memory",
                    "problem",
                    f"buffers take {most / (1 << 30):.2f} GB of each node, and {spare_memory_gb:g} GB are to spare: fewer or smaller buffers",
                )
            )
    return tuple(found)
