"""Rank orders on grids of up to four dimensions: exact counts, and never worse than the default order."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.network.rank_order import (
    best_block,
    block_order,
    neighbor_count,
    neighbor_pairs,
    off_node_pairs,
    parse_grid,
)

GRIDS = st.lists(st.integers(1, 5), min_size=3, max_size=4).map(tuple)


@given(GRIDS, st.booleans(), st.integers(1, 12))
def test_counts_are_those_of_every_pair(grid, periodic, cores):
    pairs = list(neighbor_pairs(grid, periodic=periodic))
    assert len(pairs) == neighbor_count(grid, periodic=periodic)
    block, order, off_node = best_block(grid, cores, periodic=periodic)
    assert sorted(order) == list(range(prod(grid)))
    node = {rank: position // cores for position, rank in enumerate(order)}
    assert off_node == sum(node[one] != node[other] for one, other in pairs)
    assert off_node <= off_node_pairs(range(prod(grid)), grid, cores, periodic=periodic)
    assert block == grid or prod(block) <= cores


@given(GRIDS, st.data())
def test_blocks_come_one_after_the_other(grid, data):
    block = tuple(data.draw(st.integers(1, size)) for size in grid)
    cells = list(product(*(range(size) for size in reversed(grid))))

    def of(cell):
        at = cell[::-1]
        return [place // side for place, side in zip(cell, block[::-1], strict=True)], cell, at

    wanted = [cells.index(cell) for _, cell, _ in sorted(map(of, cells))]
    assert block_order(grid, block) == wanted


def test_milc_in_four_dimensions():
    # A lattice of 8 x 8 x 8 x 16 on nodes of 16: blocks of 2 x 2 x 2 x 2 have 8 * 2 ** 3 / 2 = 32 pairs in each of 512.
    grid = parse_grid("8x8x8x16")
    block, _, off_node = best_block(grid, 16, periodic=True)
    assert (block, off_node) == ((2, 2, 2, 2), 4 * 8192 - 512 * 32)
    with pytest.raises(InputError, match="one to four positive sizes"):
        parse_grid("2x2x2x2x2")
