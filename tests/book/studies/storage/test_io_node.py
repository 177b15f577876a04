"""The study of one node's writes: what it predicts, and the tension it shows."""

from __future__ import annotations

import random

import pytest

from hopperbook.studies.storage.io_node import model, readings


@pytest.fixture(scope="module")
def table(scored):
    return scored("io-node")


def test_two_printed_values_do_not_sit_together():
    by_node, by_eight = readings()
    # 2 x 1.07 over 1.7, and 4 x 0.2125 over 1.6
    assert by_node.franklin_over_hopper == pytest.approx(2.14 / 1.7)
    assert by_eight.franklin_injection_fraction == pytest.approx(0.85 / 1.6)
    assert by_eight.close_up_to[0] == 8


def test_where_the_curves_part():
    # A task writes 2/3 of 1.6 GB/s / 4: 0.2667. Franklin is a tenth above 1.7 at 1.87 / 0.2667 = 7.0125 tasks.
    assumed = {"apart": 0.1, "franklin_injection": 2 / 3}
    assert model(assumed, random.Random(1))["close-up-to-tasks"] == pytest.approx(7.0125)


def test_roles(table):
    assert table["close-up-to-tasks"].role == "retrodicted"
    assert table["close-up-to-tasks"].verdict == "missed, explained"
    assert not [name for name, row in table.items() if row.role == "shape"]
    assert table["hopper-ceiling-again"].verdict == "input"
