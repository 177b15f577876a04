"""Memory: by brute force, no layout of the requested kind is cheaper than the proposed one."""

import random

import pytest

from hopperkit.questions.node.memory import Job
from hopperlib.machine import Machine

MACHINES = [Machine.load(name) for name in Machine.names()]


def fewest_nodes(kind, need_gb: float, tasks: int, threads: int) -> int | None:
    """Nodes of the cheapest layout: each number of tasks per node is tried, with a core for each thread of a task."""
    numa_nodes = [set(kind.cores_of(number)) - set(kind.reserved_cores) for number in range(kind.numa_nodes)]
    if threads <= kind.cores_per_numa_node:
        room = sum(len(cores) // threads for cores in numa_nodes)
    else:
        room = sum(map(len, numa_nodes)) // threads
    nodes = [-(-tasks // each) for each in range(1, min(room, tasks) + 1) if each * need_gb <= kind.usable_memory_gb]
    return min((number for number in nodes if number <= kind.count), default=None)


@pytest.mark.parametrize("seed", range(4))
def test_none_is_cheaper(seed):
    """50 needs of each seed, 200 in all; the requested kind is the ordinary one unless another is named."""
    rng = random.Random(seed)
    for _ in range(50):
        machine = rng.choice(MACHINES)
        kind = rng.choice(machine.node_kinds)
        named = kind.name if rng.random() < 0.5 else ""
        kind = kind if named else machine.node()
        need_gb = round(rng.uniform(0.05, 1.2) ** 3 * kind.usable_memory_gb / 4 + 0.01, 3)
        tasks, threads = rng.choice([1, 7, 64, 384, 900, 4096, 20_000]), rng.choice([0, 0, 1, 2, 4, 6, 8])
        threads = min(threads, kind.cores)
        job = Job(need_gb=need_gb, tasks=tasks, machine=machine, kind=named, threads=threads)
        expected = fewest_nodes(kind, need_gb, tasks, threads or 1)
        found = job.plain
        assert (found.nodes if found else None) == expected, (machine.name, kind.name, need_gb, tasks, threads)
        if found:
            assert found.node_kind == kind
            assert found.threads_per_task == (threads or 1)
            assert job.best is found
