"""``hopper build``: what is loaded comes from a file, from standard input, or from this shell's LOADEDMODULES."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import print_rule, print_rules, read_source
from hopperlib.cli.question import answer, question_command
from hopperlib.failure.builds.rules import BuildRule, build_rule, load_build_rules
from hopperlib.questions.failure.build import QUESTION

if TYPE_CHECKING:
    from hopperlib.questions.question import Question


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer, or list or explain the rules."""
    if values.get("list_rules"):
        print_rules(
            [_rule_data(rule) for rule in load_build_rules()], ("code", "era", "level", "title"), as_json=as_json
        )
        return
    if values.get("explain"):
        print_rule(_rule_data(build_rule(values["explain"])), as_json=as_json)
        return
    line, file, loaded = values.get("line", ""), values.get("modules"), os.environ.get("LOADEDMODULES", "")
    if not line and file is None and not loaded:
        raise click.UsageError("give a compile or link line, --modules, or both")
    # What this shell has loaded counts where no file says otherwise.
    modules = f"LOADEDMODULES={loaded}" if loaded else ""
    if file is not None:
        modules = read_source(file, what="modules", as_json=as_json, max_bytes=1_000_000)
    choices = {name: _choice(values.get(name)) for name in ("mixed", "shmem")}
    answer(question, {"line": line, "modules": modules, **choices}, as_json, show_all)


def _choice(flag: bool | None) -> str:
    """Return a flag as the option of its control."""
    return "line" if flag is None else "yes" if flag else "no"


def _rule_data(rule: BuildRule) -> dict[str, Any]:
    """Return a rule as plain data."""
    return rule.to_dict() | {"example": asdict(rule.positive)}


build = question_command(
    QUESTION,
    _run,
    left_out=("line", "modules", "mixed", "shmem"),
    parameters=[
        click.Argument(["line"], required=False, default=""),
        click.Option(["--modules"], metavar="FILE", help="What is loaded; - for standard input."),
        click.Option(["--mixed/--not-mixed"], default=None, help="C or C++ is linked with Fortran I/O, or is not."),
        click.Option(["--shmem/--no-shmem"], default=None, help="The program uses SHMEM, or does not."),
        click.Option(["--list", "list_rules"], is_flag=True, help="List all problems that are known."),
        click.Option(["--explain"], metavar="CODE", help="Print all that is known of one problem."),
    ],
    lines="""
hopper build 'ftn -dynamic -o solver solver.o'
module list 2>&1 | hopper build --modules - 'cc -mp=nonuma -o hybrid hybrid.c'
hopper build --modules job.sh --mixed 'CC -o coupled main.o ocean.o'
hopper build --explain LIBSCI-DYNAMIC-FFTW3
""",
)
