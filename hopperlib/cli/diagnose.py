"""``hopper diagnose``: the question for files of any size, and the rules behind it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from hopperlib.cli.common import fail, print_rule, print_rules, read_source
from hopperlib.cli.question import question_command, show
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.failure.messages.rules import Rule
    from hopperlib.questions.question import Question
    from hopperlib.questions.result import Result

__all__ = ["command"]

# From this size on a file gets a progress bar. [bytes]
_WORTH_A_BAR = 100_000_000

# Lines of a short answer: quoted, of advice, and notes about the files. With the sentence and the last line they are twelve.
_QUOTED, _STEPS, _NOTES = 4, 4, 2

_EXAMPLES = """hopper diagnose job.out job.err
hopper diagnose - --launch job.pbs --machine hopper < job.out
hopper diagnose job.out --sacct record.txt --job 4711 --json"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for the files of a job, which are read as streams; or list or explain the rules."""
    from hopperlib.failure.diagnosis.diagnosis import diagnose
    from hopperlib.failure.messages.rules import load_rules, rule
    from hopperlib.questions.failure.diagnose import context_of, result_of
    from hopperlib.render.text import printable

    if values.pop("list_rules", None):
        rules = [_rule_dict(known) for known in sorted(load_rules(), key=lambda known: known.code)]
        print_rules(rules, ("code", "role", "class", "title"), as_json=as_json)
    elif values.get("explain"):
        print_rule(_rule_dict(rule(values["explain"])), as_json=as_json)
    else:
        files, record = values.get("files", ()), values.get("record", "")
        if not files and not record:
            raise click.UsageError("give the files of the job, or - for standard input")
        launch, machine = values.get("launch", ""), values.get("machine", "hopper")
        if "\n" not in launch and launch and Path(launch).is_file():
            launch = read_source(launch, what="job script", as_json=as_json)
        settings = question.read({"launch": launch, "record": record, "machine": machine})
        context = context_of(settings["launch"], settings["machine"], record, values.get("job"))
        with ExitStack() as stack:
            names = ("standard input" if file == "-" else file for file in files)
            sources = [
                (printable(name).replace("\n", "\ufffd"), stack.enter_context(_opened(file, as_json)))
                for name, file in zip(names, files, strict=True)
            ]
            found = diagnose(sources, context=context)
        result = result_of(found)
        if as_json or show_all:
            show(question, result, as_json, show_all)
        else:
            click.echo("\n".join(printable(line) for line in _brief(result)))
        raise SystemExit(1 if found.verdict == "cause" else 0)


def _brief(result: Result) -> Iterator[str]:
    """Yield at most twelve lines: those that matter, what they mean, what to do, and how to have the rest."""
    quoted = [
        (
            line.number != (result.facts or {}).get("line"),
            f"{listing.title.split(': ')[0]}:{line.number}: {line.text.strip()}",
        )
        for listing in result.listings
        for line in listing.lines
        if line.mark == "cause"
    ]
    yield from (text for _, text in sorted(quoted, key=lambda line: line[0])[:_QUOTED])
    yield result.summary.replace("`", "")
    steps = [finding for finding in result.findings if finding.level == "advice"]
    yield from (finding.message.replace("`", "") for finding in steps[:_STEPS])
    yield from [finding.message for finding in result.findings if finding.code == "text"][:_NOTES]
    yield "(--verbose prints the rest: notes, all messages of the text, suspicious lines, a text for a ticket)"


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
            if size < _WORTH_A_BAR or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
                yield stream
                return
            from rich.console import Console
            from rich.progress import wrap_file

            from hopperlib.render.text import printable

            with wrap_file(
                stream, size, description=printable(path.name), console=Console(stderr=True), transient=True
            ) as shown:
                yield shown
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror or error}", as_json=as_json)


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
        "sample": rule.sample,
    }


command = question_command(
    load("diagnose"),
    extra=(
        click.Argument(["files"], nargs=-1, metavar="[FILE]..."),
        click.Option(["--job"], metavar="ID", help="The job in --sacct; the last one by default."),
        click.Option(["--list", "list_rules"], is_flag=True, default=None, help="List all messages that are known."),
        click.Option(["--explain"], metavar="CODE", help="Say all that is known of one message."),
    ),
    run=_run,
    left_out=("log", "errors"),
    examples=_EXAMPLES,
)
