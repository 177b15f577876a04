"""Whether an aprun line fits the machine and the nodes that were reserved for it.

Where the message of the real scheduler is known, it comes first: the "claim exceeds reservation's ..." lines as users
of Cray systems reported them [1]_ [2]_ [3]_.

References
----------
.. [1] Open MPI users mailing list, November 2013 (node-count).
.. [2] Chapel, documentation for Cray systems (CPUs).
.. [3] A qsub wrapper for Hopper, public on GitHub (memory); a NEMO job log of ARCHER (resources).
"""

from collections.abc import Sequence

from hopperkit.launchers.option_values import check_nodes
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.aprun_layout import AprunLayout, aprun_layout, counted_node
from hopperlib.placement.components import Component, Launch, LaunchError, Reservation
from hopperlib.text import count

_EXCEEDS = "apsched: claim exceeds reservation's"
# Resources that fix how many nodes are reserved.
_SIZING = ("mppwidth", "mppnppn", "mppdepth", "nodes", "select", "-N", "-n", "--ntasks-per-node", "-c")
# A program of a line, and how it fills a node.
Claim = tuple[Component, AprunLayout]


def check_claims(launch: Launch, machine: Machine, node: NodeKind) -> None:
    """Reject an aprun line that claims more than the machine or the reservation has.

    Parameters
    ----------
    launch : Launch
    machine : Machine
    node : NodeKind
        Kind of node that it runs on.

    Raises
    ------
    LaunchError
        With the words of aprun where they are known.

    Examples
    --------
    >>> from hopperkit.launchers.reader import read_launch
    >>> hopper = Machine.load("hopper")
    >>> check_claims(read_launch("aprun -n 4 -m 9G a.out", hopper), hopper, hopper.node())
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: -m 9G for 4 tasks per node is 36 GB, more than the 32 GB of a node of Hopper
    """
    claims: list[Claim] = []
    for component in launch.components:
        counted = counted_node(node, component.threads_per_core or 1)
        claims.append((component, aprun_layout(component, counted, machine.title)))
    for component, layout in claims:
        _check_machine(component, layout, machine, node)
    reservation = launch.reservation
    if reservation is None:
        return
    _check_nodes(claims, reservation)
    # Only aprun's messages define a node's share of the reservation.
    if reservation.batch == "pbs" and reservation.tasks is not None:
        for component, layout in claims:
            tasks = min(component.tasks, layout.tasks_per_node)
            _check_cpus(component, tasks, reservation, reservation.tasks)
            _check_memory(component, layout.seats[:tasks], reservation, reservation.tasks, node)


def _check_machine(component: Component, layout: AprunLayout, machine: Machine, node: NodeKind) -> None:
    """Reject more nodes, and more memory of a node, than the machine has."""
    check_nodes(layout.nodes_for(component), machine, "-n", component.tasks)
    tasks = min(component.tasks, layout.tasks_per_node)
    memory = (component.memory_per_task_gb or 0) * tasks
    if memory > node.memory_gb:
        has = f"more than the {node.memory_gb:g} GB of a node of {machine.title}"
        raise LaunchError(
            "-m", component.given("-m") or "", f"for {count(tasks, 'task')} per node is {memory:.4g} GB, {has}"
        )


def _check_nodes(claims: Sequence[Claim], reservation: Reservation) -> None:
    """Reject more nodes than reserved."""
    counts = [layout.nodes_for(component) for component, layout in claims]
    if sum(counts) <= reservation.nodes:
        return
    reserved = f"{_reserving(reservation)} reserves {reservation.nodes:,}"
    if len(claims) > 1:
        parts = " + ".join(map("{:,}".format, counts))
        rule = f"separates programs that need {parts} = {sum(counts):,} different nodes; {reserved}"
        raise LaunchError(":", "", rule, words=f"{_EXCEEDS} resources")
    component, layout = claims[0]
    rule = f"at {count(layout.tasks_per_node, 'task')} per node needs {counts[0]:,} nodes; {reserved}"
    raise LaunchError("-n", component.tasks, rule, words=f"{_EXCEEDS} node-count")


def _reserving(reservation: Reservation) -> str:
    """Return the resources that fix the number of nodes, as typed."""
    sizing = ((name, value) for name, value in reservation.options if name in _SIZING)
    return ",".join(f"{name}{' ' if name[0] == '-' else '='}{value}" for name, value in sizing) or "the script"


def _check_cpus(component: Component, tasks: int, reservation: Reservation, width: int) -> None:
    """Reject more cores per node than reserved; whole nodes impose no limit."""
    per_node = reservation.tasks_per_node
    if per_node is None and reservation.nodes > 1:
        # Without mppnppn the nodes are filled; a width below one node reserves just that.
        return
    reserved = min(width, per_node or width) * (reservation.threads_per_task or 1)
    depth = component.threads_per_task
    if tasks * depth > reserved:
        flag, value = ("-d", depth) if depth > 1 else ("-N", tasks)
        claimed = f"with {count(tasks, 'task')} per node claims {count(tasks * depth, 'core')} per node"
        rule = f"{claimed}; {_reserving(reservation)} reserves {reserved}"
        raise LaunchError(flag, value, rule, words=f"{_EXCEEDS} CPUs")


def _check_memory(
    component: Component, seats: Sequence[tuple[int, ...]], reservation: Reservation, width: int, node: NodeKind
) -> None:
    """Reject more memory a node than reserved.

    A task's share is mppmem, or a core's share of the node where mppmem is not given.
    """
    reserved_tasks = min(width, reservation.tasks_per_node or node.cores)
    share = reservation.memory_per_task_gb or node.memory_gb / node.cores
    reserved = f"{_reserving(reservation)} reserves {reserved_tasks} x {share:.4g} GB"
    memory = (component.memory_per_task_gb or 0) * len(seats)
    if memory > reserved_tasks * share:
        rule = f"for {count(len(seats), 'task')} claims {memory:.4g} GB per node; {reserved}"
        raise LaunchError("-m", component.given("-m") or "", rule, words=f"{_EXCEEDS} memory")
    depth = reservation.threads_per_task
    if not component.strict_memory or depth is None or reservation.memory_per_task_gb is not None:
        return
    # -ss claims the memory of the tasks' NUMA nodes; that is known to be refused with mppdepth, and is checked only there.
    counted = counted_node(node, component.threads_per_core or 1)
    numa_nodes = {counted.numa_node_of(core) for seat in seats for core in seat}
    claimed = len(numa_nodes) * node.memory_per_numa_node_gb
    if claimed > reserved_tasks * share:
        remedy = f"Reserve mppwidth={width * depth} without mppdepth"
        of_nodes = f"claims the memory of {count(len(numa_nodes), 'NUMA node')}, {claimed:g} GB per node"
        rule = f"{of_nodes}; {reserved}. {remedy}"
        raise LaunchError("-ss", "", rule, words=f"{_EXCEEDS} memory")
