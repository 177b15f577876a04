"""What a script tells the batch system: the kind of node it asks for, and what it reserves.

The kind of node follows from constraint, partition, QOS, account or GPUs. In
``#PBS -l mppwidth=...,mppnppn=...,mppdepth=...`` the three resources are the
batch system's words for aprun's -n, -N and -d. NERSC asked for mppwidth in
whole nodes, whatever aprun uses of them [1]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and "Memory Considerations," web pages for Hopper.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperlib.machine import Machine, NodeKind
from hopperlib.node.launch.components import LaunchError, Reservation, remark
from hopperlib.node.launch.option_values import check_nodes, memory_gb, whole_number
from hopperlib.node.launch.options import Given, read_options
from hopperlib.node.launch.scripts import Directives, find_directives, find_invocations
from hopperlib.node.launch.shell import Word
from hopperlib.node.slurm.sbatch import read_sbatch_reservation

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
    wants_gpus = any("gpu" in (option.name + option.value) or option.name == "-G" for option in given if option.bears)
    chosen = [each for each in machine.node_kinds if said & set(each.chosen_by)]
    assumed = ""
    if kind is not None:
        node = machine.node(kind)
    elif chosen:
        node = chosen[0]
        if len(chosen) > 1 and re.search(r"^#SBATCH[ \t]+hetjob", text, re.MULTILINE):
            several = ", ".join(each.name for each in chosen)
            raise LaunchError("#SBATCH hetjob", "", f"asks for nodes of several kinds ({several}); one can be read")
    else:
        ordinary = machine.node()
        node = next((each for each in machine.node_kinds if each.gpus), ordinary) if wants_gpus else ordinary
        why = "the ordinary kind" if node is ordinary else "as it asks for GPUs"
        if len(machine.node_kinds) > 1 and any(each.chosen_by for each in machine.node_kinds):
            assumed = remark("kind-guessed", kind=node.name, why=why)
    shared = next((choice for choice in node.shared_by if choice in said), None)
    doubts = (remark("shared-nodes", choice=shared),) if shared else ()
    return AskedKind(node, (assumed,) if assumed else (), doubts)


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


def read_reservation(
    text: str, machine: Machine, node: NodeKind
) -> tuple[Reservation | None, Mapping[str, str], list[str]]:
    """Return what the script reserves, the variables the batch system sets, and notes."""
    directives = find_directives(text)
    if directives is None:
        return None, {}, []
    notes = list(directives.notes)
    if directives.batch == "slurm":
        return *read_sbatch_reservation(directives.words, machine, node), notes
    if directives.batch != "pbs":
        notes.append(f"Of the {directives.batch} directives only the counts of nodes and tasks are read.")
        return _counted(directives), {}, notes
    reservation = read_pbs_reservation(directives.words, machine, node)
    if reservation is None:
        return None, {}, [*notes, "The #PBS lines name no nodes, so the line is not checked against a reservation."]
    return reservation, dict.fromkeys(("PBS_NUM_NODES", "PBS_NNODES"), str(reservation.nodes)), notes


_COUNTS = {"lsf": ("-nnodes", "-n"), "cobalt": ("-n", ""), "flux": ("-N", "-n")}


def _counted(directives: Directives) -> Reservation | None:
    """Return the nodes and tasks that directives of LSF, Cobalt or Flux count; None without nodes."""
    words = [word.text for word in directives.words]
    pairs = dict(itertools.pairwise(words))
    nodes, tasks = (pairs.get(name, "") for name in _COUNTS[directives.batch])
    if not nodes.isdigit():
        return None
    return Reservation(directives.batch, int(nodes[:9]), int(tasks[:9]) if tasks.isdigit() else None)


_MPP = ("mppwidth", "mppnppn", "mppdepth")


def read_pbs_reservation(words: Sequence[Word], machine: Machine, node: NodeKind) -> Reservation | None:
    """Return what ``#PBS`` lines reserve; None if they name no nodes."""
    resources = tuple(_resources(words))
    values = dict(resources)
    memory = memory_gb("mppmem", values["mppmem"], default_unit="") if "mppmem" in values else None
    if any(name in values for name in _MPP):
        width, per_node, depth = _mpp(values, machine, node)
        nodes = -(-width // per_node)
        check_nodes(nodes, machine, "#PBS -l mppwidth", width, verb="reserves")
        return Reservation(
            batch="pbs",
            nodes=nodes,
            tasks=width,
            tasks_per_node=per_node if "mppnppn" in values or "mppdepth" in values else None,
            threads_per_task=depth if "mppdepth" in values else None,
            memory_per_task_gb=memory,
            options=resources,
        )
    for name, per_node_key in (("nodes", "ppn"), ("select", "mpiprocs")):
        if name in values:
            nodes, tasks_per_node = _whole_nodes(f"#PBS -l {name}", values[name], per_node_key, node)
            check_nodes(nodes, machine, f"#PBS -l {name}", nodes, verb="reserves")
            return Reservation(batch="pbs", nodes=nodes, tasks_per_node=tasks_per_node, options=resources)
    return None


def _resources(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of all ``-l`` lists, in order."""
    texts = iter([word.text for word in words])
    for text in texts:
        if text.startswith("-l"):
            for part in (text[2:] or next(texts, None) or "").split(","):
                name, _, value = part.partition("=")
                yield name.strip(), value.strip()


def _mpp(values: dict[str, str], machine: Machine, node: NodeKind) -> tuple[int, int, int]:
    """Return mppwidth, mppnppn and mppdepth, defaults worked out."""
    if "mppwidth" not in values:
        name = next(name for name in _MPP if name in values)
        raise LaunchError(f"#PBS -l {name}", values[name], "needs mppwidth beside it, the tasks")
    cores = f"the cores of a node of {machine.title}"
    width = whole_number("#PBS -l mppwidth", values["mppwidth"])
    depth = whole_number("#PBS -l mppdepth", values.get("mppdepth", "1"), high=node.cores, bound=cores)
    default = str(node.cores // depth)
    per_node = whole_number("#PBS -l mppnppn", values.get("mppnppn", default), high=node.cores, bound=cores)
    if per_node * depth > node.cores:
        has = {"cores": per_node * depth, "has": node.cores, "machine": machine.title}
        raise LaunchError("#PBS -l mppnppn", per_node, remark("mpp-beyond-node", depth=depth, **has))
    return width, per_node, depth


def _whole_nodes(flag: str, value: str, per_node_key: str, node: NodeKind) -> tuple[int, int | None]:
    """Return nodes and tasks a node of ``-l nodes=`` or ``-l select=``, where they mean whole nodes for sure."""
    first, *rest = value.split(":")
    if not re.fullmatch(r"[0-9]+", first) or "+" in value:
        raise LaunchError(flag, value, "is read only as a number of equal nodes")
    keys = dict(part.partition("=")[::2] for part in rest)
    if not whole_number(flag, keys.get("ncpus", str(node.cores))) >= node.cores:
        raise LaunchError(flag, value, remark("pieces-of-nodes", cores=node.cores))
    per_node = keys.get(per_node_key)
    tasks = None if per_node is None else whole_number(f"{flag}={first}:{per_node_key}", per_node)
    return whole_number(flag, first), tasks
