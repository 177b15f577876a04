"""``cli_filter.lua`` in a real Slurm, and the advice that it requests."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from hopperkit.cli.elsewhere.submit import submit_advice
from hopperlib.machine import Machine

BAD = "#!/bin/bash\n#SBATCH -n 4 -N 1\nexport OMP_NUM_THREADS=4\nsrun -n 4 ./a.out\n"
BETTER = "better: line 4 srun -n 4 -c 8 --cpu-bind=cores ./a.out"
GOOD = [
    (options, f"#!/bin/bash\n{line}\n")
    for options in ({"nodes": "1", "ntasks": "32"}, {"nodes": "4", "ntasks": "128", "time": "01:00:00"})
    for line in (
        "srun ./a.out",
        "srun --cpu-bind=cores ./a.out > log",
        "python3 run.py",
        "mpirun ./a.out",
        "module load x\ntime srun ./a.out in.nml",
    )
] + [
    ({"nodes": "2", "ntasks": "4", "cpus-per-task": "16"}, f"#!/bin/bash\n{line}\n")
    for line in (
        "srun -c 16 ./a.out",
        "export OMP_NUM_THREADS=16\nsrun -c 16 ./a.out",
        "export OMP_NUM_THREADS=16 OMP_PLACES=cores\nsrun -c 16 --cpu-bind=cores ./a.out",
        "srun --cpus-per-task=$SLURM_CPUS_PER_TASK ./a.out",
        "srun -n 4 -c 16 ./a.out | tee log",
        "srun -c 16 -m block:block ./a.out",
        "srun --cpus-per-task=16 --mem=0 ./a.out",
        "for step in 1 2; do srun -c 16 ./a.out $step; done",
        "export SRUN_CPUS_PER_TASK=16\nsrun ./a.out",
        "echo nothing to launch",
    )
]


@pytest.fixture(scope="module")
def machine():
    return Machine.load("cluster")


def advice(machine, folder, options, text, **more):
    script = folder / "job.sh"
    script.write_text(text, encoding="utf-8")
    return submit_advice(json.dumps({"type": "sbatch", **options, "argv": [str(script)], **more}), machine)


def test_twenty_good_lines_get_no_word(machine, tmp_path):
    assert len(GOOD) == 20
    heard = [(text, lines) for options, text in GOOD if (lines := advice(machine, tmp_path, options, text))]
    assert not heard


def test_what_holds_in_the_end_is_judged(machine, tmp_path):
    """The command line overrides the script, and its options have no line there."""
    assert advice(machine, tmp_path, {"nodes": "1", "ntasks": "64"}, "#!/bin/bash\n#SBATCH -N 2\nsrun ./a.out\n") == [
        "cannot run: #SBATCH -n 64 is more than 1 x 32 tasks, all that fit with -c 1"
    ]
    assert advice(machine, tmp_path, {"nodes": "2", "ntasks": "64"}, "#!/bin/bash\n#SBATCH -N 1\nsrun ./a.out\n") == []
    assert advice(machine, tmp_path, {"nodes": "999"}, "#!/bin/bash\npython3 a.py\n")[0].startswith("cannot run: ")
    assert advice(machine, tmp_path, {"nodes": "1"}, "", wrap="srun -n 64 ./a.out", argv=[])[0].startswith("cannot run")
    assert submit_advice('{"type": "salloc", "nodes": "999"}', machine)[0].startswith("cannot run: ")
    assert submit_advice('{"type": "salloc", "nodes": "2"}', machine) == []


def test_no_more_than_two_lines(machine, tmp_path):
    lines = "\n".join(f"srun -n 4 ./{program}" for program in "abcd")
    assert len(advice(machine, tmp_path, {"nodes": "1"}, f"#!/bin/bash\n{lines}\n")) == 2


def on_a_terminal(slurm, *words, **environment):
    """Run a command whose standard error is a terminal, and return its output and whether it succeeded."""
    ours, theirs = os.openpty()
    done = slurm.run(
        *words, capture_output=False, stdout=subprocess.PIPE, stderr=theirs, env=slurm.environment | environment
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass
    os.close(ours)
    return done.stdout + shown.decode(), done.returncode == 0


@pytest.fixture
def script(slurm):
    file = slurm.folder / "bad.sh"
    file.write_text(BAD, encoding="utf-8")
    return str(file)


def test_advice_stands_on_the_terminal_and_the_job_is_submitted(slurm, script):
    shown, well = on_a_terminal(slurm, "sbatch", script)
    assert well
    assert f"hopper: {BETTER}" in shown
    assert "Submitted batch job" in shown
    shown, well = on_a_terminal(slurm, "srun", "-n", "64", "-N", "1", "-O", "true", OMP_NUM_THREADS="2")
    assert well, shown
    shown, well = on_a_terminal(slurm, "salloc", "-N", "1", "true")
    assert well
    assert "hopper" not in shown


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("exit 3", marks=pytest.mark.nightly),
        pytest.param("echo nonsense >&2; kill -9 $$", marks=pytest.mark.nightly),
        "sleep 600",
        None,
    ],
    ids=["fails", "killed", "slow", "absent"],
)
def test_the_job_is_submitted_whatever_becomes_of_hopper(slurm, script, broken):
    slurm.filter(limit_s=0.3)
    if broken is None:
        (slurm.folder / "hopper").unlink()
    else:
        slurm.hopper(broken)
    for words in (("sbatch", script), ("srun", "-n", "1", "true"), ("salloc", "-n", "1", "true")):
        shown, well = on_a_terminal(slurm, *words)
        assert well, shown
        assert "hopper" not in shown
        assert "Killed" not in shown


def test_it_is_quiet_where_nobody_looks_or_wants_it(slurm, script):
    slurm.hopper(f"touch {slurm.folder}/asked; echo better: x")
    slurm.run("sbatch", script)
    shown, well = on_a_terminal(slurm, "sbatch", script, HOPPER_QUIET="1")
    assert well
    assert "better" not in shown
    assert not (slurm.folder / "asked").exists()
    shown, _ = on_a_terminal(slurm, "sbatch", script)
    assert "hopper: better: x" in shown


def test_a_job_is_refused_only_where_the_site_says_so(slurm, script):
    slurm.hopper("echo cannot run: it asks too much; exit 1")
    shown, well = on_a_terminal(slurm, "sbatch", script)
    assert well
    assert "cannot run: it asks too much" in shown
    slurm.filter(refuse="true")
    refused = slurm.run("sbatch", script)
    assert refused.returncode
    assert "cannot run: it asks too much" in refused.stderr
    slurm.hopper("exit 1")
    assert slurm.run("sbatch", script).returncode == 0


def test_a_line_for_the_launcher_that_is_there_says_so(tmp_path):
    """Nothing is wrong with where the tasks are, so there is no finding that the line ends."""
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH -N 2 -C cpu\naprun -n 256 -N 128 ./a\n")
    options = json.dumps({"type": "sbatch", "nodes": "2", "constraint": "cpu", "argv": [str(script)]})
    line = "srun -n 256 --ntasks-per-node=128 -N 2 -c 2 --cpu-bind=cores ./a"
    assert submit_advice(options, Machine.load("perlmutter")) == [f"better: line 3 {line} (srun in place of aprun)"]
