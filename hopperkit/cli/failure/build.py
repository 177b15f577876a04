"""``hopper build``: loaded modules come from a file, from standard input, or from this shell's LOADEDMODULES."""

import os
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.common import read_source
from hopperkit.cli.question import answer, question_command
from hopperkit.questions.failure.build import QUESTION

if TYPE_CHECKING:
    from hopperkit.questions.question import Question


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for the loaded modules and the link line."""
    line, file, loaded = values.pop("line", ""), values.pop("modules", None), os.environ.get("LOADEDMODULES", "")
    if not line and file is None and not loaded:
        raise click.UsageError("give a compile or link line, --modules, or both")
    # This shell's modules are used unless a file lists others.
    modules = f"LOADEDMODULES={loaded}" if loaded else ""
    if file is not None:
        modules = read_source(file, what="modules", as_json=as_json, max_bytes=1_000_000)
    answer(question, {"line": line, "modules": modules, **values}, as_json, show_all)


build = question_command(
    QUESTION,
    _run,
    left_out=("line", "modules"),
    parameters=[
        click.Argument(["line"], required=False, default=""),
        click.Option(["--modules"], metavar="FILE", help="What is loaded; - for standard input."),
    ],
    lines="""
hopper build 'ftn -dynamic -o solver solver.o'
module list 2>&1 | hopper build --modules - 'cc -mp=nonuma -o hybrid hybrid.c'
hopper build --modules job.sh --mixed yes 'CC -o coupled main.o ocean.o'
""",
)
