"""A real Slurm of one node for the tests: slurmctld and slurmd in a separate folder, always ended."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("slurmctld", "slurmd", "sbatch")
# What a busy machine may take for anything. [s]
PATIENCE_S = 90
CONF = """ClusterName=tried
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
CliFilterPlugins=lua
MailProg={folder}/hopper-mail
NodeName={host} NodeAddr=127.0.0.1 Sockets=2 CoresPerSocket=16 ThreadsPerCore=1 CPUs=32 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:100
"""


def wait_for(what: Callable[[], object], why: str, seconds: float = PATIENCE_S) -> object:
    """Wait until a condition is true within the time, and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{why}: not within {seconds:g} s")


def edited(source: Path, target: Path, **lines: str) -> Path:
    """Copy a file with the site's lines in it: those that begin so are replaced."""
    text = source.read_text(encoding="utf-8").splitlines()
    for begins, line in lines.items():
        at = [
            number
            for number, each in enumerate(text)
            if each.removeprefix("local ").startswith(f"{begins}=") or each.startswith(f"local {begins} = ")
        ]
        assert len(at) == 1, f"{source.name} sets {begins} once"
        text[at[0]] = line
    target.write_text("\n".join(text) + "\n", encoding="utf-8")
    shutil.copymode(source, target)
    return target


def end_all_in(folder: Path) -> None:
    """End the processes that the daemons started: those that run, or have a file open, in their folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            links = [process / "cwd", *(process / "fd").iterdir()]
            if process.name != str(os.getpid()) and any(
                os.readlink(link).startswith(f"{folder}/") or os.readlink(link) == str(folder) for link in links
            ):
                os.kill(int(process.name), signal.SIGKILL)


class Site:
    """A folder that represents a site: a mail program that stores its input, and a `hopper` that can be broken."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.mailbox = folder, folder / "mails"
        self.mailbox.mkdir(parents=True)
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "SLURM_CONF": str(folder / "slurm.conf")}
        self.environment.pop("HOPPER_QUIET", None)
        self.program(
            "mail", f'f=$(mktemp "{self.mailbox}/XXXXXXXX"); {{ echo "$*"; cat; }} > "$f.part"; mv "$f.part" "$f"'
        )
        self.hopper()

    def program(self, name: str, commands: str) -> Path:
        """Write a shell script; a running earlier one continues."""
        new = self.folder / f".{name}"
        new.write_text(f"#!/bin/sh\n{commands}\n", encoding="utf-8")
        new.chmod(0o755)
        return new.replace(self.folder / name)

    def hopper(self, commands: str = f'exec "{sys.executable}" -m hopperkit "$@"') -> None:
        """Put a `hopper` there: the real one, or a script with the commands."""
        self.program("hopper", commands)

    def filter(self, limit_s: float = PATIENCE_S, refuse: str = "false") -> None:
        """Put the submit filter there; the limit of a site is too short for a busy machine."""
        edited(
            ROOT / "contrib/slurm-submit/cli_filter.lua",
            self.folder / "cli_filter.lua",
            HOPPER=f'local HOPPER = "{self.folder}/hopper"',
            MACHINE='local MACHINE = "cluster"',
            REFUSE=f"local REFUSE = {refuse}",
            LIMIT_S=f"local LIMIT_S = {limit_s}",
        )

    def mail_program(self, limit_s: float | None = None) -> Path:
        """Put `hopper-mail` and the files that it needs there."""
        shutil.copy(ROOT / "contrib/mail/hopper_mail_text.py", self.folder)
        limit = {} if limit_s is None else {"LIMIT_S": f"LIMIT_S={limit_s}"}
        return edited(
            ROOT / "contrib/mail/hopper-mail",
            self.folder / "hopper-mail",
            MAIL_PROG=f'MAIL_PROG="{self.folder}/mail"',
            HOPPER=f'HOPPER="{self.folder}/hopper"',
            PYTHON=f'PYTHON="{sys.executable}"; export SLURM_CONF="{self.folder}/slurm.conf" PYTHONPATH="{ROOT}"',
            **limit,
        )

    def mails(self) -> list[str]:
        """Return the mails that have arrived."""
        return [
            file.read_text(encoding="utf-8")
            for file in sorted(self.mailbox.iterdir())
            if "." not in file.name and file.stat().st_size
        ]

    def empty(self) -> None:
        """Throw the mails away."""
        for file in self.mailbox.iterdir():
            file.unlink()

    def run(self, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm in the folder."""
        given = {
            "capture_output": True,
            "stdin": subprocess.DEVNULL,
            "timeout": PATIENCE_S,
            "cwd": self.folder,
            "env": self.environment,
        }
        return subprocess.run(words, text=True, check=False, **{**given, **more})


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site without Slurm."""
    return Site(tmp_path / "site")


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose Slurm runs."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(
            f"no {missing[0]} (Debian and Ubuntu: apt install slurmctld slurmd slurm-client slurm-wlm-basic-plugins)"
        )
    site = Site(tmp_path_factory.mktemp("slurm") / "site")
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (site.folder / name).mkdir()
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (first, second)]
    conf = CONF.format(host=host, ports=ports, user=getpass.getuser(), folder=site.folder)
    (site.folder / "slurm.conf").write_text(conf, encoding="utf-8")
    # Releases since 23.11 look for control groups else.
    (site.folder / "cgroup.conf").write_text("", encoding="utf-8")
    site.filter()
    site.mail_program(PATIENCE_S)
    daemons = []
    try:
        for words in (["slurmctld", "-D"], ["slurmd", "-D", "-N", host]):
            with (site.folder / f"{words[0]}.out").open("w") as log:
                streams = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL}
                daemons.append(subprocess.Popen(words, env=site.environment, start_new_session=True, **streams))
        wait_for(
            lambda: site.run("sinfo", "-h", "-o", "%T").stdout.startswith("idle"), f"no idle node: {site.folder}/*.log"
        )
        yield site
    finally:
        site.run("scancel", "--full", "-u", getpass.getuser())
        with suppress(AssertionError):
            wait_for(lambda: not site.run("squeue", "-h").stdout, "jobs are left", 8)
        for daemon in daemons:
            daemon.terminate()
        for daemon in daemons:
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(2)
        end_all_in(site.folder)
        for daemon in daemons:
            daemon.wait()


@pytest.fixture
def slurm(running: Site) -> Site:
    """The site whose Slurm runs, in its initial state."""
    running.hopper()
    running.filter()
    running.mail_program(PATIENCE_S)
    running.empty()
    return running
