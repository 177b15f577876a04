"""Probabilities and costs of bad nodes: small cases counted by hand, and general laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperlib.failure.nodes.risk import (
    chance_of_bad_node,
    chance_of_enough,
    check_value,
    days_of_machine,
    explaining_bad_nodes,
)


@st.composite
def machines(draw, most=400):
    """Nodes, bad ones, nodes of a job."""
    nodes = draw(st.integers(1, most))
    return nodes, draw(st.integers(0, nodes)), draw(st.integers(1, nodes))


@pytest.mark.parametrize(("nodes", "bad", "job"), [(5, 2, 2), (6, 1, 3), (6, 3, 2), (7, 2, 4), (4, 4, 1), (5, 0, 3)])
def test_every_draw_counted(nodes, bad, job):
    draws = list(combinations(range(nodes), job))
    met = sum(any(node < bad for node in draw) for draw in draws)
    assert chance_of_bad_node(nodes, bad, job) == float(Fraction(met, len(draws)))


def test_documented_case():
    # 8 of 6,384: one node in 798; two thirds of the jobs on an eighth of the machine
    assert chance_of_bad_node(6384, 8, 1) == 1 / 798
    assert chance_of_bad_node(6384, 8, 798) == pytest.approx(0.657, abs=0.001)
    # 13.5e6 / (153,216 x 24) = 3.6713 days
    assert days_of_machine(13.5e6, 153_216) == pytest.approx(3.6713, abs=1e-4)


@given(machines())
def test_chances_are_chances_and_bad_nodes_may_change_places_with_the_job(case):
    nodes, bad, job = case
    chance = chance_of_bad_node(nodes, bad, job)
    assert 0 <= chance <= 1
    assert (chance == 0) == (bad == 0)
    if bad:
        assert chance_of_bad_node(nodes, job, bad) == chance
    if job + bad > nodes:
        assert chance == 1


@given(machines())
def test_more_bad_nodes_and_larger_jobs_are_worse(case):
    nodes, bad, job = case
    chance = chance_of_bad_node(nodes, bad, job)
    if bad < nodes:
        assert chance_of_bad_node(nodes, bad + 1, job) >= chance
    if job < nodes:
        assert chance_of_bad_node(nodes, bad, job + 1) >= chance


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(2, 2000), st.data())
def test_explaining_is_the_inverse(nodes, data):
    job = data.draw(st.integers(1, nodes - 1))
    bad = data.draw(st.integers(1, max(1, min(nodes - job, 30))))
    success = 1 - chance_of_bad_node(nodes, bad, job)
    if success > 1e-6:
        assert explaining_bad_nodes(nodes, job, success) == pytest.approx(bad, rel=1e-4, abs=1e-4)


def test_no_bad_node_explains_success():
    assert explaining_bad_nodes(100, 10, 1.0) == pytest.approx(0, abs=1e-6)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_all_nodes_are_never_likelier_than_one(chance, job):
    assert 0 <= chance_of_enough(chance, job) <= chance


def test_check_value_by_hand():
    # Two of four nodes bad, two drawn: 5 of 6 runs hit. Each loses half of 2 nodes x 12 h = 12 node-hours: 10 on
    # average. A check of 30 minutes on 2 nodes costs 1 node-hour and finds four in five: 2 + 1 remain.
    value = check_value(4, 2, 2, run_hours=12, lost_fraction=0.5, check_minutes=30, found_fraction=0.8)
    assert value == pytest.approx((10, 3, 7))


@given(machines(), st.floats(0.01, 1e4), st.floats(0, 1), st.floats(0, 1440), st.floats(0, 1))
def test_a_check_never_gains_more_than_the_waste(case, hours, lost, minutes, found):
    value = check_value(*case, run_hours=hours, lost_fraction=lost, check_minutes=minutes, found_fraction=found)
    assert value.gain_node_hours <= value.waste_node_hours + 1e-9
    assert value.waste_node_hours <= case[2] * hours * (1 + 1e-12)
    assert value.gain_node_hours == pytest.approx(value.waste_node_hours - value.waste_checked_node_hours)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chance_of_bad_node(4, 5, 1), "bad=5 must be from 0 to 4, the nodes of the machine"),
        (lambda: chance_of_bad_node(4, 1, 5), "job_nodes=5 must be from 1 to 4"),
        (lambda: chance_of_bad_node(4, 1, 0), "job_nodes=0 must be from 1 to 4"),
        (lambda: chance_of_enough(1.5, 2), "chance_of_one=1.5 must be from 0 to 1"),
        (lambda: chance_of_enough(0.5, 0), "job_nodes=0 must be at least 1"),
        (lambda: explaining_bad_nodes(10, 3, 0.0), "success_fraction=0.0 must be above 0"),
        (lambda: explaining_bad_nodes(10, 10, 0.5), "job_nodes=10 must be from 1 to 9"),
        (lambda: days_of_machine(-1.0, 24), "core_hours=-1.0 must not be negative"),
        (
            lambda: check_value(4, 1, 1, run_hours=1, lost_fraction=2, check_minutes=1, found_fraction=1),
            "lost_fraction=2 must be from 0 to 1",
        ),
        (
            lambda: check_value(4, 1, 1, run_hours=0, lost_fraction=1, check_minutes=1, found_fraction=1),
            "run_hours=0 must be above 0",
        ),
    ],
)
def test_refusals_name_value_and_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
