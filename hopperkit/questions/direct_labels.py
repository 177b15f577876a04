"""Labels of lines and curves, placed at them, so that no legend is needed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf, log10
from typing import Any, NamedTuple

# A narrow chart, as on a phone, and a letter on it. [pixels]
_WIDTH, _LETTER = 270, 6.5
#: Height of a row of names above a chart. [pixels]
ROW = 16
# Labels of lines this close would overlap. [fraction of the height]
_CLOSE = 0.09
# From a curve to its label, and from a vertical line. [fractions of the height and the width]
_GAP, _ASIDE = 0.015, 0.015
# Points of a curve at which its label is tried.
_TRIED = 16


class Scale(NamedTuple):
    """The ends of an axis.

    Parameters
    ----------
    low, high : float
    log : bool
        Whether it is logarithmic.

    Examples
    --------
    >>> Scale(0, 200).fraction(50), Scale(1, 100, log=True).fraction(10)
    (0.25, 0.5)
    """

    low: float
    high: float
    log: bool = False

    def _along(self, value: float) -> float:
        return log10(value) if self.log else value

    def fraction(self, value: float) -> float:
        """Position of a value, from 0 at the low end to 1."""
        low, high = self._along(self.low), self._along(self.high)
        return (self._along(value) - low) / ((high - low) or 1)

    def place(self, value: float) -> float:
        """A value in Plotly's text coordinates: on a logarithmic axis, its power of ten."""
        return self._along(value)


def _note(text: str, **where: Any) -> dict[str, Any]:
    return {"text": text, "showarrow": False, **where}


def mark_labels(marks: Mapping[str, float], scale: Scale) -> list[dict[str, Any]]:
    """Return the names of vertical lines as annotations above a chart, in as many rows as they need.

    Parameters
    ----------
    marks : mapping of str to float
        Where the lines are, by name.
    scale : Scale
        Of the x axis.

    Examples
    --------
    >>> [(note["text"], note["xanchor"], note["yshift"]) for note in mark_labels({"least": 1, "most": 99}, Scale(0, 100))]
    [('least', 'left', 0), ('most', 'right', 0)]

    Two close labels are put in two rows:

    >>> [note["yshift"] for note in mark_labels({"the least of all": 40, "the mean of all": 45}, Scale(0, 100))]
    [16, 0]
    """
    ends: list[float] = []
    notes = []
    # From the right, because the last label has the top right corner to itself.
    for name, at in sorted(marks.items(), key=lambda mark: -mark[1]):
        middle, wide = scale.fraction(at), len(name) * _LETTER / _WIDTH
        side = "left" if middle < wide / 2 else "right" if middle > 1 - wide / 2 else "center"
        left = middle - {"left": 0, "center": wide / 2, "right": wide}[side]
        row = next((row for row, end in enumerate(ends) if left + wide <= end), len(ends))
        ends[row : row + 1] = [left]
        where = {"x": scale.place(at), "y": 1, "xref": "x", "yref": "paper", "xanchor": side, "yanchor": "bottom"}
        notes.append(_note(name, **where, yshift=ROW * row))
    return notes[::-1]


def level_labels(
    levels: Sequence[tuple[str, float]], ends: Sequence[tuple[float, float]], scale: Scale
) -> list[dict[str, Any]]:
    """Return the names of horizontal lines as annotations on them, at the end of the chart where its curves are farther away.

    Parameters
    ----------
    levels : sequence of (str, float)
        Name and height of each line.
    ends : sequence of (float, float)
        First and last height of each curve.
    scale : Scale
        Of the y axis.

    Examples
    --------
    >>> rising = [(1.0, 8.0)]
    >>> [note["xanchor"] for note in level_labels([("limit", 8.0)], rising, Scale(0, 9))]
    ['left']
    """
    notes: list[dict[str, Any]] = []
    taken: list[tuple[int, float]] = []
    for name, height in levels:
        at = scale.fraction(height)
        room = [min((abs(scale.fraction(end[side]) - at) for end in ends), default=1.0) for side in (0, 1)]
        for other, where in taken:
            if abs(where - at) < _CLOSE:
                room[other] = -1.0
        side = 0 if room[0] > room[1] else 1
        taken.append((side, at))
        # Near the top there is room below the line only.
        below = at > 1 - _CLOSE
        notes.append(
            _note(
                name,
                x=side,
                y=scale.place(height),
                xref="paper",
                yref="y",
                xanchor=("left", "right")[side],
                yanchor="top" if below else "bottom",
            )
        )
    return notes


class Box(NamedTuple):
    """The place of a label: its edges, in fractions of the chart."""

    left: float
    right: float
    low: float
    high: float

    def meets(self, other: "Box") -> bool:
        """Whether two labels overlap."""
        apart = self.right <= other.left or other.right <= self.left or self.high <= other.low or other.high <= self.low
        return not apart


