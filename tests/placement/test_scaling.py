"""Parts of a run that shrink, stay constant and grow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.placement.models.scaling import parts, scaled

amounts = st.floats(0, 100)


@given(amounts, amounts, amounts)
def test_what_is_a_sum_of_parts_is_found_again(shrinks, stays, grows):
    if shrinks + stays + grows < 1:
        return
    points = {count: shrinks / count + stays + grows * count**0.5 for count in (1.0, 2.0, 4.0, 16.0)}
    powers = [-1, 0, 0.5]
    expected = shrinks / 64 + stays + grows * 8
    assert scaled(points, 64, powers) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert all(part >= 0 for part in parts(points, powers))


def test_no_part_is_negative_even_if_the_line_would_be():
    """From 10 to 4.9 with twice the nodes: a pure 1/n comes nearest; a constant would have to be negative."""
    found = parts({1: 10.0, 2: 4.9}, [-1, 0])
    assert found[1] == 0
    assert found[0] == pytest.approx(9.9, abs=0.1)


def test_large_counts_do_not_overflow():
    assert scaled({4096: 7293.0, 8192: 4306.0, 16384: 2801.0}, 65536, [-1, 0]) == pytest.approx(1690, rel=0.02)


def test_columns_that_are_alike_are_no_choice():
    assert scaled({1: 2.0, 2: 1.0}, 4, [-1, -1]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: parts({1: 1.0}, [-1, 0]), "no more than the 1 points"),
        (lambda: parts({1: 0.0, 2: 1.0}, [0]), "value"),
        (lambda: scaled({1: 1.0}, 0, [0]), "count"),
    ],
)
def test_errors_name_the_value_and_the_rule(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("powers", [[], [-1, 0, 1]])
def test_there_are_as_many_points_as_powers_and_at_least_one(powers):
    with pytest.raises(InputError, match="must be at least one, and no more than the 2 points"):
        parts({1: 8.0, 2: 6.0}, powers)
