"""``hopper watch``: lasting changes in benchmark histories, all files together."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, read_source, write_page
from hopperlib.cli.question import question_command, show
from hopperlib.monitoring.history import Report
from hopperlib.questions.monitoring.watch import QUESTION, judged, watch_result
from hopperlib.readers.benchmark_history import read_benchmark_history
from hopperlib.render.control_chart import control_chart
from hopperlib.render.text import printable

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

# Charts of benchmarks that are printed, those with changes first.
_MAX_CHARTS = 3


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for all files together."""
    files, column, page = values.pop("files"), values.pop("column", None), values.pop("page", None)
    settings = question.read(values)
    better = None if settings["better"] == "named" else settings["better"]
    histories = []
    for file in files:
        text = read_source(file, what="history", as_json=as_json)
        try:
            histories.append(read_benchmark_history(text, name=Path(file).stem, column=column, better=better))
        except ValueError as error:
            fail(f"{file}: {error}", as_json=as_json)
    reports = judged(histories, least_percent=settings["least_percent"])
    result = watch_result(histories, reports, settings["date"])
    write_page(page, result, "Benchmark history", ", ".join(files), as_json=as_json)
    if not as_json:
        for report in reports[:_MAX_CHARTS]:
            _print_chart(report)
    show(question.name, result, as_json, show_all)


def _print_chart(report: Report) -> None:
    """Print one series as a control chart."""
    if report.level:
        outliers = [outlier.run for outlier in report.outliers]
        click.echo(printable(f"{report.history.name}: {report.verdict}"))
        click.echo("\n".join(control_chart(report.history.values, report.level, outliers)) + "\n")


watch = question_command(
    QUESTION,
    _run,
    left_out=("history",),
    parameters=[
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE..."),
        click.Option(["--column"], metavar="NAME", help="Column of the values.  [default: found by its name]"),
        click.Option(["--html", "page"], metavar="PAGE", help="Write one page: no scripts, nothing from elsewhere."),
    ],
    lines="""
hopper watch triad.csv
hopper watch perflogs/*/*.log --json
hopper watch triad.csv --date 2026-03-01
hopper watch runs.csv --column seconds --better lower --html report.html
""",
)
