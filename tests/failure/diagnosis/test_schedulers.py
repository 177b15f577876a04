"""Advice uses the terms of the scheduler that ran the job."""

import re

import pytest

from hopperlib.failure.diagnosis._schedulers import schedulers
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

COMMANDS = {
    "Flux": "flux job eventlog",
    "LSF": "bacct",
    "HTCondor": "condor_history",
    "Slurm": "sacct",
    "Grid Engine": "qacct",
    "PBS": "qstat",
    "the scheduler": "sacct",
}
# Lines that a job of each prints, none of which names a cause.
LINES = {
    "Flux": ["0.1s: flux-shell[0]: FATAL: task-exit: a.out failed", "flux-job: task(s) exited with exit code 137"],
    "LSF": ["Sender: LSF System <lsfadmin@n1>", "export LSB_JOBID=77", "TERM_OWNER: job killed by owner."],
    "HTCondor": ["000 (027.000.000) 12/06 13:46:56 Job submitted from host: <10.0.0.1:9618>"],
    "Slurm": ["srun: job 7 queued and waiting for resources", "/var/spool/slurmd/job7/slurm_script: line 9: x"],
    "Grid Engine": ["/opt/sge/default/spool/n1/job_scripts/77: line 3: 5 Killed", "#$ -l h_rt=1:0:0"],
    "PBS": ["/var/spool/pbs/mom_priv/jobs/77.srv.SC: line 5: 333 Killed ./a", "=>> PBS: job killed: x", "PBS_JOBID=7"],
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
@pytest.mark.parametrize("end", ["Killed", "./run.sh: exit code 137"])
def test_a_killed_job_is_sent_to_its_own_record(name, line, end):
    found = diagnose([("job.out", f"{line}\nstep 1\n{end}\n")])
    said = " ".join([*found.next, *(step for cause in found.causes for step in cause.advice)])
    if found.verdict == "failed":
        assert COMMANDS[name] in said
    others = {command for other, command in COMMANDS.items() if command != COMMANDS[name]}
    assert not [command for command in others if f"`{command}" in said]


@pytest.mark.parametrize("name", LINES)
def test_more_memory_is_asked_for_in_its_words(name):
    (scheduler,) = (one for one in schedulers() if one.name == name)
    found = diagnose([("job.out", f"{LINES[name][0]}\nMemoryError: Unable to allocate 3 GiB for an array\n")])
    (step,) = (step for step in found.cause.advice if "more memory" in step)
    assert scheduler.memory in step


def test_a_text_that_names_no_scheduler_says_whose_command_it_gives():
    assert any("Slurm: `sacct" in step for step in diagnose([("job.out", "step 1\nKilled\n")]).next)


def test_no_word_of_a_scheduler_is_left_open():
    for one in schedulers():
        steps = [one.speak(step) for rule in load_rules() for step in (*rule.advice, rule.confirm)]
        assert not [step for step in steps if re.search(r"<(?:record|limits|memory|without)>", step)]
        assert not [
            rule.code for rule in load_rules() if re.search(r"<(?:record|limits|memory|without)>", rule.confirm)
        ]


def test_each_scheduler_is_known_by_its_lines_alone():
    for name, lines in LINES.items():
        for line in lines:
            assert [one.name for one in schedulers() if re.search(one.regex, line)][:1] == [name]


def test_alps_places_what_pbs_starts():
    found = diagnose([("job.o7", "step 1\nApplication 1925046 exit codes: 1\n")])
    assert any("qstat" in step for step in found.next)
    assert not any("sacct" in step for step in found.next)
