"""The same placement as a line of the other launcher: the map is kept, not the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.launchers.components import LaunchError
from hopperlib.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.placement import place_tasks
from hopperlib.placement.suggestions import equivalent_line, same_map

HOPPER = Machine.load("hopper")


def placed(line, machine=HOPPER):
    return place_tasks(read_launch(line, machine), machine)


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("aprun -n 384 -N 12 vasp", "srun -N 32 -n 384 --ntasks-per-node=12 -m block:block --cpu-bind=cores vasp"),
        ("aprun -n 4 -S 1 -d 6 a.out", "srun -N 1 -n 4 --ntasks-per-node=4 -c 6 --cpu-bind=cores a.out"),
        # One task on the last node: only blocks of 24 fill the first one.
        ("aprun -n 25 a.out", "srun -N 2 -n 25 --ntasks-per-node=24 -m plane=24 --cpu-bind=cores a.out"),
        ("aprun -n 4 -N 4 -ss a.out", "--mem-bind=local"),
        ("aprun -n 8 -cc none a.out", "--cpu-bind=none"),
        ("aprun -n 4 -cc 0,6,12,18 a.out", "srun -N 1 -n 4 --ntasks-per-node=4 --cpu-bind=cores a.out"),
        ("srun -n 24 --cpu-bind=rank a.out", "aprun -n 24 -N 24 a.out"),
        (
            "srun -N 2 -n 24 --cpu-bind=cores -m block:cyclic a.out",
            "aprun -n 24 -N 12 -cc 0,6,12,18,1,7,13,19,2,8,14,20",
        ),
        ("srun -N 2 -n 8 -c 6 --cpu-bind=cores a.out", "aprun -n 8 -N 4 -d 6 a.out"),
        ("OMP_NUM_THREADS=6 aprun -n 4 -d 6 a.out", "OMP_NUM_THREADS=6 srun "),
        ("aprun -n 24 ocean : -n 24 ice", " ocean : -N 1 -n 24 "),
    ],
)
def test_lines_keep_the_map(line, same):
    text = equivalent_line(placed(line))
    assert same in text
    assert same_map(placed(line), placed(text))


@pytest.mark.parametrize(
    "line",
    [
        # Task 1 on the second node: aprun fills a node before the next.
        "srun -N 2 -n 4 -m cyclic --cpu-bind=cores a.out",
        # 9, 8 and 8 tasks a node: aprun fills all but the last alike.
        "srun -N 3 -n 25 --cpu-bind=cores a.out",
    ],
)
def test_where_the_other_launcher_cannot_there_is_no_line(line):
    assert equivalent_line(placed(line)) is None


def test_maps_differ_by_cores_nodes_numbers_and_binding():
    base = placed("aprun -n 8 -N 4 a.out")
    assert same_map(base, placed("aprun -n 8 -N 4 -S 4 b.out"))
    assert not same_map(base, placed("aprun -n 8 -N 4 -S 1 a.out"))
    assert not same_map(base, placed("aprun -n 8 a.out"))
    assert not same_map(base, placed("srun -N 2 -n 8 -m cyclic --cpu-bind=rank a.out"))
    assert not same_map(placed("aprun -n 1 -d 24 a.out"), placed("aprun -n 1 -d 24 -cc none a.out"))


def test_a_line_of_the_toy_machine():
    toy = Machine.load("toy")
    line = equivalent_line(placed("aprun -n 6 -S 2 a.out", toy))
    assert line.startswith("srun ")
    assert same_map(placed("aprun -n 6 -S 2 a.out", toy), placed(line, toy))


OPTIONS = {
    "aprun": (
        st.sampled_from(["", "-N 1", "-N 5", "-N 12", "-N 24"]),
        st.sampled_from(["", "-d 1", "-d 2", "-d 4", "-d 6", "-d 12"]),
        st.sampled_from(["", "-S 1", "-S 2", "-S 3", "-S 6"]),
        st.sampled_from(["", "-sn 2", "-sl 1,3"]),
        st.sampled_from(["", "-ss", "-cc none", "-cc numa_node", "-cc 23-0", "-cc 0,6:1,7"]),
    ),
    "srun": (
        st.sampled_from(["", "-N 1", "-N 2", "-N 3"]),
        st.sampled_from(["", "-c 1", "-c 2", "-c 6"]),
        st.sampled_from(["", "--ntasks-per-node=4", "--ntasks-per-node=12"]),
        st.sampled_from(["", "-m block:block", "-m block:cyclic", "-m cyclic:block", "-m plane=4"]),
        st.sampled_from(["", "--cpu-bind=cores", "--cpu-bind=threads", "--cpu-bind=rank", "--cpu-bind=none"]),
    ),
}


@st.composite
def lines(draw):
    launcher = draw(st.sampled_from(list(OPTIONS)))
    options = [draw(part) for part in OPTIONS[launcher]]
    return " ".join(
        [launcher, f"-n {draw(st.sampled_from([1, 4, 12, 24, 25, 30, 48]))}", *filter(None, options), "a.out"]
    )


@given(lines())
def test_a_round_trip_keeps_every_task_on_its_cores(line):
    try:
        first = placed(line)
    except LaunchError:
        return
    there = equivalent_line(first)
    if there is None:
        return
    second = placed(there)
    assert same_map(first, second)
    back = equivalent_line(second)
    assert back is None or same_map(first, placed(back))


@pytest.mark.parametrize("tasks", [1, 4, 12, 24, 30])
@pytest.mark.parametrize(
    "options", ["", "-N 4", "-N 12 -S 3", "-S 1", "-d 2", "-d 6", "-d 6 -ss", "-cc none", "-cc 23-0"]
)
def test_everyday_lines_come_back(tasks, options):
    try:
        first = placed(f"aprun -n {tasks} {options} a.out")
    except LaunchError:
        # More tasks a node than -S lets in.
        return
    back = equivalent_line(placed(equivalent_line(first)))
    assert same_map(first, placed(back))
