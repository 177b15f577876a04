"""Match a line against rules, whatever its length, and quote it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from functools import cache

from hopperlib.failure.messages.exit_status import rules_of_signals, signal_of
from hopperlib.failure.messages.locations import strip_label
from hopperlib.failure.messages.rules import Rule

__all__ = ["WINDOW", "Match", "match", "quote"]

# A rule, the fields that its groups read, and the place of the match in the line.
Match = tuple[Rule, dict[str, str], int]

# A line longer than this is shown to the regular expressions in windows around its anchors.
WINDOW = 2048
_WINDOWS = 4

# Bytes of a line that are quoted.
_QUOTED = 400

# What a terminal or a page would obey: control characters of both sets, and marks that turn the reading direction.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@cache
def _compiled(rule: Rule) -> tuple[re.Pattern[bytes], ...]:
    """Return a rule's regular expressions, compiled when first needed."""
    return tuple(re.compile(text.encode()) for text in rule.regex)


def match(text: bytes, rules: Sequence[Rule]) -> Match | None:
    """Return the first rule that matches a line, its fields and the place of the match."""
    if not rules:
        return None
    rest, label = strip_label(text)
    parts = [rest, text] if label else [rest]
    for rule in rules:
        for part in parts:
            for window, offset in _windows(part, rule):
                for pattern in _compiled(rule):
                    found = pattern.search(window)
                    if found:
                        fields = _fields(found)
                        return _meant(rule, fields), fields, offset + found.start()
    return None


def _meant(rule: Rule, fields: dict[str, str]) -> Rule:
    """Return the rule of the signal that an exit status speaks of, else the rule itself."""
    number = signal_of(fields) if rule.role == "symptom" else None
    meant = rules_of_signals().get(number or 0)
    if number is None or meant is None:
        return rule
    fields["signal"] = f"{number} ({signal.Signals(number).name})"
    return meant


def _fields(match: re.Match[bytes]) -> dict[str, str]:
    """Return the named groups of a match as text."""
    return {name: quote(value.strip()) for name, value in match.groupdict().items() if value is not None}


def _windows(text: bytes, rule: Rule) -> Iterator[tuple[bytes, int]]:
    """Yield the parts of a line that a rule's expressions look at, with their places.

    An ordinary line is one part. Of a long one only the neighborhood of the
    first few anchors counts, so that no line can take long.
    """
    if len(text) <= WINDOW:
        yield text, 0
        return
    lowered = text.lower()
    for anchor in rule.anchors:
        key = anchor.lower().encode()
        place = lowered.find(key)
        for _ in range(_WINDOWS):
            if place < 0:
                break
            start = max(0, place - WINDOW // 4)
            yield text[start : place + WINDOW * 3 // 4], start
            place = lowered.find(key, place + WINDOW // 2)


def quote(text: bytes, start: int = 0) -> str:
    r"""Return a line as text to show: shortened around a match, without control characters."""
    begin = start - 80 if start > _QUOTED // 2 and len(text) > _QUOTED else 0
    part = text[max(begin, 0) : max(begin, 0) + _QUOTED]
    shown = _CONTROL.sub(" ", part.replace(b"\t", b"    ").decode(errors="replace")).rstrip()
    return ("..." if begin > 0 else "") + shown + ("..." if max(begin, 0) + _QUOTED < len(text) else "")
