"""Orders: one is right, and a known mistake is named."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.self_checks import Check, OrderCheck


def order_check(*items: str, mistakes: tuple[tuple[str, str, str], ...] = ()) -> OrderCheck:
    return OrderCheck(name="o", question="Which first?", explanation="So.", items=items, mistakes=mistakes)


def test_one_order_is_right(checks: dict[str, Check]) -> None:
    check = checks["levels"]
    # Shown as cabinet 0, core 1, node 2, NUMA node 3; right from small to large.
    assert [order for order in permutations(range(4)) if check.grade(order).right] == [(1, 3, 2, 0)]


def test_first_mistake_that_fits_is_named() -> None:
    check = order_check("a", "b", "c", mistakes=(("c", "a", "c after a"), ("b", "a", "b after a")))
    assert check.shown == ("c", "b", "a")
    assert check.grade([0, 1, 2]).feedback == "c after a"
    assert check.grade([1, 2, 0]).feedback == "b after a"
    assert check.grade([2, 0, 1]).feedback == check.wrong


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=6, unique=True))
def test_shown_order_gives_nothing_away(items: list[str]) -> None:
    check = order_check(*items)
    assert sorted(check.shown) == sorted(items)
    assert check.shown != tuple(items)
    assert not check.grade(range(len(items))).right
    assert check.grade([check.shown.index(item) for item in items]).right


@pytest.mark.parametrize("items", [("a",), ("a", "a")])
def test_items_that_have_no_order(items: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"^check 'o' needs two items or more, no two of them alike$"):
        order_check(*items)


def test_a_mistake_names_items_in_the_wrong_order() -> None:
    with pytest.raises(ValueError, match=r"^check 'o': mistake \('a', 'x'\) must name two of its items$"):
        order_check("a", "b", mistakes=(("a", "x", "no"),))
    with pytest.raises(ValueError, match=r"^check 'o': 'a' before 'b' is no mistake$"):
        order_check("a", "b", mistakes=(("a", "b", "no"),))
