"""Lines to use instead: a better one for the same launcher, and the same placement for the other launcher.

Both are found by trying, so nothing is suggested that a launcher would refuse.
For a better line, options are changed one way or another, each line is read,
placed and judged like the original, and the best is taken if it is really
better; one problem is not traded for another. For the other launcher, lines are
tried from the plainest to the most explicit, and the first that puts every task
on the same CPUs of the same node is taken. So an answer is never a translation
of options, and where none of them does it there is no answer.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import LauncherKind, LaunchError
from hopperlib.node.launch.line_writer import Changes, Program, changed, environment_before, write_line
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import Placement, place_tasks
from hopperlib.node.review.advice import advise
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu
from hopperlib.node.review.slowdown import Cost, placement_cost

Options = dict[str, str]


def same_map(first: Placement, second: Placement) -> bool:
    """Return whether two placements put every task on the same CPUs of the same node, bound alike.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> lines = ("aprun -n 24 a.out", "aprun -n 24 -N 24 -S 6 a.out", "aprun -n 24 -N 12 a.out")
    >>> placed = [place_tasks(read_launch(line, hopper), hopper) for line in lines]
    >>> same_map(placed[0], placed[1]), same_map(placed[0], placed[2])
    (True, False)
    """
    if len(first.nodes) != len(second.nodes):
        return False
    pairs = list(zip(first.nodes, second.nodes, strict=True))
    if any(list(here.task_numbers) != list(there.task_numbers) for here, there in pairs):
        return False
    # Equal nodes hold the same pattern, so each pair of patterns is compared once.
    patterns = {(id(here.pattern), id(there.pattern)): (here.pattern, there.pattern) for here, there in pairs}
    return all(
        (seat.cpus, seat.bound) == (their_seat.cpus, their_seat.bound)
        for here, there in patterns.values()
        for seat, their_seat in zip(here, there, strict=True)
    )


def placed_instead(line: str, placement: Placement) -> Placement | None:
    """Return the placement of a line on the machine and with the threads of another; None if it would be refused.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> placement = place_tasks(read_launch("aprun -n 48 a.out", hopper), hopper)
    >>> len(placed_instead("aprun -n 48 -N 12 a.out", placement).nodes), placed_instead("aprun -n 4 -N 48", placement)
    (4, None)
    """
    machine, kind = placement.machine, placement.node_kind.name
    try:
        launch = read_launch(line, machine, threads=placement.launch.openmp_threads, kind=kind)
        return place_tasks(launch, machine, kind=kind)
    except LaunchError:
        return None


def _explicit_bindings(placement: Placement, number: int, to_srun: bool) -> Iterator[Options]:
    """Yield ways to bind tasks by the numbers of their CPUs, the plainest first; none where its nodes differ."""
    flag, makers = ("--cpu-bind", (map_cpu, mask_cpu)) if to_srun else ("-cc", (cc_list,))
    with suppress(ValueError):
        pattern = common_pattern(placement, number)
        if not any(binding.bound for binding in pattern):
            yield {flag: "none"}
            return
        for maker in makers:
            with suppress(ValueError):
                yield {flag: maker(pattern)}


def _srun_orders(pattern: Sequence[Binding], per_numa_node: int, kind: NodeKind) -> list[Options]:
    """Return options for the order in which srun takes NUMA nodes, the likeliest first.

    Tasks in blocks come of ``block``, tasks dealt out in turn of ``cyclic``,
    which is the default. Blocks that leave cores free need a bound.
    """
    numa_nodes = [binding.numa_nodes[0] for binding in pattern]
    in_blocks = numa_nodes == sorted(numa_nodes) and len(set(numa_nodes)) < len(numa_nodes)
    first = {"-m": "block:block"} if in_blocks else {}
    bounded = {"--ntasks-per-socket": str(per_numa_node), **first}
    width = max(len(binding.cores) for binding in pattern)
    # Where one more task would not fit, blocks end at the NUMA node by themselves.
    full = per_numa_node * width > kind.cores_per_numa_node - width
    plain = [first, bounded] if full or not in_blocks else [bounded, first]
    return plain if in_blocks else [*plain, {"-m": "block:cyclic"}]


def _options(placement: Placement, number: int) -> Iterator[Options]:
    """Yield options of the other launcher that may give a component's placement."""
    component, kind, nodes = placement.launch.components[number], placement.node_kind, placement.nodes_of(number)
    # The first of the nodes stands for the others.
    pattern = nodes[0].pattern
    per_node = max(len(node.pattern) for node in nodes)
    share = max(len(tasks) for tasks in placement.tasks_by_numa_node(nodes[0].node))
    threads = max(len(binding.thread_cores) for binding in pattern)
    to_srun = placement.launch.launcher == "aprun"
    bindings = list(_explicit_bindings(placement, number, to_srun))
    if to_srun:
        base = {"-N": str(len(nodes)), "-n": str(component.tasks), "--ntasks-per-node": str(per_node)}
        strict = {"--mem-bind": "local"} if component.strict_memory else {}
        cpus = max(len(binding.cpus) if binding.bound else threads for binding in pattern)
        orders, blocks = _srun_orders(pattern, share, kind), Options()
        if len(nodes) > 1 and len(nodes[-1].pattern) != per_node:
            # Blocks of a node's tasks are the only way to fill the first nodes and leave the last one with a rest.
            blocks = {"-m": f"plane={per_node}"}
            orders = [blocks]
        for order in orders if pattern[0].bound else ():
            yield {**base, **_width("-c", cpus), **order, "--cpu-bind": "cores", **strict}
        # A task may be bound to more CPUs than it has threads. And a step that asks for CPUs (-c) gets no others, so
        # an explicit binding may need to ask for none.
        for width, binding in itertools.product(dict.fromkeys((cpus, threads, 1)), bindings):
            yield {**base, **_width("-c", width), **blocks, **binding, **strict}
        return
    cores = max(len(binding.cores) if binding.bound else 1 for binding in pattern)
    strict = {"-ss": ""} if component.strict_memory else {}
    used = sorted({numa_node for binding in pattern for numa_node in binding.numa_nodes})
    narrow = {"-S": str(share)} | ({} if len(used) == kind.numa_nodes else {"-sl": ",".join(map(str, used))})
    # One task on a whole NUMA node may also be a task of few threads that is bound to it.
    for depth in dict.fromkeys((cores, threads)):
        base = {"-n": str(component.tasks), "-N": str(per_node), **_width("-d", depth)}
        ways = itertools.product(({}, {"-S": str(share)}, narrow), ({}, {"-cc": "numa_node"}))
        for way in (*({**numa, **keyword} for numa, keyword in ways), *bindings):
            yield {**base, **way, **strict}


