"""The language of the proofs: exact arithmetic, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.proofs import evaluate_proof


@pytest.mark.parametrize(
    "text",
    [
        "0.1 + 0.2 == 0.3",  # false in binary fractions
        "2**20 == 1048576",
        "2**-1 == 0.5",
        "7 / 2 == 3.5 != 3",
        "1 < 2 <= 2 < 3 and 3 >= 3 > 2",
        "-(2 - 5) == 3",
        "abs(887.1 - 904) == 16.9",
        "round(2.675, 2) == 2.68",  # 2.67 in binary fractions
        "round(2.5) == 2",  # a tie goes to the even digit
        "1_000 == 10**3",
    ],
)
def test_true(text):
    assert evaluate_proof(text) is True


@pytest.mark.parametrize("text", ["1 == 2", "1 < 2 < 2", "1 == 1 and 2 == 1", "round(3.5 / 6 * 100) == 50"])
def test_false(text):
    assert evaluate_proof(text) is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'proof "": invalid syntax'),
        ("1 +", 'proof "1 +": invalid syntax'),
        ("1 == 1; 2 == 2", 'proof "1 == 1; 2 == 2": invalid syntax'),
        ("3", 'proof "3": a comparison is needed, not: 3'),
        ("1 == 1 and 2", 'proof "1 == 1 and 2": a comparison is needed, not: 2'),
        ("(1 == 1) + 1 == 2", 'proof "(1 == 1) + 1 == 2": a number is needed, not: 1 == 1'),
        ("x == 1", 'proof "x == 1": no part of it may be: x'),
        ("True == True", 'proof "True == True": no part of it may be: True'),
        ("'a' == 'a'", "proof \"'a' == 'a'\": no part of it may be: 'a'"),
        ("1j == 1", 'proof "1j == 1": no part of it may be: 1j'),
        ("7 // 2 == 3", 'proof "7 // 2 == 3": no part of it may be: 7 // 2'),
        ("1 is 1", 'proof "1 is 1": no part of it may be: 1 is 1'),
        ("1 == 1 or 1 == 2", 'proof "1 == 1 or 1 == 2": no part of it may be: 1 == 1 or 1 == 2'),
        ("not 1 == 2", 'proof "not 1 == 2": no part of it may be: not 1 == 2'),
        ("pow(2, 3) == 8", 'proof "pow(2, 3) == 8": no part of it may be: pow(2, 3)'),
        (
            "round(1.5, ndigits=0) == 2",
            'proof "round(1.5, ndigits=0) == 2": no part of it may be: round(1.5, ndigits=0)',
        ),
        ("a.b == 1", 'proof "a.b == 1": no part of it may be: a.b'),
        ("__import__('os') == 1", "proof \"__import__('os') == 1\": no part of it may be: __import__('os')"),
        ("2**65 > 1", 'proof "2**65 > 1": no part of it may be: 2 ** 65'),
        ("2**0.5 > 1", 'proof "2**0.5 > 1": no part of it may be: 2 ** 0.5'),
    ],
)
def test_refused(text, message):
    with pytest.raises(ValueError) as error:
        evaluate_proof(text)
    assert str(error.value) == message


def test_division_by_zero_is_an_error_of_the_proof():
    with pytest.raises(ValueError, match=r'proof "1 / 0 == 1": '):
        evaluate_proof("1 / 0 == 1")


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(1, 999))
def test_arithmetic_is_that_of_fractions(a, b, c):
    total = Fraction(a) + Fraction(b, c)
    assert evaluate_proof(f"{a} + {b} / {c} == {total.numerator} / {total.denominator}")
