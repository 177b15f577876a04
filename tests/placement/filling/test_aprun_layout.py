"""aprun's layout of a node. Expected cores are derived by hand in the comments."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.aprun_layout import aprun_layout, place_aprun
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import Component, LaunchError

HOPPER = Machine.load("hopper")
NODE = HOPPER.node()


def asked(**values: object) -> Component:
    return Component(command=("a.out",), **{"tasks": 1_000, **values})  # type: ignore[arg-type]


def seats(component: Component, node: NodeKind = NODE) -> list[list[int]]:
    return [list(seat) for seat in aprun_layout(component, node, "Hopper").seats]


def first_node(component: Component, threads: int | None = None) -> tuple[Binding, ...]:
    return place_aprun(component, NODE, HOPPER, threads or component.threads_per_task).patterns[0]


def each(first: int, count: int) -> list[int]:
    return list(range(first, first + count))


# --- defaults ---


@pytest.mark.parametrize(
    # -N = floor(24/d).
    ("depth", "tasks_per_node"),
    [(1, 24), (2, 12), (3, 8), (4, 6), (5, 4), (6, 4), (7, 3), (8, 3), (9, 2), (12, 2), (13, 1), (24, 1)],
)
def test_defaults_follow_the_depth(depth: int, tasks_per_node: int) -> None:
    layout = aprun_layout(asked(threads_per_task=depth), NODE, "Hopper")
    assert layout.tasks_per_node == len(layout.seats) == tasks_per_node


def test_tasks_fill_the_numa_nodes_in_order() -> None:
    assert seats(asked()) == [[core] for core in range(24)]
    # Twelve tasks: cores 0-5 are NUMA node 0, 6-11 NUMA node 1, and 12-23 stay idle.
    assert seats(asked(tasks_per_node=12)) == [[core] for core in range(12)]


def test_three_on_each_numa_node() -> None:
    # -N 12 -S 3: the first three cores of each NUMA node, which begin at 0, 6, 12 and 18.
    assert seats(asked(tasks_per_node=12, tasks_per_numa_node=3)) == [
        [core] for first in (0, 6, 12, 18) for core in each(first, 3)
    ]


def test_depth_keeps_a_tasks_cores_together() -> None:
    assert seats(asked(threads_per_task=2))[:4] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert seats(asked(threads_per_task=3)) == [each(first, 3) for first in range(0, 24, 3)]
    assert seats(asked(threads_per_task=6)) == [each(first, 6) for first in range(0, 24, 6)]
    assert seats(asked(threads_per_task=2, tasks_per_numa_node=1, tasks_per_node=4)) == [
        [0, 1],
        [6, 7],
        [12, 13],
        [18, 19],
    ]


def test_depth_beyond_a_numa_node_takes_whole_ones() -> None:
    assert seats(asked(threads_per_task=12)) == [each(0, 12), each(12, 12)]
    assert seats(asked(threads_per_task=24)) == [each(0, 24)]
    # ceil(9/6) = 2 NUMA nodes per task: 0-8 of 0-11, 12-20 of 12-23.
    assert seats(asked(threads_per_task=9)) == [each(0, 9), each(12, 9)]


def test_left_over_cores_are_assumed_and_said() -> None:
    # d = 4: -N is 6, but a NUMA node holds one task; cores 4,5 10,11 16,17 22,23 are left for two more.
    layout = aprun_layout(asked(threads_per_task=4), NODE, "Hopper")
    assert [list(seat) for seat in layout.seats] == [
        [0, 1, 2, 3],
        [6, 7, 8, 9],
        [12, 13, 14, 15],
        [18, 19, 20, 21],
        [4, 5, 10, 11],
        [16, 17, 22, 23],
    ]
    assert layout.assumptions == (
        "Depth 4 leaves cores over on each NUMA node: the first 4 tasks of a node get cores next to each other, the "
        "others the leftover cores in order. No source describes aprun's placement of those; this is assumed.",
    )
    # d = 8: two tasks of two NUMA nodes each, 8-11 and 20-23 are left for the third.
    assert seats(asked(threads_per_task=8)) == [each(0, 8), each(12, 8), [8, 9, 10, 11, 20, 21, 22, 23]]
    # d = 7: 7-11 and 19-23 are left, ten cores for the third task's seven.
    assert seats(asked(threads_per_task=7)) == [each(0, 7), each(12, 7), [7, 8, 9, 10, 11, 19, 20]]
    # d = 5: four tasks fit, one a NUMA node; the cores left over stay idle and nothing is assumed.
    layout = aprun_layout(asked(threads_per_task=5), NODE, "Hopper")
    assert [seat[0] for seat in layout.seats] == [0, 6, 12, 18]
    assert layout.assumptions == ()


def test_as_few_tasks_as_have_cores_together_need_no_assumption() -> None:
    assert aprun_layout(asked(threads_per_task=4, tasks_per_node=4), NODE, "Hopper").assumptions == ()


# --- -S, -sn, -sl, -r ---


def test_numa_nodes_in_use() -> None:
    assert seats(asked(numa_nodes_per_node=2)) == [[core] for core in range(12)]
    assert seats(asked(numa_node_list=(1, 3))) == [[core] for core in (*each(6, 6), *each(18, 6))]
    # The order of -sl is the order in which they fill; -sn takes the first of them.
    assert seats(asked(numa_node_list=(3, 0), numa_nodes_per_node=1)) == [[core] for core in each(18, 6)]
    assert seats(asked(numa_node_list=(2, 0), tasks_per_numa_node=1, tasks_per_node=2)) == [[12], [0]]


def test_s_and_sn_lower_the_default_of_n() -> None:
    layout = aprun_layout(asked(tasks_per_numa_node=3), NODE, "Hopper")
    assert layout.tasks_per_node == 12
    assert layout.assumptions == (
        "Without -N, 12 tasks per node: that -S, -sn and -r lower the default of -N is assumed.",
    )
    # The advice of NERSC's users guide, -S 1 -d 6, needs no assumption: 4 per node either way.
    assert aprun_layout(asked(tasks_per_numa_node=1, threads_per_task=6), NODE, "Hopper").assumptions == ()


def test_reserved_cores_are_the_highest() -> None:
    assert seats(asked(reserved_cores=1)) == [[core] for core in range(23)]
    # -r 7 takes 17-23: NUMA node 3 is gone, NUMA node 2 keeps 12-16.
    assert seats(asked(reserved_cores=7, threads_per_task=3)) == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
        [12, 13, 14],
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"tasks_per_node": 12, "tasks_per_numa_node": 2},
            "-S 2 holds 8 tasks per node, on 4 NUMA nodes, and -N requests 12; "
            "-S times the NUMA nodes in use must be at least -N",
        ),
        (
            {"tasks_per_node": 7, "tasks_per_numa_node": 3, "numa_nodes_per_node": 2},
            "-S 3 holds 6 tasks per node, on 2 NUMA nodes, and -N requests 7; "
            "-S times the NUMA nodes in use must be at least -N",
        ),
        (
            {"tasks_per_node": 12, "threads_per_task": 4},
            "-N 12 times -d 4 is 48 cores, more than the 24 that the line may use of a node of Hopper",
        ),
        (
            {"tasks_per_node": 13, "numa_nodes_per_node": 2},
            "-N 13 is more than the 12 that the line may use of a node of Hopper",
        ),
        (
            {"tasks_per_node": 24, "reserved_cores": 1},
            "-N 24 is more than the 23 that the line may use of a node of Hopper",
        ),
        (
            {"tasks_per_numa_node": 3, "threads_per_task": 3},
            "-S 3 times -d 3 is 9 cores, more than the 6 of a NUMA node of Hopper",
        ),
        (
            {"tasks_per_numa_node": 2, "threads_per_task": 12},
            "-S 2 must be 1 with -d 12: a task of 12 threads takes more than the 6 cores of a NUMA node",
        ),
        (
            {"threads_per_task": 12, "numa_nodes_per_node": 1},
            "-d 12 is more than the 6 cores that -r, -sn and -sl leave of the 24 of a node of Hopper",
        ),
        (
            {"numa_node_list": (1, 2), "numa_nodes_per_node": 3},
            "-sn 3 requests more NUMA nodes than the 2 that -sl names",
        ),
    ],
)
def test_combinations_that_no_node_has(values: dict[str, int], message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        aprun_layout(asked(**values), NODE, "Hopper")
    assert caught.value.message == message


def test_one_task_of_more_than_a_numa_node_may_have_s_1() -> None:
    assert seats(asked(threads_per_task=12, tasks_per_numa_node=1)) == [each(0, 12), each(12, 12)]


# --- -cc ---


def test_each_thread_has_its_core() -> None:
    binding = first_node(asked(threads_per_task=3))[1]
    assert binding.cores == (3, 4, 5)
    assert binding.thread_cores == ((3,), (4,), (5,))
    assert binding.numa_nodes == (0,)
    assert binding.bound


def test_threads_beyond_the_depth_share_its_cores() -> None:
    # OMP_NUM_THREADS=6 without -d: the task has one core, and so have all its threads.
    binding = first_node(asked(tasks_per_node=4), threads=6)[2]
    assert binding.cores == (2,)
    assert binding.thread_cores == ((2,),) * 6


def test_numa_node_keeps_a_task_on_its_numa_nodes() -> None:
    bindings = first_node(asked(tasks_per_node=8, cpu_binding="numa_node"))
    assert bindings[5].cores == tuple(range(6))
    assert bindings[6].cores == tuple(range(6, 12))
    # Twelve threads: the first six on NUMA node 0, the others on the next one.
    binding = first_node(asked(threads_per_task=12, cpu_binding="numa_node"))[0]
    assert binding.cores == tuple(range(12))
    assert binding.thread_cores == (tuple(range(6)),) * 6 + (tuple(range(6, 12)),) * 6


def test_none_binds_nothing() -> None:
    binding = first_node(asked(cpu_binding="none", tasks_per_node=4))[3]
    assert binding.cores == tuple(range(24))
    assert not binding.bound
    # -r and -sl reduce the cores.
    binding = first_node(asked(cpu_binding="none", numa_node_list=(0, 3), reserved_cores=2))[0]
    assert binding.cores == (*range(6), *range(18, 22))


def test_a_list_goes_to_the_tasks_in_order() -> None:
    component = asked(tasks_per_node=4, cpu_binding="list", binding_list=((0, 6, 12, 18),))
    assert [binding.cores for binding in first_node(component)] == [(0,), (6,), (12,), (18,)]
    # A list that is too short begins again; cores that do not exist are passed over.
    component = asked(tasks_per_node=4, cpu_binding="list", binding_list=((99, 23, 30, 22),))
    assert [binding.cores for binding in first_node(component)] == [(23,), (22,), (23,), (22,)]


def test_lists_a_task() -> None:
    # Two lists for three tasks: the third task takes the first again. x leaves a thread unbound.
    component = asked(tasks_per_node=3, threads_per_task=2, cpu_binding="list", binding_list=((0, 1), (None, 7)))
    bindings = first_node(component)
    assert bindings[0].thread_cores == ((0,), (1,))
    assert bindings[1].thread_cores == (tuple(range(24)), (7,))
    assert not bindings[1].bound
    assert bindings[2].thread_cores == ((0,), (1,))


def test_one_list_for_tasks_of_threads_is_an_assumption() -> None:
    component = asked(tasks_per_node=2, threads_per_task=2, cpu_binding="list", binding_list=((0, 6, 12, 18),))
    seating = place_aprun(component, NODE, HOPPER, 2)
    assert [binding.cores for binding in seating.patterns[0]] == [(0, 6), (12, 18)]
    assert any("dealt out in order" in assumed for assumed in seating.assumptions)


# --- nodes ---


def test_the_last_node_is_partly_filled() -> None:
    seating = place_aprun(asked(tasks=30, tasks_per_node=12), NODE, HOPPER, 1)
    assert [list(numbers) for numbers in seating.task_numbers] == [each(0, 12), each(12, 12), each(24, 6)]
    assert [binding.cores for binding in seating.patterns[2]] == [(core,) for core in range(6)]
    assert seating.patterns[0] is seating.patterns[1]


def test_fewer_tasks_than_a_node_takes() -> None:
    seating = place_aprun(asked(tasks=4, tasks_per_node=12), NODE, HOPPER, 1)
    assert [list(numbers) for numbers in seating.task_numbers] == [[0, 1, 2, 3]]


# --- other machines ---


def test_franklin_has_one_numa_node_of_four_cores() -> None:
    node = Machine.load("franklin").node()
    layout = aprun_layout(asked(threads_per_task=2), node, "Franklin")
    assert layout.seats == ((0, 1), (2, 3))
    assert aprun_layout(asked(), node, "Franklin").tasks_per_node == 4


def test_the_toy_has_three_numa_nodes_of_four_cores() -> None:
    node = Machine.load("toy").node()
    # -N 6 -S 2: two on each of three NUMA nodes, which begin at 0, 4 and 8. Its second hardware threads are not used.
    component = asked(tasks_per_node=6, tasks_per_numa_node=2)
    assert aprun_layout(component, node, "Toy").seats == ((0,), (1,), (4,), (5,), (8,), (9,))
    # d = 3: -N is 4, one a NUMA node, so a fourth task takes the left-over 3, 7 and 11.
    assert aprun_layout(asked(threads_per_task=3), node, "Toy").seats == ((0, 1, 2), (4, 5, 6), (8, 9, 10), (3, 7, 11))
    # d = 5: ceil(5/4) = 2 NUMA nodes per task; -N is 2, the second task gets 5-7 and 8, 9 that are left.
    assert aprun_layout(asked(threads_per_task=5), node, "Toy").seats == ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9))


# --- laws ---


@given(
    depth=st.integers(1, 24),
    per_node=st.none() | st.integers(1, 24),
    per_numa_node=st.none() | st.integers(1, 6),
    numa_nodes=st.none() | st.integers(1, 4),
    numa_list=st.none() | st.lists(st.integers(0, 3), min_size=1, unique=True).map(tuple),
    reserved=st.integers(0, 23),
    tasks=st.integers(1, 2_000),
)
def test_a_layout_gives_every_task_cores_of_its_own(
    depth: int,
    per_node: int | None,
    per_numa_node: int | None,
    numa_nodes: int | None,
    numa_list: tuple[int, ...] | None,
    reserved: int,
    tasks: int,
) -> None:
    component = asked(
        tasks=tasks,
        threads_per_task=depth,
        tasks_per_node=per_node,
        tasks_per_numa_node=per_numa_node,
        numa_nodes_per_node=numa_nodes,
        numa_node_list=numa_list,
        reserved_cores=reserved,
    )
    seating = None
    with suppress(LaunchError):
        seating = place_aprun(component, NODE, HOPPER, depth)
    if seating is None:
        return
    assert [number for numbers in seating.task_numbers for number in numbers] == list(range(tasks))
    for numbers, pattern in zip(seating.task_numbers, seating.patterns, strict=True):
        assert len(numbers) == len(pattern)
        used = [core for binding in pattern for core in binding.cores]
        assert len(used) == len(set(used)) == depth * len(pattern)
        assert all(0 <= core < 24 - reserved for core in used)
        if numa_list is not None:
            assert {NODE.numa_node_of(core) for core in used} <= set(numa_list)
        if per_numa_node is not None:
            assert all(
                sum(numa_node == binding.numa_nodes[0] for binding in pattern) <= per_numa_node
                for numa_node in range(4)
            )


def test_cc_depth_leaves_the_threads_of_a_task_on_its_cores() -> None:
    # aprun man page, later CLE: each PE gets a mask of as many CPUs as its depth.
    titan = Machine.load("titan")
    (component,) = read_launch("aprun -n 2 -d 4 -cc depth a", titan).components
    seats = place_aprun(component, titan.node(), titan, 2).patterns[0]
    # Two hardware threads per core, so four CPUs are two cores.
    assert [(seat.cpus, seat.thread_cores) for seat in seats] == [
        ((0, 1, 2, 3), ((0, 1),) * 2),
        ((4, 5, 6, 7), ((2, 3),) * 2),
    ]
    with pytest.raises(LaunchError, match="-cc depth must be cpu, numa_node, none or a list"):
        read_launch("aprun -n 2 -d 4 -cc depth a", HOPPER)
