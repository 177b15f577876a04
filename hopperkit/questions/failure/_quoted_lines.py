"""Relevant lines of a job's output for its diagnosis: their selection, their marks, and their neighbors.

Whatever comes from the reader's text stays text: nothing here makes markup.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from hopperkit.questions.result import Listing, ListingLine
from hopperlib.failure.diagnosis.diagnosis import Diagnosis
from hopperlib.failure.messages.evidence import Hit, MessageHits

# Upper limit: a page cannot show a whole log. [lines; characters]
LINES_LISTED = 160
LINE_LENGTH = 400
HITS_OF_A_CAUSE = 5
_HITS_OF_A_MESSAGE = 2
_UNKNOWN_MARKED = 8
# Lines shown before and after each relevant line.
_NEIGHBORS = 2
_ROLES = {
    "cause": "cause",
    "symptom": "symptom",
    "cascade": "consequence",
    "noise": "harmless",
    "info": "course of the job",
}

# Terminal color sequences, other control characters, and bidirectional marks.
_CONTROL = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def part_of(diagnosis: Diagnosis, message: MessageHits) -> str:
    """Return the role of a message in a diagnosis: cause, explained, runner-up, or its role by the rules.

    Examples
    --------
    >>> from hopperlib.failure.diagnosis.diagnosis import diagnose
    >>> found = diagnose([("job.err", "srun: error: n12: task 3: Out Of Memory")])
    >>> [part_of(found, message) for message in found.evidence.in_order]
    ['cause']
    """
    code = message.rule.code
    for place, cause in enumerate(diagnosis.causes if diagnosis.verdict == "cause" else ()):
        if code == cause.code:
            return "runner-up" if place else "cause"
        if code in cause.explains and not place:
            return "explained"
    if diagnosis.verdict == "cause" and any(code in cause.explains for cause in diagnosis.causes):
        return "explained by a runner-up"
    return "set aside" if code in diagnosis.set_aside else _ROLES[message.rule.role]


def listings(diagnosis: Diagnosis, texts: Sequence[tuple[str, str]]) -> Iterator[Listing]:
    r"""Yield the relevant lines of each text with their neighbors; for a stream, which is consumed, without them.

    Parameters
    ----------
    diagnosis : Diagnosis
    texts : sequence of (str, str)
        Name and text of each file, if available.

    Examples
    --------
    >>> from hopperlib.failure.diagnosis.diagnosis import diagnose
    >>> text = "step 1\nsrun: error: n12: task 3: Out Of Memory\n"
    >>> [listing.title for listing in listings(diagnose([("job.err", text)]), [("job.err", text)])]
    ['job.err: 2 of 2 lines']
    """
    marked = _marks(diagnosis)
    for file, read in enumerate(diagnosis.evidence.files):
        marks = {line: marked[where, line] for where, line in marked if where == file}
        if marks and file < len(texts):
            yield _with_neighbors(*texts[file], marks)
        elif marks:
            alone = tuple(ListingLine(number=line, text=marks[line][1], mark=marks[line][0]) for line in sorted(marks))
            yield Listing(title=f"{read.name}: lines that matter", lines=alone)


def _marks(diagnosis: Diagnosis) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the lines to mark, by file and line, with mark and text; the most important first."""
    marked: dict[tuple[int, int], tuple[str, str]] = {}

    def mark(hits: Sequence[Hit], most: int, word: str) -> None:
        for hit in hits[:most]:
            marked.setdefault((hit.file, hit.line), (word, hit.text))

    if diagnosis.verdict == "cause":
        for place, cause in enumerate(diagnosis.causes):
            mark(cause.hits, HITS_OF_A_CAUSE, "runner-up" if place else "cause")
    for message in diagnosis.evidence.in_order:
        mark(message.hits, _HITS_OF_A_MESSAGE, part_of(diagnosis, message))
    for group in diagnosis.evidence.suspicious[:_UNKNOWN_MARKED]:
        mark([group.first], 1, "unknown")
    return marked


def _with_neighbors(name: str, text: str, marked: Mapping[int, tuple[str, str]]) -> Listing:
    """Return the marked lines of a text with their neighbors."""
    lines = text.removesuffix("\n").split("\n")
    shown: dict[int, ListingLine] = {}
    # The dict is in order of importance, so truncation drops the least important.
    for line, (word, quoted) in marked.items():
        near = range(max(1, line - _NEIGHBORS), min(len(lines), line + _NEIGHBORS) + 1)
        if len(shown) + len(near) > LINES_LISTED:
            break
        for number in near:
            shown.setdefault(number, ListingLine(number=number, text=_cleaned(lines[number - 1])))
        shown[line] = ListingLine(number=line, text=quoted[: 2 * LINE_LENGTH], mark=word)
    ordered = tuple(shown[number] for number in sorted(shown))
    return Listing(title=f"{name}: {len(ordered):,} of {len(lines):,} lines", lines=ordered)


def _cleaned(line: str) -> str:
    """Return a line of the text in display form: the last segment of a progress bar, without control characters."""
    # A progress bar overwrites one line with carriage returns: the last segment is what a user saw.
    pieces = [piece for piece in line[: 20 * LINE_LENGTH].split("\r") if piece]
    text = _CONTROL.sub("", (pieces[-1] if pieces else "").replace("\t", "    "))
    return text[:LINE_LENGTH] + ("..." if len(text) > LINE_LENGTH else "")
