"""``hopper scorecard``: every documented value beside what the models give."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hopperlib.cli.common import fail, print_json

if TYPE_CHECKING:
    from hopperlib.scorecard import Row

__all__ = ["command"]

_HELP = """Print every documented value beside what the models give.

Each row has a role (input, calibrated, predicted, shape, identity, not modelled, not built) and a verdict. A row that
misses is shown as such. Exit status: 0 fine, 1 a row misses and nobody explains it, 2 bad input.

\b
  hopper scorecard --study memory
  hopper scorecard --verdict "missed, explained"
  hopper scorecard --json
"""

# Longest text of a cell for people; programs get all of it.
_WIDEST = 44
_STYLES = {"missed": "red", "missed, explained": "yellow"}


def _cut(text: str) -> str:
    """Return a text that leaves room for its neighbors."""
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row for people."""
    deviation = "" if row.deviation is None else (f"{row.deviation:+.3g}" if row.deviation else "0")
    tolerance = "" if row.tolerance is None else f"{row.tolerance:.3g}"
    documented = _cut(f"{row.documented} {row.unit}".strip())
    return (row.id, row.role, documented, row.reproduced, deviation, tolerance, row.verdict)


def _print_rows(table: tuple[Row, ...], *, notes: bool) -> None:
    """Print rows with aligned columns; a miss is followed by its explanation."""
    heads = ("id", "role", "documented", "model", "deviation", "tolerance", "verdict")
    cells = [_cells(row) for row in table]
    widths = [max(len(row[i]) for row in [heads, *cells]) for i in range(len(heads))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in [heads, *cells]]
    click.secho(lines[0], bold=True)
    for row, line in zip(table, lines[1:], strict=True):
        click.secho(line, fg=_STYLES.get(row.verdict))
        if row.note and (notes or row.verdict in _STYLES):
            click.echo(f"    {row.note} ({row.place})")


@click.command(name="scorecard", help=_HELP, short_help="Every documented value beside what the models give.")
@click.option("--study", metavar="STUDY", help="Only this study, or context.")
@click.option("--role", metavar="ROLE", help="Only rows of this role.")
@click.option("--verdict", metavar="VERDICT", help='Only rows of this verdict; "missed" takes the explained ones too.')
@click.option("--notes", is_flag=True, help="Print the note and the source of each row.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for programs: the form of data/scorecard.csv.")
def command(
    *, study: str | None, role: str | None, verdict: str | None, notes: bool, as_json: bool, as_csv: bool
) -> None:
    """Run ``hopper scorecard``."""
    from hopperlib import scorecard

    if as_json and as_csv:
        fail("--json and --csv are two forms of one thing; give one of them", as_json=True)
    try:
        table = scorecard.select(scorecard.rows(study), role=role, verdict=verdict)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    if as_json:
        print_json({"rows": [row.to_dict() for row in table], "summary": scorecard.summary(table)})
    elif as_csv:
        click.echo(scorecard.to_csv(table), nl=False)
    elif not table:
        click.echo("no row is like that")
    else:
        _print_rows(table, notes=notes)
        click.echo(f"\n{scorecard.summary_line(table)}")
    if scorecard.unexplained(table):
        names = ", ".join(row.id for row in scorecard.unexplained(table))
        click.echo(f"hopper: missed, and nobody explains it: {names}", file=sys.stderr)
        raise SystemExit(1)
