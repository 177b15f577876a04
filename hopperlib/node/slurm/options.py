"""Options of srun and sbatch, and the environment through which srun takes them too.

Names, short forms and which of them take a value are those of Slurm 23.11
[1]_.

References
----------
.. [1] SchedMD, Slurm 23.11, srun and sbatch man pages; ``src/common/slurm_opt.c``; ``src/srun/opt.c`` (environment).
"""

from __future__ import annotations

from hopperlib.node.launch.options import Option

__all__ = ["ENVIRONMENT", "SBATCH_OPTIONS", "SLURM_OPTIONS"]

_FILE = "reads the program of each task from a file, which is not part of this text"
_RESERVED = "keeps cores for the system; which ones is a matter of the site and not in the machine file"
_GPU_CPUS = "ties CPUs to GPUs, which are not modeled; give the CPUs with -c"
_GPU_TASKS = "ties tasks to GPUs, which are not modeled; give the tasks with -n"
_SHAPE = "restricts the job to nodes of a shape; give tasks and CPUs with -n and -c"

_PLACING = (
    Option(("-n", "--ntasks"), bears=True),
    Option(("-N", "--nodes"), bears=True),
    Option(("-c", "--cpus-per-task"), bears=True),
    Option(("--ntasks-per-node", "--tasks-per-node"), bears=True),
    Option(("--ntasks-per-socket",), bears=True),
    Option(("--ntasks-per-core",), bears=True),
    Option(("--cpu-bind", "--cpu_bind"), bears=True),
    Option(("-m", "--distribution"), bears=True),
    Option(("--hint",), bears=True),
    Option(("--threads-per-core",), bears=True),
    Option(("--exact",), value="none", bears=True),
    Option(("--whole",), value="none", bears=True),
    Option(("--exclusive",), value="optional", bears=True),
    Option(("--overlap",), value="none", bears=True),
    Option(("-O", "--overcommit"), value="none", bears=True),
    Option(("--mem",), bears=True),
    Option(("--mem-per-cpu",), bears=True),
    Option(("--mem-bind", "--mem_bind"), bears=True),
    Option(("-w", "--nodelist"), bears=True),
    Option(("--sockets-per-node",), bears=True),
    Option(("--cores-per-socket",), bears=True),
)
_REFUSED = (
    Option(("--multi-prog",), value="none", refused=_FILE),
    Option(("-S", "--core-spec"), refused=_RESERVED),
    Option(("--thread-spec",), refused=_RESERVED),
    Option(("--cpus-per-gpu",), refused=_GPU_CPUS),
    Option(("--ntasks-per-gpu",), refused=_GPU_TASKS),
    Option(("--ntasks-per-tres",), refused=_GPU_TASKS),
    Option(("--tres-per-task",), refused=_GPU_CPUS),
    Option(("-B", "--extra-node-info"), refused=_SHAPE),
    Option(("--external-launcher",), value="none", refused="starts no tasks of its own"),
)
_FLAGS = (
    *("-X --disable-status", "-E --preserve-env", "-H --hold", "-l --label", "-Q --quiet", "-s --oversubscribe"),
    *("-u --unbuffered", "-v --verbose", "-V --version", "-Z --no-allocate", "-h --help", "--usage", "--contiguous"),
    *("--debugger-test", "--interactive", "--quit-on-interrupt", "--reboot", "--spread-job", "--test-only"),
    *("--use-min-nodes",),
)
_OPTIONAL = (
    *("--bcast", "--compress", "-I --immediate", "-k --no-kill", "-K --kill-on-bad-exit", "--nice", "--propagate"),
    *("--pty", "--resv-ports", "--send-libs", "--x11", "--get-user-env"),
)
_WITH_VALUE = (
    *("-A --account", "-b --begin", "-C --constraint", "-d --dependency", "-D --chdir", "-e --error", "-F --nodefile"),
    *("-G --gpus", "-i --input", "-J --job-name", "-L --licenses", "-M --clusters", "-o --output", "-p --partition"),
    *("-q --qos", "-r --relative", "-t --time", "-T --threads", "-W --wait", "-x --exclude", "--accel-bind"),
    *("--acctg-freq", "--bb", "--bbf", "--bcast-exclude", "--cluster-constraint", "--comment", "--container"),
    *("--container-id", "--context", "--cpu-freq", "--deadline", "--delay-boot", "--environment", "--epilog"),
    *("--export", "--extra", "--gid", "--gpu-bind", "--gpu-freq", "--gpus-per-node", "--gpus-per-socket"),
    *("--gpus-per-task", "--gres", "--gres-flags", "--het-group", "--jobid", "--mail-type", "--mail-user"),
    *("--mcs-label", "--mem-per-gpu", "--mincpus", "--mpi", "--msg-timeout", "--network", "--open-mode", "--power"),
    *("--prefer", "--priority", "--profile", "--prolog", "--reservation", "--signal", "--slurmd-debug", "--switches"),
    *("--task-epilog", "--task-prolog", "--time-min", "--tmp", "--treewidth", "--tres-bind", "--uid", "--wckey"),
)
_SBATCH_WITH_VALUE = ("-a --array", "--batch", "--export-file", "--kill-on-invalid-dep", "--wait-all-nodes", "--wrap")
_SBATCH_FLAGS = ("--ignore-pbs", "--no-requeue", "--parsable", "--requeue", "-W --wait")
_SRUN_ONLY = {
    *("--accel-bind", "--bcast", "--bcast-exclude", "--compress", "--cpu-bind", "--debugger-test", "--disable-status"),
    *("--epilog", "--exact", "--external-launcher", "--het-group", "--immediate", "--interactive", "--jobid"),
    *("--kill-on-bad-exit", "--label", "--mpi", "--msg-timeout", "--multi-prog", "--no-allocate", "--overlap"),
    *("--preserve-env", "--prolog", "--pty", "--quit-on-interrupt", "--relative", "--resv-ports", "--send-libs"),
    *(
        "--slurmd-debug",
        "--task-epilog",
        "--task-prolog",
        "--threads",
        "--treewidth",
        "--unbuffered",
        "--whole",
        "--x11",
    ),
}
_NOT_SBATCH = "is an option of srun, not of sbatch; write it on the srun line"


