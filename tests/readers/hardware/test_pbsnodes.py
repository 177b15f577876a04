"""Output of pbsnodes for the nodes of a cluster."""

import pytest

from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.errors import InputError

PRO = """x1000c0s{n}b0n0
     Mom = x1000c0s{n}b0n0.head
     state = free
     pcpus = {cpus}
     resources_available.host = x1000c0s{n}b0n0
     resources_available.mem = {kb}kb
     resources_available.ncpus = {cpus}
     resources_available.ngpus = {gpus}
     resources_assigned.ncpus = 0

"""
TORQUE = """n001
     state = free
     np = 12
     ntype = cluster
     status = rectime=1,ncpus=12,physmem=32819200kb,arch=x86_64
     gpus = 2
"""


def test_kinds_of_pbs_pro():
    text = "".join(PRO.format(n=n, cpus=64, kb=527_000_000, gpus=4 if n else 0) for n in range(4))
    first, second = read_hardware(text)
    assert [(kind.facts["count"].value, kind.gpu_count) for kind in (first, second)] == [(3, 4), (1, 0)]
    # 527,000,000 kB are 502.6 GB: what modules of 512 GB leave.
    assert first.facts["memory_gb"].value == 512
    machine = machine_from([first, second], name="mine")
    assert (machine.nodes, machine.node().gpus, machine.launchers) == (4, 4, ())


def test_torque():
    (kind,) = read_hardware(TORQUE)
    assert (kind.cores, kind.facts["memory_gb"].value, kind.gpu_count) == (12, 32, 2)


def test_numa_nodes_come_from_a_node_with_as_many_cpus():
    node = "CPU(s): 64\nThread(s) per core: 2\nCore(s) per socket: 16\nSocket(s): 2\nNUMA node(s): 2\n"
    text = PRO.format(n=0, cpus=64, kb=527_000_000, gpus=0)
    machine = machine_from([*read_hardware(text), *read_hardware(node)], name="mine")
    assert (machine.node().numa_nodes, machine.node().cores, machine.node().threads_per_core) == (2, 32, 2)


@pytest.mark.parametrize("cpus", ["0", "999999999999"])
def test_a_node_without_cpus_or_with_too_many(cpus):
    with pytest.raises(InputError, match="a node has 1 to"):
        read_hardware(PRO.format(n=0, cpus=cpus, kb=1, gpus=0))
