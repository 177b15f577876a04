"""Printed numbers as decimals, with the last place that was printed."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["last_place", "printed_number"]

# Numbers that the sources write as words. What is half of something has no last place.
WORDS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "twelve": 12}
WORDS |= {"half a dozen": 6, "two hundred eighty": 280}
FRACTIONS = {"half": "1/2", "two-thirds": "2/3"}

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NUMBER = re.compile(r"~?\s*(-?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)(?:\s?x\s?10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?[+%]?")


def printed_number(text: str) -> Decimal | None:
    """Return the number that a printed text is, or None if it is none.

    A tilde before it, thousands commas, a raised power of ten, a plus or a
    percent sign after it and a few words belong to the text of a number.

    Examples
    --------
    >>> printed_number("~1700"), printed_number("2.5x10⁵"), printed_number("half a dozen")
    (Decimal('1700'), Decimal('2.5E+5'), Decimal('6'))
    >>> printed_number("4.2.0.3") is None
    True
    """
    words = text.strip().lower()
    if words in WORDS:
        return Decimal(WORDS[words])
    above, slash, below = FRACTIONS.get(words, words).partition("/")
    if slash and above.isdecimal() and below.isdecimal() and int(below):
        return Decimal(above) / Decimal(below)
    match = NUMBER.fullmatch(words)
    if match is None or not any(character.isdecimal() for character in match[1]):
        return None
    return Decimal(match[1].replace(",", "")).scaleb(int((match[2] or "0").translate(RAISED)))


def last_place(text: str) -> Decimal | None:
    """Return one unit of the last printed place; None for a fraction and for what is no number.

    Examples
    --------
    >>> last_place("1.29"), last_place("6.0"), last_place("38,000"), last_place("2.5x10⁵")
    (Decimal('0.01'), Decimal('0.1'), Decimal('1'), Decimal('1E+4'))
    >>> last_place("two-thirds") is None
    True
    """
    number = printed_number(text)
    if number is None or "/" in text or text.strip().lower() in FRACTIONS:
        return None
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return Decimal(1).scaleb(exponent)
