"""``hopper fit``: what distribution run times have, where they spread, how many repeats show a change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopperlib.cli.common import fail, print_json, write_page
from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperlib.questions.result import Result

__all__ = ["command"]

_MOST_BYTES = 64_000_000

_HELP = """Say what run times have in common: their distribution, their spread, the repeats that show a change.

FILE is CSV whose first line names the columns, packed (gzip, bzip2, xz) or not, or - for standard input. The times stand in the column
run_time_s, or in that of --column. Runs that belong together (of one job, one day, one node list) share
a value in the column of --group.

\b
  hopper fit runs.csv
  hopper fit runs.csv --column seconds --group jobid --change 2
  hopper fit runs.csv --against hops --against io_gb
  hopper fit runs.csv --minimum --html report.html

Seven families are fitted by maximum likelihood, each with 95 % intervals of its parameters and a p-value
that counts that they were fitted. Runs of one group are often alike; then --minimum, which takes one
time of each, is the honest test of a family. Rows without a time (empty, nan, NA) are counted and left out; a cell
that is no time is an error with its line.

Exit status: 0 fine, 1 rows were left out or no family describes the times, 2 bad input.
"""


@click.command(name="fit", help=_HELP, short_help="The distribution of run times, their spread, repeats needed.")
@click.argument("file")
@click.option("--column", metavar="NAME", help="Column of the times.  [default: run_time_s]")
@click.option("--group", metavar="NAME", help="Column of the groups.  [default: job, if there is one]")
@click.option(
    "--against", metavar="NAME", multiple=True, help="Column of numbers to regress the times on; may be repeated."
)
@click.option("--minimum", is_flag=True, help="Fit the families to the smallest time of each group.")
@click.option("--change", type=float, default=5.0, show_default=True, metavar="PERCENT", help="The change to be seen.")
@click.option("--power", type=float, default=80.0, show_default=True, metavar="PERCENT", help="How often to see it.")
@click.option("--resamples", type=int, metavar="N", help="Samples behind intervals and p-values.  [default: by size]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of these samples.")
@click.option("--html", "page", metavar="PAGE", help="Write one page to this file: no scripts, nothing from elsewhere.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: numbers, charts in words, tables.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as data.")
def command(
    file: str,
    column: str | None,
    group: str | None,
    against: tuple[str, ...],
    minimum: bool,
    change: float,
    power: float,
    resamples: int | None,
    seed: int,
    page: str | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Answer ``hopper fit``."""
    from hopperlib.readers.run_times import read_run_times
    from hopperlib.readers.source import text_of

    try:
        try:
            text = text_of(Path(file), max_bytes=_MOST_BYTES)
        except InputError as error:
            raise InputError(f"cannot read run times {error}") from error
        # Any line end is one, as for a file opened as text.
        table = read_run_times(StringIO(text, newline=None), column=column, group=group, covariates=against)
        fit = _analysis()
        with _progress(len(table.times)) as progress:
            result = fit(
                table,
                group=group,
                minimum=minimum,
                change=change,
                power=power,
                resamples=resamples,
                seed=seed,
                progress=progress,
            )
    except InputError as error:
        fail(error.told_of(f"--{error.name}") if error.name else str(error), as_json=as_json)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    for message in table.messages():
        click.echo(f"hopper: {message}", err=True)
    source = f"{'standard input' if file == '-' else file}: {len(table.times):,} times in column {table.column}"
    write_page(page, result, "Run times", source, as_json=as_json)
    if as_json:
        from hopperlib.render.data import result_data

        print_json(result_data("fit", result))
    else:
        from hopperlib.render.text import result_text

        click.echo(f"{source}\n")
        click.echo(result_text(result, show_all=show_all, styled=sys.stdout.isatty()), nl=False)
    sys.exit(1 if any(finding.level == "problem" for finding in result.findings) else 0)


def _analysis() -> Callable[..., Result]:
    """Return the analysis; one message if its packages are missing."""
    try:
        from hopperlib.analysis.fit_answer import fit
    except ModuleNotFoundError as error:
        raise ValueError(f"this command needs {error.name}: pip install 'hopper-book[analysis]'") from None
    return fit


@contextmanager
def _progress(values: int) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far it is, on a terminal and where it takes more than a moment."""
    if values < 1000 or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label="families", file=sys.stderr) as bar:

        def step(done: int, steps: int) -> None:
            bar.length = steps
            bar.update(done - bar.pos)

        yield step
