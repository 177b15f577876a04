#!/usr/bin/env python3
"""Run a job list through an unmodified Slurm under virtual time, and keep when each job started.

    python scripts/ask_slurm_schedule.py --list                                # the settings
    python scripts/ask_slurm_schedule.py fifo --jobs 150 --seed 1 JOBS.csv     # only draw the jobs of a setting
    python scripts/ask_slurm_schedule.py fifo --jobs 150 --seed 1 --runs 3 --folder /tmp/slurm RUNS.csv.gz
    python scripts/ask_slurm_schedule.py fifo --jobs 150 --seed 1 --runs 1 --add RUNS.csv.gz   # to the runs that are there
    python scripts/ask_slurm_schedule.py fifo --jobs-of RUNS.csv.gz --change 17:limit_s=480 --until 17 --runs 3 CHANGED.csv.gz

The first two need only Python; the others need root and slurmctld, slurmd, slurm-client, munge and gcc. The daemons are
unmodified: a preloaded library makes their clocks and sleeps run ``--speed`` times as fast, and each slurmd has a
different host name (unshare --uts). Several may run side by side, each with a folder and 1,000 ports of its own. A run takes the virtual time that the jobs need, divided by the speed: about ten
minutes for 150 jobs at 30. Slow starts of real processes show as delays, so a run on a busy computer is disturbed: each
run prints by how much jobs ran longer than they should have, and runs above 60 s (90th percentile) are not kept.

The table has one row per job: submission, nodes, CPUs, time limit, run time, partition; then for each run the observed
submission, start and end, in seconds from the first submission; blank for jobs that had not ended with --until. tests/traces/slurm compares the simulator with them.
"""

import argparse
import csv
import gzip
import io
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

NODES = 32
DISTURBED_S = 60

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double speed;
static int64_t epoch, boot;

static void init(void)
{
	if (speed)
		return;
	const char *k = getenv("VT_SPEED"), *e = getenv("VT_EPOCH"), *m = getenv("VT_BOOT");
	epoch = e ? atoll(e) * 1000000000LL : 0;
	boot = m ? atoll(m) * 1000000000LL : 0;
	speed = k ? atof(k) : 1;
}

static int64_t virtual_ns(clockid_t clock)
{
	struct timespec t;
	int64_t ns;

	init();
	syscall(SYS_clock_gettime, clock, &t);
	ns = t.tv_sec * 1000000000LL + t.tv_nsec;
	switch (clock) {
	case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE:
		return epoch + (int64_t)((ns - epoch) * speed);
	case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME:
		return boot + (int64_t)((ns - boot) * speed);
	}
	return ns;
}

static int64_t real_ns(clockid_t clock, int64_t ns)
{
	init();
	if (clock == CLOCK_REALTIME)
		return epoch + (int64_t)((ns - epoch) / speed);
	if (clock == CLOCK_MONOTONIC)
		return boot + (int64_t)((ns - boot) / speed);
	return ns;
}

static struct timespec spec(int64_t ns)
{
	struct timespec t = { ns / 1000000000LL, ns % 1000000000LL };
	return t;
}

static int64_t ns_of(const struct timespec *t) { return t->tv_sec * 1000000000LL + t->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *t) { *t = spec(virtual_ns(clock)); return 0; }

time_t time(time_t *kept)
{
	time_t t = virtual_ns(CLOCK_REALTIME) / 1000000000LL;
	if (kept)
		*kept = t;
	return t;
}

