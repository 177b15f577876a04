"""A result as HTML: the same elements on the page, in a notebook and in a report.

Everything works on plain data (``Result.to_dict()``), the form stored by the book. Texts are plain and are escaped;
text between backticks becomes code. Only drawings are inserted unchanged: they are made by the package, which escapes
their texts.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hopperkit.questions.result import BADGES, format_number

# Default height of a chart. [CSS pixels]
PLOT_HEIGHT = 320
# Numbers and findings shown next to the chart of a page, and a finding that is collapsed there. [characters]
_SHOWN, _NOTICES, _LONG = 3, 2, 240
_CODE = re.compile("`([^`]+)`")
# An option of a command with its value or the word after it.
_OPTION = re.compile(r"(?<![^\s`])--?[A-Za-z][\w-]*(?:=[^\s`]+| (?!-)[^\s`]+)?")
# A number with its unit.
_QUANTITY = re.compile(r"(?<![\w.,])\d[\d.,]* (?:%|[mn]?s\b|min\b|h\b|[kMGTP]?i?B\b(?:/s)?)")


def prose_html(text: str) -> str:
    """Return plain text as HTML, code between backticks marked as such.

    Parameters
    ----------
    text : str
        Text of an answer.

    Examples
    --------
    >>> prose_html("Use `a.out 3`, if x < 4.")
    'Use <code>a.out 3</code>, if x &lt; 4.'
    """
    return _CODE.sub(r"<code>\1</code>", _unbroken(escape(text)))


def _unbroken(html: str) -> str:
    """Return HTML in which no line breaks between an option and its value, or a number and its unit."""
    html = _OPTION.sub(r'<span class="hopper-unbroken">\g<0></span>', html)
    return _QUANTITY.sub(r'<span class="hopper-quantity">\g<0></span>', html)


def badge_html(name: str) -> str:
    """Return the badge for the origin of a number.

    Parameters
    ----------
    name : str
        One of `BADGES`.

    Examples
    --------
    >>> badge_html("assumed")
    '<span class="hopper-badge" data-badge="assumed">assumed</span>'
    """
    return f'<span class="hopper-badge" data-badge="{name}">{name}</span>'


def legend_html(result: Mapping[str, Any]) -> str:
    """Return the meaning of the badges, collapsed; empty if the answer has none.

    Parameters
    ----------
    result : mapping of str to Any
        The answer, as plain data.

    Examples
    --------
    >>> from hopperkit.questions.result import Result
    >>> legend_html(Result(summary="Six.").to_dict())
    ''
    """
    if not (result["values"] or any(column["badge"] for table in result["tables"] for column in table["columns"])):
        return ""
    items = "".join(f"<div><dt>{badge_html(name)}</dt><dd>{meaning}</dd></div>" for name, meaning in BADGES.items())
    return f'<details class="hopper-legend"><summary>What the badges mean</summary><dl>{items}</dl></details>'


def _kinds(table: Mapping[str, Any], wordy: bool) -> list[str]:
    """Return the attribute of each column: numbers, or the longest sentences, which get the most room."""
    kinds = [' class="hopper-number"' if numeric else "" for numeric in table["numeric"]]
    if wordy:
        sizes = [sum(map(len, column)) for column in zip(*table["rows"], strict=True)]
        kinds[sizes.index(max(sizes))] = ' class="hopper-long"'
    return kinds


def table_html(table: Mapping[str, Any], *, action: str = "csv", index: int = 0, buttons: bool = True) -> str:
    """Return a table: caption, headings, right-aligned numbers, marked rows described in words.

    Parameters
    ----------
    table : mapping
        ``Table.to_dict()``.
    action, index : str, int
        Action of the button in the page's script, and its table.
    buttons : bool
        Whether it has the button.

    Examples
    --------
    >>> from hopperkit.questions.result import Column, Table
    >>> table = Table(caption="Nodes", columns=(Column(title="Cores"),), rows=((24,),)).to_dict()
    >>> table_html(table, buttons=False)[-65:-12]
    'td class="hopper-number">24</td></tr></tbody></table>'
    """
    columns = table["columns"]
    # Sentences in many columns: on a narrow screen, the cells of a row are stacked, each with its heading. Such a table
    # is displayed as a list, so its roles must be explicit.
    wordy = len(columns) > 3 and any(len(cell) > 24 for row in table["rows"] for cell in row)
    kinds = _kinds(table, wordy)
    # How a cell begins is made once for each column, as a table may have thousands of rows.
    heads, starts = [], []
    for column, kind in zip(columns, kinds, strict=True):
        heading = escape(column["heading"])
        badge = f" {badge_html(column['badge'])}" if column["badge"] else ""
        heads.append(f'<th scope="col"{kind}>{heading}{badge}</th>')
        starts.append(f'<td{kind} role="cell" data-heading="{heading}">' if wordy else f"<td{kind}>")
    label = f" <em>({escape(table['marked_label'])})</em>" if table["marked_label"] else ""
    role = ' role="row"' if wordy else ""
    rows = []
    for number, row in enumerate(table["rows"]):
        cells = "</td>".join([start + escape(cell, quote=False) for start, cell in zip(starts, row, strict=True)])
        mark, words = (' class="hopper-marked"', label) if number in table["marked"] else ("", "")
        rows.append(f"<tr{mark}{role}>{cells}{words}</td></tr>")
    whole = (
        f'<table class="hopper-table{" hopper-wordy" * wordy}"><caption><span>{prose_html(table["caption"])}</span></caption>'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    button = _button("Download CSV", action, index) if buttons else ""
    return f'<div class="hopper-table-box">{_scroll(table["caption"], whole)}{button}</div>'


def drawing_html(drawing: Mapping[str, Any]) -> str:
    """Return a drawing: the SVG with its title as caption.

    Parameters
    ----------
    drawing : mapping of str to Any
        The drawing, as plain data.

    Examples
    --------
    >>> drawing_html({"title": "A & B", "svg": "<svg><title>A</title></svg>"})
    '<figure class="hopper-drawing"><svg><title>A</title></svg><figcaption>A &amp; B</figcaption></figure>'
    """
    return (
        f'<figure class="hopper-drawing">{drawing["svg"]}<figcaption>{escape(drawing["title"])}</figcaption></figure>'
    )


def _is_tall(drawing: Mapping[str, Any]) -> bool:
    """Return whether a drawing is more than half as tall as wide."""
    box = re.search(r'viewBox="\S+ \S+ (\S+) ([^" ]+)"', drawing["svg"])
    return not box or float(box[2]) > 0.5 * float(box[1])


def figure_html(figure: Mapping[str, Any], index: int = 0, *, picture: str = "", buttons: bool = True) -> str:
    """Return a chart: its caption, the chart as a picture, and its data. On a page a script redraws it when touched.

    Parameters
    ----------
    figure : mapping
        ``Figure.to_dict()``.
    index : int
        Its place among the charts of the answer.
    picture : str
        The chart as HTML; without it, its description is shown.
    buttons : bool
        Whether a script draws it, and the table of its data has a button.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> figure = load("memory").run().figures[0].to_dict()
    >>> figure_html(figure, picture="<svg></svg>").count("<svg>")
    1
    """
    alt = escape(figure["alt"])
    plot = picture or f'<p class="hopper-plot-note">{alt}</p>'
    if buttons:
        height = figure["figure"]["layout"].get("height", PLOT_HEIGHT)
        plot = f'<div class="hopper-plot" role="img" aria-label="{alt}" style="--height: {height}px">{plot}</div>'
    return (
        f'<figure class="hopper-figure" data-index="{index}"><figcaption>{prose_html(figure["title"])}</figcaption>'
        f'{plot}<details class="hopper-data"><summary>{"Data" if buttons else "Data of this chart"}</summary>'
        f"{table_html(figure['table'], action='figure-csv', index=index, buttons=buttons)}</details></figure>"
    )


# The parts of an answer, in the order in which they are shown.
_PARTS = (
    *("problems", "drawings", "findings", "figures", "values", "copyables"),
    *("listings", "numbers", "tables", "notes", "downloads"),
)


def _tables(tables: Sequence[Mapping[str, Any]], buttons: bool) -> Iterator[str]:
    """Yield tables as HTML, collapsed if marked; on a page all but the first."""
    for index, table in enumerate(tables):
        html = table_html(table, index=index, buttons=buttons)
        fold = table["folded"] or (table["caption"] if buttons and index else "")
        yield _folded(fold, html) if fold else html


def _figures(result: Mapping[str, Any], pictures: Sequence[str], buttons: bool) -> Iterator[str]:
    """Yield charts as HTML; on a page, the first is shown and the others are collapsed."""
    opened = len(result["figures"]) if not buttons else 0 if any(map(_is_tall, result["drawings"])) else 1
    shown = pictures or [""] * len(result["figures"])
    for index, (figure, picture) in enumerate(zip(result["figures"], shown, strict=True)):
        html = figure_html(figure, index, picture=picture, buttons=buttons)
        yield html if index < opened else _folded(figure["title"], html)


def parts_html(
    result: Mapping[str, Any], *, buttons: bool = True, evidence: bool = False, pictures: Sequence[str] = ()
) -> dict[str, str]:
    """Return the parts of an answer by name, in display order; empty strings for missing parts.

    Parameters
    ----------
    result : mapping
        ``Result.to_dict()``.
    buttons : bool
        Whether there are buttons, which need the page's script, and secondary parts are collapsed: all but the first
        picture, two findings, one text to copy. Three numbers are shown alone, and all with their notes separately. A
        file is included as a link.
    evidence : bool
        Whether the numbers of the findings are included, collapsed.
    pictures : sequence of str
        The charts as HTML.

    Examples
    --------
    >>> from hopperkit.questions.result import Snippet, Result
    >>> parts = parts_html(Result(summary="Six.", copyables=(Snippet("Line", "a.out"),)).to_dict(), buttons=False)
    >>> list(parts)
    ['problems', 'drawings', 'findings', 'figures', 'values', 'copyables', 'listings', 'numbers', 'tables', 'notes', 'downloads']
    >>> parts["copyables"]
    '<div class="hopper-copyable"><div class="hopper-bar"><span class="hopper-part-title">Line</span></div><pre><code>a.out</code></pre></div>'
    """
    figures, tables = list(_figures(result, pictures, buttons)), list(_tables(result["tables"], buttons))
    copyables = [_copyable(item, i, buttons) for i, item in enumerate(result["copyables"])]
    downloads = [_download(item, i, buttons) for i, item in enumerate(result["downloads"])]
    values, listings = result["values"], list(map(_listing, result["listings"]))
    if buttons:
        values = [{**value, "note": ""} for value in values[:_SHOWN]]
        if len(copyables) > 1:
            copyables[1:] = [_folded(f"{len(copyables) - 1} more to copy", "".join(copyables[1:]))]
        if not (result["drawings"] or figures or listings):
            # The table is what there is to look at.
            listings, tables = tables[:1], tables[1:]
    parts: dict[str, Iterable[str]] = _findings(result, evidence, buttons) | {
        "drawings": map(drawing_html, result["drawings"]),
        "figures": figures,
        "values": _list("dl", "hopper-values", map(_value, values)),
        "copyables": copyables,
        "listings": listings,
        "numbers": _list("dl", "hopper-values", map(_value, result["values"])) if buttons else "",
        "tables": tables,
        "downloads": _list("ul", f"hopper-downloads{' hopper-live-only' * buttons}", downloads),
    }
    return {name: "".join(parts[name]) for name in _PARTS}


def _findings(result: Mapping[str, Any], evidence: bool, fold: bool) -> dict[str, str]:
    """Return the findings by part: problems, other findings, notes; on a page, two are shown and the others are
    collapsed.
    """
    levels = {"problems": ("problem",), "findings": ("unknown", "advice", "ok"), "notes": ("note",)}
    made = {
        part: [_finding(item, evidence, fold) for item in result["findings"] if item["level"] in chosen]
        for part, chosen in levels.items()
    }
    whole = made["problems"] + made["findings"]
    if fold:
        made["problems"] = made["problems"][:_NOTICES]
        made["findings"] = made["findings"][: _NOTICES - len(made["problems"])]
    parts = {part: _list("ul", "hopper-notices", items) for part, items in made.items()}
    if fold and len(whole) > 1:
        # If there is little room, one is shown.
        kind = "hopper-further" if len(whole) > _NOTICES else "hopper-further hopper-little-room"
        parts["findings"] += _folded(f"All {len(whole)} findings", _list("ul", "hopper-notices", whole), kind)
    return parts


def _list(tag: str, kind: str, items: Iterable[str]) -> str:
    """Return items as a list; empty if there are none."""
    inside = "".join(items)
    return f'<{tag} class="{kind}">{inside}</{tag}>' if inside else ""


def _folded(summary: str, html: str, kind: str = "hopper-further") -> str:
    """Return a collapsed section with a title."""
    return f'<details class="{kind}"><summary>{prose_html(summary)}</summary>{html}</details>'


def _button(label: str, action: str, index: int) -> str:
    """Return a button that the page's script answers."""
    attributes = f'class="hopper-button hopper-live-only" data-do="{action}" data-index="{index}"'
    return f'<button type="button" {attributes}>{label}</button>'


