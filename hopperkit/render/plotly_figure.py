"""A reader's plotly figure as a chart of the book: with a description, a data table, and a static picture.

A cell that ends in a plotly figure is shown on the page as a chart in the style of the book. The figure has its
description in ``layout.meta``: ``figure.update_layout(meta="What a reader who cannot see it needs to know.")``.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from hopperkit.questions.figures import Axis, Reference, Series, band, chart, heat_map
from hopperkit.questions.result import Column, Figure, Table
from hopperlib.errors import InputError

# Most points that a page draws of one figure: more weigh more than a page may.
MAX_POINTS = 2000


def is_described(figure: Any) -> bool:
    """Whether a plotly figure has a description.

    Parameters
    ----------
    figure : Any
        Plotly figure.

    Examples
    --------
    >>> import plotly.express as px
    >>> is_described(px.line(x=[1, 2], y=[3, 4]))
    False
    """
    return isinstance(figure.layout.meta, str) and len(figure.layout.meta) >= 20


def house_figure(figure: Any) -> Figure:
    """Return a figure of plotly as a chart of the book.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        Lines, points, bars and heat maps in one plane, with horizontal lines (``add_hline``) and bands over x
        (``add_vrect``); its description in ``layout.meta``.

    Raises
    ------
    InputError
        If it holds another kind of trace, more than `MAX_POINTS` points, or no description.

    Examples
    --------
    >>> import plotly.express as px
    >>> figure = px.line(x=[1, 2], y=[3.0, 4.5], title="Rates", labels={"x": "Nodes", "y": "Rate [GB/s]"})
    >>> shown = house_figure(figure.update_layout(meta="The rate rises from 3 to 4.5 GB/s."))
    >>> shown.title, shown.table.rows, shown.layout["yaxis"]["title"]["text"]
    ('Rates', ((1, 3.0), (2, 4.5)), 'Rate [GB/s]')
    """
    if not is_described(figure):
        raise InputError(
            "this figure has no description for readers who cannot see it: figure.update_layout(meta='What it shows ...')"
        )
    layout, traces = figure.layout, figure.data
    words = {"title": layout.title.text or "Figure", "alt": layout.meta}
    x, y = _axis(layout.xaxis, "x"), _axis(layout.yaxis, "y")
    if [trace.type for trace in traces] == ["heatmap"]:
        return _map(traces[0], layout, words, x, y)
    series = [_series(trace, number) for number, trace in enumerate(traces, 1)]
    points = sum(len(each.x) for each in series)
    if points > MAX_POINTS:
        raise InputError(
            f"the figure has {points:,} points, and a page draws {MAX_POINTS:,} at most: draw a sample or a sum"
        )
    more: dict[str, Any] = {"height": layout.height} if layout.height else {}
    if bands := [band(shape.x0, shape.x1) for shape in layout.shapes if shape.type == "rect"]:
        more["shapes"] = bands
    return chart(**words, x=x, y=y, series=series, references=_references(layout), **more)


def _references(layout: Any) -> list[Reference]:
    """Return the lines of ``figure.add_hline(y, annotation_text=...)``, each with its text."""
    texts = {note.y: note.text for note in layout.annotations if note.text}
    lines = [shape.y0 for shape in layout.shapes if shape.type == "line" and shape.y0 == shape.y1]
    return [Reference(name=texts.get(at, f"at {at:g}"), y=at) for at in lines]


def _map(trace: Any, layout: Any, words: Mapping[str, str], x: Axis, y: Axis) -> Figure:
    """Return a heat map, with one table row per row of the map."""
    scale = trace.colorbar.title.text or layout.coloraxis.colorbar.title.text or "Value"
    xs, ys, cells = _values(trace.x), _values(trace.y), [_values(row) for row in trace.z]
    if any(isinstance(place, str) for place in (*xs, *ys)):
        raise InputError("a heat map of a page has numbers along its axes, such as 1 to 7 for the days of a week")
    columns = (Column(y.title), *(Column(f"{x.title} {at}") for at in xs))
    rows = [(at, *row) for at, row in zip(ys, cells, strict=True)]
    made = Table(caption=f"{words['title']}: {scale}", columns=columns, rows=rows)
    return heat_map(**words, x=x, y=y, xs=xs, ys=ys, cells=cells, scale=scale, table=made)


def _series(trace: Any, number: int) -> Series:
    """Return a trace as a series of the book."""
    kind = {"scatter": "line", "bar": "bars"}.get(trace.type.removesuffix("gl"))
    if kind is None:
        raise InputError(f"a page of the book draws lines, points, bars and heat maps of plotly, not {trace.type!r}")
    kind = "points" if kind == "line" and trace.mode == "markers" else kind
    return Series(name=trace.name or f"series {number}", x=_values(trace.x), y=_values(trace.y), kind=kind)  # type: ignore[arg-type]


def _axis(axis: Any, name: str) -> Axis:
    low = 0 if axis.rangemode == "tozero" else None
    return Axis(title=axis.title.text or name, log=axis.type == "log", low=low)


def _values(column: Any) -> list[Any]:
    """Return values as plotly's page takes them: numbers of numpy and times as plain ones, a missing one as None."""
    return [] if column is None else [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    if value is None or value != value:  # noqa: PLR0124 - what is no number, or no time
        return None
    if isinstance(value, date):
        text = value.isoformat()
        return text.removesuffix("T00:00:00")
    if type(value).__module__ == "numpy":
        # Times of numpy as text, numbers as Python's.
        return str(value).partition("T00:00:00")[0] if type(value).__name__ == "datetime64" else value.item()
    return value
