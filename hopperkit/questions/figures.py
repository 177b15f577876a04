"""Style of the charts: plain Plotly dicts that are legible in light and dark themes.

=====================  =========================================================
`Axis`                 title, unit and range of an axis
`Series`               the points of one line, one cloud of points or one set of bars
`Reference`            a horizontal line to compare with: a limit, a documented value
`chart`                all of it as a `Figure`, with the data as its table
`heat_map`             a map of colors as a `Figure`
`band`                 a range of the x axis, shaded
`layout`, `style`      the parts, for a figure that `chart` cannot make
=====================  =========================================================

Color is never the only distinction: every series also has a different dash pattern and marker, bars a different
hatching. Text, grid and background have no color here, so that pages can apply their theme.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from hopperkit.questions.direct_labels import ROW, Scale, curve_labels, level_labels, mark_labels
from hopperkit.questions.result import Column, Figure, Table


class Style(NamedTuple):
    """Color, dash, marker and hatching of one series."""

    color: str
    dash: str
    symbol: str
    pattern: str


# Hues after Okabe and Ito (2008), "Color Universal Design", with the two light ones replaced:
# every color here has a contrast of 3:1 or more against white and against a dark page.
STYLES = (
    Style("#0072B2", "solid", "circle", ""),
    Style("#D55E00", "dash", "square", "/"),
    Style("#009E73", "dashdot", "diamond", "x"),
    Style("#A04A6E", "longdash", "triangle-up", "."),
    Style("#9C74FF", "longdashdot", "cross", "\\"),
)
NEUTRAL = Style("#7A7A7A", "dot", "line-ew", "-")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Axis:
    """Quantity on an axis.

    Parameters
    ----------
    title : str
        Quantity, in words.
    unit : str
        Its unit; empty for counts and ratios.
    low, high : float or None
        Range; None leaves it to the data.
    log : bool
        Whether the scale is logarithmic (base 10).
    decimals : int or None
        Decimals of the numbers in the figure's table.

    Examples
    --------
    >>> Axis(title="Run time", unit="s").heading
    'Run time [s]'
    """

    title: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    decimals: int | None = None

    def __post_init__(self) -> None:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if self.log and any(bound <= 0 for bound in bounds):
            raise ValueError(f"axis {self.title!r} is logarithmic: low={self.low}, high={self.high} must be above 0")

    @property
    def heading(self) -> str:
        """Title with the unit in brackets."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title

    def to_dict(self) -> dict[str, Any]:
        """Return the axis in Plotly's form."""
        axis: dict[str, Any] = {"title": {"text": self.heading}, "automargin": True, "zeroline": False}
        if self.log:
            axis["type"] = "log"
        if self.low is not None and self.high is not None:
            from math import log10

            # Plotly takes the ends of a logarithmic axis as powers of ten.
            axis["range"] = [log10(self.low), log10(self.high)] if self.log else [self.low, self.high]
        elif self.low == 0:
            axis["rangemode"] = "tozero"
        return axis


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Series:
    """The points of one line, cloud or set of bars.

    Parameters
    ----------
    name : str
        Name in the legend and the table.
    x, y : sequence
        Equal numbers of x and y values.
    kind : {"line", "points", "bars"}
        How it is drawn.
    style : int or None
        Which of `STYLES`; None takes the next one.
    """

    name: str
    x: Sequence[Any]
    y: Sequence[Any]
    kind: Literal["line", "points", "bars"] = "line"
    style: int | None = None

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"series {self.name!r} has {len(self.x)} values of x for {len(self.y)} of y")


# Curves that have their names at them, where there is room; more are identified by the legend.
_MOST_CURVES = 4


class Reference(NamedTuple):
    """A horizontal line to compare with.

    Parameters
    ----------
    name : str
        Its meaning: "channel limit", "documented".
    y : float
        Where it is, in the unit of the y axis.
    """

    name: str
    y: float


def style(index: int) -> Style:
    """Return the style of a series by number; they repeat after the last one.

    Parameters
    ----------
    index : int
        Number of the series, from 0.

    Examples
    --------
    >>> style(0).color, style(len(STYLES)).symbol
    ('#0072B2', 'circle')
    """
    return STYLES[index % len(STYLES)]


