"""The cluster of this computer as a machine file, read from Slurm or PBS once a day and cached."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperkit.readers.hardware.reader import Hardware
    from hopperlib.placement.components import Launch

_KEPT_S = 24 * 3600
_PROBE = "bash -c 'echo task $SLURM_PROCID $(taskset -cp $$)'"


def run_tool(line: tuple[str, ...]) -> str | None:
    """Return a program's output; None if there is no such program.

    Parameters
    ----------
    line : tuple of str
        Program and arguments.

    Raises
    ------
    OSError, subprocess.SubprocessError
        If it fails, or runs for more than a minute.

    Examples
    --------
    >>> run_tool(('no-such-tool-of-a-batch-system',)) is None
    True
    """
    path = shutil.which(line[0])
    if path is None:
        return None
    # The readers expect English output of these tools.
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [path, *line[1:]], capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL, env=environment
    )
    return done.stdout.decode("utf-8", errors="replace")


def machine_here() -> Path:
    """Return the machine file of the local cluster, created if it does not exist or is a day old.

    From Slurm's scontrol, otherwise PBS's pbsnodes.

    Raises
    ------
    InputError
        If this computer has neither Slurm nor PBS, or one of their tools fails.
    """
    config = _output_of("scontrol", "show", "config") or ""
    listed = "" if config else _output_of("pbsnodes", "-a") or ""
    if not (config or listed):
        raise InputError(
            "--here: this computer has neither scontrol nor pbsnodes, so it is not a login node of a Slurm or PBS cluster; name the machine (--machine), or create its file on one of its nodes (hopper machine new)"
        )
    name, system = _name_of(config), "Slurm" if config else "PBS"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hopper"
    file = folder / f"{name}.toml"
    if file.is_file() and (age_s := time.time() - file.stat().st_mtime) < _KEPT_S:
        click.echo(f"hopper: machine {name}, from {system} {age_s / 3600:.1f} hours ago ({file})", err=True)
        return file
    from hopperkit.readers.hardware.reader import machine_from, read_hardware

    output = (
        listed or f"{_output_of('scontrol', 'show', 'node', '-o')}\n{_output_of('scontrol', 'show', 'partition', '-o')}"
    )
    records = [*read_hardware(output), *(read_hardware(config) if config else ())]
    machine = machine_from([*records, *_this_node()], name=name)
    header = f"# Written by `hopper place --here` from: {', '.join(machine.sources)}.\n\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(header + machine.to_toml(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--here: {file}: cannot be written: {error.strerror or error}") from None
    click.echo(f"hopper: machine {name}, from {system}; stored for a day in {file}", err=True)
    return file


def _name_of(config: str) -> str:
    """Return a cluster's name in the form used for files and machines."""
    cluster = re.search(r"^ClusterName\s*=\s*(\S+)", config, re.MULTILINE)
    name = re.sub(r"[^a-z0-9-]", "-", cluster[1].lower())[:40].strip("-") if cluster else ""
    return name if name[:1].isalpha() else "here"


def _output_of(*line: str) -> str | None:
    """Return the output of a batch-system command; None if there is none."""
    try:
        return run_tool(line)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"--here: {' '.join(line)} failed: {error}") from None


def _this_node() -> "list[Hardware]":
    """Return the output of lscpu; nodes with the same cores take their NUMA nodes from it."""
    from hopperkit.readers.hardware.reader import read_hardware

    try:
        printed = run_tool(("lscpu",))
        return [*read_hardware(printed)] if printed else []
    except (OSError, subprocess.SubprocessError, ValueError):
        return []


def probe_line(launch: "Launch") -> str:
    """Return an srun line that prints its tasks' binding in the form that ``--check`` reads; empty for other launchers.

    Parameters
    ----------
    launch : Launch
        Launch line, parsed for the machine.

    Examples
    --------
    >>> from hopperkit.launchers.reader import read_launch
    >>> from hopperlib.machine import Machine
    >>> probe_line(read_launch("srun -n 4 -c 2 ./a.out in.nml", Machine.load("cluster")))
    "srun -n 4 -c 2 bash -c 'echo task $SLURM_PROCID $(taskset -cp $$)'"
    """
    if launch.launcher != "srun" or len(launch.components) != 1:
        return ""
    command = launch.components[0].command
    words = launch.text.split()
    options = words[: len(words) - len(command)]
    known = bool(command) and tuple(words[len(options) :]) == tuple(command)
    return f"{' '.join(options) if known else 'srun ...'} {_PROBE}"
