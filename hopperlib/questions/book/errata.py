"""Question: the slips of the sources, each with its proof, evaluated when it is shown."""

from __future__ import annotations

from functools import cache

from hopperlib.documented import Erratum, errata, evaluate_proof
from hopperlib.questions.book.search import matcher, rows_shown, searchable
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table

__all__ = ["QUESTION"]

_ALL = "all"
_KINDS = ("misprint", "OCR", "arithmetic slip", "tension", "rounding", "later change", "not an error")


@cache
def _holds(proof: str) -> bool:
    """Whether a proof holds; evaluated once."""
    return evaluate_proof(proof)


def _proof(slip: Erratum) -> str:
    """Return a proof, and whether it holds."""
    if not slip.proof:
        return "no digit is wrong"
    return f"{slip.proof}: {'holds' if _holds(slip.proof) else 'FAILS'}"


def _row(slip: Erratum) -> tuple[str, ...]:
    """Return a row of the table."""
    read = "left open" if not slip.adopted else f"read as {slip.adopted}"
    printed = slip.printed if slip.adopted == slip.printed else f"{slip.printed}; {read}"
    why = f"{slip.explanation} Proof: {_proof(slip)}"
    return printed, f"{slip.kind}, {slip.sure}", why, f"{slip.source}, {slip.locator}"


def _answer(*, search: str, kind: str, sure: str, shown: int) -> Result:
    """Answer for one search."""
    matches = matcher(search)
    found = [
        slip
        for slip in errata()
        if kind in (_ALL, slip.kind)
        and sure in (_ALL, slip.sure)
        and matches(searchable(slip.id, slip.source, slip.locator, slip.printed, slip.adopted, slip.explanation))
    ]
    cut, caption = rows_shown(found, shown, "entry", "entries")
    proofs = [slip for slip in found if slip.proof]
    held = sum(_holds(slip.proof) for slip in proofs)
    return Result(
        summary=f"{caption}; {held} of {len(proofs)} proofs hold.",
        tables=(
            Table(
                caption=f"Errata: {caption}",
                columns=tuple(
                    Column(title)
                    for title in ("Printed, and read as", "Kind, how sure", "Why, and the proof", "Source and place")
                ),
                rows=[_row(slip) for slip in cut],
            ),
        ),
        facts={"found": len(found), "proofs": len(proofs), "held": held},
    )


QUESTION = declared(__name__, _answer)
