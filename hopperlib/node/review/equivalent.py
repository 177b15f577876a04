"""The same placement as a line of the other launcher.

Lines are tried from the plainest to the most explicit; each is read and placed,
and the first that puts every task on the same CPUs of the same node is taken.
So an answer is never a translation of options, and where none of them does it
there is no answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import LauncherKind, LaunchError
from hopperlib.node.launch.line_writer import Program, environment_before, write_line
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import Placement, place_tasks
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu

__all__ = ["equivalent_line", "same_map"]

Options = tuple[tuple[str, str], ...]


def same_map(one: Placement, other: Placement) -> bool:
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
    if len(one.nodes) != len(other.nodes):
        return False
    compared: set[tuple[int, int]] = set()
    for here, there in zip(one.nodes, other.nodes, strict=True):
        if list(here.task_numbers) != list(there.task_numbers):
            return False
        pair = (id(here.pattern), id(there.pattern))
        if pair in compared:
            continue
        compared.add(pair)
        for seat, their_seat in zip(here.pattern, there.pattern, strict=True):
            if (seat.cpus, seat.bound) != (their_seat.cpus, their_seat.bound):
                return False
    return True


def _binding_options(placement: Placement, component: int, launcher: LauncherKind) -> Iterator[tuple[str, str]]:
    """Yield ways to bind tasks explicitly, the plainest first."""
    try:
        pattern = common_pattern(placement, component)
    except ValueError:
        return
    if not any(binding.bound for binding in pattern):
        yield ("-cc", "none") if launcher == "aprun" else ("--cpu-bind", "none")
        return
    makers = (cc_list,) if launcher == "aprun" else (map_cpu, mask_cpu)
    for maker in makers:
        try:
            yield "-cc" if launcher == "aprun" else "--cpu-bind", maker(pattern)
        except ValueError:
            continue


def _srun_orders(pattern: Sequence[Binding], kind: NodeKind, per_numa_node: int) -> list[Options]:
    """Return options for the order in which srun takes NUMA nodes, the likeliest first.

    Tasks in blocks come of ``block``, tasks dealt out in turn of ``cyclic``,
    which is the default. Blocks that leave cores free need a bound.
    """
    numa_nodes = [binding.numa_nodes[0] for binding in pattern]
    in_blocks = numa_nodes == sorted(numa_nodes) and len(set(numa_nodes)) < len(numa_nodes)
    first: Options = (("-m", "block:block"),) if in_blocks else ()
    bound: Options = (("--ntasks-per-socket", str(per_numa_node)),)
    width = max(len(binding.cores) for binding in pattern)
    full = per_numa_node * width > kind.cores_per_numa_node - width
    plain: list[Options] = [first, (*bound, *first)] if full or not in_blocks else [(*bound, *first), first]
    return plain if in_blocks else [*plain, (("-m", "block:cyclic"),)]


def _srun_options(placement: Placement, component: int) -> Iterator[Options]:
    """Yield options of srun that may give a component's placement."""
    nodes = placement.nodes_of(component)
    asked = placement.launch.components[component]
    tasks_per_node = max(len(node.pattern) for node in nodes)
    pattern = nodes[0].pattern
    threads = max(len(binding.thread_cores) for binding in pattern)
    cpus = max(len(binding.cpus) if binding.bound else threads for binding in pattern)
    strict: Options = (("--mem-bind", "local"),) if asked.strict_memory else ()
    base: Options = (("-N", str(len(nodes))), ("-n", str(asked.tasks)), ("--ntasks-per-node", str(tasks_per_node)))
    per_numa_node = max(len(tasks) for tasks in placement.tasks_by_numa_node(nodes[0].node))
    orders = _srun_orders(pattern, placement.node_kind, per_numa_node)
    blocks: Options = ()
    if len(nodes) > 1 and len(nodes[-1].pattern) != tasks_per_node:
        # Blocks of a node's tasks are the only way to fill the first nodes and leave the last one with a rest.
        blocks, orders = (("-m", f"plane={tasks_per_node}"),), [(("-m", f"plane={tasks_per_node}"),)]
    if pattern[0].bound:
        sized = (*base, ("-c", str(cpus))) if cpus > 1 else base
        for order in orders:
            yield (*sized, *order, ("--cpu-bind", "cores"), *strict)
    # A task may be bound to more CPUs than it has threads. And a step that asks for CPUs (-c) gets no others, so
    # an explicit binding may need to ask for none.
    for width in dict.fromkeys((cpus, threads, 1)):
        sized = (*base, ("-c", str(width))) if width > 1 else base
        for binding in _binding_options(placement, component, "srun"):
            yield (*sized, *blocks, binding, *strict)


def _aprun_options(placement: Placement, component: int) -> Iterator[Options]:
    """Yield options of aprun that may give a component's placement."""
    nodes = placement.nodes_of(component)
    asked = placement.launch.components[component]
    tasks_per_node = max(len(node.pattern) for node in nodes)
    pattern = nodes[0].pattern
    cores = max(len(binding.cores) if binding.bound else 1 for binding in pattern)
    threads = max(len(binding.thread_cores) for binding in pattern)
    strict: Options = (("-ss", ""),) if asked.strict_memory else ()
    used = sorted({numa_node for binding in pattern for numa_node in binding.numa_nodes})
    per_numa_node = max(len(tasks) for tasks in placement.tasks_by_numa_node(nodes[0].node))
    narrow: Options = () if len(used) == placement.node_kind.numa_nodes else (("-sl", ",".join(map(str, used))),)
    # One task on a whole NUMA node may also be a task of few threads that is bound to it.
    for depth in dict.fromkeys((cores, threads)):
        base: Options = (("-n", str(asked.tasks)), ("-N", str(tasks_per_node)))
        base += (("-d", str(depth)),) if depth > 1 else ()
        for numa in ((), (("-S", str(per_numa_node)),), (("-S", str(per_numa_node)), *narrow)):
            for keyword in ((), (("-cc", "numa_node"),)):
                yield base + numa + keyword + strict
        for binding in _binding_options(placement, component, "aprun"):
            yield (*base, binding, *strict)


def _placed(line: str, like: Placement) -> Placement | None:
    """Return the placement of a line on the same machine; None if it would be refused."""
    machine, kind = like.machine, like.node_kind.name
    try:
        launch = read_launch(line, machine, threads=like.launch.openmp_threads, kind=kind)
        return place_tasks(launch, machine, kind=kind)
    except LaunchError:
        return None


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
    options = _srun_options if other == "srun" else _aprun_options
    choices = [list(dict.fromkeys(options(placement, number))) for number in range(len(launch.components))]
    # Programs of one line are most often alike, so all of them are tried with the same kind of options first.
    tried = [tuple(part[min(number, len(part) - 1)] for part in choices) for number in range(max(map(len, choices)))]
    if len(choices) == 2:
        tried += [pair for pair in itertools.product(*choices) if pair not in tried]
    for one in tried:
        programs = [
            Program(part, component.command, component.shell)
            for part, component in zip(one, launch.components, strict=True)
        ]
        line = write_line(other, programs, environment=environment_before(launch))
        placed = _placed(line, placement)
        if placed is not None and same_map(placement, placed):
            return line
    return None
