"""Launch lines and the batch scripts around them, parsed into requests for a machine.

`read_launch` accepts a bare aprun or srun line, a line with environment settings before it, or a PBS or sbatch script.
An option or a value that aprun, srun or the batch system would refuse is refused here, by option, value and rule.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from hopperkit.launchers.batch.node_request import RequestedNodeKind, read_reservation, requested_node_kind
from hopperkit.launchers.dialects.aprun import read_aprun
from hopperkit.launchers.dialects.srun import read_srun
from hopperkit.launchers.gpu_wrappers import wrappers_of
from hopperkit.launchers.option_values import whole_number
from hopperkit.launchers.scripts import LaunchLine, Script, read_script
from hopperkit.launchers.words.shell import BROKEN_LINE, Unknown
from hopperlib.machine import Machine
from hopperlib.placement.components import (
    Component,
    GpuRequest,
    Job,
    Launch,
    LauncherKind,
    LaunchError,
    ReadLine,
    Reservation,
)

# More threads than this per task are an error, and a drawing of them would not help.
_MAX_THREADS = 1024
# More steps than this at a time are not followed one by one.
_MAX_STEPS = 1024
_MAX_THREADS_BOUND = "the most threads a task can have here"


def read_launch(text: str | Script, machine: Machine, *, threads: int | None = None, kind: str | None = None) -> Launch:
    r"""Return the first launch line of a text; notes give the number of other lines.

    Parameters
    ----------
    text : str or Script
        An aprun, srun or mpiexec line, or a job script around one, read already or not.
    machine : Machine
        Target machine; its file lists the launcher's options.
    threads : int or None
        OpenMP threads of each task; None to take OMP_NUM_THREADS from the text.
    kind : str or None
        Kind of node; the ordinary one by default.

    Returns
    -------
    Launch

    Raises
    ------
    LaunchError
        If the text holds no launch line, or one that would be refused.
    ValueError
        If the machine has no such kind of node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> launch = read_launch("aprun -n 384 -N 12 vasp", hopper)
    >>> launch.tasks, launch.components[0].tasks_per_node
    (384, 12)
    >>> read_launch("aprun -n 4 -S 7 a.out", hopper)
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: -S 7 must be from 1 to 6, the cores of a NUMA node of Hopper
    """
    launches = read_launches(text, machine, threads=threads, kind=kind)
    return launches[0]


def read_launches(
    text: str | Script, machine: Machine, *, threads: int | None = None, kind: str | None = None
) -> tuple[Launch, ...]:
    r"""Return every launch line of a text, in order.

    Parameters
    ----------
    text, machine, threads, kind
        As for `read_launch`.

    Raises
    ------
    LaunchError
        If the text holds no launch line, or one of them would be refused.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> script = "#PBS -l mppwidth=48\naprun -n 48 ./first\naprun -n 24 ./second\n"
    >>> [launch.tasks for launch in read_launches(script, Machine.load("hopper"))]
    [48, 24]
    """
    return read_in_job(text if isinstance(text, Script) else read_script(text), machine, threads=threads, kind=kind)[1]


def read_in_job(
    script: Script, machine: Machine, *, threads: int | None = None, kind: str | None = None
) -> tuple[Script, tuple[Launch, ...]]:
    r"""Return a script as it runs in its job, and its launch lines; the arguments are those of `read_launches`.

    Parameters
    ----------
    script : Script
        The parsed script.
    machine : Machine
        The machine.
    threads : int or None
        Threads per task; None for those of the text.
    kind : str or None
        Kind of node; None for the script's request.

    Raises
    ------
    LaunchError
        If a directive or a launch line is invalid, or does not fit the machine.

    Examples
    --------
    >>> script = read_script("#SBATCH -N 2 -n 8\nsrun -n $SLURM_NTASKS ./a.out\n")
    >>> in_job, (launch,) = read_in_job(script, Machine.load("cluster"))
    >>> in_job.lines[0].text, launch.tasks
    ('srun -n 8 ./a.out', 8)
    """
    requested = requested_node_kind(script, machine, kind)
    if threads is not None:
        threads = whole_number("threads", str(threads), high=_MAX_THREADS, bound=_MAX_THREADS_BOUND)
    reservation, variables, notes = read_reservation(script, machine, requested.kind)
    variables = {**variables, **({"nvidia-smi -L": str(requested.kind.gpus)} if requested.kind.gpus else {})}
    job = Job(machine, requested.kind, reservation, tuple(module.name for module in script.modules), requested.shared)
    script = script.in_job(variables)
    lines = script.lines
    if not lines:
        raise _no_line(script, reservation)
    launches = []
    for number, line in enumerate(lines, start=1):
        which = f"This is launch line {number} of {len(lines)} of the text"
        which += "." if line.background and line.launcher == "srun" else ", judged by itself, as if alone."
        launches.append(_read_line(line, job, requested, threads, [*notes, which] if len(lines) > 1 else notes))
    wrappers = wrappers_of(script.text)
    together = _attach_concurrent_steps(lines, launches)
    return script, tuple(launch._replace(gpu_wrappers=wrappers) for launch in together)


def _no_line(script: Script, reservation: Reservation | None) -> LaunchError:
    """Return the error for a text without a launch line; within a job, it explains what runs instead."""
    rule = explain_missing_line(script.text)
    if not script.directives:
        begins = " ".join(script.text.split())
        begins = begins if len(begins) <= 50 else begins[:47] + "..."
        return LaunchError("line", begins, rule, shown=repr(begins))
    if rule == _NO_COMMAND:
        where = f"the first of its {reservation.nodes:,} nodes" if reservation and reservation.nodes > 1 else "one node"
        rule += f": unless one of its programs starts tasks, it runs once, on {where}"
    return LaunchError("script", "", rule)


def _attach_concurrent_steps(lines: Sequence[LaunchLine], launches: Sequence[Launch]) -> Iterator[Launch]:
    """Yield the launches with the steps that run at the same time as each of them."""
    concurrent: defaultdict[int, list[Component]] = defaultdict(list)
    for line, launch in zip(lines, launches, strict=True):
        if line.background:
            concurrent[line.group] += launch.components * min(line.times, _MAX_STEPS)
    started: Counter[int] = Counter()
    for line, launch in zip(lines, launches, strict=True):
        programs, first = len(launch.components), started[line.group]
        steps = concurrent[line.group] if line.background else []
        started[line.group] += programs * min(line.times, _MAX_STEPS)
        if len(steps) <= programs:
            yield launch
            continue
        cpus = sum(component.tasks * component.threads_per_task for component in steps)
        before, after = tuple(steps[:first]), tuple(steps[first + programs :])
        yield launch._replace(steps=len(steps) // programs, steps_cpus=cpus, before=before, after=after)


def _read_words(line: LaunchLine, job: Job) -> tuple[LauncherKind, ReadLine]:
    """Return the launcher of a line and its request."""
    if line.launcher == "aprun":
        return "aprun", read_aprun(line, job)
    if line.launcher == "srun":
        return "srun", read_srun(line, job)
    if line.launcher in ("ibrun", "flux"):
        from hopperkit.launchers.dialects.counted import read_counted

        return read_counted(line, job)
    from hopperkit.launchers.dialects.mpiexec import read_mpiexec

    return read_mpiexec(line, job)


def _read_line(
    line: LaunchLine, job: Job, requested: RequestedNodeKind, threads: int | None, notes: Sequence[str]
) -> Launch:
    """Return one launch line, read and checked."""
    if any(word.unknown == BROKEN_LINE for word in line.words):
        raise LaunchError("\\", "", BROKEN_LINE)
    launcher, (components, environment, remarks) = _read_words(line, job)
    if launcher not in _DIVIDE_GPUS and (gpus := _gpus_of_job(job)):
        components = tuple(each._replace(gpus=gpus) if each.gpus is None else each for each in components)
    if len(components) > 1:
        # Each program has its own value: `Launch.openmp_of`.
        environment.pop("OMP_NUM_THREADS", None)
    known = {name: value for name, value in line.environment.items() if isinstance(value, str)} | environment
    openmp_threads, thread_note = (threads, "") if threads else _openmp_threads(line, known)
    assumed = job.machine.launcher(launcher).assumed if launcher in ("aprun", "srun") else None
    idle = sorted({option for component in components for option in component.idle_options})
    all_notes = (
        *notes,
        f"{job.machine.title}: {assumed}." if assumed else "",
        *remarks.notes,
        f"Without effect on the placement: {' '.join(idle)}." if idle else "",
        thread_note,
    )
    return Launch(
        launcher=launcher,
        text=line.text,
        components=components,
        reservation=job.reservation,
        openmp_threads=openmp_threads,
        environment=known,
        notes=tuple(filter(None, all_notes)),
        kind=job.node.name,
        assumptions=(*requested.assumptions, *remarks.assumptions),
        doubts=(*requested.doubts, *remarks.doubts),
    )


# Launchers that give a step its GPUs themselves; others start tasks that see those of the job.
_DIVIDE_GPUS = ("aprun", "srun", "flux")


def _gpus_of_job(job: Job) -> GpuRequest | None:
    """Return the GPUs of each of a job's nodes, which are visible to every task that runs there; None without a request."""
    reserved, has = job.reservation, job.node.gpus
    if reserved is None or reserved.gpus is None or not has:
        return None
    request, nodes = reserved.gpus, reserved.nodes
    if request.per_node is None and request.total is not None and nodes > 1 and request.total != nodes * has:
        # How many of them each node has depends on the batch system.
        return GpuRequest(total=request.total)
    tasks = reserved.tasks_per_node or -(-(reserved.tasks or nodes) // nodes)
    count = request.on_node(tasks, nodes)
    return None if count is None else GpuRequest(per_node=min(count, has))


def _openmp_threads(line: LaunchLine, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the threads of each task and notes about them."""
    name = "OMP_NUM_THREADS"
    value = environment.get(name)
    if value is None:
        if name in line.unexported:
            return None, f"{name} is set but not exported, so the tasks do not see it."
        computed = isinstance(line.environment.get(name), Unknown)
        return None, f"{name} is worked out by the script; give the threads by number." if computed else ""
    # A list is for nested regions; its first number is that of the outermost one.
    first = value.split(",")[0].strip()
    if not re.fullmatch(r"[0-9]+", first) or not 1 <= int(first[:9]) <= _MAX_THREADS:
        raise LaunchError(name, value, f"must be a whole number from 1 to {_MAX_THREADS}, {_MAX_THREADS_BOUND}")
    return int(first[:9]), ""


_NO_COMMAND = "holds no aprun, srun, mpiexec or mpirun command"
_READ = r"\b(aprun|srun|mpiexec|mpirun)\b(?!\.)"
_NOT_READ = (
    r"\b(jsrun|poe|flux submit|lrun|mpirun_rsh|mpiexec_mpt|ccc_mprun|dplace|prsrun|runjob"
    r"|likwid-mpirun|charmrun|mpirun\.lsf)\b"
)


# A comment that is itself a line, in which an option or a program follows the launcher: not prose.
_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_COMMENTED_LINE = re.compile(
    r"^[ \t]*#+[ \t]*(?:(?:time|[A-Za-z_]\w*=\S*)[ \t]+)*(?:\S*/)?(?:aprun|srun|mpiexec|mpirun)(?:\.\w+)?[ \t]+[-./$\"'~{]",
    re.MULTILINE,
)

# Descriptions of unsupported launchers, from their manuals.
_OTHERS = {
    "jsrun": "IBM's launcher, which gives a resource set its GPUs with -g and its cores with -c",
    "lrun": "LLNL's way to call jsrun",
    "flux": "Flux's, which gives each task its GPUs with -g, and by default the tasks of a node all of the job's cores there",
}


def runs_by_itself(script: Script) -> bool:
    r"""Whether a job script starts no tasks at all, so that its commands run once, on the first of its nodes.

    Parameters
    ----------
    script : Script
        Batch script.

    Examples
    --------
    >>> [runs_by_itself(read_script(f"#SBATCH -N 1\n{line}\n")) for line in ("python t.py", "srun ./a", "jsrun ./a")]
    [True, False, False]
    """
    return bool(script.directives) and not script.lines and explain_missing_line(script.text) == _NO_COMMAND


def explain_missing_line(text: str) -> str:
    r"""Return the contents of a text without a launch line, as the end of an error message.

    Parameters
    ----------
    text : str
        Text without a launch line.

    Examples
    --------
    >>> explain_missing_line("# with ibrun, not with srun\npoe ./a.out")
    'starts tasks with poe, and where they run is unknown; aprun, srun, mpiexec and mpirun lines can be read'
    """
    if other := re.search(_NOT_READ, _COMMENT.sub("", text)):
        known = _OTHERS.get(other[1].split()[0], "")
        which = f"{other[1]}, {known}" if known else other[1]
        lines = "aprun, srun, mpiexec and mpirun lines can be read"
        return f"starts tasks with {which}, and where they run is unknown; {lines}"
    if _COMMENTED_LINE.search(text):
        return "holds a launch line only in comments; take the # away"
    if re.search(r"^[ \t]*(sbatch|qsub|salloc)\b", text, re.MULTILINE):
        return "submits a script that is not part of this text; give the script itself"
    if inside := re.search(rf"(?:\$\(|`)[^)`]*{_READ}", text):
        return f"runs {inside[1]} only inside $( ) or backquotes, which are not read; write the line by itself"
    return _NO_COMMAND
