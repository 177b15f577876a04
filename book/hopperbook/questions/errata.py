"""Question: the errors of the sources, each with its proof, evaluated when it is shown."""

from functools import cache, cached_property

from hopperbook.documented import Erratum, errata
from hopperbook.proofs import evaluate_proof
from hopperbook.questions import search as browse
from hopperkit.questions import ask
from hopperkit.questions.result import Result, table


class Search(ask.Setting):
    """One search."""

    search: str = browse.words("6384, GB, torus")
    kind: str = browse.one_of("Kind", "Any kind", sorted({slip.kind for slip in errata()}))
    sure: str = browse.one_of("How sure", "Any", ("certain", "likely", "open"))
    shown: int = browse.most_rows(200)

    @cached_property
    def found(self) -> list[Erratum]:
        """The errata that are found."""
        return [
            slip
            for slip in errata()
            if browse.keeps(self.kind, slip.kind)
            and browse.keeps(self.sure, slip.sure)
            and browse.has_words(
                self.search, slip.id, slip.source, slip.locator, slip.printed, slip.adopted, slip.explanation
            )
        ]


def answer(search: Search) -> Result:
    """Return the answer."""
    cut, caption = browse.rows_shown(search.found, search.shown, "entry", "entries")
    proofs = [slip.proof for slip in search.found if slip.proof]
    held = sum(map(_holds, proofs))
    return Result(
        summary=f"{caption}; {held} of {len(proofs)} proofs hold.",
        tables=(
            table(
                f"Errata: {caption}",
                cut,
                {
                    "Printed, and read as": _printed,
                    "Kind, how sure": lambda slip: f"{slip.kind}, {slip.sure}",
                    "Why, and the proof": lambda slip: f"{slip.explanation} Proof: {_proof(slip)}",
                    "Source and place": lambda slip: f"{slip.source}, {slip.locator}",
                },
            ),
        ),
        facts={"found": len(search.found), "proofs": len(proofs), "held": held},
    )


@cache
def _holds(proof: str) -> bool:
    """Whether a proof holds; evaluated once."""
    return evaluate_proof(proof)


def _proof(slip: Erratum) -> str:
    """Return a proof, and whether it holds."""
    if not slip.proof:
        return "no digit is wrong"
    return f"{slip.proof}: {'holds' if _holds(slip.proof) else 'FAILS'}"


def _printed(slip: Erratum) -> str:
    """Return the printed value, and the book's reading."""
    if slip.adopted == slip.printed:
        return slip.printed
    return f"{slip.printed}; {f'read as {slip.adopted}' if slip.adopted else 'left open'}"


QUESTION = ask.declared(
    Search,
    answer,
    title="Errata",
    sentence="What errors do the sources contain, what does the book read instead, and which arithmetic shows it?",
    examples={
        "Misprints": {"kind": "misprint"},
        "What only looks wrong": {"kind": "not an error"},
        "Open questions": {"sure": "open"},
    },
)
