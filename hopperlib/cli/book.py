"""The commands of the catalogue and of its tables: ``hopper questions``, ``hopper scorecard``, ``hopper watch``."""

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, read_source, write_page
from hopperlib.cli.question import show
from hopperlib.documented.data_files import rows

if TYPE_CHECKING:
    from hopperlib.monitoring.history import Report
    from hopperlib.questions.question import Question

# So many charts of benchmarks are printed, those with changes first.
_MOST_CHARTS = 3


def scorecard(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; as CSV, print every row that was found."""
    as_csv = values.pop("as_csv", None)
    if as_csv and as_json:
        fail("--json and --csv are two forms of one thing; give one of them", as_json=True)
    result = question.run(**values)
    if not as_csv:
        show(question.name, result, as_json, show_all)
        return
    shown_ids = {row["id"] for row in (result.facts or {})["rows"]}
    kept = [row for row in rows("scorecard.csv") if row["id"] in shown_ids]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(kept[0] if kept else ())
    writer.writerows(row.values() for row in kept)


def questions(_: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """List the questions that can be asked."""
    from hopperlib.questions.catalogue import QUESTIONS
    from hopperlib.questions.question import load

    asked = [load(name) for name in QUESTIONS]
    if as_json:
        print_json({"questions": [question.to_dict() for question in asked]})
        return
    width = max(len(question.name) for question in asked)
    for question in asked:
        click.echo(f"{question.name:<{width}}  {question.question}")


def watch(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for all files together."""
    from hopperlib.questions.monitoring.watch import judged, watch_result
    from hopperlib.readers.benchmark_history import read_benchmark_history

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
    result = watch_result(histories, reports)
    write_page(page, result, "Benchmark history", ", ".join(files), as_json=as_json)
    if not as_json:
        for report in reports[:_MOST_CHARTS]:
            _print_chart(report)
    show(question.name, result, as_json, show_all)


def _print_chart(report: "Report") -> None:
    """Print one series as a control chart."""
    from hopperlib.render.control_chart import control_chart
    from hopperlib.render.text import printable

    if report.level:
        outliers = [outlier.run for outlier in report.outliers]
        click.echo(printable(f"{report.history.name}: {report.verdict}"))
        click.echo("\n".join(control_chart(report.history.values, report.level, outliers)) + "\n")
