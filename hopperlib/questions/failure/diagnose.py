"""Question: paste a job's output, read its cause. The text stays on the page."""

from __future__ import annotations

import json

from hopperlib.errors import InputError
from hopperlib.failure.diagnosis.context import Context, read_context
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.failure import diagnosis_parts as parts
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import Download, Result

__all__ = ["QUESTION"]


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
        raise InputError(str(error), name="record") from error


def _answer(*, log: str, errors: str, launch: str, machine: str, record: str) -> Result:
    """Answer for the output of one job."""
    context = _context(launch, machine, record)
    given = [("output", log)]
    if errors:
        given.append(("errors", errors))
    found = diagnose(given, context=context)
    if context and context.record:
        given.append(("sacct", context.record.text.decode(errors="replace")))
    made_up = Finding(code="made-up", message="This text is made up: paste or drop your own.", level="note")
    return Result(
        summary=parts.summary(found),
        findings=(*parts.notices(found), *((made_up,) if is_sample(QUESTION, "log", log) else ())),
        values=tuple(parts.values(found)),
        copyables=tuple(parts.copyables(found)),
        listings=tuple(parts.listings(found, given)),
        tables=tuple(parts.tables(found)),
        downloads=(
            Download(name="diagnosis.json", text=json.dumps(found.to_dict(), indent=2), media_type="application/json"),
        ),
        facts=parts.facts(found),
    )


QUESTION = declared(__name__, _answer)
