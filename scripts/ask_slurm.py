#!/usr/bin/env python3
"""Ask a real Slurm where it binds the tasks of launch lines, and keep its answers as a table.

    python scripts/ask_slurm.py --draw 200 --seed 1 QUESTIONS.csv    # draw lines for every configuration
    python scripts/ask_slurm.py --draw 50 --steps QUESTIONS.csv      # draw steps that run beside each other
    python scripts/ask_slurm.py QUESTIONS.csv ANSWERS.csv            # ask the Slurm that is installed here, as root

Needs slurmctld, slurmd, slurm-client, munge, hwloc and gcc. slurmctld and slurmd are unmodified. slurmd sees the node
described by hwloc (HWLOC_XMLFILE), and a preloaded function records the masks that this computer could not apply; a
small program in each task prints its mask. So nothing is added to the lines, not even --cpu-bind=verbose, which changes
some. Another release can be tested in a separate folder made by debootstrap, with chroot, at the same time as this one
with a different --port. Everything is written below --folder.

A question is a configuration, the options of the job (none: the line stands alone), and the srun line. An answer is the
CPUs of each task as ranges, tasks separated by blanks, ``*N`` after those of N consecutive tasks; ``all`` for an
unbound task; ``1:`` before those of the second node, ``/0,1`` after for the visible GPUs; ``!`` and the message if
Slurm rejects the line. Lines with ``&`` between them are steps that are started one after the other and run together;
so are their answers. tests/placement/slurm compares the package with them.
"""

import argparse
import csv
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

SHIM = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static cpu_set_t kept;
static int is_kept;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	char path[300];
	FILE *file;

	memset(&kept, 0, sizeof kept);
	memcpy(&kept, mask, size < sizeof kept ? size : sizeof kept);
	is_kept = 1;
	snprintf(path, sizeof path, FOLDER "/masks/%d", pid ? (int)pid : (int)getpid());
	file = fopen(path, "w");
	if (file) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &kept))
				fprintf(file, " %d", cpu);
		fclose(file);
	}
	return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	char path[300];
	FILE *file;
	int cpu;

	memset(mask, is_kept ? 0 : 0xff, size);
	if (is_kept)
		memcpy(mask, &kept, size < sizeof kept ? size : sizeof kept);
	/* The mask of a task is set by its parent. */
	snprintf(path, sizeof path, FOLDER "/masks/%d", pid ? (int)pid : (int)getpid());
	file = fopen(path, "r");
	if (file) {
		memset(mask, 0, size);
		while (fscanf(file, "%d", &cpu) == 1)
			if ((size_t)cpu < 8 * size)
				CPU_SET_S(cpu, size, mask);
		fclose(file);
	}
	return 0;
}
"""

# Prints the number of a task and the mask that the shim kept for it.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	char path[300], cpus[8000] = "";
	snprintf(path, sizeof path, FOLDER "/masks/%d", (int)getpid());
	FILE *file = fopen(path, "r");
	if (file && !fgets(cpus, sizeof cpus, file))
		cpus[0] = 0;
	const char *gpus = getenv("CUDA_VISIBLE_DEVICES");
	printf("task %s node %s gpus %s:%s\n", getenv("SLURM_PROCID"), getenv("SLURM_NODEID"), gpus ? gpus : "-", cpus);
	remove(path);
	fflush(stdout);
	/* Steps that run together hold their CPUs until the last has started. */
	if (getenv("ASK_HOLD"))
		sleep(atoi(getenv("ASK_HOLD")));
	return 0;
}
"""

