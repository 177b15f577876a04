"""Published values of the five sources, and their errors.

``data/documented.csv`` has a row for every number, date and described shape, as printed; ``data/errata.csv`` lists
the misprints, each with an arithmetic proof. This module reads both and defines how close a model must come:

=====================  ========================================================
exact, rounded         half a unit of the last printed place, up or down
truncated              up to one unit of the last place above what is printed
at least, range low    not below
at most, range high    not above
about                  no bounds of its own: the comparison gives a tolerance
shape, date            no number
=====================  ========================================================

Printed numbers are compared as decimals, so that 1.29 means 1.285 to 1.295.
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Literal, get_args

from hopperkit.frames import Rows
from hopperlib.data_files import rows
from hopperlib.errors import InputError, did_you_mean

# Callback before a value is returned, if one is set.
_WATCHER: ContextVar[Callable[[str], None] | None] = ContextVar("watcher", default=None)
# Numbers that the sources write as words. Half of a unit has no last place.
WORDS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "twelve": 12}
WORDS |= {"half a dozen": 6, "two hundred eighty": 280}
FRACTIONS = {"half": "1/2", "two-thirds": "2/3"}

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NUMBER = re.compile(r"~?\s*(-?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)(?:\s?x\s?10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?[+%]?")
CLOCK = re.compile(r"(\d+):([0-5]\d):([0-5]\d)")
# Kinds of errata whose adopted reading replaces the printed value.
CORRECTING = ("misprint", "OCR", "arithmetic slip")

# Roles of a scorecard row, and its results.
Role = Literal["input", "calibrated", "retrodicted", "shape", "arithmetic", "by construction", "not modelled"]
ROLES: tuple[str, ...] = get_args(Role)
VERDICTS = (
    "reproduced",
    "too wide",
    "as fitted",
    "holds",
    "input",
    "missed, explained",
    "missed",
    "not modelled",
)


def printed_number(text: str) -> Decimal | None:
    """Return the number in a printed text, or None if it is not a number.

    A tilde before it, thousands commas, a raised power of ten, a plus or a
    percent sign after it and a few words belong to the text of a number. Hours,
    minutes and seconds are that many seconds.

    Examples
    --------
    >>> printed_number("~1700"), printed_number("2.5x10⁵"), printed_number("half a dozen")
    (Decimal('1700'), Decimal('2.5E+5'), Decimal('6'))
    >>> printed_number("1:00:05"), printed_number("4.2.0.3")
    (Decimal('3605'), None)
    """
    words = text.strip().lower()
    if clock := CLOCK.fullmatch(words):
        hours, minutes, seconds = map(int, clock.groups())
        return Decimal(3600 * hours + 60 * minutes + seconds)
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
    """Return one unit of the last printed place; None for a fraction or a text that is not a number.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """One error, contradiction or apparent error of a source.

    Parameters
    ----------
    id : str
    source : str
        Keys in ``data/sources.bib``, separated by ``"; "``.
    locator : str
        Its position in the source.
    printed : str
        The source's text.
    adopted : str
        How this book reads it; empty if nothing settles it.
    kind : str
        misprint, OCR, arithmetic slip, tension, rounding, later change or "not an error".
    proof : str
        Arithmetic that is true and shows it, in the language of
        `hopperbook.proofs.evaluate_proof`. Empty only
        where no digit is wrong.
    explanation : str
    sure : str
        certain, likely or open.

    Examples
    --------
    >>> slip = erratum("nodes-3284")
    >>> slip.printed, slip.adopted, slip.kind, slip.sure
    ('3,284', '6,384', 'misprint', 'certain')
    """

    id: str
    source: str
    locator: str
    printed: str
    adopted: str
    kind: str
    proof: str
    explanation: str
    sure: str


def errata() -> tuple[Erratum, ...]:
    """Return every erratum, in the order of the file.

    Examples
    --------
    >>> {slip.sure for slip in errata()} == {"certain", "likely", "open"}
    True
    """
    return tuple(_errata().values())


def erratum(id: str) -> Erratum:
    """Return one erratum.

    Raises
    ------
    ValueError
        If there is none of that id; the message names the closest.

    Examples
    --------
    >>> erratum("table-1156").adopted
    '1556'
    """
    if id not in _errata():
        raise ValueError(f"there is no erratum {id!r}{did_you_mean(id, _errata())}")
    return _errata()[id]


