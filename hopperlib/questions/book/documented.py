"""Question: the documented values, to search and to filter."""

from hopperlib.documented import DocumentedValue, all_values, erratum
from hopperlib.questions.book.search import ALL, Browsed, rows_shown, study_options
from hopperlib.questions.question import declared
from hopperlib.questions.result import Result


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


class _Search(Browsed):
    """One search."""

    def result(self) -> Result:
        """Return the answer."""
        parts = ("id", "quantity", "value", "unit", "locator", "note")
        matching = self.found(all_values(), ("study", "source", "qualifier"), parts)
        matching = [value for value in matching if value.errata or not self.slips_only]
        cut, caption = rows_shown(matching, self.shown, "documented value")
        with_slip = sum(bool(value.errata) for value in matching)
        return self.said(
            found=len(matching),
            all=len(all_values()),
            caption=caption,
            with_slip=with_slip,
            rows=[_row(value, self.study == ALL) for value in cut],
            cut=len(cut),
        ).result()


QUESTION = declared(__name__, _Search.answer, options={"study": study_options()})
