"""Cores on which the tasks of a node may run, and the tasks of each node."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hopperlib.machine import NodeKind


class Binding(NamedTuple):
    """The cores of one task; the task in the same seat of every equal node has the same binding.

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
        Whether the launcher keeps the task on these cores; False: these are all the cores it may use, and the kernel
        moves it among them.
    gpus : tuple of int or None
        GPUs visible to the task, numbered from 0 on the node; None if unknown.
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
    """Return the binding of a task to some CPUs, and to the cores and NUMA nodes that contain them.

    Parameters
    ----------
    cpus : iterable of int
        CPU numbers as in Linux.
    kind : NodeKind
    threads : int or sequence of tuple of int
        Number of threads, each on any of the cores; or the cores of each thread.
    bound : bool
        As in `Binding`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> both = bound_to([5, 6], Machine.load("hopper").node())
    >>> both.numa_nodes, both.thread_cores
    ((0, 1), ((5, 6),))
    """
    ordered = tuple(sorted(cpus))
    cores = tuple(sorted({kind.core_of(cpu) for cpu in ordered}))
    thread_cores = tuple(threads) if isinstance(threads, Iterable) else (cores,) * threads
    return Binding(cores, ordered, thread_cores, tuple(sorted({kind.numa_node_of(core) for core in cores})), bound)


class Seating(NamedTuple):
    """The tasks of one component on its nodes.

    Parameters
    ----------
    task_numbers : sequence of sequence of int
        Tasks of each node, counted from 0 within the component.
    patterns : sequence of tuple of Binding
        Bindings of those tasks for each node; equal nodes share the same object.
    assumptions : tuple of str
        Assumptions about the placement.
    doubts : tuple of str
        Values missing from the machine file, so that the placement is unknown.
    """

    task_numbers: Sequence[Sequence[int]]
    patterns: Sequence[tuple[Binding, ...]]
    assumptions: tuple[str, ...]
    doubts: tuple[str, ...] = ()
