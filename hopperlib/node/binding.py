"""Where the tasks of a node may run, and which tasks each node has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Binding", "Seating"]


class Binding(NamedTuple):
    """The cores of one task, the same for the task in that seat on every equal node.

    Parameters
    ----------
    cores : tuple of int
        Cores the task may run on, in increasing order.
    cpus : tuple of int
        The same as Linux numbers CPUs: hardware thread t of core c is
        c + t * cores of the node. Equal to `cores` where a core has one thread.
    thread_cores : tuple of tuple of int
        For each thread of the task, the cores it may run on.
    numa_nodes : tuple of int
        NUMA nodes of `cores`.
    bound : bool
        Whether the launcher keeps the task on these cores; False: they are all
        it could use, and the kernel moves it as it likes.
    """

    cores: tuple[int, ...]
    cpus: tuple[int, ...]
    thread_cores: tuple[tuple[int, ...], ...]
    numa_nodes: tuple[int, ...]
    bound: bool


class Seating(NamedTuple):
    """The tasks of one component on its nodes.

    Parameters
    ----------
    task_numbers : sequence of sequence of int
        For each node its tasks, counted from 0 within the component.
    patterns : sequence of tuple of Binding
        For each node where those tasks run; equal nodes hold the same object.
    assumptions : tuple of str
        What is assumed about it.
    """

    task_numbers: Sequence[Sequence[int]]
    patterns: Sequence[tuple[Binding, ...]]
    assumptions: tuple[str, ...]
