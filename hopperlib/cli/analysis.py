"""The commands of `hopperlib.analysis`: ``hopper fit`` and ``hopper report``."""

import ast
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import click

from hopperlib.cli.common import all_option, json_option, page_option, read_source, refusing, write_page
from hopperlib.cli.question import show
from hopperlib.errors import InputError


@click.command()
@click.argument("file")
@click.option("--column", metavar="NAME", help="Column of the times.  [default: run_time_s]")
@click.option("--group", metavar="NAME", help="Column of the groups.  [default: job, if there is one]")
@click.option(
    "--against", metavar="NAME", multiple=True, help="Column of numbers to regress the times on; may be repeated."
)
@click.option("--minimum", is_flag=True, help="Fit the families to the smallest time of each group.")
@click.option("--change", default=5.0, show_default=True, metavar="PERCENT", help="The change to be seen.")
@click.option("--power", default=80.0, show_default=True, metavar="PERCENT", help="How often to see it.")
@click.option("--resamples", type=int, metavar="N", help="Samples behind p-values.  [default: by size]")
@click.option("--seed", default=0, show_default=True, help="Seed of these samples.")
@page_option
@all_option
@json_option
@refusing
def fit(file: str, page: str | None, as_json: bool, show_all: bool, **settings: Any) -> None:
    """Print the distribution of run times, their spread, and the repeats that show a change.

    FILE is CSV whose first line names the columns, packed (gzip, bzip2, xz) or not, or - for standard input. The
    times stand in the column run_time_s, or in that of --column. Runs that belong together (of one job, one day, one
    node list) share a value in the column of --group.

    \b
      hopper fit runs.csv
      hopper fit runs.csv --column seconds --group jobid --change 2
      hopper fit runs.csv --against hops --against io_gb
      hopper fit runs.csv --minimum --html report.html

    Six families are fitted by maximum likelihood; a p-value counts that they were fitted, and is no proof that a family
    is right. Runs of one group are often alike; then --minimum, which takes one time of each, is the honest test of a
    family. Rows without a time (empty, nan, NA) are counted and left out; a cell that is no time is an error with its
    line.

    Exit status: 0 fine, 2 bad input.
    """  # noqa: D301 - click reads the sign, not the letters
    from hopperlib.readers.run_times import read_run_times

    # Any line end is one, as for a file opened as text.
    lines = StringIO(read_source(file, what="run times", as_json=as_json), newline=None)
    runs = read_run_times(lines, column=settings["column"], group=settings["group"], covariates=settings["against"])
    # What cannot be read is refused before the statistics are loaded.
    from hopperlib.analysis.fit_answer import fit as fitted

    result = fitted(runs, **settings)
    for message in runs.skips.messages():
        click.echo(f"hopper: {message}", err=True)
    source = f"{'standard input' if file == '-' else file}: {runs.understood}"
    write_page(page, result, "Run times", source, as_json=as_json)
    if not as_json:
        click.echo(f"{source}\n")
    show("fit", result, as_json, show_all)


@click.command()
@click.argument("kind")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("-o", "--output", metavar="PAGE", help="Write the page to this file.")
@click.option("--since", default="", metavar="DATE|SPAN", help="What was run, or changed, since 2026-11-01, or 7d.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the report; may be repeated."
)
@all_option
@json_option
@refusing
def report(
    kind: str,
    paths: tuple[str, ...],
    output: str | None,
    since: str,
    settings: tuple[str, ...],
    as_json: bool,
    show_all: bool,
) -> None:
    """Write a report on files of your own: the numbers of the notebooks in notebooks/own, without Jupyter.

    KIND is jobs, runs, history, io, errors or launch. A path may be a folder, which is searched; without paths
    the report is about the samples of the book. The page holds everything: no scripts, nothing from elsewhere.

    \b
      hopper report runs times.csv --set column=seconds -o report.html
      hopper report history perflogs/ --since 30d -o /var/www/benchmarks.html
      hopper report jobs jobs.txt --set nodes=512 --json
      hopper report errors logs/ --since 2026-11-01

    Exit status: 0 fine, 1 a problem was found, 2 bad input.
    """  # noqa: D301 - click reads the sign, not the letters
    from hopperlib.analysis.reports import kind_named
    from hopperlib.analysis.reports import report as reported

    title = kind_named(kind).title
    result = reported(kind, paths, since=since, **dict(map(_setting, settings)))
    made = datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    source = ", ".join(f"`{path}`" for path in paths) or "the samples of the book"
    about = f"Made {made} from {source}{f', since {since}' if since else ''}."
    write_page(output, result, title, about, as_json=as_json)
    show(f"report {kind}", result, as_json, show_all)


def _setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{text!r} must be NAME=VALUE", name="set", value=text)
    return name.strip().replace("-", "_"), _plain(value.strip())


def _plain(text: str) -> Any:
    """Return a value as it was meant: a number, true or false, else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text
