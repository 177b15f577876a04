"""Answers without a machine: the job's whole request, and contradictions that need no machine."""

from itertools import product

import pytest

from hopperkit.questions.machine_choice import machine_of_text
from hopperkit.questions.node.place import run_lines
from hopperlib.placement.components import LaunchError

DOUBT = "The text names no machine."


def answer(text: str):
    return run_lines({"line": text}, doubt=DOUBT)


@pytest.mark.parametrize("chunks", [((1, 128), (2, 16)), ((3, 8), (1, 4), (2, 2)), ((2, 16), (2, 16)), ((4, 48),)])
def test_every_chunk_of_a_pbs_job_is_counted(chunks) -> None:
    select = "+".join(f"{nodes}:ncpus=128:mpiprocs={tasks}" for nodes, tasks in chunks)
    requested = answer(f"#PBS -l select={select}\nmpiexec ./a\n").facts["requested"]
    nodes, per_node = sum(nodes for nodes, _ in chunks), {tasks for _, tasks in chunks}
    assert requested["nodes"] == nodes
    total = requested.get("tasks") or nodes * requested["tasks_per_node"]
    assert total == sum(nodes * tasks for nodes, tasks in chunks)
    assert ("tasks_per_node" in requested) == (len(per_node) == 1)


@pytest.mark.parametrize("nodes", [2, 5])
def test_steps_on_parts_of_a_job_do_not_replace_its_request(nodes: int) -> None:
    lines = "".join(f"srun -N 1 -n 4 -c 16 ./a {number} &\n" for number in range(nodes))
    text = f"#SBATCH -N {nodes} --ntasks-per-node=4 -c 16\n{lines}wait\n"
    assert f"Requested: {nodes} nodes, 4 tasks per node" in answer(text).summary


@pytest.mark.parametrize(
    ("directive", "launcher", "reported"),
    [
        ("#PBS -l select=2", "srun -n 4", True),
        ("#BSUB -nnodes 2", "srun -n 4", True),
        ("#SBATCH -N 2", "aprun -n 4", True),
        ("#SBATCH -N 2", "srun -n 4", False),
        ("#SBATCH -N 2", "mpirun -np 4", False),
        ("#PBS -l select=2", "mpiexec -n 4", False),
    ],
)
def test_the_launcher_of_another_batch_system(directive: str, launcher: str, reported: bool) -> None:
    result = answer(f"{directive}\n{launcher} ./a\n")
    assert ("launcher-foreign" in result.facts["codes"]) == reported
    assert ("found no problem" in result.summary) != reported


@pytest.mark.parametrize(("cpus", "tasks", "threads"), [*product((48, 128), (16, 48), (1, 2, 4, 16))])
def test_chunks_with_fewer_cpus_than_threads(cpus: int, tasks: int, threads: int) -> None:
    text = f"#PBS -l select=2:ncpus={cpus}:mpiprocs={tasks}:ompthreads={threads}\nmpirun ./a\n"
    # Up to two threads per CPU suit a site that counts cores with two hardware threads, and the finding says so.
    assert ("depth-missing" in answer(text).facts["codes"]) == (tasks * threads > cpus)
    assert ("two hardware threads" in answer(text).summary) == (cpus < tasks * threads <= 2 * cpus)


def test_threads_against_cpus_per_task() -> None:
    for threads, reported in ((1, False), (4, False), (8, True), (64, True)):
        text = f"#SBATCH -N 1 -n 4 -c 4\nexport OMP_NUM_THREADS={threads}\nsrun ./a\n"
        assert ("depth-missing" in answer(text).facts["codes"]) == reported


@pytest.mark.parametrize("launcher", ["mpiexec -n 8", "srun -n 8", "aprun -n 8"])
def test_the_wrong_launcher_does_not_hide_a_named_machine(launcher: str) -> None:
    assert machine_of_text(f"#PBS -l select=2:system=polaris\n{launcher} ./a\n")[0] == "polaris"


def test_the_costliest_note_is_in_the_first_sentences() -> None:
    text = (
        "#SBATCH -C cpu -q regular --array=1-500\n#SBATCH -N 1 -n 1 -t 30\nsrun -n 1 python a.py $SLURM_ARRAY_TASK_ID\n"
    )
    summary = run_lines({"line": text, "machine": "perlmutter"}, evidence="constraint=cpu").summary
    assert "127 of 128 cores" in summary
    assert "No better line" not in summary
    full = "#SBATCH -C cpu -q regular\n#SBATCH -N 1 -t 30\nsrun -n 128 -c 2 --cpu-bind=cores ./a\n"
    assert "No better line" in run_lines({"line": full, "machine": "perlmutter"}).summary


@pytest.mark.parametrize("tasks", [4, 8, 16])
def test_the_helper_fits_the_binding_that_it_is_printed_with(tasks: int) -> None:
    text = f"#PBS -l select=1:system=polaris\nmpiexec -n {tasks} --ppn {tasks} ./app\n"
    result = run_lines({"line": text, "machine": "polaris"}, evidence="polaris")
    (helper,) = [each for each in result.copyables if each.title.startswith("A helper script")]
    assert helper.title.endswith(f"--depth {32 // tasks} --cpu-bind depth")
    gpus = [int(word) for word in helper.text.partition("gpus=(")[2].partition(")")[0].split()]
    # Polaris counts its GPUs from the last cores to the first.
    assert gpus == [3 - task * 4 // tasks for task in range(tasks)]


@pytest.mark.parametrize(("tasks", "fits"), [(64, True), (65, False), (128, False)])
def test_the_slots_of_a_job_are_known_without_its_machine(tasks: int, fits: bool) -> None:
    text = f"#SBATCH -N 2 --ntasks-per-node=32\nmodule load openmpi/4.1.5\nmpirun -np {tasks} ./a\n"
    if fits:
        assert "found no problem" in answer(text).summary
    else:
        with pytest.raises(LaunchError, match="not enough slots"):
            answer(text)
