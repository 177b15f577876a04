"""Maps: jobs on the node list over time, and compactness."""

import random

import pytest

from hopperkit.traces.scheduler import simulate
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.maps import compactness, holders, occupancy
from hopperlib.network.torus.orders import order_nodes
from hopperlib.network.torus.wiring import Wiring
from hopperlib.scheduling.generator import SizeClass, draw_workload
from hopperlib.scheduling.workload import Job, Workload


def test_occupancy_sums_to_what_was_used():
    jobs = draw_workload([SizeClass(1, 40, 1.0, 6.0)], nodes=100, days=2, load=0.8, rng=random.Random(2))
    schedule = simulate(jobs, 100)
    grid = occupancy(schedule, 0, 172_800, columns=48, rows=10)
    used = sum(sum(line) for line in grid) / 480 * 100 * 172_800
    assert used == pytest.approx(schedule.busy_node_seconds(0, 172_800))
    held = holders(schedule, 86_400)
    assert len(held) == sum(
        job.nodes for i, job in enumerate(jobs) if schedule.start_s[i] <= 86_400 < schedule.end_s[i]
    )


def test_compact_orders_are_compact():
    nodes, torus = Wiring(17, 4).addresses, Torus((17, 8, 24))
    means = {}
    for order in ("nid", "xyz-by2", "hilbert"):
        curve = compactness(order_nodes(nodes, order), torus, 64, step=64)
        assert len(curve) == 102
        means[order] = sum(mean for _, mean in curve) / len(curve)
    assert means["xyz-by2"] < means["nid"]


def test_refusals():
    schedule = simulate(Workload([Job(1, 0, 1, 1, 1)]), 1)
    with pytest.raises(ValueError, match="end_s=0 must be after start_s=0"):
        occupancy(schedule, 0, 0)
    with pytest.raises(ValueError, match="width=97 must be from 1 to 96"):
        compactness(Wiring(1, 1).addresses, Torus((1, 2, 24)), 97)