@cache
def _errata() -> dict[str, Erratum]:
    """Return the errata by id."""
    return {row["id"]: Erratum(**row) for row in rows("errata.csv")}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedValue:
    """One thing that a source prints.

    Parameters
    ----------
    id : str
        ``study.quantity``; unique.
    study : str
        Study that the value belongs to, or ``context``.
    quantity : str
        The quantity, in our words; for a shape, the claim.
    value : str
        As printed; lists are separated by ``"; "``; ``true`` for a shape.
    unit : str
        As printed; powers of ten in words or letters belong to it.
    qualifier : str
        exact, rounded, truncated, about, at least, at most, range low, range high, shape or date.
    source : str
        Key in ``data/sources.bib``.
    locator : str
        Its position in the source.
    errata : str
        Row of ``data/errata.csv`` that is about it, or empty.
    note : str
        For a date, the ISO form first.

    Examples
    --------
    >>> packed = documented("memory.hopper-per-task-packed")
    >>> packed.value, packed.unit, packed.number, packed.tolerance
    ('1.29', 'GB per MPI task', 1.29, 0.005)
    >>> packed.agrees(31 / 24)
    True
    """

    id: str
    study: str
    quantity: str
    value: str
    unit: str
    qualifier: str
    source: str
    locator: str
    errata: str
    note: str

    @property
    def number(self) -> float | None:
        """The printed number, in the unit of the row; None if it prints none."""
        number = self._decimal(self.value)
        return None if number is None else float(number)

    @property
    def adopted(self) -> str:
        """The reading to work with: as printed, unless an erratum corrects it; empty if nothing settles it.

        Examples
        --------
        >>> nodes = documented("machines.hopper-nodes-antypas2011")
        >>> nodes.value, nodes.adopted
        ('3,284', '6,384')
        """
        if not self.errata or self.qualifier == "shape":
            return self.value
        slip = erratum(self.errata)
        return slip.adopted if slip.kind in CORRECTING else self.value

    @property
    def adopted_number(self) -> float | None:
        """The number of the adopted reading, in the unit of the row; None if it has none."""
        number = self._decimal(self._token())
        return None if number is None else float(number)

    @property
    def tolerance(self) -> float | None:
        """Largest deviation that the text allows, in the unit of the row; None if the text alone sets none."""
        place = None if self._decimal(self._token()) is None else last_place(self._token())
        if place is None or self.qualifier not in ("exact", "rounded", "truncated"):
            return None
        return float(place if self.qualifier == "truncated" else place / 2)

    def bounds(self, tolerance: float | None = None) -> tuple[float, float]:
        """Return the least and the greatest value that agree with the adopted reading, in the unit of the row.

        Parameters
        ----------
        tolerance : float or None
            Replaces the tolerance of the text, or gives a bound some margin, in the unit of the row; required if the
            source says "about".

        Raises
        ------
        ValueError
            If the row has no number, if `tolerance` is negative, or if
            "about" comes without one.

        Examples
        --------
        >>> documented("machines.hopper-peak-antypas2011").bounds()
        (1.28, 1.29)
        >>> documented("io-node.hopper-ceiling").bounds(tolerance=50)
        (1650.0, 1750.0)
        """
        number = self._decimal(self._token())
        if number is None:
            raise ValueError(f"{self.id}: {self.qualifier} {self.adopted!r} has no number to compare with")
        if tolerance is not None and not tolerance >= 0:
            raise ValueError(f"tolerance={tolerance} must be 0 or more: it is half the width of a band")
        room = Decimal(repr(float(tolerance or 0)))
        if self.qualifier in ("at least", "range low"):
            return float(number - room), math.inf
        if self.qualifier in ("at most", "range high"):
            return -math.inf, float(number + room)
        if tolerance is not None:
            return float(number - room), float(number + room)
        if self.tolerance is None:
            raise ValueError(f"{self.id}: {self.qualifier} {self.value!r} has no tolerance: give one")
        room = Decimal(repr(self.tolerance))
        return float(number if self.qualifier == "truncated" else number - room), float(number + room)

    def interval(self, tolerance: float | None = None) -> tuple[float, float]:
        """Return the numbers that would have been printed so, in the unit of the row: two finite ends.

        Where the source prints a bound or the end of a range, that end itself.

        Parameters
        ----------
        tolerance : float or None
            As for `bounds`; without one, half a unit of the last printed place.

        Raises
        ------
        ValueError
            As `bounds`.

        Examples
        --------
        >>> documented("iobuf.read-gain-high").interval()
        (39.5, 40.5)
        """
        number, place = self.adopted_number, last_place(self._token())
        half = tolerance if tolerance is not None or place is None else float(place / 2)
        if number is None or half is None or not self.qualifier.startswith(("at ", "range ")):
            return self.bounds(tolerance)
        return number - half, number + half

    def agrees(self, reproduced: float, tolerance: float | None = None) -> bool:
        """Return whether a value is within `bounds`; if a source truncates, the upper one is excluded.

        Examples
        --------
        >>> peak = documented("machines.hopper-peak-antypas2011")
        >>> peak.agrees(6384 * 24 * 8.4e-6), peak.agrees(1.29)
        (True, False)
        """
        low, high = self.bounds(tolerance)
        if self.qualifier == "truncated" and tolerance is None:
            return low <= reproduced < high
        # A hair of room, since binary fractions miss decimal bounds: 1 - 0.9 is less than 0.1.
        hair = 1e-12 * max(abs(bound) for bound in (low, high) if math.isfinite(bound))
        return low - hair <= reproduced <= high + hair

    def _token(self) -> str:
        """Return the adopted reading without the words after its number."""
        return self.value if self.adopted == self.value else self.adopted.partition(" ")[0]

    def _decimal(self, text: str) -> Decimal | None:
        """Return a printed number, unless this row is a shape or a date."""
        return None if self.qualifier in ("shape", "date") else printed_number(text)


