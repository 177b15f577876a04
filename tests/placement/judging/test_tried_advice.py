"""All advice with text to type was tried: applied again here, it is accepted and removes its finding."""

import itertools
import random
import re

import pytest

from hopperkit.launchers import read_script
from hopperkit.launchers.judging.checks.training import check_training
from hopperkit.questions.node.place import Lines, answers
from hopperlib.errors import InputError
from hopperlib.machine import Machine

# An option, a variable with a value, or a number: what only a tried advice may hold.
TYPED = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+|(?<![\w-])-[A-Za-z]\b|\b[A-Z][A-Z0-9_]{2,}=|\b\d+\b")
SRUN = ("archer2", "perlmutter", "lumi-g", "lumi-c", "frontier", "cluster")
NONE = ("",)


def answered(text, machine):
    """Return the findings of a script, and its refusal; one that is refused has those of the job."""
    asked = Lines(line=text, machine=Machine.load(machine))
    try:
        return [each for result in answers(asked) for each in result.findings], ""
    except InputError as error:
        return list(asked.job_findings), str(error)


def applied(text, change):
    """Return a text with the lines changed that the evidence of a finding names."""
    lines = read_script(text).text.split("\n")
    for first, gone, new in reversed(change):
        lines[first - 1 : first - 1 + gone] = new
    return "\n".join(lines)


def check_every_advice(text, machine):
    """Apply each advice of a script, and return how many there were."""
    before, refusal = answered(text, machine)
    tried = 0
    for finding in before:
        change = finding.evidence.get("change")
        if change is None:
            assert not TYPED.search(finding.advice), (finding, text)
            continue
        tried += 1
        after, then = answered(applied(text, change), machine)
        # Other errors remain: an error message names the job's problems first.
        assert then in refusal, (finding, text, then)
        codes = [each.code for each in after].count(finding.code)
        assert codes < [each.code for each in before].count(finding.code), (finding, text)
        news = {each.code for each in after if each.level == "problem"} - {each.code for each in before}
        # Idle cores are named only where no core is crowded, and of a line that can be read.
        news -= {"cores-idle"}
        assert not news, (finding, text)
    return tried


def scripts(seed, number):
    """Yield scripts with their machines: options, variables and programs as people combine them, often wrongly."""
    rng = random.Random(seed)
    pick = rng.choice
    for _ in range(number):
        if rng.random() < 0.25:
            yield _of_mpiexec(rng), pick(("polaris", "aurora", "cluster"))
            continue
        tasks, cpus = pick((1, 2, 4, 8, 16, 64, 128)), pick(("", 1, 2, 4, 8, 16))
        head = [
            f"#SBATCH -N {pick((1, 2, 3))} --ntasks-per-node={tasks}",
            pick(
                ("", "#SBATCH --hint=nomultithread", "#SBATCH --mem=2G", "#SBATCH -t 80:00:00", "#SBATCH --array=1-50")
            ),
            pick(("", "#SBATCH -p standrad", "#SBATCH -q debug", "#SBATCH -C gpu", "#SBATCH --gres=gpu:h100:4")),
            pick(("", "#SBATCH --gpus-per-node=4", "# SBATCH -t 10", "#SBATCH -t 10")),
            f"#SBATCH --cpus-per-task={cpus}" if cpus else "",
            pick(("", "module load x\n#SBATCH --exclusive")),
            pick(("", f"export OMP_NUM_THREADS={pick((1, 2, 4, 8, 64))}")),
            pick(("", "export OMP_PROC_BIND=master", "export OMP_PLACES=cores OMP_PROC_BIND=false")),
            pick(
                (
                    "",
                    "export GOMP_CPU_AFFINITY=0-7",
                    "export I_MPI_PIN_DOMAIN=omp",
                    "export MPICH_GPU_SUPPORT_ENABLED=1",
                )
            ),
        ]
        options = [
            pick(("", f"-n {tasks}", "-n 1", "\u2013n 4")),
            pick(
                ("", "-c 4", "-c 32", "--cpu-bind=none", "--cpu-bind=cores", "--cpu-bind=threads", "--hint=multithread")
            ),
            pick(("", "--gpus-per-task=1", "--gpu-bind=closest", "--gpus-per-task=1 --gpu-bind=single:1")),
        ]
        start = pick(("srun", "srun", "srun", "aprun", "mpirun"))
        program = pick(("./a.out", "./a.out", "python t.py"))
        end = pick(("", "", " &\nsrun -n 2 ./b &\nwait"))
        line = " ".join(filter(None, [start, *options, program]))
        yield "\n".join(filter(None, [*head, line + end])), pick(SRUN)


