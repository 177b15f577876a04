"""aprun lines: the options of Cray's launcher read into components.

Synopsis and defaults as on NERSC's aprun pages for Hopper [1]_; what the
newer CLE 4.1 adds (-C, -j, -p, -R) is in the table of options too, so that it
can be refused by name where a machine's aprun does not have it. Whether a line
fits the machine and the nodes that were reserved for it: where it is known what
the real scheduler prints, its words come first, the "claim exceeds
reservation's ..." lines as users of Cray systems reported them [2]_ [3]_ [4]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
.. [2] Open MPI users mailing list, November 2013 (node-count).
.. [3] Chapel, documentation for Cray systems (CPUs).
.. [4] A qsub wrapper for Hopper, public on GitHub (memory); a NEMO job log of ARCHER (resources).
"""

import re
from collections.abc import Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.aprun.layout import AprunLayout, aprun_layout, counted_node
from hopperlib.node.launch.components import Component, Job, LaunchError, ReadLine, Remarks, Reservation, remark
from hopperlib.node.launch.option_values import assigned, check_nodes, cpu_list, memory_gb, number_list, whole_number
from hopperlib.node.launch.options import Given, component_of, count_of, read_fields, read_programs
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Word

_EXCEEDS = "apsched: claim exceeds reservation's"
# Resources that fix how many nodes are reserved.
_SIZING = ("mppwidth", "mppnppn", "mppdepth", "nodes", "select", "-N", "-n", "--ntasks-per-node", "-c")
# A program of a line, and how it fills a node.
Claim = tuple[Component, AprunLayout]


def read_aprun(invocation: Invocation, job: Job) -> ReadLine:
    """Return the components of an aprun line, variables it sets with ``-e``, and remarks.

    Parameters
    ----------
    invocation : Invocation
        The line.
    job : Job
        Where it stands.

    Raises
    ------
    LaunchError
        If aprun would refuse the line.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.scripts import find_invocations
    >>> hopper = Machine.load("hopper")
    >>> (invocation,) = find_invocations("aprun -n 4 ./ocean : -n 2 -d 6 ./ice", {})
    >>> components, _, _ = read_aprun(invocation, Job(hopper, hopper.node()))
    >>> [(component.tasks, component.threads_per_task) for component in components]
    [(4, 1), (2, 6)]
    """
    machine, node = job.machine, job.node
    claims: list[Claim] = []
    environment: dict[str, str] = {}
    remarks = Remarks.none()
    known = machine.launcher("aprun").options
    for given, command in read_programs(invocation.words, "aprun", known, where=f"aprun on {machine.title}"):
        component = _component(given, command, job, remarks.notes)
        counted = counted_node(node, component.threads_per_core or 1)
        claims.append((component, aprun_layout(component, counted, machine.title)))
        environment |= assigned(option.value for option in given if option.name == "-e")
    _check_claims(claims, job)
    return tuple(component for component, _ in claims), environment, remarks


def _component(given: Sequence[Given], command: Sequence[Word], job: Job, notes: list[str]) -> Component:
    """Return one component, its values checked one by one."""
    machine = job.machine
    options = {option.name: option for option in given}
    name = f"a node of {machine.title}"
    hardware_threads = _threads_per_core(options, job.node, machine)
    node = counted_node(job.node, hardware_threads)
    reserved = _taken(given, job.reservation)
    if not command:
        notes.append("The line names no program.")
    bounds = {
        "cores": (node.cores, f"the cores of {name}"),
        "cores_per_numa_node": (node.cores_per_numa_node, f"the cores of a NUMA node of {machine.title}"),
        "numa_nodes": (node.numa_nodes, f"the NUMA nodes of {name}"),
    }
    taken = {
        "tasks": reserved.tasks or 1,
        "tasks_per_node": reserved.tasks_per_node,
        "threads_per_task": reserved.threads_per_task or 1,
    }
    fields = taken | read_fields(options, "aprun", bounds)
    memory = _memory(options["-m"].value, notes) if "-m" in options else None
    fields["memory_per_task_gb"] = memory or reserved.memory_per_task_gb
    needs_one = f"{name} has {node.cores} cores and needs one for a task"
    fields["reserved_cores"] = count_of(options, "-r", high=node.cores - 1, bound=needs_one, low=0) or 0
    if "-cc" in options:
        fields["cpu_binding"], fields["binding_list"] = _binding(
            options["-cc"], "-j" in machine.launcher("aprun").options
        )
    if "-sl" in options:
        fields["numa_node_list"] = _numa_node_list(options["-sl"], node.numa_nodes, name)
    if "-F" in options:
        fields["access_mode"] = _access_mode(options["-F"])
    if hardware_threads > 1:
        fields["threads_per_core"] = hardware_threads
    return component_of(given, command, fields)


