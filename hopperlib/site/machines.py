"""The machines that a reader can choose at the top of every page, and a centre's own, set when the site is built."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sphinx.errors import ExtensionError

from hopperlib.machine import Machine, MachineError

__all__ = ["machines_module", "says"]


def says(machine: Machine) -> str:
    """Return a machine in one sentence.

    Examples
    --------
    >>> says(Machine.load("hopper"))
    'A node of Hopper has 24 cores in 4 NUMA nodes and 32 GB of memory; jobs start with aprun.'
    """
    node = machine.node()
    gpus = f", and {node.gpus} GPUs" if node.gpus else ""
    launcher = f"; jobs start with {machine.launchers[0].kind}" if machine.launchers else ""
    groups = f" in {node.numa_nodes} NUMA nodes" if node.numa_nodes > 1 else ""
    memory = f" and {node.memory_gb:g} GB of memory"
    return f"A node of {machine.title} has {node.cores} cores{groups}{memory}{gpus}{launcher}."


def machines_module() -> bytes:
    """Return the pages' module of machines; ``HOPPER_MACHINE`` names the file of the site's own.

    Raises
    ------
    sphinx.errors.ExtensionError
        If that file is no machine file.

    Examples
    --------
    >>> b'"Frontier"' in machines_module()
    True
    """
    shipped = {
        name: {"title": machine.title, "says": says(machine)}
        for name in Machine.names()
        for machine in [Machine.load(name)]
    }
    own, path = None, os.environ.get("HOPPER_MACHINE")
    if path:
        try:
            text = Path(path).read_text(encoding="utf-8")
            machine = Machine.from_toml(text)
        except (OSError, MachineError) as error:
            raise ExtensionError(f"MACHINE={path}: {error}") from error
        own = {"title": machine.title, "says": says(machine), "file": text}
    return f"export const machines = {json.dumps(shipped)};\nexport const own = {json.dumps(own)};\n".encode()
