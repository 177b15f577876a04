"""``hopper questions``: the questions there are, each of them a command, an explorer and a Python function."""

from __future__ import annotations

import click

from hopperlib.cli.common import print_json

__all__ = ["command"]


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
