"""Plain aprun launch lines, parsed into requests.

The options for the number and location of tasks: -n, -N, -S, -d and -sn; -ss is accepted, but affects neither the
placement nor its cost here. Each core runs one hardware thread, as with -j 1, which is not supported here: on a machine
with several threads per core (Titan), the complete parser uses aprun's default for the machine, so it places the same
line differently. That parser, with batch scripts and every launcher, is in `hopperkit.launchers`.
"""

import shlex
from typing import Any

from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.components import Component, Launch, LaunchError

# Option -> field of `Component`, and the property of a node that bounds it.
_NUMBERS = {
    "-n": ("tasks", "", ""),
    "-N": ("tasks_per_node", "cores", "the cores of a node"),
    "-d": ("threads_per_task", "cores", "the cores of a node"),
    "-S": ("tasks_per_numa_node", "cores_per_numa_node", "the cores of a NUMA node"),
    "-sn": ("numa_nodes_per_node", "numa_nodes", "the NUMA nodes of a node"),
}
_FLAGS = {"-ss": "strict_memory"}


def read_launch_line(line: str, machine: Machine, *, threads: int | None = None, kind: str | None = None) -> Launch:
    """Parse a plain aprun line.

    Parameters
    ----------
    line : str
        ``aprun``, its options and a program; several programs are separated by ``:``.
    machine : Machine
    threads : int or None
        OpenMP threads of each task; None: the value of ``-d``, or 1.
    kind : str or None
        Kind of node; the default kind if None.

    Returns
    -------
    Launch

    Raises
    ------
    LaunchError
        If the line is not an aprun line, or has an unsupported option or value.
    ValueError
        If the machine has no such kind of node.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> launch = read_launch_line("aprun -n 384 -N 12 vasp", hopper)
    >>> launch.tasks, launch.components[0].tasks_per_node
    (384, 12)
    >>> read_launch_line("aprun -n 4 -S 7 a.out", hopper)
    Traceback (most recent call last):
    hopperlib.placement.components.LaunchError: -S 7 must be from 1 to 6, the cores of a NUMA node of Hopper

    References
    ----------
    NERSC, "Job Launch Command: aprun", web page for Hopper.
    """
    node = machine.node(kind)
    words = shlex.split(line)
    if words[:1] != ["aprun"]:
        raise LaunchError("line", line, "is not an aprun line; hopperkit.launchers reads other launchers and scripts")
    programs: list[list[str]] = [[]]
    for word in words[1:]:
        if word == ":":
            programs.append([])
        else:
            programs[-1].append(word)
    components = tuple(_component(program, machine, node) for program in programs)
    return Launch("aprun", line, components, openmp_threads=threads, kind=node.name)


def _component(words: list[str], machine: Machine, node: NodeKind) -> Component:
    """Parse the options and the command of one program."""
    fields: dict[str, Any] = {"tasks": 1}
    options: list[tuple[str, str]] = []
    rest = iter(range(len(words)))
    for at in rest:
        name = words[at]
        if not name.startswith("-"):
            return Component(tuple(words[at:]), options=tuple(options), **fields)
        if name in _FLAGS:
            fields[_FLAGS[name]] = True
            options.append((name, ""))
            continue
        if name not in _NUMBERS:
            known = ", ".join((*_NUMBERS, *_FLAGS))
            raise LaunchError(name, "", f"is not read here (known: {known}); hopperkit.launchers reads every option")
        value = words[at + 1] if at + 1 < len(words) else ""
        next(rest, None)
        field, bound, origin = _NUMBERS[name]
        most = getattr(node, bound) if bound else None
        if not value.isdecimal() or int(value) < 1 or (most and int(value) > most):
            limit = f"from 1 to {most}, {origin} of {machine.title}" if most else "a whole number of at least 1"
            raise LaunchError(name, value, f"must be {limit}")
        fields[field] = int(value)
        options.append((name, value))
    return Component((), options=tuple(options), **fields)
