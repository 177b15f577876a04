"""An answer as one page: a file of its own, without scripts, with nothing from elsewhere, in light and in dark."""

from __future__ import annotations

from html import escape

from hopperlib.questions.result import Result
from hopperlib.render.html import parts_html, prose_html
from hopperlib.render.svg import figure_svg

__all__ = ["page_html"]

# An embedded picture (a heatmap) is data of the page itself.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_ORDER = ("findings", "values", "drawings", "figures", "copyables", "listings", "tables", "downloads")
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}
.hopper-summary{font-size:1.1rem}.hopper-summary,.hopper-marked,.hopper-part-title,figcaption,caption{font-weight:600}
table{border-collapse:collapse;margin:.5rem 0}caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}
.hopper-number{text-align:right;font-variant-numeric:tabular-nums}
.hopper-badge{border:1px solid;border-radius:1em;padding:0 .5em;font-size:.85em}
.hopper-values>div{display:grid;grid-template-columns:18rem 1fr;border-bottom:1px solid #8886;padding:.2rem 0}
dt{font-weight:600}dd{margin:0}dd.hopper-note{grid-column:2}
.hopper-scroll{overflow-x:auto}
code{font-family:ui-monospace,monospace;font-size:.9em}pre{white-space:pre-wrap;user-select:all}
details{margin:.5rem 0}figure{margin:2rem 0}svg{max-width:min(100%,46rem);height:auto}
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
    parts = parts_html(
        result.to_dict(), buttons=False, evidence=True, pictures=[figure_svg(figure) for figure in result.figures]
    )
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{prose_html(introduction)}</p>" if introduction else "",
        f'<p class="hopper-summary">{prose_html(result.summary)}</p>',
        *(parts[name] for name in _ORDER),
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
