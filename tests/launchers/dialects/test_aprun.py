"""aprun lines read into components. Texts of errors are checked word for word."""

from dataclasses import replace
from pathlib import Path

import pytest

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import Component, Launch, LaunchError

HOPPER = Machine.load("hopper")


def read(line: str, machine: Machine = HOPPER) -> Launch:
    return read_launch(line, machine)


def only(line: str, machine: Machine = HOPPER) -> Component:
    (component,) = read(line, machine).components
    return component


def refusal(line: str, machine: Machine = HOPPER) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        place_tasks(read(line, machine), machine)
    return caught.value


def test_every_option_of_hoppers_synopsis_is_read() -> None:
    line = (
        "aprun -a xt -b -cc cpu -d 2 -D 3 -L 23-30 -m 500Mhs -n 48 -N 8 -F exclusive -q "
        "-r 1 -S 2 -sl 0-3 -sn 4 -ss -T -t 600 ./a.out -in file"
    )
    component = only(line)
    assert component.command == ("./a.out", "-in", "file")
    assert (component.tasks, component.tasks_per_node, component.threads_per_task) == (48, 8, 2)
    assert (component.tasks_per_numa_node, component.numa_nodes_per_node) == (2, 4)
    assert component.numa_node_list == (0, 1, 2, 3)
    assert component.strict_memory
    assert component.cpu_binding == "cpu"
    assert component.memory_per_task_gb == pytest.approx(500 / 1024)
    assert component.reserved_cores == 1
    assert component.idle_options == ("-a", "-b", "-D", "-L", "-F", "-q", "-T", "-t")
    assert component.given("-N") == "8"
    assert read(line).notes == ("Without effect on the placement: -D -F -L -T -a -b -q -t.",)


def test_defaults_are_left_open() -> None:
    component = only("aprun ./a.out")
    assert component.tasks == 1
    assert component.threads_per_task == 1
    assert component.tasks_per_node is None
    assert component.tasks_per_numa_node is None
    assert component.cpu_binding is None
    assert component.memory_per_task_gb is None


def test_glued_values() -> None:
    component = only("aprun -n384 -N12 -S3 -d2 ./vasp")
    assert (component.tasks, component.tasks_per_node, component.tasks_per_numa_node) == (384, 12, 3)
    assert component.threads_per_task == 2


def test_programs_apart_by_colons() -> None:
    launch = read("aprun -n 128 -N 12 ./ocean namelist : -n 24 -d 2 ./atmosphere : ./io")
    assert [component.command for component in launch.components] == [
        ("./ocean", "namelist"),
        ("./atmosphere",),
        ("./io",),
    ]
    assert [component.tasks for component in launch.components] == [128, 24, 1]
    assert launch.tasks == 153


@pytest.mark.parametrize("value", ["cpu", "numa_node", "none"])
def test_keywords_of_cc(value: str) -> None:
    assert only(f"aprun -n 4 -cc {value} a").cpu_binding == value


def test_lists_of_cc() -> None:
    component = only("aprun -n 2 -cc 0,x,2-4:10-8 a")
    assert component.cpu_binding == "list"
    assert component.binding_list == ((0, None, 2, 3, 4), (10, 9, 8))


@pytest.mark.parametrize(
    ("value", "gb"),
    [
        ("2G", 2.0),
        ("700M", 700 / 1024),
        ("1gh", 1.0),
        ("1Ghs", 1.0),
        ("512000K", 512_000 / 2**20),
    ],
)
def test_memory_of_a_task(value: str, gb: float) -> None:
    component = only(f"aprun -n 12 -N 12 -m {value} a")
    assert component.memory_per_task_gb == pytest.approx(gb)