int gettimeofday(struct timeval *t, void *zone)
{
	int64_t ns = virtual_ns(CLOCK_REALTIME);
	t->tv_sec = ns / 1000000000LL;
	t->tv_usec = ns % 1000000000LL / 1000;
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	init();
	struct timespec t = spec(ns_of(wanted) / speed);
	return syscall(SYS_nanosleep, &t, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
	init();
	struct timespec t = spec(flags & TIMER_ABSTIME ? real_ns(clock, ns_of(wanted)) : ns_of(wanted) / speed);
	return syscall(SYS_clock_nanosleep, clock, flags, &t, left) ? errno : 0;
}

unsigned sleep(unsigned seconds) { struct timespec t = { seconds, 0 }; nanosleep(&t, 0); return 0; }

int usleep(useconds_t us) { struct timespec t = { us / 1000000, us % 1000000 * 1000L }; return nanosleep(&t, 0); }

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	if (!real)
		real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	struct timespec t = spec(real_ns(CLOCK_REALTIME, ns_of(until)));
	return real(cond, mutex, &t);
}
"""

CONFIGURATION = """\
ClusterName=virtual
SlurmctldHost=control(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,ttl=3000
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPort={control_port}
SlurmdPort={port}
MessageTimeout=1000
UnkillableStepTimeout=20000
SlurmdTimeout=30000
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
MinJobAge=100000
KillWait=2
SlurmctldDebug=info
{settings}
NodeName=n[01-{nodes:02d}] NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} RealMemory=100 State=UNKNOWN
{partitions}
"""

MAIN = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE"
SCHEDULER = "SelectType=select/linear\nPriorityType=priority/basic\nSchedulerType=sched/backfill\n"
WEIGHTS = "SelectType=select/linear\nPriorityType=priority/multifactor\nPriorityMaxAge=1-0\nPriorityCalcPeriod=1\nSchedulerType=sched/backfill\n"


class Setting(NamedTuple):
    """One configuration of Slurm.

    Parameters
    ----------
    lines : str
        Lines of slurm.conf.
    partitions : str
        The same, for its partitions.
    cpus : int
        CPUs of each node; jobs request CPUs instead of nodes where there are several.
    names : tuple of str
        Partitions that jobs are submitted to, at random.
    events : tuple of (int, str)
        Virtual seconds after the first submission, and a command to run then.
    nodes : int
        Nodes of the cluster; the jobs are drawn for 32 whatever it is.
    limit_factor : int
        Factor to the limits of the jobs that are drawn.
    """

    lines: str
    partitions: str = MAIN
    cpus: int = 1
    names: tuple[str, ...] = ("main",)
    events: tuple[tuple[int, str], ...] = ()
    nodes: int = NODES
    limit_factor: int = 1


SETTINGS = {
    "fifo": Setting(SCHEDULER + "SchedulerParameters=bf_interval=30"),
    "shallow": Setting(SCHEDULER + "SchedulerParameters=bf_interval=30,bf_max_job_test=5"),
    "coarse": Setting(SCHEDULER + "SchedulerParameters=bf_interval=300,bf_resolution=600"),
    "window": Setting(SCHEDULER + "SchedulerParameters=bf_interval=30,bf_window=10"),
    "no-backfill": Setting(SCHEDULER.replace("backfill", "builtin")),
    "wide-first": Setting(
        WEIGHTS + "PriorityWeightJobSize=10000\nPriorityWeightAge=1000\nSchedulerParameters=bf_interval=30"
    ),
    "narrow-first": Setting(
        WEIGHTS
        + "PriorityWeightJobSize=10000\nPriorityFavorSmall=YES\nPriorityWeightAge=10000\nSchedulerParameters=bf_interval=30"
    ),
    "overlap": Setting(
        SCHEDULER + "SchedulerParameters=bf_interval=30",
        f"{MAIN}\nPartitionName=half Nodes=n[01-16] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
        names=("main", "main", "half"),
    ),
    "tiers": Setting(
        SCHEDULER + "SchedulerParameters=bf_interval=30",
        f"{MAIN}\nPartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE PriorityTier=10",
        names=("main", "main", "main", "urgent"),
    ),
    "shared": Setting(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nPriorityType=priority/basic\nSchedulerType=sched/backfill\n"
        "SchedulerParameters=bf_interval=30",
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO",
        cpus=4,
    ),
    "reservation": Setting(
        SCHEDULER + "SchedulerParameters=bf_interval=30",
        events=(
            (
                3600,
                "scontrol create reservation user=root nodes=n[01-16] starttime=now+3600 duration=60 flags=ignore_jobs",
            ),
        ),
    ),
    "drain": Setting(
        SCHEDULER + "SchedulerParameters=bf_interval=30",
        events=(
            (1800, "scontrol update nodename=n[25-32] state=drain reason=test"),
            (9000, "scontrol update nodename=n[25-32] state=resume"),
        ),
    ),
    "more-nodes": Setting(SCHEDULER + "SchedulerParameters=bf_interval=30", nodes=40),
    "loose-limits": Setting(SCHEDULER + "SchedulerParameters=bf_interval=30", limit_factor=3),
}


class Job(NamedTuple):
    """A job to submit: its time and its request. [s]"""

    submit_s: int
    nodes: int
    cpus: int
    limit_s: int
    run_s: int
    partition: str


def draw(setting: Setting, count: int, seed: int, load: float) -> list[Job]:
    """Draw a setting's jobs in order of submission; about `load` times the capacity of the nodes."""
    rng = random.Random(seed)
    units = NODES * setting.cpus
    jobs = []
    for _ in range(count):
        partition = setting.names[int(rng.random() * len(setting.names))]
        widest = 16 if partition == "half" else NODES
        width = min(widest, max(1, int(2 ** (5.2 * rng.random()) * 0.8)))
        if rng.random() < 0.5:
            width = min(widest, 2 ** round(math.log2(width)))
        if setting.cpus > 1 and rng.random() < 0.7:
            width = max(1, width // 2)
        limit = 60 * (5, 10, 10, 20, 30, 30, 60)[int(rng.random() * 7)]
        asked = limit * setting.limit_factor
        # A share 1 - (1 - u) ** (1 / 1.3) of the limit is distributed as Beta(1, 1.3).
        run = max(30, int(limit * min(0.97, 1 - (1 - rng.random()) ** (1 / 1.3))))
        jobs.append(Job(0, -(-width // setting.cpus) if setting.cpus > 1 else width, width, asked, run, partition))
    span = sum(job.cpus * job.run_s for job in jobs) / units / load
    moments = sorted(rng.random() * span for _ in jobs)
    return [job._replace(submit_s=int(moment - moments[0])) for moment, job in zip(moments, jobs, strict=True)]


#: Submission, start and end of a job; None if it had not ended. [s]
Moments = tuple[int | None, int | None, int | None]


class Cluster:
    """A running Slurm in a folder; `stop` ends its daemons."""

    def __init__(self, setting: Setting, folder: Path, speed: float, port: int) -> None:
        self.folder, self.setting = folder, setting
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "state").mkdir(parents=True)
        os.chmod(folder, 0o755)
        source, library = folder / "clock.c", folder / "clock.so"
        source.write_text(CLOCK)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], check=True)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                folder=folder,
                settings=setting.lines,
                partitions=setting.partitions,
                cpus=setting.cpus,
                nodes=setting.nodes,
                port=port,
                first=port + 1,
                last=port + setting.nodes,
                control_port=port + 900,
            )
        )
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = os.environ | {
            "VT_SPEED": str(speed),
            "VT_EPOCH": str(int(time.time())),
            "VT_BOOT": Path("/proc/uptime").read_text().split(".")[0],
            "LD_PRELOAD": str(library),
            "SLURM_CONF": str(folder / "slurm.conf"),
        }
        files = {name: folder / f"munge{end}" for name, end in (("key-file", ".key"), ("socket", ".sock"), ("pid-file", ".pid"), ("log-file", ".log"), ("seed-file", ".seed"))}  # fmt: skip
        self.run("munged", "--force", *(f"--{name}={path}" for name, path in files.items()))
        self.run("unshare", "--uts", "sh", "-c", "hostname control; exec slurmctld -c")
        for number in range(1, setting.nodes + 1):
            self.run("unshare", "--uts", "sh", "-c", f"hostname n{number:02d}; exec slurmd -N n{number:02d}")

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command in the cluster's time, and return its output."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def submit(self, jobs: list[Job], until: int | None = None) -> None:
        """Submit jobs as virtual time passes, run the setting's events, and wait until all jobs ended, or one of them."""
        steps: list[tuple[int, list[str]]] = [(when, ["sh", "-c", command]) for when, command in self.setting.events]
        for number, job in enumerate(jobs):
            size = ["-N", str(job.nodes)] if self.setting.cpus == 1 else ["-N", str(job.nodes), "-n", str(job.cpus)]
            limit = str(job.limit_s // 60)
            command = ["sbatch", "-Q", "-J", f"j{number}", "-o", "/dev/null", "-t", limit, "-p", job.partition, *size]
            steps.append((job.submit_s, [*command, "--wrap", f"exec sleep {job.run_s}"]))
        speed = float(self.environment["VT_SPEED"])
        begin = time.monotonic() + 60 / speed
        started = []
        for when, command in sorted(steps):
            if self.has_ended(until):
                break
            time.sleep(max(0.0, begin + when / speed - time.monotonic()))
            started.append(subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL))
        for process in started:
            process.wait()
        # A controller that is busy may not answer in time: then jobs are still there.
        while not self.has_ended(until) and self.is_busy():
            time.sleep(300 / speed)

    def has_ended(self, number: int | None) -> bool:
        """Whether a job, by its number in the list, has ended."""
        return number is not None and number in self.observed()

    def cancel(self) -> None:
        """Cancel the jobs that run or wait, and wait until none is left."""
        while self.is_busy():
            self.run("scancel", "--user=root", check=False)
            time.sleep(3)

    def wait_until_ready(self) -> None:
        """Wait until all nodes are idle, five minutes at most."""
        for _ in range(300):
            done = subprocess.run(
                ("sinfo", "-h", "-N", "-o", "%t"), env=self.environment, capture_output=True, text=True, check=False
            )
            if set(done.stdout.split()) == {"idle"}:
                return
            time.sleep(1)
        raise SystemExit(f"the nodes are not idle after five minutes; see {self.folder}/slurmctld.log")

    def is_busy(self) -> bool:
        """Whether jobs run or wait."""
        command = ("squeue", "-h")
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        return done.returncode != 0 or bool(done.stdout.strip())

    def stop(self) -> None:
        """End the daemons that were started, by their process numbers."""
        for path in [*self.folder.glob("slurm*.pid"), self.folder / "munge.pid"]:
            if path.exists():
                subprocess.run(["kill", path.read_text().strip()], check=False)

    def observed(self) -> dict[int, tuple[int, int, int]]:
        """Return submission, start and end of each job by its number in the list, in Unix time. [s]"""
        found: dict[int, tuple[int, int, int]] = {}
        path = self.folder / "jobcomp.txt"
        # A line that is being written has no end.
        for line in path.read_text().split("\n")[:-1] if path.exists() else ():
            fields = dict(re.findall(r"(\w+)=(\S*)", line))
            moments = (fields[name] for name in ("SubmitTime", "StartTime", "EndTime"))
            submit, start, end = (int(datetime.fromisoformat(moment).timestamp()) for moment in moments)
            found[int(fields["Name"][1:])] = submit, start, end
        return found


