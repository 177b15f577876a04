"""The memory study: calibrated on one printed value; the others are divisions."""

from __future__ import annotations

import pytest

from hopperbook.studies.node.memory import franklin_usable_gb
from hopperlib.machine import Machine
from hopperlib.placement.layouts import cheapest, layouts
from hopperlib.placement.models.free_cores import break_even_service


@pytest.fixture(scope="module")
def table(scored):
    return scored("memory")


def test_franklin_is_calibrated_on_one_value_and_the_other_is_half_of_it(table):
    half, packed = table["franklin-per-task-half-packed"], table["franklin-per-task-packed"]
    assert (half.role, half.verdict) == ("calibrated", "as fitted")
    assert (packed.role, packed.verdict) == ("arithmetic", "holds")
    # 3.77, rounded, is 3.765 to 3.775: two tasks on the node, four on the packed one
    assert packed.reproduced == "1.8825 to 1.8875"
    assert "give 1.88" in packed.note


def test_the_machine_file_lies_where_both_values_hold():
    low, high = franklin_usable_gb()
    assert (low, high) == pytest.approx((7.53, 7.54))
    assert low <= Machine.load("franklin").node().usable_memory_gb <= high


def test_the_memory_of_the_plasma_run(table):
    # 142 TB over 5,000 nodes: 28.4 GB, 29.1 with 1,024 GB to the TB; 28.4 of 32 is 89 %
    assert float(table["vpic-per-node"].reproduced) == pytest.approx(28.4)
    assert float(table["vpic-memory-share"].reproduced) == pytest.approx(88.75)
    assert "29.1" in table["vpic-per-node"].note


def test_what_is_not_printed_is_not_claimed(table):
    assert table["psoci-problems-differ"].verdict == "not modelled"
    assert break_even_service(24, 4) == pytest.approx(0.2)


def test_cheapest_on_ordinary_nodes_and_on_any():
    # 2.7 GB: eleven tasks per node (31 / 2.7 = 11.5), 35 nodes; the larger ones hold 23, 17 nodes
    hopper = Machine.load("hopper")
    for need_gb, costs in ((2.0, (1.625, 1.0)), (2.7, (35 * 24 / 384, 17 * 24 / 384))):
        possible = layouts(hopper, need_gb=need_gb, tasks=384, threads=1)
        ordinary, best = cheapest(possible, kind=hopper.node()), cheapest(possible)
        assert (ordinary.cost_factor, best.cost_factor) == pytest.approx(costs)
