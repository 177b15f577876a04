"""One snapshot of the full machine: what every job sends over every link, and the rate that each gets."""

from __future__ import annotations

import random
from collections import Counter

from benchmarks.bench_hops import best_s
from benchmarks.side_by_side import Comparison
from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.runtime.sharing import MIXES, Stream, draw_habit, fair_rates, streams_of
from hopperlib.network.torus.distances import Coordinates
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import Wiring
from hopperlib.scheduling.aging import aged_machine

_DAY = 86_400


def _by_routes(messages: list[tuple[Coordinates, Coordinates, float]], sizes: Coordinates) -> Counter[tuple[int, ...]]:
    """Return the messages on each directed link, walking every route."""
    loads: Counter[tuple[int, ...]] = Counter()
    for start, end, count in messages:
        here = list(start)
        for axis, size in enumerate(sizes):
            ahead = (end[axis] - here[axis]) % size
            ways = (
                [(ahead, 1)]
                if 2 * ahead < size
                else [(size - ahead, -1)]
                if 2 * ahead > size
                else [(ahead, 1), (ahead, -1)]
            )
            for hops, sign in ways:
                place = list(here)
                for _ in range(hops):
                    loads[axis, sign, *place] += count / len(ways)
                    place[axis] = (place[axis] + sign) % size
            here[axis] = end[axis]
    return loads


def measure() -> list[Comparison]:
    """Time the loads and rates of all jobs at one instant, and the counting of one job's routes one by one."""
    hopper = Machine.load("hopper")
    links, compute = LinkMap(hopper), compute_nodes(hopper)
    routers = Counter(node.coordinates for node in set(Wiring.of(hopper).addresses) - set(compute))
    places = [node.coordinates for node in order_nodes(compute, "xyz-by2")]
    schedule = aged_machine("production", nodes=len(places), days=6, load=0.95)
    rng, instant, jobs = random.Random(1), 5 * _DAY, []
    for index, (start, end) in enumerate(zip(schedule.start_s, schedule.end_s, strict=True)):
        habit = draw_habit(rng)
        if start <= instant < end and schedule.run_count[index]:
            jobs.append(([places[at] for low, high in schedule.runs(index) for at in range(low, high)], habit))

    def snapshot() -> list[float]:
        streams: list[Stream] = []
        for nodes, habit in jobs:
            streams += streams_of(links, nodes, habit, MIXES["assumed"], routers=routers, write_gb_s=0.1)
        return fair_rates(links, streams, injection_gb_s=6.0)

    nodes = max((nodes for nodes, _ in jobs if len(nodes) < 400), key=len)
    everybody = Counter(nodes)
    pairs = [(a, b, float(m * n)) for a, m in everybody.items() for b, n in everybody.items()]
    walked = _by_routes(pairs, links.dimensions)
    counted = {
        (axis, sign, *at): count for (axis, at, sign), count, _ in links.each(links.between(everybody, everybody))
    }
    assert counted == {link: count for link, count in walked.items() if count}
    return [
        Comparison(
            what=f"loads and fair rates of {len(jobs)} jobs on {sum(len(nodes) for nodes, _ in jobs):,} nodes",
            ours_s=best_s(snapshot, 1, 20),
            peer="none",
            peer_s=None,
            note="all links of the torus, both directions",
        ),
        Comparison(
            what=f"everybody to everybody on {len(nodes)} nodes",
            ours_s=best_s(lambda: links.between(everybody, everybody), 1, 20),
            peer="a walk over every route",
            peer_s=best_s(lambda: _by_routes(pairs, links.dimensions), 1, 2),
            note="the same loads",
        ),
    ]
