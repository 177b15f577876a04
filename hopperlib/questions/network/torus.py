"""Question: where a job lies in the torus, in which order the nodes were handed out, and how compact that is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import product

from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.runtime.placed_jobs import milc_stream
from hopperlib.network.runtime.sharing import MIXES, draw_habit, fair_rates, streams_of
from hopperlib.network.runtime.traffic import grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.torus.allocation import bisection_bandwidth_gb_s, runs_of
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.maps import cabinet_map
from hopperlib.network.torus.orders import ASSUMED, compute_nodes, order_nodes
from hopperlib.network.torus.placement import busy, compactness_of, free_positions
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.questions.figures import NEUTRAL, STYLES
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Download, Drawing, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_SHARED = "with neighbors on a 4-D grid, links shared max-min fair"
# The busy nodes belong to jobs of so many, of which some write at such a rate a node. Both are assumed.
_NEIGHBOR_NODES, _WRITE_GB_S = 128, 0.1
_FLOORS = {
    "hopper": ("Hopper, 17 x 4 cabinets", None),
    "titan": ("Titan, 25 x 8", (25, 8)),
    "blue": ("Blue Waters, 24 x 12", (24, 12)),
}


@cache
def _floor(name: str) -> tuple[Wiring, tuple[NodeAddress, ...]]:
    """Return a floor's wiring and the nodes for jobs: Hopper's compute nodes, all positions elsewhere."""
    floor = _FLOORS[name][1]
    if floor is None:
        machine = Machine.load("hopper")
        wiring = Wiring.of(machine)
        return wiring, compute_nodes(machine, wiring)
    wiring = Wiring(*floor)
    return wiring, wiring.addresses


@lru_cache(maxsize=4)
def _neighbors(nodes: int) -> Mapping[tuple[int, int], int]:
    """Return who talks to whom in a job of 24 tasks a node on a four-dimensional grid."""
    return nearest_neighbors(grid_dimensions(24 * nodes), 24)


@cache
def _network() -> tuple[LinkMap, float, Counter[tuple[int, int, int]]]:
    """Return Hopper's links, what a node can send [GB/s], and how many service nodes sit at each router."""
    hopper, (wiring, there) = Machine.load("hopper"), _floor("hopper")
    injection_gb_s = hopper.network.node_bandwidth_gb_s if hopper.network is not None else 0.0
    return LinkMap(hopper), injection_gb_s, Counter(node.coordinates for node in set(wiring.addresses) - set(there))


def _rates_gb_s(
    ordered: Sequence[NodeAddress], places: list[tuple[int, int, int]], busy_fraction: float, traffic: str
) -> tuple[float, float]:
    """Return how fast a node of the job exchanges on Hopper: alone, and beside jobs on the busy nodes. [GB/s]"""
    links, injection_gb_s, routers = _network()
    own = milc_stream(links, _neighbors(len(places)), places, injection_gb_s)
    (alone,) = fair_rates(links, [own], injection_gb_s=injection_gb_s)
    if traffic == "none":
        return alone, alone
    there = [node.coordinates for position, node in enumerate(ordered) if busy(position, busy_fraction)]
    rng, others = random.Random(1), []
    for first in range(0, len(there), _NEIGHBOR_NODES):
        part = there[first : first + _NEIGHBOR_NODES]
        others += streams_of(links, part, draw_habit(rng), MIXES[traffic], routers=routers, write_gb_s=_WRITE_GB_S)
    return alone, fair_rates(links, [own, *others], injection_gb_s=injection_gb_s)[0]


def _shade(share: float) -> str:
    """Return a color from nearly white to blue, the same in light and dark, so that dark figures stand out on it."""
    if not share:
        return "none"
    return "#" + "".join(f"{round(255 + (0.15 + 0.85 * share) * (end - 255)):02x}" for end in (0x8F, 0xC7, 0xEE))


