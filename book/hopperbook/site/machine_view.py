"""The machine to watch: two days of its jobs, on the first free nodes and in one piece, as data for the pages' script."""

import base64
import gzip
import io
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hopperbook.site.html import filled
from hopperbook.site.renderers import raw_html, unique_name
from hopperkit.questions.network.recording import floor_of, places_of
from hopperkit.questions.network.variability import Study
from hopperlib.machine import Machine
from hopperlib.network.torus.orders import ORDERS, order_nodes
from hopperlib.network.torus.wiring import Wiring

# : Allocation -> its name on the page.
ALLOCATIONS = {"first": "First free nodes", "contiguous": "One piece, or wait"}

# : Files of the initial page content, of the floor as a picture, and of the floor at three hours.
STILL, FLOOR, HOURS = "still.html", "floor.html", "hours.json"
_ORDER, _HOUR_S, _DAY_S = "xyz-by2", 3600, 86_400
_LINKS_EVERY_S = 3 * _HOUR_S


@cache
def history(allocation: str) -> dict[str, Any]:
    """Return two days from `_DAY_S` on of the history in which the slowest job of the study of variability runs, with links."""
    recorder = Study(placing=allocation).watched(Study().slowest.seed)
    recording = recorder.recording(_DAY_S)
    links = recorder.links_at(range(_DAY_S, recording["end_s"] + 1, _LINKS_EVERY_S))
    return {**recording, "title": ALLOCATIONS[allocation], "links": list(links)}


def followed() -> dict[str, int]:
    """Return the number of that job, ``worth``, and the instant that is shown before any script runs, just after it has begun."""
    recording = history("first")
    begun_s = {job[0]: job[1] for job in recording["held"]}
    worth = max((job for job in recording["milc"] if job[0] in begun_s), key=lambda job: max(job[2:]))[0]
    return {"worth": worth, "shown_s": 60 * (begun_s[worth] // 60 + 2)}


def _packed(data: Any) -> bytes:
    """Return data as compressed JSON; the same data give the same bytes."""
    return gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0)


def machine_files() -> dict[str, bytes]:
    """Return the files that the pages' script requests when a machine scrolls near, as compressed JSON, and the initial
    content.
    """
    hopper = Machine.load("hopper")
    position = {node: at for at, node in enumerate(places_of(hopper, _ORDER))}
    # Which of these nodes other lists name, one after the other.
    orders = {name: [position[node] for node in order_nodes(position, name)] for name in ORDERS if name != _ORDER}
    data = {"floor": floor_of(hopper, _ORDER), "orders": orders} | {
        name: history(name) | followed() for name in ALLOCATIONS
    }
    return {f"{name}.json.gz": _packed(each) for name, each in data.items()} | {
        STILL: _still().encode(),
        FLOOR: _floor().encode(),
        HOURS: json.dumps(_hours()).encode(),
    }


def _picture(held: Mapping[int, int], chosen: int) -> str:
    """Return the floor as a picture, a point a node: one job in blue, others in one of three grays."""
    from matplotlib.image import imsave

    wiring, ordered = Wiring.of(Machine.load("hopper")), places_of(Machine.load("hopper"), _ORDER)
    width, height = wiring.columns * (wiring.slots + 1), wiring.rows * (4 * wiring.cages + 2)
    points = [[[0.0] * 4 for _ in range(width)] for _ in range(height)]
    for position, node in enumerate(ordered):
        column, row, cage, slot, number = node.on_floor
        job = held.get(position)
        shade = 0.15 if job is None else (0.45, 0.6, 0.75)[job % 3]
        color = [0.0, 0.45, 0.7, 1.0] if job == chosen else [0.4, 0.4, 0.4, shade]
        points[row * (4 * wiring.cages + 2) + 4 * (wiring.cages - 1 - cage) + number][
            column * (wiring.slots + 1) + slot
        ] = color
    out = io.BytesIO()
    imsave(out, points, format="png")
    return base64.b64encode(out.getvalue()).decode()


def _held(allocation: str, shown_s: int) -> dict[int, int]:
    """Return the job on each busy node at an instant."""
    running = [job for job in history(allocation)["held"] if job[1] <= shown_s < job[2]]
    return {at: job[0] for job in running for low, high in job[3] for at in range(low, high)}


def _floor() -> str:
    """Return the floor on the first free nodes as an image, with the slowest job in blue."""
    image = _picture(_held("first", followed()["shown_s"]), followed()["worth"])
    return f'<img src="data:image/png;base64,{image}" alt="The floor of Hopper. The nodes of one job lie scattered among those of others.">'


def _hours() -> list[tuple[int, str]]:
    """Return the floor on the first free nodes at three hours up to the one at which the slowest job has begun."""
    worth, shown_s = followed().values()
    hours = [_DAY_S // _HOUR_S, (_DAY_S + shown_s) // 2 // _HOUR_S]
    shown = [(hour, _picture(_held("first", hour * _HOUR_S), worth)) for hour in hours]
    return [*shown, (shown_s // _HOUR_S, _picture(_held("first", shown_s), worth))]


def _still() -> str:
    """Return the initial content of the page: two pictures and a sentence."""
    pictures, worth, shown_s = [], *followed().values()
    for name, title in ALLOCATIONS.items():
        recording, held = history(name), _held(name, shown_s)
        (pieces, wait_s), *_ = ((len(job[3]), job[5]) for job in recording["held"] if job[0] == worth)
        _, alone_s, *runs_s = next(job for job in recording["milc"] if job[0] == worth)
        told = {"title": title, "data": _picture(held, worth), "busy": 100 * len(held) / Machine.load("hopper").nodes}
        told |= {"pieces": pieces, "wait_h": wait_s / _HOUR_S, "alone_s": alone_s, "slowest_s": max(runs_s)}
        pictures.append(told)
    return filled("machine.html", pictures=pictures, hour=shown_s // _HOUR_S, mean_s=history("first")["mean_s"])


def machine_nodes(app: Sphinx, document: nodes.document) -> list[nodes.Element]:
    """Return the machine as a node of the page with its initial content."""
    still = app._hopper_assets.files[f"machine/{STILL}"].decode()  # type: ignore[attr-defined]
    title = "Watch the machine: the same two days of jobs, on the first free nodes and in one piece"
    key = unique_name(document, "machine")
    return raw_html(f'<figure class="hopper-machine" id="{key}"><figcaption>{title}</figcaption>{still}</figure>')


class MachineDirective(SphinxDirective):
    """Shows the machine: queue, floor and torus over two days.

    ::

        ```{machine}
        ```
    """

    def run(self) -> list[nodes.Node]:
        """Return the figure with its initial content."""
        return [*machine_nodes(self.env.app, self.state.document)]
