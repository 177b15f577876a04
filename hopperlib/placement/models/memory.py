"""Memory available to tasks on a node, and its other uses.

A node gives its programs less than is installed: the kernel, the client of the file system, message buffers and the
executable take their share first. The rest is shared by the tasks of the node.

============================  ================================================
`memory_per_task`             what each of the tasks on a node can allocate
`most_tasks_per_node`         how many tasks of some need a node holds
`merged_need`                 need of one task that takes the place of several
`copied_fraction_needed`      how much must be copies for merged tasks to fit
============================  ================================================

`hopperlib.placement.layouts` makes whole job layouts of it. Left out: tasks that need different amounts, needs that
change during a run, and thread stacks.
"""

from collections import Counter

from hopperlib.errors import at_least, refusal, within
from hopperlib.machine import NodeKind

# Room for binary fractions: 31 GB hold 24 tasks of 31/24 GB.
_ROUNDING_TOLERANCE = 1e-9


def memory_per_task(node: NodeKind, tasks_per_node: int) -> float:
    """Memory each task can allocate when a node's tasks share it evenly. [GB]

    The usable memory is divided, not the installed one.

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
    """Most tasks of a need that a node holds; 0 if not even one fits.

    Each thread has a core. A task of no more threads than a NUMA node has cores
    keeps to one NUMA node, so that its threads stay near its memory.

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
    """Most tasks of that many threads that the cores of a node hold, memory aside.

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
    """Memory of one task of several threads that takes the place of as many tasks. [GB]

    Part of a task's memory is the same in every task: the program, message buffers, ghost cells, tables. Merged tasks
    hold it once. The rest is the task's part of the problem, and the merged task holds all parts.

    Parameters
    ----------
    need_gb : float
        Memory of each task that is merged. [GB]
    threads : int
        Tasks that are merged, and threads that take their place.
    copied_fraction : float
        Share of a task's memory that every task holds a copy of. [0-1]

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
    """Least share of a task's memory that must be copies, for merged tasks to fit with every seat taken.

    Parameters
    ----------
    node : NodeKind
    need_gb : float
        Memory of each task before they are merged. [GB]
    threads : int
        Tasks that become one.

    Returns
    -------
    float or None
        0 if they fit however much is copied; None if they do not fit even so.

    Raises
    ------
    InputError
        If `need_gb` is not above 0, or `threads` is not from 1 to the cores of the node.

    Examples
    --------
    Six tasks of 2 GB become one of six threads, four of them on a Hopper node:

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
    """Refuse a need or a number of threads that means nothing."""
    if not need_gb > 0:
        raise refusal("need_gb", need_gb, "must be above 0: it is the memory of a task")
    at_least(1, threads=threads)
