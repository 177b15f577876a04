"""Changes that may fix the placement of a line, for all launchers.

They are tested like those of the job checks, after the better line of `hopperkit.launchers.judging.proposals`.
"""

from collections.abc import Callable, Iterator, Sequence

from hopperkit.launchers.judging._edits import add_directive, set_option, set_variable
from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.line_writer import Changes, edit_options, option_text, read_line_options
from hopperkit.launchers.placing import Placement
from hopperkit.launchers.scripts import Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.finding import Finding
from hopperlib.placement.components import Component

Options = Iterator[Changes]


def with_remedies(findings: Sequence[Finding], placement: Placement, script: Script, number: int) -> tuple[Draft, ...]:
    """Return the findings of a placement, each with the changes of its line that may cure it.

    Parameters
    ----------
    findings : sequence of Finding
    placement : Placement
    script : Script
    number : int
        Number of the launch line in the script, from 0.

    Examples
    --------
    >>> from hopperkit.launchers.placing import place_tasks
    >>> from hopperkit.launchers.reader import read_launches
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> script, machine = read_script("mpiexec -n 8 --ppn 8 --depth 8 --cpu-bind depth ./a"), Machine.load("polaris")
    >>> placement = place_tasks(read_launches(script, machine)[0], machine)
    >>> (draft,) = with_remedies([Finding("hardware-threads-shared", "two tasks on a core")], placement, script, 0)
    >>> [remedy.words for remedy in draft.remedies]
    ['Write --cpu-bind=core.', 'Write --depth=4 --cpu-bind=depth.']
    """
    return tuple(Draft(each, tuple(_remedies(each.code, placement, script, number))) for each in findings)


def _remedies(code: str, placement: Placement, script: Script, number: int) -> Iterator[Remedy]:
    """Yield the changes that may cure a finding, the plainest first."""
    line, launcher = script.lines[number], placement.launch.launcher
    read = read_line_options(line, launcher)
    if read is None or len(read) != len(placement.launch.components):
        return
    for at, component in enumerate(placement.launch.components):
        for changes in _OPTIONS.get(code, _none)(placement, component, at):
            every = [changes if each == at else {} for each in range(len(read))]
            edits = edit_options(line, read, every, launcher)
            if edits:
                yield Remedy(f"Write {_typed(changes)}.", edits)
                yield from _with_fewer_threads(code, placement, script, changes, edits)
    yield from _job_remedies(code, placement, script)


def _typed(changes: Changes) -> str:
    """Return changed options as typed; removed ones are named."""
    removed = [name for name, value in changes.items() if value is None]
    options = " ".join(option_text(_long(name), value) for name, value in changes.items() if value is not None)
    left_out = f"the line without {' '.join(map(_long, removed))}" if removed else ""
    return " and ".join(filter(None, (options, left_out)))


def _long(name: str) -> str:
    """Return an option of mpiexec as its manual spells it; the short ones of the others are their names."""
    return f"-{name}" if name.startswith("-") and not name.startswith("--") and len(name) > 3 else name


def _with_fewer_threads(
    code: str, placement: Placement, script: Script, changes: Changes, edits: tuple[Edit, ...]
) -> Iterator[Remedy]:
    """Yield the same with as many OpenMP threads as the tasks of a node have cores."""
    setting = next((each for each in reversed(script.variables) if each.name == "OMP_NUM_THREADS"), None)
    if code not in ("depth-missing", "hardware-threads-shared") or setting is None:
        return
    kind = placement.node_kind
    cores = len(kind.usable_cores) // max(len(placement.nodes[0].pattern), 1)
    fewer = set_variable(script, "OMP_NUM_THREADS", str(cores), setting.line) if cores else ()
    if fewer:
        yield Remedy(f"Set OMP_NUM_THREADS={cores} and write {_typed(changes)}.", (*fewer, *edits))


def _none(placement: Placement, component: Component, number: int) -> Options:
    """Yield nothing."""
    yield from ()


def _widths(placement: Placement, component: Component, number: int) -> Options:
    """Yield options that give each task CPUs for its threads, then for as many as a node has room for."""
    kind, tasks = placement.node_kind, max(len(placement.nodes_of(number)[0].pattern), 1)
    threads = placement.launch.openmp_of(component) or 1
    room = len(kind.usable_cores) // tasks
    # mpiexec uses the given nodes: it does not place fewer tasks on each to make room for threads.
    places_fewer = placement.launch.launcher in ("aprun", "srun") and component.tasks_per_node is None
    for cores in dict.fromkeys(each for each in (threads if places_fewer else min(threads, room), room) if each):
        if placement.launch.launcher == "srun":
            yield from ({"-c": str(cpus)} for cpus in dict.fromkeys((cores * kind.threads_per_core, cores)))
        else:
            forms: dict[str, Changes] = {
                "aprun": {"-d": f"{cores}"},
                "pals": {"-depth": f"{cores}", "-cpu-bind": "depth"},
                "openmpi": {"-map-by": f"slot:PE={cores}"},
                "mpich": {"-bind-to": f"core:{cores}"},
            }
            if placement.launch.launcher in forms:
                yield forms[placement.launch.launcher]