def _taken(given: Sequence[Given], reservation: Reservation | None) -> Reservation:
    """Return what ``-B`` takes from the reservation, nothing without it; it stands alone with what it replaces."""
    if not any(option.name == "-B" for option in given):
        return Reservation(batch="pbs", nodes=0)
    for option in given:
        if option.name in ("-n", "-N", "-d", "-m"):
            raise option.refusal(remark("beside-B"))
    if reservation is None or reservation.tasks is None:
        raise LaunchError("-B", "", remark("B-alone"))
    return reservation


def _threads_per_core(options: dict[str, Given], node: NodeKind, machine: Machine) -> int:
    """Return the hardware threads of a core that ``-j`` puts tasks on, by default the site's."""
    default = machine.launcher("aprun").threads_per_core or 1
    if "-j" not in options:
        return default
    option, most = options["-j"], node.threads_per_core
    bound = f"the hardware threads of a core of {machine.title}; 0 means all of them"
    threads = whole_number("-j", option.value, low=0, high=most, bound=bound) or most
    if threads > 1 and node.cpu_numbering == "cores":
        raise option.refusal(remark("j-unknown"))
    if threads < default and "-cc" in options and options["-cc"].value[0].isdigit():
        raise option.refusal("is not read together with a list of CPUs; write the list alone")
    return threads


def _binding(option: Given, newer: bool) -> tuple[str, tuple[tuple[int | None, ...], ...] | None]:
    """Return the keyword of ``-cc`` and its lists; those that know ``-j``, from CLE 4.1 on, know ``depth`` too."""
    if option.value in ("cpu", "numa_node", "none") or (option.value == "depth" and newer):
        return option.value, None
    if not option.value[:1].isdigit() and option.value[:1] != "x":
        raise option.refusal("must be cpu, numa_node, none or a list of cores such as 0,6,12,18")
    return "list", cpu_list("-cc", option.value)


def _numa_node_list(option: Given, numa_nodes: int, name: str) -> tuple[int, ...]:
    """Return the NUMA nodes of ``-sl``, each one there is and none twice."""
    listed = number_list("-sl", option.value, what="NUMA nodes")
    if max(listed) >= numa_nodes:
        absent = next(numa_node for numa_node in listed if numa_node >= numa_nodes)
        raise option.refusal(f"names NUMA node {absent}; {name} has 0 to {numa_nodes - 1}")
    if len(set(listed)) < len(listed):
        raise option.refusal("names a NUMA node twice")
    return listed


def _memory(value: str, notes: list[str]) -> float:
    """Return memory a task of ``-m``, behind which h or hs asks for huge pages. [GB]"""
    size = re.sub(r"(?i)hs?$", "", value)
    if size.isdigit():
        notes.append(remark("memory-without-unit", value=value))
    memory = memory_gb("-m", size, typed=value)
    if memory <= 0:
        raise LaunchError("-m", value, "must be more than 0")
    return memory


def _access_mode(option: Given) -> str:
    """Return the word of ``-F``; its first letter is enough."""
    for mode in ("exclusive", "share"):
        if option.value and mode.startswith(option.value.lower()):
            return mode
    raise option.refusal("must be exclusive or share")


def _check_claims(claims: Sequence[Claim], job: Job) -> None:
    """Refuse an aprun line that claims more than the machine or the reservation has."""
    machine, node, reservation = job.machine, job.node, job.reservation
    for component, layout in claims:
        nodes = layout.nodes_for(component)
        check_nodes(nodes, machine, "-n", component.tasks)
        _check_node_list(component.node_list, nodes, machine)
        tasks = min(component.tasks, layout.tasks_per_node)
        memory = (component.memory_per_task_gb or 0) * tasks
        if memory > node.memory_gb:
            has = {"has": node.memory_gb, "machine": machine.title}
            raise LaunchError(
                "-m", _memory_typed(component), remark("memory-beyond-node", tasks=tasks, memory=memory, **has)
            )
    if reservation is None:
        return
    _check_nodes(claims, reservation)
    # What a node's share of the reservation is, only the words of aprun say.
    if reservation.batch == "pbs" and reservation.tasks is not None:
        for component, layout in claims:
            tasks = min(component.tasks, layout.tasks_per_node)
            _check_cpus(component, tasks, reservation, reservation.tasks)
            _check_memory(component, layout.seats[:tasks], reservation, reservation.tasks, node)


