"""What explorers share that browse a table: the search, the study, how many rows to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hopperlib.documented import all_values
from hopperlib.questions.controls import Choice, Number, Text

__all__ = ["matcher", "rows_shown", "search_control", "searchable", "shown_control", "study_control"]

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


def search_control(placeholder: str) -> Text:
    """Return the field for words to search.

    Examples
    --------
    >>> search_control("nodes").read("hopper")
    'hopper'
    """
    return Text(
        name="search",
        label="Words",
        default="",
        placeholder=placeholder,
        max_length=200,
        help="Every word must occur; capitals and commas do not matter.",
    )


def study_control() -> Choice:
    """Return the choice of a study.

    Examples
    --------
    >>> study_control().read("memory")
    'memory'
    """
    names = sorted({value.study for value in all_values()})
    return Choice(
        name="study",
        label="Study",
        options=(("all", "All studies"), *((name, name.replace("-", " ")) for name in names)),
        default="all",
    )


def shown_control(default: int = 50) -> Number:
    """Return the number of rows to show.

    Examples
    --------
    >>> shown_control().default
    50
    """
    return Number(name="shown", label="Rows shown", low=1, high=2_000, step=1, default=default)
