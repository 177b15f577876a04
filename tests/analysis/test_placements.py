"""Hop distances with numpy are those of the standard library, to the last bit."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperlib.analysis.placements import mean_hop_distances
from hopperlib.machine import Machine
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.schedule import NOT_STARTED
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload


@st.composite
def placements(draw):
    """A torus, a node list on it, and runs of positions."""
    dimensions = tuple(draw(st.integers(1, 7)) for _ in range(3))
    torus = Torus(dimensions, weights=tuple(draw(st.integers(1, 3)) for _ in range(3)))
    place = st.tuples(*(st.integers(0, size - 1) for size in dimensions))
    places = draw(st.lists(place, min_size=1, max_size=40))
    bounds = sorted(draw(st.sets(st.integers(0, len(places)), max_size=12)))
    return torus, places, list(zip(bounds[::2], bounds[1::2], strict=False))


@settings(deadline=None, max_examples=40)
@given(placements(), st.randoms(use_true_random=False))
def test_a_schedule_equals_the_standard_library(made, rng):
    torus, places, _ = made
    jobs = [
        Job(i, rng.randint(0, 50), rng.randint(1, len(places)), rng.randint(0, 30), 30)
        for i in range(rng.randint(1, 30))
    ]
    schedule = simulate(Workload(jobs), len(places))
    reference = PrefixCounts(places, torus)
    expected = [reference.mean_hop_distance(schedule.runs(i)) for i in range(len(jobs))]
    assert mean_hop_distances(schedule, places, torus).tolist() == expected


def test_weights_with_decimals_agree_to_rounding():
    rng = random.Random(1)
    torus = Torus((5, 4, 3), weights=(1.3, 2.7, 0.1))
    places = [(x, y, z) for x in range(5) for y in range(4) for z in range(3)]
    rng.shuffle(places)
    schedule = simulate(Workload([Job(i, i, 7 + i, 50, 50) for i in range(8)]), len(places))
    reference = PrefixCounts(places, torus)
    expected = [reference.mean_hop_distance(schedule.runs(i)) for i in range(8)]
    assert mean_hop_distances(schedule, places, torus) == pytest.approx(expected, rel=1e-14)


def test_more_jobs_than_are_measured_at_once():
    machine = Machine.load("toy")
    torus = Torus.of(machine, weights=(1, 2, 1))
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), "xyz")]
    rng = random.Random(2)
    jobs = [Job(i, 10 * i, rng.randint(1, 40), rng.randint(1, 60), 60) for i in range(5000)]
    schedule = simulate(Workload(jobs), len(places))
    reference = PrefixCounts(places, torus)
    answer = mean_hop_distances(schedule, places, torus)
    assert all(answer[i] == reference.mean_hop_distance(schedule.runs(i)) for i in range(5000))


def test_a_job_that_never_started_has_no_distance():
    # Nodes are down from 10 on, and the second job, which needs both, comes later.
    places = [(0, 0, 0), (1, 0, 0)]
    jobs = [Job(1, 0, 2, 5, 5), Job(2, 20, 2, 5, 5)]
    schedule = simulate(Workload(jobs), 2, downtimes=[Downtime(start_s=10, end_s=10**9)], until_s=100)
    assert schedule.status[1] == NOT_STARTED
    first, second = mean_hop_distances(schedule, places, Torus((3, 1, 1)))
    assert first == 1
    assert math.isnan(second)


def test_a_job_round_a_ring():
    # A whole ring of 3,000. From one node to the 2,999 others: twice 1 + 2 + ... + 1499, and 1500 once.
    places = [(x, 0, 0) for x in range(3000)]
    schedule = simulate(Workload([Job(1, 0, 3000, 5, 5)]), 3000)
    expected = (2 * (1499 * 1500 / 2) + 1500) / 2999
    assert mean_hop_distances(schedule, places, Torus((3000, 1, 1))) == pytest.approx([expected], rel=1e-15)


def test_a_ring_of_one_place_and_no_job():
    schedule = simulate(Workload([Job(1, 0, 2, 5, 5)]), 2)
    assert mean_hop_distances(schedule, [(0, 0, 0), (0, 0, 0)], Torus((1, 1, 1))).tolist() == [0]
    assert mean_hop_distances(simulate(Workload([]), 1), [(0, 0, 0)], Torus((1, 1, 1))).tolist() == []


def test_refuses():
    schedule = simulate(Workload([Job(1, 0, 1, 5, 5)]), 2)
    with pytest.raises(ValueError, match=r"place \(3, 0, 0\) lies outside the torus of \(3, 2, 2\)"):
        mean_hop_distances(schedule, [(0, 0, 0), (3, 0, 0)], Torus((3, 2, 2)))
    with pytest.raises(ValueError, match="places must be one or more coordinates"):
        mean_hop_distances(schedule, [], Torus((3, 2, 2)))
    with pytest.raises(ValueError, match="the schedule is of 2 nodes, the list has 1"):
        mean_hop_distances(schedule, [(0, 0, 0)], Torus((3, 2, 2)))
