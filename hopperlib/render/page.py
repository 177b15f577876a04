"""An answer as one page: a file of its own, without scripts, with nothing from elsewhere, in light and in dark."""

from __future__ import annotations

from html import escape

from hopperlib.questions.notebook import table_html
from hopperlib.questions.result import Figure, Result
from hopperlib.render.svg import figure_svg
from hopperlib.render.widgets.answer import after_figures_html, before_figures_html, prose_html

__all__ = ["page_html"]

# An embedded picture (a heatmap) is data of the page itself.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}
.hopper-summary{font-size:1.1rem;font-weight:600}.hopper-marked{font-weight:600}
table{border-collapse:collapse;margin:.5rem 0}caption{text-align:left;padding-bottom:.3rem;font-weight:600}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}
.hopper-number{text-align:right;font-variant-numeric:tabular-nums}
.hopper-badge{border:1px solid;border-radius:1em;padding:0 .5em;font-size:.85em}
code{font-family:ui-monospace,monospace;font-size:.9em}pre{white-space:pre-wrap;user-select:all}
details,figure{margin:.5rem 0}svg{max-width:min(100%,46rem);height:auto}
@media(min-width:45rem){td.hopper-number{white-space:nowrap}}
"""


def page_html(result: Result, title: str, introduction: str = "") -> str:
    """Return an answer as a whole page.

    Parameters
    ----------
    result : Result
    title : str
    introduction : str
        Where the answer comes from, above it. All texts are escaped; what stands between backticks becomes code.

    Examples
    --------
    >>> page = page_html(Result(summary="6 < 7."), "Numbers", "From `a.csv`.")
    >>> "<h1>Numbers</h1>" in page, "From <code>a.csv</code>." in page, "6 &lt; 7." in page, "<script" in page
    (True, True, True, False)
    """
    above = f"<p>{prose_html(introduction)}</p>" if introduction else ""
    body = [
        f"<h1>{escape(title)}</h1>",
        above,
        before_figures_html(result, evidence=True),
        *map(_figure_html, result.figures),
        after_figures_html(result),
    ]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>",
            *(part for part in body if part),
            "</main></body></html>\n",
        )
    )


def _figure_html(figure: Figure) -> str:
    """Return a figure below its title, what it shows in words, and its numbers folded away."""
    return (
        f"<h2>{prose_html(figure.title)}</h2>{figure_svg(figure)}<p>{prose_html(figure.alt)}</p>"
        f"<details><summary>The numbers of this figure</summary>{table_html(figure.table)}</details>"
    )
