"""``hopper torus``: where the nodes of a Gemini machine sit in its torus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hopperlib.cli.common import fail, print_json

if TYPE_CHECKING:
    from hopperlib.network.torus.wiring import Wiring

__all__ = ["command"]

_HELP = """Say where the nodes of a Gemini machine sit: number, name and torus coordinates.

Give a floor (Titan's is 25 x 8, Blue Waters' 24 x 12, Hopper's 17 x 4) or a machine. Without --csv
or --json the command prints what the torus is; with nodes as arguments, where those sit.

\b
  hopper torus --columns 17 --rows 4 --csv
  hopper torus --machine hopper c6-3c1s5n1 449
"""


@click.command(name="torus", help=_HELP, short_help="Where the nodes of a Gemini machine sit.")
@click.argument("node", nargs=-1)
@click.option("--columns", type=int, metavar="C", help="Cabinets along the floor's longer side.")
@click.option("--rows", type=int, metavar="R", help="Rows of cabinets.")
@click.option("--machine", metavar="M", help="A machine's name or file, in place of a floor.")
@click.option(
    "--table", type=click.Path(), metavar="FILE", help="Read the nodes from CSV (nid,cname,x,y,z), for other wirings."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print nid,cname,x,y,z of all nodes, service positions included.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    node: tuple[str, ...],
    columns: int | None,
    rows: int | None,
    machine: str | None,
    table: str | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Answer ``hopper torus``."""
    from hopperlib.network.torus.wiring import NodeAddress

    try:
        wiring = _wiring(columns, rows, machine, table)
        found = [wiring.address(int(name)) if name.isdigit() else wiring.find(name) for name in node]
    except ValueError as error:
        fail(str(error), as_json=as_json)
    shown: tuple[NodeAddress, ...] | list[NodeAddress] = found if node else wiring.addresses
    if as_json:
        print_json(
            {
                "dimensions": list(wiring.dimensions),
                "nodes": [dict(zip(NodeAddress._fields, address, strict=True)) for address in shown],
            }
        )
    elif as_csv or node:
        lines = [",".join(NodeAddress._fields), *(f"{a.nid},{a.cname},{a.x},{a.y},{a.z}" for a in shown)]
        click.echo("\n".join(lines))
    else:
        x, y, z = wiring.dimensions
        click.echo(
            f"{wiring.columns} x {wiring.rows} cabinets: a torus of {x} x {y} x {z} routers, {wiring.nodes:,} node positions."
        )
        click.echo("Print them all with --csv; name nodes (449 or c6-3c1s5n1) to see where those sit.")


def _wiring(columns: int | None, rows: int | None, machine: str | None, table: str | None) -> Wiring:
    """Return the wiring that was asked for; `ValueError` if the options do not fit together."""
    from hopperlib.cli.common import read_source
    from hopperlib.machine import Machine
    from hopperlib.network.torus.wiring import Wiring

    floor = columns is not None or rows is not None
    if floor + (machine is not None) + (table is not None) > 1:
        raise ValueError("give one of: a floor (--columns and --rows), --machine, --table")
    if table is not None:
        return Wiring.from_table(read_source(table, what="node table"))
    if floor:
        if columns is None or rows is None:
            raise ValueError("a floor needs both --columns and --rows")
        return Wiring(columns, rows)
    return Wiring.of(Machine.load(machine or "hopper"))
