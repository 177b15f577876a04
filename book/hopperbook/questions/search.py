"""Shared controls of explorers for tables: the words, the study, the number of rows."""

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from hopperbook.documented import all_values
from hopperkit.questions import ask
from hopperlib.text import count

Item = TypeVar("Item")
# The option of a choice that keeps everything.
ALL = "all"


def words(placeholder: str) -> Any:
    """Declare the words to search for.

    Examples
    --------
    >>> words("6384, GB")(name="search").placeholder
    '6384, GB'
    """
    help = "Every word must occur; capitals and commas do not matter."
    return ask.text("Words", max_length=200, placeholder=placeholder, help=help)


def one_of(label: str, every: str, options: Sequence[str], **more: Unpack[ask.ChoiceDetails]) -> Any:
    """Declare a choice among literal words, beginning with the one for all rows.

    Examples
    --------
    >>> one_of("How sure", "Any", ["certain", "open"])(name="sure").options
    (('all', 'Any'), ('certain', 'certain'), ('open', 'open'))
    """
    return ask.choice(label, ALL, {ALL: every} | {option: option for option in options}, **more)


def study() -> Any:
    """Declare a choice among the studies.

    Examples
    --------
    >>> study()(name="study").options[:2]
    (('all', 'All studies'), ('acceptance', 'acceptance'))
    """
    names = sorted({value.study for value in all_values()})
    return ask.choice("Study", ALL, {ALL: "All studies"} | {name: name.replace("-", " ") for name in names})


def most_rows(default: int) -> Any:
    """Declare how many rows are shown.

    Examples
    --------
    >>> most_rows(50)(name="shown").read(12)
    12
    """
    return ask.whole("Rows shown", default, (1, 2000))


def keeps(choice: str, *values: str) -> bool:
    """Whether a choice includes one of these values.

    Examples
    --------
    >>> keeps("all", "memory"), keeps("memory", "memory"), keeps("hybrid", "memory")
    (True, True, False)
    """
    return choice in (ALL, *values)


def has_words(search: str, *texts: str) -> bool:
    """Whether every word of a search occurs in some texts, ignoring case and commas.

    Examples
    --------
    >>> has_words("6,384 Nodes", "6384 new nodes", "Hopper"), has_words("nodes franklin", "6384 new nodes")
    (True, False)
    """
    # Commas go, so that 6,384 and 6384 find the same.
    searched, text = (part.casefold().replace(",", "") for part in (search, " ".join(texts)))
    return all(word in text for word in searched.split())


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
    cut = f", the first {shown} shown" if len(matching) > shown else ""
    return matching[:shown], count(len(matching), thing, things) + cut
