"""Memory available to tasks on a node, and its other uses.

Programs can use less memory than is installed on a node: the kernel, the file system client, message buffers and the
executable take their share first. The tasks of the node share the rest.

============================  ================================================
`memory_per_task`             memory that each task on a node can allocate
`most_tasks_per_node`         number of tasks with a given need that fit on a node
`merged_need`                 need of one task that replaces several
`copied_fraction_needed`      share that must be copies for merged tasks to fit
============================  ================================================

`hopperlib.placement.layouts` builds layouts of whole jobs on it. Not modeled: tasks with different needs, needs that
change during a run, and thread stacks.
"""

from collections import Counter

from hopperlib.errors import at_least, refusal, within
from hopperlib.machine import NodeKind

# Tolerance for binary fractions: 31 GB hold 24 tasks of 31/24 GB.
_ROUNDING_TOLERANCE = 1e-9


def memory_per_task(node: NodeKind, tasks_per_node: int) -> float:
    """Memory each task can allocate when a node's tasks share it evenly. [GB]

    The usable memory is divided, not the installed memory.

    Parameters
    ----------
    node : NodeKind
    tasks_per_node : int
        From 1 to the cores of the node.

    Raises
    ------
    InputError
        If `tasks_per_node` is out of that range.

    Examples
    --------
    A fully packed and a half-packed Hopper node:

    >>> from hopperlib.machine import Machine
    >>> node = Machine.load("hopper").node()
    >>> [round(memory_per_task(node, tasks), 2) for tasks in (24, 12)]
    [1.29, 2.58]

    References
    ----------
    K. Antypas and Y. He, CUG 2011, sec. 2, User Environment.
    """
    within(1, node.cores, ", the cores of a node", tasks_per_node=tasks_per_node)
    return node.usable_memory_gb / tasks_per_node


def most_tasks_per_node(node: NodeKind, need_gb: float, threads: int = 1) -> int:
    """Maximum number of tasks with a given need on a node; 0 if none fits. Each thread has a core. A task that fits on
    a NUMA node stays on one, so that its threads are near its memory.

    Parameters
    ----------
    node : NodeKind
    need_gb : float
        Memory of a task. [GB]
    threads : int
        Threads of a task, from 1 to the cores of the node.

    Raises
    ------
    InputError
        If `need_gb` is not above 0, or `threads` is out of its range.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> node = Machine.load("hopper").node()
    >>> [most_tasks_per_node(node, need) for need in (1.0, 2.0, 31.0, 32.0)]
    [24, 15, 1, 0]
    >>> [most_tasks_per_node(node, 1.0, threads) for threads in (4, 6, 12)]
    [4, 4, 2]
    """
    _check(need_gb)
    return min(seats(node, threads), int(node.usable_memory_gb / need_gb + _ROUNDING_TOLERANCE))


def seats(node: NodeKind, threads: int) -> int:
    """Maximum number of tasks of several threads on the cores of a node, regardless of memory.

    Parameters
    ----------
    node : NodeKind
        Kind of node.
    threads : int
        Threads per task.

    Raises
    ------
    InputError
        If `threads` is not from 1 to the cores of the node.

    Examples
    --------
    Four threads leave two cores of each NUMA node over:

    >>> from hopperlib.machine import Machine
    >>> [seats(Machine.load("hopper").node(), threads) for threads in (1, 3, 4, 6, 7, 24)]
    [24, 8, 4, 4, 3, 1]
    """
    within(1, node.cores, ", the cores of a node", threads=threads)
    if threads > node.cores_per_numa_node:
        return len(node.usable_cores) // threads
    # Memory reserved for the system is not available to tasks.
    kept = Counter(map(node.numa_node_of, node.reserved_cores))
    return sum((node.cores_per_numa_node - kept[number]) // threads for number in range(node.numa_nodes))


def merged_need(need_gb: float, threads: int, copied_fraction: float) -> float:
    """Memory of one task of several threads that replaces as many tasks. [GB]

    Part of a task's memory is the same in every task: the program, message buffers, ghost cells, tables. A merged task
    holds it once. The rest is the task's part of the problem, and the merged task holds all parts.

    Parameters
    ----------
    need_gb : float
        Memory of each task that is merged. [GB]
    threads : int
        Number of tasks merged, and of threads that replace them.
    copied_fraction : float
        Share of a task's memory that is copied in every task. [0-1]

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> merged_need(2.0, 6, 0.5), merged_need(2.0, 6, 0.0), merged_need(2.0, 6, 1.0)
    (7.0, 12.0, 2.0)

    References
    ----------
    K. Antypas and Y. He, CUG 2011, sec. 2, User Environment, on hybrid programs.
    """
    _check(need_gb, threads)
    within(0, 1, ": it is a share of a task's memory", copied_fraction=copied_fraction)
    return need_gb * (copied_fraction + (1 - copied_fraction) * threads)


def copied_fraction_needed(node: NodeKind, need_gb: float, threads: int) -> float | None:
    """Smallest share of a task's memory that must be copies for merged tasks to fill all seats of a node.

    Parameters
    ----------
    node : NodeKind
    need_gb : float
        Memory of each task before they are merged. [GB]
    threads : int
        Number of tasks merged into one.

    Returns
    -------
    float or None
        0 if they fit regardless of copies; None if they do not fit in any case.

    Raises
    ------
    InputError
        If `need_gb` is not above 0, or `threads` is not from 1 to the cores of the node.

    Examples
    --------
    Six tasks of 2 GB become one task of six threads; four such tasks share a Hopper node:

    >>> from hopperlib.machine import Machine
    >>> round(copied_fraction_needed(Machine.load("hopper").node(), 2.0, 6), 3)
    0.425
    """
    _check(need_gb, threads)
    room = node.usable_memory_gb / seats(node, threads)
    if threads * need_gb <= room * (1 + _ROUNDING_TOLERANCE):
        return 0.0
    if need_gb > room * (1 + _ROUNDING_TOLERANCE):
        return None
    return (threads * need_gb - room) / ((threads - 1) * need_gb)


def _check(need_gb: float, threads: int = 1) -> None:
    """Reject an invalid need or number of threads."""
    if not need_gb > 0:
        raise refusal("need_gb", need_gb, "must be above 0: it is the memory of a task")
    at_least(1, threads=threads)
