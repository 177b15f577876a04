"""The same placement as a line of the other launcher.

Lines are tried from the plainest to the most explicit; each is read and placed,
and the first that puts every task on the same CPUs of the same node is taken.
So an answer is never a translation of options, and where none of them does it
there is no answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.launch.components import Component, LauncherKind, LaunchError
from hopperlib.node.launch.line_writer import Program, environment_before, write_line
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import NodePlacement, Placement, place_tasks
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu

__all__ = ["equivalent_line", "placed_instead", "same_map"]

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


class _Placed(NamedTuple):
    """A component as it was placed: what a line of the other launcher must ask for."""

    asked: Component
    kind: NodeKind
    nodes: tuple[NodePlacement, ...]
    tasks_per_node: int
    per_numa_node: int
    threads: int
    bindings: list[Options]

    @classmethod
    def of(cls, placement: Placement, number: int) -> _Placed:
        """Return one component of a placement; the first of its nodes stands for the others."""
        to_srun = placement.launch.launcher == "aprun"
        nodes = placement.nodes_of(number)
        return cls(
            asked=placement.launch.components[number],
            kind=placement.node_kind,
            nodes=nodes,
            tasks_per_node=max(len(node.pattern) for node in nodes),
            per_numa_node=max(len(tasks) for tasks in placement.tasks_by_numa_node(nodes[0].node)),
            threads=max(len(binding.thread_cores) for binding in nodes[0].pattern),
            bindings=list(_explicit_bindings(placement, number, to_srun)),
        )


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


def _srun_orders(placed: _Placed) -> list[Options]:
    """Return options for the order in which srun takes NUMA nodes, the likeliest first.

    Tasks in blocks come of ``block``, tasks dealt out in turn of ``cyclic``,
    which is the default. Blocks that leave cores free need a bound.
    """
    pattern, per_numa_node = placed.nodes[0].pattern, placed.per_numa_node
    numa_nodes = [binding.numa_nodes[0] for binding in pattern]
    in_blocks = numa_nodes == sorted(numa_nodes) and len(set(numa_nodes)) < len(numa_nodes)
    first = {"-m": "block:block"} if in_blocks else {}
    bounded = {"--ntasks-per-socket": str(per_numa_node), **first}
    width = max(len(binding.cores) for binding in pattern)
    full = per_numa_node * width > placed.kind.cores_per_numa_node - width
    plain = [first, bounded] if full or not in_blocks else [bounded, first]
    return plain if in_blocks else [*plain, {"-m": "block:cyclic"}]


def _srun_options(placed: _Placed) -> Iterator[Options]:
    """Yield options of srun that may give a component's placement."""
    nodes, pattern, per_node = placed.nodes, placed.nodes[0].pattern, placed.tasks_per_node
    base = {"-N": str(len(nodes)), "-n": str(placed.asked.tasks), "--ntasks-per-node": str(per_node)}
    strict = {"--mem-bind": "local"} if placed.asked.strict_memory else {}
    threads = placed.threads
    cpus = max(len(binding.cpus) if binding.bound else threads for binding in pattern)
    orders, blocks = _srun_orders(placed), Options()
    if len(nodes) > 1 and len(nodes[-1].pattern) != per_node:
        # Blocks of a node's tasks are the only way to fill the first nodes and leave the last one with a rest.
        blocks = {"-m": f"plane={per_node}"}
        orders = [blocks]
    if pattern[0].bound:
        for order in orders:
            yield {**base, **_width("-c", cpus), **order, "--cpu-bind": "cores", **strict}
    # A task may be bound to more CPUs than it has threads. And a step that asks for CPUs (-c) gets no others, so
    # an explicit binding may need to ask for none.
    for width in dict.fromkeys((cpus, threads, 1)):
        for binding in placed.bindings:
            yield {**base, **_width("-c", width), **blocks, **binding, **strict}


def _aprun_options(placed: _Placed) -> Iterator[Options]:
    """Yield options of aprun that may give a component's placement."""
    pattern = placed.nodes[0].pattern
    cores = max(len(binding.cores) if binding.bound else 1 for binding in pattern)
    strict = {"-ss": ""} if placed.asked.strict_memory else {}
    used = sorted({numa_node for binding in pattern for numa_node in binding.numa_nodes})
    share = {"-S": str(placed.per_numa_node)}
    all_used = len(used) == placed.kind.numa_nodes
    narrow = share if all_used else {**share, "-sl": ",".join(map(str, used))}
    # One task on a whole NUMA node may also be a task of few threads that is bound to it.
    for depth in dict.fromkeys((cores, placed.threads)):
        base = {"-n": str(placed.asked.tasks), "-N": str(placed.tasks_per_node), **_width("-d", depth)}
        for numa, keyword in itertools.product(({}, share, narrow), ({}, {"-cc": "numa_node"})):
            yield {**base, **numa, **keyword, **strict}
        for binding in placed.bindings:
            yield {**base, **binding, **strict}


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
    options_for = _srun_options if other == "srun" else _aprun_options
    choices = [
        list(dict.fromkeys(tuple(options.items()) for options in options_for(_Placed.of(placement, number))))
        for number in range(len(launch.components))
    ]
    # Programs of one line are most often alike, so all of them are tried with the same kind of options first.
    tried = [tuple(part[min(number, len(part) - 1)] for part in choices) for number in range(max(map(len, choices)))]
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
