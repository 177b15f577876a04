"""Reading a number that a person typed, without guessing.

A comma can separate thousands (153,216) or decimals (1,29). Where only one
reading is possible it is taken; where both are, the text is refused and both
readings are offered.

===================  ============================================
typed                read as
===================  ============================================
1.29                 1.29
1,29 or 0,129        1.29, 0.129: no thousands look like that
153,216.5            153216.5: a point follows the commas
1,234,567            1234567: two commas
1,234                refused: 1234 or 1.234
1 234 or 1 234,5     1234, 1234.5: spaces between thousands
2.5e3                2500
===================  ============================================

The published pages read numbers by the same rules in JavaScript, so they are
few and simple. `NumberCheck.to_dict` carries the messages.
"""

import math
import re
from collections.abc import Sequence

MESSAGES: dict[str, str] = {
    "empty": "Type a number first.",
    "not_a_number": "'{text}' cannot be read as a number. Write it like this: 1234.5",
    "two_readings": "'{text}' can be read in two ways. Write {thousands} or {decimal}.",
    "other_unit": "The answer is wanted in {unit}, and '{given}' is something else.",
    "no_unit": "The answer has no unit. Write the number alone, without '{given}'.",
}

# The number with its separators, a power of ten, and the text after it.
_PARTS = re.compile(r"([+-]?[0-9., ]*[0-9])(?:e([+-]?[0-9]{1,3}))?([^0-9].*)?", re.IGNORECASE)
_SPACED = re.compile(r"[+-]?[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?")
_PLAIN = re.compile(r"[+-]?[0-9]*\.?[0-9]+")
_TWO_READINGS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")


def read_typed_number(text: str, *, unit: str = "", spellings: Sequence[str] = ()) -> float:
    """Return the number in a text, in `unit`.

    Parameters
    ----------
    text : str
        The typed text; the unit may follow the number.
    unit : str
        The unit the number is wanted in; empty if it has none.
    spellings : sequence of str
        Other ways to write that unit, such as ``("seconds",)`` for ``"s"``.

    Returns
    -------
    float
        The number. [`unit`]

    Raises
    ------
    ValueError
        If there is no number, it is ambiguous, or another unit follows it. The message shows the correct form.

    Examples
    --------
    >>> read_typed_number("1,29 GB", unit="GB"), read_typed_number("153,216.5")
    (1.29, 153216.5)
    >>> read_typed_number("1,290")
    Traceback (most recent call last):
    ValueError: '1,290' can be read in two ways. Write 1290 or 1.290.
    >>> read_typed_number("1290 MB", unit="GB")
    Traceback (most recent call last):
    ValueError: The answer is wanted in GB, and 'MB' is something else.
    """
    # A minus sign and the narrow spaces come along when a number is copied from a page.
    typed = re.sub("[\u00a0\u2009\u202f\t]", " ", text.replace("\u2212", "-")).strip(" ")
    if not typed:
        raise ValueError(MESSAGES["empty"])
    parts = _PARTS.fullmatch(typed)
    if parts is None:
        raise ValueError(MESSAGES["not_a_number"].format(text=typed))
    digits, power, after = parts[1], parts[2] or "0", (parts[3] or "").strip(" .")
    number = float(f"{_with_point(digits, typed)}e{power}")
    if not math.isfinite(number):
        raise ValueError(MESSAGES["not_a_number"].format(text=typed))
    if after and not unit:
        raise ValueError(MESSAGES["no_unit"].format(given=after))
    if after and _folded(after) not in [_folded(word) for word in (unit, *spellings)]:
        raise ValueError(MESSAGES["other_unit"].format(unit=unit, given=after))
    return number


def _with_point(digits: str, typed: str) -> str:
    """Return the digits with a decimal point and nothing between thousands."""
    if " " in digits:
        if not _SPACED.fullmatch(digits):
            raise ValueError(MESSAGES["not_a_number"].format(text=typed))
        return digits.replace(" ", "").replace(",", ".")
    if _PLAIN.fullmatch(digits):
        return digits
    if _TWO_READINGS.fullmatch(digits):
        readings = {"thousands": digits.replace(",", ""), "decimal": digits.replace(",", ".")}
        raise ValueError(MESSAGES["two_readings"].format(text=typed, **readings))
    if _THOUSANDS.fullmatch(digits):
        return digits.replace(",", "")
    if _DECIMAL_COMMA.fullmatch(digits):
        return digits.replace(",", ".")
    raise ValueError(MESSAGES["not_a_number"].format(text=typed))


def _folded(unit: str) -> str:
    """Return a unit without spaces and case: "gb / s" is GB/s."""
    return unit.replace(" ", "").lower()
