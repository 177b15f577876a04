"""A placement in words and as a text drawing."""

import pytest

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.launchers.text_drawing import headline, node_picture
from hopperlib.machine import Machine

HOPPER = Machine.load("hopper")


def placed(line, machine=HOPPER, **options):
    return place_tasks(read_launch(line, machine, **options), machine)


def picture(line, machine=HOPPER, node=0, **options):
    placement = placed(line, machine)
    return node_picture(machine.node(), placement.nodes[node], **options)


def test_vasp_as_first_tried():
    lines = picture("aprun -n 384 -N 12 vasp").splitlines()
    assert lines[:5] == [
        "socket 0",
        "  NUMA node 0  cores 0-5",
        "    ┌────┬────┬────┬────┬────┬────┐",
        "    │  0 │  1 │  2 │  3 │  4 │  5 │",
        "    └────┴────┴────┴────┴────┴────┘",
    ]
    assert lines[-2] == "    │  · │  · │  · │  · │  · │  · │"
    assert lines.index("socket 1") == 9


def test_hardware_threads_are_rows_of_a_core():
    toy = Machine.load("toy")
    lines = picture("srun -n 2 -c 2 --cpu-bind=cores a.out", toy).splitlines()
    # Toy: a core has two hardware threads, both of which belong to a task that is bound to it.
    assert lines[3][:10] == lines[4][:10] == "    │ 0 │ "


def test_tasks_that_share_cores():
    assert "│ 0-3 │" in picture("aprun -n 4 -cc none a.out")
    # Eight numbers with gaps do not fit: they are counted.
    cyclic = picture("srun -N 2 -n 16 -m cyclic --cpu-bind=none a.out")
    assert "│ 8x │" in cyclic


@pytest.mark.parametrize("name", Machine.names())
def test_pictures_fit_a_terminal(name):
    machine = Machine.load(name)
    launcher = {"aprun": "aprun", "pals": "mpiexec"}.get(machine.launcher().kind, "srun")
    text = picture(f"{launcher} -n {len(machine.node().usable_cores)} a.out", machine)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("aprun -n 384 -N 12 -S 3 vasp", "384 tasks on 32 nodes: 12 per node, 3 on each of 4 NUMA nodes."),
        ("aprun -n 1 a.out", "1 task on 1 node, all on NUMA node 0 of 4."),
        ("aprun -n 25 a.out", "25 tasks on 2 nodes: 24 per node, 6 on each of 4 NUMA nodes; 1 on the last node."),
        ("aprun -n 2 -d 12 a.out", "2 tasks on 1 node, 2 of them over more than one NUMA node."),
        ("aprun -n 4 -cc none a.out", "4 tasks on 1 node, free to move between cores."),
        (
            "aprun -n 24 ocean : -n 4 -S 1 ice",
            "ocean: 24 tasks on 1 node, 6 on each of 4 NUMA nodes; ice: 4 tasks on 1 node, 1 on each of 4 NUMA nodes.",
        ),
    ],
)
def test_headlines(line, words):
    assert headline(placed(line)) == words


def test_a_machine_without_numa_nodes_says_nothing_of_them():
    franklin = Machine.load("franklin")
    assert headline(placed("aprun -n 8 a.out", franklin)) == "8 tasks on 2 nodes: 4 per node."
