"""A reader's own plotly figure as a chart of the book: with a description, its data as a table, and a static picture.

What the page shows of a cell that ends in a figure of plotly is a chart in the style of the book. The figure says what
it shows in words in ``layout.meta``: ``figure.update_layout(meta="What a reader who cannot see it needs to know.")``.
"""

import base64
from array import array
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from hopperlib.errors import InputError
from hopperlib.questions.figures import Axis, Reference, Series, band, chart, heat_map
from hopperlib.questions.result import Column, Figure, Table

# Most points that a page draws of one figure: more weigh more than a page may.
MAX_POINTS = 2000
# Letters of the types of numpy arrays as plotly writes them, and those of Python's arrays.
_TYPES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}


def is_described(figure: Any) -> bool:
    """Whether a figure of plotly says in words what it shows.

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
    spec = figure.to_plotly_json()
    layout, traces = spec["layout"], spec["data"]
    words = {"title": _text(layout) or "Figure", "alt": layout["meta"]}
    x, y = (_axis(layout.get(f"{name}axis", {}), name) for name in "xy")
    if [trace["type"] for trace in traces] == ["heatmap"]:
        return _map(traces[0], layout, words, x, y)
    points = sum(len(_values(trace.get("x"))) for trace in traces)
    if points > MAX_POINTS:
        raise InputError(
            f"the figure has {points:,} points, and a page draws {MAX_POINTS:,} at most: draw a sample or a sum"
        )
    series = [_series(trace, number) for number, trace in enumerate(traces, 1)]
    more: dict[str, Any] = {"height": layout["height"]} if "height" in layout else {}
    if bands := [band(shape["x0"], shape["x1"]) for shape in layout.get("shapes", ()) if shape["type"] == "rect"]:
        more["shapes"] = bands
    return chart(**words, x=x, y=y, series=series, references=_references(layout), **more)


def _references(layout: Mapping[str, Any]) -> list[Reference]:
    """Return the lines of ``figure.add_hline(y, annotation_text=...)``, each with its text."""
    lines = [
        shape["y0"] for shape in layout.get("shapes", ()) if shape["type"] == "line" and shape["y0"] == shape["y1"]
    ]
    texts = {note["y"]: note["text"] for note in layout.get("annotations", ()) if "text" in note}
    return [Reference(name=texts.get(at, f"at {at:g}"), y=at) for at in lines]


def _map(trace: Mapping[str, Any], layout: Mapping[str, Any], words: Mapping[str, str], x: Axis, y: Axis) -> Figure:
    """Return a heat map, with a row of its table for each of its own."""
    scale = _text(trace.get("colorbar", {})) or _text(layout.get("coloraxis", {}).get("colorbar", {})) or "Value"
    xs, ys, cells = _values(trace["x"]), _values(trace["y"]), [_values(row) for row in _rows(trace["z"])]
    if any(isinstance(place, str) for place in (*xs, *ys)):
        raise InputError("a heat map of a page has numbers along its axes, such as 1 to 7 for the days of a week")
    columns = (Column(y.title), *(Column(f"{x.title} {at}") for at in xs))
    rows = [(at, *row) for at, row in zip(ys, cells, strict=True)]
    made = Table(caption=f"{words['title']}: {scale}", columns=columns, rows=rows)
    return heat_map(**words, x=x, y=y, xs=xs, ys=ys, cells=cells, scale=scale, table=made)


def _series(trace: Mapping[str, Any], number: int) -> Series:
    """Return a trace as a series of the book."""
    kinds = {"scatter": "points" if trace.get("mode") == "markers" else "line", "bar": "bars"}
    kind = kinds.get(trace["type"].removesuffix("gl"))
    if kind is None:
        raise InputError(f"a page of the book draws lines, points, bars and heat maps of plotly, not {trace['type']!r}")
    name = trace.get("name") or f"series {number}"
    return Series(name=name, x=_values(trace.get("x")), y=_values(trace.get("y")), kind=kind)  # type: ignore[arg-type]


def _axis(axis: Mapping[str, Any], name: str) -> Axis:
    low = 0 if axis.get("rangemode") == "tozero" else None
    return Axis(title=_text(axis) or name, log=axis.get("type") == "log", low=low)


def _text(part: Mapping[str, Any]) -> str:
    """Return the text of a title; empty without one."""
    title = part.get("title")
    return str(title.get("text") or "") if isinstance(title, Mapping) else str(title or "")


def _rows(table: Any) -> Sequence[Any]:
    """Return the rows of a heat map."""
    if not isinstance(table, Mapping):
        return list(table)
    height, width = (int(part) for part in str(table["shape"]).split(","))
    flat = _values(table)
    return [flat[row * width : (row + 1) * width] for row in range(height)]


def _values(column: Any) -> list[Any]:
    """Return values as plotly's page takes them: numbers of numpy and times as plain ones, a missing one as None."""
    if column is None:
        return []
    if isinstance(column, Mapping):
        # As plotly packs an array of numpy.
        numbers = array(_TYPES[column["dtype"]], base64.b64decode(column["bdata"]))
        return [None if number != number else number for number in numbers]  # noqa: PLR0124 - what is no number
    return [_plain(value) for value in column]


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
