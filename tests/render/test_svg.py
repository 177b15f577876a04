"""Static drawings: every figure of every question's first answer, whole, named, the same each time."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Table
from hopperkit.render.svg import figure_svg

SVG = "{http://www.w3.org/2000/svg}"


def _figures(name):
    return load(name).run().figures


def _texts(svg):
    """The text of a drawing, lines that were broken joined."""
    return " ".join(text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_figure_of_a_question_is_drawn(name):
    for figure in _figures(name):
        svg = figure_svg(figure)
        assert len(svg) < 60_000
        drawing = ElementTree.fromstring(svg)
        assert (drawing.tag, drawing.get("role")) == (f"{SVG}svg", "img")
        assert (drawing.findtext(f"{SVG}title"), drawing.findtext(f"{SVG}desc")) == (figure.title, figure.alt)
        texts = _texts(svg)
        for axis in [axis for key, axis in figure.layout.items() if re.fullmatch("[xy]axis", key)]:
            assert axis["title"]["text"] in texts
        # A series that is alone is named by the axis; references and marks have their names at them.
        if len(figure.data) > 1 and figure.layout.get("showlegend", True):
            assert all(trace["name"] in texts for trace in figure.data if trace.get("showlegend", True))
        assert all(note["text"] in texts for note in figure.layout.get("annotations", ()))


def test_a_figure_is_drawn_the_same_each_time():
    (figure,) = _figures("memory")
    assert figure_svg(figure) == figure_svg(figure)


def _chart(*series, x=None, y=None, **more):
    return chart(
        title="A title", alt="What the chart shows, in words.", x=x or Axis(title="across"), y=y or Axis(title="up", unit="s"),
        series=list(series), **more,
    )  # fmt: skip


def test_stands_in_a_page_alone_and_in_its_ink():
    svg = figure_svg(_chart(Series(name="a", x=[1, 2], y=[3, 4])))
    assert "currentColor" in svg
    assert not re.search(r"#010203|<script|<metadata|<!|DejaVu|http(?!://www\.w3\.org/)", svg)
    # Only what the drawing itself refers to has a name, so that two drawings share none.
    assert set(re.findall(r' id="([^"]+)"', svg)) >= set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    assert not re.search(r' id="[a-z0-9.]+_\d+"', svg)


def test_dashes_markers_and_colors_are_those_of_the_figure():
    svg = figure_svg(_chart(*(Series(name=name, x=[1, 2, 3], y=[1, 4, 9]) for name in "abc")))
    for color in ("#0072b2", "#d55e00", "#009e73"):
        assert f"stroke: {color}" in svg
    assert svg.count("stroke-dasharray") >= 2


def test_bars_stand_side_by_side_and_keep_their_categories():
    bars = [Series(name=name, kind="bars", x=["one", "two"], y=[1, 2]) for name in "ab"]
    texts = _texts(figure_svg(_chart(*bars)))
    assert all(word in texts.split() for word in ("one", "two", "a", "b"))


def test_missing_values_leave_a_gap():
    whole, gap = (figure_svg(_chart(Series(name="a", x=[1, 2, 3, 4], y=y))) for y in ([1, 2, 3, 4], [1, 2, None, 4]))
    assert len(gap) < len(whole)


def test_a_logarithmic_axis_says_its_numbers_in_full():
    texts = _texts(figure_svg(_chart(Series(name="a", x=[1, 2], y=[10, 1e6]), y=Axis(title="up", log=True))))
    assert {"10", "1,000", "100,000"} <= set(texts.split())


def test_a_kind_that_cannot_be_drawn_is_refused():
    table = Table(caption="-", columns=(Column(title="-"),), rows=())
    pie = Figure(title="Pie", alt="A pie that no chart of ours is.", data=[{"type": "pie"}], layout={}, table=table)
    with pytest.raises(ValueError, match="figure 'Pie' holds a trace of type 'pie', which cannot be drawn"):
        figure_svg(pie)


def test_names_are_escaped():
    figure = _chart(Series(name="<b>&", x=[1, 2], y=[1, 2]), Series(name="$x$", x=[1, 2], y=[2, 1]))
    svg = figure_svg(figure)
    assert "<b>" not in svg
    assert "<b>&" in unescape(svg)
    assert "$x$" in svg


def test_error_bars_are_drawn():
    """A bar of 10 that may be 2 lower or 4 higher reaches higher than without."""
    figure = _chart(Series(name="wait", kind="bars", x=["a", "b"], y=[10, 20]))
    plain = figure_svg(figure)
    figure.data[0]["error_y"] = {"type": "data", "array": [4, 1], "arrayminus": [2, 1]}
    drawn = figure_svg(figure)
    assert drawn.count("<use") >= plain.count("<use") + 4
