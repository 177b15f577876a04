"""What one node, or a few, can write: the rate of the tasks against the ceiling of the node.

Every task writes at most at its own rate; a node passes on at most its ceiling,
however many tasks it has; the file system takes at most its peak. So the rate
grows with tasks until the nodes are full, and the machine with more cores a
node is full sooner: on it the same tasks sit on fewer nodes.

Documented are the ceiling of a Hopper node, and what a Franklin node reaches of
its injection bandwidth [1]_. The rate of one task is printed nowhere: it is a
control, and the documented curves only bound it.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 2, I/O Performance, fig. 7.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopperlib.machine import FileSystem, Machine

__all__ = ["file_system_of", "injection_fraction", "nodes_in_use", "parting_point", "write_curve", "write_rate_gb_s"]


def file_system_of(machine: Machine) -> FileSystem:
    """Return the first file system of a machine, the one its jobs write to.

    Raises
    ------
    ValueError
        If the machine file states none.

    Examples
    --------
    >>> file_system_of(Machine.load("hopper")).osts
    156
    """
    if not machine.file_systems:
        raise ValueError(f"machine {machine.name!r} states no file system; its machine file needs a [[file_system]]")
    return machine.file_systems[0]


def injection_fraction(machine: Machine) -> float:
    """What a node can write, as a share of what its network takes in. [fraction]

    Raises
    ------
    ValueError
        If the machine file states no file system or no network.

    Examples
    --------
    >>> [round(injection_fraction(Machine.load(name)), 2) for name in ("hopper", "franklin")]
    [0.28, 0.67]
    """
    if machine.network is None:
        raise ValueError(f"machine {machine.name!r} states no network, so no injection bandwidth")
    return file_system_of(machine).node_write_ceiling_gb_s / machine.network.node_bandwidth_gb_s


def nodes_in_use(machine: Machine, tasks: int) -> int:
    """Nodes that tasks fill, one task a core.

    Raises
    ------
    ValueError
        If there is no task.

    Examples
    --------
    >>> nodes_in_use(Machine.load("hopper"), 24), nodes_in_use(Machine.load("franklin"), 24)
    (1, 6)
    """
    if tasks < 1:
        raise ValueError(f"tasks={tasks} must be at least 1")
    return -(-tasks // machine.node().cores)


def write_rate_gb_s(
    machine: Machine,
    tasks: int,
    *,
    task_rate_gb_s: float,
    node_ceiling_gb_s: float | None = None,
    nodes: int | None = None,
) -> float:
    """Rate at which tasks write, all together. [GB/s]

    Parameters
    ----------
    machine : Machine
    tasks : int
    task_rate_gb_s : float
        What one task writes if nothing holds it back. [GB/s]
    node_ceiling_gb_s : float or None
        What one node passes on; None takes the machine's. [GB/s]
    nodes : int or None
        Nodes over which the tasks are dealt evenly; None fills one node after the other.

    Raises
    ------
    ValueError
        If a quantity is not positive, the nodes have too few cores, or the
        machine states no file system.

    Examples
    --------
    At 0.2 GB/s a task, 24 tasks fill a Hopper node's ceiling, and six Franklin nodes do not mind:

    >>> hopper = Machine.load("hopper")
    >>> round(write_rate_gb_s(hopper, 24, task_rate_gb_s=0.2), 2)
    1.7
    >>> round(write_rate_gb_s(Machine.load("franklin"), 24, task_rate_gb_s=0.2), 2)
    4.8

    Nor do six Hopper nodes:

    >>> round(write_rate_gb_s(hopper, 24, task_rate_gb_s=0.2, nodes=6), 2)
    4.8
    """
    fewest, cores = nodes_in_use(machine, tasks), machine.node().cores
    system = file_system_of(machine)
    ceiling = system.node_write_ceiling_gb_s if node_ceiling_gb_s is None else node_ceiling_gb_s
    for name, rate in (("task_rate_gb_s", task_rate_gb_s), ("node_ceiling_gb_s", ceiling)):
        if not rate > 0:
            raise ValueError(f"{name}={rate} must be above 0")
    if nodes is not None and not fewest <= nodes <= machine.nodes:
        raise ValueError(
            f"nodes={nodes} must be from {fewest}, which {tasks} tasks need, to {machine.nodes:,}, the nodes of the machine"
        )
    # So many nodes hold so many tasks each: full ones and a rest, or an even deal.
    each, over = divmod(tasks, cores if nodes is None else nodes)
    groups = ((each, cores), (1, over)) if nodes is None else ((nodes - over, each), (over, each + 1))
    total = sum(count * min(on_node * task_rate_gb_s, ceiling) for count, on_node in groups)
    return min(total, system.peak_gb_s)


def write_curve(
    machine: Machine,
    most_tasks: int,
    *,
    task_rate_gb_s: float,
    node_ceiling_gb_s: float | None = None,
    nodes: int | None = None,
) -> list[float]:
    """Rates of 1, 2, ... `most_tasks` tasks, as `write_rate_gb_s` gives them. [GB/s]

    With `nodes`, few tasks use as many nodes as there are tasks.

    Examples
    --------
    >>> [round(rate, 1) for rate in write_curve(Machine.load("hopper"), 10, task_rate_gb_s=0.2)[6:]]
    [1.4, 1.6, 1.7, 1.7]
    """
    # From the most tasks down, so that a message about too few nodes names them all.
    rates = [
        write_rate_gb_s(
            machine,
            tasks,
            task_rate_gb_s=task_rate_gb_s,
            node_ceiling_gb_s=node_ceiling_gb_s,
            nodes=None if nodes is None else min(nodes, tasks),
        )
        for tasks in range(most_tasks, 0, -1)
    ]
    return rates[::-1]


def parting_point(one: Sequence[float], other: Sequence[float], *, apart: float = 0.05) -> int | None:
    """Fewest tasks at which two curves part, or None if they never do.

    Parameters
    ----------
    one, other : sequence of float
        Rates of 1, 2, ... tasks, as `write_curve` gives them. [GB/s]
    apart : float
        Difference that counts, as a share of the higher rate. [fraction]

    Examples
    --------
    >>> curves = [write_curve(Machine.load(name), 24, task_rate_gb_s=0.2) for name in ("hopper", "franklin")]
    >>> parting_point(*curves)
    9
    """
    for tasks, (a, b) in enumerate(zip(one, other, strict=True), start=1):
        if abs(a - b) > apart * max(a, b):
            return tasks
    return None
