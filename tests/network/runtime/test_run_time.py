"""Run time of a communicating job: links by number, the worst one, noise, and the fit of the line."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.runtime.run_time import (
    NOISE,
    TRAFFIC,
    LinkMap,
    RunTimeModel,
    calibrate,
    draw_noise,
    draw_traffic,
    least_of,
    neighbor_messages,
)
from hopperlib.network.torus.distances import Torus

HOPPER = Machine.load("hopper")
LINKS = LinkMap(HOPPER)
SIZES = (17, 8, 24)
places = st.tuples(st.integers(0, 16), st.integers(0, 7), st.integers(0, 23))


def walk(a, b):
    """A message from router to router, step by step: X, then Y, then Z, the shorter way round, upwards if both are equal."""
    here = list(a)
    for axis, size in enumerate(SIZES):
        step = 1 if (b[axis] - a[axis]) % size <= size / 2 else -1
        while here[axis] != b[axis]:
            before = tuple(here)
            here[axis] = (here[axis] + step) % size
            lower = before if step == 1 else tuple(here)
            yield axis * 3264 + (lower[0] * 8 + lower[1]) * 24 + lower[2]


@given(st.lists(places, min_size=2, max_size=8))
def test_loads_are_those_of_the_routes(job):
    """The fast counting by tables against a walk; a walk is as long as the routers are apart."""
    torus, expected = Torus(SIZES), Counter()
    messages = [(a, b, float(1 + i)) for i, (a, b) in enumerate(permutations(job, 2))]
    for a, b, count in messages:
        links = list(walk(a, b))
        assert len(links) == torus.hops(a, b)
        for link in links:
            expected[link] += count
    assert {link: count for link, count in enumerate(LINKS.loads(messages)) if count} == expected


def test_worst_link_weighs_bandwidth_and_neighbors():
    """Y between blades has half the bandwidth of X, Z inside a cage 120/75 of it."""
    own = LINKS.loads([((0, 0, 0), (1, 0, 0), 10.0), ((0, 1, 0), (0, 2, 0), 6.0), ((0, 0, 0), (0, 0, 1), 16.0)])
    assert LINKS.worst(own) == 12.0
    others = LINKS.loads([((0, 0, 0), (1, 0, 0), 5.0), ((5, 0, 0), (6, 0, 0), 99.0)])
    # 10 + 5 on the X link; the link with 99 is not the job's own.
    assert LINKS.worst(own, others) == 15.0
    assert LINKS.worst(own, others, 2.0) == 20.0
    assert LINKS.worst([0.0] * 9792) == 0.0
    assert LINKS.capacity[0 * 3264] == 1.0
    assert len(LINKS.capacity) == 3 * 3264


def test_a_machine_without_link_bandwidths_is_refused():
    with pytest.raises(ValueError, match="states no torus dimensions"):
        LinkMap(Machine.load("bassi"))


@pytest.mark.parametrize(("nodes", "strides"), [(1, ()), (2, (1,)), (8, (1, 2, 4)), (27, (1, 3, 9)), (342, (1, 7, 49))])
def test_grid_of_a_neighbor(nodes, strides):
    job = [(number // 192, number // 24 % 8, number % 24) for number in range(nodes)]
    first = [job.index(b) for a, b, _ in neighbor_messages(job, 1.0) if a == job[0]]
    assert tuple(first) == strides


@given(st.integers(2, 60))
def test_every_node_sends_what_it_is_told(nodes):
    """Each node of a job on its own Gemini takes part in as many messages as it is to exchange."""
    job = [(0, number // 24, number % 24) for number in range(nodes)]
    messages = neighbor_messages(job, 12.0)
    for place in job:
        assert sum(count for a, b, count in messages if place in (a, b)) == pytest.approx(12.0)


def test_a_job_on_one_gemini_sends_nothing_over_links():
    assert neighbor_messages([(1, 1, 1), (1, 1, 1)], 5.0) == []
    assert neighbor_messages([(1, 1, 1)], 5.0) == []


def test_draws_have_the_mean_that_is_stated():
    """Tables of equal steps: the mean is the trapezoid sum."""
    assert sum(TRAFFIC[1:-1]) / 10 + (TRAFFIC[0] + TRAFFIC[-1]) / 20 == pytest.approx(0.477)
    assert sum(NOISE[1:-1]) / 20 + (NOISE[0] + NOISE[-1]) / 40 == pytest.approx(1.0, abs=0.03)
    rng = random.Random(5)
    assert 0 <= min(draw_noise(rng) for _ in range(500)) < 0.01
    assert max(draw_traffic(rng) for _ in range(500)) > 1.5


def test_run_time_is_a_line_times_noise():
    one = RunTimeModel(compute_s=100.0, exchange_s=0.5, run_noise=0.1)
    assert one.run_time_s(40.0) == 120.0
    assert one.run_time_s(40.0, noise=2.0) == pytest.approx(144.0)


def test_the_steps_of_a_run_make_the_run():
    """Neighbors and noise average out: 440 steps of a run with the mean link, noise of 2 % on top."""
    one = RunTimeModel(compute_s=440.0, exchange_s=1.0, step_noise=0.02)
    steps = one.step_times_s(300.0, 440.0, random.Random(3))
    assert len(steps) == 440
    assert sum(steps) == pytest.approx(880.0 * 1.02, rel=0.02)
    # The quickest step met no neighbor: (440 + 300) / 440, and hardly any noise.
    assert min(steps) == pytest.approx(740 / 440, rel=0.02)


def test_least_of_several():
    values = [float(number) for number in range(1001)]
    assert least_of(values, 1) == 500.0
    # 1 - 0.5 ** (1 / 2) = 0.2929
    assert least_of(values, 2) == pytest.approx(292.9, abs=0.05)
    assert least_of([7.0], 9) == 7.0
    with pytest.raises(ValueError, match="count=0 draws"):
        least_of(values, 0)


@given(
    st.floats(100, 1000),
    st.floats(0.1, 2.0),
    st.floats(0, 0.05),
    st.integers(20, 200),
)
def test_calibration_finds_the_line_it_is_shown(compute, exchange, noise, runs):
    """Times made by a known line give that line back."""
    rng = random.Random(runs)
    links = [[rng.random() * 500 + 200] * 3 for _ in range(60)]
    draws = [[draw_noise(rng) for _ in range(3)] for _ in links]
    known = RunTimeModel(compute_s=compute, exchange_s=exchange, run_noise=noise)
    times = [
        [known.run_time_s(link, draw) for link, draw in zip(*job, strict=True)]
        for job in zip(links, draws, strict=True)
    ]
    everything = sorted(time for job in times for time in job)
    mean = sum(everything) / len(everything)
    found = calibrate(
        links, draws, least_s=least_of(everything, runs), mean_s=mean, runs=runs,
        run_over_least=max(1.0, mean / (sum(map(min, times)) / len(times))),
    )  # fmt: skip
    assert found.run_noise == pytest.approx(noise, abs=1e-4)
    assert found.exchange_s == pytest.approx(exchange, rel=0.02)
    assert found.compute_s == pytest.approx(compute, rel=0.05, abs=5.0)


def test_neighbors_that_part_the_runs_more_than_asked_leave_no_noise():
    found = calibrate(
        [[1.0, 3.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]], least_s=90.0, mean_s=100.0, runs=10, run_over_least=1.001
    )
    assert found.run_noise == 0.0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"least_s": 120.0}, "mean_s=100 must be above least_s=120"),
        ({"least_s": 10.0}, "lie too far apart: even a job that does nothing but exchange"),
        ({"run_over_least": 0.9}, "run_over_least=0.9 must be at least 1"),
        ({"noise": [[0.0]]}, "must hold as many jobs"),
    ],
)
def test_what_no_line_gives_is_refused(setting, message):
    values = {"noise": [[0.0], [0.0]], "least_s": 95.0, "mean_s": 100.0, "runs": 9, "run_over_least": 1.0} | setting
    with pytest.raises(ValueError, match=message):
        calibrate([[10.0], [11.0]], **values)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"exchange_s": -1.0}, "exchange_s=-1 must not be negative"),
        ({"compute_s": -5.0}, "compute_s=-5 must not be negative: the times differ by more"),
        ({"steps": 0}, "steps=0 must be at least 1"),
    ],
)
def test_model_refuses(setting, message):
    with pytest.raises(ValueError, match=message):
        RunTimeModel(**({"compute_s": 1.0, "exchange_s": 1.0} | setting))
