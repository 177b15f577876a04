"""Question: the documented values, to search and to filter."""

from functools import cached_property

from hopperbook.documented import DocumentedValue, all_values, erratum
from hopperbook.questions import search as browse
from hopperkit.questions import ask
from hopperkit.questions.result import Result, table
from hopperlib.text import count


class Search(ask.Setting):
    """One search."""

    search: str = browse.words("nodes, GB, 1.29, Figure 4")
    study: str = browse.study()
    source: str = browse.one_of("Source", "All sources", sorted({value.source for value in all_values()}))
    qualifier: str = browse.one_of("Meant as", "Anything", sorted({value.qualifier for value in all_values()}))
    shown: int = browse.most_rows(50)

    @cached_property
    def found(self) -> list[DocumentedValue]:
        """The values that are found."""
        return [
            value
            for value in all_values()
            if browse.keeps(self.study, value.study)
            and browse.keeps(self.source, value.source)
            and browse.keeps(self.qualifier, value.qualifier)
            and browse.has_words(
                self.search, value.id, value.quantity, value.value, value.unit, value.locator, value.note
            )
        ]


def answer(search: Search) -> Result:
    """Return the answer."""
    cut, caption = browse.rows_shown(search.found, search.shown, "documented value")
    with_slip = sum(bool(value.errata) for value in search.found)
    slips = count(with_slip, "of those found has an erratum", "of those found have an erratum")
    return Result(
        summary=f"{caption} of {len(all_values()):,} in the data; {slips}.",
        tables=(
            table(
                f"Documented values: {caption}",
                cut,
                {
                    "What": lambda value: (
                        f"{value.study}: {value.quantity}" if search.study == browse.ALL else value.quantity
                    ),
                    "As printed": _printed,
                    "Meant as": lambda value: value.qualifier,
                    "Source and place": lambda value: f"{value.source}, {value.locator}",
                    "Slip, and note": _remark,
                },
            ),
        ),
        facts={"found": len(search.found), "with_slip": with_slip, "shown": len(cut)},
    )


def _printed(value: DocumentedValue) -> str:
    return "holds" if value.qualifier == "shape" else f"{value.value} {value.unit}".strip()


def _remark(value: DocumentedValue) -> str:
    """Return the book's reading of a value, with a remark."""
    slip = ""
    if value.errata:
        read = f", read as {value.adopted or 'nothing: it is open'}" if value.adopted != value.value else ""
        slip = f"{erratum(value.errata).kind}{read}"
    return "; ".join(text for text in (slip, value.note) if text)


QUESTION = ask.declared(
    Search,
    answer,
    title="Documented values",
    sentence="What do the five sources print, and where?",
    examples={
        "Memory": {"study": "memory"},
        "Shapes": {"qualifier": "shape"},
    },
)
