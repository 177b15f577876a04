"""Postprocessing of each page: corrections for screen readers, and the Content-Security-Policy.

The policy allows only this site's host.

Inline scripts of the theme are allowed one by one, by their hash; scripts and
handlers that a page picked up in any other way do not run. A worker inherits
the policy of its page, as it starts from a blob.
"""

import base64
import hashlib
import re
from itertools import zip_longest

from hopperbook.site.html import tables

# Types of <script> that a browser runs; others are data.
_RUN = {"", "text/javascript", "application/javascript", "module"}
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_TYPE = re.compile(r"""\btype\s*=\s*["']?([^"'\s>]*)""", re.IGNORECASE)
_TABLE = re.compile(r'<table\b[^>]*class="(?:dataframe|table)\b[^>]*>.*?</table>', re.DOTALL)
_PLAIN = re.compile(r'<table class="table">.*?</table>', re.DOTALL)
_ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[dh])\b([^>]*)>(.*?)</\1>", re.DOTALL)
_NUMBER = re.compile(r"[−+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?(?: ?%)?")
# A table is one of text from so many columns on, with such cells in more than one of them, or with a sentence. [letters]
_COLUMNS, _LONG, _SENTENCE = 4, 24, 60
_META = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def inline_scripts(html: str) -> list[str]:
    """Return the text of each inline script that a browser would run.

    Examples
    --------
    >>> inline_scripts('<script>a()</script><script type="application/json">{}</script><script src="b.js"></script>')
    ['a()']
    """
    # A script with a URL is allowed by its host; only inline scripts need their hash.
    inline = [script for script in _SCRIPT.findall(html) if not re.search(r"\bsrc\s*=", script[0])]
    return [text for given, text in inline if "".join(_TYPE.findall(given)).lower() in _RUN]


def policy(scripts: list[str]) -> str:
    """Return the policy of a page that holds these inline scripts.

    Examples
    --------
    >>> "'sha256-" in policy(["a()"]), "'unsafe-inline'" in policy([]).split("script-src")[1].split(";")[0]
    (True, False)
    """
    # Each once and in the order of the page, so that the same page gets the same bytes.
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in dict.fromkeys(scripts)
    ]
    rules = tables()["policy"]
    rules = rules | {"script-src": " ".join([rules["script-src"], *hashes])}
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def with_policy(html: str) -> str:
    """Return a page with its policy, right after the declaration of its character set.

    Raises
    ------
    ValueError
        If the page has no head to hold it.

    Examples
    --------
    >>> with_policy('<head><meta charset="utf-8"><title>A</title></head>')[:62]
    '<head><meta charset="utf-8"><meta http-equiv="Content-Security'
    """
    # A page that was not written again has its policy already.
    bare = _META.sub("", html)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(inline_scripts(bare))}">'
    place = re.search(r"<meta charset=[^>]*>", bare) or re.search(r"<head[^>]*>", bare)
    if not place:
        raise ValueError("the page has no <head> to hold the policy")
    return bare[: place.end()] + meta + bare[place.end() :]


def with_numbers_right(html: str) -> str:
    """Return a page whose numeric columns of tables are right-aligned, with their headings.

    Examples
    --------
    >>> with_numbers_right('<table class="dataframe"><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1.5</td></tr></table>')[39:106]
    '<th class="hopper-number">b</th></tr><tr><td>x</td><td class="hoppe'
    """
    return _TABLE.sub(lambda found: _numbers_right(found[0]), html)


