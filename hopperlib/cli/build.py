"""``hopper build``: the question for what this shell has loaded, and the rules behind it."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import print_rule, print_rules, read_source
from hopperlib.cli.question import answer, question_command
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["command"]

_EXAMPLES = """hopper build 'ftn -dynamic -o solver solver.o'
module list 2>&1 | hopper build --modules - 'cc -mp=nonuma -o hybrid hybrid.c'
hopper build --modules job.sh --mixed 'CC -o coupled main.o ocean.o'
hopper build --explain LIBSCI-DYNAMIC-FFTW3"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; what is loaded comes from a file, from standard input, or from this shell's LOADEDMODULES."""
    from hopperlib.failure.builds.rules import build_rule, load_build_rules

    if values.get("list_rules"):
        rules = [rule.to_dict() | {"example": asdict(rule.positive)} for rule in load_build_rules()]
        print_rules(rules, ("code", "era", "level", "title"), as_json=as_json)
        return
    if values.get("explain"):
        rule = build_rule(values["explain"])
        print_rule(rule.to_dict() | {"example": asdict(rule.positive)}, as_json=as_json)
        return
    line, file, loaded = values.get("line", ""), values.get("modules"), os.environ.get("LOADEDMODULES", "")
    if not line and file is None and not loaded:
        raise click.UsageError("give a compile or link line, --modules, or both")
    modules = f"LOADEDMODULES={loaded}" if loaded else ""
    if file is not None:
        modules = read_source(file, what="modules", as_json=as_json, max_bytes=1_000_000)
    said = {None: "line", True: "yes", False: "no"}
    settings = {name: said[values.get(name)] for name in ("mixed", "shmem")}
    answer(question, {"line": line, "modules": modules, **settings}, as_json, show_all)


command = question_command(
    load("build"),
    extra=(
        click.Argument(["line"], required=False, default=""),
        click.Option(["--modules"], metavar="FILE", help="What is loaded; - for standard input."),
        click.Option(["--mixed/--not-mixed"], default=None, help="C or C++ is linked with Fortran I/O, or is not."),
        click.Option(["--shmem/--no-shmem"], default=None, help="The program uses SHMEM, or does not."),
        click.Option(["--list", "list_rules"], is_flag=True, default=None, help="List all problems that are known."),
        click.Option(["--explain"], metavar="CODE", help="Say all that is known of one problem."),
    ),
    run=_run,
    left_out=("line", "modules", "mixed", "shmem", "era"),
    examples=_EXAMPLES,
)
