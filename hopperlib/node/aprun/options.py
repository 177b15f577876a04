"""aprun lines: the options of Cray's launcher read into components.

Synopsis and defaults as on NERSC's aprun pages for Hopper [1]_; what the
newer CLE 4.1 adds (-C, -j, -p, -R) is in the table of options too, so that it
can be refused by name where a machine's aprun does not have it.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.aprun._claim import check_claims
from hopperlib.node.aprun.layout import AprunLayout, aprun_layout, counted_node
from hopperlib.node.launch.components import Component, LaunchError, Remarks, Reservation, remark
from hopperlib.node.launch.option_values import assigned, cpu_list, memory_gb, number_list, whole_number
from hopperlib.node.launch.options import Given, component_of, count_of, programs, read_fields, read_options
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Word

__all__ = ["read_aprun"]


def read_aprun(
    invocation: Invocation, machine: Machine, node: NodeKind, reservation: Reservation | None
) -> tuple[tuple[Component, ...], dict[str, str], Remarks]:
    """Return the components of an aprun line, variables it sets with ``-e``, and remarks.

    Parameters
    ----------
    invocation : Invocation
        The line.
    machine : Machine
    node : NodeKind
        Kind of node it is to run on; bounds come from it.
    reservation : Reservation or None
        What the script reserves, for ``-B``.

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
    >>> components, _, _ = read_aprun(invocation, hopper, hopper.node(), None)
    >>> [(component.tasks, component.threads_per_task) for component in components]
    [(4, 1), (2, 6)]
    """
    claims: list[tuple[Component, AprunLayout]] = []
    environment: dict[str, str] = {}
    remarks = Remarks.none()
    parts = programs(invocation.words)
    for words in parts:
        known = machine.launcher("aprun").options
        given, command = read_options(words, "aprun", known, where=f"aprun on {machine.title}")
        if len(parts) > 1 and not command:
            raise LaunchError(":", "", "parts two programs; one side of it names none")
        component = _component(given, command, machine, node, reservation, remarks.notes)
        counted = counted_node(node, component.threads_per_core or 1)
        claims.append((component, aprun_layout(component, counted, machine.title)))
        environment |= assigned(option.value for option in given if option.name == "-e")
    check_claims(claims, reservation, machine, node)
    return tuple(component for component, _ in claims), environment, remarks


def _component(
    given: Sequence[Given],
    command: Sequence[Word],
    machine: Machine,
    node: NodeKind,
    reservation: Reservation | None,
    notes: list[str],
) -> Component:
    """Return one component, its values checked one by one."""
    options = {option.name: option for option in given}
    name = f"a node of {machine.title}"
    hardware_threads = _threads_per_core(options, node, machine)
    node = counted_node(node, hardware_threads)
    reserved = _reserved(given, reservation)
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
        fields["cpu_binding"], fields["binding_list"] = _binding(options["-cc"])
    if "-sl" in options:
        fields["numa_node_list"] = _numa_node_list(options["-sl"], node.numa_nodes, name)
    if "-F" in options:
        fields["access_mode"] = _access_mode(options["-F"])
    if hardware_threads > 1:
        fields["threads_per_core"] = hardware_threads
    return component_of(given, command, fields)


def _reserved(given: Sequence[Given], reservation: Reservation | None) -> Reservation:
    """Return what ``-B`` takes from the reservation, nothing without it; it stands alone with what it replaces."""
    if not any(option.name == "-B" for option in given):
        return Reservation(batch="pbs", nodes=0)
    for option in given:
        if option.name in ("-n", "-N", "-d", "-m"):
            rule = "cannot stand with -B, which takes -n, -N, -d and -m from the batch reservation"
            raise LaunchError(option.name, option.value, rule)
    if reservation is None or reservation.tasks is None:
        rule = "takes -n, -N, -d and -m from the batch reservation, and this text holds no #PBS -l mppwidth="
        raise LaunchError("-B", "", rule)
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
        raise option.refusal(
            "puts tasks on several hardware threads of a core; in which order is documented for none such machine"
        )
    if threads < default and "-cc" in options and options["-cc"].value[0].isdigit():
        raise option.refusal("is not read together with a list of CPUs; write the list alone")
    return threads


def _binding(option: Given) -> tuple[str, tuple[tuple[int | None, ...], ...] | None]:
    """Return the keyword of ``-cc`` and its lists."""
    if option.value in ("cpu", "numa_node", "none"):
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
