"""Numbers typed by readers: one reading is taken, two are offered, none is guessed."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.self_checks.typed_number import MESSAGES, read_typed_number


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1.29", 1.29),
        (" 1.29 ", 1.29),
        (".5", 0.5),
        ("-3", -3.0),
        ("+3", 3.0),
        ("\u22123", -3.0),  # the minus sign of typography
        ("0", 0.0),
        ("007", 7.0),
        ("153216", 153216.0),
        ("1,29", 1.29),
        (",5", 0.5),
        ("0,129", 0.129),  # no group of thousands starts with 0
        ("1234,567", 1234.567),  # four digits before the comma are no group
        ("1,2345", 1.2345),
        ("153,216.5", 153216.5),
        ("1,234,567", 1234567.0),
        ("1 234", 1234.0),
        ("1\u202f234\u00a0567", 1234567.0),
        ("1 234,5", 1234.5),
        ("1 234,567", 1234.567),  # the space has shown what separates thousands
        ("2.5e3", 2500.0),
        ("2,5E-3", 0.0025),
    ],
)
def test_one_reading_is_taken(typed: str, number: float) -> None:
    assert read_typed_number(typed) == number


@pytest.mark.parametrize(
    ("typed", "readings"),
    [("1,290", "Write 1290 or 1.290."), ("153,216", "Write 153216 or 153.216."), ("-1,000", "Write -1000 or -1.000.")],
)
def test_two_readings_are_offered(typed: str, readings: str) -> None:
    with pytest.raises(ValueError, match=readings) as caught:
        read_typed_number(typed)
    assert str(caught.value) == f"'{typed}' can be read in two ways. {readings}"


@pytest.mark.parametrize("typed", ["", "  ", "\u00a0"])
def test_nothing_typed(typed: str) -> None:
    with pytest.raises(ValueError, match=r"^Type a number first.$"):
        read_typed_number(typed, unit="GB")


@pytest.mark.parametrize(
    "typed",
    [
        "six",
        "GB",
        "1.2.3",
        "1,2,3",
        "1.234,5",
        "0,129,000",
        "12,34.5",
        "1 2",
        "12 3456",
        "--3",
        "nan",
        "inf",
        "1e999",
        "1/2 ",
    ],
)
def test_no_number(typed: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be read as a number|has no unit"):
        read_typed_number(typed)


def test_message_quotes_what_was_typed() -> None:
    with pytest.raises(ValueError) as caught:
        read_typed_number(" about six GB ", unit="GB")
    assert str(caught.value) == "'about six GB' cannot be read as a number. Write it like this: 1234.5"


@pytest.mark.parametrize("typed", ["1.29 GB", "1.29GB", "1.29 gb", "1,29 GB", "1.29 GB.", "1.29 gigabytes"])
def test_unit_after_the_number_is_welcome(typed: str) -> None:
    assert read_typed_number(typed, unit="GB", spellings=("gigabytes",)) == 1.29


def test_spaces_in_a_unit_do_not_matter() -> None:
    assert read_typed_number("35 GB / s", unit="GB/s") == 35.0


def test_another_unit_is_refused_not_converted() -> None:
    with pytest.raises(ValueError) as caught:
        read_typed_number("1290 MB", unit="GB")
    assert str(caught.value) == "The answer is wanted in GB, and 'MB' is something else."


def test_a_unit_where_there_is_none() -> None:
    with pytest.raises(ValueError) as caught:
        read_typed_number("6 tasks")
    assert str(caught.value) == "The answer has no unit. Write the number alone, without 'tasks'."


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_prints_is_read_back(number: float) -> None:
    assert read_typed_number(repr(number)) == number


@given(st.integers(min_value=1_000_000, max_value=10**15), st.sampled_from("., \u202f"))
def test_large_whole_numbers_with_separators(number: int, separator: str) -> None:
    # From a million on two commas show that they separate thousands. Points never do.
    typed = f"{number:,}".replace(",", separator)
    if separator == ".":
        with pytest.raises(ValueError, match="cannot be read"):
            read_typed_number(typed)
    else:
        assert read_typed_number(typed) == number


@given(st.text(max_size=30), st.sampled_from(["", "GB", "s"]))
def test_any_text_is_read_or_gets_a_known_message(typed: str, unit: str) -> None:
    known = "|".join(re.sub(r"\\\{\w+\\\}", ".*", re.escape(message)) for message in MESSAGES.values())
    try:
        number, said = read_typed_number(typed, unit=unit), MESSAGES["empty"]
    except ValueError as error:
        number, said = 0.0, str(error)
    assert math.isfinite(number)
    assert re.fullmatch(known, said, re.DOTALL)
