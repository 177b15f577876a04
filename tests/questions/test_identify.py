"""One box for anything: each kind of text gets the answer of its question."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.questions.question import load
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from tests.readers.test_recognise import SACCT

OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.\n"


def ask(text, **more):
    return load("identify").run(text=text, **more)


def test_a_kind_gets_the_answer_of_its_question():
    """The texts that the questions themselves begin with are recognised, and answered alike except for the machine."""
    for name, control in [("diagnose", "log"), ("watch", "history"), ("preflight", "buddyinfo"), ("io-log", "output")]:
        own = load(name)
        result = ask(own.defaults[control])
        assert result.facts["question"] == name
        assert result.summary.endswith(own.run().summary)


def test_a_table_parted_by_blanks_and_one_of_raw_job_numbers_are_read():
    assert ask("job_id nodes runtime_s\n12 8 301.2\n13 8 300.4\n14 8 420.9\n").facts["question"] == "runs"
    assert ask(SACCT.replace("JobID|", "JobIDRaw|")).facts["question"] == "simulate"


@pytest.mark.parametrize(
    ("text", "machine", "said"),
    [
        ("#SBATCH -C gpu -q regular\nsrun -n 4 ./a", "none", "Perlmutter"),
        ("srun -n 4 ./a", "none", "The text names no machine"),
        ("srun -n 4 ./a", "frontier", "Frontier"),
        ("aprun -n 24 ./a", "none", "Hopper"),
    ],
)
def test_a_script_is_for_the_machine_that_it_names(text, machine, said):
    assert said in ask(text, machine=machine).summary


def test_a_machine_file_answers_for_what_names_no_machine_of_ours():
    own = Machine.load("frontier").to_toml().replace('title = "Frontier"', 'title = "Zephyr"')
    assert "Zephyr" in ask("srun -n 4 ./a", machine_file=own).summary
    # What asks for no machine is answered as it is.
    assert ask(OOM, machine_file=own).summary == ask(OOM).summary


def test_a_description_of_nodes_and_a_machine_file_become_machines():
    assert "Your machine" in ask("NodeName=n[1-4] CoresPerSocket=6 RealMemory=31000 Sockets=4 ThreadsPerCore=1").summary
    assert "Frontier" in ask(Machine.load("frontier").to_toml()).summary


def test_files_of_one_job_are_answered_together(tmp_path):
    (tmp_path / "job.sh").write_text("#SBATCH -N 2\nsrun -n 48 ./a.out\n", encoding="utf-8")
    (tmp_path / "job.err").write_text(OOM, encoding="utf-8")
    (tmp_path / "jobs.txt").write_text(SACCT, encoding="utf-8")
    run = CliRunner().invoke(hopper, [str(tmp_path / "job.sh"), str(tmp_path / "job.err")], prog_name="hopper")
    assert "the files of one job" in run.output
    refused = CliRunner().invoke(hopper, [str(tmp_path / name) for name in ("job.err", "jobs.txt")], prog_name="hopper")
    assert refused.exit_code == 2
    assert "belong to several questions" in refused.output + (refused.stderr or "")


def test_what_cannot_be_read_says_as_what():
    with pytest.raises(InputError, match=r"^read as a job script \(it has #PBS lines\)"):
        ask("#!/bin/sh\n#PBS -l nodes=1\n#BSUB -n 4\nmpirun ./a\n")
    # What has the marks of a kind is no output of a job because it lacks a column.
    with pytest.raises(InputError, match=r"Slurm's accounting .* it lacks Submit"):
        ask("JobID|State|Elapsed|NNodes\n1|FAILED|00:10:00|2\n")
    with pytest.raises(InputError, match="machine file: "):
        ask("title = 'Error'\n[[node]]\ncount = 3\n")
    # What a tool prints within the output of a job that went wrong may be one.
    assert ask("Architecture: x86_64\nCPU(s): 4\n" + OOM).facts["taken_for"] == "output"
    with pytest.raises(InputError, match="a picture"):
        ask("\ufffdPNG\r\n\x1a\n")
    with pytest.raises(InputError, match="paste a text"):
        ask("  ")


def test_a_kind_can_be_named():
    assert ask("10\n11\n12\n13\n14\n15\n", read_as="output").facts["taken_for"] == "output"
    assert ask("10\n11\n12\n13\n14\n15\n").facts["taken_for"] == "times"


def test_what_was_copied_along_is_left_out():
    times = ask("run_time_s\n10\n11\n12\n").facts
    assert ask("# mine\n10s\n11s\n12s\n").facts == times | {"taken_for": "times"}
    assert ask(f"$ sacct -P\n{SACCT}").summary == ask(SACCT).summary


def test_a_script_without_a_fault_says_where_to_look_next():
    head = "#SBATCH -C cpu -q regular -N 2\nexport OMP_NUM_THREADS=8\n"
    fine = load("identify").run(text=f"{head}srun -n 32 -c 16 --cpu-bind=cores vasp_std")
    assert [finding.code for finding in fine.findings if finding.level == "advice"] == ["look-elsewhere"]
    # One that has a fault, and one that cannot be judged, say that instead.
    for line in ("srun -n 32 -c 2 --cpu-bind=cores vasp_std", "srun -n 512 -c 1 --cpu-bind=cores vasp_std"):
        faulty = load("identify").run(text=head + line)
        assert "look-elsewhere" not in [finding.code for finding in faulty.findings]
