"""GPUs, network interfaces and kept cores as the tools print them."""

import pytest

from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.errors import InputError

LSCPU = """Architecture: x86_64
CPU(s): 64
Thread(s) per core: 2
Core(s) per socket: 32
Socket(s): 1
NUMA node(s): 4
NUMA node0 CPU(s): 0-7,32-39
NUMA node1 CPU(s): 8-15,40-47
NUMA node2 CPU(s): 16-23,48-55
NUMA node3 CPU(s): 24-31,56-63
"""
# As ALCF's guide prints it of a node of Polaris.
NVIDIA = """\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\tNV4\tNV4\tSYS\t24-31,56-63\t3
GPU1\tNV4\t X \tNV4\tNV4\tSYS\t16-23,48-55\t2
GPU2\tNV4\tNV4\t X \tNV4\tSYS\t8-15,40-47\t1
GPU3\tNV4\tNV4\tNV4\t X \tPHB\t0-7,32-39\t0
"""
ROCM = "".join(f"GPU[{gpu}]\t\t: (Topology) Numa Node: {node}\n" for gpu, node in enumerate((3, 3, 1, 1, 0, 0, 2, 2)))


def machine(*texts):
    return machine_from([record for text in texts for record in read_hardware(text)], name="mine")


def test_gpus_of_nvidia_smi():
    assert machine(LSCPU, NVIDIA).node().gpu_cores == ("24-31", "16-23", "8-15", "0-7")


def test_gpus_of_rocm_smi():
    node = machine(LSCPU, ROCM).node()
    assert node.gpus == 8
    assert node.gpu_cores[:3] == ("24-31", "24-31", "8-15")


def test_what_slurm_keeps_and_counts():
    text = "NodeName=n1 CoresPerSocket=8 Sockets=2 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:a100:4(S:0-1) CPUSpecList=0,16 CoreSpecCount=1\n"
    found = machine(text)
    assert found.node().reserved_cores == (0,)
    assert found.node().gpu_cores == ("0-7", "0-7", "8-15", "8-15")
    assert found.provenance["node.compute.gpu_cores"].assumed
    counted = machine(text.replace("CPUSpecList=0,16 ", ""))
    assert counted.node().reserved_cores == (15,)
    assert "does not name the cores" in counted.provenance["node.compute.reserved_cores"].assumed


def test_devices_of_hwloc():
    pu = "".join(
        f'<object type="Core" cpuset="{1 << n:#x}"><object type="PU" cpuset="{1 << n:#x}"/></object>' for n in (2, 3)
    )
    text = (
        '<topology version="2.0"><object type="Machine" cpuset="0xf"><object type="Package" cpuset="0xf">'
        '<object type="L3Cache" cpuset="0x3"><object type="NUMANode" cpuset="0x3" local_memory="8589934592"/>'
        '<object type="Core" cpuset="0x1"><object type="PU" cpuset="0x1"/></object>'
        '<object type="Core" cpuset="0x2"><object type="PU" cpuset="0x2"/></object></object>'
        '<object type="L3Cache" cpuset="0xc"><object type="NUMANode" cpuset="0xc" local_memory="8589934592"/>'
        f'{pu}<object type="Bridge"><object type="PCIDev"><object type="OSDev" name="cuda0"/></object></object>'
        '<object type="Bridge"><object type="OSDev" name="mlx5_0"/></object></object></object></object></topology>'
    )
    node = machine(text).node()
    assert (node.cores_per_l3, node.gpu_cores) == (2, ("2-3",))


def test_output_without_affinity_is_refused():
    with pytest.raises(InputError, match="names no CPUs near the GPU"):
        read_hardware("\tGPU0\tCPU Affinity\nGPU0\t X \tN/A\n")


LFS = """UUID                 1K-blocks      Used Available Use% Mounted on
work-MDT0000_UUID      1000000       100       900   1% /work[MDT:0]
work-OST0000_UUID   1000000000 660000000 330000000  66% /work[OST:0]
work-OST0001_UUID   1000000000 960000000  30000000  97% /work[OST:1]
filesystem_summary: 2000000000 1620000000 360000000 81% /work

home-OST0000_UUID    500000000 100000000 400000000  20% /home[OST:0]
"""


def test_lfs_df_gives_each_file_system():
    node = "CPU(s): 8\nThread(s) per core: 1\nCore(s) per socket: 8\nSocket(s): 1\n"
    machine = machine_from([*read_hardware(node), *read_hardware(LFS)], name="mine")
    work, home = machine.file_systems
    # Two OSTs of 1e9 KiB, and one of half that.
    assert (work.name, work.osts, round(work.capacity_pb, 6)) == ("work", 2, 0.002048)
    assert (home.name, home.osts, round(home.capacity_pb, 6)) == ("home", 1, 0.000512)
    assert machine.provenance["file_system.work.osts"].badge == "documented"
    assert machine.provenance["file_system.work.peak_gb_s"].badge == "assumed"


def test_lfs_getstripe_gives_the_layout():
    text = (
        LFS.split("home", maxsplit=1)[0] + "stripe_count:  -1 stripe_size:   4194304 pattern: raid0 stripe_offset: -1\n"
    )
    node = "CPU(s): 8\nThread(s) per core: 1\nCore(s) per socket: 8\nSocket(s): 1\n"
    (work,) = machine_from([*read_hardware(node), *read_hardware(text)], name="mine").file_systems
    assert (work.default_stripe_count, work.default_stripe_size_bytes) == (2, 4 * 2**20)
