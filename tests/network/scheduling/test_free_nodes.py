"""Free lists against a set of positions, for every way to allocate."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.network.scheduling.free_nodes import BestFit, Contiguous, FirstFit, RandomFit, pairs
from hopperlib.network.torus.allocation import runs_of


def make(kind, nodes):
    return RandomFit(nodes, random.Random(1)) if kind is RandomFit else kind(nodes)


@pytest.mark.parametrize("kind", [FirstFit, BestFit, Contiguous, RandomFit])
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=40))
def test_against_a_set(kind, steps):
    free, left, jobs = make(kind, 20), set(range(20)), []
    for take, number in steps:
        if take and free.fits(number):
            taken = free.take(number)
            positions = {position for low, high in pairs(taken) for position in range(low, high)}
            assert len(positions) == number
            assert positions <= left
            assert taken == sorted(set(taken))  # runs never touch
            if kind is FirstFit:
                assert positions == set(sorted(left)[:number])
            left -= positions
            jobs.append((taken, positions))
        elif not take and jobs:
            taken, positions = jobs.pop(number % len(jobs))
            free.release(taken)
            left |= positions
        assert pairs(free.bounds) == list(runs_of(left))
        assert free.free == len(left)
        assert free.largest_run == max((high - low for low, high in runs_of(left)), default=0)


def test_contiguous_refuses_what_does_not_fit_whole():
    free = Contiguous(4)
    a, b = free.take(1), free.take(2)
    free.release(a)
    assert (free.free, free.fits(2), b) == (2, False, [1, 3])
    with pytest.raises(ValueError, match="width=2 fits no free run: the longest holds 1"):
        free.take(2)


def test_best_fit_takes_the_smallest_hole_that_holds_the_job():
    free = BestFit(20)
    jobs = [free.take(width) for width in (4, 1, 2, 1, 12)]
    free.release(jobs[0])
    free.release(jobs[2])
    assert free.take(2) == [5, 7]
    # Nothing holds three but the first hole; then two ones are left to share.
    assert free.take(3) == [0, 3]


def test_positions_by_name():
    free = FirstFit(10)
    free.take(3)
    assert free.take_positions(2, 6) == [3, 6]
    assert free.bounds == [6, 10]
