"""``numactl -H``: the CPUs and the memory of each NUMA node.

It shows neither sockets nor hardware threads, so it supplements the batch system's counts of a node.
"""

import re

from hopperkit.readers.hardware._devices import cpu_list
from hopperkit.readers.hardware._lscpu import numbering_of_numa_nodes
from hopperkit.readers.hardware._record import Hardware, local_node, memory_facts
from hopperlib.errors import InputError

MARK = re.compile(r"^available: \d+ nodes? \(", re.MULTILINE)
"""The first line that numactl prints."""


def read_numactl(text: str) -> Hardware:
    r"""Read ``numactl -H``: the CPUs of each NUMA node that has any, and the memory of all nodes.

    Examples
    --------
    >>> text = "available: 2 nodes (0-1)\nnode 0 cpus: 0 2\nnode 0 size: 15900 MB\nnode 1 cpus: 1 3\nnode 1 size: 16100 MB\n"
    >>> node = read_numactl(text)
    >>> node.numa_cpus, node.facts["memory_gb"].value
    (((0, 2), (1, 3)), 32)
    """
    lists = re.findall(r"^node (\d{1,5}) cpus:[ \t]*([\d \t]*)$", text, re.MULTILINE)
    cpus = [cpu_list(",".join(numbers.split()), f"numactl: node {node} cpus") for node, numbers in lists]
    cpus = [numbers for numbers in cpus if numbers]
    if not cpus:
        raise InputError("numactl: no line contains 'node 0 cpus:', as in the output of numactl -H")
    if len({cpu for numbers in cpus for cpu in numbers}) < sum(map(len, cpus)):
        raise InputError("numactl: a CPU belongs to two NUMA nodes")
    sizes = re.findall(r"^node \d{1,5} size: (\d{1,12}) MB", text, re.MULTILINE)
    total_gb = sum(map(int, sizes)) / 1024
    facts = memory_facts("numactl", "sizes of the nodes", total_gb) if total_gb else {}
    return Hardware("numactl", facts, numa_nodes=len(cpus), numa_cpus=tuple(map(tuple, cpus)))


def completed(record: Hardware, numactl: Hardware) -> Hardware | None:
    """Return the batch system's node with numactl's NUMA nodes; None if their CPU counts differ.

    Examples
    --------
    >>> numactl = Hardware("numactl", {}, numa_nodes=2, numa_cpus=((0, 2), (1, 3)))
    >>> node = completed(Hardware("scontrol", {}, cores=4, threads_per_core=1, sockets=2), numactl)
    >>> node.facts["numa_nodes_per_socket"].value, node.facts["cpu_numbers"].value
    (1, ('0,2,1,3',))
    """
    cores, threads, sockets = record.cores or 0, record.threads_per_core or 1, record.sockets or 1
    lists = [list(numbers) for numbers in numactl.numa_cpus]
    if sum(map(len, lists)) != cores * threads:
        return None
    at = ("cpus of the nodes; sockets and hardware threads as the batch system counts them",) * 3
    numbering = numbering_of_numa_nodes(lists, cores, threads, tool="numactl", at="cpus of the nodes")
    alike = len(set(map(len, lists))) == 1
    return local_node(
        "numactl",
        at,
        (sockets, len(lists), cores, threads),
        dict(numactl.facts),
        None,
        (),
        alike=alike,
        numbering=numbering,
    )


def same_node(local: Hardware, numactl: Hardware) -> bool:
    """Whether numactl lists as many CPUs as another tool counts on the node.

    Examples
    --------
    >>> same_node(Hardware("lscpu", {}, cores=2, threads_per_core=2), Hardware("numactl", {}, numa_cpus=((0, 1), (2, 3))))
    True
    """
    return sum(map(len, numactl.numa_cpus)) == (local.cores or 0) * (local.threads_per_core or 1)
