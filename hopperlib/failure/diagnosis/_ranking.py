"""Which message is the cause: specific before generic, cause before consequence, first before later.

1. A message that requires another one, which is missing, is set aside; so is a message that another one refutes.
2. Links between messages define which explains which. A cause explains symptoms and cascades without a link; nothing
   explains a message more than a minute older.
3. Causes that no other one explains are ranked: by strength, then by time where times are known, then by place in the
   file. A reported end ranks above a later message that is not fatal, regardless of their strength.
4. If only symptoms are left, the program's final message is offered as a guess; without one, the text has no cause.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from hopperlib.failure.diagnosis._fallback import (
    final_message,
    missed_goal,
    reasons_above,
    stack_words,
)
from hopperlib.failure.diagnosis._following_lines import (
    LONG,
    continued_after,
    doubtful,
    ends_otherwise,
    lines_after,
    ordinary_lines_after,
    progress_after_message,
    recovered_from,
)
from hopperlib.failure.diagnosis._ordinary import with_named_warnings
from hopperlib.failure.diagnosis._quoting import cause_of
from hopperlib.failure.diagnosis._steps import COMMAND, OUTSIDE, cleared, ended_badly, reports_success
from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages._quotations import ordinary_lines_at_end
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits
from hopperlib.failure.messages.rules import Link

_ANY = Link(code="*")
_STRENGTH = {"strong": 0, "plain": 1, "weak": 2}

# A consequence may be logged a little before its cause: clocks and buffers differ. [s]
_CLOCK_SLACK_S = 60.0

_CANCELLED = ("SLURM-JOB-CANCELLED", "SLURM-TIME-LIMIT", "SLURM-PREEMPTED", "SLURM-NODE-FAIL")

# A report that a part of the work failed.
_FAILED = re.compile(r"(?i)\bfail(?:ed|ure)\b")

# Lines of ordinary work after a non-fatal complaint of a command.
_RAN = 10
# Such lines in another file show that the program named in the complaint had run.
_WORKED = 5


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked causes, and whether the text shows that the job failed or succeeded.

    Parameters
    ----------
    causes : tuple of Cause
        The likeliest first; empty if the text has no cause.
    failed : bool
        Whether anything shows that the job failed.
    succeeded : bool
        Whether the text shows that it ended well.
    set_aside : tuple of str
        Codes of messages that require others, which are missing.
    superseded : mapping of str to int
        Codes of messages of an earlier attempt, with the line that shows how the program continued after each.
    """

    causes: tuple[Cause, ...]
    failed: bool
    succeeded: bool
    set_aside: tuple[str, ...]
    superseded: Mapping[str, int]


def rank(evidence: Evidence, *, record_failed: bool | None = None) -> Ranking:
    """Rank the causes in the evidence of a scan."""
    evidence = with_named_warnings(evidence)
    findings = evidence.messages
    counted, set_aside = _counted(findings, bool(record_failed))
    refuted = _refuted(counted)
    superseded = (
        _superseded(counted, evidence) | _superseded_before(findings) | _complaints(findings.values(), evidence)
    )
    counted = [message for message in counted if message.rule.code not in superseded]
    success, signs = _ends(counted, evidence)
    failed = bool(signs) or bool(record_failed)
    closed = ended_badly(evidence, success)
    causes = _standing(counted, refuted, evidence, failed)
    words = _words_of_program(evidence, signs, failed, any_cause=bool(causes))
    missed = None if failed else missed_goal(evidence)
    common: dict[str, Any] = {"set_aside": (*set_aside, *refuted), "superseded": superseded}
    aside = [findings[code] for code in set_aside if code not in refuted]
    if not (failed or closed) and _succeeded(
        [*causes, *_program_causes(aside)], success, words, record_failed, evidence
    ):
        return Ranking((missed,) if missed else (), failed=False, succeeded=not missed, **common)
    # If no other message is left, the ones set aside are better than none.
    causes = causes or _needing_failure(aside, superseded, evidence)
    ranked = _ranked(causes, counted, words, evidence)
    return Ranking(tuple(ranked or filter(None, [missed])), failed=failed or closed, succeeded=False, **common)


def _words_of_program(evidence: Evidence, signs: list[MessageHits], failed: bool, *, any_cause: bool) -> Cause | None:
    """Return the program's final message, or without any cause the reason in MPI's error stack."""
    return final_message(evidence, signs, failed=failed) or (None if any_cause else stack_words(evidence, signs))


def _program_causes(aside: Iterable[MessageHits]) -> list[MessageHits]:
    """Return the causes among the messages that were set aside, without those of launchers and schedulers."""
    return [message for message in aside if message.rule.role == "cause" and not message.rule.code.startswith(OUTSIDE)]


