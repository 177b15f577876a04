"""MFDn's orders on Hopper's links: messages of a few groups, by hand, and where the balanced columns are not the best."""

from __future__ import annotations

import pytest

from hopperbook.studies.network.rank_order import busiest_link_s
from hopperlib.network.rank_order import balanced_column_major, balanced_diagonal_major, diagonal_major


def test_a_triangle_on_one_node_sends_nothing():
    assert busiest_link_s(diagonal_major, 2, "xyz", "ring") == 0


def test_two_nodes_of_one_router_use_no_link():
    # Six tasks on two nodes, which share a Gemini.
    assert busiest_link_s(balanced_column_major, 3, "xyz", "star") == 0


@pytest.mark.parametrize("order", ["nid", "xyz", "xyz-by2"])
@pytest.mark.parametrize("pattern", ["ring", "star"])
def test_balanced_columns_are_the_best_of_the_printed_grids(order, pattern):
    others = (busiest_link_s(made, 5, order, pattern) for made in (diagonal_major, balanced_diagonal_major))
    assert busiest_link_s(balanced_column_major, 5, order, pattern) < min(others)


def test_they_are_not_the_best_of_every_triangle():
    columns, diagonals = (
        busiest_link_s(made, 63, "nid", "star") for made in (balanced_column_major, balanced_diagonal_major)
    )
    assert columns > diagonals
