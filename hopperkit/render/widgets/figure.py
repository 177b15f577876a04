"""Charts in JupyterLab, drawn by plotly.js and changed in place.

Plotly's own FigureWidget is not used. It brings plotly.js along with every
chart, and anywidget, on which it stands, gives a widget two seconds to load and
then stops to tell it of changes: on a busy machine charts stayed empty, or kept
showing a former setting without a word. Here plotly.js comes once for all
charts, when a page asks for it, so that it is no part of what is saved; it and
the figures come through plain widgets, which know no such limit. What the page
draws is always the latest whole figure, at the zoom that the reader chose.
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
        What sends plotly.js, and the text of the figure as JSON.
    """

    _esm = _DRAW
    library = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)
    state = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)


@cache
def _library() -> Any:
    """Return the widget that sends plotly.js to a page that asks, one for all charts of a kernel."""
    library = ipywidgets.Textarea()
    library.on_msg(_send_plotly)
    return library


def _send_plotly(library: Any, content: dict[str, Any], _: Any) -> None:
    """Send the text of plotly.js to a page that asks for it."""
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
        What is shown.
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
