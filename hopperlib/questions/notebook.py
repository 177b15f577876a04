"""What a notebook shows for a figure, a table or a drawing.

In the book's build a figure is handed on as data, and the site draws it; in
JupyterLab it becomes a live widget. Tables and drawings are HTML in both.
"""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopperlib.questions.result import Drawing, Figure, Result, Table

__all__ = ["FIGURE_MIME_TYPE", "drawing_html", "figure_bundle", "result_html", "table_html"]

FIGURE_MIME_TYPE = "application/vnd.hopper.figure+json"


def figure_bundle(figure: Figure) -> dict[str, Any]:
    """Return a figure for a notebook's front end: data in the book's build, a widget in JupyterLab.

    Examples
    --------
    >>> from hopperlib.questions.figures import Axis, Series, chart
    >>> figure = chart(title="Squares", alt="A parabola that rises from 0 to 4.", x=Axis(title="x"),
    ...                y=Axis(title="y"), series=[Series(name="square", x=[0, 2], y=[0, 4])])
    >>> os.environ["HOPPERLIB_RENDER"] = "book"
    >>> list(figure_bundle(figure))
    ['application/vnd.hopper.figure+json', 'text/plain']
    >>> del os.environ["HOPPERLIB_RENDER"]
    """
    if os.environ.get("HOPPERLIB_RENDER") == "book":
        return {FIGURE_MIME_TYPE: figure.to_dict(), "text/plain": figure.alt}
    from hopperlib.render.widgets import figure_mimebundle

    return figure_mimebundle(figure)


def result_html(result: Result) -> str:
    """Return an answer as HTML: words, drawings, tables; its figures show themselves live in an explorer.

    Examples
    --------
    >>> from hopperlib.questions.result import Result
    >>> result_html(Result(summary="6 < 7."))
    '<div class="hopper-summary" role="status">6 &lt; 7.</div>'
    """
    from hopperlib.render.widgets.answer import after_figures_html, before_figures_html

    return before_figures_html(result) + after_figures_html(result)


def table_html(table: Table) -> str:
    """Return a table as HTML: caption, headings, numbers to the right, marked rows said in words.

    Examples
    --------
    >>> from hopperlib.questions.result import Column, Table
    >>> table_html(Table(caption="Nodes & cores", columns=(Column(title="Cores"),), rows=((24,),)))[:55]
    '<table class="hopper-table"><caption>Nodes &amp; cores<'
    """
    data = table.to_dict()
    heads = "".join(f'<th scope="col">{escape(column["heading"])}</th>' for column in data["columns"])
    rows = []
    for number, row in enumerate(data["rows"]):
        marked = number in table.marked
        mark = ' class="hopper-marked"' if marked else ""
        cells = []
        for cell, numeric in zip(row, data["numeric"], strict=True):
            kind = ' class="hopper-number"' if numeric else ""
            cells.append(f"<td{kind}>{escape(cell)}</td>")
        if marked and table.marked_label:
            cells[-1] = cells[-1].removesuffix("</td>") + f" <em>({escape(table.marked_label)})</em></td>"
        rows.append(f"<tr{mark}>{''.join(cells)}</tr>")
    return (
        f'<table class="hopper-table"><caption>{escape(table.caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def drawing_html(drawing: Drawing) -> str:
    """Return a drawing as HTML: the SVG with its title as caption.

    The site's style sheet bounds its width; elsewhere the element does so itself
    (the site forbids styles in attributes).

    Examples
    --------
    >>> from hopperlib.questions.result import Drawing
    >>> html = drawing_html(Drawing(title="A & B", alt="two boxes", svg="<svg><title>A</title></svg>"))
    >>> html.endswith("</svg><figcaption>A &amp; B</figcaption></figure>")
    True
    """
    bound = "" if os.environ.get("HOPPERLIB_RENDER") == "book" else ' style="max-width: 32rem"'
    caption = f"<figcaption>{escape(drawing.title)}</figcaption>"
    return f'<figure class="hopper-drawing"{bound}>{drawing.svg}{caption}</figure>'
