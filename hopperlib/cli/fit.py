"""``hopper fit``: what distribution run times have, where they spread, how many repeats show a change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.analysis.run_times import FamilyReport, RunTimeReport
    from hopperlib.readers.run_times import RunTimes

__all__ = ["command"]

_HELP = """Say what run times have in common: their distribution, their spread, the repeats that show a change.

FILE is CSV whose first line names the columns, or - for standard input. The times stand in the column
run_time_s, or in that of --column. Runs that belong together (of one job, one day, one node list) share
a value in the column of --group.

\b
  hopper fit runs.csv
  hopper fit runs.csv --column seconds --group jobid --change 2
  hopper fit runs.csv --minimum --html report.html

Six families are fitted by maximum likelihood, each with 95 % intervals of its parameters and a p-value
that counts that they were fitted. Runs of one group are often alike; then --minimum, which takes one
time of each, is the honest test of a family. Rows without a time (empty, nan, NA) are counted and left out; a cell
that is no time is an error with its line.

Exit status: 0 fine, 1 rows were left out or no family describes the times, 2 bad input.
"""


@click.command(name="fit", help=_HELP, short_help="The distribution of run times, their spread, repeats needed.")
@click.argument("file")
@click.option("--column", metavar="NAME", help="Column of the times.  [default: run_time_s]")
@click.option("--group", metavar="NAME", help="Column of the groups.  [default: job, if there is one]")
@click.option("--minimum", is_flag=True, help="Fit the families to the smallest time of each group.")
@click.option("--change", type=float, default=5.0, show_default=True, metavar="PERCENT", help="The change to be seen.")
@click.option("--power", type=float, default=80.0, show_default=True, metavar="PERCENT", help="How often to see it.")
@click.option("--resamples", type=int, metavar="N", help="Samples behind intervals and p-values.  [default: by size]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of these samples.")
@click.option("--html", "page", metavar="PAGE", help="Write one page to this file: no scripts, nothing from elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as data.")
def command(
    file: str,
    column: str | None,
    group: str | None,
    minimum: bool,
    change: float,
    power: float,
    resamples: int | None,
    seed: int,
    page: str | None,
    as_json: bool,
) -> None:
    """Answer ``hopper fit``."""
    from hopperlib.readers.run_times import read_run_times

    try:
        if not 0 < change <= 1000:
            raise ValueError(f"--change {change:g} must be above 0 and at most 1000 %")
        if not 5 < power < 100:
            raise ValueError(f"--power {power:g} must be above 5 %, which is found without any change, and below 100 %")
        if seed < 0:
            raise ValueError(f"--seed {seed} must be at least 0")
        # Any line end is one, as for a file opened as text.
        lines = StringIO(read_source(file, what="run times"), newline=None)
        table = read_run_times(lines, column=column, group=group)
        describe, rng = _analysis(seed)
        if group is not None:
            _groups_can_be_told(group, table)
        with _progress(len(table.times)) as progress:
            report = describe(
                table,
                rng,
                minima=minimum,
                change_fraction=change / 100,
                power=power / 100,
                resamples=resamples,
                progress=progress,
            )
    except ValueError as error:
        fail(str(error), as_json=as_json)
    for message in table.messages():
        click.echo(f"hopper: {message}", err=True)
    if page is not None:
        _write_page(page, file, report, as_json=as_json)
    if as_json:
        print_json(report.to_dict())
    else:
        _print(file, report)
    sys.exit(1 if table.left_out or report.none_fits else 0)


def _analysis(seed: int) -> tuple[Callable[..., RunTimeReport], Any]:
    """Return the analysis and its random numbers; one message if its packages are missing."""
    try:
        import numpy as np

        from hopperlib.analysis.run_times import describe_run_times
    except ModuleNotFoundError as error:
        raise ValueError(f"this command needs {error.name}: pip install 'hopperlib[analysis]'") from None
    return describe_run_times, np.random.default_rng(seed)


def _groups_can_be_told(group: str, table: RunTimes) -> None:
    """Refuse groups that were asked for and show no spread; a column that was only found there is passed over."""
    from hopperlib.analysis.regression import variance_split

    try:
        variance_split(table.times, table.groups, repeats=2)
    except ValueError as error:
        raise ValueError(f"--group {group}: {error}") from None


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


def _write_page(page: str, file: str, report: RunTimeReport, *, as_json: bool) -> None:
    """Write the report as a page."""
    from hopperlib.cli.fit_page import fit_page

    text = fit_page("standard input" if file == "-" else file, report)
    try:
        Path(page).write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write the page {page}: {error.strerror or error}", as_json=as_json)


def _print(file: str, report: RunTimeReport) -> None:
    """Print the report for people."""
    from hopperlib.analysis.run_times import CAVEATS
    from hopperlib.cli.fit_page import facts, groups, number

    table = report.table
    click.echo(f"{'standard input' if file == '-' else file}: {len(table.times):,} times in column {table.column}")
    for label, value in facts(report):
        click.echo(f"  {label + ':':<20}{value}")
    click.echo(f"\nFamilies, fitted to {report.fitted_what}")
    click.echo(f"  {'family':<20}{'AIC':>12}{'A-D':>9}{'p':>10}{'K-S':>9}{'p':>10}  parameters, 95 % intervals")
    for one in report.families:
        good = one.goodness
        click.echo(
            f"  {one.fit.family:<20}{one.fit.aic:>12,.1f}{good.anderson_darling:>9.3g}{_p(good.anderson_darling_p, one):>10}"
            f"{good.kolmogorov_smirnov:>9.3g}{_p(good.kolmogorov_smirnov_p, one):>10}  {_parameters(one, number)}"
        )
        if one.fit.note:
            click.echo(f"  {'':<20}{one.fit.note}")
    click.echo(f"  {report.verdict}")
    click.echo(f"\nSpread{'' if report.split else f': not split, {report.no_split}'}")
    for label, value in groups(report):
        click.echo(f"  {label + ':':<44}{value}")
    click.echo(
        f"\nRuns before and as many after, to see a change of {100 * report.change_fraction:g} % "
        f"in {100 * report.power:g} % of cases (two-sided t-test, level {report.alpha:g})"
    )
    for way in report.repeats:
        click.echo(f"  {way.how + ':':<44}{way.runs:,} (spread {100 * way.spread_fraction:.2f} %)")
    click.echo("")
    for note in (*report.notes, *CAVEATS):
        click.echo(f"note: {note}")


def _p(value: float, one: FamilyReport) -> str:
    """Return a p-value; the smallest there can be is a bound."""
    least = 1 / (one.goodness.repeats + 1)
    return f"{'<=' if value <= least else ''}{value:.2g}"


def _parameters(one: FamilyReport, number: Callable[[float], str]) -> str:
    return ", ".join(
        f"{name} {number(interval.estimate)} ({number(interval.low)} to {number(interval.high)})"
        for name, interval in one.intervals.items()
    )
