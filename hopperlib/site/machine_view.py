"""The machine to watch: two days of its jobs, on the first free nodes and in one piece, as data for the pages' script."""

import base64
import gzip
import io
import json
from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx.util.docutils import SphinxDirective

from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import FIRST_MILC, TASKS, Histories, selected
from hopperlib.network.scheduling.aging import moments, probe
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.maps import holders
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.questions.result import Column, Table
from hopperlib.render.html import table_html
from hopperlib.site.html import filled, tables
from hopperlib.site.renderers import raw_html, unique_name

#: Allocation -> what the page calls it.
ALLOCATIONS = {"first": "First free nodes", "contiguous": "One piece, or wait"}

#: File of what stands on a page before a script runs.
STILL = "still.html"
_DAYS, _SEED, _ORDER, _HOUR_S = 2, 1, "xyz_by2", 3600
# The MILC jobs of this size are followed, and a probe as wide asks at each hour where it would lie.
_TASKS = TASKS[1]
_LINKS_EVERY_S = 3 * _HOUR_S
# The instant of the picture that stands there before any script runs.
_SHOWN_S = 18 * _HOUR_S
# Narrower jobs lie so close that their distance says little. [nodes]
_MEASURED_NODES = 16


@cache
def _machine() -> tuple[Histories, Wiring, list[NodeAddress], PrefixCounts]:
    machine = Machine.load("hopper")
    wiring = Wiring.of(machine)
    ordered = list(order_nodes(compute_nodes(machine, wiring), _ORDER))
    return Histories(machine), wiring, ordered, PrefixCounts([node.coordinates for node in ordered], Torus.of(machine))


@cache
def _schedule(allocation: str) -> Schedule:
    return _machine()[0].schedule(_SEED, allocation, until_day=_DAYS)


