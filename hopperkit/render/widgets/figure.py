"""Charts in JupyterLab, drawn by plotly.js and changed in place.

Plotly's FigureWidget is not used. It sends plotly.js with every chart, and its base, anywidget, gives a widget two
seconds to load and then stops sending changes: on a busy machine charts stayed empty, or kept showing an earlier
setting silently. Here plotly.js is sent once for all charts, when a page requests it, so that it is not saved with the
notebook; it and the figures use plain widgets, which have no such limit. The page always draws the latest full figure,
at the reader's zoom.
"""

import json
from functools import cache
from typing import Any

import anywidget
import ipywidgets
import traitlets
from plotly.offline import get_plotlyjs

from hopperkit.questions.result import Figure
from hopperkit.render.html import table_html
from hopperkit.render.widgets.answer import STYLE, titled_html
from hopperkit.render.widgets.saved import drawn
from hopperlib.package_data import load_text_resource

# plotly.js looks for `module` and `exports` first, so it is run as the body of a function that has them.
_DRAW = load_text_resource(__file__, "chart.mjs")


class Chart(anywidget.AnyWidget):
    """The place where a chart is drawn.

    Attributes
    ----------
    library, state : ipywidgets.Textarea
        The widget that sends plotly.js, and the figure as JSON.
    """

    _esm = _DRAW
    library = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)
    state = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)


@cache
def _library() -> Any:
    """Return the widget that sends plotly.js on request, one for all charts of a kernel."""
    library = ipywidgets.Textarea()
    library.on_msg(_send_plotly)
    return library


def _send_plotly(library: Any, content: dict[str, Any], _: Any) -> None:
    """Send the text of plotly.js to a page that requests it."""
    if content.get("wanted") == "plotly":
        library.send({"plotly": get_plotlyjs()})


class FigureView:
    """A chart with its title, its description and its data.

    Parameters
    ----------
    figure : hopperkit.questions.result.Figure

    Attributes
    ----------
    root : ipywidgets.VBox
        The widget.
    chart : Chart
        The chart in it.

    Examples
    --------
    >>> from hopperkit.questions.figures import Axis, Series, chart
    >>> line = chart(title="Squares", alt="A parabola that rises from 0 at 0 to 4 at 2.", x=Axis(title="x"),
    ...              y=Axis(title="x squared"), series=[Series(name="square", x=[0, 1, 2], y=[0, 1, 4])])
    >>> FigureView(line).drawn["data"][0]["y"]
    [0, 1, 4]
    """

    def __init__(self, figure: Figure) -> None:
        self._state = ipywidgets.Textarea()
        self._words = ipywidgets.HTML()
        self._data = ipywidgets.HTML()
        self.show(figure)
        self.chart = Chart(library=_library(), state=self._state, layout={"width": "100%"})
        table = ipywidgets.Accordion(children=[self._data], titles=("Data of the figure",))
        self.root = ipywidgets.VBox([ipywidgets.HTML(STYLE), self._words, self.chart, table])
        self.root.add_class("hopper-view")

    @property
    def drawn(self) -> dict[str, Any]:
        """The figure as plotly.js takes it."""
        figure: dict[str, Any] = json.loads(self._state.value)
        return figure

    def show(self, figure: Figure) -> None:
        """Show another figure in the same place.

        Raises
        ------
        ValueError
            If it holds a number that is not finite, which is a defect.
        """
        self._state.value = json.dumps(drawn(figure, uirevision="kept"), allow_nan=False)
        self._words.value = f'<div class="hopper-html">{titled_html(figure.title, figure.alt)}</div>'
        self._data.value = f'<div class="hopper-html">{table_html(figure.table.to_dict(), buttons=False)}</div>'
