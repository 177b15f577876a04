"""aprun lines: the options of Cray's launcher read into components.

Synopsis and defaults as on NERSC's aprun pages for Hopper [1]_; options added by CLE 4.1 (-C, -j, -p, -R) are in the
table too, so that an error can name them if a machine's aprun lacks them. Whether a line fits the nodes is found out in
`hopperkit.launchers.filling.aprun_claim`.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hopperkit.launchers.option_values import assigned, cpu_list, memory_gb, number_list, whole_number
from hopperkit.launchers.options import Given, component_of, count_of, read_fields, read_programs
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.words.shell import Word
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.aprun_layout import counted_node
from hopperlib.placement.components import Component, Job, LaunchError, ReadLine, Remarks


def read_aprun(line: LaunchLine, job: Job) -> ReadLine:
    """Return the components of an aprun line, variables it sets with ``-e``, and remarks.

    Parameters
    ----------
    line : LaunchLine
    job : Job
        Its position.

    Raises
    ------
    LaunchError
        If aprun would refuse an option or its value.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.scripts import read_script
    >>> hopper = Machine.load("hopper")
    >>> (line,) = read_script("aprun -n 4 ./ocean : -n 2 -d 6 ./ice").lines
    >>> components, _, _ = read_aprun(line, Job(hopper, hopper.node()))
    >>> [(component.tasks, component.threads_per_task) for component in components]
    [(4, 1), (2, 6)]
    """
    machine = job.machine
    components: list[Component] = []
    environment: dict[str, str] = {}
    remarks = Remarks.none()
    known = machine.launcher("aprun").options
    for given, command in read_programs(line.words, "aprun", known, where=f"aprun on {machine.title}"):
        components.append(_component(given, command, job, remarks.notes))
        environment |= assigned(option.value for option in given if option.name == "-e")
    return tuple(components), environment, remarks


def _component(given: Sequence[Given], command: Sequence[Word], job: Job, notes: list[str]) -> Component:
    """Return one component, its values checked one by one."""
    machine = job.machine
    options = {option.name: option for option in given}
    name = f"a node of {machine.title}"
    hardware_threads = _threads_per_core(options, job.node, machine)
    node = counted_node(job.node, hardware_threads)
    if not command:
        notes.append("The line names no program.")
    bounds = {
        "cores": (node.cores, f"the cores of {name}"),
        "cores_per_numa_node": (node.cores_per_numa_node, f"the cores of a NUMA node of {machine.title}"),
        "numa_nodes": (node.numa_nodes, f"the NUMA nodes of {name}"),
    }
    fields = {"tasks": 1, **read_fields(options, "aprun", bounds)}
    fields["memory_per_task_gb"] = _memory(options["-m"].value, notes) if "-m" in options else None
    needs_one = f"{name} has {node.cores} cores and needs one for a task"
    fields["reserved_cores"] = count_of(options, "-r", high=node.cores - 1, bound=needs_one, low=0) or 0
    fields |= _binding_fields(options, machine)
    if "-sl" in options:
        fields["numa_node_list"] = _numa_node_list(options["-sl"], node.numa_nodes, name)
    if hardware_threads > 1:
        fields["threads_per_core"] = hardware_threads
    return component_of(given, command, fields)


def _threads_per_core(options: Mapping[str, Given], node: NodeKind, machine: Machine) -> int:
    """Return the hardware threads of a core that ``-j`` puts tasks on, by default the site's."""
    default = machine.launcher("aprun").threads_per_core or 1
    if "-j" not in options:
        return default
    option, most = options["-j"], node.threads_per_core
    bound = f"the hardware threads of a core of {machine.title}; 0 means all of them"
    threads = whole_number("-j", option.value, low=0, high=most, bound=bound) or most
    if threads > 1 and node.cpu_numbering == "cores":
        rule = "puts tasks on several hardware threads of a core; in which order is documented for none such machine"
        raise option.refusal(rule)
    if threads < default and "-cc" in options and options["-cc"].value[0].isdigit():
        raise option.refusal("is not read together with a list of CPUs; write the list alone")
    return threads


def _binding_fields(options: Mapping[str, Given], machine: Machine) -> dict[str, Any]:
    """Return the keyword of ``-cc`` and its lists; versions of aprun with ``-j``, from CLE 4.1 on, also accept
    ``depth``.
    """
    option = options.get("-cc")
    if option is None:
        return {}
    newer = "-j" in machine.launcher("aprun").options
    if option.value in ("cpu", "numa_node", "none") or (option.value == "depth" and newer):
        return {"cpu_binding": option.value}
    if not option.value[:1].isdigit() and option.value[:1] != "x":
        raise option.refusal("must be cpu, numa_node, none or a list of cores such as 0,6,12,18")
    return {"cpu_binding": "list", "binding_list": cpu_list("-cc", option.value)}


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
    """Return the memory per task of ``-m``, with suffix h or hs for huge pages. [GB]"""
    size = re.sub(r"(?i)hs?$", "", value)
    if size.isdigit():
        notes.append(
            f"-m {value} has no unit: Cray's manual counts megabytes and is followed here; NERSC's page for Hopper speaks "
            "of bytes. Write a suffix."
        )
    memory = memory_gb("-m", size, typed=value)
    if memory <= 0:
        raise LaunchError("-m", value, "must be more than 0")
    return memory
