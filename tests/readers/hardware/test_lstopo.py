"""``lstopo --of xml`` of hwloc 1 and 2."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware._lstopo import read_lstopo

SAMPLES = Path(__file__).parents[1] / "samples" / "hardware"


def sample(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def geometry(record):
    return tuple(
        record.facts[key].value
        for key in ("sockets", "numa_nodes_per_socket", "cores_per_numa_node", "threads_per_core")
    )


def topology(*objects):
    """XML of a machine with these objects: type, set of CPUs, further attributes."""
    lines = (f'<object type="{kind}" cpuset="{cpuset}" {more}/>' for kind, cpuset, more in objects)
    return f'<topology version="2.0"><object type="Machine">{"".join(lines)}</object></topology>'


CORES = [("Core", hex(1 << core), "") for core in range(4)]


@pytest.mark.parametrize("name", ["lstopo2-two-sockets-four-numa.xml", "lstopo1-two-sockets-four-numa.xml"])
def test_the_same_node_in_both_versions(name):
    record = read_lstopo(sample(name))
    assert geometry(record) == (2, 2, 6, 1)
    assert record.facts["usable_memory_gb"].value == 32
    assert record.facts["memory_gb"].value == 32
    assert (record.cores, record.sockets, record.numa_nodes, record.notes) == (24, 2, 4, ())


def test_numa_nodes_above_sockets_in_version_1():
    record = read_lstopo(sample("lstopo1-numa-above-sockets.xml"))
    assert geometry(record) == (2, 1, 2, 2)
    assert record.facts["usable_memory_gb"].value == 8
    assert record.notes == ()


def test_a_machine_without_numa_nodes_has_its_own_memory():
    # hwloc 1 shows no NUMA node where there is only one
    xml = '<topology><object type="Machine" cpuset="0x3" local_memory="4294967296">'
    xml += '<object type="Socket" cpuset="0x3"><object type="Core" cpuset="0x1"/><object type="Core" cpuset="0x2"/>'
    record = read_lstopo(xml + "</object></object></topology>")
    assert geometry(record) == (1, 1, 2, 1)
    assert record.facts["usable_memory_gb"].value == 4


def test_no_memory_is_told():
    assert "memory_gb" not in read_lstopo(topology(*CORES)).facts


def test_a_machine_without_cores_has_its_hardware_threads():
    record = read_lstopo(topology(("PU", "0x1", ""), ("PU", "0x2", "")))
    assert geometry(record) == (1, 1, 2, 1)


def test_memory_without_cores_of_its_own_is_left_out():
    record = read_lstopo(
        topology(
            ("NUMANode", "0x3", 'local_memory="1073741824"'),
            ("NUMANode", "0x3", 'local_memory="9073741824" subtype="HBM"'),
            ("NUMANode", "0xc", 'local_memory="1073741824"'),
            ("NUMANode", "0x0", 'local_memory="9073741824"'),
            *CORES,
        )
    )
    assert record.numa_nodes == 2
    assert record.facts["usable_memory_gb"].value == 2
    assert record.notes == ("2 NUMA nodes without cores are left out, with their memory",)


def test_numa_nodes_of_unequal_size():
    record = read_lstopo(topology(("NUMANode", "0x1", ""), ("NUMANode", "0xe", ""), *CORES))
    assert geometry(record) == (1, 1, 4, 1)
    assert record.notes == (
        "the NUMA nodes differ, or are split across sockets (cores 4, NUMA nodes 2, sockets 1); the node is treated as one NUMA node",
    )
    assert record.facts["cores_per_numa_node"].badge == "assumed"


def test_cpus_dealt_out_in_turn():
    record = read_lstopo(topology(("NUMANode", "0x5", ""), ("NUMANode", "0xa", ""), *CORES))
    assert geometry(record) == (1, 2, 2, 1)
    assert record.facts["cpu_numbers"].value == ("0,2,1,3",)
    assert record.notes == ()


def test_neighboring_hardware_threads():
    cores = [("Core", hex(3 << 2 * core), "") for core in range(2)]
    record = read_lstopo(topology(*cores))
    assert geometry(record) == (1, 1, 2, 2)
    assert record.facts["cpu_numbering"].value == "threads"


def test_numbers_with_gaps():
    # CPUs 2, 3, 6 and 7 are off line.
    cores = [("Core", hex(mask), "") for mask in (0x11, 0x22)]
    assert read_lstopo(topology(*cores)).facts["cpu_numbers"].value == ("0-1", "4-5")


def test_sockets_that_share_a_numa_node():
    parts = (("NUMANode", "0xf", ""), ("Package", "0x3", ""), ("Package", "0xc", ""))
    record = read_lstopo(topology(*parts, *CORES))
    assert geometry(record) == (2, 1, 4, 1)
    assert record.facts["sockets_per_numa_node"].value == 2


def test_numa_nodes_across_sockets_are_not_taken_as_told():
    parts = (("NUMANode", "0x5", ""), ("NUMANode", "0xa", ""), ("Package", "0x3", ""), ("Package", "0xc", ""))
    assert "split across sockets" in read_lstopo(topology(*parts, *CORES)).notes[0]


@pytest.mark.parametrize(
    ("info", "clock", "at"),
    [
        ('<info name="CPUModel" value="X @ 2.10GHz"/>', 2.1, "info CPUModel"),
        ('<info name="CPUModel" value="X"/><info name="FrequencyBaseMHz" value="2450"/>', 2.45, "info FrequencyBaseMHz"),
        ('<info name="FrequencyMaxMHz" value="3500"/>', 3.5, "info FrequencyMaxMHz"),
    ],
)  # fmt: skip
def test_clock(info, clock, at):
    quantity = read_lstopo(topology(*CORES).replace("</topology>", info + "</topology>")).facts["clock_ghz"]
    assert (quantity.value, quantity.at) == (clock, at)


def test_wide_sets_of_cpus_with_empty_words():
    # CPU 0 and CPU 64: the words of 32 bits between them may be left empty
    record = read_lstopo(topology(("Core", "0x00000001", ""), ("Core", "0x00000001,,0x0", "")))
    assert record.cores == 2


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("<topology>", "lstopo: not XML: "),
        ("<svg/>", "lstopo: the XML starts with <svg>, not with <topology> as hwloc's does"),
        ("<topology/>", "lstopo: the XML shows neither a Core nor a PU"),
        ('<!DOCTYPE t [<!ENTITY a "b">]><topology/>', "lstopo: the XML defines entities, which hwloc never does"),
        (
            topology(("Core", "0x1", ""), ("Core", "0x6", "")),
            "lstopo: cores have different numbers of hardware threads (1 of 1 and 1 of 2); a machine file supports only one kind",
        ),
        (topology(("Core", "0xzz", "")), "lstopo: cpuset = '0xzz' is not a set of CPUs"),
        (topology(("Core", "0xf...f", "")), "lstopo: cpuset = '0xf...f' is not a set of CPUs"),
        (topology(("Core", "0x1" + ",0x0" * 3000, "")), "lstopo: a cpuset has more than 65,536 CPUs"),
        (
            topology(*CORES, ("NUMANode", "0xf", 'local_memory="much"')),
            "lstopo: local_memory = 'much' must be a number of bytes",
        ),
    ],
)
def test_what_cannot_be_read(text, start):
    with pytest.raises(ValueError) as error:
        read_lstopo(text)
    assert str(error.value).startswith(start)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Package", "NUMANode", "Core", "PU"]),
            st.integers(0, 255).map(hex),
            st.sampled_from(["", 'local_memory="5"']),
        )
    )
)
def test_any_objects_are_read_or_refused(objects):
    try:
        record = read_lstopo(topology(*objects))
    except ValueError:
        return
    sockets, numa_nodes, cores, _ = geometry(record)
    assert sockets * numa_nodes * cores == record.cores
