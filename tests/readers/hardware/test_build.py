"""Machines from records: reported and assumed values, and how outputs complement each other."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.machine import Machine, MachineError

SAMPLES = Path(__file__).parents[1] / "samples" / "hardware"
EACH_TELLS_A_NODE = sorted(file.name for file in SAMPLES.iterdir() if file.name not in ("README.md", "meminfo.txt"))


def records(*names):
    return [record for name in names for record in read_hardware((SAMPLES / name).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", EACH_TELLS_A_NODE)
def test_each_sample_makes_a_sound_file(name):
    machine = machine_from(records(name), name="mine")
    assert Machine.from_toml(machine.to_toml()) == machine
    assert machine.node().cores >= 2


def test_the_samples_are_all_there():
    assert len(EACH_TELLS_A_NODE) == 9


def test_what_lscpu_does_not_tell_is_assumed():
    machine = machine_from(records("lscpu-virtual-machine.txt"), name="mine")
    badges = {path.rpartition(".")[2]: quantity.badge for path, quantity in machine.provenance.items()}
    assert badges == {
        "count": "assumed",
        "sockets": "documented",
        "cpu_numbering": "documented",
        "numa_nodes_per_socket": "documented",
        "cores_per_numa_node": "documented",
        "threads_per_core": "documented",
        "clock_ghz": "documented",
        "flops_per_cycle": "assumed",
        "memory_gb": "assumed",
        "usable_memory_gb": "assumed",
        "numa_bandwidth_gb_s": "assumed",
        "core_bandwidth_cap_gb_s": "assumed",
        "remote_bandwidth_fraction": "assumed",
    }
    assert machine.model == "Intel(R) Xeon(R) Processor @ 2.50GHz"
    assert machine.launchers == ()


def test_meminfo_adds_the_memory():
    machine = machine_from(records("lscpu-virtual-machine.txt", "meminfo.txt"), name="mine")
    assert machine.node().usable_memory_gb == 31.3
    assert set(machine.sources) == {"lscpu", "meminfo"}


def test_lstopo_goes_before_lscpu_and_meminfo():
    lstopo = read_hardware(
        '<topology><object type="Machine" cpuset="0x3" local_memory="4294967296"><object type="Core" cpuset="0x1"/>'
        '<object type="Core" cpuset="0x2"/></object></topology>'
    )
    machine = machine_from([*records("meminfo.txt", "lscpu-virtual-machine.txt"), *lstopo], name="mine")
    assert machine.node().usable_memory_gb == 4
    assert machine.provenance["node.compute.cores_per_numa_node"].source == "lstopo"
    assert machine.provenance["node.compute.clock_ghz"].source == "lscpu"
    assert set(machine.sources) == {"lscpu", "lstopo"}


def test_a_cluster_by_itself():
    machine = machine_from(records("scontrol-cluster.txt"), name="mine", title="Mine")
    assert machine.title == "Mine"
    assert [(node.name, node.count) for node in machine.node_kinds] == [
        ("24c-32gb", 4),
        ("40c-384gb", 2),
        ("24c-64gb", 1),
    ]
    # 4 x 24 + 2 x 40 + 24 cores
    assert machine.cores == 200
    assert machine.launcher().version == "21.08.8"
    assert machine.launcher().slurm_socket == "socket"
    assert machine.provenance["launcher.srun.slurm_socket"].badge == "assumed"


def test_a_cluster_with_the_numa_nodes_of_a_node():
    machine = machine_from(records("scontrol-cluster.txt", "lstopo2-two-sockets-four-numa.xml"), name="mine")
    standard = machine.node()
    # Slurm says 4 sockets; the node has 2 of 2 NUMA nodes each, so a Slurm socket is a NUMA node
    assert (standard.sockets, standard.numa_nodes_per_socket, standard.cores_per_numa_node) == (2, 2, 6)
    assert machine.launcher().slurm_socket == "numa_node"
    assert machine.provenance["launcher.srun.slurm_socket"].at == "Sockets=4, where the node has 2 and 4 NUMA nodes"
    assert standard.usable_memory_gb == 31.01
    assert machine.node("40c-384gb").sockets == 2
    assert any("40 cores x 2" in note for note in machine.notes)
    assert any("nodes of the cluster may differ" in note for note in machine.notes)


def test_a_slurm_socket_that_is_a_socket():
    machine = machine_from(records("scontrol-one-node.txt", "lscpu-two-sockets-eight-numa.txt"), name="mine")
    assert machine.node().numa_nodes == 8
    assert machine.launcher().slurm_socket == "socket"
    assert machine.provenance["launcher.srun.slurm_socket"].badge == "documented"


def test_kinds_that_differ_in_sockets_alone_have_names_of_their_own():
    text = "NodeName={} CoresPerSocket={} RealMemory=64000 Sockets={} ThreadsPerCore=1"
    both = "\n".join([text.format("a", 8, 2), text.format("b", 8, 2), text.format("c", 4, 4)])
    machine = machine_from(read_hardware(both), name="mine")
    assert [node.name for node in machine.node_kinds] == ["16c-64gb", "16c-64gb-4s1t1"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "no output counts cores; give that of lscpu, lstopo --of xml, scontrol show node or pbsnodes -a"),
        (
            ("meminfo.txt",),
            "no output counts cores; give that of lscpu, lstopo --of xml, scontrol show node or pbsnodes -a",
        ),
        (
            ("lscpu-virtual-machine.txt", "lscpu-interleaved.txt"),
            "the outputs describe different nodes (lscpu: 2 cores x 1, lscpu: 24 cores x 1); give those of one node",
        ),
    ],
)
def test_what_makes_no_machine(names, message):
    with pytest.raises(ValueError) as error:
        machine_from(records(*names), name="mine")
    assert str(error.value) == message


def test_a_name_that_breaks_the_rule():
    with pytest.raises(MachineError, match="name = 'My Machine': must be of the form"):
        machine_from(records("lscpu-interleaved.txt"), name="My Machine")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "the text is empty; the tool may have failed"),
        (" \n", "the text is empty; the tool may have failed"),
        ("Architektur: x86_64", "text that starts with 'Architektur: x86_64' is not recognized; supported are the outputs of lscpu"),
        ("<html/>", "lstopo: the XML starts with <html>"),
    ],
)  # fmt: skip
def test_text_of_another_kind(text, start):
    with pytest.raises(ValueError) as error:
        read_hardware(text)
    assert str(error.value).startswith(start)


def test_a_byte_order_mark_does_no_harm():
    text = (SAMPLES / "lscpu-virtual-machine.txt").read_text(encoding="utf-8")
    assert read_hardware("\ufeff" + text) == read_hardware(text)


@given(
    st.integers(1, 8),
    st.integers(1, 64),
    st.integers(1, 8),
    st.integers(1, 10**7),
    st.integers(0, 10**7),
)
def test_any_node_of_slurm_makes_a_sound_file(sockets, cores, threads, memory, reserved):
    text = (
        f"NodeName=a CoresPerSocket={cores} RealMemory={memory} Sockets={sockets} ThreadsPerCore={threads} "
        f"MemSpecLimit={reserved}"
    )
    machine = machine_from(read_hardware(text), name="mine")
    assert machine.cores == sockets * cores
    assert Machine.from_toml(machine.to_toml()) == machine


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        read_hardware(text)
    except ValueError:
        return


def test_sockets_that_share_a_numa_node_and_slurm_that_counts_them():
    lscpu = """Architecture: x86_64
