"""``hopper torus``: the question, and old options that are now in ``hopper nodes``."""

from typing import Any

import click

from hopperkit.cli.network.nodes import print_nodes
from hopperkit.cli.question import answer, question_command
from hopperkit.questions.question import Question, load

_OF_NODES = ("node", "machine", "as_csv")


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer the question or, if only a floor or nodes are given, print node positions."""
    given = {name: values.pop(name) for name in _OF_NODES if name in values}
    of_nodes = {name: value for name, value in given.items() if value != () and value is not False}
    if values or not of_nodes:
        answer(question, values, as_json, show_all)
    else:
        print_nodes(**of_nodes, as_json=as_json)


torus = question_command(
    load("torus"),
    _run,
    parameters=[
        click.Argument(["node"], nargs=-1, metavar=""),
        click.Option(["--machine"], hidden=True),
        click.Option(["--csv", "as_csv"], is_flag=True, hidden=True),
    ],
    lines="""
hopper torus --nodes 342 --order xyz
hopper nodes --machine hopper c6-3c1s5n1 449
""",
)
