"""``hopper nodes``: positions of the nodes of a machine with a torus."""

from collections.abc import Sequence
from typing import Any

import click

from hopperkit.cli.common import complete, json_option, machine_names, print_json, refusing


def print_nodes(
    node: Sequence[str] = (),
    machine: str = "hopper",
    as_csv: bool = False,
    as_json: bool = False,
) -> None:
    """Print the positions of the named nodes or of all nodes; without either, a summary of the floor.

    Parameters
    ----------
    node : sequence of str, default ()
        Numbers or names of nodes; empty for all.
    machine : str, default "hopper"
        Machine with a torus.
    as_csv : bool, default False
        Whether all nodes are printed as CSV.
    as_json : bool, default False
        Whether nodes are printed as JSON.

    Examples
    --------
    >>> print_nodes(['449'])
    nid,cname,x,y,z
    449,c2-1c1s0n1,16,6,15
    """
    from hopperlib.machine import Machine
    from hopperlib.network.torus.wiring import Wiring

    wiring = Wiring.of(Machine.load(machine))
    named = [wiring.address(int(name)) if name.isdigit() else wiring.find(name) for name in node]
    shown: Sequence[Any] = named if node else wiring.addresses
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
        click.echo("Use --csv to print all of them, or name nodes (449 or c6-3c1s5n1) to see their positions.")


@click.command("nodes", short_help="Locations of a machine's nodes, on the floor and in the torus.")
@click.argument("node", nargs=-1)
@click.option("--machine", metavar="M", default="hopper", help="Name or file.", shell_complete=complete(machine_names))
@click.option("--csv", "as_csv", is_flag=True, help="Print nid,cname,x,y,z of all nodes.")
@json_option
@refusing
def nodes(**values: Any) -> None:
    r"""Print positions of nodes: number, name, and coordinates in the torus.

    NODE is a number (449) or a name (c6-3c1s5n1).

    \b
      hopper nodes c6-3c1s5n1 449
      hopper nodes --machine titan --csv
    """
    print_nodes(**values)
