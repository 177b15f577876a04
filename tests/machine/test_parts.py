"""Nodes, networks and file systems, one at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import FileSystem, Network, NodeKind, Quantity


def make_node(**changes):
    values = {
        "name": "odd",
        "count": 2,
        "sockets": 2,
        "numa_nodes_per_socket": 3,
        "cores_per_numa_node": 5,
        "threads_per_core": 4,
        "clock_ghz": 1.5,
        "flops_per_cycle": 8,
        "memory_gb": 60,
        "usable_memory_gb": 57,
        "numa_bandwidth_gb_s": 10,
        "core_bandwidth_cap_gb_s": 4,
        "remote_bandwidth_fraction": 0.5,
    }
    return NodeKind(**values | changes)


nodes = st.builds(
    make_node,
    sockets=st.integers(1, 8),
    numa_nodes_per_socket=st.integers(1, 8),
    cores_per_numa_node=st.integers(1, 16),
    threads_per_core=st.integers(1, 8),
)


def test_an_odd_node():
    node = make_node()
    # 2 x 3 = 6 NUMA nodes of 5 cores = 30 cores, x 4 = 120 hardware threads
    assert (node.numa_nodes, node.cores_per_socket, node.cores, node.hardware_threads) == (6, 15, 30, 120)
    # 1.5 GHz x 8 = 12 Gflop/s per core, x 30 = 360
    assert (node.core_peak_gflops, node.peak_gflops) == (12, 360)
    assert node.memory_per_numa_node_gb == 10
    assert node.bandwidth_gb_s == 60


@given(nodes)
def test_cores_and_numa_nodes_agree(node):
    cores = [core for numa_node in range(node.numa_nodes) for core in node.cores_of(numa_node)]
    assert cores == list(range(node.cores))
    for numa_node in range(node.numa_nodes):
        assert {node.numa_node_of(core) for core in node.cores_of(numa_node)} == {numa_node}


@pytest.mark.parametrize("core", [-1, 30])
def test_a_core_that_does_not_exist(core):
    with pytest.raises(ValueError) as error:
        make_node().numa_node_of(core)
    assert str(error.value) == f"core={core} must be from 0 to 29: a node of kind 'odd' has 30 cores"


def test_a_numa_node_that_does_not_exist():
    with pytest.raises(ValueError) as error:
        make_node().cores_of(6)
    assert str(error.value) == "numa_node=6 must be from 0 to 5: a node of kind 'odd' has 6 NUMA nodes"


def test_a_network_without_a_torus_has_no_places():
    network = Network(kind="slingshot", latency_us=2, node_bandwidth_gb_s=25)
    assert network.routers is None
    assert network.node_positions is None
    assert network.link_bandwidth_gb_s == {}


def test_a_torus_has_places():
    network = Network(
        kind="torus",
        latency_us=2,
        node_bandwidth_gb_s=3,
        nodes_per_router=2,
        dimensions=(3, 4, 5),
        floor_columns=3,
        floor_rows=2,
    )
    assert (network.routers, network.node_positions) == (60, 120)


def test_a_torus_of_unknown_routers_has_no_places():
    assert Network(kind="torus", latency_us=2, node_bandwidth_gb_s=3, dimensions=(3, 4, 5)).node_positions is None


def test_a_file_system():
    work = FileSystem(
        name="work",
        kind="lustre",
        osts=15,
        osts_per_oss=3,
        peak_gb_s=3,
        capacity_pb=1,
        default_stripe_count=1,
        default_stripe_size_bytes=65_536,
        max_stripe_count=15,
        node_write_ceiling_gb_s=1,
    )
    assert work.servers == 5
    assert work.ost_peak_gb_s == 0.2


def test_badges():
    assert Quantity(value=1, source="a", at="p. 1").badge == "documented"
    assert Quantity(value=1, assumed="why").badge == "assumed"


def test_records_can_be_keys():
    assert {make_node(): 1}[make_node()] == 1
    assert len({Quantity(value=(1, 2, 3), assumed="why"), Quantity(value=(1, 2, 3), assumed="why")}) == 1
