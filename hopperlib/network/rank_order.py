"""Which rank goes where: task orders for codes that talk to their neighbors.

By default ranks fill the nodes in order. A code on a three-dimensional grid
then gets slabs of its grid on a node, and most neighbors sit elsewhere. Put a
small box of the grid on each node instead, and more neighbors meet inside it.
Nothing of the program changes: a file `MPICH_RANK_ORDER` tells the launcher.

S3D ran 6 % faster for it; MFDn's best order deals the ranks of a triangle out
so that every column has equally many [1]_.

References
----------
.. [1] Y. He and K. Antypas, CUG 2012, slides "Rank Reordering".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import ne

from hopperlib.errors import InputError

__all__ = [
    "balanced_column_major",
    "balanced_diagonal_major",
    "best_block",
    "block_order",
    "diagonal_major",
    "neighbor_pairs",
    "off_node_pairs",
    "parse_grid",
    "rank_order_file",
    "triangle_imbalance",
]

Grid = tuple[int, int, int]


#: The largest grid: several times the cores of the largest Cray XE.
MOST_TASKS = 2_000_000


def parse_grid(text: str) -> Grid:
    """Return a grid typed as ``16x16x12``; missing dimensions are 1.

    Raises
    ------
    InputError
        If the text is no grid of one to three positive sizes.

    Examples
    --------
    >>> parse_grid("16x16x12"), parse_grid("64")
    ((16, 16, 12), (64, 1, 1))
    """
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 3 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"grid={text!r} must be one to three positive sizes joined by x, such as 16x16x12")
    x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
    if x * y * z > MOST_TASKS:
        raise InputError(f"grid={text!r} has {x * y * z:,} tasks; at most {MOST_TASKS:,} are put in order")
    return x, y, z


def _rank(grid: Grid, x: int, y: int, z: int) -> int:
    """Rank of a cell, x fastest."""
    return x + grid[0] * (y + grid[1] * z)


def neighbor_pairs(grid: Grid, *, periodic: bool = False) -> Iterator[tuple[int, int]]:
    """Yield each pair of ranks that are neighbors along x, y or z, x counting fastest.

    Examples
    --------
    >>> list(neighbor_pairs((2, 2, 1)))
    [(0, 1), (0, 2), (1, 3), (2, 3)]
    """
    for z, y, x in product(*(range(size) for size in reversed(grid))):
        here = _rank(grid, x, y, z)
        for axis, (at, size) in enumerate(zip((x, y, z), grid, strict=True)):
            # On a ring of two the second link would join the same pair again.
            if at + 1 < size or (periodic and size > 2):
                ahead = [x, y, z]
                ahead[axis] = (at + 1) % size
                yield here, _rank(grid, *ahead)


def off_node_pairs(order: Sequence[int], grid: Grid, cores_per_node: int, *, periodic: bool = False) -> int:
    """How many neighbor pairs sit on different nodes.

    Parameters
    ----------
    order : sequence of int
        Ranks in the order in which they fill the nodes.
    grid : (int, int, int)
    cores_per_node : int
        Tasks on a node.
    periodic : bool
        Whether the grid's edges are joined.

    Raises
    ------
    InputError
        If the order does not hold every rank of the grid once.

    Examples
    --------
    Four by four on nodes of four: rows, then squares.

    >>> grid = (4, 4, 1)
    >>> off_node_pairs(range(16), grid, 4), off_node_pairs(block_order(grid, (2, 2, 1)), grid, 4)
    (12, 8)
    """
    ranks = grid[0] * grid[1] * grid[2]
    if cores_per_node < 1:
        raise InputError(f"cores_per_node={cores_per_node} must be at least 1")
    node = [-1] * ranks
    for position, rank in enumerate(order):
        if not 0 <= rank < ranks or node[rank] >= 0:
            raise InputError(f"rank {rank} of the order is not one of the grid's {ranks}, or comes twice")
        node[rank] = position // cores_per_node
    if -1 in node:
        raise InputError(f"the order lacks rank {node.index(-1)} of the grid's {ranks}")
    return _differing(node, grid, periodic)


def _differing(node: list[int], grid: Grid, periodic: bool) -> int:
    """Return how many neighbors have different nodes: whole lines of the grid compared at a time."""
    total, step = 0, 1
    for size in grid:
        line = step * size
        for start in range(0, len(node), line):
            # Cells of this stretch and those one step further along the axis.
            total += sum(map(ne, node[start : start + line - step], node[start + step : start + line]))
            if periodic and size > 2:
                total += sum(map(ne, node[start + line - step : start + line], node[start : start + step]))
        step = line
    return total


def block_order(grid: Grid, block: Grid) -> list[int]:
    """Return the ranks block by block, x fastest in and among the blocks.

    Blocks at the far edges may be smaller.

    Examples
    --------
    >>> block_order((4, 2, 1), (2, 2, 1))
    [0, 1, 4, 5, 2, 3, 6, 7]
    """
    if min(block) < 1:
        raise InputError(f"block={block} must have positive sides")
    starts = [range(0, size, side) for size, side in zip(grid, block, strict=True)]
    order: list[int] = []
    for bz, by, bx in product(*reversed(starts)):
        length = min(block[0], grid[0] - bx)
        for z in range(bz, min(bz + block[2], grid[2])):
            for y in range(by, min(by + block[1], grid[1])):
                first = _rank(grid, bx, y, z)
                order += range(first, first + length)
    return order


def best_block(grid: Grid, cores_per_node: int, *, periodic: bool = False) -> tuple[Grid, list[int], int]:
    """Return the block of at most a node's cores whose order keeps most neighbors together.

    Blocks whose sides multiply to the cores of a node are tried; the grid's own
    order is the one to beat.

    Returns
    -------
    tuple
        The block, the order of the ranks, and how many neighbor pairs it leaves off node.

    Examples
    --------
    S3D's 3,072 ranks, as a grid of 16 x 16 x 12, on nodes of 24:

    >>> block, order, off_node = best_block((16, 16, 12), 24)
    >>> block, off_node, off_node_pairs(range(3072), (16, 16, 12), 24)
    ((2, 4, 3), 2688, 4800)
    """
    order = list(range(grid[0] * grid[1] * grid[2]))
    best = (off_node_pairs(order, grid, cores_per_node, periodic=periodic), grid)
    tried_blocks = {grid}
    for a in range(1, cores_per_node + 1):
        for b in range(1, cores_per_node // a + 1):
            if cores_per_node % (a * b):
                continue
            block = (min(a, grid[0]), min(b, grid[1]), min(cores_per_node // (a * b), grid[2]))
            if block in tried_blocks:
                continue
            tried_blocks.add(block)
            tried = block_order(grid, block)
            off_node = off_node_pairs(tried, grid, cores_per_node, periodic=periodic)
            if (off_node, block) < best:
                best, order = (off_node, block), tried
    return best[1], order, best[0]


def rank_order_file(order: Sequence[int], note: str = "") -> str:
    """Return the text of a ``MPICH_RANK_ORDER`` file: every rank once, runs folded.

    Examples
    --------
    >>> print(rank_order_file([0, 1, 2, 8, 4], "a note"), end="")
    # a note
    # Use it with MPICH_RANK_REORDER_METHOD=3
    0-2,8,4
    """
    lines = [f"# {line}" for line in note.splitlines()] + ["# Use it with MPICH_RANK_REORDER_METHOD=3"]
    parts: list[str] = []
    start = previous = None
    for rank in [*order, None]:
        if previous is not None and rank == previous + 1:
            previous = rank
            continue
        if start is not None and previous is not None:
            parts.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = rank
    for first in range(0, len(parts), 20):
        lines.append(",".join(parts[first : first + 20]))
    return "\n".join(lines) + "\n"


Triangle = tuple[tuple[int | None, ...], ...]


def _filled(side: int, cells: Iterator[tuple[int, int]]) -> Triangle:
    """Return a square with numbers from 1 in the order of the cells."""
    square: list[list[int | None]] = [[None] * side for _ in range(side)]
    for number, (row, column) in enumerate(cells, start=1):
        square[row][column] = number
    return tuple(tuple(row) for row in square)


def _check_side(side: int) -> None:
    if side < 1:
        raise InputError(f"side={side} must be at least 1: a triangle of n has n (n + 1) / 2 tasks")


def diagonal_major(side: int) -> Triangle:
    """MFDn's lower triangle numbered along its diagonals, the main one first.

    Examples
    --------
    >>> diagonal_major(3)
    ((1, None, None), (4, 2, None), (6, 5, 3))
    """
    _check_side(side)
    return _filled(side, ((d + column, column) for d in range(side) for column in range(side - d)))


def balanced_diagonal_major(side: int) -> Triangle:
    """The same, with diagonals that wrap round, so that rows and columns have equally many tasks.

    Of two mirrored cells one is taken. With an even side the last diagonal is
    half full: its first half is taken, which no source prints.

    Examples
    --------
    >>> balanced_diagonal_major(3)
    ((1, None, 6), (4, 2, None), (None, 5, 3))
    """
    _check_side(side)
    cells = [((d + column) % side, column) for d in range((side + 1) // 2) for column in range(side)]
    if side % 2 == 0:
        cells += [(side // 2 + column, column) for column in range(side // 2)]
    return _filled(side, iter(cells))


def balanced_column_major(side: int) -> Triangle:
    """The balanced triangle numbered down its columns: the order that MFDn ran best with.

    With an even side the first half of the columns have one task more, which
    no source prints.

    Examples
    --------
    >>> balanced_column_major(3)
    ((1, None, 6), (2, 3, None), (None, 4, 5))
    """
    _check_side(side)

    def cells() -> Iterator[tuple[int, int]]:
        for column in range(side):
            longer = side % 2 == 0 and column < side // 2
            for d in range((side + 1) // 2 + longer):
                yield (column + d) % side, column

    return _filled(side, cells())


def triangle_imbalance(triangle: Triangle) -> tuple[float, float]:
    """Tasks of the fullest row and of the fullest column, each divided by the mean. [ratio]

    The groups of MFDn are rows and columns: the fullest group has most to send.

    Examples
    --------
    >>> [round(part, 2) for part in triangle_imbalance(diagonal_major(5))], triangle_imbalance(balanced_column_major(5))
    ([1.67, 1.67], (1.0, 1.0))
    """
    rows = [sum(cell is not None for cell in row) for row in triangle]
    columns = [sum(cell is not None for cell in column) for column in zip(*triangle, strict=True)]
    return max(rows) * len(rows) / sum(rows), max(columns) * len(columns) / sum(columns)
