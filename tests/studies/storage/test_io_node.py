"""The study of one node's writes: what it predicts, and the tension it shows."""

from __future__ import annotations

import pytest

from hopperlib import scoring
from hopperlib.studies.storage.io_node import readings


@pytest.fixture(scope="module")
def table():
    return {row.id.removeprefix("io-node."): row for row in scoring.rows("io-node")}


def test_two_printed_values_do_not_sit_together():
    by_node, by_eight = readings()
    # 2 x 1.07 over 1.7, and 4 x 0.2125 over 1.6
    assert by_node.franklin_over_hopper == pytest.approx(2.14 / 1.7)
    assert by_eight.franklin_injection_fraction == pytest.approx(0.85 / 1.6)
    assert by_eight.close_up_to[0] == 8


def test_the_tension_is_the_only_miss(table):
    missed = [name for name, row in table.items() if row.verdict.startswith("missed")]
    assert missed == ["close-up-to-tasks"]
    assert table["close-up-to-tasks"].reproduced == "6 to 7"
    assert "do not sit together" in table["close-up-to-tasks"].note


def test_all_described_shapes_hold(table):
    assert {row.verdict for row in table.values() if row.role == "shape"} == {"holds"}
    assert table["hopper-ceiling-again"].verdict == "input"
