"""Words that no rule knows: what to offer as the cause where no rule names one.

Suspicious lines are weighed by what they say and by how near they stand before
the failure. A line that says only that something ended is read upwards: what
it has to say stands above it, in a frame or without one. It is a guess, and
called one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages._templates import suspicion, words_of
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits, Unknown
from hopperlib.failure.messages.rules import Actor, Fault
from hopperlib.package_data import read_beside
from hopperlib.tables import key, read_records

# Lines that may part words from the failure that follows: words near it, words that may belong to it,
# and words before the end of a text that shows no failure.
_NEAR = 40
_FAR = 200
_END_REACH = 10
# Lines that may part two lines of one message.
_BLOCK_GAP = 8
# A message that comes again and again ends nothing. [lines]
_MANY = 100
_FEW = 3
# What is quoted, in lines; and how far above an end its reason is looked for without any word of trouble.
_PLAIN_REACH = 3
_HINT_REACH = 6
# A key of a YAML block and a value of one word, or the mark of a text that follows.
_PAIR = re.compile(r"\s{0,8}\w{1,40}: {0,4}\S{0,80}")
# Words of a header, at most. [words]
_HEADER = 3

# Symptoms that begin a message: what they tell of stands below them.
_BEGINNINGS = ("PY-TRACEBACK", "CRAY-ATP")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Speaker:
    """One part of the system that prints messages: how its lines read, and who acts on them."""

    code: str
    name: str
    fault: Fault = key(name="class")
    who: Actor
    regex: tuple[str, ...] = key(single=True)
    advice: tuple[str, ...] = key(single=True)


@cache
def _speakers() -> tuple[_Speaker, ...]:
    """Return those who speak, in the order in which they are tried."""
    return read_records(_Speaker, read_beside(__file__, "speakers.toml"), "speaker", name="")


def last_words(evidence: Evidence, signs: Sequence[MessageHits], *, failed: bool, alone: bool) -> Cause | None:
    """Return the words before a failure that tell of it, if there are any; where they are alone, no rule names a cause."""
    ends = [hit for message in signs if message.rule.code not in _BEGINNINGS for hit in message.hits]
    terminators = [group.last for group in evidence.unknown if group.suspicion == "end"]
    failed = failed or bool(terminators)
    best: tuple[tuple[int, bool, int], Unknown] | None = None
    for group in evidence.unknown:
        if _is_code(group.last):
            continue
        reach = _reach(group, ends, terminators, evidence)
        if reach is None or not (weight := _weight(group, reach, failed)):
            continue
        score = (weight, group.count < _MANY, -reach)
        if best is None or score > best[0]:
            best = (score, group)
    if best:
        return _message(best[1], evidence)
    symptoms = sorted(
        (hit for message in signs for hit in message.hits[:1] if alone and hit.before),
        key=lambda hit: (hit.file, hit.line),
    )
    return next((cause for hit in symptoms if (cause := _unsuspected(hit, evidence))), None)


def _weight(group: Unknown, reach: int, failed: bool) -> int:
    """Weigh what a line says: words of an end near the failure first, a bare end before words far away; 0 is nothing."""
    if group.suspicion == "fatal":
        return 5 if reach <= _FAR else 2
    if group.suspicion == "error":
        if not failed:
            # Nothing says that the run failed: only what stands at the very end, and not again and again, ended it.
            return 4 if reach <= _END_REACH and group.count <= _FEW else 0
        return 4 if reach <= _NEAR else 2 if reach <= _FAR else 0
    if group.suspicion == "end":
        return 3
    return 1 if failed and reach <= _NEAR else 0


def _is_code(hit: Hit) -> bool:
    """Whether a line is the source that a traceback quotes."""
    return bool(hit.before) and hit.before[-1].lstrip().startswith('File "') and ", line " in hit.before[-1]


def _reach(group: Unknown, ends: list[Hit], terminators: list[Hit], evidence: Evidence) -> int | None:
    """Return the lines from a group's last line to the nearest sign of failure after it, or to the end of its file."""
    hit = group.last
    own = [end.line - hit.line for end in ends if end.file == hit.file]
    # What stands after the last sign of failure is its aftermath, but for words of an end right below it.
    if own and max(own) < (-_PLAIN_REACH if group.suspicion == "fatal" else 0):
        return None
    own += [end.line - hit.line for end in terminators if end.file == hit.file]
    return min((lines for lines in own if lines >= 0), default=evidence.files[hit.file].lines - hit.line)