def _width(flag: str, cpus: int) -> Options:
    """Return the option for so many CPUs a task, none for one."""
    return {flag: str(cpus)} if cpus > 1 else {}


def equivalent_line(placement: Placement) -> str | None:
    """Return a line of the other launcher that keeps the task-to-core map; None if none is found.

    Parameters
    ----------
    placement : Placement
        Of an aprun line, to be written for srun, or the other way round.

    Returns
    -------
    str or None
        The line. Options that do not bear on the placement are left out.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> equivalent_line(place_tasks(read_launch("aprun -n 48 a.out", hopper), hopper))
    'srun -N 2 -n 48 --ntasks-per-node=24 -m block:block --cpu-bind=cores a.out'
    """
    launch = placement.launch
    other: LauncherKind = "srun" if launch.launcher == "aprun" else "aprun"
    choices = [
        list(dict.fromkeys(tuple(options.items()) for options in _options(placement, number)))
        for number in range(len(launch.components))
    ]
    # Programs of one line are most often alike, so all of them are tried with the same kind of options first.
    tried = [tuple(part[min(number, len(part) - 1)] for part in choices) for number in range(max(map(len, choices)))]
    # All combinations of more than two programs would be too many lines to place.
    if len(choices) == 2:
        tried += [pair for pair in itertools.product(*choices) if pair not in tried]
    for combination in tried:
        programs = [
            Program(options, component.command, component.shell)
            for options, component in zip(combination, launch.components, strict=True)
        ]
        line = write_line(other, programs, environment=environment_before(launch))
        placed = placed_instead(line, placement)
        if placed is not None and same_map(placement, placed):
            return line
    return None


