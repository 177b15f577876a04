"""An answer as a stand-alone page: one file, without scripts or external content, with light and dark colors."""

from html import escape

from hopperkit.questions.result import Result
from hopperkit.render.html import parts_html, prose_html
from hopperkit.render.svg import figure_svg
from hopperlib.package_data import load_text_resource

# An embedded picture (a heatmap) is data of the page itself.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = "\n" + load_text_resource(__file__, "page.css")


def page_html(result: Result, title: str, introduction: str = "") -> str:
    """Return an answer as a whole page.

    Parameters
    ----------
    result : Result
    title : str
    introduction : str
        Where the answer comes from, above it. All texts are escaped; text between backticks becomes code.

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
        *parts.values(),
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