SLURM_CONF = """ClusterName=asked
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPort={port}
GresTypes=gpu
SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,sched_interval=1
ProctrackType=proctrack/pgid
TaskPlugin=task/affinity
{task_plugin}
SelectType=select/cons_tres
SelectTypeParameters={select}
SlurmdParameters={slurmd}
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={names} NodeAddr={addresses} Port={ports} {gres} Sockets={sockets} CoresPerSocket={cores} ThreadsPerCore={threads} CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""

# Sockets x NUMA nodes x caches x cores x hardware threads, each counted within the one before; then the site's
# settings: SelectTypeParameters, the meaning of socket (SlurmdParameters), and autobind (TaskPluginParam); - for none.
# How long a step may take. [s]
STEP_S = 15

CONFIGURATIONS = (
    "2x4x2x8x2 CR_Core - -",
    "2x4x2x8x2 CR_Core l3cache_as_socket -",
    "2x4x2x8x2 CR_Core numa_node_as_socket -",
    "2x4x2x8x2 CR_Core slurm_conf_numa_node -",
    "2x4x2x8x2 CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK - autobind=threads",
    "2x4x2x8x2 CR_Core,CR_ONE_TASK_PER_CORE - -",
    "1x4x2x8x2 CR_Core - -",
    "1x4x2x8x2 CR_CPU numa_node_as_socket -",
    "2x2x1x6x1 CR_Core - -",
    "2x2x1x6x1 CR_Core_Memory numa_node_as_socket autobind=cores",
    "2x1x1x28x1 CR_Core - -",
    "2x1x1x28x1 CR_Socket - autobind=sockets",
    "1x1x8x8x1 CR_Core l3cache_as_socket -",
    "1x1x8x8x1 CR_Core - autobind=threads",
    "2x4x2x8x2 CR_Core - - nodes=3",
    "2x1x1x28x1 CR_Core - - nodes=4",
    "1x4x2x8x2 CR_Core numa_node_as_socket - gpus=4",
    "1x4x2x8x2 CR_Core l3cache_as_socket - gpus=8",
    "2x1x1x28x1 CR_Core - - gpus=4",
)


def as_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as 0-5,12."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def release() -> str:
    """Return the installed release, as 24.11."""
    words = subprocess.run(["slurmd", "-V"], capture_output=True, text=True, check=True).stdout.split()
    return ".".join(words[-1].split(".")[:2])


class Slurm:
    """The daemons of one configuration, and a way to query them."""

    def __init__(self, configuration: str, folder: Path, port: int) -> None:
        shape, select, slurmd, autobind, *more = configuration.split()
        counts = dict(part.split("=") for part in more)
        self.nodes, gpus = int(counts.get("nodes", 1)), int(counts.get("gpus", 0))
        self.program = folder / "program"
        self.folder, self.environment = folder, {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.stop()
        for name in ("state", "spool", "masks"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)
        sockets, numa_nodes, caches, cores, threads = map(int, shape.split("x"))
        total = sockets * numa_nodes * caches * cores
        numbers = ",".join(str(core + thread * total) for core in range(total) for thread in range(threads))
        synthetic = f"pack:{sockets} numa:{numa_nodes} l3:{caches} core:{cores} pu:{threads}(indexes={numbers})"
        subprocess.run(["lstopo", "--input", synthetic, "--of", "xml", "-f", str(folder / "node.xml")], check=True)
        # slurmd's meaning of socket must also be in slurm.conf; slurm.conf may have it alone.
        counted = {"l3cache_as_socket": sockets * numa_nodes * caches, "numa_node_as_socket": sockets * numa_nodes}
        counted["slurm_conf_numa_node"] = sockets * numa_nodes
        sockets = counted.get(slurmd, sockets)
        self.names = [f"asked{number}" for number in range(self.nodes)]
        settings = {
            "host": socket.gethostname().partition(".")[0],
            "folder": folder,
            "port": port,
            "names": f"asked[0-{self.nodes - 1}]",
            "addresses": f"127.0.0.[1-{self.nodes}]",
            "ports": f"[{port + 1}-{port + self.nodes}]",
            "gres": f"Gres=gpu:{gpus}" if gpus else "",
            "task_plugin": "" if autobind == "-" else f"TaskPluginParam={autobind}",
            "select": select,
            "slurmd": "config_overrides" + (f",{slurmd}" if slurmd.endswith("as_socket") else ""),
            "sockets": sockets,
            "cores": total // sockets,
            "threads": threads,
            "cpus": total * threads,
        }
        (folder / "slurm.conf").write_text(SLURM_CONF.format(**settings))
        self._write_gpus(gpus, sockets, total // sockets)
        if release() >= "23.11":
            (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        self._start()

    def _write_gpus(self, gpus: int, sockets: int, cores: int) -> None:
        """Write gres.conf: each GPU a device that does nothing, near the cores of a socket."""
        lines = []
        for gpu in range(gpus):
            device, first = self.folder / f"gpu{gpu}", gpu * sockets // gpus * cores
            if not device.exists():
                os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            lines.append(f"Name=gpu File={device} Cores={first}-{first + cores - 1}\n")
        (self.folder / "gres.conf").write_text("".join(lines))

    def _start(self) -> None:
        """Start munge if it does not run, the shim, and the two daemons; wait until the node is there."""
        for path in ("/run/munge", "/var/log/munge", "/var/lib/munge"):
            Path(path).mkdir(parents=True, exist_ok=True)
            shutil.chown(path, "munge")
        if not Path("/run/munge/munge.socket.2").exists():
            subprocess.run(["su", "-s", "/bin/sh", "munge", "-c", "/usr/sbin/munged --force"], check=True)
        shim = self.folder / "shim.so"
        for text, options in ((SHIM, ["-shared", "-fPIC", "-o", str(shim)]), (PROGRAM, ["-o", str(self.program)])):
            compiler = ["gcc", "-O1", f'-DFOLDER="{self.folder}"', "-x", "c", *options, "-"]
            subprocess.run(compiler, input=text, text=True, check=True)
        subprocess.run(["slurmctld"], env=self.environment, check=True)
        time.sleep(1)
        shown = {"HWLOC_XMLFILE": str(self.folder / "node.xml"), "HWLOC_THISSYSTEM": "1", "LD_PRELOAD": str(shim)}
        for name in self.names:
            # slurmd takes its node name from the host name.
            started = ["unshare", "--uts", "sh", "-c", f"hostname {name}; exec slurmd"]
            subprocess.run(started, env={**self.environment, **shown}, check=True)
        for _ in range(60):
            state = self._run("sinfo", "-h", "-N", "-o", "%T").stdout.split()
            if state == ["idle"] * self.nodes:
                return
            if {"down", "drained"} & set(state):
                self._run("scontrol", "update", f"nodename={','.join(self.names)}", "state=resume")
            time.sleep(0.5)
        sys.exit(f"the nodes did not come up ({state}): see {self.folder}/slurmd-*.log")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm."""
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        """End the daemons that were started in the folder, and no others."""
        for file in (*self.folder.glob("slurmd-*.pid"), self.folder / "slurmctld.pid"):
            try:
                process = int(file.read_text())
                os.kill(process, signal.SIGTERM)
                while True:
                    time.sleep(0.2)
                    os.kill(process, 0)
            except (OSError, ValueError):
                continue

    def ask_bare(self, line: str) -> str:
        """Return the answer to a line outside a job, which creates its own on one node."""
        one_node = () if "-N" in line.split() else ("-N1",)
        for patience in (2, 4):
            run = self._run(
                "timeout", "30", "srun", *one_node, f"--immediate={patience}", *line.split()[1:], str(self.program)
            )
            # A request that does not fit waits forever; so does a line while the previous job is being cleaned up.
            if "nodes are busy" not in run.stderr:
                break
        return answer_of(f"{run.stdout}{run.stderr}exit {run.returncode}")

    def ask_job(self, options: str, lines: list[str]) -> list[str]:
        """Return the answers to lines that run one after the other in a job."""
        steps = "".join(f"echo '== {number}'\n{self._commands(line)}" for number, line in enumerate(lines))
        output = self.folder / "output.txt"
        output.unlink(missing_ok=True)
        script = self.folder / "job.sh"
        script.write_text(f"#!/bin/bash\n#SBATCH -o {output}\n#SBATCH {options}\nexec 2>&1\n{steps}echo '== end'\n")
        run = self._run("sbatch", "--parsable", str(script))
        if run.returncode:
            return [answer_of(run.stderr)] * len(lines)
        job, text = run.stdout.strip(), ""
        for tick in range(20 * (30 + STEP_S * len(lines))):
            time.sleep(0.05)
            text = output.read_text() if output.exists() else ""
            if text.endswith("== end\n"):
                break
            if tick == 400 and not text:
                reason = self._run("squeue", "-h", "-j", job, "-o", "%r").stdout.strip()
                self._run("scancel", job)
                print(f"{job} {options}: {reason}", file=sys.stderr)
                return [""] * len(lines)
        parts = re.split(r"^== \w+\n", text, flags=re.MULTILINE)[1:-1]
        return [" & ".join(map(answer_of, re.split(r"^=-= \d+\n", part, flags=re.MULTILINE))) for part in parts]

    def _commands(self, line: str) -> str:
        """Return a job's commands for a line: one step, or several, each started before the last has ended."""
        steps = line.split(" & ")
        if len(steps) == 1:
            return f"timeout {STEP_S} {line} {self.program} || echo exit $?\n"
        started = "".join(
            f"(timeout {STEP_S} {step} {self.program} || echo exit $?) > {self.folder}/step{number} 2>&1 &\nsleep 0.4\n"
            for number, step in enumerate(steps)
        )
        files = [f"{self.folder}/step{number}" for number in range(len(steps))]
        shown = "".join(f"{f'echo =-= {number}; ' if number else ''}cat {file}\n" for number, file in enumerate(files))
        return f"export ASK_HOLD=3\n{started}wait\nunset ASK_HOLD\n{shown}"


