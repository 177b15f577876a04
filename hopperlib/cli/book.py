"""The commands about the book's own tables: ``hopper scorecard``, and ``hopper questions``."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json
from hopperlib.cli.question import show
from hopperlib.documented.data_files import rows

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["command", "scorecard"]


def scorecard(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
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


@click.command(name="questions", short_help="List the questions that can be asked.")
@click.option("--json", "as_json", is_flag=True, help="Print them as data, controls and examples included.")
def command(*, as_json: bool) -> None:
    """List the questions that can be asked; `hopper NAME` answers one, `hopper NAME --help` lists what can be set."""
    from hopperlib.questions.catalogue import QUESTIONS
    from hopperlib.questions.question import load

    questions = [load(name) for name in QUESTIONS]
    if as_json:
        print_json({"questions": [question.to_dict() for question in questions]})
        return
    width = max(len(question.name) for question in questions)
    for question in questions:
        click.echo(f"{question.name:<{width}}  {question.question}")
