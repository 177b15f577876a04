"""``hopper build``: known problems of a build, from what is loaded and the link line."""

from __future__ import annotations

import os
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.failure.builds.known_problems import KnownProblem, Repaired
    from hopperlib.failure.builds.rules import BuildRule

__all__ = ["command"]

_HELP = """Name the known problems of a build, and the way out, from what is loaded and the compile or link line.

What is loaded comes from --modules: a file, or - for standard input, with what `module list` prints, the module lines of
a script, or variables. Without it the variable LOADEDMODULES of this shell counts. The line is read, and never run.

\b
  hopper build 'ftn -dynamic -o solver solver.o'
  module list 2>&1 | hopper build --modules - 'cc -mp=nonuma -o hybrid hybrid.c'
  hopper build --modules job.sh --mixed 'CC -o coupled main.o ocean.o'
  hopper build --explain LIBSCI-DYNAMIC-FFTW3

Exit status: 1 a known problem was found, 0 none was (possible ones are printed), 2 bad input.
"""


@click.command(name="build", help=_HELP, short_help="Known problems of a build, and the way out.")
@click.argument("line", required=False, default="")
@click.option("--modules", "modules_file", metavar="FILE", help="What is loaded; - for standard input.")
@click.option("--mixed/--not-mixed", default=None, help="C or C++ is linked with Fortran that does I/O, or is not.")
@click.option("--shmem/--no-shmem", default=None, help="The program uses SHMEM, or does not.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@click.option("--list", "list_rules", is_flag=True, help="List all problems that are known.")
@click.option("--explain", metavar="CODE", help="Say all that is known of one problem.")
def command(
    line: str,
    modules_file: str | None,
    mixed: bool | None,
    shmem: bool | None,
    as_json: bool,
    list_rules: bool,
    explain: str | None,
) -> None:
    """Answer ``hopper build``."""
    if list_rules:
        _list(as_json)
        return
    if explain:
        _explain(explain, as_json)
        return
    loaded = os.environ.get("LOADEDMODULES", "")
    if not line and modules_file is None and not loaded:
        raise click.UsageError("give a compile or link line, --modules, or both")
    from hopperlib.failure.builds.known_problems import check_build, read_build, repaired

    text = f"LOADEDMODULES={loaded}" if modules_file is None and loaded else ""
    if modules_file is not None:
        text = read_source(modules_file, what="modules", max_bytes=1_000_000)
    try:
        build = read_build(text, line, mixed=mixed, shmem=shmem)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    found, done = check_build(build), repaired(build)
    if as_json:
        print_json(
            {
                "modules": [module.text for module in build.environment.modules],
                "compiler": build.compiler,
                "linking": build.linking,
                "findings": [one.to_dict() for one in found],
                "repair": {"commands": list(done.commands), "line": done.build.line.text, "left": list(done.left)},
                "unread": list(build.environment.unread),
            }
        )
    else:
        if build.environment.unread:
            first = build.environment.unread[0][:60]
            click.echo(
                f"hopper: lines that name no module: {len(build.environment.unread)}, the first is {first}", err=True
            )
        _print(found, done, changed=bool(done.commands) or done.build.line.text != build.line.text)
    sys.exit(1 if any(one.certainty == "known" and one.rule.level == "problem" for one in found) else 0)


def _paragraph(label: str, text: str) -> None:
    """Print a labelled paragraph."""
    click.echo(textwrap.fill(f"{label}: {text}", width=100, initial_indent="  ", subsequent_indent="    "))


def _history(rule: BuildRule) -> str:
    """Return bug number, days and versions; empty if none is printed."""
    parts = [f"bug {rule.bug}"] if rule.bug else []
    parts += [f"reported {rule.reported}"] if rule.reported else []
    parts += [f"fixed in {rule.fixed_in}"] if rule.fixed_in else []
    parts += [f"released {rule.fixed}"] if rule.fixed else []
    return ", ".join(parts)


def _describe(rule: BuildRule) -> None:
    """Print what is known of a problem."""
    _paragraph("shows when the program runs" if rule.stage == "run" else "shows when you build", rule.symptom)
    for step in rule.advice:
        _paragraph("do", step)
    if history := _history(rule):
        _paragraph("history", history)
    whose = "the report on Hopper" if rule.era == "report" else "ours, for today"
    _paragraph(f"source ({whose})", rule.source)


def _print(found: tuple[KnownProblem, ...], done: Repaired, *, changed: bool) -> None:
    """Print findings and the repaired build."""
    for one in found:
        word = one.certainty if one.rule.level == "problem" else "advice"
        click.secho(f"{word}: {one.rule.title} ({one.rule.code})", bold=True)
        for doubt in one.doubts:
            _paragraph("only possible", doubt)
        _describe(one.rule)
    if not found:
        click.echo("No known problem. That is no promise: only what somebody reported can be known.")
    if changed:
        click.secho("repaired:", bold=True)
        for text in (*done.commands, done.build.line.text):
            if text:
                click.echo(f"  {text}")
        for note in done.notes:
            _paragraph("note", note)
    if done.left:
        click.echo(f"yours to choose: {', '.join(done.left)}")


def _list(as_json: bool) -> None:
    """Print all rules, one line each."""
    from hopperlib.failure.builds.rules import load_build_rules

    rules = load_build_rules()
    if as_json:
        print_json({"rules": [_rule_dict(rule) for rule in rules]})
        return
    width = max(len(rule.code) for rule in rules)
    for rule in rules:
        click.echo(f"{rule.code:{width}}  {rule.era:6}  {rule.level:7}  {rule.title}")


def _explain(code: str, as_json: bool) -> None:
    """Print one rule."""
    from hopperlib.failure.builds.rules import build_rule

    try:
        rule = build_rule(code)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    if as_json:
        print_json(_rule_dict(rule))
        return
    click.secho(f"{rule.code}: {rule.title}", bold=True)
    _describe(rule)
    _paragraph("example", f"{rule.positive.line or '(no line)'}  with  {' '.join(rule.positive.modules.split())}")


def _rule_dict(rule: BuildRule) -> dict[str, Any]:
    """Return a rule as plain data, with its example."""
    return rule.to_dict() | {"example": asdict(rule.positive)}