def _tasks_in(text: str) -> dict[int, str]:
    """Return the place of each task that a step printed."""
    tasks = {}
    for task, node, gpus, cpus in re.findall(r"^task (\d+) node (\d+) gpus (\S*):([ \d]*)$", text, re.MULTILINE):
        place = as_ranges(map(int, cpus.split())) or "all"
        tasks[int(task)] = (f"{node}:" if node != "0" else "") + place + ("" if gpus == "-" else f"/{gpus}")
    return tasks


def answer_of(text: str) -> str:
    """Return Slurm's report of a step, as an answer of the table."""
    tasks = _tasks_in(text)
    errors = [line.split("error: ", 1)[1] for line in text.splitlines() if "error: " in line]
    if re.search(r"^exit (124|137)", text, re.MULTILINE):
        # A step that waits for more than its job has, or a computer too busy to tell.
        return "! waits" if "retrying" in text else ""
    if tasks and sorted(tasks) != list(range(len(tasks))):
        return ""
    if tasks and not errors:
        alike = ((masks, len(list(same))) for masks, same in groupby(tasks[task] for task in sorted(tasks)))
        return " ".join(masks if times == 1 else f"{masks}*{times}" for masks, times in alike)
    return "! " + errors[0].split(",")[0][:100] if errors else ""


