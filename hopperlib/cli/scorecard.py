"""``hopper scorecard``: the question, and the table in the form of its data file."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail
from hopperlib.cli.question import question_command, show
from hopperlib.documented.data_files import rows
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
    found = {row["id"] for row in (result.facts or {})["rows"]}
    kept = [row for row in rows("scorecard.csv") if row["id"] in found]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(kept[0] if kept else ())
    writer.writerows(row.values() for row in kept)


command = question_command(
    load("scorecard"),
    extra=(click.Option(["--csv", "as_csv"], is_flag=True, default=None, help="Print rows as data/scorecard.csv."),),
    run=_run,
    examples=_EXAMPLES,
)
