"""``hopper iobuf``: a setting of IOBUF_PARAMS checked."""

from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import read_source
from hopperlib.cli.question import answer, question_command
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for PARAMS, from standard input for ``-``."""
    if values["params"] == "-":
        values["params"] = read_source("-", what="IOBUF_PARAMS", as_json=as_json).strip()
    answer(question, values, as_json, show_all)


iobuf = question_command(
    load("iobuf"),
    _run,
    # Nothing is taken for granted: calls of unknown size, a task on every core of the machine.
    starting={"transfer_bytes": 0, "tasks_per_node": 0},
    left_out=("params",),
    parameters=[click.Argument(["params"], metavar="PARAMS|-")],
    lines="""
hopper iobuf '*.dat:size=2M:count=2' --transfer 10000 --direction read
hopper iobuf '*:verbose,%stdout:size=64k' --transfer 64k --json
""",
)
