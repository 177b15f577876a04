"""Question: the documented values, to search and to filter."""

from __future__ import annotations

from functools import cache

from hopperlib.documented import DocumentedValue, all_values, erratum
from hopperlib.questions.book.search import matcher, rows_shown, searchable, study_options
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table

__all__ = ["QUESTION"]

_ALL = "all"


def _slip(value: DocumentedValue) -> str:
    """Return what the book reads in place of a value, or what is to be said about it."""
    if not value.errata:
        return ""
    read = f", read as {value.adopted or 'nothing: it is open'}" if value.adopted != value.value else ""
    return f"{erratum(value.errata).kind}{read}"


def _row(value: DocumentedValue, with_study: bool) -> tuple[str, ...]:
    """Return a row of the table."""
    what = f"{value.study}: {value.quantity}" if with_study else value.quantity
    printed = "holds" if value.qualifier == "shape" else f"{value.value} {value.unit}".strip()
    remark = "; ".join(text for text in (_slip(value), value.note) if text)
    return what, printed, value.qualifier, f"{value.source}, {value.locator}", remark


@cache
def _texts() -> dict[str, str]:
    """Return what a search looks at, by id."""
    return {
        value.id: searchable(value.id, value.quantity, value.value, value.unit, value.locator, value.note)
        for value in all_values()
    }


def _answer(*, search: str, study: str, source: str, qualifier: str, slips_only: bool, shown: int) -> Result:
    """Answer for one search."""
    matches, texts = matcher(search), _texts()
    found = [
        value
        for value in all_values()
        if study in (_ALL, value.study)
        and source in (_ALL, value.source)
        and qualifier in (_ALL, value.qualifier)
        and (value.errata or not slips_only)
        and matches(texts[value.id])
    ]
    cut, caption = rows_shown(found, shown, "documented value")
    with_slip = sum(bool(value.errata) for value in found)
    return Result(
        summary=f"{caption} of {len(all_values()):,} in the data; {with_slip} of those found "
        f"{'is' if with_slip == 1 else 'are'} spoken of in the errata.",
        tables=(
            Table(
                caption=f"Documented values: {caption}",
                columns=tuple(
                    Column(title) for title in ("What", "As printed", "Meant as", "Source and place", "Slip, and note")
                ),
                rows=[_row(value, study == _ALL) for value in cut],
            ),
        ),
        facts={"found": len(found), "with_slip": with_slip, "shown": len(cut)},
    )


QUESTION = declared(__name__, _answer, options={"study": study_options()})
