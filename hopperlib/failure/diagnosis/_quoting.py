"""Turn a message into a cause: the lines to quote with it, and their fields."""

from typing import Any

from hopperlib.failure.diagnosis._fallback import stack_below
from hopperlib.failure.diagnosis._following_lines import confidence, last_of
from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages._matching import quote
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits
from hopperlib.failure.messages.rules import Rule

# Suspicious lines this close to a cause are quoted with it, up to this many. [lines]
_AROUND = 3
_ABOVE = 40
# Longest help text of Open MPI. [lines]
_HELP_TEXT = 12


def _innermost(head: Hit, evidence: Evidence) -> list[Hit]:
    """Return the last line of MPI's error stack or help text that begins right below a line: it names the reason."""
    run = stack_below(head, evidence)
    below = [group.first for group in evidence.unknown if group.first.file == head.file]
    if run and run[-1].text.endswith(":"):
        # A line that ends in a colon leaves the reason to the line below it.
        run += [hit for hit in below if 0 < hit.line - run[-1].line <= 1]
    return [*run[-1:], *_arrow(head, evidence)]


def _arrow(head: Hit, evidence: Evidence) -> list[Hit]:
    """Return the last line of an Open MPI message that begins at a line: an arrow and the reason."""
    if not head.text.lstrip().startswith(("It looks like", "MPI_INIT")):
        return []
    return [
        Hit(file=head.file, line=number, text=quote(text), fields={})
        for number, text in evidence.files[head.file].window.lines()
        if 0 < number - head.line <= _HELP_TEXT and text.lstrip().startswith(b"--> ")
    ][:1]


def cause_of(message: MessageHits, explained: list[str], roots: list[MessageHits], evidence: Evidence) -> Cause:
    """Build a cause from a message."""
    rule, hits, fields = message.rule, _quoted(message, evidence), _fields(message)
    of_rule: dict[str, Any] = {name: getattr(rule, name) for name in ("code", "title", "fault", "who", "confirm")}
    seen: dict[str, Any] = {"count": message.count, "hits": hits, "explains": explained, "fields": fields}
    return Cause(rule=rule, confidence=confidence(message, roots, evidence), **of_rule, **seen)


def _quoted(message: MessageHits, evidence: Evidence) -> list[Hit]:
    """Return the lines to quote for a message: its first line, related lines, surrounding lines, and other lines."""
    rule, last = message.rule, last_of(message, evidence)
    # Of generic messages, the last one in the text ended the run.
    at_end = rule.strength == "weak" and evidence.files[last.file].filled - last.line <= _AROUND
    head = last if at_end else message.first
    sentence = [Hit(file=head.file, line=head.line + at, text=text, fields={}) for at, text in enumerate(head.after, 1)]
    beside = [evidence.messages[code].hits[0] for code in rule.requires if code in evidence.messages]
    others = [hit for hit in message.hits if hit is not head]
    return [
        head,
        *sentence,
        *_innermost(head, evidence),
        *beside,
        *_near(head, rule, evidence),
        *others,
    ]


def _near(head: Hit, rule: Rule, evidence: Evidence) -> list[Hit]:
    """Return the unknown error lines around a message, nearest first."""
    around = [group.last for group in evidence.unknown if group.suspicion in ("fatal", "error")]
    # The subject of an exception or a crash is often printed above its traceback.
    above = _ABOVE if rule.strength == "weak" else _AROUND
    near = [hit for hit in around if hit.file == head.file and -_AROUND <= head.line - hit.line <= above]
    if rule.strength == "strong":
        # It is complete by itself, except for adjacent lines of the same speaker.
        near = [hit for hit in near if hit.text.split(": ")[:2] == head.text.split(": ")[:2]]
    return sorted(near, key=lambda hit: abs(head.line - hit.line))[:_AROUND]


def _fields(message: MessageHits) -> dict[str, str]:
    """Return the fields of a message's first lines, if they concern the same task."""
    fields = dict(message.first.fields)
    for hit in message.hits[:3]:
        if hit.fields.get("rank", fields.get("rank")) == fields.get("rank", hit.fields.get("rank")):
            fields = {**hit.fields, **fields}
    return fields
