"""What other parts of the book's engine write that keeps readers with a screen reader out, put right."""

from __future__ import annotations

import re

__all__ = ["mended"]

# Pattern, replacement. Each is a finding of axe on a page of this book.
_MENDS: tuple[tuple[str, str], ...] = (
    # Docutils: the role has been withdrawn, and a list of references is a list only if it holds items alone.
    (r' role="doc-biblioentry"', ""),
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    # myst-nb: the name said nothing that is shown, such as "Show code cell source".
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
)


def mended(html: str) -> str:
    """Return a page without the known faults.

    Examples
    --------
    >>> mended('<summary aria-label="Toggle hidden content">Show code</summary>')
    '<summary>Show code</summary>'
    """
    for pattern, replacement in _MENDS:
        html = re.sub(pattern, replacement, html)
    return html
