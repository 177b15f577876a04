"""The machine to watch: two days of its jobs, on the first free nodes and in one piece, as data for the pages' script."""

import base64
import gzip
import io
import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from hopperbook.site.html import filled
from hopperbook.site.renderers import raw_html, unique_name
from hopperlib.machine import Machine
from hopperlib.network.torus.orders import ORDERS, order_nodes
from hopperlib.network.torus.wiring import Wiring
from hopperlib.questions.network.recording import floor_of, places_of
from hopperlib.questions.question import load

#: Allocation -> what the page calls it.
ALLOCATIONS = {"first": "First free nodes", "contiguous": "One piece, or wait"}

#: File of what stands on a page before a script runs.
STILL = "still.html"
_ORDER, _HOUR_S = "xyz-by2", 3600
# The latter is the instant of the picture that stands there before any script runs.
_LINKS_EVERY_S, _SHOWN_S = 3 * _HOUR_S, 36 * _HOUR_S


@cache
def history(allocation: str) -> dict[str, Any]:
    """Return the first days of a history of the study of variability, with its links every three hours."""
    watched = load("variability").run(placing=allocation, age="first").watched
    assert watched is not None
    recorder = watched()
    recording = recorder.recording(0)
    links = list(recorder.links_at(range(0, recording["end_s"] + 1, _LINKS_EVERY_S)))
    return {**recording, "title": ALLOCATIONS[allocation], "shown_s": _SHOWN_S, "links": links}


def _packed(data: Any) -> bytes:
    """Return data as compressed JSON; the same data give the same bytes."""
    return gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0)


def machine_files() -> dict[str, bytes]:
    """Return what the pages' script asks for when a machine comes near, as compressed JSON, and what stands there before."""
    hopper = Machine.load("hopper")
    position = {node: at for at, node in enumerate(places_of(hopper, _ORDER))}
    # Which of these nodes other lists name, one after the other.
    orders = {name: [position[node] for node in order_nodes(position, name)] for name in ORDERS if name != _ORDER}
    data = {"floor": floor_of(hopper, _ORDER), "orders": orders} | {name: history(name) for name in ALLOCATIONS}
    return {f"{name}.json.gz": _packed(each) for name, each in data.items()} | {STILL: _still().encode()}


def _picture(held: Mapping[int, int]) -> str:
    """Return the floor as a picture, a point a node: the largest job in blue, others in one of three grays."""
    from matplotlib.image import imsave

    largest, _ = Counter(held.values()).most_common(1)[0]

    wiring, ordered = Wiring.of(Machine.load("hopper")), places_of(Machine.load("hopper"), _ORDER)
    width, height = wiring.columns * (wiring.slots + 1), wiring.rows * (4 * wiring.cages + 2)
    points = [[[0.0] * 4 for _ in range(width)] for _ in range(height)]
    for position, node in enumerate(ordered):
        column, row, cage, slot, number = node.on_floor
        job = held.get(position)
        shade = 0.15 if job is None else (0.45, 0.6, 0.75)[job % 3]
        color = [0.0, 0.45, 0.7, 1.0] if job == largest else [0.4, 0.4, 0.4, shade]
        points[row * (4 * wiring.cages + 2) + 4 * (wiring.cages - 1 - cage) + number][
            column * (wiring.slots + 1) + slot
        ] = color
    out = io.BytesIO()
    imsave(out, points, format="png")
    return base64.b64encode(out.getvalue()).decode()


def _still() -> str:
    """Return what stands on the page before a script runs: two pictures and a sentence."""
    pictures = []
    for name, title in ALLOCATIONS.items():
        recording = history(name)
        running = [job for job in recording["held"] if job[1] <= _SHOWN_S < job[2]]
        held = {at: job[0] for job in running for low, high in job[3] for at in range(low, high)}
        _, start_s, runs = next(asked for asked in recording["asked"] if asked[0] == _SHOWN_S)
        start = f"{(start_s - _SHOWN_S) / _HOUR_S:.1f} hours later" if start_s > _SHOWN_S else "at once"
        told = {"title": title, "data": _picture(held), "busy": 100 * len(held) / Machine.load("hopper").nodes}
        pictures.append(told | {"pieces": len(runs), "start": start})
    return filled("machine.html", pictures=pictures, hour=_SHOWN_S // _HOUR_S, nodes=recording["probe_nodes"])


class MachineDirective(SphinxDirective):
    """Shows the machine: floor and torus over two days.

    ::

        ```{machine}
        ```
    """

    def run(self) -> list[nodes.Node]:
        """Return the figure as it stands before a script runs."""
        key = unique_name(self.state.document, "machine")
        still = self.env.app._hopper_assets.files[f"machine/{STILL}"].decode()  # type: ignore[attr-defined]
        title = "Watch the machine: two days from a reboot on, first free nodes beside one piece"
        figure = f'<figure class="hopper-machine" id="{key}"><figcaption>{title}</figcaption>{still}</figure>'
        return list(raw_html(figure))
