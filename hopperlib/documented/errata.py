"""The errata: slips of the sources, and what only looks like one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hopperlib.documented.data_files import nearest, rows

__all__ = ["CORRECTING", "Erratum", "errata", "erratum"]

# Kinds of errata whose adopted reading replaces what is printed.
CORRECTING = ("misprint", "OCR", "arithmetic slip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """One slip, tension or seeming slip of a source.

    Parameters
    ----------
    id : str
    source : str
        Keys in ``data/sources.bib``, parted by ``"; "``.
    locator : str
        Where it stands.
    printed : str
        What the source says.
    adopted : str
        How this book reads it; empty if nothing settles it.
    kind : str
        misprint, OCR, arithmetic slip, tension, rounding, later change or "not an error".
    proof : str
        Arithmetic that is true and shows it, in the language of
        `hopperlib.documented.evaluate_proof`. Empty only
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
        If there is none of that id; the message names the nearest.

    Examples
    --------
    >>> erratum("table-1156").adopted
    '1556'
    """
    if id not in _errata():
        raise ValueError(f"there is no erratum {id!r}{nearest(id, _errata())}")
    return _errata()[id]


@cache
def _errata() -> dict[str, Erratum]:
    """Return the errata by id."""
    return {row["id"]: Erratum(**row) for row in rows("errata.csv")}
