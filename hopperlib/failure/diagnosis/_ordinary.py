"""Messages that successful runs print too: they count only where the end of a run names the same subject.

A library that could not be loaded is a warning in dozens of runs that ended well. It is evidence only if a later line
that reports the end of the run names that library, file or value.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from hopperlib.failure.messages._templates import is_exit_report
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits

# Subject of a message: a quoted word, or a file name with extension.
_NAME = re.compile(r"['\"`‘]([\w./+-]{4,200})['\"`’]|(?<![\w.])([\w./+-]{1,200}\.[A-Za-z]\w{0,10})(?![\w.])")
# A full path is reduced to its last part.
_FOLDER = re.compile(r".*/(?=[^/]{3})")


def with_named_warnings(evidence: Evidence) -> Evidence:
    """Return the evidence with those messages of successful runs whose subject a line at the end of the run names.

    Parameters
    ----------
    evidence : Evidence
    """
    if not evidence.ordinary:
        return evidence
    ends = list(_ends(evidence))
    messages = dict(evidence.messages)
    for rule, seen in evidence.ordinary:
        # It was a warning, and the program continued.
        hit = replace(seen, doubt="handled")
        names = _names(hit.text)
        named = any(names & _names(end.text) for end in ends if end.file != hit.file or end.line > hit.line)
        if named and rule.code not in messages:
            messages[rule.code] = MessageHits(rule=rule, count=1, hits=[hit], last_line=hit.line)
    return replace(evidence, messages=messages) if len(messages) > len(evidence.messages) else evidence


def _ends(evidence: Evidence) -> Iterator[Hit]:
    """Yield the lines that report an end with more detail."""
    for message in evidence.messages.values():
        if message.rule.role == "cause" or message.rule.shows_failure:
            yield from message.hits
    for group in evidence.unknown:
        if group.suspicion in ("fatal", "error") and not is_exit_report(group.last.text.encode()):
            yield group.last


def _names(text: str) -> set[str]:
    """Return the subjects that a line names."""
    return {_FOLDER.sub("", next(filter(None, found.groups()))).lower() for found in _NAME.finditer(text)}
