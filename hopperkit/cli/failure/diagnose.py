"""``hopper diagnose``: the cause of a failure from a job's files, or the description of one message."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from hopperkit.cli.common import fail, print_json, read_source, write_lines, write_page
from hopperkit.cli.question import question_command, show
from hopperkit.questions.failure.diagnose import QUESTION, context_of, result_of
from hopperkit.render.text import printable
from hopperlib.failure.diagnosis import diagnosis
from hopperlib.failure.messages.rules import Rule, load_rules, rule

if TYPE_CHECKING:
    from hopperkit.questions.question import Question
    from hopperkit.questions.result import Result

# Files of at least this size get a progress bar. [bytes]
_WORTH_A_BAR = 100_000_000

# Maximum lines of a short answer: quotes, advice, and notes about files. With the first and last line, twelve in total.
_QUOTED, _STEPS, _NOTES = 4, 3, 3


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for the files of a job, or list or explain the rules."""
    if values.pop("list_rules", None):
        rules = [_rule_data(known) for known in sorted(load_rules(), key=lambda known: known.code)]
        _print_rules(rules, as_json)
    elif values.get("explain"):
        _print_rule(_rule_data(rule(values["explain"])), as_json)
    elif values.pop("each", None):
        _each(values.get("files", ()), values, as_json, show_all)
    elif values.get("files") or values.get("record"):
        _diagnose(question, values, as_json, show_all)
    elif _piped():
        _diagnose(question, {**values, "files": ("-",)}, as_json, show_all)
    else:
        raise click.UsageError("give the files of the job, or pipe its output into the command")


def _piped() -> bool:
    """Whether standard input is a pipe or a nonempty file."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    return bool(peek and not sys.stdin.isatty() and peek(1))


def _diagnose(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for the files of a job, which are read as streams."""
    record, launch, machine = values.get("record", ""), values.get("launch", ""), values.get("machine", "hopper")
    if launch and "\n" not in launch and Path(launch).is_file():
        launch = read_source(launch, what="job script", as_json=as_json)
    context = None
    if launch or record or machine != "hopper":
        settings = question.read({"launch": launch, "record": record, "machine": machine})
        context = context_of(settings["launch"], settings["machine"], record, values.get("job"))
    with ExitStack() as stack:
        sources = [(_name(file), stack.enter_context(_opened(file, as_json))) for file in values.get("files", ())]
        diagnosed = diagnosis.diagnose(sources, context=context)
    result = result_of(diagnosed)
    if as_json or show_all:
        show(question.name, result, as_json, show_all)
    else:
        click.echo("\n".join(printable(line) for line in _brief(result)))
    raise SystemExit(1 if diagnosed.verdict in diagnosis.FAILED else 0)


