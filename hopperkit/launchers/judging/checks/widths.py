"""CPUs, tasks and memory that a job requests and its launch lines do not use.

References
----------
SchedMD, Slurm 23.11, sbatch and srun man pages, and the release notes of 22.05 and 23.11 (SLURM_CPUS_PER_TASK).
"""

from collections.abc import Iterator

from hopperkit.launchers.dialects.slurm import slurm_release
from hopperkit.launchers.judging._edits import (
    change_line,
    insert_line,
    remove_directive,
    set_option,
    set_value,
    set_variable,
    values_of,
)
from hopperkit.launchers.judging.job import Job, PlacedLine
from hopperkit.launchers.judging.remedies import Draft
from hopperkit.launchers.option_values import memory_gb
from hopperlib.placement.components import LaunchError
from hopperlib.text import count

# A task with this many times the cores that its threads need leaves them idle; a job, with this many times its tasks.
_FAR_UNDER = 2
_WIDTH = ("-c", "--cpus-per-task")


def check_widths(job: Job) -> Iterator[Draft]:
    r"""Yield CPUs of a task that do not reach it or that its threads do not use.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperkit.launchers.placing import place_tasks
    >>> from hopperkit.launchers.reader import read_launches
    >>> from hopperlib.machine import Machine
    >>> machine = Machine.load("archer2")
    >>> script = read_script("#SBATCH -N 1 --ntasks-per-node=16 --cpus-per-task=8\nsrun ./a")
    >>> placed = [PlacedLine(script.lines[0], place_tasks(read_launches(script, machine)[0], machine))]
    >>> (draft,) = check_widths(Job(script, machine, placed))
    >>> draft.finding.code, draft.remedies[0].words
    ('cpus-not-passed-on', 'Write "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK" in front of it.')
    """
    for placed in job.placed:
        lost = _not_passed_on(job, placed)
        yield from [lost] if lost else _cores_unused(job, placed)


def _not_passed_on(job: Job, placed: PlacedLine) -> Draft | None:
    """CPUs that the job requests, and that srun of some releases does not take over from it."""
    line, launch = placed.line, placed.placement.launch
    width = (launch.reservation and launch.reservation.threads_per_task) or 1
    if launch.launcher != "srun" or width == 1 or launch.components[0].given("-c") is not None:
        return None
    launcher = job.machine.launcher("srun")
    if not (22, 5) <= slurm_release(launcher) < (23, 11):
        return None
    what = (
        f"-c {width} of the job does not reach srun of Slurm {launcher.version}: each task "
        f"gets one CPU{job.cited('launcher.srun.version')}."
    )
    export = "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"
    requested = next(values_of(job.script, _WIDTH), None)
    remedies = [
        (f'Write "{export}" in front of it.', insert_line(job.script, line.line, export)),
        (f"Write -c {width} on it.", change_line(job.script, line, {"-c": str(width)}, "srun")),
    ]
    if requested:
        # Where a node has no room for the tasks as wide as the job requests them.
        typed = f"{requested.option}{'=' if requested.option.startswith('--') else ' '}1"
        remedies.append((f"Write {typed}: a node has no room for wider tasks.", set_value(job.script, requested, "1")))
    plain = "A node has no room for that many CPUs for each of its tasks: request fewer tasks per node."
    return job.draft("cpus-not-passed-on", line.line, what, plain, remedies=remedies)


def _cores_unused(job: Job, placed: PlacedLine) -> Iterator[Draft]:
    """Cores of a task that its threads leave idle."""
    launch, pattern = placed.placement.launch, placed.placement.nodes_of(0)[0].pattern
    threads, cores = launch.openmp_threads, min(len(seat.cores) for seat in pattern)
    alone = len(launch.components) == 1 and not launch.doubts and launch.components[0].given("-c") is not None
    if threads is None or not alone or any(seat.gpus for seat in pattern):
        return
    few = 4 * threads * len(pattern) <= len(placed.placement.node_kind.usable_cores)
    if threads * _FAR_UNDER <= cores and (threads > 1 or few):
        what = f"{count(threads, 'thread')} run on the {cores} cores of each task; the others are charged and idle."
        setting = next((each for each in reversed(job.script.variables) if each.name == "OMP_NUM_THREADS"), None)
        where = setting.line if setting else placed.line.line
        per_core = max(launch.components[0].threads_per_task // cores, 1)
        width = str(threads * per_core)
        remedies = [
            (
                f"Write OMP_NUM_THREADS={cores}, unless the program runs best with {threads}.",
                set_variable(job.script, "OMP_NUM_THREADS", str(cores), where),
            ),
            (f"Write -c {width} on the line.", change_line(job.script, placed.line, {"-c": width}, launch.launcher)),
        ]
        evidence = {"times": round(cores / threads, 3)}
        plain = "Start more tasks on a node, unless they need its memory."
        yield job.draft(
            "cores-unused", placed.line.line, what, plain, level="advice", remedies=remedies, evidence=evidence
        )


def check_counts(job: Job) -> Iterator[Draft]:
    """Yield tasks that the job requests and no line starts.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperlib.machine import Machine
    >>> list(check_counts(Job(read_script("srun ./a"), Machine.load("cluster"), ())))
    []
    """
    lines = [each for each in job.placed if each.placement.launch.launcher != "aprun"]
    reserved = lines[0].placement.launch.reservation if lines else None
    if reserved is None or reserved.tasks is None or any(line.background for line, _ in lines):
        return
    most, started = max((placement.launch.tasks, line.line) for line, placement in lines)
    if most * _FAR_UNDER <= reserved.tasks:
        what = f"starts {count(most, 'task')}, and the job asks for {reserved.tasks:,}: the rest is charged and idle."
        plain = "Request as many tasks as are started."
        remedies = [(f"Request --ntasks={most}.", set_option(job.script, ("-n", "--ntasks"), str(most)))]
        evidence = {"times": round(reserved.tasks / most, 3)}
        yield job.draft("tasks-unused", started, what, plain, level="advice", remedies=remedies, evidence=evidence)


def check_memory(job: Job) -> Iterator[Draft]:
    """Yield memory that the job gives away though it is charged for whole nodes.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperlib.machine import Machine
    >>> list(check_memory(Job(read_script("srun ./a"), Machine.load("cluster"), ())))
    []
    """
    if not job.placed:
        return
    placement = job.placed[0].placement
    kind, launch = placement.node_kind, placement.launch
    documented = job.machine.provenance[f"node.{kind.name}.count"].source is not None
    directive = next((each for each in job.script.directives if each.option == "--mem"), None)
    # Where jobs share nodes, to request a part of one is right.
    if directive is None or not documented or launch.doubts or launch.reservation is None:
        return
    try:
        requested = memory_gb("--mem", directive.value)
    except LaunchError:
        return
    if 0 < requested < kind.usable_memory_gb / 2:
        what = (
            f"the job may use {requested:.3g} GB of a node, which has {kind.usable_memory_gb:g} GB for it and is charged "
            f"whole{job.cited(f'node.{kind.name}.memory_gb')}."
        )
        remedies = [
            ("Leave --mem out.", remove_directive(job.script, directive)),
            ("Write --mem=0.", set_value(job.script, directive, "0")),
        ]
        plain = "Request the memory of the whole node."
        yield job.draft("memory-given-away", directive.line, what, plain, level="advice", remedies=remedies)
