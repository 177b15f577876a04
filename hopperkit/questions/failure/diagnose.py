"""Question: the cause of a failed job, from its output. The text stays on the page.

Whatever comes from the reader's text stays text: nothing here makes markup.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hopperkit.questions import ask
from hopperkit.questions.failure._quoted_lines import (
    HITS_OF_A_CAUSE,
    LINE_LENGTH,
    listings,
    part_of,
)
from hopperkit.questions.question import is_sample
from hopperkit.questions.result import Download, Facts, Result, Snippet, Table, Value, table
from hopperkit.readers.recognise import Kind, recognise
from hopperlib.errors import InputError
from hopperlib.failure.diagnosis.causes import CONFIDENCE, Cause, measured
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.diagnosis.failing_rank import first_failure, reach
from hopperlib.failure.messages.evidence import Hit
from hopperlib.finding import Finding
from hopperlib.package_data import load_text_resource
from hopperlib.text import count, share

if TYPE_CHECKING:
    from hopperkit.failures.context import Context
    from hopperlib.machine import Machine

_MAX_ROWS = 12
_MAX_TEMPLATE = 120
# Lines of a text by which its kind is recognized.
_HEAD = 400
# Texts given here by mistake, in addition to those that other questions read.
_OTHER_TEXTS = {
    "the matrix of `nvidia-smi topo -m`": r"^\s{1,20}GPU0\s+GPU1\b|^Legend:\s*$(?s:.{0,80})\bX {1,8}= Self",
    "Slurm's configuration": r"^Configuration data as of \d{4}-|^SlurmctldHost(?:\[\d+\])?\s*=",
}
_WHO = {"user": "the job's owner", "staff": "the center's staff", "vendor": "the vendor"}
_NO_RULE = "no rule matches the message; it is nearest to the failure"
_BOTH = "no rule matches the message; it is nearest to the failure, and a ranking of all lines puts it first, too"
_FAULT = {"user": "user", "system": "system", "either": "either user or system"}
# Fields of a cause whose names need a longer label.
_LABELS = {
    "label": "Printed by task",
    "hsa_node": "HSA node (no GPU index)",
    "nid": "Node ID (nid)",
    "cname": "Location (cname)",
    "apid": "Application",
}
_SUSPICIONS = {"fatal": "end of the program", "error": "error", "end": "end, no reason", "hint": "goal missed"}
# Fields of a cause with a separate fact.
_LOCATIONS = ("rank", "node", "nid", "cname", "time")
_MISSING_LIBRARY = (
    "./solver: error while loading shared libraries: libpetsc.so.3.4: "
    "cannot open shared object file: No such file or directory\n"
)


def _sample(name: str) -> str:
    return load_text_resource(__file__, f"samples/{name}.txt")


class Given(ask.Setting):
    """The output of one job, and additional facts."""

    log: str = ask.file(
        "Output of the job",
        _sample("out-of-memory"),
        rows=10,
        max_length=8_000_000,
        placeholder="Paste the job's output, or drop the file here",
        help="Paste the text, or drop the file. It is read on this page and sent nowhere. "
        "The text at the start is made up.",
    )
    errors: str = ask.file(
        "Second file of the same job",
        rows=2,
        max_length=8_000_000,
        help="Standard error, if it is a separate file, or the log of the program.",
    )
    launch: str = ask.text(
        "Launch line or job script",
        rows=2,
        placeholder="aprun -n 384 ./a.out",
        help="With it, the advice contains numbers.",
        advanced=True,
    )
    machine: "Machine" = ask.machine(
        help="The machine on which the launch line ran. It has no effect without a launch line.", advanced=True
    )
    machine_file: str = ask.machine_file()
    record: str = ask.file(
        "Scheduler's record",
        option="sacct",
        rows=4,
        max_length=1_000_000,
        help="The output of `sacct -P -l -j JOBID` for the job.",
        advanced=True,
    )


def answer(given: Given) -> Result:
    """Return the answer for the output of one job.

    Parameters
    ----------
    given : Given
        The output of one job, and additional facts.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Given()).facts['code']
    'ALPS-OOM'
    """
    context = context_of(given.launch, given.machine, given.record)
    texts = [("output", given.log), *([("errors", given.errors)] if given.errors else [])]
    diagnosis = diagnose(texts, context=context)
    if context and context.record:
        texts.append(("sacct", context.record.text.decode(errors="replace")))
    result = result_of(diagnosis, texts)
    if not is_sample(QUESTION, "log", given.log):
        return result
    made_up = Finding("made-up", "This text is made up. Paste or drop yours.", "note")
    return replace(result, findings=(*result.findings, made_up))


def context_of(launch: str, machine: "str | Machine", record: str, job: str | None = None) -> "Context | None":
    """Return the additional facts; None if there are none.

    Parameters
    ----------
    launch : str
        Launch line or script.
    machine : str or Machine
        The machine, or its name.
    record : str
        Output of sacct.
    job : str or None
        Number of the job; None for the last one.

    Raises
    ------
    InputError
        If the record is not from sacct, or does not contain the job.

    Examples
    --------
    >>> context_of("", "hopper", "") is None
    True
    """
    if not launch.strip() and not record.strip():
        return None
    # This imports the models of launch lines and layouts, which most texts do not need.
    from hopperkit.failures.context import read_context
    from hopperkit.questions.machine_choice import chosen_machine

    try:
        return read_context(
            launch=launch.strip() or None,
            machine=chosen_machine(machine) if launch.strip() else None,
            sacct=record if record.strip() else None,
            job=job,
        )
    except ValueError as error:
        raise InputError(str(error), name="record") from error


def result_of(diagnosis: Diagnosis, texts: Sequence[tuple[str, str]] = ()) -> Result:
    """Return a diagnosis as an answer.

    Parameters
    ----------
    diagnosis : Diagnosis
    texts : sequence of (str, str)
        Name and text of each file, to show the neighbors of a line; empty for a stream.

    Examples
    --------
    >>> result_of(diagnose([("job.out", "all is well")])).summary
    'Nothing in this text shows that the job failed (1 line read). See below for next steps.'
    """
    cause = diagnosis.cause if diagnosis.verdict == "cause" else None
    data = json.dumps(diagnosis.to_dict(), indent=2)
    return Result(
        summary=_summary(diagnosis),
        findings=tuple(_findings(diagnosis, cause)),
        values=tuple(_values(cause)) if cause else (),
        listings=tuple(listings(diagnosis, texts)),
        copyables=(_ticket(diagnosis, cause),) if cause else (),
        tables=tuple(_tables(diagnosis, cause)),
        downloads=(Download(name="diagnosis.json", text=data, media_type="application/json"),),
        facts=_facts(diagnosis, cause),
    )


def _summary(diagnosis: Diagnosis) -> str:
    lines, cause = count(diagnosis.evidence.lines_read, "line"), diagnosis.cause
    if diagnosis.verdict == "succeeded":
        return f"This job succeeded: its text reports it, and nothing contradicts it ({lines} read)."
    if cause is None and diagnosis.verdict == "failed":
        return f"This job failed; the text does not show why ({lines} read).{_ended(diagnosis)} See below for lines to check."
    if cause is None:
        return f"Nothing in this text shows that the job failed ({lines} read). See below for next steps."
    sure = "a guess" if cause.confidence == "guess" else cause.confidence
    return (
        f"{cause.title.rstrip('.')} ({cause.code}, {_place(diagnosis, cause.hits[0])}). "
        f"This is {sure}: {_meaning(cause)}.{_or(diagnosis)}{_who_acts(cause)}"
    )


def _meaning(cause: Cause) -> str:
    """Return the basis of the confidence."""
    if cause.rule:
        return CONFIDENCE[cause.confidence]
    return _NO_RULE if cause.confidence == "guess" else _BOTH


def _ended(diagnosis: Diagnosis) -> str:
    """Return a sentence on what ended, where a line reports it."""
    ends = [message for message in diagnosis.evidence.in_order if message.rule.shows_failure]
    if not ends:
        return ""
    # A line that names the signal is more informative than a launcher's headline.
    end = min(ends, key=lambda message: not message.rule.signals)
    hit = end.first
    return f" What ended: {end.rule.title} ({_place(diagnosis, hit)})."


def _or(diagnosis: Diagnosis) -> str:
    """Return the line chosen by the ranking, if it differs."""
    other = diagnosis.alternative
    if other is None:
        return ""
    return f" Or, by the ranking of all lines ({_place(diagnosis, other.hits[0])}): {other.hits[0].text.strip()[:LINE_LENGTH]}"


def _who_acts(cause: Cause) -> str:
    """Return who must act, if the message shows who is responsible."""
    return f" Who acts: {_WHO[cause.who]}." if cause.who in _WHO else ""


def _place(diagnosis: Diagnosis, hit: Hit) -> str:
    """Return file and line."""
    return f"{diagnosis.evidence.files[hit.file].name}:{hit.line}"


def _findings(diagnosis: Diagnosis, cause: Cause | None) -> Iterator[Finding]:
    """Yield the steps to take, then the confirmation, then anomalies."""
    steps = cause.advice if cause else diagnosis.next
    for number, step in enumerate(steps, start=1):
        yield Finding(f"step-{number}", f"{number}. {step}" if len(steps) > 1 else step, "advice")
    if diagnosis.verdict != "succeeded":
        yield from _extent(diagnosis, cause)
    if cause:
        yield from _worth(cause)
    for code in diagnosis.set_aside:
        confirm = diagnosis.evidence.messages[code].rule.confirm
        yield Finding("set-aside", f"{code} was found but not taken as the cause: {confirm}", "note")
    if diagnosis.alternative:
        for step in diagnosis.alternative.advice[:1]:
            yield Finding("or-step", f"If it is the other line: {step}", "advice")
    if diagnosis.verdict == "no-cause" and (kind := other_kind(diagnosis)):
        yield Finding("not-output", f"This reads as {kind.title} ({kind.why}), not as the output of a job.", "note")
    yield from (Finding("text", note, "note") for note in diagnosis.notes)


def other_kind(diagnosis: Diagnosis) -> Kind | None:
    """Return the kind of a text that is not a job's output: a script, a table, a configuration; None if it may be one.

    Parameters
    ----------
    diagnosis : Diagnosis
        Diagnosis of the job.

    Examples
    --------
    >>> from hopperlib.failure.diagnosis.diagnosis import diagnose
    >>> other_kind(diagnose([("slurm.conf", b"SlurmctldHost=login1")])).title
    "Slurm's configuration"
    """
    if len(diagnosis.evidence.files) != 1:
        return None
    lines = [text.decode(errors="replace") for _, text in islice(diagnosis.evidence.files[0].window.lines(), _HEAD)]
    head = "\n".join(lines)
    for title, mark in _OTHER_TEXTS.items():
        if re.search(mark, head, re.MULTILINE):
            return Kind("other", title, "its first lines have that form")
    kinds = recognise(head)
    return kinds[0] if kinds and kinds[0].name != "output" else None


def _extent(diagnosis: Diagnosis, cause: Cause | None) -> Iterator[Finding]:
    """Yield what failed first, and how far the failure spread."""
    first = first_failure(diagnosis.evidence)
    if first:
        where = f"{diagnosis.evidence.files[first.file].name}:{first.line:,}"
        task = cause.fields.get("rank", "") if cause else ""
        other = task.isdigit() and int(task) != first.task and not first.followed
        sentence = (
            f"A launcher names only task {first.task} on {first.node}, but task {task} printed the cause: begin there."
            if other
            else first.sentence
        )
        yield Finding("first-failure", f"{sentence} ({where})", "note")
    if extent := reach(first, cause):
        yield Finding("reach", f"This is {extent.extent}: {extent.reason}.", "note")


def _worth(cause: Cause) -> Iterator[Finding]:
    """Yield the confirmation of a cause, what it does not imply, and the accuracy of its confidence word."""
    if cause.confirm:
        yield Finding("to-confirm", f"To confirm: {cause.confirm}", "note")
    if cause.rule and cause.rule.does_not_imply:
        yield Finding("not-said", f"It does not imply {cause.rule.does_not_imply}.", "note")
    yield Finding("measured", _measured(cause), "note")


def _measured(cause: Cause) -> str:
    """State how often answers with the same word were right."""
    right, answers, low, high = measured()[cause.confidence]
    return (
        f'"{cause.confidence.capitalize()}" was right in {right} of {answers} foreign outputs that no rule was written '
        f"for (95 % range {share(low)} to {share(high)})."
    )


def _values(cause: Cause) -> Iterator[Value]:
    fault = _FAULT[cause.fault]
    if cause.rule:
        kind = f"{fault} ({cause.rule.nersc_class})" if cause.rule.nersc_class else fault
        yield Value("Class", kind, "documented", note=cause.rule.source)
    else:
        yield Value("Class", fault, None, note="no rule matches the message")
    yield Value("Evidence", cause.count, "documented", note="counted in your text")
    if cause.fields:
        where = "; ".join(f"{label}: {value}" for label, value in _labelled(cause))
        yield Value("Read from these lines", where, "documented", note="as printed in your text")


def _labelled(cause: Cause) -> list[tuple[str, str]]:
    """Return the fields of a cause by their display names."""
    return [(_LABELS.get(name, name.replace("_", " ").capitalize()), value) for name, value in cause.fields.items()]


def _ticket(diagnosis: Diagnosis, cause: Cause) -> Snippet:
    quoted = [(_place(diagnosis, hit), hit.text) for hit in cause.hits[:HITS_OF_A_CAUSE]]
    lines = [f"{label}: {value}" for label, value in (*_labelled(cause), *quoted)]
    text = "\n".join([f"{cause.title} [{cause.code}], {cause.confidence}", *lines])
    return Snippet("For a ticket", text, "It quotes your text: read it before you send it.")


def _tables(diagnosis: Diagnosis, cause: Cause | None) -> Iterator[Table]:
    if diagnosis.evidence.messages:
        yield _messages(diagnosis)
    if diagnosis.ranked:
        yield _candidates(diagnosis)
    # For a certain cause, the marked lines are enough.
    if diagnosis.evidence.suspicious and not (cause and cause.confidence in ("certain", "likely")):
        yield _unknown(diagnosis)


def _messages(diagnosis: Diagnosis) -> Table:
    """Return the messages in order; if there are many, those relevant to the cause."""
    confidence = {cause.code: cause.confidence for cause in diagnosis.causes} if diagnosis.verdict == "cause" else {}
    found = [(message, part_of(diagnosis, message)) for message in diagnosis.evidence.in_order]
    counting = ("cause", "explained", "runner-up")
    kept = sorted(found, key=lambda row: counting.index(row[1]) if row[1] in counting else len(counting))[:_MAX_ROWS]
    rows = [row for row in found if row in kept]
    of = f", {len(rows)} of {len(found):,}" if len(rows) < len(found) else ""
    marked = tuple(at for at, (_, part) in enumerate(rows) if part == "cause")
    return table(
        f"Messages in the text, in order{of}",
        rows,
        {
            "Message": lambda row: row[0].rule.code,
            "Meaning": lambda row: row[0].rule.title,
            "Part": lambda row: row[1],
            "Confidence": lambda row: confidence.get(row[0].rule.code),
            "Lines": lambda row: row[0].count,
            "First line": lambda row: _place(diagnosis, row[0].hits[0]),
        },
        marked=marked,
        marked_label="the cause" if marked else "",
    )


def _candidates(diagnosis: Diagnosis) -> Table:
    """Return the lines that read most like the cause, without the rules."""
    return table(
        "All lines, ranked without the rules by how much each reads like the cause",
        diagnosis.ranked[:_MAX_ROWS],
        {
            "Share": lambda one: round(one.share, 3),
            "Lines": lambda one: one.occurrences,
            "First line": lambda one: f"{diagnosis.evidence.files[one.file].name}:{one.line}",
            "Text": lambda one: one.text[:LINE_LENGTH],
        },
    )


def _unknown(diagnosis: Diagnosis) -> Table:
    groups = diagnosis.evidence.suspicious
    return table(
        f"Suspicious lines that match no rule, {min(len(groups), _MAX_ROWS)} of {count(len(groups), 'kind')}",
        groups[:_MAX_ROWS],
        {
            "Lines": lambda group: group.count,
            "Reads like": lambda group: _SUSPICIONS[group.suspicion],
            "Kind": lambda group: group.template[:_MAX_TEMPLATE],
            "First line": lambda group: _place(diagnosis, group.first),
            "Text": lambda group: group.first.text[:LINE_LENGTH],
        },
    )


def _facts(diagnosis: Diagnosis, cause: Cause | None) -> Facts:
    """Return the facts; the rest is the contract of `hopper diagnose --json`."""
    named: dict[str, Any] = {
        "verdict": diagnosis.verdict,
        "code": cause and cause.code,
        "confidence": cause and cause.confidence,
        "fault": cause and cause.fault,
        "line": cause and cause.hits[0].line,
        "explains": sorted(cause.explains) if cause else [],
        "or_line": diagnosis.alternative and diagnosis.alternative.hits[0].line,
        "runner_up": diagnosis.causes[1].code if cause and len(diagnosis.causes) > 1 else None,
        "message_codes": sorted(diagnosis.evidence.messages),
        "unknown_kinds": len(diagnosis.evidence.unknown),
        "lines_read": diagnosis.evidence.lines_read,
    }
    if cause:
        named |= {name: cause.fields.get(name) for name in _LOCATIONS}
    return Facts(named, rest=diagnosis.to_dict)


QUESTION = ask.declared(
    Given,
    answer,
    title="What went wrong?",
    examples={
        "Memory ran out": {
            "log": _sample("out-of-memory"),
            "errors": "",
            "launch": "aprun -n 384 ./a.out",
            "machine": "hopper",
        },
        "A node failed": {"log": _sample("node-failed"), "errors": "", "launch": ""},
        "The launch line requests more than the job has": {
            "log": _sample("claim-exceeded"),
            "errors": "",
            "launch": "#PBS -l mppwidth=48\naprun -n 96 ./chombo inputs",
            "machine": "hopper",
        },
        "Loud network errors, quiet cause": {"log": _sample("quiet-cause"), "errors": "", "launch": ""},
        "Memory under Slurm": {"log": _sample("slurm-out-of-memory"), "errors": "", "launch": ""},
        "Two files of one job": {"log": _sample("half-of-the-story"), "errors": _MISSING_LIBRARY, "launch": ""},
        "Half of the story": {"log": _sample("half-of-the-story"), "errors": "", "launch": ""},
        "A job that succeeded": {"log": _sample("succeeded"), "errors": "", "launch": ""},
    },
)
