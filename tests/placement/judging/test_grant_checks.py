"""Steps against the CPUs of their job's request; the expected numbers are products by hand."""

import pytest

from hopperkit.launchers import read_script
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.launchers.reader import read_launches
from hopperkit.questions.node.place import run_lines
from hopperlib.finding import Finding
from hopperlib.machine import Machine


def found(text: str, code: str, machine: str = "") -> list[Finding]:
    known = bool(machine)
    findings = check_job(read_script(text), Machine.load(machine or "cluster"), known=known)
    return [each for each in findings if each.code == code]


@pytest.mark.parametrize(
    ("directives", "step", "needs", "granted"),
    [
        ("--ntasks=1 --cpus-per-task=4 --mem=8G", "-n 8 -c 4", 32, 4),
        ("-n 1 -c 8", "-n 8 -c 2", 16, 8),
        # Without -c a task needs at least one CPU.
        ("-n 2 -c 4", "-n 9", 9, 8),
        # Three CPUs are two cores where a core has two, so the job may have 8.
        ("-n 2 -c 3", "-n 9", 9, 8),
        # Without -n the step has the job's tasks.
        ("-n 2 -c 4", "-c 8", 16, 8),
        ("-N 2 --ntasks-per-node=4 -c 4", "-n 16 -c 4", 64, 32),
    ],
)
def test_a_step_over_the_grant(directives: str, step: str, needs: int, granted: int) -> None:
    text = f"#SBATCH {directives}\nsrun {step} ./a\n"
    for machine in ("", "cluster"):
        (finding,) = found(text, "step-over-grant", machine)
        assert f"needs {needs} CPUs, and the job is granted at most {granted}: on shared nodes" in finding.message
        assert finding.level == ("advice" if "-N" in directives else "problem")
    # ARCHER2 gives whole nodes.
    assert not found(text, "step-over-grant", "archer2")


@pytest.mark.parametrize(
    ("directives", "step"),
    [
        ("-n 1 -c 32", "-n 8 -c 4"),
        ("-n 8 -c 4", "-n 8 -c 4"),
        ("-n 8 -c 4", ""),
        # Whole cores of two CPUs: 8 and 2.
        ("-n 2 -c 3", "-n 7"),
        ("-n 1 -c 1", "-n 2"),
        ("-n 1 -c 4 --exclusive", "-n 8 -c 4"),
        ("-n 1 -c 4", "-n 8 -c 4 --overcommit"),
        ("-n 1 -c 4", "-n $TASKS -c 4"),
        ("-n 1", "-n 8 -c 4"),
        ("-N 1", "-n 8 -c 4"),
    ],
)
def test_a_step_that_may_fit(directives: str, step: str) -> None:
    assert not found(f"#SBATCH {directives}\nsrun {step} ./a\n", "step-over-grant")


@pytest.mark.parametrize(
    ("qos", "tasks", "reported"), [("shared", 8, True), ("shared", 4, False), ("regular", 8, False)]
)
def test_only_the_shared_queue_of_a_documented_machine(qos: str, tasks: int, reported: bool) -> None:
    text = f"#SBATCH -q {qos} -C cpu -n 1 -c 8\nsrun -n {tasks} -c 2 ./a\n"
    problems = [each for each in found(text, "step-over-grant", "perlmutter") if "16 CPUs" in each.message]
    assert bool(problems) == reported
    assert all("granted at most 8: srun refuses it" in each.message and each.level == "problem" for each in problems)


def test_the_answer_names_the_job_and_not_the_step() -> None:
    summary = run_lines({"line": "#SBATCH -n 1 -c 4 --mem=8G\nsrun -n 8 -c 4 ./a\n"}, doubt="Unknown.").summary
    assert "Requested: 1 task, 4 CPUs per task, 8 GB per node." in summary
    assert "found no problem" not in summary


@pytest.mark.parametrize(
    ("directives", "options", "threads", "each"),
    [
        ("-n 80", "-n 80", 4, "4 threads per slot"),
        ("-n 80", "-np 40", 4, "2 threads per slot"),
        ("-n 80", "-n 20", 4, ""),
        ("-n 80", "-n 80", 1, ""),
        ("-n 80 -x", "-n 80", 4, ""),
        ('-n 80 -R "affinity[core(4)]"', "-n 80", 4, ""),
    ],
)
def test_threads_per_slot_of_lsf(directives: str, options: str, threads: int, each: str) -> None:
    text = f"#BSUB {directives}\nexport OMP_NUM_THREADS={threads}\nmpirun {options} ./a\n"
    messages = [finding.message for finding in found(text, "depth-missing")]
    assert len(messages) == bool(each)
    assert all(f": {each}, " in message for message in messages)


@pytest.mark.parametrize(("script", "threads"), [("", 4), ("export OMP_NUM_THREADS=2\n", 2)])
def test_ompthreads_of_a_chunk_sets_the_threads(script: str, threads: int) -> None:
    text = f"#PBS -l select=2:ncpus=32:mpiprocs=8:ompthreads=4\n{script}mpiexec -n 16 ./a\n"
    (launch,) = read_launches(read_script(text), Machine.load("cluster"))
    assert launch.openmp_threads == threads
    chunk = f"#PBS -l select=4:ncpus=16:mpiprocs=8:ompthreads=4\n{script}mpiexec ./a\n"
    # 8 x 4 threads in 16 CPUs are two each, 8 x 2 are one each.
    assert len(found(chunk, "depth-missing")) == (threads == 4)
