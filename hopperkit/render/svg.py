"""A figure as a static SVG, drawn by matplotlib, for pages that run no script."""

import io
import itertools
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopperkit.questions.result import Figure

# Placeholder for the page's text color while matplotlib draws; not a series color.
_INK = "#010203"
_LOOK = Path(__file__).with_name("chart.mplstyle")
# Width of a letter. [points]
_LETTER = 7
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T|$)")
# What Plotly calls it, and what matplotlib does.
_DASHES: dict[str, Any] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_DASHES |= {"longdash": (0, (8, 3)), "longdashdot": (0, (8, 3, 2, 3))}
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "cross": "P", "x": "x", "line-ew": "_"}


def figure_svg(figure: "Figure", width: int = 660, height: int = 340, *, place: str = "") -> str:
    """Return a figure as one ``<svg>``: the same for the same figure, its texts as text, its ink the page's color.

    Lines, points, bands, bars, heat maps and 3-D scatter are drawn: all elements used by figures of the package. Title
    and description for screen readers are those of the figure.

    Parameters
    ----------
    figure : hopperkit.questions.result.Figure
    width, height : int
        Its width, and its height unless its layout sets it. [points]
    place : str
        Its position in the page, so that two copies have different ids.

    Raises
    ------
    ValueError
        If the figure holds a kind of trace that cannot be drawn.

    Examples
    --------
    >>> from hopperkit.questions.figures import Axis, Series, chart
    >>> svg = figure_svg(chart(title="Squares", alt="A parabola from 0 at 0 to 4 at 2.", x=Axis(title="x"),
    ...                        y=Axis(title="x squared"), series=[Series(name="square", x=[0, 1, 2], y=[0, 1, 4])]))
    >>> svg[:4], "<title>Squares</title>" in svg, ">x squared</text>" in svg
    ('<svg', True, True)
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context():
        # The picture is independent of the reader's matplotlibrc.
        matplotlib.rcdefaults()
        # Ids in the drawing depend on its title and position, so that two drawings on a page do not share them.
        look: Any = matplotlib.rc_params_from_file(_LOOK, use_default_template=False)
        settings: Any = matplotlib.rcParams
        settings.update(look | {"svg.hashsalt": f"{place} {figure.title}"})
        size = (width / 72, figure.layout.get("height", height) / 72)
        canvas = Canvas(figsize=size, layout="constrained", facecolor="none")
        _draw(canvas, figure)
        text = io.StringIO()
        backend: Any = FigureCanvasSVG(canvas)
        backend.print_svg(text, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return _inlined(text.getvalue(), figure)


def _inlined(svg: str, figure: "Figure") -> str:
    """Return a drawing for embedding in a page: with ids, without parts needed only in a separate file."""
    _, _, inside = svg.partition("<svg")
    attributes, _, inside = inside.partition(">")
    box = re.search(r'viewBox="[^"]*"', attributes)
    # The style would apply to the whole page; its two settings are put on the element.
    inside = re.sub(r"<(metadata|style)\b.*?</\1>|<!--.*?-->|<defs>\s*</defs>", "", inside, flags=re.DOTALL)
    inside = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", inside)
    inside = re.sub(r"'DejaVu Sans'", "sans-serif", inside).replace(_INK, "currentColor")
    # A hundredth of a point is enough.
    inside = re.sub(
        r'(?<= [dxy]=")[^"]+', lambda match: re.sub(r"(\.\d\d)\d+", r"\1", match[0]).replace("\n", ""), inside
    )
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" {box[0] if box else ""} '
        f'role="img" stroke-linejoin="round"><title>{escape(figure.title)}</title><desc>{escape(figure.alt)}</desc>'
        + re.sub(r"\n\s*", "\n", inside).strip()
    )


def _numbers(values: Sequence[Any]) -> list[Any]:
    """Return values for drawing: a missing one as NaN, a category as its lines."""
    return [
        math.nan if value is None else value.replace("<br>", "\n") if isinstance(value, str) else value
        for value in values
    ]


def _places(values: Sequence[Any]) -> list[Any]:
    """Return values along an axis for drawing: dates as timestamps."""
    if not (values and all(isinstance(value, str) and _DATE.match(value) for value in values)):
        return _numbers(values)
    return [datetime.fromisoformat(value).replace(tzinfo=None) for value in values]


def _draw(canvas: Any, figure: "Figure") -> None:
    """Draw the traces."""
    axes = canvas.add_subplot()
    bars = [trace for trace in figure.data if trace["type"] == "bar"]
    for trace in figure.data:
        match trace["type"]:
            case "scatter":
                _draw_line(axes, trace)
            case "bar":
                _draw_bars(axes, trace, bars.index(trace), len(bars), figure.layout.get("bargap", 0.2))
            case "heatmap":
                _draw_heatmap(canvas, axes, trace)
            case kind:
                raise ValueError(f"figure {figure.title!r} holds a trace of type {kind!r}, which cannot be drawn")
    for shape in figure.layout.get("shapes", ()):
        color, alpha = _color(shape["fillcolor"])
        axes.axvspan(shape["x0"], shape["x1"], shape["y0"], shape["y1"], color=color, alpha=alpha, linewidth=0)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        whole = all(value is None or isinstance(value, int) for trace in figure.data for value in trace[name])
        _set_axis(axes, name, axis, figure.layout[f"{name}axis"], whole)
    if not any(trace["type"] == "heatmap" for trace in figure.data):
        axes.grid()
        axes.set_axisbelow(True)
    for note in figure.layout.get("annotations", ()):
        _write(axes, note)
    _add_legend(canvas, figure)


def _write(axes: Any, note: Mapping[str, Any]) -> None:
    """Write a text at a place of the data along one axis, and of the whole drawing along the other."""
    spaces = {"paper": "axes fraction", "x": "data", "y": "data"}
    log = {name: note[f"{name}ref"] == name and getattr(axes, f"get_{name}scale")() == "log" for name in "xy"}
    aside = {"left": 3, "right": -3, "center": 0}[note["xanchor"]] if note["xref"] == "paper" else 0
    axes.annotate(
        note["text"],
        xy=tuple(10 ** note[name] if log[name] else note[name] for name in "xy"),
        xycoords=tuple(spaces[note[f"{name}ref"]] for name in "xy"),
        xytext=(aside, 0.75 * note.get("yshift", 0) + {"bottom": 2, "top": -2}[note["yanchor"]]),
        textcoords="offset points",
        horizontalalignment=note["xanchor"],
        verticalalignment=note["yanchor"],
    )


def _draw_line(axes: Any, trace: Mapping[str, Any]) -> None:
    """Draw a line, points or both."""
    mode, line, marker = trace["mode"], trace.get("line", {}), trace.get("marker", {})
    axes.plot(
        _places(trace["x"]),
        _numbers(trace["y"]),
        label=trace["name"] if trace.get("showlegend", True) else "_nolegend_",
        color=line.get("color") or marker.get("color"),
        linestyle=_DASHES[line.get("dash", "solid")] if "lines" in mode else "none",
        linewidth=line.get("width", 2),
        marker=_MARKERS[marker.get("symbol", "circle")] if "markers" in mode else None,
        markersize=0.75 * marker.get("size", 6),
        clip_on=trace.get("cliponaxis", True),
    )


def _draw_bars(axes: Any, trace: Mapping[str, Any], number: int, count: int, gap: float) -> None:
    """Draw one of several sets of grouped bars."""
    x, marker = _places(trace["x"]), trace["marker"]
    if isinstance(x[0], str | datetime):
        axes.xaxis.update_units(x)
        x = [float(place) for place in axes.convert_xunits(x)]
    step = min((b - a for a, b in itertools.pairwise(sorted(set(x)))), default=1.0)
    width = step * (1 - gap) / count
    axes.bar(
        [at + (number - (count - 1) / 2) * width for at in x],
        _numbers(trace["y"]),
        width,
        label=trace["name"],
        color=marker["color"],
        hatch=2 * marker.get("pattern", {}).get("shape", ""),
        edgecolor=_INK,
        linewidth=0,
        yerr=_error_bars(trace),
        ecolor=_INK,
        capsize=3,
    )


def _error_bars(trace: Mapping[str, Any]) -> list[list[float]] | None:
    """Return the lower and upper errors of each bar; None without error bars."""
    error = trace.get("error_y", {})
    if error.get("array") is None:
        return None
    above = [float(value or 0) for value in error["array"]]
    below = error.get("arrayminus")
    return [above if below is None else [float(value or 0) for value in below], above]


def _draw_heatmap(canvas: Any, axes: Any, trace: Mapping[str, Any]) -> None:
    """Draw a map of colors with its scale; as a picture, since thousands of cells would be as many paths."""
    ends = []
    for values in (trace["x"], trace["y"]):
        half = (values[1] - values[0]) / 2 if len(values) > 1 else 0.5
        ends += [values[0] - half, values[-1] + half]
    drawn = axes.imshow(
        [_numbers(row) for row in trace["z"]],
        cmap=trace["colorscale"].lower(),
        vmin=trace["zmin"],
        vmax=trace["zmax"],
        extent=ends,
        origin="lower",
        aspect="auto",
        interpolation="none",
    )
    canvas.colorbar(drawn, label=trace["colorbar"]["title"]["text"])


def _add_legend(canvas: Any, figure: "Figure") -> None:
    """Add the legend above the drawing, if there is more than one series."""
    # A map of colors has no name: its scale says what it shows.
    shown = [trace["name"] for trace in figure.data if "name" in trace and trace.get("showlegend", True)]
    if figure.layout.get("showlegend", len(shown) > 1) and shown:
        longest = max(map(len, shown))
        # The sample of a line with its margins takes 60 points.
        columns = max(1, int(72 * canvas.get_figwidth()) // (_LETTER * longest + 60))
        canvas.legend(loc="outside upper left", ncols=columns, handlelength=3)


def _set_axis(axes: Any, name: str, axis: Any, wanted: Mapping[str, Any], whole: bool) -> None:
    """Give an axis its title, scale, range and ticks; whole numbers have no ticks between them."""
    from matplotlib.category import StrCategoryConverter
    from matplotlib.dates import ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    log = wanted.get("type") == "log"
    # A title has nine tenths of the width, or four fifths of the height, for each of its lines.
    room = 72 * (0.9 * axes.figure.get_figwidth() if name == "x" else 0.8 * axes.figure.get_figheight())
    axes.set(**{f"{name}label": "\n".join(textwrap.wrap(wanted["title"]["text"], int(room) // _LETTER))})
    if log:
        # Only then: the linear scale would take a category's name from its tick.
        axes.set(**{f"{name}scale": "log"})
    if "range" in wanted:
        axes.set(**{f"{name}lim": [10**end if log else end for end in wanted["range"]]})
    elif wanted.get("rangemode") == "tozero":
        axes.set(**{f"{name}lim": (min(0, axis.get_data_interval()[0]), None)})
    if isinstance(axis.get_converter(), StrCategoryConverter):
        return
    if axis.get_converter() is not None:
        # Of dates.
        formatter: Any = ConciseDateFormatter
        axis.set_major_formatter(formatter(axis.get_major_locator()))
        return
    if log:
        low, high = axis.get_view_interval()
        # Over less than two powers of ten the powers alone would be too few to read from.
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axis.set_minor_formatter(NullFormatter())
    elif whole:
        axis.set_major_locator(MaxNLocator("auto", integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _color(text: str) -> tuple[str | tuple[float, ...], float]:
    """Return a color of Plotly, and how much it covers."""
    if not text.startswith("rgba("):
        return text, 1.0
    red, green, blue, alpha = (float(part) for part in text[5:-1].split(","))
    return (red / 255, green / 255, blue / 255), alpha
