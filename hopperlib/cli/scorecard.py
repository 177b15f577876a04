"""``hopper scorecard``: the question, and its rows as CSV."""

import csv
import sys
from typing import Any

import click

from hopperlib.cli.common import fail
from hopperlib.cli.question import question_command, show
from hopperlib.data_files import rows
from hopperlib.questions.question import Question, load


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; as CSV, print every row that was found."""
    as_csv = values.pop("as_csv", None)
    if as_csv and as_json:
        fail("--json and --csv are two forms of one thing; give one of them", as_json=True)
    result = question.run(**values)
    if not as_csv:
        show(question.name, result, as_json, show_all)
        return
    shown_ids = {row["id"] for row in (result.facts or {})["rows"]}
    kept = [row for row in rows("scorecard.csv") if row["id"] in shown_ids]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(kept[0] if kept else ())
    writer.writerows(row.values() for row in kept)


scorecard = question_command(
    load("scorecard"),
    _run,
    parameters=[click.Option(["--csv", "as_csv"], is_flag=True, help="Print rows as data/scorecard.csv.")],
    lines="""
hopper scorecard --study memory
hopper scorecard --verdict "missed, explained" --all
hopper scorecard --json
""",
)
