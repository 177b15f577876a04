"""Whole numbers written as ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.ranges import as_ranges


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([7], "7"), ([0, 1], "0,1"), ([0, 1, 2], "0-2"), ([3, 2, 1], "3,2,1"), ([0, 0, 1], "0,0,1")],
)
def test_runs_of_three_or_more_become_ranges(numbers, text):
    assert as_ranges(numbers) == text


@given(st.lists(st.integers(0, 300)))
def test_a_list_can_be_read_back(numbers):
    read = []
    for part in filter(None, as_ranges(numbers).split(",")):
        first, _, last = part.partition("-")
        read += range(int(first), int(last or first) + 1)
    assert read == numbers
