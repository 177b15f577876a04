"""Question: which rank goes where, and how many neighbors that keeps on one node."""

import re
import sys
from collections.abc import Iterable
from math import prod

from hopperlib.errors import InputError, refusal
from hopperlib.network import rank_order as ro
from hopperlib.network.scheduling.cluster import node_names
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes
from hopperlib.network.torus.wiring import Wiring
from hopperlib.network.torus_order import NodeTraffic, Sent
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Column, Download, Result, Table

# In a page, more would take longer than a move of a control may.
_MOST_TASKS = 8_192
_MOST_DRAWN = 1_024
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


class _Order(Asked):
    """One grid and one triangle, or one matrix."""

    def result(self) -> Result:
        """Return the answer."""
        return self._of_matrix() if self.matrix.strip() else self._of_grid()

    def _of_matrix(self) -> Result:
        """Answer for what pairs of ranks were measured to send each other."""
        try:
            tasks, pairs = ro.read_matrix(self.matrix.splitlines())
        except InputError as error:
            raise InputError(f"matrix: {error}", name="matrix") from None
        order, hops = self._on_torus(ro.order_for_matrix(tasks, pairs, self.cores_per_node), pairs.items())
        before, after = (ro.off_node_weight(tried, pairs, self.cores_per_node) for tried in (range(tasks), order))
        total = sum(pairs.values())
        said = self.said(
            of_matrix=True,
            tasks=tasks,
            pairs=len(pairs),
            before=before,
            after=after,
            shares=(before / total, after / total),
            hops=hops,
        )
        text = ro.rank_order_file(order, said.text("of_matrix"))
        return said.result(
            summary=said.text("matrix_summary"), downloads=(Download(name="MPICH_RANK_ORDER", text=text),)
        )

    def _on_torus(self, order: list[int], pairs: Iterable[Sent]) -> tuple[list[int], tuple[float, ...] | None]:
        """Return the order with its nodes near on the torus, and what is sent times hops: as numbered, before, and then."""
        if self.machine == "none" and not self.machine_file:
            return order, None
        torus, nodes = Torus.of(self.on), compute_nodes(self.on)
        if nids := self.nids.replace(" ", "").removeprefix("nid").strip("[]"):
            if not re.fullmatch(r"(,?\d{1,7}(-\d{1,7})?)+", nids):
                raise refusal("nids", self.nids[:40], "must be numbers and ranges, such as 12-15,40")
            wiring = Wiring.of(self.on)
            nodes = tuple(wiring.address(int(nid)) for nid in node_names(f"[{nids}]"))
        sent = list(pairs)
        numbered, placed = (
            NodeTraffic(tried, sent, self.cores_per_node, nodes, torus) for tried in (range(len(order)), order)
        )
        before = placed.hops_sent
        return placed.bring_near(), (numbered.hops_sent, before, placed.hops_sent)

    def _of_grid(self) -> Result:
        """Answer for neighbors on a grid."""
        grid, cores, periodic = _grid("grid", self.grid), self.cores_per_node, self.periodic
        tasks = prod(grid)
        if tasks > _MOST_TASKS and sys.platform == "emscripten":
            rule = f"has {tasks:,} tasks; a page takes {_MOST_TASKS:,} at most, `hopper rank-order` takes more"
            raise InputError(f"grid={self.grid} {rule}", name="grid", value=self.grid, rule=rule)
        before = ro.off_node_pairs(range(tasks), grid, cores, periodic=periodic)
        box, order, best = ro.best_block(grid, cores, periodic=periodic)
        counts = {"as numbered": before, f"boxes of {_sides(box)}": best}
        if self.block.strip():
            own = _grid("block", self.block)
            box = own + (1,) * (len(grid) - len(own))
            order = ro.block_order(grid, box)
            counts[f"your boxes of {_sides(box)}"] = ro.off_node_pairs(order, grid, cores, periodic=periodic)
        way, after = list(counts.items())[-1]
        triangle = _TRIANGLES[self.triangle](self.side)
        order, hops = self._on_torus(order, ((pair, 1.0) for pair in ro.neighbor_pairs(grid, periodic=periodic)))
        said = self.said(
            of_matrix=False,
            tasks=tasks,
            sides=_sides(grid),
            way=way,
            pairs=ro.neighbor_count(grid, periodic=periodic),
            before=before,
            after=after,
            fewer=1 - after / before if before else 0,
            ways=list(counts),
            counts=list(counts.values()),
            told=", ".join(f"{name} {count:,}" for name, count in counts.items()),
            imbalance=ro.triangle_imbalance(triangle),
            hops=hops,
        )
        columns = (Column("Row"), *(Column(str(column)) for column in range(1, self.side + 1)))
        rows = [(number, *("" if cell is None else cell for cell in row)) for number, row in enumerate(triangle, 1)]
        return said.result(
            tables=(Table(caption=said.text("triangle"), columns=columns, rows=rows),),
            downloads=(
                Download(name="MPICH_RANK_ORDER", text=lambda: ro.rank_order_file(order, said.text("of_grid"))),
            ),
            # A page draws the first nodes.
            facts=said.facts | {"block": list(box), "best": best, "grid": list(grid), "order": order[:_MOST_DRAWN]},
        )


def _sides(box: ro.Grid) -> str:
    """Return the sides of a box in words."""
    return "x".join(map(str, box))


QUESTION = declared(__name__, _Order.answer)
