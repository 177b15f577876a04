"""Loading libraries: small cases by hand, laws, refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.storage.loading import METHODS, load_time

# Eight nodes of two tasks; ten files in three places, 1 GB; two servers of 30 requests and 0.5 GB a second, links of 4.
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
    # One task asks for a second, one node reads for two.
    times = {method: load_time(method, **JOB) for method in METHODS}
    assert times["serial"] == (16, 16, 0)
    assert times["parallel"] == (8, 8, 0)
    assert times["cached"] == (4, 8, 0)
    assert times["broadcast"] == (1, 2, 3 * 0.25)
    assert times["broadcast"].total_s == 3.75


def test_one_task_is_served_by_one_server_at_a_time():
    assert load_time("parallel", **JOB | {"nodes": 1, "tasks_per_node": 1, "servers": 64}) == (1, 2, 0)


@given(st.integers(1, 10_000), st.integers(1, 128), st.integers(1, 64))
def test_each_way_is_no_slower_than_the_one_before(nodes, tasks_per_node, servers):
    job = JOB | {"nodes": nodes, "tasks_per_node": tasks_per_node, "servers": servers}
    serial, parallel, cached, _, image = (load_time(method, **job).total_s for method in METHODS)
    assert cached <= parallel <= serial
    # An image is looked up once a node and read as a copy a node is.
    assert image <= cached
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