def _scroll(label: str, html: str) -> str:
    """Return wide content in a box that scrolls, also by keyboard."""
    name = escape(label.replace("`", ""))
    return f'<div class="hopper-scroll" role="group" tabindex="0" aria-label="{name}">{html}</div>'


def _finding(finding: Mapping[str, Any], evidence: bool, fold: bool) -> str:
    """Return a finding that begins with its level: the message, the remedy, collapsed if long, and its numbers."""
    level, numbers = finding["level"], finding.get("evidence", {}) if evidence else {}
    words, further = f"{finding['message']} {finding.get('advice', '')}".strip(), ""
    if fold and len(words) > _LONG:
        # One sentence of the message is shown; explanation and remedy are collapsed.
        first = finding["message"] if finding.get("advice") else words.partition(". ")[0] + "."
        words, further = first, words.removeprefix(first).strip()
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(format_number(value))}</td></tr>'
        for name, value in numbers.items()
        if isinstance(value, int | float | str)
    )
    table = f"<table><caption>{escape(finding['code'])}</caption>{rows}</table>"
    return (
        f'<li class="hopper-notice" data-level="{level}"><strong>{level.capitalize()}</strong> '
        f"<span>{prose_html(words)}</span>"
        + (_folded("Why, and what to do", f"<p>{prose_html(further)}</p>") if further else "")
        + (f"<details><summary>Numbers</summary>{table}</details></li>" if numbers else "</li>")
    )