def run(
    setting: Setting, jobs: list[Job], folder: Path, speed: float, port: int, until: int | None = None
) -> list[Moments]:
    """Run jobs once, until one ended or all; return submission, start and end of each from the first submission. [s]"""
    cluster = Cluster(setting, folder, speed, port)
    try:
        cluster.wait_until_ready()
        cluster.submit(jobs, until)
        observed = cluster.observed()
        cluster.cancel()
    finally:
        cluster.stop()
    first = min(submit for submit, *_ in observed.values())
    return [
        tuple(moment - first for moment in observed[number]) if number in observed else (None, None, None)  # type: ignore[misc]
        for number in range(len(jobs))
    ]


def disturbance(jobs: list[Job], rows: list[Moments]) -> int:
    """By how much nine of ten jobs ran longer than they should have, at most. [s]"""
    late = sorted(
        end - start - job.run_s
        for job, (_, start, end) in zip(jobs, rows, strict=True)
        if start is not None and end is not None
    )
    return late[int(0.9 * len(late))]


def changed(jobs: list[Job], change: str) -> list[Job]:
    """Return jobs with one request changed: ``17:limit_s=480``, by its number in the list."""
    number, _, request = change.partition(":")
    name, _, value = request.partition("=")
    job = jobs[int(number)]
    fields: dict[str, Any] = {name: value if name == "partition" else int(value)}
    if name == "nodes":
        fields["cpus"] = job.cpus * int(value) // job.nodes
    return [*jobs[: int(number)], job._replace(**fields), *jobs[int(number) + 1 :]]


