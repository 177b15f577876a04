"""Whether a launch line fits the nodes that were reserved for it.

Where it is known what the real scheduler prints, its words come first: aprun's
"claim exceeds reservation's ..." lines as users of Cray systems reported them
[1]_ [2]_ [3]_, srun's from its source [4]_.

References
----------
.. [1] Open MPI users mailing list, November 2013 (node-count).
.. [2] Chapel, documentation for Cray systems (CPUs).
.. [3] A qsub wrapper for Hopper, public on GitHub (memory); a NEMO job log of ARCHER (resources).
.. [4] SchedMD, Slurm 23.11, ``src/srun/srun_job.c`` and ``src/common/slurm_errno.c``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.aprun.layout import AprunLayout
from hopperlib.node.launch.components import Component, LaunchError, Reservation
from hopperlib.node.launch.option_values import node_ids

__all__ = ["check_aprun_claim", "check_machine_size", "check_srun_claim"]

_NODES = "apsched: claim exceeds reservation's node-count"
_CPUS = "apsched: claim exceeds reservation's CPUs"
_MEMORY = "apsched: claim exceeds reservation's memory"
_RESOURCES = "apsched: claim exceeds reservation's resources"


def check_aprun_claim(
    components: Sequence[Component],
    layouts: Sequence[AprunLayout],
    reservation: Reservation | None,
    machine: Machine,
    node: NodeKind,
) -> None:
    """Refuse an aprun line that claims more than the machine or the reservation has.

    Parameters
    ----------
    components : sequence of Component
    layouts : sequence of AprunLayout
        How each of them fills a node.
    reservation : Reservation or None
    machine : Machine
    node : NodeKind

    Raises
    ------
    LaunchError
        In apsched's words where they are documented.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.aprun.layout import aprun_layout
    >>> hopper = Machine.load("hopper")
    >>> component = Component(command=("a.out",), tasks=64)
    >>> layout = aprun_layout(component, hopper.node(), "Hopper")
    >>> reserved = Reservation(batch="pbs", nodes=2, options=(("select", "2"),))
    >>> check_aprun_claim([component], [layout], reserved, hopper, hopper.node())
    Traceback (most recent call last):
    hopperlib.node.launch.components.LaunchError: apsched: claim exceeds reservation's node-count: -n 64 at 24 tasks a node needs 3 nodes; select=2 reserves 2
    """
    counts = [
        -(-component.tasks // layout.tasks_per_node) for component, layout in zip(components, layouts, strict=True)
    ]
    for component, layout, nodes in zip(components, layouts, counts, strict=True):
        check_machine_size(nodes, "-n", str(component.tasks), machine)
        _check_node_list(component, nodes, machine)
        _check_node_memory(component, layout, node, machine)
    if reservation is None:
        return
    _check_nodes(components, layouts, counts, reservation)
    for component, layout in zip(components, layouts, strict=True):
        _check_cpus(component, layout, reservation)
        _check_memory(component, layout, reservation, node)


def check_machine_size(nodes: int, flag: str, value: str, machine: Machine, words: str | None = None) -> None:
    """Refuse a line that needs more nodes than there are.

    Raises
    ------
    LaunchError
        If `nodes` is more than the machine has.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> check_machine_size(6385, "-n", "153217", Machine.load("hopper"))
    Traceback (most recent call last):
    hopperlib.node.launch.components.LaunchError: -n 153217 needs 6,385 nodes; Hopper has 6,384
    """
    if nodes > machine.nodes:
        rule = f"needs {nodes:,} nodes; {machine.title} has {machine.nodes:,}"
        raise LaunchError(flag=flag, value=value, rule=rule, words=words)


def check_srun_claim(component: Component, nodes: int, reservation: Reservation | None) -> None:
    """Refuse a step with more nodes than its job has.

    Raises
    ------
    LaunchError
        In srun's words.

    Examples
    --------
    >>> job = Reservation(batch="slurm", nodes=2)
    >>> check_srun_claim(Component(command=(), tasks=9), 3, job)
    Traceback (most recent call last):
    hopperlib.node.launch.components.LaunchError: srun: error: Only allocated 2 nodes asked for 3: -n 9 needs 3 nodes and the job has 2
    """
    if reservation is None or nodes <= reservation.nodes:
        return
    if component.given("-N") is not None:
        flag, value, rule = "-N", str(component.nodes), f"is more than the {reservation.nodes} nodes of the job"
    else:
        flag, value = "-n", str(component.tasks)
        rule = f"needs {nodes} nodes and the job has {reservation.nodes}"
    words = f"srun: error: Only allocated {reservation.nodes} nodes asked for {nodes}"
    raise LaunchError(flag=flag, value=value, rule=rule, words=words)


def _check_node_list(component: Component, nodes: int, machine: Machine) -> None:
    """Refuse ``-L`` with fewer nodes than the component needs."""
    if component.node_list is None:
        return
    listed = node_ids("-L", component.node_list)
    places = machine.network.node_positions if machine.network else None
    if places is not None and max(listed) >= places:
        rule = f"names node {max(listed)}; the node IDs of {machine.title} go from 0 to {places - 1}, service nodes included"
        raise LaunchError(flag="-L", value=component.node_list, rule=rule)
    if len(listed) < nodes:
        rule = f"names {len(listed):,} of the {nodes:,} nodes that the line needs"
        raise LaunchError(flag="-L", value=component.node_list, rule=rule)


def _check_node_memory(component: Component, layout: AprunLayout, node: NodeKind, machine: Machine) -> None:
    """Refuse ``-m`` beyond the memory of a node."""
    memory = component.memory_per_task_gb
    tasks = min(component.tasks, layout.tasks_per_node)
    if memory is None or memory * tasks <= node.memory_gb:
        return
    asked = f"for {tasks} tasks a node is {memory * tasks:.4g} GB"
    rule = f"{asked}, more than the {node.memory_gb:g} GB of a node of {machine.title}"
    raise LaunchError(flag="-m", value=component.given("-m") or f"{memory:g}G", rule=rule)


def _check_nodes(
    components: Sequence[Component], layouts: Sequence[AprunLayout], counts: Sequence[int], reservation: Reservation
) -> None:
    """Refuse more nodes than reserved."""
    if sum(counts) <= reservation.nodes:
        return
    reserved = f"{_reserved(reservation)} reserves {reservation.nodes:,}"
    if len(components) > 1:
        parts = " + ".join(f"{count:,}" for count in counts)
        rule = f"parts programs that need {parts} = {sum(counts):,} nodes of their own; {reserved}"
        raise LaunchError(flag=":", value="", rule=rule, words=_RESOURCES)
    tasks_per_node = layouts[0].tasks_per_node
    rule = f"at {tasks_per_node} tasks a node needs {counts[0]:,} nodes; {reserved}"
    raise LaunchError(flag="-n", value=str(components[0].tasks), rule=rule, words=_NODES)


def _reserved(reservation: Reservation) -> str:
    """Return the resources that fix the number of nodes, as typed."""
    names = ("mppwidth", "mppnppn", "mppdepth", "nodes", "select", "-N", "-n", "--ntasks-per-node", "-c")
    said = [
        f"{name}={value}" if name[0] != "-" else f"{name} {value}"
        for name, value in reservation.options
        if name in names
    ]
    return ",".join(said) or "the script"


def _cpus_per_node(reservation: Reservation) -> int | None:
    """Return the cores reserved on a node; None where the whole node is, or nothing says."""
    if reservation.tasks is None:
        return None
    depth = reservation.threads_per_task or 1
    if reservation.tasks_per_node is None:
        # Without mppnppn the node is filled; a width below one node reserves just that.
        return reservation.tasks * depth if reservation.nodes == 1 else None
    return min(reservation.tasks, reservation.tasks_per_node) * depth


def _check_cpus(component: Component, layout: AprunLayout, reservation: Reservation) -> None:
    """Refuse more cores a node than reserved."""
    reserved = _cpus_per_node(reservation)
    tasks = min(component.tasks, layout.tasks_per_node)
    depth = component.threads_per_task
    if reservation.batch != "pbs" or reserved is None or tasks * depth <= reserved:
        return
    flag, value = ("-d", depth) if depth > 1 else ("-N", tasks)
    rule = (
        f"with {tasks} tasks a node claims {tasks * depth} cores a node; {_reserved(reservation)} reserves {reserved}"
    )
    raise LaunchError(flag=flag, value=str(value), rule=rule, words=_CPUS)


def _check_memory(component: Component, layout: AprunLayout, reservation: Reservation, node: NodeKind) -> None:
    """Refuse more memory a node than reserved.

    A task's share is mppmem, or a core's share of the node where mppmem is not
    given. ``-ss`` claims the memory of the tasks' NUMA nodes; that is known to
    be refused with mppdepth, and is checked only there.
    """
    if reservation.batch != "pbs" or reservation.tasks is None:
        return
    reserved_tasks = min(reservation.tasks, reservation.tasks_per_node or node.cores)
    share = reservation.memory_per_task_gb or node.memory_gb / node.cores
    reserved = reserved_tasks * share
    tasks = min(component.tasks, layout.tasks_per_node)
    said = f"{_reserved(reservation)} reserves {reserved_tasks} x {share:.4g} GB"
    memory = component.memory_per_task_gb
    if memory is not None and component.given("-B") is None and memory * tasks > reserved:
        rule = f"for {tasks} tasks claims {memory * tasks:.4g} GB a node; {said}"
        raise LaunchError(flag="-m", value=component.given("-m") or "", rule=rule, words=_MEMORY)
    if component.strict_memory and reservation.threads_per_task is not None and reservation.memory_per_task_gb is None:
        numa_nodes = {node.numa_node_of(core) for seat in layout.seats[:tasks] for core in seat}
        claimed = len(numa_nodes) * node.memory_per_numa_node_gb
        if claimed > reserved:
            rule = (
                f"claims the memory of {len(numa_nodes)} NUMA nodes, {claimed:g} GB a node; {said}. "
                f"Reserve mppwidth={reservation.tasks * reservation.threads_per_task} without mppdepth"
            )
            raise LaunchError(flag="-ss", value="", rule=rule, words=_MEMORY)
