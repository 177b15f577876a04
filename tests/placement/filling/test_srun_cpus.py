"""CPUs of a node distributed to the tasks of a Slurm step. CPUs are counted core by core, thread by thread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.dialects.slurm import SlurmNode
from hopperkit.launchers.filling._srun_cpus import deal_cpus, step_cores
from hopperlib.machine import Launcher, Machine
from hopperlib.placement.components import Component

FOUR_BY_SIX = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
TWO_BY_FOUR = SlurmNode(sockets=2, cores_per_socket=4, threads_per_core=1)
TWO_BY_TWO_SMT = SlurmNode(sockets=2, cores_per_socket=2, threads_per_core=2)


def request(
    tasks: int,
    cpus_per_task: int = 1,
    sockets: str = "cyclic",
    *,
    threads_per_core: int | None = None,
    tasks_per_core: int | None = None,
    tasks_per_socket: int | None = None,
    plane: bool = False,
    exact: bool = False,
    whole_cores: bool = False,
) -> Component:
    return Component(
        command=(),
        tasks=tasks,
        threads_per_task=cpus_per_task,
        threads_per_core=threads_per_core,
        tasks_per_core=tasks_per_core,
        tasks_per_socket=tasks_per_socket,
        distribution=("plane" if plane else "block", sockets, sockets),
        step_method="cyclic" if plane else sockets,
        exact=exact,
        cpu_binding="cores" if whole_cores else None,
    )


def dealt(wanted: Component, node: SlurmNode) -> list[list[int]]:
    return deal_cpus(wanted, node, step_cores(wanted, node))


def test_what_slurm_calls_a_socket() -> None:
    node = Machine.load("hopper").node()
    packages = SlurmNode.of(node, Launcher(kind="srun", options=(), slurm_socket="socket"))
    assert (packages.sockets, packages.cores_per_socket, packages.cpus) == (2, 12, 24)
    numa_nodes = SlurmNode.of(node, Launcher(kind="srun", options=(), slurm_socket="numa_node"))
    assert (numa_nodes.sockets, numa_nodes.cores_per_socket, numa_nodes.cpus) == (4, 6, 24)


def test_linux_counts_all_first_hardware_threads_before_the_second_ones() -> None:
    # Places 0 1 | 2 3 | 4 5 | 6 7 are threads 0 and 1 of cores 0 to 3.
    assert [TWO_BY_TWO_SMT.cpu(place) for place in range(8)] == [0, 4, 1, 5, 2, 6, 3, 7]


@pytest.mark.parametrize(
    ("wanted", "cores"),
    [
        # Without exact a step has all cores.
        (request(2, 3), tuple(range(8))),
        # Six cores: block fills socket 0 (0-3), then 4 and 5.
        (request(2, 3, "block", exact=True), (0, 1, 2, 3, 4, 5)),
        # cyclic: three for a task from socket 0, three from socket 1.
        (request(2, 3, "cyclic", exact=True), (0, 1, 2, 4, 5, 6)),
        # One core per task, six tasks in turn: three on each socket.
        (request(6, 1, "cyclic", exact=True), (0, 1, 2, 4, 5, 6)),
        # fcyclic: one core in turn.
        (request(1, 3, "fcyclic", exact=True), (0, 1, 4)),
        # plane picks cores in turn over the sockets, whatever else it says.
        (request(2, 1, "block", plane=True, exact=True), (0, 4)),
        # A request for more than there is gets everything.
        (request(9, 1, "cyclic", exact=True), tuple(range(8))),
        # The rest of a socket's cores is taken when it comes to the last tasks: 5 cores of 2 per task.
        (request(3, 2, "cyclic", exact=True), (0, 1, 2, 3, 4, 5)),
    ],
)
def test_cores_of_a_step(wanted: Component, cores: tuple[int, ...]) -> None:
    assert step_cores(wanted, TWO_BY_FOUR) == cores


def test_cores_of_a_step_with_hardware_threads() -> None:
    # Three CPUs are two cores of two threads; one thread per core makes them three cores.
    assert step_cores(request(3, 1, exact=True), TWO_BY_TWO_SMT) == (0, 2)
    assert step_cores(request(3, 1, exact=True, threads_per_core=1), TWO_BY_TWO_SMT) == (0, 1, 2)
    # A task that may not share its core takes a whole one.
    assert step_cores(request(3, 1, exact=True, tasks_per_core=1), TWO_BY_TWO_SMT) == (0, 1, 2)


def test_block_takes_socket_after_socket() -> None:
    assert dealt(request(4, 2, "block"), TWO_BY_FOUR) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    # Three CPUs per task: the second task crosses over.
    assert dealt(request(2, 3, "block"), TWO_BY_FOUR) == [[0, 1, 2], [3, 4, 5]]


def test_block_keeps_to_the_tasks_a_socket_may_have() -> None:
    wanted = request(8, 1, "block", tasks_per_socket=2)
    assert dealt(wanted, FOUR_BY_SIX) == [[0], [1], [6], [7], [12], [13], [18], [19]]


def test_cyclic_takes_a_task_from_each_socket() -> None:
    assert dealt(request(6), TWO_BY_FOUR) == [[0], [4], [1], [5], [2], [6]]
    assert dealt(request(4, 6), FOUR_BY_SIX) == [list(range(first, first + 6)) for first in (0, 6, 12, 18)]
    # Three a task: 0-2, 4-6; the third gets 3 and, socket 0 being empty, 7; then socket 1 begins again with 4.
    assert dealt(request(3, 3), TWO_BY_FOUR) == [[0, 1, 2], [4, 5, 6], [3, 7, 4]]


def test_fcyclic_takes_a_cpu_from_each_socket() -> None:
    assert dealt(request(2, 4, "fcyclic"), TWO_BY_FOUR) == [[0, 4, 1, 5], [2, 6, 3, 7]]
    assert dealt(request(4, 2, "fcyclic"), FOUR_BY_SIX) == [[0, 6], [12, 18], [1, 7], [13, 19]]


def test_hardware_threads_are_filled_core_by_core() -> None:
    # Without whole cores two tasks share core 0 of a socket, one after the other.
    assert dealt(request(4, 1, "block"), TWO_BY_TWO_SMT) == [[0], [1], [2], [3]]
    # With whole cores the second thread of each stays unused.
    assert dealt(request(4, 1, "block", whole_cores=True), TWO_BY_TWO_SMT) == [[0], [2], [4], [6]]
    assert dealt(request(4, 1, "cyclic", whole_cores=True), TWO_BY_TWO_SMT) == [[0], [4], [2], [6]]
    # One thread per core.
    assert dealt(request(2, 2, "block", threads_per_core=1), TWO_BY_TWO_SMT) == [[0, 2], [4, 6]]
    # One task per core.
    assert dealt(request(3, 1, "block", tasks_per_core=1), TWO_BY_TWO_SMT) == [[0], [2], [4]]


def test_when_all_cpus_are_used_they_are_shared() -> None:
    assert dealt(request(10, 1, "block"), TWO_BY_FOUR)[8:] == [[0], [1]]
    assert dealt(request(10, 1, "cyclic"), TWO_BY_FOUR)[8:] == [[0], [4]]


@given(
    sockets=st.integers(1, 4),
    cores=st.integers(1, 6),
    threads=st.integers(1, 2),
    tasks=st.integers(1, 16),
    cpus=st.integers(1, 8),
    method=st.sampled_from(["block", "cyclic", "fcyclic"]),
    one_thread=st.booleans(),
    exact=st.booleans(),
    whole_cores=st.booleans(),
)
def test_every_task_gets_its_cpus(
    sockets: int,
    cores: int,
    threads: int,
    tasks: int,
    cpus: int,
    method: str,
    one_thread: bool,
    exact: bool,
    whole_cores: bool,
) -> None:
    node = SlurmNode(sockets=sockets, cores_per_socket=cores, threads_per_core=threads)
    wanted = request(
        tasks, cpus, method, threads_per_core=1 if one_thread else None, exact=exact, whole_cores=whole_cores
    )
    step = step_cores(wanted, node)
    hands = deal_cpus(wanted, node, step)
    assert [len(hand) for hand in hands] == [cpus] * tasks
    assert all(place // threads in step for hand in hands for place in hand)
    usable = node.cores * (1 if one_thread else threads)
    if tasks * cpus <= usable and threads == 1:
        # There are enough CPUs, so no tasks share.
        everything = [place for hand in hands for place in hand]
        assert len(set(everything)) == len(everything)
