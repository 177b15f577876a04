"""The list of sources, each with the key that data files, machine files and models cite it by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Unsorted
from pybtex.style.labels import BaseLabelStyle

__all__ = ["KeyLabels", "KeyStyle", "setup"]


class KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels an entry with its key.

    Examples
    --------
    >>> from pybtex.database import Entry
    >>> entry = Entry("misc")
    >>> entry.key = "he2012"
    >>> list(KeyLabels().format_labels([entry]))
    ['he2012']
    """

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        """Yield the label of each entry."""
        for entry in sorted_entries:
            yield entry.key


class KeyStyle(Unsorted):  # type: ignore[misc]
    """The order of the file, which begins with the five documents, and keys as labels."""

    default_label_style = KeyLabels


def setup() -> None:
    """Make the style known by the name that the page uses."""
    register_plugin("pybtex.style.formatting", "keys", KeyStyle, force=True)