def _note(tag: str, note: str) -> str:
    """Return a note; empty if there is none."""
    return f'<{tag} class="hopper-note">{prose_html(note)}</{tag}>' if note else ""


def _value(value: Mapping[str, Any]) -> str:
    """Return a number with its unit, badge and note."""
    unit = f'&nbsp;<span class="hopper-unit">{escape(value["unit"])}</span>' if value["unit"] else ""
    badge = f" {badge_html(value['badge'])}" if value["badge"] else ""
    kind = "hopper-value hopper-in-words" if len(value["text"]) > 24 else "hopper-value"
    number = f'<span class="{kind}">{escape(value["text"])}</span>{unit}{badge}'
    return f"<div><dt>{prose_html(value['label'])}</dt><dd>{number}</dd>{_note('dd', value['note'])}</div>"


def _copyable(copyable: Mapping[str, Any], index: int, buttons: bool) -> str:
    """Return a text to copy; a long one scrolls, and its lines do not break."""
    title, text, note = copyable["title"], copyable["text"], copyable["note"]
    block = f"<pre><code>{_unbroken(escape(text))}</code></pre>"
    if copyable["before"]:
        from hopperkit.render.changes import changes_html

        block = changes_html(copyable["before"], text)
    elif text.count("\n") > 2 or len(text) > 110:
        block = _scroll(title, block)
    button = f" {_button('Copy', 'copy', index)}" if buttons else ""
    bar = f'<div class="hopper-bar"><span class="hopper-part-title">{prose_html(title)}</span>{button}</div>'
    return f'<div class="hopper-copyable">{bar}{block}{_note("p", note)}</div>'


