"""Charts in JupyterLab, drawn by plotly.js and changed in place.

Plotly's own FigureWidget is not used. It brings plotly.js along with every
chart, and anywidget, on which it stands, gives a widget two seconds to load and
then stops to tell it of changes: on a busy machine charts stayed empty, or kept
showing a former setting without a word. Here plotly.js comes once for all
charts, and both it and the figures travel in plain text widgets, which know no
such limit. What the page draws is always the latest whole figure.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import anywidget
import ipywidgets
import traitlets
from plotly.offline import get_plotlyjs

from hopperlib.questions.result import Figure
from hopperlib.render.html import table_html
from hopperlib.render.widgets.answer import STYLE, titled_html

__all__ = ["Chart", "FigureView"]

# A chart stands on white in a light and in a dark JupyterLab, as its own text is dark.
_ON_WHITE = {"paper_bgcolor": "white", "plot_bgcolor": "white", "font": {"color": "#1c2024"}}
_HEIGHT = 380

# plotly.js looks for `module` and `exports` first, so it is run as the body of a function that has them.
_DRAW = """
const referred = (model, name) => model.widget_manager.get_model(model.get(name).slice("IPY_MODEL_".length));

async function plotly(model) {
  const source = (await referred(model, "library")).get("value");
  const module = { exports: {} };
  new Function("module", "exports", "define", source)(module, module.exports, undefined);
  return module.exports;
}

async function render({ model, el }) {
  const Plotly = await (globalThis.hopperPlotly ??= plotly(model));
  const state = await referred(model, "state");
  let drawn = Promise.resolve();
  const draw = () => {
    // One after the other, each with the state as it is by then: the last one shows the latest.
    drawn = drawn.then(() => {
      const { data, layout } = JSON.parse(state.get("value"));
      return Plotly.react(el, data, layout, { displaylogo: false });
    });
  };
  draw();
  state.on("change:value", draw);
  const watch = new ResizeObserver(() => {
    drawn = drawn.then(() => el.isConnected && el.clientWidth > 0 && Plotly.Plots.resize(el));
  });
  watch.observe(el);
  return () => {
    watch.disconnect();
    state.off("change:value", draw);
    Plotly.purge(el);
  };
}

export default { render };
"""


class Chart(anywidget.AnyWidget):
    """The place where a chart is drawn.

    Attributes
    ----------
    library, state : ipywidgets.Textarea
        The text of plotly.js, and that of the figure as JSON.
    """

    _esm = _DRAW
    library = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)
    state = traitlets.Instance(ipywidgets.Textarea).tag(sync=True, **ipywidgets.widget_serialization)


@cache
def _library() -> Any:
    """Return the widget that holds plotly.js, one for all charts of a kernel."""
    return ipywidgets.Textarea(value=get_plotlyjs())


class FigureView:
    """A chart with its title, its description and its data.

    Parameters
    ----------
    figure : hopperlib.questions.result.Figure

    Attributes
    ----------
    root : ipywidgets.VBox
        What is shown.
    chart : Chart
        The chart in it.

    Examples
    --------
    >>> from hopperlib.questions.figures import Axis, Series, chart
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
        drawn = {"data": figure.data, "layout": {"height": _HEIGHT} | figure.layout | _ON_WHITE}
        self._state.value = json.dumps(drawn, allow_nan=False)
        self._words.value = f'<div class="hopper-html">{titled_html(figure.title, figure.alt)}</div>'
        self._data.value = f'<div class="hopper-html">{table_html(figure.table.to_dict(), buttons=False)}</div>'
