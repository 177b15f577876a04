"""Write rates of nodes: the two documented curves, hand-derived cases, laws."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import (
    ceiling_gb_s,
    divergence_point,
    file_system_of,
    injection_fraction,
    level_from,
    nodes_in_use,
    write_curve,
    write_rate_gb_s,
)
from hopperlib.storage.lustre.node_rates import clients_rate_gb_s

HOPPER, FRANKLIN, TOY = (Machine.load(name) for name in ("hopper", "franklin", "toy"))
rates = st.floats(min_value=0.01, max_value=2.0)
tasks = st.integers(min_value=1, max_value=96)


def test_hopper_bends_before_its_ceiling():
    # 8 tasks of 0.2 GB/s want 1.6 of 1.7: X^-p = 1.6^-p + (1 - 8^-p) 1.7^-p, p = 2.5.
    curve = write_curve(HOPPER, 24, task_rate_gb_s=0.2)
    assert curve[0] == pytest.approx(0.2)
    assert curve[7] == pytest.approx((1.6**-2.5 + (1 - 8**-2.5) * 1.7**-2.5) ** -0.4)
    assert 0.95 * 1.7 < curve[23] < 1.7
    assert level_from(curve) == 16


def test_franklin_fills_six_nodes_with_24_tasks():
    assert nodes_in_use(FRANKLIN, 24) == 6
    # Four tasks of 0.3 GB/s want 1.2 of 1.07; the fifth starts another node, and adds nearly all of its rate.
    four = write_rate_gb_s(FRANKLIN, 4, task_rate_gb_s=0.3)
    assert four == pytest.approx((1.2**-2.5 + (1 - 4**-2.5) * 1.07**-2.5) ** -0.4, rel=1e-4)
    assert write_rate_gb_s(FRANKLIN, 5, task_rate_gb_s=0.3) == pytest.approx(four + 0.3, rel=0.02)


def test_tasks_can_be_spread():
    # 5 tasks on 2 nodes: 3 and 2; at 5 GB/s a toy node's ceiling of 0.8 holds both, and the file system takes 2.4.
    assert write_rate_gb_s(TOY, 5, task_rate_gb_s=5, nodes=2) == pytest.approx(clients_rate_gb_s(1.6, 2, 3.0))
    assert write_rate_gb_s(TOY, 5, task_rate_gb_s=0.001, nodes=2) == pytest.approx(0.005, rel=1e-3)


def test_the_file_system_takes_no_more_than_its_peak():
    assert 34.9 < write_rate_gb_s(HOPPER, 24 * 1000, task_rate_gb_s=0.2) < 35


def test_share_of_the_injection_bandwidth():
    # 1.7 of 6; 1.07 of 1.6
    assert injection_fraction(HOPPER) == pytest.approx(0.2833, abs=1e-4)
    assert injection_fraction(FRANKLIN) == pytest.approx(0.66875)


@given(tasks, rates)
def test_more_tasks_are_never_slower(count, rate):
    curve = write_curve(FRANKLIN, count, task_rate_gb_s=rate)
    assert all(b >= a - 1e-12 for a, b in pairwise(curve))


@given(tasks, rates)
def test_no_limit_is_passed(count, rate):
    total = write_rate_gb_s(HOPPER, count, task_rate_gb_s=rate)
    assert total <= min(count * rate, 1.7 * nodes_in_use(HOPPER, count), 35) + 1e-9


@given(tasks, rates, st.integers(min_value=4, max_value=96))
def test_spreading_over_more_nodes_is_never_slower(count, rate, nodes):
    nodes = min(nodes, HOPPER.nodes)
    assert write_rate_gb_s(HOPPER, count, task_rate_gb_s=rate, nodes=nodes) >= (
        write_rate_gb_s(HOPPER, count, task_rate_gb_s=rate, nodes=nodes - 1 if nodes > 4 else nodes) - 1e-9
    )


def test_curves_that_never_part():
    curve = write_curve(HOPPER, 5, task_rate_gb_s=0.1)
    assert divergence_point(curve, curve) is None
    assert divergence_point([1.0, 1.0], [1.0, 2.0]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tasks": 0, "task_rate_gb_s": 0.2}, "tasks=0 must be at least 1"),
        ({"tasks": 1, "task_rate_gb_s": 0}, "task_rate_gb_s=0 must be above 0"),
        ({"tasks": 1, "task_rate_gb_s": 0.2, "node_ceiling_gb_s": -1}, "node_ceiling_gb_s=-1 must be above 0"),
        ({"tasks": 25, "task_rate_gb_s": 0.2, "nodes": 1}, "nodes=1 must be from 2, which 25 tasks need, to 6,384"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        write_rate_gb_s(HOPPER, **arguments)


def test_a_machine_without_a_file_system_is_refused():
    with pytest.raises(ValueError, match="machine 'bassi' states no file system"):
        file_system_of(Machine.load("bassi"))


def test_the_ceiling_is_that_of_the_nodes_then_of_the_file_system():
    system = HOPPER.file_systems[0]
    assert ceiling_gb_s(HOPPER, 3) == pytest.approx(3 * system.node_write_ceiling_gb_s)
    assert ceiling_gb_s(HOPPER, 6_000) == system.peak_gb_s
    with pytest.raises(ValueError, match="nodes=0 must be at least 1"):
        ceiling_gb_s(HOPPER, 0)
