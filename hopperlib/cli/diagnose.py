"""``hopper diagnose``: the cause of a failure out of a job's output."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from hopperlib.cli.common import fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.failure.diagnosis.causes import Cause
    from hopperlib.failure.diagnosis.context import Context
    from hopperlib.failure.diagnosis.diagnosis import Diagnosis
    from hopperlib.failure.messages.rules import Rule

__all__ = ["command"]

_HELP = """Find the cause of a failure in a job's output.

Give all files of the job together, in any order: stdout, stderr, the program's log, the scheduler's record; compressed
ones are unpacked. With - the text comes from standard input. Any size is read in little memory; of a line the first
64 KiB count. What is known beside the output turns advice into numbers:

\b
  hopper diagnose job.out job.err
  hopper diagnose slurm-4231907.out --sacct record.txt
  hopper diagnose job.e1925046 --machine hopper --launch 'aprun -n 384 ./vasp'
  sacct -P -j 4231907 -l | hopper diagnose -
  hopper diagnose --explain ALPS-OOM

Exit status: 1 a cause was found, 0 none was or the job succeeded, 2 bad input.
"""

# A file smaller than this is read before a bar would be seen. [bytes]
_WORTH_A_BAR = 100_000_000
_QUOTED_LINES = 3
_UNKNOWN_SHOWN = 6


@click.command(name="diagnose", help=_HELP, short_help="Find the cause of a failure in a job's output.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--launch", metavar="LINE", help="The launch line, or the path of the job script.")
@click.option(
    "--machine",
    "machine_name",
    metavar="NAME",
    help="Machine it ran on: a name out of `hopper machine list` or a path.",
)
@click.option("--sacct", "sacct_file", metavar="FILE", help="Output of sacct for the job.")
@click.option("--job", metavar="ID", help="The job in --sacct; the last one by default.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@click.option("--list", "list_rules", is_flag=True, help="List all messages that are known.")
@click.option("--explain", metavar="CODE", help="Say all that is known of one message.")
def command(
    files: tuple[str, ...],
    launch: str | None,
    machine_name: str | None,
    sacct_file: str | None,
    job: str | None,
    as_json: bool,
    list_rules: bool,
    explain: str | None,
) -> None:
    """Run the command."""
    if list_rules:
        _list(as_json)
        return
    if explain:
        _explain(explain, as_json)
        return
    if not files and not sacct_file:
        raise click.UsageError("give the files of the job, or - for standard input")
    from hopperlib.failure.diagnosis.diagnosis import diagnose

    context = _context(launch, machine_name, sacct_file, job, as_json)
    with ExitStack() as stack:
        sources = [(_name(file), stack.enter_context(_opened(file, as_json))) for file in files]
        found = diagnose(sources, context=context)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    sys.exit(1 if found.verdict == "cause" else 0)


def _name(file: str) -> str:
    """Return what a file is called in the answer."""
    return "standard input" if file == "-" else file


@contextmanager
def _opened(file: str, as_json: bool) -> Iterator[BinaryIO]:
    """Open a file, with a progress bar if it is large and somebody watches."""
    if file == "-":
        yield sys.stdin.buffer
        return
    path = Path(file)
    try:
        if path.is_dir():
            fail(f"cannot read {file}: it is a directory", as_json=as_json)
        size = path.stat().st_size
        with path.open("rb") as stream:
            if size < _WORTH_A_BAR or not sys.stderr.isatty():
                yield stream
                return
            from rich.console import Console
            from rich.progress import wrap_file

            with wrap_file(stream, size, description=path.name, console=Console(stderr=True), transient=True) as shown:
                yield shown
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror or error}", as_json=as_json)


def _context(
    launch: str | None, machine_name: str | None, sacct_file: str | None, job: str | None, as_json: bool
) -> Context | None:
    """Read what is known beside the output."""
    if launch is None and machine_name is None and sacct_file is None:
        return None
    from hopperlib.failure.diagnosis.context import read_context
    from hopperlib.machine import Machine, MachineError

    machine = None
    if launch is not None or machine_name is not None:
        try:
            machine = Machine.load(machine_name or "hopper")
        except MachineError as error:
            fail(str(error), as_json=as_json, details={"flag": "--machine"})
    if launch is not None and "\n" not in launch and Path(launch).is_file():
        launch = read_source(launch, what="job script")
    record = read_source(sacct_file, what="record") if sacct_file else None
    try:
        return read_context(launch=launch, machine=machine, sacct=record, job=job)
    except ValueError as error:
        fail(str(error), as_json=as_json)


def _list(as_json: bool) -> None:
    """Print all rules, one line each."""
    from hopperlib.failure.messages.rules import load_rules

    rules = sorted(load_rules(), key=lambda rule: rule.code)
    if as_json:
        print_json({"rules": [_rule_dict(rule) for rule in rules]})
        return
    width = max(len(rule.code) for rule in rules)
    for rule in rules:
        click.echo(f"{rule.code:{width}}  {rule.role:7}  {rule.fault:6}  {rule.title}")


def _explain(code: str, as_json: bool) -> None:
    """Print one rule."""
    from hopperlib.failure.messages.rules import rule as rule_of

    try:
        rule = rule_of(code)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    if as_json:
        print_json(_rule_dict(rule))
        return
    click.secho(f"{rule.code}: {rule.title}", bold=True)
    strength = f" ({rule.strength})" if rule.role == "cause" else ""
    nersc = f", NERSC's class {rule.nersc_class}" if rule.nersc_class else ""
    click.echo(f"role {rule.role}{strength}, class {rule.fault}{nersc}; who acts: {rule.who}")
    _paragraph("reads", rule.positive[0])
    if rule.explains:
        _paragraph("explains", ", ".join(link.code for link in rule.explains))
    if rule.explained_by:
        _paragraph("is explained by", ", ".join(link.code for link in rule.explained_by))
    if rule.requires:
        _paragraph("counts only with", ", ".join(rule.requires))
    _steps("what to do", rule.advice)
    _paragraph("to confirm", rule.confirm)
    _paragraph("source", rule.source)


def _rule_dict(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain data."""
    return {
        "code": rule.code,
        "title": rule.title,
        "class": rule.fault,
        "nersc_class": rule.nersc_class,
        "role": rule.role,
        "strength": rule.strength,
        "who": rule.who,
        "example": rule.positive[0],
        "explains": [link.code for link in rule.explains],
        "explained_by": [link.code for link in rule.explained_by],
        "requires": list(rule.requires),
        "advice": list(rule.advice),
        "confirm": rule.confirm,
        "source": rule.source,
    }