def _floor_drawing(wiring: Wiring, job: Sequence[NodeAddress]) -> Drawing:
    """Return the floor seen from above: in each cabinet how many of the job's nodes stand there."""
    in_cabinet = Counter(node.on_floor[:2] for node in job)
    pitch = 348 / wiring.columns
    full = wiring.cages * wiring.slots * 4
    parts = []
    for row, column in product(range(wiring.rows), range(wiring.columns)):
        count = in_cabinet[column, row]
        x, y = 6 + column * pitch, 22 + row * (pitch + 4)
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{pitch - 2:.1f}" height="{pitch:.1f}" rx="2" fill="{_shade(count / full)}" '
            f'stroke="currentColor" stroke-width="0.6"><title>cabinet c{column}-{row}: '
            f"{count} of {full} nodes</title></rect>"
        )
        if count:
            parts.append(
                f'<text x="{x + pitch / 2 - 1:.1f}" y="{y + pitch / 2 + 3:.1f}" text-anchor="middle" '
                f'font-size="{min(9, pitch / 2):.1f}" fill="#0b2a3d">{count}</text>'
            )
    height = 30 + wiring.rows * (pitch + 4)
    title = "The floor from above: nodes of the job in each cabinet"
    svg = (
        f'<svg viewBox="0 0 360 {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif">'
        f'<title>{title}</title><text x="6" y="14" font-size="10" fill="currentColor">columns 0 to {wiring.columns - 1} across, '
        f"rows 0 to {wiring.rows - 1} down</text>{''.join(parts)}</svg>"
    )
    most = max(in_cabinet.values())
    alt = f"{len(job):,} nodes in {len(in_cabinet)} of {wiring.columns * wiring.rows} cabinets, at most {most} in one."
    return Drawing(title=title, alt=alt, svg=svg)


def _space_figure(wiring: Wiring, job: Sequence[NodeAddress]) -> Figure:
    """Return the torus as a box of points, those of the job marked."""
    places = sorted({node.coordinates for node in job})
    x_size, y_size, z_size = wiring.dimensions
    corners = [(x, y, z) for x in (0, x_size - 1) for y in (0, y_size - 1) for z in (0, z_size - 1)]
    data = [
        {
            "type": "scatter3d",
            "mode": "markers",
            "name": name,
            **{axis: [place[number] for place in points] for number, axis in enumerate("xyz")},
            "marker": {"size": size, "color": color, "symbol": symbol},
        }
        for name, points, size, color, symbol in (
            ("job", places, 4, STYLES[0].color, "circle"),
            ("corners of the torus", corners, 3, NEUTRAL.color, "cross"),
        )
    ]
    scene = {
        f"{axis}axis": {"title": {"text": axis}, "range": [-1, size]}
        for axis, size in zip("xyz", wiring.dimensions, strict=True)
    }
    spans = [len({place[axis] for place in places}) for axis in range(3)]
    return Figure(
        title="The job in the torus",
        alt=f"{len(places)} Geminis of a torus of {x_size} x {y_size} x {z_size}: they lie at {spans[0]} places of x, "
        f"{spans[1]} of y and {spans[2]} of z.",
        data=data,
        layout={
            "autosize": True,
            "height": 420,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "scene": scene | {"aspectmode": "data"},
        },
        table=Table(caption="Geminis of the job", columns=tuple(Column(axis) for axis in "xyz"), rows=places),
        bundle="gl3d",
    )


