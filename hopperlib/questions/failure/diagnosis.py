"""Explorer: paste a job's output, read its cause. The text stays on the page."""

from __future__ import annotations

import json
from dataclasses import replace

from hopperlib.failure.diagnosis.context import Context, read_context
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.machine import Machine
from hopperlib.questions.controls import FileText, InputError, Text
from hopperlib.questions.explorer import Example, Explorer
from hopperlib.questions.failure import diagnosis_parts as parts
from hopperlib.questions.failure import sample_outputs as texts
from hopperlib.questions.machine_choice import machine_control
from hopperlib.questions.result import Download, Notice, Result

__all__ = ["EXPLORER"]

# Larger outputs are for the terminal: `hopper diagnose` reads any size in little memory. [characters]
_LONGEST = 8_000_000

_MADE_UP = frozenset(
    [
        texts.CLAIM,
        texts.GENERIC,
        texts.HALF,
        texts.NODE_FAILED,
        texts.OUT_OF_MEMORY,
        texts.SLURM_OUT_OF_MEMORY,
        texts.SUCCEEDED,
    ]
)


def _context(launch: str, machine: str, record: str) -> Context | None:
    """Return what is known beside the output; None if nothing is."""
    if not launch.strip() and not record.strip():
        return None
    try:
        return read_context(
            launch=launch.strip() or None,
            machine=Machine.load(machine) if launch.strip() else None,
            sacct=record if record.strip() else None,
        )
    except ValueError as error:
        raise InputError(str(error), control="record") from error


def _answer(*, log: str, errors: str, launch: str, machine: str, record: str) -> Result:
    """Answer for the output of one job."""
    context = _context(launch, machine, record)
    given = [("output", log)]
    if errors:
        given.append(("errors", errors))
    found = diagnose(given, context=context)
    if context and context.record:
        given.append(("sacct", context.record.text.decode(errors="replace")))
    made_up = Notice(code="made-up", message="This text is made up: paste or drop your own.", level="note")
    return Result(
        summary=parts.summary(found),
        warnings=(*parts.notices(found), *((made_up,) if log in _MADE_UP else ())),
        values=tuple(parts.values(found)),
        copyables=tuple(parts.copyables(found)),
        listings=tuple(parts.listings(found, given)),
        tables=tuple(parts.tables(found)),
        downloads=(
            Download(name="diagnosis.json", text=json.dumps(found.to_dict(), indent=2), media_type="application/json"),
        ),
        facts=parts.facts(found),
    )


EXPLORER = Explorer(
    name="diagnosis",
    title="What went wrong?",
    question="What made this job fail, who acts, and what is to be done?",
    controls=(
        FileText(
            name="log",
            label="Output of the job",
            default=texts.OUT_OF_MEMORY,
            rows=10,
            max_length=_LONGEST,
            placeholder="Paste what the job printed, or drop the file here",
            help="Paste it, or drop the file. It is read on this page and goes nowhere. The text at the start is made up.",
        ),
        FileText(
            name="errors",
            label="Second file of the same job",
            default="",
            rows=2,
            max_length=_LONGEST,
            help="stderr, where it is a file of its own, or the program's log.",
        ),
        Text(
            name="launch",
            label="Launch line or job script",
            default="",
            rows=2,
            placeholder="aprun -n 384 ./a.out",
            advanced=True,
            help="If you know it: advice then comes with numbers.",
        ),
        replace(
            machine_control(help="Where the launch line ran; without a launch line it changes nothing."), advanced=True
        ),
        FileText(
            name="record",
            label="Scheduler's record",
            default="",
            rows=4,
            advanced=True,
            max_length=1_000_000,
            help="What `sacct -P -l -j` printed for the job.",
        ),
    ),
    answer=_answer,
    examples=(
        Example(
            label="Memory ran out",
            values={"log": texts.OUT_OF_MEMORY, "errors": "", "launch": "aprun -n 384 ./a.out", "machine": "hopper"},
        ),
        Example(label="A node failed", values={"log": texts.NODE_FAILED, "errors": "", "launch": ""}),
        Example(
            label="The launch line asks for more than the job has",
            values={"log": texts.CLAIM, "errors": "", "launch": texts.CLAIM_LINE, "machine": "hopper"},
        ),
        Example(label="Loud network errors, quiet cause", values={"log": texts.GENERIC, "errors": "", "launch": ""}),
        Example(label="Memory under Slurm", values={"log": texts.SLURM_OUT_OF_MEMORY, "errors": "", "launch": ""}),
        Example(label="Two files of one job", values={"log": texts.HALF, "errors": texts.HALF_ERRORS, "launch": ""}),
        Example(label="Half of the story", values={"log": texts.HALF, "errors": "", "launch": ""}),
        Example(label="A job that succeeded", values={"log": texts.SUCCEEDED, "errors": "", "launch": ""}),
    ),
)
