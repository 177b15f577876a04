"""Fat trees in closed form and route by route; max-min rates by the condition that defines them; questions end to end."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.fabrics.bisection import adaptive_bisection, effective_bisection
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.fabrics.fabric import Fabric, Traffic
from hopperlib.network.fabrics.of_machine import fabric_of
from hopperlib.network.fabrics.patterns import PATTERNS, messages_of
from hopperlib.network.fabrics.rates import fair_rates, lay, slowdown_from_traffic
from hopperlib.network.fabrics.tree import SwitchTree, fat_tree

SMALL = fat_tree(
    nodes_per_leaf=3, leaves_per_pod=2, leaf_uplinks=2, pods=3, pod_uplinks=4, link_gb_s=5.0, node_gb_s=10.0
)


def test_distances_of_a_full_tree_in_closed_form() -> None:
    # 18 nodes per leaf, 18 leaves per pod, 11 pods, as in a machine of 3,564 positions: of the other nodes, 17 share a
    # node's leaf, 17 x 18 its pod, 10 x 324 are in other pods.
    tree = fat_tree(nodes_per_leaf=18, leaves_per_pod=18, leaf_uplinks=18, pods=11, pod_uplinks=324)
    counts = Counter(tree.distance(0, other) for other in range(1, tree.nodes))
    assert counts == {0: 17, 2: 17 * 18, 4: 10 * 324}
    # Each leaf and each pod has its links, both ways.
    assert sum(1 for _ in tree.links()) == 2 * (198 * 18 + 11 * 324)


def test_links_are_numbered_from_nothing_upwards() -> None:
    # Two leaves with two links each to one spine, a number for each direction: up and down 0 to 3, then 4 to 7.
    tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=2)
    assert [number for number, _ in tree.links()] == list(range(8))


def test_static_loads_are_those_of_all_routes() -> None:
    rng = random.Random(3)
    for _ in range(50):
        places = rng.sample(range(SMALL.nodes), 8)
        messages = dict.fromkeys((tuple(rng.sample(range(8), 2)) for _ in range(10)), 1.0)
        expected = Counter(link for a, b in messages for link in SMALL.route(places[a], places[b]))
        assert SMALL.loads(Traffic.between(SMALL, places, messages), "static") == pytest.approx(dict(expected))
        whole = Counter(link for a in places for b in places if a != b for link in SMALL.route(a, b))
        assert SMALL.loads(Traffic.between(SMALL, places, None), "static") == pytest.approx(dict(whole))


def test_spread_loads_share_what_crosses_a_switch() -> None:
    rng = random.Random(4)
    for _ in range(50):
        places = rng.sample(range(SMALL.nodes), 8)
        # Each of several parallel links carries the mean of the fixed routes on all of them.
        static: Counter[tuple[int, int, str]] = Counter()
        spread: Counter[tuple[int, int, str]] = Counter()
        links = dict(SMALL.links())
        traffic = Traffic.between(SMALL, places, None)
        for routing, sums in (("static", static), ("spread", spread)):
            for number, messages in SMALL.loads(traffic, routing).items():
                sums[links[number][:3]] += messages
        assert dict(spread) == pytest.approx(dict(static))


def test_rates_are_max_min_fair() -> None:
    rng = random.Random(5)
    dragonfly = Dragonfly(4, 2, 2, 2, links_per_pair=2, local_gb_s=4.0, global_gb_s=3.0, node_gb_s=10.0)
    fabrics: list[Fabric] = [SMALL, dragonfly]
    for _ in range(30):
        fabric = rng.choice(fabrics)
        jobs = [rng.sample(range(fabric.nodes), 4) for _ in range(4)]
        traffics = [Traffic.between(fabric, places, messages_of("shift", 4, rng)) for places in jobs]
        wants = [rng.uniform(0.1, 10.0) for _ in jobs]
        loads = [fabric.loads(traffic, fabric.routings[0]) for traffic in traffics]
        rates = fair_rates(fabric, traffics, wants, loads)
        carried = Counter[int]()
        for traffic, rate, each in zip(traffics, rates, loads, strict=True):
            for link, messages in each.items():
                carried[link] += rate / traffic.sends * messages
        assert all(gb_s <= fabric.capacity_gb_s[link] * (1 + 1e-9) for link, gb_s in carried.items())
        # Definition of max-min fairness: a stream below its wanted rate crosses a full link on which no stream is
        # faster.
        for job, rate in enumerate(rates):
            if rate < wants[job] * (1 - 1e-9):
                full = [k for k in loads[job] if carried[k] >= fabric.capacity_gb_s[k] * (1 - 1e-9)]
                assert any(
                    all(rates[o] <= rate * (1 + 1e-9) for o, each in enumerate(loads) if k in each) for k in full
                )


def by_linear_programs(wants: list[float], capacity: list[float], weights: list[dict[int, float]]) -> list[float]:
    """Max-min fair rates: raise the least unsettled rate, settle rates that cannot rise, continue with the others."""
    optimize = pytest.importorskip("scipy.optimize")
    jobs = len(wants)
    settled: dict[int, float] = {}
    links = [[row.get(job, 0.0) for job in range(jobs)] for row in weights]

    def most(gain: list[float], least: float | None) -> float:
        # The last variable is the least unsettled rate, unless one is given.
        rows = [[*row, 0.0] for row in links]
        bounds = [
            (rate, rate) if (rate := settled.get(job)) is not None else (least or 0.0, wants[job])
            for job in range(jobs)
        ]
        if least is None:
            rows += [
                [-float(job == each) for job in range(jobs)] + [1.0] for each in range(jobs) if each not in settled
            ]
        limits = [*capacity, *([0.0] * (len(rows) - len(capacity)))]
        cost = [-each for each in gain]
        solved = optimize.linprog(cost, A_ub=rows, b_ub=limits, bounds=[*bounds, (0.0, max(wants))], method="highs")
        assert solved.status == 0
        return -float(solved.fun)

    while len(settled) < jobs:
        least = most([0.0] * jobs + [1.0], None)
        open_jobs = [job for job in range(jobs) if job not in settled]
        slack = least * (1 - 1e-9)
        stuck = [
            job
            for job in open_jobs
            if most([float(job == each) for each in range(jobs)] + [0.0], slack) <= least * (1 + 1e-7)
        ]
        assert stuck
        settled |= dict.fromkeys(stuck, least)
    return [settled[job] for job in range(jobs)]


@pytest.mark.parametrize("cases", [5, pytest.param(40, marks=pytest.mark.nightly)])
def test_rates_are_those_of_linear_programs(cases: int) -> None:
    rng = random.Random(11)
    small = Dragonfly(4, 2, 2, 2, links_per_pair=2, local_gb_s=4.0, global_gb_s=3.0, node_gb_s=10.0)
    fabrics: list[Fabric] = [SMALL, small]
    held = 0
    for _ in range(cases):
        fabric = rng.choice(fabrics)
        routing = rng.choice(fabric.routings)
        traffics = [
            Traffic.between(
                fabric, rng.sample(range(fabric.nodes), 6), messages_of(rng.choice(["shift", "allreduce-ring"]), 6, rng)
            )
            for _ in range(4)
        ]
        wants = [rng.uniform(0.5, 10.0) for _ in traffics]
        loads = [fabric.loads(traffic, routing) for traffic in traffics]
        used = sorted({link for each in loads for link in each})
        weights = [
            {job: each[link] / traffics[job].sends for job, each in enumerate(loads) if each.get(link)} for link in used
        ]
        expected = by_linear_programs(wants, [fabric.capacity_gb_s[link] for link in used], weights)
        assert fair_rates(fabric, traffics, wants, loads) == pytest.approx(expected, rel=1e-6)
        held += any(rate < want * 0.999 for rate, want in zip(expected, wants, strict=True))
    # In most cases some stream is limited by a link.
    assert held >= cases / 2


def test_the_best_mixture_is_no_worse_than_either_end() -> None:
    fabric = Dragonfly(6, 1, 4, 2, links_per_pair=2, local_gb_s=5.0, global_gb_s=5.0, node_gb_s=10.0)
    for pattern in PATTERNS:
        traffic = Traffic.between(fabric, range(32), messages_of(pattern, 32, random.Random(1)))
        laid = lay(fabric, [traffic], [fabric.node_gb_s])
        pace = slowdown_from_traffic(laid)
        assert pace.mixed_gb_s >= max(pace.first_gb_s, pace.second_gb_s) * (1 - 1e-9)
        tried = [laid.rates(step / 200)[0] for step in range(201)]
        assert max(tried) <= pace.mixed_gb_s * (1 + 1e-9)


# Counts as the sites print them: nodes, groups, switches of a group.
@pytest.mark.parametrize(
    ("machine", "nodes", "groups", "switches"),
    [
        ("lumi-c", 2048, 8, 16),
        ("lumi-g", 3072, 24, 32),
        ("archer2", 5888, 46, 16),
        ("perlmutter", 3072, 12, 16),
        ("frontier", 9856, 77, 32),
        ("cori", 34 * 384, 34, 96),
        ("edison", 15 * 384, 15, 96),
        ("theta", 12 * 384, 12, 96),
    ],
)
def test_machines_have_the_counts_of_their_sites(machine: str, nodes: int, groups: int, switches: int) -> None:
    fabric = fabric_of(Machine.load(machine))
    assert isinstance(fabric, Dragonfly)
    assert (fabric.nodes, fabric.groups, fabric.switches) == (nodes, groups, switches)


# Counts as the sites print them: nodes, leaf switches; and nodes' rate over that of the links upwards.
@pytest.mark.parametrize(
    ("machine", "nodes", "leaves", "blocking"),
    [("summit", 4608, 256, 0.92), ("frontera", 8008, 182, 22 / 18), ("graham", 896, 28, 8.0)],
)
def test_trees_have_the_counts_and_the_blocking_of_their_sites(
    machine: str, nodes: int, leaves: int, blocking: float
) -> None:
    fabric = fabric_of(Machine.load(machine))
    assert isinstance(fabric, SwitchTree)
    assert (fabric.nodes, len(set(fabric.leaf_of))) == (nodes, leaves)
    of_leaf = Counter(fabric.leaf_of)[0] * fabric.node_gb_s
    assert of_leaf / (fabric.uplinks[0] * fabric.link_gb_s) == pytest.approx(blocking)
    # All nodes of a leaf send to the next leaves: the remaining rate is the one that the site prints.
    places = range(2 * Counter(fabric.leaf_of)[0])
    traffic = Traffic.between(fabric, places, messages_of("shift", len(places), random.Random(1)))
    rate = slowdown_from_traffic(lay(fabric, [traffic], [fabric.node_gb_s])).first_gb_s
    assert rate == pytest.approx(fabric.node_gb_s / max(1.0, blocking))


def test_others_of_a_trace_take_their_nodes_and_their_share() -> None:
    question = load("interconnect")
    trace = next(each.default for each in load("simulate").controls if each.name == "trace")
    quiet = question.run(nodes=64, trace=trace)
    loud = question.run(nodes=64, trace=trace, others_fraction=1.0)
    assert quiet.facts["others"] > 1
    assert all(loud.facts["slowdowns"][choice] >= slow - 1e-9 for choice, slow in quiet.facts["slowdowns"].items())
    with pytest.raises(InputError, match="no job of it fits the 884 nodes"):
        question.run(machine="graham", trace="1 0 -1 60 900 -1 -1 900 90 -1 1 1 -1 -1 -1 -1 -1 -1")


def test_bandwidth_between_groups_is_what_lumi_prints() -> None:
    # Both ways: 22.4 TB/s inside LUMI-C, 276 TB/s inside LUMI-G.
    for machine, tb_s in (("lumi-c", 22.4), ("lumi-g", 276.0)):
        fabric = fabric_of(Machine.load(machine))
        between = sum(link.capacity_gb_s for _, link in fabric.links() if link.kind == "global")
        assert between / 1000 == pytest.approx(tb_s)


def test_aurora_and_frontier_have_the_taper_and_bandwidth_that_are_printed() -> None:
    # Links of a group's nodes over those to other groups (lockwood-garden, Network architecture); Frontier's page
    # counts the 74 groups of its first 9,408 nodes.
    for machine, groups, factor in (("aurora", 166, 1.552), ("frontier", 74, 1.753)):
        fabric = fabric_of(Machine.load(machine))
        assert isinstance(fabric, Dragonfly)
        fabric = replace(fabric, groups=groups)
        of_group = fabric.switches * fabric.nodes_per_switch * fabric.node_gb_s
        assert of_group / ((groups - 1) * fabric.pair_gb_s) == pytest.approx(factor, abs=5e-4)
    # "1.38 PB/s global bandwidth" (a review of arXiv 2512.04291): our links both ways give 1.37, one per cent less.
    fabric = fabric_of(Machine.load("aurora"))
    both_ways = sum(link.capacity_gb_s for _, link in fabric.links() if link.kind == "global")
    assert both_ways / 1e6 == pytest.approx(1.38, rel=0.01)


def test_a_torus_answers_like_the_others() -> None:
    fabric = fabric_of(Machine.load("toy"))
    for a, b in ((0, 5), (3, 40), (7, 80)):
        assert fabric.distance(a, b) <= len(fabric.route(a, b))
    assert len(set(fabric.routings)) == 1


def test_refusals() -> None:
    with pytest.raises(InputError, match="machine 'daint' does not describe the wiring of its switches"):
        fabric_of(Machine.load("daint"))
    with pytest.raises(InputError, match="nothing joins switches 0 and 1"):
        SwitchTree(leaf_of=(0, 1), parents=(None, None), uplinks=(0, 0)).route(0, 1)
    with pytest.raises(InputError, match="routing='minimal' must be one of: spread, static"):
        SMALL.loads(Traffic({}, {}, 1.0), "minimal")


def test_where_finds_what_its_sample_was_given_and_refuses_without_nodes() -> None:
    result = load("locality").run()
    facts = result.facts or {}
    # The sample was generated with five percent per group.
    assert facts["low"] < 0.05 < facts["high"]
    assert facts["jobs"] == 172
    log = "JobID|State|Submit|Start|ElapsedRaw|NNodes\n1|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|60|2\n"
    with pytest.raises(InputError, match="no job in the log has a node list; include NodeList in sacct's output"):
        load("locality").run(jobs=log)


def test_adaptive_routes_by_hand() -> None:
    # Two leaves with two nodes and two links each: two pairs cross at most, and the second takes the empty link.
    two = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=2)
    assert adaptive_bisection(two, random.Random(1), choices=2, draws=30) == 1.0
    # With one link there is no choice: the result is that of static routes.
    one = fat_tree(nodes_per_leaf=4, leaves_per_pod=4, leaf_uplinks=1)
    for seed in range(10):
        static = effective_bisection(one, random.Random(seed), draws=1)
        assert adaptive_bisection(one, random.Random(seed), choices=1, draws=1) == static
    with pytest.raises(InputError, match="choices=3"):
        adaptive_bisection(two, random.Random(1), choices=3)


def test_more_ways_tried_leave_more() -> None:
    tree = fat_tree(nodes_per_leaf=8, leaves_per_pod=8, leaf_uplinks=8)
    shares = [adaptive_bisection(tree, random.Random(2), choices=tried, draws=10) for tried in (1, 2, 4, 8)]
    assert shares == sorted(shares)
