"""Three pictures on the front page: tasks packed and spread, memory channels filling up, the machine filling with jobs.

All that they show is worked out by the models while the book is built.
"""

import json
from collections.abc import Sequence
from html import escape
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hopperbook.forecasts.scoring import groups, score
from hopperbook.site.machine_view import HOURS
from hopperbook.site.renderers import raw_html
from hopperbook.site.scenes import SCENES

# A picture is this wide, and on the narrowest screen shown at nine tenths of that. [units]
_WIDTH = 300
# A core, and the gaps between two cores and between two NUMA nodes. [units]
_CORE, _GAP, _APART = 9, 1.5, 7.5
_ROW = 26


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="hopper-{kind}" x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}" rx="1.5"/>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(height: float, alt: str, parts: Sequence[str]) -> str:
    return f'<svg role="img" viewBox="0 0 {_WIDTH} {height:g}"><title>{escape(alt)}</title>{"".join(parts)}</svg>'


def _figure(svg: str, words: str, page: str, link: str) -> str:
    caption = f'{escape(words)} <a class="reference internal" href="{page}">{escape(link)}</a>'
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def _packed_and_spread() -> str:
    """Return the location of a launch line's twelve tasks without and with ``-S 3``, and the bandwidth of the slowest
    of each.
    """
    node = SCENES["placement"]()
    dies, cores, each = node["dies"], node["cores"], node["each"]
    side = cores * (_CORE + _GAP) + _APART
    parts, slowest = [], {}
    for row, (name, title) in enumerate((("packed", "aprun -n 12 -N 12"), ("spread", "aprun -n 12 -N 12 -S 3"))):
        y, held = 92 * row, set(node[name])
        counts = [len(list(group)) for _, group in groupby(sorted(held), lambda core: core // cores)]
        slowest[name] = min(each[count - 1] for count in counts)
        parts.append(_text(0, y + 14, title))
        for core in range(dies * cores):
            x = side * (core // cores) + (_CORE + _GAP) * (core % cores)
            parts.append(_rect("busy" if core in held else "idle", x, y + 22, _CORE, 24))
        parts.append(
            _text(0, y + 64, f"{slowest[name]:.1f} GB/s for each task, {len(counts)} of {dies} memories in use")
        )
    alt = f"A node of {dies} NUMA nodes with {cores} cores each. Packed, its 12 tasks fill the first two; spread, each has three."
    words = f"One option spreads the tasks: {slowest['spread'] / slowest['packed']:.1f} times the memory bandwidth for each."
    return _figure(_svg(164, alt, parts), words, "../notebooks/node/placement.html", "Where the tasks land")


def _channels() -> str:
    """Return the load of a NUMA node's memory channels, task by task, and the bandwidth of each task."""
    node = SCENES["placement"]()
    cores, most, each = node["cores"], node["gb_s"], node["each"]
    parts = []
    for row, rate in enumerate(each):
        y, tasks = _ROW * row + 2, row + 1
        for core in range(cores):
            parts.append(_rect("busy" if core < tasks else "idle", (_CORE + _GAP) * core, y, _CORE, 16))
        drawn = rate * tasks
        full = drawn >= 0.999 * most
        parts += [
            _rect("idle", 74, y, 120, 16),
            _rect("full" if full else "drawn", 74, y, 120 * drawn / most, 16),
            _text(_WIDTH, y + 13, f"{rate:.1f} GB/s each", "end"),
        ]
    begins = next(tasks for tasks, rate in enumerate(each, 1) if rate * tasks >= 0.999 * most)
    alt = f"Bars of the memory bandwidth in use, for 1 to {cores} tasks: full from {begins} on."
    words = f"From {begins} tasks on the channels of a NUMA node are full: each additional task slows the others."
    return _figure(_svg(_ROW * cores, alt, parts), words, "../notebooks/node/hybrid.html", "How many threads")


def _floors(pictures: Sequence[tuple[int, str]]) -> str:
    """Return the floor of the machine at some hours, with a fragmented job."""
    shown = "".join(
        f'<p>Hour {hour}<img src="data:image/png;base64,{data}" alt="The floor of Hopper {hour} hours after a reboot"></p>'
        for hour, data in pictures
    )
    words = "Jobs come and go, and the free nodes scatter. The job in blue is split into pieces; its messages cross other jobs."
    return _figure(f'<div class="hopper-floors">{shown}</div>', words, "#machine", "Play the two days")


def teaching(app: Sphinx) -> str:
    """Return the three pictures as HTML."""
    kept = app._hopper_assets.files[f"machine/{HOURS}"]  # type: ignore[attr-defined]
    pictures = [_packed_and_spread(), _channels(), _floors(json.loads(kept))]
    return f'<div class="hopper-teaching">{"".join(pictures)}</div>'


def forecasts_said() -> str:
    """Return the scores of the forecasts, in one sentence.

    Examples
    --------
    >>> forecasts_said()[:40]
    'Of 53 measurements that nobody here had '
    """
    done = score(groups()[0].forecasts)
    assert done is not None
    held, overlapped = done.holding[1], done.overlapping[1]
    return (
        f"Of {done.answered} measurements that nobody here had seen, the intervals that should hold 80 % held "
        f"{held} ({100 * held / done.answered:.0f} %) and touched {overlapped} ({100 * overlapped / done.answered:.0f} %)"
    )


class TeachingDirective(SphinxDirective):
    """Shows the three pictures.

    ::

        ```{teaching}
        ```
    """

    def run(self) -> list[nodes.Node]:
        """Return them."""
        return [*raw_html(teaching(self.env.app))]
