"""Machine-independent numbers that a script requests: nodes, tasks, CPUs, GPUs and memory.

References
----------
SchedMD, Slurm 23.11, sbatch and srun man pages; Altair PBS Professional user's guide (select, ncpus, mpiprocs, ngpus).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from hopperkit.launchers.option_values import memory_gb
from hopperkit.launchers.options import Given, programs, read_options
from hopperkit.launchers.scripts import LaunchLine, Script
from hopperlib.placement.components import LaunchError

# Numbers above this are slips, and nothing is sized by them.
_MOST = 10_000_000


class Requested(NamedTuple):
    """Numbers that a job or one of its lines requests; None where not given.

    Parameters
    ----------
    nodes, tasks, tasks_per_node, cpus_per_task, gpus, gpus_per_node, gpus_per_task : int or None
        The node count is the least of a range.
    memory_per_node_gb : float or None
    """

    nodes: int | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    gpus: int | None = None
    gpus_per_node: int | None = None
    gpus_per_task: int | None = None
    memory_per_node_gb: float | None = None

    @property
    def tasks_of_node(self) -> int | None:
        """Tasks on each node, given or divided; None where that is not requested.

        Examples
        --------
        >>> Requested(nodes=2, tasks=16).tasks_of_node, Requested(nodes=2).tasks_of_node
        (8, None)
        """
        if self.tasks_per_node or not self.tasks:
            return self.tasks_per_node
        return -(-self.tasks // self.nodes) if self.nodes else None

    @property
    def gpus_of_node(self) -> int | None:
        """GPUs of each node, given or divided; None where that is not requested.

        Examples
        --------
        >>> Requested(nodes=2, gpus=16).gpus_of_node, Requested(tasks_per_node=4, gpus_per_task=2).gpus_of_node
        (8, 8)
        """
        if self.gpus_per_node is not None:
            return self.gpus_per_node
        if self.gpus and self.nodes:
            return -(-self.gpus // self.nodes)
        tasks = self.tasks_of_node
        return tasks * self.gpus_per_task if tasks and self.gpus_per_task else None

    def over(self, job: "Requested") -> "Requested":
        """Return a line's numbers, with those of its job as defaults.

        Examples
        --------
        >>> Requested(tasks_per_node=4).over(Requested(nodes=2, tasks_per_node=8))[:3]
        (2, None, 4)
        """
        merged = [line_value if line_value is not None else other for line_value, other in zip(self, job, strict=True)]
        whole = Requested(*merged)  # type: ignore[arg-type]
        # A count on the line replaces the job's tasks per node, and vice versa.
        if self.tasks is not None and self.tasks_per_node is None:
            return whole._replace(tasks_per_node=None)
        return whole._replace(tasks=None) if self.tasks_per_node is not None and self.tasks is None else whole

    def in_words(self) -> str:
        """Return the numbers as a list in words.

        Examples
        --------
        >>> Requested(nodes=4, tasks_per_node=1, cpus_per_task=96, gpus_per_node=8).in_words()
        '4 nodes, 1 task per node, 96 CPUs per task, 8 GPUs per node'
        """
        counted = (
            (self.nodes, "node", ""),
            (None if self.tasks_per_node else self.tasks, "task", ""),
            (self.tasks_per_node, "task", " per node"),
            (self.cpus_per_task, "CPU", " per task"),
            (None if self.gpus_per_node else self.gpus, "GPU", ""),
            (self.gpus_per_node, "GPU", " per node"),
            (self.gpus_per_task, "GPU", " per task"),
        )
        words = [f"{number:,} {noun}{'s' * (number != 1)}{rest}" for number, noun, rest in counted if number]
        words += [f"{self.memory_per_node_gb:g} GB per node"] if self.memory_per_node_gb else []
        return ", ".join(words)


_COUNTS = {
    "-N": "nodes",
    "-n": "tasks",
    "--ntasks-per-node": "tasks_per_node",
    "-c": "cpus_per_task",
    "-G": "gpus",
    "--gpus-per-node": "gpus_per_node",
    "--gpus-per-task": "gpus_per_task",
    "--gres": "gpus_per_node",
}


def requested_by_job(script: Script) -> Requested:
    r"""Return the requests in a script's directives.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> requested_by_job(read_script("#SBATCH -N 2 --gres=gpu:a100:8\n#SBATCH --ntasks-per-node=1\n")).gpus_per_node
    8
    """
    slurm = (each for each in script.directives if each.system == "slurm" and each.words)
    given = [each for directive in slurm for each in _options_of(directive.words, "sbatch")]
    found = _numbers(given)
    for directive in script.directives:
        if directive.system == "pbs" and directive.value.startswith("select="):
            found = _of_select(directive.value)
    return found


def requested_by_line(line: LaunchLine) -> Requested:
    """Return the requests of the first program of an srun line; empty for other launchers.

    Parameters
    ----------
    line : LaunchLine
        Launch line.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> requested_by_line(read_script("srun -N 2 --ntasks-per-node=4 ./a").lines[0])[:3]
    (2, None, 4)
    """
    return _numbers(_options_of(programs(line.words)[0], "srun")) if line.launcher == "srun" else Requested()


# Options that change what CPUs a job is granted, or how many its step needs.
_OTHER_GRANTS = (
    "--exclusive",
    "-O",
    "--overcommit",
    "--cpus-per-gpu",
    "--ntasks-per-core",
    "-B",
    "--ntasks-per-socket",
)


def cpus_beyond_grant(script: Script, line: LaunchLine, per_core: int = 2) -> tuple[int, int] | None:
    r"""Return the CPUs that an srun line needs and the most that its job is granted on shared nodes, if it needs more.

    A job that counts its tasks and CPUs per task is granted their product, in whole cores; None for other jobs.

    Parameters
    ----------
    script : Script
    line : LaunchLine
        One of its lines.
    per_core : int, default 2
        Hardware threads, Slurm's CPUs, per core. Where it is unknown, two: a grant that might be larger refuses nothing.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> script = read_script("#SBATCH -n 1 -c 8\nsrun -n 8 -c 2 ./a\nsrun -n 4 -c 2 ./a\n")
    >>> [cpus_beyond_grant(script, line) for line in script.lines]
    [(16, 8), None]
    """
    numbers = _granted_and_asked(script, line)
    if numbers is None:
        return None
    granted, asked = numbers
    tasks, needs = _tasks(granted), _tasks(asked.over(granted))
    if not tasks or not needs or not granted.cpus_per_task:
        return None
    has = tasks * -(-granted.cpus_per_task // per_core) * per_core
    # Whether a step inherits the job's CPUs per task depends on Slurm's version.
    total = needs * (asked.cpus_per_task or 1)
    return (total, has) if total > has else None


def _granted_and_asked(script: Script, line: LaunchLine) -> tuple[Requested, Requested] | None:
    """Return the numbers of a Slurm job and of its srun line; None where other options decide, or a count is not plain."""
    directives, steps = script.directives, programs(line.words)
    slurm = line.launcher == "srun" and all(each.system == "slurm" and each.option != "hetjob" for each in directives)
    # A directive that cannot be read may be one of the other options.
    if not slurm or len(steps) > 1 or any(each.option in _OTHER_GRANTS for each in directives):
        return None
    job = [each for directive in directives for each in _options_of(directive.words, "sbatch")]
    step = _options_of(steps[0], "srun")
    other = any(each.name in _OTHER_GRANTS for each in (*job, *step))
    return None if other or not _all_counted([*job, *step]) else (_numbers(job), _numbers(step))


def _all_counted(given: Iterable[Given]) -> bool:
    """Whether the counts of tasks, nodes and CPUs among some options are plain numbers."""
    counts = ("-N", "-n", "--ntasks-per-node", "-c")
    return all(re.fullmatch(r"\d{1,7}", each.value) for each in given if each.name in counts)


def _tasks(requested: Requested) -> int | None:
    """Return the tasks that are counted, or those per node on counted nodes."""
    if requested.tasks or not requested.tasks_per_node:
        return requested.tasks
    return requested.nodes * requested.tasks_per_node if requested.nodes else None


def _options_of(words: Iterable[object], program: str) -> list[Given]:
    """Return the options in some words; empty if they cannot be read."""
    with suppress(LaunchError):
        return read_options(list(words), program, where="", site=None)[0]  # type: ignore[arg-type]
    return []


def _numbers(given: Iterable[Given]) -> Requested:
    """Return the numbers that options of Slurm give."""
    found: dict[str, int | float] = {}
    for option in given:
        if option.name == "--mem":
            with suppress(LaunchError):
                found["memory_per_node_gb"] = memory_gb("--mem", option.value)
        elif name := _COUNTS.get(option.name):
            text = option.value
            if option.name == "--gres":
                match = re.search(r"(?:^|,)gpu(?::[A-Za-z][\w.-]*)?(?::(\d+))?(?=[,(]|$)", text)
                text = (match[1] or "1") if match else ""
            match = re.match(r"(?:[A-Za-z][\w.-]*:)?(\d{1,8})(?![\d])", text)
            if match and int(match[1]) <= _MOST:
                found[name] = int(match[1])
    return Requested(**found)  # type: ignore[arg-type]


def _of_select(value: str) -> Requested:
    """Return the numbers of PBS's ``select=2:ncpus=64:mpiprocs=8:ngpus=4``; totals of chunks that differ.

    >>> _of_select("select=1:ncpus=128:mpiprocs=128+2:ncpus=128:mpiprocs=16")[:4]
    (3, 160, None, None)
    """
    chunks = [dict(_pairs(chunk)) for chunk in value.removeprefix("select=").split("+")]
    counts = [chunk.get("", 1) for chunk in chunks]
    tasks, cpus, gpus = ([chunk.get(name) for chunk in chunks] for name in ("mpiprocs", "ncpus", "ngpus"))
    return Requested(
        nodes=sum(counts),
        tasks=_total(counts, tasks),
        tasks_per_node=_same(tasks),
        cpus_per_task=_same([has // each if has and each else None for has, each in zip(cpus, tasks, strict=True)]),
        gpus_per_node=_same(gpus),
        gpus=_total(counts, [each or 0 for each in gpus]),
    )


def _total(counts: list[int], values: list[int | None]) -> int | None:
    """Return the sum over all nodes of values that differ; None if all are alike, or one is missing."""
    known = [each for each in values if each is not None]
    if len(set(values)) == 1 or len(known) < len(values):
        return None
    return sum(number * each for number, each in zip(counts, known, strict=True))


def _same(values: list[int | None]) -> int | None:
    """Return the value that all have; None if they differ."""
    return values[0] if len(set(values)) == 1 else None


def _pairs(chunk: str) -> Iterator[tuple[str, int]]:
    """Yield the numbers of a chunk by name; the count of chunks has none."""
    for part in chunk.split(":"):
        name, _, number = part.rpartition("=")
        if re.fullmatch(r"\d{1,7}", number):
            yield name, int(number)
