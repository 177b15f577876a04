"""Lines to use instead, each tried before it is shown.

One generator changes the options of a line. Each changed line is put back into its script, read and placed in the same
environment, and accepted only if it dominates: no task has fewer cores, GPUs or memory (for an unbound task: than its
fair share of the node), none uses a core reserved for the system, no finding is new and at least one is gone. Of
several, the one with the fewest findings is used, then the one with the smallest change.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperkit.launchers.judging.advice import advise
from hopperkit.launchers.line_writer import Changes, ProgramOptions, edit_options, read_line_options
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.programs import starts_processes
from hopperkit.launchers.ranges import as_ranges
from hopperkit.launchers.reader import read_launches
from hopperkit.launchers.scripts import Script
from hopperlib.finding import Finding
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import Component, LaunchError
from hopperlib.placement.layouts import Layout
from hopperlib.placement.slowdown import Cost, placement_cost

# Launchers that leave binding to a library or a plugin: no line of theirs makes a layout for sure.
_BOUND_BY_OTHERS = ("ibrun", "flux")
# Above this many tasks, nodes are compared by their pattern.
_MANY_TASKS = 100_000
# Findings that count: the others are remarks.
_COUNTED = ("problem", "advice", "unknown")


class BetterLine(NamedTuple):
    """A line that is better than the one given.

    Parameters
    ----------
    line : str
        As in the script, with wrappers, redirections and pipes.
    script : Script
        That script.
    placement : Placement
    cost : Cost
    """

    line: str
    script: Script
    placement: Placement
    cost: Cost


class LineInScript(NamedTuple):
    """Context of a launch line: its script, its index there from 0, and the other arguments of its placement."""

    script: Script
    number: int = 0
    threads: int | None = None
    kind: str | None = None

    def tried(
        self, read: Sequence[ProgramOptions], changes: Sequence[Changes], placement: Placement
    ) -> tuple[str, Script, Placement] | None:
        """Return the line in the script with some options changed, that script, and its placement; None if rejected."""
        line, machine = self.script.lines[self.number], placement.machine
        edits = edit_options(line, read, changes, placement.launch.launcher)
        if edits is None:
            return None
        script = self.script.edited(edits)
        if len(script.lines) != len(self.script.lines):
            return None
        try:
            launch = read_launches(script, machine, threads=self.threads, kind=self.kind)[self.number]
            return script.line_as_typed(self.number), script, place_tasks(launch, machine, kind=self.kind)
        except LaunchError:
            return None


def fair_share(kind: NodeKind, tasks: int, component: Component | None = None) -> int:
    """Cores of a node for each of its tasks, if the cores that jobs may use are shared out evenly.

    Parameters
    ----------
    kind : NodeKind
        Kind of node.
    tasks : int
        Number of tasks.
    component : Component or None
        One program of the line, if parsed.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> fair_share(Machine.load("frontier").node(), 8)
    7
    """
    system_cores = component.system_cores if component else None
    usable = len(kind.usable_cores) if system_cores is None else kind.cores - len(system_cores)
    return usable // tasks


def _keeps(now: Placement, then: Placement, number: int, *, may_part_gpus: bool) -> bool:
    """Whether the tasks of a program keep their cores, GPUs and share of the memory."""
    component = now.launch.components[number]
    before, after = now.nodes_of(number), then.nodes_of(number)
    tasks = max(len(node.pattern) for node in before)
    if max(len(node.pattern) for node in after) > tasks or component.tasks != then.launch.components[number].tasks:
        return False
    system_cores = component.system_cores
    limits = _Limits(
        share=fair_share(now.node_kind, tasks, component),
        kept_cores=frozenset(now.node_kind.reserved_cores if system_cores is None else system_cores),
        own_processes=starts_processes(component.command),
        may_part_gpus=may_part_gpus,
    )
    if component.tasks > _MANY_TASKS:
        # Equal nodes have the same pattern; above this many tasks, the first node stands for the others.
        pairs = list(zip(before[0].pattern, after[0].pattern, strict=False))
    else:
        old = {task: seat for node in before for task, seat in node.seats()}
        pairs = [(old[task], seat) for node in after for task, seat in node.seats()]
    return all(limits.allow(was, seat) for was, seat in pairs)


class _Limits(NamedTuple):
    """Constraints for each task: cores of a fair share, system cores, and whether its GPUs may be divided among tasks."""

    share: int
    kept_cores: frozenset[int]
    own_processes: bool
    may_part_gpus: bool

    def allow(self, was: Binding, seat: Binding) -> bool:
        """Whether a task may move from one seat to another."""
        least = len(was.cores) if was.bound or self.own_processes else min(self.share, len(was.cores))
        if len(seat.cores) < least or (seat.bound and self.kept_cores & set(seat.cores)):
            return False
        if seat.gpus is None or was.gpus is None:
            return seat.gpus is was.gpus
        fewest = min(len(was.gpus), 1) if self.may_part_gpus and not self.own_processes else len(was.gpus)
        return len(seat.gpus) >= fewest


def counted_codes(findings: Sequence[Finding]) -> Counter[str]:
    """Return the count of each finding that a better line may not add.

    Parameters
    ----------
    findings : sequence of Finding
        Findings about a launch line.

    Examples
    --------
    >>> counted_codes([Finding("idle-numa-nodes", "", "problem"), Finding("line", "", "note")])
    Counter({'idle-numa-nodes': 1})
    """
    # Idle cores and GPUs of a job depend on its number of tasks, which no other line changes.
    return Counter(each.code for each in findings if each.level in _COUNTED and each.code not in _OF_THE_TASKS)


_OF_THE_TASKS = ("cores-idle", "gpus-for-one-task")


def _dominates(now: Placement, then: Placement, before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether a placement is better than another and worse in nothing.

    Parameters
    ----------
    now, then : Placement
        The current line and the proposed line.
    before, after : sequence of Finding
        Findings of `hopperkit.launchers.judging.advice.advise` for them.
    """
    was, rest = counted_codes(before), counted_codes(after)
    if not rest <= was or rest.total() >= was.total():
        return False
    more_nodes, solved = len(then.nodes) > len(now.nodes), _problems(after) < _problems(before)
    if more_nodes and not solved:
        return False
    # GPUs that all tasks of a node see alike may be dealt out among them.
    parted = was["gpus-all-visible"] > rest["gpus-all-visible"]
    programs = range(len(now.launch.components))
    return all(_keeps(now, then, number, may_part_gpus=parted) for number in programs)


