"""aprun lines: the options of Cray's launcher read into components.

Synopsis and defaults as on NERSC's aprun pages for Hopper [1]_; what the
newer CLE 4.1 adds (-C, -j, -p, -R) is known by name, so that it can be refused
by name where a machine's aprun does not have it.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.node.aprun.layout import aprun_layout
from hopperlib.node.launch.components import Component, LaunchError, Reservation
from hopperlib.node.launch.option_values import cpu_list, memory_gb, number_list, whole_number
from hopperlib.node.launch.options import Given, Option, last_of, read_aprun_options
from hopperlib.node.launch.scripts import Invocation
from hopperlib.node.launch.shell_words import Word

__all__ = ["APRUN_OPTIONS", "read_aprun"]

_PLACEMENT_FILE = "names a file of core lists, which is not part of this text; write the lists with -cc"
_UNITS = (
    "-m {value} has no unit: Cray's manual counts megabytes and is followed here; "
    "NERSC's page for Hopper speaks of bytes. Write a suffix."
)

APRUN_OPTIONS: tuple[Option, ...] = (
    Option(("-n",), bears=True),
    Option(("-N",), bears=True),
    Option(("-d",), bears=True),
    Option(("-S",), bears=True),
    Option(("-sn",), bears=True),
    Option(("-sl",), bears=True),
    Option(("-ss",), value="none", bears=True),
    Option(("-cc",), bears=True),
    Option(("-cp",), refused=_PLACEMENT_FILE),
    Option(("-m",), bears=True),
    Option(("-r",), bears=True),
    Option(("-F",), bears=True),
    Option(("-B",), value="none", bears=True),
    Option(("-L",), bears=True),
    Option(("-j",), bears=True),
    Option(("-a",)),
    Option(("-b",), value="none"),
    Option(("-C",), value="none"),
    Option(("-D",)),
    Option(("-e",)),
    Option(("-p",)),
    Option(("-q",), value="none"),
    Option(("-R",)),
    Option(("-t",)),
    Option(("-T",), value="none"),
)


def read_aprun(
    invocation: Invocation, machine: Machine, launcher: Launcher, node: NodeKind, reservation: Reservation | None
) -> tuple[tuple[Component, ...], dict[str, str], list[str]]:
    """Return the components of an aprun line, variables it sets with ``-e``, and notes.

    Parameters
    ----------
    invocation : Invocation
        The line.
    machine : Machine
    launcher : Launcher
        Which options this aprun knows.
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
    >>> components, _, _ = read_aprun(invocation, hopper, hopper.launcher("aprun"), hopper.node(), None)
    >>> [(component.tasks, component.threads_per_task) for component in components]
    [(4, 1), (2, 6)]
    """
    where = f"aprun on {machine.title}"
    components: list[Component] = []
    environment: dict[str, str] = {}
    notes: list[str] = []
    parts: list[list[int]] = [[]]
    for index, word in enumerate(invocation.words):
        if word.text == ":" and not word.unknown:
            parts.append([])
        else:
            parts[-1].append(index)
    for part in parts:
        words = [invocation.words[index] for index in part]
        given, command = read_aprun_options(words, APRUN_OPTIONS, launcher.options, where=where)
        if len(parts) > 1 and not command:
            raise LaunchError(flag=":", value="", rule="parts two programs; one side of it names none")
        component = _component(given, command, machine, node, reservation, notes)
        aprun_layout(component, node, machine.title)
        components.append(component)
        environment |= _environment(given)
    return tuple(components), environment, notes


def _component(
    given: Sequence[Given],
    command: Sequence[Word],
    machine: Machine,
    node: NodeKind,
    reservation: Reservation | None,
    notes: list[str],
) -> Component:
    """Return one component, its values checked one by one."""
    values = {option.name: option.value for option in given}
    from_reservation = _from_reservation(given, reservation)
    name = f"a node of {machine.title}"
    numa_nodes, in_numa_node = node.numa_nodes, node.cores_per_numa_node

    def count(flag: str, high: int | None = None, bound: str = "", low: int = 1) -> int | None:
        if flag not in values:
            return None
        return whole_number(flag, values[flag], low=low, high=high, bound=bound)

    cores = f"the cores of {name}"
    if not command:
        notes.append("The line names no program.")
    _check_cores_per_unit(values, node, machine)
    binding, lists = _binding(values.get("-cc"))
    numa_list = _numa_node_list(values.get("-sl"), numa_nodes, name)
    memory, huge = _memory(values.get("-m"), notes)
    given_depth = count("-d", node.cores, cores)
    given_tasks = count("-n")
    given_tasks_per_node = count("-N", node.cores, cores)
    return Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        tasks=given_tasks or from_reservation.get("-n") or 1,
        threads_per_task=given_depth or from_reservation.get("-d") or 1,
        tasks_per_node=given_tasks_per_node or from_reservation.get("-N"),
        tasks_per_numa_node=count("-S", in_numa_node, f"the cores of a NUMA node of {machine.title}"),
        numa_nodes_per_node=count("-sn", numa_nodes, f"the NUMA nodes of {name}"),
        numa_node_list=numa_list,
        strict_memory="-ss" in values,
        cpu_binding=binding,
        binding_list=lists,
        memory_per_task_gb=_memory_from(memory, from_reservation, reservation),
        huge_pages=huge,
        reserved_cores=count("-r", node.cores - 1, f"{name} has {node.cores} cores and needs one for a task", 0) or 0,
        access_mode=_access_mode(values.get("-F")),
        node_list=values.get("-L"),
        options=tuple((option.name, option.value) for option in given),
        idle_options=tuple(option.name for option in given if not option.bears),
    )


def _from_reservation(given: Sequence[Given], reservation: Reservation | None) -> dict[str, int]:
    """Return what ``-B`` takes from the reservation; it stands alone with the four options it replaces."""
    if last_of(given, "-B") is None:
        return {}
    for option in given:
        if option.name in ("-n", "-N", "-d", "-m"):
            rule = "cannot stand with -B, which takes -n, -N, -d and -m from the batch reservation"
            raise LaunchError(flag=option.name, value=option.value, rule=rule)
    if reservation is None or reservation.tasks is None:
        rule = "takes -n, -N, -d and -m from the batch reservation, and this text holds no #PBS -l mppwidth="
        raise LaunchError(flag="-B", value="", rule=rule)
    taken = {"-n": reservation.tasks, "-N": reservation.tasks_per_node, "-d": reservation.threads_per_task}
    return {flag: value for flag, value in taken.items() if value is not None}


def _memory_from(
    memory: float | None, from_reservation: Mapping[str, int], reservation: Reservation | None
) -> float | None:
    """Return the memory of a task, from the line or, with ``-B``, from the reservation. [GB]"""
    if from_reservation and reservation is not None:
        return reservation.memory_per_task_gb
    return memory


def _check_cores_per_unit(values: Mapping[str, str], node: NodeKind, machine: Machine) -> None:
    """Refuse ``-j`` with more than one hardware thread a core; this model of aprun counts cores."""
    if "-j" not in values:
        return
    bound = f"the hardware threads of a core of {machine.title}; 0 means all of them"
    threads = whole_number("-j", values["-j"], low=0, high=node.threads_per_core, bound=bound)
    if (threads or node.threads_per_core) > 1:
        rule = "puts tasks on several hardware threads of a core; aprun is modeled with one task or thread a core"
        raise LaunchError(flag="-j", value=values["-j"], rule=rule)


def _binding(value: str | None) -> tuple[str | None, tuple[tuple[int | None, ...], ...] | None]:
    """Return the keyword of ``-cc`` and its lists."""
    if value is None or value in ("cpu", "numa_node", "none"):
        return value, None
    if not value[:1].isdigit() and value[:1] != "x":
        rule = "must be cpu, numa_node, none or a list of cores such as 0,6,12,18"
        raise LaunchError(flag="-cc", value=value, rule=rule)
    return "list", cpu_list("-cc", value)


def _numa_node_list(value: str | None, numa_nodes: int, name: str) -> tuple[int, ...] | None:
    """Return the NUMA nodes of ``-sl``, each one there is and none twice."""
    if value is None:
        return None
    listed = number_list("-sl", value, what="NUMA nodes")
    for numa_node in listed:
        if numa_node >= numa_nodes:
            rule = f"names NUMA node {numa_node}; {name} has 0 to {numa_nodes - 1}"
            raise LaunchError(flag="-sl", value=value, rule=rule)
    if len(set(listed)) < len(listed):
        raise LaunchError(flag="-sl", value=value, rule="names a NUMA node twice")
    return listed


def _memory(value: str | None, notes: list[str]) -> tuple[float | None, str | None]:
    """Return memory a task [GB] and the huge-page suffix of ``-m``."""
    if value is None:
        return None, None
    huge = "hs" if value.lower().endswith("hs") else "h" if value.lower().endswith("h") else None
    size = value[: len(value) - len(huge or "")]
    if size.isdigit():
        notes.append(_UNITS.format(value=value))
    memory = memory_gb("-m", size, typed=value)
    if memory <= 0:
        raise LaunchError(flag="-m", value=value, rule="must be more than 0")
    return memory, huge


def _access_mode(value: str | None) -> str | None:
    """Return the word of ``-F``; its first letter is enough."""
    for mode in ("exclusive", "share"):
        if value and mode.startswith(value.lower()):
            return mode
    if value is not None:
        raise LaunchError(flag="-F", value=value, rule="must be exclusive or share")
    return None


def _environment(given: Sequence[Given]) -> dict[str, str]:
    """Return the variables set with ``-e NAME=value``."""
    pairs = [option.value.partition("=") for option in given if option.name == "-e"]
    return {name: value for name, equals, value in pairs if equals}
