"""Question: paste a job's output, read its cause. The text stays on the page.

Whatever comes from the reader's text stays text: nothing here makes markup.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopperlib.errors import InputError
from hopperlib.failure.diagnosis.causes import CONFIDENCE
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.messages import evidence
from hopperlib.failure.messages.evidence import Hit
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import Download, Facts, Listing, ListingLine, Result
from hopperlib.questions.wording import Said, record_of, wording

if TYPE_CHECKING:
    from hopperlib.failure.diagnosis.context import Context

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

# Sequences that color a terminal, what else a terminal obeys, and marks that turn the direction of reading.
_CONTROL = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
_WORDING = wording(__name__)


def _place(diagnosis: Diagnosis, hit: Hit) -> str:
    """Return file and line."""
    return f"{diagnosis.evidence.files[hit.file].name}:{hit.line}"


def _in_order(diagnosis: Diagnosis) -> list[evidence.MessageHits]:
    """Return the messages in the order of their first line."""
    return sorted(
        diagnosis.evidence.messages.values(), key=lambda message: (message.hits[0].file, message.hits[0].line)
    )


def _label(name: str) -> str:
    """Return what a field of a cause is called."""
    labels: dict[str, str] = record_of(__name__)["labels"]
    return labels.get(name, name.replace("_", " ").capitalize())


def _said(diagnosis: Diagnosis) -> Said:
    """Return the words of a diagnosis."""
    cause, words = diagnosis.cause, record_of(__name__)
    shown = cause if diagnosis.verdict == "cause" else None
    fields, hits = (shown.fields, shown.hits) if shown else ({}, [])
    return _WORDING.of(
        diagnosis,
        lines=diagnosis.evidence.lines_read,
        cause=cause,
        shown=shown,
        succeeded=diagnosis.verdict == "succeeded",
        title=cause.title.rstrip(".") if cause else "",
        first=_place(diagnosis, cause.hits[0]) if cause else "",
        guess=cause is not None and cause.confidence == "guess",
        meaning=CONFIDENCE[cause.confidence] if cause else "",
        who=words["who"][cause.who] if cause else "",
        labelled=[(_label(name), value) for name, value in fields.items()],
        quoted=[(_place(diagnosis, hit), hit.text) for hit in hits[:HITS_OF_A_CAUSE]],
        aside=[(code, diagnosis.evidence.messages[code].rule.confirm) for code in diagnosis.set_aside],
        **({"class": _WORDING.of(rule=cause.rule, fault=words["fault"][cause.fault]).text("class")} if cause else {}),
        explains=sorted(shown.explains) if shown else [],
        runner_up=diagnosis.causes[1].code if shown and len(diagnosis.causes) > 1 else None,
        messages=sorted(diagnosis.evidence.messages),
        unknown_kinds=len(diagnosis.evidence.unknown),
    )


def _findings(diagnosis: Diagnosis, said: Said) -> Iterator[Finding]:
    """Yield what to do, in steps, then what confirms it, then what is odd."""
    steps = said["shown"].advice if said["shown"] else diagnosis.next
    for number, step in enumerate(steps, start=1):
        yield Finding(f"step-{number}", f"{number}. {step}" if len(steps) > 1 else step, "advice")
    yield from said.findings


def _part(diagnosis: Diagnosis, finding: evidence.MessageHits) -> str:
    """Say which part a message plays in this text."""
    code = finding.rule.code
    if diagnosis.causes and diagnosis.verdict == "cause":
        if code == diagnosis.causes[0].code:
            return "cause"
        if code in diagnosis.causes[0].explains:
            return "explained"
        if any(code == cause.code for cause in diagnosis.causes[1:]):
            return "runner-up"
        if any(code in cause.explains for cause in diagnosis.causes[1:]):
            return "explained by a runner-up"
    return "set aside" if code in diagnosis.set_aside else record_of(__name__)["roles"][finding.rule.role]


def _marks(diagnosis: Diagnosis) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the lines to mark, by file and line, with mark and text; what counts more comes first."""
    marked: dict[tuple[int, int], tuple[str, str]] = {}

    def mark(hits: Sequence[Hit], most: int, word: str) -> None:
        for hit in hits[:most]:
            marked.setdefault((hit.file, hit.line), (word, hit.text))

    if diagnosis.verdict == "cause":
        for place, cause in enumerate(diagnosis.causes):
            mark(cause.hits, HITS_OF_A_CAUSE, "cause" if place == 0 else "runner-up")
    for finding in _in_order(diagnosis):
        mark(finding.hits, HITS_OF_A_MESSAGE, _part(diagnosis, finding))
    for group in diagnosis.evidence.suspicious[:UNKNOWN_MARKED]:
        mark([group.first], 1, "unknown")
    return marked


