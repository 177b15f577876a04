"""Curves: curves near the model's on average are right, and those outside the chart are refused."""

from __future__ import annotations

from typing import Any

import pytest

from hopperbook.self_checks import CurveCheck

LEVEL: dict[str, Any] = {"x": (1, 2), "answer": (1, 1), "high": 2, "x_title": "x", "y_title": "y"}


def level(**changed: Any) -> CurveCheck:
    return CurveCheck(name="level", question="Draw it.", explanation="It is level.", **LEVEL | changed)


def test_how_far_off_is_a_share_of_the_height() -> None:
    # Off by 0.2 and 0.2 of 2: 10 %, just right; by 0.2 and 0.24: 11 %.
    assert level().grade([1.2, 0.8]).right
    assert not level().grade([1.2, 0.76]).right
    assert level(within=11).grade([1.2, 0.76]).right


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"x": (2, 1)}, "needs an answer for each of two or more rising x"),
        ({"x": (1, 2, 3)}, "needs an answer for each of two or more rising x"),
        ({"answer": (1, 3)}, "has a value outside of the chart, which goes from 0 to 2"),
        ({"documented": ((1, 5, "five"),)}, "has a value outside of the chart, which goes from 0 to 2"),
    ],
)
def test_what_fits_no_chart_is_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^check 'level' {problem}$"):
        level(**changed)
