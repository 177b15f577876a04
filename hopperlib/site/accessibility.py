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
    # The theme: what unfolds the pages below a page, in the table of contents, has no name.
    (
        r'(<a class="(?:current )?reference internal" href="[^"]*">([^<]*)</a><details[^>]*>)<summary>(?=<span class="toctree-toggle")',
        r'\1<summary aria-label="Pages below: \2">',
    ),
    # myst-nb: how a page went is a picture without a name, which few fonts hold.
    (r"<p>✅</p>", "<p>ran to its end</p>"),
    # Sphinx: a formula wider than the screen scrolls, and no key could scroll it.
    (
        r'<div class="math notranslate nohighlight"',
        '<div class="math notranslate nohighlight" tabindex="0" role="group" aria-label="Formula"',
    ),
    # pandas: a wide table scrolls, and no key could scroll it; its own style is not the page's.
    (
        r'(?s)<div>\s*<style scoped[^>]*>[^<]*</style>\s*(?=<table border="1" class="dataframe">)',
        '<div class="hopper-scroll" role="group" tabindex="0" aria-label="Table">',
    ),
    # MyST: a box of a checklist has no name, and could not be ticked.
    (
        r'(?s)<input class="task-list-item-checkbox" disabled="disabled"( checked="checked")? type="checkbox">'
        r"(.*?)(?=</p>|</li>)",
        r'<label><input class="task-list-item-checkbox"\1 type="checkbox" autocomplete="off">\2</label>',
    ),
)


def mended(html: str) -> str:
    """Return a page without the known faults.

    Examples
    --------
    >>> import pandas
    >>> mended(pandas.DataFrame({"nodes": [4]})._repr_html_())[:108]
    '<div class="hopper-scroll" role="group" tabindex="0" aria-label="Table"><table border="1" class="dataframe">'
    >>> mended('<summary aria-label="Toggle hidden content">Show code</summary>')
    '<summary>Show code</summary>'
    >>> mended('<p><input class="task-list-item-checkbox" disabled="disabled" type="checkbox"> Look.</p>')
    '<p><label><input class="task-list-item-checkbox" type="checkbox" autocomplete="off"> Look.</label></p>'
    >>> mended(
    ...     '<a class="reference internal" href="b.html">Parts</a><details><summary><span class="toctree-toggle"></span>'
    ... )
    '<a class="reference internal" href="b.html">Parts</a><details><summary aria-label="Pages below: Parts"><span class="toctree-toggle"></span>'
    """
    for pattern, replacement in _MENDS:
        html = re.sub(pattern, replacement, html)
    return html
