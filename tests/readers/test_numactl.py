"""numactl -H and amd-smi static --numa: they complete what other tools count of a node."""

import pytest

from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.errors import InputError

INTERLEAVED = """available: 2 nodes (0-1)
node 0 cpus: 0 2 4 6
node 0 size: 64200 MB
node 0 free: 60000 MB
node 1 cpus: 1 3 5 7
node 1 size: 64500 MB
node 1 free: 61000 MB
node distances:
node   0   1
  0:  10  21
  1:  21  10
"""
# Two sockets of two NUMA nodes of two cores, hardware threads last; node 4 is memory alone.
THREADS = "available: 5 nodes (0-4)\n" + "".join(
    f"node {node} cpus: {2 * node} {2 * node + 1} {8 + 2 * node} {9 + 2 * node}\nnode {node} size: 32000 MB\n"
    for node in range(4)
) + "node 4 cpus:\nnode 4 size: 16000 MB\n"  # fmt: skip
SCONTROL = "NodeName=n[1-4] CoresPerSocket={cores} RealMemory=120000 Sockets=2 ThreadsPerCore={threads}"
AMD = "GPU: 0\n    NUMA:\n        NODE: 1\n        AFFINITY: 1\n\nGPU: 1\n    NUMA:\n        NODE: 0\n        CPU_AFFINITY:\n            NODE_0: 0x1\n"


def machine(*texts):
    return machine_from([record for text in texts for record in read_hardware(text)], name="mine")


def test_interleaved_numbers_reach_the_machine():
    node = machine(INTERLEAVED, SCONTROL.format(cores=4, threads=1)).node()
    assert (node.sockets, node.numa_nodes, node.cores, node.threads_per_core) == (2, 2, 8, 1)
    # Core 1 of a machine file is the second of NUMA node 0, which Linux calls CPU 2.
    assert [node.cpu(core, 0) for core in range(8)] == [0, 2, 4, 6, 1, 3, 5, 7]


def test_a_node_of_memory_alone_is_left_out_and_threads_follow():
    node = machine(THREADS, SCONTROL.format(cores=4, threads=2)).node()
    assert (node.sockets, node.numa_nodes, node.cores_per_numa_node, node.threads_per_core) == (2, 4, 2, 2)
    assert [node.cpu(core, 1) for core in range(8)] == list(range(8, 16))


def test_alone_it_says_what_is_missing():
    with pytest.raises(InputError, match="add the output of lscpu, or of scontrol show node"):
        machine(INTERLEAVED)


def test_another_node_is_refused():
    lscpu = "CPU(s): 4\nThread(s) per core: 1\nCore(s) per socket: 2\nSocket(s): 2\nNUMA node(s): 2\n"
    with pytest.raises(InputError, match="describe different nodes"):
        machine(INTERLEAVED, lscpu)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("available: 2 nodes (0-1)\nnode 0 size: 3 MB\n", "no line contains 'node 0 cpus:'"),
        ("available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 1 cpus: 1 2\n", "a CPU belongs to two NUMA nodes"),
        ("available: 1 nodes (0)\nnode 0 cpus: 99999999\n", "is not a CPU"),
    ],
)
def test_what_cannot_be_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        read_hardware(text)


def test_amd_smi_names_the_numa_node_of_each_gpu():
    (record,) = read_hardware(AMD)
    assert record.gpu_numa_nodes == (1, 0)
    made = machine(INTERLEAVED, SCONTROL.format(cores=4, threads=1) + " Gres=gpu:2", AMD)
    node = made.node()
    assert [sorted(node.cores_near_gpu(gpu)) for gpu in range(2)] == [[4, 5, 6, 7], [0, 1, 2, 3]]
    assert made.provenance["node.compute.gpu_cores"].source == "amd-smi"