def _one_thread_a_core(placement: Placement, component: Component, number: int) -> Options:
    """Yield options that give each thread a core."""
    forms: dict[str, list[Changes]] = {
        "aprun": [{"-j": "1"}],
        "srun": [{"--threads-per-core": "1"}, {"--hint": "nomultithread", "--cpu-bind": None}],
        "pals": [{"-cpu-bind": "core"}],
        "openmpi": [{"-map-by": "core"}],
        "mpich": [{"-bind-to": "core"}],
    }
    yield from forms.get(placement.launch.launcher, ())
    tasks = max(len(placement.nodes_of(number)[0].pattern), 1)
    if placement.launch.launcher == "pals" and (room := len(placement.node_kind.usable_cores) // tasks):
        yield {"-depth": str(room), "-cpu-bind": "depth"}


def _bound(placement: Placement, component: Component, number: int) -> Options:
    """Yield options that bind the tasks."""
    yield from {
        "aprun": [{"-cc": "cpu"}],
        "srun": [{"--cpu-bind": "cores"}],
        "openmpi": [{"-bind-to": "core"}],
        "mpich": [{"-bind-to": "core"}],
    }.get(placement.launch.launcher, [])


def _spread(placement: Placement, component: Component, number: int) -> Options:
    """Yield options that spread the tasks over the NUMA nodes."""
    yield from {
        "openmpi": [{"-map-by": "numa"}, {"-map-by": "numa", "-bind-to": "core"}],
        "mpich": [{"-bind-to": "core", "-map-by": "numa"}],
    }.get(placement.launch.launcher, [])


def _gpus_apart(placement: Placement, component: Component, number: int) -> Options:
    """Yield options that give each task GPUs near its cores."""
    if placement.launch.launcher == "srun":
        yield {"--gpu-bind": "closest"}
        yield {"--gpus-per-task": "1", "--gpu-bind": "closest"}
        yield {"--gpus-per-task": "1"}


def _fuller_nodes(placement: Placement, component: Component, number: int) -> Options:
    """Yield numbers of tasks per node with which the job needs fewer nodes."""
    nodes = placement.nodes_of(number)
    tasks, threads = len(nodes[0].pattern), max(len(seat.thread_cores) for seat in nodes[0].pattern)
    launcher, tried = placement.launch.launcher, set[int]()
    for more in range(tasks + 1, placement.node_kind.cores // threads + 1):
        needed = -(-component.tasks // more)
        if needed >= len(nodes) or needed in tried:
            continue
        tried.add(needed)
        if launcher == "srun":
            yield {"-N": str(needed), "--ntasks-per-node": str(more)}
        elif launcher == "aprun":
            yield {"-N": str(more)}
            yield {"-N": str(more), "-S": str(-(-more // placement.node_kind.numa_nodes))}
        elif launcher == "pals":
            yield {"-ppn": str(more)}
        if len(tried) == _MOST_TRIED:
            return


# Numbers of tasks per node that are tried for a nearly empty last node.
_MOST_TRIED = 4


_OPTIONS: dict[str, Callable[[Placement, Component, int], Options]] = {
    "depth-missing": _widths,
    "hardware-threads-shared": _one_thread_a_core,
    "tasks-unbound": _bound,
    "idle-numa-nodes": _spread,
    "uneven-numa-nodes": _spread,
    "gpus-all-visible": _gpus_apart,
    "gpus-far": _gpus_apart,
    "last-node-nearly-empty": _fuller_nodes,
}


def _job_remedies(code: str, placement: Placement, script: Script) -> Iterator[Remedy]:
    """Yield changes of the job around a line."""
    if code == "gpus-not-requested":
        option = f"--gpus-per-node={placement.node_kind.gpus}"
        edits = add_directive(script, option)
        yield from [Remedy(f"Request {option}.", edits)] if edits else []
    if code == "reservation-larger" and placement.launch.reservation:
        used = str(len(placement.nodes))
        edits = set_option(script, ("-N", "--nodes"), used)
        yield from [Remedy(f"Request --nodes={used}, unless another line needs more.", edits)] if edits else []
    if code == "steps-wait":
        edits = tuple(
            edit
            for line in script.lines
            if line.background and line.launcher == "srun" and (read := read_line_options(line, "srun"))
            for edit in edit_options(line, read, [{"--exact": ""}, *({} for _ in read[1:])], "srun") or ()
        )
        yield from [Remedy("Write --exact on each step.", edits)] if edits else []
