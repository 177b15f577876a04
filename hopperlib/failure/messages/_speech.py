r"""Whether a program said a message itself: in a quotation, a comment, a source or a list it only stands there.

What follows decides as well: a test that passes, a request that is tried again and a warning report no end.
"""

import re
from collections.abc import Sequence
from typing import Literal

from hopperlib.failure.messages._expressions import says
from hopperlib.failure.messages._templates import suspicion, words_of

Doubt = Literal["", "quoted", "handled"]

# Signs of a comment or a quotation at the start of a line, a list of places where a word was found, and a column of a table.
_QUOTING = re.compile(
    rb"^\s{0,20}(?:#{1,6} |//|/\*|> |ok \d)|^[a-z]{2,12}> |(?:\b[a-z]{2,20}[ ,]{1,2}){4}|^[\w./-]{1,160}\.(?:out|err|log|txt)[\w.-]{0,20}:\d{1,9}:"
    rb"|\S {2,40}\S{1,40} {2,40}\S{1,40} {2,40}$"
    rb"|\b(?:raise|print\w{0,3}|f?printf|puts|throw|die|perror|echo|stop|cerr)\b[^\"'`]{0,60}[\"'`(]"
)
# So much of a text is read for its form, and so many lines of that form make it one. [bytes; lines; fractions]
_READ = 16_384
_SOME = 4
_FEW, _HALF, _MOST = 0.2, 0.5, 0.6
_LAST = 6
_CODE = re.compile(
    r"^(?!\{\").*[;{}]\s*$|^\s*(?:import |from \w+ import|def |class |return\b|#include|if .+:$|for .+:$|try:$|else:$|except\b.*:$|raise\b|/\*|//)"
)
_FENCE = re.compile(r"^\s{0,3}```|^#{2,6} [A-Z]")
_PROSE = re.compile(r"^\W{0,4}[A-Z]\w*[,:]?(?: [\w`'\"(),/.-]+){4,60}[.?:]$")
_COMMIT = re.compile(r"^(?:commit )?[0-9a-f]{40}\b|^commit [0-9a-f]{7,40}$")
_RECORD = re.compile(r"^\s*(\d+)(?:_\d+)?(?= |\|).*\b(?:COMPLETED|FAILED|TIMEOUT|OUT_OF_ME\w*|CANCELLED)\b")
_FIELDS = re.compile(r"^(?:[^,\"]*|\"[^\"]*\")(?:,(?:[^,\"]*|\"[^\"]*\")){2,}$")


def reads_as(text: bytes) -> str:
    r"""Return what a text is, if its form is not that of a job's output: documentation, a source, a list.

    Examples
    --------
    >>> reads_as(b"commit 1a2b3c4d\n\n    Fix it\n\ncommit 2b3c4d5e\n\n    Handle CUDA out of memory\n")
    'a history of commits'
    >>> reads_as(b"step 1\nstep 2\n")
    ''
    """
    lines = [line for line in text[:_READ].decode(errors="replace").splitlines() if line.strip()]
    if _often(_COMMIT, lines, 2, _FEW):
        return "a history of commits"
    if _often(_FENCE, lines, 2, 0.0) and _often(_PROSE, lines, 2, _FEW):
        return "documentation"
    # A job may list its program before it runs it: then the text does not end as it begins.
    ends = [line for line in text[-_READ:].decode(errors="replace").splitlines() if line.strip()][-_LAST:]
    if _often(_CODE, lines, _SOME, _MOST) and _often(_CODE, ends, 1, _HALF):
        return "a source"
    if _often(_RECORD, lines, 2, _FEW) and len({match[1] for match in map(_RECORD.match, lines) if match}) > 1:
        return "a list of several jobs"
    return "a table" if _is_table(lines) else ""


def _often(form: re.Pattern[str], lines: Sequence[str], least: int, share: float) -> bool:
    """Whether so many lines, and such a share of all, have a form."""
    return sum(map(bool, map(form.search, lines))) >= max(least, share * len(lines))


def _is_table(lines: Sequence[str]) -> bool:
    """Whether lines are the rows of a table below a row of names."""
    rows = len(lines) >= _SOME and not re.search(r"\d", lines[0]) and all(map(_FIELDS.match, lines))
    return rows and lines[0].count(",") == lines[1].count(",")


def doubt(line: bytes, start: int, before: Sequence[str], after: Sequence[str]) -> Doubt:
    """Return why a message that begins at a place of a line may report no end of the program that printed it."""
    lead = line[:start]
    if _QUOTING.search(lead) or any(lead.count(mark) % 2 for mark in (b'"', b"`")):
        return "quoted"
    if any(says("expected", text, text.lower()) for text in (line, *map(str.encode, before))):
        return "quoted"
    near = [line, *map(str.encode, after)]
    handled = says("warned", line, line.lower()) or any(says("handled", text, text.lower()) for text in near)
    return "handled" if handled else ""


def goes_on(tail: bytes, lines: int) -> int:
    """Return how many of the last lines of a text are those of a program at its ordinary work. [lines]"""
    behind = tail.decode(errors="replace").split("\n")[-lines:] if lines > 0 else []
    return sum(1 for text in behind if words_of(text) and not suspicion(text.encode()))
