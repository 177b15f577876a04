"""Additions to the HTML of a result in a notebook: the style, the initial answer, errors."""

import base64
import os
from collections.abc import Mapping
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hopperkit.questions.result import Figure, Result
from hopperkit.render.html import legend_html, parts_html, prose_html
from hopperlib.package_data import load_text_resource

if TYPE_CHECKING:
    from hopperkit.questions.question import Question

# JupyterLab's light and dark colors, for everything but the charts.
STYLE = f"<style>\n{load_text_resource(__file__, 'notebook.css')}</style>"


def in_the_book() -> bool:
    """Whether the book is being built: then data are handed on, and the site draws them.

    Examples
    --------
    >>> in_the_book()
    False
    """
    return os.environ.get("HOPPERLIB_RENDER") == "book"


def titled(title: str, text: str) -> str:
    """Return a text led by its title.

    Parameters
    ----------
    title : str
        Title of the part.
    text : str
        Contents as HTML.

    Examples
    --------
    >>> titled("Rates", "They fall."), titled("Where?", "There.")
    ('Rates. They fall.', 'Where? There.')
    """
    return f"{title}{'' if title.endswith(('.', '?', '!')) else '.'} {text}"


def titled_html(title: str, text: str) -> str:
    """Return a text as HTML, led by its title in bold.

    Parameters
    ----------
    title : str
        Title of the part.
    text : str
        Contents as HTML.

    Examples
    --------
    >>> titled_html("Where?", "On `core 3`.")
    '<strong>Where?</strong> On <code>core 3</code>.'
    """
    lead = titled(title, "").rstrip()
    return f"<strong>{prose_html(lead)}</strong> {prose_html(text)}"


def error_html(message: str, label: str = "") -> str:
    """Return a refused input as HTML, led by the label of the control at fault.

    Parameters
    ----------
    message : str
        The message.
    label : str, default ''
        Label of the control.

    Examples
    --------
    >>> error_html("tasks=0 must be at least 1", "Tasks")
    '<div class="hopper-error" role="alert"><strong>Tasks:</strong> tasks=0 must be at least 1</div>'
    """
    at = f"<strong>{prose_html(label)}:</strong> " if label else ""
    return f'<div class="hopper-error" role="alert">{at}{prose_html(message)}</div>'


def _summary_html(result: Result) -> str:
    """Return the sentence that answers the question."""
    return f'<p class="hopper-summary" role="status">{prose_html(result.summary)}</p>'


def split_html(result: Result) -> tuple[str, str]:
    """Return the parts of an answer above and below the charts.

    Parameters
    ----------
    result : Result
        Answer of a question.

    Examples
    --------
    >>> split_html(Result(summary="6 < 7."))
    ('<p class="hopper-summary" role="status">6 &lt; 7.</p>', '')
    """
    data = result.to_dict()
    parts = parts_html(data, buttons=False)
    names = list(parts)
    above, below = names[: names.index("figures")], names[names.index("figures") + 1 :]
    return (
        _summary_html(result) + "".join(parts[name] for name in above),
        "".join(parts[name] for name in below) + legend_html(data),
    )


def notebook_html(result: Result) -> str:
    """Return an answer, or a part of one, as a notebook shows it: charts as static pictures, with their data.

    In the book the site's style sheet applies, elsewhere the package's.

    Parameters
    ----------
    result : Result
        Answer of a question.

    Examples
    --------
    >>> notebook_html(Result(summary="6 < 7.")).endswith('<p class="hopper-summary" role="status">6 &lt; 7.</p></div></div>')
    True
    """
    data = result.to_dict()
    in_book = in_the_book()
    pictures = [f"<p>{escape(figure.alt)}</p>{_picture(figure, in_book)}" for figure in result.figures]
    parts = "".join(parts_html(data, buttons=False, pictures=pictures).values())
    html = (_summary_html(result) if result.summary else "") + parts
    return html if in_book else f'{STYLE}<div class="hopper-view"><div class="hopper-html">{html}</div></div>'


def _picture(figure: Figure, in_book: bool) -> str:
    """Return a chart as an image, which passes where viewers of notebooks let no drawing pass; nothing without matplotlib.

    In the book it is a drawing, in the colors of the page.
    """
    if not find_spec("matplotlib"):
        return ""
    from hopperkit.render.svg import figure_svg

    svg = figure_svg(figure, place="answer" if in_book else "")
    data = base64.b64encode(svg.encode()).decode()
    return (
        svg
        if in_book
        else f'<img class="hopper-picture" src="data:image/svg+xml;base64,{data}" alt="{escape(figure.alt)}">'
    )


def static_html(explorer: "Question", result: Result, values: Mapping[str, Any]) -> str:
    """Return an explorer's answer for places that run nothing: words and tables.

    Parameters
    ----------
    explorer : hopperkit.questions.question.Question
    result : hopperkit.questions.result.Result
        Its answer.
    values : mapping
        To these values.

    Examples
    --------
    >>> from hopperkit.questions.question import Question
    >>> sky = Question(name="sky", title="The sky", question="What color is it?", controls=(),
    ...                answer=lambda: Result(summary="Blue."))
    >>> static_html(sky, sky.run(), {})[:64]
    '<p><strong>The sky.</strong> What color is it?</p><p>Blue.</p><p'
    """
    settings = ", ".join(
        f"{escape(control.label)}: <code>{escape(str(value))}</code>{' ' + escape(control.unit) if control.unit else ''}"
        for control, value in zip(explorer.controls, (explorer.defaults | dict(values)).values(), strict=True)
        if 0 < len(str(value)) <= 200 and not (control.advanced and value == control.default)
    )
    parts = parts_html(result.to_dict(), buttons=False)
    return (
        f"<p>{titled_html(explorer.title, explorer.question)}</p>"
        f"<p>{prose_html(result.summary)}</p>"
        f"<p>This is the answer to{': ' + settings if settings else ' its only setting'}. "
        f"Run the notebook in JupyterLab to change it.</p>"
        f"{parts['problems']}{parts['drawings']}{parts['findings']}{parts['values']}{parts['tables']}"
    )
