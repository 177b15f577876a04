"""Rank orders: S3D's box on every node, and MFDn's balanced triangle."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from hopperlib.documented import printed
from hopperlib.machine import Machine
from hopperlib.network.rank_order import (
    Triangle,
    balanced_column_major,
    balanced_diagonal_major,
    best_block,
    diagonal_major,
    neighbor_pairs,
    off_node_pairs,
    triangle_imbalance,
)
from hopperlib.studies.study import Study, Value

__all__ = ["S3D_GRID", "STUDY", "as_printed", "off_node_time_fraction", "s3d_time_s"]

# Assumed: the source prints the cores, 3,072, and not how they are arranged.
S3D_GRID = (16, 16, 12)


def as_printed(triangle: Triangle) -> str:
    """Return a triangle as the data file writes the printed grids.

    Examples
    --------
    >>> as_printed(diagonal_major(2))
    '1 . / 3 2'
    """
    return " / ".join(" ".join("." if cell is None else str(cell) for cell in row) for row in triangle)


def _off_node() -> tuple[int, int]:
    """Off-node pairs of S3D's grid in the default and in the best order."""
    cores = Machine.load("hopper").node().cores
    return off_node_pairs(range(prod(S3D_GRID)), S3D_GRID, cores), best_block(S3D_GRID, cores)[2]


def off_node_time_fraction() -> float:
    """Share of S3D's run time, in the default order, that off-node messages take. [fraction]

    Fitted: the one measured pair fixes this one parameter, if that time grows
    with the number of off-node pairs and the rest does not change.

    Examples
    --------
    >>> round(off_node_time_fraction(), 3)
    0.135
    """
    slow, fast = printed("rank-order.s3d-without"), printed("rank-order.s3d-with")
    before, after = _off_node()
    return (1 - fast / slow) / (1 - after / before)


def s3d_time_s(off_node_pairs_left: int) -> float:
    """Run time of S3D on 3,072 cores when an order leaves so many pairs off node. [s]

    Examples
    --------
    With every neighbor at hand, what is left is the rest of the run:

    >>> round(s3d_time_s(0), 1)
    152.3
    """
    share = off_node_time_fraction()
    return printed("rank-order.s3d-without") * (1 - share + share * off_node_pairs_left / _off_node()[0])


def _busiest(order: Callable[[int], Triangle], side: int = 5) -> float:
    """Tasks of the fullest row or column, over the mean. [ratio]"""
    return max(triangle_imbalance(order(side)))


def _values() -> dict[str, Value]:
    before, after = _off_node()
    pairs = sum(1 for _ in neighbor_pairs(S3D_GRID))
    column, others = _busiest(balanced_column_major), (_busiest(diagonal_major), _busiest(balanced_diagonal_major))
    return {
        "s3d-cores": prod(S3D_GRID),
        "s3d-with": s3d_time_s(after),
        "s3d-reordering-faster": after < before,
        "mfdn-dm": as_printed(diagonal_major(5)),
        "mfdn-bdm": as_printed(balanced_diagonal_major(5)),
        "mfdn-bcm": as_printed(balanced_column_major(5)),
        "mfdn-avoids-hot-spots": column < others[0] and pairs > after,
    }


STUDY = Study.read("rank-order", _values)
