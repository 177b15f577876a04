"""Which message is the cause: specific before generic, cause before consequence, first before later.

1. A message that needs another one beside it, and stands alone, is set aside;
   so is one that another one refutes.
2. Links between messages say what explains what. A cause explains symptoms and
   cascades without being told; nothing explains what came a minute before it.
3. Causes that no other one explains are ranked: by strength, then by time
   where times are known, then by place in the file. An end that stands before
   a cause which ends nothing by itself comes first whatever their strength.
4. If only symptoms are left, the program's own last words are offered, as a
   guess; if there are none, there is no cause in the text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from hopperlib.failure.diagnosis._fallback import last_words
from hopperlib.failure.diagnosis.causes import Cause, Confidence
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits
from hopperlib.failure.messages.rules import Link

_ANY = Link(code="*")
_STRENGTH = {"strong": 0, "plain": 1, "weak": 2}

# A consequence may be logged a little before its cause: clocks and buffers differ. [s]
_CLOCK_SLACK_S = 60.0

# Suspicious lines so near to a cause are quoted beside it, and as many of them at most. [lines]
_AROUND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The ranked causes, and whether the text shows that the job failed or succeeded.

    Parameters
    ----------
    causes : tuple of Cause
        The likeliest first; empty if there is no cause in the text.
    failed : bool
        Whether anything shows that the job failed.
    succeeded : bool
        Whether the text shows that it ended well.
    set_aside : tuple of str
        Codes of messages that count only beside others, which are missing.
    """

    causes: tuple[Cause, ...]
    failed: bool
    succeeded: bool
    set_aside: tuple[str, ...]


def rank(evidence: Evidence, *, record_failed: bool | None = None) -> Ranking:
    """Rank the causes in the evidence of a scan."""
    findings = evidence.messages
    counted, set_aside = _counted(findings, bool(record_failed))
    refuted = _refuted(counted)
    set_aside += tuple(refuted)
    causes = [message for message in counted if message.rule.role == "cause" and message.rule.code not in refuted]
    success = [message for message in counted if message.rule.success]
    signs = [message for message in counted if message.rule.shows_failure and not _tidies_up(message, success)]
    failed = bool(signs) or bool(record_failed)
    words = last_words(evidence, signs, failed=failed, alone=not causes)
    ended_with_words = words is not None and words.fatal_words and not _ended_well_after(words.hits[0], success)
    succeeded = (
        not failed
        and not ended_with_words
        and (record_failed is False or bool(success))
        and not _later(causes, success, record_failed)
    )
    if succeeded:
        return Ranking(causes=(), failed=False, succeeded=True, set_aside=set_aside)
    if not causes and set_aside:
        # With nothing better in the text, what was set aside is better than silence.
        aside = [findings[code] for code in set_aside if code not in refuted]
        causes = [message for message in aside if "@failure" in message.rule.requires]
    roots, explained = _roots(causes, counted)
    ranked = [_cause(message, explained[message.rule.code], roots, evidence) for message in roots]
    if words and (not ranked or ranked[0].confidence == "possible"):
        ranked.insert(0 if ranked and _went_on(roots[0], words) else len(ranked), words)
    return Ranking(causes=tuple(ranked), failed=failed, succeeded=False, set_aside=set_aside)


def _refuted(counted: Iterable[MessageHits]) -> set[str]:
    """Return the codes of messages that another one refutes."""
    refuting = [link for message in counted for link in message.rule.refutes]
    return {message.rule.code for message in counted if any(link.names(message.rule.code) for link in refuting)}


def _tidies_up(message: MessageHits, success: Iterable[MessageHits]) -> bool:
    """Whether a message only tells that what is left was ended, after the run had ended well."""
    ends = [hit for end in success for hit in end.hits]
    return message.rule.role == "cascade" and all(
        any(end.file == hit.file and end.line < hit.line for end in ends) for hit in message.hits
    )


