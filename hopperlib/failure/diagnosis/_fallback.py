"""The program's own last words: what to offer where no rule knows the message.

Suspicious lines are weighed by what they say and by how near they stand before
the failure. It is a guess, and called one.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits, Unknown

__all__ = ["last_words"]

# Lines that may part a program's last words from the failure that follows, and from the end of a
# text that shows no failure.
_LAST_WORDS_REACH = 200
_END_REACH = 40
_BLOCK_GAP = 8


def last_words(evidence: Evidence, signs: Sequence[MessageHits], failed: bool) -> Cause | None:
    """Return the program's own last words before it failed, if there are any."""
    ends = [hit for found in signs for hit in found.hits]
    best: tuple[tuple[int, int, int], Unknown] | None = None
    for group in evidence.unknown:
        reach = _reach(group.last, ends, evidence)
        if reach is None or (group.suspicion == "error" and reach > (_LAST_WORDS_REACH if failed else _END_REACH)):
            continue
        # Words of an end count more than words of an error; then those nearest to the end.
        score = (group.suspicion == "fatal", group.count < 100, -reach)
        if best is None or score > best[0]:
            best = (score, group)
    if best is None:
        return None
    return _application(best[1], evidence)


def _reach(hit: Hit, ends: list[Hit], evidence: Evidence) -> int | None:
    """Return the lines from a line to the nearest sign of failure after it, or to the end of its file."""
    own = [end.line - hit.line for end in ends if end.file == hit.file]
    if own:
        # What stands after the last sign of failure is its aftermath.
        return min((lines for lines in own if lines >= 0), default=None)
    return evidence.files[hit.file].lines - hit.line


def _application(group: Unknown, evidence: Evidence) -> Cause:
    """Make a cause of the block of suspicious lines around a group's last line."""
    block = [group.last]
    for other in sorted(evidence.unknown, key=lambda unknown: -unknown.last.line):
        hit = other.last
        if hit.file == group.last.file and 0 < block[0].line - hit.line <= _BLOCK_GAP:
            block.insert(0, hit)
    known = {(hit.file, hit.line) for found in evidence.messages.values() for hit in found.hits}
    following = [
        Hit(file=group.last.file, line=group.last.line + 1 + offset, text=text, fields={})
        for offset, text in enumerate(group.following)
        if text.strip() and (group.last.file, group.last.line + 1 + offset) not in known
    ]
    return Cause(
        code="APPLICATION-MESSAGE",
        title="The program's own message",
        fault="user",
        confidence="guess",
        rule=None,
        count=group.count,
        hits=[*block, *following],
        fields=dict(group.last.fields),
        advice=[
            "Read the quoted lines: no rule knows them, so this is a guess.",
            "Look them up in the documentation of the program, and check the input that they speak of.",
        ],
        confirm="The program ends at this place again with the same input.",
        fatal_words=group.suspicion == "fatal",
    )
