"""``scontrol show config``: the settings that decide where srun puts tasks."""

from __future__ import annotations

import pytest

from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.errors import InputError
from hopperlib.machine import Machine

CONFIG = """Configuration data as of 2026-11-23T20:56:52
AccountingStorageBackupHost = (null)
CliFilterPlugins        = {cli_filter}
JobSubmitPlugins        = (null)
SelectType              = select/cons_tres
SelectTypeParameters    = {select}
SlurmdParameters        = {slurmd}
SLURM_VERSION           = {version}
TaskPlugin              = {task}
TaskPluginParam         = {autobind}
"""
PLAIN = {
    "cli_filter": "(null)",
    "select": "CR_CORE_MEMORY",
    "slurmd": "(null)",
    "version": "24.05.8",
    "task": "task/cgroup,task/affinity",
    "autobind": "(null type)",
}
NODE = "NodeName=n1 Sockets={} CoresPerSocket={} ThreadsPerCore=2 RealMemory=500000 Version=24.05.8\n"
# Two sockets of 64 cores in eight NUMA nodes.
LSCPU = """CPU(s): 256
Thread(s) per core: 2
Core(s) per socket: 64
Socket(s): 2
NUMA node(s): 8
Model name: AMD EPYC 7763 64-Core Processor
"""


def config(**changed: str) -> str:
    return CONFIG.format(**{**PLAIN, **changed})


def srun(*texts: str) -> dict[str, object]:
    """Return the machine file's settings of srun, and the position of each value."""
    machine = machine_from([record for text in texts for record in read_hardware(text)], name="mine")
    again = Machine.from_toml(machine.to_toml())
    launcher = again.launcher("srun")
    return {
        name: getattr(launcher, name) for name in ("version", "slurm_socket", "slurm_conf_socket", "auto_binding")
    } | {
        "distribution": launcher.default_distribution,
        "tasks_per_core": launcher.tasks_per_core,
    }


def test_a_plain_site() -> None:
    assert srun(config(), NODE.format(2, 64)) == {
        "version": "24.05.8",
        "slurm_socket": "socket",
        "slurm_conf_socket": None,
        "auto_binding": "none",
        "distribution": "block:cyclic",
        "tasks_per_core": None,
    }


@pytest.mark.parametrize(
    ("changed", "name", "value"),
    [
        ({"slurmd": "l3cache_as_socket"}, "slurm_socket", "l3"),
        ({"slurmd": "config_overrides,numa_node_as_socket"}, "slurm_socket", "numa_node"),
        ({"select": "CR_CORE,CR_CORE_DEFAULT_DIST_BLOCK"}, "distribution", "block:block"),
        ({"select": "CR_CORE,CR_ONE_TASK_PER_CORE"}, "tasks_per_core", 1),
        ({"autobind": "autobind=threads"}, "auto_binding", "threads"),
        ({"version": "22.05.8"}, "version", "22.05.8"),
    ],
)
def test_each_setting(changed: dict[str, str], name: str, value: object) -> None:
    assert srun(config(**changed), NODE.format(2, 64))[name] == value


def test_sockets_of_slurm_conf_that_slurmd_does_not_find() -> None:
    found = srun(config(), NODE.format(8, 16), LSCPU)
    assert (found["slurm_socket"], found["slurm_conf_socket"]) == ("socket", "numa_node")
    # slurmd makes them itself: nothing differs.
    found = srun(config(slurmd="numa_node_as_socket"), NODE.format(8, 16), LSCPU)
    assert (found["slurm_socket"], found["slurm_conf_socket"]) == ("numa_node", None)
    # An old slurmd that is told to take slurm.conf's.
    found = srun(config(slurmd="config_overrides", version="22.05.8"), NODE.format(8, 16), LSCPU)
    assert (found["slurm_socket"], found["slurm_conf_socket"]) == ("numa_node", None)


def test_both_outputs_in_one_text() -> None:
    assert [record.tool for record in read_hardware(config() + "\n" + NODE.format(2, 64))] == [
        "scontrol",
        "slurm-config",
    ]


def test_what_a_reader_should_know() -> None:
    (record,) = read_hardware(config(task="task/cgroup", cli_filter="lua"))
    assert len(record.notes) == 2
    assert record.notes[0].startswith("TaskPlugin = task/cgroup has no task/affinity: srun does not bind tasks here")
    assert record.notes[1].startswith("CliFilterPlugins may change the options of a line")


def test_alone_it_counts_no_cores() -> None:
    with pytest.raises(InputError, match="no output counts cores"):
        machine_from(read_hardware(config()), name="mine")


def test_partitions_say_which_kind_they_choose() -> None:
    text = (
        "NodeName=a Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Partitions=cpu,all\n"
        "NodeName=b Sockets=2 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=64000 Partitions=big,all\n"
        "PartitionName=cpu OverSubscribe=EXCLUSIVE\nPartitionName=big OverSubscribe=NO\nPartitionName=all OverSubscribe=NO\n"
    )
    machine = machine_from(read_hardware(text), name="mine")
    assert [kind.chosen_by for kind in machine.node_kinds] == [("partition=cpu",), ("partition=big",)]
    assert [kind.shared_by for kind in machine.node_kinds] == [("partition=all",), ("partition=all", "partition=big")]


@pytest.mark.parametrize(
    "text",
    [
        "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t56-4294967295\t0\n",
        "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t" + ",".join(["0-65535"] * 1000) + "\t0\n",
    ],
)
def test_ranges_that_would_fill_the_memory(text: str) -> None:
    with pytest.raises(InputError, match=r"4294967295|lists more than 65,536 CPUs"):
        read_hardware(text)


def test_a_gpu_near_cpus_that_the_node_does_not_have() -> None:
    gpus = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-300\t0\n"
    with pytest.raises(InputError, match="CPU Affinity names CPU 300; the node has 256 CPUs, counted from 0"):
        machine_from([*read_hardware(LSCPU), *read_hardware(gpus)], name="mine")
