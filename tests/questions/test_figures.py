"""The look of the charts: legible in light and dark, and never by color alone."""

import json
from itertools import pairwise

import pytest

from hopperkit.questions.direct_labels import Scale, level_labels, mark_labels
from hopperkit.questions.figures import NEUTRAL, STYLES, Axis, Reference, Series, chart, layout, style

X = Axis(title="Tasks")
Y = Axis(title="Rate", unit="GB/s", low=0, decimals=2)
ALT = "The rate grows with the tasks, from 1 to 3 GB/s."


def luminance(color):
    """Relative luminance of a color (WCAG 2)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Contrast ratio of two colors (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [*STYLES, NEUTRAL])
@pytest.mark.parametrize("page", ["#ffffff", "#14181e"])
def test_every_color_stands_out_from_light_and_dark_pages(look, page):
    assert contrast(look.color, page) >= 3


@pytest.mark.parametrize("part", ["color", "dash", "symbol", "pattern"])
def test_series_differ_in_every_respect(part):
    assert len({getattr(look, part) for look in STYLES}) == len(STYLES)


def test_styles_start_again_after_the_last():
    assert style(len(STYLES) + 1) == style(1)


def test_a_line_chart():
    figure = chart(
        title="Rate",
        alt=ALT,
        x=X,
        y=Y,
        series=[Series(name="packed", x=[1, 2], y=[1, 3]), Series(name="spread", x=[1, 2], y=[2.0, 3.0])],
        references=[Reference(name="limit", y=4)],
    )
    packed, spread, limit = figure.data
    assert (packed["line"]["dash"], spread["line"]["dash"]) == ("solid", "dash")
    assert packed["marker"]["symbol"] != spread["marker"]["symbol"]
    assert (limit["x"], limit["y"], limit["name"]) == ([1, 2], [4, 4], "limit")
    assert figure.table.to_dict()["columns"][1]["heading"] == "packed [GB/s]"
    assert figure.table.to_dict()["rows"] == [["1", "1", "2.00"], ["2", "3", "3.00"]]
    assert figure.layout["yaxis"]["rangemode"] == "tozero"


def test_series_with_their_own_x_make_a_long_table():
    figure = chart(
        title="Rate", alt=ALT, x=X, y=Y, series=[Series(name="a", x=[1], y=[2]), Series(name="b", x=[1, 2], y=[3, 4])]
    )
    assert [column.title for column in figure.table.columns] == ["Series", "Tasks", "Rate"]
    assert figure.table.rows == (("a", 1, 2), ("b", 1, 3), ("b", 2, 4))


@pytest.mark.parametrize("kind", ["line", "points", "bars"])
def test_plotly_knows_every_key(kind):
    from plotly import graph_objects

    one = Series(name="a", x=[1, 2], y=[1, 2], kind=kind)
    figure = chart(title="Rate", alt=ALT, x=X, y=Y, series=[one], references=[Reference(name="limit", y=2)])
    # A key that Plotly does not know is refused here, where a page would pass over it.
    assert graph_objects.Figure(data=figure.data, layout=figure.layout)


def test_bars_are_hatched_and_references_span_categories():
    bars = [Series(name=name, x=["a", "b"], y=[1, 2], kind="bars") for name in ("one", "two")]
    figure = chart(title="Rate", alt=ALT, x=X, y=Y, series=bars, references=[Reference(name="limit", y=2)])
    assert [bar["marker"]["pattern"]["shape"] for bar in figure.data[:2]] == ["", "/"]
    assert figure.data[2]["x"] == ["a", "b"]


def test_one_series_needs_no_legend():
    figure = chart(title="Rate", alt=ALT, x=X, y=Y, series=[Series(name="a", x=[1], y=[2])])
    assert figure.layout["showlegend"] is False


def test_many_points_are_drawn_without_markers():
    figure = chart(title="Rate", alt=ALT, x=X, y=Y, series=[Series(name="a", x=range(100), y=range(100))])
    assert figure.data[0]["mode"] == "lines"


def test_a_page_can_give_text_and_grid_its_own_colors():
    text = json.dumps(layout(X, Y, barmode="group"))
    assert "font" not in text
    assert "gridcolor" not in text
    assert json.loads(text)["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert json.loads(text)["barmode"] == "group"


def test_a_logarithmic_axis_has_its_range_in_powers_of_ten():
    assert Axis(title="Size", unit="bytes", low=1, high=1000, log=True).to_dict()["range"] == [0, 3]
    assert Axis(title="Size", low=2, high=8).to_dict()["range"] == [2, 8]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: chart(title="T", alt=ALT, x=X, y=Y, series=[]), r"series=\(\) of chart 'T' must hold at least one"),
        (lambda: Series(name="a", x=[1], y=[1, 2]), "series 'a' has 1 values of x for 2 of y"),
        (
            lambda: Axis(title="Size", low=0, high=2, log=True),
            "axis 'Size' is logarithmic: low=0, high=2 must be above 0",
        ),
    ],
)
def test_parts_that_do_not_fit(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_line_to_compare_with_has_its_name_at_it_and_not_in_the_legend():
    figure = chart(
        title="Times",
        alt="Two bars: three runs of 800 s, one of 1,000 s.",
        x=Axis(title="Run time", unit="s"),
        y=Axis(title="Runs", low=0),
        series=[Series(name="runs", kind="bars", x=[800, 1000], y=[3, 1])],
        references=[Reference("wanted", 2)],
        marks={"printed least": 850, "printed most": 2400},
    )
    notes = {note["text"]: note for note in figure.layout["annotations"]}
    assert set(notes) == {"wanted", "printed least", "printed most"}
    # 850 of 800 to 2400 is near the left end, 2400 is the right end.
    assert [notes[name]["xanchor"] for name in ("printed least", "printed most")] == ["left", "right"]
    # The bars begin 1 above and end 1 below the level: as far at both ends.
    assert notes["wanted"]["y"] == 2
    assert [trace["name"] for trace in figure.data if trace.get("showlegend", True)] == ["runs"]
    assert figure.layout["showlegend"] is False


def test_names_of_lines_do_not_lie_on_each_other():
    """On a narrow chart: each name by its letters, in the row that it is given."""
    marks = {f"mark number {number}": 100.0 + 30 * number for number in range(6)}
    rows: dict[int, list[tuple[float, float]]] = {}
    for note in mark_labels(marks, Scale(0, 300)):
        middle, wide = note["x"] / 300, len(note["text"]) * 6.5 / 270
        left = middle - {"left": 0, "center": wide / 2, "right": wide}[note["xanchor"]]
        assert left >= 0
        assert left + wide <= 1 + 1e-9
        rows.setdefault(note["yshift"], []).append((left, left + wide))
    for spans in rows.values():
        spans.sort()
        assert all(end <= begin + 1e-9 for (_, end), (begin, _) in pairwise(spans))
    above = {note["xanchor"] for note in level_labels([("one", 5), ("two", 5.2)], [(0, 1)], Scale(0, 10))}
    assert above == {"left", "right"}


def _named(*series, **more):
    """The labels next to these curves in a chart, and whether it has a legend."""
    figure = chart(
        title="t", alt=ALT, x=Axis(title="x", low=0, high=10), y=Axis(title="y", low=0, high=10), series=series, **more
    )
    return {note["text"]: note for note in figure.layout.get("annotations", ())}, figure.layout.get("showlegend", True)


def _curve(name, *heights):
    return Series(name=name, x=[10 * i / (len(heights) - 1) for i in range(len(heights))], y=heights)


def test_curves_that_are_apart_have_their_names_next_to_them():
    notes, legend = _named(_curve("rising", 1, 3, 5, 7, 9), _curve("level", 1, 1, 1, 1, 1))
    assert legend is False
    # A rising curve leaves room above it, to the left of a point.
    assert (notes["rising"]["xanchor"], notes["rising"]["yanchor"]) == ("right", "bottom")
    assert (notes["rising"]["x"], notes["rising"]["y"]) in [(2.5, 3), (5, 5), (7.5, 7), (10, 9)]
    assert notes["level"]["y"] == 1


@pytest.mark.parametrize(
    "series",
    [
        # Together, so that a name would be as near to the other.
        (_curve("one", 1, 3, 5, 7, 9), _curve("two", 1.2, 3.2, 5.2, 7.2, 9.2)),
        # No room on a phone.
        (_curve("a name that is as long as two thirds of a narrow chart", 1, 1), _curve("b", 9, 9)),
        # Up and down faster than a name is wide.
        (_curve("one", *[1, 9] * 10), _curve("two", 5, 5)),
        # Bars have no ends, and more than four names are a list.
        (Series(name="one", x=[1, 2], y=[1, 2], kind="bars"), Series(name="two", x=[1, 2], y=[2, 1], kind="bars")),
        tuple(_curve(str(i), 2 * i, 2 * i) for i in range(5)),
        # Places along a list have no distance.
        (Series(name="one", x=["a", "b"], y=[1, 1]), Series(name="two", x=["a", "b"], y=[9, 9])),
    ],
)
def test_without_room_or_an_end_there_is_a_legend(series):
    notes, legend = _named(*series)
    assert (notes, legend) == ({}, True)


def test_a_name_keeps_away_from_lines_to_compare_with():
    curves = (_curve("low", 2, 2, 2), _curve("high", 9, 9, 9))
    notes, _ = _named(*curves, references=[Reference("limit", 2.5)])
    assert notes["low"]["yanchor"] == "top"
    notes, legend = _named(_curve("low", 0.2, 0.2), curves[1], references=[Reference("limit", 0.6)])
    assert (list(notes), legend) == (["limit"], True)


def test_a_name_stands_at_its_place_on_a_logarithmic_axis():
    figure = chart(
        title="t", alt=ALT, x=Axis(title="x"), y=Axis(title="y", log=True),
        series=[Series(name="low", x=[0, 10], y=[1, 1]), Series(name="high", x=[0, 10], y=[100, 1000])],
    )  # fmt: skip
    low, high = figure.layout["annotations"]
    assert (low["text"], low["y"]) == ("low", 0)
    assert high["y"] in (2, 3)
