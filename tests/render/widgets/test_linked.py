"""An explorer as a widget with traits, a figure of plotly as a chart of the book, and missing parts of a server."""

from __future__ import annotations

from pathlib import Path

import ipywidgets
import pandas as pd
import plotly.express as px
import pytest

import hopperkit
from hopperkit.render.plotly_figure import house_figure
from hopperkit.render.svg import figure_svg
from hopperkit.render.widgets import server_note
from hopperlib.errors import InputError

WORDS = "Waits of five weeks, which rise from one to five minutes."


def test_values_and_result_are_traits():
    memory = hopperkit.explore("memory", need_gb=1.0)
    seen: list[str] = []
    memory.observe(lambda change: seen.append(change["new"].summary), names="result")
    memory.values = {**memory.values, "need_gb": 2.0}
    assert seen == [hopperkit.memory(2.0, 384).summary]
    # A reader's own slider drives the explorer, and the form drives the reader's widget.
    slider = ipywidgets.FloatSlider(min=0.5, max=4)
    slider.observe(lambda change: setattr(memory, "values", {**memory.values, "need_gb": change["new"]}), names="value")
    slider.value = 3.0
    assert memory.view.inputs["need_gb"].read() == 3.0
    memory.view.inputs["need_gb"].write(1.0)
    assert memory.values["need_gb"] == 1.0
    assert memory.result.summary == seen[-1] == hopperkit.memory(1.0, 384).summary


def test_what_is_refused_is_a_trait_too():
    memory = hopperkit.explore("memory")
    memory.values = {**memory.values, "tasks": 10**9}
    assert (memory.result is None) == bool(memory.error)
    with pytest.raises(InputError, match="did you mean 'need_gb'"):
        hopperkit.explore("memory").values = {"need": 1}
    with pytest.raises(InputError, match="there is no question 'memmory'; did you mean 'memory'"):
        hopperkit.explore("memmory")


@pytest.mark.parametrize("kind", ["line", "scatter", "bar"])
def test_a_figure_of_plotly_is_a_chart_with_its_data(kind):
    weeks = pd.DataFrame(
        {"week": pd.date_range("2026-03-02", periods=5, freq="7D", tz="UTC"), "wait": [1.0, 2, 3, 4, 5]}
    )
    figure = getattr(px, kind)(weeks, x="week", y="wait", title="Waits").update_layout(meta=WORDS)
    shown = house_figure(figure)
    assert (shown.title, shown.alt) == ("Waits", WORDS)
    assert shown.table.rows[0] == ("2026-03-02", 1.0)
    svg = figure_svg(shown)
    assert "<desc>Waits of five weeks" in svg
    assert len(svg) < 60_000


def test_lines_to_compare_with_and_bands_are_kept():
    figure = px.line(x=[1, 2], y=[3.0, 5.0]).add_vrect(x0=1, x1=1.5).add_hline(y=4, annotation_text="printed")
    shown = house_figure(figure.update_layout(meta=WORDS, height=300, yaxis_rangemode="tozero"))
    assert [(trace["name"], trace["y"]) for trace in shown.data[1:]] == [("printed", [4, 4])]
    assert [(shape["x0"], shape["x1"]) for shape in shown.layout["shapes"]] == [(1, 1.5)]
    assert (shown.layout["height"], shown.layout["yaxis"]["rangemode"]) == (300, "tozero")


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        (px.line(x=[1, 2], y=[1, 2]), "has no description"),
        (
            px.histogram(x=[1, 2]).update_layout(meta=WORDS),
            "lines, points, bars and heat maps of plotly, not 'histogram'",
        ),
        (px.line(x=range(3000), y=range(3000)).update_layout(meta=WORDS), "has 3,000 points, and a page draws 2,000"),
        (px.imshow([[1, 2]], x=["a", "b"], y=[1]).update_layout(meta=WORDS), "has numbers along its axes"),
    ],
)
def test_what_no_page_can_draw_is_refused(figure, message):
    with pytest.raises(InputError, match=message):
        house_figure(figure)


def test_a_server_without_parts_is_named(tmp_path: Path):
    for part in ("@jupyter-widgets/jupyterlab-manager", "anywidget"):
        (tmp_path / part).mkdir(parents=True)
    assert server_note(tmp_path).startswith("This JupyterLab lacks jupyterlab-plotly: where it runs, install")
    (tmp_path / "jupyterlab-plotly").mkdir()
    assert server_note(tmp_path) == ""
