"""Question: where a job lies in the torus, in which order the nodes were handed out, and how compact that is."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from hopperlib.network.runtime.placed_jobs import Histories, milc_stream
from hopperlib.network.runtime.sharing import MIXES, Stream, draw_habit, fair_rates, shares_in_use, streams_of
from hopperlib.network.runtime.traffic import grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.torus.allocation import bisection_bandwidth_gb_s, runs_of
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.maps import cabinet_map
from hopperlib.network.torus.orders import ASSUMED
from hopperlib.network.torus.placement import busy, compactness_of, free_positions
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.questions.figures import NEUTRAL, STYLES
from hopperlib.questions.network.recording import histories, link_digits, named, places_of
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Download, Drawing, Figure, Result
from hopperlib.questions.wording import Said

# The busy nodes belong to jobs of so many, of which some write at such a rate a node. Both are assumed.
_NEIGHBOR_NODES, _WRITE_GB_S = 128, 0.1


@lru_cache(maxsize=4)
def _neighbors(nodes: int) -> Mapping[tuple[int, int], int]:
    """Return who talks to whom in a job of 24 tasks a node on a four-dimensional grid."""
    return nearest_neighbors(grid_dimensions(24 * nodes), 24)


def _shade(share: float) -> str:
    """Return a color from nearly white to blue, the same in light and dark, so that dark figures stand out on it."""
    if not share:
        return "none"
    return "#" + "".join(f"{round(255 + (0.15 + 0.85 * share) * (end - 255)):02x}" for end in (0x8F, 0xC7, 0xEE))


class _Placed(Asked):
    """One placement: the floor, and the nodes of the job."""

    @property
    def ordered(self) -> Sequence[NodeAddress]:
        """The nodes for jobs in their order."""
        return places_of(self.on, self.order)

    @cached_property
    def positions(self) -> list[int]:
        """Where the job lies in that list."""
        settings = {"start_fraction": self.start_fraction, "busy_fraction": self.busy_fraction}
        return free_positions(len(self.ordered), self.nodes, **settings)

    @property
    def neighbors(self) -> list[list[int]]:
        """Where the jobs on the busy nodes lie."""
        there = [position for position in range(len(self.ordered)) if busy(position, self.busy_fraction)]
        return [there[first : first + _NEIGHBOR_NODES] for first in range(0, len(there), _NEIGHBOR_NODES)]

    @property
    def job(self) -> list[NodeAddress]:
        """Its nodes."""
        return [self.ordered[position] for position in self.positions]

    @cached_property
    def shared(self) -> tuple[Histories, list[Stream], list[float]] | None:
        """The network, what the job and its neighbors send, and how fast: the rates of their streams. [GB/s a node]"""
        network = histories(self.on)
        if network is None or self.nodes == 1:
            return None
        links, injection_gb_s = network.links, network.injection_gb_s
        places = [node.coordinates for node in self.job]
        rng, streams = random.Random(1), [milc_stream(links, _neighbors(self.nodes), places, injection_gb_s)]
        for part in self.neighbors if self.traffic != "none" else ():
            there, habit = [self.ordered[position].coordinates for position in part], draw_habit(rng)
            streams += streams_of(
                links, there, habit, MIXES[self.traffic], routers=network.routers, write_gb_s=_WRITE_GB_S
            )
        return network, streams, fair_rates(links, streams, injection_gb_s=injection_gb_s)

    def result(self) -> Result:
        """Return the answer."""
        wiring, job, shared = Wiring.of(self.on), self.job, self.shared
        places = [node.coordinates for node in job]
        plain, graph = Torus(wiring.dimensions), _neighbors(self.nodes)
        messages = sum(graph.values())
        alone = beside = None
        if shared:
            network, streams, (beside, *_) = shared
            (alone,) = fair_rates(network.links, streams[:1], injection_gb_s=network.injection_gb_s)
        said = self.said(
            lies=compactness_of(places, Torus(wiring.dimensions, (1, self.y_weight, 1))),
            picked=plain.mean_hops(),
            runs=len(runs_of(self.positions)),
            neighbors=hops_of_graph(graph, places, plain) / messages if messages else 0.0,
            bisection=bisection_bandwidth_gb_s(places, self.on) if histories(self.on) else None,
            alone=alone,
            beside=beside,
            assumed="; ".join(ASSUMED),
            map=self._map(),
        )
        lines = "".join(f"{node.nid},{node.cname},{node.x},{node.y},{node.z}\n" for node in job)
        return said.result(
            drawings=(self._floor_drawing(said),),
            figures=(self._space_figure(said),),
            downloads=(Download(name="placement.csv", text=f"nid,cname,x,y,z\n{lines}", media_type="text/csv"),),
            watched=lambda: self,
        )

    def recording(self, _: int) -> dict[str, Any]:
        """Return the job, and those on the busy nodes, as they stand: see `hopperlib.questions.network.recording.Recorder`."""
        jobs = enumerate([self.positions, *self.neighbors], start=1)
        held = [(number, 0, 60, runs_of(positions), 0, 0) for number, positions in jobs]
        return {"from_s": 0, "until_s": 0, "end_s": 0, "held": held, "follow": [1]} | named(self.on, self.order)

    def links(self, _: int) -> str:
        """Return how full the links are; nothing where that is not known."""
        if not self.shared:
            return ""
        network, streams, rates = self.shared
        return link_digits(shares_in_use(network.links, streams, rates), network.links.dimensions)

    def _map(self) -> str:
        """Return the floor as text."""
        service = {node.nid for node in Wiring.of(self.on).addresses} - {node.nid for node in self.ordered}
        return cabinet_map(Wiring.of(self.on), {node.nid: 0 for node in self.job}, service=service)

    def _floor_drawing(self, said: Said) -> Drawing:
        """Return the floor seen from above: in each cabinet how many of the job's nodes stand there."""
        wiring = Wiring.of(self.on)
        in_cabinet = Counter(node.on_floor[:2] for node in self.job)
        pitch, full = 348 / wiring.columns, wiring.cages * wiring.slots * 4
        middle, font = (pitch / 2 - 1, pitch / 2 + 3), min(9, pitch / 2)
        said = said.also(width=pitch - 2, size=pitch, full=full, middle=middle, font=font)
        parts = []
        for row, column in product(range(wiring.rows), range(wiring.columns)):
            count, corner = in_cabinet[column, row], (6 + column * pitch, 22 + row * (pitch + 4))
            shade = _shade(count / full)
            parts.append(said.text("cabinet", column=column, row=row, count=count, corner=corner, shade=shade))
        title = said.text("floor")
        height, most = 30 + wiring.rows * (pitch + 4), max(in_cabinet.values())
        svg = said.text(
            "floor_svg", title=title, height=height, parts="".join(parts), last=(wiring.columns - 1, wiring.rows - 1)
        )
        alt = said.text("floor_alt", filled=len(in_cabinet), cabinets=wiring.columns * wiring.rows, most=most)
        return Drawing(title=title, alt=alt, svg=svg)

    def _space_figure(self, said: Said) -> Figure:
        """Return the torus as a box of points, those of the job marked."""
        places = sorted({node.coordinates for node in self.job})
        sizes = Wiring.of(self.on).dimensions
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
                ("corners of the torus", list(product(*((0, size - 1) for size in sizes))), 3, NEUTRAL.color, "cross"),
            )
        ]
        scene: dict[str, Any] = {"aspectmode": "data"}
        for axis, size in zip("xyz", sizes, strict=True):
            scene[f"{axis}axis"] = {"title": {"text": axis}, "range": [-1, size]}
        spans = [len({place[axis] for place in places}) for axis in range(3)]
        return Figure(
            title=said.text("space"),
            alt=said.text("space_alt", geminis=len(places), sizes=sizes, spans=spans),
            data=data,
            layout={"autosize": True, "height": 420, "margin": dict.fromkeys("lrtb", 0), "scene": scene},
            table=said.table("geminis", places),
            bundle="gl3d",
        )


QUESTION = declared(__name__, _Placed.answer)
