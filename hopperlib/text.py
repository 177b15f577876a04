"""Numbers formatted for sentences: counts, digits, shares, sizes, durations and lists.

===========  =================================================
`count`      a counted noun: ``1 node``, ``1,200 nodes``
`digits`     a number to some significant figures
`share`      a share in percent
`size`       bytes for people, decimal units
`duration`   seconds for people
`listed`     several things: ``a, b and c``
`capital`    a sentence with a capital first letter
===========  =================================================
"""

from collections.abc import Iterable

from hopperlib.units import SECONDS_PER_HOUR
from hopperlib.units import size_text as size

__all__ = ["capital", "count", "digits", "duration", "listed", "share", "size"]

# Maximum decimals of a percentage close to 0 or 100.
_MOST_DECIMALS = 3
_MINUTE_S = 60
_DAY_S = 24 * SECONDS_PER_HOUR


def count(number: float, noun: str, plural: str = "") -> str:
    """Return a counted noun; the plural is the noun with an s, or `plural`.

    Parameters
    ----------
    number : float
        The number.
    noun : str
        The noun in the singular.
    plural : str, default ''
        The noun in the plural; by default with a final s.

    Examples
    --------
    >>> count(1, "node"), count(1200, "node"), count(2, "query", "queries")
    ('1 node', '1,200 nodes', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def digits(number: float, figures: int) -> str:
    """Return a number to `figures` significant figures, never with an exponent for a large one.

    Parameters
    ----------
    number : float
        The number.
    figures : int
        Number of significant digits.

    Examples
    --------
    >>> digits(1234.5, 3), digits(0.12345, 3)
    ('1,234', '0.123')
    """
    shown = f"{number:.{figures}g}"
    return f"{number:,.0f}" if "e+" in shown else shown


def share(part: float, decimals: int = 0, *, signed: bool = False) -> str:
    """Return a share [0-1] in percent, with as many decimals as needed near 0 and 1.

    Parameters
    ----------
    part : float
        The share, from 0 to 1.
    decimals : int, default 0
        Digits after the decimal point.
    signed : bool, default False
        Whether a plus sign is shown.

    Examples
    --------
    >>> share(0.25), share(0.9996), share(0.05, 1), share(0.1, signed=True), share(1e-9)
    ('25 %', '99.96 %', '5.0 %', '+10 %', 'less than 0.001 %')
    """
    sign = "+" if signed else ""
    for tried in (decimals, *range(1, _MOST_DECIMALS + 1)):
        text = f"{100 * part:{sign}.{tried}f}"
        if not 0 < part < 1 or float(text) not in (0, 100):
            return f"{text} %"
    return f"less than {10.0**-_MOST_DECIMALS:g} %" if part < 0.5 else f"more than {100 - 10.0**-_MOST_DECIMALS:g} %"


def duration(seconds: float) -> str:
    """Return a duration [s] in the unit that suits it, to three significant figures.

    Parameters
    ----------
    seconds : float
        Duration in seconds.

    Examples
    --------
    >>> duration(0.0042), duration(12), duration(90), duration(5400), duration(259200)
    ('4.2 ms', '12 s', '1.5 min', '1.5 h', '3 days')
    """
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms" if seconds else "0 s"
    if seconds < _MINUTE_S:
        return f"{seconds:.3g} s"
    if seconds < SECONDS_PER_HOUR:
        return f"{seconds / _MINUTE_S:.3g} min"
    if seconds < 2 * _DAY_S:
        return f"{seconds / SECONDS_PER_HOUR:.3g} h"
    return f"{digits(seconds / _DAY_S, 3)} days"


def listed(items: Iterable[object], last: str = "and") -> str:
    """Return several things as a list in a sentence.

    Parameters
    ----------
    items : iterable of object
        Items of the list.
    last : str, default 'and'
        Conjunction before the last item.

    Examples
    --------
    >>> listed([1]), listed("ab"), listed("abc", "or")
    ('1', 'a and b', 'a, b or c')
    """
    words = [str(item) for item in items]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def capital(sentence: str) -> str:
    """Return a sentence with a capital first letter, otherwise unchanged.

    Parameters
    ----------
    sentence : str
        The sentence; empty is allowed.

    Examples
    --------
    >>> capital("an OST of Hopper")
    'An OST of Hopper'
    """
    return f"{sentence[:1].upper()}{sentence[1:]}"