def _each(paths: tuple[str, ...], values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for each output in folders and files, and for all of them together."""
    from hopperkit.cli.failure._outputs import read_outputs
    from hopperkit.questions.failure._many_outputs import csv_of, many_outputs

    if not paths:
        raise click.UsageError("--each needs folders or files")
    rows, unread = read_outputs(paths)
    if not rows:
        fail(unread[0] if unread else f"no files in {', '.join(paths)}", as_json=as_json)
    result = many_outputs(rows, unread)
    if values.get("csv"):
        write_lines(values["csv"], [csv_of(rows)], what="the table", as_json=as_json)
    if metrics := values.get("prometheus"):
        from hopperkit.cli.elsewhere.prometheus import output_samples, save_metrics

        save_metrics(metrics, output_samples(rows), as_json=as_json)
    write_page(values.get("page"), result, "What went wrong?", f"{len(rows):,} outputs", as_json=as_json)
    show("diagnose", result, as_json, show_all)
    raise SystemExit(1 if any(row.verdict in diagnosis.FAILED for row in rows) else 0)


def _name(file: str) -> str:
    """Return a file's name for answers, on one line and without terminal control characters."""
    return printable("standard input" if file == "-" else file).replace("\n", "\ufffd")


def _brief(result: "Result") -> Iterator[str]:
    """Yield at most twelve lines: the answer, its evidence, the remedy, and how to show the rest."""
    # The line named in the facts comes first, then the cause's other lines in order.
    quoted = [
        (
            line.number != result.facts.get("line"),
            f"{listing.title.split(': ')[0]}:{line.number}: {line.text.strip()}",
        )
        for listing in result.listings
        for line in listing.lines
        if line.mark == "cause"
    ]
    yield result.summary.replace("`", "")
    yield from (text for _, text in sorted(quoted, key=lambda line: line[0])[:_QUOTED])
    steps = [finding for finding in result.findings if finding.level == "advice"]
    yield from (finding.message.replace("`", "") for finding in steps[:_STEPS])
    yield from [finding.message for finding in result.findings if finding.code in ("first-failure", "reach", "text")][
        :_NOTES
    ]
    yield "(--verbose prints the rest: notes, all messages of the text, suspicious lines, a text for a ticket)"


@contextmanager
def _opened(file: str, as_json: bool) -> Iterator[BinaryIO]:
    """Open a file, with a progress bar if it is large and a terminal is attached."""
    if file == "-":
        yield sys.stdin.buffer
        return
    path = Path(file)
    try:
        if path.is_dir():
            fail(f"cannot read {file}: it is a directory; use --each to answer for every output in it", as_json=as_json)
        size = path.stat().st_size
        with path.open("rb") as stream:
            if size < _WORTH_A_BAR or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
                yield stream
                return
            from rich.console import Console
            from rich.progress import wrap_file

            with wrap_file(
                stream, size, description=printable(path.name), console=Console(stderr=True), transient=True
            ) as shown:
                yield shown
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror or error}", as_json=as_json)


def _rule_data(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain data."""
    named = {name: getattr(rule, name) for name in ("nersc_class", "role", "strength", "who")}
    linked = {name: [link.code for link in getattr(rule, name)] for name in ("explains", "explained_by")}
    steps = {"requires": list(rule.requires), "advice": list(rule.advice), "confirm": rule.confirm}
    head = {"code": rule.code, "title": rule.title, "class": rule.fault, **named, "example": rule.positive[0]}
    return {**head, **linked, **steps, "source": rule.source, "sample": rule.sample}


def _print_rules(rules: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print rules, one per line, or all as data."""
    if as_json:
        print_json({"rules": rules})
        return
    for each in rules:
        click.echo(f"{each['code']:<22}  {each['role']:<7}  {each['class']:<6}  {each['title']}")


def _print_rule(known: Mapping[str, Any], as_json: bool) -> None:
    """Print everything known about one rule: its nonempty parts by name."""
    if as_json:
        print_json(known)
        return
    for name, value in known.items():
        lines = [str(line) for line in (value if isinstance(value, list | tuple) else [value]) if line]
        if lines:
            click.echo(f"{name.replace('_', ' ')}: " + "\n  ".join(lines))


diagnose = question_command(
    QUESTION,
    _run,
    left_out=("log", "errors"),
    parameters=[
        click.Argument(["files"], nargs=-1, metavar="[FILE]..."),
        click.Option(["--job"], metavar="ID", help="The job in --sacct; the last one by default."),
        click.Option(["--each"], is_flag=True, help="Answer for each output in folders and files: one row per job."),
        click.Option(["--csv"], metavar="FILE", help="With --each: write the rows to this file."),
        click.Option(["--html", "page"], metavar="PAGE", help="With --each: write one page to this file."),
        click.Option(["--prometheus"], metavar="FILE", help="With --each: write metrics to this file, atomically."),
        click.Option(["--list", "list_rules"], is_flag=True, help="List all known messages."),
        click.Option(["--explain"], metavar="CODE", help="Print everything known about one message."),
    ],
    lines="""
hopper diagnose job.out job.err
hopper diagnose - --launch job.pbs --machine hopper < job.out
hopper diagnose --each /scratch/outputs --csv rows.csv --html page.html
hopper diagnose job.out --sacct record.txt --job 4711 --json
""",
)
