"""The commands of the network that do more than ask: ``hopper torus`` and ``hopper rank-order``."""

from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import print_json, read_source, write_lines
from hopperlib.cli.question import answer, show

if TYPE_CHECKING:
    from hopperlib.network.torus.wiring import Wiring
    from hopperlib.questions.question import Question


def torus(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer the question; or, for a floor, a table or named nodes, print where nodes sit."""
    names = ("node", "columns", "rows", "machine", "table", "as_csv")
    node, columns, rows, machine, table, as_csv = (values.pop(name, None) for name in names)
    # Any control that is given asks the question; the other options ask for the wiring alone.
    if values or not (node or columns or rows or machine or table or as_csv):
        answer(question, values, as_json, show_all)
        return
    wiring = _wiring(columns, rows, machine, table)
    named = [wiring.address(int(name)) if name.isdigit() else wiring.find(name) for name in node or ()]
    shown = named if node else wiring.addresses
    if as_json:
        nodes = [address._asdict() for address in shown]
        print_json({"dimensions": list(wiring.dimensions), "nodes": nodes})
    elif as_csv or node:
        click.echo("nid,cname,x,y,z")
        click.echo("\n".join(f"{a.nid},{a.cname},{a.x},{a.y},{a.z}" for a in shown))
    else:
        size = " x ".join(map(str, wiring.dimensions))
        click.echo(
            f"{wiring.columns} x {wiring.rows} cabinets: a torus of {size} routers, {wiring.nodes:,} node positions."
        )
        click.echo("Print them all with --csv; name nodes (449 or c6-3c1s5n1) to see where those sit.")


def _wiring(columns: int | None, rows: int | None, machine: str | None, table: str | None) -> "Wiring":
    """Return the wiring that was asked for; `ValueError` if the options do not fit together."""
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


def rank_order(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer, and write the file; ``-`` prints it in place of the answer."""
    out, neighbors = values.pop("out", None), values.pop("neighbors", None)
    if not values.get("matrix") and "grid" not in values:
        raise click.UsageError("Missing option '--grid', or '--matrix' in its place.")
    if neighbors is not None:
        values["periodic"] = neighbors == "3d-periodic"
    result = question.run(**values)
    text = result.downloads[0].text
    if out not in (None, "-"):
        write_lines(out, [text], as_json=as_json)
    if out == "-" and not as_json:
        click.echo(text, nl=False)
    else:
        show(question.name, result, as_json, show_all)
        if out is not None and not as_json:
            click.echo(f"written to {out}; set MPICH_RANK_REORDER_METHOD=3 in the job")
