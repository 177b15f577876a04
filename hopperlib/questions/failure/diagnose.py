"""Question: paste a job's output, read its cause. The text stays on the page.

Whatever comes from the reader's text stays text: nothing here makes markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopperlib.errors import InputError
from hopperlib.failure.diagnosis.causes import CONFIDENCE, Cause
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.messages import evidence
from hopperlib.failure.messages.evidence import Hit
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import (
    Badge,
    Column,
    Copyable,
    Download,
    Facts,
    Listing,
    ListingLine,
    Result,
    Table,
    Value,
)

if TYPE_CHECKING:
    from hopperlib.failure.diagnosis.context import Context

__all__ = ["QUESTION", "context_of", "result_of"]

Text = tuple[str, str]

# What is shown at most: a page is no place for a whole log.
LINES_LISTED = 160
LINE_LENGTH = 400
HITS_OF_A_CAUSE = 5
HITS_OF_A_MESSAGE = 2
UNKNOWN_MARKED = 8
UNKNOWN_LISTED = 20
MESSAGES_LISTED = 60
CONTEXT = 2

_CONTROL = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
_WHO = {"user": "the job's owner", "staff": "the center's staff", "vendor": "the vendor"}
_FAULT = {"user": "user", "system": "system", "either": "either user or system"}
_LABELS = {
    "rank": "Rank",
    "label": "Printed by task",
    "hsa_node": "HSA node (no GPU index)",
    "node": "Node",
    "nid": "Node ID (nid)",
    "cname": "Place (cname)",
    "time": "Time",
    "apid": "Application",
}
_SPEAKS = {"fatal": "an end", "error": "an error", "end": "an end, no reason", "hint": "bad news"}
_ROLES = {
    "cause": "cause",
    "symptom": "symptom",
    "cascade": "consequence",
    "noise": "harmless",
    "info": "course of the job",
}


def _place(found: Diagnosis, hit: Hit) -> str:
    """Return file and line."""
    return f"{found.evidence.files[hit.file].name}:{hit.line}"


def _in_order(found: Diagnosis) -> list[evidence.MessageHits]:
    """Return the messages in the order of their first line."""
    return sorted(found.evidence.messages.values(), key=lambda one: (one.hits[0].file, one.hits[0].line))


def _actor(cause: Cause) -> str:
    return _WHO[cause.who]


def _summary(found: Diagnosis) -> str:
    """Say the verdict in one sentence, and how sure it is."""
    lines = found.evidence.lines_read
    read = f"{lines:,} line{'' if lines == 1 else 's'} read"
    cause = found.cause
    if found.verdict == "succeeded":
        return f"This job succeeded: its text says so, and nothing in it says otherwise ({read})."
    if cause is None:
        return f"No cause in this text ({read}). What to look at next stands below."
    sure = "a guess" if cause.confidence == "guess" else cause.confidence
    return (
        f"{cause.title.rstrip('.')} ({cause.code}, {_place(found, cause.hits[0])}). "
        f"This is {sure}: {CONFIDENCE[cause.confidence]}. Who acts: {_actor(cause)}."
    )


def _findings(found: Diagnosis) -> Iterator[Finding]:
    """Yield what to do, in steps, then what confirms it, then what is odd."""
    cause = found.cause
    steps = cause.advice if found.verdict == "cause" and cause else found.next
    for number, step in enumerate(steps, start=1):
        yield Finding(f"step-{number}", f"{number}. {step}" if len(steps) > 1 else step, "advice")
    if found.verdict == "cause" and cause and cause.confirm:
        yield Finding("to-confirm", f"To confirm: {cause.confirm}", "note")
    if cause and cause.rule and cause.rule.not_said:
        yield Finding("not-said", f"It does not say {cause.rule.not_said}.", "note")
    for code in found.set_aside:
        rule = found.evidence.messages[code].rule
        yield Finding("set-aside", f"{code} was found and set aside: {rule.confirm}", "note")
    for text in found.notes:
        yield Finding("text", text, "note")


def _values(found: Diagnosis) -> Iterator[Value]:
    """Yield what is known of the cause: class, who acts, node, rank, time."""
    cause = found.cause
    if found.verdict != "cause" or cause is None:
        return
    ours = "how the diagnosis ranks what it found; see the page for how often it is right"
    yield Value("Confidence", cause.confidence, None, note=ours)
    source = cause.rule.source if cause.rule else "no rule knows the message"
    badge: Badge | None = "documented" if cause.rule else None
    nersc = f" ({cause.rule.nersc_class})" if cause.rule and cause.rule.nersc_class else ""
    yield Value("Class", f"{_FAULT[cause.fault]}{nersc}", badge, note=source)
    yield Value("Who acts", _actor(cause), badge)
    yield Value("Lines that say so", cause.count, "documented", note="counted in your text")
    for name, value in cause.fields.items():
        label = _LABELS.get(name, name.replace("_", " ").capitalize())
        yield Value(label, value, "documented", note="as your text prints it")


def _part(found: Diagnosis, finding: evidence.MessageHits) -> str:
    """Say which part a message plays in this text."""
    code = finding.rule.code
    if found.causes and found.verdict == "cause":
        if code == found.causes[0].code:
            return "cause"
        if code in found.causes[0].explains:
            return "explained"
        if any(code == cause.code for cause in found.causes[1:]):
            return "runner-up"
        if any(code in cause.explains for cause in found.causes[1:]):
            return "explained by a runner-up"
    return "set aside" if code in found.set_aside else _ROLES[finding.rule.role]


def _marks(found: Diagnosis) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the lines to mark, by file and line, with mark and text; what counts more comes first."""
    marked: dict[tuple[int, int], tuple[str, str]] = {}

    def mark(hits: Sequence[Hit], most: int, word: str) -> None:
        for hit in hits[:most]:
            marked.setdefault((hit.file, hit.line), (word, hit.text))

    if found.verdict == "cause":
        for place, cause in enumerate(found.causes):
            mark(cause.hits, HITS_OF_A_CAUSE, "cause" if place == 0 else "runner-up")
    for finding in _in_order(found):
        mark(finding.hits, HITS_OF_A_MESSAGE, _part(found, finding))
    for group in found.evidence.suspicious[:UNKNOWN_MARKED]:
        mark([group.first], 1, "unknown")
    return marked


