"""The same placement for the other launcher.

It is found by trying: lines are tried from the plainest to the most explicit, and
the first that puts every task on the same CPUs of the same node is taken. So an
answer is never a translation of options, and where none of them does it there is
no answer.
"""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperlib.launchers.components import LauncherKind, LaunchError
from hopperlib.launchers.line_writer import Program, environment_before, write_line
from hopperlib.launchers.reader import read_launch
from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu
from hopperlib.placement.placement import NodePlacement, Placement, place_tasks

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


def try_placement(line: str, placement: Placement) -> Placement | None:
    """Return the placement of a line on the machine and with the threads of another; None if it would be refused.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> placement = place_tasks(read_launch("aprun -n 48 a.out", hopper), hopper)
    >>> len(try_placement("aprun -n 48 -N 12 a.out", placement).nodes), try_placement("aprun -n 4 -N 48", placement)
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


class _Wanted(NamedTuple):
    """The placement of a program that a line of the other launcher is to give: tasks and threads of its fullest node."""

    tasks: int
    nodes: tuple[NodePlacement, ...]
    kind: NodeKind
    strict_memory: bool
    per_node: int
    per_numa_node: int
    threads: int

    @property
    def pattern(self) -> tuple[Binding, ...]:
        """Where the tasks of the first node run, which stands for the others."""
        return self.nodes[0].pattern


def _wanted(placement: Placement, number: int) -> _Wanted:
    """Return what a line of the other launcher is to give for a program."""
    component, nodes = placement.launch.components[number], placement.nodes_of(number)
    return _Wanted(
        tasks=component.tasks,
        nodes=nodes,
        kind=placement.node_kind,
        strict_memory=component.strict_memory,
        per_node=max(len(node.pattern) for node in nodes),
        per_numa_node=max(len(tasks) for tasks in placement.tasks_by_numa_node(nodes[0].node)),
        threads=max(len(binding.thread_cores) for binding in nodes[0].pattern),
    )


def _options(placement: Placement, number: int) -> Iterator[Options]:
    """Yield options of the other launcher that may give a component's placement."""
    to_srun = placement.launch.launcher == "aprun"
    bindings = list(_explicit_bindings(placement, number, to_srun))
    yield from (_srun_options if to_srun else _aprun_options)(_wanted(placement, number), bindings)


def _srun_options(wanted: _Wanted, bindings: Sequence[Options]) -> Iterator[Options]:
    """Yield options of srun that may give a placement."""
    pattern, per_node = wanted.pattern, wanted.per_node
    base = {"-N": str(len(wanted.nodes)), "-n": str(wanted.tasks), "--ntasks-per-node": str(per_node)}
    strict = {"--mem-bind": "local"} if wanted.strict_memory else {}
    cpus = max(len(binding.cpus) if binding.bound else wanted.threads for binding in pattern)
    orders, blocks = _srun_orders(pattern, wanted.per_numa_node, wanted.kind), Options()
    if len(wanted.nodes) > 1 and len(wanted.nodes[-1].pattern) != per_node:
        # Blocks of a node's tasks are the only way to fill the first nodes and leave the last one with a rest.
        blocks = {"-m": f"plane={per_node}"}
        orders = [blocks]
    for order in orders if pattern[0].bound else ():
        yield {**base, **_width("-c", cpus), **order, "--cpu-bind": "cores", **strict}
    # A task may be bound to more CPUs than it has threads. And a step that asks for CPUs (-c) gets no others, so
    # an explicit binding may need to ask for none.
    for width, binding in itertools.product(dict.fromkeys((cpus, wanted.threads, 1)), bindings):
        yield {**base, **_width("-c", width), **blocks, **binding, **strict}


def _aprun_options(wanted: _Wanted, bindings: Sequence[Options]) -> Iterator[Options]:
    """Yield options of aprun that may give a placement."""
    cores = max(len(binding.cores) if binding.bound else 1 for binding in wanted.pattern)
    strict = {"-ss": ""} if wanted.strict_memory else {}
    used = sorted({numa_node for binding in wanted.pattern for numa_node in binding.numa_nodes})
    share = {"-S": str(wanted.per_numa_node)}
    narrow = share | ({} if len(used) == wanted.kind.numa_nodes else {"-sl": ",".join(map(str, used))})
    # One task on a whole NUMA node may also be a task of few threads that is bound to it.
    for depth in dict.fromkeys((cores, wanted.threads)):
        base = {"-n": str(wanted.tasks), "-N": str(wanted.per_node), **_width("-d", depth)}
        ways = itertools.product(({}, share, narrow), ({}, {"-cc": "numa_node"}))
        for way in (*({**numa, **keyword} for numa, keyword in ways), *bindings):
            yield {**base, **way, **strict}


def _width(flag: str, cpus: int) -> Options:
    """Return the option for the CPUs of a task, none for one."""
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
        placed = try_placement(line, placement)
        if placed is not None and same_map(placement, placed):
            return line
    return None
