r"""Whether a program printed a message itself, or the message is part of a quotation, a comment, source code or a list.

The following text also counts: a passing test, a retried request and a warning do not report an end.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from hopperlib.failure.messages._expressions import matches_words
from hopperlib.failure.messages._templates import suspicion, words_of

Doubt = Literal["", "quoted", "handled"]

# Signs of a comment or a quotation at the start of a line, a list of search results, and a column of a table.
_QUOTING = re.compile(
    rb"^\s{0,20}(?:#{1,6} |//|/\*|> |ok \d)|^[a-z]{2,12}> |(?:\b[a-z]{2,20}[ ,]{1,2}){4}|^[\w./-]{1,160}\.(?:out|err|log|txt)[\w.-]{0,20}:\d{1,9}:"
    rb"|\S {2,40}\S{1,40} {2,40}\S{1,40} {2,40}$"
    rb"|\b(?:raise|print\w{0,3}|f?printf|puts|throw|die|perror|echo|stop|cerr)\b[^\"'`]{0,60}[\"'`(]"
)
# A launcher or a scheduler that reports an end: its lines are collected from all nodes, so lines before them are not
# about them.
_LAUNCHER = re.compile(
    rb"\s{0,8}(?:(?:srun|slurmstepd|mpirun|mpiexec|mpiexec\.hydra|prterun|prun|aprun|jsrun|flux-job)(?:\.\w{1,12})?: "
    rb"|\[mpiexec@|\[proxy:|=   (?:EXIT CODE|KILLED BY SIGNAL|RANK)|=>> PBS|Application \d{1,12} exit "
    rb"|[\w.-]{1,80}: rank \d{1,7} (?:died from|exited with) |_pmi[iu]_daemon\(|(?:mpirun|prterun) noticed that process rank )"
)
# The level of an informational line.
_TOLD = re.compile(rb"(?:^|[\s:\[|])(?:INFO|DEBUG|NOTICE)\b")
# Other kinds of text are recognized within this many lines of their beginning, which must be within this many lines of
# the start. [bytes; lines]
_READ = 16_384
_BEFORE = 4
_HEADING = r"^\s{0,3}```|^#{2,6} [A-Z]"
_PROSE = r"^\W{0,4}[A-Z]\w*[,:]?(?: [\w`'\"(),/.-]+){4,60}[.?:]$"
_COMMIT = r"^commit [0-9a-f]{7,40}$|^(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,12} [A-Z(]|^[0-9a-f]{40}\b"
_STATEMENT = (
    r"^\s*(?:import |from \w+ import|def |class |return\b|#include|if .+:$|for .+:$|try:$|else:$|except\b.*:$|raise\b)"
)
_JOB = (
    r"^\s*\d+(?:_\d+)?(?= |\|).*\b(?:COMPLETED|FAILED|TIMEOUT|OUT_OF_ME\w*|CANCELLED|RUNNING|PENDING)\b"
    r"|^ *\d+ +(?:\S+ +){3,5}(?:R|PD|CG|CD) +[\d:-]+ +\d+ "
)
_FIELDS = re.compile(r"^(?:[^,\"]*|\"[^\"]*\")(?:,(?:[^,\"]*|\"[^\"]*\")){2,}$")
_ROWS = 4


class _Form(NamedTuple):
    """Form of a text: its lines, two of which must match a stricter pattern; their share; the largest gap between them;
    and whether those two must begin with different words.
    """

    name: str
    line: re.Pattern[str]
    narrow: re.Pattern[str]
    share: float
    gap: int
    distinct: bool = False


_FORMS = (
    _Form("a history of commits", re.compile(_COMMIT + r"|^\w{4,10}: +\S| {4}\S"), re.compile(_COMMIT), 0.9, 1),
    _Form("documentation", re.compile(f"{_HEADING}|{_PROSE}"), re.compile(_HEADING), 0.3, 4),
    _Form("a source", re.compile(_STATEMENT + r"|^(?!\{\").*[;{}]\s*$|^\s*(?:/\*|//)"), re.compile(_STATEMENT), 0.7, 4),
    # Rows of one job, printed again by a script or by each task, are its record and not a list of several jobs.
    _Form("a list of several jobs", re.compile(_JOB), re.compile(_JOB), 0.5, 3, distinct=True),
)


class Foreign(NamedTuple):
    """Lines of a text in another form than a job's output: first and last line, counted from 0, the last excluded; and
    whether the text ends in them.
    """

    form: str
    start: int
    end: int
    whole: bool


def foreign(text: bytes) -> Foreign | None:
    r"""Return the part of a text that is documentation, source code or a list, if one begins near its start; a job may
    print one and continue.

    Examples
    --------
    >>> foreign(b"commit 1a2b3c4d\n\n    Fix it\n\ncommit 2b3c4d5e\n\n    Handle CUDA out of memory\n")
    Foreign(form='a history of commits', start=0, end=7, whole=True)
    >>> foreign(b"step 1\nstep 2\n")
    """
    head = _filled(text[:_READ])
    form = next((form for form in _FORMS if _part(form, head)), None)
    lines = _filled(text) if form or _rows(head) else []
    rows = _rows(lines)
    part = _part(form, lines) if form else (lines[0][0], lines[rows - 1][0]) if rows else None
    if not part:
        return None
    # A failing job may list other jobs at its end: the text before the list is its output.
    before = form and form.distinct and any(suspicion(line.encode()) for number, line in lines if number < part[0])
    whole = part[1] == lines[-1][0] and not before
    return Foreign(form.name if form else "a table", part[0], part[1] + 1, whole)


def _filled(text: bytes) -> list[tuple[int, str]]:
    """Return the lines of a text that are not blank, with their numbers from 0."""
    return [pair for pair in enumerate(text.decode(errors="replace").split("\n")) if pair[1].strip()]


def _part(form: _Form, lines: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """Return the first and last line of a form, if enough are close together; otherwise None."""
    found: tuple[int, int] | None = None
    begun, last, count = 0, -form.gap - 1, 0
    narrow: set[str] = set()
    for place, (number, line) in enumerate(lines):
        # A line of trouble belongs to a job rather than to a text about jobs.
        if not form.line.search(line) or (found and form.name == "documentation" and suspicion(line.encode())):
            continue
        if place - last > form.gap:
            if not found and place > _BEFORE:
                break
            begun, count, narrow = place, 0, set()
        last, count = place, count + 1
        if form.narrow.search(line):
            narrow.add(re.split(r"[\s|]", line.strip(), maxsplit=1)[0] if form.distinct else str(place))
        if len(narrow) > 1 and count >= max(3, form.share * (place - begun + 1)):
            found = found[0] if found else lines[begun][0], number
    return found


def _rows(lines: Sequence[tuple[int, str]]) -> int:
    """Return the number of lines at the start of a text that are rows of a table below its header; 0 if too few."""
    names = lines[0][1].count(",") if lines and not re.search(r"\d", lines[0][1]) else 0
    fitting = (line.count(",") >= names and _FIELDS.match(line) for _, line in lines)
    rows = sum(1 for _ in takewhile(bool, fitting)) if names else 0
    return rows if rows >= _ROWS else 0


def doubt(line: bytes, start: int, before: Sequence[str], after: Sequence[str]) -> Doubt:
    """Return the reason why a message at this position of a line may not report the end of its program."""
    lead, near = line[:start], [line, *map(str.encode, after)]
    if _QUOTING.search(lead) or any(lead.count(mark) % 2 for mark in (b'"', b"`")):
        return "quoted"
    above = () if _LAUNCHER.match(line) else map(str.encode, before)
    if any(matches_words("expected", text, text.lower()) for text in (line, *above)):
        return "quoted"
    warned = matches_words("warned", line, line.lower()) or _TOLD.search(lead)
    return "handled" if warned or any(matches_words("handled", text, text.lower()) for text in near) else ""


def ordinary_lines_at_end(tail: bytes, lines: int) -> int:
    """Return the number of last lines of a text that are ordinary output of a program. [lines]"""
    behind = tail.decode(errors="replace").split("\n")[-lines:] if lines > 0 else []
    return sum(1 for text in behind if words_of(text) and not suspicion(text.encode()))
