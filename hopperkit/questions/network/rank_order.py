"""Question: which rank goes where, and how many neighbors that keeps on one node."""

import sys
from collections.abc import Mapping
from math import prod

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Download, Figure, Result, Snippet, Value
from hopperlib.errors import InputError, attributed_to
from hopperlib.network import rank_order as ro
from hopperlib.text import share

# In a page, more would take longer than a move of a control may.
_MAX_TASKS_ON_PAGE = 8_192
_MAX_DRAWN = 1_024
_USE = Snippet(
    "To use the file",
    "export MPICH_RANK_REORDER_METHOD=3",
    "The file MPICH_RANK_ORDER must be in the job's working directory.",
)


class Ranks(ask.Setting):
    """A grid of ranks, and the nodes they run on."""

    grid: str = ask.text(
        "Tasks along x, y, z and t", "16x16x12", max_length=40, required=True, help="Ranks are counted along x first."
    )
    cores_per_node: int = ask.slider("Tasks on a node", 24, (1, 1024, 1), required=True)
    block: str = ask.text(
        "Box of the grid for a node",
        max_length=40,
        placeholder="2x4x3",
        help="Empty: the page finds the best box.",
    )
    periodic: bool = ask.switch("Periodic grid", False, advanced=True)

    def sides(self, name: str) -> ro.Grid:
        """Return a grid that was typed in, its fault pinned on its control."""
        with attributed_to(name):
            return ro.parse_grid(getattr(self, name))


def answer(ranks: Ranks) -> Result:
    """Return the answer.

    Parameters
    ----------
    ranks : Ranks
        A grid of ranks, and the nodes they run on.

    Returns
    -------
    Result
        The answer.

    Raises
    ------
    InputError
        If the grid has more tasks than a page takes.

    Examples
    --------
    >>> answer(Ranks()).facts['off_node_after']
    2688
    """
    grid, cores, periodic = ranks.sides("grid"), ranks.cores_per_node, ranks.periodic
    tasks, pairs = prod(grid), ro.neighbor_count(grid, periodic=periodic)
    if tasks > _MAX_TASKS_ON_PAGE and sys.platform == "emscripten":
        rule = f"has {tasks:,} tasks; a page takes {_MAX_TASKS_ON_PAGE:,} at most, `hopper rank-order` takes more"
        raise InputError(f"grid={ranks.grid} {rule}", name="grid", value=ranks.grid, rule=rule)
    before = ro.off_node_pairs(range(tasks), grid, cores, periodic=periodic)
    box, order, best = ro.best_block(grid, cores, periodic=periodic)
    way, after = f"boxes of {_sides(box)}", best
    off_node = {"as numbered": before, way: best}
    if ranks.block.strip():
        sides = ranks.sides("block")
        box = sides + (1,) * (len(grid) - len(sides))
        order = ro.block_order(grid, box)
        way, after = f"your boxes of {_sides(box)}", ro.off_node_pairs(order, grid, cores, periodic=periodic)
        off_node[way] = after
    fewer = f"{share(1 - after / before)} fewer than as numbered" if before else "none were off node to begin with"
    note = f"{_sides(grid)} tasks, {way}, {cores} on a node"
    return Result(
        summary=f"{after:,} of {pairs:,} neighbor pairs are off node with {way}: {fewer}.",
        values=(
            Value("Pairs off node, as numbered", before, "predicted", note=f"of {pairs:,}"),
            Value(f"With {way}", after, "predicted", note=f"of {pairs:,}"),
        ),
        figures=(_off_node(off_node, pairs),),
        copyables=(_USE,),
        downloads=(Download("MPICH_RANK_ORDER", lambda: ro.rank_order_file(order, note)),),
        facts={
            "tasks": tasks,
            "pairs": pairs,
            "off_node_before": before,
            "off_node_after": after,
            "off_node": after,
            "block": list(box),
            "best": best,
            "grid": list(grid),
            # A page draws the first nodes.
            "order": order[:_MAX_DRAWN],
        },
    )


def _sides(box: ro.Grid) -> str:
    """Return the sides of a box in words."""
    return "x".join(map(str, box))


def _off_node(counts: Mapping[str, int], pairs: int) -> Figure:
    """Return the bars of off-node pairs by the way of ordering."""
    listed = ", ".join(f"{name} {off_node:,}" for name, off_node in counts.items())
    return chart(
        title="Neighbor pairs on different nodes",
        alt=f"Bars of neighbor pairs off node, of {pairs:,} in all: {listed}.",
        x=Axis(title="Order"),
        y=Axis(title="Pairs off node", low=0),
        series=[Series(name="off node", x=list(counts), y=list(counts.values()), kind="bars")],
    )


QUESTION = ask.declared(
    Ranks,
    answer,
    title="Which rank goes where?",
    examples={
        "S3D on 3,072 cores": {"grid": "16x16x12", "block": ""},
        "Long boxes": {"grid": "16x16x12", "block": "12x2x1"},
        "128 tasks per node": {"grid": "32x16x16", "cores_per_node": 128},
    },
)