def all_values() -> Rows[DocumentedValue]:
    """Return all documented values, ordered by source and position.

    Examples
    --------
    >>> all_values()[0].id
    'context.first-petaflop-system'
    """
    return Rows(_values().values())


def documented(id: str) -> DocumentedValue:
    """Return one documented value.

    Raises
    ------
    ValueError
        If there is none of that id; the message names the closest.

    Examples
    --------
    >>> documented("rank-order.s3d-with").number
    165.7
    >>> documented("rank-order.s3d-wiht")
    Traceback (most recent call last):
    ValueError: there is no documented value 'rank-order.s3d-wiht'; did you mean 'rank-order.s3d-with'?
    """
    if id not in _values():
        raise ValueError(f"there is no documented value {id!r}{did_you_mean(id, _values())}")
    if watcher := _WATCHER.get():
        watcher(id)
    return _values()[id]


def printed(id: str) -> float:
    """Return the number of a documented value, in the unit of the row, as adopted.

    Raises
    ------
    ValueError
        If there is no value of that id, or it has no number.

    Examples
    --------
    >>> printed("machines.hopper-nodes-antypas2011")
    6384.0
    """
    number = documented(id).adopted_number
    if number is None:
        raise InputError(f"{id}: {documented(id).value!r} is no number")
    return number


@contextmanager
def watched(watcher: Callable[[str], None]) -> Iterator[None]:
    """Call a function with the id of each documented value that is read in the meantime; its exceptions reach the
    reader of the value.

    Examples
    --------
    >>> read = []
    >>> with watched(read.append):
    ...     printed("memory.hopper-usable")
    31.0
    >>> read
    ['memory.hopper-usable']
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def by_study(name: str) -> tuple[DocumentedValue, ...]:
    """Return the documented values of one study, in the order of the file.

    Raises
    ------
    ValueError
        If no value belongs to a study of that name; the message names the nearest.

    Examples
    --------
    >>> [value.value for value in by_study("iobuf") if "write-gain" in value.id]
    ['1', '11']
    """
    values = tuple(value for value in all_values() if value.study == name)
    if not values:
        raise ValueError(f"no documented value has study={name!r}{did_you_mean(name, {v.study for v in all_values()})}")
    return values


@cache
def _values() -> dict[str, DocumentedValue]:
    """Return the documented values by id."""
    return {row["id"]: DocumentedValue(**row) for row in rows("documented.csv")}