def band(low: float, high: float) -> dict[str, Any]:
    """Return the shape of a gray band over a range of the x axis, as a Plotly layout takes it.

    Parameters
    ----------
    low : float
        Lower end.
    high : float
        Upper end.

    Examples
    --------
    >>> band(-1, 1)["fillcolor"]
    'rgba(122,122,122,0.15)'
    """
    over = {"type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1, "layer": "below"}
    return over | {"fillcolor": "rgba(122,122,122,0.15)", "line": {"width": 0}}


class LayoutKeys(TypedDict, total=False):
    """Additional keys of a Plotly layout that charts of the book use; for type checkers."""

    annotations: list[dict[str, Any]]
    bargap: float
    height: int
    margin: dict[str, int]
    shapes: list[dict[str, Any]]
    showlegend: bool


def layout(x: Axis, y: Axis, **more: Unpack[LayoutKeys]) -> dict[str, Any]:
    """Return the common layout for two axes, without colors for text, grid or background.

    Parameters
    ----------
    x, y : Axis
    **more
        More keys of a Plotly layout, as `LayoutKeys` lists.

    Examples
    --------
    >>> layout(Axis(title="Tasks"), Axis(title="Rate", unit="GB/s"))["yaxis"]["title"]
    {'text': 'Rate [GB/s]'}
    """
    return {
        "autosize": True,
        "margin": {"l": 56, "r": 16, "t": 16, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest",
        "xaxis": x.to_dict(),
        "yaxis": y.to_dict(),
    } | more


def _trace(series: Series, look: Style, high: float | None) -> dict[str, Any]:
    """Return the Plotly trace of one series."""
    points: dict[str, Any] = {"name": series.name, "x": list(series.x), "y": list(series.y)}
    if series.kind == "bars":
        pattern = {"shape": look.pattern, "fillmode": "overlay", "solidity": 0.25}
        return {"type": "bar", **points, "marker": {"color": look.color, "pattern": pattern}}
    # Markers at the ends of the axes are drawn whole; anything beyond is clipped.
    points["cliponaxis"] = high is not None and any(value > high for value in series.y if value is not None)
    marker = {"color": look.color, "symbol": look.symbol, "size": 8}
    line = {"color": look.color, "dash": look.dash, "width": 2}
    if series.kind == "points":
        return {"type": "scatter", "mode": "markers", **points, "marker": marker}
    # A marker on each of many points would hide the dash.
    mode = "lines+markers" if len(series.x) <= 30 else "lines"
    return {"type": "scatter", "mode": mode, **points, "line": line, "marker": marker}


def _neutral_line(name: str, x: Sequence[Any], y: Sequence[float], dash: str) -> dict[str, Any]:
    """Return the trace of a reference line, labeled with its name."""
    line = {"color": NEUTRAL.color, "dash": dash, "width": 2}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line, "showlegend": False}


def _levels(series: Sequence[Series], references: Sequence[Reference]) -> Iterator[dict[str, Any]]:
    """Yield the traces of horizontal lines, over the whole width of the data."""
    places = [at for each in series for at in each.x]
    for number, reference in enumerate(references):
        # Two points at the ends of the data; categories cannot be compared, so they keep their order.
        ends = [places[0], places[-1]] if isinstance(places[0], str) else [min(places), max(places)]
        yield _neutral_line(reference.name, ends, [reference.y, reference.y], ("dot", "dash")[number % 2])


def _marks(series: Sequence[Series], marks: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Yield the traces of vertical lines, up to the largest value."""
    for number, (name, at) in enumerate(marks.items()):
        top = max(value for each in series for value in each.y if value is not None)
        yield _neutral_line(name, [at, at], [0, top], ("dash", "dot", "longdash")[number % 3])


def _scale(axis: Axis, values: Iterable[Any]) -> Scale:
    """Return the ends of an axis: those given, otherwise those of its data."""
    numbers = [value for value in values if isinstance(value, (int, float)) and (value > 0 or not axis.log)]
    ends = (min(numbers, default=0.0), max(numbers, default=1.0))
    low, high = (end if bound is None else bound for bound, end in zip((axis.low, axis.high), ends, strict=True))
    return Scale(low, high, axis.log)


def _can_be_labeled(series: Sequence[Series]) -> bool:
    """Whether all series are curves from left to right, few enough for a label at each."""
    if not 2 <= len(series) <= _MOST_CURVES or not all(each.kind == "line" and len(each.x) > 1 for each in series):
        return False
    values = [value for each in series for value in (*each.x, *each.y)]
    return all(isinstance(value, (int, float)) for value in values) and all(
        list(each.x) == sorted(each.x) for each in series
    )


def _names(
    series: Sequence[Series],
    references: Sequence[Reference],
    marks: Mapping[str, float],
    scales: tuple[Scale, Scale],
    notes: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the names of curves next to them; none where the chart needs a legend."""
    if not _can_be_labeled(series):
        return []
    curves = [(each.name, each.x, each.y) for each in series]
    return curve_labels(curves, [reference.y for reference in references], [*marks.values()], scales, notes) or []


def _labels(
    x: Axis, y: Axis, series: Sequence[Series], references: Sequence[Reference], marks: Mapping[str, float]
) -> dict[str, Any]:
    """Return the labels of references and marks for a layout, and the space that they need."""
    heights = [value for each in series for value in each.y]
    ends = [(each.y[0], each.y[-1]) for each in series if len(each.y) and None not in (each.y[0], each.y[-1])]
    across = _scale(x, [*(at for each in series for at in each.x), *marks.values()])
    up = _scale(y, [*heights, *(reference.y for reference in references)])
    notes = mark_labels(marks, across)
    above = max((note["yshift"] + ROW for note in notes), default=0)
    levels = level_labels(references, ends, up)
    named = _names(series, references, marks, (across, up), levels)
    notes += [*levels, *named]
    drawn: dict[str, Any] = {"annotations": notes} if notes else {}
    if named:
        drawn["showlegend"] = False
    return drawn | ({"margin": {"l": 56, "r": 16, "t": 16 + above, "b": 48}} if above else {})


def _table(caption: str, x: Axis, y: Axis, series: Sequence[Series]) -> Table:
    """Return the plotted numbers: one column per series if all share x, otherwise one row per point."""
    place, value = (Column(axis.title, axis.unit, axis.decimals) for axis in (x, y))
    if all(list(each.x) == list(series[0].x) for each in series):
        columns = (place, *(value._replace(title=each.name) for each in series))
        rows: Iterable[tuple[Any, ...]] = zip(series[0].x, *(each.y for each in series), strict=True)
    else:
        columns = (Column("Series"), place, value)
        rows = ((each.name, *point) for each in series for point in zip(each.x, each.y, strict=True))
    return Table(caption=caption, columns=columns, rows=tuple(rows))


def chart(
    *,
    title: str,
    alt: str,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    references: Sequence[Reference] = (),
    marks: Mapping[str, float] | None = None,
    **more: Unpack[LayoutKeys],
) -> Figure:
    """Return a chart with its description and its data.

    Parameters
    ----------
    title : str
    alt : str
        Description for a reader who cannot see it.
    x, y : Axis
    series : sequence of Series
        At least one.
    references : sequence of Reference
        Horizontal lines over the whole width; they are not in the table, so the alt text should give their values.
    marks : mapping of str to float
        Vertical lines from 0 to the largest value: documented values on the x axis, by name. Like references, they are
        not in the table.
    **more
        Further keys of the Plotly layout, as `LayoutKeys` lists.

    Raises
    ------
    ValueError
        If there are no series.

    Examples
    --------
    >>> figure = chart(title="Squares", alt="A parabola that rises from 0 at 0 to 4 at 2.", x=Axis(title="x"),
    ...                y=Axis(title="x squared"), series=[Series(name="square", x=[0, 1, 2], y=[0, 1, 4])])
    >>> figure.data[0]["line"]["dash"], figure.table.rows
    ('solid', ((0, 0), (1, 1), (2, 4)))
    """
    if not series:
        raise ValueError(f"series=() of chart {title!r} must hold at least one series")
    data = [
        _trace(each, style(number if each.style is None else each.style), y.high) for number, each in enumerate(series)
    ]
    data += [*_levels(series, references), *_marks(series, marks or {})]
    # A legend with one entry repeats the axis title.
    if len(series) == 1:
        more.setdefault("showlegend", False)
    drawn = layout(x, y, **more) | _labels(x, y, series, references, marks or {})
    return Figure(title=title, alt=alt, data=data, layout=drawn, table=_table(title, x, y, series))


def heat_map(
    *,
    title: str,
    alt: str,
    x: Axis,
    y: Axis,
    xs: Sequence[Any],
    ys: Sequence[Any],
    cells: Sequence[Sequence[float | None]],
    scale: str,
    table: Table,
) -> Figure:
    """Return a map of colors, from 0 up, with its description and its data.

    Parameters
    ----------
    title, alt, x, y
        As for `chart`.
    xs, ys : sequence
        Centers of the cells along each axis.
    cells : sequence of sequence of float or None
        A row for each of `ys`, a number for each of `xs`; None stays empty.
    scale : str
        Quantity shown by the color, with its unit.
    table : Table
        The underlying numbers.

    Examples
    --------
    >>> busy = Table(caption="Busy", columns=(Column("Busy", "%"),), rows=[(50,)])
    >>> figure = heat_map(title="Use", alt="One node, busy half of the time.", x=Axis(title="Day"), y=Axis(title="Node"),
    ...                   xs=[0], ys=[0], cells=[[50]], scale="busy [%]", table=busy)
    >>> figure.data[0]["zmax"]
    50
    """
    most = max((cell for row in cells for cell in row if cell is not None), default=0) or 1
    look = {"colorscale": "Cividis", "colorbar": {"title": {"text": scale}}}
    drawn = {"type": "heatmap", "x": list(xs), "y": list(ys), "z": cells, "zmin": 0, "zmax": most, **look}
    return Figure(title=title, alt=alt, data=[drawn], layout=layout(x, y, height=420), table=table)
