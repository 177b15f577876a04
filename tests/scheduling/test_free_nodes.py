"""Free lists against a set of positions, for every allocation method."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.scheduling._free_nodes import ALLOCATIONS, free_list, joined, length_of, pairs


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=40))
def test_against_a_set(allocation, steps):
    free, left, jobs = free_list(allocation, [0, 20], random.Random(1)), set(range(20)), []
    for take, number in steps:
        if take and number <= free.room:
            taken = free.take(number)
            positions = {position for low, high in pairs(taken) for position in range(low, high)}
            assert len(positions) == number
            assert positions <= left
            assert taken == sorted(set(taken))  # runs are never adjacent
            if allocation == "first":
                assert positions == set(sorted(left)[:number])
            left -= positions
            jobs.append((taken, positions))
        elif not take and jobs:
            taken, positions = jobs.pop(number % len(jobs))
            free.release(taken, len(positions))
            left |= positions
        runs = joined(sorted(left))
        assert free.bounds == runs
        assert free.free == length_of(runs) == len(left)
        largest = max((high - low for low, high in pairs(runs)), default=0)
        assert free.room == (largest if allocation == "contiguous" else len(left))


def test_contiguous_does_not_fit_what_lies_apart():
    free = free_list("contiguous", [0, 4])
    first, second = free.take(1), free.take(2)
    free.release(first, 1)
    assert (free.free, free.room, second) == (2, 1, [1, 3])


def test_contiguous_keeps_off_a_run():
    # Free are 0-3, 6-9 and 12-19; to be avoided are 2-13.
    free = free_list("contiguous", [0, 4, 6, 10, 12, 20])
    assert (free.largest_outside((2, 14)), free.largest_outside((4, 6))) == (6, 8)
    assert (free.take(2, (2, 14)), free.take(3, (2, 14)), free.take(2, (2, 14))) == ([0, 2], [14, 17], [17, 19])


def test_best_fit_takes_the_smallest_hole_that_holds_the_job():
    free = free_list("best", [0, 20])
    jobs = [free.take(width) for width in (4, 1, 2, 1, 12)]
    free.release(jobs[0], 4)
    free.release(jobs[2], 2)
    assert free.take(2) == [5, 7]
    # Only the first free run holds three; then two single nodes are left to share.
    assert free.take(3) == [0, 3]


def test_positions_by_name():
    free = free_list("first", [0, 10])
    free.take(3)
    assert free.take_positions(2, 6) == [3, 6]
    assert free.bounds == [6, 10]
