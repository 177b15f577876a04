"""Where the tasks of a node may run, and which tasks each node has."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hopperlib.machine import NodeKind


class Binding(NamedTuple):
    """The cores of one task, the same for the task in that seat on every equal node.

    Parameters
    ----------
    cores : tuple of int
        Cores the task may run on, in increasing order.
    cpus : tuple of int
        Hardware threads it may run on, as Linux numbers CPUs. Equal to `cores` where a core has one thread.
    thread_cores : tuple of tuple of int
        For each thread of the task, the cores it may run on.
    numa_nodes : tuple of int
        NUMA nodes of `cores`.
    bound : bool
        Whether the launcher keeps the task on these cores; False: they are all
        it could use, and the kernel moves it as it likes.
    gpus : tuple of int or None
        GPUs that the task sees, as a node numbers them from 0; None where that is not known.
    """

    cores: tuple[int, ...]
    cpus: tuple[int, ...]
    thread_cores: tuple[tuple[int, ...], ...]
    numa_nodes: tuple[int, ...]
    bound: bool
    gpus: tuple[int, ...] | None = ()


def bound_to(
    cpus: Iterable[int], kind: NodeKind, threads: int | Sequence[tuple[int, ...]] = 1, *, bound: bool = True
) -> Binding:
    """Return the binding of a task to some CPUs, and to all the cores and NUMA nodes that hold them.

    Parameters
    ----------
    cpus : iterable of int
        As Linux numbers them.
    kind : NodeKind
    threads : int or sequence of tuple of int
        How many threads, each on any of the cores, or the cores of each.
    bound : bool
        As for `Binding`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> both = bound_to([5, 6], Machine.load("hopper").node())
    >>> both.numa_nodes, both.thread_cores
    ((0, 1), ((5, 6),))
    """
    ordered = tuple(sorted(cpus))
    cores = tuple(sorted({kind.core_of(cpu) for cpu in ordered}))
    own = tuple(threads) if isinstance(threads, Iterable) else (cores,) * threads
    return Binding(cores, ordered, own, tuple(sorted({kind.numa_node_of(core) for core in cores})), bound)


class Seating(NamedTuple):
    """The tasks of one component on its nodes.

    Parameters
    ----------
    task_numbers : sequence of sequence of int
        For each node its tasks, counted from 0 within the component.
    patterns : sequence of tuple of Binding
        For each node where those tasks run; equal nodes hold the same object.
    assumptions : tuple of str
        Assumptions about it.
    doubts : tuple of str
        Values missing from the machine file, so that the placement is unknown.
    """

    task_numbers: Sequence[Sequence[int]]
    patterns: Sequence[tuple[Binding, ...]]
    assumptions: tuple[str, ...]
    doubts: tuple[str, ...] = ()
