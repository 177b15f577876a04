"""The dragonfly against published wirings, breadth-first search and routes written out one by one."""

import hashlib
import random
from collections import Counter, defaultdict, deque
from itertools import product

import pytest

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.fabrics.fabric import Traffic
from hopperlib.network.fabrics.of_machine import fabric_of

AXES = [
    Dragonfly(3, 1, 2, 2, links_per_pair=1),
    Dragonfly(5, 1, 4, 1, links_per_pair=2),
    Dragonfly(4, 2, 3, 1, links_per_pair=4, parallel=2, column_links=3),
    Dragonfly(3, 3, 3, 1, links_per_pair=6, parallel=2),
    Dragonfly(2, 2, 2, 1, links_per_pair=4, column_links=3),
    Dragonfly(6, 1, 3, 1, links_per_pair=5),
]


def cables(fabric: Dragonfly) -> list[tuple[int, int, str]]:
    """Every directed link between switches, with its Aries color, counted from the model's links."""
    each = []
    for _, link in fabric.links():
        if link.kind == "global":
            ends = zip(fabric.gateways(link.start, link.end), fabric.gateways(link.end, link.start), strict=True)
            size = fabric.switches
            each += [
                (link.start * size + a, link.end * size + b, "blue") for a, b in ends for _ in range(fabric.parallel)
            ]
        else:
            same_row = link.start // fabric.columns == link.end // fabric.columns
            side_by_side = fabric.row_links if same_row else fabric.column_links
            each += [(link.start, link.end, "green" if same_row else "black")] * side_by_side
    return each


# The links of two machines as published (github codes-org/codes, scripts/gen-cray-topo, theta.interconnect and
# links-edison.txt): the lines whose other end is a switch, as "from to color" with switch = group * 96 + chassis * 16 +
# slot (groups counted in order: the second list has none of number 12), sorted and hashed.
@pytest.mark.parametrize(
    ("groups", "links_per_pair", "counts", "digest"),
    [
        (
            9,
            48,
            {"green": 12_960, "black": 12_960, "blue": 3_456},
            "8949b62c6c610b6ddeb57ce160bd671467b0e0b8988069c6723616120728095c",
        ),
        (
            15,
            24,
            {"green": 21_600, "black": 21_600, "blue": 5_040},
            "ed18dbbc413c2747910f2eb99dd0f010421b20f7f8d2f88dc2d13a0649158d28",
        ),
    ],
)
def test_every_link_of_two_published_machines(
    groups: int, links_per_pair: int, counts: dict[str, int], digest: str
) -> None:
    fabric = Dragonfly(groups, 6, 16, 4, links_per_pair=links_per_pair, parallel=2, column_links=3)
    links = sorted(cables(fabric))
    assert Counter(color for _, _, color in links) == counts
    text = "".join(f"{start} {end} {color}\n" for start, end, color in links)
    assert hashlib.sha256(text.encode()).hexdigest() == digest


