"""Options: each has its feedback, and one or several are right."""

from __future__ import annotations

from itertools import combinations

import pytest

from hopperbook.self_checks import Check, ChoiceCheck, Option


def choice_check(*options: Option) -> ChoiceCheck:
    return ChoiceCheck(name="c", question="Which?", explanation="So.", options=options)


def test_one_set_of_options_is_right(checks: dict[str, Check]) -> None:
    check = checks["spread-options"]
    chosen = [set(some) for size in range(5) for some in combinations(range(4), size)]
    assert [some for some in chosen if check.grade(some).right] == [{0, 2}]


def test_an_index_alone_is_a_choice(checks: dict[str, Check]) -> None:
    assert checks["spread-option"].grade(1) == checks["spread-option"].grade([1])


def test_several_are_asked_for_if_several_are_right(checks: dict[str, Check]) -> None:
    assert checks["spread-option"].to_dict()["several"] is False
    assert checks["spread-options"].to_dict()["several"] is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([Option(text="a", feedback="a", right=True)], "needs two options or more, one of them right"),
        (
            [Option(text="a", feedback="a"), Option(text="b", feedback="b")],
            "needs two options or more, one of them right",
        ),
        (
            [Option(text="a", feedback="a", right=True), Option(text="a", feedback="b")],
            "has two identical options",
        ),
        (
            [Option(text="a", feedback="a", right=True), Option(text="b", feedback=" ")],
            "needs feedback for each option",
        ),
    ],
)
def test_options_that_make_no_question(options: list[Option], message: str) -> None:
    with pytest.raises(ValueError, match=f"^check 'c' {message}$"):
        choice_check(*options)
