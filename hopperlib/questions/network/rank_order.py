"""Question: which rank goes where, and how many neighbors that keeps on one node."""

from __future__ import annotations

import sys
from math import prod

from hopperlib.errors import InputError
from hopperlib.network import rank_order as ro
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Download, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# In a page, more would take longer than a move of a control may.
_MOST_TASKS = 8_192
_TO_USE = Copyable(
    "To use the file",
    "export MPICH_RANK_REORDER_METHOD=3",
    "The file MPICH_RANK_ORDER lies in the directory where the job starts.",
)
_TRIANGLES = {
    "diagonal": ro.diagonal_major,
    "balanced-diagonal": ro.balanced_diagonal_major,
    "balanced-column": ro.balanced_column_major,
}


def _grid(name: str, text: str) -> ro.Grid:
    """Return a typed grid, its fault pinned on its control."""
    try:
        return ro.parse_grid(text)
    except ValueError as error:
        raise InputError(str(error), name=name) from error


def _figure(rows: list[tuple[str, int]], pairs: int) -> Figure:
    """Return the bars of off-node pairs for the orders."""
    words = ", ".join(f"{name} {count:,}" for name, count in rows)
    return chart(
        title="Neighbor pairs on different nodes",
        alt=f"Bars of neighbor pairs off node, of {pairs:,} in all: {words}.",
        x=Axis(title="Order"),
        y=Axis(title="Pairs off node", low=0),
        series=[Series(name="off node", x=[name for name, _ in rows], y=[count for _, count in rows], kind="bars")],
        showlegend=False,
    )


def _triangle_table(order: str, side: int) -> Table:
    """Return MFDn's triangle as a table."""
    triangle = _TRIANGLES[order](side)
    return Table(
        caption=f"MFDn's triangle of {side} rows",
        columns=(Column("Row"), *(Column(str(column)) for column in range(1, side + 1))),
        rows=tuple((number, *("" if cell is None else cell for cell in row)) for number, row in enumerate(triangle, 1)),
    )


def _of_matrix(matrix: str, cores_per_node: int) -> Result:
    """Answer for what pairs of ranks were measured to send each other."""
    try:
        ranks, pairs = ro.read_matrix(matrix.splitlines())
    except InputError as error:
        raise InputError(f"matrix: {error}", name="matrix") from None
    order = ro.order_for_matrix(ranks, pairs, cores_per_node)
    total = sum(pairs.values())
    before, after = (ro.off_node_weight(tried, pairs, cores_per_node) for tried in (range(ranks), order))
    text = ro.rank_order_file(order, f"{ranks} tasks by what they send each other, {cores_per_node} on a node")
    shares = [100 * part / total for part in (before, after)]
    return Result(
        summary=f"{shares[1]:.1f} % of what {ranks:,} tasks send goes off node in the order found, {shares[0]:.1f} % as numbered.",
        values=(
            Value("Sent off node, as numbered", shares[0], "predicted", "%", 1),
            Value(
                "In the order found", shares[1], "predicted", "%", 1, note="found step by step, not the best there is"
            ),
        ),
        copyables=(_TO_USE,),
        downloads=(Download(name="MPICH_RANK_ORDER", text=text),),
        facts={
            "tasks": ranks,
            "pairs": len(pairs),
            "off_node_before": before,
            "off_node_after": after,
            "off_node": after,
        },
    )


def _answer(
    *, grid: str, cores_per_node: int, block: str, periodic: bool, matrix: str, triangle: str, side: int
) -> Result:
    """Answer for one grid and one triangle, or for one matrix."""
    if matrix.strip():
        return _of_matrix(matrix, cores_per_node)
    size = _grid("grid", grid)
    ranks = prod(size)
    if ranks > _MOST_TASKS and sys.platform == "emscripten":
        rule = f"has {ranks:,} tasks; a page takes {_MOST_TASKS:,} at most, `hopper rank-order` takes more"
        raise InputError(f"grid={grid} {rule}", name="grid", value=grid, rule=rule)
    before = ro.off_node_pairs(range(ranks), size, cores_per_node, periodic=periodic)
    box, order, after = ro.best_block(size, cores_per_node, periodic=periodic)
    rows = [("as numbered", before), (f"boxes of {'x'.join(map(str, box))}", after)]
    if block.strip():
        own = _grid("block", block)
        own += (1,) * (len(size) - len(own))
        box, order = own, ro.block_order(size, own)
        own_pairs = ro.off_node_pairs(order, size, cores_per_node, periodic=periodic)
        rows.append((f"your boxes of {'x'.join(map(str, own))}", own_pairs))
    pairs = ro.neighbor_count(size, periodic=periodic)
    left = rows[-1][1]
    note = f"{'x'.join(map(str, size))} tasks, {rows[-1][0]}, {cores_per_node} on a node"
    row, column = ro.triangle_imbalance(_TRIANGLES[triangle](side))
    saved = (
        f"{100 * (1 - left / before):.0f} % fewer than as numbered" if before else "none were off node to begin with"
    )
    return Result(
        summary=f"{left:,} of {pairs:,} neighbor pairs are off node with {rows[-1][0]}: {saved}.",
        values=(
            Value("Pairs off node, as numbered", before, "predicted", note=f"of {pairs:,}"),
            Value(f"With {rows[-1][0]}", left, "predicted", note=f"of {pairs:,}"),
            Value("MFDn's fullest row over the mean", row, "predicted", decimals=2, note="1 is balanced"),
            Value("MFDn's fullest column over the mean", column, "predicted", decimals=2),
        ),
        figures=(_figure(rows, pairs),),
        copyables=(_TO_USE,),
        tables=(_triangle_table(triangle, side),),
        downloads=(Download(name="MPICH_RANK_ORDER", text=lambda: ro.rank_order_file(order, note)),),
        facts={
            "tasks": ranks,
            "block": list(box),
            "pairs": pairs,
            "off_node_before": before,
            "off_node_after": left,
            "off_node": left,
            "best": after,
        },
    )


QUESTION = declared(__name__, _answer)
