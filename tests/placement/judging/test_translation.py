"""A line of another site's launcher becomes the same job for the launcher that the machine has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.review import review_line
from hopperkit.launchers.scripts import read_script
from hopperkit.questions.question import load
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

SITES = {name: Machine.load(name) for name in ("perlmutter", "frontier", "archer2", "polaris")}


@pytest.mark.parametrize(
    ("machine", "text", "line"),
    [
        # 2 nodes of 128 cores for 32 tasks each: 4 cores per task, which srun counts as 8 hardware threads.
        ("perlmutter", "aprun -n 64 -N 32 -d 2 ./a in.txt > log", "srun -n 64 --ntasks-per-node=32 -N 2 -c 8 --cpu-bind=cores ./a in.txt > log"),
        ("archer2", "time aprun -n 256 -N 128 -S 16 -ss -cc cpu ./a", "time srun -n 256 --ntasks-per-node=128 -N 2 -c 2 --cpu-bind=cores ./a"),
        # 56 of Frontier's 64 cores are for jobs: 7 per task, and a GPU each.
        ("frontier", "aprun -n 32 -N 8 ./a", "srun -n 32 --ntasks-per-node=8 -N 4 -c 7 --cpu-bind=cores --gpus-per-task=1 --gpu-bind=closest ./a"),
        ("polaris", "#PBS -l select=2\nsrun -n 8 -c 16 --export=ALL,X=1 ./a", "mpiexec -n 8 --ppn 4 --depth 8 --cpu-bind depth --env X=1 ./a"),
    ],
)  # fmt: skip
def test_the_same_job_in_other_words(machine, text, line):
    assert review_line(text, SITES[machine]).better.line == line


def test_what_the_user_typed_stays():
    text = "N=128\naprun -n $N -N 16 -d 4 -e A=1 -e B='x y' ./a \"$HOME/in\" | tee log\n"
    better = review_line(text, SITES["perlmutter"]).better
    assert better.line == (
        "srun -n $N --ntasks-per-node=16 -c 16 --cpu-bind=cores --export=ALL,A=1,B='x y' ./a \"$HOME/in\" | tee log"
    )
    assert better.script.text.startswith("N=128\n")


@pytest.mark.parametrize(
    "line",
    [
        "aprun -n 64 -m 2g ./a",
        "aprun -n 8 -e A=1,2 ./a",
        "aprun -n 8 -r 1 ./a",
        "aprun -n 4 ./a &\naprun -n 4 ./b &\nwait",
        "for i in 1 2; do aprun -n 4 ./a & done; wait",
        "aprun -n 4 ./a : -n 2 ./b",
        "O='-n 64 -N 32'\naprun $O ./a",
    ],
)
def test_what_has_no_equal_is_left_to_the_user(line):
    """Memory of a task, a comma in a value, a core for the system, steps that run together, several programs, a
    variable.
    """
    assert review_line(line, SITES["perlmutter"]).better is None
    findings = load("place").run(line=line, machine="perlmutter").findings
    advice = {each.advice for each in findings if each.code == "launcher-foreign"}
    assert advice == {"Start the program with srun."}


def test_the_advice_the_line_to_copy_and_the_data_are_one_line():
    result = load("place").run(line="aprun -n 32 -N 8 ./a", machine="frontier")
    line = next(each.text for each in result.copyables if each.title == "The better line")
    (found,) = (each for each in result.findings if each.code == "launcher-foreign")
    assert found.advice == f"Write {line}"
    assert line in result.summary
    assert review_line("aprun -n 32 -N 8 ./a", SITES["frontier"]).suggested_lines() == {"aprun": None, "srun": line}


def test_mpirun_where_srun_starts_tasks_is_translated_unless_a_module_brings_it():
    job = "#SBATCH -N 2 -C cpu\n{}mpirun -np 64 --bind-to core ./a\n"
    for module, advice in (
        ("", ["Write srun -n 64 --ntasks-per-node=32 -N 2 -c 8 --cpu-bind=cores ./a"]),
        ("module load openmpi\n", []),
    ):
        found = load("place").run(line=job.format(module), machine="perlmutter").findings
        assert [each.advice for each in found if each.code == "launcher-foreign"] == advice


def test_a_line_of_another_launcher_is_improved_and_advised_for_the_launcher_of_the_machine():
    result = load("place").run(line="#SBATCH -N 1\nsrun -n 2 --cpu-bind=cores ./a\n", machine="polaris")
    # Two tasks of one NUMA node each: depth 1 would keep both on the first, depth 16 would stretch each over two.
    assert result.copyables[0].text == "mpiexec -n 2 --ppn 2 --depth 8 --cpu-bind depth ./a"
    assert not any("--gpu-bind" in (each.advice or "") for each in result.findings)
    (helper,) = (each.text for each in result.copyables if "helper" in each.title)
    assert "PALS_LOCAL_RANKID" in helper


ARGUMENTS = ("./a", "./a in.txt", "./a -n 3 --depth=2 'x y'", "./a < in > out 2>&1", "numactl --show")


@given(
    name=st.sampled_from(sorted(SITES)),
    nodes=st.integers(1, 4),
    per_node=st.integers(1, 40),
    depth=st.integers(1, 4),
    settings=st.lists(st.sampled_from(("A=1", "B='x y'", "OMP_STACKSIZE=64M", 'C="$HOME"')), unique=True, max_size=2),
    end=st.sampled_from(ARGUMENTS),
)
def test_tasks_nodes_variables_and_program_are_kept(name, nodes, per_node, depth, settings, end):
    machine = SITES[name]
    line = " ".join(
        ("aprun", f"-n {nodes * per_node} -N {per_node} -d {depth}", *(f"-e {each}" for each in settings), end)
    )
    try:
        now = review_line(line, machine)
    except LaunchError:
        return
    if now.better is None:
        return
    then = now.better.placement
    assert then.launch.launcher == machine.launcher().kind
    assert then.launch.tasks == nodes * per_node
    if nodes > 1 or machine.launcher().kind == "srun":
        assert len(then.nodes) == len(now.placement.nodes)
    assert now.better.line.endswith(end)
    assert all(each in now.better.line for each in settings)
    least = min(len(seat.cores) for seat in then.nodes[0].pattern)
    assert least >= min(depth, len(then.node_kind.usable_cores) // max(len(node.pattern) for node in then.nodes))
    assert len(read_script(now.better.script.text).lines) == 1