def _probe_nodes() -> int:
    return -(-_TASKS // _machine()[0].cores)


def _flat(jobs: Iterable[list[tuple[int, int]]]) -> list[int]:
    """Return the runs of some jobs as one list: how many, then first position and length of each.

    Examples
    --------
    >>> _flat([[(0, 3), (6, 7)], [(3, 6)]])
    [2, 0, 3, 6, 1, 1, 3, 3]
    """
    return [number for runs in jobs for number in (len(runs), *(n for low, high in runs for n in (low, high - low)))]


def floor() -> dict[str, Any]:
    """Return where each node of the list stands on the floor and sits in the torus.

    Examples
    --------
    >>> hopper = floor()
    >>> hopper["dimensions"], len(hopper["x"]), len(hopper["service"])
    ((17, 8, 24), 6384, 144)
    """
    _, wiring, ordered, _ = _machine()
    places = zip(*(node.on_floor for node in ordered), strict=True)
    return {
        "dimensions": wiring.dimensions,
        **{name: getattr(wiring, name) for name in ("columns", "rows", "cages", "slots")},
        **dict(zip(("column", "row", "cage", "slot", "node"), places, strict=True)),
        **{axis: [getattr(node, axis) for node in ordered] for axis in "xyz"},
        "service": [node.on_floor for node in sorted(set(wiring.addresses) - set(ordered))],
    }


def _minute(time_s: int) -> int:
    """Return the first full minute that has seen an instant: what the page shows of a full minute is exact."""
    return -(-time_s // 60)


def history(allocation: str) -> dict[str, Any]:
    """Return two days of jobs, of the links and of a probe. Times in minutes, distances in tenths of a hop.

    Jobs come in the order of their starts, of which each is given as the difference to the one before. Of a link
    stands how many tenths of its bandwidth are in use, one digit: axis by axis, router by router.
    """
    histories, wiring, _, counts = _machine()
    schedule = _schedule(allocation)
    workload, end_s = schedule.workload, _DAYS * 24 * _HOUR_S

    def tenths_of_hops(runs: list[tuple[int, int]]) -> int:
        return round(10 * counts.mean_hop_distance(runs))

    jobs = [job for job in schedule.finished() if schedule.start_s[job] < end_s]
    jobs.sort(key=schedule.start_s.__getitem__)
    starts = [_minute(schedule.start_s[job]) for job in jobs]
    runs = [schedule.runs(job) for job in jobs]
    hours_s = range(0, end_s + 1, _HOUR_S)
    landed = [probe(schedule, hour_s, _probe_nodes(), allocation=allocation, seed=_SEED) for hour_s in hours_s]
    x_size, y_size, z_size = wiring.dimensions
    routers = list(product(range(x_size), range(y_size), range(z_size)))
    links = [(axis, router) for axis in range(3) for router in routers]
    shares = histories.link_shares(schedule, _SEED, _ORDER, range(0, end_s + 1, _LINKS_EVERY_S))
    milc = [
        n for n, nodes in zip(workload.job, workload.nodes, strict=True) if n >= FIRST_MILC and nodes == _probe_nodes()
    ]
    measured = [job for job in selected(_ORDER, allocation, _TASKS) if job.seed == _SEED]
    return {
        "minutes": end_s // 60,
        "shown": _SHOWN_S // 60,
        "number": [workload.job[job] for job in jobs],
        "start": [start - before for before, start in zip([0, *starts], starts, strict=False)],
        "minutes_run": [_minute(schedule.end_s[job]) - start for job, start in zip(jobs, starts, strict=True)],
        "limit": [workload.requested_time_s[job] // 60 for job in jobs],
        "wait": [(schedule.wait_time_s(job) or 0) // 60 for job in jobs],
        "runs": _flat(runs),
        "hops": [
            tenths_of_hops(lies) if workload.nodes[job] >= _MEASURED_NODES else 0
            for job, lies in zip(jobs, runs, strict=True)
        ],
        "probe": {
            "nodes": _probe_nodes(),
            "start": [_minute(at.start_s) for at in landed],
            "runs": _flat(at.runs for at in landed),
            "hops": [tenths_of_hops(at.runs) for at in landed],
        },
        "milc": [[number, job.own, *job.slowness()] for number, job in zip(milc, measured, strict=False)],
        "links": ["".join(str(min(9, int(10 * at.get(link, 0)))) for link in links) for at in shares],
    }


def _packed(data: Any) -> bytes:
    """Return data as compressed JSON; the same data give the same bytes."""
    return gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0)


def machine_files() -> dict[str, bytes]:
    """Return what the pages' script asks for when a machine comes near, as compressed JSON, and what stands there before."""
    files = {"floor.json.gz": _packed(floor()), STILL: _still().encode()}
    return files | {f"{name}.json.gz": _packed(history(name)) for name in ALLOCATIONS}


def _table() -> Table:
    """Return both machines every six hours."""
    rows = []
    for hour in range(0, 24 * _DAYS + 1, 6):
        row: list[Any] = [hour]
        for name in ALLOCATIONS:
            schedule, counts = _schedule(name), _machine()[3]
            (at,) = moments(schedule, [hour * _HOUR_S], _probe_nodes(), counts, allocation=name, seed=_SEED)
            used = 100 * len(holders(schedule, at.time_s)) / schedule.nodes
            starts = probe(schedule, at.time_s, _probe_nodes(), allocation=name, seed=_SEED).start_s
            row += [used, at.free_runs, at.probe_runs, at.probe_hops, (starts - at.time_s) / _HOUR_S]
        rows.append(row)
    columns = [Column("Hour")]
    for words in ("first free", "one piece"):
        columns += [Column(f"{title}, {words}", *more) for title, *more in tables()["machine"]["columns"]]
    caption = f"The machine every six hours, and a probe of {_probe_nodes()} nodes that would be next in the queue"
    return Table(caption=caption, columns=tuple(columns), rows=rows)


def _picture(allocation: str) -> str:
    """Return the floor at one instant as a picture: a point a node, in the color of its job."""
    from matplotlib.colors import hsv_to_rgb
    from matplotlib.image import imsave

    _, wiring, ordered, _ = _machine()
    width, height = wiring.columns * (wiring.slots + 1), wiring.rows * (4 * wiring.cages + 2)
    points = [[[0.0] * 4 for _ in range(width)] for _ in range(height)]
    held = holders(_schedule(allocation), _SHOWN_S)
    for position, node in enumerate(ordered):
        column, row, cage, slot, number = node.on_floor
        job = held.get(position)
        color = [0.5, 0.5, 0.5, 0.25] if job is None else [*hsv_to_rgb((job * 0.381966 % 1, 0.6, 0.75)), 1.0]
        points[row * (4 * wiring.cages + 2) + 4 * (wiring.cages - 1 - cage) + number][
            column * (wiring.slots + 1) + slot
        ] = color
    out = io.BytesIO()
    imsave(out, points, format="png")
    return base64.b64encode(out.getvalue()).decode()


def _still() -> str:
    """Return what stands on the page before a script runs: two pictures, a sentence and a table."""
    table = _table()
    hour = _SHOWN_S // _HOUR_S
    row = next(row for row in table.rows if row[0] == hour)
    pictures = [
        {"title": title, "data": _picture(name), "busy": row[1 + 5 * at]}
        for at, (name, title) in enumerate(ALLOCATIONS.items())
    ]
    starts = {at: f"{row[at + 4]:.1f} hours later" if row[at + 4] else "at once" for at in (1, 6)}
    free, piece = ({"pieces": row[at + 2], "hops": row[at + 3], "start": start} for at, start in starts.items())
    rows = table_html(table.to_dict(), buttons=False)
    words = {"hour": hour, "nodes": _probe_nodes(), "free": free, "piece": piece}
    return filled("machine.html", pictures=pictures, table=Markup(rows), **words)


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
        return [
            *raw_html(
                f'<figure class="hopper-machine" id="{key}"><figcaption>Watch the machine: two days from a reboot on, '
                f"first free nodes beside one piece</figcaption>{still}</figure>"
            )
        ]