def _problems(findings: Sequence[Finding]) -> int:
    """Return the number of findings that are problems."""
    return sum(finding.level == "problem" for finding in findings)


def _tasks_per_node(tasks: int, now: int, threads: int, kind: NodeKind, memory_gb: float | None) -> list[int]:
    """Return tasks per node to try: the current number, as many as fit, as many as memory allows."""
    cores = kind.cores_per_numa_node
    whole = min(now, kind.numa_nodes * (cores // threads) if threads <= cores else kind.cores // threads)
    # With a hair, so that a quotient which should be whole is not cut down.
    room = int(kind.usable_memory_gb / memory_gb + 1e-9) if memory_gb else now
    return [number for number in dict.fromkeys((now, whole, min(whole, room))) if 0 < number <= tasks]


def _changes(placement: Placement, number: int, memory_gb: float | None) -> Iterator[Changes]:
    """Yield changes to a program that may make it better, the plainest first."""
    launch, kind = placement.launch, placement.node_kind
    component = launch.components[number]
    own = component.threads_per_task
    cores = own if launch.launcher == "aprun" else max(own // kind.threads_per_core, 1)
    openmp = launch.openmp_of(component) or 1
    threads = max(openmp, cores)
    now = max(len(node.pattern) for node in placement.nodes_of(number))
    if launch.launcher == "srun":
        counts = _tasks_per_node(component.tasks, now, openmp, kind, memory_gb)
        requested_gpus = component.gpus.on_node(now, len(placement.nodes_of(number))) if component.gpus else None
        # Resources that the job did not request are not proposed.
        gpus = kind.gpus if requested_gpus is None else min(requested_gpus, kind.gpus)
        yield from _srun_changes(component, kind, counts, openmp, gpus)
        return
    if launch.launcher == "pals":
        for width in widths(kind, now, threads, component):
            yield {"-depth": str(width), "-cpu-bind": "depth"}
        yield {"-cpu-bind": f"list:{_even_list(kind, now)}"}
        return
    counts = _tasks_per_node(component.tasks, now, threads, kind, memory_gb)
    depth: Changes = {"-d": str(threads)} if threads > own else {}
    yield from _aprun_changes(counts, depth, kind)


def _aprun_changes(counts: list[int], depth: Changes, kind: NodeKind) -> Iterator[Changes]:
    """Yield changes to an aprun program for some numbers of tasks per node."""
    anywhere: Changes = {"-sn": None, "-sl": None}
    yield depth
    yield {**depth, "-cc": None}
    for tasks in counts:
        count: Changes = {"-N": str(tasks)}
        share: Changes = {"-S": str(-(-tasks // kind.numa_nodes))}
        spreads: tuple[Changes, ...] = ({}, share, {**share, **anywhere}, {**share, **anywhere, "-cc": None})
        for more, spread in itertools.product(({}, count), spreads):
            yield {**depth, **more, **spread}


def widths(kind: NodeKind, tasks: int, threads: int, component: Component | None = None) -> list[int]:
    """Return cores per task to try: the fair share first, then whole NUMA nodes, one NUMA node, and its threads.

    Parameters
    ----------
    kind : NodeKind
        Kind of node.
    tasks : int
        Number of tasks.
    threads : int
        Threads per task.
    component : Component or None
        One program of the line, if parsed.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> widths(Machine.load("perlmutter").node("cpu"), 24, 1)
    [5, 4, 1]
    """
    share, numa = max(fair_share(kind, tasks, component), 1), kind.cores_per_numa_node
    fitting = share - share % numa if share >= numa else max(w for w in range(1, share + 1) if numa % w == 0)
    # One NUMA node for each task leaves nodes idle between fewer tasks than there are, but keeps their memory near.
    near = min(fitting, numa)
    # A fair share is worth trying even where more threads run on it than it has cores.
    return [width for width in dict.fromkeys((share, fitting, near, threads)) if width == share or threads <= width]


def _even_list(kind: NodeKind, tasks: int) -> str:
    """Return the cores of each task of a node as a PALS list: the same number each, on as many NUMA nodes as there are."""
    usable = [
        [core for core in kind.cores_of(numa_node) if core in kind.usable_cores] for numa_node in range(kind.numa_nodes)
    ]
    homes = Counter(task * kind.numa_nodes // tasks for task in range(tasks))
    width = max(1, min(len(usable[numa_node]) // here for numa_node, here in homes.items()))
    lists = []
    for numa_node, here in homes.items():
        cores = usable[numa_node]
        lists += [as_ranges(cores[task * width : task * width + width] or cores[-1:]) for task in range(here)]
    return ":".join(lists)


_SRUN_BINDS: tuple[Changes, ...] = (
    {"--cpu-bind": "cores"},
    {},
    {"--cpu-bind": "cores", "--hint": None, "--threads-per-core": "1"},
    {"--hint": "nomultithread", "--threads-per-core": None, "--cpu-bind": None},
)
_SRUN_ORDERS: tuple[Changes, ...] = ({}, {"-m": "block:block"}, {"-m": "block:cyclic"})


def _srun_changes(
    component: Component, kind: NodeKind, counts: Sequence[int], threads: int, gpus: int
) -> Iterator[Changes]:
    """Yield changes to an srun program: the node's CPUs shared out among its tasks, bound to cores."""
    yield {"--cpu-bind": "cores"}
    yield {"--hint": "nomultithread", "--threads-per-core": None}
    for place, tasks in enumerate(counts):
        count: Changes = {}
        if place:
            count = {"-N": str(-(-component.tasks // tasks)), "--ntasks-per-node": str(tasks)}
        # With --cpu-bind, a --hint is ignored: they conflict.
        hinted = component.given("--hint") is not None
        binds = [bind for bind in _SRUN_BINDS if not hinted or "--cpu-bind" not in bind or "--hint" in bind]
        for order, width, bind in itertools.product(_SRUN_ORDERS, widths(kind, tasks, threads, component), binds):
            one_thread = (
                component.threads_per_core == 1
                or bind.get("--threads-per-core") == "1"
                or "nomultithread" in bind.values()
            )
            cpus = width * (1 if one_thread else kind.threads_per_core)
            yield {**count, "-c": str(cpus), **order, **bind}
    if gpus and (component.gpus is None or component.gpus.per_task is None):
        yield from _gpu_changes(kind, gpus // counts[0], counts[0], threads, component)


def _gpu_changes(kind: NodeKind, each: int, tasks: int, threads: int, component: Component) -> Iterator[Changes]:
    """Yield changes that deal the GPUs of a node out among its tasks, each the nearest."""
    if not each:
        return
    gpus: Changes = {"--gpus-per-task": str(each), "--gpu-bind": "closest"}
    per_core = 1 if component.threads_per_core == 1 else kind.threads_per_core
    yield gpus
    for width in widths(kind, tasks, threads, component):
        yield {"-c": str(width * per_core), "--cpu-bind": "cores", **gpus}
        yield {"-c": str(width * per_core), **gpus}


def better_line(
    placement: Placement, where: LineInScript, cost_of: Callable[[Placement], Cost] = placement_cost
) -> BetterLine | None:
    """Return a line for the same launcher that is better and worse in nothing; None if none is found.

    Parameters
    ----------
    placement : Placement
    where : LineInScript
        The script that contains the line.
    cost_of : callable
        Effect of memory bandwidth on a placement: `hopperlib.placement.slowdown.placement_cost`, possibly with
        additional arguments.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> hopper, script = Machine.load("hopper"), read_script("aprun -n 384 -N 12 vasp")
    >>> naive = place_tasks(read_launches(script, hopper)[0], hopper)
    >>> better_line(naive, LineInScript(script)).line
    'aprun -n 384 -N 12 -S 3 vasp'
    """
    launch, cost = placement.launch, cost_of(placement)
    before = advise(placement, cost)
    read = read_line_options(where.script.lines[where.number], launch.launcher)
    if not counted_codes(before) or read is None or len(read) != len(launch.components):
        return None
    written: list[Changes] = [{} for _ in read]
    best: BetterLine | None = None
    best_rank: tuple[float, ...] = ()
    # Programs are changed one after the other, starting from the best result so far.
    for number, program in enumerate(read):
        changes = _changes(placement, number, cost.memory_per_task_gb[number])
        tried = dict.fromkeys(tuple(program.effective(change, launch.launcher).items()) for change in changes)
        for change in map(dict, tried):
            found = where.tried(read, [*written[:number], change, *written[number + 1 :]], placement)
            if found is None:
                continue
            placed = found[2]
            its_cost = cost_of(placed)
            after = advise(placed, its_cost)
            if not _dominates(placement, placed, before, after):
                continue
            rank = (_problems(after), counted_codes(after).total(), len(placed.nodes), _size(change, program))
            if best is None or rank < best_rank:
                best, best_rank, written[number] = BetterLine(*found, its_cost), rank, change
    return best


def _size(changes: Changes, program: ProgramOptions) -> int:
    """Return the size of a change: an option that is added or removed counts 1, a changed value 2."""
    typed = {given.name for given in program.given}
    # Explicit binding has no cost: the default binding differs between sites.
    free = {"--cpu-bind": "cores"}
    sizes = {name: (name in typed) + (value is not None) - (free.get(name) == value) for name, value in changes.items()}
    return sum(sizes.values())


def layout_line(machine: Machine, kind: NodeKind, tasks: int, tasks_per_node: int, threads: int) -> str | None:
    """Return a line that starts a job with these tasks per node and threads per task; None if none is found.

    Each form is placed on one full node, representing the others; of those that give each thread a core, the first with
    the fewest findings is used.

    Parameters
    ----------
    machine : Machine
        The machine.
    kind : NodeKind
        Kind of node.
    tasks : int
        Number of tasks.
    tasks_per_node : int
        Tasks per node.
    threads : int
        Threads per task.

    Examples
    --------
    >>> layout_line(Machine.load("perlmutter"), Machine.load("perlmutter").node("cpu"), 900, 120, 1)
    'srun -N 8 -n 900 --ntasks-per-node=120 -c 2 --cpu-bind=cores ./a.out'
    """
    best: tuple[int, int] | None = None
    line = None
    if machine.launcher().kind in _BOUND_BY_OTHERS:
        return None
    full = min(tasks, tasks_per_node)
    for options in layout_options(machine, kind, full, threads):
        whole, one = (layout_text(machine, options, many, tasks_per_node) for many in (tasks, full))
        with suppress(LaunchError):
            (launch,) = read_launches(one, machine, threads=threads, kind=kind.name)
            placed = place_tasks(launch, machine, kind=kind.name)
            after = advise(placed, placement_cost(placed))
            rank = _problems(after), counted_codes(after).total()
            roomy = all(len(seat.cores) >= threads for seat in placed.nodes[0].pattern)
            if roomy and len(placed.nodes) == 1 and (best is None or rank < best):
                best, line = rank, whole
                # No other form can have fewer findings.
                if not any(best):
                    break
    return line


def line_of(layout: Layout) -> str | None:
    """Return the line of the machine's launcher that starts a job in a layout; None if the machine has no launcher.

    Parameters
    ----------
    layout : Layout
        Layout to write as a line.

    Examples
    --------
    >>> from hopperlib.placement.layouts import layouts
    >>> half = next(one for one in layouts(Machine.load("hopper"), need_gb=2, tasks=384) if one.tasks_per_node == 12 and one.threads_per_task == 1)
    >>> line_of(half)
    'aprun -n 384 -N 12 -S 3 ./a.out'
    """
    if not layout.machine.launchers:
        return None
    return layout_line(layout.machine, layout.node_kind, layout.tasks, layout.tasks_per_node, layout.threads_per_task)


def layout_options(machine: Machine, kind: NodeKind, tasks: int, threads: int) -> Iterator[str]:
    """Yield options for a layout in the syntax of the machine's launcher, the canonical form first.

    Parameters
    ----------
    machine : Machine
        Machine with a launcher.
    kind : NodeKind
        Kind of node.
    tasks : int
        Tasks per node.
    threads : int
        Threads per task.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> list(layout_options(hopper, hopper.node(), 12, 2))
    ['-d 2', '-S 3 -d 2']
    """
    launcher = machine.launcher().kind
    if launcher == "srun":
        per_core = 1 if machine.launcher().threads_per_core == 1 else kind.threads_per_core
        for order in ("", " -m block:block", " -m block:cyclic"):
            for width in widths(kind, tasks, threads):
                yield f"-c {width * per_core}{order} --cpu-bind=cores"
    elif launcher == "aprun":
        depth = f" -d {threads}" if threads > 1 else ""
        yield depth.strip()
        yield f"-S {-(-tasks // kind.numa_nodes)}{depth}"
    elif launcher == "pals":
        for width in widths(kind, tasks, threads):
            yield f"--depth {width} --cpu-bind depth"
    else:
        flags = {"openmpi": "--map-by slot:PE={} --bind-to core", "mpich": "-bind-to core:{}", "intelmpi": ""}
        yield flags[launcher].format(threads)


def layout_text(machine: Machine, options: str, tasks: int, tasks_per_node: int) -> str:
    """Return a line of the machine's launcher with its counts and some options.

    Parameters
    ----------
    machine : Machine
        Machine with a launcher.
    options : str
        Options of the line.
    tasks : int
        Tasks of the job.
    tasks_per_node : int
        Tasks per node.

    Examples
    --------
    >>> layout_text(Machine.load("hopper"), "-S 3", 384, 12)
    'aprun -n 384 -N 12 -S 3 ./a.out'
    """
    nodes, launcher = -(-tasks // tasks_per_node), machine.launcher().kind
    counts = {
        "srun": f"srun -N {nodes} -n {tasks} --ntasks-per-node={tasks_per_node}",
        "aprun": f"aprun -n {tasks} -N {tasks_per_node}",
        "pals": f"mpiexec -n {tasks} --ppn {tasks_per_node}",
    }.get(launcher, f"mpirun -n {tasks} --npernode {tasks_per_node}")
    return f"{counts} {options} ./a.out".replace("  ", " ")
