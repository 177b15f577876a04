"""Rank orders on grids of up to four dimensions and from matrices: exact counts, and never worse than no order."""

import random
from itertools import pairwise, product
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
    off_node_weight,
    order_for_matrix,
    parse_grid,
    read_matrix,
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


def test_a_matrix_in_any_form():
    triples = ["# sent", "src;dst;bytes", "0;1;100", "1;0;50", "2;0;8", "2;2;99"]
    assert read_matrix(triples) == (3, {(0, 1): 150.0, (0, 2): 8.0})
    assert read_matrix(["0 1 2 3", "1 0 0 0", "2 0 0 0", "3 0 0 0"]) == (4, {(0, 1): 2.0, (0, 2): 4.0, (0, 3): 6.0})
    ipm = [
        '<task ipm_version="2.0" mpi_rank="1" mpi_size="2">',
        '<hent call="MPI_Isend" bytes="1.6e+01" orank="0" region="1" count="3" >1.0</hent>',
    ]
    # Receives tell the same messages again, and collectives have no partner: IPM writes rank 0.
    ipm += [line.replace("Isend", call) for call in ("Irecv", "Bcast", "Allreduce") for line in ipm[1:]]
    assert read_matrix(ipm) == (2, {(0, 1): 48.0})
    for sign in ("@ mpiP", "CrayPat/X:  Version 6.0", "##IPM2v0.xx####", '<taskcopy mpi_rank="1" cluster_rank="0">'):
        with pytest.raises(InputError, match="who talks to whom cannot be told"):
            read_matrix([sign, "0 1 5"])
    for bad in ([], ["a b c"], ["0 1 -5"], ["1 2", "3"], ["0 0 0"], [f"{2**40} 1 5"]):
        with pytest.raises(InputError):
            read_matrix(bad)


@given(st.dictionaries(st.tuples(st.integers(0, 9), st.integers(10, 19)), st.floats(0.5, 9)), st.integers(1, 8))
def test_an_order_for_a_matrix_holds_every_rank_and_is_no_worse(pairs, cores):
    order = order_for_matrix(20, pairs, cores)
    assert sorted(order) == list(range(20))
    assert off_node_weight(order, pairs, cores) <= off_node_weight(range(20), pairs, cores)


def test_groups_that_were_shuffled_are_found_again():
    ranks = list(range(64))
    random.Random(1).shuffle(ranks)
    groups = [ranks[first : first + 8] for first in range(0, 64, 8)]
    pairs = {(min(a, b), max(a, b)): 10.0 for group in groups for a in group for b in group if a != b}
    pairs |= {(min(a, b), max(a, b)): 1.0 for one, other in pairwise(groups) for a, b in [(one[0], other[0])]}
    order = order_for_matrix(64, pairs, 8)
    # Seven links between groups are all that is left off node.
    assert off_node_weight(order, pairs, 8) == 7.0