def _numbers_right(table: str) -> str:
    """Return a table with its numeric columns marked; one with spanning cells is unchanged."""
    if "span=" in table:
        return table
    rows = [[re.sub(r"<[^>]*>", "", cell[2]).strip() for cell in _CELL.findall(row)] for row in _ROW.findall(table)]
    # The first row are headings, and a cell may be missing.
    columns = [[cell for cell in column if cell] for column in zip_longest(*rows[1:], fillvalue="")]
    right = [bool(column) and all(map(_NUMBER.fullmatch, column)) for column in columns]

    def marked(row: re.Match[str]) -> str:
        numbers = iter([*right, *[False] * len(row[0])])

        def cell(found: re.Match[str]) -> str:
            if not next(numbers) or "class=" in found[2]:
                return found[0]
            return f'<{found[1]}{found[2]} class="hopper-number">{found[3]}</{found[1]}>'

        return _CELL.sub(cell, row[0])

    return _ROW.sub(marked, table)


def with_text_stacked(html: str) -> str:
    """Return a page whose tables of text, with four columns or more, are marked: on a phone their cells stand below each other.

    A table of numbers and names stays one, and scrolls in its box.

    Examples
    --------
    >>> rows = '<thead><tr><th>a</th><th>b</th><th>c</th><th>d</th></tr></thead><tbody><tr><td>{}</td></tr></tbody></table>'
    >>> with_text_stacked('<table class="table">' + rows.format("A sentence of some length. " * 3))[:34]
    '<table class="table hopper-wordy">'
    >>> with_text_stacked('<table class="table">' + rows.format("The name of some thing, long"))[:21]
    '<table class="table">'
    """

    def marked(found: re.Match[str]) -> str:
        head, *body = _ROW.findall(found[0])
        rows = [[len(re.sub(r"<[^>]*>", "", cell[2]).strip()) for cell in _CELL.findall(row)] for row in body]
        widths = [max(column) for column in zip_longest(*rows, fillvalue=0)]
        long = sum(width > _LONG for width in widths) > 1 or max(widths, default=0) > _SENTENCE
        wordy = len(_CELL.findall(head)) >= _COLUMNS and long
        return found[0].replace('class="table"', 'class="table hopper-wordy"', 1) if wordy else found[0]

    return _PLAIN.sub(marked, html)


def with_skip_link(html: str) -> str:
    """Return a page with a second link at its top, to its first explorer, past the contents of the whole site.

    Examples
    --------
    >>> top = '<div class="skip-link"><a href="#main-content">Skip to main content</a></div>'
    >>> with_skip_link(f'{top}<section class="hopper-explorer" id="explorer-place">')[67:132]
    '</a><a href="#explorer-place">Skip to the explorer</a></div><sect'
    """
    explorer = re.search(r'<section class="hopper-explorer" id="([\w-]+)"', html)
    if not explorer or "Skip to the explorer" in html:
        return html
    link = rf'\g<0><a href="#{explorer[1]}">Skip to the explorer</a>'
    return re.sub(r'<a href="#main-content">[^<]*</a>', link, html, count=1)


def mended(html: str) -> str:
    """Return a page without the known faults.

    Examples
    --------
    >>> import pandas
    >>> mended(pandas.DataFrame({"nodes": [4]})._repr_html_())[:121]
    '<div class="hopper-scroll hopper-frame" role="group" tabindex="0" aria-label="Table"><table border="1" class="dataframe">'
    >>> mended("<tr><th></th><th>nodes</th></tr>")
    '<tr><td></td><th>nodes</th></tr>'
    >>> mended('<summary aria-label="Toggle hidden content">Show code</summary>')
    '<summary>Show code</summary>'
    >>> mended('<p><input class="task-list-item-checkbox" disabled="disabled" type="checkbox"> Look.</p>')
    '<p><label><input class="task-list-item-checkbox" type="checkbox" autocomplete="off"> Look.</label></p>'
    >>> mended(
    ...     '<a class="reference internal" href="b.html">Parts</a><details><summary><span class="toctree-toggle"></span>'
    ... )
    '<a class="reference internal" href="b.html">Parts</a><details><summary aria-label="Pages below: Parts"><span class="toctree-toggle"></span>'
    """
    for mend in tables()["mend"]:
        html = re.sub(mend["pattern"], mend["replacement"], html)
    return html
