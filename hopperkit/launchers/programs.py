"""Programs that start processes or threads, which share their task's binding."""

from collections.abc import Sequence
from posixpath import basename

_STARTERS = {
    *("torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "prterun", "parallel", "ray", "dask"),
    *("dask-worker", "dask-scheduler", "julia", "matlab", "bash", "sh", "csh", "tcsh", "ksh", "zsh", "spark-submit"),
}
_STARTING_WORDS = ("torch.distributed", "accelerate.commands", "dask.distributed", "distributed.cli")
_UTILITIES = frozenset(
    ("mkdir", "rm", "cp", "mv", "ln", "ls", "cat", "tar", "chmod", "touch", "hostname", "date", "echo")
)
# Words at the start of a command among which a container or a wrapper may hide the program.
_FIRST_WORDS = 12


def is_utility(command: Sequence[str]) -> bool:
    """Whether a program is a utility, such as cleanup or timing: its placement does not matter.

    Examples
    --------
    >>> is_utility(("mkdir", "-p", "/tmp/cache")), is_utility(("./a.out",))
    (True, False)
    """
    return bool(command) and basename(command[0]) in _UTILITIES


def is_python(command: Sequence[str]) -> bool:
    """Whether a program is Python, also in a container or after a wrapper.

    Examples
    --------
    >>> is_python(("singularity", "exec", "pytorch.sif", "python3", "-u", "train.py")), is_python(("vasp_std",))
    (True, False)
    """
    return any("python" in basename(word) or word.endswith(".py") for word in command[:_FIRST_WORDS])


def starts_processes(command: Sequence[str]) -> bool:
    """Whether a program starts processes or threads, which share their task's binding.

    Examples
    --------
    >>> starts_processes(("torchrun", "--nproc-per-node", "4", "train.py")), starts_processes(("vasp_std",))
    (True, False)
    """
    words = command[:_FIRST_WORDS]
    named = any(basename(word) in _STARTERS or word.endswith((".sh", ".csh", ".jl")) for word in words)
    return named or any(part in word for word in words for part in _STARTING_WORDS)