class BetterLine(NamedTuple):
    """A line that is better than the one given.

    Parameters
    ----------
    line : str
    placement : Placement
    cost : Cost
    """

    line: str
    placement: Placement
    cost: Cost


def _even_pattern(tasks: int, threads: int, kind: NodeKind) -> tuple[Binding, ...] | None:
    """Return tasks dealt out evenly over the NUMA nodes in blocks, a core a thread; None if they do not fit so."""
    each, rest = divmod(tasks, kind.numa_nodes)
    if (each + (rest > 0)) * threads > kind.cores_per_numa_node:
        return None
    pattern = []
    for numa_node in range(kind.numa_nodes):
        first = kind.cores_of(numa_node)[0]
        for start in range(first, first + (each + (numa_node < rest)) * threads, threads):
            cores = tuple(range(start, start + threads))
            pattern.append(Binding(cores, cores, (cores,) * threads, (numa_node,), bound=True))
    return tuple(pattern)


def _tasks_per_node(tasks: int, now: int, threads: int, kind: NodeKind, memory_gb: float | None) -> list[int]:
    """Return numbers of tasks a node worth trying: as it is, as many as fit whole, as memory allows."""
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
    threads = max(launch.openmp_threads or 1, cores)
    now = len(placement.nodes_of(number)[0].pattern)
    counts = _tasks_per_node(component.tasks, now, threads, kind, memory_gb)
    if launch.launcher == "srun":
        cpus = threads * kind.threads_per_core if component.threads_per_core != 1 else threads
        widths: list[Changes] = [{}] if own >= threads else []
        widths += [{"-c": str(width)} for width in dict.fromkeys((threads, cpus)) if width != own]
        yield from _srun_changes(component.tasks, counts, threads, widths, kind)
        return
    depth: Changes = {"-d": str(threads)} if threads > own else {}
    if component.given("-B") is not None:
        # Outside its script the line has no reservation to take its numbers from.
        depth |= {"-B": None, "-n": str(component.tasks)} | ({"-d": str(threads)} if threads > 1 else {})
    yield from _aprun_changes(counts, threads, depth, kind)


