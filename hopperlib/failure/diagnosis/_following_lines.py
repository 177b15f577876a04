"""Text after a message: whether the program ended there, and the resulting confidence in its cause."""

import re
from dataclasses import replace

from hopperlib.failure.diagnosis._steps import reports_success
from hopperlib.failure.diagnosis.causes import Confidence
from hopperlib.failure.messages._expressions import matches_words
from hopperlib.failure.messages._quotations import ordinary_lines_at_end
from hopperlib.failure.messages._templates import suspicion
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits

# Ordinary lines that may follow a message that ended the run: after a message that ends a program, after others, and
# after one that the program handled. [lines]
_ORDINARY, _FEW = 8, 2
_GOT_OVER = 1
# An error at the end of a text this far below a message is not its consequence. [lines]
_FAR = 200
# Names of exceptions that carry no information.
BARE = re.compile(r"\s{0,20}[\w.]{1,80}(?:Error|Exception)\W{0,4}$")
# Last lines of a file that are searched for ordinary output.
_LAST = 5
# Number of lines that may follow a message at the end of a text.
_AT_END = 5
# Lines after a sign of progress, or after a generic message, that make it improbable that the message ended the run.
LONG = 40


def confidence(message: MessageHits, roots: list[MessageHits], evidence: Evidence) -> Confidence:
    """Return the confidence in a cause, from the strength of its message, its rank, the text after it, and competing
    causes.
    """
    strength = message.rule.strength
    if _may_not_be_the_end(message, evidence):
        return "guess"
    if strength == "weak" or message is not roots[0] or _only_warns(message) or _contradicted(message, evidence):
        return "possible"
    rivals = any(other is not message and other.rule.strength == strength for other in roots)
    if strength == "strong":
        return "likely" if rivals else "certain"
    return "possible" if rivals else "likely"


def _may_not_be_the_end(message: MessageHits, evidence: Evidence) -> bool:
    """Whether the text around a message leaves it open whether the message ended the run."""
    if not _end_agrees(message, evidence):
        return True
    if message.rule.strength == "weak" and not _ends_the_text(message, evidence):
        return True
    if not message.rule.general:
        return False
    is_bare = BARE.match(message.hits[-1].text) and "PY-TRACEBACK" not in evidence.messages
    return bool(is_bare) or _in_thread(message, evidence) or _another_worked(message, evidence)


def _in_thread(message: MessageHits, evidence: Evidence) -> bool:
    """Whether an exception ended a thread other than the main one, according to the line above its traceback."""
    tail = evidence.files[message.hits[-1].file].tail
    last = message.hits[-1].text.encode()
    at = tail.rfind(last) if last in tail else -1
    above = tail[: tail.rfind(b"Traceback (most recent call last)", 0, at)].rstrip().rsplit(b"\n", 1)[-1]
    return at >= 0 and above.startswith(b"Exception in thread ")


def _another_worked(message: MessageHits, evidence: Evidence) -> bool:
    """Whether a message is the only sign of a failure, and another file ends in ordinary output of a program that
    printed much.
    """
    return not _failure_around(message, evidence) and any(
        file.filled > LONG and not any(map(suspicion, file.tail.rstrip().split(b"\n")[-_LAST:]))
        for place, file in enumerate(evidence.files)
        if place != message.hits[-1].file
    )


def _only_warns(message: MessageHits) -> bool:
    """Whether every line of a message is marked as a warning."""
    return message.count <= len(message.hits) and all(hit.doubt == "handled" for hit in message.hits)


def _end_agrees(message: MessageHits, evidence: Evidence) -> bool:
    """Whether a message comes from the program, and few lines follow it or there is other evidence of a failure."""
    if _failure_around(message, evidence):
        return True
    ordinary = ordinary_lines_after(message, evidence)
    if doubtful(message):
        return message.hits[-1].doubt == "handled" and ordinary < _GOT_OVER
    return progress_after_message(message, evidence) is None and ordinary <= (_ORDINARY if message.rule.fatal else _FEW)


