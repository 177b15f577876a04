"""Geometry that a machine file can hold, and memory as it was probably installed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware._record import installed_memory, memory_facts, numa_facts

GEOMETRY = ("sockets", "numa_nodes_per_socket", "cores_per_numa_node")


@given(st.integers(1, 16), st.integers(1, 32), st.integers(1, 256), st.booleans())
def test_no_core_is_lost(sockets, numa_nodes, cores, alike):
    facts, note = numa_facts("lscpu", "there", sockets, numa_nodes, cores, alike=alike)
    split = [facts[name].value for name in GEOMETRY]
    shared = facts["sockets_per_numa_node"].value if "sockets_per_numa_node" in facts else 1
    assert split[0] * split[1] * split[2] == cores * shared
    assert (split[0] * split[1]) % shared == 0
    assert all((fact.badge == "assumed") == (note is not None) for fact in facts.values())


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 64))
def test_an_even_node_is_taken_as_it_is(sockets, numa_nodes_per_socket, cores_per_numa_node):
    numa_nodes = sockets * numa_nodes_per_socket
    facts, note = numa_facts("lscpu", "there", sockets, numa_nodes, numa_nodes * cores_per_numa_node)
    assert [facts[name].value for name in GEOMETRY] == [sockets, numa_nodes_per_socket, cores_per_numa_node]
    assert note is None


@given(st.floats(0.01, 1e6))
def test_installed_memory_is_a_little_more(usable_gb):
    installed = installed_memory(usable_gb)
    assert usable_gb <= installed <= 1.126 * usable_gb
    assert installed_memory(installed) == installed


@given(st.floats(1e-3, 1e6), st.floats(0.1, 1))
def test_usable_memory_never_exceeds_installed(total_gb, share):
    facts = memory_facts("scontrol", "RealMemory", total_gb * share, total_gb)
    assert 0 < facts["usable_memory_gb"].value <= facts["memory_gb"].value


@pytest.mark.parametrize(("usable_gb", "installed"), [(7.6, 8), (7.4, 7.5), (62.5, 64), (93.1, 96), (1.0, 1)])
def test_sizes(usable_gb, installed):
    assert installed_memory(usable_gb) == installed