def _listing(listing: Mapping[str, Any]) -> str:
    """Return numbered lines, with each mark described in words."""
    items = []
    for number, text, mark in listing["lines"]:
        word = escape(mark)
        marked = f' class="hopper-marked" data-mark="{word}"' if mark else ""
        mark_text = f' <span class="hopper-mark">{word}</span>' if mark else ""
        items.append(f'<li value="{number}"{marked}><code>{escape(text)}</code>{mark_text}</li>')
    title = f'<p class="hopper-part-title">{prose_html(listing["title"])}</p>'
    return f'<div class="hopper-listing">{title}{_scroll(listing["title"], "<ol>" + "".join(items) + "</ol>")}</div>'


def _download(file: Mapping[str, Any], index: int, buttons: bool) -> str:
    """Return a file: a button for the page's script, or a link that holds it."""
    name = escape(file["name"])
    if buttons:
        action = f'data-do="download" data-index="{index}"'
        return f'<li><button type="button" class="hopper-button" {action}>Save {name}</button></li>'
    # A stand-alone page runs no script: the link contains the file itself.
    data = base64.b64encode(file["text"].encode()).decode()
    address = f"data:{escape(file['media_type'])};charset=utf-8;base64,{data}"
    return f'<li><a download="{name}" href="{address}">Save {name}</a></li>'
