"""The study of buffered I/O: two printed values are fitted, a third is their sum, the rest is predicted."""

from __future__ import annotations

import pytest

from hopperbook.studies.storage.iobuf import ior_cases, maestro_gain


@pytest.fixture(scope="module")
def table(scored):
    return scored("iobuf")


def test_three_values_rest_on_two_fits(table):
    assert [name for name, row in table.items() if row.role == "calibrated"] == [
        "read-gain-low",
        "read-gain-high",
        "write-gain-high",
    ]


def test_the_greatest_gain_of_a_read_is_the_sum_of_both_fits(table):
    # 30 % of waiting and 11 % of calls add up to 41 %
    assert 100 * ior_cases()[0].read_gain == pytest.approx(41.0, abs=0.05)
    assert table["read-gain-high"].verdict == "as fitted"
    # merging two calls of 1 MiB buys next to nothing: the printed 1 % is missed
    assert table["write-gain-low"].verdict == "missed, explained"


def test_the_order_of_the_cases_rests_on_no_assumption():
    for extra in (0.0, 0.5, 3.0):
        writes = [case.write_gain for case in ior_cases(extra)]
        assert writes == sorted(writes, reverse=True)


def test_maestro_is_about_five_percent_somewhere_in_the_band(table):
    assert maestro_gain(100_000) < 0.05 < maestro_gain(10_000)
    assert table["maestro-gain"].verdict == "too wide"


def test_what_cannot_fail_is_no_success(table):
    assert not [name for name, row in table.items() if row.role == "shape"]
    assert "always-faster" not in table
