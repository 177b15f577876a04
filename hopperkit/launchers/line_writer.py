"""Launch lines written from options, and options changed in a line that has been read."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from hopperlib.placement.components import Component, LauncherKind

Changes = dict[str, "str | None"]
"""Options and their new values; None takes one away."""


class Program(NamedTuple):
    """One program of a line: its options (name and value; an empty value for a flag) and its command.

    `shell` is the command as it was typed; without it the words of the command are quoted.
    """

    options: tuple[tuple[str, str], ...]
    command: tuple[str, ...]
    shell: str = ""


def _option_text(name: str, value: str) -> str:
    """Return an option as typed: ``-n 4``, ``--exact``, ``--ntasks-per-node=4``.

    aprun's options all have one dash, and take their value after a space.
    """
    if not value:
        return name
    return f"{name}={_quoted(value)}" if name.startswith("--") else f"{name} {_quoted(value)}"


def _quoted(value: str) -> str:
    """Return a value for a shell; what only the running script knows stays open to it."""
    if "'" in value or not re.search(r"[$`]", value):
        return shlex.quote(value)
    plain = re.fullmatch(r"[A-Za-z0-9_./{}:%+=,@$-]+", value) or value.startswith('"')
    return value if plain else f'"{value}"'


def write_line(launcher: LauncherKind, programs: Sequence[Program]) -> str:
    """Return a launch line.

    Parameters
    ----------
    launcher : {"aprun", "srun", "pals"}
    programs : sequence of Program
        Several are joined by a colon.

    Examples
    --------
    >>> write_line("aprun", [Program((("-n", "384"), ("-N", "12"), ("-ss", "")), ("vasp",))])
    'aprun -n 384 -N 12 -ss vasp'
    >>> write_line("srun", [Program((("-n", "4"), ("--cpu-bind", "cores")), ("a b.sh",))])
    "srun -n 4 --cpu-bind=cores 'a b.sh'"
    >>> write_line("pals", [Program((("-n", "8"), ("-ppn", "4"), ("--depth", "8"), ("--cpu-bind", "depth")), ("./a.out",))])
    'mpiexec -n 8 -ppn 4 --depth=8 --cpu-bind=depth ./a.out'
    """
    parts = []
    for program in programs:
        words = [_option_text(name, value) for name, value in program.options]
        parts.append(" ".join([*words, program.shell or shlex.join(program.command)]).strip())
    return f"{'mpiexec' if launcher == 'pals' else launcher} {' : '.join(parts)}".strip()


def changed(component: Component, changes: Changes) -> Program:
    """Return a component's program with some options set (or left out, for None), the others as they were.

    An option that is new stands behind the others.

    Examples
    --------
    >>> was = Component(command=("vasp",), tasks=8, options=(("-n", "8"), ("-N", "4")))
    >>> changed(was, {"-N": "2", "-S": "1"}).options
    (('-n', '8'), ('-N', '2'), ('-S', '1'))
    """
    options: Changes = {**dict(component.options), **changes}
    kept = tuple((name, value) for name, value in options.items() if value is not None)
    return Program(kept, component.command, component.shell)


def one_task_a_node(launcher: LauncherKind, nodes: int) -> str:
    """Return the start of a line that runs a command once on each node of a job.

    Parameters
    ----------
    launcher : str
    nodes : int
        Nodes of the job.

    Examples
    --------
    >>> one_task_a_node("aprun", 16), one_task_a_node("pals", 16)
    ('aprun -n 16 -N 1', 'mpiexec -n 16 --ppn 1')
    """
    lines = {
        "aprun": f"aprun -n {nodes} -N 1",
        "srun": "srun --ntasks-per-node=1",
        "pals": f"mpiexec -n {nodes} --ppn 1",
        "openmpi": "mpirun --map-by ppr:1:node",
    }
    return lines.get(launcher, f"mpiexec -n {nodes} -ppn 1")