def draw(configuration: str, rng: random.Random) -> tuple[str, str]:
    """Return the options of a job and a line, as people write them or at random."""
    sockets, numa_nodes, caches, per_cache, threads = map(int, configuration.split(maxsplit=1)[0].split("x"))
    cores = sockets * numa_nodes * caches * per_cache
    options = _everyday(cores, threads, rng) if rng.random() < 0.5 else _anything(cores, threads, rng)
    counts = dict(part.split("=") for part in configuration.split()[4:])
    if "gpus" in counts:
        return _with_gpus(_everyday(cores, threads, rng), int(counts["gpus"]), rng)
    nodes = int(counts.get("nodes", 1))
    if nodes > 1:
        return _over_nodes(options, nodes, rng)
    kind = rng.random()
    if kind < 0.15:
        return "", " ".join(["srun", *options])
    if kind < 0.7:
        return "-N1", " ".join(["srun", *options])
    # Counts are in the job, the rest in the step.
    of_job = [
        option for option in options if option.startswith(("-n", "-c ", "--ntasks-per", "--hint", "--threads-per"))
    ]
    left = [option for option in options if option not in of_job]
    return " ".join(["-N1", *of_job]), " ".join(["srun", *left])


def draw_steps(configuration: str, rng: random.Random) -> tuple[str, str]:
    """Return a job of one node and simultaneous steps in it, most of them with room for all."""
    sockets, numa_nodes, caches, per_cache, threads = map(int, configuration.split(maxsplit=1)[0].split("x"))
    cores, steps = sockets * numa_nodes * caches * per_cache, rng.choice((2, 2, 3, 4))
    lines = []
    for _ in range(steps):
        tasks = rng.choice((1, 1, 2, 3, 4, 8))
        most = max(1, cores * threads // steps // tasks)
        options = [f"-n {tasks}", f"-c {rng.choice((1, 2, 4, most, rng.randint(1, most)))}"]
        options += ["--exact"] if rng.random() < 0.5 else []
        options += ["--cpu-bind=cores"] if rng.random() < 0.4 else []
        options += ["-m " + rng.choice(("block:block", "block:cyclic"))] if rng.random() < 0.3 else []
        options += ["--hint=nomultithread"] if threads > 1 and rng.random() < 0.2 else []
        lines.append(" ".join(["srun", *options]))
    return "-N1", " & ".join(lines)


def _over_nodes(options: list[str], nodes: int, rng: random.Random) -> tuple[str, str]:
    """Return a line over some nodes, with as many tasks more, or a few less."""
    used = rng.randint(2, nodes)
    counted, *rest = options
    if counted.startswith("-n "):
        tasks = int(counted.split()[1])
        counted = f"-n {tasks * used - (rng.randrange(tasks) if rng.random() < 0.3 else 0)}"
    rest = [option for option in rest if not option.startswith(("-m", "--ntasks-per-socket"))]
    if rng.random() < 0.4:
        rest.append(
            "-m " + rng.choice(("block", "cyclic", "plane=2", "plane=4", "cyclic:block", "block:block", "block,Pack"))
        )
    if rng.random() < 0.3:
        return "", " ".join(["srun", f"-N {used}", counted, *rest])
    return f"-N{used}", " ".join(["srun", counted, *rest])


def _with_gpus(options: list[str], gpus: int, rng: random.Random) -> tuple[str, str]:
    """Return a job with all GPUs of a node, or a line with GPUs, and their sharing by its tasks."""
    tasks = rng.choice([count for count in (1, 2, 4, 8) if count <= gpus])
    rest = [option for option in options[1:] if not option.startswith(("-c", "-m"))]
    rest += [f"-c {rng.choice((1, 2, 4, 7, 8))}"] if rng.random() < 0.8 else []
    if rng.random() < 0.4:
        binding_options = [f"--gpus-per-task={rng.choice((1, 1, gpus // tasks))}"]
    else:
        entries = ",".join(map(str, rng.sample(range(gpus), gpus)))
        binding = rng.choice(("closest", "closest", "single:1", "single:2", "per_task:1", "none", f"map_gpu:{entries}"))
        binding_options = [f"--gpu-bind={binding}"] if rng.random() < 0.8 else []
    counted = f"-n {rng.choice((tasks, gpus))}" if rng.random() < 0.7 else f"--ntasks-per-node={tasks}"
    of_node = rng.choice((f"--gpus-per-node={gpus}", f"--gres=gpu:{gpus}", f"--gpus={gpus}"))
    if rng.random() < 0.2:
        gpu_options = [] if binding_options and "per-task" in binding_options[0] else [of_node]
        return "", " ".join(["srun", counted, *rest, *gpu_options, *binding_options])
    if rng.random() < 0.6:
        return f"-N1 {of_node}", " ".join(["srun", counted, *rest, *binding_options])
    hint = [option for option in rest if option.startswith(("-c", "--hint", "--threads-per-core"))]
    left = [option for option in rest if option not in hint]
    return " ".join(["-N1", of_node, counted, *hint]), " ".join(["srun", *left, *binding_options])


def _everyday(cores: int, threads: int, rng: random.Random) -> list[str]:
    """Return options as scripts have them: equal shares of the node, halves, one or two ways to bind."""
    shares = [count for count in (1, 2, 4, 8, 16, 32, 64, 128) if count <= cores and cores % count == 0]
    shares += [count for count in (3, 6, 7, 12, 14, 24, 28, 56) if count <= cores]
    tasks = rng.choice(shares)
    usable = rng.choice((1, threads))
    width = max(1, cores * usable // tasks // rng.choice((1, 1, 1, 2, 4)))
    counted = rng.choice(("-n {}", "-n {}", "--ntasks-per-node={}")).format(tasks)
    parts = [counted]
    if rng.random() < 0.75:
        parts.append(f"-c {width}")
    if rng.random() < 0.55:
        parts.append("--cpu-bind=" + rng.choice(("cores", "cores", "threads", "sockets")))
    if usable == 1 and threads > 1:
        parts.append(rng.choice(("--hint=nomultithread", "--hint=nomultithread", "--threads-per-core=1")))
    if rng.random() < 0.2:
        parts.append("-m " + rng.choice(("block:block", "block:cyclic", "cyclic:cyclic", "*:block", "cyclic")))
    return parts


def _anything(cores: int, threads: int, rng: random.Random) -> list[str]:
    """Return options with few likings, nodes rarely filled."""
    cpus = cores * threads
    tasks = min(rng.randint(1, cpus) for _ in range(rng.choice((1, 3, 6))))
    parts = [f"-n {tasks}"]
    if rng.random() < 0.6:
        most = max(1, cpus // tasks)
        parts.append(f"-c {rng.randint(1, most + (rng.random() < 0.1))}")
    optional = (
        (0.4, lambda: "--cpu-bind=" + _binding(cpus, rng)),
        (0.3, lambda: "-m " + rng.choice(_DISTRIBUTIONS)),
        (0.15, lambda: "--hint=" + rng.choice(("nomultithread", "multithread", "compute_bound", "memory_bound"))),
        (0.15, lambda: f"--threads-per-core={rng.randint(1, threads)}"),
        (0.1, lambda: f"--ntasks-per-core={rng.randint(1, threads)}"),
        (0.06, lambda: f"--ntasks-per-socket={rng.randint(1, max(1, cores // 2))}"),
        (0.08, lambda: "--exact"),
        (0.05, lambda: "--exclusive"),
        (0.05, lambda: "-O"),
    )
    return [*parts, *(part() for chance, part in optional if rng.random() < chance)]


_DISTRIBUTIONS = (
    *("block:block", "block:cyclic", "block:fcyclic", "cyclic:block", "cyclic:fcyclic", "*:block", "*:fcyclic"),
    *("block", "cyclic", "plane=2", "plane=3", "block:cyclic:block", "block:block:cyclic", "block,Pack"),
)


def _binding(cpus: int, rng: random.Random) -> str:
    """Return a value of --cpu-bind."""
    kind = rng.randrange(12)
    if kind < 9:
        return ("cores", "cores", "threads", "threads", "sockets", "none", "rank", "cores", "threads")[kind]
    numbers = [rng.randrange(cpus) for _ in range(rng.randint(1, 6))]
    if kind < 11:
        return "map_cpu:" + ",".join(map(str, numbers))
    return "mask_cpu:" + ",".join(hex(1 << number | 1 << rng.randrange(cpus)) for number in numbers)


def answers(questions: list[tuple[str, str, str]], folder: Path, port: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield each question with its answer; a configuration's daemons run while its questions are answered."""
    for configuration, of_it in groupby(questions, key=lambda question: question[0]):
        slurm = Slurm(configuration, folder, port)
        try:
            for job, of_job in groupby(of_it, key=lambda question: question[1]):
                lines = [line for _, _, line in of_job]
                for first in range(0, len(lines), 20):
                    asked = lines[first : first + 20]
                    results = slurm.ask_job(job, asked) if job else [slurm.ask_bare(line) for line in asked]
                    yield from (
                        (configuration, job, line, answer) for line, answer in zip(asked, results, strict=False)
                    )
        finally:
            slurm.stop()


def main() -> None:
    """Draw questions, or answer them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("answers", type=Path, nargs="?")
    parser.add_argument("--draw", type=int, metavar="N", help="write N questions for each configuration and stop")
    parser.add_argument("--steps", action="store_true", help="draw steps that run beside each other, on one node")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/ask-slurm"))
    parser.add_argument("--port", type=int, default=26817, help="of slurmctld; slurmd has the next (default 26817)")
    args = parser.parse_args()
    if args.draw:
        rng = random.Random(args.seed)
        single = [each for each in CONFIGURATIONS if not args.steps or len(each.split()) == 4]
        drawn = ((each, *(draw_steps if args.steps else draw)(each, rng)) for each in single for _ in range(args.draw))
        with args.questions.open("w", newline="") as file:
            csv.writer(file).writerows([("configuration", "job", "line"), *sorted(set(drawn))])
        return
    with args.questions.open(newline="") as file:
        questions = [(row["configuration"], row["job"], row["line"]) for row in csv.DictReader(file)]
    args.folder.mkdir(parents=True, exist_ok=True)
    with args.answers.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("configuration", "job", "line", release()))
        for row in answers(questions, args.folder, args.port):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
