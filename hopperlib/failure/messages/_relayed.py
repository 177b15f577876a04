r"""Prefixes that a logger or a workflow engine adds to every line of a program.

An engine that logs a program's output adds the same prefix to every line, regardless of its content: time, engine name and
an ordinary level. Such a prefix is not part of the message. A program's logger uses several names and levels, and its
prefixes are kept.
"""

import re
from collections import Counter

# Time; name, with or without brackets; level; a name after it.
_TIME = rb"[\[(]?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?[\])]?"
_PART = rb"[ \t]{0,3}[-:|]{0,2}[ \t]{0,3}"
_NAME = rb"(?:\[[\w .:/@-]{1,60}\]|[\w./@-]{1,60})"
_LEVEL = rb"[\[(<]?\b(?:INFO|DEBUG|TRACE|NOTICE|info|debug|notice|stdout|stderr|STDOUT|STDERR)\b {0,3}[\])>]?"
_HEAD = rb"(?:%b%b)?(?:%b%b){0,2}?%b" % (_TIME, _PART, _NAME, _PART, _LEVEL)
_PREFIXES = (
    # The system log: date, node, program and process.
    re.compile(rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./-]{1,40}\[\d{1,9}\]:"),
    re.compile(_HEAD + rb"(?:[ \t]{0,3}[-:|]{1,2}|[ \t]\[[\w .:/@-]{1,60}\]:?|(?<=[\])>]))"),
    re.compile(_HEAD + rb"(?<=[\])>])"),
    re.compile(_HEAD + rb"[: ][\w.]{1,40}:"),
)
# Share of the first lines that must begin alike. [fraction; bytes; lines]
_ALMOST_ALL = 0.95
_SAMPLE = 65_536
_LINES = 100


def relayed_prefix(text: bytes) -> re.Pattern[bytes] | None:
    r"""Return the prefix that almost all lines of a text share, except for its digits; None if there is none.

    Examples
    --------
    >>> prefix = relayed_prefix(b"12:00:01 - run - INFO - step 1\n12:00:02 - run - INFO - Bus error\n")
    >>> prefix.sub(b"", b"12:07:09 - run - INFO - Killed")
    b'Killed'
    >>> relayed_prefix(b"12:00:01 - run - INFO - step 1\n12:00:02 - run - ERROR - Bus error\n") is None
    True
    """
    lines = [line for line in text[:_SAMPLE].split(b"\n") if line.strip()][:_LINES]
    found = Counter(
        re.sub(rb"\d{1,12}", b"0", match[0])
        for line in lines
        for prefix in _PREFIXES
        if (match := prefix.match(line)) is not None
    )
    shared = [prefix for prefix, times in found.items() if times >= _ALMOST_ALL * len(lines)]
    if not shared:
        return None
    longest = re.escape(max(shared, key=len)).replace(b"0", rb"\d{1,12}")
    return re.compile(rb"^" + longest + rb"[ \t]?", re.MULTILINE)
