"""``hopper questions``: what ``hopper --help`` lists, or with --json every question with its controls and examples."""

import click

from hopperlib.cli.common import json_option, print_json


@click.command()
@json_option
@click.pass_context
def questions(context: click.Context, as_json: bool) -> None:
    """List the questions that can be asked, as `hopper --help` does.

    With --json they are printed as data, controls and examples included.
    """
    from hopperlib.questions.catalogue import QUESTIONS
    from hopperlib.questions.question import load

    if as_json:
        print_json({"questions": [load(name).to_dict() for name in QUESTIONS]})
    elif context.parent:
        click.echo(context.parent.get_help())