def _memory_typed(component: Component) -> str:
    """Return the value of ``-m``, written out if the reservation gives it."""
    return component.given("-m") or f"{component.memory_per_task_gb:g}G"


def _check_node_list(value: str | None, nodes: int, machine: Machine) -> None:
    """Refuse ``-L`` with node IDs that there are not, or fewer than the component needs."""
    if value is None:
        return
    listed = set(number_list("-L", value, what="node IDs"))
    places = machine.network.node_positions if machine.network else None
    if places is not None and max(listed) >= places:
        raise LaunchError("-L", value, remark("node-ids", node=max(listed), machine=machine.title, last=places - 1))
    if len(listed) < nodes:
        raise LaunchError("-L", value, f"names {len(listed):,} of the {nodes:,} nodes that the line needs")


def _check_nodes(claims: Sequence[Claim], reservation: Reservation) -> None:
    """Refuse more nodes than reserved."""
    counts = [layout.nodes_for(component) for component, layout in claims]
    if sum(counts) <= reservation.nodes:
        return
    by = {"by": _reserved(reservation), "reserved": reservation.nodes}
    if len(claims) > 1:
        rule = remark("programs-beyond-job", parts=" + ".join(map("{:,}".format, counts)), total=sum(counts), **by)
        raise LaunchError(":", "", rule, words=f"{_EXCEEDS} resources")
    component, layout = claims[0]
    rule = remark("nodes-beyond-job", tasks=layout.tasks_per_node, nodes=counts[0], **by)
    raise LaunchError("-n", component.tasks, rule, words=f"{_EXCEEDS} node-count")


def _reserved(reservation: Reservation) -> str:
    """Return the resources that fix the number of nodes, as typed."""
    sizing = ((name, value) for name, value in reservation.options if name in _SIZING)
    return ",".join(f"{name}{' ' if name[0] == '-' else '='}{value}" for name, value in sizing) or "the script"


def _check_cpus(component: Component, tasks: int, reservation: Reservation, width: int) -> None:
    """Refuse more cores a node than reserved; whole nodes are no bound."""
    per_node = reservation.tasks_per_node
    if per_node is None and reservation.nodes > 1:
        # Without mppnppn the nodes are filled; a width below one node reserves just that.
        return
    reserved = min(width, per_node or width) * (reservation.threads_per_task or 1)
    depth = component.threads_per_task
    if tasks * depth > reserved:
        flag, value = ("-d", depth) if depth > 1 else ("-N", tasks)
        by = _reserved(reservation)
        rule = remark("cores-beyond-job", tasks=tasks, cores=tasks * depth, by=by, reserved=reserved)
        raise LaunchError(flag, value, rule, words=f"{_EXCEEDS} CPUs")


def _check_memory(
    component: Component, seats: Sequence[tuple[int, ...]], reservation: Reservation, width: int, node: NodeKind
) -> None:
    """Refuse more memory a node than reserved.

    A task's share is mppmem, or a core's share of the node where mppmem is not
    given. ``-ss`` claims the memory of the tasks' NUMA nodes; that is known to
    be refused with mppdepth, and is checked only there.
    """
    reserved_tasks = min(width, reservation.tasks_per_node or node.cores)
    share = reservation.memory_per_task_gb or node.memory_gb / node.cores
    reserved = reserved_tasks * share
    by = {"by": _reserved(reservation), "width": reserved_tasks, "share": share}
    memory = (component.memory_per_task_gb or 0) * len(seats)
    if component.given("-B") is None and memory > reserved:
        rule = remark("memory-beyond-job", tasks=len(seats), memory=memory, **by)
        raise LaunchError("-m", _memory_typed(component), rule, words=f"{_EXCEEDS} memory")
    numa_nodes = {node.numa_node_of(core) for seat in seats for core in seat}
    claimed = len(numa_nodes) * node.memory_per_numa_node_gb
    depth, no_size = reservation.threads_per_task, reservation.memory_per_task_gb is None
    if component.strict_memory and depth is not None and no_size and claimed > reserved:
        rule = remark("strict-beyond-job", numa_nodes=len(numa_nodes), memory=claimed, needed=width * depth, **by)
        raise LaunchError("-ss", "", rule, words=f"{_EXCEEDS} memory")