def _ended_well_after(words: Hit, success: Iterable[MessageHits]) -> bool:
    """Whether a program itself, not a launcher or a scheduler, says after a line or in another file that it ended well."""
    ends = [hit for message in success if message.rule.code.startswith("APPLICATION-") for hit in message.hits]
    return any(hit.file != words.file or hit.line > words.line for hit in ends)


def _went_on(message: MessageHits, words: Cause) -> bool:
    """Whether the program went on after a message, and ended with words of its own."""
    first, end = message.hits[0], words.hits[0]
    return not message.rule.fatal and first.file == end.file and message.hits[-1].line < end.line


def _counted(findings: Mapping[str, MessageHits], record_failed: bool) -> tuple[list[MessageHits], tuple[str, ...]]:
    """Return the messages that count, and the codes of those that lack what they require."""
    counted = [message for message in findings.values() if not message.rule.requires and message.rule.role != "noise"]
    waiting = [message for message in findings.values() if message.rule.requires and message.rule.role != "noise"]
    failure = record_failed or any(message.rule.shows_failure for message in counted)
    aside = []
    for message in waiting:
        needs = [code for code in message.rule.requires if code != "@failure"]
        met = ("@failure" in message.rule.requires and failure) or any(
            Link(code=code).names(other.rule.code) for code in needs for other in counted
        )
        if met:
            counted.append(message)
        else:
            aside.append(message.rule.code)
    return counted, tuple(aside)


def _later(causes: Iterable[MessageHits], success: Iterable[MessageHits], record_failed: bool | None) -> bool:
    """Whether a cause stands after the last sign of success, or cannot be placed against it."""
    if record_failed is False:
        return False
    ends: dict[int, int] = {}
    for message in success:
        for hit in message.hits:
            ends[hit.file] = max(ends.get(hit.file, 0), hit.line)
    for message in causes:
        if message.rule.strength == "weak":
            continue
        if any(hit.file in ends and hit.line > ends[hit.file] for hit in message.hits):
            return True
    return False


def _roots(causes: list[MessageHits], counted: list[MessageHits]) -> tuple[list[MessageHits], dict[str, list[str]]]:
    """Return the causes that no other explains, ranked, and what each explains, directly or through others."""
    ranked = sorted(causes, key=cmp_to_key(_compare))
    effects = [message for message in counted if message.rule.role not in ("info", "noise")]
    direct = {
        cause.rule.code: [other for other in effects if other is not cause and _explains(cause, other)]
        for cause in ranked
    }
    place = {cause.rule.code: index for index, cause in enumerate(ranked)}

    def is_explained(cause: MessageHits, by: MessageHits) -> bool:
        """Whether one explains another; of two that explain each other, the one that ranks higher is the cause."""
        mutual = by in direct[cause.rule.code]
        return cause in direct[by.rule.code] and (not mutual or place[by.rule.code] < place[cause.rule.code])

    roots = [cause for cause in ranked if not any(is_explained(cause, other) for other in ranked)]
    reached = {}
    for cause in roots:
        codes: list[str] = []
        queue = [cause]
        while queue:
            for other in direct.get(queue.pop(0).rule.code, []):
                if other.rule.code not in codes and other not in roots:
                    codes.append(other.rule.code)
                    queue.append(other)
        reached[cause.rule.code] = codes
    return roots, reached


def _explains(cause: MessageHits, effect: MessageHits) -> bool:
    """Whether one message explains another one of the same job."""
    links = [link for link in cause.rule.explains if link.names(effect.rule.code)]
    links += [link for link in effect.rule.explained_by if link.names(cause.rule.code)]
    if effect.rule.role in ("symptom", "cascade"):
        links.append(_ANY)
    if not links:
        return False
    before, after = cause.earliest, effect.earliest
    if before and after and _apart_s(before, after) < -_CLOCK_SLACK_S:
        return False
    return any(_within(link, first, second) for link in links for first in cause.hits for second in effect.hits)


