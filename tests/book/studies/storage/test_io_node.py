"""The study of one node's writes: its predictions, and the contradiction that a bend resolves."""

from __future__ import annotations

import random

import pytest

from hopperbook.studies.storage.io_node import model, readings


@pytest.fixture(scope="module")
def table(scored):
    return scored("io-node")


def _bent(users, one, ceiling):
    return ((users * one) ** -2.5 + (1 - users**-2.5) * ceiling**-2.5) ** -0.4


def test_two_printed_values_sit_together_where_curves_bend():
    by_node, by_eight = readings()
    # Two Franklin nodes of four tasks over one Hopper node of eight; 26 % (2.14 / 1.7) without a bend.
    assert by_node.franklin_over_hopper == pytest.approx(2 * _bent(4, 0.2675, 1.07) / _bent(8, 0.2675, 1.7), rel=0.001)
    assert by_node.franklin_over_hopper < 1.2
    assert by_eight.franklin_injection_fraction == pytest.approx(_bent(4, 0.2125, 1.07) / 1.6, rel=0.001)
    for reading in (by_node, by_eight):
        assert reading.close_up_to[0] < 8 < reading.close_up_to[1]


def test_where_the_curves_part():
    # A task writes 2/3 of 1.6 GB/s / 4 = 0.2667. Four on a node and two or three on the next, over six or seven on Hopper.
    above = [
        (_bent(4, 0.8 / 3, 1.07) + _bent(rest, 0.8 / 3, 1.07)) / _bent(4 + rest, 0.8 / 3, 1.7) - 1.1 for rest in (2, 3)
    ]
    assumed = {"apart": 0.1, "franklin_injection": 2 / 3}
    between = 6 + above[0] / (above[0] - above[1])
    assert model(assumed, random.Random(1))["close-up-to-tasks"] == pytest.approx(between, abs=0.02)


def test_roles(table):
    assert table["close-up-to-tasks"].role == "retrodicted"
    # It holds the printed eight, and so does the rival's wider claim: an interval of 3.3 tasks.
    assert table["close-up-to-tasks"].verdict == "too wide"
    assert not [name for name, row in table.items() if row.role == "shape"]
    assert table["hopper-ceiling-again"].verdict == "input"
