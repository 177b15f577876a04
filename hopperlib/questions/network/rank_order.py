"""Question: which rank goes where, and how many neighbors that keeps on one node."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any

from hopperlib.errors import InputError, refusal
from hopperlib.machine import Machine
from hopperlib.network import rank_order as ro
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.network.torus_order import HopsSent, Sent, order_on_torus
from hopperlib.questions import ask
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import Example
from hopperlib.questions.result import Column, Copyable, Download, Figure, Result, Table, Value
from hopperlib.scheduling.cluster import node_names
from hopperlib.text import share

# In a page, more would take longer than a move of a control may.
_MAX_TASKS_ON_PAGE = 8_192
_MAX_DRAWN = 1_024
_MAX_ROWS = 12
_TRIANGLES = {
    "diagonal": ro.diagonal_major,
    "balanced-diagonal": ro.balanced_diagonal_major,
    "balanced-column": ro.balanced_column_major,
}
_USE = Copyable(
    "To use the file",
    "export MPICH_RANK_REORDER_METHOD=3",
    "The file MPICH_RANK_ORDER lies in the directory where the job starts.",
)


class Ranks(ask.Setting):
    """A grid of ranks, or what pairs of them send, and the nodes they run on."""

    grid: str = ask.text(
        "Tasks along x, y, z and t", "16x16x12", max_length=40, help="Ranks are counted along x first."
    )
    cores_per_node: int = ask.slider("Tasks on a node", 24, (1, 1024, 1), required=True)
    block: str = ask.text(
        "Box of the grid for a node",
        max_length=40,
        placeholder="2x4x3",
        help="Empty: the page finds the best box.",
    )
    periodic: bool = ask.switch("Edges of the grid are joined", False, advanced=True)
    matrix: str = ask.file(
        "How much each rank sends to each other",
        rows=4,
        max_length=64_000_000,
        help="A file with three columns (from, to, bytes), a square table, or IPM's XML. It takes the place of the grid. "
        "Reports of mpiP and tables of pat_report do not say who sends to whom, so they cannot be used.",
        advanced=True,
    )
    machine: Machine | None = ask.machine(
        "Machine with a torus",
        "none",
        none="No machine: only who shares a node counts",
        help="If you name a machine, boxes that exchange much are put on nodes that are close together on its torus.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()
    nids: str = ask.text(
        "The job's nodes, in the order of the launch",
        max_length=100_000,
        placeholder="12-15,40",
        help="Node numbers (nid) on that machine. Empty: its first nodes.",
        advanced=True,
    )
    triangle: str = ask.choice(
        "MFDn's order",
        "balanced-column",
        {
            "diagonal": "diagonal-major",
            "balanced-diagonal": "balanced diagonal-major",
            "balanced-column": "balanced column-major",
        },
    )
    side: int = ask.whole("Rows of MFDn's triangle", 5, (1, 63))

    def sides(self, name: str) -> ro.Grid:
        """Return a grid that was typed in, its fault pinned on its control."""
        try:
            return ro.parse_grid(getattr(self, name))
        except ValueError as error:
            raise InputError(str(error), name=name) from error

    def nodes_on(self, machine: Machine) -> tuple[NodeAddress, ...]:
        """Return the job's nodes in the order of the launch: those that were named, else the machine's first."""
        nids = self.nids.replace(" ", "").removeprefix("nid").strip("[]")
        if not nids:
            return compute_nodes(machine)
        if not re.fullmatch(r"(,?\d{1,7}(-\d{1,7})?)+", nids):
            raise refusal("nids", self.nids[:40], "must be numbers and ranges, such as 12-15,40")
        wiring = Wiring.of(machine)
        return tuple(wiring.address(int(nid)) for nid in node_names(f"[{nids}]"))

    def on_torus(self, order: list[int], pairs: Iterable[Sent]) -> tuple[list[int], HopsSent | None]:
        """Return the order with its nodes near on the machine's torus, if one is named, and what that saves."""
        if self.machine is None:
            return order, None
        torus = Torus.of(self.machine)
        return order_on_torus(order, pairs, self.cores_per_node, self.nodes_on(self.machine), torus)


class Boxes:
    """The ranks of a grid in boxes: off-node pairs as numbered, in the best box, and in the reader's own."""

    def __init__(self, ranks: Ranks) -> None:
        self.grid, self.cores, self.periodic = ranks.sides("grid"), ranks.cores_per_node, ranks.periodic
        self.tasks = prod(self.grid)
        if self.tasks > _MAX_TASKS_ON_PAGE and sys.platform == "emscripten":
            rule = (
                f"has {self.tasks:,} tasks; a page takes {_MAX_TASKS_ON_PAGE:,} at most, `hopper rank-order` takes more"
            )
            raise InputError(f"grid={ranks.grid} {rule}", name="grid", value=ranks.grid, rule=rule)
        before = self._off_node(range(self.tasks))
        self.box, order, self.best = ro.best_block(self.grid, self.cores, periodic=self.periodic)
        #: Pairs off node by the way of ordering; the last is the one that is taken.
        self.off_node = {"as numbered": before, f"boxes of {_sides(self.box)}": self.best}
        if ranks.block.strip():
            own = ranks.sides("block")
            self.box = own + (1,) * (len(self.grid) - len(own))
            order = ro.block_order(self.grid, self.box)
            self.off_node[f"your boxes of {_sides(self.box)}"] = self._off_node(order)
        self.order, self.hops = ranks.on_torus(
            order, ((pair, 1.0) for pair in ro.neighbor_pairs(self.grid, periodic=self.periodic))
        )

    def _off_node(self, order: Iterable[int]) -> int:
        return ro.off_node_pairs(list(order), self.grid, self.cores, periodic=self.periodic)

    @cached_property
    def pairs(self) -> int:
        """Neighbor pairs of the grid."""
        return ro.neighbor_count(self.grid, periodic=self.periodic)

    @property
    def way(self) -> str:
        """The way of ordering that is taken."""
        return list(self.off_node)[-1]

    @property
    def before(self) -> int:
        """Pairs off node as numbered."""
        return self.off_node["as numbered"]

    @property
    def after(self) -> int:
        """Pairs off node in the order that is taken."""
        return self.off_node[self.way]