def _ranked(
    causes: list[MessageHits], counted: list[MessageHits], words: Cause | None, evidence: Evidence
) -> list[Cause]:
    """Return the causes that no other explains, likeliest first, including the program's messages."""
    roots, explained = _roots(causes, counted)
    ranked = [cause_of(message, explained[message.rule.code], roots, evidence) for message in roots]
    for cause, message in zip(ranked, roots, strict=True):
        if not any(message is other for other in counted):
            # A required message is missing.
            cause.confidence = "guess"
    if reason := reasons_above(roots[0], evidence) if roots else None:
        ranked.insert(0, reason)
    if not words or not roots:
        return [words] if words else ranked
    unsure = ranked[0].confidence == "possible" or roots[0].rule.strength == "weak"
    if unsure or continued_after(roots[0], evidence):
        ranked.insert(0 if ends_otherwise(roots[0], evidence) else len(ranked), words)
    return ranked


def _superseded(counted: list[MessageHits], evidence: Evidence) -> dict[str, int]:
    """Return the codes of failures that a program survived, with the line that shows it."""
    superseded = {}
    for message in counted:
        life = (
            progress_after_message(message, evidence) if message.rule.role in ("cause", "symptom", "cascade") else None
        )
        ran_on = life and message.rule.role == "symptom" and evidence.files[message.hits[-1].file].lines - life > LONG
        if life and (ran_on or _ends_again(message, life, counted, evidence)):
            superseded[message.rule.code] = life
    return superseded


def _ends_again(message: MessageHits, life: int, counted: list[MessageHits], evidence: Evidence) -> bool:
    """Whether a program ended differently after a sign of progress: with a cause that this one does not explain, or
    with success.
    """
    # An exception explains only nearby messages; after a sign of progress, another exception is another end.
    ends = [
        end.hits[-1] for end in counted if end is not message and (end.rule.role == "cause" or reports_success(end))
    ]
    ends += [group.last for group in evidence.unknown if group.suspicion == "fatal"]
    return any(hit.line > life and _may_be_next(message.hits[-1], hit) for hit in ends)


def _standing(counted: Iterable[MessageHits], refuted: set[str], evidence: Evidence, failed: bool) -> list[MessageHits]:
    """Return the informative causes that are not refuted, and that need no sign of failure or have one."""
    causes = (message for message in counted if message.rule.role == "cause" and message.rule.code not in refuted)
    return [message for message in causes if failed or _counts_alone(message, evidence)]


def _counts_alone(message: MessageHits, evidence: Evidence) -> bool:
    """Whether a message may be the cause in a text without signs of failure: the program did not recover from it and
    did not run for long afterwards.
    """
    lived_on = message.rule.general and progress_after_message(message, evidence) is not None
    return not (lived_on or lines_after(message, evidence) > LONG or recovered_from(message, evidence))


def _complaints(messages: Iterable[MessageHits], evidence: Evidence) -> dict[str, int]:
    """Return the complaints of commands after which the job script ran for long without another failure."""
    complaints = [
        message
        for message in messages
        if message.rule.role == "cause"
        and message.count <= len(message.hits)
        and all(COMMAND.match(hit.text) for hit in message.hits)
        and _program_ran(message, evidence)
    ]
    failed = any(message.rule.shows_failure and message not in complaints for message in messages)
    if failed or any(group.suspicion in ("fatal", "end") for group in evidence.unknown):
        return {}
    return {message.rule.code: evidence.files[message.hits[-1].file].lines for message in complaints}


def _program_ran(message: MessageHits, evidence: Evidence) -> bool:
    """Whether a program ran after a complaint of the job script: it printed many lines, or warnings, or filled another
    file.
    """
    last = message.hits[-1]
    warnings = (hit for other in evidence.messages.values() if other.rule.role == "noise" for hit in other.hits)
    return (
        lines_after(message, evidence) > LONG
        or ordinary_lines_after(message, evidence) > _RAN
        or any(hit.file == last.file and hit.line > last.line for hit in warnings)
        or any(
            file.lines > LONG or ordinary_lines_at_end(file.tail, file.lines) >= _WORKED
            for place, file in enumerate(evidence.files)
            if place != last.file
        )
    )


def _superseded_before(findings: Mapping[str, MessageHits]) -> dict[str, int]:
    """Return the exceptions after which the job script ran its next command before the scheduler canceled the job."""
    raised = findings.get("PY-EXCEPTION")
    if raised is None or raised.count > len(raised.hits):
        return {}
    last = raised.hits[-1]
    behind = [
        hit for message in findings.values() for hit in message.hits if _may_be_next(last, hit) and hit.line > last.line
    ]
    commands = [hit.line for hit in behind if COMMAND.match(hit.text)]
    cancelled = [hit.line for code in _CANCELLED if code in findings for hit in findings[code].hits if hit in behind]
    return {"PY-EXCEPTION": min(commands)} if commands and max(cancelled, default=0) > min(commands) else {}


def _may_be_next(failure: Hit, end: Hit) -> bool:
    """Whether an end may be that of the program that survived a failure: in the same file, and not of another task."""
    tasks = {hit.fields["rank"] for hit in (failure, end) if "rank" in hit.fields}
    return failure.file == end.file and len(tasks) < 2