def _failure_around(message: MessageHits, evidence: Evidence) -> bool:
    """Whether there is other evidence of a failure in another file, after a message, or shortly before it."""
    last = message.hits[-1]
    others = [other for other in evidence.messages.values() if other is not message and not doubtful(other)]
    signs = [hit for other in others if other.rule.shows_failure for hit in other.hits]
    signs += [group.last for group in evidence.unknown if group.suspicion in ("fatal", "end")]
    return any(hit.file != last.file or hit.line > last.line - LONG for hit in signs)


def _ends_the_text(message: MessageHits, evidence: Evidence) -> bool:
    """Whether a generic message is fatal, is followed by evidence of a failure, or is at the end of its file."""
    last = message.hits[-1]
    behind = [
        hit.file != last.file or hit.line > last.line
        for other in evidence.messages.values()
        if other is not message and other.rule.shows_failure
        for hit in other.hits
    ]
    return message.rule.fatal or any(behind) or evidence.files[last.file].filled - last.line <= _AT_END


def _contradicted(message: MessageHits, evidence: Evidence) -> bool:
    """Whether the program continued after a message, or much later reported success or a different failure."""
    last = message.hits[-1]
    done = (hit for other in evidence.messages.values() if reports_success(other) for hit in other.hits)
    return continued_after(message, evidence) or any(hit.file == last.file and hit.line > last.line for hit in done)


def continued_after(message: MessageHits, evidence: Evidence) -> bool:
    """Whether the program continued after a message, or another one did that ended with a different error."""
    return progress_after_message(message, evidence) is not None or ends_otherwise(message, evidence)


def ends_otherwise(message: MessageHits, evidence: Evidence) -> bool:
    """Whether the file of a message ends, far below it, in an unknown error: that of a later run."""
    last, lines = message.hits[-1], evidence.files[message.hits[-1].file].filled
    ends = (group.last for group in evidence.unknown if group.suspicion in ("fatal", "error"))
    return any(
        hit.file == last.file and hit.line - message.last_line > _FAR and lines - hit.line <= _AT_END for hit in ends
    )


def progress_after_message(message: MessageHits, evidence: Evidence) -> int | None:
    """Return the line showing that a program continued after the last line of a message; None if there is none."""
    return evidence.progress_after(replace(message.hits[-1], line=message.last_line))


def recovered_from(message: MessageHits, evidence: Evidence) -> bool:
    """Whether the program reports how it handled a message and continued, and there is no evidence of a failure."""
    text = message.hits[-1].text.encode()
    handled = message.hits[-1].doubt == "handled" or matches_words("warned", text, text.lower())
    return (
        doubtful(message)
        and handled
        and ordinary_lines_after(message, evidence) >= _GOT_OVER
        and not _failure_around(message, evidence)
    )


def doubtful(message: MessageHits) -> bool:
    """Whether no line of a message is known to come from the program and to end it."""
    return message.count <= len(message.hits) and all(hit.doubt for hit in message.hits)


def ordinary_lines_after(message: MessageHits, evidence: Evidence) -> int:
    """Return the lines of ordinary work after the last line of a message. [lines]"""
    return ordinary_lines_at_end(evidence.files[message.hits[-1].file].tail, lines_after(message, evidence))


def lines_after(message: MessageHits, evidence: Evidence) -> int:
    """Return the lines after the last line of a message in its file."""
    return evidence.files[message.hits[-1].file].lines - message.last_line


def last_of(message: MessageHits, evidence: Evidence) -> Hit:
    """Return the last line of a message; if it is frequent, its last occurrence in the file."""
    kept, behind = message.hits[-1], lines_after(message, evidence)
    tail = evidence.files[kept.file].tail.decode(errors="replace").split("\n")
    if message.last_line <= kept.line or behind >= len(tail):
        return kept
    return Hit(file=kept.file, line=message.last_line, text=tail[-1 - behind], fields={})
