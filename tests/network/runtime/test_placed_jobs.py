"""A MILC job placed again and again: the table against the model, and what a row must obey."""

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

HISTORIES = Histories(Machine.load("hopper"))


@pytest.mark.parametrize(
    ("case", "seed", "first"),
    [(CASES[0], 1, 5), (CASES[1], 1, 1), (CASES[2], 1, 2)],
    ids=["first", "contiguous", "nid"],
)
def test_part_of_the_table_comes_out_again(case, seed, first):
    """Both ways: the rows of the table are what the model gives, and the model gives nothing between them."""
    order, allocation, sizes = case
    stored = [job for job in read_placed_jobs() if (job.order, job.allocation, job.seed) == (order, allocation, seed)]
    made = list(islice(HISTORIES.placed_jobs(seed, order, allocation, sizes), first))
    assert made == stored[:first]


def test_every_case_and_seed_is_in_the_table():
    found = {(job.order, job.allocation, job.tasks, job.seed) for job in read_placed_jobs()}
    assert found == {
        (order, allocation, size, seed) for order, allocation, sizes in CASES for size in sizes for seed in SEEDS
    }
    # One job of a size every six hours of four weeks.
    assert len(selected("xyz_by2", "first", 8192)) == 3 * 28 * 4


def test_neighbors_only_add():
    for job in read_placed_jobs():
        assert all(one >= job.own for one in job.worst_links())
        assert all(double >= one for one, double in zip(job.worst_links(), job.worst_links("double"), strict=True))
        assert job.hops_geminis <= job.hops_geminis_y2 <= 2 * job.hops_geminis
        assert job.hops_max <= 24
        assert job.wait_h >= 0
        assert job.runs >= 1


def test_contiguous_jobs_lie_in_one_run():
    assert {job.runs for job in selected("xyz_by2", "contiguous", 8192)} == {1}
    assert max(job.runs for job in selected("xyz_by2", "first", 8192)) > 20


def test_days_select():
    early, late = selected("nid", "first", 8192, 0, 2), selected("nid", "first", 8192, 2, 99)
    assert max(job.day for job in early) < 2 <= min(job.day for job in late)
    assert len(early) + len(late) == len(selected("nid", "first", 8192))


def test_metrics_are_columns():
    assert set(METRICS) <= set(PlacedJob._fields)


def test_choices_of_traffic():
    job = selected("xyz_by2", "first", 8192)[50]
    assert job.worst_links("none") == (job.own,) * 3
    with pytest.raises(ValueError, match="traffic='some' must be one of: none, assumed, double"):
        job.worst_links("some")


def test_a_size_that_is_not_simulated_is_refused():
    with pytest.raises(ValueError, match="tasks=100 must be one of: 4096, 8192, 16384"):
        next(HISTORIES.placed_jobs(1, "nid", "first", [100], days=1))


def test_histories_repeat_and_take_seeds():
    once, other = (HISTORIES.schedule(seed, "first", 1) for seed in (1, 2))
    again = Histories(Machine.load("hopper")).schedule(1, "first", 1)
    assert list(once.start_s) == list(again.start_s)
    assert list(once.start_s) != list(other.start_s)
