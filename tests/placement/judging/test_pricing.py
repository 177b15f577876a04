"""Cost of findings, and the costliest first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers import read_script
from hopperkit.launchers.judging.pricing import FATAL, array_size, priced
from hopperkit.questions.node.place import QUESTION
from hopperlib.finding import Finding

ARRAY = "#SBATCH -N 1 -t 2:00:00 -p standard -q standard\n#SBATCH --array=1-100\n"


def test_an_array_of_one_task_on_a_large_node_is_the_headline():
    result = QUESTION.run(line=ARRAY + "srun -n 1 ./a", machine="archer2")
    first = result.findings[0]
    # 100 jobs of 2 node-hours, of which 1/128 is used.
    assert (first.code, first.level, first.evidence["times"]) == ("cores-idle", "problem", 128)
    assert first.evidence["node_hours"] == pytest.approx(200 * 127 / 128, abs=0.05)
    assert "Up to 198 of 200 node-hours are charged for nothing." in result.summary
    assert "No better line" not in result.summary


def test_no_better_line_is_never_said_above_a_finding():
    lines = (
        "srun -n 1 ./a",
        "srun -n 128 ./a",
        "srun -n 16 --cpu-bind=none ./a",
        "srun -n 2 ./a &\nsrun -n 2 ./b &\nwait",
    )
    for line in lines:
        result = QUESTION.run(line=ARRAY + line, machine="archer2")
        shown = [each for each in result.findings if each.level in ("problem", "advice")]
        assert bool(shown) != ("No better line was found" in result.summary)


def test_two_tasks_on_the_same_cores_of_polaris():
    result = QUESTION.run(line="mpiexec -n 8 --ppn 8 --depth 8 --cpu-bind depth ./a", machine="polaris")
    (shared,) = [each for each in result.findings if each.code == "hardware-threads-shared"]
    assert shared.message.startswith("Tasks 0 and 4 of a node run on the same cores (0-7)")
    assert shared.advice == "Write --depth=4 --cpu-bind=depth."


CODES = st.sampled_from(["cores-idle", "gpus-unused", "depth-missing", "port-shared", "memory-remote", "line"])
FINDINGS = st.builds(
    lambda code, level, times: Finding(code, "It is so.", level, {"times": times}),
    CODES,
    st.sampled_from(["problem", "advice", "note", "unknown"]),
    st.floats(1, 1000),
)


@given(st.lists(FINDINGS), st.sampled_from(["", "#SBATCH -t 60\n", "#SBATCH -t 60 -a 0-9\n"]))
def test_the_order_is_by_cost(findings, head):
    found = priced(findings, read_script(head + "srun ./a"), 4)
    assert len(found) == len(findings)
    shown = [each for each in found if each.level in ("problem", "advice")]
    assert found[: len(shown)] == tuple(shown)
    fatal = [each.evidence.get("runs", True) is False for each in shown]
    assert fatal == sorted(fatal, reverse=True)
    assert all(each.code in FATAL for each, stops in zip(shown, fatal, strict=True) if stops)
    times = [each.evidence["times"] for each, stops in zip(shown, fatal, strict=True) if not stops]
    assert times == sorted(times, reverse=True)
    for each in shown:
        # Never more than all: 4 nodes for an hour, ten times in an array.
        assert each.evidence.get("node_hours", 0) <= 40


@pytest.mark.parametrize(
    ("directive", "size"),
    [
        ("#SBATCH -a 0-15:4", 4),
        ("#SBATCH --array=1,3,5", 3),
        ("#SBATCH --array=1-7%2", 7),
        ("#PBS -J 0-99", 100),
        ("#SBATCH --array=$N", 1),
        ("#SBATCH --array=9-1", 1),
        ("#SBATCH --array=0-99999999", 10_000_000),
    ],
)
def test_jobs_of_an_array(directive, size):
    assert array_size(read_script(f"{directive}\nsrun ./a")) == size