def _aprun_changes(counts: list[int], threads: int, depth: Changes, kind: NodeKind) -> Iterator[Changes]:
    """Yield changes to an aprun program for some numbers of tasks a node."""
    anywhere: Changes = {"-sn": None, "-sl": None}
    yield depth
    yield {**depth, "-cc": None}
    for tasks in counts:
        count: Changes = {"-N": str(tasks)}
        share: Changes = {"-S": str(-(-tasks // kind.numa_nodes))}
        spreads: tuple[Changes, ...] = ({}, share, {**share, **anywhere}, {**share, **anywhere, "-cc": None})
        for more, spread in itertools.product(({}, count), spreads):
            yield {**depth, **more, **spread}
        even = _even_pattern(tasks, threads, kind)
        if even:
            yield {**depth, **count, **anywhere, "-S": None, "-cc": cc_list(even)}


def _srun_changes(
    all_tasks: int, counts: list[int], threads: int, widths: list[Changes], kind: NodeKind
) -> Iterator[Changes]:
    """Yield changes to an srun program for some numbers of tasks a node and CPUs a task."""
    bindings: tuple[Changes, ...] = ({}, {"--cpu-bind": "cores"})
    spreads: tuple[Changes, ...] = ({}, {"-m": "block:cyclic"})
    ways: list[Changes] = [
        {**width, **bind, **spread} for width, spread, bind in itertools.product(widths, spreads, bindings)
    ]
    yield from ways
    yield {"--hint": "nomultithread", "--threads-per-core": None}
    plain: Changes = {"--ntasks-per-socket": None, "--ntasks-per-core": None}
    for tasks in counts:
        count: Changes = {"-N": str(-(-all_tasks // tasks)), "--ntasks-per-node": str(tasks)}
        for way in ways:
            yield {**count, **way}
            yield {**count, **plain, **way, "--ntasks-per-socket": str(-(-tasks // kind.sockets))}
        even = _even_pattern(tasks, threads, kind)
        if even:
            listed = map_cpu(even) if threads == 1 else mask_cpu(even)
            for width in widths:
                yield {**count, **plain, **width, "-m": None, "--cpu-bind": listed}


def _takes_away(placement: Placement, instead: Placement, number: int) -> bool:
    """Whether another placement leaves a task fewer cores than the line asks for, or another sight of the GPUs."""
    now, then = placement.nodes_of(number)[0].pattern, instead.nodes_of(number)[0].pattern
    asked = placement.launch.components[number].threads_per_task
    needed = min(len(now[0].cores), placement.launch.openmp_threads or asked)
    bound = now[0].bound and then[0].bound
    fewer = bound and min(len(seat.cores) for seat in then) < min(len(seat.cores) for seat in now)
    narrower = instead.launch.components[number].threads_per_task < min(asked, placement.launch.openmp_threads or asked)
    lost = fewer and min(len(seat.cores) for seat in then) < needed
    return lost or narrower or [seat.gpus for seat in now[: len(then)]] != [seat.gpus for seat in then[: len(now)]]


# No problem, no advice, no waiting that spreading would save.
_SPOTLESS = (0, 0, 1.0)


def _rank(placement: Placement, cost: Cost) -> tuple[int, int, float]:
    """Return how bad a placement is: problems, then pieces of advice, then the slowdown at worst.

    What the script around the line reserves is no matter of the line.
    """
    levels = [finding.level for finding in advise(placement, cost) if finding.code != "reservation-larger"]
    return levels.count("problem"), levels.count("advice"), round(cost.slowdown_range(0, 1)[1], 6)


def better_line(placement: Placement, cost_of: Callable[[Placement], Cost] = placement_cost) -> BetterLine | None:
    """Return a better line for the same launcher; None if none is found.

    Better means fewer problems, or as many and fewer pieces of advice, or as
    many of both and less waiting for memory. It keeps the tasks, and needs more
    nodes only where that solves a problem.

    Parameters
    ----------
    placement : Placement
    cost_of : callable
        What bandwidth makes of a placement: `hopperlib.node.review.slowdown.placement_cost`,
        perhaps with its further arguments set.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> better_line(place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper)).line
    'aprun -n 384 -N 12 -S 3 vasp'
    """
    launch = placement.launch
    cost = cost_of(placement)
    rank_now = _rank(placement, cost)
    if rank_now <= _SPOTLESS:
        return None
    programs = [changed(component, {}) for component in launch.components]
    best: tuple[tuple[int, int, float, int, int], BetterLine] | None = None
    # One program after the other is changed, with what was best for those before it.
    for number, component in enumerate(launch.components):
        written = programs[number]
        changes = _changes(placement, number, cost.memory_per_task_gb[number])
        # Each way is tried once, the line as it is not at all.
        tried = dict.fromkeys([written, *(changed(component, change) for change in changes)])
        for program in list(tried)[1:]:
            candidate = [*programs[:number], program, *programs[number + 1 :]]
            placed = placed_instead(write_line(launch.launcher, candidate), placement)
            if placed is None or (launch.reservation and len(placed.nodes) > launch.reservation.nodes):
                continue
            if _takes_away(placement, placed, number):
                continue
            its_cost = cost_of(placed)
            rank = _rank(placed, its_cost)
            more_nodes = len(placed.nodes) > len(placement.nodes)
            if rank >= rank_now or (more_nodes and rank[0] >= rank_now[0]):
                continue
            differing = len(set(program.options) ^ set(component.options))
            # Of lines as good as each other the one with fewer nodes, then the one that changes less.
            full = (*rank, len(placed.nodes), differing)
            if best is None or full < best[0]:
                line = write_line(launch.launcher, candidate, environment=environment_before(launch))
                best, written = (full, BetterLine(line, placed, its_cost)), program
            # Nothing is better than that, and the plainest changes were tried first.
            if rank <= _SPOTLESS and not more_nodes:
                break
        programs[number] = written
    return best[1] if best else None
