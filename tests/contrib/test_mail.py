"""``hopper-mail``: the cause in the mail of a failed job, and no mail lost, with a real Slurm and called directly."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.contrib.conftest import ROOT, wait_for

SUBJECT = "Slurm Job_id=1 Name=job Failed, Run time 00:00:01, FAILED, ExitCode 1"
ROW = "JobID|State|ElapsedRaw|NNodes|NTasks|AllocCPUS|TotalCPU|MaxRSS|ReqMem|AllocTRES|TRESUsageInMax"


@pytest.fixture(scope="module")
def text():
    """The module that makes the text, which is in no package."""
    spec = importlib.util.spec_from_file_location("hopper_mail_text", ROOT / "contrib/mail/hopper_mail_text.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def submit(slurm, commands, *options):
    """Submit a job of some commands, mails at its end."""
    script = slurm.folder / "job.sh"
    script.write_text(f"#!/bin/bash\n#SBATCH -n 1\n{commands}\n", encoding="utf-8")
    done = slurm.run("sbatch", "--mail-type=END,FAIL", "--mail-user=me", *options, str(script))
    assert done.returncode == 0, done.stderr


def test_a_job_that_fails_sends_one_mail_with_its_first_cause(slurm):
    submit(slurm, "python3 -c 'import nump'")
    wait_for(slurm.mails, "a mail")
    (mail,) = slurm.mails()
    assert mail.startswith("-s Slurm Job_id=")
    assert "Failed, Run time" in mail.splitlines()[0]
    assert "A Python package is missing" in mail
    assert "ModuleNotFoundError: No module named 'nump'" in mail
    assert "Who acts: the job's owner." in mail
    assert "\n1. Put which python; python -c 'import nump'" in mail
    assert "/dev/fd" not in mail


def test_a_job_that_ends_well_sends_the_mail_as_it_was(slurm):
    submit(slurm, "echo fine")
    wait_for(slurm.mails, "a mail")
    assert [mail.count("\n") for mail in slurm.mails()] == [1]


def test_no_mail_of_a_real_job_is_lost(slurm):
    """The text takes too long: every mail is sent without it."""
    slurm.mail_program(limit_s=0.2)
    slurm.hopper("sleep 600")
    submit(slurm, "exit 1", "--array=1-20", "--mail-type=END,FAIL,ARRAY_TASKS")
    wait_for(lambda: len(slurm.mails()) >= 20, "twenty mails")
    time.sleep(0.5)
    assert sorted(mail.count("\n") for mail in slurm.mails()) == [1] * 20


BROKEN = {
    "fails": "exit 1",
    "killed": "kill -9 $$",
    "kills all": "kill -9 0",
    "nonsense": "head -c 100000 /dev/urandom",
    "slow": "trap '' TERM; sleep 600",
}


def running(folder):
    """Return the command lines of processes that name a folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(file.read_bytes())
    return [line for line in found if str(folder).encode() in line]


# Each waits for a mail: all ways at night, the two that wait longest for nothing in every run.
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=() if way in ("slow", "no helper") else pytest.mark.nightly)
        for way in (*BROKEN, "absent", "no Python", "no helper")
    ],
)
def test_a_mail_arrives_whatever_becomes_of_hopper(site, way):
    wrapper = site.mail_program()
    out = site.folder / "slurm-1.out"
    out.write_text("ModuleNotFoundError: No module named 'x'\n", encoding="utf-8")
    site.program("scontrol", f"echo 'JobId=1 JobName=a'; echo '   JobState=FAILED'; echo '   StdOut={out}'")
    site.program("sacct", "exit 1")
    environment = site.environment | {"PATH": f"{site.folder}:{os.environ['PATH']}", "SLURM_JOB_UID": str(os.getuid())}
    if way in BROKEN:
        site.hopper(BROKEN[way])
    elif way == "no helper":
        (site.folder / "hopper_mail_text.py").unlink()
    else:
        wrapper.write_text(
            wrapper.read_text(encoding="utf-8").replace(f'PYTHON="{sys.executable}"', 'PYTHON="/nowhere"'),
            encoding="utf-8",
        )
        (site.folder / "hopper").unlink()

    def send(number):
        begun = time.monotonic()
        done = site.run(str(wrapper), "-s", f"{SUBJECT} {number}", "me", env=environment)
        return done.returncode, time.monotonic() - begun

    count = 4 if way == "slow" else 10
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(send, range(count)))
    assert {code for code, _ in ended} == {0}
    # Two seconds, and what a busy machine takes to start programs.
    assert min(took for _, took in ended) < 4
    assert sorted(site.mails()) == sorted(f"-s {SUBJECT} {number} me\n" for number in range(count))
    # Nor does it go on by itself.
    wait_for(lambda: not running(site.folder), "what was started ends")


def test_a_mail_program_that_is_killed_is_called_once_more_and_its_status_is_kept(site):
    wrapper = site.mail_program()
    site.program("python", "echo a text")
    wrapper.write_text(
        wrapper.read_text(encoding="utf-8").replace(f'PYTHON="{sys.executable}"', f'PYTHON="{site.folder}/python"'),
        encoding="utf-8",
    )
    site.program(
        "mail",
        f'echo "$*" >> {site.folder}/called; [ -e {site.folder}/once ] || {{ touch {site.folder}/once; kill -9 $$; }}; cat > {site.mailbox}/mail; exit 3',
    )
    assert site.run(str(wrapper), "-s", SUBJECT, "me").returncode == 3
    assert (site.folder / "called").read_text(encoding="utf-8").count("\n") == 2
    (site.folder / "once").unlink()
    (site.folder / "mail").unlink()
    assert site.run(str(wrapper), "-s", SUBJECT, "me").returncode == 127