def write(path: Path, jobs: list[Job], runs: list[list[Moments]]) -> None:
    """Write the table, compressed if its name ends in ``.gz``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [f"{event}_{number}_s" for number in range(1, len(runs) + 1) for event in ("submit", "start", "end")]
    writer.writerow([*Job._fields, *names])
    for number, job in enumerate(jobs):
        writer.writerow([*job, *(moment for rows in runs for moment in rows[number])])
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.DictReader(text.splitlines()))


def jobs_of(path: Path) -> list[Job]:
    """Return the jobs of a table."""
    return [
        Job(**{name: row[name] if name == "partition" else int(row[name]) for name in Job._fields})  # type: ignore[arg-type]
        for row in read(path)
    ]


def runs_of(path: Path, jobs: list[Job]) -> list[list[Moments]]:
    """Return the runs of a table that has these jobs."""
    rows = read(path)
    asked = [[str(value) for value in job] for job in jobs]
    if asked != [[row[name] for name in Job._fields] for row in rows]:
        raise SystemExit(f"{path} has other jobs than these")
    moments = [[int(cell) if cell else None for name, cell in row.items() if name not in Job._fields] for row in rows]
    return [[tuple(row[at : at + 3]) for row in moments] for at in range(0, len(moments[0]), 3)]  # type: ignore[misc]


def main() -> None:
    """Draw the jobs of a setting, run them, and write the table after each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", nargs="?", choices=SETTINGS)
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--list", action="store_true", help="print the settings")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--load", type=float, default=1.1)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--add", action="store_true", help="keep the runs that the table has")
    parser.add_argument(
        "--jobs-of", type=Path, metavar="TABLE", help="take the jobs of a table instead of drawing them"
    )
    parser.add_argument("--change", metavar="JOB:COLUMN=VALUE", help="change a job's request")
    parser.add_argument("--until", type=int, metavar="JOB", help="end each run when this job has ended")
    parser.add_argument("--speed", type=float, default=30)
    parser.add_argument("--port", type=int, default=20000, help="below those of outgoing connections")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/slurm_schedule"))
    chosen = parser.parse_intermixed_args()
    if chosen.list or not chosen.setting or not chosen.table:
        for name, setting in SETTINGS.items():
            print(f"{name}:\n  " + "\n  ".join([*setting.lines.splitlines(), *setting.partitions.splitlines()]))
        return
    setting = SETTINGS[chosen.setting]
    jobs = jobs_of(chosen.jobs_of) if chosen.jobs_of else draw(setting, chosen.jobs, chosen.seed, chosen.load)
    jobs = changed(jobs, chosen.change) if chosen.change else jobs
    kept = runs_of(chosen.table, jobs) if chosen.add and chosen.table.exists() else []
    for _ in range(chosen.runs):
        rows = run(setting, jobs, chosen.folder.absolute(), chosen.speed, chosen.port, chosen.until)
        late = disturbance(jobs, rows)
        waits = [start - submit for submit, start, _ in rows if submit is not None and start is not None]
        one = f", job {chosen.until} {rows[chosen.until]}" if chosen.until is not None else ""
        mean = sum(waits) / len(waits)
        print(f"{chosen.setting}: mean wait {mean:.0f} s, disturbance {late} s{one}", file=sys.stderr, flush=True)
        if late <= DISTURBED_S:
            kept.append(rows)
            write(chosen.table, jobs, kept)
    if not chosen.runs:
        write(chosen.table, jobs, kept)


if __name__ == "__main__":
    main()
