"""The better line: really better, never refused, same tasks."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.node.launch.components import LaunchError
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import place_tasks
from hopperlib.node.review.advice import advise
from hopperlib.node.review.slowdown import placement_cost
from hopperlib.node.review.suggestions import better_line

HOPPER = Machine.load("hopper")
TOY = Machine.load("toy")


def better(text, machine=HOPPER, threads=None, **options):
    found = better_line(
        place_tasks(read_launch(text, machine, threads=threads), machine), partial(placement_cost, **options)
    )
    return found.line if found else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aprun -n 384 -N 12 vasp", "aprun -n 384 -N 12 -S 3 vasp"),
        ("aprun -n 384 -N 12 -S 3 vasp", None),
        ("aprun -n 24 a.out", None),
        ("aprun -n 4 a.out", "aprun -n 4 -S 1 a.out"),
        ("aprun -n 48 -sn 2 a.out", "aprun -n 48 -S 3 a.out"),
        ("aprun -n 96 -sl 0,2 a.out", "aprun -n 96 -S 3 a.out"),
        ("aprun -n 8 -S 2 -cc none a.out", "aprun -n 8 -S 2 a.out"),
        ("aprun -n 4 -cc 0,0,6,6 a.out", "aprun -n 4 -S 1 a.out"),
        ("aprun -n 12 -q -N 12 -t 60 a.out", "aprun -n 12 -q -N 12 -t 60 -S 3 a.out"),
        ("aprun -n 24 ocean : -n 12 -N 12 ice", "aprun -n 24 ocean : -n 12 -N 12 -S 3 ice"),
        ("aprun -n 12 -N 12 a : -n 12 -N 12 b", "aprun -n 12 -N 12 -S 3 a : -n 12 -N 12 -S 3 b"),
        ("srun -N 2 -n 24 a.out", "srun -N 2 -n 24 --cpu-bind=cores a.out"),
        ("srun -n 12 --cpu-bind=rank a.out", "srun -n 12 --cpu-bind=cores a.out"),
        # With -N the line would keep its 20 a node; 5 on each NUMA node instead of 6, 6, 6, 2.
        ("aprun -n 20 -N 20 a.out", "aprun -n 20 -N 20 -S 5 a.out"),
    ],
)
def test_better_lines(line, expected):
    assert better(line) == expected


def test_missing_depth_is_added_and_the_tasks_get_room():
    # 24 tasks a node with 6 threads each would be 144 threads; with -d 6 it is 4 tasks a node.
    assert better("OMP_NUM_THREADS=6 aprun -n 96 a.out") == "OMP_NUM_THREADS=6 aprun -n 96 -d 6 a.out"
    assert better("aprun -n 96 -N 24 a.out", threads=6) == "aprun -n 96 -N 4 -d 6 a.out"
    assert better("OMP_NUM_THREADS=2 srun -n 4 --cpu-bind=cores a.out", TOY).endswith("a.out")


def test_in_a_script_the_line_keeps_to_the_nodes_that_are_reserved():
    script = "#PBS -l mppwidth={width}\nexport OMP_NUM_THREADS=6\naprun -n 24 a.out\n"
    assert better(script.format(width=144)) == "aprun -n 24 -d 6 a.out"
    # Six nodes would do; with one there is no better line.
    assert better(script.format(width=24)) is None


def test_a_line_that_took_its_numbers_from_the_reservation_gets_them_itself():
    script = "#PBS -l mppwidth=12,mppnppn=12\naprun -B a.out\n"
    assert better(script) == "aprun -n 12 -S 3 a.out"


def test_memory_decides_too():
    # -ss and 2.58 GB: six tasks need 15.5 GB where 7.75 are.
    assert better("aprun -n 12 -N 12 -S 6 -ss a.out", memory_per_task_gb=2.58) == "aprun -n 12 -N 12 -S 3 -ss a.out"
    # 4 GB a task: seven fit a node of 31 GB, so eighteen need three nodes and not two of twelve.
    found = better("aprun -n 18 -N 12 -S 3 a.out", memory_per_task_gb=4)
    placement = place_tasks(read_launch(found, HOPPER), HOPPER)
    assert max(len(node.pattern) for node in placement.nodes) == 7
    assert len(placement.nodes) == 3


def test_where_nothing_helps_nothing_is_said():
    # Twelve threads do not fit a NUMA node, whatever the options.
    assert better("aprun -n 4 -d 12 a.out") is None


@given(
    st.sampled_from([1, 2, 8, 12, 24, 30, 96]),
    st.one_of(st.none(), st.integers(1, 24)),
    st.one_of(st.none(), st.sampled_from([1, 2, 3, 4, 6, 12])),
    st.sampled_from(["", "-ss", "-cc none", "-sn 2", "-S 6"]),
    st.one_of(st.none(), st.sampled_from([1, 2, 6, 12])),
    st.one_of(st.none(), st.floats(0.2, 10)),
)
def test_a_better_line_is_better(tasks, per_node, depth, more, threads, memory_gb):
    options = [f"-n {tasks}", more, f"-N {per_node}" if per_node else "", f"-d {depth}" if depth else ""]
    try:
        placement = place_tasks(read_launch(f"aprun {' '.join(options)} a.out", HOPPER, threads=threads), HOPPER)
    except LaunchError:
        return
    found = better_line(placement, partial(placement_cost, memory_per_task_gb=memory_gb))
    if found is None:
        return
    again = place_tasks(read_launch(found.line, HOPPER, threads=threads), HOPPER)
    assert again.launch.tasks == placement.launch.tasks
    assert again.nodes == found.placement.nodes

    def judged(one):
        cost = placement_cost(one, memory_per_task_gb=memory_gb)
        levels = [part.level for part in advise(one, cost)]
        return levels.count("problem"), levels.count("advice"), cost.slowdown_range(0, 1)[1]

    now, then = judged(placement), judged(again)
    assert then < now
    assert len(again.nodes) <= len(placement.nodes) or then[0] < now[0]
