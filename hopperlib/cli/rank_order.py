"""``hopper rank-order``: a MPICH_RANK_ORDER file that keeps a grid's neighbors together."""

from __future__ import annotations

from pathlib import Path

import click

from hopperlib.cli.common import fail, print_json

__all__ = ["command"]

_HELP = """Write a MPICH_RANK_ORDER file that keeps neighbors of a grid on one node.

Prints how many neighbor pairs sit on different nodes before and after.

\b
  hopper rank-order --grid 16x16x12 --cores-per-node 24 --out MPICH_RANK_ORDER
  export MPICH_RANK_REORDER_METHOD=3
"""


@click.command(name="rank-order", help=_HELP, short_help="A rank order that keeps neighbors together.")
@click.option("--grid", required=True, metavar="XxYxZ", help="Tasks along each dimension, the first counted fastest.")
@click.option("--cores-per-node", required=True, type=int, metavar="N", help="Tasks on a node.")
@click.option(
    "--neighbors", "--neighbours", default="3d", show_default=True, help="3d, or 3d-periodic for joined edges."
)
@click.option("--block", metavar="XxYxZ", help="Box of the grid for a node; by default the best one.")
@click.option("--out", metavar="FILE", help="Write the file here; - prints it.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(grid: str, cores_per_node: int, neighbors: str, block: str | None, out: str | None, as_json: bool) -> None:
    """Answer ``hopper rank-order``."""
    from hopperlib.network import rank_order as ro

    try:
        if neighbors not in ("3d", "3d-periodic"):
            raise ValueError(f"--neighbors {neighbors} must be 3d or 3d-periodic")
        size, periodic = ro.parse_grid(grid), neighbors == "3d-periodic"
        ranks = size[0] * size[1] * size[2]
        before = ro.off_node_pairs(range(ranks), size, cores_per_node, periodic=periodic)
        if block is None:
            box, order, after = ro.best_block(size, cores_per_node, periodic=periodic)
        else:
            box = ro.parse_grid(block)
            order = ro.block_order(size, box)
            after = ro.off_node_pairs(order, size, cores_per_node, periodic=periodic)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    pairs = sum(1 for _ in ro.neighbor_pairs(size, periodic=periodic))
    note = f"{'x'.join(map(str, size))} tasks in boxes of {'x'.join(map(str, box))}, {cores_per_node} on a node"
    text = ro.rank_order_file(order, note)
    if out == "-":
        click.echo(text, nl=False)
    elif out is not None:
        try:
            Path(out).write_text(text, encoding="ascii")
        except OSError as error:
            fail(f"cannot write {out}: {error.strerror or error}", as_json=as_json)
    summary = {"tasks": ranks, "block": list(box), "pairs": pairs, "off_node_before": before, "off_node_after": after}
    if as_json:
        print_json(summary)
    elif out != "-":
        click.echo(f"{ranks:,} tasks in boxes of {'x'.join(map(str, box))}: of {pairs:,} neighbor pairs")
        click.echo(
            f"  off node before: {before:,} ({100 * before / pairs:.1f} %)" if pairs else "  there are no neighbors"
        )
        if pairs:
            click.echo(f"  off node after:  {after:,} ({100 * after / pairs:.1f} %)")
        if out is not None:
            click.echo(f"written to {out}; set MPICH_RANK_REORDER_METHOD=3 in the job")
