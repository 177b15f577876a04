"""Objects on OSTs: each allocator, laws of placement, hand-derived dumps."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from statistics import mean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.lustre.osts import file_dump, finish_times_s, place_objects, rate_steps, repeat_file_dump

deals = st.tuples(
    st.integers(min_value=0, max_value=300),
    st.integers(min_value=1, max_value=5),
    st.integers(min_value=5, max_value=20),
    st.sampled_from(("round-robin", "random", "weighted")),
    st.integers(min_value=0, max_value=1000),
)


@given(deals)
def test_every_object_is_dealt_and_no_file_is_twice_on_an_ost(deal):
    files, count, osts, allocator, seed = deal
    weights = [1 + ost % 3 for ost in range(osts)]
    loads = place_objects(files, count, osts, allocator=allocator, rng=random.Random(seed), weights=weights)
    assert len(loads) == osts
    assert sum(loads) == files * count
    assert all(0 <= load <= files for load in loads)
    if allocator == "round-robin":
        assert max(loads) - min(loads) <= 1


@given(st.integers(min_value=0, max_value=1000))
def test_the_same_seed_deals_the_same(seed):
    one, other = (place_objects(500, 1, 7, allocator="random", rng=random.Random(seed)) for _ in range(2))
    assert one == other


def test_single_objects_fall_as_they_should():
    # The 8 ways to put 3 files on 2 OSTs are equally likely: 0, 1, 2, 3 on the first with 1, 3, 3, 1 of 8.
    rng = random.Random(11)
    found = Counter(place_objects(3, 1, 2, allocator="random", rng=rng)[0] for _ in range(8000))
    # standard deviations are about 30 and 43
    for load, expected in ((0, 1000), (1, 3000), (2, 3000), (3, 1000)):
        assert abs(found[load] - expected) < 180


def test_pairs_fall_as_they_should():
    # A file of 2 objects on 4 OSTs: 6 equally likely pairs.
    rng = random.Random(12)
    found = Counter(tuple(place_objects(1, 2, 4, allocator="random", rng=rng)) for _ in range(6000))
    assert len(found) == 6
    assert all(abs(count - 1000) < 150 for count in found.values())


def test_mean_and_variance_of_many_objects():
    # Binomial: 20,000 x 1/156 = 128.2, variance 127.4
    rng = random.Random(13)
    loads = [load for _ in range(60) for load in place_objects(20_000, 1, 156, allocator="random", rng=rng)]
    assert mean(loads) == pytest.approx(20_000 / 156)
    assert pvariance(loads) == pytest.approx(127.4, rel=0.06)


def test_weights_count():
    loads = place_objects(4000, 1, 4, allocator="weighted", rng=random.Random(1), weights=[1, 1, 2, 0])
    assert loads[3] == 0
    assert loads[2] == pytest.approx(2000, abs=150)


def test_a_dump_by_hand():
    # Objects 3, 1, 2, 2 of 10 GB; four OSTs of 1 GB/s: 30, 10, 20, 20 s
    dump = file_dump(80.0, [3, 1, 2, 2], peak_gb_s=4.0)
    assert dump == (pytest.approx(80 / 30), 30, 20)
    assert finish_times_s(80.0, [3, 1, 2, 2], peak_gb_s=4.0) == [30, 10, 20, 20]
    # Two OSTs per controller: 40 GB on each, at 2 GB/s
    assert file_dump(80.0, [3, 1, 2, 2], peak_gb_s=4.0, osts_per_unit=2) == (4, 20, 0)


def test_the_rate_falls_as_osts_are_done_and_moves_all_data():
    times = finish_times_s(80.0, [3, 1, 2, 2], peak_gb_s=4.0)
    steps = rate_steps(times, 4.0)
    assert steps == [(0, 4), (10, 3), (20, 2), (20, 1), (30, 0)]
    moved = sum(rate * (later[0] - now) for (now, rate), later in itertools.pairwise(steps))
    assert moved == 80


def test_more_stripes_even_out_and_round_robin_is_best():
    rates = [
        mean(
            dump.rate_gb_s
            for dump in repeat_file_dump(
                1000, 1000, count, 20, allocator="random", peak_gb_s=10, repetitions=20, rng=random.Random(3)
            )
        )
        for count in (1, 4, 20)
    ]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: place_objects(-1, 1, 2, allocator="random"), "files=-1 must not be negative"),
        (lambda: place_objects(1, 3, 2, allocator="random"), "stripe_count=3 must be from 1 to 2"),
        (lambda: place_objects(1, 1, 2, allocator="best"), "allocator='best' must be one of: round-robin"),
        (lambda: place_objects(1, 1, 2, allocator="random"), "needs a random generator"),
        (lambda: place_objects(1, 1, 2, allocator="weighted", rng=random.Random(1)), "needs 2 weights"),
        (lambda: file_dump(0, [1], peak_gb_s=1), "total_gb=0"),
        (lambda: file_dump(1, [1, 1, 1], peak_gb_s=1, osts_per_unit=2), "osts_per_unit=2 must divide the 3 OSTs"),
        (lambda: rate_steps([], 1.0), "must hold at least one"),
        (
            lambda: repeat_file_dump(
                1, 1, 1, 1, allocator="round-robin", peak_gb_s=1, repetitions=0, rng=random.Random(1)
            ),
            "repetitions=0 must be at least 1",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
