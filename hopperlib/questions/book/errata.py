"""Question: the slips of the sources, each with its proof, evaluated when it is shown."""

from functools import cache

from hopperlib.documented import errata, evaluate_proof
from hopperlib.documented.values import Erratum
from hopperlib.questions.book.search import Browsed, rows_shown
from hopperlib.questions.question import declared
from hopperlib.questions.result import Result


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


class _Search(Browsed):
    """One search."""

    def result(self) -> Result:
        """Return the answer."""
        parts = ("id", "source", "locator", "printed", "adopted", "explanation")
        matching = self.found(errata(), ("kind", "sure"), parts)
        cut, caption = rows_shown(matching, self.shown, "entry", "entries")
        proofs = [slip.proof for slip in matching if slip.proof]
        return self.said(
            found=len(matching),
            caption=caption,
            proofs=len(proofs),
            held=sum(map(_holds, proofs)),
            rows=[_row(slip) for slip in cut],
        ).result()


QUESTION = declared(__name__, _Search.answer)
