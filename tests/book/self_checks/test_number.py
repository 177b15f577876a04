"""Numbers: right answers, known mistakes, and those that cannot be distinguished."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.self_checks import NumberCheck


def number_check(**parts: Any) -> NumberCheck:
    return NumberCheck(**{"name": "n", "question": "How many?", "explanation": "So many."} | parts)


def test_half_a_unit_of_the_last_decimal_is_right() -> None:
    # 31 / 24 = 1.291666...; half a unit of the second decimal is 0.005: from 1.28667 to 1.29667.
    check = number_check(answer=31 / 24, decimals=2)
    assert [check.grade(text).right for text in ("1.2866", "1.2867", "1.2966", "1.2968")] == [False, True, True, False]


def test_stated_tolerance_takes_its_place() -> None:
    check = number_check(answer=887.12, decimals=2, tolerance=5)
    assert [check.grade(text).right for text in ("882", "882.12", "892.12", "892.2")] == [False, True, True, False]


def test_a_count_must_be_met() -> None:
    assert [number_check(answer=6).grade(value).right for value in (5, 6, 6.0, 6.4)] == [False, True, True, False]
    # A float without decimals is rounded: 153.2 is asked for as 153.
    assert [number_check(answer=153.2).grade(value).right for value in (152, 153, 154)] == [False, True, False]


def test_a_mistake_is_met_within_the_same_tolerance() -> None:
    check = number_check(answer=2.0, decimals=1, misconceptions={4.0: "Twice."})
    assert [check.grade(text).feedback for text in ("3.95", "4.05")] == ["Twice.", "Twice."]
    assert check.grade("4.06").feedback == check.wrong


def test_mistakes_come_in_order() -> None:
    # 1290 is named as a mistake of its own, so the general word about a thousand is not needed.
    check = number_check(answer=1.29, decimals=2, unit="GB", misconceptions={1290.0: "That is in MB."})
    assert check.grade("1290").feedback == "That is in MB."
    assert [mistake.feedback[:5] for mistake in check.mistakes] == ["That ", "Close", "A tho"]


def test_a_count_has_no_thousandfold_mistake() -> None:
    assert number_check(answer=6).mistakes == ()


def test_zero_is_not_a_thousand_times_itself() -> None:
    check = number_check(answer=0.0, decimals=1, unit="s")
    assert check.mistakes == ()
    assert check.grade("0").right


@pytest.mark.parametrize(
    ("decimals", "said"),
    [(1, "Close, but rounded too far: give 1 decimal."), (2, "Close, but rounded too far: give 2 decimals.")],
)
def test_rounded_too_far(decimals: int, said: str) -> None:
    check = number_check(answer=3.767, decimals=decimals)
    assert check.grade(round(3.767, decimals - 1)).feedback == said


def test_a_round_answer_is_not_rounded_too_far() -> None:
    assert number_check(answer=2.5, decimals=2).grade("2.5").right


@pytest.mark.parametrize("wrong", [{1.294: "a"}, {2.0: "a", 2.004: "b"}])
def test_what_cannot_be_told_apart_is_refused(wrong: dict[float, str]) -> None:
    with pytest.raises(
        ValueError, match=r"^check 'n': the mistake .* cannot be distinguished from the answer 1.29 GB or from"
    ):
        number_check(answer=1.29, decimals=2, unit="GB", misconceptions=wrong)


@pytest.mark.parametrize("answer", [float("nan"), float("inf")])
def test_answer_is_finite(answer: float) -> None:
    with pytest.raises(ValueError, match=r"^check 'n': answer=(nan|inf) must be finite$"):
        number_check(answer=answer)


@pytest.mark.parametrize("parts", [{"decimals": -1}, {"tolerance": -0.5}, {"tolerance": float("nan")}])
def test_tolerance_is_not_negative(parts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must not be negative$"):
        number_check(answer=1.0, **parts)


def test_answer_as_shown() -> None:
    assert number_check(answer=153216, unit="").answer_text == "153,216"
    assert number_check(answer=31 / 24, decimals=2, unit="GB").answer_text == "1.29 GB"


@given(st.floats(min_value=-1e9, max_value=1e9), st.integers(min_value=0, max_value=6))
def test_the_answer_as_shown_is_right(answer: float, decimals: int) -> None:
    # Readers copy what a page prints: "1,290.50" must be right, and never "rounded too far".
    check = number_check(answer=answer, decimals=decimals)
    assert check.grade(f"{answer:.{decimals}f}").right


@given(st.floats(min_value=0.01, max_value=1e6), st.integers(min_value=0, max_value=3))
def test_every_known_mistake_is_wrong(answer: float, decimals: int) -> None:
    check = number_check(answer=answer, decimals=decimals, unit="GB/s")
    for mistake in check.mistakes:
        assert check.grade(repr((mistake.low + mistake.high) / 2)).feedback == mistake.feedback
