"""``scontrol show config`` (Slurm): the site settings that determine where srun places tasks."""

import re

from hopperkit.readers.hardware._record import Hardware, reported
from hopperlib.machine import Quantity

MARK = "Configuration data as of"
"""First line of the output of ``scontrol show config``."""

_SITE_PLUGINS = ("CliFilterPlugins", "JobSubmitPlugins")


def read_slurm_config(text: str) -> Hardware:
    r"""Read ``scontrol show config``; the facts are keys of a machine file's srun.

    Examples
    --------
    >>> text = '''Configuration data as of 2026-11-23T20:56:52
    ... SelectType              = select/cons_tres
    ... SelectTypeParameters    = CR_CORE_MEMORY,CR_CORE_DEFAULT_DIST_BLOCK
    ... SlurmdParameters        = l3cache_as_socket
    ... SLURM_VERSION           = 24.05.8
    ... TaskPlugin              = task/cgroup,task/affinity
    ... TaskPluginParam         = autobind=threads'''
    >>> facts = read_slurm_config(text).facts
    >>> [facts[key].value for key in ("version", "slurm_socket", "default_distribution", "auto_binding")]
    ['24.05.8', 'l3', 'block:block', 'threads']
    """
    settings = dict(re.findall(r"^\s*(\w+)[ \t]*= ?(.*?)[ \t]*$", text, re.MULTILINE))
    facts: dict[str, Quantity] = {}
    version = re.match(r"\d{1,3}(\.\d{1,4}){1,3}", settings.get("SLURM_VERSION", ""))
    if version:
        facts |= reported("slurm-config", "SLURM_VERSION", version=version[0])
    if "SlurmdParameters" in settings:
        socket = _socket(settings["SlurmdParameters"].lower())
        facts |= reported("slurm-config", _at(settings, "SlurmdParameters"), slurm_socket=socket)
    if "SelectTypeParameters" in settings:
        block = "core_default_dist_block" in settings["SelectTypeParameters"].lower()
        distribution = "block:block" if block else "block:cyclic"
        at = _at(settings, "SelectTypeParameters")
        facts |= reported("slurm-config", at, default_distribution=distribution)
        if "one_task_per_core" in settings["SelectTypeParameters"].lower():
            facts |= reported("slurm-config", at, tasks_per_core=1)
    if "TaskPluginParam" in settings:
        bound = re.search(r"autobind=(threads|cores|sockets)", settings["TaskPluginParam"].lower())
        facts |= reported("slurm-config", _at(settings, "TaskPluginParam"), auto_binding=bound[1] if bound else "none")
    return Hardware("slurm-config", facts, notes=tuple(_notes(settings)))


def _at(settings: dict[str, str], name: str) -> str:
    """Return the source of a setting, with its value."""
    return f"{name} = {settings[name][:80] or '(null)'}"


def _socket(parameters: str) -> str:
    """Return the hardware unit that slurmd treats as a socket."""
    sockets = {"l3cache_as_socket": "l3", "numa_node_as_socket": "numa_node"}
    return next((socket for parameter, socket in sockets.items() if parameter in parameters), "socket")


def _notes(settings: dict[str, str]) -> list[str]:
    """Return notes on the settings for a reader of the machine file."""
    notes = []
    if "TaskPlugin" in settings and "affinity" not in settings["TaskPlugin"]:
        notes.append(
            f"TaskPlugin = {settings['TaskPlugin'][:60]} has no task/affinity: srun does not bind tasks here, so placements from this file are valid only for the cores of a step"
        )
    changing = [name for name in _SITE_PLUGINS if settings.get(name, "(null)") not in ("", "(null)")]
    if changing:
        notes.append(
            f"{' and '.join(changing)} may change the options of a line before Slurm reads them; "
            "compare a placement with a job's output (hopper place --check)"
        )
    return notes
