"""What an explorer's answer looks like as HTML: escaped, without a script.

Texts are plain; what stands between backticks becomes code. Only drawings are
taken as they are: they are made by the package, which escapes what it draws.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from hopperlib.finding import Finding
from hopperlib.questions.notebook import drawing_html, table_html
from hopperlib.questions.result import BADGES, Copyable, Download, Listing, Result, Value

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = [
    "STYLE",
    "after_figures_html",
    "before_figures_html",
    "error_html",
    "prose_html",
    "static_html",
    "titled",
    "titled_html",
]

LEVELS = {"problem": "Problem", "advice": "Advice", "note": "Note"}

# JupyterLab's own colors, light and dark, for everything but the charts.
STYLE = """<style>
.hopper-view { --hopper-paper: var(--jp-layout-color1); --hopper-panel: var(--jp-layout-color2);
  --hopper-ink: var(--jp-content-font-color1); --hopper-muted: var(--jp-content-font-color2); }
.hopper-view .hopper-html { line-height: 1.5; overflow-x: auto; }
.hopper-view .hopper-summary { font-size: 1.1em; font-weight: 600; margin: 0.5em 0; }
.hopper-view .hopper-error { border-left: 4px solid var(--jp-error-color1); padding: 0.25em 0.75em; margin: 0.5em 0; }
.hopper-view .hopper-stale { opacity: 0.5; }
.hopper-view .hopper-help { color: var(--jp-content-font-color2); margin: 0; }
.hopper-view .hopper-drawing { margin: 0.5em 0; max-width: 28rem; }
.hopper-view .hopper-badge { border: 1px solid; border-radius: 1em; padding: 0 0.5em; font-size: 0.85em; }
.hopper-view pre { user-select: all; white-space: pre-wrap; background: var(--jp-layout-color2); padding: 0.5em; }
.hopper-view table { border-collapse: collapse; margin: 0.5em 0; }
.hopper-view caption { text-align: left; font-weight: 600; }
.hopper-view th, .hopper-view td { padding: 0.15em 0.6em; border-bottom: 1px solid var(--jp-border-color2); text-align: left; }
.hopper-view .hopper-number { text-align: right; white-space: nowrap; }
.hopper-view .hopper-marked { font-weight: 600; }
</style>"""


def prose_html(text: str) -> str:
    """Return plain text as HTML, code between backticks marked as such.

    Examples
    --------
    >>> prose_html("Use `-S 3`, if x < 4.")
    'Use <code>-S 3</code>, if x &lt; 4.'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def titled(title: str, text: str) -> str:
    """Return a text led by its title.

    Examples
    --------
    >>> titled("Rates", "They fall."), titled("Where?", "There.")
    ('Rates. They fall.', 'Where? There.')
    """
    return f"{title}{'' if title.endswith(('.', '?', '!')) else '.'} {text}"


def titled_html(title: str, text: str) -> str:
    """Return a text as HTML, led by its title in bold.

    Examples
    --------
    >>> titled_html("Where?", "On `-S 3`.")
    '<strong>Where?</strong> On <code>-S 3</code>.'
    """
    lead = titled(title, "").rstrip()
    return f"<strong>{prose_html(lead)}</strong> {prose_html(text)}"


def error_html(message: str, label: str = "") -> str:
    """Return a refused input as HTML, led by the label of the control at fault.

    Examples
    --------
    >>> error_html("tasks=0 must be at least 1", "Tasks")
    '<div class="hopper-error" role="alert"><strong>Tasks:</strong> tasks=0 must be at least 1</div>'
    """
    at = f"<strong>{prose_html(label)}:</strong> " if label else ""
    return f'<div class="hopper-error" role="alert">{at}{prose_html(message)}</div>'


def _warnings_html(warnings: Sequence[Finding]) -> str:
    """Return warnings as a list, each led by its level in words."""
    items = "".join(f"<li><strong>{LEVELS[one.level]}:</strong> {prose_html(one.message)}</li>" for one in warnings)
    return f"<ul>{items}</ul>" if items else ""