def test_asked_to_end_it_sends_the_mail_first(site):
    wrapper = site.mail_program()
    site.program("python", "sleep 1")
    wrapper.write_text(
        wrapper.read_text(encoding="utf-8").replace(f'PYTHON="{sys.executable}"', f'PYTHON="{site.folder}/python"'),
        encoding="utf-8",
    )
    with subprocess.Popen([wrapper, "-s", SUBJECT, "me"], stdin=subprocess.DEVNULL) as running:
        time.sleep(0.3)
        running.terminate()
        running.wait(30)
    assert site.mails() == [f"-s {SUBJECT} me\n"]


def test_only_a_file_of_the_user_is_read(text, tmp_path, monkeypatch):
    own, link, pipe = (tmp_path / name for name in ("own", "link", "pipe"))
    own.write_text("mine\n", encoding="utf-8")
    link.symlink_to(own)
    os.mkfifo(pipe)
    monkeypatch.setenv("SLURM_JOB_UID", str(os.getuid()))
    name, copy, cut = text.copied(str(own))
    copy.close()
    assert (name, cut) == (str(own), False)
    assert text.copied(str(link)) is text.copied(str(pipe)) is text.copied(str(tmp_path / "none")) is None
    monkeypatch.setenv("SLURM_JOB_UID", str(os.getuid() + 1))
    assert text.copied(str(own)) is None
    monkeypatch.delenv("SLURM_JOB_UID")
    assert text.copied(str(own)) is None


def test_of_a_long_file_the_beginning_and_the_end_are_read(text, tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_UID", str(os.getuid()))
    file = tmp_path / "long"
    file.write_text("first\n" + "x" * 70 + "\n" + "y" * 79 + "\n" + "z\n" * 1_500_000 + "last\n", encoding="utf-8")
    _, copy, cut = text.copied(str(file))
    with copy:
        copy.seek(0)
        read = copy.read()
    assert cut
    assert read.startswith(b"first\n")
    assert read.endswith(b"\nlast\n")
    assert len(read) <= text.HEAD_BYTES + text.TAIL_BYTES + 1


STEPS = {
    # One task used 6 of 32 CPUs, and its memory well.
    "cores": (
        ["7|COMPLETED|3600|1||32|06:00:00||64G|billing=32,cpu=32,mem=64G,node=1|",
         "7.batch|COMPLETED|3600|1|1|32|06:00:00|60G||cpu=32,mem=64G,node=1|"],
        "Of 32 CPUs the job kept 6.0 busy on average: #SBATCH --ntasks=1 --cpus-per-task=6 would do.",
    ),
    # Two steps one after the other on four nodes, 8 tasks of 16 CPUs each: together 32 CPUs busy.
    "cores of steps": (
        ["7|COMPLETED|3600|4||128|1-08:00:00||0|cpu=128,mem=512G,node=4|",
         "7.batch|COMPLETED|3600|1|1|32|00:00:01|1G||cpu=32,node=1|",
         "7.0|COMPLETED|1800|4|8|128|16:00:00|8G||cpu=128,node=4|",
         "7.1|COMPLETED|1800|4|8|128|15:59:59|8G||cpu=128,node=4|"],
        "Of 128 CPUs the job kept 32.0 busy on average: #SBATCH --cpus-per-task=4 would do.",
    ),
    # Hardware threads count as CPUs: half of them busy is no waste.
    "threads": (
        ["7|COMPLETED|3600|1||64|1-07:00:00||0|cpu=64,mem=64G,node=1|", "7.0|COMPLETED|3600|1|32|64|1-07:00:00|1G||cpu=64|"],
        "",
    ),
    # 2 tasks per node of 5 GB, beside a batch script of 1 GB: at most 11 of 128 GB per node.
    "memory": (
        ["7|COMPLETED|3600|4||8|07:30:00||128G|cpu=8,mem=512G,node=4|",
         "7.batch|COMPLETED|3600|1|1|2|00:00:01|1048576K||cpu=2|",
         "7.0|COMPLETED|3600|4|8|8|07:29:59|5G||cpu=8|"],
        "Of 128 GB of each node at most 11.0 GB were used, as sampled: #SBATCH --mem=14G would do.",
    ),
    "GPUs": (
        ["7|COMPLETED|3600|1||4|04:00:00||8G|cpu=4,gres/gpu=4,mem=8G,node=1|",
         "7.batch|COMPLETED|3600|1|1|4|04:00:00|7G||cpu=4|cpu=01:00:00,gres/gpumem=0,gres/gpuutil=0"],
        "No GPU of the 4 that the job had was used: leave the #SBATCH line with --gpus or --gres out.",
    ),
    # Nothing was measured, the job was short, tasks on other nodes may not be counted: nothing is said.
    "unmeasured": (["7|COMPLETED|3600|1||32|00:00:00||64G|cpu=32,mem=64G,node=1|", "7.batch|COMPLETED|3600|1|1|32|00:00:00|||cpu=32|"], ""),
    "short": (["7|COMPLETED|60|1||32|00:00:01||64G|cpu=32,mem=64G,node=1|", "7.batch|COMPLETED|60|1|1|32|00:00:01|1G||cpu=32|"], ""),
    "elsewhere": (["7|COMPLETED|3600|4||128|01:00:00||0|cpu=128,mem=9G,node=4|", "7.batch|COMPLETED|3600|1|1|32|01:00:00|1G||cpu=32|"], ""),
}  # fmt: skip


@pytest.mark.parametrize("case", STEPS)
def test_what_a_good_job_left_unused_is_one_sentence(text, case):
    rows, sentence = STEPS[case]
    assert text.unused(text.sacct_rows("\n".join([ROW, *rows]))) == sentence
