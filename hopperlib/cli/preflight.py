"""``hopper preflight``: free memory of nodes before a run, from /proc/buddyinfo."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hopperlib.cli.common import fail, print_json, read_source

__all__ = ["command"]

_HELP = """Report free memory before a run, from /proc/buddyinfo: how much, and in how large pieces.

Without FILE the command reads this node's own. For many nodes give what pdsh, clush or srun collect:

\b
  pdsh -a cat /proc/buddyinfo > nodes.txt; hopper preflight nodes.txt --need 29GB --exclude-list
  srun --label --ntasks-per-node=1 cat /proc/buddyinfo | hopper preflight - --need 29GB
  srun --ntasks-per-node=1 sh -c 'sed "s/^/$(hostname -s): /" /proc/buddyinfo' | hopper preflight -

With --label srun names tasks, not nodes: the last line names the nodes.

Nothing is taken out of service: the report is for you to act on. Exit status: 0 fine, 1 a node is
short, 2 bad input.
"""


@click.command(name="preflight", help=_HELP, short_help="Free memory of nodes before a run.")
@click.argument("file", required=False)
@click.option("--need", metavar="SIZE", help="Free memory a node must have, such as 29GB (binary) or 500MB.")
@click.option("--need-huge-pages", type=click.IntRange(0), default=0, metavar="N", help="Huge pages a node must have.")
@click.option("--huge-page", default="2MB", show_default=True, metavar="SIZE", help="Size of a huge page.")
@click.option(
    "--page", "page_bytes", type=click.IntRange(1), default=4096, show_default=True, help="Size of a base page. [bytes]"
)
@click.option("--exclude-list", is_flag=True, help="Print only the nodes that are short, as launchers take them.")
@click.option("--all", "show_all", is_flag=True, help="List every node, not only those that are short or stand out.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    file: str | None,
    need: str | None,
    need_huge_pages: int,
    huge_page: str,
    page_bytes: int,
    exclude_list: bool,
    show_all: bool,
    as_json: bool,
) -> None:
    """Answer ``hopper preflight``."""
    from hopperlib.failure.nodes.preflight import NodeMemory, node_list, read_buddyinfo, report
    from hopperlib.units import BYTES_PER_MEMORY_GB, size_bytes

    if file is None and not Path("/proc/buddyinfo").exists():
        fail("this machine has no /proc/buddyinfo; give a file with the copies of the nodes", as_json=as_json)
    text = read_source(file or "/proc/buddyinfo", what="buddyinfo")
    try:
        huge_bytes = size_bytes(huge_page, binary=True)
        nodes, unread = read_buddyinfo(text.splitlines(), page_bytes=page_bytes)
        need_gb = None if need is None else size_bytes(need, binary=True) / BYTES_PER_MEMORY_GB
        found = report(nodes, need_gb=need_gb, need_huge_pages=need_huge_pages, huge_page_bytes=huge_bytes)
        found.nodes[0].huge_pages(huge_bytes)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    if unread:
        count = "1 line" if len(unread) == 1 else f"{len(unread):,} lines"
        click.echo(f"hopper: {count} could not be read, the first is {unread[0]}", err=True)
    if exclude_list and any(node.name.isdigit() for node in found.short):
        click.echo("hopper: these are numbers of tasks, as srun --label writes them, and no names of nodes", err=True)

    def row(node: NodeMemory) -> dict[str, object]:
        return {
            "node": node.name,
            "free_gb": round(node.free_gb, 3),
            "largest_order": node.largest_order,
            "huge_pages": node.huge_pages(huge_bytes),
            "short": node in found.short,
            "outlier": node in found.outliers,
        }

    if as_json:
        shown = [row(node) for node in found.nodes]
        print_json({"nodes": shown, "median_free_gb": round(found.median_gb, 3), "need_gb": need_gb, "unread": unread})
    elif exclude_list:
        click.echo(node_list(node.name for node in found.short))
    else:
        click.echo(
            f"{len(found.nodes):,} nodes, median {found.median_gb:.2f} GB free, least {found.nodes[0].free_gb:.2f} GB on {found.nodes[0].name}"
        )
        listed = found.nodes if show_all else dict.fromkeys((*found.short, *found.outliers))
        for node in listed:
            flags = ", ".join(
                word for word, there in (("short", node in found.short), ("outlier", node in found.outliers)) if there
            )
            order = "-" if node.largest_order is None else str(node.largest_order)
            click.echo(
                f"  {node.name}  {node.free_gb:8.2f} GB free  largest order {order:>2}  {node.huge_pages(huge_bytes):6,} huge pages  {flags}".rstrip()
            )
        if found.short:
            click.echo(
                f"short: {len(found.short)} nodes; leave them out with: {node_list(node.name for node in found.short)}"
            )
    sys.exit(1 if found.short else 0)
