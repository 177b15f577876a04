"""A MILC job placed repeatedly: the table against the model, and laws for each row."""

from __future__ import annotations

from itertools import islice

import pytest

from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import (
    CASES,
    METRICS,
    SEEDS,
    Histories,
    PlacedJob,
    read_placed_jobs,
    selected,
)
from hopperlib.network.runtime.sharing import MIXES

HISTORIES = Histories(Machine.load("hopper"))


@pytest.mark.parametrize(
    "case",
    [CASES[0], *(pytest.param(case, marks=pytest.mark.nightly) for case in CASES[1:3])],
    ids=["first", "nid", "contiguous"],
)
def test_part_of_the_table_comes_out_again(case):
    """In both directions: the model reproduces the rows of the table, and no others."""
    order, allocation, sizes, _ = case
    stored = [job for job in read_placed_jobs() if (job.order, job.allocation, job.seed) == (order, allocation, 1)]
    stored = [job for job in stored if job.tasks in sizes and job.day < 1.5]
    # Later jobs change nothing: the history is cut off on its second day.
    made = islice(HISTORIES.placed_jobs(1, order, allocation, sizes, until_day=2), len(stored))
    assert stored
    assert list(made) == stored


def test_every_case_and_seed_is_in_the_table():
    found = {(job.order, job.allocation, job.tasks, job.seed) for job in read_placed_jobs()}
    assert found == {
        (order, allocation, size, seed) for order, allocation, sizes, seeds in CASES for size in sizes for seed in seeds
    }
    # Three sizes in turn, one every six hours of ten days: 40 jobs, 13 of the second size.
    assert len(selected("xyz-by2", "first", 8192)) == len(SEEDS) * 13


def test_rows_obey_what_they_measure():
    for job in read_placed_jobs():
        # Neighbors only reduce bandwidth; a node sends at most 6 GB/s.
        assert all(each >= job.own >= 1 / 6 - 1e-3 for traffic in MIXES for each in job.slowness(traffic))
        assert job.hops_geminis <= job.hops_geminis_y2 <= 2 * job.hops_geminis
        assert job.hops_max <= 24
        assert job.wait_h >= 0
        assert job.runs >= 1
        assert job.running >= 1


def test_contiguous_jobs_lie_in_one_run():
    assert {job.runs for job in selected("xyz-by2", "contiguous", 8192)} == {1}
    assert max(job.runs for job in selected("xyz-by2", "first", 8192)) > 20


def test_metrics_are_columns():
    assert set(METRICS) <= set(PlacedJob._fields)


def test_choices_of_traffic():
    job = selected("xyz-by2", "first", 8192)[5]
    assert job.slowness("none") == (job.own,) * 3
    with pytest.raises(ValueError, match="traffic='some' must be one of: none, stencils, assumed, double"):
        job.slowness("some")


def test_a_size_that_is_not_simulated_is_refused():
    with pytest.raises(ValueError, match="tasks=100 must be one of: 4096, 8192, 16384"):
        next(HISTORIES.placed_jobs(1, "nid", "first", [100], days=1))


def test_histories_repeat_and_take_seeds():
    once, other = (HISTORIES.schedule(seed, "first", 1) for seed in (1, 2))
    again = Histories(Machine.load("hopper")).schedule(1, "first", 1)
    assert list(once.start_s) == list(again.start_s)
    assert list(once.start_s) != list(other.start_s)
