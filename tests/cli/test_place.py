"""`hopper place`: lines, files and standard input; text, JSON and lists; exit status."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.cli import hopper

NAIVE = "aprun -n 384 -N 12 vasp"
SPREAD = "aprun -n 384 -N 12 -S 3 vasp"


def place(*words, **options):
    return CliRunner().invoke(hopper, ["place", *words], prog_name="hopper", **options)


def test_text_for_people():
    result = place(NAIVE)
    assert result.exit_code == 1
    assert result.output.startswith(
        "Hopper: 384 tasks on 32 nodes: 12 per node, 6, 6, 0 and 0 on the 4 NUMA nodes. It may take 1.00 to 2.00"
    )
    assert "│  6 │  7 │  8 │  9 │ 10 │ 11 │" in result.output
    assert "problem: 12 tasks per node sit on NUMA nodes 0 and 1;" in result.output
    assert "The better line:\n  aprun -n 384 -N 12 -S 3 vasp\n" in result.output
    assert "\x1b" not in result.output
    assert len(result.output.splitlines()) <= 36


def test_everything_on_demand():
    output = place("--all", NAIVE).output
    assert "Run time relative to an even spread: 1.00 to 2.00 (predicted)" in output
    assert "at most 5.0 GB/s a core (assumed)" in output


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((SPREAD,), 0),
        ((NAIVE,), 1),
        (("--", "aprun", "-n", "384", "-N", "12", "-S", "3", "vasp"), 0),
        (("--machine", "perlmutter", "srun -N 2 -n 16 -c 32 --cpu-bind=cores a.out"), 0),
        (("--threads", "6", "aprun -n 96 a.out"), 1),
        (("--memory-per-task", "2.58", "aprun -n 12 -N 12 -S 6 -ss a.out"), 1),
        (("--memory-per-task", "2.58", "aprun -n 12 -N 12 -S 3 -ss a.out"), 0),
        (("--kind", "large-memory", "--memory-per-task", "5", "aprun -n 12 -N 12 -S 3 -ss a.out"), 0),
        (("aprun -n 24 -S 7 a.out",), 2),
        (("--machine", "sumit", SPREAD), 2),
        (("--kind", "huge", SPREAD), 2),
        (("--node", "32", SPREAD), 2),
        (("--memory-bound-high", "2", SPREAD), 2),
        (("--memory-bound-high", "1.2", SPREAD), 2),
        (("--memory-per-task", "-1", SPREAD), 2),
        ((), 2),
        (("no such line",), 2),
    ],
)
def test_exit_status(words, status):
    result = place(*words)
    assert result.exit_code == status
    assert "Traceback" not in result.output


def test_a_refusal_is_one_line_on_standard_error():
    result = place("aprun -n 24 -S 7 a.out")
    assert result.stdout == ""
    assert result.stderr == "hopper: -S 7 must be from 1 to 6, the cores of a NUMA node of Hopper\n"


def test_a_refusal_as_json():
    result = place("--json", "#PBS -l mppwidth=24\naprun -n 48 a.out")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert list(error) == ["flag", "value", "rule", "message"]
    assert (error["flag"], error["value"]) == ("-n", "48")
    assert error["message"].startswith("apsched: claim exceeds reservation's node-count: ")
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("words", "flag", "value"),
    [
        (("--machine", "sumit"), "--machine", "sumit"),
        (("--kind", "huge"), "--kind", "huge"),
        (("--memory-bound-high", "1.5"), "--memory-bound-high", "1.5"),
        (("--node", "99"), "--node", "99"),
    ],
)
def test_other_refusals_as_json(words, flag, value):
    result = place("--json", *words, SPREAD)
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert (error["flag"], error["value"]) == (flag, value)
    assert error["message"]


@pytest.mark.parametrize("option", ["--memory-per-task", "--memory-bound-high"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_no_number_is_refused(option, value):
    result = place(option, value, SPREAD)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"hopper: {option}")


def test_a_word_that_is_no_line_is_taken_for_a_file(tmp_path):
    # A folder, a file that is not there, and a name that no file can have.
    for name, reason in ((tmp_path, "Is a directory"), (tmp_path / "no.pbs", "No such file"), ("a\0b", "null byte")):
        result = place("--json", str(name))
        assert result.exit_code == 2
        error = json.loads(result.stdout)["error"]
        assert error["flag"] == "script"
        assert error["value"] == str(name)
        assert reason in error["message"]


def test_standard_input_that_is_closed(monkeypatch):
    from hopperkit.cli import common

    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as ended:
        common.read_source("-", what="launch line")
    assert ended.value.code == 2


def test_json_is_the_contract():
    result = place("--json", "--memory-bound-high", "0.6", NAIVE)
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert set(data) >= {"launcher", "machine", "components", "warnings", "suggestion", "slowdown"}
    assert data["machine"] == "hopper"
    assert data["answer"]["question"] == "place"
    assert data["slowdown"] == {
        "basis": "spread",
        "memory_bound_fraction": [0.0, 0.6],
        # The ratio is 2: 1 - f + 2 f.
        "ratio": [1.0, pytest.approx(1.6)],
        "core_cap_gb_s": 5.0,
    }


def test_a_script_is_read_from_a_file_and_from_standard_input(tmp_path):
    script = "#PBS -l mppwidth=24\nexport OMP_NUM_THREADS=6\naprun -n 4 -S 1 -d 6 ./a.out\n"
    path = tmp_path / "job.pbs"
    path.write_text(script, encoding="utf-8")
    from_file, from_stdin = place(str(path)), place("-", input=script)
    assert from_file.exit_code == from_stdin.exit_code == 0
    assert from_file.output == from_stdin.output
    assert "4 tasks on 1 node, 1 on each of 4 NUMA nodes." in from_file.output


def test_a_machine_file_of_ones_own(root):
    path = root / "hopperlib" / "machines" / "toy.toml"
    assert place("--machine", str(path), "srun -n 3 --cpu-bind=cores a.out").output.startswith(
        "Toy: 3 tasks on 1 node, all on NUMA node 0 of 3."
    )


def test_an_unquoted_line_gets_a_hint():
    result = place("aprun", "-n", "4", "a.out")
    assert result.exit_code == 2
    assert '-n is not an option of hopper place; put the launch line in quotes, or "--" before it' in result.stderr
    assert "No such option" in place("--jsn", "a.out").stderr


@given(st.text(max_size=80))
def test_any_text_ends_with_a_message_and_no_traceback(text):
    result = place("--", text)
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)


TWO_LINES = f"#PBS -l mppwidth=768\n{SPREAD}\n{NAIVE}\n{SPREAD}\n"


def test_every_launch_line_of_a_script_is_answered():
    result = place(TWO_LINES)
    assert result.exit_code == 1
    assert [line for line in result.output.splitlines() if line.startswith("== ")] == [f"== {SPREAD}", f"== {NAIVE}"]
    assert result.output.count("[idle-numa-nodes]") == 1
    result = place("--all", TWO_LINES)
    assert "note: This is launch line 2 of 3 of the text, judged by itself, as if alone. [line]" in result.output


def test_as_data_the_first_line_or_the_one_asked_for():
    first = place("--json", TWO_LINES)
    assert first.exit_code == 1
    assert json.loads(first.stdout)["suggestion"]["aprun"] is None
    assert first.stderr == "hopper: launch line 2 also has a problem: idle-numa-nodes; see --launch 2\n"
    second = place("--json", "--launch", "2", TWO_LINES)
    assert (second.exit_code, second.stderr) == (1, "")
    assert json.loads(second.stdout)["suggestion"]["aprun"] == SPREAD
    assert place("--launch", "3", TWO_LINES).exit_code == 0
    error = json.loads(place("--json", "--launch", "4", TWO_LINES).stdout)["error"]
    assert (error["flag"], error["value"]) == ("--launch", "4")
    assert error["rule"] == "must be from 1 to 3, the launch lines of this text"


def test_a_line_inside_a_substitution_is_told_as_such():
    result = place("OUT=$(aprun -n 24 ./a.out)")
    assert result.exit_code == 2
    assert "runs aprun only inside $( ) or backquotes, which are not read" in result.stderr


def test_a_machine_that_is_not_told_is_never_hopper():
    for words in (("srun -n 4 ./a",), ("#SBATCH -N 2\nsrun --gpus-per-task=1 -n 8 ./a",), ("mpirun -n 4 ./a",)):
        result = place(*words)
        text = result.output + result.stderr
        assert "Hopper" not in text
        assert "--machine NAME" in text
        assert "hopper machine new" in text
        assert "The better line" not in text


def test_a_node_that_is_not_known_has_no_limits():
    # Nothing is too large for a machine that nobody named; what no launcher reads is refused all the same.
    result = place("#SBATCH -N 1\nsrun -n 4 --mem=900G ./a")
    assert result.exit_code == 0
    assert result.output.startswith("Where the tasks run is unknown until the node is known.")
    assert "900 GB per node" in result.output
    assert place("srun -n 4 --ntask-per-nod=4 ./a").exit_code == 2


def test_eight_gpus_are_not_too_many_for_an_unknown_node():
    job = "#SBATCH -N 4 --ntasks-per-node=1 --gres=gpu:8 --cpus-per-task=96\n"
    result = place(job + "srun torchrun --nnodes 4 --nproc-per-node 8 train.py")
    assert result.exit_code == 0
    assert "8 GPUs per node" in result.output
    assert "plain cluster" not in result.output + result.stderr


def test_workers_times_tasks_need_no_machine():
    job = "#SBATCH -N 2 --gpus-per-node=8 --ntasks-per-node=8\n"
    result = place(job + "srun torchrun --nnodes=2 --nproc-per-node=8 train.py")
    assert result.exit_code == 1
    assert result.output.startswith("Line 2: 8 tasks per node each start torchrun with 8 workers: 64 workers")


def test_a_script_of_aprun_says_which_machine_is_taken():
    script = "#PBS -l nodes=2\naprun -n 6 ./a.out\n"
    assert "hopper: machine hopper, the only known one with aprun" in place(script).stderr
    assert not place("--machine", "hopper", script).stderr
