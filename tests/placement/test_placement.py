"""Placements as a whole: the documented case, several programs, laws over launch lines."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

HOPPER = Machine.load("hopper")
MACHINES = {name: Machine.load(name) for name in Machine.names()}


def place(line: str, machine: Machine = HOPPER, **more: int) -> Placement:
    return place_tasks(read_launch(line, machine, **more), machine)  # type: ignore[arg-type]


def counts(placement: Placement, node: int = 0) -> list[int]:
    return [len(tasks) for tasks in placement.tasks_by_numa_node(node)]


def test_vasp_packed_and_spread() -> None:
    # Antypas and He 2011, sec. 2: without -S the 12 tasks sit on the first two NUMA nodes, with -S 3 three on each.
    packed = place("aprun -n 384 -N 12 vasp")
    assert len(packed.nodes) == 32
    assert all(counts(packed, node) == [6, 6, 0, 0] for node in range(32))
    spread = place("aprun -n 384 -N 12 -S 3 vasp")
    assert len(spread.nodes) == 32
    assert all(counts(spread, node) == [3, 3, 3, 3] for node in range(32))
    assert packed.assumptions == spread.assumptions == ()


def test_tasks_are_numbered_node_by_node() -> None:
    placement = place("aprun -n 30 -N 12 a")
    assert [task.task for node in placement.nodes for task in node.tasks] == list(range(30))
    task = placement.nodes[1].tasks[2]
    assert (task.task, task.component, task.cores, task.numa_nodes) == (14, 0, (2,), (0,))
    assert placement.tasks_by_numa_node(2) == ((24, 25, 26, 27, 28, 29), (), (), ())


def test_programs_have_nodes_of_their_own() -> None:
    placement = place("aprun -n 30 -N 24 ./a : -n 3 -d 8 -N 2 ./b")
    # 30 tasks: 24 and 6; then 3 tasks: 2 and 1.
    assert [(node.node, node.component, list(node.task_numbers)) for node in placement.nodes] == [
        (0, 0, list(range(24))),
        (1, 0, list(range(24, 30))),
        (2, 1, [30, 31]),
        (3, 1, [32]),
    ]
    assert [node.node for node in placement.nodes_of(1)] == [2, 3]
    assert [node.node for node in placement.distinct_nodes()] == [0, 1, 2, 3]
    assert place("srun -n 4 -m cyclic ./a : -n 2 ./b").nodes[-1].task_numbers == range(4, 6)


def test_equal_nodes_share_their_pattern() -> None:
    placement = place("aprun -n 1000 a")
    assert len({id(node.pattern) for node in placement.nodes}) == 2
    assert [node.node for node in placement.distinct_nodes()] == [0, 41]


def test_threads_come_from_the_caller_first() -> None:
    assert len(place("OMP_NUM_THREADS=2 aprun -n 1 -d 6 a", threads=3).nodes[0].tasks[0].thread_cores) == 3
    assert len(place("OMP_NUM_THREADS=2 aprun -n 1 -d 6 a").nodes[0].tasks[0].thread_cores) == 2
    assert len(place("aprun -n 1 -d 6 a").nodes[0].tasks[0].thread_cores) == 6


def test_another_kind_of_node() -> None:
    launch = read_launch("aprun -n 24 -m 2500M a", HOPPER, kind="large-memory")
    assert place_tasks(launch, HOPPER, kind="large-memory").node_kind.memory_gb == 64
    with pytest.raises(LaunchError, match="more than the 32 GB of a node of Hopper"):
        place_tasks(read_launch("aprun -n 24 -m 2500M a", HOPPER), HOPPER)
    with pytest.raises(ValueError, match="is not a kind of node of hopper"):
        place_tasks(launch, HOPPER, kind="tiny")


def test_a_wide_toy_node() -> None:
    toy = MACHINES["toy"]
    # Kind "wide": six NUMA nodes of four cores. -N 12 -S 2.
    launch = read_launch("aprun -n 12 -S 2 -N 12 a", toy, kind="wide")
    assert counts(place_tasks(launch, toy, kind="wide")) == [2] * 6


def test_all_of_hopper_is_placed_quickly() -> None:
    # 153,216 tasks on 6,384 nodes. Processor time, and a bound far from the 0.03 s it takes: a busy machine is no
    # failure.
    launch = read_launch("aprun -n 153216 a", HOPPER)
    start = time.process_time()
    placement = place_tasks(launch, HOPPER)
    assert time.process_time() - start < 1.0
    assert len(placement.nodes) == 6_384
    assert sum(len(node.task_numbers) for node in placement.nodes) == 153_216


numbers = st.integers(1, 30)
aprun_lines = st.builds(
    lambda tasks, options: f"aprun -n {tasks} {' '.join(options)} a.out",
    st.integers(1, 3_000),
    st.lists(
        st.one_of(
            st.builds("-N {}".format, st.integers(1, 24)),
            st.builds("-d {}".format, st.integers(1, 24)),
            st.builds("-S {}".format, st.integers(1, 6)),
            st.builds("-sn {}".format, st.integers(1, 4)),
            st.sampled_from(["-sl 0", "-sl 1,3", "-sl 3,0-1", "-ss", "-F share", "-r 1", "-r 5"]),
            st.sampled_from(["-cc cpu", "-cc numa_node", "-cc none", "-cc 0-23", "-cc 23-0", "-cc 0,x:3", "-cc 40,2"]),
        ),
        max_size=4,
        unique_by=lambda option: option.split()[0],
    ),
)
srun_lines = st.builds(
    lambda tasks, options: f"srun -n {tasks} {' '.join(options)} a.out",
    st.integers(1, 600),
    st.lists(
        st.one_of(
            st.builds("-N {}".format, st.integers(1, 20)),
            st.builds("-c {}".format, numbers),
            st.builds("--ntasks-per-node={}".format, numbers),
            st.builds("--ntasks-per-socket={}".format, st.integers(1, 12)),
            st.sampled_from(
                [
                    *("--cpu-bind=cores", "--cpu-bind=threads", "--cpu-bind=sockets", "--cpu-bind=ldoms"),
                    *("--cpu-bind=none", "--cpu-bind=rank", "--cpu-bind=rank_ldom", "--cpu-bind=map_cpu:3,1,2"),
                    *("--cpu-bind=mask_cpu:0xf,f0", "--cpu-bind=map_ldom:1,0"),
                ]
            ),
            st.sampled_from(["-m block", "-m cyclic", "-m block:block", "-m cyclic:block", "-m plane=3"]),
            st.sampled_from(["--exact", "--exclusive", "--hint=nomultithread", "--hint=memory_bound"]),
        ),
        max_size=4,
        unique_by=lambda option: option.split("=")[0].split()[0],
    ),
)


@given(line=aprun_lines | srun_lines, name=st.sampled_from(sorted(MACHINES)))
def test_laws_of_every_placement(line: str, name: str) -> None:
    machine = MACHINES[name]
    placement = None
    with suppress(LaunchError):
        placement = place(line, machine)
    if placement is None:
        return
    node = machine.node()
    component = placement.launch.components[0]
    # Every task is placed once.
    everyone = [number for placed in placement.nodes for number in placed.task_numbers]
    assert sorted(everyone) == list(range(component.tasks))
    assert [placed.node for placed in placement.nodes] == list(range(len(placement.nodes)))
    for placed in placement.distinct_nodes():
        assert len(placed.task_numbers) == len(placed.pattern) >= 1
        for binding in placed.pattern:
            # No core, CPU or NUMA node that does not exist, and each thread within the task's cores.
            assert binding.cores
            assert set(binding.cores) <= set(range(node.cores))
            assert set(binding.cpus) <= set(range(node.hardware_threads))
            assert {node.core_of(cpu) for cpu in binding.cpus} == set(binding.cores)
            assert set(binding.numa_nodes) == {node.numa_node_of(core) for core in binding.cores}
            assert all(set(cores) <= set(binding.cores) for cores in binding.thread_cores)
            assert len(binding.thread_cores) == component.threads_per_task
        if binds_to_own_cpus(line):
            used = [cpu for binding in placed.pattern for cpu in binding.cpus]
            assert len(used) == len(set(used))


def binds_to_own_cpus(line: str) -> bool:
    """Whether a line gives each task separate CPUs: it has no option that makes tasks share."""
    sharing = ("numa_node", "none", "-cc ", "sockets", "ldoms", "map_", "mask_", "rank_ldom", "per-socket")
    if any(word in line for word in sharing):
        return False
    return line.startswith("aprun") or "--cpu-bind=threads" in line


def test_openmp_places_on_one_core_and_places_that_are_not_followed() -> None:
    cluster = Machine.load("cluster")
    line = "OMP_PLACES=cores OMP_PROC_BIND=master OMP_NUM_THREADS=2 srun -n 1 -c 2 a"
    assert place_tasks(read_launch(line, cluster), cluster).nodes[0].pattern[0].thread_cores == ((0,), (0,))
    listed = place_tasks(read_launch("OMP_PLACES={0},{1} srun -n 1 -c 2 a", cluster), cluster)
    assert "OMP_PLACES={0},{1} is not followed" in listed.certainty
