"""Which kind of node a text asks for, by constraint, partition, QOS, account or GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, remark
from hopperlib.node.launch.options import Given, read_options
from hopperlib.node.launch.scripts import find_directives, find_invocations

_CHOOSES = {"-C": "constraint", "-p": "partition", "-q": "qos", "-A": "account"}


class AskedKind(NamedTuple):
    """The kind of node, and what is assumed or not known about that."""

    kind: NodeKind
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def asked_kind(text: str, machine: Machine, kind: str | None) -> AskedKind:
    r"""Return the kind of node that a text asks for; `kind` goes before what it says.

    >>> asked_kind("#SBATCH -C gpu\nsrun -n 4 ./a.out", Machine.load("perlmutter"), None).kind.name
    'gpu'
    """
    given = list(_given(text))
    said = {
        f"{_CHOOSES[option.name]}={word}"
        for option in given
        if option.name in _CHOOSES
        for word in re.split(r"[&|,*\[\]()]+", option.value)
    }
    wants_gpus = any(
        "gpu" in option.name or option.name == "-G" or "gpu" in option.value for option in given if option.bears
    )
    if kind is not None:
        node, assumed = machine.node(kind), ""
    else:
        node, assumed = _found(machine, said, wants_gpus)
        chosen = [each.name for each in machine.node_kinds if said & set(each.chosen_by)]
        if len(chosen) > 1 and re.search(r"^#SBATCH[ \t]+hetjob", text, re.MULTILINE):
            raise LaunchError(
                "#SBATCH hetjob", "", f"asks for nodes of several kinds ({', '.join(chosen)}); one can be read"
            )
    shared = next((choice for choice in node.shared_by if choice in said), None)
    doubts = (remark("shared-nodes", choice=shared),) if shared else ()
    return AskedKind(node, (assumed,) if assumed else (), doubts)


def _found(machine: Machine, said: set[str], wants_gpus: bool) -> tuple[NodeKind, str]:
    """Return the kind that the words choose, or the likeliest, and what is assumed then."""
    chosen = [node for node in machine.node_kinds if said & set(node.chosen_by)]
    if chosen:
        return chosen[0], ""
    ordinary = machine.node()
    fitting = next((node for node in machine.node_kinds if node.gpus), ordinary) if wants_gpus else ordinary
    if len(machine.node_kinds) == 1 or not any(node.chosen_by for node in machine.node_kinds):
        return fitting, ""
    why = "as it asks for GPUs" if fitting is not ordinary else "the ordinary kind"
    return fitting, remark("kind-guessed", kind=fitting.name, why=why)


def _given(text: str) -> Iterator[Given]:
    """Yield the options of all #SBATCH lines and srun lines that can be read."""
    with suppress(LaunchError):
        directives = find_directives(text)
        if directives and directives.batch == "slurm":
            # The groups of a heterogeneous job are asked for one after the other.
            words = [word for word in directives.words if word.text != "hetjob"]
            yield from read_options(words, "sbatch", where="")[0]
    for invocation in find_invocations(text, {}):
        if invocation.launcher == "srun":
            with suppress(LaunchError):
                yield from read_options(invocation.words, "srun", where="")[0]