CPU(s): 128
Thread(s) per core: 1
Core(s) per socket: 64
Socket(s): 2
NUMA node(s): 1
Vendor ID: AuthenticAMD
Model name: AMD EPYC 7763
NUMA node0 CPU(s): 0-127
"""
    scontrol = """NodeName=n1 Arch=x86_64 CoresPerSocket=64
   CPUAlloc=0 CPUEfctv=128 CPUTot=128 CPULoad=0.01
   NodeAddr=n1 NodeHostName=n1 Version=23.11.4
   RealMemory=250000 AllocMem=0 FreeMem=190000 Sockets=2 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1
   Partitions=cpu
"""
    machine = machine_from([*read_hardware(lscpu), *read_hardware(scontrol)], name="mine")
    node = machine.node()
    assert (node.sockets, node.numa_nodes, node.cores, node.cores_per_socket) == (2, 1, 128, 64)
    assert machine.launcher("srun").slurm_socket == "socket"
    assert machine.provenance["node.compute.sockets"].badge == "documented"


def test_gpus_of_a_node_with_interleaved_numbers_are_near_the_cores_of_their_socket():
    lscpu = """CPU(s): 16
Thread(s) per core: 1
Core(s) per socket: 8
Socket(s): 2
NUMA node(s): 2
NUMA node0 CPU(s): 0,2,4,6,8,10,12,14
NUMA node1 CPU(s): 1,3,5,7,9,11,13,15
"""
    near = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0,2,4,6,8,10,12,14\t0\nGPU1\tSYS\t X \t1,3,5,7,9,11,13,15\t1\n"
    node = machine_from([*read_hardware(lscpu), *read_hardware(near)], name="mine").node()
    assert node.gpu_cores == ("0-7", "8-15")
    assert [node.cpu(core) for core in (0, 1, 8, 9)] == [0, 2, 1, 3]
    assert [node.core_of(cpu) for cpu in (0, 2, 1, 3)] == [0, 1, 8, 9]
