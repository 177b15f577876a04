"""Directives of a script: the requested kind of node, and the reservation.

The kind of node follows from constraint, partition, QOS, account or GPUs. In ``#PBS -l
mppwidth=...,mppnppn=...,mppdepth=...`` the three resources are the batch system's words for aprun's -n, -N and -d. At
NERSC mppwidth was in whole nodes, however many cores aprun uses of them [1]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and "Memory Considerations," web pages for Hopper.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperkit.launchers.batch.sbatch import read_sbatch_reservation
from hopperkit.launchers.option_values import check_nodes, memory_gb, whole_number
from hopperkit.launchers.options import Given, read_options
from hopperkit.launchers.scripts import Script
from hopperkit.launchers.words.shell import Word
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.components import DIRECTIVES, BatchSystem, GpuRequest, LaunchError, Reservation

_CHOOSES = {"-C": "constraint", "-p": "partition", "-q": "qos", "-A": "account"}
_LONG = {"--constraint": "-C", "--partition": "-p", "--qos": "-q", "--account": "-A"}


class RequestedNodeKind(NamedTuple):
    """The requested kind of node, assumptions and doubts about it, and whether jobs share it."""

    kind: NodeKind
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    shared: bool = False


def requested_node_kind(script: Script, machine: Machine, kind: str | None) -> RequestedNodeKind:
    r"""Return the kind of node that a script requests; `kind` overrides it.

    Parameters
    ----------
    script : Script
        The parsed script.
    machine : Machine
        The machine.
    kind : str or None
        Kind of node; None for the script's request.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> requested_node_kind(read_script("#SBATCH -C gpu\nsrun -n 4 ./a.out"), Machine.load("perlmutter"), None).kind.name
    'gpu'
    """
    options = list(_slurm_options(script))
    choices = _choices(options)
    node, assumptions = machine.node(kind), []
    if kind is None:
        wants_gpus = any(
            "gpu" in option.name + option.value or option.name == "-G" for option in options if option.bears
        )
        node, assumption = _choose_kind(machine, choices, wants_gpus=wants_gpus)
        assumptions = [assumption] if assumption else []
    alone = any(each.system == "slurm" and each.option == "--exclusive" for each in script.directives)
    shared = None if alone else next((choice for choice in node.shared_by if choice in choices), None)
    doubt = f"Jobs of {shared} may share their nodes, so which cores and GPUs of a node this job gets depends on the others."
    return RequestedNodeKind(node, tuple(assumptions), (doubt,) if shared else (), shared is not None)


def _choices(options: Iterable[Given]) -> set[str]:
    """Return the values of constraint, partition, QOS and account, split into words."""
    return {
        f"{_CHOOSES[option.name]}={word}"
        for option in options
        if option.name in _CHOOSES
        for word in re.split(r"[&|,*\[\]()]+", option.value)
        if word
    }


def requested_choices(script: Script) -> set[str]:
    r"""Return a Slurm job's choices on a machine.

    >>> from hopperkit.launchers.scripts import read_script
    >>> sorted(requested_choices(read_script("#SBATCH -C gpu -q debug\nsrun -n 4 ./a.out")))
    ['constraint=gpu', 'qos=debug']

    Parameters
    ----------
    script : Script
        Batch script.
    """
    # Each directive is also read alone: an unreadable one does not affect the others.
    choices = {f"{sort}={name}" for sort, name, _ in requested_partitions(script) if sort != "queue"}
    return _choices(_slurm_options(script)) | choices


def requested_partitions(script: Script) -> Iterator[tuple[str, str, int]]:
    r"""Yield the machine choices in a script's directives, with their lines; a PBS job chooses a queue.

    >>> from hopperkit.launchers.scripts import read_script
    >>> list(requested_partitions(read_script("#SBATCH -C gpu&hbm80g\n#SBATCH --qos=debug\nsrun -n 4 ./a.out")))
    [('constraint', 'gpu', 1), ('constraint', 'hbm80g', 1), ('qos', 'debug', 2)]

    Parameters
    ----------
    script : Script
        Batch script.
    """
    for directive in script.directives:
        letter = _LONG.get(directive.option, directive.option)
        sort = _CHOOSES.get(letter) if directive.system == "slurm" else None
        if directive.system == "pbs" and directive.option == "-q":
            sort = "queue"
        if sort and not any(word.unknown for word in directive.words):
            names = re.split(r"[&|,*\[\]()]+", directive.value)
            yield from ((sort, name, directive.line) for name in names if re.fullmatch(r"(?!\d+$)[\w.-]+", name))


def _choose_kind(machine: Machine, choices: set[str], *, wants_gpus: bool) -> tuple[NodeKind, str]:
    """Return the kind of node that options select, otherwise the likeliest with the assumption made."""
    chosen = [each for each in machine.node_kinds if choices & set(each.chosen_by)]
    if chosen:
        return chosen[0], ""
    ordinary = machine.node()
    node = next((each for each in machine.node_kinds if each.gpus), ordinary) if wants_gpus else ordinary
    if len(machine.node_kinds) == 1 or not any(each.chosen_by for each in machine.node_kinds):
        return node, ""
    why = "the ordinary kind" if node is ordinary else "because it requests GPUs"
    return node, f"The nodes are assumed to be of kind '{node.name}', {why}; the text does not name one."


def _slurm_options(script: Script) -> Iterator[Given]:
    """Yield the options of all #SBATCH lines and srun lines that can be read."""
    with suppress(LaunchError):
        if words := _directive_words(script, "slurm"):
            yield from read_options(words, "sbatch", where="")[0]
    for line in script.lines:
        if line.launcher == "srun":
            with suppress(LaunchError):
                yield from read_options(line.words, "srun", where="")[0]