def _within(link: Link, first: Hit, second: Hit) -> bool:
    """Whether two lines are within a link's windows."""
    if link.lines is not None and (first.file != second.file or abs(first.line - second.line) > link.lines):
        return False
    if link.seconds is not None and abs(_apart_s(first, second)) > link.seconds:
        return False
    if link.rank != "any" and "rank" in first.fields and "rank" in second.fields:
        return (first.fields["rank"] == second.fields["rank"]) == (link.rank == "same")
    return True


def _apart_s(first: Hit, second: Hit) -> float:
    """Return the time from one line to another; 0 where one of them carries none. [s]"""
    return (second.moment - first.moment).total_seconds() if first.moment and second.moment else 0.0


def _compare(left: MessageHits, right: MessageHits) -> int:
    """Order two causes: by strength, by time where both have one, by place in one file, by file."""
    if _ended_before(left, right) or _ended_before(right, left):
        return -1 if _ended_before(left, right) else 1
    by_strength = _STRENGTH[left.rule.strength] - _STRENGTH[right.rule.strength]
    if by_strength:
        return by_strength
    apart_s = _apart_s(left.earliest, right.earliest) if left.earliest and right.earliest else 0.0
    if apart_s:
        return -1 if apart_s > 0 else 1
    first, second = left.hits[0], right.hits[0]
    return -1 if (first.file, first.line) < (second.file, second.line) else 1


def _ended_before(left: MessageHits, right: MessageHits) -> bool:
    """Whether one message tells of an end, and stands before one that ends nothing by itself."""
    first, second = left.hits[0], right.hits[0]
    return left.rule.fatal and not right.rule.fatal and first.file == second.file and first.line < second.line


def _innermost(head: Hit, evidence: Evidence) -> list[Hit]:
    """Return the last line of MPI's error stack that begins right below a line: it names the call and the reason."""
    stack = evidence.messages.get("MPI-STACK")
    below = [hit for hit in stack.hits if hit.file == head.file and hit.line > head.line] if stack else []
    # The stack goes on while its lines follow one another, one line in between aside.
    run = [hit for place, hit in enumerate(below, start=1) if hit.line <= head.line + place + 1]
    return run[-1:]


def _confidence(message: MessageHits, roots: list[MessageHits]) -> Confidence:
    """Return how sure a cause is: by the strength of its message, its rank, and whether another one is as strong."""
    strength = message.rule.strength
    if strength == "weak" or message is not roots[0]:
        return "possible"
    rivals = any(other is not message and other.rule.strength == strength for other in roots)
    if strength == "strong":
        return "likely" if rivals else "certain"
    return "possible" if rivals else "likely"


def _cause(message: MessageHits, explained: list[str], roots: list[MessageHits], evidence: Evidence) -> Cause:
    """Make a cause of a message."""
    rule = message.rule
    head = message.first
    around = [group.last for group in evidence.unknown if group.suspicion in ("fatal", "error")]
    near = [hit for hit in around if hit.file == head.file and abs(hit.line - head.line) <= _AROUND]
    # A strong cause says all by itself.
    quoted = near[:_AROUND] if rule.strength != "strong" else []
    hits = [head, *_innermost(head, evidence), *quoted, *(hit for hit in message.hits if hit is not head)]
    fields = dict(message.first.fields)
    for hit in message.hits[:3]:
        if hit.fields.get("rank", fields.get("rank")) == fields.get("rank", hit.fields.get("rank")):
            fields = {**hit.fields, **fields}
    of_rule: dict[str, Any] = {name: getattr(rule, name) for name in ("code", "title", "fault", "who", "confirm")}
    confidence, advice = _confidence(message, roots), list(rule.advice)
    seen: dict[str, Any] = {"count": message.count, "hits": hits, "explains": explained, "fields": fields}
    return Cause(rule=rule, confidence=confidence, advice=advice, **of_rule, **seen)