def _of_mpiexec(rng):
    """Return an mpiexec line with threads and bindings."""
    pick = rng.choice
    tasks = pick((1, 2, 4, 8, 16, 32))
    bind = pick(
        ("", f"--depth={pick((1, 4, 8))} --cpu-bind depth", "--cpu-bind core", "--map-by slot:PE=2", "--bind-to none")
    )
    threads = pick(("", f"export OMP_NUM_THREADS={pick((2, 4, 8, 40))}\n"))
    return f"{threads}mpiexec -n {tasks} {bind} ./a.out"


@pytest.mark.parametrize("seed", range(3))
def test_every_advice_was_tried(seed):
    assert sum(check_every_advice(*each) for each in scripts(seed, 10)) > 3


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 120))
def test_every_advice_was_tried_over_many_scripts(seed):
    assert sum(check_every_advice(*each) for each in scripts(seed, 100)) > 40


def test_archer2_is_told_nothing_that_srun_refuses():
    """128 tasks of two CPUs with one hardware thread each: only narrower tasks fit, not -c 2 nor its variable."""
    text = "#SBATCH -N 1 --ntasks-per-node=128\n#SBATCH --cpus-per-task=2\nsrun --hint=nomultithread ./a"
    findings, _ = answered(text, "archer2")
    (lost,) = [each for each in findings if each.code == "cpus-not-passed-on"]
    assert lost.advice == "Write --cpus-per-task=1: a node has no room for wider tasks."
    roomy, _ = answered(text.replace("128", "64"), "archer2")
    (lost,) = [each for each in roomy if each.code == "cpus-not-passed-on"]
    assert lost.advice == 'Write "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK" in front of it.'


@pytest.mark.parametrize(
    ("machine", "text", "code", "advice"),
    [
        ("cluster", "export OMP_NUM_THREADS=40\nmpirun -n 2 ./a", "depth-missing", "Set OMP_NUM_THREADS=16 and write "),
        ("polaris", "mpiexec -n 8 --ppn 8 --depth 8 --cpu-bind depth ./a", "hardware-threads-shared", "Write --"),
        (
            "perlmutter",
            "#SBATCH -q debug -C cpu -t 45\nsrun -n 128 ./a",
            "time-over-limit",
            "Request 00:30:00 or less.",
        ),
        ("hopper", "aprun -n 385 -N 12 -S 3 a.out", "last-node-nearly-empty", "Write -N 13"),
        (
            "archer2",
            "#SBATCH -N 1\nsrun -n 2 ./a &\nsrun -n 2 ./b &\nwait",
            "steps-wait",
            "Write --exact on each step.",
        ),
    ],
)
def test_what_is_advised(machine, text, code, advice):
    findings, refusal = answered(text, machine)
    assert not refusal
    (found,) = {each.advice for each in findings if each.code == code}
    assert found.startswith(advice)
    assert check_every_advice(text, machine)


def test_advice_on_training_is_tried_too():
    head = "#SBATCH -N 2 --gres=gpu:8"
    starts = ("srun torchrun", "srun accelerate launch", "torchrun", "srun python -m torch.distributed.run")
    workers = (
        "--nproc-per-node=4",
        "--nproc-per-node=16",
        "--nnodes=1 --nproc-per-node=8",
        "--nnodes=3 --nproc-per-node=8",
    )
    for start, work, tasks in itertools.product(starts, workers, (1, 8)):
        text = f"{head} --ntasks-per-node={tasks}\n{start} {work} --rdzv-backend=c10d --rdzv-endpoint=$HEAD:29500 t.py"
        if list(check_training(read_script(text))):
            check_every_advice(text, "cluster")