# Places of a chart: fractions of its width and its height.
Path = Sequence[tuple[float, float]]


def _span(path: Path, left: float, right: float) -> tuple[float, float] | None:
    """Lowest and highest point of a curve between two places, None where it is not drawn."""
    first, last = bisect_left(path, (left,)), bisect_right(path, (right, inf))
    heights = [height for _, height in path[first:last]]
    # A curve that passes without a point there: the straight piece between its neighbors.
    for at, near in ((left, first), (right, last)):
        if 0 < near < len(path):
            (x0, low), (x1, high) = path[near - 1 : near + 1]
            heights.append(low + (high - low) * (at - x0) / ((x1 - x0) or 1))
    return (min(heights), max(heights)) if heights else None


def _is_free(box: Box, own: Path, others: Sequence[Path], taken: Sequence[Box]) -> bool:
    """Whether a label is nearer to its curve than to any other line, and covers none."""
    if any(map(box.meets, taken)):
        return False
    for path, room in ((own, 0.0), *((each, _CLOSE / 2) for each in others)):
        span = _span(path, box.left, box.right)
        if span and span[0] < box.high + room and span[1] > box.low - room:
            return False
    return True


def _boxes(name: str, path: Path) -> Iterator[tuple[int, str, bool, Box]]:
    """Yield the places for a curve's label: at which point, on which side of it, whether below, and where. From the right."""
    wide = len(name) * _LETTER / _WIDTH
    step = max(1, len(path) // _TRIED)
    for number in range(len(path) - 1, -1, -step):
        at, height = path[number]
        for side, left in (("right", at - wide), ("left", at)):
            for below in (False, True):
                low = height - _GAP - _CLOSE if below else height + _GAP
                box = Box(left, left + wide, low, low + _CLOSE)
                if box.left >= 0 and box.right <= 1 and box.low >= 0 and box.high <= 1:
                    yield number, side, below, box


def curve_labels(
    curves: Sequence[tuple[str, Sequence[float], Sequence[float]]],
    levels: Sequence[float],
    marks: Sequence[float],
    scales: tuple[Scale, Scale],
    notes: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]] | None:
    """Return the names of curves as annotations next to them; None if one of them has no room anywhere.

    Parameters
    ----------
    curves : sequence of (str, x, y)
        Name and points of each curve, from left to right.
    levels, marks : sequence of float
        Horizontal and vertical lines of the chart.
    scales : tuple of Scale
        Of the x and the y axis.
    notes : sequence of mapping
        Labels that `level_labels` has placed.

    Examples
    --------
    >>> scales = Scale(0, 10), Scale(0, 10)
    >>> rising, falling = ("rising", [0, 10], [1, 8]), ("falling", [0, 10], [5, 3])
    >>> [(note["text"], note["xanchor"], note["yanchor"]) for note in curve_labels([rising, falling], [], [], scales)]
    [('rising', 'right', 'bottom'), ('falling', 'right', 'top')]

    Curves that run together keep their legend:

    >>> curve_labels([rising, ("other", [0, 10], [1.2, 8.1])], [], [], scales) is None
    True
    """
    across, up = scales
    paths = [[(across.fraction(x), up.fraction(y)) for x, y in zip(xs, ys, strict=True)] for _, xs, ys in curves]
    level_paths = [[(0.0, up.fraction(level)), (1.0, up.fraction(level))] for level in levels]
    taken = [_box_of(note, up) for note in notes if note["xref"] == "paper"]
    taken += [Box(across.fraction(mark) - _ASIDE, across.fraction(mark) + _ASIDE, 0, 1) for mark in marks]
    labels: list[dict[str, Any]] = []
    for number, (name, xs, ys) in enumerate(curves):
        others = [*paths[:number], *paths[number + 1 :], *level_paths]
        places = _boxes(name, paths[number])
        found = next((place for place in places if _is_free(place[-1], paths[number], others, taken)), None)
        if found is None:
            return None
        point, side, below, box = found
        taken.append(box)
        where = {"x": across.place(xs[point]), "y": up.place(ys[point]), "xref": "x", "yref": "y"}
        anchors = {"xanchor": side, "yanchor": "top" if below else "bottom"}
        labels.append(_note(name, **where, **anchors, yshift=-3 if below else 3))
    return labels


def _box_of(note: Mapping[str, Any], up: Scale) -> Box:
    """Return the place of a label of a horizontal line."""
    wide = len(note["text"]) * _LETTER / _WIDTH
    height = up.fraction(10 ** note["y"] if up.log else note["y"])
    left = 1 - wide if note["xanchor"] == "right" else 0.0
    low = height - _CLOSE if note["yanchor"] == "top" else height
    return Box(left, left + wide, low, low + _CLOSE)
