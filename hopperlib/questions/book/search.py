"""What explorers share that browse a table: the search, the study, how many rows to show."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from hopperlib.documented import all_values
from hopperlib.questions.question import Asked

Item = TypeVar("Item")
# What a choice says that keeps everything.
ALL = "all"


def _searchable(*texts: str) -> str:
    """Return what a search looks at: some texts as one, without capitals and commas."""
    # Commas go, so that 6,384 and 6384 find the same.
    return " ".join(texts).casefold().replace(",", "")


def rows_shown(matching: Sequence[Item], shown: int, thing: str, things: str = "") -> tuple[Sequence[Item], str]:
    """Return the rows to show, and how many there are in words.

    `things` is the plural of `thing`, if it takes more than an s.

    Examples
    --------
    >>> rows_shown(["a", "b", "c"], 2, "value")
    (['a', 'b'], '3 values, the first 2 shown')
    >>> rows_shown(["a"], 2, "value")
    (['a'], '1 value')
    """
    counted = f"{len(matching):,} {thing if len(matching) == 1 else things or thing + 's'}"
    return matching[:shown], counted + (f", the first {shown} shown" if len(matching) > shown else "")


def study_options() -> list[tuple[str, str]]:
    """Return the studies to choose from, all of them first.

    Examples
    --------
    >>> study_options()[:2]
    [('all', 'All studies'), ('acceptance', 'acceptance')]
    """
    names = sorted({value.study for value in all_values()})
    return [(ALL, "All studies"), *((name, name.replace("-", " ")) for name in names)]


class Browsed(Asked):
    """A table to search and to filter: every word must occur, and each choice is kept."""

    def found(self, items: Iterable[Item], choices: Sequence[str], parts: Sequence[str]) -> list[Item]:
        """Return the items that have the words of the search in some of their parts, and the values of the choices.

        Examples
        --------
        >>> rows = [{"kind": "a", "text": "old nodes"}, {"kind": "b", "text": "6384 new nodes"}]
        >>> Browsed(search="6,384 Nodes", kind="b").found(rows, ["kind"], ["text"])
        [{'kind': 'b', 'text': '6384 new nodes'}]
        """
        words = _searchable(self.search).split()
        wanted = {name: getattr(self, name) for name in choices if getattr(self, name) != ALL}

        def fits(item: Any) -> bool:
            own = item.get if isinstance(item, Mapping) else lambda name: getattr(item, name)
            if any(own(name) != value for name, value in wanted.items()):
                return False
            text = _searchable(*map(own, parts))
            return all(word in text for word in words)

        return [item for item in items if fits(item)]
