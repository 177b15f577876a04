"""Barriered dumps: worked by hand, laws, and the inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.lustre.dumps import barriered_dump, exclude_slow, explaining_rate_gb_s, osts_with_slow, probe

rates = st.lists(st.floats(min_value=0.01, max_value=10), min_size=1, max_size=20)
sizes = st.floats(min_value=0.1, max_value=1e5)
counts = st.integers(min_value=1, max_value=16)


def test_a_dump_by_hand():
    # 24 GB, 2 variables, 3 OSTs: 4 GB each. At 2, 1 and 4 GB/s: 2, 4 and 1 s. Twice 4 s.
    dump = barriered_dump(24, [2, 1, 4], variables=2)
    assert dump.time_s == 8
    assert dump.rate_gb_s == pytest.approx(24 / 8)
    assert dump.spread_s == 3
    # 14 s of writing in 24 s of three OSTs
    assert dump.idle_fraction == pytest.approx(1 - 14 / 24)
    assert [tuple(phase) for phase in dump.phases] == [(0, 4, 1, 4), (4, 8, 5, 8)]


@given(sizes, rates, counts)
def test_only_the_slowest_counts(size, ost_rates, variables):
    dump = barriered_dump(size, ost_rates, variables=variables)
    alike = barriered_dump(size, [min(ost_rates)] * len(ost_rates), variables=variables)
    assert dump.time_s == pytest.approx(alike.time_s)
    assert dump.idle_fraction + 1e-9 >= 0
    assert dump.rate_gb_s <= sum(ost_rates) * (1 + 1e-9)


@given(sizes, st.floats(min_value=0.01, max_value=10), st.integers(min_value=1, max_value=50), counts)
def test_healthy_osts_do_not_wait(size, rate, osts, variables):
    dump = barriered_dump(size, [rate] * osts, variables=variables)
    assert dump.idle_fraction == pytest.approx(0, abs=1e-9)
    assert dump.rate_gb_s == pytest.approx(rate * osts)


@given(sizes, rates, counts)
def test_the_inverse_finds_the_slowest(size, ost_rates, variables):
    dump = barriered_dump(size, ost_rates, variables=variables)
    low, high = explaining_rate_gb_s(dump.time_s, (size, size), osts=len(ost_rates))
    assert low == high == pytest.approx(min(ost_rates), rel=1e-6)


@given(sizes, st.integers(min_value=2, max_value=50), st.floats(min_value=0.05, max_value=0.99))
def test_leaving_out_pays_below_the_break_even(size, osts, share):
    slow = osts // 2
    found = exclude_slow(size, osts, 1.0, slow=slow, slow_rate_gb_s=share, variables=1)
    if share < found.break_even_gb_s * (1 - 1e-9):
        assert found.without_s < found.with_slow_s
    if share > found.break_even_gb_s * (1 + 1e-9):
        assert found.without_s > found.with_slow_s
    assert found.extra_per_ost_gb * (osts - slow) == pytest.approx(size - size / osts * (osts - slow))


def test_power_of_a_probe():
    noise = {"noise_fraction": 0.3, "sample_s": 5, "osts": 144}
    found = probe(0.243, 0.1, seconds=60, **noise)
    # A healthy OST is called slow about once in 144 / 0.05 times.
    assert probe(0.243, 0.243, seconds=60, **noise).power == pytest.approx(1 - 0.95 ** (1 / 144), rel=1e-6)
    powers = [probe(0.243, 0.2, seconds=seconds, **noise).power for seconds in (10, 60, 120, 600)]
    assert powers == sorted(powers)
    # 144 OSTs for a minute
    assert found.data_gb == pytest.approx(0.243 * 60 * 144)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: osts_with_slow(3, 1, slow=4, slow_rate_gb_s=1), "slow=4 must be from 0 to 3"),
        (lambda: barriered_dump(0, [1], variables=1), "size_gb=0"),
        (lambda: barriered_dump(1, [], variables=1), "slowest_ost_gb_s=0.0 must be above 0"),
        (lambda: barriered_dump(1, [1, 0], variables=1), "slowest_ost_gb_s=0 must be above 0"),
        (lambda: exclude_slow(1, 2, 1, slow=2, slow_rate_gb_s=1, variables=1), "slow=2 must be from 0 to 1"),
        (lambda: explaining_rate_gb_s(10, (2, 1), osts=1), "the smaller first"),
        (lambda: explaining_rate_gb_s(0, (1, 2), osts=1), "time_s=0 must be above 0"),
        (
            lambda: probe(1, 1, noise_fraction=0.1, seconds=1, sample_s=2, osts=1),
            "sample_s=2 must not be longer than the probe, 1 s",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
