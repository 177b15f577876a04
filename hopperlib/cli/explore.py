"""``hopper explore``: the explorers of the book, answered in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.questions.explorer import Explorer
    from hopperlib.questions.result import Result, Table

__all__ = ["command"]

_HELP = """Answer an explorer of the book in the terminal, or list them.

NAME is one out of the list that `hopper explore` prints. Exit status: 0 fine, 1 the answer holds a
problem, 2 a setting is refused.

\b
  hopper explore placement --set "line=aprun -n 48 -d 6 ./a.out"
  hopper explore placement --set line=@job.pbs --set threads=6 --json
"""

# Rows of a table that are printed for people.
_MOST_ROWS = 24


def _read_settings(pairs: tuple[str, ...], explorer: Explorer, as_json: bool) -> dict[str, str]:
    """Return ``name=value`` pairs as values; ``name=@FILE`` takes a file's text."""
    values: dict[str, str] = {}
    known = {control.name: control for control in explorer.controls}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            fail(f"--set {pair!r} must be name=value; {explorer.name} has: {', '.join(known)}", as_json=as_json)
        # Only text controls can hold a file; elsewhere an @ is refused by the control itself.
        if value.startswith("@") and name in known and known[name].kind in ("text", "file"):
            value = read_source(value[1:], what=f"text of {name}", as_json=as_json)
        values[name] = value
    return values


def _print_list(as_json: bool) -> None:
    """Print the explorers there are."""
    from hopperlib.questions.catalogue import EXPLORERS
    from hopperlib.questions.explorer import load

    explorers = [load(name) for name in EXPLORERS]
    if as_json:
        print_json({"explorers": [explorer.to_dict() for explorer in explorers]})
        return
    width = max(len(explorer.name) for explorer in explorers)
    for explorer in explorers:
        click.echo(f"{explorer.name:<{width}}  {explorer.question}")
    click.echo("\nhopper explore NAME answers one; hopper explore NAME --controls lists what can be set.")


def _print_controls(explorer: Explorer) -> None:
    """Print what can be set on an explorer."""
    click.echo(f"{explorer.title}\n{explorer.question}\n")
    for control in explorer.controls:
        data = control.to_dict()
        if control.kind in ("slider", "number"):
            allowed = f"{data['low']:g} to {data['high']:g} {control.unit}".strip()
        elif control.kind == "choice":
            allowed = ", ".join(value for value, _ in data["options"])
        elif control.kind == "switch":
            allowed = "true, false"
        else:
            allowed = "text, or @FILE"
        default = str(data["default"]) if len(str(data["default"])) <= 40 else "a sample text"
        click.echo(f"  {control.name}  ({allowed}; default {default or 'empty'})")
        click.echo(f"      {control.label}. {control.help}".rstrip())


def _rows(table: Table) -> list[str]:
    """Return a table as lines with aligned columns, the first of them if it is long."""
    data = table.to_dict()
    left_off = len(data["rows"]) - _MOST_ROWS
    data["rows"] = data["rows"][:_MOST_ROWS]
    heads = [column["heading"] for column in data["columns"]]
    widths = [max(len(row[i]) for row in [heads, *data["rows"]]) for i in range(len(heads))]
    right = data["numeric"]
    lines = []
    for number, row in enumerate([heads, *data["rows"]], start=-1):
        cells = [f"{cell:>{w}}" if r else f"{cell:<{w}}" for cell, w, r in zip(row, widths, right, strict=True)]
        mark = f"  <- {table.marked_label}" if number in table.marked else ""
        lines.append(("  ".join(cells) + mark).rstrip())
    if left_off > 0:
        lines.append(f"... and {left_off} more; --json and --csv print them")
    return lines


def _print_result(explorer: Explorer, result: Result) -> None:
    """Print an answer for people: everything but charts and drawings, whose description stands for them."""
    styled = sys.stdout.isatty()
    click.echo(click.style(explorer.title, bold=True) if styled else explorer.title)
    click.echo(result.summary)
    for notice in result.warnings:
        click.echo(f"\n{notice.level}: {notice.message} [{notice.code}]")
    if result.values:
        click.echo()
    for value in result.values:
        unit = f" {value.unit}" if value.unit else ""
        click.echo(f"{value.label}: {value.text}{unit} ({value.badge}){f'; {value.note}' if value.note else ''}")
    described = [(drawing.title, drawing.alt) for drawing in result.drawings]
    for title, alt in described + [(figure.title, figure.alt) for figure in result.figures]:
        click.echo(f"\n{title}: {alt}")
    for copyable in result.copyables:
        click.echo(f"\n{copyable.title}:\n  {copyable.text}")
    for listing in result.listings:
        click.echo(f"\n{listing.title}")
        for line in listing.lines:
            if line.mark:
                click.echo(f"{line.number:>6} {line.mark}: {line.text}")
    for table in result.tables:
        click.echo(f"\n{table.caption}")
        for text in _rows(table):
            click.echo(text)


@click.command(name="explore", help=_HELP, short_help="Answer an explorer of the book in the terminal.")
@click.argument("name", required=False)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a control; NAME=@FILE takes a file's text, @- standard input.",
)
@click.option("--controls", is_flag=True, help="List what can be set.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the first table as CSV.")
def command(*, name: str | None, settings: tuple[str, ...], controls: bool, as_json: bool, as_csv: bool) -> None:
    """Run ``hopper explore``."""
    from hopperlib.questions.controls import InputError
    from hopperlib.questions.explorer import load

    if as_json and as_csv:
        fail("--json and --csv are two forms of one thing; give one of them", as_json=True)
    if name is None:
        _print_list(as_json)
        return
    details: dict[str, Any] = {"control": None}
    try:
        explorer = load(name)
        if controls:
            if as_json:
                print_json(explorer.to_dict())
            else:
                _print_controls(explorer)
            return
        result = explorer.run(**_read_settings(settings, explorer, as_json))
    except InputError as error:
        fail(error.message, as_json=as_json, details=details | {"control": error.control})
    if as_json:
        print_json(result.to_dict())
    elif as_csv:
        tables = result.tables or tuple(figure.table for figure in result.figures)
        if not tables:
            fail(f"explorer {name!r} answers without a table")
        click.echo(tables[0].to_csv(), nl=False)
    else:
        _print_result(explorer, result)
    if any(notice.level == "problem" for notice in result.warnings):
        raise SystemExit(1)
