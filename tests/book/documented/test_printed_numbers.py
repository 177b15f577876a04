"""Printed numbers and their last place, by hand and by law."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.documented import last_place, printed_number

CASES = [
    # text, number, one unit of the last printed place
    ("3,284", "3284", "1"),
    ("1024576", "1024576", "1"),
    ("6.0", "6", "0.1"),
    ("0.50", "0.5", "0.01"),
    (".5", "0.5", "0.1"),
    ("~.5", "0.5", "0.1"),
    ("~ 27", "27", "1"),
    ("~1700", "1700", "1"),
    ("-16.9", "-16.9", "0.1"),
    ("50+", "50", "1"),
    ("16,368+", "16368", "1"),
    ("156%", "156", "1"),
    ("0.0044", "0.0044", "0.0001"),
    # 7.4 is printed to a tenth, and a tenth of 10⁵ is 10⁴.
    ("7.4x10⁵", "740000", "10000"),
    ("7 x 10⁸", "700000000", "100000000"),
    ("Two hundred eighty", "280", "1"),
    ("half a dozen", "6", "1"),
    ("a", "1", "1"),
]


@pytest.mark.parametrize(("text", "number", "place"), CASES)
def test_numbers(text, number, place):
    assert printed_number(text) == Decimal(number)
    assert last_place(text) == Decimal(place)


@pytest.mark.parametrize(("text", "number"), [("1/3", 1 / 3), ("two-thirds", 2 / 3), ("half", 0.5)])
def test_fractions_have_no_last_place(text, number):
    assert float(printed_number(text)) == pytest.approx(number)
    assert last_place(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "true",
        "3.3.1.1",
        "xt-libsci/10.5.0",
        "0x4",
        "ss9",
        "7x108",
        "1,02",
        "12,3456",
        "1 2",
        "5; 6",
        "1/0",
        "~",
        ".",
    ],
)
def test_what_is_no_number(text):
    assert printed_number(text) is None
    assert last_place(text) is None


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_printing_and_reading_gives_the_same(digits, places):
    number = Decimal(digits).scaleb(-places)
    for text in (f"{number:f}", f"{number:,f}", f"~{number:f}"):
        assert printed_number(text) == number
        assert last_place(text) == Decimal(1).scaleb(-places)