def _cleaned(line: str) -> str:
    """Return a line of the text as it would be shown: what a progress bar wrote last, without control characters."""
    pieces = [piece for piece in line[: 20 * LINE_LENGTH].split("\r") if piece]
    text = _CONTROL.sub("", (pieces[-1] if pieces else "").replace("\t", "    "))
    return text[:LINE_LENGTH] + ("..." if len(text) > LINE_LENGTH else "")


def _listings(found: Diagnosis, texts: Sequence[Text]) -> Iterator[Listing]:
    """Yield the lines that matter of each text with their neighbors; of a stream, which is gone, without them."""
    marked = _marks(found)
    for file, read in enumerate(found.evidence.files):
        own = {line: marked[where, line] for where, line in marked if where == file}
        if not own:
            continue
        if file >= len(texts):
            alone = tuple(ListingLine(number=line, text=own[line][1], mark=own[line][0]) for line in sorted(own))
            yield Listing(title=f"{read.name}: lines that matter", lines=alone)
            continue
        name, text = texts[file]
        lines = text.removesuffix("\n").split("\n")
        shown: dict[int, ListingLine] = {}
        # The dict keeps the order of importance, so a cut takes the least.
        for line, (word, quoted) in own.items():
            near = range(max(1, line - CONTEXT), min(len(lines), line + CONTEXT) + 1)
            if len(shown) + len(near) > LINES_LISTED:
                break
            for number in near:
                shown.setdefault(number, ListingLine(number=number, text=_cleaned(lines[number - 1])))
            shown[line] = ListingLine(number=line, text=quoted[: 2 * LINE_LENGTH], mark=word)
        ordered = tuple(shown[number] for number in sorted(shown))
        yield Listing(title=f"{name}: {len(ordered):,} of {len(lines):,} lines", lines=ordered)


def _tables(found: Diagnosis) -> Iterator[Table]:
    """Yield all messages that were found, and the suspicious lines that no rule knows."""
    findings = _in_order(found)[:MESSAGES_LISTED]
    confidence = {cause.code: cause.confidence for cause in found.causes} if found.verdict == "cause" else {}
    if findings:
        parts = [_part(found, finding) for finding in findings]
        yield Table(
            caption="Messages in the text, in their order",
            columns=tuple(map(Column, ("Message", "What it says", "Part", "Confidence", "Lines", "First line"))),
            rows=tuple(
                (
                    finding.rule.code,
                    finding.rule.title,
                    part,
                    confidence.get(finding.rule.code),
                    finding.count,
                    _place(found, finding.hits[0]),
                )
                for finding, part in zip(findings, parts, strict=True)
            ),
            marked=tuple(index for index, part in enumerate(parts) if part == "cause"),
            marked_label="the cause" if "cause" in parts else "",
        )
    groups = found.evidence.suspicious[:UNKNOWN_LISTED]
    if groups:
        yield Table(
            caption=f"Suspicious lines that no rule knows, {len(groups)} of {len(found.evidence.unknown)} kinds",
            columns=tuple(map(Column, ("Lines", "Speaks of", "Kind", "First line", "It reads"))),
            rows=tuple(
                (
                    group.count,
                    _SPEAKS[group.suspicion],
                    group.template[:120],
                    _place(found, group.first),
                    group.first.text[:LINE_LENGTH],
                )
                for group in groups
            ),
        )


