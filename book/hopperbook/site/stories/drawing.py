"""Drawings of a story as SVG: their colors are classes, so that a page's style decides on them, in the dark and on paper too."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

#: Size of a drawing. Its letters are 13 units high, so that on a phone they are still 10 pixels. [units]
WIDTH, HEIGHT = 440, 350


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


class Drawing:
    """Shapes and words, drawn in the order in which they are added.

    Examples
    --------
    >>> drawing = Drawing()
    >>> drawing.box(0, 0, 10.0, 4.25, "job")
    >>> drawing.words(5, 8, "a < b")
    >>> print(drawing.svg("Two", "A box and words.").partition("</desc>")[2])
    <rect x="0" y="0" width="10" height="4.2" class="job"/><text x="5" y="8">a &lt; b</text></svg>
    """

    def __init__(self) -> None:
        self._parts: list[str] = []

    def add(self, tag: str, kind: str = "", inside: str = "", **attributes: object) -> None:
        """Add an element of a class; an underscore in the name of an attribute is a hyphen."""
        named = {**attributes, **({"class": kind} if kind else {})}
        given = "".join(f' {name.replace("_", "-")}="{escape(_number(value))}"' for name, value in named.items())
        self._parts.append(f"<{tag}{given}>{inside}</{tag}>" if inside else f"<{tag}{given}/>")

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Add a rectangle, unless it has no size."""
        if width > 0 and height > 0:
            self.add("rect", kind, x=x, y=y, width=width, height=height)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> None:
        """Add a straight line."""
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Add a line through points."""
        self.add("path", kind, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))

    def words(self, x: float, y: float, text: str, kind: str = "", *, anchor: str = "") -> None:
        """Add a line of text; `anchor` is start, middle or end."""
        self.add("text", kind, escape(text), x=x, y=y, **({"text_anchor": anchor} if anchor else {}))

    def cells(self, x: float, y: float, size: float, rows: Sequence[Sequence[int]], most: int) -> None:
        """Add a map of squares, one class for each fifth of the greatest count: one path a class, as there are hundreds."""
        shades: dict[int, list[str]] = {}
        for row, counts in enumerate(rows):
            for column, count in enumerate(counts):
                shade = -(-5 * count // most)
                corner = f"M{_number(x + column * size)} {_number(y + row * size)}"
                shades.setdefault(shade, []).append(
                    f"{corner}h{_number(size - 1)}v{_number(size - 1)}h{_number(1 - size)}z"
                )
        for shade, squares in sorted(shades.items()):
            self.add("path", f"shade-{shade}", d="".join(squares))

    def svg(self, title: str, alt: str, *, height: int = HEIGHT, **data: object) -> str:
        """Return the drawing with a name and a description for readers who cannot see it; `data` is for scripts."""
        more = "".join(f' data-{name.replace("_", "-")}="{_number(value)}"' for name, value in data.items())
        return (
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img"{more}><title>{escape(title)}</title><desc>{escape(alt)}</desc>'
            + "".join(self._parts)
            + "</svg>"
        )


class Axis(NamedTuple):
    """Numbers along one side of a drawing, from the pixel of the smallest to that of the largest.

    Examples
    --------
    >>> Axis(0.0, 10.0, 40, 240).at(2.5)
    90.0
    """

    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        """Return the pixel of a number. [units]"""
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)

    def along_the_bottom(
        self, drawing: Drawing, y: float, ticks: Iterable[float], title: str, *, form: str = ",.0f"
    ) -> None:
        """Draw it from left to right, with its ticks and its title below."""
        drawing.line(self.first, y, self.last, y)
        for tick in ticks:
            drawing.line(self.at(tick), y, self.at(tick), y + 5)
            drawing.words(self.at(tick), y + 19, format(tick, form), "muted", anchor="middle")
        drawing.words((self.first + self.last) / 2, y + 38, title, "muted", anchor="middle")

    def up_the_side(self, drawing: Drawing, x: float, ticks: Iterable[tuple[float, str]], title: str) -> None:
        """Draw it from the bottom upwards, with named ticks, and its title on top."""
        drawing.line(x, self.first, x, self.last)
        for tick, name in ticks:
            drawing.line(x - 5, self.at(tick), x, self.at(tick))
            drawing.words(x - 8, self.at(tick) + 4, name, "muted", anchor="end")
        drawing.words(4, self.last - 12, title, "muted")
