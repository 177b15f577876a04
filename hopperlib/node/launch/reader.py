"""Launch lines and the batch scripts around them, read into data.

`read_launch` takes what people have at hand: a bare aprun or srun line, a line
with environment settings in front, a PBS or sbatch script. What aprun, srun or
the batch system would refuse is refused here, by option, value and rule.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hopperlib.machine import Machine
from hopperlib.node.aprun.options import read_aprun
from hopperlib.node.launch._batch import AskedKind, asked_kind, read_reservation
from hopperlib.node.launch.components import Component, Job, Launch, LauncherKind, LaunchError
from hopperlib.node.launch.option_values import whole_number
from hopperlib.node.launch.scripts import Invocation, find_invocations, tidy
from hopperlib.node.launch.shell import BROKEN_LINE, Unknown
from hopperlib.node.slurm.srun import read_srun
from hopperlib.package_data import read_beside

# More threads than this on one task is a slip, and a drawing of it helps nobody.
_MOST_THREADS = 1024
# More steps than this at a time are not followed one by one.
_MOST_STEPS = 1024
_MOST_THREADS_BOUND = "the most threads a task can have here"


def read_launch(text: str, machine: Machine, *, threads: int | None = None, kind: str | None = None) -> Launch:
    r"""Return the first launch line of a text; if there are more, its notes say how many.

    Parameters
    ----------
    text : str
        An aprun or srun line, or a job script around one.
    machine : Machine
        Machine it is to run on; its file says which options the launcher has.
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
    hopperlib.node.launch.components.LaunchError: -S 7 must be from 1 to 6, the cores of a NUMA node of Hopper
    """
    launches = read_launches(text, machine, threads=threads, kind=kind)
    return launches[0]


def read_launches(
    text: str, machine: Machine, *, threads: int | None = None, kind: str | None = None
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
    text = tidy(text)
    asked = asked_kind(text, machine, kind)
    if threads is not None:
        threads = whole_number("threads", str(threads), high=_MOST_THREADS, bound=_MOST_THREADS_BOUND)
    reservation, variables, notes = read_reservation(text, machine, asked.kind)
    job = Job(machine, asked.kind, reservation, text)
    invocations = find_invocations(text, variables)
    if not invocations:
        begins = " ".join(text.split())
        begins = begins if len(begins) <= 50 else begins[:47] + "..."
        raise LaunchError("line", begins, _no_line(text), shown=repr(begins))
    launches = []
    for number, invocation in enumerate(invocations, start=1):
        which = f"This is launch line {number} of {len(invocations)} of the text"
        which += "." if invocation.background and invocation.launcher == "srun" else ", judged by itself, as if alone."
        own_notes = [*notes, which] if len(invocations) > 1 else notes
        launches.append(_read(invocation, job, asked, threads, own_notes))
    return tuple(_together(invocations, launches))


def _together(invocations: Sequence[Invocation], launches: Sequence[Launch]) -> Iterator[Launch]:
    """Yield the launches with what runs beside each of them."""

    def shares(invocation: Invocation, launch: Launch) -> tuple[int, str | None]:
        """Return what steps have in common that share their nodes: the time, and the group of a heterogeneous job."""
        return invocation.group, launch.components[0].given("--het-group")

    beside: dict[tuple[int, str | None], list[Component]] = {}
    for invocation, launch in zip(invocations, launches, strict=True):
        if invocation.background:
            steps = launch.components * min(invocation.times, _MOST_STEPS)
            beside.setdefault(shares(invocation, launch), []).extend(steps)
    started: Counter[tuple[int, str | None]] = Counter()
    for invocation, launch in zip(invocations, launches, strict=True):
        key, programs = shares(invocation, launch), len(launch.components)
        own = beside.get(key, []) if invocation.background else []
        first = started[key]
        started[key] += programs * min(invocation.times, _MOST_STEPS)
        if len(own) > programs:
            cpus = sum(component.tasks * component.threads_per_task for component in own)
            before, after = tuple(own[:first]), tuple(own[first + programs :])
            yield launch._replace(steps=len(own) // programs, steps_cpus=cpus, before=before, after=after)
        else:
            yield launch


def _read(invocation: Invocation, job: Job, asked: AskedKind, threads: int | None, notes: Sequence[str]) -> Launch:
    """Return one launch line, read and checked."""
    if any(word.unknown == BROKEN_LINE for word in invocation.words):
        raise LaunchError("\\", "", BROKEN_LINE)
    launcher: LauncherKind
    if invocation.launcher in ("aprun", "srun"):
        launcher = "aprun" if invocation.launcher == "aprun" else "srun"
        line = (read_aprun if launcher == "aprun" else read_srun)(invocation, job)
    else:
        from hopperlib.node.mpiexec.reader import read_mpiexec

        launcher, line = read_mpiexec(invocation, job)
    components, environment, remarks = line
    machine, reservation = job.machine, job.reservation
    known = {name: value for name, value in invocation.environment.items() if isinstance(value, str)} | environment
    openmp_threads, thread_note = (threads, "") if threads else _openmp_threads(invocation, known)
    assumed = machine.launcher(launcher).assumed if launcher in ("aprun", "srun") else None
    idle = sorted({option for component in components for option in component.idle_options})
    all_notes = (
        *notes,
        f"{machine.title}: {assumed}." if assumed else "",
        *remarks.notes,
        f"Without effect on the placement: {' '.join(idle)}." if idle else "",
        thread_note,
    )
    return Launch(
        launcher=launcher,
        text=invocation.text,
        components=components,
        reservation=reservation,
        openmp_threads=openmp_threads,
        environment=MappingProxyType(known),
        notes=tuple(filter(None, all_notes)),
        kind=job.node.name,
        assumptions=(*asked.assumptions, *remarks.assumptions),
        doubts=(*asked.doubts, *remarks.doubts),
    )


def _openmp_threads(invocation: Invocation, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the threads of each task and what there is to say about them."""
    name = "OMP_NUM_THREADS"
    value = environment.get(name)
    if value is None:
        if name in invocation.unexported:
            return None, f"{name} is set but not exported, so the tasks do not see it."
        worked_out = isinstance(invocation.environment.get(name), Unknown)
        return None, f"{name} is worked out by the script; give the threads by number." if worked_out else ""
    # A list is for nested regions; its first number is that of the outer one.
    first = value.split(",")[0].strip()
    if not re.fullmatch(r"[0-9]+", first) or not 1 <= int(first[:9]) <= _MOST_THREADS:
        raise LaunchError(name, value, f"must be a whole number from 1 to {_MOST_THREADS}, {_MOST_THREADS_BOUND}")
    return int(first[:9]), ""


def _no_line(text: str) -> str:
    """Say what is missing, and what was found instead."""
    table = read_beside(__file__, "no_lines.toml")["instead"]
    matches = ((re.search(case["pattern"], text, re.MULTILINE), str(case["said"])) for case in table)
    return next(said.format(match[1]) for match, said in matches if match)
