"""``hopper report``: a report on files of one's own, as one page."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from hopperlib.cli.common import fail, print_json, write_page
from hopperlib.errors import InputError

__all__ = ["command", "setting"]

_HELP = """Write a report on files of your own: the numbers of the notebooks in notebooks/own, without Jupyter.

KIND is jobs, runs, history, io, errors or launch. A path may be a folder, which is searched; without paths
the report is about the samples of the book. The page holds everything: no scripts, nothing from elsewhere.

\b
  hopper report runs times.csv --set column=seconds -o report.html
  hopper report history perflogs/ --since 30d -o /var/www/benchmarks.html
  hopper report jobs jobs.txt --set nodes=512 --json
  hopper report errors logs/ --since 2026-11-01

Exit status: 0 fine, 1 a problem was found, 2 bad input.
"""


def setting(text: str, option: str) -> tuple[str, Any]:
    """Return a setting ``NAME=VALUE``, its value a number where it is one."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{text!r} must be NAME=VALUE", name=option, value=text)
    return name.strip().replace("-", "_"), plain(value.strip())


def plain(text: str) -> Any:
    """Return a word as a number, or as true or false, where it is one."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


@click.command(name="report", help=_HELP, short_help="A report on files of your own as one HTML page.")
@click.argument("kind")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("-o", "--output", metavar="PAGE", help="Write the page to this file.")
@click.option("--since", default="", metavar="DATE|SPAN", help="What was run, or changed, since 2026-11-01, or 7d.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the report; may come again.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: numbers, charts in words, tables.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    kind: str,
    paths: Sequence[str],
    output: str | None,
    since: str,
    settings: Sequence[str],
    show_all: bool,
    as_json: bool,
) -> None:
    """Answer ``hopper report``."""
    from hopperlib.analysis.reports import kind_named, report

    try:
        title = kind_named(kind).title
        result = report(kind, paths, since=since, **dict(setting(text, "set") for text in settings))
    except InputError as error:
        fail(error.told_of(f"--{error.name}") if error.name in ("since", "set") else str(error), as_json=as_json)
    if output:
        made = datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
        source = ", ".join(f"`{path}`" for path in paths) or "the samples of the book"
        about = f"Made {made} from {source}{f', since {since}' if since else ''}."
        write_page(output, result, title, about, as_json=as_json)
    if as_json:
        from hopperlib.render.data import result_data

        print_json(result_data(f"report {kind}", result))
    else:
        from hopperlib.cli.question import print_text

        print_text(result, show_all)
    sys.exit(1 if any(finding.level == "problem" for finding in result.findings) else 0)
