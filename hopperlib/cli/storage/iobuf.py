"""``hopper iobuf``: a setting of IOBUF_PARAMS checked, or written for files."""

from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import read_source
from hopperlib.cli.question import answer, question_command
from hopperlib.errors import InputError
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for PARAMS, from standard input for ``-``, or for a setting that suits the files."""
    params, patterns = values.pop("params", None), values.pop("patterns")
    if (params is None) == (not patterns):
        raise InputError("give either PARAMS or --files: one setting to check, or files to write one for")
    if params == "-":
        params = read_source("-", what="IOBUF_PARAMS", as_json=as_json).strip()
    elif params is None:
        params = _written(patterns, reading=values.get("direction") == "read")
    answer(question, {**values, "params": params}, as_json, show_all)


def _written(patterns: tuple[str, ...], *, reading: bool) -> str:
    """Return a setting for files."""
    from hopperlib.storage.iobuf.params import suited_rule, write_params

    try:
        return write_params([suited_rule(pattern, reading=reading) for pattern in patterns])
    except ValueError as error:
        raise InputError(str(error), name="--files") from error


iobuf = question_command(
    load("iobuf"),
    _run,
    # Nothing is taken for granted: calls of unknown size, any file, a task on every core of the machine.
    starting={"transfer_bytes": 0, "file": "", "tasks_per_node": 0},
    left_out=("params",),
    parameters=[
        click.Argument(["params"], required=False, metavar="[PARAMS|-]"),
        click.Option(
            ["--files", "patterns"],
            multiple=True,
            metavar="PATTERN",
            help="Write a setting for these files; may be repeated.",
        ),
    ],
    lines="""
hopper iobuf '*.dat:size=2M:count=2' --transfer 10000 --direction read
hopper iobuf --files 'plt*' --files '%stdout' --transfer 64k --json
""",
)
