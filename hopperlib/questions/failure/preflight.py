"""Question: which nodes have too little memory free before a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hopperlib.errors import InputError
from hopperlib.failure.nodes.preflight import NodeMemory, Report, node_list, read_buddyinfo, report
from hopperlib.failure.nodes.risk import chance_of_bad_node
from hopperlib.finding import Finding
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import Column, Copyable, Facts, Result, Table, Value

__all__ = ["QUESTION"]


def _answer(
    *, buddyinfo: str, need_gb: float, need_huge_pages: int, huge_page_mb: float, page_bytes: int, job_nodes: int
) -> Result:
    """Answer for the copies of some nodes. A need of zero asks for nothing."""
    huge_bytes = round(huge_page_mb * 2**20)
    try:
        nodes, unread = read_buddyinfo(buddyinfo.splitlines(), page_bytes=page_bytes)
        found = report(nodes, need_gb=need_gb or None, need_huge_pages=need_huge_pages, huge_page_bytes=huge_bytes)
        found.nodes[0].huge_pages(huge_bytes)
    except ValueError as error:
        raise InputError(str(error), name="buddyinfo") from error
    least = found.nodes[0]
    short = f" {len(found.short)} short of what the job needs." if found.short else ""
    return Result(
        summary=(
            f"{len(found.nodes):,} nodes, median {found.median_gb:.2f} GB free, "
            f"least {least.free_gb:.2f} GB on {least.name}.{short}"
        ),
        findings=(
            *_findings(found, unread, is_sample(QUESTION, "buddyinfo", buddyinfo)),
            *([_chance(found, job_nodes)] if job_nodes else []),
        ),
        values=(
            Value("Free on the median node", found.median_gb, "documented", "GB", 2, note="counted in your text"),
            Value("Free on the least node", least.free_gb, "documented", "GB", 2, note=f"on {least.name}"),
        ),
        copyables=(Copyable("Nodes to leave out", _names(found)),) if found.short else (),
        tables=(_table(found, huge_bytes),),
        facts=Facts(
            {"count": len(found.nodes), "short": len(found.short)},
            rest=lambda: {
                "nodes": [_row(found, node, huge_bytes) for node in found.nodes],
                "median_free_gb": round(found.median_gb, 3),
                "need_gb": need_gb or None,
                "unread": unread,
            },
        ),
    )


def _names(found: Report) -> str:
    """Return the nodes that are short as launchers take them."""
    return node_list(node.name for node in found.short)


def _findings(found: Report, unread: list[str], sample: bool) -> Iterator[Finding]:
    """Yield which nodes are short, which differ, and what could not be read."""
    if found.short:
        message = f"{len(found.short)} nodes are short; leave them out with: {_names(found)}"
        yield Finding("short", message, "problem")
        if any(node.name.isdigit() for node in found.short):
            message = "these are numbers of tasks, as srun --label writes them, and no names of nodes"
            yield Finding("task-numbers", message, "advice")
    if found.outliers:
        names = node_list(node.name for node in found.outliers)
        yield Finding("outliers", f"much less free than on the others: {names}", "note")
    if unread:
        count = "1 line" if len(unread) == 1 else f"{len(unread):,} lines"
        yield Finding("unread", f"{count} could not be read, the first is {unread[0]}", "note")
    if sample:
        yield Finding("made-up", "This text is made up: paste or drop your own.", "note")


def _chance(found: Report, job_nodes: int) -> Finding:
    """Say how likely a job on so many of these nodes finds what it needs on all of them."""
    seen, short = len(found.nodes), len(found.short)
    if job_nodes > seen:
        message = f"cannot tell the chance of a job on {job_nodes:,} nodes from {seen:,}: look at more of them"
        return Finding("chance", message, "unknown")
    chance = 1 - chance_of_bad_node(seen, short, job_nodes)
    message = (
        f"{job_nodes:,} of these nodes, taken at random, all have what the job needs with a chance of {chance:.1%}"
    )
    return Finding("chance", message, "note")


def _row(found: Report, node: NodeMemory, huge_bytes: int) -> dict[str, Any]:
    """Return a node for programs."""
    return {
        "node": node.name,
        "free_gb": round(node.free_gb, 3),
        "largest_order": node.largest_order,
        "huge_pages": node.huge_pages(huge_bytes),
        "short": node in found.short,
        "outlier": node in found.outliers,
    }


def _table(found: Report, huge_bytes: int) -> Table:
    """Return the nodes, the one with the least first; marked are those that are short."""
    return Table(
        caption="Nodes, the least memory first",
        columns=(
            Column("Node"),
            Column("Free", "GB", 2, "documented"),
            Column("Largest order"),
            Column("Huge pages"),
            Column("Apart from the others"),
        ),
        rows=[
            (node.name, node.free_gb, node.largest_order, node.huge_pages(huge_bytes), node in found.outliers)
            for node in found.nodes
        ],
        marked=tuple(place for place, node in enumerate(found.nodes) if node in found.short),
        marked_label="short",
    )


QUESTION = declared(__name__, _answer)
