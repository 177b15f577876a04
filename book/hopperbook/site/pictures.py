"""The picture of the phenomenon in the first screen of each study page; it does not reveal any prediction of the page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from hopperbook.documented import printed
from hopperbook.site.html import low, tables
from hopperbook.site.machine_view import FLOOR
from hopperkit.questions.question import load
from hopperkit.render.html import drawing_html, parts_html, prose_html
from hopperkit.render.svg import figure_svg

_WIDTH, _HEIGHT = 400, 260


def _bars(rows: Sequence[tuple[str, str | float, str]]) -> str:
    """Return bars as HTML: label, number or name of a documented value, unit; bars of one unit have one scale."""
    numbers = [printed(number) if isinstance(number, str) else number for _, number, _ in rows]
    most: dict[str, float] = defaultdict(float)
    for number, (_, _, unit) in zip(numbers, rows, strict=True):
        most[unit] = max(most[unit], number)
    return "".join(
        f'<p>{escape(label)} <strong>{number:,.10g} {unit}</strong><span class="hopper-bar-of" style="width: {100 * number / most[unit]:.1f}%"></span></p>'
        for number, (label, _, unit) in zip(numbers, rows, strict=True)
    )


def _shown(question: str, values: Mapping[str, Any]) -> str:
    """Return the main part of a question's answer: its drawings, its first chart, or the lines it read."""
    answer = load(question).run(**values)
    if answer.drawings:
        return "".join(drawing_html(drawing.to_dict()) for drawing in answer.drawings)
    if answer.figures:
        return figure_svg(low(answer.figures[0]), _WIDTH, _HEIGHT, place="picture")
    return parts_html(answer.to_dict())["listings"]


def picture(page: str, files: Mapping[str, bytes]) -> str:
    """Return the picture of a page as HTML, as defined in ``pages.toml`` or in the pages' files; empty if it has none.

    Examples
    --------
    >>> "35 min" in picture("notebooks/storage/slow-ost", {}), picture("book/index", {})
    (True, '')
    """
    picture_settings = tables()["pictures"].get(page.removeprefix("notebooks/"))
    if picture_settings is None:
        return ""
    if "bars" in picture_settings:
        inside = _bars(picture_settings["bars"])
    elif "text" in picture_settings:
        inside = f"<pre>{escape(picture_settings['text'])}</pre>"
    else:
        inside = (
            _shown(picture_settings["question"], picture_settings.get("values", {}))
            if "question" in picture_settings
            else files[f"machine/{FLOOR}"].decode()
        )
    return f'<figure class="hopper-phenomenon">{inside}<figcaption>{prose_html(picture_settings["says"])}</figcaption></figure>'