def shortest(fabric: Dragonfly, source: int) -> dict[int, tuple[int, int]]:
    """Length and number of the shortest paths from a switch that cross at most one link between groups."""
    ends = defaultdict[int, list[tuple[int, bool]]](list)
    for start, end, color in cables(fabric):
        ends[start].append((end, color == "blue"))
    # The state of a path is its switch and the links between groups that it has crossed.
    length, ways, queue = {(source, 0): 0}, Counter({(source, 0): 1}), deque([(source, 0)])
    while queue:
        here = queue.popleft()
        for end, crosses in ends[here[0]]:
            state = end, here[1] + crosses
            if state[1] > 1:
                continue
            if state not in length:
                length[state] = length[here] + 1
                queue.append(state)
            if length[state] == length[here] + 1:
                ways[state] += ways[here]
    found = {}
    for switch in range(fabric.groups * fabric.switches):
        crossed = int(switch // fabric.switches != source // fabric.switches)
        found[switch] = length[switch, crossed], ways[switch, crossed]
    return found


@pytest.mark.parametrize("fabric", AXES)
def test_distances_and_ways_are_those_of_breadth_first_search(fabric: Dragonfly) -> None:
    each = fabric.nodes_per_switch
    for source in range(fabric.groups * fabric.switches):
        for switch, (length, ways) in shortest(fabric, source).items():
            assert fabric.distance(source * each, switch * each) == length
            assert fabric.minimal_ways(source, switch) == ways


@pytest.mark.parametrize("sources", [(300,), pytest.param((0, 95, 777), marks=pytest.mark.nightly)])
def test_ways_of_the_published_machines_from_some_switches(sources: tuple[int, ...]) -> None:
    for groups, links_per_pair in ((9, 48), (15, 24)):
        fabric = Dragonfly(groups, 6, 16, 4, links_per_pair=links_per_pair, parallel=2, column_links=3)
        for source in sources:
            for switch, (length, ways) in shortest(fabric, source).items():
                assert (fabric.distance(4 * source, 4 * switch), fabric.minimal_ways(source, switch)) == (length, ways)


@pytest.mark.parametrize("fabric", AXES)
def test_a_route_is_a_chain_of_links(fabric: Dragonfly) -> None:
    links = dict(fabric.links())
    for a, b in product(range(0, fabric.nodes, fabric.nodes_per_switch), repeat=2):
        route = [links[number] for number in fabric.route(a, b)]
        assert len(route) == fabric.distance(a, b)
        assert sum(link.kind == "global" for link in route) == (fabric.group_of(a) != fabric.group_of(b))


def local_ways(fabric: Dragonfly, group: int, a: int, b: int) -> list[list[int]]:
    """All shortest ways inside a group, as link numbers."""
    columns, size = fabric.columns, fabric.switches
    if a == b:
        return [[]]
    if a // columns == b // columns or a % columns == b % columns:
        return [[(group * size + a) * size + b]]
    corners = (a // columns * columns + b % columns, b // columns * columns + a % columns)
    return [[(group * size + a) * size + c, (group * size + c) * size + b] for c in corners]


def minimal(fabric: Dragonfly, a: int, b: int) -> list[tuple[float, list[int], int]]:
    """All minimal routes between two switches with their probabilities."""
    size = fabric.switches
    (g, start), (h, end) = divmod(a, size), divmod(b, size)
    if g == h:
        ways = local_ways(fabric, g, start, end)
        return [(1 / len(ways), way, 0) for way in ways]
    across = fabric.groups * size**2 + g * fabric.groups + h
    routes = []
    ends = list(zip(fabric.gateways(g, h), fabric.gateways(h, g), strict=True))
    for out, back in ends:
        first, last = local_ways(fabric, g, start, out), local_ways(fabric, h, back, end)
        chance = 1 / len(ends) / len(first) / len(last)
        routes += [(chance, [*one, across, *two], back) for one in first for two in last]
    return routes


def to_gateways(fabric: Dragonfly, a: int, group: int) -> list[tuple[float, list[int], int]]:
    """All paths from a switch to the arriving links of another group."""
    size = fabric.switches
    g, start = divmod(a, size)
    ends = list(zip(fabric.gateways(g, group), fabric.gateways(group, g), strict=True))
    across = fabric.groups * size**2 + g * fabric.groups + group
    routes = []
    for out, back in ends:
        ways = local_ways(fabric, g, start, out)
        routes += [(1 / len(ends) / len(ways), [*way, across], group * size + back) for way in ways]
    return routes


def detours(fabric: Dragonfly, a: int, b: int) -> list[tuple[float, list[int]]]:
    """All detours with their probabilities."""
    size = fabric.switches
    g, h = a // size, b // size
    if g == h:
        thirds = [s for s in range(g * size, (g + 1) * size) if s not in (a, b)]
        if a == b or not thirds:
            return [(chance, way) for chance, way, _ in minimal(fabric, a, b)]
        return [
            (p * q / len(thirds), [*one, *two])
            for third in thirds
            for p, one, _ in minimal(fabric, a, third)
            for q, two, _ in minimal(fabric, third, b)
        ]
    thirds = [k for k in range(fabric.groups) if k not in (g, h)]
    if not thirds:
        return [(chance, way) for chance, way, _ in minimal(fabric, a, b)]
    return [
        (p * q / len(thirds), [*one, *two])
        for third in thirds
        for p, one, there in to_gateways(fabric, a, third)
        for q, two, _ in minimal(fabric, there, b)
    ]


@pytest.mark.parametrize("cases", [50, pytest.param(200, marks=pytest.mark.nightly)])
def test_loads_are_those_of_all_routes_written_out(cases: int) -> None:
    rng = random.Random(30)
    for _ in range(cases):
        fabric = rng.choice(AXES)
        switches = fabric.groups * fabric.switches
        traffic = Counter[tuple[int, int]]()
        for _ in range(rng.randint(1, 8)):
            traffic[rng.randrange(switches), rng.randrange(switches)] += rng.randint(1, 5)
        pairs = {pair: float(count) for pair, count in traffic.items()}
        for routing in fabric.routings:
            expected = Counter[int]()
            for (a, b), count in pairs.items():
                if routing == "minimal":
                    routes = [(chance, way) for chance, way, _ in minimal(fabric, a, b)]
                else:
                    routes = detours(fabric, a, b)
                assert sum(chance for chance, _ in routes) == pytest.approx(1)
                for chance, way in routes:
                    for link in way:
                        expected[link] += chance * count
            loads = fabric.loads(Traffic(pairs, {}, 1.0), routing)
            assert {k: v for k, v in loads.items() if v > 1e-12} == pytest.approx(dict(expected))


@pytest.mark.parametrize("fabric", AXES)
@pytest.mark.parametrize("routing", ["minimal", "valiant"])
def test_all_to_all_by_counts_is_all_pairs_written_out(fabric: Dragonfly, routing: str) -> None:
    rng = random.Random(7)
    nodes = Counter(rng.randrange(fabric.groups * fabric.switches) for _ in range(9))
    compact = Traffic(None, nodes, 8.0)
    pairs = {(a, b): float(count * (nodes[b] - (a == b))) for a, count in nodes.items() for b in nodes}
    written = Traffic(pairs, nodes, 8.0)
    assert fabric.loads(compact, routing) == pytest.approx(dict(fabric.loads(written, routing)))


def test_refusals() -> None:
    with pytest.raises(InputError, match="links_per_pair=3 must be a multiple of parallel=2"):
        Dragonfly(3, 1, 4, 1, links_per_pair=3, parallel=2)
    with pytest.raises(InputError, match="groups=0 must be at least 1"):
        Dragonfly(0, 1, 4, 1, links_per_pair=3)
    with pytest.raises(InputError, match="routing='adaptive' must be one of: minimal, valiant"):
        AXES[0].loads(Traffic({}, {}, 1.0), "adaptive")
    with pytest.raises(InputError, match="at most 50,000 switches"):
        Dragonfly(1000, 10, 10, 1, links_per_pair=1)
    with pytest.raises(InputError, match=r"global_gb_s=0 must be above 0"):
        Dragonfly(3, 1, 4, 1, links_per_pair=3, global_gb_s=0)


def test_capacities_of_cori_by_its_printed_links():
    # NeSI's Aries page: 14 Gb/s on three lanes per link inside a group, 14 x 3 / 8 = 5.25 GB/s; NERSC: one green link
    # in a row, three black ones in a column, 3 x 5.25 = 15.75 GB/s. Between groups 12.5 x 3 / 8 = 4.6875, printed 4.69
    # GB/s, and 24 links per pair of groups: 112.56 GB/s. None of these is taken from the code.
    fabric = fabric_of(Machine.load("cori"))
    assert isinstance(fabric, Dragonfly)
    kinds = defaultdict(set)
    for number, link in fabric.links():
        if link.kind == "global":
            kinds["blue"].add(round(fabric.capacity_gb_s[number], 2))
        else:
            same_row = link.start // fabric.columns == link.end // fabric.columns
            kinds["green" if same_row else "black"].add(round(fabric.capacity_gb_s[number], 2))
    assert kinds == {"green": {5.25}, "black": {15.75}, "blue": {112.56}}
