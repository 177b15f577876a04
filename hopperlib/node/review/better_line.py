"""A better line for the same launcher.

It is found by trying: options are changed one way or another, each line is
read, placed and judged like the original, and the best is taken if it is
really better. So nothing is suggested that the launcher would refuse, or that
trades one problem for another.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.line_writer import Changes, changed, environment_before, write_line
from hopperlib.node.placement import Placement
from hopperlib.node.review.advice import advise
from hopperlib.node.review.binding_lists import cc_list, map_cpu, mask_cpu
from hopperlib.node.review.equivalent import placed_instead
from hopperlib.node.review.slowdown import Cost, placement_cost

__all__ = ["BetterLine", "better_line"]


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
        for more in ({}, count):
            yield {**depth, **more}
            yield {**depth, **more, **share}
            yield {**depth, **more, **share, **anywhere}
            yield {**depth, **more, **share, **anywhere, "-cc": None}
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
            full = (*rank, len(placed.nodes), differing)
            if best is None or full < best[0]:
                line = write_line(launch.launcher, candidate, environment=environment_before(launch))
                best, written = (full, BetterLine(line, placed, its_cost)), program
            if rank <= _SPOTLESS and not more_nodes:
                break
        programs[number] = written
    return best[1] if best else None
