"""Rank reordering: task orders for codes that communicate with neighbors.

By default ranks fill the nodes in order. Each node then holds slabs of a three-dimensional grid, and most neighbors are
on other nodes. With a small box of the grid on each node instead, more neighbors are on the same node. The program is
unchanged: a file `MPICH_RANK_ORDER` sets the order for the launcher.

S3D ran 6 % faster with it; MFDn's best order distributes the ranks of a triangle so that every column has the same
number [1]_.

References
----------
.. [1] Y. He and K. Antypas, CUG 2012, slides "Rank Reordering".
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from math import prod
from operator import ne

from hopperlib.errors import InputError

#: Sizes along x, y, z and so on, with x varying fastest.
Grid = tuple[int, ...]


#: The largest grid: several times the cores of the largest Cray XE.
MOST_TASKS = 2_000_000
_MOST_DIMENSIONS = 4
# Up to this many ranks every box is tried; beyond, only boxes that cut the fewest pairs.
_MOST_TRIED_EXACTLY = 100_000
_TRIED = 2


def parse_grid(text: str) -> Grid:
    """Return a grid typed as ``16x16x12``, of at least three dimensions: missing ones are 1.

    Parameters
    ----------
    text : str
        Sizes joined by ``x``.

    Raises
    ------
    InputError
        If the text is not a grid of one to four positive sizes.

    Examples
    --------
    >>> parse_grid("16x16x12"), parse_grid("64"), parse_grid("8x8x8x16")
    ((16, 16, 12), (64, 1, 1), (8, 8, 8, 16))
    """
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= _MOST_DIMENSIONS or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"grid={text!r} must be one to four positive sizes joined by x, such as 16x16x12")
    grid = tuple([int(part) for part in parts] + [1] * (3 - len(parts)))
    if prod(grid) > MOST_TASKS:
        raise InputError(f"grid={text!r} has {prod(grid):,} tasks; at most {MOST_TASKS:,} are put in order")
    return grid


def neighbor_pairs(grid: Grid, *, periodic: bool = False) -> Iterator[tuple[int, int]]:
    """Yield each pair of ranks that are neighbors along an axis, with x varying fastest.

    Parameters
    ----------
    grid : Grid
        Size of the grid along each axis.
    periodic : bool, default False
        Whether opposite sides of the grid are neighbors.

    Examples
    --------
    >>> list(neighbor_pairs((2, 2, 1)))
    [(0, 1), (0, 2), (1, 3), (2, 3)]
    """
    steps = [prod(grid[:axis]) for axis in range(len(grid))]
    for rank in range(prod(grid)):
        for size, step in zip(grid, steps, strict=True):
            at = rank // step % size
            # On a ring of two, the second link would connect the same pair again.
            if at + 1 < size or (periodic and size > 2):
                yield rank, rank + ((at + 1) % size - at) * step


def neighbor_count(grid: Grid, *, periodic: bool = False) -> int:
    """Return the number of pairs of neighboring ranks.

    Parameters
    ----------
    grid : Grid
        Size of the grid along each axis.
    periodic : bool, default False
        Whether opposite sides of the grid are neighbors.

    Examples
    --------
    >>> neighbor_count((2, 2, 1)), neighbor_count((8, 8, 8, 16), periodic=True)
    (4, 32768)
    """
    return _cut(grid, (1,) * len(grid), periodic)


def _cut(grid: Grid, block: Grid, periodic: bool) -> int:
    """Return the number of neighbor pairs in different boxes."""
    ranks = prod(grid)
    # Along each axis: the planes between boxes, and the plane between the edges unless one box spans the axis.
    planes = [
        -(-size // side) - 1 + (periodic and size > 2 and side < size) for size, side in zip(grid, block, strict=True)
    ]
    return sum(ranks // size * cuts for size, cuts in zip(grid, planes, strict=True))


def off_node_pairs(order: Sequence[int], grid: Grid, cores_per_node: int, *, periodic: bool = False) -> int:
    """Number of neighbor pairs on different nodes.

    Parameters
    ----------
    order : sequence of int
        Ranks in the order in which they fill the nodes.
    grid : tuple of int
    cores_per_node : int
        Tasks on a node.
    periodic : bool
        Whether opposite sides of the grid are neighbors.

    Raises
    ------
    InputError
        If the order does not contain every rank of the grid once.

    Examples
    --------
    A grid of four by four on nodes of four cores: rows, then squares.

    >>> grid = (4, 4, 1)
    >>> off_node_pairs(range(16), grid, 4), off_node_pairs(block_order(grid, (2, 2, 1)), grid, 4)
    (12, 8)
    """
    ranks = prod(grid)
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
    """Return the number of neighbor pairs on different nodes, comparing whole lines of the grid at a time."""
    total, step = 0, 1
    for size in grid:
        line = step * size
        for start in range(0, len(node), line):
            # Cells of this stretch and those one step later along the axis.
            total += sum(map(ne, node[start : start + line - step], node[start + step : start + line]))
            if periodic and size > 2:
                total += sum(map(ne, node[start + line - step : start + line], node[start : start + step]))
        step = line
    return total


def block_order(grid: Grid, block: Grid) -> list[int]:
    """Return the ranks block by block, with x varying fastest within and among the blocks.

    Blocks at the far edges may be smaller.

    Parameters
    ----------
    grid : Grid
        Size of the grid along each axis.
    block : Grid
        Sides of a block.

    Raises
    ------
    InputError
        If a side is not positive, or the number of sides is not that of the grid.

    Examples
    --------
    >>> block_order((4, 2, 1), (2, 2, 1))
    [0, 1, 4, 5, 2, 3, 6, 7]
    """
    if min(block) < 1:
        raise InputError(f"block={block} must have positive sides")
    if len(block) != len(grid):
        raise InputError(f"block={block} must have as many sides as the grid {grid}")
    starts = [range(0, size, side) for size, side in zip(grid, block, strict=True)]
    # Distance in rank numbers along each axis except x.
    steps = [prod(grid[:axis]) for axis in range(1, len(grid))]
    order: list[int] = []
    # Reversed, since the last factor of a product varies fastest, and here x does.
    for corner in product(*reversed(starts)):
        *outer, x = corner
        length = min(block[0], grid[0] - x)
        # Start of each run along x, computed axis by axis.
        firsts = [x]
        for at, size, side, step in zip(reversed(outer), grid[1:], block[1:], steps, strict=True):
            inside = range(at * step, min(at + side, size) * step, step)
            firsts = [first + more for more in inside for first in firsts]
        for first in firsts:
            order += range(first, first + length)
    return order


def best_block(grid: Grid, cores_per_node: int, *, periodic: bool = False) -> tuple[Grid, list[int], int]:
    """Return the block of at most a node's cores whose order keeps most neighbors together.

    Blocks whose volume is the number of cores of a node are compared with the grid's default order. On grids of
    more than 100,000 ranks, only the two that cut the fewest pairs between blocks are tried.

    Parameters
    ----------
    grid : Grid
        Size of the grid along each axis.
    cores_per_node : int
        Cores of a node.
    periodic : bool, default False
        Whether opposite sides of the grid are neighbors.

    Returns
    -------
    tuple
        The block, the order of the ranks, and the number of neighbor pairs on different nodes.

    Examples
    --------
    S3D's 3,072 ranks, as a grid of 16 x 16 x 12, on nodes of 24; and MILC's four dimensions:

    >>> block, order, off_node = best_block((16, 16, 12), 24)
    >>> block, off_node, off_node_pairs(range(3072), (16, 16, 12), 24)
    ((2, 4, 3), 2688, 4800)
    >>> best_block((8, 8, 8, 16), 16, periodic=True)[0]
    (2, 2, 2, 2)
    """
    order = list(range(prod(grid)))
    best = (off_node_pairs(order, grid, cores_per_node, periodic=periodic), grid)
    # A side longer than the grid's is cut to it, so different blocks may become the same.
    blocks = {tuple(map(min, sides, grid)) for sides in _sides(cores_per_node, len(grid))} - {grid}
    tried_blocks = sorted(blocks, key=lambda block: (_cut(grid, block, periodic), block))
    if len(order) > _MOST_TRIED_EXACTLY:
        tried_blocks = tried_blocks[:_TRIED]
    for block in tried_blocks:
        tried = block_order(grid, block)
        # If blocks of a node's cores fill the grid, no node holds parts of two, and the number of cut pairs is known.
        fills = prod(block) == cores_per_node and not any(map(int.__mod__, grid, block))
        cut = _cut(grid, block, periodic)
        off_node = cut if fills else off_node_pairs(tried, grid, cores_per_node, periodic=periodic)
        if (off_node, block) < best:
            best, order = (off_node, block), tried
    return best[1], order, best[0]


def _sides(cores: int, dimensions: int) -> Iterator[Grid]:
    """Yield every block with this number of cells."""
    if dimensions == 1:
        yield (cores,)
        return
    for side in range(1, cores + 1):
        if cores % side == 0:
            for rest in _sides(cores // side, dimensions - 1):
                yield (side, *rest)


def rank_order_file(order: Sequence[int], note: str = "") -> str:
    """Return the text of a ``MPICH_RANK_ORDER`` file: every rank once, with runs abbreviated.

    Parameters
    ----------
    order : sequence of int
        Rank at each position.
    note : str, default ''
        Comment at the beginning of the file.

    Examples
    --------
    >>> print(rank_order_file([0, 1, 2, 8, 4], "a note"), end="")
    # a note
    # Use it with MPICH_RANK_REORDER_METHOD=3
    0-2,8,4
    """
    lines = [f"# {line}" for line in note.splitlines()] + ["# Use it with MPICH_RANK_REORDER_METHOD=3"]
    parts: list[str] = []
    # In a run, ranks increase with their positions: the difference is constant.
    for _, run in groupby(enumerate(order), lambda placed: placed[1] - placed[0]):
        ranks = [rank for _, rank in run]
        parts.append(f"{ranks[0]}-{ranks[-1]}" if len(ranks) > 1 else f"{ranks[0]}")
    lines += [",".join(parts[first : first + 20]) for first in range(0, len(parts), 20)]
    return "\n".join(lines) + "\n"


Triangle = tuple[tuple[int | None, ...], ...]


def _filled(side: int, cells: Iterable[tuple[int, int]]) -> Triangle:
    """Return a square with numbers from 1 in the order of the cells."""
    if side < 1:
        raise InputError(f"side={side} must be at least 1: a triangle of n has n (n + 1) / 2 tasks")
    numbers = {cell: number for number, cell in enumerate(cells, start=1)}
    return tuple(tuple(numbers.get((row, column)) for column in range(side)) for row in range(side))


def diagonal_major(side: int) -> Triangle:
    """MFDn's lower triangle numbered along its diagonals, the main one first.

    Parameters
    ----------
    side : int
        Side of the matrix, in blocks.

    Examples
    --------
    >>> diagonal_major(3)
    ((1, None, None), (4, 2, None), (6, 5, 3))
    """
    return _filled(side, ((d + column, column) for d in range(side) for column in range(side - d)))


def balanced_diagonal_major(side: int) -> Triangle:
    """The same, with diagonals that wrap round, so that rows and columns have equally many tasks.

    One of two mirrored cells is used. With an even side the last diagonal is half full; using its first half is an
    assumption.

    Parameters
    ----------
    side : int
        Side of the matrix, in blocks.

    Examples
    --------
    >>> balanced_diagonal_major(3)
    ((1, None, 6), (4, 2, None), (None, 5, 3))
    """
    cells = [((d + column) % side, column) for d in range((side + 1) // 2) for column in range(side)]
    cells += [(side // 2 + column, column) for column in range(side // 2) if side % 2 == 0]
    return _filled(side, cells)


def balanced_column_major(side: int) -> Triangle:
    """The balanced triangle numbered down its columns: MFDn's best order. With an even side the first half of the
    columns have one more task, which is an assumption.

    Parameters
    ----------
    side : int
        Side of the matrix, in blocks.

    Examples
    --------
    >>> balanced_column_major(3)
    ((1, None, 6), (2, 3, None), (None, 4, 5))
    """
    heights = [(side + 1) // 2 + (side % 2 == 0 and column < side // 2) for column in range(side)]
    return _filled(
        side, (((column + d) % side, column) for column, height in enumerate(heights) for d in range(height))
    )


def triangle_imbalance(triangle: Triangle) -> tuple[float, float]:
    """Tasks of the fullest row and of the fullest column, each divided by the mean. [ratio]

    The groups of MFDn are rows and columns: the fullest group sends most.

    Parameters
    ----------
    triangle : Triangle
        Rows of the triangle; each cell is a rank, or None.

    Examples
    --------
    >>> [round(part, 2) for part in triangle_imbalance(diagonal_major(5))], triangle_imbalance(balanced_column_major(5))
    ([1.67, 1.67], (1.0, 1.0))
    """
    rows = [sum(cell is not None for cell in row) for row in triangle]
    columns = [sum(cell is not None for cell in column) for column in zip(*triangle, strict=True)]
    return max(rows) * len(rows) / sum(rows), max(columns) * len(columns) / sum(columns)
