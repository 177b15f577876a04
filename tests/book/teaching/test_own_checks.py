"""Self-checks about a reader's data: right for any data, and a text where these cannot answer."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from IPython.display import Markdown

from hopperbook.self_checks import ChoiceCheck, NumberCheck
from hopperbook.teaching.own_checks import MOST_OPTIONS, largest, number

VALUES = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=4), st.floats(0, 1e6) | st.just(math.nan) | st.just(math.inf), max_size=9
)


@given(VALUES)
def test_the_largest_group_is_the_right_one(values):
    check = largest("most", "Which?", values, quantity="Value", explanation="So.")
    finite = {group: value for group, value in values.items() if math.isfinite(value)}
    shown = sorted({f"{value:,.1f}" for value in finite.values()}, key=lambda text: -float(text.replace(",", "")))
    if isinstance(check, Markdown):
        assert len(shown) < 2 or len({f"{value:,.1f}" for value in sorted(finite.values())[-MOST_OPTIONS:]}) < 2
        return
    assert isinstance(check, ChoiceCheck)
    (right,) = [at for at, option in enumerate(check.options) if option.right]
    assert check.grade(right).right
    first = check.options[right].text.split(", ")[0].split(" and ")[0]
    assert f"{finite[first]:,.1f}" == shown[0]
    assert not any(check.grade(at).right for at in range(len(check.options)) if at != right)


def test_equal_groups_are_one_option():
    check = largest("most", "Which?", {"a": 2.01, "b": 2.04, "c": 1.0, "d": 2.0}, quantity="Value", explanation="So.")
    assert isinstance(check, ChoiceCheck)
    assert [(option.text, option.right) for option in check.options] == [("b, a and 1 more", True), ("c", False)]
    none = largest("most", "Which?", {"a": 1.0, "b": 1.01}, quantity="Value", explanation="So.")
    assert isinstance(none, Markdown)
    assert none.data.endswith("all groups are equal.")


@given(st.floats(-1e5, 1e5) | st.just(math.nan) | st.none(), st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_a_number_whatever_the_usual_mistakes_are_with_these_data(value, first, second):
    check = number(
        "used", "How much?", value, unit="%", explanation="So.", misconceptions={first: "One.", second: "Two."}
    )
    if value is None or math.isnan(value):
        assert isinstance(check, Markdown)
        return
    assert isinstance(check, NumberCheck)
    assert check.grade(repr(value)).right or "e" in repr(value)