def _message(group: Unknown, evidence: Evidence) -> Cause:
    """Make a cause of a group's last line and of what stands around it."""
    end = group.last
    known = _known(evidence)
    chain, beginning = [end], group
    # From below upwards: the chain grows as long as each line stands near the next.
    for other in sorted(evidence.unknown, key=lambda unknown: -unknown.last.line):
        hit = other.last
        near = hit.file == end.file and 0 < chain[0].line - hit.line <= _BLOCK_GAP
        if near and other.suspicion in ("fatal", "error") and not _is_code(hit):
            chain.insert(0, hit)
            beginning = other
    around = _following(group, known)
    generic = (message.hits for message in evidence.messages.values() if message.rule.strength == "weak")
    hits = (hit for own in generic for hit in own if hit.file == end.file)
    around += [hit for hit in hits if 0 < end.line - hit.line <= _BLOCK_GAP]
    main = chain[0]
    framed = _framed(group)
    # A header says no more than that; its message stands below it.
    below = _below(beginning, known) if words_of(main.text) <= _HEADER else None
    if framed and len(chain) == 1:
        main, around = framed[0], framed
    elif below:
        main = below
    elif group.suspicion == "end" and len(chain) == 1:
        above = [hit for hit in _above(end) if (hit.file, hit.line) not in known]
        main = (above or chain)[0]
        around += above[:3]
    lines = {hit.line: hit for hit in (*around, *chain)}
    return _cause(main, [lines[line] for line in sorted(lines) if line != main.line], group)


def _following(group: Unknown, known: set[tuple[int, int]]) -> list[Hit]:
    """Return the lines with words right below a group's last one that no rule knows."""
    end = group.last
    return [
        Hit(file=end.file, line=end.line + distance, text=text, fields={})
        for distance, text in enumerate(group.following, start=1)
        if words_of(text) and (end.file, end.line + distance) not in known
    ]


def _below(header: Unknown, known: set[tuple[int, int]]) -> Hit | None:
    """Return the line right below a header, behind keys with values of one word as a YAML block has them."""
    expected = header.last.line + 1
    for hit in _following(header, known):
        if not _PAIR.fullmatch(hit.text):
            return hit if hit.line == expected else None
        expected = hit.line + 1
    return None


def _unsuspected(symptom: Hit, evidence: Evidence) -> Cause | None:
    """Make a cause of what stands right above a symptom and reads like bad news, where nothing in the text is suspicious."""
    near = [hit for hit in _above(symptom) if symptom.line - hit.line <= _HINT_REACH and suspicion(hit.text.encode())]
    said = [hit for hit in near if (hit.file, hit.line) not in _known(evidence)]
    if not said:
        return None
    group = Unknown(template="", suspicion="hint", count=1, first=said[0], last=said[0])
    return _cause(said[0], sorted(said[1:3], key=lambda hit: hit.line), group)


def _known(evidence: Evidence) -> set[tuple[int, int]]:
    """Return file and line of what rules know, but for causes that are generic."""
    messages = evidence.messages.values()
    known = (own.hits for own in messages if (own.rule.role, own.rule.strength) != ("cause", "weak"))
    return {(hit.file, hit.line) for hits in known for hit in hits}


def _framed(group: Unknown) -> list[Hit]:
    """Return the lines between two lines of the same words that frame a message."""
    end = group.last
    height = end.line - group.first.line
    if (
        group.count != 2
        or group.first.text != end.text
        or group.first.file != end.file
        or not 1 < height <= len(end.before)
    ):
        return []
    between = enumerate(end.before[-height + 1 :], start=group.first.line + 1)
    return [Hit(file=end.file, line=line, text=text, fields={}) for line, text in between if words_of(text)]


def _above(end: Hit) -> list[Hit]:
    """Return the lines above an end that may be its reason, the likeliest first: trouble, bad news, what stands right above it."""
    reasons = []
    for distance, text in enumerate(reversed(end.before), start=1):
        kind = suspicion(text.encode())
        if not words_of(text) or kind == "end" or text.strip() == end.text.strip():
            continue
        trouble, plain = kind in ("fatal", "error"), kind == "" and distance <= _PLAIN_REACH
        if trouble or plain or kind == "hint":
            order = 0 if trouble else 1 if kind == "hint" else 2
            reasons.append((order, Hit(file=end.file, line=end.line - distance, text=text, fields={})))
    return [hit for _, hit in sorted(reasons, key=lambda reason: reason[0])]


def _cause(main: Hit, others: list[Hit], group: Unknown) -> Cause:
    """Make a cause of the lines of a message: class, who acts and advice follow from who speaks."""
    who = next(who for who in _speakers() if any(re.search(text, main.text) for text in who.regex))
    ends_only = group.suspicion == "end" and main is group.last
    return Cause(
        code=f"{who.code}-MESSAGE",
        title=f"The {who.name} ended and says no more" if ends_only else f"The {who.name}'s own message",
        fault=who.fault,
        who=who.who,
        confidence="guess",
        rule=None,
        count=group.count,
        hits=[replace(main, before=()), *others],
        fields=dict(group.last.fields),
        advice=list(who.advice),
        confirm="",
        fatal_words=group.suspicion in ("fatal", "end"),
    )