def _needing_failure(
    messages: Iterable[MessageHits], superseded: Mapping[str, int], evidence: Evidence
) -> list[MessageHits]:
    """Return the messages that count next to any sign of failure, are followed by few lines and not superseded."""
    left = (message for message in messages if message.rule.code not in superseded)
    needing = (message for message in left if "@failure" in message.rule.requires)
    return [message for message in needing if lines_after(message, evidence) <= LONG]


def _ends(counted: Iterable[MessageHits], evidence: Evidence) -> tuple[list[MessageHits], list[MessageHits]]:
    """Return the messages that show an end without failure, and those that show a failure."""
    success = [
        message
        for message in counted
        if message.rule.success and not (message.rule.general and ordinary_lines_after(message, evidence) > 1)
    ]
    signs = (message for message in counted if message.rule.shows_failure and not doubtful(message))
    return success, list(signs)


def _succeeded(
    causes: Iterable[MessageHits],
    success: list[MessageHits],
    words: Cause | None,
    record_failed: bool | None,
    evidence: Evidence,
) -> bool:
    """Whether a text without a sign of failure shows that the job ended well: success clears all its causes."""
    if _unknown_errors_remain(success, evidence):
        return False
    failures = [(cause.rule.code, cause.hits) for cause in causes]
    if words is not None:
        failures.append((words.code, words.hits[:1]))
    if not all(cleared(code, hits, success, evidence) for code, hits in failures):
        return False
    return record_failed is False or bool(success)


def _unknown_errors_remain(success: list[MessageHits], evidence: Evidence) -> bool:
    """Whether error lines without a rule report a failed part, or follow all reports of success."""
    errors = [group for group in evidence.unknown if group.suspicion == "error"]
    if any(_FAILED.search(group.last.text) for group in errors):
        return True
    # A script's report of its end does not clear error-like lines after it; only a program known by name could.
    if any(map(reports_success, success)):
        return False
    done = [hit for message in success for hit in message.hits]
    return any(all(hit.file != group.last.file or hit.line < group.last_line for hit in done) for group in errors)


def _refuted(counted: Iterable[MessageHits]) -> set[str]:
    """Return the codes of messages that another one refutes."""
    refuting = [link for message in counted for link in message.rule.refutes]
    return {message.rule.code for message in counted if any(link.names(message.rule.code) for link in refuting)}


def _counted(findings: Mapping[str, MessageHits], record_failed: bool) -> tuple[list[MessageHits], tuple[str, ...]]:
    """Return the messages that count, and the codes of those without their required messages."""
    meaningful = [message for message in findings.values() if message.rule.role != "noise"]
    counted = [message for message in meaningful if not message.rule.requires]
    failure = record_failed or any(message.rule.shows_failure for message in counted)
    aside = []
    for message in meaningful:
        if not message.rule.requires:
            continue
        if (failure and "@failure" in message.rule.requires) or _has_companion(message, counted):
            counted.append(message)
        else:
            aside.append(message.rule.code)
    return counted, tuple(aside)


def _has_companion(message: MessageHits, counted: Iterable[MessageHits]) -> bool:
    """Whether one of the messages that a message requires is among those that count."""
    links = [Link(code=code) for code in message.rule.requires if code != "@failure"]
    return any(link.names(other.rule.code) for link in links for other in counted)


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
    # Effects are direct: a cause explains symptoms and cascades regardless of messages between them.
    return roots, {
        cause.rule.code: [other.rule.code for other in direct[cause.rule.code] if other not in roots] for cause in roots
    }


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
    """Return the time from one line to another; 0 if either has no time. [s]"""
    return (second.moment - first.moment).total_seconds() if first.moment and second.moment else 0.0


def _compare(left: MessageHits, right: MessageHits) -> int:
    """Order two causes: by strength, by time where both have one, by place in one file, by file."""
    for one, other, order in ((left, right, -1), (right, left, 1)):
        if _ended_before(one, other):
            return order
    by_strength = _STRENGTH[left.rule.strength] - _STRENGTH[right.rule.strength]
    if by_strength:
        return by_strength
    # Of two generic messages, the one that ends a program comes first.
    if left.rule.strength == "weak" and left.rule.fatal != right.rule.fatal:
        return -1 if left.rule.fatal else 1
    apart_s = _apart_s(left.earliest, right.earliest) if left.earliest and right.earliest else 0.0
    if apart_s:
        return -1 if apart_s > 0 else 1
    first, second = left.hits[0], right.hits[0]
    return -1 if (first.file, first.line) < (second.file, second.line) else 1


def _ended_before(left: MessageHits, right: MessageHits) -> bool:
    """Whether one message reports an end, and is printed before one that does not end a program by itself."""
    first, second = left.hits[0], right.hits[0]
    return left.rule.fatal and not right.rule.fatal and first.file == second.file and first.line < second.line
