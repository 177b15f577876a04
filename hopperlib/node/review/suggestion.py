"""A better line for the same launcher, and the same placement for the other one.

A better line is found by trying: options are changed one way or another, each
line is read, placed and judged like the original, and the best is taken if it
is really better. So nothing is suggested that the launcher would refuse, or
that trades one problem for another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import Component, LauncherKind, LaunchError
from hopperlib.node.launch.line_writer import Program, changed, environment_before, write_line
from hopperlib.node.launch.reader import read_launch
from hopperlib.node.placement import NodePlacement, Placement, place_tasks
from hopperlib.node.review.advice import advise
from hopperlib.node.review.binding_lists import cc_list, map_cpu, mask_cpu
from hopperlib.node.review.equivalent import equivalent_line
from hopperlib.node.review.slowdown import Cost, placement_cost

__all__ = ["Better", "Suggestion", "better_line", "suggest"]

Changes = Mapping[str, "str | None"]


class Better(NamedTuple):
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


class Suggestion(NamedTuple):
    """Lines to use instead.

    Parameters
    ----------
    better : Better or None
        A better line for the same launcher; None if none was found.
    equivalent : str or None
        A line of the other launcher with the same task-to-core map as the line given.
    """

    better: Better | None
    equivalent: str | None

    def lines(self, launcher: LauncherKind) -> dict[str, str | None]:
        """Return both by launcher: the better line for the one given, the equivalent for the other."""
        better = self.better.line if self.better else None
        return (
            {"aprun": better, "srun": self.equivalent}
            if launcher == "aprun"
            else {"aprun": self.equivalent, "srun": better}
        )


def _even_pattern(tasks: int, threads: int, kind: NodeKind) -> tuple[Binding, ...] | None:
    """Return tasks dealt out evenly over the NUMA nodes in blocks, a core a thread; None if they do not fit so."""
    each, rest = divmod(tasks, kind.numa_nodes)
    pattern = []
    for numa_node in range(kind.numa_nodes):
        count = each + (numa_node < rest)
        if count * threads > kind.cores_per_numa_node:
            return None
        first = kind.cores_of(numa_node)[0]
        for seat in range(count):
            cores = tuple(range(first + seat * threads, first + (seat + 1) * threads))
            own = tuple((core,) for core in cores)
            pattern.append(Binding(cores=cores, cpus=cores, thread_cores=own, numa_nodes=(numa_node,), bound=True))
    return tuple(pattern)


def _tasks_per_node(
    component: Component, node: NodePlacement, threads: int, kind: NodeKind, memory: float | None
) -> list[int]:
    """Return numbers of tasks a node worth trying: as it is, as many as fit whole, as memory allows."""
    now = len(node.pattern)
    cores = kind.cores_per_numa_node
    whole = kind.numa_nodes * (cores // threads) if threads <= cores else kind.cores // threads
    room = int(kind.usable_memory_gb / memory + 1e-9) if memory else now
    return [
        number
        for number in dict.fromkeys((now, min(now, whole), min(now, whole, room)))
        if 0 < number <= component.tasks
    ]


def _aprun_changes(
    component: Component, node: NodePlacement, threads: int, kind: NodeKind, memory: float | None
) -> Iterator[Changes]:
    """Yield changes to an aprun program that may make it better, the plainest first."""
    depth: dict[str, str | None] = {"-d": str(threads)} if threads > component.threads_per_task else {}
    anywhere: dict[str, str | None] = {"-sn": None, "-sl": None}
    if component.given("-B") is not None:
        # Outside its script the line has no reservation to take its numbers from.
        depth |= {"-B": None, "-n": str(component.tasks)} | ({"-d": str(threads)} if threads > 1 else {})
    yield depth
    yield {**depth, "-cc": None}
    for tasks in _tasks_per_node(component, node, threads, kind, memory):
        count: dict[str, str | None] = {"-N": str(tasks)}
        share = {"-S": str(-(-tasks // kind.numa_nodes))}
        for more in ({}, count):
            yield {**depth, **more}
            yield {**depth, **more, **share}
            yield {**depth, **more, **share, **anywhere}
            yield {**depth, **more, **share, **anywhere, "-cc": None}
        even = _even_pattern(tasks, threads, kind)
        if even:
            yield {**depth, **count, **anywhere, "-S": None, "-cc": cc_list(even)}


def _srun_changes(
    component: Component, node: NodePlacement, threads: int, kind: NodeKind, memory: float | None
) -> Iterator[Changes]:
    """Yield changes to an srun program that may make it better, the plainest first."""
    cpus = threads * kind.threads_per_core if component.threads_per_core != 1 else threads
    widths: list[dict[str, str | None]] = [{}] if component.threads_per_task >= threads else []
    widths += [{"-c": str(width)} for width in dict.fromkeys((threads, cpus)) if width != component.threads_per_task]
    bindings: list[dict[str, str | None]] = [{}, {"--cpu-bind": "cores"}]
    spreads: list[dict[str, str | None]] = [{}, {"-m": "block:cyclic"}]
    for width, spread, bind in itertools.product(widths, spreads, bindings):
        yield {**width, **bind, **spread}
    yield {"--hint": "nomultithread", "--threads-per-core": None}
    plain: dict[str, str | None] = {"--ntasks-per-socket": None, "--ntasks-per-core": None}
    for tasks in _tasks_per_node(component, node, threads, kind, memory):
        count: dict[str, str | None] = {"-N": str(-(-component.tasks // tasks)), "--ntasks-per-node": str(tasks)}
        per_socket = {"--ntasks-per-socket": str(-(-tasks // kind.sockets))}
        for width, spread, bind in itertools.product(widths, spreads, bindings):
            yield {**count, **width, **bind, **spread}
            yield {**count, **plain, **width, **bind, **spread, **per_socket}
        even = _even_pattern(tasks, threads, kind)
        if even:
            listed = map_cpu(even) if threads == 1 else mask_cpu(even)
            for width in widths:
                yield {**count, **plain, **width, "-m": None, "--cpu-bind": listed}


# No problem, no advice, no waiting that spreading would save.
_SPOTLESS = (0, 0, 1.0)


def _rank(placement: Placement, cost: Cost) -> tuple[int, int, float]:
    """Return how bad a placement is: problems, then pieces of advice, then the slowdown at worst.

    What the script around the line reserves is no matter of the line.
    """
    levels = [one.level for one in advise(placement, cost) if one.code != "reservation-larger"]
    return levels.count("problem"), levels.count("advice"), round(cost.slowdown_range(0, 1)[1], 6)


def better_line(
    placement: Placement, *, core_cap_gb_s: float | None = None, memory_per_task_gb: float | None = None
) -> Better | None:
    """Return a better line for the same launcher; None if none is found.

    Better means fewer problems, or as many and fewer pieces of advice, or as
    many of both and less waiting for memory. It keeps the tasks, and needs more
    nodes only where that solves a problem.

    Parameters
    ----------
    placement : Placement
    core_cap_gb_s, memory_per_task_gb : float or None
        As for `hopperlib.node.review.slowdown.placement_cost`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> better_line(place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper)).line
    'aprun -n 384 -N 12 -S 3 vasp'
    """
    launch = placement.launch
    cost = placement_cost(placement, core_cap_gb_s=core_cap_gb_s, memory_per_task_gb=memory_per_task_gb)
    rank_now = _rank(placement, cost)
    if rank_now <= _SPOTLESS:
        return None
    programs = [changed(component, {}) for component in launch.components]
    best: tuple[tuple[int, int, float, int, int], Better] | None = None
    for number in range(len(programs)):
        written = programs[number]
        for program in _programs(placement, number, cost.memory_per_task_gb[number]):
            candidate = [*programs[:number], program, *programs[number + 1 :]]
            placed = _placed(write_line(launch.launcher, candidate), placement)
            if placed is None:
                continue
            its_cost = placement_cost(placed, core_cap_gb_s=core_cap_gb_s, memory_per_task_gb=memory_per_task_gb)
            rank = _rank(placed, its_cost)
            more_nodes = len(placed.nodes) > len(placement.nodes)
            if rank >= rank_now or (more_nodes and rank[0] >= rank_now[0]):
                continue
            differing = len(set(program.options) ^ set(launch.components[number].options))
            full = (*rank, len(placed.nodes), differing)
            if best is None or full < best[0]:
                line = write_line(launch.launcher, candidate, environment=environment_before(launch))
                best, written = (full, Better(line, placed, its_cost)), program
            if rank <= _SPOTLESS and not more_nodes:
                break
        programs[number] = written
    return best[1] if best else None


def _programs(placement: Placement, number: int, memory_per_task_gb: float | None) -> Iterator[Program]:
    """Yield a component's program with its options changed, each way once."""
    launch, kind = placement.launch, placement.node_kind
    component = launch.components[number]
    own = component.threads_per_task
    if launch.launcher == "aprun":
        ways, cores = _aprun_changes, own
    else:
        ways, cores = _srun_changes, max(own // kind.threads_per_core, 1)
    threads = max(launch.openmp_threads or 1, cores)
    tried = {changed(component, {})}
    for changes in ways(component, placement.nodes_of(number)[0], threads, kind, memory_per_task_gb):
        program = changed(component, changes)
        if program not in tried:
            tried.add(program)
            yield program


def _placed(line: str, like: Placement) -> Placement | None:
    """Return the placement of a line in place of another; None if it would be refused or has not the nodes."""
    machine, kind, launch = like.machine, like.node_kind.name, like.launch
    try:
        placed = place_tasks(read_launch(line, machine, threads=launch.openmp_threads, kind=kind), machine, kind=kind)
    except LaunchError:
        return None
    if launch.reservation and len(placed.nodes) > launch.reservation.nodes:
        return None
    return placed


def suggest(
    placement: Placement, *, core_cap_gb_s: float | None = None, memory_per_task_gb: float | None = None
) -> Suggestion:
    """Return a better line for the launcher of a placement and the equivalent one for the other.

    Parameters
    ----------
    placement : Placement
    core_cap_gb_s, memory_per_task_gb : float or None
        As for `hopperlib.node.review.slowdown.placement_cost`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> hopper = Machine.load("hopper")
    >>> suggest(place_tasks(read_launch("aprun -n 24 a.out", hopper), hopper)).lines("aprun")["aprun"] is None
    True
    """
    better = better_line(placement, core_cap_gb_s=core_cap_gb_s, memory_per_task_gb=memory_per_task_gb)
    return Suggestion(better, equivalent_line(placement))
