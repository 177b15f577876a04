"""Write rate of one or a few nodes: the rate of the tasks and the ceiling of the node.

A single task writes at its rate; tasks on a node share the node's bandwidth, and nodes share the peak of the file
system, both by the law of `hopperlib.contention.saturation`. The rate therefore bends before the nodes are saturated,
and it bends sooner on a machine with more cores per node, where the same tasks run on fewer nodes. The ceiling of a
Hopper node and the share of its injection bandwidth that a Franklin node achieves are documented [1]_. The rate of one
task is not: it is a control, and the documented curves only bound it.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 2, I/O Performance, fig. 7.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hopperlib.errors import InputError, above, at_least, refusal
from hopperlib.finding import Finding
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.lustre.node_rates import clients_rate_gb_s, node_rate_gb_s
from hopperlib.text import count

# Smallest increment from the last task of a curve that still rises, as a share of one task's rate alone.
_RISING = 0.2
#: Lustre stripes a file over at most this many objects (Operations Manual, Managing File Layout: with ZFS or ea_inode;
# otherwise 160).
MOST_STRIPES = 2000


def file_system_of(machine: Machine) -> FileSystem:
    """Return the first file system of a machine, to which its jobs write.

    Parameters
    ----------
    machine : Machine
        A machine with or without a file system.

    Raises
    ------
    ValueError
        If the machine file has no file system.

    Examples
    --------
    >>> file_system_of(Machine.load("hopper")).osts
    156
    """
    if not machine.file_systems:
        message = f"machine {machine.name!r} states no file system; its machine file needs a [[file_system]]"
        raise InputError(message, name="machine", value=machine.name)
    return machine.file_systems[0]


def user_file_system(
    system: FileSystem,
    *,
    osts: int | None = None,
    ost_rate_gb_s: float | None = None,
    client_rate_gb_s: float | None = None,
    capacity_pb: float | None = None,
) -> FileSystem:
    """Return a copy of a file system with custom numbers.

    Parameters
    ----------
    system : FileSystem
        The original; other values are unchanged, except that measurements and recommendations for other numbers of OSTs
        are dropped.
    osts : int or None
        Number of OSTs; each is assumed to have a separate server, and one file may use all of them.
    ost_rate_gb_s, client_rate_gb_s : float or None
        Rate of one OST, and of one node. [GB/s]
    capacity_pb : float or None
        [PB]

    Examples
    --------
    >>> user_file_system(file_system_of(Machine.load("hopper")), osts=40, ost_rate_gb_s=0.5).peak_gb_s
    20.0
    """
    rate = system.ost_peak_gb_s if ost_rate_gb_s is None else ost_rate_gb_s
    if osts is not None:
        counts = {"max_stripe_count": min(osts, MOST_STRIPES), "osts_per_oss": 1}
        counts["default_stripe_count"] = min(system.default_stripe_count, osts)
        unknown = dict.fromkeys(
            ("osts_per_controller", "useful_stripe_count", "advised_stripe_count", "default_layout")
        )
        # A pool and the site's recommendations by size also belong to that file system.
        unsaid: dict[str, Any] = {"pool": None, "guide_from_gb": (), "guide_stripe_counts": (), "guide_words": ()}
        values: dict[str, Any] = {
            "name": "own",
            "osts": osts,
            "guide_stripe_size_bytes": None,
            **counts,
            **unknown,
            **unsaid,
        }
        system = replace(system, **values)
    if osts is not None or ost_rate_gb_s is not None:
        system = replace(system, peak_gb_s=rate * system.osts)
    node_gb_s = client_rate_gb_s or system.node_write_ceiling_gb_s
    return replace(system, node_write_ceiling_gb_s=node_gb_s, capacity_pb=capacity_pb or system.capacity_pb)


def ceiling_gb_s(machine: Machine, nodes: int) -> float:
    """Maximum write rate of several nodes: their ceiling, or the file system's peak. [GB/s]

    Parameters
    ----------
    machine : Machine
        A machine with a file system.
    nodes : int
        Number of nodes, at least 1.

    Raises
    ------
    InputError
        If the machine has no file system or there are no nodes.

    Examples
    --------
    >>> [ceiling_gb_s(Machine.load("hopper"), nodes) for nodes in (1, 10, 1000)]
    [1.7, 17.0, 35.0]
    """
    at_least(1, nodes=nodes)
    system = file_system_of(machine)
    return float(min(nodes * system.node_write_ceiling_gb_s, system.peak_gb_s))


def injection_fraction(machine: Machine) -> float:
    """Write rate of a node, as a share of its network injection bandwidth. [fraction]

    Parameters
    ----------
    machine : Machine
        A machine with a file system and a network.

    Raises
    ------
    ValueError
        If the machine file has no file system or no network.

    Examples
    --------
    >>> [round(injection_fraction(Machine.load(name)), 2) for name in ("hopper", "franklin")]
    [0.28, 0.67]
    """
    if machine.network is None:
        raise InputError(f"machine {machine.name!r} states no network, so no injection bandwidth")
    return file_system_of(machine).node_write_ceiling_gb_s / machine.network.node_bandwidth_gb_s


def nodes_in_use(machine: Machine, tasks: int) -> int:
    """Number of nodes that tasks fill, with one task per core.

    Parameters
    ----------
    machine : Machine
        The machine.
    tasks : int
        Number of tasks, at least 1.

    Raises
    ------
    ValueError
        If there are no tasks.

    Examples
    --------
    >>> nodes_in_use(Machine.load("hopper"), 24), nodes_in_use(Machine.load("franklin"), 24)
    (1, 6)
    """
    at_least(1, tasks=tasks)
    return -(-tasks // machine.node().cores)


def write_rate_gb_s(
    machine: Machine,
    tasks: int,
    *,
    task_rate_gb_s: float,
    node_ceiling_gb_s: float | None = None,
    nodes: int | None = None,
) -> float:
    """Combined write rate of tasks. [GB/s]

    Parameters
    ----------
    machine : Machine
    tasks : int
    task_rate_gb_s : float
        Write rate of one task without a limit. [GB/s]
    node_ceiling_gb_s : float or None
        Write rate of one node; None uses the machine's. [GB/s]
    nodes : int or None
        Nodes over which the tasks are spread evenly; None fills one node after another.

    Raises
    ------
    ValueError
        If a quantity is not positive, the nodes have too few cores, or the
        machine has no file system.

    Examples
    --------
    At 0.2 GB/s per task, 24 tasks nearly saturate a Hopper node, and six Franklin nodes lose some of their 4.8 GB/s:

    >>> hopper = Machine.load("hopper")
    >>> round(write_rate_gb_s(hopper, 24, task_rate_gb_s=0.2), 2)
    1.65
    >>> round(write_rate_gb_s(Machine.load("franklin"), 24, task_rate_gb_s=0.2), 2)
    4.07

    Six Hopper nodes lose less:

    >>> round(write_rate_gb_s(hopper, 24, task_rate_gb_s=0.2, nodes=6), 2)
    4.53
    """
    fewest, cores = nodes_in_use(machine, tasks), machine.node().cores
    system = file_system_of(machine)
    ceiling = system.node_write_ceiling_gb_s if node_ceiling_gb_s is None else node_ceiling_gb_s
    above(0, task_rate_gb_s=task_rate_gb_s, node_ceiling_gb_s=ceiling)
    if nodes is not None and not fewest <= nodes <= machine.nodes:
        rule = f"must be from {fewest}, which {tasks} tasks need, to {machine.nodes:,}, the nodes of the machine"
        raise refusal("nodes", nodes, rule)
    # Numbers of nodes and of tasks on each: full nodes and a remainder, or an even distribution.
    each, over = divmod(tasks, cores if nodes is None else nodes)
    groups = ((each, cores), (1, over)) if nodes is None else ((nodes - over, each), (over, each + 1))
    busy = [(number, on_node) for number, on_node in groups if number and on_node]
    total = sum(number * node_rate_gb_s(on_node, task_rate_gb_s, ceiling) for number, on_node in busy)
    return clients_rate_gb_s(total, sum(number for number, _ in busy), system.peak_gb_s)


def write_curve(machine: Machine, most_tasks: int, *, nodes: int | None = None, **rates: Any) -> list[float]:
    """Rates of 1, 2, ... `most_tasks` tasks, from `write_rate_gb_s`. [GB/s]

    `rates` are those of `write_rate_gb_s`. With `nodes`, few tasks use as many nodes as there are tasks.

    Parameters
    ----------
    machine : Machine
        A machine with a file system.
    most_tasks : int
        Number of tasks at the end of the curve.
    **rates : float
        Keyword arguments of `write_rate_gb_s`.
    nodes : int or None
        Nodes over which the tasks are spread; None fills one node after another.

    Examples
    --------
    >>> [round(rate, 1) for rate in write_curve(Machine.load("hopper"), 10, task_rate_gb_s=0.2)[6:]]
    [1.2, 1.2, 1.3, 1.4]
    """
    # From the most tasks down, so that an error about too few nodes reports the largest number.
    curve = [
        write_rate_gb_s(machine, tasks, nodes=None if nodes is None else min(nodes, tasks), **rates)
        for tasks in range(most_tasks, 0, -1)
    ]
    return curve[::-1]


def level_from(curve: Sequence[float], *, within: float = 0.05) -> int | None:
    """Fewest tasks whose rate is near the last rate of a curve, or None if the curve rises to its end. A curve rises if
    the last task adds more than a fifth of the first task's rate.

    Parameters
    ----------
    curve : sequence of float
        Rates of 1, 2, ... tasks, from `write_curve`. [GB/s]
    within : float
        Relative tolerance. [fraction]

    Examples
    --------
    >>> level_from([1.0, 2.0, 2.4, 2.5, 2.5]), level_from([1.0, 2.0]), level_from(range(1, 50))
    (3, None, None)
    """
    if len(curve) < 2 or curve[-1] - curve[-2] > _RISING * curve[0]:
        return None
    flat = next(tasks for tasks, rate in enumerate(curve, start=1) if rate >= curve[-1] * (1 - within))
    return flat if flat < len(curve) else None


def client_findings(title: str, curve: Sequence[float]) -> tuple[Finding, ...]:
    """Return advice if more tasks on the nodes of a machine do not write faster.

    Parameters
    ----------
    title : str
        Name of the machine.
    curve : sequence of float
        Rates of 1, 2, ... tasks. [GB/s]

    Examples
    --------
    >>> [finding.code for finding in client_findings("Toy", [1.0, 1.5, 1.52])], client_findings("Toy", [1.0, 2.0])
    (['client-ceiling'], ())
    """
    tasks = level_from(curve)
    if tasks is None:
        return ()
    message = (
        f"From {count(tasks, 'task')} on the nodes of {title} are full: all additional tasks add less than 5 %. "
        "Spread the writers over more nodes, or let fewer of them write."
    )
    return (Finding("client-ceiling", message),)


def divergence_point(first: Sequence[float], second: Sequence[float], *, apart: float = 0.05) -> int | None:
    """Fewest tasks at which two curves differ, or None if they never do.

    Parameters
    ----------
    first, second : sequence of float
        Rates of 1, 2, ... tasks, from `write_curve`. [GB/s]
    apart : float
        Smallest relevant difference, as a share of the higher rate. [fraction]

    Examples
    --------
    >>> curves = [write_curve(Machine.load(name), 24, task_rate_gb_s=0.2) for name in ("hopper", "franklin")]
    >>> divergence_point(*curves)
    3
    """
    for tasks, (a, b) in enumerate(zip(first, second, strict=True), start=1):
        if abs(a - b) > apart * max(a, b):
            return tasks
    return None
