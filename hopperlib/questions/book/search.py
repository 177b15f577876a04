"""What explorers share that browse a table: the search, the study, how many rows to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hopperlib.documented import all_values

__all__ = ["matcher", "rows_shown", "searchable", "study_options"]

Item = TypeVar("Item")


def searchable(*texts: str) -> str:
    """Return what a search looks at: some texts as one, without capitals and commas.

    Examples
    --------
    >>> searchable("Nodes of Hopper", "6,384")
    'nodes of hopper 6384'
    """
    return " ".join(texts).casefold().replace(",", "")


def matcher(search: str) -> Callable[[str], bool]:
    """Return what says whether every word of a search stands in a text made by `searchable`.

    Examples
    --------
    >>> found = matcher("Hopper 6,384")
    >>> found(searchable("nodes of Hopper", "6,384")), found(searchable("nodes of Franklin", "6,384"))
    (True, False)
    """
    words = searchable(search).split()
    return lambda text: all(word in text for word in words)


def rows_shown(found: Sequence[Item], shown: int, thing: str, things: str = "") -> tuple[Sequence[Item], str]:
    """Return the rows to show, and how many there are in words.

    `things` is the plural of `thing`, if it takes more than an s.

    Examples
    --------
    >>> rows_shown(["a", "b", "c"], 2, "value")
    (['a', 'b'], '3 values, the first 2 shown')
    >>> rows_shown(["a"], 2, "value")
    (['a'], '1 value')
    """
    counted = f"{len(found):,} {thing if len(found) == 1 else things or thing + 's'}"
    return found[:shown], counted + (f", the first {shown} shown" if len(found) > shown else "")


def study_options() -> list[tuple[str, str]]:
    """Return the studies to choose from, all of them first.

    Examples
    --------
    >>> study_options()[:2]
    [('all', 'All studies'), ('acceptance', 'acceptance')]
    """
    names = sorted({value.study for value in all_values()})
    return [("all", "All studies"), *((name, name.replace("-", " ")) for name in names)]