def _cleaned(line: str) -> str:
    """Return a line of the text as it would be shown: what a progress bar wrote last, without control characters."""
    # A progress bar writes one line over and over, parted by carriage returns: a reader saw the last of it.
    pieces = [piece for piece in line[: 20 * LINE_LENGTH].split("\r") if piece]
    text = _CONTROL.sub("", (pieces[-1] if pieces else "").replace("\t", "    "))
    return text[:LINE_LENGTH] + ("..." if len(text) > LINE_LENGTH else "")


def _listings(diagnosis: Diagnosis, texts: Sequence[Text]) -> Iterator[Listing]:
    """Yield the lines that matter of each text with their neighbors; of a stream, which is gone, without them."""
    marked = _marks(diagnosis)
    for file, read in enumerate(diagnosis.evidence.files):
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


def _rows(diagnosis: Diagnosis) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return all messages that were found, and the suspicious lines that no rule knows."""
    confidence = {cause.code: cause.confidence for cause in diagnosis.causes} if diagnosis.verdict == "cause" else {}
    messages = [
        (
            finding.rule.code,
            finding.rule.title,
            _part(diagnosis, finding),
            confidence.get(finding.rule.code),
            finding.count,
            _place(diagnosis, finding.hits[0]),
        )
        for finding in _in_order(diagnosis)[:MESSAGES_LISTED]
    ]
    speaks = record_of(__name__)["speaks"]
    lines = [
        (
            group.count,
            speaks[group.suspicion],
            group.template[:120],
            _place(diagnosis, group.first),
            group.first.text[:LINE_LENGTH],
        )
        for group in diagnosis.evidence.suspicious[:UNKNOWN_LISTED]
    ]
    return messages, lines


def context_of(launch: str, machine: str | Machine, record: str, job: str | None = None) -> "Context | None":
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


def result_of(diagnosis: Diagnosis, texts: Sequence[Text] = ()) -> Result:
    """Return what is to be said of a diagnosis.

    Parameters
    ----------
    diagnosis : Diagnosis
    texts : sequence of (str, str)
        Name and text of each file, to show the neighbors of a line; of a stream there are none.

    Examples
    --------
    >>> result_of(diagnose([("job.out", "all is well")])).summary
    'No cause in this text (1 line read). See below what to look at next.'
    """
    messages, lines = _rows(diagnosis)
    marked = [index for index, row in enumerate(messages) if row[2] == "cause"]
    said = _said(diagnosis)
    said = said.also(message_rows=messages, marked=marked, line_rows=lines, listed=len(lines))
    fields = said["shown"].fields if said["shown"] else {}
    known = {name: fields.get(name) for name in ("rank", "node", "nid", "cname", "time")} if said["shown"] else {}
    data = json.dumps(diagnosis.to_dict(), indent=2)
    return said.result(
        findings=tuple(_findings(diagnosis, said)),
        listings=tuple(_listings(diagnosis, texts)),
        downloads=(Download(name="diagnosis.json", text=data, media_type="application/json"),),
        facts=Facts(said.facts | known, rest=diagnosis.to_dict),
    )


def _answer(*, log: str, errors: str, launch: str, machine: str | Machine, record: str) -> Result:
    """Answer for the output of one job."""
    context = context_of(launch, machine, record)
    given = [("output", log), *([("errors", errors)] if errors else [])]
    diagnosis = diagnose(given, context=context)
    if context and context.record:
        given.append(("sacct", context.record.text.decode(errors="replace")))
    result = result_of(diagnosis, given)
    if not is_sample(QUESTION, "log", log):
        return result
    return replace(result, findings=(*result.findings, _WORDING.of().finding("made-up")))


QUESTION = declared(__name__, _answer)