def _directive_words(script: Script, system: BatchSystem) -> list[Word]:
    """Return the words of the directives to a batch system; empty if the script addresses another one too."""
    if any(directive.system != system for directive in script.directives):
        return []
    return [word for directive in script.directives for word in directive.words]


def read_reservation(
    script: Script, machine: Machine, node: NodeKind
) -> tuple[Reservation | None, Mapping[str, str], list[str]]:
    r"""Return a script's reservation, the variables that the batch system sets, and notes.

    Parameters
    ----------
    script : Script
        The parsed script.
    machine : Machine
        The machine.
    node : NodeKind
        Kind of node.

    Raises
    ------
    LaunchError
        If the script has directives of two batch systems, or a batch system would reject one.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> hopper = Machine.load("hopper")
    >>> reserved, variables, notes = read_reservation(read_script("#PBS -l mppwidth=48"), hopper, hopper.node())
    >>> reserved.nodes, variables["PBS_NUM_NODES"]
    (2, '2')
    """
    systems = [system for system in DIRECTIVES if any(directive.system == system for directive in script.directives)]
    if not systems:
        return None, {}, []
    if len(systems) > 1:
        first, second = (DIRECTIVES[system] for system in systems[:2])
        raise LaunchError(first, "", f"and {second} are in one script; only one batch system reads it")
    (system,) = systems
    words = _directive_words(script, system)
    notes: list[str] = []
    if system == "slurm":
        return *read_sbatch_reservation(words, machine, node), notes
    if system != "pbs":
        notes.append(f"Of the {system} directives only the counts of nodes and tasks are read.")
        return _read_counts(system, words), {}, notes
    reservation = _read_pbs(words, machine, node)
    # PBS writes the file; it lists the nodes of the job.
    variables = {"PBS_NODEFILE": "$PBS_NODEFILE"}
    if reservation is None:
        notes.append("The #PBS lines name no nodes, so the line is not checked against a reservation.")
    else:
        variables |= dict.fromkeys(("PBS_NUM_NODES", "PBS_NNODES"), str(reservation.nodes))
        # PBS sets OMP_NUM_THREADS to a chunk's ompthreads.
        if threads := re.search(r":ompthreads=([1-9]\d{0,3})(?!\d)", dict(reservation.options).get("select", "")):
            variables["OMP_NUM_THREADS"] = threads[1]
    return reservation, variables, notes


_COUNTS = {"lsf": ("-nnodes", "-n"), "cobalt": ("-n", ""), "flux": ("-N", "-n")}


def _read_counts(system: BatchSystem, words: Sequence[Word]) -> Reservation | None:
    """Return the nodes and tasks that directives of LSF, Cobalt or Flux count; None without nodes."""
    pairs = dict(itertools.pairwise(word.text for word in words))
    nodes, tasks = (pairs.get(name, "") for name in _COUNTS[system])
    if not nodes.isdigit():
        return None
    return Reservation(system, int(nodes[:9]), int(tasks[:9]) if tasks.isdigit() else None)


_MPP = ("mppwidth", "mppnppn", "mppdepth")


def _read_pbs(words: Sequence[Word], machine: Machine, node: NodeKind) -> Reservation | None:
    """Return the reservation in ``#PBS`` lines; None if they request no nodes."""
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
            gpus = re.search(r":n?gpus=(\d{1,4})(?!\d)", values[name])
            return Reservation(
                batch="pbs",
                nodes=nodes,
                tasks_per_node=tasks_per_node,
                options=resources,
                gpus=GpuRequest(per_node=int(gpus[1])) if gpus else None,
            )
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
    """Return mppwidth, mppnppn and mppdepth, with defaults resolved."""
    if "mppwidth" not in values:
        name = next(name for name in _MPP if name in values)
        raise LaunchError(f"#PBS -l {name}", values[name], "needs mppwidth as well, the number of tasks")
    cores = f"the cores of a node of {machine.title}"
    width = whole_number("#PBS -l mppwidth", values["mppwidth"])
    depth = whole_number("#PBS -l mppdepth", values.get("mppdepth", "1"), high=node.cores, bound=cores)
    default = str(node.cores // depth)
    per_node = whole_number("#PBS -l mppnppn", values.get("mppnppn", default), high=node.cores, bound=cores)
    if per_node * depth > node.cores:
        rule = f"times mppdepth={depth} is {per_node * depth} cores, more than the {node.cores} of a node of {machine.title}"
        raise LaunchError("#PBS -l mppnppn", per_node, rule)
    return width, per_node, depth


def _whole_nodes(flag: str, value: str, per_node_key: str, node: NodeKind) -> tuple[int, int | None]:
    """Return nodes and tasks per node of ``-l nodes=`` or ``-l select=``, if they certainly mean whole nodes."""
    first, *rest = value.split(":")
    if not re.fullmatch(r"[0-9]+", first) or "+" in value:
        raise LaunchError(flag, value, "is read only as a number of equal nodes")
    keys = dict(part.partition("=")[::2] for part in rest)
    if not whole_number(flag, keys.get("ncpus", str(node.cores))) >= node.cores:
        rule = f"requests parts of nodes; only whole nodes, ncpus={node.cores}, are supported"
        raise LaunchError(flag, value, rule)
    per_node = keys.get(per_node_key)
    tasks = None if per_node is None else whole_number(f"{flag}={first}:{per_node_key}", per_node)
    return whole_number(flag, first), tasks
