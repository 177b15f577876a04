"""Totals printed in the sources, recomputed from the parts in the machine files."""

from decimal import Decimal
from math import floor

import pytest

from hopperlib.machine import Machine


def as_printed(text):
    """The printed number, within half a unit of its last printed place."""
    number = Decimal(text)
    return pytest.approx(float(number), abs=0.5 * 10 ** number.as_tuple().exponent)


@pytest.fixture
def hopper():
    return Machine.load("hopper")


@pytest.fixture
def franklin():
    return Machine.load("franklin")


@pytest.fixture
def perlmutter():
    return Machine.load("perlmutter")


def test_nodes_and_cores_of_hopper(hopper):
    assert hopper.nodes == 6384
    assert hopper.cores == 153_216
    assert hopper.node().cores == 24
    assert hopper.node().numa_nodes == 4


def test_peak_of_hopper(hopper):
    assert hopper.node().core_peak_gflops == as_printed("8.4")
    # 153,216 x 8.4 Gflop/s = 1,287.0144 Tflop/s, printed cut off as 1.28 PFlops
    assert hopper.peak_tflops == pytest.approx(1287.0144)
    assert floor(hopper.peak_tflops / 10) / 100 == 1.28


def test_memory_of_hopper(hopper):
    # "over 217 TB" rounds 216.576 up; 212 TB is 211.5 by the other divisor
    assert hopper.memory_gb == 216_576
    assert hopper.memory_tb == as_printed("217")
    assert hopper.memory_tib == 211.5
    assert hopper.memory_tib == as_printed("212")
    assert hopper.node().memory_gb / hopper.node().cores == as_printed("1.33")
    assert hopper.node("large-memory").memory_gb / hopper.node().cores == as_printed("2.67")


def test_core_hours_of_hopper(hopper):
    # printed, cut off, as 3.6 million
    assert hopper.core_hours_per_day == 3_677_184
    assert floor(hopper.core_hours_per_day / 1e5) / 10 == 3.6


def test_memory_per_task_of_hopper_and_franklin(hopper, franklin):
    assert hopper.node().usable_memory_gb / 24 == as_printed("1.29")
    assert hopper.node().usable_memory_gb / 12 == as_printed("2.58")
    # 63 GB / 24 = 2.625 is printed as 2.62
    assert floor(100 * hopper.node("large-memory").usable_memory_gb / 24) / 100 == 2.62
    assert franklin.node().usable_memory_gb / 2 == as_printed("3.77")
    assert franklin.node().usable_memory_gb / 4 == as_printed("1.88")


def test_torus_of_hopper(hopper):
    # 68 cabinets x 3 cages x 8 slots x 4 nodes = 6,528 = 17 x 8 x 24 routers of 2 nodes
    assert hopper.network.routers == 3264
    assert hopper.network.node_positions == 6528
    assert hopper.network.floor_columns * hopper.network.floor_rows == 68
    assert hopper.network.node_positions - hopper.nodes == 144
    assert len(hopper.network.service_blades) * hopper.network.nodes_per_slot == 144


def test_a_node_that_a_source_names_is_no_service_node_of_hopper(hopper):
    assert "c6-3c1s5" not in hopper.network.service_blades


def test_service_blades_of_hopper_are_spread(hopper):
    blades = hopper.network.service_blades
    cabinets = {blade.split("c")[1] for blade in blades}
    assert len(cabinets) == len(blades) == 36
    slots = [blade.split("c", 2)[2] for blade in blades]
    assert len(set(slots)) == 24
    assert max(slots.count(slot) for slot in slots) == 2


@pytest.mark.parametrize("number", [0, 1])
def test_file_systems_of_hopper(hopper, number):
    scratch = hopper.file_systems[number]
    assert scratch.servers == 26
    assert 1000 * scratch.ost_peak_gb_s == as_printed("224")
    # 1.7 of 6.0 GB/s is printed as 28 %
    assert 100 * scratch.node_write_ceiling_gb_s / hopper.network.node_bandwidth_gb_s == as_printed("28")


def test_bandwidth_of_a_node(hopper):
    # STREAM gives about 50 GB/s on two sockets; a northbridge of 8 bytes at 1.8 GHz passes 14.4 GB/s at most.
    assert hopper.node().bandwidth_gb_s == pytest.approx(50)
    assert hopper.node().numa_bandwidth_gb_s < 8 * 1.8


