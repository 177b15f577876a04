"""Loading libraries: small hand-derived cases, laws, errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.storage.loading import METHODS, load_range_s, load_time

# Eight nodes of two tasks; ten files in three places, 1 GB; two servers of 30 requests and 0.5 GB per second, links of
# 4.
JOB = {
    "nodes": 8,
    "tasks_per_node": 2,
    "files": 10,
    "tries": 3,
    "size_mb": 1000.0,
    "servers": 2,
    "requests_per_s": 30.0,
    "server_gb_s": 0.5,
    "link_gb_s": 4.0,
}


def test_four_ways_by_hand():
    # One task requests for a second, one node reads for two. Two servers: n / X = (1 + (n^p - 1) / 2^p)^(1/p), p = 2.5.
    times = {method: load_time(method, **JOB) for method in METHODS}
    sixteen, eight = (((1 + (n**2.5 - 1) / 2**2.5) ** 0.4) for n in (16, 8))
    assert times["serial"] == pytest.approx((16, 16, 0))
    assert times["parallel"] == pytest.approx((sixteen, 2 * eight, 0))
    assert times["cached"] == pytest.approx((eight, 2 * eight, 0))
    # Many users take nearly half the time of serial service.
    assert (sixteen, eight) == pytest.approx((8, 4), rel=0.011)
    assert times["broadcast"] == (1, 2, 3 * 0.25)
    assert times["broadcast"].total_s == 3.75


def test_range_by_hand():
    # 16 s of lookups and 16 s of reads of more than one user: over 1.15 and 1.10, and over 0.59 and 0.69.
    assert load_range_s("serial", **JOB) == pytest.approx((16 / 1.15 + 16 / 1.10, 32, 16 / 0.59 + 16 / 0.69))
    # One task looks up and reads; its time is as stated.
    low, usual, high = load_range_s("broadcast", **JOB)
    assert low == usual == high == pytest.approx(3.75)


@given(st.integers(1, 10_000), st.integers(1, 128), st.integers(1, 64), st.sampled_from(METHODS))
def test_range_holds_the_time(nodes, tasks_per_node, servers, method):
    job = JOB | {"nodes": nodes, "tasks_per_node": tasks_per_node, "servers": servers}
    low, usual, high = load_range_s(method, **job)
    assert low * (1 - 1e-9) <= usual == load_time(method, **job).total_s <= high * (1 + 1e-9)


@given(st.integers(1, 10_000), st.integers(1, 64))
def test_no_more_than_servers_side_by_side(nodes, servers):
    one = load_time("parallel", **JOB | {"nodes": 1, "tasks_per_node": 1, "servers": servers})
    many = load_time("parallel", **JOB | {"nodes": nodes, "tasks_per_node": 1, "servers": servers})
    assert many.lookups_s >= one.lookups_s * max(1, nodes / servers) * (1 - 1e-9)


def test_one_task_is_served_by_one_server_at_a_time():
    assert load_time("parallel", **JOB | {"nodes": 1, "tasks_per_node": 1, "servers": 64}) == (1, 2, 0)


@given(st.integers(1, 10_000), st.integers(1, 128), st.integers(1, 64))
def test_each_way_is_no_slower_than_the_one_before(nodes, tasks_per_node, servers):
    job = JOB | {"nodes": nodes, "tasks_per_node": tasks_per_node, "servers": servers}
    serial, parallel, cached, _, image = (load_time(method, **job).total_s for method in METHODS)
    assert cached <= parallel * (1 + 1e-9)
    assert parallel <= serial * (1 + 1e-9)
    # An image is looked up once per node and read like a copy on each node.
    assert image <= cached * (1 + 1e-9)
    assert load_time("broadcast", **job).lookups_s <= load_time("cached", **job).lookups_s


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nodes": 0}, "nodes=0 must be at least 1"),
        ({"tries": 0.5}, "tries=0.5 must be at least 1"),
        ({"size_mb": 0}, "size_mb=0 must be above 0"),
        ({"link_gb_s": -1}, "link_gb_s=-1 must be above 0"),
    ],
)
def test_refusals(changed, message):
    with pytest.raises(InputError) as refused:
        load_time("serial", **JOB | changed)
    assert str(refused.value) == message


def test_another_way():
    with pytest.raises(InputError, match="method='magic' must be one of: serial, parallel, cached, broadcast"):
        load_time("magic", **JOB)
