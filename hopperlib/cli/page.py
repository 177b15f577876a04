"""What the pages that commands write have in common: one file, no scripts, nothing from elsewhere."""

from __future__ import annotations

from html import escape

__all__ = ["page"]

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}
table{border-collapse:collapse;margin:.5rem 0}caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
code{font-family:ui-monospace,monospace;font-size:.9em}
details{margin:.5rem 0}
svg{max-width:100%;height:auto}
@media(min-width:45rem){td.n{white-space:nowrap}}
"""


def page(title: str, body: str, *, style: str = "") -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        As text; it is escaped here.
    body : str
        As HTML, below the heading.
    style : str
        Rules beyond those that all pages share.
    """
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            body,
            "</main></body></html>\n",
        )
    )
