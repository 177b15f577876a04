"""The placement explorer: default, examples, corners, refusals, size."""

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopperkit
from hopperkit.questions.node.place import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError
from hopperlib.machine import Machine

NAIVE = "aprun -n 384 -N 12 vasp"


def value(result, label):
    """The value whose label has this beginning."""
    return next(one for one in result.values if one.label.startswith(label))


def texts(result):
    """The texts to copy, by title."""
    return {one.title: one.text for one in result.copyables}


def test_the_default_is_vasp_as_first_tried():
    result = QUESTION.run()
    assert result.summary == (
        "Hopper: 384 tasks on 32 nodes: 12 per node, 6, 6, 0 and 0 on the 4 NUMA nodes. It may take 1.00 to 2.00 times "
        "as long as the same tasks spread evenly. Better: aprun -n 384 -N 12 -S 3 vasp"
    )
    assert [notice.code for notice in result.findings] == ["idle-numa-nodes", "better-line", "cores-idle"]
    assert result.facts["tasks_by_numa_node"] == [6, 6, 0, 0]
    assert texts(result)["The better line"] == "aprun -n 384 -N 12 -S 3 vasp"


def test_lines_to_copy_are_for_the_launchers_of_the_machine():
    # Hopper never ran srun, Perlmutter never aprun.
    assert list(texts(QUESTION.run(line=NAIVE))) == ["The better line"]
    assert not texts(QUESTION.run(line="srun -N 32 -n 384 --ntasks-per-node=12 vasp", machine="hopper"))
    assert texts(QUESTION.run(line="aprun -n 8 -d 16 a", machine="perlmutter")) == {
        "The better line": "srun -n 8 --ntasks-per-node=8 -N 1 -c 32 --cpu-bind=cores a"
    }


def test_numbers_carry_their_badges():
    result = QUESTION.run()
    ratio = value(result, "Run time relative to an even spread")
    assert (ratio.badge, ratio.text) == ("predicted", "1.00 to 2.00")
    assert len(result.values) == 2
    rate = value(result, "Memory bandwidth of the slowest thread")
    # 12.5 GB/s for six tasks, for three spread evenly.
    assert (rate.badge, rate.text) == ("predicted", "2.08")
    assert (
        rate.note == "4.17 GB/s spread evenly; at most 5.0 GB/s a core (assumed) and 12.5 GB/s a NUMA node (documented)"
    )


def test_the_chart_ends_at_the_ratio_and_shows_the_limit():
    (figure,) = QUESTION.run(memory_bound_high=0.6).figures
    line, better, limit = figure.data
    assert (line["x"][0], line["x"][-1]) == (0, 1)
    assert line["y"][-1] == pytest.approx(2)
    assert set(better["y"]) == {1}
    assert (limit["y"], limit["name"]) == ([2, 2], "memory channels alone 2.00")
    (shade,) = figure.layout["shapes"]
    assert (shade["x0"], shade["x1"]) == (0, 0.6)
    assert "this line from 1.00 at 0 to 2.00 at 1; better line from 1.00 at 0 to 1.00 at 1" in figure.alt


def test_spilled_memory_costs_more_than_shared_channels():
    # Six tasks of 2.58 GB want 15.5 GB of the 7.75 GB of a NUMA node: some of their memory is remote.
    (figure,) = QUESTION.run(memory_per_task_gb=2.58).figures
    line, *_, channels = figure.data
    assert line["y"][-1] > channels["y"][0]
    assert figure.layout["yaxis"]["range"][1] > line["y"][-1]


def test_a_spread_line_costs_nothing():
    result = QUESTION.run(line="aprun -n 384 -N 12 -S 3 vasp")
    assert result.facts["problems"] == 0
    assert result.facts["slowdown_high"] == 1
    assert result.summary.endswith("3 on each of 4 NUMA nodes. No better line was found.")


def test_memory_of_a_task_shows_where_it_spills():
    result = QUESTION.run(memory_per_task_gb=2.58)
    assert result.facts["remote_fraction"] == pytest.approx(0.49935, abs=5e-6)
    assert value(result, "Share of the memory on other NUMA nodes").text == "0.50"