def test_franklin(franklin):
    assert franklin.nodes == 9572
    assert franklin.cores == 38_288
    assert franklin.peak_tflops == as_printed("352")
    # "over 400 TB" of scratch, 17 GB/s each, 24 servers each
    assert sum(each.capacity_pb for each in franklin.file_systems) == pytest.approx(0.418)
    assert [each.servers for each in franklin.file_systems] == [24, 24]
    # two thirds of 1.6 GB/s
    assert franklin.file_systems[0].node_write_ceiling_gb_s == as_printed("1.07")


def test_hopper_against_franklin(hopper, franklin):
    # "more than a factor of 4" holds by 0.04 %
    assert hopper.cores / franklin.cores == pytest.approx(4.0017, abs=5e-5)
    assert franklin.network.reroutes_around_dead_links is False
    assert hopper.network.reroutes_around_dead_links is True
    assert hopper.file_systems[0].server_failover is True


def test_bassi():
    bassi = Machine.load("bassi")
    assert bassi.cores == 888
    # 7,200 MB/s a CPU on a packed node of 8
    assert bassi.node().bandwidth_gb_s == as_printed("57.6")
    assert bassi.provenance["node.compute.count"].badge == "assumed"


def test_perlmutter(perlmutter):
    # the page prints, of the CPU nodes, 15.4 PFLOPS, 1536 (TB), 39.2 GFlops a core and 2.51 TFlops a socket
    cpu_nodes = perlmutter.node()
    assert cpu_nodes.count * cpu_nodes.peak_gflops / 1e6 == as_printed("15.4")
    assert cpu_nodes.count * cpu_nodes.memory_gb / 1024 == 1536
    assert perlmutter.node().core_peak_gflops == as_printed("39.2")
    assert perlmutter.node().cores_per_socket * perlmutter.node().core_peak_gflops / 1000 == as_printed("2.51")
    assert perlmutter.node().bandwidth_gb_s == as_printed("409.6")
    assert perlmutter.node().hardware_threads == 256
    assert perlmutter.launcher().kind == "srun"


def places(machine):
    """Number of node positions in the network of the file."""
    wired = machine.network.dragonfly or machine.network.fat_tree
    return wired.nodes


# Machines with a dragonfly or a fat tree: totals printed on a page, and the same from the parts in the file.
@pytest.mark.parametrize(
    ("name", "printed", "source", "summed"),
    [
        ("theta", "281088", "ALCF, Theta, table 1: compute cores", lambda m: m.cores),
        ("theta", "843264", "ALCF, Theta, table 1: DDR4 in GiB", lambda m: m.memory_gb),
        ("theta", "11.69", "ALCF, Theta, table 1: Rpeak in PFLOP/s", lambda m: m.peak_tflops / 1000),
        ("theta", "24", "ALCF, Theta, table 1: compute racks, of 192 nodes", lambda m: places(m) / 192),
        ("cori", "658784", "NERSC, Cori Configuration: KNL cores", lambda m: m.node("knl").count * m.node("knl").cores),
        (
            "cori",
            "1.2",
            "NERSC, Cori Configuration: TFlops of a Haswell node",
            lambda m: m.node("haswell").peak_gflops / 1000,
        ),
        ("cori", "68", "NERSC, Cori Interconnect: cabinets, of 192 nodes", lambda m: places(m) / 192),
        ("frontier", "9856", "OLCF, Frontier User Guide, System Overview: 77 cabinets of 128", places),
        ("aurora", "1104896", "ALCF, Aurora System Overview, table 1: cores", lambda m: m.cores),
        ("aurora", "10.375", "ALCF, Aurora System Overview, table 1: DDR5 in PiB", lambda m: m.memory_gb / 1024**2),
        ("aurora", "10624", "ALCF, Aurora System Overview: nodes in 166 racks", places),
        ("archer2", "750080", "ARCHER2 documentation, System overview: cores", lambda m: m.cores),
        ("archer2", "128", "ARCHER2 documentation, Interconnect details: nodes in a group", lambda m: places(m) / 46),
        (
            "perlmutter",
            "256",
            "NERSC, Perlmutter Architecture, Interconnect: nodes of a cabinet",
            lambda m: places(m) / 12,
        ),
        ("summit", "4608", "OLCF, Summit User Guide, System Overview: 256 cabinets of 18", places),
        ("frontera", "8008", "TACC, Frontera User Guide, System Architecture: nodes in 91 racks", places),
    ],
)
def test_totals_of_machines_with_networks_of_today(name, printed, source, summed):
    assert summed(Machine.load(name)) == as_printed(printed), source