def answer(ranks: Ranks) -> Result:
    """Return the answer."""
    return _of_matrix(ranks) if ranks.matrix.strip() else _of_grid(ranks)


def _of_grid(ranks: Ranks) -> Result:
    """Answer for neighbors on a grid."""
    boxes = Boxes(ranks)
    note = f"{_sides(boxes.grid)} tasks, {boxes.way}, {boxes.cores} on a node"
    fewer = (
        f"{share(1 - boxes.after / boxes.before)} fewer than as numbered"
        if boxes.before
        else "none were off node to begin with"
    )
    return Result(
        summary=f"{boxes.after:,} of {boxes.pairs:,} neighbor pairs are off node with {boxes.way}: {fewer}."
        f"{_hops_sentence(boxes.hops)}",
        values=(
            Value("Pairs off node, as numbered", boxes.before, "predicted", note=f"of {boxes.pairs:,}"),
            Value(f"With {boxes.way}", boxes.after, "predicted", note=f"of {boxes.pairs:,}"),
            *_hops_value(boxes.hops),
        ),
        figures=(_off_node(boxes.off_node, boxes.pairs),),
        tables=(_triangle(ranks),),
        copyables=(_USE,),
        downloads=(Download("MPICH_RANK_ORDER", lambda: ro.rank_order_file(boxes.order, note)),),
        facts={
            **_facts(boxes.tasks, boxes.pairs, boxes.before, boxes.after, boxes.hops),
            "block": list(boxes.box),
            "best": boxes.best,
            "grid": list(boxes.grid),
            # A page draws the first nodes.
            "order": boxes.order[:_MAX_DRAWN],
        },
    )


def _of_matrix(ranks: Ranks) -> Result:
    """Answer for what pairs of ranks were measured to send each other."""
    cores = ranks.cores_per_node
    try:
        tasks, pairs = ro.read_matrix(ranks.matrix.splitlines())
    except InputError as error:
        raise InputError(f"matrix: {error}", name="matrix") from None
    order, hops = ranks.on_torus(ro.order_for_matrix(tasks, pairs, cores), pairs.items())
    before, after = (ro.off_node_weight(tried, pairs, cores) for tried in (range(tasks), order))
    total = sum(pairs.values())
    note = f"{tasks} tasks by what they send each other, {cores} on a node"
    return Result(
        summary=f"{share(after / total, 1)} of what {tasks:,} tasks send goes off node in the order found, "
        f"{share(before / total, 1)} as numbered.{_hops_sentence(hops)}",
        values=(
            Value("Sent off node, as numbered", 100 * before / total, "predicted", "%", 1),
            Value(
                "In the order found",
                100 * after / total,
                "predicted",
                "%",
                1,
                note="found step by step, not the best there is",
            ),
            *_hops_value(hops),
        ),
        copyables=(_USE,),
        downloads=(Download("MPICH_RANK_ORDER", ro.rank_order_file(order, note)),),
        facts=_facts(tasks, len(pairs), before, after, hops),
    )


def _facts(tasks: int, pairs: int, before: float, after: float, hops: HopsSent | None) -> dict[str, Any]:
    return {
        "tasks": tasks,
        "pairs": pairs,
        "off_node_before": before,
        "off_node_after": after,
        "off_node": after,
        "hops_sent": hops and list(hops),
    }


def _hops_sentence(hops: HopsSent | None) -> str:
    if hops is None:
        return ""
    return f" With its nodes near on the torus, what is sent times hops is {hops.near:,.0f}; as numbered it was {hops.numbered:,.0f}."


def _hops_value(hops: HopsSent | None) -> Iterator[Value]:
    if hops is not None:
        note = "by exchanges of nodes, not the best there is; congestion is not counted"
        yield Value("Sent times hops, nodes near on the torus", hops.near, "predicted", decimals=0, note=note)


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


def _triangle(ranks: Ranks) -> Table:
    """Return MFDn's triangle of tasks."""
    triangle = _TRIANGLES[ranks.triangle](ranks.side)
    row, column = ro.triangle_imbalance(triangle)
    shown = f"the first {_MAX_ROWS} of {ranks.side}" if ranks.side > _MAX_ROWS else str(ranks.side)
    return Table(
        caption=f"MFDn's triangle, {shown} rows: the fullest row has {row:.2f} times the mean, "
        f"the fullest column {column:.2f} times",
        columns=(Column("Row"), *(Column(str(column)) for column in range(1, ranks.side + 1))),
        rows=[
            (number, *("" if cell is None else cell for cell in cells))
            for number, cells in enumerate(triangle[:_MAX_ROWS], 1)
        ],
    )


QUESTION = ask.declared(
    Ranks,
    answer,
    title="Which rank goes where?",
    examples=[
        Example("S3D on 3,072 cores", {"grid": "16x16x12", "block": ""}),
        Example("Long boxes", {"grid": "16x16x12", "block": "12x2x1"}),
        Example("MFDn, not balanced", {"triangle": "diagonal", "side": 5}),
        Example("128 tasks a node", {"grid": "32x16x16", "cores_per_node": 128}),
    ],
)