def _values_html(values: Sequence[Value]) -> str:
    """Return numbers with their units, badges and notes as a table."""
    rows = "".join(
        f'<tr><th scope="row">{prose_html(one.label)}</th>'
        f'<td class="hopper-number">{escape(f"{one.text} {one.unit}".strip())}</td>'
        f'<td><span class="hopper-badge" title="{escape(BADGES[one.badge])}">{one.badge}</span></td>'
        f"<td>{prose_html(one.note)}</td></tr>"
        for one in values
    )
    return f'<table class="hopper-values"><tbody>{rows}</tbody></table>' if rows else ""


def _copyable_html(copyable: Copyable) -> str:
    """Return text to copy: one click selects all of it."""
    note = f"<p>{prose_html(copyable.note)}</p>" if copyable.note else ""
    return (
        f"<p><strong>{prose_html(copyable.title)}</strong></p>"
        f'<pre tabindex="0"><code>{escape(copyable.text)}</code></pre>{note}'
    )


def _listing_html(listing: Listing) -> str:
    """Return numbered lines as a table, a marked line said in words."""
    rows = "".join(
        f'<tr{" class=hopper-marked" if line.mark else ""}><td class="hopper-number">{line.number}</td>'
        f"<td><code>{escape(line.text)}</code></td><td>{escape(line.mark)}</td></tr>"
        for line in listing.lines
    )
    return f'<table class="hopper-listing"><caption>{prose_html(listing.title)}</caption><tbody>{rows}</tbody></table>'


def _download_html(download: Download) -> str:
    """Return a file as a link that holds it."""
    data = base64.b64encode(download.text.encode()).decode()
    address = f"data:{escape(download.media_type)};charset=utf-8;base64,{data}"
    return f'<p><a download="{escape(download.name)}" href="{address}">Save {escape(download.name)}</a></p>'


def before_figures_html(result: Result) -> str:
    """Return what stands above the charts: summary, warnings, numbers, drawings.

    Examples
    --------
    >>> before_figures_html(Result(summary="6 < 7."))
    '<div class="hopper-summary" role="status">6 &lt; 7.</div>'
    """
    summary = f'<div class="hopper-summary" role="status">{prose_html(result.summary)}</div>'
    drawings = "".join(drawing_html(drawing) for drawing in result.drawings)
    return summary + _warnings_html(result.findings) + _values_html(result.values) + drawings


def after_figures_html(result: Result) -> str:
    """Return what stands below the charts: text to copy, listings, tables, files."""
    return "".join(
        [
            *map(_copyable_html, result.copyables),
            *map(_listing_html, result.listings),
            *map(table_html, result.tables),
            *map(_download_html, result.downloads),
        ]
    )


def static_html(explorer: Question, result: Result) -> str:
    """Return an explorer's starting answer for places that run nothing: words and tables.

    Parameters
    ----------
    explorer : hopperlib.questions.question.Question
    result : hopperlib.questions.result.Result
        Its answer to the starting values.

    Examples
    --------
    >>> from hopperlib.questions.question import Question
    >>> sky = Question(name="sky", title="The sky", question="What color is it?", controls=(),
    ...                answer=lambda: Result(summary="Blue."))
    >>> static_html(sky, sky.run())[:64]
    '<p><strong>The sky.</strong> What color is it?</p><p>Blue.</p><p'
    """
    settings = ", ".join(
        f"{escape(control.label)}: <code>{escape(str(value))}</code>{' ' + escape(control.unit) if control.unit else ''}"
        for control, value in zip(explorer.controls, explorer.defaults.values(), strict=True)
        if len(str(value)) <= 200
    )
    return (
        f"<p>{titled_html(explorer.title, explorer.question)}</p>"
        f"<p>{prose_html(result.summary)}</p>"
        f"<p>This is the answer to the starting settings{' (' + settings + ')' if settings else ''}. "
        "Run the notebook in JupyterLab to change them.</p>"
        + _warnings_html(result.findings)
        + _values_html(result.values)
        + "".join(map(table_html, result.tables))
    )
