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
from collections.abc import Mapping, Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.aprun._claim import Claim, check_claims
from hopperlib.node.aprun.layout import aprun_layout, counted_node
from hopperlib.node.launch.components import Component, LaunchError, Remarks, Reservation
from hopperlib.node.launch.option_values import assigned, cpu_list, memory_gb, number_list, whole_number
from hopperlib.node.launch.options import Given, count_of, option_table, programs, read_aprun_options
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell import Word

__all__ = ["read_aprun"]

_UNITS = (
    "-m {value} has no unit: Cray's manual counts megabytes and is followed here; "
    "NERSC's page for Hopper speaks of bytes. Write a suffix."
)


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
    claims: list[Claim] = []
    environment: dict[str, str] = {}
    remarks = Remarks.none()
    known = machine.launcher("aprun").options
    parts = programs(invocation.words)
    for words in parts:
        where = f"aprun on {machine.title}"
        given, command = read_aprun_options(words, option_table("aprun"), known, where=where)
        if len(parts) > 1 and not command:
            raise LaunchError(":", "", "parts two programs; one side of it names none")
        component = _component(given, command, machine, node, reservation, remarks.notes)
        counted = counted_node(node, component.threads_per_core or 1)
        claims.append(Claim(component, aprun_layout(component, counted, machine.title)))
        environment |= assigned(option.value for option in given if option.name == "-e")
    check_claims(claims, reservation, machine, node)
    return tuple(claim.component for claim in claims), environment, remarks


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
    values = {option.name: option.value for option in given}
    name = f"a node of {machine.title}"
    cores = f"the cores of {name}"
    hardware_threads = _threads_per_core(values, node, machine)
    node = counted_node(node, hardware_threads)

    reserved = _reserved(given, reservation)
    if not command:
        notes.append("The line names no program.")
    binding, lists = _binding(values.get("-cc"))
    numa_list = _numa_node_list(values.get("-sl"), node.numa_nodes, name)
    memory = _memory(values.get("-m"), notes)
    needs_one = f"{name} has {node.cores} cores and needs one for a task"
    depth = count_of(options, "-d", high=node.cores, bound=cores)
    return Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        tasks=count_of(options, "-n") or reserved.tasks or 1,
        threads_per_task=depth or reserved.threads_per_task or 1,
        tasks_per_node=count_of(options, "-N", high=node.cores, bound=cores) or reserved.tasks_per_node,
        tasks_per_numa_node=count_of(
            options, "-S", high=node.cores_per_numa_node, bound=f"the cores of a NUMA node of {machine.title}"
        ),
        numa_nodes_per_node=count_of(options, "-sn", high=node.numa_nodes, bound=f"the NUMA nodes of {name}"),
        numa_node_list=numa_list,
        strict_memory="-ss" in values,
        cpu_binding=binding,
        binding_list=lists,
        memory_per_task_gb=memory or reserved.memory_per_task_gb,
        reserved_cores=count_of(options, "-r", high=node.cores - 1, bound=needs_one, low=0) or 0,
        access_mode=_access_mode(values.get("-F")),
        threads_per_core=hardware_threads if hardware_threads > 1 else None,
        node_list=values.get("-L"),
        options=tuple((option.name, option.value) for option in given),
        idle_options=tuple(option.name for option in given if not option.bears),
    )


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


def _threads_per_core(values: Mapping[str, str], node: NodeKind, machine: Machine) -> int:
    """Return the hardware threads of a core that ``-j`` puts tasks on, by default the site's."""
    default = machine.launcher("aprun").threads_per_core or 1
    if "-j" not in values:
        return default
    bound = f"the hardware threads of a core of {machine.title}; 0 means all of them"
    threads = whole_number("-j", values["-j"], low=0, high=node.threads_per_core, bound=bound) or node.threads_per_core
    if threads > 1 and node.cpu_numbering == "cores":
        rule = "puts tasks on several hardware threads of a core; in which order is documented for none such machine"
        raise LaunchError("-j", values["-j"], rule)
    if threads < default and values.get("-cc", "x")[0].isdigit():
        raise LaunchError("-j", values["-j"], "is not read together with a list of CPUs; write the list alone")
    return threads


def _binding(value: str | None) -> tuple[str | None, tuple[tuple[int | None, ...], ...] | None]:
    """Return the keyword of ``-cc`` and its lists."""
    if value is None or value in ("cpu", "numa_node", "none"):
        return value, None
    if not value[:1].isdigit() and value[:1] != "x":
        raise LaunchError("-cc", value, "must be cpu, numa_node, none or a list of cores such as 0,6,12,18")
    return "list", cpu_list("-cc", value)


def _numa_node_list(value: str | None, numa_nodes: int, name: str) -> tuple[int, ...] | None:
    """Return the NUMA nodes of ``-sl``, each one there is and none twice."""
    if value is None:
        return None
    listed = number_list("-sl", value, what="NUMA nodes")
    absent = next((numa_node for numa_node in listed if numa_node >= numa_nodes), None)
    if absent is not None:
        raise LaunchError("-sl", value, f"names NUMA node {absent}; {name} has 0 to {numa_nodes - 1}")
    if len(set(listed)) < len(listed):
        raise LaunchError("-sl", value, "names a NUMA node twice")
    return listed


def _memory(value: str | None, notes: list[str]) -> float | None:
    """Return memory a task of ``-m``, behind which h or hs asks for huge pages. [GB]"""
    if value is None:
        return None
    size = re.sub(r"(?i)hs?$", "", value)
    if size.isdigit():
        notes.append(_UNITS.format(value=value))
    memory = memory_gb("-m", size, typed=value)
    if memory <= 0:
        raise LaunchError("-m", value, "must be more than 0")
    return memory


def _access_mode(value: str | None) -> str | None:
    """Return the word of ``-F``; its first letter is enough."""
    for mode in ("exclusive", "share"):
        if value and mode.startswith(value.lower()):
            return mode
    if value is not None:
        raise LaunchError("-F", value, "must be exclusive or share")
    return None