def _names(spelled: str) -> tuple[str, ...]:
    """Return the spellings of one option."""
    return tuple(spelled.split())


SLURM_OPTIONS: tuple[Option, ...] = (
    *_PLACING,
    *_REFUSED,
    *(Option(_names(spelled), value="none") for spelled in _FLAGS),
    *(Option(_names(spelled), value="optional") for spelled in _OPTIONAL),
    *(Option(_names(spelled)) for spelled in _WITH_VALUE),
)
"""Options of srun, those that bear on the placement first."""

SBATCH_OPTIONS: tuple[Option, ...] = (
    # sbatch has --wait as a flag, so its own come first.
    *(Option(_names(spelled), value="none") for spelled in _SBATCH_FLAGS),
    *(Option(_names(spelled)) for spelled in _SBATCH_WITH_VALUE),
    *(
        option._replace(refused=_NOT_SBATCH) if _SRUN_ONLY.intersection(option.names) else option
        for option in SLURM_OPTIONS
    ),
)
"""Options of sbatch."""

ENVIRONMENT: tuple[tuple[str, str], ...] = (
    ("SLURM_NTASKS", "-n"),
    ("SLURM_NPROCS", "-n"),
    ("SLURM_JOB_NUM_NODES", "-N"),
    ("SLURM_NTASKS_PER_NODE", "--ntasks-per-node"),
    ("SLURM_NTASKS_PER_CORE", "--ntasks-per-core"),
    ("SLURM_DISTRIBUTION", "-m"),
    ("SLURM_HINT", "--hint"),
    ("SLURM_THREADS_PER_CORE", "--threads-per-core"),
    ("SLURM_CPU_BIND", "--cpu-bind"),
    ("SLURM_MEM_BIND", "--mem-bind"),
    ("SLURM_MEM_PER_NODE", "--mem"),
    ("SLURM_MEM_PER_CPU", "--mem-per-cpu"),
    ("SLURM_EXACT", "--exact"),
    ("SLURM_EXCLUSIVE", "--exclusive"),
    ("SLURM_OVERCOMMIT", "-O"),
    ("SLURM_OVERLAP", "--overlap"),
)
"""Variables that srun reads where the line does not say, and the options they stand for; -c depends on the release."""
