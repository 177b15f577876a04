"""The commands of failures that do more than ask: ``hopper diagnose``, ``hopper build`` and ``hopper preflight``."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from hopperlib.cli.common import fail, print_rule, print_rules, read_source
from hopperlib.cli.question import answer, show

if TYPE_CHECKING:
    from hopperlib.failure.messages.rules import Rule
    from hopperlib.questions.question import Question
    from hopperlib.questions.result import Result

# From this size on a file gets a progress bar. [bytes]
_WORTH_A_BAR = 100_000_000

# Lines of a short answer: quoted, of advice, and notes about the files. With the sentence and the last line they are twelve.
_QUOTED, _STEPS, _NOTES = 4, 4, 2


def diagnose(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for the files of a job, which are read as streams; or list or explain the rules."""
    from hopperlib.failure.diagnosis import diagnosis
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
            diagnosed = diagnosis.diagnose(sources, context=context)
        result = result_of(diagnosed)
        if as_json or show_all:
            show(question.name, result, as_json, show_all)
        else:
            click.echo("\n".join(printable(line) for line in _brief(result)))
        raise SystemExit(1 if diagnosed.verdict == "cause" else 0)


def _brief(result: "Result") -> Iterator[str]:
    """Yield at most twelve lines: those that matter, what they mean, what to do, and how to have the rest."""
    # The line that the facts name comes first, then the others of the cause in their order.
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


def _rule_dict(rule: "Rule") -> dict[str, Any]:
    """Return a rule as plain data."""
    named = {name: getattr(rule, name) for name in ("nersc_class", "role", "strength", "who")}
    linked = {name: [link.code for link in getattr(rule, name)] for name in ("explains", "explained_by")}
    steps = {"requires": list(rule.requires), "advice": list(rule.advice), "confirm": rule.confirm}
    head = {"code": rule.code, "title": rule.title, "class": rule.fault, **named, "example": rule.positive[0]}
    return {**head, **linked, **steps, "source": rule.source, "sample": rule.sample}


def build(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
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
    # What this shell has loaded counts where no file says otherwise.
    modules = f"LOADEDMODULES={loaded}" if loaded else ""
    if file is not None:
        modules = read_source(file, what="modules", as_json=as_json, max_bytes=1_000_000)
    said = {None: "line", True: "yes", False: "no"}
    settings = {name: said[values.get(name)] for name in ("mixed", "shmem")}
    answer(question, {"line": line, "modules": modules, **settings}, as_json, show_all)


def preflight(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for a file, for standard input, or for this machine; print only the list if asked."""
    exclude_list, file = values.pop("exclude_list", None), values.pop("file", None)
    if file is None and not Path("/proc/buddyinfo").exists():
        fail("this machine has no /proc/buddyinfo; give a file with the copies of the nodes", as_json=as_json)
    text = read_source(file or "/proc/buddyinfo", what="buddyinfo", as_json=as_json)
    result = question.run(buddyinfo=text, **values)
    if not exclude_list:
        show(question.name, result, as_json, show_all)
        return
    click.echo(result.copyables[0].text if result.copyables else "")
    for finding in result.findings:
        if finding.code == "task-numbers":
            click.echo(f"hopper: {finding.message}", err=True)
    sys.exit(1 if result.copyables else 0)
