"""``hopper watch``: persistent changes in benchmark histories, all files together."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.common import fail, page_option, read_source, write_lines, write_page
from hopperkit.cli.question import question_command, show
from hopperkit.questions.monitoring.watch import QUESTION, judged, watch_result
from hopperkit.readers.benchmark_history import Histories, read_benchmark_history
from hopperkit.render.text import printable
from hopperlib.monitoring.history import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hopperkit.questions.question import Question
    from hopperkit.readers.reframe import Variable


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for all files together."""
    files, column, page = values.pop("files"), values.pop("column", None), values.pop("page", None)
    database, patch = values.pop("reframe", None), values.pop("references", None)
    false_alarm, metrics = values.pop("false_alarm", 0.001), values.pop("prometheus", None)
    if not files and not database:
        raise click.UsageError("give files with histories, or ReFrame's database with --reframe")
    settings = question.read(values)
    better = None if settings["better"] == "named" else settings["better"]
    histories, variables = [], {}
    if database:
        from hopperkit.readers.reframe import read_reframe

        series = read_reframe(database)
        variables = {each.history.name: each.variable for each in series}
        histories.append(Histories(tuple(each.history for each in series)))
    for file in files:
        text = read_source(file, what="history", as_json=as_json)
        try:
            histories.append(read_benchmark_history(text, name=Path(file).stem, column=column, better=better))
        except ValueError as error:
            fail(f"{file}: {error}", as_json=as_json)
    reports = judged(histories, least_percent=settings["least_percent"])
    result = watch_result(histories, reports, settings["date"])
    write_page(
        page, result, "Benchmark history", ", ".join([*files, *([database] if database else [])]), as_json=as_json
    )
    if metrics:
        from hopperkit.cli.elsewhere.prometheus import save_metrics, watch_samples

        save_metrics(metrics, watch_samples(reports), as_json=as_json)
    if patch:
        _write_references(patch, reports, variables, false_alarm, as_json)
    show(question.name, result, as_json, show_all)


def _write_references(
    path: str, reports: "Sequence[Report]", variables: "Mapping[str, Variable]", false_alarm: float, as_json: bool
) -> None:
    """Write references for ReFrame tests as a patch; report tests without one, and why."""
    from hopperkit.cli.elsewhere.reframe import reference_patch
    from hopperkit.histories.references import FEWEST_RUNS, reference_of

    found, left = {}, []
    shared = Counter(variables.values())
    for report in reports:
        variable, name = variables.get(report.history.name), report.history.name
        if variable and shared[variable] > 1:
            left.append(f"{name}: {shared[variable]} variants of the test share one reference")
        elif variable and (reference := reference_of(report, false_alarm)):
            found[variable] = reference
        else:
            left.append(
                f"{name}: {report.verdict}; a reference needs {FEWEST_RUNS} runs at one level, out of --reframe"
            )
    text, unwritten = reference_patch(found, false_alarm)
    write_lines(path, [text], what="patch", as_json=as_json)
    for message in (*left, *unwritten):
        click.echo(f"hopper: no reference: {printable(message)}", err=True)


watch = page_option(
    question_command(
        QUESTION,
        _run,
        left_out=("history",),
        parameters=[
            click.Argument(["files"], nargs=-1, metavar="[FILE]..."),
            click.Option(["--reframe"], metavar="DB", help="Read ReFrame's results.db."),
            click.Option(["--references"], metavar="PATCH", help="With --reframe: write its references as a patch."),
            click.Option(
                ["--false-alarm"], type=float, default=0.001, show_default=True, help="Share of good runs that fail."
            ),
            click.Option(
                ["--prometheus"], metavar="FILE", help="Write metrics for Prometheus to this file, atomically."
            ),
            click.Option(["--column"], metavar="NAME", help="Column of the values. [default: found by name]"),
        ],
        lines="""
hopper watch triad.csv
hopper watch perflogs/*/*.log --json
hopper watch triad.csv --date 2026-03-01
hopper watch --reframe ~/.reframe/reports/results.db --references references.patch
hopper watch runs.csv --column seconds --better lower --html report.html
""",
    )
)
