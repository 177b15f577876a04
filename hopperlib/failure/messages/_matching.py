"""Match a line of any length against rules, and quote it.

A shell, srun, aprun, Open MPI, Slurm and LSF add 128 to the number of the signal that ended a program, PBS adds 256,
Python's subprocess and torchrun use its negative, hydra prints the status that ``wait`` returned. The rules' named
groups give the form of a line; here it becomes a signal, and the signal's rule.

================  ==============================================
`signal`          the signal itself
`exit_code`       128 + signal, or its negative; otherwise the program's code
`pbs_status`      256 + signal, 128 + signal; negative values are from PBS
`wait_status`     signal in the low seven bits; otherwise code times 256, or the code alone
================  ==============================================
"""

import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from hopperlib.failure.messages._expressions import matches_words
from hopperlib.failure.messages.locations import strip_label
from hopperlib.failure.messages.rules import Rule, load_rules

# A rule, the fields that its groups read, and the place of the match in the line.
Match = tuple[Rule, dict[str, str], int]

# In a longer line, regular expressions search only windows around its anchors.
WINDOW = 2048
_WINDOWS = 4

# Bytes of a line that are quoted.
_QUOTED = 400

# Characters that a terminal or a page would interpret: control characters of both sets, and bidirectional marks.
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
                    matched = pattern.search(window)
                    if matched and not (rule.shows_failure and matches_words("announces", text, text.lower())):
                        fields = _fields(matched)
                        return _meant(rule, fields), fields, len(text) - len(part) + offset + matched.start()
    return None


def _meant(rule: Rule, fields: dict[str, str]) -> Rule:
    """Return the rule of the signal encoded in an exit status, otherwise the rule itself."""
    number = _signal_of(fields) if rule.role == "symptom" else None
    meant = _rules_of_signals().get(number or 0)
    if number is None or meant is None:
        return rule
    fields["signal"] = f"{number} ({signal.Signals(number).name})"
    return meant


def _fields(match: re.Match[bytes]) -> dict[str, str]:
    """Return the named groups of a match as texts."""
    return {name: quote(value.strip()) for name, value in match.groupdict().items() if value is not None}


def _windows(text: bytes, rule: Rule) -> Iterator[tuple[bytes, int]]:
    """Yield the parts of a line that a rule's expressions search, with their positions.

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
    r"""Return a line as text for display: shortened around a match, without control characters."""
    begin = start - 80 if start > _QUOTED // 2 and len(text) > _QUOTED else 0
    part = text[max(begin, 0) : max(begin, 0) + _QUOTED]
    shown = _CONTROL.sub(" ", part.replace(b"\t", b"    ").decode(errors="replace")).rstrip()
    return ("..." if begin > 0 else "") + shown + ("..." if max(begin, 0) + _QUOTED < len(text) else "")


_SHELL, _PBS = 128, 256


@cache
def _rules_of_signals() -> dict[int, Rule]:
    """Return the rule of each signal."""
    return {number: rule for rule in load_rules() for number in rule.signals}


def _signal_of(fields: Mapping[str, str]) -> int | None:
    """Return the number of the signal that the fields of a message name, None if none ended the program."""
    form = next((name for name in ("signal", "exit_code", "pbs_status", "wait_status") if name in fields), None)
    if form is None:
        return None
    # Of several codes, the first one that encodes a signal counts.
    for text in fields[form].replace(",", " ").split():
        code = int(text) if text.lstrip("-").isdigit() else 0
        if form == "signal":
            return code
        number = _decoded(form, code)
        # hydra may print the exit code itself: a 2 there is more likely an exit code than an interrupt.
        if number in _rules_of_signals() and not (form == "wait_status" and number == 2):
            return number
    return None


def _decoded(form: str, code: int) -> int | None:
    """Return the signal number encoded in an exit code; None if there is none."""
    if form == "pbs_status" and code > _PBS:
        return code - _PBS
    if code > _SHELL:
        return code - _SHELL
    if form == "exit_code" and code < 0:
        return -code
    return code if form == "wait_status" else None