def _copyables(found: Diagnosis) -> Iterator[Copyable]:
    """Yield a text for a ticket, where a cause was found."""
    cause = found.cause
    if found.verdict != "cause" or cause is None:
        return
    known = "".join(f"\n{_LABELS.get(name, name)}: {value}" for name, value in cause.fields.items())
    quoted = "".join(f"\n{_place(found, hit)}: {hit.text}" for hit in cause.hits[:HITS_OF_A_CAUSE])
    yield Copyable(
        "For a ticket",
        f"{cause.title} [{cause.code}], {cause.confidence}{known}{quoted}",
        "It quotes your text: read it before you send it.",
    )


def _facts(found: Diagnosis) -> dict[str, Any]:
    """Return named facts for self-checks and tests."""
    cause = found.cause if found.verdict == "cause" else None
    return {
        "verdict": found.verdict,
        "code": cause.code if cause else None,
        "confidence": cause.confidence if cause else None,
        "fault": cause.fault if cause else None,
        "line": cause.hits[0].line if cause else None,
        "explains": sorted(cause.explains) if cause else [],
        "runner_up": found.causes[1].code if cause and len(found.causes) > 1 else None,
        "messages": sorted(found.evidence.messages),
        "unknown_kinds": len(found.evidence.unknown),
        "lines_read": found.evidence.lines_read,
        **({name: cause.fields.get(name) for name in ("rank", "node", "nid", "cname", "time")} if cause else {}),
    }


def context_of(launch: str, machine: str | Machine, record: str, job: str | None = None) -> Context | None:
    """Return what is known beside the output; None if nothing is.

    Raises
    ------
    InputError
        If the record is no output of sacct, or does not hold the job.

    Examples
    --------
    >>> context_of("", "hopper", "") is None
    True
    """
    if not launch.strip() and not record.strip():
        return None
    # It brings the models of launch lines and layouts, which most texts do not need.
    from hopperlib.failure.diagnosis.context import read_context

    try:
        return read_context(
            launch=launch.strip() or None,
            machine=chosen_machine(machine) if launch.strip() else None,
            sacct=record if record.strip() else None,
            job=job,
        )
    except ValueError as error:
        raise InputError(str(error), name="record") from error


def result_of(found: Diagnosis, texts: Sequence[Text] = ()) -> Result:
    """Return what is to be said of a diagnosis.

    Parameters
    ----------
    found : Diagnosis
    texts : sequence of (str, str)
        Name and text of each file, to show the neighbors of a line; of a stream there are none.

    Examples
    --------
    >>> result_of(diagnose([("job.out", "all is well")])).summary
    'No cause in this text (1 line read). What to look at next stands below.'
    """
    data = json.dumps(found.to_dict(), indent=2)
    return Result(
        summary=_summary(found),
        findings=tuple(_findings(found)),
        values=tuple(_values(found)),
        copyables=tuple(_copyables(found)),
        listings=tuple(_listings(found, texts)),
        tables=tuple(_tables(found)),
        downloads=(Download(name="diagnosis.json", text=data, media_type="application/json"),),
        facts=Facts(_facts(found), rest=found.to_dict),
    )


def _answer(*, log: str, errors: str, launch: str, machine: str | Machine, record: str) -> Result:
    """Answer for the output of one job."""
    context = context_of(launch, machine, record)
    given = [("output", log), *([("errors", errors)] if errors else [])]
    found = diagnose(given, context=context)
    if context and context.record:
        given.append(("sacct", context.record.text.decode(errors="replace")))
    result = result_of(found, given)
    if not is_sample(QUESTION, "log", log):
        return result
    made_up = Finding("made-up", "This text is made up: paste or drop your own.", "note")
    return replace(result, findings=(*result.findings, made_up))


QUESTION = declared(__name__, _answer)
