"""``hopper scorecard``: the question, and the table in the form of its data file."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail
from hopperlib.cli.question import question_command, show
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["command"]

_EXAMPLES = """hopper scorecard --study memory
hopper scorecard --verdict "missed, explained" --all
hopper scorecard --json"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; as CSV, print every row that was found."""
    as_csv = values.pop("as_csv", None)
    if as_csv and as_json:
        fail("--json and --csv are two forms of one thing; give one of them", as_json=True)
    result = question.run(**values)
    if not as_csv:
        show(question, result, as_json, show_all)
        return
    rows = (result.facts or {})["rows"]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    for row in rows:
        writer.writerow(
            "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row.values()
        )


command = question_command(
    load("scorecard"),
    extra=(click.Option(["--csv", "as_csv"], is_flag=True, default=None, help="Print rows as data/scorecard.csv."),),
    run=_run,
    examples=_EXAMPLES,
)