def test_the_unit_of_m_is_in_doubt_and_said() -> None:
    launch = read("aprun -n 4 -m 1300 a")
    # Cray: megabytes; NERSC's page: bytes. 1300 bytes would be no memory at all.
    assert launch.components[0].memory_per_task_gb == pytest.approx(1300 / 1024)
    assert launch.notes == (
        "-m 1300 has no unit: Cray's manual counts megabytes and is followed here; "
        "NERSC's page for Hopper speaks of bytes. Write a suffix.",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("aprun -n 0 a", "-n 0 must be at least 1"),
        ("aprun -n -4 a", "-n -4 must be at least 1"),
        ("aprun -n four a", "-n four must be a whole number"),
        ("aprun -n", "-n needs a value"),
        ("aprun -n 4 -N 25 a", "-N 25 must be from 1 to 24, the cores of a node of Hopper"),
        ("aprun -n 4 -N 0 a", "-N 0 must be from 1 to 24, the cores of a node of Hopper"),
        ("aprun -n 4 -d 25 a", "-d 25 must be from 1 to 24, the cores of a node of Hopper"),
        ("aprun -n 4 -S 7 a", "-S 7 must be from 1 to 6, the cores of a NUMA node of Hopper"),
        ("aprun -n 4 -sn 5 a", "-sn 5 must be from 1 to 4, the NUMA nodes of a node of Hopper"),
        ("aprun -n 4 -sl 4 a", "-sl 4 names NUMA node 4; a node of Hopper has 0 to 3"),
        ("aprun -n 4 -sl 1,1 a", "-sl 1,1 names a NUMA node twice"),
        ("aprun -n 4 -sl one a", "-sl one must be a list of NUMA nodes such as 0,2-3"),
        (
            "aprun -n 4 -r 24 a",
            "-r 24 must be from 0 to 23, a node of Hopper has 24 cores and needs one for a task",
        ),
        ("aprun -n 4 -cc core a", "-cc core must be cpu, numa_node, none or a list of cores such as 0,6,12,18"),
        ("aprun -n 4 -cc", "-cc needs a value"),
        ("aprun -n 4 -cc 0,, a", "-cc 0,, must be a list of cores such as 0,2-3"),
        (
            "aprun -n 4 -cc 24-30 a",
            "-cc 24-30 lists no core that a task may use on a node of Hopper; those are 0 to 23",
        ),
        (
            "aprun -n 4 -cp placement a",
            "-cp names a file of core lists, which is not part of this text; write the lists with -cc",
        ),
        ("aprun -n 4 -m much a", "-m much must be a number with an optional suffix K, M, G or T"),
        ("aprun -n 4 -m 0 a", "-m 0 must be more than 0"),
        ("aprun -B a", "-B takes -n, -N, -d and -m from the batch reservation; write them on the line"),
        ("aprun -n 4 a :", "':' separates two programs, but one side of it has no program"),
        ("aprun : -n 4 a", "':' separates two programs, but one side of it has no program"),
        ("aprun -n $((2*M)) a", "-n $((2*M)) takes $M, which this text does not set; write the value"),
        ("aprun -n $(wc -l f) a", "-n $(wc -l f) is the output of a command; write the value"),
        ("aprun -n $NP a", "-n $NP takes $NP, which this text does not set; write the value"),
    ],
)
def test_values_that_are_refused(line: str, message: str) -> None:
    assert refusal(line).message == message


@pytest.mark.parametrize("option", ["-j 1", "-R 2", "-C", "-p 3", "-e A=1"])
def test_options_of_later_apruns_are_refused_by_name(option: str) -> None:
    error = refusal(f"aprun -n 4 {option} a")
    assert error.flag == option.split(maxsplit=1)[0]
    assert error.rule.startswith("is not an option of aprun on Hopper")


def test_the_machine_file_says_which_options_there_are() -> None:
    toy = Machine.load("toy")
    assert only("aprun -n 4 -j 1 a", toy).tasks == 4
    assert refusal("aprun -n 4 -r 1 a", toy).rule.startswith("is not an option of aprun on Toy")
    # Toy's cores have two hardware threads; the model of aprun counts cores.
    rule = "puts tasks on several hardware threads of a core; in which order is documented for none such machine"
    assert refusal("aprun -n 4 -j 2 a", toy).rule == rule
    assert refusal("aprun -n 4 -j 3 a", toy).message == (
        "-j 3 must be from 0 to 2, the hardware threads of a core of Toy; 0 means all of them"
    )


def test_options_of_the_general_launcher() -> None:
    perlmutter = Machine.load("perlmutter")
    launch = read_launch("aprun -n 4 -C -p 1 -R 2 a", perlmutter)
    assert launch.components[0].idle_options == ("-C", "-p", "-R")
    assert any("names no aprun" in note for note in launch.notes)


def test_a_launcher_that_sets_variables() -> None:
    newer = replace(HOPPER, launchers=(replace(HOPPER.launcher(), options=("-n", "-e")),))
    launch = read_launch("aprun -n 4 -e OMP_NUM_THREADS=3 -e PATH a", newer)
    assert launch.openmp_threads == 3


def test_no_number_of_a_machine_stands_in_the_code() -> None:
    folder = Path(__file__).parents[3] / "hopperkit" / "launchers"
    for file in folder.rglob("*.py"):
        code = file.read_text(encoding="utf-8")
        assert "6384" not in code
        assert "153216" not in code