def _print(found: Diagnosis) -> None:
    """Print a diagnosis for people."""
    if found.verdict == "succeeded":
        click.secho("This job succeeded.", bold=True)
    elif found.verdict == "no-cause":
        click.secho("No cause in this text.", bold=True)
        _steps("look next", found.next)
    for place, cause in enumerate(found.causes):
        if place == 0:
            _print_cause(found, cause)
        elif place == 1:
            files = found.evidence.files
            where = f"{files[cause.hits[0].file].name}:{cause.hits[0].line}"
            _paragraph("runner-up", f"{cause.code} ({cause.confidence}): {cause.title}; {where}")
    _print_messages(found)
    for note in found.notes:
        _paragraph("note", note)
    lines = found.evidence.lines_read
    click.echo(f"{lines:,} line{'' if lines == 1 else 's'} read.")


def _print_cause(found: Diagnosis, cause: Cause) -> None:
    """Print the likeliest cause."""
    from hopperlib.failure.diagnosis.causes import CONFIDENCE

    click.secho(f"{cause.title} [{cause.code}]", bold=True)
    rule = cause.rule
    nersc = f" ({rule.nersc_class})" if rule and rule.nersc_class else ""
    _paragraph("confidence", f"{cause.confidence}: {CONFIDENCE[cause.confidence]}")
    _paragraph("class", f"{cause.fault}{nersc}; who acts: {rule.who if rule else 'user'}")
    for hit in cause.hits[:_QUOTED_LINES]:
        click.secho(f"  {found.evidence.files[hit.file].name}:{hit.line}: ", nl=False, dim=True)
        click.secho(hit.text, fg="red")
    if cause.count > min(len(cause.hits), _QUOTED_LINES):
        click.echo(f"  ... {cause.count:,} such lines in all")
    if cause.fields:
        _paragraph("known", ", ".join(f"{name} {value}" for name, value in cause.fields.items()))
    if cause.explains:
        click.echo("explains:")
        for code in cause.explains:
            click.echo(f"  {code}, {_times(found, code)}")
    _steps("what to do", cause.advice)
    _paragraph("to confirm", cause.confirm)


def _times(found: Diagnosis, code: str) -> str:
    """Return how often a message stands in the text, and where first."""
    finding = found.evidence.messages[code]
    hit = finding.hits[0]
    lines = "1 line" if finding.count == 1 else f"{finding.count:,} lines"
    return f"{lines}, first {found.evidence.files[hit.file].name}:{hit.line}"


def _print_messages(found: Diagnosis) -> None:
    """Print what was found beside the causes: symptoms nobody explains, unknown lines."""
    explained = {code for cause in found.causes for code in (cause.code, *cause.explains)}
    for code, finding in found.evidence.messages.items():
        if code not in explained and finding.rule.role in ("symptom", "cascade"):
            _paragraph("seen", f"{code}: {finding.rule.title}; {_times(found, code)}")
        elif code in found.set_aside:
            _paragraph("set aside", f"{code}: {finding.rule.title}; {finding.rule.confirm}")
    unknown = found.evidence.unknown
    if unknown:
        click.echo(
            f"suspicious lines that no rule knows: {sum(group.count for group in unknown):,} of {len(unknown)} kinds"
        )
        for group in unknown[:_UNKNOWN_SHOWN]:
            name = found.evidence.files[group.first.file].name
            click.echo(f"  {group.count:6,} x  {name}:{group.first.line}: {group.first.text}")
        if len(unknown) > _UNKNOWN_SHOWN:
            click.echo(f"  ... {len(unknown) - _UNKNOWN_SHOWN} more kinds; --json lists them")


def _paragraph(title: str, text: str) -> None:
    """Print a wrapped paragraph with its title."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    click.echo(
        textwrap.fill(
            f"{title}: {text}", width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    )


def _steps(title: str, steps: list[str] | tuple[str, ...]) -> None:
    """Print numbered steps."""
    if not steps:
        return
    click.echo(f"{title}:")
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    for number, step in enumerate(steps, 1):
        filled = textwrap.fill(
            step,
            width,
            initial_indent=f"  {number}. ",
            subsequent_indent="     ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        click.echo(filled)
