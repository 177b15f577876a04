"""Rank orders: S3D's box on every node, and MFDn's balanced triangle."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from math import prod

from hopperbook.documented import printed
from hopperbook.studies.study import Shares, Study, Value, predictions, ranges
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
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.torus.distances import Coordinates
from hopperlib.network.torus.orders import compute_nodes, order_nodes

# Assumed: the source prints the cores, 3,072, and not how they are arranged.
S3D_GRID = (16, 16, 12)
# 30 x 30 x 4 numbers of 8 bytes; six stages in each of 50 steps.
_FACE_BYTES, _STAGES = 30 * 30 * 4 * 8, 6 * 50


def as_printed(triangle: Triangle) -> str:
    """Return a triangle as the data file writes the printed grids.

    Examples
    --------
    >>> as_printed(diagonal_major(2))
    '1 . / 3 2'
    """
    return " / ".join(" ".join("." if cell is None else str(cell) for cell in row) for row in triangle)


@cache
def _off_node() -> tuple[int, int]:
    """Off-node pairs of S3D's grid in the default and in the best order."""
    cores = Machine.load("hopper").node().cores
    return off_node_pairs(range(prod(S3D_GRID)), S3D_GRID, cores), best_block(S3D_GRID, cores)[2]


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return S3D's time with reordering from the printed one without, less the bytes that no longer leave a node. [s]

    Each off-node pair swaps faces of 30 x 30 points, four deep for derivatives
    of eighth order, of that many variables in each of six stages of each step.

    Examples
    --------
    33 faces of 28,800 bytes a node, 40 variables, 300 stages are 11.4 GB:

    >>> round(model({"variables": 40, "rate_gb_s": 3}, random.Random(1))["s3d-with"], 1)
    172.4
    """
    before, after = _off_node()
    nodes = prod(S3D_GRID) / Machine.load("hopper").node().cores
    faces = 2 * (before - after) / nodes
    saved_gb = faces * _FACE_BYTES * assumed["variables"] * _STAGES / 1e9
    return {"s3d-with": printed("rank-order.s3d-without") - saved_gb / assumed["rate_gb_s"]}


def off_node_time_fraction() -> float:
    """Share of S3D's run time, in the default order, that off-node messages take. [fraction]

    Inferred afterwards: the measured pair fixes this one parameter, if that time
    grows with the number of off-node pairs and the rest does not change.

    Examples
    --------
    >>> round(off_node_time_fraction(), 3)
    0.135
    """
    slow, fast = printed("rank-order.s3d-without"), printed("rank-order.s3d-with")
    before, after = _off_node()
    return (1 - fast / slow) / (1 - after / before)


def s3d_time_s(off_node_pairs_left: int) -> float:
    """Run time of S3D on 3,072 cores when an order leaves that many pairs off node. [s]

    Examples
    --------
    With every neighbor close, only the rest of the run remains:

    >>> round(s3d_time_s(0), 1)
    152.3
    """
    share = off_node_time_fraction()
    return printed("rank-order.s3d-without") * (1 - share + share * off_node_pairs_left / _off_node()[0])


@cache
def _links() -> LinkMap:
    """Return the links of Hopper."""
    return LinkMap(Machine.load("hopper"))


@cache
def _places(order: str) -> tuple[Coordinates, ...]:
    """Return the positions of Hopper's nodes, in an order."""
    return tuple(node.coordinates for node in order_nodes(compute_nodes(Machine.load("hopper")), order))


def busiest_link_s(made: Callable[[int], Triangle], side: int, order: str, pattern: str) -> float:
    """Time that the busiest link takes if each group of MFDn passes on a GB, four tasks per node, nodes side by side. [s]

    Parameters
    ----------
    made : callable
        The order of the ranks, such as `diagonal_major`.
    side : int
        Rows of the triangle; the groups are its rows and its columns.
    order : str
        Order of Hopper's nodes.
    pattern : {"ring", "star"}
        Whether each task sends to the next of its group, or the first to all others.

    Examples
    --------
    >>> made = diagonal_major, balanced_diagonal_major, balanced_column_major
    >>> [round(busiest_link_s(each, 5, "xyz", "ring"), 2) for each in made]
    [0.47, 0.67, 0.27]
    """
    triangle, tasks, places = made(side), Machine.load("hopper").node().numa_nodes, _places(order)
    messages: Counter[tuple[Coordinates, Coordinates]] = Counter()
    for line in (*triangle, *zip(*triangle, strict=True)):
        group = [places[(rank - 1) // tasks] for rank in line if rank is not None]
        senders = group if pattern == "ring" else group[:1] * len(group)
        messages.update(pair for pair in zip(senders, group[1:] + group[:1], strict=True) if pair[0] != pair[1])
    loads = _links().of_messages(messages)
    return max((count / capacity for _, count, capacity in _links().each(loads)), default=0.0)


def _balanced_columns_best() -> Shares:
    """Return in how many cases the balanced columns load the busiest link least: printed grids and run, orders, patterns."""
    # From the printed grids to the 2,016 tasks of the printed run, a triangle of 63 rows.
    cases = list(product((5, 15, 31, 63), ("nid", "xyz", "xyz-by2"), ("ring", "star")))
    others = diagonal_major, balanced_diagonal_major
    best = [
        busiest_link_s(balanced_column_major, *case) < min(busiest_link_s(made, *case) for made in others)
        for case in cases
    ]
    return Shares(sum(best), len(cases))


def _values() -> dict[str, Value]:
    after = _off_node()[1]
    pairs = sum(1 for _ in neighbor_pairs(S3D_GRID))
    triangles = {"dm": diagonal_major(5), "bdm": balanced_diagonal_major(5), "bcm": balanced_column_major(5)}
    printed_triangles: dict[str, Value] = {f"mfdn-{name}": as_printed(made) for name, made in triangles.items()}
    column, diagonal = (max(triangle_imbalance(triangles[name])) for name in ("bcm", "dm"))
    return {
        "s3d-cores": prod(S3D_GRID),
        # The rival: reordering changes nothing.
        **predictions(model, ranges("rank-order"), {"s3d-with": printed("rank-order.s3d-without")}),
        **printed_triangles,
        "mfdn-avoids-hot-spots": column < diagonal and pairs > after,
        "mfdn-bcm-best": _balanced_columns_best(),
    }


STUDY = Study("rank-order", _values, model=model)
