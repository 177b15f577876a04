"""Saved outputs of a notebook: the latest answer as HTML, its charts for plotly and as static pictures.

A widget does not outlive its kernel. Outputs of common types are therefore saved with it, which every notebook viewer
shows: text/html, plotly's type, SVG. While the widget is live, a style hides them, and they are kept up to date.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from hopperkit.questions.question import Question
from hopperkit.questions.result import Figure, Result
from hopperkit.render.html import prose_html, table_html
from hopperkit.render.widgets.answer import static_html, titled, titled_html

PLOTLY_MIME_TYPE = "application/vnd.plotly.v1+json"
# A chart has a white background in light and dark JupyterLab, as its text is dark.
_ON_WHITE = {"paper_bgcolor": "white", "plot_bgcolor": "white", "font": {"color": "#1c2024"}}
_HEIGHT = 380
# Live: hide the saved outputs. No longer live: hide JupyterLab's message that the widget is missing.
_TAKE_TURNS = """<style>
.jp-OutputArea:has(.hopper-live) > .jp-OutputArea-child:has(.hopper-saved),
.jp-OutputArea:has(.hopper-live) > .jp-OutputArea-child:has(.hopper-saved) ~ .jp-OutputArea-child:has(.jp-RenderedPlotly, .jp-RenderedSVG),
.jp-OutputArea:has(.hopper-saved) > .jp-OutputArea-child:has(> .jupyter-widgets):not(:has(.hopper-live)) { display: none; }
</style>"""


def is_watched() -> bool:
    """Whether a person runs the notebook and can move a slider: programs that run one state that stdin is not allowed.

    Examples
    --------
    >>> is_watched()
    True
    """
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is None or bool(getattr(kernel, "_allow_stdin", True))


def publish(bundle: Mapping[str, Any], **options: Any) -> Any:
    """Publish a bundle as a separate output; return a handle for updates if `display_id` is given.

    Parameters
    ----------
    bundle : mapping
        MIME bundle to display.

    Examples
    --------
    >>> publish({"text/plain": "six"})
    {'text/plain': 'six'}
    """
    from IPython import display

    display_any: Any = display.display
    return display_any(bundle, raw=True, **options)


def marked(html: str) -> str:
    """Return HTML as something that is hidden while a widget shows the same.

    Parameters
    ----------
    html : str
        HTML of the content.

    Examples
    --------
    >>> marked("<p>Six.</p>").endswith('<div class="hopper-saved"><p>Six.</p></div>')
    True
    """
    return f'{_TAKE_TURNS}<div class="hopper-saved">{html}</div>'


def drawn(figure: Figure, **more: Any) -> dict[str, Any]:
    """Return a figure as plotly.js takes it.

    Parameters
    ----------
    figure : Figure
        Figure of an answer.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> drawn(load("memory").run().figures[0], uirevision="kept")["layout"]["uirevision"]
    'kept'
    """
    return {"data": figure.data, "layout": {"height": _HEIGHT} | figure.layout | _ON_WHITE | more}


def figure_bundle(figure: Figure, *, picture: bool = True) -> dict[str, Any]:
    """Return a chart for plotly, as a static picture where matplotlib is there, and in words.

    Parameters
    ----------
    figure : Figure
        The chart.
    picture : bool, default True
        Whether a static picture is included.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> list(figure_bundle(load("memory").run().figures[0]))
    ['application/vnd.plotly.v1+json', 'image/svg+xml', 'text/plain']
    """
    bundle: dict[str, Any] = {PLOTLY_MIME_TYPE: drawn(figure)}
    if picture and find_spec("matplotlib"):
        from hopperkit.render.svg import figure_svg

        bundle["image/svg+xml"] = figure_svg(figure)
    return bundle | {"text/plain": titled(figure.title, figure.alt)}


def captions_html(figures: tuple[Figure, ...]) -> str:
    """Return descriptions of charts, each with its data, collapsed.

    Parameters
    ----------
    figures : tuple of Figure
        Figures of an answer.

    Examples
    --------
    >>> captions_html(())
    ''
    """
    return "".join(
        f"<p>{titled_html(figure.title, figure.alt)}</p><details><summary>Data of this chart</summary>"
        f"{table_html(figure.table.to_dict(), buttons=False)}</details>"
        for figure in figures
    )


class SavedAnswer:
    """The outputs of one explorer that stay: made once, changed in place from then on.

    Parameters
    ----------
    explorer : hopperkit.questions.question.Question
    """

    def __init__(self, explorer: Question) -> None:
        self._explorer = explorer
        self._handles: list[Any] = []

    def show(self, values: Mapping[str, Any], result: Result | None, *, picture: bool = True, note: str = "") -> None:
        """Show the answer to these values, or update the one shown; errors are shown as messages.

        Parameters
        ----------
        values : mapping
        result : Result or None
        picture : bool
            Whether static pictures are drawn, which takes a moment.
        note : str
            The handles to update.
        """
        bundles: list[dict[str, Any]] = []
        if result is None:
            words, html = "This setting was refused.", "<p>This setting was refused.</p>"
        else:
            words, html = result.summary, static_html(self._explorer, result, values)
            html += captions_html(result.figures)
            bundles = [figure_bundle(figure, picture=picture) for figure in result.figures]
        note = f"<p><strong>{prose_html(note)}</strong></p>" if note else ""
        bundles.insert(0, {"text/html": marked(html + note), "text/plain": titled(self._explorer.title, words)})
        if not self._handles:
            self._handles = [publish(bundle, display_id=True) for bundle in bundles]
            return
        # A cell that has ended gets no further outputs; a removed chart leaves an empty one.
        bundles += [{"text/plain": ""}] * (len(self._handles) - len(bundles))
        for handle, bundle in zip(self._handles, bundles, strict=False):
            handle.update(bundle, raw=True)
