"""Charts change in place, and plotly.js comes once for all of them."""

from __future__ import annotations

import json

import pytest
from plotly.offline import get_plotlyjs

from hopperkit.questions.result import Figure
from hopperkit.render.widgets.figure import FigureView


def test_chart_stands_on_white_with_words_and_data(figure: Figure) -> None:
    view = FigureView(figure)
    assert view.drawn["layout"]["paper_bgcolor"] == "white"
    assert view.drawn["layout"]["uirevision"] == "kept"
    assert view.drawn["layout"]["yaxis"]["title"]["text"] == "Rate [GB/s]"
    assert "it falls." in view.root.children[1].value
    assert view.root.children[2] is view.chart
    assert view.root.children[3].children[0].value.count("<tr>") == 13


def test_another_figure_takes_the_same_place(figure: Figure, other_figure: Figure) -> None:
    view = FigureView(figure)
    chart, state = view.chart, view.chart.state
    view.show(other_figure)
    assert view.chart is chart
    assert chart.state is state
    assert view.drawn["data"][0]["x"] == [1, 2, 3]
    assert "1 to 3 tasks" in view.root.children[1].value


def test_page_gets_the_whole_figure_each_time(figure: Figure, bar_figure: Figure) -> None:
    # A difference could be lost on the way; nothing of the former figure may stay.
    view = FigureView(bar_figure)
    view.show(figure)
    assert view.drawn == FigureView(figure).drawn
    assert json.loads(view.chart.state.value)["data"] == figure.data


def test_height_of_its_own_is_kept(figure: Figure) -> None:
    tall = Figure(
        title=figure.title,
        alt=figure.alt,
        data=figure.data,
        layout=figure.layout | {"height": 700},
        table=figure.table,
    )
    assert FigureView(tall).drawn["layout"]["height"] == 700
    assert FigureView(figure).drawn["layout"]["height"] == 380


def test_charts_share_plotly(figure: Figure, other_figure: Figure) -> None:
    first, second = FigureView(figure), FigureView(other_figure)
    assert first.chart.library is second.chart.library
    sent = []
    first.chart.library.send = sent.append
    first.chart.library._handle_custom_msg({"wanted": "plotly"}, [])
    assert sent == [{"plotly": get_plotlyjs()}]
    # It is no part of what a notebook saves.
    assert len(json.dumps(first.chart.library.get_state(), default=str)) < 2_000
    # What each chart brings along must load at once: anywidget gives it two seconds.
    assert len(first.chart._esm) < 5_000


def test_number_that_is_not_finite_is_refused(figure: Figure) -> None:
    broken = Figure(
        title=figure.title,
        alt=figure.alt,
        data=[{"type": "scatter", "y": [float("nan")]}],
        layout=figure.layout,
        table=figure.table,
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        FigureView(broken)


def test_shown_figure_is_not_changed(figure: Figure, other_figure: Figure) -> None:
    before = figure.to_dict()
    FigureView(figure).show(other_figure)
    assert figure.to_dict() == before