def test_every_example_does_what_its_button_says():
    said = {}
    for example in QUESTION.examples:
        try:
            said[example.label] = QUESTION.run(**example.values).facts["problems"]
        except InputError as error:
            said[example.label] = QUESTION.control_of(error).name
    assert said == {
        "Today: GPUs on Perlmutter": 0,
        "Today: low-noise cores of Frontier": 0,
        "VASP spread with -S 3": 0,
        "Hybrid, 6 threads per task": 0,
        "A line that aprun refuses": "line",
    }


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        ({"line": "aprun -n 24 -S 7 a.out"}, "line", "-S 7 must be from 1 to 6, the cores of a NUMA node of Hopper"),
        ({"line": "  "}, "line", "is empty: type a launch line, such as: aprun -n 24 ./a.out"),
        ({"node": 32}, "node", "node=32 must be from 0 to 31, the nodes of this job"),
        ({"machine": "sumit"}, "machine", "machine='sumit' is neither a machine"),
        ({"machine_file": "cores = 24"}, "machine_file", "cores"),
        ({"machine_file": "]["}, "machine_file", "machine file"),
    ],
)
def test_refusals_point_at_their_control(values, control, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**values)
    assert QUESTION.control_of(error.value).name == control
    assert message in str(error.value)


def test_the_words_of_the_batch_system_are_passed_on():
    with pytest.raises(InputError) as error:
        QUESTION.run(line="#PBS -l mppwidth=24\naprun -n 48 a.out")
    assert "claim exceeds reservation's node-count" in str(error.value)


def test_a_machine_file_takes_the_place_of_the_machine(root):
    text = (root / "hopperlib" / "machines" / "toy.toml").read_text(encoding="utf-8")
    result = QUESTION.run(line="srun -n 3 --cpu-bind=cores a.out", machine="hopper", machine_file=text)
    assert len(result.facts["tasks_by_numa_node"]) == Machine.load("toy").node().numa_nodes == 3


@pytest.mark.parametrize("machine", Machine.names())
@pytest.mark.parametrize("line", ["{} -n 1 a.out", "{} -n 16 a.out", "{} -n 4 -{} 2 a.out"])
def test_every_machine_answers(machine, line):
    kind = Machine.load(machine).launcher().kind
    launcher, width = {"aprun": ("aprun", "d"), "pals": ("mpiexec --cpu-bind depth", "d")}.get(kind, ("srun", "c"))
    result = QUESTION.run(machine=machine, line=line.format(launcher, width))
    assert result.facts["tasks"] in (1, 4, 16)
    for drawing in result.drawings:
        ET.fromstring(drawing.svg)


@pytest.mark.parametrize("node", [0, 31])
@pytest.mark.parametrize("most", [0.0, 1.0])
@pytest.mark.parametrize("memory", [0.0, 0.01, 4096.0])
def test_corners_give_plain_json(node, most, memory):
    values = {"memory_bound_high": most, "node": node, "memory_per_task_gb": memory}
    answer = json.loads(answer_json("place", json.dumps(values)))
    assert answer["ok"]
    assert answer["result"]["facts"]["ratio"] >= 1


@pytest.mark.parametrize("line", ["aprun -n 24576 a.out", "aprun -n 24576 -N 12 a.out", "aprun -n 24577 -d 2 a.out"])
def test_a_huge_job_stays_small(line):
    text = answer_json("place", json.dumps({"line": line}))
    assert len(text) < 250_000


def test_steps_that_share_a_node_are_the_table():
    script = "#SBATCH -N 1 -C cpu\nsrun -n 4 -c 2 --exact ./first &\nsrun -n 8 -c 2 --exact ./second &\nwait\n"
    table = QUESTION.run(line=script, machine="perlmutter", launch=2).tables[0]
    assert table.caption.startswith("Steps that run together")
    assert [row[:2] for row in table.rows] == [(1, 4), (2, 8)]
    assert table.marked == (1,)


@given(st.text(alphabet="aprunsv -NSdc=0123456789<>&\"'$(){};|\n", max_size=60))
def test_whatever_is_typed_is_answered_or_refused(text):
    answer = json.loads(answer_json("place", json.dumps({"line": text})))
    if answer["ok"]:
        ET.fromstring(f"<div>{answer['html']['drawings']}</div>")
    else:
        assert answer["error"]["control"] == "line"


def test_programs_of_one_line_are_told_apart():
    result = QUESTION.run(line="aprun -n 24 ocean : -n 12 -N 12 ice", node=1)
    assert "Program 2 (ice): " in result.findings[0].message
    assert result.facts["tasks_by_numa_node"] == [6, 6, 0, 0]


def test_a_launch_line_that_a_text_does_not_have_is_refused_without_a_machine_too():
    text = "#SBATCH -N 1 -p nowhere\nsrun -n 4 ./a.out\n"
    with pytest.raises(InputError, match="launch=2 must be from 1 to 1, the launch lines of this text"):
        hopperkit.place(text, launch=2)
