"""Question: a job's position in the torus, the order in which nodes were allocated, and its compactness."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, heat_map
from hopperkit.questions.network.recording import histories, link_digits, named, places_of
from hopperkit.questions.result import Column, Download, Figure, Result, Table, Value, table
from hopperlib.machine import Machine
from hopperlib.network.runtime.exchange import Exchange, exchange_with_contention, neighbor_hops
from hopperlib.network.torus.allocation import (
    bisection_bandwidth_gb_s,
    hull_of_placement,
    max_hop_distance,
    mean_hop_distance,
)
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.hull import Hull
from hopperlib.network.torus.orders import ORDER_TITLES
from hopperlib.network.torus.placement import free_positions, jobs_on_busy
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.scheduling.schedule import runs_of
from hopperlib.text import count

_MOST_FOR_FARTHEST = 600


class Placement(ask.Setting):
    """One placement: the floor, and the nodes of the job."""

    floor: Machine = ask.machine(
        options=(
            ("hopper", "Hopper, 17 x 4 cabinets"),
            ("titan", "Titan, 25 x 8"),
        ),
    )
    nodes: int = ask.whole("Nodes of the job", 342, (1, 6000), help="342 nodes hold 8,192 tasks with 24 on each node.")
    order: str = ask.choice(
        "Order of the node list",
        "nid",
        ORDER_TITLES,
        assumed="No source prints how xyz and xyz-by2 are defined. Here xyz fills planes and xyz-by2 fills blocks of "
        "2 x 2 x 2.",
    )
    start_fraction: float = ask.fraction("First node, from the front of the list", 0.0)
    busy_fraction: float = ask.slider(
        "Busy part of the machine",
        0.0,
        (0.0, 0.9, 0.05),
        help="Busy nodes come in blocks of eight, which are spread over the list by a fixed rule. The job takes the "
        "first free nodes.",
    )
    traffic: str = ask.choice(
        "Pattern of the busy nodes",
        "assumed",
        {
            "none": "send nothing",
            "assumed": "send, some to all, some to files",
            "double": "send twice as much",
        },
        assumed="No source prints what other jobs sent: half a GB/s a node on average.",
    )
    machine_file: str = ask.machine_file()

    @property
    def ordered(self) -> Sequence[NodeAddress]:
        """The nodes for jobs in their order."""
        return places_of(self.floor, self.order)

    @cached_property
    def wiring(self) -> Wiring:
        """The floor."""
        return Wiring.of(self.floor)

    @cached_property
    def positions(self) -> list[int]:
        """Positions of the job in that list."""
        return free_positions(
            len(self.ordered), self.nodes, start_fraction=self.start_fraction, busy_fraction=self.busy_fraction
        )

    @cached_property
    def others(self) -> list[list[int]]:
        """Locations of the jobs on the busy nodes."""
        return jobs_on_busy(len(self.ordered), self.busy_fraction)

    @cached_property
    def job(self) -> list[NodeAddress]:
        """The nodes of the job."""
        return [self.ordered[position] for position in self.positions]

    @property
    def places(self) -> list[Coordinates]:
        """Their coordinates."""
        return [node.coordinates for node in self.job]

    @cached_property
    def geminis(self) -> list[Coordinates]:
        """The Geminis of the job."""
        return sorted(set(self.places))

    @cached_property
    def hull(self) -> Hull:
        """Their convex hull."""
        return hull_of_placement(self.geminis, Torus(self.wiring.dimensions))

    @cached_property
    def exchange(self) -> Exchange | None:
        """How fast the job exchanges data; None where the links are not known, or there is nobody to talk to."""
        network = histories(self.floor)
        if network is None or self.nodes == 1:
            return None
        others = [[self.ordered[position].coordinates for position in part] for part in self.others]
        return exchange_with_contention(network, self.places, others, self.traffic)

    def recording(self, _: int) -> dict[str, Any]:
        """Return the job, and those on the busy nodes, at rest: see `hopperkit.questions.network.recording.Recorder`."""
        jobs = enumerate([self.positions, *self.others], start=1)
        held = [(number, 0, 60, runs_of(positions), 0, 0) for number, positions in jobs]
        return {"from_s": 0, "until_s": 0, "end_s": 0, "held": held, "follow": [1]} | named(self.floor, self.order)

    def links(self, _: int) -> str:
        """Return the link loads; empty if unknown."""
        return link_digits(self.exchange.link_shares, self.wiring.dimensions) if self.exchange else ""


def answer(placement: Placement) -> Result:
    """Return the answer.

    Parameters
    ----------
    placement : Placement
        One placement: the floor, and the nodes of the job.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Placement()).facts['mean_hops'], 2)
    7.99
    """
    facts = _facts(placement)
    rows = "".join(f"{node.nid},{node.cname},{node.x},{node.y},{node.z}\n" for node in placement.job)
    return Result(
        summary=_summary(placement, facts),
        values=tuple(_values(facts)),
        figures=(_floor(placement),),
        tables=(_compactness(placement, facts),),
        downloads=(Download("placement.csv", f"nid,cname,x,y,z\n{rows}", "text/csv"),),
        facts=facts,
        watched=lambda: placement,
    )


def _facts(placement: Placement) -> dict[str, Any]:
    places, exchange, dimensions = placement.places, placement.exchange, placement.wiring.dimensions
    return {
        "job_nodes": placement.nodes,
        "first_position": placement.positions[0],
        "mean_hops": mean_hop_distance(places, Torus(dimensions)),
        # NERSC's study of variability counted a hop along Y double: its links have about half the bandwidth.
        "weighted_hops": mean_hop_distance(places, Torus(dimensions, (1, 2, 1))),
        "runs": len(runs_of(placement.positions)),
        "neighbor_hops": neighbor_hops(places, Torus(dimensions)),
        "bisection_gb_s": bisection_bandwidth_gb_s(places, placement.floor) if histories(placement.floor) else None,
        "alone_gb_s": exchange and exchange.alone_gb_s,
        "exchange_gb_s": exchange and exchange.shared_gb_s,
        "hull_volume": placement.hull.volume,
    }


def _summary(placement: Placement, facts: dict[str, Any]) -> str:
    lie = f"in {placement.order} order {'is' if placement.nodes == 1 else 'are'}"
    return (
        f"{count(placement.nodes, 'node')} {lie} in {count(facts['runs'], 'run')} of the list, {facts['mean_hops']:.2f} hops "
        f"apart on average; two nodes picked at random would be {Torus(placement.wiring.dimensions).mean_hops():.2f}."
    )


def _values(facts: dict[str, Any]) -> Iterator[Value]:
    yield Value("Mean distance between nodes", facts["mean_hops"], "predicted", "hops", 2)
    if facts["bisection_gb_s"] is not None:
        yield Value("Bisection bandwidth", facts["bisection_gb_s"], "predicted", "GB/s", 1)
    if facts["exchange_gb_s"] is not None:
        note = "with neighbors on a 4-D grid, links shared max-min fair"
        yield Value("Exchange rate of a node", facts["exchange_gb_s"], "predicted", "GB/s", 2, note=note)


def _compactness(placement: Placement, facts: dict[str, Any]) -> Table:
    geminis, torus = placement.geminis, Torus(placement.wiring.dimensions)
    # The pairs grow with the square of the Geminis.
    farthest = max_hop_distance(geminis, torus) if len(geminis) <= _MOST_FOR_FARTHEST else None
    rows = [
        ("Mean distance between nodes, Y counted double", facts["weighted_hops"], "hops"),
        ("Mean distance between Geminis", mean_hop_distance(geminis, torus), "hops"),
        ("Greatest distance", farthest, "hops"),
        ("Hops of a message to a neighbor on a 4-D grid", facts["neighbor_hops"], "hops"),
        ("Volume of the convex hull", placement.hull.volume, "grid cells"),
        ("Surface of the convex hull", placement.hull.surface, "grid faces"),
        ("Runs in the node list", facts["runs"], ""),
        ("Exchange rate of a node, alone", facts["alone_gb_s"], "GB/s"),
    ]
    columns = (Column("Metric"), Column("Value", decimals=2), Column("Unit"))
    return Table(caption="Compactness of the job", columns=columns, rows=rows)


def _floor(placement: Placement) -> Figure:
    """Return the floor seen from above: the number of the job's nodes in each cabinet."""
    wiring = placement.wiring
    in_cabinet = Counter(node.on_floor[:2] for node in placement.job)
    columns, rows = range(wiring.columns), range(wiring.rows)
    return heat_map(
        title="The floor from above: nodes of the job in each cabinet",
        alt=f"{count(placement.nodes, 'node')} in {len(in_cabinet)} of {wiring.columns * wiring.rows} cabinets, "
        f"at most {max(in_cabinet.values())} in one.",
        x=Axis(title="Column of cabinets"),
        y=Axis(title="Row of cabinets"),
        xs=columns,
        ys=rows,
        cells=[[in_cabinet.get((column, row)) for column in columns] for row in rows],
        scale="nodes of the job",
        table=table(
            "Nodes of the job by cabinet",
            sorted(in_cabinet.items()),
            {"Column": lambda at: at[0][0], "Row": lambda at: at[0][1], "Nodes": lambda at: at[1]},
        ),
    )


QUESTION = ask.declared(
    Placement,
    answer,
    title="Where is a job in the torus?",
    examples={
        "MILC after a reboot": {"nodes": 342, "order": "nid", "busy_fraction": 0.0},
        "MILC on a busy machine": {"nodes": 342, "order": "nid", "busy_fraction": 0.9},
        "The same in blocks": {"nodes": 342, "order": "xyz-by2", "busy_fraction": 0.9},
        "A small job in blocks": {"nodes": 16, "order": "xyz-by2"},
    },
)
