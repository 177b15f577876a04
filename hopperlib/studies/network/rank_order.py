"""Rank orders: S3D's box on every node, and MFDn's balanced triangle."""

from __future__ import annotations

from collections.abc import Callable

from hopperlib.documented import documented
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
from hopperlib.studies.study import Check, Study

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
    ranks = S3D_GRID[0] * S3D_GRID[1] * S3D_GRID[2]
    return off_node_pairs(range(ranks), S3D_GRID, cores), best_block(S3D_GRID, cores)[2]


def off_node_time_fraction() -> float:
    """Share of S3D's run time, in the default order, that off-node messages take. [fraction]

    Fitted: the one measured pair fixes this one parameter, if that time grows
    with the number of off-node pairs and the rest does not change.

    Examples
    --------
    >>> round(off_node_time_fraction(), 3)
    0.135
    """
    slow, fast = documented("rank-order.s3d-without").number, documented("rank-order.s3d-with").number
    assert slow is not None
    assert fast is not None
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
    slow = documented("rank-order.s3d-without").number
    assert slow is not None
    share = off_node_time_fraction()
    return slow * (1 - share + share * off_node_pairs_left / _off_node()[0])


def _busiest(order: Callable[[int], Triangle], side: int = 5) -> float:
    """Tasks of the fullest row or column, over the mean. [ratio]"""
    return max(triangle_imbalance(order(side)))


def _checks() -> tuple[Check, ...]:
    before, after = _off_node()
    pairs = sum(1 for _ in neighbor_pairs(S3D_GRID))
    said = "what the source says of the code; the model takes it"
    setting = "the setting of the runs; the time for a point is not modelled"
    label = "a label; the grid itself is checked"
    return (
        Check(id="rank-order.survey-simple-and-effective", role="not modelled", reason="what users answered"),
        Check(id="rank-order.s3d-cube", role="not modelled", reason=setting),
        Check(id="rank-order.s3d-steps", role="not modelled", reason=setting),
        Check(id="rank-order.s3d-fuel", role="not modelled", reason=setting),
        Check(id="rank-order.s3d-ideal-flat", role="input", reason=said),
        Check(
            id="rank-order.s3d-cores",
            role="identity",
            reproduced=float(S3D_GRID[0] * S3D_GRID[1] * S3D_GRID[2]),
            reason="the arrangement is assumed, its product is the printed number",
        ),
        Check(id="rank-order.s3d-without", role="input", reason="the slower of the pair that fixes the parameter"),
        Check(
            id="rank-order.s3d-with",
            role="calibrated",
            reproduced=s3d_time_s(after),
            reason="the share of the time that off-node messages take was fitted to this pair",
        ),
        Check(id="rank-order.s3d-reordering-faster", role="shape", reproduced=after < before),
        Check(id="rank-order.s3d-nearest-neighbors", role="input", reason=said),
        Check(id="rank-order.s3d-little-global", role="input", reason=said),
        Check(id="rank-order.mfdn-dm-label", role="not modelled", reason=label),
        Check(id="rank-order.mfdn-dm", role="identity", reproduced=as_printed(diagonal_major(5))),
        Check(id="rank-order.mfdn-bdm-label", role="not modelled", reason=label),
        Check(id="rank-order.mfdn-bdm", role="identity", reproduced=as_printed(balanced_diagonal_major(5))),
        Check(id="rank-order.mfdn-third-label", role="not modelled", reason=label),
        Check(id="rank-order.mfdn-bcm", role="identity", reproduced=as_printed(balanced_column_major(5))),
        Check(id="rank-order.mfdn-fourth-label", role="not modelled", reason="its grid is lost"),
        Check(id="rank-order.mfdn-dimensions", role="input", reason=said),
        Check(
            id="rank-order.mfdn-avoids-hot-spots",
            role="shape",
            reproduced=_busiest(balanced_column_major) < _busiest(diagonal_major) and pairs > after,
        ),
        Check(
            id="rank-order.mfdn-bcm-best",
            role="shape",
            reproduced=_busiest(balanced_column_major)
            <= min(_busiest(diagonal_major), _busiest(balanced_diagonal_major)),
            reason="by the fullest group alone the two balanced orders tie; what parts them is not modelled",
        ),
    )


STUDY = Study(
    name="rank-order",
    title="Which rank goes where",
    part="network",
    question="What does it buy to put neighbors on one node, and to deal a triangle out evenly?",
    checks=_checks,
    assumptions=(
        "S3D's 3,072 tasks form a grid of 16 x 16 x 12; only their number is printed.",
        "The time of off-node messages grows with the number of off-node neighbor pairs, and nothing else changes.",
        "For triangles whose tasks do not divide evenly over the columns, the first half of the columns take one more.",
    ),
)
