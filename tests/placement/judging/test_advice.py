"""Findings about a placement: each piece of advice where it applies, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.judging.advice import advise
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.questions.question import load
from hopperlib.finding import LEVELS
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError
from hopperlib.placement.slowdown import placement_cost

HOPPER = Machine.load("hopper")
TOY = Machine.load("toy")
PERLMUTTER = Machine.load("perlmutter")


def said(line, machine=HOPPER, *, threads=None, memory_gb=None):
    """Findings about a line, by code."""
    placement = place_tasks(read_launch(line, machine, threads=threads), machine)
    found = advise(placement, placement_cost(placement, memory_per_task_gb=memory_gb))
    return {one.code: one for one in found}


def test_vasp_as_first_tried_leaves_two_numa_nodes_idle():
    one = said("aprun -n 384 -N 12 vasp")["idle-numa-nodes"]
    assert one.level == "problem"
    assert one.message == (
        "12 tasks per node sit on NUMA nodes 0 and 1; NUMA nodes 2 and 3 stay idle, so 2 of 4 memory systems are unused. "
        "Spread evenly, 3 tasks would share a NUMA node instead of 6."
    )


@pytest.mark.parametrize(
    "line",
    [
        "aprun -n 384 -N 12 -S 3 vasp",
        "aprun -n 24 a.out",
        "aprun -n 4 -S 1 -d 6 a.out",
        "aprun -n 1 a.out",
        "aprun -n 3 -S 1 a.out",
        # The six tasks of the last node could be spread, but the full node sets the pace.
        "aprun -n 30 a.out",
    ],
)
def test_lines_that_spread_well(line):
    assert not {"idle-numa-nodes", "uneven-numa-nodes"} & set(said(line))


@pytest.mark.parametrize("option", ["-sn 2", "-sl 0,2"])
def test_numa_nodes_that_the_line_leaves_out_itself_are_advice(option):
    one = said(f"aprun -n 12 {option} a.out")["idle-numa-nodes"]
    assert one.level == "advice"
    assert one.message.endswith("The line requests that (-sn or -sl).")


def test_uneven_numa_nodes():
    # Fourteen tasks, six to a NUMA node at most: 6, 6, 2, 0 would leave one idle; -S 5 gives 5, 5, 4, 0.
    # Twenty tasks fill 6, 6, 6, 2; evenly it is 5.
    one = said("aprun -n 20 -N 20 a.out")["uneven-numa-nodes"]
    assert (one.level, one.message) == (
        "advice",
        "The NUMA nodes hold 6, 6, 6, 2 tasks: spread evenly, 5 tasks would share a NUMA node instead of 6.",
    )
    # 6, 6, 6, 4 cannot be improved: 22 tasks on 4 NUMA nodes are 6 on one at least.
    assert "uneven-numa-nodes" not in said("aprun -n 22 -N 22 a.out")


def test_missing_depth():
    one = said("aprun -n 96 a.out", threads=6)["depth-missing"]
    assert one.level == "problem"
    assert one.message == (
        "OMP_NUM_THREADS is 6, but the line gives each task 1 core (no -d): up to 6 threads share a core."
    )
    assert "(-d 2)" in said("OMP_NUM_THREADS=6 aprun -n 4 -d 2 a.out")["depth-missing"].message
    assert "depth-missing" not in said("OMP_NUM_THREADS=6 aprun -n 4 -d 6 a.out")
    # Fewer threads than the depth leave cores idle and crowd none.
    assert "depth-missing" not in said("OMP_NUM_THREADS=2 aprun -n 4 -d 6 a.out")


def test_missing_depth_in_the_words_of_srun():
    text = said("OMP_NUM_THREADS=4 srun -n 2 --cpu-bind=cores a.out", TOY)["depth-missing"].message
    assert "gives each task 1 CPU (no -c)" in text


def test_a_list_that_names_a_core_twice():
    one = said("aprun -n 4 -cc 0,0,6,6 a.out")["cores-oversubscribed"]
    assert one.level == "problem"
    assert one.message.startswith("The list gives cores 0,6 to more than one task: up to 2 threads")


def test_crowded_cores_hide_what_follows_from_them():
    found = said("aprun -n 4 -S 1 a.out", threads=6)
    assert not {"cores-idle", "strict-memory-off", "intel-openmp-helper"} & set(found)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        # Tasks 4 and 5 get the two cores left over on each of two NUMA nodes.
        ("aprun -n 6 -d 4 a.out", "2 of 6 tasks per node have threads on up to 2 NUMA nodes"),
        ("aprun -n 6 -d 4 a.out", "4 tasks per node would each fit one."),
        ("aprun -n 2 -d 12 a.out", "2 of 2 tasks per node have threads on up to 2 NUMA nodes"),
        ("aprun -n 1 -d 24 a.out", "Task 0 of a node has threads on up to 4 NUMA nodes"),
        ("aprun -n 2 -d 12 a.out", "No more than 6 threads per task keep to one NUMA node."),
    ],
)
def test_threads_on_several_numa_nodes(line, text):
    one = said(line)["threads-across-numa-nodes"]
    assert one.level == "advice"
    assert text in one.message


def test_memory_that_strict_containment_puts_out_of_reach():
    one = said("aprun -n 12 -N 12 -ss a.out", memory_gb=2.58)["memory-out-of-reach"]
    assert one.level == "problem"
    # 6 x 2.58 = 15.48 GB where 31 / 4 = 7.75 are.
    assert one.message == (
        "12 tasks of 2.58 GB want 31.0 GB: 15.5 GB on NUMA nodes 0 and 1 each, with 7.75 GB apiece. -ss forbids the "
        "memory of the others, so the job fails although it is free. Spread evenly, all of it would be local."
    )
    assert "memory-out-of-reach" not in said("aprun -n 12 -N 12 -S 3 -ss a.out", memory_gb=2.58)


def test_memory_on_other_numa_nodes():
    one = said("aprun -n 12 -N 12 a.out", memory_gb=2.58)["memory-remote"]
    assert one.level == "advice"
    assert "So 50 % of it is on other NUMA nodes, with slower access." in one.message


def test_memory_that_no_node_has():
    one = said("aprun -n 12 -N 12 a.out", memory_gb=4)["memory-exceeds-node"]
    assert one.level == "problem"
    # 31 / 4 = 7.75: seven fit.
    assert one.message == (
        "12 tasks of 4 GB want 48.0 GB on a node, which has 31 GB for them: the job will be killed. "
        "At most 7 tasks of that size fit a node."
    )
    assert "One task of that size fits a node." in said("aprun -n 2 a.out", memory_gb=20)["memory-exceeds-node"].message
    assert (
        "Not even one task of that size fits a node."
        in said("aprun -n 1 a.out", memory_gb=40)["memory-exceeds-node"].message
    )


def test_memory_that_the_line_asks_for_counts():
    assert "memory-out-of-reach" in said("aprun -n 12 -N 12 -m 2500M -ss a.out")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("aprun -n 4 -S 1 -cc none a.out", "away from the NUMA node that holds their memory."),
        ("srun -n 4 --cpu-bind=none a.out", "away from the NUMA node that holds their memory."),
    ],
)
def test_tasks_that_may_wander(line, text):
    one = said(line)["tasks-unbound"]
    assert one.level == "advice"
    assert one.message.startswith("The tasks may move from core to core")
    assert text in one.message


def test_hardware_threads_that_share_a_core_while_others_idle():
    # Two tasks on the two hardware threads of core 0; the toy's node has twelve cores.
    one = said("srun -n 2 --cpu-bind=threads a.out", TOY)["hardware-threads-shared"]
    assert one.level == "advice"
    assert "hardware-threads-shared" not in said("srun -n 2 --cpu-bind=threads --threads-per-core=1 a.out", TOY)
    assert "hardware-threads-shared" in said("mpirun -n 2 --map-by hwthread --bind-to hwthread a.out", TOY)
    # All cores are in use: sharing was requested.
    assert "hardware-threads-shared" not in said("srun -n 24 --cpu-bind=threads a.out", TOY)


def test_a_last_node_for_one_task():
    one = said("aprun -n 385 -N 12 -S 3 a.out")["last-node-nearly-empty"]
    assert one.level == "advice"
    assert one.message == ("The last of 33 nodes runs 1 of the 12 tasks that fit on it, and is charged in full.")
    # All 24 cores of a node are in use: nothing to propose.
    assert said("aprun -n 25 a.out")["last-node-nearly-empty"].message.endswith("charged in full.")
    # 12 + 4: a third is not nearly empty.
    assert "last-node-nearly-empty" not in said("aprun -n 16 -N 12 -S 3 a.out")


def test_cores_that_are_paid_and_idle():
    one = said("aprun -n 384 -N 12 -S 3 a.out")["cores-idle"]
    assert one.level == "note"
    # 31 / 12 = 2.583.
    assert one.message == (
        "12 of 24 cores of each node stay idle and are charged: the job costs 2 times the cores it uses. "
        "This is right if each task needs the memory: it can have up to 2.58 GB."
    )
    assert "cores-idle" not in said("aprun -n 23 -r 1 a.out")


def test_a_script_that_reserves_too_much():
    script = "#PBS -l mppwidth=120\naprun -n 24 -S 6 a.out\n"
    one = said(script)["reservation-larger"]
    assert one.level == "advice"
    assert one.message.startswith("The script reserves 5 nodes and this line uses 1: 4 nodes charged and idle")
    assert "width-not-whole-nodes" not in said(script)


def test_programs_of_one_line_are_told_apart():
    placement = place_tasks(read_launch("aprun -n 24 ocean : -n 12 -N 12 ice", HOPPER), HOPPER)
    found = advise(placement, placement_cost(placement))
    assert found[0].message.startswith("Program 2 (ice): 12 tasks per node sit on NUMA nodes 0 and 1")


def test_assumptions_are_said():
    assert said("aprun -n 6 -d 4 a.out")["assumed"].message.startswith("Assumed: Depth 4 leaves cores over")


def test_worst_first():
    placement = place_tasks(read_launch("aprun -n 13 -N 12 -ss a.out", HOPPER), HOPPER)
    found = advise(placement, placement_cost(placement, memory_per_task_gb=2.58))
    assert [one.code for one in found] == [
        "memory-out-of-reach",
        "idle-numa-nodes",
        "last-node-nearly-empty",
        "cores-idle",
    ]


@given(
    st.integers(1, 100),
    st.one_of(st.none(), st.integers(1, 24)),
    st.one_of(st.none(), st.integers(1, 24)),
    st.one_of(st.none(), st.integers(1, 6)),
    st.sampled_from(["", "-ss", "-cc none", "-cc numa_node"]),
    st.one_of(st.none(), st.floats(0.1, 40)),
)
def test_advice_is_ranked_and_says_something(tasks, per_node, depth, per_numa, more, memory_gb):
    options = [f"-n {tasks}", more]
    options += [f"{flag} {value}" for flag, value in (("-N", per_node), ("-d", depth), ("-S", per_numa)) if value]
    try:
        placement = place_tasks(read_launch(f"aprun {' '.join(options)} a.out", HOPPER), HOPPER)
    except LaunchError:
        return
    found = advise(placement, placement_cost(placement, memory_per_task_gb=memory_gb))
    ranks = [LEVELS.index(one.level) for one in found]
    assert ranks == sorted(ranks)
    for one in found:
        assert one.message[0].isupper() or one.message[0].isdigit() or one.message.startswith("mppwidth")
        assert one.message.endswith(".")
        assert "  " not in one.message


def test_threads_that_no_node_holds_are_not_advised():
    """Two processes of 128 threads on 128 cores: 64 each, not a line that starts on two nodes."""
    text = said("mpiexec -n 2 ./openmc", PERLMUTTER, threads=128)["depth-missing"].message
    assert text.endswith("A node has 128 cores for its 2 tasks: at most 64 threads of each can have one.")
    answer = load("place").run(line="mpiexec -n 2 ./openmc", machine="perlmutter", threads=128)
    # The srun line to use instead of mpiexec counts hardware threads, two for each of the 64 cores.
    advice = [finding.advice for finding in answer.findings if finding.code != "launcher-foreign"]
    assert not any("128" in each for each in advice)