# An answer is one literal in the order in which it is shown.
def _answer(
    *, floor: str, nodes: int, order: str, start_fraction: float, busy_fraction: float, traffic: str, y_weight: float
) -> Result:
    """Answer for one placement."""
    wiring, there = _floor(floor)
    ordered = order_nodes(there, order)
    positions = free_positions(len(ordered), nodes, start_fraction=start_fraction, busy_fraction=busy_fraction)
    job = [ordered[position] for position in positions]
    places = [node.coordinates for node in job]
    plain = Torus(wiring.dimensions)
    lies = compactness_of(places, Torus(wiring.dimensions, (1, y_weight, 1)))
    runs, graph = len(runs_of(positions)), _neighbors(nodes)
    messages = sum(graph.values())
    neighbors = hops_of_graph(graph, places, plain) / messages if messages else 0.0
    bisection = bisection_bandwidth_gb_s(places, Machine.load("hopper")) if floor == "hopper" else None
    alone, beside = (
        _rates_gb_s(ordered, places, busy_fraction, traffic) if floor == "hopper" and nodes > 1 else (None,) * 2
    )
    rows = [
        ("Mean distance between nodes", lies.nodes, "hops"),
        (f"The same with Y counted {y_weight:g} times", lies.nodes_weighted, "hops"),
        ("Mean distance between Geminis", lies.geminis, "hops"),
        ("Greatest distance", lies.farthest, "hops"),
        ("Hops of a message to a neighbor on a 4-D grid", neighbors, "hops"),
        ("Volume of the convex hull", lies.hull.volume, "grid cells"),
        ("Surface of the convex hull", lies.hull.surface, "grid faces"),
        ("Runs in the node list", runs, ""),
        ("Bisection bandwidth", bisection, "GB/s"),
        ("Exchange of a node, alone", alone, "GB/s"),
        ("Exchange of a node, beside the busy nodes", beside, "GB/s"),
    ]
    columns = (Column("Metric"), Column("Value", decimals=2), Column("Unit"))
    return Result(
        summary=(
            f"{nodes:,} nodes in {order} order lie in {runs:,} {'run' if runs == 1 else 'runs'} of the list, "
            f"{lies.nodes:.2f} hops apart on average; two nodes picked at random would be {plain.mean_hops():.2f}."
        ),
        values=(
            Value("Mean distance between nodes", lies.nodes, "predicted", "hops", 2),
            Value("Mean distance, Y weighted", lies.nodes_weighted, "predicted", "hops", 2),
            *([] if bisection is None else [Value("Bisection bandwidth", bisection, "predicted", "GB/s", 1)]),
            *([] if beside is None else [Value("Exchange of a node", beside, "predicted", "GB/s", 2, note=_SHARED)]),
            Value("Definition of the order", order, "assumed", note="; ".join(ASSUMED)),
        ),
        drawings=(_floor_drawing(wiring, job),),
        figures=(_space_figure(wiring, job),),
        tables=(Table(caption="How compact the job lies", columns=columns, rows=rows),),
        copyables=(_map(wiring, there, job),),
        downloads=(_placement_file(job),),
        facts={
            "job_nodes": nodes,
            "first_position": positions[0],
            "mean_hops": lies.nodes,
            "weighted_hops": lies.nodes_weighted,
            "runs": runs,
            "neighbor_hops": neighbors,
            "bisection_gb_s": bisection,
            "alone_gb_s": alone,
            "exchange_gb_s": beside,
            "hull_volume": lies.hull.volume,
        },
    )


def _map(wiring: Wiring, there: Sequence[NodeAddress], job: Sequence[NodeAddress]) -> Copyable:
    """Return the floor as text."""
    service = {node.nid for node in wiring.addresses} - {node.nid for node in there}
    text = cabinet_map(wiring, {node.nid: 0 for node in job}, service=service)
    note = "a is the job, a dot any other node, S a service node; a line is a node of each blade."
    return Copyable("Cabinet map", text, note)


def _placement_file(job: Sequence[NodeAddress]) -> Download:
    """Return the nodes of the job as a file."""
    lines = "".join(f"{node.nid},{node.cname},{node.x},{node.y},{node.z}\n" for node in job)
    return Download(name="placement.csv", text=f"nid,cname,x,y,z\n{lines}", media_type="text/csv")


QUESTION = declared(__name__, _answer, options={"floor": [(name, label) for name, (label, _) in _FLOORS.items()]})
