"""``hopper watch``: the question for several files, with control charts as text and a page of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, read_source, write_page
from hopperlib.cli.question import show

if TYPE_CHECKING:
    from hopperlib.monitoring.history import Report
    from hopperlib.questions.question import Question

__all__ = ["watch"]

# So many charts are printed, those with changes first.
_MOST_CHARTS = 3


def watch(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for all files together."""
    from hopperlib.questions.monitoring.watch import judged, watch_result
    from hopperlib.readers.benchmark_history import read_benchmark_history

    files, column, page = values.pop("files"), values.pop("column", None), values.pop("page", None)
    settings = question.read(values)
    better = None if settings["better"] == "named" else settings["better"]
    found = []
    for file in files:
        text = read_source(file, what="history", as_json=as_json)
        try:
            found.append(read_benchmark_history(text, name=Path(file).stem, column=column, better=better))
        except ValueError as error:
            fail(f"{file}: {error}", as_json=as_json)
    reports = judged(found, least_percent=settings["least_percent"])
    result = watch_result(found, reports)
    write_page(page, result, "Benchmark history", ", ".join(files), as_json=as_json)
    if not as_json:
        for report in reports[:_MOST_CHARTS]:
            _print_chart(report)
    show(question, result, as_json, show_all)


def _print_chart(report: Report) -> None:
    """Print one series as a control chart."""
    from hopperlib.render.control_chart import control_chart
    from hopperlib.render.text import printable

    if report.level:
        outliers = [outlier.run for outlier in report.outliers]
        click.echo(printable(f"{report.history.name}: {report.verdict}"))
        click.echo("\n".join(control_chart(report.history.values, report.level, outliers)) + "\n")
