"""A placement written for launchers and MPI libraries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.launchers.components import LaunchError
from hopperlib.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.binding import Binding
from hopperlib.placement.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu, rank_file, rank_order
from hopperlib.placement.placement import place_tasks

HOPPER = Machine.load("hopper")


def placed(line, machine=HOPPER):
    return place_tasks(read_launch(line, machine), machine)


def task(*cpus, bound=True):
    return Binding(cores=cpus, cpus=cpus, thread_cores=tuple((cpu,) for cpu in cpus), numa_nodes=(0,), bound=bound)


def test_vasp_spread():
    pattern = common_pattern(placed("aprun -n 384 -N 12 -S 3 vasp"))
    # Three tasks on the first cores of each NUMA node of six.
    assert cc_list(pattern) == "0-2,6-8,12-14,18-20"
    assert map_cpu(pattern) == "map_cpu:0,1,2,6,7,8,12,13,14,18,19,20"


def test_a_hybrid_line():
    pattern = common_pattern(placed("aprun -n 4 -S 1 -d 6 a.out"))
    assert cc_list(pattern) == "0-5:6-11:12-17:18-23"
    # Six bits each: 0x3f, moved by 6, 12 and 18 places.
    assert mask_cpu(pattern) == "mask_cpu:0x3f,0xfc0,0x3f000,0xfc0000"
    with pytest.raises(ValueError, match="map_cpu gives each task one CPU, and task 0 of the node has 6; use mask_cpu"):
        map_cpu(pattern)


@pytest.mark.parametrize("maker", [cc_list, map_cpu, mask_cpu])
def test_a_task_that_is_not_bound_has_no_list(maker):
    with pytest.raises(ValueError, match="task 1 of the node is not bound"):
        maker([task(0), task(1, bound=False)])


@given(st.lists(st.sets(st.integers(0, 255), min_size=1), min_size=1))
def test_masks_hold_the_cpus(sets):
    masks = mask_cpu([task(*sorted(cpus)) for cpus in sets]).removeprefix("mask_cpu:").split(",")
    assert [{bit for bit in range(256) if int(mask, 16) >> bit & 1} for mask in masks] == sets


def test_nodes_that_differ_have_no_common_list():
    # Cyclic over two nodes: tasks 0, 2, 4 and 1, 3; the second node holds fewer but alike.
    assert len(common_pattern(placed("srun -N 2 -n 5 -m cyclic:block --cpu-bind=cores a.out"))) == 3
    mixed = placed("aprun -n 24 a.out : -n 12 -N 12 -S 3 b.out")
    assert [len(common_pattern(mixed, number)) for number in (0, 1)] == [24, 12]
    with pytest.raises(ValueError, match="component=2 must be from 0 to 1, the components of this line"):
        common_pattern(mixed, 2)


def test_patterns_that_are_no_beginning_of_each_other_are_refused():
    placement = placed("aprun -n 24 -N 12 a.out")
    other = placed("aprun -n 24 -N 12 -S 3 a.out")
    both = type(placement)(
        machine=HOPPER, node_kind=HOPPER.node(), launch=placement.launch, nodes=(placement.nodes[0], other.nodes[1])
    )
    with pytest.raises(ValueError, match="component=0: its nodes differ in where their tasks run"):
        common_pattern(both)


def test_rank_order_lists_the_ranks_of_each_node():
    assert rank_order(placed("aprun -n 30 a.out")).splitlines()[1:] == ["0-23", "24-29"]
    # Cyclic: every second rank.
    assert rank_order(placed("srun -N 2 -n 6 -m cyclic a.out")).splitlines()[1:] == ["0,2,4", "1,3,5"]
    assert "1 task" not in rank_order(placed("aprun -n 2 a.out"))
    assert rank_order(placed("aprun -n 2 a.out")).startswith("# 2 tasks on 1 node;")


def test_rank_file_has_a_line_a_task():
    lines = rank_file(placed("aprun -n 13 -N 12 -S 3 a.out")).splitlines()
    assert len(lines) == 13
    assert lines[3] == "rank 3=+n0 slot=6"
    assert lines[12] == "rank 12=+n1 slot=0"
    # Not bound: all it could use.
    assert rank_file(placed("aprun -n 1 -cc none a.out")) == "rank 0=+n0 slot=0-23\n"


@given(st.integers(1, 60), st.integers(1, 24), st.integers(1, 6))
def test_ranks_of_all_nodes_are_the_ranks_of_the_job(tasks, per_node, per_numa_node):
    try:
        placement = placed(f"aprun -n {tasks} -N {per_node} -S {per_numa_node} a.out")
    except LaunchError:
        return
    ranks = []
    for line in rank_order(placement).splitlines()[1:]:
        for part in line.split(","):
            first, _, last = part.partition("-")
            ranks += range(int(first), int(last or first) + 1)
    assert ranks == list(range(tasks))
    assert len(rank_file(placement).splitlines()) == tasks
