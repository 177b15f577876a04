"""Aged machines: the table of random workloads agrees with the simulations, and pages show means with their range."""

from __future__ import annotations

import pytest

from hopperbook.studies.network.fragmentation import (
    aged,
    aged_outcome,
    aged_outcomes,
    mean_wait_h,
    middle_nine_tenths,
)


def test_a_row_comes_out_again():
    schedule = aged("first", 1)
    row = aged_outcomes("first")[0]
    assert row.seed == 1
    assert round(mean_wait_h(schedule, from_nodes=683), 4) == row.large_wait_h
    assert round(schedule.utilization(3 * 86_400, 14 * 86_400), 4) == row.utilization


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, 20])
def test_a_row_in_one_piece_comes_out_again(seed):
    assert aged_outcome(seed, "contiguous") == next(row for row in aged_outcomes("contiguous") if row.seed == seed)


def test_every_seed_has_both_allocations():
    for kind in ("first", "contiguous"):
        assert [row.seed for row in aged_outcomes(kind)] == list(range(1, 21))
    assert all(row.pieces == 1 for row in aged_outcomes("contiguous"))


def test_one_workload_is_no_mean():
    """92.8 h of seed 1 is near the upper end of the waits of large jobs when each job gets one run of nodes."""
    waits = [row.large_wait_h for row in aged_outcomes("contiguous")]
    mean, low, high = middle_nine_tenths(waits)
    assert round(waits[0], 1) == 92.8
    assert low < mean < high
    assert waits[0] > mean


def test_every_workload_waits_longer_in_one_piece():
    pairs = zip(aged_outcomes("first"), aged_outcomes("contiguous"), strict=True)
    longer = [whole.large_wait_h > first.large_wait_h for first, whole in pairs]
    assert sum(longer) >= 0.99 * len(longer)


def test_pages_show_the_mean_of_all_workloads(notebook_text):
    for page in ("network/fragmentation", "network/variability"):
        text = notebook_text(page)
        assert "20 random workloads" in text
        assert 'aged("contiguous")' not in text
