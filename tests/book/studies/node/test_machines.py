"""The machines study: totals from parts, and limits of its claims."""

from __future__ import annotations

import pytest

from hopperbook.studies.node import machines
from hopperlib.machine import Machine


@pytest.fixture(scope="module")
def table(scored):
    return scored("machines")


def test_all_rows_have_a_role(table):
    assert len(table) == 76


def test_totals_agree_with_what_is_printed(table):
    for name in ("hopper-cores-antypas2011", "hopper-cores-byna2013", "hours-factor", "hours-factor-introduction"):
        assert table[name].verdict == "holds"
    for source in ("antypas2011", "he2012", "byna2013"):
        assert table[f"hopper-peak-{source}"].verdict == "holds"
    # 153,216 x 8.4 Gflop/s is 1.2870 Pflop/s, printed cut off
    assert float(table["hopper-peak-he2012"].reproduced) == pytest.approx(1.28701)


def test_misprints_are_held_against_the_adopted_reading(table):
    assert (table["hopper-nodes-antypas2011"].documented, table["hopper-nodes-antypas2011"].reproduced) == (
        "3,284",
        "6384",
    )
    assert table["hopper-cores-he2012"].deviation == 0


def test_one_memory_two_divisors(table):
    # 216,576 GB of 2**30 bytes: 211.5 TiB, which rounds to 212, and 232.5 TB of 10**12 bytes, which is over 217
    assert table["hopper-memory-total-he2012"].verdict == "holds"
    for source in ("antypas2011", "byna2013"):
        assert float(table[f"hopper-memory-total-{source}"].reproduced) == pytest.approx(232.547, abs=5e-4)
        assert table[f"hopper-memory-total-{source}"].verdict == "holds"


def test_the_operations_of_franklin_are_fitted_and_so_is_its_peak(table):
    # 38,288 x 2.3 GHz x 4 = 352.25 Tflop/s; the 4 is 352 / 38,288 / 2.3
    assert table["franklin-peak"].role == "calibrated"
    assert float(table["franklin-peak"].reproduced) == pytest.approx(352.25, abs=0.01)


def test_sustained_performance_as_a_share_of_the_peak():
    assert machines.sustained_fraction(Machine.load("hopper")) == pytest.approx(140 / 1287.0144)


def test_transfers_of_the_memory():
    # 21.3 GB/s over two channels of 8 bytes: 1,331 million a second, printed as 1333
    assert machines.memory_transfers_mt_s(Machine.load("hopper")) == pytest.approx(85_300 / 64)
