"""Labels of reference lines, placed at the lines, so that no legend is needed."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any, NamedTuple

# A narrow chart, as on a phone, and a letter on it. [pixels]
_WIDTH, _LETTER = 270, 6.5
#: Height of a row of names above a chart. [pixels]
ROW = 16
# Labels of lines this close would overlap. [fraction of the height]
_CLOSE = 0.09


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
